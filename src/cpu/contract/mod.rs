//! Products of matrices, for each place of the axes that both factors follow. Panels of both factors are packed, so
//! that a chunk of products is added up in registers, in the order of [`CHUNK`].
//!
//! A factor has stride 0 along an axis that it does not follow. So a factor that is stretched along a batch has more
//! rows.

mod sides;

use std::ops::Range;

use self::sides::{Number, Places, Side, add, chunk, load, store};
use super::bytes::Operand;
use super::engine::{Engine, Out};
use super::eval::{self, Elements};
use super::lines::{self, LINE};
use super::memory::HostMemory;
use super::reorder;
use super::threads::{self, Strip, Work};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{CHUNK, Input, Math, Product, Program, Source, Value};
use crate::layout::Layout;
use crate::vectors;

/// Rows of a tile, whose sums stay in registers: with two vectors of columns they use twelve of sixteen.
const ROWS: usize = 6;

/// Products that are packed at a time. A panel of columns fills the first-level cache. Half as many load and store results twice
/// as often: 1024 x 1024 x 1024 took 1.08 of the time.
const DEPTH: usize = 8 * CHUNK;

/// Columns that are packed at a time, and the most rows of a task. The columns stay in the second-level cache.
const STRIP: usize = 128;
const MOST_ROWS: usize = 86 * ROWS;

/// The most columns of a task.
const MOST_COLUMNS: usize = 1024;

/// Matrices for each thread that are tasks as they are.
const MANY: usize = 4;

/// Runs a program whose products are added up along an axis, and the steps after the sums.
pub(super) fn contract(program: &Program, math: Math, from: &[Operand<'_>], out: &mut [u8]) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let Some(mut after) = program.after_product()? else { return sums(program, math, from, None, out) };
    let needed = program.needed(&program.results, |_| false);
    let inputs = program.inputs.iter().zip(from).zip(needed.inputs()).filter(|(_, needed)| **needed);
    let is_sum = |input: &Input| input.source.is_row();
    let instead = |sums| -> Vec<Operand<'_>> {
        inputs.clone().map(|((input, from), _)| if is_sum(input) { sums } else { *from }).collect()
    };
    for input in after.inputs.iter_mut().filter(|input| is_sum(input)) {
        // Elements of the result's memory, or of memory in its order.
        (input.source, input.layout) = (Source::Scalar(0), Layout::contiguous(&after.shape)?);
    }
    let sum = program.dtype_of(program.contraction()?.1).size();
    if sum == program.dtype.size() {
        let from_out = instead(Operand::Output);
        return sums(program, math, from, Some((&after, &from_out)), out);
    }
    let bytes = out.len() / program.dtype.size() * sum;
    let mut held = HostMemory::take(bytes)?;
    sums(program, math, from, None, &mut held[..bytes])?;
    eval::eval(&after, &instead(Operand::Bytes(&held)), out)
}

/// Steps after sums, which replace the sums in memory, and what they read.
type After<'a> = (&'a Program, &'a [Operand<'a>]);

/// The sums of a program, and the steps after them.
fn sums<'a>(
    program: &Program,
    math: Math,
    from: &[Operand<'_>],
    after: Option<After<'a>>,
    out: &mut [u8],
) -> Result<()> {
    let Product { factors: values, batch, kept: [rows, columns], axis } = program.product()?;
    let factors = [factor(program, values[0], from)?, factor(program, values[1], from)?];
    let places = |i: usize, axes: &[usize]| Places::new(&program.shape, factors[i].layout.strides(), axes);
    let side = |i: usize, kept: &[usize]| Side {
        bytes: &factors[i].elements,
        offset: factors[i].layout.offset() as isize,
        batch: places(i, &batch),
        kept: places(i, kept),
        stride: factors[i].layout.strides()[axis],
    };
    let order = [batch.as_slice(), &rows, &columns].concat();
    let engine = |(after, from): After<'a>| -> Result<Engine<'a>> {
        let mut engine = Engine::new(after, from, 1)?;
        engine.most = eval::BLOCK.min(after.shape.iter().product());
        Ok(engine)
    };
    let mut job = Job {
        sides: [side(0, &rows), side(1, &columns)],
        after: after.filter(|_| order.is_sorted()).map(engine).transpose()?,
        products: program.shape[axis],
        work: Work::of_products(program.shape.iter().fold(1, |all, &n| all.saturating_mul(n))),
    };
    // One column is a row of the product with exchanged factors.
    if columns.is_empty() {
        job.sides.swap(0, 1);
    }
    let element = program.dtype_of(values[0]);
    let run = |out: &mut [u8]| match element {
        DType::F32 if math == Math::Total => job.run::<[f32; 1], 16>(out),
        DType::F64 if math == Math::Total => job.run::<[f64; 1], 8>(out),
        DType::F32 => job.run::<f32, 16>(out),
        DType::F64 => job.run::<f64, 8>(out),
        dtype => match dtype.size() {
            1 => job.run::<u8, 16>(out),
            2 => job.run::<u16, 16>(out),
            4 => job.run::<u32, 16>(out),
            _ => job.run::<u64, 8>(out),
        },
    };
    if order.is_sorted() {
        return run(out);
    }
    // Matrix by matrix, and then in the order of the result.
    let mut held = HostMemory::take(out.len())?;
    run(&mut held[..out.len()])?;
    let shape = program.result_shape();
    let others = (0..shape.rank()).filter(|axis| !order.contains(axis));
    let order: Vec<usize> = others.chain(order.iter().copied()).collect();
    let lengths = order.iter().map(|&axis| shape[axis]).collect();
    eval::laid_out(element, &held, reorder::restored(&order, lengths)?, out)?;
    after.map_or(Ok(()), |(after, from)| eval::eval(after, from, out))
}

