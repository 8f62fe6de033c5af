//! Elementwise programs, over their own layouts, tile by tile.
//!
//! It shares nothing with the planner on purpose: a mistake of either shows as a difference between devices.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};

use super::bytes::{self, Operand, with_memory};
use super::engine::{Cut, Engine, Out, Scratch};
use super::lines::{self, LINE};
use super::load::Reader;
use super::memory::HostMemory;
use super::threads::{self, Work};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Input, Program, Source, Value};
use crate::layout::Layout;

/// Elements of a tile: a tile of words fills a quarter of a small first-level cache.
pub(super) const BLOCK: usize = 2048;

/// The same for programs of few loops, which wait for memory, and for short rows, which have few values: more elements
/// share the cost of a tile.
const LONG_BLOCK: usize = 8192;
const FEW_LOOPS: usize = 3;

/// The same where operands are copied first, so that loads run beside other loads.
const SHORT_BLOCK: usize = 1024;

/// Elements of a thread's task. Less than two tasks are not worth threads.
const CHUNK: usize = 16 * BLOCK;

/// The same for transposed operands: as many rows as four cache lines have elements, if they fit into a second-level
/// cache.
const TURNED_CHUNK: usize = 8 * CHUNK;

/// Rows of at least this many elements begin tiles, so that operands that stretch along or across rows need no
/// gathering.
const LONG_ROW: std::ops::RangeInclusive<usize> = BLOCK / 4..=CHUNK;

/// Rows of at most this many elements: values that are constant along them are computed once.
pub(super) const SHORT_ROW: usize = *LONG_ROW.start() - 1;

/// A program over all of its elements, in chunks.
struct Job<'a> {
    engine: Engine<'a>,
    /// Elements of a row. A tile is whole rows.
    row: usize,
    /// Whether results are stored past the cache.
    streams: bool,
}

/// Copies the output's elements, by a layout and in row-major order, into `out`.
pub(super) fn laid_out(dtype: DType, held: &[u8], layout: Layout, out: &mut [u8]) -> Result<()> {
    let copy = Program::copy(Input::new(dtype, Source::Scalar(0), layout));
    eval(&copy, &[Operand::Bytes(held)], out)
}

/// Elements of a program in row-major order, in memory of a tensor or of their own.
pub(super) enum Elements<'a> {
    Read(&'a [u8]),
    Computed(HostMemory, usize),
}

impl std::ops::Deref for Elements<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Elements::Read(read) => read,
            Elements::Computed(memory, bytes) => &memory[..*bytes],
        }
    }
}

/// The program of a value along some axes, and what it reads.
pub(super) fn part<'a>(
    program: &Program,
    value: Value,
    axes: &[bool],
    from: &[Operand<'a>],
) -> Result<(Program, Vec<Operand<'a>>)> {
    let needed = program.needed(&[value], |_| false);
    let own = from.iter().zip(needed.inputs()).filter(|(_, needed)| **needed).map(|(from, _)| *from);
    Ok((program.narrowed(value, axes)?, own.collect()))
}

/// The elements of a value of a program along some axes.
pub(super) fn operand<'a>(
    program: &Program,
    value: Value,
    axes: &[bool],
    from: &[Operand<'a>],
) -> Result<Elements<'a>> {
    let (part, from) = part(program, value, axes, from)?;
    elements(&part, &from)
}

/// The elements of a program: read in place, or computed.
pub(super) fn elements<'a>(program: &Program, from: &[Operand<'a>]) -> Result<Elements<'a>> {
    let bytes = program.byte_size(0)?;
    if let ([input], [Operand::Bytes(read)], true) = (&program.inputs[..], from, program.steps.is_empty())
        && input.layout.is_contiguous()
        && !input.is_table()
    {
        return Ok(Elements::Read(&read[input.layout.offset() * program.dtype.size()..][..bytes]));
    }
    let mut computed = HostMemory::take(bytes)?;
    eval(program, from, &mut computed[..bytes])?;
    Ok(Elements::Computed(computed, bytes))
}

