//! Folds, in the order of the contract, of elements that are computed in cache and never stored.
//!
//! An operand is `outer` matrices of `count` rows and `inner` columns, of which rows are folded. Matrices
//! that a block holds are folded in it, as many as it holds. Of larger ones each block of 4096 rows is cut
//! into strips of columns, and a strip into leaves of as many rows as a block holds: leaves are combined as a
//! tree, whose order of rows is that of halving, by adding the flat elements of one to those of another, and
//! what is left, one leaf, is folded as above. The first rows of the blocks are the operand of the next round.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};
use smallvec::SmallVec;

use super::blocks::{self, Blocks, From};
use super::combine::{self, Indexes, Loops, Values};
use super::eval;
use super::memory::HostMemory;
use super::registers::Register;
use super::reorder::Reordered;
use super::threads;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{BLOCK, Folding, Input, Program, Source};
use crate::layout::{Layout, Shape};

/// Elements that a block computes at most, and of long programs, whose registers share the cache.
const MOST: usize = 4096;
const MOST_OF_LONG: usize = 2048;
const FEW_LOOPS: usize = 3;

/// Columns of a strip.
const STRIP: usize = 1024;
const LEAST_STRIP: usize = 256;

/// Elements of a task; less than two of these are not worth threads.
const TASK: usize = 32 << 10;

/// Tasks that keep threads busy, where there are so many.
const TASKS: usize = 8;

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
    /// Otherwise the columns of a strip, and the rows of a leaf, more than one only of all columns.
    strip: usize,
    leaf: usize,
    /// Bytes of an element, before it is folded.
    size: usize,
    /// Whether the order of rows is that of halving.
    is_ordered: bool,
    /// The value that changes none.
    identity: u64,
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
    /// Sums of leaves that wait for others, of each result, each with its bytes.
    waiting: Vec<Vec<(Register, usize)>>,
    identity: Register,
}

fn rounds(program: &Program, folding: &Folding, from: &[From<'_>], outs: Outs<'_>) -> Result<()> {
    let (shape, dtype) = (&program.shape, program.element_type());
    let outer: usize = shape[..folding.axes.start].iter().product();
    let inner: usize = shape[folding.axes.end..].iter().product();
    let count = folding.count(shape);
    let mut blocks = Blocks::new(program, from, 1)?;
    blocks.most = if blocks.loops.len() > FEW_LOOPS { MOST_OF_LONG } else { MOST };
    let cuts = count.div_ceil(BLOCK);
    let together = if cuts > 1 { 0 } else { blocks.most / (count * inner) };
    // Fewer columns where threads would have nothing to do.
    let strips = TASKS.div_ceil(outer * cuts);
    let strip = inner.div_ceil(strips).clamp(LEAST_STRIP, STRIP);
    let strip = if inner <= strip { inner } else { inner.div_ceil(inner.div_ceil(strip)) };
    let strip = if together > 0 { inner } else { strip };
    let leaf = if strip == inner { 1 << (blocks.most / inner).ilog2() } else { 1 };
    let job = Job {
        blocks,
        count,
        inner,
        cuts,
        together,
        strip,
        leaf,
        size: dtype.size(),
        is_ordered: folding.fold.is_ordered(dtype),
        identity: folding.fold.identity(dtype),
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
            next.results = (0..).take(outs.len()).collect();
            let folding = Folding { axes: 1..2, ..folding.clone() };
            let from: Vec<From<'_>> = held.iter().map(|memory| From::Bytes(&memory[..bytes])).collect();
            rounds(&next, &folding, &from, outs)
        }
    }
}

