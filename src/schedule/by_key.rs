//! Counts and reductions by key, of devices that have no stage for them ([`Bounds::by_key`]).
//!
//! A stable sort by key makes runs of equal keys. A run's end is a search away, so its length counts the key. A scatter
//! takes the last element of each run. A segment reduces each run in the order of a row
//! ([`ReduceAxes`](crate::ir::ReduceAxes)), all runs at once: block by block, or by steps that combine an element with
//! the element at a fixed distance, if both are in one block of one run.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Bounds;
use super::graph::Graph;
use crate::dtype::{DType, Kind};
use crate::error::Result;
use crate::expr::{AnyExpr, Outside, Payload, ReduceOptions, Side, apply, bits, combined, number};
use crate::ir::{ACCUMULATORS, BLOCK, ByKey, Node, Op, ReduceOp, Segments};
use crate::tuning::segments::{MOST_COUNTED, MOST_MASKED};

/// The roots of a graph with sorts in place of nodes that the device has no stage for. `None` if there are no such
/// nodes.
pub(super) fn roots(graph: &Graph<'_>, bounds: Bounds) -> Result<Option<Vec<Arc<Node>>>> {
    let of = |node: &Arc<Node>| match (node.kind.segments(), node.args.last()) {
        (Some(own), Some(keys)) => Some((own, Arc::as_ptr(keys))),
        _ => None,
    };
    let is_stage = |own: Segments| bounds.by_key || is_counted(own);
    if graph.nodes.iter().all(|node| of(node).is_none_or(|(own, _)| is_stage(own))) {
        return Ok(None);
    }
    // One sort for what one node of keys reduces, and for its counts.
    let mut known: FxHashMap<(*const Node, Segments), Runs> = FxHashMap::default();
    let replaced = graph.replaced(|i, node| {
        let Some((own, address)) = of(graph.nodes[i]) else { return Ok(None) };
        let mut others = graph.nodes.iter().filter_map(|node| of(node));
        let is_moved = others.any(|(other, keys)| keys == address && other.gives != ByKey::Count);
        if !is_moved && is_stage(own) {
            return Ok(None);
        }
        let operand = |i: usize| AnyExpr::new(Ok(node.args[i].clone()));
        let all = Segments { gives: ByKey::Count, ..own };
        let runs = match known.entry((address, all)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Runs::new(&operand(node.args.len() - 1), all, is_moved)?),
        };
        let made = match own.gives {
            ByKey::Count => runs.totals.cast(DType::U32).unsqueeze(1),
            ByKey::Last => runs.last(&operand(0))?,
            ByKey::Reduced(op) => runs.by(op, &operand(0))?,
        };
        Ok(Some(made.node()?.clone()))
    });
    replaced.map(Some)
}

/// Whether an adapter counts keys in tables.
fn is_counted(own: Segments) -> bool {
    own.gives == ByKey::Count && own.count <= MOST_COUNTED && !own.are_sorted
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
    all.op(Op::Min, number(count - 1))
}

/// Elements sorted by key, in runs of equal keys below `count`. Elements without a key are last.
struct Runs {
    /// Keys that are not below the count are it, and the numbers of elements sorted by key. `None` if they lie so.
    order: Option<[AnyExpr; 2]>,
    /// The sorted keys.
    keys: AnyExpr,
    /// The first place of each key's run, and the end of the last run.
    starts: AnyExpr,
    /// The number of elements of each key, and whether tables count them.
    totals: AnyExpr,
    is_counted: bool,
    elements: usize,
    count: usize,
}

/// For each element its place in its run and the length of that run, as columns.
struct Places {
    place: AnyExpr,
    total: AnyExpr,
}

