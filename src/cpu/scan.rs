//! Scans, in the order of the contract: groups of 16 rows are scanned, then the groups' last rows in the same way, and
//! each group is combined with the result for the group before it.
//!
//! If there are matrices of many columns, or strips of them, for all threads, a thread goes through all rows of one
//! with the state in cache, so that elements are read and results stored once. Other matrices are scanned in place in
//! the result: many at a time, or a few long ones part by part.

use super::bytes::Operand;
use super::combine::{self, LEVELS, Loops, Scans, Values};
use super::engine::{self, Engine, Out};
use super::lines;
use super::memory::HostMemory;
use super::registers::Register;
use super::threads::{self, Work};
use crate::error::{Result, bail};
use crate::ir::{GROUP, Program, ScanAxis};

/// Elements of a tile.
const MOST: usize = 4096;

/// Elements of a task, which fit into a second-level cache.
const TASK: usize = 64 << 10;

/// Elements of a tile of rows, whose results are in cache before they are stored; and the columns of a strip.
const BLOCK: usize = 2048;
const STRIP: usize = 1024;
const LEAST_STRIP: usize = 256;

/// Strips have at least this many columns.
const LEAST_COLUMNS: usize = 64;

/// A scan of the rows of matrices.
struct Job<'a> {
    engine: Engine<'a>,
    accumulate: fn(&mut [u8], &[u8]),
    scans: Scans,
    /// Rows of a matrix, and bytes of one.
    count: usize,
    row: usize,
    columns: usize,
    /// A tile of the identity.
    identity: Register,
    is_exclusive: bool,
    work: Work,
}

/// Memory of one thread.
struct Scratch {
    block: engine::Scratch,
    /// The last rows of groups.
    carried: Register,
}

