//! Writes at computed indices, and reductions of elements with equal keys. A node reduces the elements of each key
//! ([`Segments`]). A scatter is a reduction of updates by their places.

use super::both::{built, on_both};
use super::lookup::inside;
use super::reduce::{Class, ReduceOptions};
use super::runs::{Runs, combined, number};
use super::selecting::{Payload, bits};
use super::sorting::Along;
use super::{AnyExpr, Expr, IntoExpr, Outside};
use crate::dtype::{DType, Element, Float, Integer, Numeric};
use crate::error::{Result, bail};
use crate::ir::{AxisOp, ByKey, Node, Op, ReduceOp, Scalar, Segments};
use crate::layout::{AxisIndex, Shape};

/// How updates change the element that they are written to ([`scatter_with`](Expr::scatter_with)).
///
/// ```
/// use zerostride::{Device, Outside, Update};
///
/// let device = Device::cpu();
/// let (x, i) = (device.upload(&[10, 20], [2])?, device.upload(&[1, 1], [2])?);
/// let y = device.upload(&[3, 4], [2])?;
/// let with = |update| x.scatter_with([&i], &y, update, Outside::fill(0)).to_vec();
/// assert_eq!((with(Update::Replace)?, with(Update::Add)?), (vec![10, 4], vec![10, 27]));
/// assert_eq!((with(Update::Mul)?, with(Update::Min)?), (vec![10, 240], vec![10, 3]));
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// The last update replaces it.
    #[default]
    Replace,
    /// The sum of the updates, in the order of [`sum`](Expr::sum), is added to it.
    Add,
    /// It is multiplied by the product of the updates, in the order of [`prod`](Expr::prod).
    Mul,
    /// The least of it and the updates, as [`min`](Expr::min).
    Min,
    /// The greatest of it and the updates, as [`max`](Expr::max).
    Max,
}

impl Update {
    fn gives(self) -> ByKey {
        match self {
            Update::Replace => ByKey::Last,
            Update::Add => ByKey::Reduced(ReduceOp::Sum),
            Update::Mul => ByKey::Reduced(ReduceOp::Prod),
            Update::Min => ByKey::Reduced(ReduceOp::Min),
            Update::Max => ByKey::Reduced(ReduceOp::Max),
        }
    }
}

/// Keys of segments: integers in any order, as every expression of integers becomes by `into()`, or sorted ones, as from
/// [`assume_sorted`](Expr::assume_sorted).
///
/// ```
/// use zerostride::{Device, Keys};
///
/// let device = Device::cpu();
/// let (x, keys) = (device.upload(&[1, 2, 4], [3])?, device.upload(&[0, 0, 2], [3])?);
/// let sorted: Keys = keys.assume_sorted();
/// assert_eq!(x.segment_sum(sorted, 3).to_vec()?, [3, 0, 4]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Keys {
    any: AnyExpr,
    are_sorted: bool,
}

impl<E: Into<AnyExpr>> From<E> for Keys {
    fn from(keys: E) -> Keys {
        Keys { any: keys.into(), are_sorted: false }
    }
}

impl AnyExpr {
    /// The reduction by key called `name`, such as `"segment_sum"` ([`segment_sum`](Self::segment_sum)). A name
    /// that is no such reduction is a mistake of the expression.
    ///
    /// ```
    /// # use zerostride::AnyExpr;
    /// # let device = zerostride::Device::cpu();
    /// let x = AnyExpr::from(device.upload(&[1, 2, 4], [3])?);
    /// let keys = AnyExpr::from(device.upload(&[0, 1, 1], [3])?).assume_sorted();
    /// assert_eq!(x.segment("segment_max", keys, 2).to_vec::<i32>()?, [1, 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn segment(&self, name: &str, keys: impl Into<Keys>, count: usize) -> AnyExpr {
        let keys = keys.into();
        built(|| self.segmented(name, keys, count))
    }

    /// Keys that are sorted ([`Expr::assume_sorted`]).
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device};
    ///
    /// let device = Device::cpu();
    /// let x = AnyExpr::from(device.upload(&[1, 2, 4], [3])?);
    /// let keys = AnyExpr::from(device.upload(&[0, 0, 2], [3])?);
    /// assert_eq!(x.segment_sum(keys.assume_sorted(), 3).to_vec::<i32>()?, [3, 0, 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn assume_sorted(&self) -> Keys {
        Keys { any: self.clone(), are_sorted: true }
    }
}