impl Runs {
    /// Runs of a column of keys. `is_moved` says whether the order is needed beside the counts.
    fn new(column: &AnyExpr, own: Segments, is_moved: bool) -> Result<Runs> {
        let (count, all) = (own.count, column.squeeze(1));
        let (order, keys) = if own.are_sorted {
            // Keys below 0 are first.
            let dtype = all.dtype()?;
            let least = if dtype.kind() == Kind::Signed { -1 } else { 0 };
            let [least, end] = [least, count as i64].map(|value| AnyExpr::scalar(dtype, value));
            (None, apply(Op::Clamp, &[&all, &least, &end]))
        } else {
            let end = AnyExpr::scalar(DType::U32, count as u64);
            let bins = all.cast(DType::U32).op(Op::Min, &end);
            let sorted = |what| bins.by_few_bits(what, false, bits(count), usize::MAX);
            if is_moved {
                let order = sorted(Payload::Indices)?.shared();
                let keys = bins.found(&[order.cast(DType::I32)])?;
                (Some([bins, order]), keys)
            } else {
                (None, sorted(Payload::Keys)?)
            }
        };
        let (keys, elements) = (keys.cast(DType::I32).shared(), all.shape()?[0]);
        let starts = keys.searchsorted(AnyExpr::coordinate([count + 1], 0), Side::Left);
        let starts = starts.cast(DType::I32).shared();
        let is_counted = is_counted(own);
        let totals = match is_counted {
            true => AnyExpr::by_key(own, &[column])?.squeeze(1).cast(DType::I32),
            false => part(&starts, 1, count).op(Op::Sub, part(&starts, 0, count)),
        };
        Ok(Runs { order, keys, starts, totals: totals.shared(), is_counted, elements, count })
    }

    /// The rows of values of each key, reduced.
    fn by(&self, op: ReduceOp, values: &AnyExpr) -> Result<AnyExpr> {
        let (n, width, count) = (self.elements, self.elements.min(BLOCK), self.count);
        if (n / BLOCK + count) * width > MOST_MASKED * n {
            return self.reduced(op, values);
        }
        let first = part(&self.starts, 0, 1);
        match &self.order {
            None => self.blocks(op, values, &|place| Ok(place.op(Op::Add, &first)), &self.totals, n),
            // Totals are counted, so nothing else needs the order: elements move with their keys.
            Some([bins, _]) if self.is_counted && values.shape()?[1] == 1 && values.is_moved()? => {
                let moved = Payload::Others(&values.reshape([-1]));
                let moved = bins.by_few_bits(moved, false, bits(count), usize::MAX)?;
                self.blocks(op, &moved.unsqueeze(1).shared(), &|place| Ok(place.clone()), &self.totals, n)
            }
            Some([_, order]) => {
                let row = |place: &AnyExpr| order.found(std::slice::from_ref(place));
                self.blocks(op, values, &row, &self.totals, n)
            }
        }
    }

    /// The rows of values of some elements, given by their numbers in sorted order.
    fn values(&self, values: &AnyExpr, numbers: &AnyExpr) -> Result<AnyExpr> {
        let last = self.elements - 1;
        let inside = apply(Op::Clamp, &[numbers, &number(0), &number(last)]);
        let order = self.order.as_ref().map_or(Ok(inside.clone()), |[_, order]| order.found(&[inside]))?;
        values.taken(&order, 0, Outside::Nearest)
    }

    /// The last row of values of each key.
    fn last(&self, values: &AnyExpr) -> Result<AnyExpr> {
        self.values(values, &part(&self.starts, 1, self.count).op(Op::Sub, number(1)))
    }