/// Runs a program over all of its elements, in row-major order, into `out`.
pub(super) fn eval(program: &Program, from: &[Operand<'_>], out: &mut [u8]) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let count = out.len() / program.dtype.size();
    let short = program.shape.iter().rfind(|&&n| n > 1).filter(|&&n| n <= SHORT_ROW && n < count);
    let short = short.copied().unwrap_or(1);
    let mut engine = Engine::new(program, from, short)?;
    let Cut { chunk, row, most, turned, streams, work } =
        engine.cut.get_or_init(|| cut(&engine, count, short)).clone();
    (engine.chunk, engine.most, engine.turned) = (chunk, most, turned);
    let job = Job { engine, row, streams };
    let tasks = out.chunks_mut(chunk * program.dtype.size()).enumerate();
    let scratch = || Ok(job.engine.scratch());
    threads::each(tasks, work, scratch, |scratch, (i, out)| job.chunk(i * chunk, out, scratch))
}

/// The cut of a program of `count` elements, whose rows are `short` or of any length.
fn cut(engine: &Engine<'_>, count: usize, short: usize) -> Cut {
    let Engine { program, from, .. } = *engine;
    let readers = &engine.readers;
    let is_turned = |&i: &usize| {
        let is_read = matches!(from[i], Operand::Bytes(_)) && !program.inputs[i].is_table();
        is_read && !engine.of_row.inputs()[i] && readers[i].is_turned()
    };
    let first_turned = (0..readers.len()).find(is_turned);
    let turned_row = first_turned.map(|i| readers[i].row()).filter(|row| (1..=TURNED_CHUNK).contains(row));
    let line = first_turned.map_or(1, |i| LINE / program.inputs[i].dtype.size());
    let turned = (0..readers.len()).map(|i| is_turned(&i) && Some(readers[i].row()) == turned_row).collect();
    let row = |(reader, &of_row): (&Reader, &bool)| reader.row() * if of_row { short } else { 1 };
    let row = readers.iter().zip(engine.of_row.inputs()).map(row).min();
    let row = row.filter(|row| LONG_ROW.contains(row) && row.is_multiple_of(short) && *row < count);
    // Tiles are whole rows, and whole lines too if rows are short.
    let lines = short << (LINE.trailing_zeros() - short.trailing_zeros().min(LINE.trailing_zeros()));
    let unit = if short > 1 && lines <= BLOCK / 2 { lines } else { short };
    let chunk = match (turned_row, row) {
        (Some(row), _) => row * (CHUNK / row).max((TURNED_CHUNK / row).min(4 * line)),
        (None, Some(row)) => row * (CHUNK / row),
        (None, None) => CHUNK / unit * unit,
    };
    let row = row.filter(|row| chunk % row == 0).unwrap_or(chunk);
    // Operands in the place of the result are copied first. The copy stays in the first-level cache.
    let copies = from.iter().any(|from| matches!(from, Operand::Output));
    // The copy is in the cache already, and ordinary stores run beside arithmetic.
    let bytes = count * program.dtype.size();
    let streams = !copies && !engine.is_costly() && lines::streams(bytes, Operand::bytes(from));
    let is_read = |(value, from): (Value, &Operand<'_>)| match from {
        Operand::Scalar(_) => true,
        _ => engine.in_place(value, 0, count).is_some(),
    };
    let most = match engine.code.len() {
        _ if copies => SHORT_BLOCK,
        // One loop over operands as they lie keeps nothing in the first-level cache.
        1 if !streams && (0..).map(Value::Input).zip(from).all(is_read) => chunk,
        loops if loops <= FEW_LOOPS || short > 1 => LONG_BLOCK,
        _ => BLOCK,
    };
    let unit = if row.is_multiple_of(unit) { unit } else { short };
    let units = row / unit;
    let most = (unit * units.div_ceil(units.div_ceil(most / unit))).min(count);
    Cut { chunk, row, most, turned, streams, work: Work::of(program, count) }
}

/// Runs a program of several results over all of its elements, each into one of `outs`. Common values are computed
/// once.
pub(super) fn several(program: &Program, from: &[Operand<'_>], mut outs: Vec<&mut [u8]>) -> Result<()> {
    let count: usize = program.shape.iter().product();
    let mut engine = Engine::new(program, from, 1)?;
    engine.most = BLOCK.min(count);
    let size = |i: usize| program.result_type(i).size();
    // Of each result the elements of a chunk.
    let chunk = |start| {
        let parts = outs.iter_mut().enumerate().map(|(i, out)| bytes::cut(out, CHUNK * size(i)));
        (start, parts.collect::<Vec<_>>())
    };
    let tasks: Vec<_> = (0..count).step_by(CHUNK).map(chunk).collect();
    let scratch = || Ok(engine.scratch());
    threads::each(tasks, Work::of(program, count), scratch, |scratch, (start, mut outs)| {
        let end = count.min(start + CHUNK);
        engine.begin(start, end - start, scratch);
        for at in (start..end).step_by(BLOCK) {
            let length = BLOCK.min(end - at);
            engine.compute(at, length, None, scratch);
            for (i, out) in outs.iter_mut().enumerate() {
                let value = engine.value(program.results[i], scratch);
                let out = &mut out[(at - start) * size(i)..][..length * size(i)];
                out.chunks_mut(value.len()).for_each(|out| out.copy_from_slice(&value[..out.len()]));
            }
        }
    })
}

impl Job<'_> {
    /// Computes elements from `start` on, until `out` is full.
    fn chunk(&self, start: usize, out: &mut [u8], scratch: &mut Scratch) {
        let size = self.engine.program.dtype.size();
        self.engine.begin(start, out.len() / size, scratch);
        let mut at = start;
        lines::scope(self.streams, |stream| {
            for row in out.chunks_mut(self.row * size) {
                for bytes in row.chunks_mut(self.engine.most * size) {
                    let length = bytes.len() / size;
                    self.engine.compute(at, length, Some(Out { bytes, stream }), scratch);
                    at += length;
                }
            }
        });
    }
}

/// Writes row-major elements of `size` bytes to their places in `out`.
pub(super) fn scatter(elements: &[u8], size: usize, layout: &Layout, out: &mut [u8]) {
    let reader = Reader::new(layout);
    with_memory!(size, |M| reader.scatter::<M>(cast(elements), cast_mut(out)));
}
