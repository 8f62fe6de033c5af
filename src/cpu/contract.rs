//! Products of two factors that are added up along axes: matrices of rows and columns, for each place of the axes that
//! both factors follow. Panels of either are packed so that a chunk of products is added up in registers, in the order of
//! [`CHUNK`].
//!
//! An axis that a factor does not follow has stride 0 there, so one that is stretched along a batch has more rows.

use bytemuck::Pod;

use super::bytes::From;
use super::eval;
use super::memory::HostMemory;
use super::threads::{self, Work};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{CHUNK, Input, Program, Source, Value};
use crate::layout::{Layout, Shape};
use crate::vectors;

/// Rows of a tile, whose sums stay in registers: with two vectors of columns they take twelve of sixteen.
const ROWS: usize = 6;

/// Products that are packed at a time, and rows and columns: a panel stays in the first cache, the rest in the second.
const DEPTH: usize = 4 * CHUNK;
const MOST_ROWS: usize = 32 * ROWS;
const MOST_COLUMNS: usize = 512;

/// What elements are multiplied and added as: integers of either sign are one.
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
use std::ops::{Add, Mul};
numbers! {
    [f32, f64] add mul;
    [u8, u16, u32, u64] wrapping_add wrapping_mul;
}

/// Runs a program whose products are added up along axes.
pub(super) fn contract(
    program: &Program,
    axes: &std::ops::Range<usize>,
    from: &[From<'_>],
    out: &mut [u8],
) -> Result<()> {
    let Some([left, right]) = program.step(program.results[0]).and_then(|step| step.args.first_chunk())
    else {
        bail!(Kernel, "a contraction of what is no product")
    };
    if out.is_empty() {
        return Ok(());
    }
    let factors = [factor(program, *left, from)?, factor(program, *right, from)?];
    let follows = |i: usize, axis: usize| factors[i].layout.strides()[axis] != 0;
    let of = |wanted: [bool; 2]| -> Vec<usize> {
        let kept = (0..program.shape.rank()).filter(|axis| !axes.contains(axis) && program.shape[*axis] > 1);
        kept.filter(|&axis| [follows(0, axis), follows(1, axis)] == wanted).collect()
    };
    let mut batch = of([true, true]);
    batch.extend(of([false, false]));
    let (rows, columns) = (of([true, false]), of([false, true]));
    let order: Vec<usize> = [&batch, &rows, &columns].into_iter().flatten().copied().collect();
    let places = |i: usize, axes: &[usize]| Places::new(&program.shape, factors[i].layout.strides(), axes);
    let contracted: Vec<usize> = axes.clone().collect();
    let matrices = [[0, 1].map(|i| places(i, &batch)), [places(0, &rows), places(1, &columns)]];
    let job = Job {
        bytes: [0, 1].map(|i| (factors[i].bytes(), factors[i].layout.offset())),
        batch: &matrices[0],
        kept: &matrices[1],
        contracted: [0, 1].map(|i| places(i, &contracted)),
        work: Work::of(program, program.shape.iter().fold(1, |all, &n| all.saturating_mul(n))),
    };
    let run = |out: &mut [u8]| match program.dtype {
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
    // Matrix by matrix, and then as the result lies.
    let mut held = HostMemory::take(out.len())?;
    run(&mut held[..out.len()])?;
    let shape = program.result_shape();
    let mut strides = vec![0; shape.rank()];
    order.iter().rev().fold(1, |stride, &axis| {
        strides[axis] = stride as isize;
        stride * shape[axis]
    });
    let layout = Layout::strided(shape, &strides, 0, usize::MAX)?;
    let turn = Program::copy(Input::new(program.dtype, Source::Scalar(0), layout));
    eval::eval(&turn, &[From::Bytes(&held)], out)
}

/// A factor: elements of a storage, or of memory that was computed.
struct Factor<'a> {
    read: &'a [u8],
    computed: Option<HostMemory>,
    layout: Layout,
}

impl Factor<'_> {
    fn bytes(&self) -> &[u8] {
        self.computed.as_deref().unwrap_or(self.read)
    }
}

