//! Lookups: elements of a table at computed indices, by NumPy's rules.
//!
//! The graph has lookups at indices inside of the table. Operations on the indices handle negative and outside ones, as
//! far as indices may leave the axis at all.

use std::sync::Arc;

use super::any::apply;
use super::both::on_both;
use super::{AnyExpr, Expr};
use crate::dtype::{DType, Element, Kind};
use crate::error::{Result, bail};
use crate::ir::{Node, NodeKind, Op, Scalar, Source, limits};
use crate::layout::{AxisIndex, Layout, Shape};

/// What happens at an index outside of an axis. Negative indices count from the end first, once, so -1 is the last
/// element, and outside only of an empty axis. Unless a rule is named, a lookup reads the nearest element, and a write
/// ([`scatter`](Expr::scatter)) is dropped, as in JAX. Every device does the same.
///
/// ```
/// use zerostride::{Device, Outside};
///
/// let device = Device::cpu();
/// let x = device.upload(&[10, 20, 30], [3])?;
/// let i = device.upload(&[-4, -1, 1, 4], [4])?;
/// assert_eq!(x.at([&i]).to_vec()?, [10, 30, 20, 30]);
/// assert_eq!(x.at_with([&i], Outside::Wrapped).to_vec()?, [30, 30, 20, 20]);
/// assert_eq!(x.at_with([&i], Outside::fill(7)).to_vec()?, [7, 30, 20, 7]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outside {
    /// The nearest element of the axis (NumPy `take` with `mode="clip"`, except for negative indices).
    Nearest,
    /// The axis, repeated on both sides (NumPy `take` with `mode="wrap"`).
    Wrapped,
    /// A fill value, of the element type. A write is dropped.
    Fill(Scalar),
}

impl Outside {
    /// [`Fill`](Outside::Fill) with a value.
    pub fn fill(value: impl Into<Scalar>) -> Outside {
        Outside::Fill(value.into())
    }
}

on_both! {
    /// Elements at computed indices. A lookup fuses with the computation of its indices and with its readers. A table
    /// that is computed is stored first.
    examples of i32 [
        "[1, 2, 3, 4, 5, 6], [2, 3]",
        "# use zerostride::Outside;",
        "let (i, j) = (device.upload(&[1, 0], [2])?, device.upload(&[-1, 3], [2])?);"
    ];

    /// The elements at some indices: one expression of integers for each axis. They broadcast together, and the result
    /// has their shape (NumPy `x[i, j]`, PyTorch `index`). Negative indices count from the end. An index outside of the
    /// axis reads the nearest element, or what [`at_with`](Self::at_with) says.
    ///
    /// If an index is a coordinate, rows are loaded as those of a tensor.
    ///
    /// The adjoint, for indices inside, is [`scatter_add`](Self::scatter_add), which brings gradients of the results back
    /// to the elements:
    ///
    /// ```
    /// let device = zerostride::Device::cpu();
    /// let (x, i) = (device.zeros::<f32>([3])?, device.upload(&[2, 0, -1], [3])?);
    /// let gradient = device.upload(&[1.0_f32, 2.0, 3.0], [3])?; // of x.at([&i])
    /// assert_eq!(device.zeros::<f32>(x.shape())?.scatter_add([&i], &gradient).to_vec()?, [2.0, 0.0, 4.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    at [I: IntoIndices] (indices: impl IntoIterator<Item = I>) -> T, "x.at([&i, &j])" => "[6, 3]",
        let indices = indices.into_iter().collect::<Vec<I>>(), |x| x.looked_up(x.indices(indices)?, Outside::Nearest);
    /// [`at`](Self::at), with a rule for indices outside of their axis.
    at_with [I: IntoIndices] (indices: impl IntoIterator<Item = I>, outside: Outside) -> T, "x.at_with([&i, &j], Outside::fill(0))" => "[6, 0]",
        let indices = indices.into_iter().collect::<Vec<I>>(), |x| x.looked_up(x.indices(indices)?, outside);
    /// The slices at some indices along one axis, which the axes of the indices replace (NumPy `take`; PyTorch
    /// `index_select`, whose indices have one axis). Negative indices count from the end. An index outside of the axis
    /// reads the nearest element, or what [`take_with`](Self::take_with) says.
    ///
    /// The adjoint along the first axis is [`segment_sum`](Self::segment_sum) by the indices, as of an embedding:
    ///
    /// ```
    /// let device = zerostride::Device::cpu();
    /// let indices = device.upload(&[2, 0, 2], [3])?; // of rows of a table of three
    /// let gradient = device.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2])?; // of table.take(&indices, 0)
    /// assert_eq!(gradient.segment_sum(&indices, 3).to_vec()?, [3.0, 4.0, 0.0, 0.0, 6.0, 8.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    take(indices: impl IntoIndices, axis: impl AxisIndex) -> T, "x.take(&i, 0)" => "[4, 5, 6, 1, 2, 3]",
        |x| x.taken(&indices.into_indices(x)?, axis.signed(), Outside::Nearest);
    /// [`take`](Self::take), with a rule for indices outside of the axis.
    take_with(indices: impl IntoIndices, axis: impl AxisIndex, outside: Outside) -> T, "x.take_with(&j, 1, Outside::Wrapped)" => "[3, 1, 6, 4]",
        |x| x.taken(&indices.into_indices(x)?, axis.signed(), outside);
}

