//! Stable sorts of rows by the digits of their keys.
//!
//! A thread sorts a short row by comparisons, and a longer one from the lowest digit up. A row that exceeds the cache
//! is first split by its highest digit. Each thread splits parts of the row in cache. Then it takes all elements of one
//! digit from the parts, in their order, and sorts them by the lower digits.

use std::iter::Zip;
use std::ops::Range;
use std::slice::{Chunks, ChunksMut};

use bytemuck::Pod;

use super::bytes::{Operand, cut};
use super::eval;
use super::memory::HostMemory;
use super::select::{self, By};
use super::threads::{self, Work};
use crate::error::Result;
use crate::ir::{Gives, KeyKind, Program, ProgramKind, Sort, Value};

/// Elements up to which comparing is faster than counting digits.
const FEW: usize = 512;

/// The most elements of a row that one thread sorts from the lowest digit up, and of a part that it splits. They fit in
/// a second-level cache.
const PART: usize = 128 << 10;

/// Bits of the digit that a row is split by, and the most bits of a digit that it is sorted by.
const HIGH: u32 = 12;
const LOW: u32 = 11;

/// The number of digits that a row is split by, plus one.
const DIGITS: usize = (1 << HIGH) + 1;

/// The cost of moving an element by one digit, in additions.
const MOVED: usize = 1 << 8;

/// Runs a program whose one result is sorted along the last axis.
pub(super) fn sort(
    program: &Program,
    sort: Sort,
    key: Option<Value>,
    from: &[Operand<'_>],
    out: &mut [u8],
) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let elements = program.clone().of_kind(ProgramKind::Map);
    let operand = |value: Value| eval::operand(&elements, value, &[true], from);
    let (read, moved) = match key {
        None => (eval::elements(&elements, from)?, None),
        Some(key) => (operand(key)?, Some(operand(program.results[0])?)),
    };
    let moved: Option<&[u32]> = moved.as_ref().map(|moved| bytemuck::cast_slice(moved));
    let stored = |index: u32| moved.map_or(index, |moved| moved[index as usize]);
    let dtype = program.dtype_of(key.unwrap_or(program.results[0]));
    let (size, bytes, read) = (dtype.size(), read.len(), &*read);
    let (kind, flip) = (KeyKind::of(dtype), if sort.descending { u64::MAX } else { 0 });
    let flip32 = flip as u32;
    let length = program.shape[program.shape.rank() - 1];
    let work = Work::of(program, (bytes / size).saturating_mul(MOVED));
    let rows = Rows { read, length, bits: sort.bits, places: sort.places(), work };
    macro_rules! values {
        ($kind:ident) => {
            match size {
                4 if length <= select::SHORT => rows.words(KeyKind::$kind, flip32, out),
                4 => rows.sort(|x: u32, _| x, |e| u64::from(KeyKind::$kind.key32(e) ^ flip32), |e| e, out),
                _ => rows.sort(|x: u64, _| x, |e| KeyKind::$kind.key64(e) ^ flip, |e| e, out),
            }
        };
    }
    // Key and index share a word if they fit.
    let (high, low) = (|e: u64| e >> 32, |e: u64| stored(e as u32));
    match (sort.gives != Gives::Values, kind) {
        (false, KeyKind::Unsigned | KeyKind::Bool) => values!(Unsigned),
        (false, KeyKind::Signed) => values!(Signed),
        (false, KeyKind::Float) => values!(Float),
        // Ones or zeros first.
        (true, _) if size < 8 && sort.bits == 1 && length > PART && rows.places.start == 0 => {
            let mut all = read.chunks(length * size).zip(out.chunks_mut(4 * rows.places.len()));
            all.try_for_each(|(row, out)| {
                let out = bytemuck::cast_slice_mut(out);
                match size {
                    1 => by_bit(row, sort.descending.into(), stored, out, work),
                    _ => by_bit(bytemuck::cast_slice(row), u32::from(sort.descending), stored, out, work),
                }
            })
        }
        (true, _) if size == 1 => {
            rows.sort(|x: u8, i| u64::from(x ^ flip as u8) << 32 | u64::from(i), high, low, out)
        }
        (true, _) if size == 4 => {
            rows.sort(|x: u32, i| u64::from(kind.key32(x) ^ flip32) << 32 | u64::from(i), high, low, out)
        }
        (true, _) => rows.sort(
            |x: u64, i| {
                let key = kind.key64(x) ^ flip;
                [key as u32, (key >> 32) as u32, i]
            },
            |e| u64::from(e[1]) << 32 | u64::from(e[0]),
            |e| stored(e[2]),
            out,
        ),
    }
}

