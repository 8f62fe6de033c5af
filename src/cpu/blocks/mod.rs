//! A program computed a block at a time: each step is a loop over a block that stays in cache, so nothing
//! is interpreted per element. Who asks says which elements, and where they go.

mod places;

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};
use smallvec::SmallVec;

use places::Place;

use super::ahead::{self, Ahead};
use super::bytes::{From, LARGEST_NEAR, with_memory};
use super::jobs::Job;
use super::kernels::PART;
use super::lines::{self, LINE, Stream};
use super::load::Reader;
use super::pairs::{self, Loop};
use super::registers::Register;
use crate::error::Result;
use crate::ir::{ByValue, Input, Op, Program, Value, is_costly, numbered};

/// Loops from which on a block asks for what the next one reads: fewer are a stream, which a processor guesses.
const ASKING_LOOPS: usize = 3;

/// A program made ready: readers of its inputs, and a register for each value.
pub(super) struct Blocks<'a> {
    pub program: &'a Program,
    pub from: &'a [From<'a>],
    pub readers: Vec<Reader>,
    pub loops: Vec<Loop>,
    registers: ByValue<usize>,
    register_count: usize,
    /// Bytes of an element of each value.
    sizes: ByValue<usize>,
    /// Elements of a row: values that are the same along it are computed once for it. Blocks are of whole rows.
    pub row: usize,
    /// Which values are, and which of them are read for each element.
    pub of_row: ByValue<bool>,
    spread: ByValue<bool>,
    /// The most elements of a block.
    pub most: usize,
    /// Whether a block asks for what the next one of its chunk reads.
    asks: bool,
    /// Tables that loops look up.
    in_loops: Vec<bool>,
    /// Inputs whose rows lie across memory: a chunk of them is gathered at a time.
    pub turned: Vec<bool>,
    /// Elements of such a chunk.
    pub chunk: usize,
}

/// Where the last loop of a block stores its elements.
pub(super) struct Out<'a> {
    pub bytes: &'a mut [u8],
    pub stream: Option<&'a Stream>,
}

/// Memory of one thread.
pub(super) struct Scratch {
    registers: Vec<Register>,
    /// A chunk of each turned input.
    turned: Vec<Vec<u64>>,
    /// The first element of a chunk, and the one after its last.
    start: usize,
    end: usize,
    /// Of values, for the block at hand.
    places: ByValue<Place>,
    /// Whether all elements of a value are equal, in the block at hand; then there is one part.
    equal: ByValue<bool>,
    /// Values of the row, an element for each.
    spread: ByValue<Register>,
    /// Elements of the block at hand.
    length: usize,
}

impl<'a> Blocks<'a> {
    /// Makes a program ready, for blocks of no elements as yet: of whole rows of `row` elements, which are all that
    /// the last axis has, or 1.
    pub(super) fn new(program: &'a Program, from: &'a [From<'a>], row: usize) -> Result<Self> {
        let axis = program.shape.iter().rposition(|&n| n > 1).unwrap_or(0);
        let is_one = |(input, from): (&Input, &From<'_>)| {
            let stays = input.layout.strides().get(axis) == Some(&0) && !matches!(from, From::Output);
            row > 1 && stays && !input.is_table()
        };
        let inputs = program.inputs.iter().zip(from);
        let of_row = ByValue::of(inputs.map(is_one), &program.steps, |step, of_row| {
            row > 1 && step.op != Op::Lookup && step.args.iter().all(|&arg| of_row[arg])
        });
        let reader = |(input, is_one): (&Input, &bool)| match is_one {
            true => Ok(Reader::new(&input.layout.slice(axis as isize, 0..1, 1)?)),
            false => Ok(Reader::new(&input.layout)),
        };
        let readers = program.inputs.iter().zip(of_row.inputs()).map(reader).collect::<Result<_>>()?;
        let loops = pairs::loops(program, &of_row)?;
        let mut spread = program.by_value(false);
        for own in loops.iter().filter(|own| !of_row[own.value]) {
            own.args.iter().for_each(|&arg| spread[arg] = of_row[arg]);
        }
        program.results.iter().for_each(|&result| spread[result] = of_row[result]);
        let called = || program.steps.iter().filter(|step| step.op == Op::Repeat);
        let in_loop =
            |(value, input): (_, &Input)| input.is_table() && called().any(|step| step.args.contains(&value));
        let in_loops = (0..).map(Value::Input).zip(&program.inputs).map(in_loop).collect();
        let (registers, register_count) = pairs::registers(program, &loops);
        // Of a table a value is an address.
        let inputs = program.inputs.iter().map(|input| if input.is_table() { 8 } else { input.dtype.size() });
        let sizes = ByValue::of(inputs, &program.steps, |step, _| step.size());
        let asks = loops.len() >= ASKING_LOOPS && From::bytes(from) > LARGEST_NEAR;
        Ok(Blocks {
            program,
            from,
            readers,
            loops,
            registers,
            register_count,
            sizes,
            row,
            of_row,
            spread,
            most: 0,
            asks,
            in_loops,
            turned: vec![false; program.inputs.len()],
            chunk: 0,
        })
    }

    /// Whether arithmetic takes more of its time than memory does.
    pub(super) fn is_costly(&self) -> bool {
        numbered(&self.program.steps).any(|(value, step)| !self.of_row[value] && is_costly(step.op))
    }

    /// Memory of one thread.
    pub(super) fn scratch(&self) -> Scratch {
        let turned = self.turned.iter().zip(&self.program.inputs);
        let words = turned.map(|(&turned, input)| {
            if turned { vec![0; (self.chunk * input.dtype.size()).div_ceil(8)] } else { Vec::new() }
        });
        Scratch {
            registers: (0..self.register_count).map(|_| Register::default()).collect(),
            turned: words.collect(),
            start: 0,
            end: 0,
            places: self.program.by_value(Place::Register),
            equal: self.program.by_value(false),
            spread: self.spread.map(|_, _| Register::default()),
            length: 0,
        }
    }

    /// Begins a chunk of `length` elements from `start` on, whose blocks are computed in turns: gathers those inputs
    /// whose rows lie across memory.
    pub(super) fn begin(&self, start: usize, length: usize, scratch: &mut Scratch) {
        (scratch.start, scratch.end) = (start, start + length);
        for i in (0..self.turned.len()).filter(|&i| self.turned[i]) {
            let From::Bytes(bytes) = self.from[i] else { continue };
            let to: &mut [u8] = cast_mut(&mut scratch.turned[i]);
            let element = self.program.inputs[i].dtype.size();
            let to = &mut to[..length * element];
            with_memory!(element, |M| {
                const SIDE: usize = LINE / size_of::<M>();
                self.readers[i].gather_rows::<M, SIDE>(cast(bytes), start, cast_mut(to));
            });
        }
    }

    /// What `length` elements from `start` on read, of inputs whose elements lie in one stretch of memory.
    pub(super) fn ahead(&self, start: usize, length: usize) -> Ahead<'a> {
        let stretches = self.program.inputs.iter().enumerate().filter_map(|(i, input)| {
            let From::Bytes(bytes) = self.from[i] else { return None };
            let row = if self.of_row.inputs()[i] { self.row } else { 1 };
            if input.is_table() || self.turned[i] || length < row {
                return None;
            }
            let elements = length / row;
            let run = self.readers[i].run(start / row, elements)?;
            ahead::stretch(bytes, input.dtype.size(), run, elements)
        });
        Ahead::in_stretches(stretches)
    }

