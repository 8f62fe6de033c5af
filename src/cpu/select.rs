//! Selection: some places of sorted rows, without a sort of the rows.
//!
//! The first places are found by a threshold: the key of the last of them so far. Few later elements are below it.
//! Other places are found by digits: counts say which digits of the keys the wanted places have, and the other elements
//! stay behind. Rows of a few elements are sorted side by side, by a network of exchanges.

use std::ops::Range;

use bytemuck::Pod;

use crate::ir::KeyKind;
use crate::vectors;

/// The most places that a threshold finds.
const MOST_FIRST: usize = 256;

/// The elements of a row for each of its first places, at least.
const LEAST_BEHIND: usize = 16;

/// Elements whose keys are compared with a threshold at a time.
const BESIDE: usize = 32;

/// The fewest elements that are worth counts of digits.
const LEAST_COUNTED: usize = 256;

/// Bits of a digit.
const WIDTH: u32 = 11;

/// The most elements of a row that a network sorts.
pub(super) const SHORT: usize = 32;

/// Rows that a network sorts side by side.
const ROWS: usize = 8;

/// Rows of elements of 32 bits that a network sorts side by side.
const ROWS_OF_WORDS: usize = 32;

/// Functions for the word that is moved for an element and its place in the row, the key of the word, and the stored
/// result.
pub(super) struct By<L, K, S> {
    pub load: L,
    pub key: K,
    pub store: S,
}

/// Whether a threshold finds the places of a row before `end`: they are few, and few of the row.
pub(super) fn are_first(end: usize, length: usize) -> bool {
    end <= MOST_FIRST && end.saturating_mul(LEAST_BEHIND) <= length
}

impl<L, K, S> By<L, K, S> {
    /// Stores sorted elements.
    pub(super) fn store<E: Pod, O>(&self, sorted: &[E], out: &mut [O])
    where
        S: Fn(E) -> O,
    {
        out.iter_mut().zip(sorted).for_each(|(out, &e)| *out = (self.store)(e));
    }

    /// The first elements of a row in the order of keys. `start` is the number of its first element. Returns whether
    /// they were found soon. Otherwise the row lies almost in the reverse order, and `held` has no meaning.
    pub(super) fn first<T, E>(&self, row: &[T], start: u32, count: usize, held: &mut Vec<E>) -> bool
    where
        T: Pod,
        E: Pod,
        L: Fn(T, u32) -> E,
        K: Fn(E) -> u64,
    {
        held.clear();
        let most = 2 * count + BESIDE / 2;
        let (mut limit, mut is_full) = (0, false);
        // Each round drops half of the candidates. Usually there are as many rounds as the row has doublings.
        let mut rounds = row.len() / (8 * most) + 64;
        vectors::dispatch(|| {
            for (part, start) in row.chunks(BESIDE).zip((start..).step_by(BESIDE)) {
                let is_below = |e: E| !is_full | ((self.key)(e) < limit);
                if !part.iter().fold(false, |any, &x| any | is_below((self.load)(x, 0))) {
                    continue;
                }
                let all = part.iter().zip(start..).map(|(&x, i)| (self.load)(x, i));
                held.extend(all.filter(|&e| is_below(e)));
                if held.len() > most {
                    (limit, is_full) = (self.cut(held, count), true);
                    rounds -= 1;
                    if rounds == 0 {
                        return;
                    }
                }
            }
        });
        self.cut(held, count);
        rounds > 0
    }

    /// Sorts elements, and keeps the first. Returns the key of the last one.
    pub(super) fn cut<E: Pod>(&self, held: &mut Vec<E>, count: usize) -> u64
    where
        K: Fn(E) -> u64,
    {
        held.sort_by_key(|&e| (self.key)(e));
        held.truncate(count);
        held.last().map_or(0, |&e| (self.key)(e))
    }

