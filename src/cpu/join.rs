//! Interleaved results, such as channels of pixels: programs whose results lie side by side along an axis. All programs
//! compute some places of the outer axes while these are in cache, so memory is read and written once.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};
use smallvec::SmallVec;

use super::bytes::{Operand, with_memory};
use super::engine::{self, Engine};
use super::eval::BLOCK;
use super::lines::{self, Stream};
use super::registers::Register;
use super::threads::{self, Work};
use crate::error::Result;
use crate::ir::{Join, Program};
use crate::vectors;

/// The most elements of all results that are computed together.
const ALL: usize = 4 * BLOCK;

/// Elements of a chunk, the task of a thread.
const CHUNK: usize = 8 * ALL;

/// Whether programs write short runs of the result, often enough to be worth it.
pub(super) fn is_interleaved(join: &Join) -> bool {
    let all: usize = join.shape[join.axis..].iter().product();
    let outer: usize = join.shape[..join.axis].iter().product();
    join.parts.iter().all(|part| part.is_map()) && all <= BLOCK / 4 && outer > 1
}

/// The most programs that are merged, since their inputs are compared.
const MERGED: usize = 16;

/// Programs side by side, with runs of one length, as one program whose common parts appear once.
struct Part<'a> {
    engine: Engine<'a>,
    /// Elements of a run.
    width: usize,
}

/// Memory of one thread for such a program.
struct Own {
    scratch: engine::Scratch,
    /// Results whose elements in a block are all equal: that many elements.
    filled: Vec<Register>,
}

/// Memory of one thread.
struct Scratch {
    parts: Vec<Own>,
    all: Register,
}

struct Job<'a> {
    parts: Vec<Part<'a>>,
    /// Elements of all runs that lie side by side.
    all: usize,
    /// Runs that are computed together.
    together: usize,
    size: usize,
    streams: bool,
}

/// Runs interleaved programs into `out`.
pub(super) fn join(join: &Join, from: &[Vec<Operand<'_>>], out: &mut [u8]) -> Result<()> {
    let all: usize = join.shape[join.axis..].iter().product();
    let size = join.dtype.size();
    if out.is_empty() {
        return Ok(());
    }
    let mut merged = Vec::new();
    let mut rest = (&*join.parts, from);
    while let Some(first) = rest.0.first() {
        let alike = rest.0.iter().take(MERGED).take_while(|part| part.shape == first.shape).count();
        let (parts, from) = (rest.0.split_at(alike), rest.1.split_at(alike));
        rest = (parts.1, from.1);
        let (program, found) = Program::merged(parts.0)?;
        let from: Vec<Operand<'_>> = found.into_iter().map(|(part, input)| from.0[part][input]).collect();
        merged.push((program, from));
    }
    let width = |part: &Program| -> usize { part.shape[join.axis..].iter().product() };
    let widest = join.parts.iter().map(width).max().unwrap_or(1).max(1);
    let together = (BLOCK / widest).min(ALL / all);
    let mut parts = Vec::with_capacity(merged.len());
    for (part, from) in &merged {
        let width = width(part);
        let mut engine = Engine::new(part, from, 1)?;
        engine.most = together * width;
        parts.push(Part { engine, width });
    }
    parts.retain(|part| part.width > 0);
    // Ordinary stores run beside arithmetic.
    let is_costly = parts.iter().any(|part| part.engine.is_costly());
    let read = merged.iter().map(|(_, from)| Operand::bytes(from)).sum();
    let job = Job { parts, all, together, size, streams: !is_costly && lines::streams(out.len(), read) };
    let chunk = (CHUNK / all).next_multiple_of(together) * all * size;
    let work = merged.iter().map(|(part, _)| Work::of(part, part.shape.iter().product())).sum();
    let (tasks, scratch) = (out.chunks_mut(chunk).enumerate(), || Ok(job.scratch()));
    threads::each(tasks, work, scratch, |scratch, (i, out)| {
        lines::scope(job.streams, |stream| job.chunk(i * chunk, out, stream, scratch));
    })
}

impl Job<'_> {
    fn scratch(&self) -> Scratch {
        let own = |part: &Part<'_>| Own {
            scratch: part.engine.scratch(),
            filled: part.engine.program.results.iter().map(|_| Register::default()).collect(),
        };
        Scratch { parts: self.parts.iter().map(own).collect(), all: Register::default() }
    }

    /// Computes the bytes from `start` on, until `out` is full.
    fn chunk(&self, start: usize, out: &mut [u8], stream: Option<&Stream>, scratch: &mut Scratch) {
        let run = self.all * self.size;
        let mut first = start / run;
        for (part, own) in self.parts.iter().zip(&mut scratch.parts) {
            part.engine.begin(first * part.width, out.len() / run * part.width, &mut own.scratch);
        }
        for out in out.chunks_mut(self.together * run) {
            let runs = out.len() / run;
            let Scratch { parts, all } = scratch;
            all.through(stream, out, |out| self.block(first, runs, parts, out));
            first += runs;
        }
    }

    /// Computes this many runs of each result.
    fn block(&self, first: usize, runs: usize, scratch: &mut [Own], out: &mut [u8]) {
        for (part, own) in self.parts.iter().zip(&mut *scratch) {
            part.engine.compute(first * part.width, runs * part.width, None, &mut own.scratch);
        }
        let mut results: SmallVec<[&[u8]; 4]> = SmallVec::new();
        for (part, own) in self.parts.iter().zip(scratch) {
            for (&result, filled) in part.engine.program.results.iter().zip(&mut own.filled) {
                results.push(part.engine.all(result, filled, &own.scratch));
            }
        }
        with_memory!(self.size, |M| {
            let results: SmallVec<[&[M]; 4]> = results.iter().map(|result| cast(result)).collect();
            vectors::dispatch(Weave { results: &results, runs, out: cast_mut(out) });
        });
    }
}

