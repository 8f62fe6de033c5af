//! Loops that reduce, in the order of the contract: rows are added to accumulators in the order of memory, row `r` to
//! that of number `r % 64`, and the accumulators become one by halves. A matrix is a flat stretch of elements, so the
//! accumulators of all of its columns are a stretch too, to which others of its length are added.

use bytemuck::Pod;

use crate::vectors::vectors;

vectors! {
    accumulate as Accumulate<T>(to: &'a mut [T], x: &'a [T]; f) {
        add(to, x, &f);
    }

    chain as Chain<T>(rows: &'a [&'a [T]], to: &'a mut [T]; f) {
        let (wide, last) = to.split_at_mut(to.len() / WIDE * WIDE);
        let whole = wide.len();
        stretch::<T, WIDE>(rows, 0, wide, &f);
        stretch::<T, 1>(rows, whole, last, &f);
    }

    join as Join<T>(rows: &'a [&'a [T]], to: &'a mut [T]; f) {
        let (wide, last) = to.split_at_mut(to.len() / VECTOR * VECTOR);
        let whole = wide.len();
        meet::<T, VECTOR>(rows, 0, wide, &f);
        meet::<T, 1>(rows, whole, last, &f);
    }

    blocks as Blocks<T, L, S>(shape: [usize; 2], x: &'a [T], buffer: &'a mut [T], out: &'a mut [T]; f) {
        let [rows, columns] = shape;
        match rows {
            1 => out.copy_from_slice(x),
            // Rows of one value each lie side by side, and their accumulators in registers.
            2 if columns == 1 => few::<T, 2>(x, out, &f),
            4 if columns == 1 => few::<T, 4>(x, out, &f),
            8 if columns == 1 => few::<T, 8>(x, out, &f),
            16 if columns == 1 => few::<T, 16>(x, out, &f),
            _ if columns == 1 && rows >= L * S => {
                x.chunks_exact(rows).zip(out).for_each(|(x, out)| *out = line::<T, L, S>(x, &f));
            }
            _ => {
                let matrices = x.chunks_exact(rows * columns).zip(out.chunks_exact_mut(columns));
                matrices.for_each(|(x, out)| matrix::<T>(L * S, x, buffer, out, &f));
            }
        }
    }
}

/// Reduces as many values each as are known when this is compiled, by halves.
#[inline(always)]
fn few<T: Pod, const N: usize>(x: &[T], out: &mut [T], f: &impl Fn(T, T) -> T) {
    x.as_chunks::<N>().0.iter().zip(out).for_each(|(x, out)| *out = halves(*x, f));
}

/// Reduces some accumulators by halves.
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

/// Vectors that are enough where the order does not show: what one waits for, the others do not.
const ENOUGH: usize = 4;

/// Reduces a line of values, as many as `S` vectors of `L` lanes or more.
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
        // A copy, as sums of which a place is computed are in memory.
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

/// Makes vectors one by halves.
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

/// Reduces a matrix to a row.
#[inline(always)]
fn matrix<T: Pod>(accumulators: usize, x: &[T], buffer: &mut [T], out: &mut [T], f: &impl Fn(T, T) -> T) {
    let columns = out.len();
    let mut rows = x.len() / columns;
    let (mut x, mut buffer) = (x, buffer);
    if rows > accumulators {
        let (all, after) = buffer.split_at_mut(accumulators * columns);
        let (first, rest) = x.split_at(all.len());
        all.copy_from_slice(first);
        add(all, rest, f);
        (x, buffer, rows) = (all, after, accumulators);
    } else if !rows.is_power_of_two() {
        // The last of the lower half have nothing to be combined with.
        let half = rows.next_power_of_two() / 2;
        let (to, after) = buffer.split_at_mut(half * columns);
        let (low, high) = x.split_at(to.len());
        to.copy_from_slice(low);
        to.iter_mut().zip(high).for_each(|(to, &x)| *to = f(*to, x));
        (x, buffer, rows) = (to, after, half);
    }
    while rows > 4 {
        let (to, after) = buffer.split_at_mut(rows / 4 * columns);
        pass::<T, 4>(split(x), to, f);
        (x, buffer, rows) = (to, after, rows / 4);
    }
    match rows {
        4 => pass::<T, 4>(split(x), out, f),
        2 => pass::<T, 2>(split(x), out, f),
        _ => out.copy_from_slice(x),
    }
}

