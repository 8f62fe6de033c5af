//! Stable sorts of rows by the digits of their keys.
//!
//! Short rows are sorted by comparisons and longer ones from the lowest digit up, a thread each. A row that no cache holds is
//! split by its highest digit first: each thread splits parts of it, in cache, and then takes all elements of one digit
//! from the parts, in their order, and sorts them by the lower digits.

use bytemuck::Pod;

use super::bytes::From;
use super::eval;
use super::memory::HostMemory;
use super::threads::{self, Work};
use crate::error::Result;
use crate::ir::{KeyKind, Program, ProgramKind, Sort};

/// Elements up to which comparing is faster than counting digits.
const FEW: usize = 512;

/// Elements of a row that one thread sorts from the lowest digit up, and of a part that it splits: a second cache holds them.
const PART: usize = 128 << 10;

/// Bits of the digit that a row is split by, and at most of those that it is sorted by.
const HIGH: u32 = 12;
const LOW: u32 = 11;

/// Additions that moving an element by one digit is worth.
const MOVED: usize = 1 << 8;

/// Runs a program whose one result is sorted along the last axis.
pub(super) fn sort(program: &Program, sort: Sort, from: &[From<'_>], out: &mut [u8]) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let elements = program.clone().of_kind(ProgramKind::Map);
    let (dtype, bytes) = (elements.dtype, elements.byte_size()?);
    let size = dtype.size();
    let mut computed;
    let read = match (elements.steps.is_empty(), &from[0], &elements.inputs[0].layout) {
        (true, From::Bytes(read), layout) if layout.is_contiguous() && !elements.inputs[0].is_table() => {
            &read[layout.offset() * size..][..bytes]
        }
        _ => {
            computed = HostMemory::take(bytes)?;
            eval::eval(&elements, from, &mut computed[..bytes])?;
            &computed[..bytes]
        }
    };
    let (kind, flip) = (KeyKind::of(dtype), if sort.descending { u64::MAX } else { 0 });
    let flip32 = flip as u32;
    let length = program.shape[program.shape.rank() - 1];
    let work = Work::of(program, (bytes / size).saturating_mul(MOVED));
    let rows = Rows { read, length, bits: sort.bits, work };
    macro_rules! values {
        ($kind:ident) => {
            match size {
                4 => rows.sort(|x: u32, _| x, |e| u64::from(KeyKind::$kind.key32(e) ^ flip32), |e| e, out),
                _ => rows.sort(|x: u64, _| x, |e| KeyKind::$kind.key64(e) ^ flip, |e| e, out),
            }
        };
    }
    match (sort.gives_index, kind) {
        (false, KeyKind::Unsigned) => values!(Unsigned),
        (false, KeyKind::Signed) => values!(Signed),
        (false, KeyKind::Float) => values!(Float),
        // The index beside the key, in one word where it fits.
        (true, _) if size == 4 => rows.sort(
            |x: u32, i| u64::from(kind.key32(x) ^ flip32) << 32 | u64::from(i),
            |e| e >> 32,
            |e| e as u32,
            out,
        ),
        (true, _) => rows.sort(
            |x: u64, i| {
                let key = kind.key64(x) ^ flip;
                [key as u32, (key >> 32) as u32, i]
            },
            |e| u64::from(e[1]) << 32 | u64::from(e[0]),
            |e| e[2],
            out,
        ),
    }
}

/// Rows of so many elements, whose keys have so many bits.
struct Rows<'a> {
    read: &'a [u8],
    length: usize,
    bits: u32,
    work: Work,
}

/// What is moved of an element and its place in the row, the key of what is moved, and what is stored of it.
struct By<L, K, S> {
    load: L,
    key: K,
    store: S,
}

/// Two buffers of a thread, of what is moved.
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
        let (out, length) = (bytemuck::cast_slice_mut::<u8, O>(out), self.length);
        if length > PART {
            let mut rows = all.chunks(length).zip(out.chunks_mut(length));
            return rows.try_for_each(|(row, out)| by.long(row, out, self.work));
        }
        let beside = (PART / length / 4).max(1) * length;
        let tasks = all.chunks(beside).zip(out.chunks_mut(beside));
        threads::each(
            tasks,
            self.work,
            || Scratch::of::<E>(length),
            |scratch, (rows, out)| {
                for (row, out) in rows.chunks(length).zip(out.chunks_mut(length)) {
                    let [a, b] = scratch.buffers(length);
                    a.iter_mut().zip(row).zip(0..).for_each(|((a, &x), i)| *a = (by.load)(x, i));
                    by.digits([a, b], self.bits, out);
                }
            },
        )
    }
}

