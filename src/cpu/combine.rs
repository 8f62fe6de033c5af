//! Loops of reductions and scans over elements in cache: the CPU forms of the reduction table, compiled into a loop for
//! each type. Elements are matrices, whose rows are combined and whose columns stay.

use bytemuck::Pod;

use super::{math, reduce};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{BLOCK, GROUP, ReduceOp, for_each_reduce_op};
use crate::vectors::vectors;

/// The loops of a reduction for a type.
#[derive(Clone, Copy)]
pub(super) enum Loops {
    Values(Values),
    Indexes(Indexes),
}

type Blocks = fn([usize; 3], &[u8], &mut [u8], &mut [u8]);
type Seeking = fn(usize, usize, bool, &[u8], &mut [u8], &mut [u32]);
type Merging = fn(&mut [u8], &mut [u32], &[u8], &[u32]);

/// A reduction to a value.
#[derive(Clone, Copy)]
pub(super) struct Values {
    /// Combines elements with others, range by range of the destination's length, into the destination.
    pub accumulate: fn(&mut [u8], &[u8]),
    /// Reduces matrices of at most a block of rows, each to a row. It reads the elements, uses memory for one and a half of
    /// a matrix's accumulators, and writes the last slice. Rows lie `pitch` elements apart. If that is more than the
    /// columns, there is one matrix.
    pub blocks: Blocks,
    /// For reductions with cumulative forms.
    pub scans: Option<Scans>,
    /// Bytes of an element.
    size: usize,
    /// Rows of a block; all rows if the order does not show.
    block: usize,
}

impl Values {
    /// Reduces matrices of any number of rows: first each block, then the blocks' values. The buffer has twice the
    /// bytes of a matrix.
    pub(super) fn reduce(&self, [rows, columns]: [usize; 2], x: &[u8], buffer: &mut [u8], out: &mut [u8]) {
        if rows <= self.block {
            return (self.blocks)([rows, columns, columns], x, buffer, out);
        }
        let row = columns * self.size;
        let (whole, cuts) = (rows / self.block, rows.div_ceil(self.block));
        let (held, buffer) = buffer.split_at_mut(cuts * row);
        for (x, out) in x.chunks_exact(rows * row).zip(out.chunks_exact_mut(row)) {
            let (x, last) = x.split_at(whole * self.block * row);
            let (to, to_last) = held.split_at_mut(whole * row);
            (self.blocks)([self.block, columns, columns], x, buffer, to);
            if whole < cuts {
                (self.blocks)([rows % self.block, columns, columns], last, buffer, to_last);
            }
            self.reduce([cuts, columns], held, buffer, out);
        }
    }
}

/// Loops of cumulative forms.
#[derive(Clone, Copy)]
pub(super) struct Scans {
    /// Scans the rows of each group, and copies the groups' last rows, for as many groups as there is memory for.
    pub groups: fn(usize, &mut [u8], &mut [u8]),
    /// Combines the rows of each group with one row.
    pub carry: fn(usize, &mut [u8], &[u8]),
    /// Scans rows of some columns, from the row of an index on, into other memory. `before` holds the state: [`LEVELS`]
    /// pairs of rows, which begin as the identity.
    pub through: fn(usize, usize, &[u8], &mut [u8], &mut [u8]),
}

/// Levels of groups, groups of groups, and so on, in the longest scan.
pub(super) const LEVELS: usize = usize::BITS as usize / GROUP.ilog2() as usize;

/// A reduction to an index.
#[derive(Clone, Copy)]
pub(super) struct Indexes {
    /// Searches rows of some columns, from the row of an index on, for better values than the ones so far, and stores
    /// them with their row indices. If these are the first rows, there are no values yet.
    pub seek: Seeking,
    /// Replaces earlier values by better ones, with their indices.
    pub merge: Merging,
}