/// A factor of a program: where it is read, or computed, once for each element along the axes that it follows.
fn factor<'a>(program: &Program, value: Value, from: &[From<'a>]) -> Result<Factor<'a>> {
    if let Value::Input(i) = value
        && let (input, From::Bytes(read)) = (&program.inputs[i as usize], from[i as usize])
        && !input.is_table()
    {
        return Ok(Factor { read, computed: None, layout: input.layout.clone() });
    }
    let part = program.narrowed(value, &program.followed()[value])?;
    let needed = program.needed(&[value], |_| false);
    let own: Vec<From<'_>> =
        from.iter().zip(needed.inputs()).filter(|(_, needed)| **needed).map(|(from, _)| *from).collect();
    let layout = Layout::contiguous(&part.shape)?.broadcast_to(&program.shape)?;
    let bytes = part.byte_size()?;
    let mut computed = HostMemory::take(bytes)?;
    if bytes > 0 {
        eval::eval(&part, &own, &mut computed[..bytes])?;
    }
    Ok(Factor { read: &[], computed: Some(computed), layout })
}

/// How far from its first element a factor is at each place along some axes, in row-major order.
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

    fn range(&self, range: std::ops::Range<usize>) -> impl ExactSizeIterator<Item = isize> {
        range.map(|i| self.at(i))
    }
}

/// Two factors, each with where its matrices begin, its rows or columns, and where its products lie.
struct Job<'a> {
    bytes: [(&'a [u8], usize); 2],
    batch: &'a [Places; 2],
    kept: &'a [Places; 2],
    contracted: [Places; 2],
    work: Work,
}

/// What a thread packs, and the sums of tiles: those of chunks, of chunks of chunks, and so on.
struct Scratch<T, const N: usize> {
    left: Vec<[T; ROWS]>,
    right: Vec<[T; N]>,
    sums: Vec<Vec<[[T; N]; ROWS]>>,
}

/// The results of a block of a matrix, as a loop: a closure of its size would not be inlined into one with wide vectors.
struct Block<'a, T, const N: usize> {
    job: &'a Job<'a>,
    matrix: usize,
    at: (usize, usize),
    out: &'a mut [T],
    scratch: &'a mut Scratch<T, N>,
}

impl<T: Number, const N: usize> vectors::Loop for Block<'_, T, N> {
    #[inline(always)]
    fn run(self) {
        self.job.block(self.matrix, self.at, self.out, self.scratch);
    }
}

