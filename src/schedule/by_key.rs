//! Counts and reductions by key, of devices that have no stage for them ([`Bounds::by_key`]).
//!
//! A stable sort by key makes runs of equal keys. A search finds where each run begins, so its length counts the key. A
//! scatter takes the last element of each run. A segment reduces each run in the order of a row
//! ([`ReduceAxes`](crate::ir::ReduceAxes)): a loop over each block of each run, and then over the blocks' values.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Bounds;
use super::graph::Graph;
use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::expr::{AnyExpr, Outside, Payload, ReduceOptions, apply, bits, built, combined, number};
use crate::ir::{ACCUMULATORS, AxisOp, BLOCK, ByKey, Node, NodeKind, Op, ReduceOp, Segments};
use crate::tuning::segments::{LONG_RUN, MOST_COUNTED};

/// The roots of a graph with sorts in place of nodes that the device has no stage for. `None` if there are no such
/// nodes.
pub(super) fn roots(graph: &Graph<'_>, bounds: Bounds) -> Result<Option<Vec<Arc<Node>>>> {
    let of = |node: &Arc<Node>| match (&node.kind, node.args.last()) {
        (NodeKind::Axis(AxisOp::Segments(own)), Some(keys)) => Some((*own, Arc::as_ptr(keys))),
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
            ByKey::Count => runs.totals().cast(DType::U32).unsqueeze(1),
            ByKey::Last => runs.last(&operand(0))?,
            ByKey::Reduced(op) => runs.reduced(op, &operand(0))?,
        };
        Ok(Some(made.node()?.clone()))
    });
    replaced.map(Some)
}

/// Whether an adapter counts keys in tables.
fn is_counted(own: Segments) -> bool {
    own.gives == ByKey::Count && own.count <= MOST_COUNTED && !own.are_sorted
}

/// Elements sorted by key, in runs of equal keys below `count`. Elements without a key are last.
struct Runs {
    /// The numbers of elements in the order of their keys. `None` if they lie so, or if nothing asks.
    order: Option<AnyExpr>,
    /// The first place of each key's run, and the end of the last run.
    starts: AnyExpr,
    elements: usize,
    count: usize,
}

/// The number of the element at a place in the order of keys.
fn row(order: Option<&AnyExpr>, place: &AnyExpr) -> Result<AnyExpr> {
    let found = |order: &AnyExpr| Ok(order.found(std::slice::from_ref(place))?.cast(DType::I32));
    order.map_or(Ok(place.clone()), found)
}

/// Blocks of runs: the place of each one's first element, and how many elements it has.
struct Blocks {
    begin: AnyExpr,
    length: AnyExpr,
    /// Their number, and the most elements of one.
    count: usize,
    longest: usize,
}

impl Runs {
    /// Runs of a column of keys. `is_moved` says whether the order is needed beside the counts.
    fn new(column: &AnyExpr, own: Segments, is_moved: bool) -> Result<Runs> {
        let (count, all) = (own.count, column.squeeze(1));
        let elements = all.shape()?[0];
        let (Ok(length), true) =
            (i32::try_from(elements), i32::try_from(elements + count + 2 * BLOCK).is_ok())
        else {
            bail!(
                Limit,
                "{} of {elements} rows by {count} keys: it takes fewer than 2^31 of both",
                own.name()
            )
        };
        // Keys in their order, each below 0 or at most the count, by a table and the place in it.
        let (keys, order) = if own.are_sorted {
            let dtype = all.dtype()?;
            let least = if dtype.kind() == Kind::Signed { -1 } else { 0 };
            let [least, end] = [least, count as i64].map(|value| AnyExpr::scalar(dtype, value));
            (apply(Op::Clamp, &[&all, &least, &end]), None)
        } else {
            let end = AnyExpr::scalar(DType::U32, count as u64);
            let bins = all.cast(DType::U32).op(Op::Min, &end).shared();
            let sorted = |what| bins.by_few_bits(what, false, bits(count), usize::MAX);
            match is_moved {
                true => (bins.clone(), Some(sorted(Payload::Indices)?.shared())),
                false => (sorted(Payload::Keys)?, None),
            }
        };
        let (keys, key) = (keys.shared(), AnyExpr::coordinate([count + 1], 0));
        let is_before = |place: &AnyExpr| {
            let own: AnyExpr = built(|| keys.found(&[row(order.as_ref(), place)?]));
            own.cast(DType::I32).op(Op::Lt, &key)
        };
        let starts = key.op(Op::Mul, number(0)).first_not(length, is_before).shared();
        Ok(Runs { order, starts, elements, count })
    }

