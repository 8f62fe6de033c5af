//! Folds, in the order of the contract, of elements that are computed in cache and never stored.
//!
//! An operand is `outer` matrices of `count` rows and `inner` columns, of which rows are folded. Matrices
//! that a block holds are folded in it, as many as it holds. Of larger ones each block of 4096 rows is cut
//! into strips of columns, and a strip into leaves of a few rows: leaves are combined as a tree, whose order of
//! rows is that of halving, by adding the flat elements of one to those of others, and what is left, one leaf, is
//! folded as above. The first rows of the blocks are the operand of the next round.
//!
//! Elements that lie side by side in memory are folded where they are. What a processor guesses of loads to come
//! decides how fast: eight leaves are read in turns, as these lie in pages of their own and each is guessed.

mod indexes;

use smallvec::SmallVec;

use super::ahead::Ahead;
use super::blocks::{self, Blocks, Out};
use super::bytes::From;
use super::combine::{self, Loops, Values};
use super::eval;
use super::halving::Elements;
use super::memory::HostMemory;
use super::registers::Register;
use super::reorder::Reordered;
use super::threads::{self, Work};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{BLOCK, Folding, Input, Program, Source, Value};
use crate::layout::{Layout, Shape};

/// Elements that a block computes at most, and of long programs, whose registers share the cache.
const MOST: usize = 4096;
const MOST_OF_LONG: usize = 2048;
const FEW_LOOPS: usize = 3;

/// Columns of a strip.
const STRIP: usize = 1024;
const LEAST_STRIP: usize = 256;

/// Elements of a leaf that is read where it is, at most: a page of f32.
const LEAF: usize = 1024;

/// Lines of the next block that are asked for while one is folded: the rest is guessed by then, and more wait for each
/// other.
const ASKED: usize = 128;

/// Leaves between one that is computed and the one that is asked for: what is asked for takes longer than one.
const LEAVES_AHEAD: usize = 2;

/// Leaves that are folded at once, at most, and the elements of those that are computed first.
const SIDE: usize = 8;
const COMPUTED: usize = 2 * MOST;

/// The results of a program, or a part of each.
type Outs<'a> = SmallVec<[&'a mut [u8]; 2]>;

/// Runs a program whose results are folded.
pub(super) fn fold(
    program: &Program,
    folding: &Folding,
    from: &[From<'_>],
    outs: Vec<&mut [u8]>,
) -> Result<()> {
    let mut outs: Outs<'_> = outs.into();
    if outs.iter().all(|out| out.is_empty()) {
        return Ok(());
    }
    let Some(Reordered { program, folding, result }) = Reordered::new(program, folding, from)? else {
        return rounds(program, folding, from, outs);
    };
    let Some(result) = result else { return rounds(&program, &folding, from, outs) };
    let mut held = outs.iter().map(|out| HostMemory::take(out.len())).collect::<Result<Vec<_>>>()?;
    rounds(&program, &folding, from, slices(&mut held, outs[0].len()))?;
    for (held, out) in held.iter().zip(&mut outs) {
        let turn = Program::copy(operand(program.dtype, result.clone()));
        eval::eval(&turn, &[From::Bytes(held)], out)?;
    }
    Ok(())
}

/// An input of what is at hand.
fn operand(dtype: DType, layout: Layout) -> Input {
    Input::new(dtype, Source::Scalar(0), layout)
}

fn slices(held: &mut [HostMemory], bytes: usize) -> Outs<'_> {
    held.iter_mut().map(|memory| &mut memory[..bytes]).collect()
}

/// A fold of one round.
struct Job<'a> {
    blocks: Blocks<'a>,
    /// Rows of a matrix, and its columns.
    count: usize,
    inner: usize,
    /// Blocks of rows of a matrix.
    cuts: usize,
    /// Matrices that are computed at a time, if one fits a block.
    together: usize,
    /// Otherwise the columns of a strip, the rows of a leaf, more than one only of all columns, and the leaves that
    /// are folded at once.
    strip: usize,
    leaf: usize,
    side: usize,
    /// Bytes of an element, before it is folded.
    size: usize,
    /// The value that changes none.
    identity: u64,
    work: Work,
}

/// Some columns of a block of rows, or all of several blocks or matrices.
struct Task<'a> {
    /// The number of the block or matrix.
    first: usize,
    column: usize,
    outs: Outs<'a>,
}

/// Memory of one thread.
struct Scratch {
    block: blocks::Scratch,
    /// For halving.
    buffer: Register,
    /// For a block of one value.
    expanded: Register,
    /// Leaves that are computed first, and sums of leaves that wait for others, of each result.
    leaves: Vec<Vec<Register>>,
    waiting: Vec<Vec<Register>>,
    identity: Register,
}