    /// The elements of a row among which some places of the sorted row lie, in the order of the row, at the begin of
    /// `held`. Returns how many they are, and how many elements of the row come before them. Only the low bits of keys
    /// differ.
    pub(super) fn among<T, E>(
        &self,
        row: &[T],
        wanted: &Range<usize>,
        mut bits: u32,
        held: &mut [E],
    ) -> (usize, usize)
    where
        T: Pod,
        E: Pod,
        L: Fn(T, u32) -> E,
        K: Fn(E) -> u64,
    {
        held.iter_mut().zip(row).zip(0..).for_each(|((held, &x), i)| *held = (self.load)(x, i));
        let (mut count, mut before) = (row.len(), 0);
        let is_few = |count: usize| wanted.len() < count / 4;
        while is_few(count) && count > LEAST_COUNTED && bits > 0 {
            let shift = bits.saturating_sub(WIDTH);
            let digit = |e: E| ((self.key)(e) >> shift) as usize & ((1 << WIDTH) - 1);
            // Neighbours often have one digit, and count in different tables.
            let mut counts = [[0_u32; 1 << WIDTH]; 2];
            held[..count].chunks(2).for_each(|pair| {
                counts.iter_mut().zip(pair).for_each(|(counts, &e)| counts[digit(e)] += 1);
            });
            let total = |digit: usize| (counts[0][digit] + counts[1][digit]) as usize;
            let (digits, skipped) = holding(total, &(wanted.start - before..wanted.end - before));
            before += skipped;
            let mut kept = 0;
            for i in 0..count {
                let e = held[i];
                held[kept] = e;
                kept += usize::from(digits.contains(&digit(e)));
            }
            (count, bits) = (kept, if digits.len() == 1 { shift } else { 0 });
        }
        (count, before)
    }

    /// Sorts rows of a few elements with keys of 32 bits, and stores some places of each.
    pub(super) fn network<T, E, O>(&self, rows: &[T], length: usize, places: &Range<usize>, out: &mut [O])
    where
        T: Pod,
        O: Pod,
        L: Fn(T, u32) -> E,
        K: Fn(E) -> u64,
        S: Fn(E) -> O,
    {
        let pairs = exchanges(length, places);
        vectors::dispatch(|| {
            for (rows, out) in rows.chunks(ROWS * length).zip(out.chunks_mut(ROWS * places.len())) {
                // A key, signed, and the place in the row, which keeps equal keys in their order.
                let mut all = [[0_i64; ROWS]; SHORT];
                for (lane, row) in rows.chunks(length).enumerate() {
                    for ((all, &x), i) in all.iter_mut().zip(row).zip(0..) {
                        let key = (self.key)((self.load)(x, i)) << 32 | u64::from(i);
                        all[lane] = (key ^ 1 << 63) as i64;
                    }
                }
                exchange(&mut all, &pairs);
                let each = rows.chunks(length).zip(out.chunks_mut(places.len()));
                for (lane, (row, out)) in each.enumerate() {
                    for (out, all) in out.iter_mut().zip(&all[places.clone()]) {
                        let i = all[lane] as u32 % SHORT as u32;
                        *out = (self.store)((self.load)(row[i as usize], i));
                    }
                }
            }
        });
    }
}

/// Exchanges pairs of elements that stand in the wrong order, in many rows at once.
#[inline(always)]
fn exchange<W: Copy + Ord, const N: usize>(all: &mut [[W; N]; SHORT], pairs: &[(usize, usize)]) {
    for &(i, j) in pairs {
        let (a, b) = (all[i], all[j]);
        for lane in 0..N {
            all[i][lane] = a[lane].min(b[lane]);
            all[j][lane] = a[lane].max(b[lane]);
        }
    }
}

/// Sorts rows of a few elements of 32 bits, and stores some places of each. Elements are exchanged themselves, so rows where
/// equal ones may differ are left to `otherwise`.
pub(super) fn words(
    (rows, length): (&[i32], usize),
    places: &Range<usize>,
    (kind, flip): (KeyKind, u32),
    out: &mut [i32],
    otherwise: impl Fn(&[i32], &mut [i32]),
) {
    let pairs = &exchanges(length, places)[..];
    let ([mask, bias], nan) = (kind.as_signed(), f32::INFINITY.to_bits() as i32 + 1);
    let order = [mask, bias ^ flip as i32];
    let is_tied = |x: i32| (x == i32::MIN) | (x & i32::MAX >= nan);
    for (rows, out) in rows.chunks(ROWS_OF_WORDS * length).zip(out.chunks_mut(ROWS_OF_WORDS * places.len())) {
        if kind == KeyKind::Float && rows.iter().fold(false, |any, &x| any | is_tied(x)) {
            otherwise(rows, out);
        } else {
            vectors::dispatch(Words { rows, length, places, pairs, order, out });
        }
    }
}

/// At most [`ROWS_OF_WORDS`] rows, which are sorted side by side. `order` has the words of [`KeyKind::as_signed`].
struct Words<'a> {
    rows: &'a [i32],
    length: usize,
    places: &'a Range<usize>,
    pairs: &'a [(usize, usize)],
    order: [i32; 2],
    out: &'a mut [i32],
}