vectors! {
    groups as Groups<T>(columns: usize, x: &'a mut [T], lasts: &'a mut [T]; f) {
        let mut lasts = lasts.chunks_exact_mut(columns);
        if columns == 1 {
            for group in x.chunks_mut(GROUP) {
                let mut y = group[0];
                for x in &mut group[1..] {
                    y = f(y, *x);
                    *x = y;
                }
                if let Some(last) = lasts.next() {
                    last[0] = y;
                }
            }
            return;
        }
        for group in x.chunks_mut(GROUP * columns) {
            for row in 1..group.len() / columns {
                let (before, rest) = group[(row - 1) * columns..].split_at_mut(columns);
                rest[..columns].iter_mut().zip(before).for_each(|(x, &mut y)| *x = f(y, *x));
            }
            if let Some(last) = lasts.next() {
                last.copy_from_slice(&group[group.len() - columns..]);
            }
        }
    }

    carry as Carry<T>(columns: usize, x: &'a mut [T], carried: &'a [T]; f) {
        for (group, carried) in x.chunks_mut(GROUP * columns).zip(carried.chunks_exact(columns)) {
            if let &[carried] = carried {
                group.iter_mut().for_each(|x| *x = f(carried, *x));
                continue;
            }
            for row in group.chunks_exact_mut(columns) {
                row.iter_mut().zip(carried).for_each(|(x, &carried)| *x = f(carried, *x));
            }
        }
    }

    through as Through<T>(columns: usize, first: usize, x: &'a [T], out: &'a mut [T], state: &'a mut [T]; f) {
        // A row of this group and the row before it. Then for each level a row of its groups so far, and the row before
        // them.
        for (row, (x, out)) in x.chunks_exact(columns).zip(out.chunks_exact_mut(columns)).enumerate() {
            let row = first + row;
            let (y, carry) = state.split_at_mut(columns);
            let all = y.iter_mut().zip(&carry[..columns]).zip(x).zip(out);
            match row % GROUP {
                0 => all.for_each(|(((y, &carry), &x), out)| {
                    *y = x;
                    *out = f(carry, x);
                }),
                _ => all.for_each(|(((y, &carry), &x), out)| {
                    *y = f(*y, x);
                    *out = f(carry, *y);
                }),
            }
            if row % GROUP == GROUP - 1 {
                ascend(columns, row / GROUP, state, &f);
            }
        }
    }

    seek as Seek<bool>(columns: usize, first: usize, is_first: bool, x: &'a [T], best: &'a mut [T], index: &'a mut [u32]; f) {
        // Rows side by side that fill the registers, if there are several times as many.
        let rows = x.len() / columns;
        let side = match HELD.div_ceil(columns).next_power_of_two() {
            side if side <= rows / 4 => side,
            _ => 1,
        };
        if side == 1 {
            let before = if is_first { columns } else { 0 };
            if is_first {
                best.copy_from_slice(&x[..columns]);
                index.fill(first as u32);
            }
            return better(best, index, &x[before..], first + before / columns, &f);
        }
        let lanes = side * columns;
        let (mut bests, mut turns) = ([T::zeroed(); 2 * HELD], [0; 2 * HELD]);
        let (bests, turns) = (&mut bests[..lanes], &mut turns[..lanes]);
        bests.copy_from_slice(&x[..lanes]);
        let (whole, rest) = x.split_at(x.len() / lanes * lanes);
        better(bests, turns, &whole[lanes..], 1, &f);
        better(&mut bests[..rest.len()], &mut turns[..rest.len()], rest, whole.len() / lanes, &f);
        for (k, (bests, turns)) in bests.chunks_exact(columns).zip(turns.chunks_exact(columns)).enumerate() {
            let own = best.iter_mut().zip(&mut *index);
            for ((best, index), (&value, &turn)) in own.zip(bests.iter().zip(turns)) {
                let at = (first + turn as usize * side + k) as u32;
                // Of equal values the first.
                let is_earlier = !f(value, *best) && at < *index;
                if (is_first && k == 0) || f(*best, value) || is_earlier {
                    (*best, *index) = (value, at);
                }
            }
        }
    }

    merge as Merge<bool>(best: &'a mut [T], index: &'a mut [u32], others: &'a [T], indexes: &'a [u32]; f) {
        for (((best, index), &other), &at) in best.iter_mut().zip(index).zip(others).zip(indexes) {
            if f(*best, other) {
                (*best, *index) = (other, at);
            }
        }
    }
}

/// Elements that stay in registers with their indices.
const HELD: usize = 16;