/// The first places of elements of one bit: those equal to `first`, then the others. Each stores a number by its index.
fn by_bit<T: Pod + PartialEq + Sync>(
    row: &[T],
    first: T,
    stored: impl Fn(u32) -> u32 + Sync,
    out: &mut [u32],
    work: Work,
) -> Result<()> {
    const PART: usize = 16 << 10;
    let mut counts = vec![0_usize; row.len().div_ceil(PART)];
    let tasks = row.chunks(PART).zip(&mut counts);
    threads::all(tasks, work, |(part, count)| *count = part.iter().filter(|&&x| x == first).count());
    let total = counts.iter().sum::<usize>().min(out.len());
    let (mut before, mut after) = out.split_at_mut(total);
    let mut tasks = Vec::with_capacity(counts.len());
    for ((part, count), start) in row.chunks(PART).zip(counts).zip((0_u32..).step_by(PART)) {
        tasks.push((part, start, [cut(&mut before, count), cut(&mut after, part.len() - count)]));
    }
    let scratch = || Ok([vec![0; PART], vec![0; PART]]);
    threads::each(tasks, work, scratch, |[a, b], (part, start, [ones, zeros])| {
        let (mut n, mut m) = (0, 0);
        for (i, &x) in (start..).zip(part) {
            let is_first = usize::from(x == first);
            let own = stored(i);
            (a[n], b[m]) = (own, own);
            (n, m) = (n + is_first, m + 1 - is_first);
        }
        ones.copy_from_slice(&a[..ones.len()]);
        zeros.copy_from_slice(&b[..zeros.len()]);
    })
}

/// Rows to be sorted: their length, and the bits of their keys.
struct Rows<'a> {
    read: &'a [u8],
    length: usize,
    bits: u32,
    /// The places of the sorted row that are stored.
    places: Range<usize>,
    work: Work,
}

/// A thread's two buffers of moved words.
struct Scratch([HostMemory; 2]);

impl Scratch {
    fn of<E>(count: usize) -> Result<Scratch> {
        let bytes = count * size_of::<E>();
        Ok(Scratch([HostMemory::take(bytes)?, HostMemory::take(bytes)?]))
    }

    fn buffers<E: Pod>(&mut self, count: usize) -> [&mut [E]; 2] {
        self.0.each_mut().map(|buffer| elements(buffer, count))
    }
}

fn elements<E: Pod>(memory: &mut HostMemory, count: usize) -> &mut [E] {
    bytemuck::cast_slice_mut(&mut memory[..count * size_of::<E>()])
}

impl Rows<'_> {
    /// Rows that a thread sorts at a time, and their stored places.
    fn tasks<'a, T, O>(&self, all: &'a [T], out: &'a mut [O]) -> Zip<Chunks<'a, T>, ChunksMut<'a, O>> {
        let beside = (PART / self.length / 4).max(1);
        all.chunks(beside * self.length).zip(out.chunks_mut(beside * self.places.len()))
    }

    /// Sorts rows of a few elements of 32 bits.
    fn words(&self, kind: KeyKind, flip: u32, out: &mut [u8]) -> Result<()> {
        let by =
            By { load: |x: i32, _| x, key: |e: i32| u64::from(kind.key32(e as u32) ^ flip), store: |e| e };
        let otherwise = |rows: &[i32], out: &mut [i32]| by.network(rows, self.length, &self.places, out);
        let tasks = self.tasks(bytemuck::cast_slice(self.read), bytemuck::cast_slice_mut(out));
        threads::all(tasks, self.work, |(rows, out)| {
            select::words((rows, self.length), &self.places, (kind, flip), out, otherwise);
        });
        Ok(())
    }

    fn sort<T, E, O>(
        &self,
        load: impl Fn(T, u32) -> E + Sync,
        key: impl Fn(E) -> u64 + Sync,
        store: impl Fn(E) -> O + Sync,
        out: &mut [u8],
    ) -> Result<()>
    where
        T: Pod + Sync,
        E: Pod + Send + Sync,
        O: Pod + Send,
    {
        let (all, by) = (bytemuck::cast_slice::<u8, T>(self.read), By { load, key, store });
        let (out, length, kept) = (bytemuck::cast_slice_mut::<u8, O>(out), self.length, self.places.len());
        if length > PART {
            let mut rows = all.chunks(length).zip(out.chunks_mut(kept));
            return rows.try_for_each(|(row, out)| by.long(row, self.places.clone(), out, self.work));
        }
        let tasks = self.tasks(all, out);
        if length <= select::SHORT && size_of::<T>() <= size_of::<u32>() {
            threads::all(tasks, self.work, |(rows, out)| by.network(rows, length, &self.places, out));
            return Ok(());
        }
        let are_first = select::are_first(self.places.end, length);
        let scratch = || Ok((Scratch::of::<E>(length)?, Vec::new()));
        threads::each(tasks, self.work, scratch, |(scratch, first), (rows, out)| {
            for (row, out) in rows.chunks(length).zip(out.chunks_mut(kept)) {
                if are_first && by.first(row, 0, self.places.end, first) {
                    by.store(&first[self.places.start..], out);
                    continue;
                }
                let [a, b] = scratch.buffers(length);
                let (count, before) = by.among(row, &self.places, self.bits, a);
                by.digits([&mut a[..count], &mut b[..count]], self.bits, self.places.start - before, out);
            }
        })
    }
}

