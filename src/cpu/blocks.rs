//! A program computed a block at a time: each step is a loop over a block that stays in cache, so nothing
//! is interpreted per element. Who asks says which elements, and where they go.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};
use smallvec::SmallVec;

use super::kernels::{Job, PART};
use super::lines::{self, LINE, Stream};
use super::load::{self, Reader};
use super::lookup::{self, Addresses, Table};
use super::pairs::{self, Loop};
use super::registers::{self, Register};
use crate::error::Result;
use crate::expr::{Input, Op, Program, Step, Value, is_costly};

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

pub(super) use with_memory;

/// What an input is read from.
#[derive(Clone, Copy)]
pub(super) enum From<'a> {
    /// Elements of a storage.
    Bytes(&'a [u8]),
    /// The elements that the output holds until they are overwritten.
    Output,
    /// One constant, as its bits.
    Scalar(u64),
    /// The address itself: a coordinate.
    Index,
}

impl From<'_> {
    /// Bytes that are read of memory, at most.
    pub(super) fn bytes(all: &[From<'_>]) -> usize {
        all.iter().map(|from| if let From::Bytes(bytes) = from { bytes.len() } else { 0 }).sum()
    }
}

/// A program made ready: readers of its inputs, and a register for each value.
pub(super) struct Blocks<'a> {
    pub program: &'a Program,
    from: &'a [From<'a>],
    pub readers: Vec<Reader>,
    pub loops: Vec<Loop>,
    registers: Vec<usize>,
    register_count: usize,
    /// Bytes of an element of each value.
    sizes: Vec<usize>,
    /// Elements of a row: values that are the same along it are computed once for it. Blocks are of whole rows.
    row: usize,
    /// Which values are, and which of them are read for each element.
    pub of_row: Vec<bool>,
    spread: Vec<bool>,
    /// The most elements of a block.
    pub most: usize,
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

/// Where the elements of an input lie as a block needs them: the first byte.
#[derive(Clone, Copy)]
enum Place {
    Source(usize),
    Turned(usize),
    Register,
    /// Of what is looked up: elements of an input's source.
    Table(usize, usize),
    /// Of a table: where its elements lie, but for the indices; without such a walk its register has that.
    Walk(usize, isize),
}

/// Memory of one thread.
pub(super) struct Scratch {
    registers: Vec<Register>,
    /// A chunk of each turned input.
    turned: Vec<Vec<u64>>,
    /// The first element of that chunk.
    start: usize,
    /// Of the inputs, for the block at hand.
    places: Vec<Place>,
    /// Whether all elements of a value are equal, in the block at hand; then there is one part.
    equal: Vec<bool>,
    /// Values of the row, an element for each.
    spread: Vec<Register>,
    /// Elements of the block at hand.
    length: usize,
}