/// The elements of a factor, and their layout over the products.
struct Factor<'a> {
    elements: Elements<'a>,
    layout: Layout,
}

/// A factor of a program: read in place, or computed once for each element along the axes that it follows.
fn factor<'a>(program: &Program, value: Value, from: &[Operand<'a>]) -> Result<Factor<'a>> {
    if let Value::Input(i) = value
        && let (input, Operand::Bytes(read)) = (&program.inputs[i as usize], from[i as usize])
        && !input.is_table()
    {
        return Ok(Factor { elements: Elements::Read(read), layout: input.layout.clone() });
    }
    let (part, from) = eval::part(program, value, &program.followed()[value], from)?;
    let layout = Layout::contiguous(&part.shape)?.stretched(&program.shape);
    Ok(Factor { elements: eval::elements(&part, &from)?, layout })
}

struct Job<'a> {
    sides: [Side<'a>; 2],
    products: usize,
    /// Steps after the sums of a task, which replace these in cache.
    after: Option<Engine<'a>>,
    work: Work,
}

/// Some rows and columns of a matrix. `out` is the memory of each row, or of all, if they have all columns.
struct Task<'a, T> {
    matrix: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    out: Strip<'a, T>,
}

impl<'a, T> Task<'a, T> {
    /// The tasks of a matrix, with some rows and columns each.
    fn of(
        matrix: usize,
        out: &'a mut [T],
        [rows, columns]: [usize; 2],
        most: [usize; 2],
    ) -> impl Iterator<Item = Self> {
        let [down, across] = most;
        let unit = if across < columns { 1 } else { down };
        (0..).step_by(down).zip(out.chunks_mut(down * columns)).flat_map(move |(row, out)| {
            let strips = threads::strips(out, unit * columns, unit * across);
            (0..).step_by(across).zip(strips).map(move |(column, out)| {
                let (rows, columns) = (row..rows.min(row + down), column..columns.min(column + across));
                Task { matrix, rows, columns, out }
            })
        })
    }
}

/// How factors are read.
#[derive(Clone, Copy)]
enum Reading {
    /// Both are packed.
    Packed,
    /// So few rows that packed columns would be read once. The columns of a row lie side by side.
    Side,
    /// One row. Columns lie along the products.
    Along,
}

/// A task as a loop: a large closure would not be inlined into a function with wide vectors.
struct Block<'a, 'm, T, const R: usize, const N: usize> {
    job: &'a Job<'a>,
    reading: Reading,
    task: &'a mut Task<'m, T>,
    memory: &'a mut [T],
    /// The elements of `memory` for rows.
    left: usize,
}