impl<L, K, S> By<L, K, S> {
    /// Sorts what is in the first buffer by the low bits of keys, which alone differ.
    fn digits<E, O>(&self, [mut a, mut b]: [&mut [E]; 2], bits: u32, out: &mut [O])
    where
        E: Pod,
        K: Fn(E) -> u64,
        S: Fn(E) -> O,
    {
        if a.len() <= FEW {
            a.sort_by_key(|&e| (self.key)(e));
        } else {
            // As few digits as may be, alike.
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
                // One that all have in common moves nothing.
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
        out.iter_mut().zip(a.iter()).for_each(|(out, &e)| *out = (self.store)(e));
    }

    /// Sorts a row by the highest digit in which keys differ, and then by the others.
    fn long<T, E, O>(&self, row: &[T], out: &mut [O], work: Work) -> Result<()>
    where
        T: Pod + Sync,
        E: Pod + Send + Sync,
        O: Pod + Send,
        L: Fn(T, u32) -> E + Sync,
        K: Fn(E) -> u64 + Sync,
        S: Fn(E) -> O + Sync,
    {
        let parts = row.len().div_ceil(PART);
        let key = |x: T| (self.key)((self.load)(x, 0));
        let first = key(row[0]);
        let mut differing = vec![0_u64; parts];
        let tasks = row.chunks(PART).zip(&mut differing);
        threads::each(
            tasks,
            work,
            || Ok(()),
            |(), (part, differing)| {
                *differing = part.iter().fold(0, |all, &x| all | (key(x) ^ first));
            },
        )?;
        let bits = u64::BITS - differing.iter().fold(0, |all, own| all | own).leading_zeros();
        let low = bits.saturating_sub(HIGH);
        let digit = |e: E| ((self.key)(e) >> low) as usize & ((1 << HIGH) - 1);

        let mut held = HostMemory::take(out.len() * size_of::<E>())?;
        let held: &mut [E] = elements(&mut held, out.len());
        // Of each part, where the elements of each digit begin in it.
        let mut places = HostMemory::take((parts << HIGH) * size_of::<u32>())?;
        let places: &mut [u32] = elements(&mut places, parts << HIGH);
        let starts = (0..row.len() as u32).step_by(PART);
        let tasks = starts.zip(row.chunks(PART)).zip(held.chunks_mut(PART)).zip(places.chunks_mut(1 << HIGH));
        let next = || Ok((Vec::new(), vec![0_u32; 1 << HIGH]));
        threads::each(tasks, work, next, |(loaded, next), (((start, part), held), places)| {
            places.fill(0);
            loaded.clear();
            loaded.extend(part.iter().zip(start..).map(|(&x, i)| (self.load)(x, i)));
            loaded.iter().for_each(|&e| places[digit(e)] += 1);
            let mut sum = 0;
            places.iter_mut().for_each(|place| sum += std::mem::replace(place, sum));
            next.copy_from_slice(places);
            for &e in loaded.iter() {
                let next = &mut next[digit(e)];
                held[*next as usize] = e;
                *next += 1;
            }
        })?;

        let (held, places) = (&*held, &*places);
        let runs = move |digit: usize| {
            held.chunks(PART).zip(places.chunks(1 << HIGH)).map(move |(held, places)| {
                let end = places.get(digit + 1).map_or(held.len(), |&end| end as usize);
                &held[places[digit] as usize..end]
            })
        };
        let (mut rest, mut tasks) = (out, Vec::new());
        for digit in 0..1 << HIGH {
            let (own, after) = rest.split_at_mut(runs(digit).map(<[E]>::len).sum());
            rest = after;
            if !own.is_empty() {
                tasks.push((digit, own));
            }
        }
        let most = tasks.iter().map(|(_, own)| own.len()).max().unwrap_or(0);
        threads::each(
            tasks,
            work,
            || Scratch::of::<E>(most),
            |scratch, (digit, out)| {
                let [a, b] = scratch.buffers(out.len());
                let mut rest = &mut *a;
                for run in runs(digit) {
                    let (own, after) = rest.split_at_mut(run.len());
                    own.copy_from_slice(run);
                    rest = after;
                }
                self.digits([a, b], low, out);
            },
        )
    }
}
