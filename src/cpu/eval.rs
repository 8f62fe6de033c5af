//! The reference evaluator. It walks the program's own layouts, block by block: each step is a
//! loop over a block that stays in cache, so nothing is interpreted per element.
//!
//! It shares nothing with the planner on purpose: a mistake of either shows as a difference.

use std::sync::OnceLock;

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};
use rayon::prelude::*;

use super::cache::{self, LINE, Stream};
use super::kernels::PART;
use super::load::Reader;
use super::pairs::{self, Loop};
use super::registers::{self, Register};
use crate::expr::{Input, Program, Source, Value};

/// Elements of a block: a block of words fills a quarter of a small first-level cache.
const BLOCK: usize = 2048;

/// The same for programs of few loops, whose time is the memory's: more elements share what a block costs.
const LONG_BLOCK: usize = 8192;
const FEW_LOOPS: usize = 3;

/// The same where what is read is copied out of the way first, so that its loads run beside the others.
const SHORT_BLOCK: usize = 1024;

/// Elements that a thread takes at a time; less than two of these are not worth threads.
const CHUNK: usize = 16 * BLOCK;

/// The same where operands are turned: as many rows as four cache lines have elements, if so many fit
/// in a second-level cache.
const TURNED_CHUNK: usize = 8 * CHUNK;

/// Rows whose blocks begin with them, so that what stretches along a row, or across rows, is found
/// without gathering it.
const LONG_ROW: std::ops::RangeInclusive<usize> = BLOCK / 4..=CHUNK;

/// Calls `$call` with the type that moves elements of `$size` bytes.
macro_rules! with_memory {
    ($size:expr, |$memory:ident| $call:expr) => {
        match $size {
            1 => {
                type $memory = u8;
                $call
            }
            2 => {
                type $memory = u16;
                $call
            }
            4 => {
                type $memory = u32;
                $call
            }
            _ => {
                type $memory = u64;
                $call
            }
        }
    };
}

/// What an input is read from.
#[derive(Clone, Copy)]
pub(super) enum From<'a> {
    /// Elements of a storage.
    Bytes(&'a [u8]),
    /// The elements that the output holds until they are overwritten.
    Output,
    /// What the program itself says: a constant or a coordinate.
    Program,
}

/// A program made ready: readers of its inputs, and a register for each value.
struct Job<'a> {
    program: &'a Program,
    from: &'a [From<'a>],
    readers: Vec<Reader>,
    loops: Vec<Loop>,
    registers: Vec<usize>,
    register_count: usize,
    /// Bytes of an element of each value.
    sizes: Vec<usize>,
    /// Elements of a block, and of a row, which a whole number of blocks makes up.
    block: usize,
    row: usize,
    /// Elements of a chunk.
    chunk: usize,
    /// Inputs whose rows lie across memory: a chunk of them is gathered at a time.
    turned: Vec<bool>,
    /// Whether results are stored past the cache.
    streams: bool,
}