/// Some rows, which lie one after another.
#[inline(always)]
fn split<T, const N: usize>(x: &[T]) -> [&[T]; N] {
    let count = x.len() / N;
    let mut rows: [&[T]; N] = [&[]; N];
    rows.iter_mut().enumerate().for_each(|(k, row)| *row = &x[k * count..(k + 1) * count]);
    rows
}

/// Adds stretches of elements to as many, one after another.
#[inline(always)]
fn add<T: Pod>(to: &mut [T], x: &[T], f: &impl Fn(T, T) -> T) {
    for x in x.chunks(to.len().max(1)) {
        to.iter_mut().zip(x).for_each(|(to, &x)| *to = f(*to, x));
    }
}

/// Makes rows one by halves.
#[inline(always)]
fn pass<T: Pod, const N: usize>(rows: [&[T]; N], to: &mut [T], f: &impl Fn(T, T) -> T) {
    // By indexes below one count, so that the loop is one of vectors.
    let count = to.len();
    let rows = rows.map(|row| &row[..count]);
    for i in 0..count {
        to[i] = halves(rows.map(|row| row[i]), f);
    }
}

/// Elements of a vector or two.
const VECTOR: usize = 8;

/// Makes 1, 2, 4 or 8 rows one by halves, from an element on. Each vector by name: loops over arrays of them are
/// not always taken apart.
#[inline(always)]
fn meet<T: Pod, const W: usize>(rows: &[&[T]], from: usize, to: &mut [T], f: &impl Fn(T, T) -> T) {
    let to = to.as_chunks_mut::<W>().0;
    let count = to.len();
    let row = |k: usize| &rows[k][from..].as_chunks::<W>().0[..count];
    let both = |a: &[T; W], b: &[T; W]| {
        let mut all = *a;
        for i in 0..W {
            all[i] = f(all[i], b[i]);
        }
        all
    };
    match rows.len() {
        8 => {
            let ([a, b, c, d], [e, g, h, i]) =
                ([row(0), row(1), row(2), row(3)], [row(4), row(5), row(6), row(7)]);
            for k in 0..count {
                let (even, odd) = (both(&a[k], &e[k]), both(&b[k], &g[k]));
                let even = both(&even, &both(&c[k], &h[k]));
                to[k] = both(&even, &both(&odd, &both(&d[k], &i[k])));
            }
        }
        4 => {
            let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
            for k in 0..count {
                to[k] = both(&both(&a[k], &c[k]), &both(&b[k], &d[k]));
            }
        }
        2 => {
            let [a, b] = [row(0), row(1)];
            for k in 0..count {
                to[k] = both(&a[k], &b[k]);
            }
        }
        _ => to.copy_from_slice(row(0)),
    }
}

/// Elements that are added up in registers.
const WIDE: usize = 32;

/// Adds up rows from an element on, one after another, in so many registers.
#[inline(always)]
fn stretch<T: Pod, const W: usize>(rows: &[&[T]], from: usize, to: &mut [T], f: &impl Fn(T, T) -> T) {
    let [first, rest @ ..] = rows else { return };
    for (k, to) in to.as_chunks_mut::<W>().0.iter_mut().enumerate() {
        let at = from + k * W;
        let mut all = [T::zeroed(); W];
        all.copy_from_slice(&first[at..at + W]);
        for row in rest {
            let x = &row[at..at + W];
            for i in 0..W {
                all[i] = f(all[i], x[i]);
            }
        }
        *to = all;
    }
}