/// Indices of a lookup: an expression or a tensor of integers, or numbers of the host, which are uploaded to the table's
/// device.
///
/// ```
/// use zerostride::{Device, Expr};
///
/// let x = Device::cpu().upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// assert_eq!(x.take([2, 0], 1).to_vec()?, [3, 1, 6, 4]);
/// assert_eq!(x.at([vec![0, 1], vec![-1, 0]]).to_vec()?, [3, 4]);
///
/// let error = Expr::iota([4], 0).take([1], 0).eval_on(&Device::cpu()).unwrap_err();
/// assert_eq!(error.message(), "1 indices of the host for an expression without a tensor: upload them, or evaluate it first");
/// # Ok::<(), zerostride::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index of a lookup",
    note = "indices are a tensor or an expression of integers, or an array, a slice or a `Vec` of integers"
)]
pub trait IntoIndices {
    /// The indices as an expression on the device of a table.
    ///
    /// # Errors
    /// When numbers of the host have no device to go to, do not fit i32, or find no memory.
    fn into_indices(self, table: &AnyExpr) -> Result<AnyExpr>;
}

impl<E: Into<AnyExpr>> IntoIndices for E {
    fn into_indices(self, _: &AnyExpr) -> Result<AnyExpr> {
        Ok(self.into())
    }
}

impl AnyExpr {
    fn indices<I: IntoIndices>(&self, all: Vec<I>) -> Result<Vec<AnyExpr>> {
        all.into_iter().map(|index| index.into_indices(self)).collect()
    }

    pub(crate) fn taken(&self, indices: &AnyExpr, axis: isize, outside: Outside) -> Result<AnyExpr> {
        let (node, own) = (self.node()?, indices.node()?);
        let axis = Layout::contiguous(&node.shape)?.axis(axis)?;
        let (before, after) = (&node.shape[..axis], &node.shape[axis + 1..]);
        let shape: Shape = before.iter().chain(own.shape.iter()).chain(after).copied().collect();
        shape.count()?;
        let count = own.shape.rank();
        let along = (0..node.shape.rank()).map(|k| match k {
            _ if k == axis => indices.view(|layout| Ok(layout.place(axis, shape.rank()))),
            _ if k < axis => AnyExpr::iota(shape.clone(), k as isize),
            _ => AnyExpr::iota(shape.clone(), (k + count - 1) as isize),
        });
        self.looked_up(along.collect(), outside)
    }

    pub(super) fn looked_up(&self, indices: Vec<AnyExpr>, outside: Outside) -> Result<AnyExpr> {
        let node = self.node()?;
        if indices.len() != node.shape.rank() {
            bail!(
                Operation,
                "at of {} takes an index for each axis, {} in all, and got {}",
                node.shape,
                node.shape.rank(),
                indices.len()
            );
        }
        let fill = match outside {
            Outside::Fill(value) => Some(value.to_bits(node.dtype)?),
            _ => None,
        };
        let shapes = indices.iter().map(|index| index.shape().cloned()).collect::<Result<Vec<_>>>()?;
        let shape = crate::layout::numpy(&shapes)?;
        if let Some(axis) = node.shape.iter().position(|&n| n == 0) {
            // An empty result needs no lookup.
            return match fill {
                _ if shape.contains(&0) => self.of_constant(0, &shape),
                Some(fill) => self.of_constant(fill, &shape),
                None => bail!(
                    Shape,
                    "cannot look up {} elements of {}: axis {axis} has length 0, so choose a fill value",
                    shape.count()?,
                    node.shape
                ),
            };
        }
        let (inside, exists) = inside(&node.shape, &indices, outside)?;
        let found = self.found(&inside)?;
        Ok(match (exists, fill) {
            (Some(exists), Some(fill)) => exists.select(found, AnyExpr::constant(node.dtype, fill)),
            _ => found,
        })
    }

