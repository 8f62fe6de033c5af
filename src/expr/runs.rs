//! Elements in the order of their keys, as runs of equal ones: rows whose begin and length are data.
//!
//! A stable sort by key makes the runs. A search finds where each begins, so its length counts the key. The last element
//! of each run is a scatter's. A run is reduced in the order of a row ([`ReduceAxes`](crate::ir::ReduceAxes)): a loop
//! over each block of it, and then over the blocks' values. It is scanned by its groups, each of which is a row, and then
//! by the groups' last values.

use super::AnyExpr;
use super::any::apply;
use super::both::built;
use super::lookup::Outside;
use super::reduce::ReduceOptions;
use super::selecting::{Payload, bits};
use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::ir::{ACCUMULATORS, AxisOp, BLOCK, GROUP, Node, Op, ReduceOp, ScanAxis, Segments};
use crate::tuning::segments::LONG_RUN;

/// A number of elements, as indices are.
pub(super) fn number(value: usize) -> AnyExpr {
    AnyExpr::scalar(DType::I32, value as u64)
}

/// Two values combined as by a reduction.
pub(super) fn combined(op: ReduceOp, a: &AnyExpr, b: &AnyExpr) -> AnyExpr {
    let op = match op {
        ReduceOp::Sum => Op::Add,
        ReduceOp::Prod => Op::Mul,
        ReduceOp::Min => Op::Min,
        _ => Op::Max,
    };
    a.op(op, b)
}