    /// Elements of each key.
    fn totals(&self) -> AnyExpr {
        self.starts.slice(0, 1..).op(Op::Sub, self.starts.slice(0, ..self.count as isize))
    }

    /// The last row of values of each key.
    fn last(&self, values: &AnyExpr) -> Result<AnyExpr> {
        let last = self.starts.slice(0, 1..).op(Op::Sub, number(1)).op(Op::Max, number(0));
        values.taken(&row(self.order.as_ref(), &last)?, 0, Outside::Nearest)
    }

    /// The rows of values of each key, reduced. The values of blocks are the next round's.
    fn reduced(&self, op: ReduceOp, values: &AnyExpr) -> Result<AnyExpr> {
        let (mut values, mut longest) = (values.shared(), self.elements);
        for round in 0.. {
            let blocks = self.blocks(round, values.shape()?[0], longest)?;
            let order = self.order.as_ref().filter(|_| round == 0);
            let made = blocks.reduced(op, &values, order, values.shape()?[0] / self.count.max(1))?;
            if longest <= BLOCK {
                let dtype = made.dtype()?;
                let is_sum = op.is_sum() && dtype.kind() == Kind::Float;
                return Ok(if is_sum { made.op(Op::Add, AnyExpr::scalar(dtype, 0.0)) } else { made });
            }
            (values, longest) = (made.shared(), longest.div_ceil(BLOCK));
        }
        bail!(Kernel, "a reduction without an end")
    }

    /// The blocks of a round, over so many elements.
    ///
    /// A run of key `k` that begins at `s` has its block `b` at place `s / BLOCK + k + b`. So no two blocks have one
    /// place, whatever the lengths of runs, and a place's key is a search away.
    fn blocks(&self, round: usize, elements: usize, longest: usize) -> Result<Blocks> {
        let block = number(BLOCK);
        let slot = |begin: &AnyExpr, key: &AnyExpr| begin.op(Op::Div, &block).op(Op::Add, key);
        let run = |key: &AnyExpr| -> Result<[AnyExpr; 2]> {
            let begin = self.starts.found(std::slice::from_ref(key))?;
            let length = self.starts.found(&[key.op(Op::Add, number(1))])?.op(Op::Sub, &begin);
            let next = |[begin, length]: [AnyExpr; 2], _| {
                [slot(&begin, key), length.op(Op::Add, number(BLOCK - 1)).op(Op::Div, &block)]
            };
            Ok((0..round).fold([begin, length], next))
        };
        if longest <= BLOCK {
            let [begin, length] = run(&AnyExpr::coordinate([self.count], 0))?;
            return Ok(Blocks { begin, length, count: self.count, longest });
        }
        let count = elements / BLOCK + self.count;
        let own = AnyExpr::coordinate([count], 0);
        let is_before = |key: &AnyExpr| {
            let begin: AnyExpr = built(|| Ok(run(key)?[0].clone()));
            slot(&begin, key).op(Op::Le, &own)
        };
        let after = own.op(Op::Mul, number(0)).first_not(self.count as i32, is_before);
        let key = after.op(Op::Sub, number(1)).op(Op::Max, number(0)).shared();
        let [begin, length] = run(&key)?;
        // Places before the first run, and beyond the last one, have no elements.
        let before = own.op(Op::Sub, slot(&begin, &key)).op(Op::Min, number(longest.div_ceil(BLOCK)));
        let before = before.op(Op::Mul, &block);
        let length = apply(Op::Clamp, &[&length.op(Op::Sub, &before), &number(0), &block]);
        let length = before.op(Op::Ge, number(0)).select(length, number(0));
        let begin = begin.op(Op::Add, &before).op(Op::Max, number(0));
        Ok(Blocks { begin, length, count, longest: BLOCK })
    }
}

impl Blocks {
    /// The rows of values of each block, reduced. Runs have about `each` elements.
    fn reduced(
        &self,
        op: ReduceOp,
        values: &AnyExpr,
        order: Option<&AnyExpr>,
        each: usize,
    ) -> Result<AnyExpr> {
        let (dtype, &[elements, columns]) = (values.dtype()?, &values.shape()?[..]) else {
            bail!(Kernel, "values by key that are no matrix")
        };
        let identity = AnyExpr::constant(dtype, op.identity(dtype));
        // The element at a place of a block. Beyond its end it is another one.
        let element = |place: &AnyExpr, column: &AnyExpr| -> Result<AnyExpr> {
            let row = row(order, &place.op(Op::Min, number(elements - 1)))?;
            values.found(&[row, column.clone()])
        };
        if each >= LONG_RUN {
            return self.by_accumulator(op, &identity, element, columns);
        }
        self.by_block(op, &identity, element, columns)
    }