    /// Computes `length` elements from `start` on: into `out`, if there is one, those of the first result.
    pub(super) fn compute(&self, start: usize, length: usize, out: Option<Out<'_>>, scratch: &mut Scratch) {
        let program = self.program;
        scratch.length = length;
        for (i, input) in program.inputs.iter().enumerate() {
            let value = Value::Input(i as u32);
            let before = out.as_ref().map_or(&[][..], |out| out.bytes);
            let row = if self.of_row[value] { self.row } else { 1 };
            (scratch.places[value], scratch.equal[value]) =
                self.place(i, input, start / row, length / row, scratch, before);
            self.spread(value, scratch);
        }
        let after = start + length;
        let next = match self.asks {
            true => self.ahead(after, length.min(scratch.end.saturating_sub(after))),
            false => Ahead::default(),
        };
        let mut ask = next.in_steps(self.loops.len());
        let mut out = out;
        for own in &self.loops {
            ask();
            let value = own.value;
            if program.step(value).is_some_and(|step| step.op == Op::Lookup) {
                self.look_up(value, own, length, scratch);
                continue;
            }
            let target = self.registers[value];
            // Taken out, so that the others can be read.
            let mut register = std::mem::take(&mut scratch.registers[target]);
            let of_row = self.of_row[value];
            let last = if value == program.results[0] && !of_row { out.take() } else { None };
            let is_last = last.is_some();
            let equal = !own.args.is_empty() && own.args.iter().all(|&arg| scratch.equal[arg]);
            scratch.equal[value] = equal;
            let count = match (equal, of_row) {
                (true, _) => length.min(PART),
                (false, true) => length / self.row,
                (false, false) => length,
            };
            {
                let args: SmallVec<[&[u8]; 4]> =
                    own.args.iter().map(|&arg| self.read(arg, of_row && !equal, scratch)).collect();
                let args = args.as_slice();
                match last {
                    // Its states do not lie beside each other.
                    Some(Out { bytes, stream: Some(stream) }) if matches!(own.job, Job::State { .. }) => {
                        let all = register.bytes_mut(bytes.len());
                        own.job.run(args, all);
                        stream.copy(all, bytes);
                    }
                    Some(Out { bytes, stream: Some(stream) }) => {
                        self.stream(own, args, &mut register, stream, bytes);
                    }
                    Some(Out { bytes, stream: None }) => own.job.run(args, bytes),
                    None => {
                        let to = register.bytes_mut(count * self.sizes[value]);
                        match &own.job {
                            Job::Repeat(repeat) => repeat.run(args, &self.tables(own), to),
                            job => job.run(args, to),
                        }
                    }
                }
            }
            scratch.registers[target] = register;
            if is_last {
                return;
            }
            self.spread(value, scratch);
        }
        let Some(Out { bytes, stream }) = out else { return };
        let result = self.value(program.results[0], scratch);
        for out in bytes.chunks_mut(result.len()) {
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
        out.last().into_iter().for_each(lines::prefetch);
        // The first part ends where a line does, so that parts share none.
        let first = PART * size - LINE + lines::to_line(out);
        let (first, rest) = out.split_at_mut(first.min(out.len()));
        for out in std::iter::once(first).chain(rest.chunks_mut(PART * size)) {
            let length = out.len() / size;
            let parts = args.iter().zip(&own.args).map(|(arg, &value)| {
                let size = self.sizes[value];
                let start = if arg.len() == block * size { start } else { 0 };
                &arg[start * size..(start + length) * size]
            });
            let parts: SmallVec<[&[u8]; 4]> = parts.collect();
            let part = register.bytes_mut(out.len());
            own.job.run(&parts, part);
            stream.copy(part, out);
            start += length;
        }
    }
}
