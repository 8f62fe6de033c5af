//! Products of matrices, for each place of the axes that both factors follow. Panels of both factors are packed, so
//! that a chunk of products is added up in registers, in the order of [`CHUNK`].
//!
//! A factor has stride 0 along an axis that it does not follow. So a factor that is stretched along a batch has more
//! rows.

use std::ops::{Add, Mul, Range};

use bytemuck::Pod;

use super::bytes::From;
use super::engine::{Engine, Out};
use super::eval::{self, Elements};
use super::memory::HostMemory;
use super::reorder;
use super::threads::{self, Work};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{CHUNK, Input, Product, Program, ProgramKind, Source, Value};
use crate::layout::{Layout, Shape};
use crate::vectors;

/// Rows of a tile, whose sums stay in registers: with two vectors of columns they use twelve of sixteen.
const ROWS: usize = 6;

/// Products that are packed at a time, and rows and columns. A panel stays in the first-level cache, the others in the
/// second.
const DEPTH: usize = 4 * CHUNK;
const MOST_ROWS: usize = 32 * ROWS;
const MOST_COLUMNS: usize = 512;

/// Columns, and products, that are turned at once.
const SQUARE: usize = 8;

/// Matrices for each thread that are tasks as they are.
const MANY: usize = 4;

/// The type that multiplies and adds: one for integers of either sign.
trait Number: Pod + Send + Sync + Default {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($([$($t:ty),+] $plus:ident $times:ident;)*) => {$($(
        impl Number for $t {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.$plus(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.$times(other)
            }
        }
    )+)*};
}
numbers! {
    [f32, f64] add mul;
    [u8, u16, u32, u64] wrapping_add wrapping_mul;
}

/// Runs a program whose products are added up along an axis, and the steps after the sums.
pub(super) fn contract(program: &Program, from: &[From<'_>], out: &mut [u8]) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let Some(mut after) = program.after_product()? else { return sums(program, from, None, out) };
    let needed = program.needed(&program.results, |_| false);
    let inputs = program.inputs.iter().zip(from).zip(needed.inputs()).filter(|(_, needed)| **needed);
    let is_sum = |input: &Input| input.source.is_row();
    let instead = |sums| -> Vec<From<'_>> {
        inputs.clone().map(|((input, from), _)| if is_sum(input) { sums } else { *from }).collect()
    };
    for input in after.inputs.iter_mut().filter(|input| is_sum(input)) {
        // Elements of the result's memory, or of memory in its order.
        (input.source, input.layout) = (Source::Scalar(0), Layout::contiguous(&after.shape)?);
    }
    let ProgramKind::Contract { product, .. } = program.kind else {
        bail!(Kernel, "a program without a contraction");
    };
    let sum = program.dtype_of(product).size();
    if sum == program.dtype.size() {
        let from_out = instead(From::Output);
        return sums(program, from, Some((&after, &from_out)), out);
    }
    let bytes = out.len() / program.dtype.size() * sum;
    let mut held = HostMemory::take(bytes)?;
    sums(program, from, None, &mut held[..bytes])?;
    eval::eval(&after, &instead(From::Bytes(&held)), out)
}

/// Steps after sums, which replace the sums in memory, and what they read.
type After<'a> = (&'a Program, &'a [From<'a>]);

/// The sums of a program, and the steps after them.
fn sums<'a>(program: &Program, from: &[From<'_>], after: Option<After<'a>>, out: &mut [u8]) -> Result<()> {
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
        work: Work::of(program, program.shape.iter().fold(1, |all, &n| all.saturating_mul(n))),
    };
    // One column is a row of the product with exchanged factors.
    if columns.is_empty() {
        job.sides.swap(0, 1);
    }
    let element = program.dtype_of(values[0]);
    let run = |out: &mut [u8]| match element {
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
fn factor<'a>(program: &Program, value: Value, from: &[From<'a>]) -> Result<Factor<'a>> {
    if let Value::Input(i) = value
        && let (input, From::Bytes(read)) = (&program.inputs[i as usize], from[i as usize])
        && !input.is_table()
    {
        return Ok(Factor { elements: Elements::Read(read), layout: input.layout.clone() });
    }
    let (part, from) = eval::part(program, value, &program.followed()[value], from)?;
    let layout = Layout::contiguous(&part.shape)?.stretched(&program.shape);
    Ok(Factor { elements: eval::elements(&part, &from)?, layout })
}

/// The distance of a factor's element from the first, for each place along some axes, in row-major order.
struct Places {
    outer: Vec<isize>,
    /// Along the last axis.
    inner: usize,
    stride: isize,
}

impl Places {
    fn new(shape: &Shape, strides: &[isize], axes: &[usize]) -> Places {
        let Some((&last, axes)) = axes.split_last() else {
            return Places { outer: vec![0], inner: 1, stride: 0 };
        };
        let outer = axes.iter().fold(vec![0], |outer, &axis| {
            let along = |at: isize| (0..shape[axis] as isize).map(move |i| at + i * strides[axis]);
            outer.into_iter().flat_map(along).collect()
        });
        Places { outer, inner: shape[last], stride: strides[last] }
    }

