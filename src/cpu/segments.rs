//! Rows of a matrix reduced by key. Parts of the matrix are sorted by key in cache: a table counts the rows of each
//! key, and the rows move to their places. Then the rows of a key lie side by side in each part, in their order. They
//! are put together and reduced in the order of the contract.

use bytemuck::{Pod, cast_slice as cast, cast_slice_mut as cast_mut};

use super::bytes::{Operand, with_memory};
use super::combine::{self, Loops};
use super::eval;
use super::memory::HostMemory;
use super::threads::{self, Work};
use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::ir::{ACCUMULATORS, BLOCK, ByKey, Program, ReduceOp, Segments, Value};

/// The least elements of a part. With 128 Ki, whose places take a second-level cache, a thread beside other work moves
/// them at a sixth of the speed.
const PART: usize = 32 << 10;

/// The cost of moving an element, and of counting one, in additions.
const MOVED: usize = 1 << 7;
const COUNTED: usize = 1 << 8;

/// Runs a program whose rows are reduced by key, or whose keys are counted.
pub(super) fn segments(
    program: &Program,
    own: Segments,
    key: Option<Value>,
    from: &[Operand<'_>],
    out: &mut [u8],
) -> Result<()> {
    let (Segments { gives, count, are_sorted }, &[n, columns]) = (own, &program.shape[..]) else {
        bail!(Kernel, "segments of what is no matrix");
    };
    let key = key.unwrap_or(program.results[0]);
    let words = eval::operand(program, key, &[true, false], from)?;
    let keys = Keys { keys: cast(&words), count };
    let starts = if are_sorted { keys.starts(program.dtype_of(key)) } else { Vec::new() };
    let op = match gives {
        ByKey::Count if are_sorted => {
            let counts = starts.iter().zip(&starts[1..]).map(|(start, end)| end - start);
            cast_mut(out).iter_mut().zip(counts).for_each(|(out, count)| *out = count);
            return Ok(());
        }
        ByKey::Count => return counted(keys.keys, cast_mut(out), Work::of(program, n * COUNTED)),
        ByKey::Last | ByKey::Reduced(_) if u32::try_from(n).is_err() => {
            bail!(Limit, "{} of {n} rows: it takes fewer than 2^32, so reduce parts of them", own.name())
        }
        ByKey::Last => None,
        ByKey::Reduced(op) => Some(op),
    };
    let values = eval::operand(program, program.results[0], &[true, true], from)?;
    match op {
        Some(op) => reduced(program, op, &keys, are_sorted.then_some(&starts), &values, out),
        None => {
            let row = columns * program.dtype.size();
            out.fill(0);
            for (row, key) in values.chunks_exact(row).zip(keys.all(keys.keys)) {
                let own = out.chunks_exact_mut(row.len()).nth(key);
                own.into_iter().for_each(|out| out.copy_from_slice(row));
            }
            Ok(())
        }
    }
}

/// Reduces the rows of each key. `starts` are the first rows of sorted keys.
fn reduced(
    program: &Program,
    op: ReduceOp,
    keys: &Keys<'_>,
    starts: Option<&Vec<u32>>,
    values: &[u8],
    out: &mut [u8],
) -> Result<()> {
    let (count, n, columns) = (keys.count, program.shape[0], program.shape[1]);
    let (size, row) = (program.dtype.size(), columns * program.dtype.size());
    let Loops::Values(loops) = combine::of(op, program.dtype)? else {
        bail!(Kernel, "segments of indices");
    };
    // A table takes a word for each key, and each part has one. Sorted keys are one part, whose rows stay.
    let rows = if starts.is_some() { n } else { (PART / columns).max(8 * count).clamp(1, n) };
    let (parts, table) = (n.div_ceil(rows), count + 2);
    let work = Work::of(program, values.len() / size * MOVED);
    let moved = if starts.is_some() { 0 } else { parts };
    let mut held = HostMemory::take(values.len() * moved.min(1))?;
    let mut tables = HostMemory::take(moved * table * size_of::<u32>())?;
    let tables = &mut cast_mut::<u8, u32>(&mut tables[..])[..moved * table];
    let tasks = keys.keys.chunks(rows).zip(values.chunks(rows * row));
    let tasks = tasks.zip(held.chunks_mut(rows * row)).zip(tables.chunks_mut(table));
    threads::all(tasks, work, |(((part, values), held), table)| {
        with_memory!(size, |M| keys.moved::<M>(part, cast(values), columns, cast_mut(held), table));
    });
    let (held, tables) = starts.map_or((&held[..], &*tables), |starts| (values, &starts[..]));
    // The rows of a key in each part.
    let runs = |key: usize| {
        let all = held.chunks(rows * row).zip(tables.chunks(table));
        all.map(move |(held, table)| &held[table[key] as usize * row..table[key + 1] as usize * row])
    };
    let mut longest = 0;
    for key in 0..count {
        longest = longest.max(runs(key).map(<[u8]>::len).sum());
    }
    let identity = op.identity(program.dtype).to_le_bytes()[..size].repeat(BLOCK);
    let together = count.div_ceil(4 * threads::count());
    let tasks = (0..count).step_by(together).zip(out.chunks_mut(together * row));
    let buffer = (longest / row / BLOCK * 2 + 2 * ACCUMULATORS) * row;
    let scratch = || Ok([HostMemory::take(if parts > 1 { longest } else { 0 })?, HostMemory::take(buffer)?]);
    threads::each(tasks, work, scratch, |[all, buffer], (first, out)| {
        for (key, out) in (first..).zip(out.chunks_exact_mut(row)) {
            let mut length = 0;
            for run in runs(key).filter(|_| parts > 1) {
                all[length..length + run.len()].copy_from_slice(run);
                length += run.len();
            }
            let own = match parts {
                1 => runs(key).next().unwrap_or_default(),
                _ => &all[..length],
            };
            match own.len() / row {
                0 => out.chunks_exact_mut(size).for_each(|x| x.copy_from_slice(&identity[..size])),
                rows => loops.reduce([rows, columns], own, buffer, out),
            }
        }
        // The identity makes a sum's -0 a +0, and changes nothing else.
        out.chunks_mut(identity.len()).for_each(|out| (loops.accumulate)(out, &identity[..out.len()]));
    })
}

/// A key for each row. One that is not below the count belongs to rows that are left out.
#[derive(Clone, Copy)]
struct Keys<'a> {
    keys: &'a [u32],
    count: usize,
}