/// Runs a program whose one result is scanned.
pub(super) fn scan(program: &Program, scan: &ScanAxis, from: &[Operand<'_>], out: &mut [u8]) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let (shape, dtype) = (&program.shape, program.element_type());
    let Loops::Values(Values { accumulate, scans: Some(scans), .. }) = combine::of(scan.op, dtype)? else {
        bail!(Kernel, "{} has no cumulative form", scan.op.name());
    };
    let mut engine = Engine::new(program, from, 1)?;
    engine.most = MOST;
    let columns: usize = shape[scan.axis + 1..].iter().product();
    let identity = Register::of_equal(scan.op.identity(dtype), dtype.size(), MOST)?;
    let is_exclusive = scan.exclusive;
    let (count, row) = (shape[scan.axis], columns * dtype.size());
    let work = Work::of(program, shape.iter().product());
    let job = Job { engine, accumulate, scans, count, row, columns, identity, is_exclusive, work };
    let in_place = |out: &mut [u8]| if count * columns <= TASK { job.short(out) } else { job.long(out) };
    // A row of one column costs less than a call.
    if count * columns <= BLOCK || columns < LEAST_COLUMNS {
        return in_place(out);
    }
    // Fewer columns, if threads would be idle.
    let threads = threads::count();
    let strip = columns.div_ceil(2 * threads).clamp(LEAST_STRIP, STRIP);
    let strip = if columns <= strip { columns } else { columns.div_ceil(columns.div_ceil(strip)) };
    let tasks = out.len() / (count * row) * columns.div_ceil(strip);
    if tasks >= threads { job.through(strip, out) } else { in_place(out) }
}

/// The rows that scans of scans need, one after another.
fn carried(mut rows: usize) -> usize {
    let mut all = 0;
    while rows > GROUP {
        rows = rows.div_ceil(GROUP);
        all += rows;
    }
    all
}

impl Job<'_> {
    /// Strips of matrices that a thread goes through from the first row to the last.
    fn through(&self, strip: usize, out: &mut [u8]) -> Result<()> {
        let size = self.row / self.columns;
        let streams = lines::streams(out.len(), Operand::bytes(self.engine.from));
        let rows = if strip < self.columns { 1 } else { (BLOCK / strip).max(1) };
        let mut tasks = Vec::new();
        for (matrix, out) in out.chunks_mut(self.count * self.row).enumerate() {
            let strips = threads::strips(out, rows * self.row, rows * strip * size);
            tasks.extend((0..).step_by(strip).zip(strips).map(|(first, rows)| (matrix, first, rows)));
        }
        let bytes = rows * strip * size;
        let scratch = || {
            let state = Register::of(2 * LEVELS * strip * size)?;
            Ok((self.engine.scratch(), state, Register::of(bytes)?, Register::of(bytes)?))
        };
        threads::each(tasks, self.work, scratch, |(block, state, held, expanded), (matrix, first, outs)| {
            let columns = outs[0].len() / size / rows.min(self.count);
            let state = state.bytes_mut(2 * LEVELS * columns * size);
            for part in state.chunks_mut(self.identity_bytes()) {
                part.copy_from_slice(self.identity.bytes(part.len()));
            }
            lines::scope(streams, |stream| {
                let mut row = 0;
                for out in outs {
                    let length = out.len() / size;
                    let start = (matrix * self.count + row) * self.columns + first;
                    self.engine.compute(start, length, None, block);
                    if columns < self.columns && row + 1 < self.count {
                        // The next row lies too far away for the processor to guess.
                        self.engine.ahead(start + self.columns, length).load();
                    }
                    let x = self.engine.all(self.engine.program.results[0], expanded, block);
                    held.through(stream, out, |out| (self.scans.through)(columns, row, x, out, state));
                    row += length / columns;
                }
            });
        })?;
        threads::all(out.chunks_mut(self.count * self.row), self.work, |matrix| self.exclude(matrix));
        Ok(())
    }

    /// Bytes of the tile of the identity.
    fn identity_bytes(&self) -> usize {
        MOST * self.row / self.columns
    }

    /// Matrices of a task.
    fn short(&self, out: &mut [u8]) -> Result<()> {
        let matrix = self.count * self.row;
        let together = TASK / (self.count * self.columns);
        let tasks = out.chunks_mut(together * matrix).enumerate();
        let held = carried(self.count) * self.row;
        let scratch = || Ok(Scratch { block: self.engine.scratch(), carried: Register::of(held)? });
        threads::each(tasks, self.work, scratch, |scratch, (task, out)| {
            self.compute(task * together * self.count * self.columns, out, &mut scratch.block);
            for matrix in out.chunks_mut(matrix) {
                self.scan(matrix, scratch.carried.bytes_mut(held));
                self.finish(matrix);
            }
            self.exclude(out);
        })
    }

    /// Matrices that are several tasks each.
    fn long(&self, out: &mut [u8]) -> Result<()> {
        let matrix = self.count * self.row;
        let groups = (TASK / (GROUP * self.columns)).max(1);
        let part = groups * GROUP * self.row;
        let held = self.count.div_ceil(GROUP) * self.row;
        let mut memory = HostMemory::take(out.len() / matrix * held)?;
        let mut buffer = HostMemory::take(carried(held / self.row) * self.row)?;
        let mut tasks = Vec::new();
        for (i, (out, lasts)) in out.chunks_mut(matrix).zip(memory.chunks_mut(held)).enumerate() {
            let parts = out.chunks_mut(part).zip(lasts.chunks_mut(groups * self.row)).enumerate();
            tasks.extend(parts.map(|(k, (out, lasts))| (i * matrix + k * part, out, lasts)));
        }
        let scratch = || Ok(self.engine.scratch());
        threads::each(tasks, self.work, scratch, |scratch, (start, out, lasts)| {
            self.compute(start / (self.row / self.columns), out, scratch);
            (self.scans.groups)(self.columns, out, lasts);
        })?;
        let mut tasks = Vec::new();
        for (out, lasts) in out.chunks_mut(matrix).zip(memory.chunks_mut(held)) {
            self.scan(lasts, &mut buffer);
            let (first, rest) = out.split_at_mut(out.len().min(GROUP * self.row));
            tasks.push((first, &[][..]));
            tasks.extend(rest.chunks_mut(part).zip(lasts.chunks(groups * self.row)));
        }
        threads::all(tasks, self.work, |(out, carried)| {
            if !carried.is_empty() {
                (self.scans.carry)(self.columns, out, carried);
            }
            self.finish(out);
        });
        threads::all(out.chunks_mut(matrix), self.work, |matrix| self.exclude(matrix));
        Ok(())
    }

    /// Computes elements from one on.
    fn compute(&self, start: usize, out: &mut [u8], scratch: &mut engine::Scratch) {
        let size = self.row / self.columns;
        for (k, bytes) in out.chunks_mut(MOST * size).enumerate() {
            let length = bytes.len() / size;
            self.engine.compute(start + k * MOST, length, Some(Out { bytes, stream: None }), scratch);
        }
    }

    /// Scans a matrix. `carried` is memory for the state.
    fn scan(&self, x: &mut [u8], buffer: &mut [u8]) {
        let rows = x.len() / self.row;
        let groups = if rows > GROUP { rows.div_ceil(GROUP) } else { 0 };
        let (lasts, buffer) = buffer.split_at_mut(groups * self.row);
        (self.scans.groups)(self.columns, x, lasts);
        if groups > 0 {
            // Its depth is a logarithm of the rows to base 16.
            self.scan(lasts, buffer);
            (self.scans.carry)(self.columns, &mut x[GROUP * self.row..], lasts);
        }
    }

    /// Makes a sum's -0 a +0.
    fn finish(&self, x: &mut [u8]) {
        for x in x.chunks_mut(self.identity_bytes()) {
            (self.accumulate)(x, self.identity.bytes(x.len()));
        }
    }

    /// Moves the rows of matrices on by one, for exclusive scans.
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