    /// The elements at indices of i32 that are inside of their axes.
    pub(crate) fn found(&self, indices: &[AnyExpr]) -> Result<AnyExpr> {
        if indices.is_empty() {
            return Ok(self.clone());
        }
        let nodes = indices.iter().map(AnyExpr::node).collect::<Result<Vec<_>>>()?;
        if let Some((line, index)) = self.numbered(&nodes)? {
            return Ok(AnyExpr::new(Node::lookup(line.node()?, &[index.node()?])));
        }
        Ok(AnyExpr::new(Node::lookup(self.node()?, &nodes)))
    }

    /// The table as one axis, and the number of an element along it, if several indices are computed and the table is
    /// no view. Stages may compute the numbers, so that a kernel of few bindings holds the rest.
    fn numbered(&self, indices: &[&Arc<Node>]) -> Result<Option<(AnyExpr, AnyExpr)>> {
        let shape = &self.node()?.shape;
        let computed = indices.iter().filter(|index| !matches!(index.kind, NodeKind::Leaf { .. })).count();
        let line = self.view(|layout| layout.reshape(&[-1]));
        if computed <= MOST_COMPUTED || i32::try_from(shape.count()?).is_err() || line.node().is_err() {
            return Ok(None);
        }
        let number = |value: usize| AnyExpr::constant(DType::I32, value as u64);
        let index = |axis: usize| AnyExpr::new(Ok(indices[axis].clone()));
        let next = |number_so_far: AnyExpr, axis: usize| {
            let rows = number_so_far.op(Op::Mul, number(shape[axis]));
            // Along an axis of one element all indices are 0.
            if shape[axis] == 1 { number_so_far } else { rows.op(Op::Add, index(axis)) }
        };
        let first = if shape[0] == 1 { index(0).op(Op::Mul, number(0)) } else { index(0) };
        let all = (1..shape.rank()).fold(first, next);
        // With the shape of all indices, including those of axes of one element.
        let shapes: Vec<Shape> = indices.iter().map(|index| index.shape.clone()).collect();
        Ok(Some((line, all.broadcast_to(crate::layout::numpy(&shapes)?))))
    }

    /// One value of any shape, on this one's device.
    pub(super) fn of_constant(&self, bits: u64, shape: &Shape) -> Result<AnyExpr> {
        let node = self.node()?;
        let layout = Layout::contiguous([])?.broadcast_to(shape)?;
        Ok(AnyExpr::new(Ok(Node::constant(node.dtype, bits, layout, node))))
    }
}

/// Indices of leading axes of a shape as i32 inside of these and, for a fill value, whether all of them were inside.
pub(super) fn inside(
    shape: &Shape,
    indices: &[AnyExpr],
    outside: Outside,
) -> Result<(Vec<AnyExpr>, Option<AnyExpr>)> {
    let (mut all, mut exists) = (Vec::with_capacity(indices.len()), None::<AnyExpr>);
    for (axis, index) in indices.iter().enumerate() {
        let (index, valid) = Index { axis, length: shape[axis] }.inside(index, outside)?;
        all.push(index);
        exists = match (exists, valid) {
            (Some(all), Some(own)) => Some(all.op(Op::And, &own)),
            (all, own) => all.or(own),
        };
    }
    Ok((all, exists))
}

/// An index along an axis.
struct Index {
    axis: usize,
    length: usize,
}

