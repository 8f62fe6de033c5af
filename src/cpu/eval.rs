//! Elementwise programs, over their own layouts, tile by tile.
//!
//! It shares nothing with the planner on purpose: a mistake of either shows as a difference between devices.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};

use super::bytes::{self, LARGEST_NEAR, Operand, with_memory};
use super::engine::{Cut, Engine, Out, Runs, Scratch};
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

/// The most elements of a thread's task. What is worth threads has several smaller ones for each.
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
    /// Elements of a row. A tile is whole rows, or a part of one.
    row: usize,
    /// Rows of a tile, and the distance of rows in the result's memory.
    rows: usize,
    pitch: usize,
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

/// The length and the distance of a layout's rows, if they can be written one by one.
pub(super) fn rows_of(layout: &Layout) -> Option<[usize; 2]> {
    let simple = layout.simplified();
    Reader::new(&simple).rows().filter(|[row, pitch]| simple.rank() == 2 && row <= pitch)
}

/// Runs a program over all of its elements, in row-major order, into `out`.
pub(super) fn eval(program: &Program, from: &[Operand<'_>], out: &mut [u8]) -> Result<()> {
    let count = out.len() / program.dtype.size();
    eval_rows(program, from, out, [count, count])
}

/// The same into rows of memory, of a length and a distance.
pub(super) fn eval_rows(
    program: &Program,
    from: &[Operand<'_>],
    out: &mut [u8],
    [own, pitch]: [usize; 2],
) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let count = out.len().div_ceil(pitch * program.dtype.size()) * own;
    let short = program.shape.iter().rfind(|&&n| n > 1).filter(|&&n| n <= SHORT_ROW && n < count);
    let short = short.copied().unwrap_or(1);
    let mut engine = Engine::new(program, from, short)?;
    let own = (own < count).then_some(own);
    let known = Some(engine.cut.get_or_init(|| cut(&engine, count, short, own))).filter(|cut| cut.own == own);
    let known = known.cloned().unwrap_or_else(|| cut(&engine, count, short, own));
    let Cut { chunk, row, rows, most, turned, streams, runs, work, .. } = known;
    (engine.chunk, engine.most, engine.turned, engine.runs) = (chunk, most, turned, runs);
    let pitch = if own.is_some() { pitch } else { row };
    engine.runs.pitch = pitch;
    let job = Job { engine, row, rows, pitch, streams };
    let tasks = out.chunks_mut(chunk / row * pitch * program.dtype.size()).enumerate();
    let scratch = || Ok(job.engine.scratch());
    threads::each(tasks, work, scratch, |scratch, (i, out)| job.chunk(i * chunk, out, scratch))
}

/// The cut of a program of `count` elements, whose rows are `short` or of any length. The result's memory has `own` rows.
fn cut(engine: &Engine<'_>, count: usize, short: usize, own: Option<usize>) -> Cut {
    let Engine { program, from, .. } = *engine;
    let readers = &engine.readers;
    let is_turned = |&i: &usize| {
        let is_read = matches!(from[i], Operand::Bytes(_)) && !program.inputs[i].is_table();
        is_read && !engine.of_row.inputs()[i] && readers[i].is_turned()
    };
    let first_turned = (0..readers.len()).find(is_turned);
    let turned_row = first_turned.map(|i| readers[i].row()).filter(|row| (1..=TURNED_CHUNK).contains(row));
    // A task is whole rows of both.
    let turned_row = turned_row.filter(|row| own.is_none_or(|own| own % row == 0 || row % own == 0));
    let line = first_turned.map_or(1, |i| LINE / program.inputs[i].dtype.size());
    let turned = (0..readers.len()).map(|i| is_turned(&i) && Some(readers[i].row()) == turned_row).collect();
    let copies = from.iter().any(Operand::is_output);
    // The copy is in the cache already, and ordinary stores run beside arithmetic.
    let bytes = count * program.dtype.size();
    let streams = !copies && !engine.is_costly() && lines::streams(bytes, Operand::bytes(from));
    let is_read = |(value, from): (Value, &Operand<'_>)| match from {
        Operand::Scalar(_) => true,
        _ => engine.in_place(value, 0, count).is_some(),
    };
    let work = Work::of(program, count);
    let task = if work.is_shared() { (count / 8).clamp(LONG_BLOCK, CHUNK) } else { CHUNK };
    let most = match engine.code.len() {
        // Operands in the place of the result are copied first. The copy stays in the first-level cache.
        _ if copies && bytes > LARGEST_NEAR => SHORT_BLOCK,
        // One loop over operands as they lie keeps nothing in the first-level cache.
        1 if !streams && own.is_none() && (0..).map(Value::Input).zip(from).all(is_read) => task,
        loops if loops <= FEW_LOOPS || short > 1 || copies => LONG_BLOCK,
        _ => BLOCK,
    };
    let mut runs = Runs { inputs: engine.in_runs(), ..Runs::default() };
    let rows = readers.iter().zip(&runs.inputs).filter(|(_, in_runs)| **in_runs);
    let run = own.or_else(|| rows.filter_map(|(reader, _)| Some(reader.rows()?[0])).min());
    let chunk_of_turned = |row: usize| {
        let row = row.max(own.unwrap_or(1));
        row * (CHUNK / row).max((TURNED_CHUNK / row).min(4 * line)).max(1)
    };
    // Several rows are a tile if operands or the result have gaps between them. Long rows are tiles of their own.
    let run = run.filter(|run| 2 * run <= most.min(BLOCK) && (own.is_some() || turned_row.is_none()));
    if let Some(run) = run {
        runs.length = run;
        let rows = most / run;
        let most = rows * run;
        let chunk = turned_row.map_or(most * (task / most).max(1), chunk_of_turned);
        return Cut { chunk, row: run, rows, most, turned, streams, runs, own, work };
    }
    let row = |(reader, &of_row): (&Reader, &bool)| reader.row() * if of_row { short } else { 1 };
    let row = readers.iter().zip(engine.of_row.inputs()).map(row).min();
    let row = row.filter(|row| LONG_ROW.contains(row) && row.is_multiple_of(short) && *row < count);
    let row = own.or(row);
    // Tiles are whole rows, and whole lines too if rows are short.
    let lines = short << (LINE.trailing_zeros() - short.trailing_zeros().min(LINE.trailing_zeros()));
    let unit = if short > 1 && lines <= BLOCK / 2 { lines } else { short };
    let chunk = match (turned_row, row) {
        (Some(row), _) => chunk_of_turned(row),
        (None, Some(row)) => row * (task / row).max(1),
        (None, None) => task / unit * unit,
    };
    let row = row.filter(|row| chunk % row == 0).unwrap_or(chunk);
    let unit = if row.is_multiple_of(unit) { unit } else { short };
    let units = row / unit;
    let most = (unit * units.div_ceil(units.div_ceil(most / unit))).min(count);
    Cut { chunk, row, rows: 1, most, turned, streams, runs, own, work }
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
        let Job { row, rows, pitch, .. } = *self;
        let all = out.len() / (pitch * size) * row + (out.len() / size % pitch).min(row);
        self.engine.begin(start, all, scratch);
        let mut at = start;
        lines::scope(self.streams, |stream| {
            for out in out.chunks_mut(rows * pitch * size) {
                if rows > 1 {
                    let length = out.len().div_ceil(pitch * size) * row;
                    self.engine.compute(at, length, Some(Out { bytes: out, stream }), scratch);
                    at += length;
                    continue;
                }
                let end = out.len().min(row * size);
                for bytes in out[..end].chunks_mut(self.engine.most * size) {
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