/// Elements sorted by key, in runs of equal keys below `count`. Elements without a key are last.
pub(crate) struct Runs {
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

/// Sums whose zeros are +0.
fn zeroed(sums: &AnyExpr) -> Result<AnyExpr> {
    let dtype = sums.dtype()?;
    let is_float = dtype.kind() == Kind::Float;
    Ok(if is_float { sums.op(Op::Add, AnyExpr::scalar(dtype, 0.0)) } else { sums.clone() })
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
    pub(crate) fn new(column: &AnyExpr, own: Segments, is_moved: bool) -> Result<Runs> {
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
        let (keys, key) = (keys.shared(), AnyExpr::iota([count + 1], 0));
        let is_before = |place: &AnyExpr| {
            let own: AnyExpr = built(|| keys.found(&[row(order.as_ref(), place)?]));
            own.cast(DType::I32).op(Op::Lt, &key)
        };
        let starts = key.op(Op::Mul, number(0)).first_not(length, is_before).shared();
        Ok(Runs { order, starts, elements, count })
    }

    /// Elements of each key.
    pub(crate) fn totals(&self) -> AnyExpr {
        self.starts.slice(0, 1..).op(Op::Sub, self.starts.slice(0, ..self.count as isize))
    }

    /// The last row of values of each key.
    pub(crate) fn last(&self, values: &AnyExpr) -> Result<AnyExpr> {
        let last = self.starts.slice(0, 1..).op(Op::Sub, number(1)).op(Op::Max, number(0));
        values.taken(&row(self.order.as_ref(), &last)?, 0, Outside::Nearest)
    }

    /// The rows of values of each key, reduced. The values of blocks are the next round's.
    pub(crate) fn reduced(&self, op: ReduceOp, values: &AnyExpr) -> Result<AnyExpr> {
        let (mut values, mut longest) = (values.shared(), self.elements);
        for round in 0.. {
            let blocks = self.blocks(BLOCK, round, (values.shape()?[0], longest))?;
            let order = self.order.as_ref().filter(|_| round == 0);
            let made = blocks.reduced(op, &values, order, values.shape()?[0] / self.count.max(1))?;
            if longest <= BLOCK {
                return if op.is_sum() { zeroed(&made) } else { Ok(made) };
            }
            (values, longest) = (made.shared(), longest.div_ceil(BLOCK));
        }
        bail!(Kernel, "a reduction without an end")
    }

    /// The groups of each level, scanned: rows of `[groups, 16, columns]`.
    ///
    /// A group is sixteen neighbours of a run, and a row of a scan. The last values of groups are the elements of the next
    /// level, until a run is one group. There a group's row is its run's key.
    fn levels(&self, op: ReduceOp, values: &AnyExpr) -> Result<Vec<AnyExpr>> {
        let (dtype, &[elements, columns]) = (values.dtype()?, &values.shape()?[..]) else {
            bail!(Kernel, "values by key that are no matrix")
        };
        let (values, identity) = (values.shared(), AnyExpr::constant(dtype, op.identity(dtype)));
        let mut levels: Vec<AnyExpr> = Vec::new();
        let (mut count, mut longest) = (elements, elements);
        loop {
            let groups = self.blocks(GROUP, levels.len(), (count, longest))?;
            let shape = [groups.count, GROUP, columns];
            let [begin, length] = [&groups.begin, &groups.length].map(|own| own.unsqueeze(1).unsqueeze(1));
            let [lane, column] = [1, 2].map(|axis| AnyExpr::iota(shape, axis));
            let place = begin.op(Op::Add, &lane).op(Op::Min, number(count - 1));
            let own = match levels.last() {
                None => values.found(&[row(self.order.as_ref(), &place)?, column])?,
                Some(before) => before.found(&[place, number(GROUP - 1), column])?,
            };
            let own = lane.op(Op::Lt, &length).select(own, &identity);
            let scan = AxisOp::Scan(ScanAxis { op, axis: 1, exclusive: false });
            levels.push(AnyExpr::new(Node::along(scan, &[own.node()?])).shared());
            if longest <= GROUP {
                return Ok(levels);
            }
            (count, longest) = (groups.count, longest.div_ceil(GROUP));
        }
    }

    /// The values so far of each run, along a column of keys: the identity for an element without one.
    ///
    /// An element's value is that in its group, after the value of all groups of the run before it, which is one of the
    /// next level.
    pub(crate) fn scanned(&self, op: ReduceOp, values: &AnyExpr, keys: &AnyExpr) -> Result<AnyExpr> {
        let (dtype, columns) = (values.dtype()?, values.shape()?[1]);
        let (levels, size) = (self.levels(op, values)?, number(GROUP));
        let keys = keys.squeeze(1).cast(DType::U32);
        let has_key = keys.op(Op::Lt, AnyExpr::scalar(DType::U32, self.count as u64));
        let key = has_key.select(keys.cast(DType::I32), number(0)).unsqueeze(1);
        // The order of the order: each element's place among the sorted ones.
        let place = match &self.order {
            Some(order) => order.by_few_bits(Payload::Indices, false, bits(self.elements), usize::MAX)?,
            None => AnyExpr::iota([self.elements], 0),
        };
        let column = AnyExpr::iota([self.elements, columns], 1);
        // For each level, the begin of the run, and the place in it whose value is wanted.
        let mut begin = self.starts.found(std::slice::from_ref(&key))?;
        let mut at = place.cast(DType::I32).unsqueeze(1).op(Op::Sub, &begin).op(Op::Max, number(0));
        let mut found: Vec<(AnyExpr, AnyExpr)> = Vec::new();
        for (i, level) in levels.iter().enumerate() {
            let next = begin.op(Op::Div, &size).op(Op::Add, &key);
            let group = at.op(Op::Div, &size);
            let row = if i + 1 == levels.len() { key.clone() } else { next.op(Op::Add, &group) };
            let row = row.op(Op::Min, number(level.shape()?[0] - 1));
            let lane = at.op(Op::Sub, group.op(Op::Mul, &size));
            found.push((level.found(&[row, lane, column.clone()])?, at.op(Op::Lt, &size)));
            (begin, at) = (next, group.op(Op::Sub, number(1)).op(Op::Max, number(0)));
        }
        let Some((last, _)) = found.pop() else { bail!(Kernel, "a scan without a level") };
        let made = found
            .into_iter()
            .rev()
            .fold(last, |before, (own, is_first)| is_first.select(&own, combined(op, &before, &own)));
        let made = if op.is_sum() { zeroed(&made)? } else { made };
        Ok(has_key.unsqueeze(1).select(made, AnyExpr::constant(dtype, op.identity(dtype))))
    }

    /// The blocks of a round, each of at most `size` elements, over so many elements in runs of at most so many.
    ///
    /// A run of key `k` that begins at `s` has its block `b` at place `s / size + k + b`. So no two blocks have one
    /// place, whatever the lengths of runs, and a place's key is a search away.
    fn blocks(&self, size: usize, round: usize, (elements, longest): (usize, usize)) -> Result<Blocks> {
        let block = number(size);
        let slot = |begin: &AnyExpr, key: &AnyExpr| begin.op(Op::Div, &block).op(Op::Add, key);
        let run = |key: &AnyExpr| -> Result<[AnyExpr; 2]> {
            let begin = self.starts.found(std::slice::from_ref(key))?;
            let length = self.starts.found(&[key.op(Op::Add, number(1))])?.op(Op::Sub, &begin);
            let next = |[begin, length]: [AnyExpr; 2], _| {
                [slot(&begin, key), length.op(Op::Add, number(size - 1)).op(Op::Div, &block)]
            };
            Ok((0..round).fold([begin, length], next))
        };
        if longest <= size {
            let [begin, length] = run(&AnyExpr::iota([self.count], 0))?;
            return Ok(Blocks { begin, length, count: self.count, longest });
        }
        let count = elements / size + self.count;
        let own = AnyExpr::iota([count], 0);
        let is_before = |key: &AnyExpr| {
            let begin: AnyExpr = built(|| Ok(run(key)?[0].clone()));
            slot(&begin, key).op(Op::Le, &own)
        };
        let after = own.op(Op::Mul, number(0)).first_not(self.count as i32, is_before);
        let key = after.op(Op::Sub, number(1)).op(Op::Max, number(0)).shared();
        let [begin, length] = run(&key)?;
        // Places before the first run, and beyond the last one, have no elements.
        let before = own.op(Op::Sub, slot(&begin, &key)).op(Op::Min, number(longest.div_ceil(size)));
        let before = before.op(Op::Mul, &block);
        let length = apply(Op::Clamp, &[&length.op(Op::Sub, &before), &number(0), &block]);
        let length = before.op(Op::Ge, number(0)).select(length, number(0));
        let begin = begin.op(Op::Add, &before).op(Op::Max, number(0));
        Ok(Blocks { begin, length, count, longest: size })
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
        let [lane, column] = [1, 2].map(|axis| AnyExpr::iota(shape, axis));
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
        let column = AnyExpr::iota(shape, 1);
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
