//! Writes at computed indices, and reductions of elements with equal keys.
//!
//! A stable sort by key makes runs of equal keys. A scatter writes the last element of each run. A segment reduces each
//! run in the order of a row ([`ReduceAxes`](crate::ir::ReduceAxes)), all runs at once. Each step combines an element
//! with the element at a fixed distance, if both are in one block of one run. On the CPU path one node does all of it
//! ([`NodeKind::Segments`](crate::ir::NodeKind::Segments)).

use std::panic::Location;

use super::any::{apply, or_mistake};
use super::lookup::Index;
use super::reduce::Class;
use super::selecting::{MOST_COUNTED, Moved, bits};
use super::sorting::Along;
use super::{AnyExpr, Expr, IntoExpr, Outside, ReduceOptions, Side};
use crate::dtype::{DType, Element, Float, Integer, Kind, Numeric};
use crate::error::{Error, ErrorKind, Result, bail};
use crate::ir::{ACCUMULATORS, BLOCK, Node, Op, ReduceOp};
use crate::layout::{AxisIndex, Shape};

/// How updates change the element that they are written to ([`scatter_with`](Expr::scatter_with)).
///
/// ```
/// use zerostride::{Device, Outside, Update};
///
/// let device = Device::cpu();
/// let (x, i) = (device.upload(&[10, 20], [2])?, device.upload(&[1, 1], [2])?);
/// let y = device.upload(&[3, 4], [2])?;
/// let with = |update| x.scatter_with([&i], &y, update, Outside::Nearest).to_vec();
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
    /// The least of it and the updates, as [`amin`](Expr::amin).
    Min,
    /// The greatest of it and the updates, as [`amax`](Expr::amax).
    Max,
}