impl Job<'_> {
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
                let blocks = TASK.div_ceil(elements).next_multiple_of(together.max(1));
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
        threads::each(tasks, || self.scratch(), each)
    }

    fn scratch(&self) -> Result<Scratch> {
        let most = self.blocks.most * self.size;
        let levels = match self.together {
            0 => self.count.min(BLOCK).div_ceil(self.leaf).next_power_of_two().ilog2(),
            _ => 0,
        };
        let leaf = self.leaf * self.strip * self.size;
        let waiting = || (0..levels).map(|_| Ok((Register::of(leaf)?, 0))).collect::<Result<Vec<_>>>();
        Ok(Scratch {
            block: self.blocks.scratch(),
            buffer: Register::of(most)?,
            expanded: Register::of(most)?,
            waiting: self.blocks.program.results.iter().map(|_| waiting()).collect::<Result<_>>()?,
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

    /// Calls `each` with the parts of a task that are computed by themselves: the number of the block, or of
    /// the first of some matrices, and what its results are.
    fn parts(&self, task: &mut Task<'_>, sizes: &[usize], mut each: impl FnMut(usize, Outs<'_>)) {
        let elements = task.outs[0].len() / sizes[0];
        let columns = if self.strip < self.inner { elements } else { self.inner };
        let step = columns * self.together.max(1);
        for from in (0..elements).step_by(step) {
            let to = elements.min(from + step);
            let outs = task.outs.iter_mut().zip(sizes);
            let part = outs.map(|(out, size)| &mut out[from * size..to * size]).collect();
            each(task.first + from / columns, part);
        }
    }

    fn values(&self, loops: &Values, outs: Outs<'_>) -> Result<()> {
        let sizes: SmallVec<[usize; 2]> = outs.iter().map(|_| self.size).collect();
        self.run(outs, &sizes, |scratch, mut task| {
            let column = task.column;
            self.parts(&mut task, &sizes, |number, mut outs| match self.together {
                0 => self.tree(loops, number, column, &mut outs, scratch),
                _ => self.matrices(loops, number, &mut outs, scratch),
            });
            if self.is_ordered {
                // Which makes +0 of a sum's -0.
                let identity = scratch.identity.bytes(self.blocks.most * self.size);
                for out in task.outs.iter_mut().flat_map(|out| out.chunks_mut(identity.len())) {
                    (loops.combine)(out, &identity[..out.len()]);
                }
            }
        })
    }

    /// Folds matrices from one on, which a block holds.
    fn matrices(&self, loops: &Values, number: usize, outs: &mut Outs<'_>, scratch: &mut Scratch) {
        let elements = self.count * self.inner;
        let length = outs[0].len() / self.size * self.count;
        self.blocks.compute(number * elements, length, None, &mut scratch.block);
        for (k, out) in outs.iter_mut().enumerate() {
            let x = self.elements(k, length, &scratch.block, &mut scratch.expanded);
            let buffer = scratch.buffer.bytes_mut(elements * self.size);
            (loops.halve)([self.count, self.inner], x, buffer, out);
        }
    }

    /// Folds a block of rows, or some columns of it.
    fn tree(&self, loops: &Values, number: usize, column: usize, outs: &mut Outs<'_>, scratch: &mut Scratch) {
        let columns = outs[0].len() / self.size;
        let row = columns * self.size;
        let (matrix, cut) = (number / self.cuts, number % self.cuts);
        let rows = (self.count - cut * BLOCK).min(BLOCK);
        let first = matrix * self.count + cut * BLOCK;
        let levels = rows.div_ceil(self.leaf).next_power_of_two().ilog2();
        // The rows of leaf `i`: each pair is as far apart as what is added first.
        let leaf = |i: usize| {
            let number = match self.is_ordered && levels > 0 {
                true => i.reverse_bits() >> (usize::BITS - levels),
                false => i,
            };
            let at = number * self.leaf;
            let count = rows.saturating_sub(at).min(self.leaf);
            ((first + at) * self.inner + column, count)
        };
        for i in 0..1_usize << levels {
            let (start, count) = leaf(i);
            // Leaves lie too far apart to be guessed.
            if i + 1 < 1 << levels {
                let (start, count) = leaf(i + 1);
                if count > 0 {
                    self.blocks.prefetch(start, count * columns);
                }
            }
            if count > 0 {
                self.blocks.compute(start, count * columns, None, &mut scratch.block);
            }
            for (k, out) in outs.iter_mut().enumerate() {
                let x = match count {
                    0 => &[],
                    _ => self.elements(k, count * columns, &scratch.block, &mut scratch.expanded),
                };
                let buffer = scratch.buffer.bytes_mut(self.leaf * row);
                let waiting = &mut scratch.waiting[k];
                if levels == 0 {
                    (loops.halve)([count, columns], x, buffer, out);
                } else if add(loops, waiting, i, levels, x) {
                    let x = waiting[levels as usize - 1].0.bytes(self.leaf * row);
                    (loops.halve)([self.leaf, columns], x, buffer, out);
                }
            }
        }
    }

    fn indexes(&self, loops: &Indexes, outs: Outs<'_>) -> Result<()> {
        let sizes: SmallVec<[usize; 4]> = outs.iter().flat_map(|_| [self.size, 4]).collect();
        let results = outs.len();
        let elements = outs[0].len() / 4 * self.cuts;
        let mut bests: Vec<HostMemory> =
            (0..results).map(|_| HostMemory::take(elements * self.size)).collect::<Result<_>>()?;
        // Of one block, they are the results.
        let held = if self.cuts == 1 { 0 } else { elements * 4 };
        let mut found: Vec<HostMemory> =
            (0..results).map(|_| HostMemory::take(held)).collect::<Result<_>>()?;
        let mut outs = outs;
        {
            let bests = bests.iter_mut().map(|best| &mut best[..elements * self.size]);
            let indexes = outs.iter_mut().zip(&mut found).map(|(out, found)| match held {
                0 => &mut **out,
                _ => &mut found[..held],
            });
            let pairs: Outs<'_> = bests.zip(indexes).flat_map(|(best, index)| [best, index]).collect();
            self.run(pairs, &sizes, |scratch, mut task| {
                let column = task.column;
                self.parts(&mut task, &sizes, |number, mut outs| {
                    self.seek(loops, number, column, &mut outs, scratch);
                });
            })?;
        }
        if held == 0 {
            return Ok(());
        }
        let [values, places] = [self.inner * self.size, self.inner * 4];
        for ((best, found), out) in bests.iter_mut().zip(&mut found).zip(&mut outs) {
            let bests = best[..elements * self.size].chunks_mut(self.cuts * values);
            let found = found[..held].chunks_mut(self.cuts * places);
            for ((best, found), out) in bests.zip(found).zip(out.chunks_mut(places)) {
                let (best, others) = best.split_at_mut(values);
                let (index, indexes) = found.split_at_mut(places);
                for (other, indexes) in others.chunks(values).zip(indexes.chunks(places)) {
                    (loops.merge)(best, cast_mut(index), other, cast(indexes));
                }
                out.copy_from_slice(index);
            }
        }
        Ok(())
    }

    /// Finds the best rows of a block, or of some columns of it, or of matrices from one on.
    fn seek(
        &self,
        loops: &Indexes,
        number: usize,
        column: usize,
        outs: &mut Outs<'_>,
        scratch: &mut Scratch,
    ) {
        let columns = outs[0].len() / self.size;
        if self.together > 0 {
            let elements = self.count * self.inner;
            let length = columns * self.count;
            self.blocks.compute(number * elements, length, None, &mut scratch.block);
            for (k, outs) in outs.chunks_exact_mut(2).enumerate() {
                let [best, index] = outs else { continue };
                let x = self.elements(k, length, &scratch.block, &mut scratch.expanded);
                let bests = best.chunks_exact_mut(self.inner * self.size);
                let indexes = cast_mut::<_, u32>(index).chunks_exact_mut(self.inner);
                for ((x, best), index) in x.chunks_exact(elements * self.size).zip(bests).zip(indexes) {
                    (loops.seek)(self.inner, 0, true, x, best, index);
                }
            }
            return;
        }
        let (matrix, cut) = (number / self.cuts, number % self.cuts);
        let rows = cut * BLOCK..self.count.min((cut + 1) * BLOCK);
        for at in rows.clone().step_by(self.leaf) {
            let length = (rows.end - at).min(self.leaf) * columns;
            let start = (matrix * self.count + at) * self.inner + column;
            self.blocks.compute(start, length, None, &mut scratch.block);
            for (k, outs) in outs.chunks_exact_mut(2).enumerate() {
                let [best, index] = outs else { continue };
                let x = self.elements(k, length, &scratch.block, &mut scratch.expanded);
                (loops.seek)(columns, at, at == rows.start, x, best, cast_mut(index));
            }
        }
    }
}

/// Puts leaf `i` of a tree of so many levels to those before it; whether it was the last.
fn add(loops: &Values, waiting: &mut [(Register, usize)], i: usize, levels: u32, x: &[u8]) -> bool {
    if i & 1 == 0 {
        let (to, bytes) = &mut waiting[0];
        to.bytes_mut(x.len()).copy_from_slice(x);
        *bytes = x.len();
        return false;
    }
    let (to, bytes) = &mut waiting[0];
    if !x.is_empty() {
        (loops.combine)(to.bytes_mut(*bytes), x);
    }
    let mut level = 1;
    while i >> level & 1 == 1 {
        let (low, high) = waiting.split_at_mut(level);
        let ((x, length), (to, bytes)) = (&low[level - 1], &mut high[0]);
        (loops.combine)(to.bytes_mut(*bytes), x.bytes(*length));
        level += 1;
    }
    let is_last = level == levels as usize;
    if !is_last {
        waiting.swap(level - 1, level);
    }
    is_last
}