/// Adds a finished group to its group of groups, and so on, and computes the row before the next group.
#[inline(always)]
fn ascend<T: Pod>(columns: usize, group: usize, state: &mut [T], f: &impl Fn(T, T) -> T) {
    let mut number = group;
    for level in 1..LEVELS {
        let (below, own) = state.split_at_mut(2 * level * columns);
        let (last, carry) = below[2 * (level - 1) * columns..].split_at_mut(columns);
        let (sum, rest) = own.split_at_mut(columns);
        let before = &rest[..columns];
        // The first group begins the next level's group.
        let is_first = number.is_multiple_of(GROUP);
        for (((last, carry), sum), &before) in last.iter().zip(carry).zip(sum).zip(before) {
            *sum = if is_first { *last } else { f(*sum, *last) };
            *carry = f(before, *sum);
        }
        if number % GROUP != GROUP - 1 {
            return;
        }
        number /= GROUP;
    }
}

/// Searches rows, the first of which has an index, for better values. It takes a strip of columns at a time: a
/// lane-by-lane choice that is stored becomes a masked store, which some processors execute slowly.
#[inline(always)]
fn better<T: Pod>(
    best: &mut [T],
    index: &mut [u32],
    rows: &[T],
    first: usize,
    beats: &impl Fn(T, T) -> bool,
) {
    let columns = best.len();
    if columns < HELD {
        for (row, at) in rows.chunks_exact(columns.max(1)).zip(first..) {
            for ((best, index), &x) in best.iter_mut().zip(&mut *index).zip(row) {
                if beats(*best, x) {
                    (*best, *index) = (x, at as u32);
                }
            }
        }
        return;
    }
    // The last strip ends with the row, and repeats some columns of the strip before.
    for column in (0..columns).step_by(HELD).map(|column| column.min(columns - HELD)) {
        let strip = column..column + HELD;
        let (mut bests, mut indexes) = ([T::zeroed(); HELD], [0; HELD]);
        bests.copy_from_slice(&best[strip.clone()]);
        indexes.copy_from_slice(&index[strip.clone()]);
        for (row, at) in rows.chunks_exact(columns).zip(first..) {
            for ((best, index), &x) in bests.iter_mut().zip(&mut indexes).zip(&row[strip.clone()]) {
                let takes = beats(*best, x);
                *best = if takes { x } else { *best };
                *index = if takes { at as u32 } else { *index };
            }
        }
        best[strip.clone()].copy_from_slice(&bests);
        index[strip].copy_from_slice(&indexes);
    }
}

