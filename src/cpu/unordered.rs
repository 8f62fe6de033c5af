//! Folds whose result is the same in every order: those of integers and bools, minima and maxima. Elements are read in
//! the order of memory into many results side by side, which are combined at the end.

use bytemuck::Pod;

use super::halving::{ADD, Elements, STORE, few, fold_vectors, pass};
use crate::vectors::vectors;

/// About how many results are kept side by side: several rows of them, where a row has fewer columns.
const WIDTH: usize = 256;

/// Vectors whose results do not wait for each other.
const SIDE: usize = 4;

/// Elements after which more memory is asked for.
const STRETCH: usize = 512;

vectors! {
    fold as Fold<T, L>(
        shape: [usize; 2],
        x: &'a [T],
        from: Elements<'a>,
        buffer: &'a mut [T],
        out: &'a mut [T];
        f
    ) {
        let [rows, columns] = shape;
        let matrix = rows * columns;
        let together = STRETCH.div_ceil(matrix);
        let mut ask = from.in_steps(x.len().div_ceil(together * matrix));
        for (x, out) in x.chunks(together * matrix).zip(out.chunks_mut(together * columns)) {
            ask();
            match rows {
                1 => out.copy_from_slice(x),
                2 if columns == 1 => few::<T, 2>(x, out, &f),
                4 if columns == 1 => few::<T, 4>(x, out, &f),
                8 if columns == 1 => few::<T, 8>(x, out, &f),
                _ if columns == 1 && rows >= 2 * SIDE * L => line::<T, L>(x, out, &f),
                _ => {
                    let matrices = x.chunks_exact(matrix).zip(out.chunks_exact_mut(columns));
                    matrices.for_each(|(x, out)| one::<T>(x, buffer, out, &f));
                }
            }
        }
    }
}

/// Folds lines of one length to a value each: vectors, and then their lanes.
#[inline(always)]
#[allow(clippy::needless_range_loop)]
fn line<T: Pod, const L: usize>(x: &[T], out: &mut [T], f: &impl Fn(T, T) -> T) {
    for (x, out) in x.chunks_exact(x.len() / out.len()).zip(out) {
        let (vectors, last) = x.as_chunks::<L>();
        let (sides, rest) = vectors.as_chunks::<SIDE>();
        let mut all = sides[0];
        for side in &sides[1..] {
            for k in 0..SIDE {
                for l in 0..L {
                    all[k][l] = f(all[k][l], side[k][l]);
                }
            }
        }
        let mut all = fold_vectors(all, f);
        for x in rest.iter().map(|x| &x[..]).chain([last]) {
            all.iter_mut().zip(x).for_each(|(all, &x)| *all = f(*all, x));
        }
        few::<T, L>(&all, std::slice::from_mut(out), f);
    }
}

/// Folds one matrix to a row: as many rows side by side as fill a width, and then half of them each time.
#[inline(always)]
fn one<T: Pod>(x: &[T], buffer: &mut [T], out: &mut [T], f: &impl Fn(T, T) -> T) {
    let (rows, columns) = (x.len() / out.len(), out.len());
    let mut side = 1 << rows.min(WIDTH.div_ceil(columns)).ilog2();
    let wide = side * columns;
    let all = if side == 1 { &mut *out } else { &mut buffer[..wide] };
    let (first, rest) = x.split_at(wide);
    all.copy_from_slice(first);
    let fours = rest.chunks_exact(4 * wide);
    let last = fours.remainder();
    for four in fours {
        let (low, high) = four.split_at(2 * wide);
        let [[a, b], [c, d]] = [low, high].map(|half| <[&[T]; 2]>::from(half.split_at(wide)));
        pass::<T, 4, ADD>([a, b, c, d], all, f);
    }
    for x in last.chunks(wide) {
        pass::<T, 1, ADD>([x], &mut all[..x.len()], f);
    }
    while side > 1 {
        side /= 2;
        let (low, high) = buffer[..2 * side * columns].split_at_mut(side * columns);
        match side {
            1 => pass::<T, 2, STORE>([low, high], out, f),
            _ => pass::<T, 1, ADD>([high], low, f),
        }
    }
}