    /// The rows of values of each key, reduced.
    fn reduced(&self, op: ReduceOp, values: &AnyExpr) -> Result<AnyExpr> {
        let dtype = values.dtype()?;
        let numbers = [numbers(self.elements)];
        let key = match &self.order {
            Some(_) => self.keys.found(&numbers)?,
            None => part(&self.starts, 1, self.count).searchsorted(&numbers[0], Side::Right).cast(DType::I32),
        };
        let next = key.op(Op::Add, number(1)).op(Op::Min, number(self.count));
        let start = self.starts.found(&[key])?;
        let end = self.starts.found(&[next])?;
        let column = |x: AnyExpr| x.unsqueeze(1).shared();
        let own = AnyExpr::coordinate(start.shape()?.clone(), 0);
        let places =
            Places { place: column(own.op(Op::Sub, &start)), total: column(end.op(Op::Sub, &start)) };
        let first = part(&self.starts, 0, self.count);
        let first = first.op(Op::Min, number(self.elements - 1));
        let values = self.values(values, &numbers[0])?.shared();
        let made = self.folded(op, &values, &places, self.elements, &first)?;
        let there = self.totals.op(Op::Gt, number(0)).unsqueeze(1);
        let made = there.select(made, AnyExpr::constant(dtype, op.identity(dtype)));
        let is_sum = op == ReduceOp::Sum && dtype.kind() == Kind::Float;
        Ok(if is_sum { made.op(Op::Add, AnyExpr::scalar(dtype, 0.0)) } else { made })
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
        let found = |table: &AnyExpr, index: &AnyExpr| table.found(std::slice::from_ref(index));
        let is_last = longest <= BLOCK;
        let block = number(BLOCK);
        let cuts = totals.op(Op::Add, number(BLOCK - 1)).op(Op::Div, &block).shared();
        let (key, before) = if is_last {
            (AnyExpr::coordinate([self.count], 0), number(0))
        } else {
            let number_of = AnyExpr::coordinate([elements / BLOCK + self.count], 0);
            let ends = sums(&cuts);
            let key = ends.searchsorted(&number_of, Side::Right).cast(DType::I32);
            let key = key.op(Op::Min, number(self.count - 1)).shared();
            let first = found(&ends, &key)?.op(Op::Sub, found(&cuts, &key)?);
            // Rows past the last block are past the end of any run.
            let own = number_of.op(Op::Sub, &first).op(Op::Min, number(longest.div_ceil(BLOCK)));
            let before = own.op(Op::Mul, &block);
            (key, before)
        };
        let total = found(totals, &key)?;
        let length = total.op(Op::Sub, &before).shared();
        let start = found(&sums(totals), &key)?.op(Op::Sub, &total);
        let start = start.op(Op::Add, &before).shared();
        let own = AnyExpr::coordinate([key.shape()?[0], width], 1);
        let place = start.unsqueeze(1).op(Op::Add, &own);
        let place = apply(Op::Clamp, &[&place, &number(0), &number(elements - 1)]);
        let is_there = own.op(Op::Lt, length.unsqueeze(1)).unsqueeze(2);
        let dtype = values.dtype()?;
        let rows = values.taken(&row(&place)?, 0, Outside::Nearest)?;
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
        let lane = place.op(Op::Rem, number(BLOCK)).shared();
        let rest = total.op(Op::Sub, &place).op(Op::Add, &lane);
        let length = rest.op(Op::Min, number(BLOCK)).shared();
        let mut made = part(values, 0, size);
        for row in rows {
            let is_there = lane.op(Op::Add, number(row)).op(Op::Lt, &length);
            let both = combined(op, &made, &part(values, row, size))?;
            made = is_there.select(both, &made);
        }
        for half in halves {
            made = made.shared();
            size -= half;
            let (own, lane, length) = (part(&made, 0, size), part(&lane, 0, size), part(&length, 0, size));
            let beside = lane.op(Op::Add, number(half)).op(Op::Lt, &length);
            let is_there = beside.op(Op::And, lane.op(Op::Lt, number(half)));
            made = is_there.select(combined(op, &own, &part(&made, half, size))?, own);
        }
        let made = made.shared();
        let found = made.taken(wanted, 0, Outside::Nearest)?;
        if count <= BLOCK {
            return Ok(found);
        }
        // Runs of several blocks go another round, whose elements are their blocks: fewer than `2 * count / BLOCK`.
        let (lane, place, total) = (part(&lane, 0, count), part(&place, 0, count), part(&total, 0, count));
        let is_long = total.op(Op::Gt, number(BLOCK));
        let is_next = is_long.op(Op::And, lane.op(Op::Eq, number(0))).reshape([-1]).shared();
        let few = 2 * count / BLOCK;
        let index = is_next.true_first(None, few)?.found(&[numbers(few)])?.cast(DType::I32).shared();
        let next = |x: &AnyExpr| x.taken(&index, 0, Outside::Nearest);
        let blocks = next(&total)?.op(Op::Add, number(BLOCK - 1));
        let places = Places {
            place: next(&place)?.op(Op::Div, number(BLOCK)).shared(),
            total: blocks.op(Op::Div, number(BLOCK)).shared(),
        };
        let exclusive = ReduceOptions::default().exclusive();
        let before = is_next.cast(DType::U32).reduce("cumsum", [0], exclusive).cast(DType::I32);
        let further = before.taken(wanted, 0, Outside::Nearest)?.op(Op::Min, number(few - 1));
        let further = self.folded(op, &next(&made)?.shared(), &places, few, &further)?;
        Ok(is_long.taken(wanted, 0, Outside::Nearest)?.select(further, found))
    }
}
