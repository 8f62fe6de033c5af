//! The factors of a product: packed panels, or columns that are read in place, and the sums of chunks.

use std::array::from_fn;
use std::ops::{Add, Range};

use bytemuck::Pod;

use crate::cpu::math::{Stored, odd_sum};
use crate::ir::CHUNK;
use crate::layout::Shape;

/// Columns, and products, that are turned at once.
const SQUARE: usize = 8;

/// Products that are added to a sum while it is in registers, if columns are read in place.
const DEEP: usize = 4;

/// The type that multiplies and adds: one for integers of either sign.
pub(super) trait Number: Pod + Send + Sync + Default {
    fn plus(self, other: Self) -> Self;
    /// The sum of this and a product, rounded once. If the vectors are `OLD`, they have no instruction for it.
    fn fused<const OLD: bool>(self, a: Self, b: Self) -> Self;
    /// Turns finished sums into results: in total mode any NaN becomes the one NaN.
    fn finish(_sums: &mut [Self]) {}
}

macro_rules! numbers {
    ($([$($t:ty),+] $plus:ident |$s:ident, $a:ident, $b:ident| $new:expr, $old:expr;)*) => {$($(
        impl Number for $t {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.$plus(other)
            }

            #[inline(always)]
            fn fused<const OLD: bool>(self, $a: Self, $b: Self) -> Self {
                let $s = self;
                if OLD { $old } else { $new }
            }
        }
    )+)*};
}
numbers! {
    // A product of f32 is exact in f64.
    [f32] add |s, a, b| a.mul_add(b, s), odd_sum(f64::from(a) * f64::from(b), s.into()) as f32;
    // A function of the system's computes it.
    [f64] add |s, a, b| a.mul_add(b, s), a.mul_add(b, s);
    [u8, u16, u32, u64] wrapping_add
        |s, a, b| s.wrapping_add(a.wrapping_mul(b)), s.wrapping_add(a.wrapping_mul(b));
}

/// Floats in total mode. An array of one lies in memory as its element, and is a type of its own.
macro_rules! totals {
    ($($t:ty)*) => {$(
        impl Number for [$t; 1] {
            #[inline(always)]
            fn plus(self, [other]: Self) -> Self {
                [(self[0] + other).flushed()]
            }

            #[inline(always)]
            fn fused<const OLD: bool>(self, [a]: Self, [b]: Self) -> Self {
                [self[0].fused::<OLD>(a, b).flushed()]
            }

            fn finish(sums: &mut [Self]) {
                sums.iter_mut().for_each(|[sum]| *sum = sum.total());
            }
        }
    )*};
}
totals! { f32 f64 }

/// The distance of a factor's element from the first, for each place along some axes, in row-major order.
pub(super) struct Places {
    outer: Vec<isize>,
    /// Along the last axis.
    inner: usize,
    stride: isize,
}

impl Places {
    pub(super) fn new(shape: &Shape, strides: &[isize], axes: &[usize]) -> Places {
        let Some((&last, axes)) = axes.split_last() else {
            return Places { outer: vec![0], inner: 1, stride: 0 };
        };
        let outer = axes.iter().fold(vec![0], |outer, &axis| {
            let along = |at: isize| (0..shape[axis] as isize).map(move |i| at + i * strides[axis]);
            outer.into_iter().flat_map(along).collect()
        });
        Places { outer, inner: shape[last], stride: strides[last] }
    }

    pub(super) fn count(&self) -> usize {
        self.outer.len() * self.inner
    }

    fn at(&self, i: usize) -> isize {
        self.outer[i / self.inner] + (i % self.inner) as isize * self.stride
    }
}

/// A factor: the first elements of its matrices, its rows or columns, and the distance of elements along the products.
pub(super) struct Side<'a> {
    pub bytes: &'a [u8],
    pub offset: isize,
    pub batch: Places,
    pub kept: Places,
    pub stride: isize,
}

