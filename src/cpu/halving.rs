//! Loops that fold by halving: in rows of which each pair is as far apart as the contract says, x[i] = x[i] + x[i + h]
//! for half as great an h each time. Some rows are folded at once, so that what lies between is in registers and not in
//! memory.

use bytemuck::Pod;

use super::ahead::Ahead;
use super::lines;
use crate::vectors::vectors;

/// Where elements that are folded lie, and so what is loaded before it is needed.
#[derive(Clone, Copy)]
pub(super) enum Elements<'a> {
    /// In memory. Rows that are folded at once lie far apart there and are loaded in a line first, which a processor
    /// guesses.
    Memory,
    /// In cache, as what was computed. The first pass over them asks for the lines of what comes next.
    Cache(Ahead<'a>),
}

impl Elements<'_> {
    /// What asks for one of so many parts of what comes next each time.
    #[inline(always)]
    pub(super) fn in_steps(self, steps: usize) -> impl FnMut() {
        let next = if let Elements::Cache(next) = self { next } else { Ahead::default() };
        next.in_steps(steps)
    }

    /// Of one of so many parts.
    fn part(self, part: usize, parts: usize) -> Self {
        match self {
            Elements::Memory => self,
            Elements::Cache(next) => Elements::Cache(next.part(part, parts)),
        }
    }
}

/// Bytes of a matrix from which on its rows lie so far apart.
const FAR: usize = 1024;

vectors! {
    halve as Halve<T, L>(
        shape: [usize; 2],
        x: &'a [T],
        from: Elements<'a>,
        buffer: &'a mut [T],
        out: &'a mut [T];
        f
    ) {
        matrices::<T, L>(shape, x, from, buffer, out, &f);
    }

    join as Join<T>(rows: &'a [&'a [T]], to: &'a mut [T], adds: bool; f) {
        match (rows, adds) {
            (&[a], false) => to.copy_from_slice(a),
            (&[a], true) => pass::<T, 1, ADD>([a], to, &f),
            (&[a, b], false) => pass::<T, 2, STORE>([a, b], to, &f),
            (&[a, b], true) => pass::<T, 2, ADD>([a, b], to, &f),
            (&[a, b, c, d], false) => pass::<T, 4, STORE>([a, b, c, d], to, &f),
            (&[a, b, c, d], true) => pass::<T, 4, ADD>([a, b, c, d], to, &f),
            (rows, false) => pass::<T, 8, STORE>(apart(|k| rows[k]), to, &f),
            (rows, true) => pass::<T, 8, ADD>(apart(|k| rows[k]), to, &f),
        }
    }
}

/// Rows of one matrix that are folded at once, at most: twice as many are as fast.
const MOST: usize = 4;

/// Values of one column that are folded in a register or two.
const FEW: usize = 16;

/// Vectors of a result that are made before more lines are asked for.
const STRETCH: usize = 4;

/// What a pass makes of the row that it stores to.
pub(super) const STORE: u8 = 0;
/// It is combined with what is there.
pub(super) const ADD: u8 = 1;
/// It is the first of the rows.
const OWN: u8 = 2;

/// Folds matrices of so many rows and columns, which lie one after another, to a row each, and asks for what is next
/// meanwhile. `L` lanes fill a vector.
#[inline(always)]
fn matrices<T: Pod, const L: usize>(
    [rows, columns]: [usize; 2],
    x: &[T],
    from: Elements<'_>,
    buffer: &mut [T],
    out: &mut [T],
    f: &impl Fn(T, T) -> T,
) {
    // Rows of one value each lie side by side, and a few of them in a register.
    match rows * columns {
        2 if columns == 1 => return few::<T, 2>(x, out, f),
        4 if columns == 1 => return few::<T, 4>(x, out, f),
        8 if columns == 1 => return few::<T, 8>(x, out, f),
        FEW if columns == 1 => return few::<T, FEW>(x, out, f),
        _ => {}
    }
    let half = rows.next_power_of_two() / 2;
    let count = out.len() / columns;
    for (k, (x, out)) in x.chunks_exact(rows * columns).zip(out.chunks_exact_mut(columns)).enumerate() {
        let from = from.part(k, count);
        let mut left;
        if matches!(from, Elements::Memory) && size_of_val(x) >= FAR {
            lines::load(bytemuck::cast_slice(&x[..x.len() / 4 * 3]));
        }
        match rows {
            1 => {
                out.copy_from_slice(x);
                continue;
            }
            _ if rows == 2 * half => {
                let count = at_once::<L>(rows, columns);
                left = rows / count;
                let to = if left == 1 { &mut *out } else { &mut buffer[..left * columns] };
                let row = to.len();
                match count {
                    MOST => first_pass::<T, L, MOST>(apart(|k| &x[k * row..(k + 1) * row]), from, to, f),
                    _ => first_pass::<T, L, 2>([&x[..row], &x[row..]], from, to, f),
                }
            }
            // The last rows have nothing to be combined with.
            _ => {
                left = half;
                let (low, high) = x.split_at(half * columns);
                let (both, alone) = low.split_at(high.len());
                let (to_both, to_alone) = buffer[..low.len()].split_at_mut(high.len());
                first_pass::<T, L, 2>([both, high], from, to_both, f);
                to_alone.copy_from_slice(alone);
            }
        }
        while left > 1 {
            let x = &mut buffer[..left * columns];
            if x.len() == FEW && columns == 1 {
                few::<T, FEW>(x, out, f);
                break;
            }
            let count = at_once::<L>(left, columns);
            left /= count;
            if left == 1 {
                pass_of::<T, STORE>(count, x, out, f);
            } else {
                let (to, others) = x.split_at_mut(left * columns);
                pass_of::<T, OWN>(count, others, to, f);
            }
        }
    }
}