/// Runs a program over all of its elements, in row-major order, into `out`.
pub(super) fn eval(program: &Program, from: &[From<'_>], out: &mut [u8]) {
    let loops = pairs::loops(program);
    let (registers, register_count) = registers::assign(program, &loops);
    let readers: Vec<Reader> = program.inputs.iter().map(|input| Reader::new(&input.layout)).collect();
    let is_turned =
        |(reader, from): (&Reader, &From<'_>)| matches!(from, From::Bytes(_)) && reader.is_turned();
    let first_turned = readers.iter().zip(from).position(is_turned);
    let turned_row = first_turned.map(|i| readers[i].row()).filter(|row| (1..=TURNED_CHUNK).contains(row));
    let line = first_turned.map_or(1, |i| LINE / program.inputs[i].dtype.size());
    let is_gathered = |pair: (&Reader, &From<'_>)| is_turned(pair) && Some(pair.0.row()) == turned_row;
    let turned = readers.iter().zip(from).map(is_gathered).collect();
    let count = out.len() / program.dtype.size();
    let row = readers.iter().map(Reader::row).min().filter(|row| LONG_ROW.contains(row) && *row < count);
    let elements = match (turned_row, row) {
        (Some(row), _) => row * (CHUNK / row).max((TURNED_CHUNK / row).min(4 * line)),
        (None, Some(row)) => row * (CHUNK / row),
        (None, None) => CHUNK,
    };
    let row = row.filter(|row| elements % row == 0).unwrap_or(elements);
    // What is read where it is written is copied first, which stays in the first-level cache.
    let copies = from.iter().any(|from| matches!(from, From::Output));
    let most = match loops.len() {
        _ if copies => SHORT_BLOCK,
        ..=FEW_LOOPS => LONG_BLOCK,
        _ => BLOCK,
    };
    let block = row.div_ceil(row.div_ceil(most)).min(count);
    let sizes = (0..registers.len()).map(|value| program.dtype_of(value as Value).size()).collect();
    let chunk = elements * program.dtype.size();
    let job = Job {
        program,
        from,
        readers,
        loops,
        registers,
        register_count,
        sizes,
        block,
        row,
        chunk: elements,
        turned,
        // What was copied to be read is in the cache already.
        streams: !copies && cache::streams(out.len()),
    };
    // In a task of the caller's own pool, splitting would let this thread pick up another task
    // while it holds locks of storages.
    let pool = if rayon::current_thread_index().is_some() { None } else { pool() };
    match pool.filter(|_| out.len() >= 2 * chunk) {
        Some(pool) => pool.install(|| {
            out.par_chunks_mut(chunk)
                .enumerate()
                .for_each_init(|| job.scratch(), |scratch, (i, out)| job.chunk(i * elements, out, scratch));
        }),
        None => {
            let mut scratch = job.scratch();
            (out.chunks_mut(chunk).enumerate())
                .for_each(|(i, out)| job.chunk(i * elements, out, &mut scratch));
        }
    }
}

/// The crate's own threads; none where they cannot be started.
fn pool() -> Option<&'static rayon::ThreadPool> {
    static POOL: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();
    let build = || {
        let name = |i| format!("zerostride-{i}");
        rayon::ThreadPoolBuilder::new().thread_name(name).build()
    };
    POOL.get_or_init(|| build().map_err(|e| log::warn!("the CPU path runs on one thread: {e}")).ok()).as_ref()
}

/// Where the elements of an input lie as a block needs them: the first byte.
#[derive(Clone, Copy)]
enum Place {
    Source(usize),
    Turned(usize),
    Register,
}

/// Memory of one thread.
struct Scratch {
    registers: Vec<Register>,
    /// A chunk of each turned input.
    turned: Vec<Vec<u64>>,
    /// The first element of that chunk.
    start: usize,
    /// Of the inputs, for the block at hand.
    places: Vec<Place>,
    /// Elements of each value, for the block at hand: where all are equal, there is one part.
    lengths: Vec<usize>,
}

impl Job<'_> {
    fn scratch(&self) -> Scratch {
        let turned = self.turned.iter().zip(&self.program.inputs);
        let words = turned.map(|(&turned, input)| {
            if turned { vec![0; (self.chunk * input.dtype.size()).div_ceil(8)] } else { Vec::new() }
        });
        Scratch {
            registers: (0..self.register_count).map(|_| Register::default()).collect(),
            turned: words.collect(),
            start: 0,
            places: vec![Place::Register; self.program.inputs.len()],
            lengths: vec![0; self.registers.len()],
        }
    }

    /// Computes the elements from `start` on, until `out` is full.
    fn chunk(&self, start: usize, out: &mut [u8], scratch: &mut Scratch) {
        let size = self.program.dtype.size();
        scratch.start = start;
        for i in (0..self.turned.len()).filter(|&i| self.turned[i]) {
            let From::Bytes(bytes) = self.from[i] else { continue };
            let to: &mut [u8] = cast_mut(&mut scratch.turned[i]);
            let element = self.program.inputs[i].dtype.size();
            let to = &mut to[..out.len() / size * element];
            with_memory!(element, |M| {
                const SIDE: usize = LINE / size_of::<M>();
                self.readers[i].gather_rows::<M, SIDE>(cast(bytes), start, cast_mut(to));
            });
        }
        let mut at = start;
        let mut blocks = |stream: Option<&Stream>| {
            for row in out.chunks_mut(self.row * size) {
                for out in row.chunks_mut(self.block * size) {
                    let length = out.len() / size;
                    self.block(at, length, out, stream, scratch);
                    at += length;
                }
            }
        };
        if self.streams { cache::scope(|stream| blocks(Some(stream))) } else { blocks(None) }
    }

    fn block(
        &self,
        start: usize,
        length: usize,
        out: &mut [u8],
        stream: Option<&Stream>,
        scratch: &mut Scratch,
    ) {
        let program = self.program;
        for (i, input) in program.inputs.iter().enumerate() {
            let (place, equal) = self.place(i, input, start, length, scratch, out);
            scratch.places[i] = place;
            scratch.lengths[i] = if equal { length.min(PART) } else { length };
        }
        for own in &self.loops {
            let value = program.inputs.len() + own.step;
            let target = self.registers[value];
            // Taken out, so that the others can be read.
            let mut register = std::mem::take(&mut scratch.registers[target]);
            let last = value as Value == program.results[0];
            let count = own.args.iter().map(|&arg| scratch.lengths[arg as usize]).max().unwrap_or(length);
            scratch.lengths[value] = count;
            {
                let mut args: [&[u8]; 3] = [&[]; 3];
                for (slot, &arg) in args.iter_mut().zip(&own.args) {
                    *slot = self.value(arg, scratch);
                }
                let args = &args[..own.args.len()];
                match stream {
                    Some(stream) if last => self.stream(own, args, &mut register, stream, out),
                    _ if last => own.run(program, args, out),
                    _ => own.run(program, args, register.bytes_mut(count * self.sizes[value])),
                }
            }
            scratch.registers[target] = register;
            if last {
                return;
            }
        }
        let result = self.value(program.results[0], scratch);
        for out in out.chunks_mut(result.len()) {
            let result = &result[..out.len()];
            match stream {
                Some(stream) => stream.copy(result, out),
                None => out.copy_from_slice(result),
            }
        }
    }

    /// Runs the last loop of a block, whose elements are stored past the cache: a part at a time, as
    /// loads go on only beside few such stores.
    fn stream(&self, own: &Loop, args: &[&[u8]], register: &mut Register, stream: &Stream, out: &mut [u8]) {
        let size = self.program.dtype.size();
        let block = out.len() / size;
        let mut start = 0;
        // A line that blocks share takes ordinary stores, and others wait for them.
        out.last().into_iter().for_each(cache::prefetch);
        // The first part ends where a line does, so that parts share none.
        let first = PART * size - LINE + cache::to_line(out);
        let (first, rest) = out.split_at_mut(first.min(out.len()));
        for out in std::iter::once(first).chain(rest.chunks_mut(PART * size)) {
            let length = out.len() / size;
            let mut parts: [&[u8]; 3] = [&[]; 3];
            for ((part, arg), &value) in parts.iter_mut().zip(args).zip(&own.args) {
                let size = self.sizes[value as usize];
                let start = if arg.len() == block * size { start } else { 0 };
                *part = &arg[start * size..(start + length) * size];
            }
            let part = register.bytes_mut(out.len());
            own.run(self.program, &parts[..args.len()], part);
            stream.copy(part, out);
            start += length;
        }
    }

    fn value<'s>(&'s self, value: Value, scratch: &'s Scratch) -> &'s [u8] {
        let index = value as usize;
        let bytes = scratch.lengths[index] * self.sizes[index];
        let source = match (scratch.places.get(index), self.from.get(index)) {
            (Some(&Place::Source(at)), Some(From::Bytes(source))) => Some((*source, at)),
            (Some(&Place::Turned(at)), _) => Some((cast(&scratch.turned[index]), at)),
            _ => None,
        };
        match source {
            Some((source, at)) => &source[at..at + bytes],
            None => scratch.registers[self.registers[index]].bytes(bytes),
        }
    }

    /// Finds the elements of an input, and gathers them in its register where they do not lie
    /// side by side; whether they are one element.
    fn place(
        &self,
        i: usize,
        input: &Input,
        start: usize,
        length: usize,
        scratch: &mut Scratch,
        out: &[u8],
    ) -> (Place, bool) {
        let size = input.dtype.size();
        if self.turned[i] {
            return (Place::Turned((start - scratch.start) * size), false);
        }
        let reader = &self.readers[i];
        let run = reader.run(start, length);
        if let (From::Bytes(_), Some((at, 1))) = (self.from[i], run) {
            return (Place::Source(at * size), false);
        }
        let register = &mut scratch.registers[self.registers[i]];
        let splat = run.filter(|&(_, stride)| stride == 0).map(|(at, _)| at);
        if splat.is_some() && splat == register.splat {
            return (Place::Register, true);
        }
        register.splat = splat;
        let count = if splat.is_some() { self.block.min(PART) } else { length };
        let to = register.bytes_mut(count * size);
        match (self.from[i], &input.source) {
            (From::Bytes(bytes), _) => with_memory!(size, |M| match splat {
                Some(at) => cast_mut::<_, M>(to).fill(cast::<_, M>(bytes)[at]),
                None => reader.gather::<M>(cast(bytes), start, cast_mut(to)),
            }),
            (From::Output, _) => to.copy_from_slice(out),
            (_, Source::Index(_)) => match splat {
                Some(at) => cast_mut::<_, i32>(to).fill(at as i32),
                None => reader.addresses(start, cast_mut(to)),
            },
            (_, Source::Scalar(bits)) => {
                with_memory!(size, |M| cast_mut::<_, M>(to).fill(*bits as M));
            }
            (From::Program, Source::Tensor(_) | Source::Stage { .. }) => {}
        }
        (Place::Register, splat.is_some())
    }
}

/// Writes row-major elements of `size` bytes to their places in `out`.
pub(super) fn scatter(elements: &[u8], size: usize, layout: &crate::layout::Layout, out: &mut [u8]) {
    let reader = Reader::new(layout);
    with_memory!(size, |M| reader.scatter::<M>(cast(elements), cast_mut(out)));
}