/// The loops of a reduction for a type. `I8 U8: u8 32` is one loop over u8, which serves i8 too; 32 bytes of a vector
/// are 32 lanes. If the order of additions does not show, four vectors of accumulators are enough.
macro_rules! table {
    ($($(#[doc = $doc:literal])+ $op:ident: $name:ident from $identity:ident -> $gives:tt
        { $($kind:ident $wgsl:literal = $cpu:expr;)+ })*) => {
        fn table(op: ReduceOp, dtype: DType) -> Option<Loops> {
            match op {
                $(ReduceOp::$op => { $(table!(@types $kind $gives dtype $cpu);)+ })*
            }
            None
        }
    };
    // The order of floats' sums and products shows.
    (@types float [T scans] $($rest:tt)*) => {
        table!(@ [F32: f32 8 8, F64: f64 4 16] [T scans] $($rest)*)
    };
    (@types float $($rest:tt)*) => { table!(@ [F32: f32 8 4, F64: f64 4 4] $($rest)*) };
    (@types int $($rest:tt)*) => {
        table!(@ [I8: i8 32 4, I16: i16 16 4, I32: i32 8 4, I64: i64 4 4, U8: u8 32 4, U16: u16 16 4, U32: u32 8 4, U64: u64 4 4]
            $($rest)*)
    };
    (@types word $($rest:tt)*) => {
        table!(@ [I8 U8: u8 32 4, I16 U16: u16 16 4, I32 U32: u32 8 4, I64 U64: u64 4 4] $($rest)*)
    };
    // A bool is a byte of 0 or 1.
    (@types bool $($rest:tt)*) => { table!(@ [Bool: u8 32 4] $($rest)*) };
    (@ [$($($tag:ident)+: $t:ident $lanes:literal $vectors:literal),+] $how:tt $dtype:ident $cpu:expr) => {
        $(if matches!($dtype, $(DType::$tag)|+) {
            return Some(table!(@loops $how $t $lanes $vectors $cpu));
        })+
    };
    (@loops [T scans] $t:ident $lanes:literal $vectors:literal $cpu:expr) => {
        table!(@values $t $lanes $vectors $cpu, Some(Scans {
            groups: |columns, x, lasts| groups::<$t, _>(columns, cast_mut(x), cast_mut(lasts), $cpu),
            carry: |columns, x, carried| carry::<$t, _>(columns, cast_mut(x), cast(carried), $cpu),
            through: |columns, first, x, out, state| {
                through::<$t, _>(columns, first, cast(x), cast_mut(out), cast_mut(state), $cpu);
            },
        }))
    };
    (@loops [T] $t:ident $lanes:literal $vectors:literal $cpu:expr) => { table!(@values $t $lanes $vectors $cpu, None) };
    (@loops [u32] $t:ident $lanes:literal $vectors:literal $cpu:expr) => {
        Loops::Indexes(Indexes {
            seek: |columns, first, is_first, x, best, index| {
                seek::<$t, _>(columns, first, is_first, cast(x), cast_mut(best), index, $cpu);
            },
            merge: |best, index, others, indexes| {
                merge::<$t, _>(cast_mut(best), index, cast(others), indexes, $cpu);
            },
        })
    };
    (@values $t:ident $lanes:literal $vectors:literal $cpu:expr, $scans:expr) => {
        Loops::Values(Values {
            accumulate: |to, x| reduce::accumulate::<$t, _>(cast_mut(to), cast(x), $cpu),
            blocks: |shape, x, buffer, out| {
                reduce::blocks::<$t, _, $lanes, $vectors>(shape, cast(x), cast_mut(buffer), cast_mut(out), $cpu);
            },
            scans: $scans,
            size: size_of::<$t>(),
            block: usize::MAX,
        })
    };
}
for_each_reduce_op!(table);

/// The loops of a reduction. Builders use the same table, so every reduction has a loop.
pub(super) fn of(op: ReduceOp, dtype: DType) -> Result<Loops> {
    match table(op, dtype) {
        Some(Loops::Values(values)) if op.is_ordered(dtype) => {
            Ok(Loops::Values(Values { block: BLOCK, ..values }))
        }
        Some(loops) => Ok(loops),
        None => bail!(Kernel, "{} has no form for {dtype}", op.name()),
    }
}

/// The elements of bytes. Empty bytes need no alignment.
fn cast<T: Pod>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { bytemuck::cast_slice(bytes) }
}

fn cast_mut<T: Pod>(bytes: &mut [u8]) -> &mut [T] {
    if bytes.is_empty() { &mut [] } else { bytemuck::cast_slice_mut(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of equal values and of NaN wins, in any arrangement of rows.
    #[test]
    fn indexes_are_those_of_a_plain_search() {
        let value = |i: usize| match i.wrapping_mul(2_654_435_761) >> 7 & 31 {
            31 if i.is_multiple_of(3) => f32::NAN,
            digit => (digit % 29) as f32,
        };
        for columns in [1, 2, 3, 5, 8, 9, 15, 16, 17, 31, 33, 100] {
            for rows in [1, 2, 5, 16, 63, 64, 65, 130] {
                let x: Vec<f32> = (0..rows * columns).map(|i| value(i + rows)).collect();
                let place = |column: usize| {
                    let better = |best: usize, row: usize| {
                        let [best_so_far, x] = [best, row].map(|row| x[row * columns + column]);
                        if math::beats_max(best_so_far, x) { row } else { best }
                    };
                    (1..rows).fold(0, better) as u32
                };
                let expected: Vec<u32> = (0..columns).map(place).collect();
                for cut in [rows, rows.div_ceil(2), 1] {
                    let (mut best, mut index) = (vec![0.0; columns], vec![0; columns]);
                    for (k, x) in x.chunks(cut * columns).enumerate() {
                        seek(columns, k * cut, k == 0, x, &mut best, &mut index, math::beats_max);
                    }
                    assert_eq!(index, expected, "{rows} rows of {columns}, {cut} at a time");
                }
            }
        }
    }
}
