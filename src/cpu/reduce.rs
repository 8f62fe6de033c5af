//! Loops that reduce, in the order of the contract: rows are added to accumulators in the order of memory, row `r` to
//! accumulator `r % 64`, and accumulators become one by halving. Rows that lie side by side are one range of elements,
//! and so are the accumulators of all columns.

use bytemuck::Pod;

use crate::ir::ACCUMULATORS;
use crate::vectors::vectors;

vectors! {
    accumulate as Accumulate<T>(to: &'a mut [T], x: &'a [T]; f) {
        add(to, x, &f);
    }

    lines as Lines<T, L, S>(rows: usize, x: &'a [T], out: &'a mut [T]; f) {
        match rows {
            2 => few::<T, 2>(x, out, &f),
            4 => few::<T, 4>(x, out, &f),
            8 => few::<T, 8>(x, out, &f),
            16 => few::<T, 16>(x, out, &f),
            _ => x.chunks_exact(rows).zip(out).for_each(|(x, out)| *out = line::<T, L, S>(x, &f)),
        }
    }

    matrices as Matrices<T, L, S>(shape: [usize; 3], x: &'a [T], buffer: &'a mut [T], out: &'a mut [T]; f) {
        let [rows, columns, pitch] = shape;
        let elements = if pitch == columns { rows * columns } else { x.len() };
        for (x, out) in x.chunks(elements).zip(out.chunks_exact_mut(columns)) {
            matrix::<T>(ACCUMULATORS.min(L * S), rows, pitch, x, buffer, out, &f);
        }
    }
}

/// Reduces matrices. Rows of one value that lie side by side are lines, with accumulators in registers. Lines have a
/// function of their own, as compilers keep fewer values in registers if both are in one.
pub(super) fn blocks<T: Pod, F: Fn(T, T) -> T, const L: usize, const S: usize>(
    [rows, columns, pitch]: [usize; 3],
    x: &[T],
    buffer: &mut [T],
    out: &mut [T],
    f: F,
) {
    let is_line = columns == 1 && pitch == 1;
    match rows {
        1 if columns == pitch => out.copy_from_slice(x),
        2 | 4 | 8 | 16 if is_line => lines::<T, F, L, S>(rows, x, out, f),
        _ if is_line && rows >= L * S => lines::<T, F, L, S>(rows, x, out, f),
        _ => matrices::<T, F, L, S>([rows, columns, pitch], x, buffer, out, f),
    }
}

/// Reduces `N` values each, by halving. `N` is known when this is compiled.
#[inline(always)]
fn few<T: Pod, const N: usize>(x: &[T], out: &mut [T], f: &impl Fn(T, T) -> T) {
    x.as_chunks::<N>().0.iter().zip(out).for_each(|(x, out)| *out = halves(*x, f));
}

/// Reduces some accumulators by halving.
#[inline(always)]
fn halves<T: Pod, const N: usize>(mut x: [T; N], f: &impl Fn(T, T) -> T) -> T {
    let mut half = N / 2;
    while half > 0 {
        for i in 0..half {
            x[i] = f(x[i], x[i + half]);
        }
        half /= 2;
    }
    x[0]
}

/// Vectors for a reduction whose order does not show: while one waits for its addition, others go on.
const ENOUGH: usize = 4;

/// Reduces a line of values, at least `S` vectors of `L` lanes.
#[inline(always)]
fn line<T: Pod, const L: usize, const S: usize>(x: &[T], f: &impl Fn(T, T) -> T) -> T {
    let (vectors, last) = x.as_chunks::<L>();
    let (turns, rest) = vectors.as_chunks::<S>();
    let mut all = turns[0];
    for x in &turns[1..] {
        for s in 0..S {
            for l in 0..L {
                all[s][l] = f(all[s][l], x[s][l]);
            }
        }
    }
    if S > ENOUGH {
        // A copy: sums at a computed place would be in memory.
        let mut all = all;
        let rest = rest.as_flattened().iter().chain(last);
        all.as_flattened_mut().iter_mut().zip(rest).for_each(|(all, &x)| *all = f(*all, x));
        return halves(join_vectors(all, f), f);
    }
    let mut all = join_vectors(all, f);
    for x in rest.iter().map(|x| &x[..]).chain([last]) {
        all.iter_mut().zip(x).for_each(|(all, &x)| *all = f(*all, x));
    }
    halves(all, f)
}

/// Makes vectors one by halving.
#[inline(always)]
#[allow(clippy::needless_range_loop)]
fn join_vectors<T: Pod, const L: usize, const S: usize>(
    mut all: [[T; L]; S],
    f: &impl Fn(T, T) -> T,
) -> [T; L] {
    let mut half = S / 2;
    while half > 0 {
        let (low, high) = all.split_at_mut(half);
        let both = low.as_flattened_mut().iter_mut().zip(high.as_flattened());
        both.for_each(|(low, &high)| *low = f(*low, high));
        half /= 2;
    }
    all[0]
}