impl Job<'_> {
    /// All results, matrix by matrix.
    fn run<T: Number, const N: usize>(&self, out: &mut [u8]) -> Result<()> {
        let out: &mut [T] = bytemuck::cast_slice_mut(out);
        let [rows, columns] = [0, 1].map(|i| self.kept[i].count());
        // Tasks for every thread, of whole tiles.
        let own = rows.div_ceil(threads::count()).next_multiple_of(ROWS).min(MOST_ROWS);
        let tasks = out.chunks_mut(rows * columns).enumerate().flat_map(|(matrix, out)| {
            let rows = out.chunks_mut(own * columns).enumerate();
            rows.map(move |(k, out)| (matrix, k * own, out))
        });
        let scratch = || Ok(Scratch::<T, N> { left: Vec::new(), right: Vec::new(), sums: Vec::new() });
        threads::each(tasks.collect::<Vec<_>>(), self.work, scratch, |scratch, (matrix, row, out)| {
            for column in (0..columns).step_by(MOST_COLUMNS) {
                vectors::dispatch(Block { job: self, matrix, at: (row, column), out, scratch });
            }
        })
    }

    /// The results of some rows, which `out` has all columns of, in a block of columns.
    #[inline(always)]
    fn block<T: Number, const N: usize>(
        &self,
        matrix: usize,
        (row, column): (usize, usize),
        out: &mut [T],
        scratch: &mut Scratch<T, N>,
    ) {
        let (all, count) = (self.kept[1].count(), self.contracted[0].count());
        let rows = row..row + out.len() / all;
        let columns = column..all.min(column + MOST_COLUMNS);
        let levels = levels(count);
        let Scratch { left, right, sums } = scratch;
        let panels = rows.len().div_ceil(ROWS);
        let tiles = panels * columns.len().div_ceil(N);
        sums.resize(levels, Vec::new());
        for level in sums.iter_mut() {
            level.clear();
            level.resize(tiles, [[T::default(); N]; ROWS]);
        }
        for first in (0..count).step_by(DEPTH) {
            let depth = first..count.min(first + DEPTH);
            self.pack(0, matrix, rows.clone(), depth.clone(), left);
            self.pack(1, matrix, columns.clone(), depth.clone(), right);
            for (j, right) in right.chunks(depth.len()).enumerate() {
                for (i, left) in left.chunks(depth.len()).enumerate() {
                    let tile = j * panels + i;
                    for (k, (left, right)) in left.chunks(CHUNK).zip(right.chunks(CHUNK)).enumerate() {
                        add(&mut sums[0][tile], &chunk(left, right));
                        carry(sums, tile, first / CHUNK + k + 1);
                    }
                }
            }
        }
        for tile in 0..tiles {
            for level in 1..levels {
                let below = sums[level - 1][tile];
                add(&mut sums[level][tile], &below);
            }
            let (i, j) = (tile % panels, tile / panels);
            let at = columns.start + j * N;
            let width = N.min(columns.end - at);
            let rows = out.chunks_mut(all).skip(i * ROWS);
            for (out, sums) in rows.zip(&sums[levels - 1][tile]) {
                out[at..at + width].copy_from_slice(&sums[..width]);
            }
        }
    }

    /// Packs some rows or columns of a factor in panels of `N`, whose last is filled up with zeros.
    #[inline(always)]
    fn pack<T: Number, const N: usize>(
        &self,
        i: usize,
        matrix: usize,
        kept: std::ops::Range<usize>,
        depth: std::ops::Range<usize>,
        packed: &mut Vec<[T; N]>,
    ) {
        let (bytes, offset) = self.bytes[i];
        let elements: &[T] = bytemuck::cast_slice(&bytes[..bytes.len() / size_of::<T>() * size_of::<T>()]);
        let begin = offset as isize + self.batch[i].at(matrix);
        packed.clear();
        packed.resize(kept.len().div_ceil(N) * depth.len(), [T::default(); N]);
        let along: Vec<isize> = self.contracted[i].range(depth).collect();
        for (panel, first) in packed.chunks_mut(along.len()).zip(kept.clone().step_by(N)) {
            let starts = self.kept[i].range(first..kept.end.min(first + N));
            let starts: Vec<usize> = starts.map(|at| (begin + at) as usize).collect();
            let is_run = starts.len() == N && starts.windows(2).all(|two| two[1] == two[0] + 1);
            for (packed, &more) in panel.iter_mut().zip(&along) {
                if is_run {
                    let at = starts[0].wrapping_add_signed(more);
                    packed.copy_from_slice(&elements[at..at + N]);
                    continue;
                }
                for (packed, at) in packed.iter_mut().zip(&starts) {
                    *packed = elements[at.wrapping_add_signed(more)];
                }
            }
        }
    }
}

/// Levels of sums that so many products need: one of chunks, one of chunks of chunks, and so on.
fn levels(mut count: usize) -> usize {
    let mut levels = 1;
    while count > CHUNK * CHUNK {
        count = count.div_ceil(CHUNK);
        levels += 1;
    }
    levels
}

/// The sums of a chunk of products.
#[inline(always)]
fn chunk<T: Number, const N: usize>(left: &[[T; ROWS]], right: &[[T; N]]) -> [[T; N]; ROWS] {
    let mut sums = [[T::default(); N]; ROWS];
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
fn add<T: Number, const N: usize>(sums: &mut [[T; N]; ROWS], more: &[[T; N]; ROWS]) {
    for (sum, more) in sums.as_flattened_mut().iter_mut().zip(more.as_flattened()) {
        *sum = sum.plus(*more);
    }
}

/// Adds what so many chunks gave a tile to the sums of the level above, wherever that is full.
#[inline(always)]
fn carry<T: Number, const N: usize>(sums: &mut [Vec<[[T; N]; ROWS]>], tile: usize, mut chunks: usize) {
    let mut level = 0;
    while chunks.is_multiple_of(CHUNK) && level + 1 < sums.len() {
        let full = std::mem::replace(&mut sums[level][tile], [[T::default(); N]; ROWS]);
        add(&mut sums[level + 1][tile], &full);
        (chunks, level) = (chunks / CHUNK, level + 1);
    }
}