    fn count(&self) -> usize {
        self.outer.len() * self.inner
    }

    fn at(&self, i: usize) -> isize {
        self.outer[i / self.inner] + (i % self.inner) as isize * self.stride
    }

    fn range(&self, range: Range<usize>) -> impl ExactSizeIterator<Item = isize> {
        range.map(|i| self.at(i))
    }
}

/// A factor: the first elements of its matrices, its rows or columns, and the distance of elements along the products.
struct Side<'a> {
    bytes: &'a [u8],
    offset: isize,
    batch: Places,
    kept: Places,
    stride: isize,
}

struct Job<'a> {
    sides: [Side<'a>; 2],
    products: usize,
    /// Steps after the sums of a task, which replace these in cache.
    after: Option<Engine<'a>>,
    work: Work,
}

/// A thread's packed panels, and the sums of a block's tiles.
struct Scratch<T, const R: usize, const N: usize> {
    left: Vec<[T; R]>,
    right: Vec<[T; N]>,
    sums: Vec<[[T; N]; R]>,
}

/// A block of a matrix, as a loop: a large closure would not be inlined into a function with wide vectors. `out` begins
/// at the block's first row, and its columns at a place in each row.
struct Block<'a, T, const R: usize, const N: usize> {
    job: &'a Job<'a>,
    matrix: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    out: &'a mut [T],
    length: usize,
    begin: usize,
    scratch: &'a mut Scratch<T, R, N>,
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
        let [rows, columns] = [0, 1].map(|i| self.sides[i].kept.count());
        let all = rows * columns;
        // As many tasks for every thread, of whole tiles: rows, or columns of one row. Each packs the other factor.
        let threads = threads::count();
        let parts = if out.len() / all < MANY * threads { threads } else { 1 };
        let share = |count: usize, of: usize, most: usize| {
            count.div_ceil(parts * count.div_ceil(parts * most)).next_multiple_of(of)
        };
        let (down, across) = match rows {
            1 => (1, share(columns, N, MOST_COLUMNS)),
            _ => (share(rows, R, MOST_ROWS), columns),
        };
        let part = down * across;
        let tasks = out.chunks_mut(all).enumerate().flat_map(|(matrix, out)| {
            let parts = out.chunks_mut(part).enumerate();
            parts.map(move |(k, out)| (matrix, k, out))
        });
        let scratch = || {
            let after = self.after.as_ref().map(Engine::scratch);
            Ok((Scratch::<T, R, N> { left: Vec::new(), right: Vec::new(), sums: Vec::new() }, after))
        };
        threads::each(tasks.collect::<Vec<_>>(), self.work, scratch, |(scratch, after), (matrix, k, out)| {
            let (first, length) = if rows == 1 { (k * across, out.len()) } else { (0, columns) };
            let row = if rows == 1 { 0 } else { k * down };
            let rows = row..row + out.len() / length;
            for begin in (0..length).step_by(MOST_COLUMNS) {
                let columns = first + begin..first + length.min(begin + MOST_COLUMNS);
                let rows = rows.clone();
                vectors::dispatch(Block { job: self, matrix, rows, columns, out, length, begin, scratch });
            }
            if let (Some(engine), Some(scratch)) = (&self.after, after) {
                let mut at = matrix * all + k * part;
                // Rows by themselves, unless they are short, so that operands along a row are read in place.
                let row = if length < eval::BLOCK / 4 { out.len() } else { length };
                for out in out.chunks_mut(row).flat_map(|row| row.chunks_mut(eval::BLOCK)) {
                    let (length, bytes) = (out.len(), bytemuck::cast_slice_mut(out));
                    engine.compute(at, length, Some(Out { bytes, stream: None }), scratch);
                    at += length;
                }
            }
        })
    }
}

impl<T: Number, const R: usize, const N: usize> vectors::Loop for Block<'_, T, R, N> {
    #[inline(always)]
    fn run(self) {
        let Scratch { left, right, sums } = self.scratch;
        let [rows, columns] = &self.job.sides;
        if R == 1 && columns.stride == 1 {
            rows.pack(self.matrix, self.rows, 0..self.job.products, left);
            let results = &mut self.out[self.begin..][..self.columns.len()];
            return columns.times_row(self.matrix, self.columns, left.as_flattened(), results);
        }
        let panels = self.rows.len().div_ceil(R);
        let tiles = panels * self.columns.len().div_ceil(N);
        sums.clear();
        sums.resize(tiles, [[T::default(); N]; R]);
        for first in (0..self.job.products).step_by(DEPTH) {
            let depth = first..self.job.products.min(first + DEPTH);
            rows.pack(self.matrix, self.rows.clone(), depth.clone(), left);
            columns.pack(self.matrix, self.columns.clone(), depth.clone(), right);
            for (right, sums) in right.chunks(depth.len()).zip(sums.chunks_mut(panels)) {
                for (left, sums) in left.chunks(depth.len()).zip(sums) {
                    for (left, right) in left.chunks(CHUNK).zip(right.chunks(CHUNK)) {
                        add(sums, &chunk(left, right));
                    }
                }
            }
        }
        for (tile, sums) in sums.iter().enumerate() {
            let at = tile / panels * N;
            let width = N.min(self.columns.len() - at);
            let rows = self.out.chunks_mut(self.length).skip(tile % panels * R);
            for (out, sums) in rows.zip(sums) {
                out[self.begin + at..][..width].copy_from_slice(&sums[..width]);
            }
        }
    }
}