impl Keys<'_> {
    /// For each number up to the count the place that a search finds for it, as adapters search.
    fn starts(self, dtype: DType) -> Vec<u32> {
        let is_signed = dtype.kind() == Kind::Signed;
        let wide = |key: u32| if is_signed { i64::from(key as i32) } else { i64::from(key) };
        let start = |number: i64| {
            let bits = (0..self.keys.len().checked_ilog2().map_or(0, |bit| bit + 1)).rev();
            bits.fold(0, |before: usize, bit| {
                let next = before + (1 << bit);
                let is_before = self.keys.get(next - 1).is_some_and(|&key| wide(key) < number);
                if is_before { next } else { before }
            })
        };
        (0..=self.count as i64).map(|number| start(number) as u32).collect()
    }

    fn all(self, keys: &[u32]) -> impl Iterator<Item = usize> {
        keys.iter().map(move |&key| (key as usize).min(self.count))
    }

    /// Moves the rows of a part. The table becomes the first place of each key, and the end.
    fn moved<T: Pod>(self, part: &[u32], values: &[T], columns: usize, held: &mut [T], table: &mut [u32]) {
        table.fill(0);
        // A key's count, and then its next place, lie one further than its first place at last.
        let next = &mut table[1..];
        self.all(part).for_each(|key| next[key] += 1);
        let mut before = 0;
        next.iter_mut().for_each(|next| before += std::mem::replace(next, before));
        if columns == 1 {
            for (key, &x) in self.all(part).zip(values) {
                held[next[key] as usize] = x;
                next[key] += 1;
            }
            return;
        }
        for (key, x) in self.all(part).zip(values.chunks_exact(columns)) {
            held[next[key] as usize * columns..][..columns].copy_from_slice(x);
            next[key] += 1;
        }
    }
}

/// Counts how often each number occurs among keys, part by part, with a table for each part.
fn counted(keys: &[u32], out: &mut [u32], work: Work) -> Result<()> {
    let (bins, parts) = (out.len(), (keys.len() / (8 * out.len())).clamp(1, 16));
    let mut tables = HostMemory::take(parts * bins * size_of::<u32>())?;
    let tables = &mut cast_mut::<u8, u32>(&mut tables[..])[..parts * bins];
    let tasks = keys.chunks(keys.len().div_ceil(parts)).zip(tables.chunks_mut(bins));
    threads::all(tasks, work, |(keys, table)| {
        table.fill(0);
        for &key in keys {
            if let Some(count) = table.get_mut(key as usize) {
                *count += 1;
            }
        }
    });
    out.fill(0);
    // The last parts may be empty.
    let parts = keys.len().div_ceil(keys.len().div_ceil(parts));
    tables
        .chunks(bins)
        .take(parts)
        .for_each(|table| out.iter_mut().zip(table).for_each(|(out, own)| *out += own));
    Ok(())
}