    /// An invocation for each accumulator of a block.
    fn by_accumulator(
        &self,
        op: ReduceOp,
        identity: &AnyExpr,
        element: impl Fn(&AnyExpr, &AnyExpr) -> Result<AnyExpr>,
        columns: usize,
    ) -> Result<AnyExpr> {
        let shape = [self.count, ACCUMULATORS, columns];
        let [begin, length] = [&self.begin, &self.length].map(|own| own.unsqueeze(1).unsqueeze(1));
        let [lane, column] = [1, 2].map(|axis| AnyExpr::coordinate(shape, axis));
        let rows = self.longest.div_ceil(ACCUMULATORS) as u32;
        let made = AnyExpr::repeat_while(rows, &[lane, identity.broadcast_to(shape)], |state| {
            let [place, sum] = state else { return (identity.clone(), state.to_vec()) };
            let own: AnyExpr = built(|| element(&begin.op(Op::Add, place), &column));
            let next = combined(op, sum, &own);
            (place.op(Op::Lt, &length), vec![place.op(Op::Add, number(ACCUMULATORS)), next])
        });
        Ok(made[1].reduce(op.name(), [1], ReduceOptions::default()))
    }

    /// An invocation for each block and column. The accumulators are leaves of a tree, in the order in which its nodes are
    /// complete: each leaf is combined with the parts of the tree that it completes, as an increment carries.
    fn by_block(
        &self,
        op: ReduceOp,
        identity: &AnyExpr,
        element: impl Fn(&AnyExpr, &AnyExpr) -> Result<AnyExpr>,
        columns: usize,
    ) -> Result<AnyExpr> {
        let shape = [self.count, columns];
        let [begin, length] = [&self.begin, &self.length].map(|own| own.unsqueeze(1));
        let column = AnyExpr::coordinate(shape, 1);
        let [zero, one, step] = [0, 1, ACCUMULATORS].map(number);
        // The leaves are a power of two, and some may be missing. Without elements there are none.
        let last = length.op(Op::Min, &step).op(Op::Sub, &one);
        let unused = last.map(Op::LeadingZeros).cast(DType::U32);
        let leaves = one.op(Op::Shl, number(32).op(Op::Sub, unused.cast(DType::I32)));
        let levels = ACCUMULATORS.ilog2() as usize;
        let first =
            [vec![zero.broadcast_to(shape), zero.clone()], vec![identity.clone(); 2 + levels]].concat();
        let most = (self.longest + ACCUMULATORS) as u32;
        let made = AnyExpr::repeat_while(most, &first, |state| {
            let [leaf, row, sum, total, parts @ ..] = state else {
                return (identity.clone(), state.to_vec());
            };
            let reversed = leaf.cast(DType::U32).map(Op::ReverseBits).op(Op::Shr, &unused).cast(DType::I32);
            let place = reversed.op(Op::Add, row);
            let there = place.op(Op::Lt, &length);
            let own: AnyExpr = built(|| element(&begin.op(Op::Add, &place), &column));
            let sum = combined(op, sum, &there.select(own, identity));
            let is_done = place.op(Op::Add, &step).op(Op::Ge, &length);
            let (mut carries, mut all) = (is_done.clone(), sum.clone());
            let mut next = Vec::with_capacity(levels);
            for (level, part) in parts.iter().enumerate() {
                let is_second = leaf.op(Op::And, number(1 << level)).op(Op::Ne, &zero);
                next.push(carries.op(Op::And, is_second.map(Op::Not)).select(&all, part));
                carries = carries.op(Op::And, &is_second);
                all = carries.select(combined(op, part, &all), &all);
            }
            let after = [
                is_done.select(leaf.op(Op::Add, &one), leaf),
                is_done.select(&zero, row.op(Op::Add, &step)),
                is_done.select(identity, &sum),
                is_done.select(&all, total),
            ];
            (leaf.op(Op::Lt, &leaves), [after.to_vec(), next].concat())
        });
        Ok(made[3].clone())
    }
}