impl<T: Integer> Expr<T> {
    /// Keys that are sorted, the least first, so that segments need no sort. Nothing checks the order. If `keys` are not
    /// sorted, the elements of segment `k` are those from the place that [`searchsorted`](Self::searchsorted) finds for
    /// `k` up to the place for `k + 1`, on every device.
    ///
    /// ```
    /// let device = zerostride::Device::cpu();
    /// let (x, keys) = (device.upload(&[1, 2, 4], [3])?, device.upload(&[0, 0, 2], [3])?);
    /// assert_eq!(x.segment_sum(keys.assume_sorted(), 3).to_vec()?, [3, 0, 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn assume_sorted(&self) -> Keys {
        self.any.assume_sorted()
    }
}

/// The least places for each update, if work goes by the number of updates.
const FEW_UPDATES: usize = 32;

/// Updates outside of their axis are dropped: no element takes an update that is not for it.
const DROPPED: Outside = Outside::Fill(Scalar::Int(0));

/// The rows of values of each key below `count`, reduced, or the last ones, which have no meaning for keys without
/// elements. And how many elements each key has.
fn grouped(gives: ByKey, values: &AnyExpr, (keys, count): (&Keys, usize)) -> Result<[AnyExpr; 2]> {
    let (keys, own) = (keys.any.unsqueeze(1), Segments { gives, count, are_sorted: keys.are_sorted });
    let made = AnyExpr::by_key(own, &[values, &keys])?;
    let totals = AnyExpr::by_key(Segments { gives: ByKey::Count, ..own }, &[&keys])?;
    Ok([made, totals.squeeze(1)])
}

impl AnyExpr {
    /// The elements as a matrix: its rows are the slices along the leading axes.
    fn in_rows(&self, leading: usize) -> Result<AnyExpr> {
        let shape = self.shape()?;
        let rows: usize = shape[..leading].iter().product();
        let row: usize = shape[leading..].iter().product();
        Ok(self.reshaped([rows, row]))
    }

    fn scattered(
        &self,
        indices: Vec<AnyExpr>,
        updates: &AnyExpr,
        update: Update,
        outside: Outside,
    ) -> Result<AnyExpr> {
        let (shape, dtype, other) = (self.shape()?, self.dtype()?, updates.dtype()?);
        let leading = indices.len();
        if !(1..=shape.rank()).contains(&leading) {
            bail!(
                Operation,
                "scatter to {shape} with indices of {leading} axes: it takes indices of 1 to {} leading axes",
                shape.rank()
            );
        }
        if dtype != other {
            bail!(
                Operation,
                "scatter takes operands of one type and got {dtype} and {other}: cast one of them"
            );
        }
        if update != Update::Replace {
            Class::Numeric.check("scatter that computes", dtype)?;
        }
        let count: usize = shape[..leading].iter().product();
        if i32::try_from(count).is_err() {
            bail!(
                Limit,
                "scatter to {shape}: the indexed axes have fewer than 2^31 elements, so scatter to a slice"
            );
        }
        let shapes = indices.iter().map(|index| index.shape().cloned()).collect::<Result<Vec<_>>>()?;
        let own = crate::layout::numpy(&shapes)?;
        let all: Shape = own.iter().chain(&shape[leading..]).copied().collect();
        let updates = updates.broadcast_to(all.clone());
        updates.node()?;
        if all.contains(&0) || (count == 0 && matches!(outside, Outside::Fill(_))) {
            return Ok(self.clone());
        }
        if let Some(axis) = shape.iter().position(|&n| n == 0) {
            bail!(Shape, "cannot scatter {own} elements to {shape}: axis {axis} has length 0");
        }
        let (indices, exists) = inside(shape, &indices, outside)?;
        // Along an axis of length 1 every index is 0.
        let axes = shape.iter().zip(&indices).filter(|(length, _)| **length > 1);
        let mut key =
            axes.fold(number(0), |key, (&length, index)| key.op(Op::Mul, number(length)).op(Op::Add, index));
        if let Some(exists) = exists {
            key = exists.select(key, number(count));
        }
        let key = key.broadcast_to(own.clone()).flat()?.shared();
        let (rows, values) = (self.in_rows(leading)?, updates.in_rows(own.rank())?);
        let is_few = own.count()?.saturating_mul(FEW_UPDATES) <= count && dtype.size() >= size_of::<u32>();
        if is_few {
            return Ok(rows.replaced(&key, &values, update.gives())?.reshape(shape));
        }
        let wide = if update == Update::Replace { dtype } else { dtype.accumulating() };
        let [made, totals] = grouped(update.gives(), &values.cast(wide), (&key.into(), count))?;
        let written = match update.gives() {
            ByKey::Reduced(op) => combined(op, &rows.cast(wide), &made).cast(dtype),
            _ => made,
        };
        let is_written = totals.cast(DType::Bool).unsqueeze(1);
        Ok(is_written.select(written, rows).reshape(shape))
    }

