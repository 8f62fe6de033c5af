//! Reductions, in the order of the contract, of elements that are computed in cache and never stored.
//!
//! An operand is `outer` matrices of `count` rows and `inner` columns, of which rows are reduced, by blocks of rows.
//! As many as a block of computed elements holds are reduced there. Of larger ones a thread takes a strip of columns, whose
//! accumulators are made some at a time (`leaves`). What blocks of rows give is the operand of the next round.
//!
//! Elements that lie side by side in memory are reduced where they are.

mod indexes;
mod leaves;

use smallvec::SmallVec;

use super::blocks::{self, Blocks};
use super::bytes::{From, LARGEST_NEAR};
use super::combine::{self, Loops, Values};
use super::eval;
use super::memory::HostMemory;
use super::registers::Register;
use super::reorder::Reordered;
use super::threads::{self, Work};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{ACCUMULATORS, BLOCK, Input, Program, ReduceAxes, Source, Value};
use crate::layout::{Layout, Shape};

/// Elements that a block computes at most, and of long programs, whose registers share the cache.
const MOST: usize = 4096;
const MOST_OF_LONG: usize = 2048;
const FEW_LOOPS: usize = 3;

/// Columns of a strip, whose accumulators a second-level cache holds.
const STRIP: usize = 1024;
const LEAST_STRIP: usize = 256;

/// Elements of a leaf that is read where it is, at most: a page of f32.
const LEAF: usize = 1024;

/// Rows that are read at once, or more: they lie in pages of their own, and each is guessed.
const SIDE: usize = 8;

/// Lines of the next block that are asked for while one is reduced: the rest is guessed by then, and more wait for each
/// other.
const ASKED: usize = 128;

/// The results of a program, or a part of each.
type Outs<'a> = SmallVec<[&'a mut [u8]; 2]>;