/// Reduces a matrix to a row. Rows lie `pitch` elements apart, and rows side by side are one range.
#[inline(always)]
fn matrix<T: Pod>(
    accumulators: usize,
    rows: usize,
    pitch: usize,
    x: &[T],
    buffer: &mut [T],
    out: &mut [T],
    f: &impl Fn(T, T) -> T,
) {
    let columns = out.len();
    let (mut x, mut pitch, mut rows, mut buffer) = (x, pitch, rows, buffer);
    if rows > accumulators || !rows.is_power_of_two() {
        // Of a few rows, the last ones of the lower half have no partner.
        let count = accumulators.min(rows.next_power_of_two() / 2);
        let (to, after) = buffer.split_at_mut(count * columns);
        turns(x, rows, pitch, columns, to, f);
        (x, pitch, rows, buffer) = (to, columns, count, after);
    }
    if rows == 1 {
        return out.copy_from_slice(&x[..columns]);
    }
    let mut out = Some(out);
    while rows > 1 {
        let by_four = rows > 2;
        rows /= if by_four { 4 } else { 2 };
        let (to, after) = match out.take_if(|_| rows == 1) {
            Some(out) => (out, buffer),
            None => buffer.split_at_mut(rows * columns),
        };
        buffer = after;
        if by_four {
            pass::<T, 4>(x, rows, pitch, columns, to, f);
        } else {
            pass::<T, 2>(x, rows, pitch, columns, to, f);
        }
        (x, pitch) = (to, columns);
    }
}

/// Bytes of a round through the accumulators from which on several rounds are read at once: a page.
const FAR: usize = 4096;

/// Rounds that are read at once. Of a block's 16 the first is copied, two times seven follow, and one is alone.
const STREAMS: usize = 7;

/// Adds rows to accumulators in rounds, a row to each. The first round is copied. Of the others several are read at once:
/// a processor prefetches each as a stream, and accumulators are loaded and stored once for all.
#[inline(always)]
fn turns<T: Pod>(x: &[T], rows: usize, pitch: usize, columns: usize, to: &mut [T], f: &impl Fn(T, T) -> T) {
    let accumulators = to.len() / columns;
    let (turn, whole) = (accumulators * pitch, rows / accumulators);
    let (stretch, step) = if pitch == columns { (to.len(), turn) } else { (columns, pitch) };
    let is_far = turn * size_of::<T>() >= FAR;
    let mut done = 0;
    while done * accumulators < rows {
        let streams = if is_far && done > 0 && done + STREAMS <= whole { STREAMS } else { 1 };
        let length = to.len().min((rows - done * accumulators) * columns);
        for (k, to) in to[..length].chunks_mut(stretch).enumerate() {
            let x = &x[done * turn + k * step..];
            match (done, streams) {
                (0, _) => to.copy_from_slice(&x[..to.len()]),
                (_, 1) => add(to, &x[..to.len()], f),
                _ => add_streams(x, turn, to, f),
            }
        }
        done += streams;
    }
}

/// Adds streams of elements, `turn` elements apart, to equally many.
#[inline(always)]
fn add_streams<T: Pod>(x: &[T], turn: usize, to: &mut [T], f: &impl Fn(T, T) -> T) {
    // Indices below one count, so that the loop vectorizes.
    let count = to.len();
    let rows: [&[T]; STREAMS] = std::array::from_fn(|n| &x[n * turn..][..count]);
    for i in 0..count {
        let mut all = to[i];
        rows.iter().for_each(|row| all = f(all, row[i]));
        to[i] = all;
    }
}

/// Adds ranges of elements to equally long ones, one after another.
#[inline(always)]
fn add<T: Pod>(to: &mut [T], x: &[T], f: &impl Fn(T, T) -> T) {
    for x in x.chunks(to.len().max(1)) {
        to.iter_mut().zip(x).for_each(|(to, &x)| *to = f(*to, x));
    }
}

/// Makes rows, each from `N` rows by halving.
#[inline(always)]
fn pass<T: Pod, const N: usize>(
    x: &[T],
    rows: usize,
    pitch: usize,
    columns: usize,
    to: &mut [T],
    f: &impl Fn(T, T) -> T,
) {
    let stretch = if pitch == columns { rows * columns } else { columns };
    for (k, to) in to.chunks_exact_mut(stretch).enumerate() {
        let count = to.len();
        let rows: [&[T]; N] = std::array::from_fn(|n| &x[(n * rows + k) * pitch..][..count]);
        for i in 0..count {
            to[i] = halves(rows.map(|row| row[i]), f);
        }
    }
}