/// Places `runs` of each result behind the runs of the one before.
struct Weave<'a, M> {
    results: &'a [&'a [M]],
    runs: usize,
    out: &'a mut [M],
}

impl<M: bytemuck::Pod> vectors::Loop for Weave<'_, M> {
    #[inline(always)]
    fn run(self) {
        let Weave { results, runs, out } = self;
        // A loop of a known count vectorizes.
        match *results {
            [a, b] if out.len() == 2 * runs => {
                let all = a.iter().zip(b);
                out.as_chunks_mut().0.iter_mut().zip(all).for_each(|(out, (&a, &b))| *out = [a, b]);
            }
            [a, b, c] if out.len() == 3 * runs => {
                let all = a.iter().zip(b).zip(c);
                out.as_chunks_mut().0.iter_mut().zip(all).for_each(|(out, ((&a, &b), &c))| *out = [a, b, c]);
            }
            [a, b, c, d] if out.len() == 4 * runs => {
                let all = a.iter().zip(b).zip(c).zip(d);
                let out = out.as_chunks_mut().0.iter_mut();
                out.zip(all).for_each(|(out, (((&a, &b), &c), &d))| *out = [a, b, c, d]);
            }
            _ => {
                let mut rest = out;
                for run in 0..runs {
                    for result in results {
                        let width = result.len() / runs;
                        let (to, after) = rest.split_at_mut(width);
                        to.copy_from_slice(&result[run * width..][..width]);
                        rest = after;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Weave;

    #[test]
    fn runs_go_to_their_places() {
        for widths in [&[1, 1][..], &[1, 1, 1], &[1, 1, 1, 1], &[1, 1, 1, 1, 1], &[2, 1], &[3], &[1, 2, 1]] {
            let all: usize = widths.iter().sum();
            let expected: Vec<u32> = (0..5 * all as u32).collect();
            let mut place = 0;
            let mut results: Vec<Vec<u32>> = Vec::new();
            for &width in widths {
                results
                    .push(expected.chunks(all).flat_map(|run| &run[place..place + width]).copied().collect());
                place += width;
            }
            let results: Vec<&[u32]> = results.iter().map(Vec::as_slice).collect();
            let mut out = vec![0; expected.len()];
            crate::vectors::dispatch(Weave { results: &results, runs: 5, out: &mut out });
            assert_eq!(out, expected, "{widths:?}");
        }
    }
}