fn rounds(program: &Program, folding: &Folding, from: &[From<'_>], outs: Outs<'_>) -> Result<()> {
    let (shape, dtype) = (&program.shape, program.element_type());
    let outer: usize = shape[..folding.axes.start].iter().product();
    let inner: usize = shape[folding.axes.end..].iter().product();
    let count = folding.count(shape);
    let mut blocks = Blocks::new(program, from, 1)?;
    let elements = program.shape.iter().product();
    blocks.most = if blocks.loops.len() > FEW_LOOPS { MOST_OF_LONG } else { MOST }.min(elements);
    let cuts = count.div_ceil(BLOCK);
    let rows = count.min(BLOCK);
    let together = blocks.most / (rows * inner);
    // Fewer columns where threads would have nothing to do.
    let strips = (2 * threads::count()).div_ceil(outer * cuts);
    let strip = inner.div_ceil(strips).clamp(LEAST_STRIP, STRIP);
    let strip = if inner <= strip { inner } else { inner.div_ceil(inner.div_ceil(strip)) };
    let strip = if together > 0 { inner } else { strip };
    let are_read = program.results.iter().all(|result| matches!(result, Value::Input(_)));
    let most = if are_read { LEAF } else { blocks.most };
    let leaf = if strip == inner { 1 << (most / inner).max(1).ilog2() } else { 1 };
    let side = if are_read { SIDE } else { (COMPUTED / (leaf * strip)).clamp(1, SIDE) };
    let side = 1 << side.ilog2();
    let job = Job {
        blocks,
        count,
        inner,
        cuts,
        together,
        strip,
        leaf,
        side,
        size: dtype.size(),
        identity: folding.fold.identity(dtype),
        work: Work::of(program, elements),
    };
    match combine::of(folding.fold, dtype)? {
        Loops::Indexes(loops) => job.indexes(&loops, outs),
        Loops::Values(loops) if cuts == 1 => job.values(&loops, outs),
        Loops::Values(loops) => {
            let layout = Layout::contiguous(Shape::from([outer, cuts, inner]))?;
            let bytes = layout.count() * job.size;
            let mut held = outs.iter().map(|_| HostMemory::take(bytes)).collect::<Result<Vec<_>>>()?;
            job.values(&loops, slices(&mut held, bytes))?;
            let mut next = Program::copy(operand(dtype, layout));
            next.inputs = vec![next.inputs[0].clone(); outs.len()];
            next.results = (0..).map(Value::Input).take(outs.len()).collect();
            let folding = Folding { axes: 1..2, ..folding.clone() };
            let from: Vec<From<'_>> = held.iter().map(|memory| From::Bytes(&memory[..bytes])).collect();
            rounds(&next, &folding, &from, outs)
        }
    }
}

impl Job<'_> {
    /// Elements of the operand.
    fn all(&self) -> usize {
        self.blocks.program.shape.iter().product()
    }

    /// Calls `each` with every task, of results of which elements take so many bytes.
    fn run(
        &self,
        outs: Outs<'_>,
        sizes: &[usize],
        each: impl Fn(&mut Scratch, Task<'_>) + Send + Sync,
    ) -> Result<()> {
        let elements = self.count.min(BLOCK) * self.inner;
        let (blocks, columns) = match self.together {
            0 if self.strip < self.inner => (1, self.strip),
            together => {
                let blocks = threads::task(self.all()).div_ceil(elements).next_multiple_of(together.max(1));
                (blocks, blocks * self.inner)
            }
        };
        let mut tasks: Vec<Task<'_>> = Vec::new();
        for ((k, out), &size) in outs.into_iter().enumerate().zip(sizes) {
            let mut number = 0;
            for (cut, out) in out.chunks_mut(blocks * self.inner * size).enumerate() {
                for (strip, out) in out.chunks_mut(columns * size).enumerate() {
                    if k == 0 {
                        let (first, column) = (cut * blocks, strip * columns);
                        tasks.push(Task { first, column, outs: SmallVec::new() });
                    }
                    tasks[number].outs.push(out);
                    number += 1;
                }
            }
        }
        threads::each(tasks, self.work, || self.scratch(), each)
    }

    fn scratch(&self) -> Result<Scratch> {
        let most = self.blocks.most * self.size;
        let leaves = match self.together {
            0 => self.count.min(BLOCK).div_ceil(self.leaf).next_power_of_two(),
            _ => 1,
        };
        let levels = (leaves / self.side.min(leaves)).ilog2().max(1);
        let leaf = self.leaf * self.strip * self.size;
        let waiting = || (0..levels).map(|_| Register::of(leaf)).collect::<Result<Vec<_>>>();
        let leaves = || (0..self.side).map(|_| Register::default()).collect();
        let results = &self.blocks.program.results;
        Ok(Scratch {
            block: self.blocks.scratch(),
            buffer: Register::of(most)?,
            expanded: Register::of(most)?,
            leaves: results.iter().map(|_| leaves()).collect(),
            waiting: results.iter().map(|_| waiting()).collect::<Result<_>>()?,
            identity: Register::of_equal(self.identity, self.size, self.blocks.most)?,
        })
    }

    /// The elements of a result that a block of so many was computed of.
    fn elements<'s>(
        &'s self,
        result: usize,
        length: usize,
        block: &'s blocks::Scratch,
        expanded: &'s mut Register,
    ) -> &'s [u8] {
        let elements = self.blocks.value(self.blocks.program.results[result], block);
        let bytes = length * self.size;
        if elements.len() == bytes {
            return elements;
        }
        let all = expanded.bytes_mut(bytes);
        all.chunks_mut(elements.len()).for_each(|to| to.copy_from_slice(&elements[..to.len()]));
        all
    }

    /// Calls `each` with the parts of a task that are folded by themselves, of so many blocks or matrices at most: the
    /// number of the first, and what its results are.
    fn parts(
        &self,
        task: &mut Task<'_>,
        sizes: &[usize],
        most: usize,
        mut each: impl FnMut(usize, Outs<'_>),
    ) {
        let elements = task.outs[0].len() / sizes[0];
        let columns = if self.strip < self.inner { elements } else { self.inner };
        let mut from = 0;
        while from < elements {
            let number = task.first + from / columns;
            // The last block of a matrix may have less rows.
            let alike = if self.cuts == 1 { most } else { (self.cuts - 1 - number % self.cuts).max(1) };
            let to = from + columns * most.min(alike).min((elements - from) / columns);
            let outs = task.outs.iter_mut().zip(sizes);
            each(number, outs.map(|(out, size)| &mut out[from * size..to * size]).collect());
            from = to;
        }
    }

    fn values(&self, loops: &Values, outs: Outs<'_>) -> Result<()> {
        let sizes: SmallVec<[usize; 2]> = outs.iter().map(|_| self.size).collect();
        self.run(outs, &sizes, |scratch, mut task| {
            let column = task.column;
            let most = if self.is_in_place(&task) { usize::MAX } else { self.together.max(1) };
            self.parts(&mut task, &sizes, most, |number, mut outs| match self.together {
                0 => self.tree(loops, number, column, &mut outs, scratch),
                _ => self.matrices(loops, number, &mut outs, scratch),
            });
            if loops.is_ordered() {
                // Which makes +0 of a sum's -0.
                let identity = scratch.identity.bytes(self.blocks.most * self.size);
                for out in task.outs.iter_mut().flat_map(|out| out.chunks_mut(identity.len())) {
                    (loops.combine)(out, &identity[..out.len()]);
                }
            }
        })
    }

    /// Whether all matrices of a task lie one after another in memory, and are read once.
    fn is_in_place(&self, task: &Task<'_>) -> bool {
        let &[result] = self.blocks.program.results.as_slice() else { return false };
        if self.together == 0 {
            return false;
        }
        let (first, _) = self.rows(task.first);
        let (last, rows) = self.rows(task.first + task.outs[0].len() / (self.inner * self.size) - 1);
        let length = (last + rows - first) * self.inner;
        self.blocks.in_place(result, first * self.inner, length).is_some()
    }

    /// The first row of a block of rows among all, and how many it has.
    fn rows(&self, number: usize) -> (usize, usize) {
        let (matrix, cut) = (number / self.cuts, number % self.cuts);
        (matrix * self.count + cut * BLOCK, (self.count - cut * BLOCK).min(BLOCK))
    }

    /// Folds matrices from one on, which a block holds.
    fn matrices(&self, loops: &Values, number: usize, outs: &mut Outs<'_>, scratch: &mut Scratch) {
        let (first, rows) = self.rows(number);
        let (start, length) = (first * self.inner, outs[0].len() / self.size * rows);
        let results = &self.blocks.program.results;
        let places: SmallVec<[_; 2]> =
            results.iter().map(|&result| self.blocks.in_place(result, start, length)).collect();
        let mut next = Ahead::default();
        if places.iter().any(Option::is_none) {
            self.blocks.compute(start, length, None, &mut scratch.block);
            let after = start + length;
            next = self.blocks.ahead(after, length.min(self.all() - after)).first(ASKED);
        }
        for (k, out) in outs.iter_mut().enumerate() {
            let (x, from) = match places[k] {
                Some(x) => (x, Elements::Memory),
                None => {
                    // Asked for once.
                    let from = Elements::Cache(std::mem::take(&mut next));
                    (self.elements(k, length, &scratch.block, &mut scratch.expanded), from)
                }
            };
            let buffer = scratch.buffer.bytes_mut(rows * self.inner * self.size);
            (loops.halve)([rows, self.inner], x, from, buffer, out);
        }
    }

    /// Folds a block of rows, or some columns of it.
    fn tree(&self, loops: &Values, number: usize, column: usize, outs: &mut Outs<'_>, scratch: &mut Scratch) {
        let columns = outs[0].len() / self.size;
        let (first, rows) = self.rows(number);
        let leaves = rows.div_ceil(self.leaf).next_power_of_two();
        let side = self.side.min(leaves);
        let turns = leaves / side;
        let levels = turns.ilog2() as usize;
        let bytes = self.leaf * columns * self.size;
        // Leaves of a turn, and of turns that follow each other, are as far apart as what is added first.
        let leaf = |turn: usize, k: usize| {
            let number = turn.reverse_bits().checked_shr(usize::BITS - levels as u32).unwrap_or(0);
            let at = (number + k * turns) * self.leaf;
            let count = rows.saturating_sub(at).min(self.leaf);
            ((first + at) * self.inner + column, count * columns)
        };
        for turn in 0..turns {
            let present = (0..side).map(|k| leaf(turn, k)).take_while(|&(_, length)| length > 0);
            let present: SmallVec<[_; SIDE]> = present.collect();
            for (k, &own) in present.iter().enumerate() {
                let next = k + LEAVES_AHEAD;
                let next = Some((turn + next / side, next % side)).filter(|&(turn, _)| turn < turns);
                self.leaf(k, own, next.map(|(turn, k)| leaf(turn, k)), bytes, scratch);
            }
            let Scratch { leaves, waiting, identity, .. } = &mut *scratch;
            for (k, &result) in self.blocks.program.results.iter().enumerate() {
                let whole = |(at, &(start, length)): (usize, &(usize, usize))| {
                    let place = self.blocks.in_place(result, start, length);
                    place.filter(|x| x.len() == bytes).unwrap_or_else(|| leaves[k][at].bytes(bytes))
                };
                let mut x: SmallVec<[&[u8]; SIDE]> = present.iter().enumerate().map(whole).collect();
                x.resize(side, identity.bytes(bytes));
                let waiting = &mut waiting[k];
                loops.join(&x, waiting[0].bytes_mut(bytes), turn & 1 == 1);
                carry(loops, waiting, turn, levels, bytes);
            }
        }
        for (waiting, out) in scratch.waiting.iter().zip(outs) {
            let x = waiting[levels.saturating_sub(1)].bytes(bytes);
            let buffer = scratch.buffer.bytes_mut(bytes);
            (loops.halve)([self.leaf, columns], x, Elements::Cache(Ahead::default()), buffer, out);
        }
    }

    /// Computes leaf `k` of a turn, of the results that are not read where they are: all bytes of it, of which the
    /// last stand for nothing where there are not so many elements.
    fn leaf(
        &self,
        k: usize,
        (start, length): (usize, usize),
        next: Option<(usize, usize)>,
        bytes: usize,
        scratch: &mut Scratch,
    ) {
        let results = &self.blocks.program.results;
        let own = length * self.size;
        let is_read = |&result: &Value| own == bytes && self.blocks.in_place(result, start, length).is_some();
        if results.iter().all(is_read) {
            return;
        }
        // What is computed one leaf after the other lies too far apart to be guessed.
        if let Some((start, length)) = next {
            self.blocks.ahead(start, length).load();
        }
        let Scratch { block, expanded, leaves, identity, .. } = scratch;
        if let [leaves] = leaves.as_mut_slice() {
            let out = Out { bytes: &mut leaves[k].bytes_mut(bytes)[..own], stream: None };
            self.blocks.compute(start, length, Some(out), block);
        } else {
            self.blocks.compute(start, length, None, block);
            for (i, leaves) in leaves.iter_mut().enumerate() {
                let is_last = !results[i + 1..].contains(&results[i]);
                if own == bytes && is_last && self.blocks.give(results[i], block, &mut leaves[k]) {
                    continue;
                }
                let x = self.elements(i, length, block, expanded);
                leaves[k].bytes_mut(bytes)[..own].copy_from_slice(x);
            }
        }
        for leaves in leaves {
            leaves[k].bytes_mut(bytes)[own..].copy_from_slice(identity.bytes(bytes - own));
        }
    }
}

/// Puts what the first of the waiting holds after a turn, of which there are two to the power of `levels`, to what
/// waits for it.
fn carry(loops: &Values, waiting: &mut [Register], turn: usize, levels: usize, bytes: usize) {
    if turn & 1 == 0 {
        return;
    }
    let mut level = 1;
    while turn >> level & 1 == 1 {
        let (low, high) = waiting.split_at_mut(level);
        (loops.combine)(high[0].bytes_mut(bytes), low[level - 1].bytes(bytes));
        level += 1;
    }
    if level < levels {
        waiting.swap(level - 1, level);
    }
}