impl Index {
    /// The index as i32 inside of the axis and, for a fill value, whether it was inside.
    fn inside(&self, index: &AnyExpr, outside: Outside) -> Result<(AnyExpr, Option<AnyExpr>)> {
        let dtype = index.dtype()?;
        if !matches!(dtype.kind(), Kind::Signed | Kind::Unsigned) {
            bail!(Type, "an index of axis {} takes integers and got {dtype}: cast it", self.axis);
        }
        let Ok(length) = i32::try_from(self.length) else {
            bail!(
                Limit,
                "axis {} of {} elements is looked up, and an index is below 2^31: look up a slice",
                self.axis,
                self.length
            );
        };
        let length = i128::from(length);
        let (low, high) = range(index.node()?, DEPTH);
        let fills = matches!(outside, Outside::Fill(_));
        if (low >= 0 && high < length) || (length == 1 && !fills) {
            return Ok((index.cast(DType::I32), None));
        }
        // Wide enough for the index and the length.
        let wide = if dtype.size() < 4 { DType::I32 } else { dtype };
        let number =
            |value: i128| AnyExpr::constant(wide, value as u64 & (u64::MAX >> (64 - 8 * wide.size())));
        let x = index.cast(wide);
        let (zero, n) = (number(0), number(length));
        let up = |x: &AnyExpr| x.op(Op::Lt, &zero).select(x.op(Op::Add, &n), x);
        if outside == Outside::Wrapped {
            if low < -length || high >= 2 * length {
                return Ok((x.op(Op::RemFloor, &n).cast(DType::I32), None));
            }
            let x = if low < 0 { up(&x) } else { x };
            let down = x.op(Op::Ge, &n).select(x.op(Op::Sub, &n), &x);
            return Ok((if high >= length { down } else { x }.cast(DType::I32), None));
        }
        let x = if low < 0 { up(&x) } else { x };
        let last = number(length - 1);
        let (is_below, is_above) = (low < -length, high >= length);
        let nearest = match (is_below, is_above) {
            (true, true) => apply(Op::Clamp, &[&x, &zero, &last]),
            (true, false) => x.op(Op::Max, &zero),
            (false, true) => x.op(Op::Min, &last),
            (false, false) => x.clone(),
        };
        // Outside elements were replaced by the nearest, and become the fill value.
        let valid = (fills && (is_below || is_above)).then(|| x.op(Op::Eq, &nearest));
        Ok((nearest.cast(DType::I32), valid))
    }
}

/// The most computed indices that a lookup reads directly: with the table and the result every adapter has enough
/// bindings.
const MOST_COMPUTED: usize = 2;

/// The depth of the search for the range of an index.
const DEPTH: usize = 6;

/// Bounds of an expression of integers, as far as they are known without computing.
fn range(node: &Arc<Node>, depth: usize) -> (i128, i128) {
    let all = if node.dtype == DType::Bool { (0, 1) } else { limits(node.dtype) };
    if depth == 0 || node.dtype.kind() == Kind::Float {
        return all;
    }
    let fits = |(low, high): (i128, i128)| {
        if low >= all.0 && high <= all.1 && low <= high { (low, high) } else { all }
    };
    let of = |i: usize| range(&node.args[i], depth - 1);
    match &node.kind {
        NodeKind::Leaf { source: Source::Scalar(bits), .. } => {
            let free = 128 - 8 * node.dtype.size() as u32;
            let value = match node.dtype.kind() {
                Kind::Signed => i128::from(*bits) << free >> free,
                _ => i128::from(*bits),
            };
            (value, value)
        }
        NodeKind::Leaf { source: Source::Index(_), layout } if layout.count() > 0 => fits(layout.reach()),
        NodeKind::View(_) | NodeKind::Shared => of(0),
        NodeKind::Op(Op::Cast) if node.args[0].dtype.kind() != Kind::Float => fits(of(0)),
        NodeKind::Op(Op::Select) => {
            let (a, b) = (of(1), of(2));
            (a.0.min(b.0), a.1.max(b.1))
        }
        NodeKind::Op(Op::Clamp) => {
            let (x, low, high) = (of(0), of(1), of(2));
            (x.0.max(low.0).min(high.0), x.1.max(low.1).min(high.1))
        }
        NodeKind::Op(
            op @ (Op::Min | Op::Max | Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem | Op::RemFloor),
        ) => {
            let (a, b) = (of(0), of(1));
            match op {
                Op::Min => (a.0.min(b.0), a.1.min(b.1)),
                Op::Max => (a.0.max(b.0), a.1.max(b.1)),
                Op::Add => fits((a.0 + b.0, a.1 + b.1)),
                Op::Sub => fits((a.0 - b.1, a.1 - b.0)),
                Op::Mul => {
                    let all = [a.0, a.1].map(|a| [b.0, b.1].map(|b| a.saturating_mul(b)));
                    let all = || all.iter().flatten().copied();
                    fits((all().min().unwrap_or(i128::MIN), all().max().unwrap_or(i128::MAX)))
                }
                Op::Div if b.0 == b.1 && b.0 > 0 => (a.0 / b.0, a.1 / b.0),
                Op::RemFloor if b.0 > 0 => (0, b.1 - 1),
                Op::Rem if a.0 >= 0 && b.0 > 0 => (0, (b.1 - 1).min(a.1)),
                _ => all,
            }
        }
        _ => all,
    }
}