impl<'a> Blocks<'a> {
    /// Makes a program ready, for blocks of no elements as yet: of whole rows of `row` elements, which are all that
    /// the last axis has, or 1.
    pub(super) fn new(program: &'a Program, from: &'a [From<'a>], row: usize) -> Result<Self> {
        let axis = program.shape.iter().rposition(|&n| n > 1).unwrap_or(0);
        let mut of_row: Vec<bool> = Vec::with_capacity(program.inputs.len() + program.steps.len());
        let mut readers = Vec::with_capacity(program.inputs.len());
        for (input, from) in program.inputs.iter().zip(from) {
            let stays = input.layout.strides().get(axis) == Some(&0) && !matches!(from, From::Output);
            let is_one = row > 1 && stays && !input.is_table();
            readers.push(Reader::new(&match is_one {
                true => input.layout.slice(axis as isize, 0..1, 1)?,
                false => input.layout.clone(),
            }));
            of_row.push(is_one);
        }
        for step in &program.steps {
            let is_one =
                row > 1 && step.op != Op::Lookup && step.args.iter().all(|&arg| of_row[arg as usize]);
            of_row.push(is_one);
        }
        let levels = if row > 1 { of_row.clone() } else { program.levels().of_row };
        let loops = pairs::loops(program, &levels)?;
        let mut spread = vec![false; of_row.len()];
        for own in loops.iter().filter(|own| !of_row[program.inputs.len() + own.step]) {
            own.args.iter().for_each(|&arg| spread[arg as usize] = of_row[arg as usize]);
        }
        program.results.iter().for_each(|&result| spread[result as usize] = of_row[result as usize]);
        let called = || program.steps.iter().filter(|step| step.op == Op::Repeat);
        let in_loop =
            |(i, input): (Value, &Input)| input.is_table() && called().any(|step| step.args.contains(&i));
        let in_loops = (0..).zip(&program.inputs).map(in_loop).collect();
        let (registers, register_count) = registers::assign(program, &loops);
        // Of a table a value is an address.
        let inputs = program.inputs.iter().map(|input| if input.is_table() { 8 } else { input.dtype.size() });
        let sizes = inputs.chain(program.steps.iter().map(Step::size)).collect();
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
            in_loops,
            turned: vec![false; program.inputs.len()],
            chunk: 0,
        })
    }

    /// Bytes that are read of memory, at most.
    pub(super) fn bytes(&self) -> usize {
        From::bytes(self.from)
    }

    /// Whether arithmetic takes more of its time than memory does.
    pub(super) fn is_costly(&self) -> bool {
        let steps = self.program.steps.iter().zip(&self.of_row[self.program.inputs.len()..]);
        steps.into_iter().any(|(step, &of_row)| !of_row && is_costly(step.op))
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
            places: vec![Place::Register; self.registers.len()],
            equal: vec![false; self.registers.len()],
            spread: self.spread.iter().map(|_| Register::default()).collect(),
            length: 0,
        }
    }

    /// Gathers `length` elements from `start` on of those inputs whose rows lie across memory.
    pub(super) fn gather(&self, start: usize, length: usize, scratch: &mut Scratch) {
        scratch.start = start;
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

    /// `length` elements of a value from `start` on, if they lie side by side where an input is read.
    pub(super) fn in_place(&self, value: Value, start: usize, length: usize) -> Option<&'a [u8]> {
        let i = value as usize;
        let input = self.program.inputs.get(i).filter(|input| !input.is_table())?;
        let size = input.dtype.size();
        match (self.from[i], self.readers[i].run(start, length)?) {
            (From::Bytes(bytes), (at, 1)) if self.row == 1 && !self.turned[i] => {
                Some(&bytes[at * size..(at + length) * size])
            }
            _ => None,
        }
    }

    /// Memory that is read for `length` elements from `start` on, of inputs of which they lie side by side.
    pub(super) fn memory(&self, start: usize, length: usize) -> SmallVec<[&'a [u8]; 4]> {
        if length == 0 {
            return SmallVec::new();
        }
        let inputs = self.readers.iter().zip(self.from).zip(&self.program.inputs);
        let memory = inputs.filter(|(_, input)| !input.is_table()).filter_map(|((reader, from), input)| {
            let size = input.dtype.size();
            match (from, reader.run(start, length)?) {
                (From::Bytes(bytes), (at, 1)) => Some(&bytes[at * size..(at + length) * size]),
                _ => None,
            }
        });
        memory.collect()
    }

    /// Begins to load that.
    pub(super) fn prefetch(&self, start: usize, length: usize) {
        let memory = self.memory(start, length);
        memory.iter().flat_map(|bytes| bytes.iter().step_by(LINE)).for_each(lines::prefetch);
    }

    /// Computes `length` elements from `start` on: into `out`, if there is one, those of the first result.
    pub(super) fn compute(&self, start: usize, length: usize, out: Option<Out<'_>>, scratch: &mut Scratch) {
        let program = self.program;
        scratch.length = length;
        for (i, input) in program.inputs.iter().enumerate() {
            let before = out.as_ref().map_or(&[][..], |out| out.bytes);
            let row = if self.of_row[i] { self.row } else { 1 };
            (scratch.places[i], scratch.equal[i]) =
                self.place(i, input, start / row, length / row, scratch, before);
            self.spread(i, scratch);
        }
        let mut out = out;
        for own in &self.loops {
            let value = program.inputs.len() + own.step;
            if program.steps[own.step].op == Op::Lookup {
                self.look_up(value, own, length, scratch);
                continue;
            }
            let target = self.registers[value];
            // Taken out, so that the others can be read.
            let mut register = std::mem::take(&mut scratch.registers[target]);
            let of_row = self.of_row[value];
            let last = if value as Value == program.results[0] && !of_row { out.take() } else { None };
            let is_last = last.is_some();
            let equal = !own.args.is_empty() && own.args.iter().all(|&arg| scratch.equal[arg as usize]);
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
                    Some(Out { bytes, stream: Some(stream) }) if program.steps[own.step].op == Op::State => {
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

    /// What a loop over a few values looks up.
    fn tables(&self, own: &Loop) -> SmallVec<[Table<'_>; 2]> {
        let tables = own.args.iter().filter_map(|&arg| {
            let input = self.program.inputs.get(arg as usize).filter(|input| input.is_table())?;
            let From::Bytes(elements) = self.from[arg as usize] else { return None };
            Some(Table { elements, size: input.dtype.size(), computed: &input.computed })
        });
        tables.collect()
    }

    /// Looks up elements of a block: where they lie, if that is one run of the source, else their own.
    fn look_up(&self, value: usize, own: &Loop, length: usize, scratch: &mut Scratch) {
        let Some((&table, indices)) = own.args.split_first() else { return };
        let input = &self.program.inputs[table as usize];
        let From::Bytes(source) = self.from[table as usize] else { return };
        let equal = own.args.iter().all(|&arg| scratch.equal[arg as usize]);
        let count = if equal { length.min(PART) } else { length };
        let target = self.registers[value];
        let mut register = std::mem::take(&mut scratch.registers[target]);
        register.held = None;
        let size = self.sizes[value];
        let mut walk = match scratch.places[table as usize] {
            Place::Walk(at, stride) => Addresses::Run(at as isize, stride),
            _ => Addresses::Each(cast(scratch.registers[self.registers[table as usize]].bytes(8 * count))),
        };
        let mut varying: SmallVec<[(&[i32], isize); 4]> = SmallVec::new();
        for (&index, extent) in indices.iter().zip(&input.computed) {
            let values: &[i32] = cast(self.value(index, scratch));
            match &mut walk {
                // One index for all elements.
                Addresses::Run(at, _) if scratch.equal[index as usize] => {
                    *at += values[0] as isize * extent.stride;
                }
                _ => varying.push((values, extent.stride)),
            }
        }
        let place = match (&walk, varying.is_empty()) {
            (&Addresses::Run(at, 1), true) => Place::Table(table as usize, at as usize * size),
            _ => {
                let to = register.bytes_mut(count * size);
                with_memory!(size, |M| lookup::gather::<M>(cast(source), &walk, &varying, cast_mut(to)));
                Place::Register
            }
        };
        drop(varying);
        (scratch.places[value], scratch.equal[value]) = (place, equal);
        scratch.registers[target] = register;
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
                let size = self.sizes[value as usize];
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

    /// Repeats a value of the row for each element, where it is read so.
    fn spread(&self, value: usize, scratch: &mut Scratch) {
        if !self.spread[value] || scratch.equal[value] {
            return;
        }
        let mut register = std::mem::take(&mut scratch.spread[value]);
        let size = self.sizes[value];
        let to = register.bytes_mut(scratch.length * size);
        let from = self.read(value as Value, true, scratch);
        with_memory!(size, |M| load::spread::<M>(cast(from), self.row, cast_mut(to)));
        scratch.spread[value] = register;
    }

    /// The elements of a value that was computed; one part of them where all are equal.
    pub(super) fn value<'s>(&'s self, value: Value, scratch: &'s Scratch) -> &'s [u8] {
        self.read(value, false, scratch)
    }

    /// The same, or one for each row.
    fn read<'s>(&'s self, value: Value, by_row: bool, scratch: &'s Scratch) -> &'s [u8] {
        let index = value as usize;
        let elements = if by_row { scratch.length / self.row } else { scratch.length };
        if self.of_row[index] && !by_row && !scratch.equal[index] {
            return scratch.spread[index].bytes(elements * self.sizes[index]);
        }
        let bytes = if scratch.equal[index] { elements.min(PART) } else { elements } * self.sizes[index];
        let source = match (scratch.places.get(index), self.from.get(index)) {
            (Some(&Place::Source(at)), Some(From::Bytes(source))) => Some((*source, at)),
            (Some(&Place::Turned(at)), _) => Some((cast(&scratch.turned[index]), at)),
            (Some(&Place::Table(input, at)), _) => match self.from[input] {
                From::Bytes(source) => Some((source, at)),
                _ => None,
            },
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
        if input.is_table() {
            let register = &mut scratch.registers[self.registers[i]];
            let Some((at, stride)) = run else {
                reader.addresses(start, cast_mut(register.bytes_mut(8 * length)), |at| at as i64);
                return (Place::Register, false);
            };
            // Loops have addresses beside their values.
            if self.in_loops[i] {
                let count = if stride == 0 { length.min(PART) } else { length };
                let to: &mut [i64] = cast_mut(register.bytes_mut(8 * count));
                (0..).zip(to).for_each(|(k, to)| *to = (at as isize + k * stride) as i64);
            }
            return (Place::Walk(at, stride), stride == 0);
        }
        if let (From::Bytes(_), Some((at, 1))) = (self.from[i], run) {
            return (Place::Source(at * size), false);
        }
        let register = &mut scratch.registers[self.registers[i]];
        let splat = run.filter(|&(_, stride)| stride == 0).map(|(at, _)| at);
        let count = if splat.is_some() { self.most.min(PART) } else { length };
        let from_row = || reader.repeats().map(|period| start % period);
        if let Some(first) = splat.or_else(from_row) {
            let is_held = |(held, elements): (usize, usize)| held == first && elements >= count;
            if register.held.is_some_and(is_held) {
                return (Place::Register, splat.is_some());
            }
            register.held = Some((first, count));
        } else {
            register.held = None;
        }
        let to = register.bytes_mut(count * size);
        match self.from[i] {
            From::Bytes(bytes) => with_memory!(size, |M| match splat {
                Some(at) => cast_mut::<_, M>(to).fill(cast::<_, M>(bytes)[at]),
                None => reader.gather::<M>(cast(bytes), start, cast_mut(to)),
            }),
            From::Output => to.copy_from_slice(out),
            From::Index => match splat {
                Some(at) => cast_mut::<_, i32>(to).fill(at as i32),
                None => reader.addresses(start, cast_mut(to), |at| at as i32),
            },
            From::Scalar(bits) => with_memory!(size, |M| cast_mut::<_, M>(to).fill(bits as M)),
        }
        (Place::Register, splat.is_some())
    }
}