/// How many of so many rows are folded at once: as many as leave whole vectors, if there are two.
#[inline(always)]
fn at_once<const L: usize>(rows: usize, columns: usize) -> usize {
    let vectors = rows * columns / if columns == 1 { FEW.max(L) } else { L };
    let most = MOST.min(rows).min(vectors.max(2));
    1 << most.ilog2()
}

/// A pass over so many rows, which lie one after another; but for the first, if that is `to`.
#[inline(always)]
fn pass_of<T: Pod, const MODE: u8>(count: usize, x: &[T], to: &mut [T], f: &impl Fn(T, T) -> T) {
    let row = to.len();
    let of = |k: usize| match (MODE, k) {
        (OWN, 0) => &[],
        (OWN, _) => &x[(k - 1) * row..k * row],
        _ => &x[k * row..(k + 1) * row],
    };
    match count {
        MOST => pass::<T, MOST, MODE>(apart(of), to, f),
        _ => pass::<T, 2, MODE>(apart(of), to, f),
    }
}

/// So many slices. By a loop, as `std::array::from_fn` is compiled anew for each of hundreds of closures.
#[inline(always)]
#[allow(clippy::needless_range_loop)]
fn apart<'a, T, const ROWS: usize>(of: impl Fn(usize) -> &'a [T]) -> [&'a [T]; ROWS] {
    let mut rows: [&[T]; ROWS] = [&[]; ROWS];
    for k in 0..ROWS {
        rows[k] = of(k);
    }
    rows
}

/// The first pass over rows.
#[inline(always)]
fn first_pass<T: Pod, const L: usize, const ROWS: usize>(
    rows: [&[T]; ROWS],
    from: Elements<'_>,
    to: &mut [T],
    f: &impl Fn(T, T) -> T,
) {
    match from {
        Elements::Cache(next) if !next.is_empty() => {
            let whole = to.len() / (STRETCH * L) * (STRETCH * L);
            let (stretches, last) = to.split_at_mut(whole);
            let stretches = stretches.as_chunks_mut::<L>().0.as_chunks_mut::<STRETCH>().0;
            let of_rows: [_; ROWS] =
                apart(|r| &rows[r].as_chunks::<L>().0.as_chunks::<STRETCH>().0[..stretches.len()]);
            let mut ask = next.in_steps(stretches.len());
            for (k, to) in stretches.iter_mut().enumerate() {
                ask();
                for i in 0..STRETCH {
                    let mut x = [[T::zeroed(); L]; ROWS];
                    for (x, row) in x.iter_mut().zip(of_rows) {
                        *x = row[k][i];
                    }
                    to[i] = fold_vectors(x, f);
                }
            }
            pass::<T, ROWS, STORE>(apart(|r| &rows[r][whole..]), last, f);
        }
        _ => pass::<T, ROWS, STORE>(rows, to, f),
    }
}

/// Folds rows into one of as many values.
#[inline(always)]
pub(super) fn pass<T: Pod, const ROWS: usize, const MODE: u8>(
    rows: [&[T]; ROWS],
    to: &mut [T],
    f: &impl Fn(T, T) -> T,
) {
    // By indexes below one count, so that the loop is one of vectors.
    let count = to.len();
    let mut rows = rows;
    for (k, row) in rows.iter_mut().enumerate() {
        if MODE != OWN || k > 0 {
            *row = &row[..count];
        }
    }
    for i in 0..count {
        let mut x = [T::zeroed(); ROWS];
        for k in 0..ROWS {
            x[k] = if MODE == OWN && k == 0 { to[i] } else { rows[k][i] };
        }
        let mut half = ROWS / 2;
        while half > 0 {
            for k in 0..half {
                x[k] = f(x[k], x[k + half]);
            }
            half /= 2;
        }
        to[i] = if MODE == ADD { f(to[i], x[0]) } else { x[0] };
    }
}

/// Folds vectors, lane by lane, by halving.
#[inline(always)]
#[allow(clippy::needless_range_loop)]
pub(super) fn fold_vectors<T: Pod, const L: usize, const N: usize>(
    x: [[T; L]; N],
    f: &impl Fn(T, T) -> T,
) -> [T; L] {
    let mut x = x;
    let mut half = N / 2;
    while half > 0 {
        for k in 0..half {
            for l in 0..L {
                x[k][l] = f(x[k][l], x[k + half][l]);
            }
        }
        half /= 2;
    }
    x[0]
}

/// Folds as many values each as are known when this is compiled.
#[inline(always)]
pub(super) fn few<T: Pod, const N: usize>(x: &[T], out: &mut [T], f: &impl Fn(T, T) -> T) {
    for (x, out) in x.as_chunks::<N>().0.iter().zip(out) {
        let mut x = *x;
        let mut half = N / 2;
        while half > 0 {
            for i in 0..half {
                x[i] = f(x[i], x[i + half]);
            }
            half /= 2;
        }
        *out = x[0];
    }
}