impl vectors::Loop for Words<'_> {
    #[inline(always)]
    fn run(self) {
        let Words { rows, length, places, pairs, order: [mask, bias], out } = self;
        let mut all = [[0_i32; ROWS_OF_WORDS]; SHORT];
        for (lane, row) in rows.chunks(length).enumerate() {
            for (all, &x) in all.iter_mut().zip(row) {
                all[lane] = x ^ (x >> 31 & mask) ^ bias;
            }
        }
        exchange(&mut all, pairs);
        for (lane, out) in out.chunks_mut(places.len()).enumerate() {
            for (out, all) in out.iter_mut().zip(&all[places.clone()]) {
                let x = all[lane] ^ bias;
                *out = x ^ (x >> 31 & mask);
            }
        }
    }
}

/// The digits of the elements at some places of a sorted row, and how many elements have lower ones. `total` counts the
/// elements of a digit.
pub(super) fn holding(total: impl Fn(usize) -> usize, wanted: &Range<usize>) -> (Range<usize>, usize) {
    let (mut digits, mut before, mut end) = (0..0, 0, 0);
    while end < wanted.end {
        let own = total(digits.end);
        if end + own <= wanted.start {
            (digits.start, before) = (digits.end + 1, end + own);
        }
        (digits.end, end) = (digits.end + 1, end + own);
    }
    (digits, before)
}

/// Exchanges that bring the elements of some places there: merge exchange (Knuth, The Art of Computer Programming,
/// volume 3, 5.2.2, algorithm M), without the exchanges of other places.
fn exchanges(length: usize, places: &Range<usize>) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let highest = length.next_power_of_two() / 2;
    let mut p = highest;
    while p > 0 {
        let (mut q, mut r, mut d) = (highest, 0, p);
        loop {
            all.extend((0..length - d).filter(|i| i & p == r).map(|i| (i, i + d)));
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    let mut is_read: Vec<bool> = (0..length).map(|i| places.contains(&i)).collect();
    let mut needed: Vec<(usize, usize)> = Vec::with_capacity(all.len());
    for &(i, j) in all.iter().rev() {
        if is_read[i] || is_read[j] {
            (is_read[i], is_read[j]) = (true, true);
            needed.push((i, j));
        }
    }
    needed.reverse();
    needed
}

#[cfg(test)]
mod tests {
    use super::{KeyKind, SHORT, exchanges, words};

    /// By the principle of zeros and ones: what sorts these sorts all.
    #[test]
    fn networks_sort() {
        for length in 2..=12 {
            let all = exchanges(length, &(0..length));
            let middle = exchanges(length, &(length / 2..length / 2 + 1));
            assert!(middle.len() <= all.len());
            for bits in 0_u32..1 << length {
                let sorted = |pairs: &[(usize, usize)]| {
                    let mut row: Vec<u32> = (0..length).map(|i| bits >> i & 1).collect();
                    for &(i, j) in pairs {
                        if row[i] > row[j] {
                            row.swap(i, j);
                        }
                    }
                    row
                };
                let row = sorted(&all);
                assert!(row.is_sorted(), "{length} {bits:b}");
                assert_eq!(sorted(&middle)[length / 2], row[length / 2], "{length} {bits:b}");
            }
        }
        for length in [16, 31, 32] {
            assert!(exchanges(length, &(0..length)).len() < 200);
        }
    }

    #[test]
    fn words_are_sorted_by_their_keys() {
        let mut word = 1_u32;
        for length in 2..=SHORT {
            for (kind, flip, places) in [
                (KeyKind::Float, 0, 0..length),
                (KeyKind::Float, u32::MAX, length / 2..length),
                (KeyKind::Signed, u32::MAX, 0..length),
                (KeyKind::Unsigned, 0, 1..2),
            ] {
                let mut next = || {
                    word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    // Some are equal, and few are -0 or NaN.
                    let few = [1 << 31, 0x7fc0_0000];
                    match word >> 16 {
                        k if k % 500 < 2 => few[k as usize % 2],
                        k if k % 3 == 0 => (k % 16) << 28 | 1,
                        _ => word,
                    }
                    .cast_signed()
                };
                let rows: Vec<i32> = (0..77 * length).map(|_| next()).collect();
                let sorted = |rows: &[i32], out: &mut [i32]| {
                    for (row, out) in rows.chunks(length).zip(out.chunks_mut(places.len())) {
                        let mut row = row.to_vec();
                        row.sort_by_key(|&x| kind.key32(x as u32) ^ flip);
                        out.copy_from_slice(&row[places.clone()]);
                    }
                };
                let [mut got, mut expected] = [(); 2].map(|()| vec![0; 77 * places.len()]);
                sorted(&rows, &mut expected);
                words((&rows, length), &places, (kind, flip), &mut got, sorted);
                assert_eq!(got, expected, "{kind:?} {flip} {length}");
            }
        }
    }
}