    /// The rows of a matrix, with updates at the rows that keys name. Updates are sorted by key, and those of a key become
    /// one. So work beside a copy of the matrix goes by their number.
    fn replaced(&self, keys: &AnyExpr, updates: &AnyExpr, gives: ByKey) -> Result<AnyExpr> {
        let (rows, count) = (self.shape()?[0], keys.shape()?[0]);
        let none = AnyExpr::scalar(DType::U32, rows as u64);
        let keys = keys.cast(DType::U32).op(Op::Min, &none).shared();
        let order = keys.by_few_bits(Payload::Indices, false, bits(rows), usize::MAX)?.shared();
        let order = order.cast(DType::I32);
        let sorted = keys.taken(&order, 0, Outside::Nearest)?.shared();
        let all = AnyExpr::iota([count], 0);
        let before = sorted.taken(&all.op(Op::Sub, number(1)).op(Op::Max, number(0)), 0, Outside::Nearest)?;
        // Updates of the first key are run 0, and there are as many runs as updates: the last ones are empty.
        let runs = sorted.op(Op::Ne, &before).cast(DType::I32).cumsum(0).assume_sorted();
        let [made, totals] = grouped(gives, &updates.taken(&order, 0, Outside::Nearest)?, (&runs, count))?;
        let exclusive = ReduceOptions::default().exclusive();
        let start = totals.cast(DType::I32).cumsum_with(0, exclusive).op(Op::Min, number(count - 1));
        let key = sorted.taken(&start, 0, Outside::Nearest)?;
        let place = totals.cast(DType::Bool).select(key, &none).shared();
        let made = match gives {
            ByKey::Reduced(op) => {
                let old = place.cast(DType::I32).op(Op::Min, number(rows - 1));
                combined(op, &self.taken(&old, 0, Outside::Nearest)?, &made)
            }
            _ => made,
        };
        let operands = [self.node()?, &made.node()?.laid_out(), &place.unsqueeze(1).node()?.laid_out()];
        Ok(AnyExpr::new(Node::along(AxisOp::Put, &operands)))
    }

    fn put(&self, indices: &AnyExpr, values: &AnyExpr, axis: isize) -> Result<AnyExpr> {
        let along = Along::new("put_along", self, indices, axis)?;
        let all = self.shape()?.with(along.axis, indices.shape()?[along.axis]);
        self.scattered(along.places(&all), values, Update::Replace, DROPPED)
    }