impl<L, K, S> By<L, K, S> {
    /// Sorts the first buffer by the low bits of keys, the only ones that differ, and stores it from a place on.
    fn digits<E, O>(&self, [mut a, mut b]: [&mut [E]; 2], bits: u32, first: usize, out: &mut [O])
    where
        E: Pod,
        K: Fn(E) -> u64,
        S: Fn(E) -> O,
    {
        if a.len() <= FEW {
            a.sort_by_key(|&e| (self.key)(e));
        } else {
            // As few digits as possible, of equal size.
            let width = bits.div_ceil(bits.div_ceil(LOW).max(1)).max(1);
            let mask = (1 << width) - 1;
            let mut counts = vec![0_u32; (bits.div_ceil(width) as usize) << width];
            for &e in a.iter() {
                let mut key = (self.key)(e);
                for counts in counts.chunks_mut(1 << width) {
                    counts[key as usize & mask] += 1;
                    key >>= width;
                }
            }
            for (digit, places) in (0..).zip(counts.chunks_mut(1 << width)) {
                // A digit that is the same in all keys moves nothing.
                if places.iter().any(|&count| count as usize == a.len()) {
                    continue;
                }
                let mut next = 0;
                places.iter_mut().for_each(|place| next += std::mem::replace(place, next));
                for &e in a.iter() {
                    let place = &mut places[((self.key)(e) >> (digit * width)) as usize & mask];
                    b[*place as usize] = e;
                    *place += 1;
                }
                std::mem::swap(&mut a, &mut b);
            }
        }
        self.store(&a[first..], out);
    }

    /// Sorts a row by the highest digit in which keys differ, and then by the others. If only some places are wanted,
    /// elements with digits of other places are counted and not moved.
    fn long<T, E, O>(&self, row: &[T], wanted: Range<usize>, out: &mut [O], work: Work) -> Result<()>
    where
        T: Pod + Sync,
        E: Pod + Send + Sync,
        O: Pod + Send,
        L: Fn(T, u32) -> E + Sync,
        K: Fn(E) -> u64 + Sync,
        S: Fn(E) -> O + Sync,
    {
        if select::are_first(wanted.end, PART) {
            let mut parts = vec![(Vec::new(), false); row.len().div_ceil(PART)];
            let starts = (0..row.len() as u32).step_by(PART);
            let tasks = starts.zip(row.chunks(PART)).zip(&mut parts);
            threads::all(tasks, work, |((start, part), (first, is_soon))| {
                *is_soon = self.first(part, start, wanted.end, first);
            });
            if parts.iter().all(|(_, is_soon)| *is_soon) {
                let mut first: Vec<E> = parts.into_iter().flat_map(|(first, _)| first).collect();
                self.cut(&mut first, wanted.end);
                self.store(&first[wanted.start..], out);
                return Ok(());
            }
        }
        let bits = self.differing(row, work);
        let low = bits.saturating_sub(HIGH);
        let digit = |e: E| ((self.key)(e) >> low) as usize & ((1 << HIGH) - 1);
        // For each part the begin of each digit's elements in it, and the end of the last.
        let parts = row.len().div_ceil(PART);
        let mut places = HostMemory::take(parts * DIGITS * size_of::<u32>())?;
        let places: &mut [u32] = elements(&mut places, parts * DIGITS);
        let count = |part: &[T], counts: &mut [u32]| {
            counts.fill(0);
            part.iter().for_each(|&x| counts[digit((self.load)(x, 0))] += 1);
        };
        let (mut digits, mut before) = (0..1 << HIGH, 0);
        let is_few = wanted.len() < row.len() / 4;
        if is_few {
            let tasks = row.chunks(PART).zip(places.chunks_mut(DIGITS));
            threads::all(tasks, work, |(part, places)| count(part, places));
            let total =
                |digit: usize| places.iter().skip(digit).step_by(DIGITS).map(|&n| n as usize).sum::<usize>();
            (digits, before) = select::holding(total, &wanted);
        }
        // Memory for the wanted elements of each part.
        let sizes = row.chunks(PART).zip(places.chunks(DIGITS)).map(|(part, counts)| match is_few {
            true => counts[digits.clone()].iter().map(|&n| n as usize).sum(),
            false => part.len(),
        });
        let sizes: Vec<usize> = sizes.collect();
        let all = sizes.iter().sum();
        let mut memory = HostMemory::take(all * size_of::<E>())?;
        let mut rest = elements::<E>(&mut memory, all);
        let mut held: Vec<&mut [E]> = sizes.iter().map(|&size| cut(&mut rest, size)).collect();
        let starts = (0..row.len() as u32).step_by(PART);
        let tasks = starts.zip(row.chunks(PART)).zip(&mut held).zip(places.chunks_mut(DIGITS));
        let next = || Ok((Vec::new(), vec![0_u32; DIGITS]));
        threads::each(tasks, work, next, |(loaded, next), (((start, part), held), places)| {
            loaded.clear();
            let all = part.iter().zip(start..).map(|(&x, i)| (self.load)(x, i));
            if is_few {
                loaded.extend(all.filter(|&e| digits.contains(&digit(e))));
                places[..digits.start].fill(0);
                places[digits.end..].fill(0);
            } else {
                loaded.extend(all);
                count(part, places);
            }
            let mut sum = 0;
            places.iter_mut().for_each(|place| sum += std::mem::replace(place, sum));
            next.copy_from_slice(places);
            for &e in loaded.iter() {
                let next = &mut next[digit(e)];
                held[*next as usize] = e;
                *next += 1;
            }
        })?;
        let split = Split { held: &held, places, low, digits, before };
        self.sort_split(&split, &wanted, out, work)
    }