impl Side<'_> {
    /// Whether rows or columns lie side by side in memory.
    pub(super) fn is_side_by_side(&self) -> bool {
        self.kept.outer.len() == 1 && self.kept.stride == 1
    }

    /// Packs rows or columns in panels of `N`. The last one is filled with some element.
    #[inline(always)]
    pub(super) fn pack<'a, T: Number, const N: usize>(
        &self,
        matrix: usize,
        kept: Range<usize>,
        depth: Range<usize>,
        memory: &'a mut [T],
    ) -> &'a [[T; N]] {
        let elements: &[T] = self.elements();
        let begin = self.offset + self.batch.at(matrix) + depth.start as isize * self.stride;
        let depth = depth.len();
        let packed = &mut memory.as_chunks_mut().0[..kept.len().div_ceil(N) * depth];
        for (first, panel) in kept.clone().step_by(N).zip(packed.chunks_mut(depth)) {
            if self.is_side_by_side() {
                let at = begin + self.kept.at(first);
                for (k, packed) in (0..).zip(panel) {
                    load(&elements[(at + k * self.stride) as usize..], packed);
                }
                continue;
            }
            // Missing ones repeat the last.
            let at: [usize; N] = from_fn(|i| (begin + self.kept.at((kept.end - 1).min(first + i))) as usize);
            if self.stride == 1 {
                let along = at.map(|at| &elements[at..at + depth]);
                panel.iter_mut().enumerate().for_each(|(k, packed)| *packed = from_fn(|i| along[i][k]));
            } else {
                for (k, packed) in (0..).zip(panel) {
                    *packed = at.map(|at| elements[at.wrapping_add_signed(k * self.stride)]);
                }
            }
        }
        packed
    }

    /// Columns that lie side by side, times a few rows: each element is read once, in place.
    #[inline(always)]
    pub(super) fn times_rows<T: Number, const R: usize, const OLD: bool>(
        &self,
        matrix: usize,
        columns: Range<usize>,
        rows: &[[T; R]],
        sums: &mut [T],
        out: &mut [&mut [T]],
    ) {
        let width = columns.len();
        let mut at = self.offset + self.batch.at(matrix) + self.kept.at(columns.start);
        let sums = &mut sums[..out.len() * width];
        out.iter_mut().for_each(|out| out.fill(T::default()));
        for rows in rows.chunks(CHUNK) {
            sums.fill(T::default());
            let (parts, rest) = rows.as_chunks::<DEEP>();
            for part in parts {
                self.add_rows::<T, R, DEEP, OLD>(at, width, part, sums);
                at += DEEP as isize * self.stride;
            }
            for row in rest {
                self.add_rows::<T, R, 1, OLD>(at, width, &[*row], sums);
                at += self.stride;
            }
            for (out, sums) in out.iter_mut().zip(sums.chunks(width)) {
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out = out.plus(*sum));
            }
        }
    }

    /// Adds a few products of each row to its sums, which are loaded and stored once.
    #[inline(always)]
    fn add_rows<T: Number, const R: usize, const D: usize, const OLD: bool>(
        &self,
        at: isize,
        width: usize,
        rows: &[[T; R]; D],
        sums: &mut [T],
    ) {
        let columns: [&[T]; D] =
            from_fn(|k| &self.elements()[(at + k as isize * self.stride) as usize..][..width]);
        for (i, sums) in sums.chunks_mut(width).enumerate() {
            let factors = rows.map(|row| row[i]);
            let done = add_vectors::<T, 16, D, OLD>(factors, columns, sums, 0);
            let done = add_vectors::<T, 4, D, OLD>(factors, columns, sums, done);
            add_vectors::<T, 1, D, OLD>(factors, columns, sums, done);
        }
    }

    /// Columns that lie along the products, times one row: read in place, by squares that are turned in registers, so that
    /// each load is a vector.
    #[inline(always)]
    pub(super) fn times_row<T: Number, const OLD: bool>(
        &self,
        matrix: usize,
        kept: Range<usize>,
        row: &[T],
        results: &mut [T],
    ) {
        let begin = self.offset + self.batch.at(matrix);
        let last = kept.end - 1;
        for (first, results) in kept.step_by(SQUARE).zip(results.chunks_mut(SQUARE)) {
            // Missing columns repeat the last one.
            let columns: [&[T]; SQUARE] = from_fn(|i| {
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
                    let turned: [[T; SQUARE]; SQUARE] = from_fn(|k| square.map(|column| column[k]));
                    add_products::<T, 1, SQUARE, OLD>(&mut sums, part.as_chunks().0, &turned);
                }
                for (k, &a) in rest.iter().enumerate() {
                    let columns = columns.map(|(_, rest)| rest[k]);
                    add_products::<T, 1, SQUARE, OLD>(&mut sums, &[[a]], &[columns]);
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

/// Copies the first elements. Whole vectors are a load and a store.
#[inline(always)]
pub(super) fn load<T: Copy, const N: usize>(from: &[T], to: &mut [T; N]) {
    match from.first_chunk() {
        Some(from) => *to = *from,
        None => to[..from.len()].copy_from_slice(from),
    }
}

#[inline(always)]
pub(super) fn store<T: Copy, const N: usize>(from: &[T; N], to: &mut [T]) {
    match to.first_chunk_mut() {
        Some(to) => *to = *from,
        None => to.copy_from_slice(&from[..to.len()]),
    }
}

/// Adds products of the columns from one on, by vectors of `N`. Returns the first column that is left.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // iterators would keep sums in memory
fn add_vectors<T: Number, const N: usize, const D: usize, const OLD: bool>(
    factors: [T; D],
    columns: [&[T]; D],
    sums: &mut [T],
    first: usize,
) -> usize {
    let sums = sums[first..].as_chunks_mut::<N>().0;
    let columns: [&[[T; N]]; D] = columns.map(|column| &column[first..].as_chunks().0[..sums.len()]);
    for i in 0..sums.len() {
        let mut sum = sums[i];
        for k in 0..D {
            for j in 0..N {
                sum[j] = sum[j].fused::<OLD>(factors[k], columns[k][i][j]);
            }
        }
        sums[i] = sum;
    }
    first + sums.len() * N
}

/// The sums of a chunk of products.
#[inline(always)]
pub(super) fn chunk<T: Number, const R: usize, const N: usize, const OLD: bool>(
    left: &[[T; R]],
    right: &[[T; N]],
) -> [[T; N]; R] {
    let mut sums = [[T::default(); N]; R];
    add_products::<T, R, N, OLD>(&mut sums, left, right);
    sums
}

/// Adds products to the sums of a tile.
#[inline(always)]
fn add_products<T: Number, const R: usize, const N: usize, const OLD: bool>(
    sums: &mut [[T; N]; R],
    left: &[[T; R]],
    right: &[[T; N]],
) {
    for (left, right) in left.iter().zip(right) {
        for (sums, &a) in sums.iter_mut().zip(left) {
            for (sum, &b) in sums.iter_mut().zip(right) {
                *sum = sum.fused::<OLD>(a, b);
            }
        }
    }
}

#[inline(always)]
pub(super) fn add<T: Number, const R: usize, const N: usize>(sums: &mut [[T; N]; R], more: &[[T; N]; R]) {
    for (sum, more) in sums.as_flattened_mut().iter_mut().zip(more.as_flattened()) {
        *sum = sum.plus(*more);
    }
}
