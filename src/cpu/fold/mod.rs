//! Reductions of more than a tile, in the order of the contract. Operands are computed in cache and never stored.
//!
//! An operand is `outer` matrices of `count` rows and `inner` columns. Rows are reduced, by blocks. A tile of computed
//! elements holds some blocks, which are reduced there. For larger blocks a thread takes a strip of columns, and adds
//! rows to its accumulators in the order of memory. The values of the blocks are the operand of the next round.
//!
//! Elements that lie in memory row by row are reduced in place.

mod indexes;

use smallvec::SmallVec;

use super::bytes::{LARGEST_NEAR, Operand, cut};
use super::combine::{self, Loops, Values};
use super::engine::{self, Engine};
use super::eval;
use super::kernels::PART;
use super::memory::HostMemory;
use super::registers::Register;
use super::reorder::Reordered;
use super::threads::{self, Work};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{ACCUMULATORS, BLOCK, Input, Program, ReduceAxes, Source, Value};
use crate::layout::{Layout, Shape};

/// The most elements of a tile, and of a tile of long programs, whose registers share the cache.
const MOST: usize = 4096;
const MOST_OF_LONG: usize = 2048;
const FEW_LOOPS: usize = 3;

/// The most columns of a strip: the processor prefetches long rows best. Fewer keep idle threads busy.
const STRIP: usize = 4096;
const LEAST_STRIP: usize = 256;

/// Lines of the next block that are prefetched while one is reduced. The processor guesses the rest, and more lines
/// wait for each other.
const ASKED: usize = 128;

/// The results of a program, or a part of each.
type Outs<'a> = SmallVec<[&'a mut [u8]; 2]>;

/// Runs a program whose results are reduced.
pub(super) fn fold(
    program: &Program,
    reduce: &ReduceAxes,
    from: &[Operand<'_>],
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
        eval::laid_out(program.dtype, held, result.clone(), out)?;
    }
    Ok(())
}

/// An input of this round.
fn operand(dtype: DType, layout: Layout) -> Input {
    Input::new(dtype, Source::Scalar(0), layout)
}

fn slices(held: &mut [HostMemory], bytes: usize) -> Outs<'_> {
    held.iter_mut().map(|memory| &mut memory[..bytes]).collect()
}

/// A reduction in one round.
struct Job<'a> {
    engine: Engine<'a>,
    /// Rows of a matrix, and its columns.
    count: usize,
    inner: usize,
    /// Rows of a block, and blocks of a matrix.
    block: usize,
    cuts: usize,
    /// Matrices of a tile, if one fits.
    together: usize,
    /// Otherwise the columns of a strip.
    strip: usize,
    /// Whether the next block is prefetched.
    asks: bool,
    /// Bytes of an element, before it is reduced.
    size: usize,
    /// The identity.
    identity: u64,
    work: Work,
}

/// Some columns of a block of rows, or all columns of several blocks or matrices.
struct Task<'a> {
    /// The number of the block or matrix.
    first: usize,
    column: usize,
    outs: Outs<'a>,
}

/// Memory of one thread.
struct Scratch {
    block: engine::Scratch,
    /// Where accumulators become one.
    buffer: HostMemory,
    /// For each result, if rows are not reduced in place.
    accumulators: SmallVec<[Register; 1]>,
    /// For a block of one value.
    expanded: Register,
    /// A part of identities.
    identity: Register,
}

fn rounds(program: &Program, reduce: &ReduceAxes, from: &[Operand<'_>], outs: Outs<'_>) -> Result<()> {
    let (shape, dtype) = (&program.shape, program.element_type());
    let outer: usize = shape[..reduce.axes.start].iter().product();
    let inner: usize = shape[reduce.axes.end..].iter().product();
    let count = reduce.count(shape);
    let mut engine = Engine::new(program, from, 1)?;
    let elements = program.shape.iter().product();
    engine.most = if engine.code.len() > FEW_LOOPS { MOST_OF_LONG } else { MOST }.min(elements);
    let block = match () {
        // Several rounds at once.
        () if count * inner <= engine.most => count,
        () if reduce.op.row().gives_index => MOST,
        () => BLOCK,
    };
    let cuts = count.div_ceil(block);
    let rows = count.min(block);
    let together = engine.most / (rows * inner);
    // Fewer columns, if threads would be idle.
    let work = Work::of(program, elements);
    let strips = if work.threads() > 1 { (2 * work.threads()).div_ceil(outer * cuts) } else { 1 };
    let are_read = program.results.iter().all(|result| matches!(result, Value::Input(_)));
    let most = if are_read { STRIP } else { engine.most };
    let strip = inner.div_ceil(strips).clamp(LEAST_STRIP.min(most), most);
    let strip = if inner <= strip { inner } else { inner.div_ceil(inner.div_ceil(strip)) };
    let strip = if together > 0 { inner } else { strip };
    let job = Job {
        engine,
        count,
        inner,
        block,
        cuts,
        together,
        strip,
        asks: Operand::bytes(from) > LARGEST_NEAR,
        size: dtype.size(),
        identity: reduce.op.identity(dtype),
        work,
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
            let from: Vec<Operand<'_>> = held.iter().map(|memory| Operand::Bytes(&memory[..bytes])).collect();
            rounds(&next, &reduce, &from, outs)
        }
    }
}

