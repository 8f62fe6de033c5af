//! Cumulative folds, in the order of the contract: groups of 16 rows are scanned, then the last rows of the
//! groups, by the same, and each group is combined with what that gives for the one before it. Elements are
//! computed where their results go.

use super::blocks::{self, Blocks, From, Out};
use super::combine::{self, Loops, Values};
use super::memory::Memory;
use super::registers::Register;
use super::threads;
use crate::error::{Result, bail};
use crate::expr::{Folding, GROUP, Program};

/// Elements that a block computes.
const MOST: usize = 4096;

/// Elements of a task, which a second-level cache holds.
const TASK: usize = 64 << 10;

/// A scan of the rows of matrices.
struct Job<'a> {
    blocks: Blocks<'a>,
    loops: Values,
    /// Rows of a matrix, and bytes of one.
    count: usize,
    row: usize,
    columns: usize,
    /// A block of the value that changes none.
    identity: Register,
    is_exclusive: bool,
}

/// Memory of one thread.
struct Scratch {
    block: blocks::Scratch,
    /// For the last rows of groups.
    carried: Register,
}

/// Runs a program whose one result is scanned.
pub(super) fn scan(program: &Program, folding: &Folding, from: &[From<'_>], out: &mut [u8]) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let (shape, dtype) = (&program.shape, program.element_type());
    let Loops::Values(loops) = combine::of(folding.fold, dtype)? else {
        bail!(Kernel, "{} is of indexes", folding.name());
    };
    let mut blocks = Blocks::new(program, from)?;
    blocks.most = MOST;
    let columns: usize = shape[folding.axes.end..].iter().product();
    let identity = Register::of_equal(folding.fold.identity(dtype), dtype.size(), MOST)?;
    let is_exclusive = folding.scan.is_some_and(|scan| scan.exclusive);
    let (count, row) = (folding.count(shape), columns * dtype.size());
    let job = Job { blocks, loops, count, row, columns, identity, is_exclusive };
    if count * columns <= TASK { job.short(out) } else { job.long(out) }
}

/// The rows that scans of scans take, one after another.
fn carried(mut rows: usize) -> usize {
    let mut all = 0;
    while rows > GROUP {
        rows = rows.div_ceil(GROUP);
        all += rows;
    }
    all
}

impl Job<'_> {
    /// Matrices that a task holds.
    fn short(&self, out: &mut [u8]) -> Result<()> {
        let matrix = self.count * self.row;
        let together = TASK / (self.count * self.columns);
        let tasks = out.chunks_mut(together * matrix).enumerate().collect();
        let held = carried(self.count) * self.row;
        let scratch = || Ok(Scratch { block: self.blocks.scratch(), carried: Register::of(held)? });
        threads::each(tasks, scratch, |scratch, (task, out)| {
            self.compute(task * together * self.count * self.columns, out, &mut scratch.block);
            for matrix in out.chunks_mut(matrix) {
                self.scan(matrix, scratch.carried.bytes_mut(held));
                self.finish(matrix);
            }
            self.exclude(out);
        })
    }

    /// Matrices of which each is several tasks.
    fn long(&self, out: &mut [u8]) -> Result<()> {
        let matrix = self.count * self.row;
        let groups = (TASK / (GROUP * self.columns)).max(1);
        let part = groups * GROUP * self.row;
        let held = self.count.div_ceil(GROUP) * self.row;
        let mut memory = Memory::take(out.len() / matrix * held)?;
        let mut buffer = Memory::take(carried(held / self.row) * self.row)?;
        let mut tasks = Vec::new();
        for (i, (out, lasts)) in out.chunks_mut(matrix).zip(memory.chunks_mut(held)).enumerate() {
            let parts = out.chunks_mut(part).zip(lasts.chunks_mut(groups * self.row)).enumerate();
            tasks.extend(parts.map(|(k, (out, lasts))| (i * matrix + k * part, out, lasts)));
        }
        threads::each(
            tasks,
            || Ok(self.blocks.scratch()),
            |scratch, (start, out, lasts)| {
                self.compute(start / (self.row / self.columns), out, scratch);
                (self.loops.groups)(self.columns, out, lasts);
            },
        )?;
        let mut tasks = Vec::new();
        for (out, lasts) in out.chunks_mut(matrix).zip(memory.chunks_mut(held)) {
            self.scan(lasts, &mut buffer);
            let (first, rest) = out.split_at_mut(out.len().min(GROUP * self.row));
            tasks.push((first, &[][..]));
            tasks.extend(rest.chunks_mut(part).zip(lasts.chunks(groups * self.row)));
        }
        threads::each(
            tasks,
            || Ok(()),
            |(), (out, carried)| {
                if !carried.is_empty() {
                    (self.loops.carry)(self.columns, out, carried);
                }
                self.finish(out);
            },
        )?;
        threads::each(out.chunks_mut(matrix).collect(), || Ok(()), |(), matrix| self.exclude(matrix))
    }

    /// Computes elements from one on.
    fn compute(&self, start: usize, out: &mut [u8], scratch: &mut blocks::Scratch) {
        let size = self.row / self.columns;
        for (k, bytes) in out.chunks_mut(MOST * size).enumerate() {
            let length = bytes.len() / size;
            self.blocks.compute(start + k * MOST, length, Some(Out { bytes, stream: None }), scratch);
        }
    }

    /// Scans a matrix, with memory for what is carried.
    fn scan(&self, x: &mut [u8], buffer: &mut [u8]) {
        let rows = x.len() / self.row;
        let groups = if rows > GROUP { rows.div_ceil(GROUP) } else { 0 };
        let (lasts, buffer) = buffer.split_at_mut(groups * self.row);
        (self.loops.groups)(self.columns, x, lasts);
        if groups > 0 {
            // As deep as a logarithm of the rows to base 16.
            self.scan(lasts, buffer);
            (self.loops.carry)(self.columns, &mut x[GROUP * self.row..], lasts);
        }
    }

    /// Makes +0 of a sum's -0.
    fn finish(&self, x: &mut [u8]) {
        let most = MOST * self.row / self.columns;
        for x in x.chunks_mut(most) {
            (self.loops.combine)(x, self.identity.bytes(x.len()));
        }
    }

    /// Moves the rows of matrices on by one, if they leave themselves out.
    fn exclude(&self, matrices: &mut [u8]) {
        if !self.is_exclusive {
            return;
        }
        let size = self.row / self.columns;
        for matrix in matrices.chunks_mut(self.count * self.row) {
            matrix.copy_within(..matrix.len() - self.row, self.row);
            let first = matrix[..self.row].chunks_exact_mut(size);
            first.for_each(|first| first.copy_from_slice(self.identity.bytes(size)));
        }
    }
}