impl Job<'_> {
    /// All results, matrix by matrix.
    fn run<T: Number, const N: usize>(&self, out: &mut [u8]) -> Result<()> {
        let out = bytemuck::cast_slice_mut(out);
        if self.sides[0].kept.count() == 1 {
            self.tiles::<T, 1, N>(out)
        } else {
            self.tiles::<T, ROWS, N>(out)
        }
    }

    fn tiles<T: Number, const R: usize, const N: usize>(&self, out: &mut [T]) -> Result<()> {
        let lengths = [0, 1].map(|i| self.sides[i].kept.count());
        let [rows, columns] = lengths;
        let all = rows * columns;
        // As many tasks for every thread. A task packs its rows and its columns, so it has about as many of both.
        let threads = self.work.threads();
        let threads = if out.len() / all < MANY * threads { threads } else { 1 };
        let grids = (1..=threads).filter(|parts| threads.is_multiple_of(*parts));
        let packed = |parts: &usize| rows.div_ceil(*parts) + columns.div_ceil(threads / parts);
        let parts = grids.min_by_key(packed).unwrap_or(1);
        let share = |count: usize, parts: usize, of: usize, most: usize| {
            count.div_ceil(parts * count.div_ceil(parts * most)).next_multiple_of(of).min(count)
        };
        let down = share(rows, parts, R, MOST_ROWS);
        let across = share(columns, threads / parts, N, MOST_COLUMNS);
        let reading = match &self.sides[1] {
            right if R == 1 && right.stride == 1 => Reading::Along,
            right if rows <= R && right.is_side_by_side() => Reading::Side,
            _ => Reading::Packed,
        };
        let depth = self.products.min(DEPTH);
        let [left, right] = match reading {
            Reading::Packed => {
                [down.next_multiple_of(R) * depth, STRIP.min(across).next_multiple_of(N) * depth]
            }
            Reading::Side => [R * self.products, rows * across],
            Reading::Along => [self.products, 0],
        };
        let left = left.next_multiple_of(LINE);
        let bytes = (left + right) * size_of::<T>();
        let scratch = || {
            let memory = HostMemory::take(bytes + LINE)?;
            Ok((memory, self.after.as_ref().map(Engine::scratch)))
        };
        let matrices = out.chunks_mut(all).enumerate();
        let tasks = matrices.flat_map(|(matrix, out)| Task::of(matrix, out, lengths, [down, across]));
        threads::each(tasks.collect::<Vec<_>>(), self.work, scratch, |(memory, after), mut task| {
            let begin = lines::to_line(memory);
            let memory = bytemuck::cast_slice_mut(&mut memory[begin..][..bytes]);
            vectors::dispatch(Block::<T, R, N> { job: self, reading, task: &mut task, memory, left });
            task.out.iter_mut().for_each(|out| T::finish(out));
            let (Some(engine), Some(scratch)) = (&self.after, after) else { return };
            let (mut row, width) = (task.rows.start, task.columns.len());
            for out in task.out {
                let mut at = task.matrix * all + row * columns + task.columns.start;
                row += out.len() / width;
                // Rows by themselves, unless they are short, so that operands along a row are read in place.
                let together = if width < eval::BLOCK / 4 { out.len() } else { width };
                for out in out.chunks_mut(together).flat_map(|row| row.chunks_mut(eval::BLOCK)) {
                    let (length, bytes) = (out.len(), bytemuck::cast_slice_mut(out));
                    engine.compute(at, length, Some(Out { bytes, stream: None }), scratch);
                    at += length;
                }
            }
        })
    }
}

impl<T: Number, const R: usize, const N: usize> vectors::Loop for Block<'_, '_, T, R, N> {
    #[inline(always)]
    fn run(self) {
        // Vectors of other processors may have no `fma`.
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            self.sums::<false>();
        } else {
            self.sums::<true>();
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn run_old(self) {
        self.sums::<true>();
    }
}

impl<T: Number, const R: usize, const N: usize> Block<'_, '_, T, R, N> {
    #[inline(always)]
    fn sums<const OLD: bool>(self) {
        let Task { matrix, rows, columns, out } = self.task;
        let [left, right] = &self.job.sides;
        let products = self.job.products;
        let mut out: Vec<&mut [T]> = out.iter_mut().flat_map(|out| out.chunks_mut(columns.len())).collect();
        let (of_left, of_right) = self.memory.split_at_mut(self.left);
        match self.reading {
            Reading::Along => {
                left.pack::<T, 1>(*matrix, rows.clone(), 0..products, of_left);
                return right.times_row::<T, OLD>(*matrix, columns.clone(), &of_left[..products], out[0]);
            }
            Reading::Side => {
                let panel = left.pack::<T, R>(*matrix, rows.clone(), 0..products, of_left);
                return right.times_rows::<T, R, OLD>(*matrix, columns.clone(), panel, of_right, &mut out);
            }
            Reading::Packed => {}
        }
        for first in (0..products).step_by(DEPTH) {
            let depth = first..products.min(first + DEPTH);
            let own = left.pack::<T, R>(*matrix, rows.clone(), depth.clone(), of_left);
            for begin in columns.clone().step_by(STRIP) {
                let strip = begin..columns.end.min(begin + STRIP);
                let begin = begin - columns.start;
                let panels = right.pack::<T, N>(*matrix, strip.clone(), depth.clone(), of_right);
                for (i, right) in panels.chunks(depth.len()).enumerate() {
                    let places = begin + i * N..begin + strip.len().min((i + 1) * N);
                    for (left, out) in own.chunks(depth.len()).zip(out.chunks_mut(R)) {
                        let mut totals = [[T::default(); N]; R];
                        if first > 0 {
                            let out = out.iter().map(|out| &out[places.clone()]);
                            totals.iter_mut().zip(out).for_each(|(totals, out)| load(out, totals));
                        }
                        for (left, right) in left.chunks(CHUNK).zip(right.chunks(CHUNK)) {
                            add(&mut totals, &chunk::<T, R, N, OLD>(left, right));
                        }
                        let out = out.iter_mut().map(|out| &mut out[places.clone()]);
                        totals.iter().zip(out).for_each(|(totals, out)| store(totals, out));
                    }
                }
            }
        }
    }
}