    fn segmented(&self, name: &str, Keys { any, are_sorted }: Keys, count: usize) -> Result<AnyExpr> {
        let op = match name {
            "segment_sum" | "segment_mean" | "segment_cumsum" => ReduceOp::Sum,
            "segment_prod" | "segment_cumprod" => ReduceOp::Prod,
            "segment_min" => ReduceOp::Min,
            "segment_max" => ReduceOp::Max,
            _ => bail!(Operation, "no reduction by key is called '{name}'"),
        };
        let (shape, own, dtype) = (self.shape()?, any.shape()?, self.dtype()?);
        let is_mean = name == "segment_mean";
        (if is_mean { Class::Float } else { Class::Numeric }).check(name, dtype)?;
        if own.rank() > shape.rank() || own[..] != shape[..own.rank()] {
            bail!(Shape, "{name} of {shape} by keys of {own}: keys have the shape of the leading axes");
        }
        let (keys, wide) = (Keys { any: any.keys(name, count)?, are_sorted }, dtype.accumulating());
        let values = self.cast(wide);
        if name.starts_with("segment_cum") {
            if shape.contains(&0) || count == 0 {
                return Ok(values.of_constant(op.identity(wide), shape)?.cast(dtype));
            }
            let segments = Segments { gives: ByKey::Reduced(op), count, are_sorted };
            let column = keys.any.unsqueeze(1).shared();
            let runs = Runs::new(&column, segments, true)?;
            return Ok(runs.scanned(op, &values.in_rows(own.rank())?, &column)?.cast(dtype).reshape(shape));
        }
        let all: Shape = std::iter::once(count).chain(shape[own.rank()..].iter().copied()).collect();
        let [mut made, totals] = if shape.contains(&0) || all.contains(&0) {
            [values.of_constant(op.identity(wide), &all)?, number(0)]
        } else {
            grouped(ByKey::Reduced(op), &values.in_rows(own.rank())?, (&keys, count))?
        };
        if is_mean {
            made = made.op(Op::Div, totals.cast(wide).unsqueeze(-1));
        }
        Ok(made.cast(dtype).reshape(&all))
    }
}

on_both! {
    /// Writes at computed indices. Updates of one place apply in row-major order, so there is one answer.
    examples of i32 [
        "[1, 2, 3, 4], [4]",
        "# use zerostride::{Outside, Update};",
        "let (i, y) = (device.upload(&[3, -4, 3], [3])?, device.upload(&[5, 6, -7], [3])?);"
    ];

    /// The elements, with updates in place of those at some indices. Indices are an expression of integers for each
    /// leading axis, and broadcast together (NumPy `x[i, j] = y`; ONNX `ScatterND`). Updates have the shape of the
    /// indices and then the other axes, or broadcast to it. The last update of a place wins. Negative indices count from
    /// the end. An update outside of an axis is dropped, as in JAX.
    scatter [I: Into<AnyExpr>] (indices: impl IntoIterator<Item = I>; updates) -> T,
        "x.scatter([&i], &y)" => "[6, 2, 3, -7]",
        let indices = indices.into_iter().map(Into::into).collect(), |x| x.scattered(indices, updates, Update::Replace, DROPPED);
    /// [`scatter`](Self::scatter) that adds the sum of its updates to each element, in the order of [`sum`](Self::sum)
    /// (NumPy `add.at`; PyTorch `index_put` with `accumulate`).
    scatter_add [I: Into<AnyExpr>] (indices: impl IntoIterator<Item = I>; updates) -> T where Numeric,
        "x.scatter_add([&i], &y)" => "[7, 2, 3, 2]",
        let indices = indices.into_iter().map(Into::into).collect(), |x| x.scattered(indices, updates, Update::Add, DROPPED);
    /// [`scatter`](Self::scatter) of the least of an element and its updates (NumPy `minimum.at`).
    scatter_min [I: Into<AnyExpr>] (indices: impl IntoIterator<Item = I>; updates) -> T where Numeric,
        "x.scatter_min([&i], &y)" => "[1, 2, 3, -7]",
        let indices = indices.into_iter().map(Into::into).collect(), |x| x.scattered(indices, updates, Update::Min, DROPPED);
    /// [`scatter`](Self::scatter) of the greatest of an element and its updates (NumPy `maximum.at`).
    scatter_max [I: Into<AnyExpr>] (indices: impl IntoIterator<Item = I>; updates) -> T where Numeric,
        "x.scatter_max([&i], &y)" => "[6, 2, 3, 5]",
        let indices = indices.into_iter().map(Into::into).collect(), |x| x.scattered(indices, updates, Update::Max, DROPPED);
    /// [`scatter`](Self::scatter) with a way to update, and a rule for indices outside of their axis:
    /// [`Outside::Fill`] drops the update, as `scatter` does, and other rules choose another place for it.
    scatter_with [I: Into<AnyExpr>] (indices: impl IntoIterator<Item = I>; updates, update: Update, outside: Outside) -> T,
        "x.scatter_with([&i], &y, Update::Mul, Outside::fill(0))" => "[6, 2, 3, -140]",
        let indices = indices.into_iter().map(Into::into).collect(), |x| x.scattered(indices, updates, update, outside);
    /// The elements, with values in place of those at indices along an axis, at the same place along the other axes
    /// (NumPy `put_along_axis`). Both broadcast. Indices are handled as by [`scatter`](Self::scatter). It undoes
    /// [`take_along`](Self::take_along) if all indices differ and lie inside.
    put_along (indices: impl Into<AnyExpr>; values, axis: impl AxisIndex) -> T,
        "x.put_along(&i, &y, 0)" => "[6, 2, 3, -7]",
        let indices = indices.into(), |x| x.put(&indices, values, axis.signed());
}

