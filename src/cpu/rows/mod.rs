//! Programs with reductions inside: some rows at a time are computed to the end while they are in cache. What is
//! computed of their elements is computed once, however many reductions read it.
//!
//! A program is `outer` matrices of `count` rows and `inner` columns, of which rows are reduced, so that a range
//! is a column. As many matrices are computed together as a block holds; of larger ones a strip of columns.

mod job;
mod program;
mod values;

use smallvec::SmallVec;

use super::bytes::From;
use super::combine::Values;
use super::eval;
use super::lines;
use super::load::Reader;
use super::memory::HostMemory;
use super::pairs::Loop;
use super::registers::Register;
use super::threads::{self, Work};
use crate::error::{Result, bail};
use crate::ir::{ByValue, Frame, Input, Program, RowFused, Source, Value};

/// Elements that a block computes.
const MOST: usize = 4096;

/// Runs a program with reductions inside, of one result.
pub(super) fn rows(program: &Program, from: &[From<'_>], out: &mut [u8]) -> Result<()> {
    let Some((rows, frame)) = program.row_fused().zip(program.frame()) else {
        bail!(Kernel, "a program without rows");
    };
    if out.is_empty() {
        return Ok(());
    }
    if let Some(plain) = program.plain_reduction() {
        return program::after_reduction(program, &plain, from, out);
    }
    match program::turned(program, rows, &frame)? {
        None => run(program, rows, &frame, from, out),
        Some((turned, layout)) => {
            let mut held = HostMemory::take(out.len())?;
            let bytes = out.len();
            let (Some(rows), Some(frame)) = (turned.row_fused(), turned.frame()) else {
                bail!(Kernel, "a program without rows");
            };
            run(&turned, rows, &frame, from, &mut held[..bytes])?;
            let copy = Program::copy(Input::new(program.dtype, Source::Scalar(0), layout));
            eval::eval(&copy, &[From::Bytes(&held[..bytes])], out)
        }
    }
}

/// What is done next of a block.
#[derive(Clone, Copy)]
enum Next {
    Loop(usize),
    ReduceOp(usize),
}

/// A program made ready.
struct Job<'a> {
    program: &'a Program,
    from: &'a [From<'a>],
    /// Of inputs: over all elements, or over one of each row.
    readers: Vec<Reader>,
    of_row: ByValue<bool>,
    /// Values of the row that are read for each element.
    spread: ByValue<bool>,
    loops: Vec<Loop>,
    order: Vec<Next>,
    reductions: Vec<Reduced>,
    registers: ByValue<usize>,
    register_count: usize,
    /// Bytes of an element of each value.
    sizes: ByValue<usize>,
    kept: bool,
    count: usize,
    inner: usize,
    /// Matrices of a block, or columns of a strip where one is too large for a block.
    together: usize,
    strip: usize,
    streams: bool,
    /// Whether a block asks for what the next one of its task reads.
    asks: bool,
}

/// A reduction of a job.
struct Reduced {
    value: Value,
    /// The input that stands for what it gives.
    gives: Value,
    loops: Values,
    /// The value that changes none, where that makes +0 of -0.
    identity: Option<Register>,
}

/// Some matrices, or some columns of one.
struct Task<'a> {
    matrix: usize,
    column: usize,
    columns: usize,
    /// The results: of all matrices, or of each row of the strip.
    outs: SmallVec<[&'a mut [u8]; 1]>,
}

/// The elements of a block: `matrices` whole ones, or `columns` of one.
#[derive(Clone, Copy)]
struct Block {
    matrix: usize,
    column: usize,
    matrices: usize,
    columns: usize,
}

/// Where the elements of an input lie.
#[derive(Clone, Copy)]
enum Place {
    Source(usize),
    Register,
}

/// Memory of one thread.
struct Scratch {
    registers: Vec<Register>,
    /// Values of the row, an element for each.
    spread: ByValue<Register>,
    places: Vec<Place>,
    /// Elements of each value: where all are equal, there is one part.
    lengths: ByValue<usize>,
    buffer: Register,
    result: Register,
}

fn run(program: &Program, rows: &RowFused, frame: &Frame, from: &[From<'_>], out: &mut [u8]) -> Result<()> {
    let job = Job::new(program, rows, frame, from, out.len())?;
    let size = program.dtype.size();
    let per_row = if rows.kept { 1 } else { job.count };
    let all = frame.shape.iter().product();
    let task = threads::task(all);
    let mut tasks: Vec<Task<'_>> = Vec::new();
    if job.strip == job.inner {
        let matrix = per_row * job.inner * size;
        let together = task.div_ceil(job.count * job.inner).next_multiple_of(job.together);
        for (i, out) in out.chunks_mut(together * matrix).enumerate() {
            let outs = SmallVec::from_iter([out]);
            tasks.push(Task { matrix: i * together, column: 0, columns: job.inner, outs });
        }
    } else {
        let width = (task / job.count).next_multiple_of(job.strip);
        for (matrix, out) in out.chunks_mut(per_row * job.inner * size).enumerate() {
            let first = tasks.len();
            for (k, row) in out.chunks_mut(job.inner * size).enumerate() {
                for (strip, part) in row.chunks_mut(width * size).enumerate() {
                    if k == 0 {
                        let (column, columns) = (strip * width, part.len() / size);
                        tasks.push(Task { matrix, column, columns, outs: SmallVec::new() });
                    }
                    tasks[first + strip].outs.push(part);
                }
            }
        }
    }
    threads::each(
        tasks,
        Work::of(program, all),
        || job.scratch(),
        |scratch, task| match job.streams {
            true => lines::scope(|stream| job.task(task, Some(stream), scratch)),
            false => job.task(task, None, scratch),
        },
    )
}