impl Job<'_> {
    /// Elements of the operand.
    fn all(&self) -> usize {
        self.engine.program.shape.iter().product()
    }

    /// Calls `each` with every task, whose elements have this many bytes in the result.
    fn run(
        &self,
        mut outs: Outs<'_>,
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
        let (all, unit) = (outs[0].len() / sizes[0], blocks * self.inner);
        for at in (0..all).step_by(unit) {
            for column in (0..unit.min(all - at)).step_by(columns) {
                let length = columns.min(unit - column).min(all - at);
                let outs = outs.iter_mut().zip(sizes).map(|(out, size)| cut(out, length * size)).collect();
                tasks.push(Task { first: at / self.inner, column, outs });
            }
        }
        threads::each(tasks, self.work, || self.scratch(), each)
    }

    fn scratch(&self) -> Result<Scratch> {
        let most = self.engine.most * self.size;
        let accumulators = ACCUMULATORS.min(self.count) * self.strip * self.size;
        let results = self.engine.program.results.iter();
        Ok(Scratch {
            block: self.engine.scratch(),
            buffer: HostMemory::take(if self.together > 0 { 2 * most } else { accumulators / 2 * 3 })?,
            accumulators: results.map(|_| Register::default()).collect(),
            expanded: Register::default(),
            identity: Register::of_equal(self.identity, self.size, PART)?,
        })
    }

    /// Calls `each` with the parts of a task that are reduced alone, of at most this many blocks or matrices: the first
    /// one's number, and the memory of the results.
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
            // The last block of a matrix may have fewer rows.
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
                0 => self.columns(loops, number, column, &mut outs, scratch),
                _ => self.matrices(loops, number, &mut outs, scratch),
            });
            // The identity makes a sum's -0 a +0, and changes nothing else.
            let identity = scratch.identity.bytes(PART * self.size);
            for out in task.outs.iter_mut().flat_map(|out| out.chunks_mut(identity.len())) {
                (loops.accumulate)(out, &identity[..out.len()]);
            }
        })
    }

    /// Whether all matrices of a task are contiguous in memory, and are read once.
    fn is_in_place(&self, task: &Task<'_>) -> bool {
        let &[result] = self.engine.program.results.as_slice() else { return false };
        if self.together == 0 {
            return false;
        }
        let (first, _) = self.rows(task.first);
        let (last, rows) = self.rows(task.first + task.outs[0].len() / (self.inner * self.size) - 1);
        let length = (last + rows - first) * self.inner;
        self.engine.in_place(result, first * self.inner, length).is_some()
    }

    /// The first row of a block of rows among all, and their number.
    fn rows(&self, number: usize) -> (usize, usize) {
        let (matrix, cut) = (number / self.cuts, number % self.cuts);
        (matrix * self.count + cut * self.block, (self.count - cut * self.block).min(self.block))
    }

    /// Reduces matrices from one on, which fit into a tile.
    fn matrices(&self, loops: &Values, number: usize, outs: &mut Outs<'_>, scratch: &mut Scratch) {
        let (first, rows) = self.rows(number);
        let (start, length) = (first * self.inner, outs[0].len() / self.size * rows);
        let results = &self.engine.program.results;
        let places: SmallVec<[_; 2]> =
            results.iter().map(|&result| self.engine.in_place(result, start, length)).collect();
        if places.iter().any(Option::is_none) {
            self.engine.compute(start, length, None, &mut scratch.block);
        }
        if self.asks && places.iter().any(Option::is_none) {
            let after = start + length;
            self.engine.ahead(after, length.min(self.all() - after)).first(ASKED).load();
        }
        let Scratch { block, buffer, expanded, .. } = scratch;
        for ((&result, place), out) in results.iter().zip(places).zip(outs) {
            let x = place.unwrap_or_else(|| self.engine.all(result, expanded, block));
            loops.reduce([rows, self.inner], x, buffer, out);
        }
    }

    /// Reduces a block of rows, or some of its columns.
    fn columns(
        &self,
        loops: &Values,
        number: usize,
        column: usize,
        outs: &mut Outs<'_>,
        scratch: &mut Scratch,
    ) {
        let columns = outs[0].len() / self.size;
        let (first, rows) = self.rows(number);
        let start = first * self.inner + column;
        let results = self.engine.program.results.iter();
        let place = |&result: &Value| self.engine.rows_in_place(result, start, [rows, columns, self.inner]);
        if let Some(places) = results.map(place).collect::<Option<SmallVec<[_; 2]>>>() {
            for ((x, pitch), out) in places.into_iter().zip(outs) {
                (loops.blocks)([rows, columns, pitch], x, &mut scratch.buffer, out);
            }
            return;
        }
        let Scratch { block, buffer, accumulators, expanded, identity } = scratch;
        let (count, most) = (ACCUMULATORS.min(rows), self.engine.most);
        let all = count * columns;
        for to in
            accumulators.iter_mut().flat_map(|to| to.bytes_mut(all * self.size).chunks_mut(PART * self.size))
        {
            to.copy_from_slice(identity.bytes(to.len()));
        }
        // Rows side by side, or apart.
        let stretch = if columns == self.inner { all * (most / all).max(1) } else { columns };
        let mut done = 0;
        while done < rows * columns {
            let length = (stretch - done % stretch).min(most).min(rows * columns - done);
            let at = done / columns * self.inner + done % columns;
            self.engine.compute(start + at, length, None, block);
            let to = done % all * self.size..all.min(done % all + length) * self.size;
            for (&result, accumulators) in self.engine.program.results.iter().zip(&mut *accumulators) {
                let x = self.engine.all(result, expanded, block);
                (loops.accumulate)(&mut accumulators.bytes_mut(all * self.size)[to.clone()], x);
            }
            done += length;
        }
        for (x, out) in accumulators.iter().zip(outs) {
            (loops.blocks)([count, columns, columns], x.bytes(all * self.size), buffer, out);
        }
    }
}
