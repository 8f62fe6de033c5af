//! Row-fused programs: some rows at a time are computed to the end while they are in cache. Each element is computed
//! once, however many reductions read it.
//!
//! A program is `outer` matrices of `count` rows and `inner` columns. Rows are reduced, so a run is a column. A tile
//! has as many matrices as fit, or a strip of columns of a larger one.

use smallvec::SmallVec;

use super::bytes::Operand;
use super::engine::{self, Engine, Out, Prepared};
use super::lines::{self, Stream};
use super::memory::HostMemory;
use super::threads::{self, Strip, Work};
use super::{eval, fold, reorder};
use crate::error::{Result, bail};
use crate::ir::{Frame, Input, Program, Source};
use crate::layout::Layout;
use crate::tuning::rows::LONGEST;

/// Elements that a tile computes.
const MOST: usize = 4096;

/// Runs a row-fused program of one result.
pub(super) fn rows(program: &Program, from: &[Operand<'_>], out: &mut [u8]) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    if let Some(known) = program.ready.get::<Apart>() {
        return known.run(program, from, out);
    }
    if let Some(apart) = Apart::of(program)? {
        apart.run(program, from, out)?;
        if program.ready.again() {
            program.ready.put(apart);
        }
        return Ok(());
    }
    let Some((turned, layout)) = reorder::rows_last(program)? else { return run(program, from, out) };
    let bytes = out.len();
    let mut held = HostMemory::take(bytes)?;
    run(&turned, from, &mut held[..bytes])?;
    eval::laid_out(program.dtype, &held[..bytes], layout, out)
}

/// A program, ready to run.
struct Job<'a> {
    engine: Engine<'a>,
    /// Matrices of a tile, or columns of a strip if a matrix is too large.
    together: usize,
    strip: usize,
    streams: bool,
}

/// Some matrices, or some columns of one.
struct Task<'a> {
    matrix: usize,
    column: usize,
    columns: usize,
    /// The results: of all matrices, or of each row of the strip.
    outs: Strip<'a, u8>,
}

fn run(program: &Program, from: &[Operand<'_>], out: &mut [u8]) -> Result<()> {
    let Some(rows) = program.row_fused() else { bail!(Kernel, "a program without rows") };
    let mut engine = Engine::of_rows(program, rows, from)?;
    engine.most = MOST;
    let [count, inner] = [engine.row, engine.inner];
    let matrix = count * inner;
    let strip = if matrix <= MOST.max(count) { inner } else { (MOST / count).clamp(1, inner) };
    // A row's operands are in a cache, so only stores leave it.
    let streams = !rows.kept && strip == inner && lines::streams(out.len(), Operand::bytes(from));
    let job = Job { engine, together: (MOST / matrix).max(1), strip, streams };
    let size = program.dtype.size();
    let per_row = if rows.kept { 1 } else { count };
    let all = program.shape.iter().product();
    let task = threads::task(all);
    let mut tasks: Vec<Task<'_>> = Vec::new();
    if strip == inner {
        let matrix = per_row * inner * size;
        let together = task.div_ceil(count * inner).next_multiple_of(job.together);
        for (i, out) in out.chunks_mut(together * matrix).enumerate() {
            let outs = SmallVec::from_iter([out]);
            tasks.push(Task { matrix: i * together, column: 0, columns: inner, outs });
        }
    } else {
        let width = (task / count).next_multiple_of(strip);
        for (matrix, out) in out.chunks_mut(per_row * inner * size).enumerate() {
            let strips = (0..).step_by(width).zip(threads::strips(out, inner * size, width * size));
            tasks.extend(strips.map(|(column, outs)| Task {
                matrix,
                column,
                columns: outs[0].len() / size,
                outs,
            }));
        }
    }
    let scratch = || Ok(job.engine.scratch());
    threads::each(tasks, Work::of(program, all), scratch, |scratch, task| {
        lines::scope(job.streams, |stream| job.task(task, stream, scratch));
    })
}

impl Job<'_> {
    fn task(&self, mut task: Task<'_>, stream: Option<&Stream>, scratch: &mut engine::Scratch) {
        let Prepared { row, inner, is_kept, .. } = *self.engine;
        let size = self.engine.program.dtype.size();
        if self.strip == inner {
            let all = row * inner;
            let per_matrix = if is_kept { inner } else { all };
            let Some(out) = task.outs.first_mut() else { return };
            self.engine.begin(task.matrix * all, out.len() / (per_matrix * size) * all, scratch);
            for (k, bytes) in out.chunks_mut(self.together * per_matrix * size).enumerate() {
                let matrices = bytes.len() / (per_matrix * size);
                let start = (task.matrix + k * self.together) * all;
                self.engine.compute(start, matrices * all, Some(Out { bytes, stream }), scratch);
            }
            return;
        }
        let result = self.engine.program.results[0];
        for first in (0..task.columns).step_by(self.strip) {
            let columns = self.strip.min(task.columns - first);
            self.engine.compute_columns(task.matrix, task.column + first, columns, scratch);
            let values = self.engine.read(result, is_kept, scratch);
            let is_part = values.len() < task.outs.len() * columns * size;
            for (k, out) in task.outs.iter_mut().enumerate() {
                let row = if is_part { values } else { &values[k * columns * size..][..columns * size] };
                let to = out[first * size..(first + columns) * size].chunks_mut(row.len());
                to.for_each(|to| to.copy_from_slice(&row[..to.len()]));
            }
        }
    }
}