/// Runs a program whose results are reduced.
pub(super) fn fold(
    program: &Program,
    reduce: &ReduceAxes,
    from: &[From<'_>],
    outs: Vec<&mut [u8]>,
) -> Result<()> {
    let mut outs: Outs<'_> = outs.into();
    if outs.iter().all(|out| out.is_empty()) {
        return Ok(());
    }
    let Some(Reordered { program, reduce, result }) = Reordered::new(program, reduce, from)? else {
        return rounds(program, reduce, from, outs);
    };
    let Some(result) = result else { return rounds(&program, &reduce, from, outs) };
    let mut held = outs.iter().map(|out| HostMemory::take(out.len())).collect::<Result<Vec<_>>>()?;
    rounds(&program, &reduce, from, slices(&mut held, outs[0].len()))?;
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

/// A reduction of one round.
struct Job<'a> {
    blocks: Blocks<'a>,
    /// Rows of a matrix, and its columns.
    count: usize,
    inner: usize,
    /// Rows of a block, and how many blocks a matrix has.
    block: usize,
    cuts: usize,
    /// Matrices that are computed at a time, if one fits a block.
    together: usize,
    /// Otherwise the columns of a strip, and the accumulators of a column that are a leaf, more than one only of all
    /// columns.
    strip: usize,
    leaf: usize,
    /// Whether elements are those of inputs, and whether what comes next is asked for.
    are_read: bool,
    asks: bool,
    /// Bytes of an element, before it is reduced.
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
    /// Where accumulators become one.
    buffer: Register,
    /// For a block of one value.
    expanded: Register,
    /// Leaves of each result, and sums of leaves that wait for others.
    leaves: Vec<Vec<Register>>,
    waiting: Vec<Vec<Register>>,
    /// A sum of leaves before it waits.
    made: Register,
    identity: Register,
}

fn rounds(program: &Program, reduce: &ReduceAxes, from: &[From<'_>], outs: Outs<'_>) -> Result<()> {
    let (shape, dtype) = (&program.shape, program.element_type());
    let outer: usize = shape[..reduce.axes.start].iter().product();
    let inner: usize = shape[reduce.axes.end..].iter().product();
    let count = reduce.count(shape);
    let mut blocks = Blocks::new(program, from, 1)?;
    let elements = program.shape.iter().product();
    blocks.most = if blocks.loops.len() > FEW_LOOPS { MOST_OF_LONG } else { MOST }.min(elements);
    let block = match () {
        // Several rounds are made at once.
        () if count * inner <= blocks.most => count,
        () if reduce.op.row().gives_index => MOST,
        () => BLOCK,
    };
    let cuts = count.div_ceil(block);
    let rows = count.min(block);
    let together = blocks.most / (rows * inner);
    // Fewer columns where threads would have nothing to do.
    let strips = (2 * threads::count()).div_ceil(outer * cuts);
    let strip = inner.div_ceil(strips).clamp(LEAST_STRIP, STRIP);
    let strip = if inner <= strip { inner } else { inner.div_ceil(inner.div_ceil(strip)) };
    let strip = if together > 0 { inner } else { strip };
    let are_read = program.results.iter().all(|result| matches!(result, Value::Input(_)));
    let most = if are_read { LEAF } else { blocks.most };
    let leaf = if strip == inner { 1 << (most / inner).max(1).ilog2() } else { 1 };
    let job = Job {
        blocks,
        count,
        inner,
        block,
        cuts,
        together,
        strip,
        leaf,
        are_read,
        asks: From::bytes(from) > LARGEST_NEAR,
        size: dtype.size(),
        identity: reduce.op.identity(dtype),
        work: Work::of(program, elements),
    };
    match combine::of(reduce.op, dtype)? {
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
            let reduce = ReduceAxes { axes: 1..2, ..reduce.clone() };
            let from: Vec<From<'_>> = held.iter().map(|memory| From::Bytes(&memory[..bytes])).collect();
            rounds(&next, &reduce, &from, outs)
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
        let elements = self.count.min(self.block) * self.inner;
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
        let leaf = (self.leaf.min(ACCUMULATORS) * self.strip * self.size).min(most);
        let results = &self.blocks.program.results;
        let of_each = |count: usize, bytes: usize| -> Result<Vec<Vec<Register>>> {
            results.iter().map(|_| (0..count).map(|_| Register::of(bytes)).collect()).collect()
        };
        let levels = ACCUMULATORS.ilog2() as usize + 1;
        Ok(Scratch {
            block: self.blocks.scratch(),
            buffer: Register::of(2 * most)?,
            expanded: Register::of(most)?,
            leaves: if self.together == 0 { of_each(SIDE, leaf)? } else { Vec::new() },
            waiting: if self.together == 0 { of_each(levels, leaf)? } else { Vec::new() },
            made: Register::of(if self.together == 0 { leaf } else { 0 })?,
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

    /// Calls `each` with the parts of a task that are reduced by themselves, of so many blocks or matrices at most: the
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
            let alike = if self.count.is_multiple_of(self.block) {
                most
            } else {
                (self.cuts - 1 - number % self.cuts).max(1)
            };
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
            // Which makes +0 of a sum's -0, and changes nothing else.
            let identity = scratch.identity.bytes(self.blocks.most * self.size);
            for out in task.outs.iter_mut().flat_map(|out| out.chunks_mut(identity.len())) {
                (loops.accumulate)(out, &identity[..out.len()]);
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
        (matrix * self.count + cut * self.block, (self.count - cut * self.block).min(self.block))
    }

    /// Reduces matrices from one on, which a block holds.
    fn matrices(&self, loops: &Values, number: usize, outs: &mut Outs<'_>, scratch: &mut Scratch) {
        let (first, rows) = self.rows(number);
        let (start, length) = (first * self.inner, outs[0].len() / self.size * rows);
        let results = &self.blocks.program.results;
        let places: SmallVec<[_; 2]> =
            results.iter().map(|&result| self.blocks.in_place(result, start, length)).collect();
        if places.iter().any(Option::is_none) {
            self.blocks.compute(start, length, None, &mut scratch.block);
        }
        if self.asks && places.iter().any(Option::is_none) {
            let after = start + length;
            self.blocks.ahead(after, length.min(self.all() - after)).first(ASKED).load();
        }
        for (k, out) in outs.iter_mut().enumerate() {
            let x =
                places[k].unwrap_or_else(|| self.elements(k, length, &scratch.block, &mut scratch.expanded));
            let buffer = scratch.buffer.bytes_mut(2 * rows * self.inner * self.size);
            loops.reduce([rows, self.inner], x, buffer, out);
        }
    }
}