on_both! {
    /// Reductions of elements with equal keys.
    examples of f32 ["[1.0_f32, 2.0, 4.0], [3]", "let keys = device.upload(&[1, 0, 1], [3])?;"];

    /// The sum of the elements of each key from 0 to below `count`, in the order of [`sum`](Self::sum) (JAX and
    /// TensorFlow `segment_sum`). `keys` has the leading axes, and one axis of keys replaces them in the result. Elements
    /// with another key are left out. The sum of a key without elements is 0. Sorted keys
    /// ([`assume_sorted`](Expr::assume_sorted)) need no sort.
    segment_sum(keys: impl Into<Keys>, count: usize) -> T where Numeric, "x.segment_sum(&keys, 2)" => "[2.0, 5.0]",
        let keys = keys.into(), |x| x.segmented("segment_sum", keys, count);
    /// [`segment_sum`](Self::segment_sum) for products: that of a key without elements is 1.
    segment_prod(keys: impl Into<Keys>, count: usize) -> T where Numeric, "x.segment_prod(&keys, 2)" => "[2.0, 4.0]",
        let keys = keys.into(), |x| x.segmented("segment_prod", keys, count);
    /// [`segment_sum`](Self::segment_sum) for the least elements: that of a key without elements is infinity, or the
    /// greatest integer.
    segment_min(keys: impl Into<Keys>, count: usize) -> T where Numeric, "x.segment_min(&keys, 2)" => "[2.0, 1.0]",
        let keys = keys.into(), |x| x.segmented("segment_min", keys, count);
    /// [`segment_sum`](Self::segment_sum) for the greatest elements: that of a key without elements is minus infinity,
    /// or the least integer.
    segment_max(keys: impl Into<Keys>, count: usize) -> T where Numeric, "x.segment_max(&keys, 2)" => "[2.0, 4.0]",
        let keys = keys.into(), |x| x.segmented("segment_max", keys, count);
    /// [`segment_sum`](Self::segment_sum) divided by the number of elements of a key, which
    /// [`bincount`](Expr::bincount) counts: the mean of a key without elements is NaN.
    segment_mean(keys: impl Into<Keys>, count: usize) -> T where Float, "x.segment_mean(&keys, 2)" => "[2.0, 2.5]",
        let keys = keys.into(), |x| x.segmented("segment_mean", keys, count);
    /// For each element the sum of the elements of its key up to it, in the order of [`cumsum`](Self::cumsum) of these
    /// alone (pandas `groupby(..).cumsum()`). `keys` are as for [`segment_sum`](Self::segment_sum). An element with another
    /// key is 0.
    segment_cumsum(keys: impl Into<Keys>, count: usize) -> T where Numeric, "x.segment_cumsum(&keys, 2)" => "[1.0, 2.0, 5.0]",
        let keys = keys.into(), |x| x.segmented("segment_cumsum", keys, count);
    /// [`segment_cumsum`](Self::segment_cumsum) for products, in the order of [`cumprod`](Self::cumprod): an element with
    /// another key is 1.
    segment_cumprod(keys: impl Into<Keys>, count: usize) -> T where Numeric, "x.segment_cumprod(&keys, 2)" => "[1.0, 2.0, 4.0]",
        let keys = keys.into(), |x| x.segmented("segment_cumprod", keys, count);
}