    /// The bits of keys of a row, up to the highest that differs.
    fn differing<T, E>(&self, row: &[T], work: Work) -> u32
    where
        T: Pod + Sync,
        L: Fn(T, u32) -> E + Sync,
        K: Fn(E) -> u64 + Sync,
        S: Sync,
    {
        let key = |x: T| (self.key)((self.load)(x, 0));
        let first = key(row[0]);
        let mut differing = vec![0_u64; row.len().div_ceil(PART)];
        let tasks = row.chunks(PART).zip(&mut differing);
        threads::all(tasks, work, |(part, differing)| {
            *differing = part.iter().fold(0, |all, &x| all | (key(x) ^ first));
        });
        u64::BITS - differing.iter().fold(0, |all, own| all | own).leading_zeros()
    }

    /// Sorts the elements of each digit of a split row by the lower bits.
    fn sort_split<E, O>(
        &self,
        split: &Split<'_, E>,
        wanted: &Range<usize>,
        out: &mut [O],
        work: Work,
    ) -> Result<()>
    where
        E: Pod + Send + Sync,
        O: Pod + Send,
        L: Sync,
        K: Fn(E) -> u64 + Sync,
        S: Fn(E) -> O + Sync,
    {
        let (mut rest, mut tasks, mut before) = (out, Vec::new(), split.before);
        for digit in split.digits.clone() {
            let count = split.runs(digit).map(<[E]>::len).sum::<usize>();
            let own = wanted.start.max(before)..wanted.end.min(before + count);
            if !own.is_empty() {
                tasks.push((digit, count, own.start - before, cut(&mut rest, own.len())));
            }
            before += count;
        }
        let most = if split.low == 0 { 0 } else { tasks.iter().map(|task| task.1).max().unwrap_or(0) };
        let scratch = || Scratch::of::<E>(most);
        threads::each(tasks, work, scratch, |scratch, (digit, count, first, out)| {
            if split.low == 0 {
                // All are equal.
                let (mut before, mut rest) = (first, out);
                for run in split.runs(digit) {
                    let run = run.split_at(before.min(run.len()));
                    before -= run.0.len();
                    self.store(run.1, cut(&mut rest, run.1.len()));
                }
                return;
            }
            let [a, b] = scratch.buffers(count);
            let mut rest = &mut *a;
            for run in split.runs(digit) {
                cut(&mut rest, run.len()).copy_from_slice(run);
            }
            self.digits([a, b], split.low, first, out);
        })
    }
}

/// A row whose parts are sorted by a digit: elements of some digits, and for each part the begin of each digit's.
struct Split<'a, E> {
    held: &'a [&'a mut [E]],
    places: &'a [u32],
    /// The bits below the digit.
    low: u32,
    digits: Range<usize>,
    /// Elements of lower digits.
    before: usize,
}

impl<E> Split<'_, E> {
    /// The elements of a digit, part by part.
    fn runs(&self, digit: usize) -> impl Iterator<Item = &[E]> {
        self.held
            .iter()
            .zip(self.places.chunks(DIGITS))
            .map(move |(held, places)| &held[places[digit] as usize..places[digit + 1] as usize])
    }
}