/// A program as reductions of all rows, and the steps that follow.
struct Apart {
    reductions: Vec<Program>,
    after: Program,
    /// For each input of the steps, the number of the reduction that it is.
    given: Vec<Option<usize>>,
}

impl Apart {
    /// `None` if rows are better computed one after the other.
    fn of(program: &Program) -> Result<Option<Apart>> {
        let is_short = |frame: &Frame| program.has_short_rows(frame, LONGEST);
        let reductions = match program.plain_reduction() {
            Some(plain) => vec![plain],
            None if program.leaves_partials() && !program.frame().as_ref().is_some_and(is_short) => {
                program.reductions_alone()?
            }
            None => return Ok(None),
        };
        let (mut after, mut given) = (program.after_reductions()?, Vec::new());
        let row_major = Layout::contiguous(&after.shape)?;
        for input in &mut after.inputs {
            given.push(match input.source {
                Source::Row(number) => {
                    // The value is there, and no reduction of this program makes it.
                    (input.layout, input.source) = (row_major.clone(), Source::Scalar(0));
                    Some(number)
                }
                _ => None,
            });
        }
        Ok(Some(Apart { reductions, after, given }))
    }

    fn run(&self, program: &Program, from: &[Operand<'_>], out: &mut [u8]) -> Result<()> {
        let mut held = Vec::new();
        for plain in &self.reductions {
            let Some(reduce) = plain.kind.reduce() else { bail!(Kernel, "a program that does not reduce") };
            let bytes = plain.byte_size(0)?;
            let mut own =
                plain.results.iter().map(|_| HostMemory::take(bytes)).collect::<Result<Vec<_>>>()?;
            let source = |input: &Input| {
                let same =
                    |other: &Input| other.source.is_same(&input.source) && other.layout == input.layout;
                input_of(program, from, input, same)
            };
            let from: Vec<Operand<'_>> = plain.inputs.iter().map(source).collect::<Result<_>>()?;
            fold::fold(plain, reduce, &from, own.iter_mut().map(|memory| &mut memory[..bytes]).collect())?;
            held.extend(own.into_iter().map(|memory| (memory, bytes)));
        }
        let source = |(input, given): (&Input, &Option<usize>)| match given {
            Some(number) => {
                let (memory, bytes) = &held[*number];
                Ok(Operand::Bytes(&memory[..*bytes]))
            }
            None => input_of(program, from, input, |other| other.source.is_same(&input.source)),
        };
        let own: Vec<Operand<'_>> =
            self.after.inputs.iter().zip(&self.given).map(source).collect::<Result<_>>()?;
        eval::eval(&self.after, &own, out)
    }
}

/// The memory of an input of a part of a program.
fn input_of<'a>(
    program: &Program,
    from: &[Operand<'a>],
    input: &Input,
    same: impl Fn(&Input) -> bool,
) -> Result<Operand<'a>> {
    let is_own = |other: &Input| match input.source {
        // The plan cache has another value for it.
        Source::Scalar(_) => input.node.is_some() && input.node == other.node,
        _ => same(other),
    };
    match (program.inputs.iter().position(is_own), &input.source) {
        (Some(i), _) => Ok(from[i]),
        (None, Source::Scalar(bits)) => Ok(Operand::Scalar(*bits)),
        (None, _) => bail!(Kernel, "{:?} is no input of the program", input.source),
    }
}