impl Update {
    fn op(self) -> Option<ReduceOp> {
        match self {
            Update::Replace => None,
            Update::Add => Some(ReduceOp::Sum),
            Update::Mul => Some(ReduceOp::Prod),
            Update::Min => Some(ReduceOp::Min),
            Update::Max => Some(ReduceOp::Max),
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

fn number(value: usize) -> AnyExpr {
    AnyExpr::scalar(DType::I32, value as u64)
}

/// `count` elements of the first axis.
fn part(x: &AnyExpr, from: usize, count: usize) -> AnyExpr {
    x.slice(0, from as isize..(from + count) as isize)
}

/// The distances at which elements of a block are combined: first whole rows of accumulators, then halves of a row.
fn distances(count: usize) -> (Vec<usize>, Vec<usize>) {
    let rows = (ACCUMULATORS..BLOCK).step_by(ACCUMULATORS).filter(|&row| row < count).collect();
    let halves = (0..ACCUMULATORS.ilog2()).rev().map(|bit| 1 << bit).filter(|&half| half < count).collect();
    (rows, halves)
}

/// How many elements past the first `count` the steps of a reduction read.
fn beyond(count: usize) -> usize {
    let (rows, halves) = distances(count);
    rows.last().unwrap_or(&0) + halves.iter().sum::<usize>()
}

/// Numbers of elements along an axis. The last one is repeated for the steps that read beyond it.
fn numbers(count: usize) -> AnyExpr {
    let all = AnyExpr::coordinate([count + beyond(count)], 0);
    apply(Op::Min, &[&all, &number(count - 1)], Location::caller())
}

/// Two values combined as by a reduction.
fn combined(op: ReduceOp, a: &AnyExpr, b: &AnyExpr, at: &'static Location<'static>) -> Result<AnyExpr> {
    let of = |op: Op, a: &AnyExpr, b: &AnyExpr| apply(op, &[a, b], at);
    let op = match op {
        ReduceOp::Sum => return Ok(of(Op::Add, a, b)),
        ReduceOp::Prod => return Ok(of(Op::Mul, a, b)),
        ReduceOp::Min => Op::Min,
        _ => Op::Max,
    };
    let dtype = a.dtype()?;
    if dtype.kind() != Kind::Float {
        return Ok(of(op, a, b));
    }
    // Of two zeros the sum is the greater one.
    let turned = |x: &AnyExpr| if op == Op::Min { apply(Op::Neg, &[x], at) } else { x.clone() };
    let zero = AnyExpr::scalar(dtype, 0.0);
    let are_zeros = of(Op::And, &of(Op::Eq, a, &zero), &of(Op::Eq, b, &zero));
    let of_zeros = turned(&of(Op::Add, &turned(a), &turned(b)));
    Ok(are_zeros.select(of_zeros, of(op, a, b)))
}

/// The reduced rows of values of each key below `count`, or the last ones, which have no meaning for keys without
/// elements. And how many elements each key has.
fn grouped(
    op: Option<ReduceOp>,
    values: &AnyExpr,
    (keys, count): (&Keys, usize),
    at: &'static Location<'static>,
) -> Result<[AnyExpr; 2]> {
    let own = &keys.any;
    let made = Node::segments(op, count, [values.node()?, own.unsqueeze(1).node()?]);
    if made.is_on_host() && !keys.are_sorted {
        return Ok([AnyExpr::new(Ok(made), at), own.bincount(count)]);
    }
    let runs = Runs::new(keys, count, at)?;
    let is_counted = count <= MOST_COUNTED && !keys.are_sorted;
    let totals = if is_counted { own.bincount(count).cast(DType::I32) } else { runs.totals() };
    let totals = totals.shared();
    let (n, width) = (runs.elements, runs.elements.min(BLOCK));
    let made = match op {
        None => runs.last(values)?,
        Some(op) if (n / BLOCK + count) * width <= MOST_MASKED * n => {
            let first = part(&runs.starts, 0, 1);
            match &runs.order {
                None => {
                    runs.blocks(op, values, &|place| Ok(apply(Op::Add, &[place, &first], at)), &totals, n)?
                }
                // Totals are counted, so nothing else needs the order: elements move with their keys.
                Some(_) if is_counted && values.shape()?[1] == 1 && values.is_moved()? => {
                    let moved = Moved::Others(&values.reshape([-1]));
                    let moved = own.bins(count).by_few_bits(moved, false, bits(count), usize::MAX, at)?;
                    runs.blocks(op, &moved.unsqueeze(1).shared(), &|place| Ok(place.clone()), &totals, n)?
                }
                Some(order) => {
                    let row = |place: &AnyExpr| order.found(std::slice::from_ref(place), at);
                    runs.blocks(op, values, &row, &totals, n)?
                }
            }
        }
        Some(op) => runs.reduced(op, values)?,
    };
    Ok([made, totals])
}

/// The most elements of blocks of runs for each element, so that each block is a row of its own, however short it is.
/// Else all elements of blocks are combined at once, in some twenty steps.
const MOST_MASKED: usize = 8;

/// Elements sorted by key, in runs of equal keys below `count`. Elements without a key are last.
struct Runs {
    /// The numbers of elements, sorted by key, unless they lie so.
    order: Option<AnyExpr>,
    keys: AnyExpr,
    /// The first place of each key's run, and the end of the last run.
    starts: AnyExpr,
    elements: usize,
    count: usize,
    at: &'static Location<'static>,
}

/// For each element its place in its run and the length of that run, as columns.
struct Places {
    place: AnyExpr,
    total: AnyExpr,
}

impl Runs {
    fn new(Keys { any, are_sorted }: &Keys, count: usize, at: &'static Location<'static>) -> Result<Runs> {
        let (order, keys) = if *are_sorted {
            // Keys below 0 are first.
            let dtype = any.dtype()?;
            let least = if dtype.kind() == Kind::Signed { -1 } else { 0 };
            let [least, end] = [least, count as i64].map(|value| AnyExpr::scalar(dtype, value));
            let inside = apply(Op::Clamp, &[any, &least, &end], at);
            (None, inside.cast(DType::I32))
        } else {
            let keys = any.bins(count);
            let order = keys.by_few_bits(Moved::Indices, false, bits(count), usize::MAX, at)?.shared();
            let sorted = keys.found(&[order.cast(DType::I32)], at)?;
            (Some(order), sorted.cast(DType::I32))
        };
        let (keys, elements) = (keys.shared(), any.shape()?[0]);
        let starts = keys.searchsorted(AnyExpr::coordinate([count + 1], 0), Side::Left);
        Ok(Runs { order, keys, starts: starts.cast(DType::I32).shared(), elements, count, at })
    }

    fn op(&self, op: Op, a: &AnyExpr, b: &AnyExpr) -> AnyExpr {
        apply(op, &[a, b], self.at)
    }

    /// How many elements each key has.
    fn totals(&self) -> AnyExpr {
        self.op(Op::Sub, &part(&self.starts, 1, self.count), &part(&self.starts, 0, self.count))
    }

    /// The rows of values of some elements, given by their numbers in sorted order.
    fn values(&self, values: &AnyExpr, numbers: &AnyExpr) -> Result<AnyExpr> {
        let last = self.elements - 1;
        let inside = apply(Op::Clamp, &[numbers, &number(0), &number(last)], self.at);
        let order =
            self.order.as_ref().map_or(Ok(inside.clone()), |order| order.found(&[inside], self.at))?;
        values.taken(&order, 0, Outside::Nearest, self.at)
    }

    /// The last row of values of each key.
    fn last(&self, values: &AnyExpr) -> Result<AnyExpr> {
        self.values(values, &self.op(Op::Sub, &part(&self.starts, 1, self.count), &number(1)))
    }

    /// The rows of values of each key, reduced.
    fn reduced(&self, op: ReduceOp, values: &AnyExpr) -> Result<AnyExpr> {
        let dtype = values.dtype()?;
        let numbers = [numbers(self.elements)];
        let key = match &self.order {
            Some(_) => self.keys.found(&numbers, self.at)?,
            None => part(&self.starts, 1, self.count).searchsorted(&numbers[0], Side::Right).cast(DType::I32),
        };
        let next = self.op(Op::Min, &self.op(Op::Add, &key, &number(1)), &number(self.count));
        let start = self.starts.found(&[key], self.at)?;
        let end = self.starts.found(&[next], self.at)?;
        let column = |x: AnyExpr| x.unsqueeze(1).shared();
        let own = AnyExpr::coordinate(start.shape()?.clone(), 0);
        let places = Places {
            place: column(self.op(Op::Sub, &own, &start)),
            total: column(self.op(Op::Sub, &end, &start)),
        };
        let first = part(&self.starts, 0, self.count);
        let first = self.op(Op::Min, &first, &number(self.elements - 1));
        let values = self.values(values, &numbers[0])?.shared();
        let made = self.folded(op, &values, &places, self.elements, &first)?;
        let there = self.op(Op::Gt, &self.totals(), &number(0)).unsqueeze(1);
        let made = there.select(made, AnyExpr::constant(dtype, op.identity(dtype)));
        let is_sum = op == ReduceOp::Sum && dtype.kind() == Kind::Float;
        Ok(if is_sum { self.op(Op::Add, &made, &AnyExpr::scalar(dtype, 0.0)) } else { made })
    }

    /// The rows of values of each key, reduced block by block. Rows are found by places in sorted order. No run has more
    /// than `longest` elements. Each block of a run is a row of an expression, and past its end there is the identity,
    /// which changes no bit. The blocks' values are the next round's.
    fn blocks(
        &self,
        op: ReduceOp,
        values: &AnyExpr,
        row: &dyn Fn(&AnyExpr) -> Result<AnyExpr>,
        totals: &AnyExpr,
        longest: usize,
    ) -> Result<AnyExpr> {
        let (width, elements) = (longest.min(BLOCK), values.shape()?[0]);
        let sums = |x: &AnyExpr| x.reduce("cumsum", [0], ReduceOptions::default()).shared();
        let found = |table: &AnyExpr, index: &AnyExpr| table.found(std::slice::from_ref(index), self.at);
        let is_last = longest <= BLOCK;
        let block = number(BLOCK);
        let cuts = self.op(Op::Div, &self.op(Op::Add, totals, &number(BLOCK - 1)), &block).shared();
        let (key, before) = if is_last {
            (AnyExpr::coordinate([self.count], 0), number(0))
        } else {
            let number_of = AnyExpr::coordinate([elements / BLOCK + self.count], 0);
            let ends = sums(&cuts);
            let key = ends.searchsorted(&number_of, Side::Right).cast(DType::I32);
            let key = self.op(Op::Min, &key, &number(self.count - 1)).shared();
            let first = self.op(Op::Sub, &found(&ends, &key)?, &found(&cuts, &key)?);
            // Rows past the last block are past the end of any run.
            let own =
                self.op(Op::Min, &self.op(Op::Sub, &number_of, &first), &number(longest.div_ceil(BLOCK)));
            let before = self.op(Op::Mul, &own, &block);
            (key, before)
        };
        let total = found(totals, &key)?;
        let length = self.op(Op::Sub, &total, &before).shared();
        let start = self.op(Op::Sub, &found(&sums(totals), &key)?, &total);
        let start = self.op(Op::Add, &start, &before).shared();
        let own = AnyExpr::coordinate([key.shape()?[0], width], 1);
        let place = self.op(Op::Add, &start.unsqueeze(1), &own);
        let place = apply(Op::Clamp, &[&place, &number(0), &number(elements - 1)], self.at);
        let is_there = self.op(Op::Lt, &own, &length.unsqueeze(1)).unsqueeze(2);
        let dtype = values.dtype()?;
        let rows = values.taken(&row(&place)?, 0, Outside::Nearest, self.at)?;
        let rows = is_there.select(rows, AnyExpr::constant(dtype, op.identity(dtype)));
        let made = rows.reduce(op.name(), [1], ReduceOptions::default());
        match is_last {
            true => Ok(made),
            false => {
                self.blocks(op, &made.shared(), &|place| Ok(place.clone()), &cuts, longest.div_ceil(BLOCK))
            }
        }
    }

    /// The reduced rows of some runs, given by their first elements among `count` elements. `values` has more rows,
    /// which the steps read.
    fn folded(
        &self,
        op: ReduceOp,
        values: &AnyExpr,
        Places { place, total }: &Places,
        count: usize,
        wanted: &AnyExpr,
    ) -> Result<AnyExpr> {
        let (rows, halves) = distances(count);
        let mut size = count + halves.iter().sum::<usize>();
        let (place, total) = (part(place, 0, size), part(total, 0, size));
        let lane = self.op(Op::Rem, &place, &number(BLOCK)).shared();
        let rest = self.op(Op::Add, &self.op(Op::Sub, &total, &place), &lane);
        let length = self.op(Op::Min, &rest, &number(BLOCK)).shared();
        let mut made = part(values, 0, size);
        for row in rows {
            let is_there = self.op(Op::Lt, &self.op(Op::Add, &lane, &number(row)), &length);
            let both = combined(op, &made, &part(values, row, size), self.at)?;
            made = is_there.select(both, &made);
        }
        for half in halves {
            made = made.shared();
            size -= half;
            let (own, lane, length) = (part(&made, 0, size), part(&lane, 0, size), part(&length, 0, size));
            let beside = self.op(Op::Lt, &self.op(Op::Add, &lane, &number(half)), &length);
            let is_there = self.op(Op::And, &beside, &self.op(Op::Lt, &lane, &number(half)));
            made = is_there.select(combined(op, &own, &part(&made, half, size), self.at)?, own);
        }
        let made = made.shared();
        let found = made.taken(wanted, 0, Outside::Nearest, self.at)?;
        if count <= BLOCK {
            return Ok(found);
        }
        // Runs of several blocks go another round, whose elements are their blocks: fewer than `2 * count / BLOCK`.
        let (lane, place, total) = (part(&lane, 0, count), part(&place, 0, count), part(&total, 0, count));
        let is_long = self.op(Op::Gt, &total, &number(BLOCK));
        let is_next = self.op(Op::And, &is_long, &self.op(Op::Eq, &lane, &number(0))).reshape([-1]).shared();
        let few = 2 * count / BLOCK;
        let index = is_next
            .true_first(None, few, self.at)?
            .found(&[numbers(few)], self.at)?
            .cast(DType::I32)
            .shared();
        let next = |x: &AnyExpr| x.taken(&index, 0, Outside::Nearest, self.at);
        let blocks = self.op(Op::Add, &next(&total)?, &number(BLOCK - 1));
        let places = Places {
            place: self.op(Op::Div, &next(&place)?, &number(BLOCK)).shared(),
            total: self.op(Op::Div, &blocks, &number(BLOCK)).shared(),
        };
        let exclusive = ReduceOptions::default().exclusive();
        let before = is_next.cast(DType::U32).reduce("cumsum", [0], exclusive).cast(DType::I32);
        let further =
            self.op(Op::Min, &before.taken(wanted, 0, Outside::Nearest, self.at)?, &number(few - 1));
        let further = self.folded(op, &next(&made)?.shared(), &places, few, &further)?;
        Ok(is_long.taken(wanted, 0, Outside::Nearest, self.at)?.select(further, found))
    }
}

impl AnyExpr {
    /// The elements as a matrix: its rows are the slices along the leading axes.
    fn in_rows(&self, leading: usize) -> Result<AnyExpr> {
        let shape = self.shape()?;
        let rows: usize = shape[..leading].iter().product();
        let row: usize = shape[leading..].iter().product();
        Ok(self.flat()?.reshape([rows as isize, row as isize]))
    }

    fn of_shape(&self, shape: &Shape) -> AnyExpr {
        self.reshape(shape.iter().map(|&n| n as isize).collect::<Vec<_>>())
    }

    fn scattered(
        &self,
        indices: Vec<AnyExpr>,
        updates: &AnyExpr,
        update: Update,
        outside: Outside,
        at: &'static Location<'static>,
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
        let (mut key, mut exists) = (number(0), None::<AnyExpr>);
        for (axis, index) in indices.iter().enumerate() {
            let length = shape[axis];
            let (index, valid) = Index { axis, length, at }.inside(index, &outside)?;
            // Along an axis of length 1 every index is 0.
            if length > 1 {
                key = apply(Op::Add, &[&apply(Op::Mul, &[&key, &number(length)], at), &index], at);
            }
            exists = match (exists, valid) {
                (Some(all), Some(own)) => Some(apply(Op::And, &[&all, &own], at)),
                (all, own) => all.or(own),
            };
        }
        if let Some(exists) = exists {
            key = exists.select(key, number(count));
        }
        let key = key.broadcast_to(own.clone()).flat()?.shared();
        let (rows, values) = (self.in_rows(leading)?, updates.in_rows(own.rank())?);
        let wide = if update == Update::Replace { dtype } else { dtype.accumulating() };
        let [made, totals] = grouped(update.op(), &values.cast(wide), (&key.into(), count), at)?;
        let written = match update.op() {
            None => made,
            Some(op) => combined(op, &rows.cast(wide), &made, at)?.cast(dtype),
        };
        let is_written = totals.cast(DType::Bool).unsqueeze(1);
        Ok(is_written.select(written, rows).of_shape(shape))
    }

    fn put(
        &self,
        indices: &AnyExpr,
        values: &AnyExpr,
        axis: isize,
        at: &'static Location<'static>,
    ) -> Result<AnyExpr> {
        let along = Along::new("put_along", self, indices, axis)?;
        let all = along.with(self.shape()?, indices.shape()?[along.axis]);
        self.scattered(along.places(&all), values, Update::Replace, Outside::Nearest, at)
    }

    fn segmented(
        &self,
        name: &'static str,
        op: ReduceOp,
        (Keys { any, are_sorted }, count): (Keys, usize),
        at: &'static Location<'static>,
    ) -> Result<AnyExpr> {
        let (shape, own, dtype) = (self.shape()?, any.shape()?, self.dtype()?);
        let is_mean = name == "segment_mean";
        (if is_mean { Class::Float } else { Class::Numeric }).check(name, dtype)?;
        if own.rank() > shape.rank() || own[..] != shape[..own.rank()] {
            bail!(Shape, "{name} of {shape} by keys of {own}: keys have the shape of the leading axes");
        }
        let all: Shape = std::iter::once(count).chain(shape[own.rank()..].iter().copied()).collect();
        let (keys, wide) = (Keys { any: any.keys(name, count)?, are_sorted }, dtype.accumulating());
        let values = self.cast(wide);
        let [mut made, totals] = if shape.contains(&0) || all.contains(&0) {
            [values.of_constant(op.identity(wide), &all, at)?, number(0)]
        } else {
            grouped(Some(op), &values.in_rows(own.rank())?, (&keys, count), at)?
        };
        if is_mean {
            made = apply(Op::Div, &[&made, &totals.cast(wide).unsqueeze(-1)], at);
        }
        Ok(made.cast(dtype).of_shape(&all))
    }
}

macro_rules! written {
    ($($(#[$doc:meta])+ $name:ident [$($generic:tt)*] ($($before:ident: $b:ty,)* _ $updates:ident $(, $after:ident: $a:ty)*) where $bound:ident,
        $eg:literal => $to:literal, |$x:ident, $at:ident| $body:expr;)*) => {
        /// Writes at computed indices. Updates of one place apply in row-major order, so there is one answer.
        impl AnyExpr {$(
            $(#[$doc])+
            ///
            /// ```
            /// # use zerostride::{AnyExpr, Outside, Update};
            /// # let device = zerostride::Device::cpu();
            /// let x = AnyExpr::from(device.upload(&[1, 2, 3, 4], [4])?);
            /// let (i, y) = (device.upload(&[3, -4, 3], [3])?, device.upload(&[5, 6, -7], [3])?);
            #[doc = concat!("assert_eq!(x.", $eg, ".to_vec::<i32>()?, ", $to, ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name<$($generic)*>(&self, $($before: $b,)* $updates: impl Into<AnyExpr> $(, $after: $a)*) -> AnyExpr {
                let ($x, $at, $updates) = (self, Location::caller(), &$updates.into());
                or_mistake($body, $at)
            }
        )*}

        $(impl<T: $bound> Expr<T> {
            $(#[$doc])+
            ///
            /// ```
            /// # use zerostride::{Outside, Update};
            /// # let device = zerostride::Device::cpu();
            /// let x = device.upload(&[1, 2, 3, 4], [4])?;
            /// let (i, y) = (device.upload(&[3, -4, 3], [3])?, device.upload(&[5, 6, -7], [3])?);
            #[doc = concat!("assert_eq!(x.", $eg, ".to_vec()?, ", $to, ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name<$($generic)*>(&self, $($before: $b,)* $updates: impl IntoExpr<T> $(, $after: $a)*) -> Expr<T> {
                Expr::face(self.any.$name($($before,)* $updates.into_expr() $(, $after)*))
            }
        })*
    };
}
written! {
    /// The elements, with updates in place of those at some indices. Indices are an expression of integers for each
    /// leading axis, and broadcast together (NumPy `x[i, j] = y`; ONNX `ScatterND`). Updates have the shape of the
    /// indices and then the other axes, or broadcast to it. The last update of a place wins. Indices are handled as by
    /// [`at`](Self::at).
    scatter [I: Into<AnyExpr>] (indices: impl IntoIterator<Item = I>, _ updates) where Element,
        "scatter([&i], &y)" => "[6, 2, 3, -7]",
        |x, at| x.scattered(indices.into_iter().map(Into::into).collect(), updates, Update::Replace, Outside::Nearest, at);
    /// [`scatter`](Self::scatter) that adds the sum of its updates to each element, in the order of [`sum`](Self::sum)
    /// (NumPy
    /// `add.at`; PyTorch `index_put` with `accumulate`).
    scatter_add [I: Into<AnyExpr>] (indices: impl IntoIterator<Item = I>, _ updates) where Numeric,
        "scatter_add([&i], &y)" => "[7, 2, 3, 2]",
        |x, at| x.scattered(indices.into_iter().map(Into::into).collect(), updates, Update::Add, Outside::Nearest, at);
    /// [`scatter`](Self::scatter) of the least of an element and its updates (NumPy `minimum.at`).
    scatter_min [I: Into<AnyExpr>] (indices: impl IntoIterator<Item = I>, _ updates) where Numeric,
        "scatter_min([&i], &y)" => "[1, 2, 3, -7]",
        |x, at| x.scattered(indices.into_iter().map(Into::into).collect(), updates, Update::Min, Outside::Nearest, at);
    /// [`scatter`](Self::scatter) of the greatest of an element and its updates (NumPy `maximum.at`).
    scatter_max [I: Into<AnyExpr>] (indices: impl IntoIterator<Item = I>, _ updates) where Numeric,
        "scatter_max([&i], &y)" => "[6, 2, 3, 5]",
        |x, at| x.scattered(indices.into_iter().map(Into::into).collect(), updates, Update::Max, Outside::Nearest, at);
    /// [`scatter`](Self::scatter) with a way to update, and a rule for indices outside of their axis. With
    /// [`Outside::Fill`] an update outside is dropped.
    scatter_with [I: Into<AnyExpr>] (indices: impl IntoIterator<Item = I>, _ updates, update: Update, outside: Outside) where Element,
        "scatter_with([&i], &y, Update::Mul, Outside::fill(0))" => "[6, 2, 3, -140]",
        |x, at| x.scattered(indices.into_iter().map(Into::into).collect(), updates, update, outside, at);
    /// The elements, with values in place of those at indices along an axis, at the same place along the other axes
    /// (NumPy
    /// `put_along_axis`). Both broadcast. The last value of a place wins. It undoes [`take_along`](Self::take_along) if all
    /// indices differ.
    put_along [] (indices: impl Into<AnyExpr>, _ values, axis: impl AxisIndex) where Element,
        "put_along(&i, &y, 0)" => "[6, 2, 3, -7]",
        |x, at| x.put(&indices.into(), values, axis.signed(), at);
}

macro_rules! segments {
    ($($(#[$doc:meta])+ $name:ident($op:ident) where $bound:ident, $to:literal;)*) => {
        /// Reductions of elements with equal keys.
        impl AnyExpr {$(
            $(#[$doc])+
            ///
            /// ```
            /// # use zerostride::AnyExpr;
            /// # let device = zerostride::Device::cpu();
            /// let x = AnyExpr::from(device.upload(&[1.0_f32, 2.0, 4.0], [3])?);
            /// let keys = device.upload(&[1, 0, 1], [3])?;
            #[doc = concat!("assert_eq!(x.", stringify!($name), "(&keys, 2).to_vec::<f32>()?, ", $to, ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name(&self, keys: impl Into<Keys>, count: usize) -> AnyExpr {
                self.segment(stringify!($name), keys, count)
            }
        )*}

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
                let at = Location::caller();
                let own = match name {
                    $(stringify!($name) => {
                        self.segmented(stringify!($name), ReduceOp::$op, (keys.into(), count), at)
                    })*
                    _ => Err(Error::new(ErrorKind::Operation, format!("no reduction by key is called '{name}'"))),
                };
                or_mistake(own, at)
            }
        }

        $(impl<T: $bound> Expr<T> {
            $(#[$doc])+
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            /// let x = device.upload(&[1.0_f32, 2.0, 4.0], [3])?;
            /// let keys = device.upload(&[1, 0, 1], [3])?;
            #[doc = concat!("assert_eq!(x.", stringify!($name), "(&keys, 2).to_vec()?, ", $to, ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name(&self, keys: impl Into<Keys>, count: usize) -> Expr<T> {
                Expr::face(self.any.$name(keys, count))
            }
        })*
    };
}
segments! {
    /// The sum of the elements of each key from 0 to below `count`, in the order of [`sum`](Self::sum) (JAX and
    /// TensorFlow
    /// `segment_sum`). `keys` has the leading axes, and one axis of keys replaces them in the result. Elements with another
    /// key are left out. The sum of a key without elements is 0. Sorted keys
    /// ([`assume_sorted`](Expr::assume_sorted)) need no sort.
    segment_sum(Sum) where Numeric, "[2.0, 5.0]";
    /// [`segment_sum`](Self::segment_sum) for products: that of a key without elements is 1.
    segment_prod(Prod) where Numeric, "[2.0, 4.0]";
    /// [`segment_sum`](Self::segment_sum) for the least elements: that of a key without elements is infinity, or the
    /// greatest integer.
    segment_min(Min) where Numeric, "[2.0, 1.0]";
    /// [`segment_sum`](Self::segment_sum) for the greatest elements: that of a key without elements is minus infinity,
    /// or the least integer.
    segment_max(Max) where Numeric, "[2.0, 4.0]";
    /// [`segment_sum`](Self::segment_sum) divided by the number of elements of a key, which
    /// [`bincount`](Expr::bincount) counts: the mean of a key without elements is NaN.
    segment_mean(Sum) where Float, "[2.0, 2.5]";
}