impl Side<'_> {
    /// Packs rows or columns in panels of `N`. Zeros fill the last one.
    #[inline(always)]
    fn pack<T: Number, const N: usize>(
        &self,
        matrix: usize,
        kept: Range<usize>,
        depth: Range<usize>,
        packed: &mut Vec<[T; N]>,
    ) {
        let elements: &[T] = self.elements();
        let begin = self.offset + self.batch.at(matrix) + depth.start as isize * self.stride;
        let depth = depth.len();
        packed.clear();
        packed.resize(kept.len().div_ceil(N) * depth, [T::default(); N]);
        // In the order of memory: all elements of one place of the products, or of all places.
        if self.kept.outer.len() == 1 && self.kept.stride == 1 {
            for k in 0..depth {
                let at = (begin + self.kept.at(kept.start) + k as isize * self.stride) as usize;
                for (panel, part) in elements[at..at + kept.len()].chunks(N).enumerate() {
                    let packed = &mut packed[panel * depth + k];
                    match part.first_chunk() {
                        Some(part) => *packed = *part,
                        None => packed[..part.len()].copy_from_slice(part),
                    }
                }
            }
            return;
        }
        for (i, at) in self.kept.range(kept).enumerate() {
            let panel = packed[i / N * depth..][..depth].iter_mut().map(|packed| &mut packed[i % N]);
            let at = (begin + at) as usize;
            match self.stride {
                1 => panel.zip(&elements[at..at + depth]).for_each(|(packed, &element)| *packed = element),
                stride => {
                    for (k, packed) in (0..).zip(panel) {
                        *packed = elements[at.wrapping_add_signed(k * stride)];
                    }
                }
            }
        }
    }

    /// Columns that lie along the products, times one row: read in place, by squares that are turned in registers, so that
    /// each load is a vector.
    #[inline(always)]
    fn times_row<T: Number>(&self, matrix: usize, kept: Range<usize>, row: &[T], results: &mut [T]) {
        let begin = self.offset + self.batch.at(matrix);
        let last = kept.end - 1;
        for (first, results) in kept.step_by(SQUARE).zip(results.chunks_mut(SQUARE)) {
            // Missing columns repeat the last one.
            let columns: [&[T]; SQUARE] = std::array::from_fn(|i| {
                let at = (begin + self.kept.at(last.min(first + i))) as usize;
                &self.elements()[at..at + row.len()]
            });
            let mut totals = [[T::default(); SQUARE]];
            for (k, row) in row.chunks(CHUNK).enumerate() {
                let columns = columns.map(|column| column[k * CHUNK..][..row.len()].as_chunks::<SQUARE>());
                let (parts, rest) = row.as_chunks::<SQUARE>();
                let mut sums = [[T::default(); SQUARE]];
                for (k, part) in parts.iter().enumerate() {
                    let square = columns.map(|(parts, _)| parts[k]);
                    let turned: [[T; SQUARE]; SQUARE] =
                        std::array::from_fn(|k| square.map(|column| column[k]));
                    add_products(&mut sums, part, &turned);
                }
                for (k, &a) in rest.iter().enumerate() {
                    add_products(&mut sums, &[a], &[columns.map(|(_, rest)| rest[k])]);
                }
                add(&mut totals, &sums);
            }
            results.copy_from_slice(&totals[0][..results.len()]);
        }
    }

    fn elements<T: Number>(&self) -> &[T] {
        bytemuck::cast_slice(&self.bytes[..self.bytes.len() / size_of::<T>() * size_of::<T>()])
    }
}

/// Adds the products of some elements of a row, and of the columns beside each other there.
#[inline(always)]
fn add_products<T: Number, const N: usize>(sums: &mut [[T; N]; 1], row: &[T], columns: &[[T; N]]) {
    for (&a, column) in row.iter().zip(columns) {
        for (sum, &b) in sums[0].iter_mut().zip(column) {
            *sum = sum.plus(a.times(b));
        }
    }
}

/// The sums of a chunk of products.
#[inline(always)]
fn chunk<T: Number, const R: usize, const N: usize>(left: &[[T; R]], right: &[[T; N]]) -> [[T; N]; R] {
    let mut sums = [[T::default(); N]; R];
    for (left, right) in left.iter().zip(right) {
        for (sums, &a) in sums.iter_mut().zip(left) {
            for (sum, &b) in sums.iter_mut().zip(right) {
                *sum = sum.plus(a.times(b));
            }
        }
    }
    sums
}

#[inline(always)]
fn add<T: Number, const R: usize, const N: usize>(sums: &mut [[T; N]; R], more: &[[T; N]; R]) {
    for (sum, more) in sums.as_flattened_mut().iter_mut().zip(more.as_flattened()) {
        *sum = sum.plus(*more);
    }
}
