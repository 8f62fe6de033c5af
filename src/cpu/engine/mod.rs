//! The one loop that evaluates. A program is computed a tile at a time, and each instruction is a loop over a tile in
//! cache, so nothing is interpreted for each element. Callers choose the elements and the destination.

mod code;
mod runs;
mod values;

use std::ops::Deref;
use std::sync::OnceLock;

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};
use smallvec::SmallVec;

pub(super) use code::Tile;
use code::{Instr, Reduction};
pub(super) use runs::Runs;
use values::Place;

use super::ahead::{self, Ahead};
use super::bytes::{Operand, with_memory};
use super::jobs::Job;
use super::kernels::PART;
use super::lines::{self, LINE, Stream};
use super::load::Reader;
use super::pairs::Loop;
use super::registers::Register;
use super::threads::Work;
use crate::ir::{ByValue, Program, Value, is_costly, numbered};

/// Programs with at least this many instructions prefetch. The processor guesses the stream of shorter ones.
const ASKING: usize = 3;

/// What is found out about a program before it runs, and kept with it: readers of its inputs, its instructions, and a
/// register for each value.
pub(super) struct Prepared {
    pub readers: Vec<Reader>,
    pub code: Vec<Instr>,
    registers: ByValue<usize>,
    register_count: usize,
    /// Bytes of an element of each value.
    sizes: ByValue<usize>,
    /// Elements of a row. Values that are constant along it are computed once. Tiles are whole rows.
    pub row: usize,
    /// Rows side by side, which is the distance of a row's elements.
    pub inner: usize,
    /// Which values are of the row, and which of them are read for each element.
    pub of_row: ByValue<bool>,
    spread: ByValue<bool>,
    /// Whether the result is of the row too.
    pub is_kept: bool,
    /// Whether a tile prefetches for the next one of its chunk.
    asks: bool,
    /// Tables of loops.
    in_loops: Vec<bool>,
    /// Inputs that are elements of the output.
    outputs: SmallVec<[bool; 8]>,
    /// The cut of an elementwise program, after it has run.
    pub cut: OnceLock<Cut>,
}

/// How the elements of an elementwise program are cut into tasks and tiles.
#[derive(Clone)]
pub(super) struct Cut {
    /// Elements of a task, of a row, and of a tile, which is whole rows or a part of one.
    pub chunk: usize,
    pub row: usize,
    pub most: usize,
    /// Rows of a tile, if it has several.
    pub rows: usize,
    /// Inputs whose rows lie across memory.
    pub turned: SmallVec<[bool; 8]>,
    /// The length of the result's rows in memory, if gaps lie between them.
    pub own: Option<usize>,
    /// Whether results are stored past the cache.
    pub streams: bool,
    pub runs: Runs,
    pub work: Work,
}

/// A program, ready to run over its inputs' memory.
pub(super) struct Engine<'a> {
    pub program: &'a Program,
    pub from: &'a [Operand<'a>],
    prepared: Kept<'a>,
    /// The most elements of a tile.
    pub most: usize,
    /// Inputs whose rows lie across memory. They are gathered a chunk at a time.
    pub turned: SmallVec<[bool; 8]>,
    /// Elements of such a chunk.
    pub chunk: usize,
    pub runs: Runs,
}

/// The destination of a tile's last loop.
pub(super) struct Out<'a> {
    pub bytes: &'a mut [u8],
    pub stream: Option<&'a Stream>,
}

/// Memory of one thread.
pub(super) struct Scratch {
    registers: SmallVec<[Register; 4]>,
    /// A chunk of each transposed input, if there is one.
    turned: Vec<Vec<u64>>,
    /// The first element of a chunk, and the end.
    start: usize,
    end: usize,
    values: ByValue<InTile>,
    /// Values of the row, repeated for each element, if there is one.
    spread: ByValue<Register>,
    /// Memory where accumulators become one, and where a part is repeated.
    buffer: Register,
    expanded: Register,
    tile: Tile,
}

/// A value in this tile.
#[derive(Clone, Copy, Default)]
struct InTile {
    place: Place,
    /// Whether all elements are equal. Then there is one part.
    equal: bool,
}

/// What is prepared: kept with the program, or made for this run.
enum Kept<'a> {
    Program(&'a Prepared),
    Run(Box<Prepared>),
}

impl Deref for Engine<'_> {
    type Target = Prepared;

    fn deref(&self) -> &Prepared {
        match &self.prepared {
            Kept::Program(prepared) => prepared,
            Kept::Run(prepared) => prepared,
        }
    }
}

impl<'a> Engine<'a> {
    /// Whether arithmetic takes more of its time than memory.
    pub(super) fn is_costly(&self) -> bool {
        numbered(&self.program.steps).any(|(value, step)| !self.of_row[value] && is_costly(step.op))
    }

    /// Memory of one thread.
    pub(super) fn scratch(&self) -> Scratch {
        let turned = self.turned.iter().zip(&self.program.inputs);
        let words = turned.map(|(&turned, input)| {
            if turned { vec![0; (self.chunk * input.dtype.size()).div_ceil(8)] } else { Vec::new() }
        });
        let mut registers = SmallVec::new();
        registers.resize_with(self.register_count, Register::default);
        Scratch {
            registers,
            turned: if self.turned.contains(&true) { words.collect() } else { Vec::new() },
            start: 0,
            end: 0,
            values: self.sizes.each(InTile::default()),
            spread: if self.spread.any() {
                self.sizes.map(|_, _| Register::default())
            } else {
                ByValue::default()
            },
            buffer: Register::default(),
            expanded: Register::default(),
            tile: Tile::default(),
        }
    }

    /// Begins a chunk of `length` elements from `start` on: gathers the inputs whose rows lie across memory.
    pub(super) fn begin(&self, start: usize, length: usize, scratch: &mut Scratch) {
        (scratch.start, scratch.end) = (start, start + length);
        for i in (0..self.turned.len()).filter(|&i| self.turned[i]) {
            let Operand::Bytes(bytes) = self.from[i] else { continue };
            let to: &mut [u8] = cast_mut(&mut scratch.turned[i]);
            let element = self.program.inputs[i].dtype.size();
            let to = &mut to[..length * element];
            with_memory!(element, |M| {
                const SIDE: usize = LINE / size_of::<M>();
                self.readers[i].gather_rows::<M, SIDE>(cast(bytes), start, cast_mut(to));
            });
        }
    }

    /// The memory that `length` elements from `start` on read, for inputs that are contiguous there.
    pub(super) fn ahead(&self, start: usize, length: usize) -> Ahead<'a> {
        let stretches = self.program.inputs.iter().enumerate().filter_map(|(i, input)| {
            let Operand::Bytes(bytes) = self.from[i] else { return None };
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

    /// Computes `length` elements from `start` on, the first result into `out` if there is one.
    pub(super) fn compute(&self, start: usize, length: usize, out: Option<Out<'_>>, scratch: &mut Scratch) {
        let after = start + length;
        let next = self.asks.then(|| self.ahead(after, length.min(scratch.end.saturating_sub(after))));
        self.run(Tile::flat(start, length, self.row), next, out, scratch);
    }

    /// Computes some columns of a matrix with rows side by side.
    pub(super) fn compute_columns(
        &self,
        matrix: usize,
        column: usize,
        columns: usize,
        scratch: &mut Scratch,
    ) {
        let tile = Tile::strip([matrix, column, columns], self.row, self.inner);
        self.run(tile, None, None, scratch);
    }

    fn run(&self, tile: Tile, next: Option<Ahead<'a>>, mut out: Option<Out<'_>>, scratch: &mut Scratch) {
        let program = self.program;
        scratch.tile = tile;
        for (i, input) in program.inputs.iter().enumerate() {
            let value = Value::Input(i as u32);
            if input.source.is_row() {
                continue;
            }
            let before = out.as_ref().map_or(&[][..], |out| out.bytes);
            (scratch.values[value].place, scratch.values[value].equal) =
                self.place(i, input, scratch, before);
            self.spread(value, scratch);
        }
        let mut ask = next.map(|next| next.in_steps(self.code.len()));
        for own in &self.code {
            ask.iter_mut().for_each(|ask| ask());
            match own {
                Instr::Map(own) => {
                    let is_last = own.value == program.results[0]
                        && self.of_row[own.value] == self.is_kept
                        && (self.runs.length == 0 || own.is_by_element());
                    let last = if is_last { out.take() } else { None };
                    let is_done = last.is_some();
                    self.map(own, last, scratch);
                    if is_done {
                        return;
                    }
                }
                Instr::Gather(own) => self.look_up(own, scratch),
                Instr::Reduce(own) => self.reduce(own, scratch),
            }
        }
        let Some(Out { bytes, stream }) = out else { return };
        let result = self.read(program.results[0], self.is_kept, scratch);
        let size = program.dtype.size();
        let step = if result.len() == tile.count(self.is_kept) * size { self.runs.length * size } else { 0 };
        for (k, out) in self.runs.of(bytes, size).enumerate() {
            let result = &result[k * step..];
            for out in out.chunks_mut(result.len()) {
                let result = &result[..out.len()];
                match stream {
                    Some(stream) => stream.copy(result, out),
                    None => out.copy_from_slice(result),
                }
            }
        }
    }

    /// Runs a loop, into `out` or into its register.
    #[inline(always)]
    fn map(&self, own: &Loop, out: Option<Out<'_>>, scratch: &mut Scratch) {
        let value = own.value;
        let of_row = self.of_row[value];
        let equal = !own.args.is_empty() && own.args.iter().all(|&arg| scratch.values[arg].equal);
        scratch.values[value].equal = equal;
        let target = self.registers[value];
        // Taken out, so that others can be read.
        let mut register = std::mem::take(&mut scratch.registers[target]);
        {
            let by_row = of_row && (!equal || out.is_some());
            let mut args: SmallVec<[&[u8]; 4]> = SmallVec::new();
            own.args.iter().for_each(|&arg| args.push(self.read(arg, by_row, scratch)));
            let args = args.as_slice();
            match out {
                out if self.is_by_runs(own, out.is_some(), scratch) => {
                    self.by_runs(own, args, &mut register, out, scratch);
                }
                // Its states do not lie side by side.
                Some(Out { bytes, stream }) if matches!(own.job, Job::State { .. }) => {
                    register.through(stream, bytes, |bytes| own.job.run(args, bytes));
                }
                Some(Out { bytes, stream: Some(stream) }) => {
                    self.stream(own, args, &mut register, stream, bytes);
                }
                Some(Out { bytes, stream: None }) => own.job.run(args, bytes),
                None => {
                    let tile = scratch.tile;
                    let count = if equal { tile.count(false).min(PART) } else { tile.count(of_row) };
                    let to = register.bytes_mut(count * self.sizes[value]);
                    match &own.job {
                        Job::Repeat(repeat) => repeat.run(args, &self.tables(own), to),
                        job => job.run(args, to),
                    }
                }
            }
        }
        scratch.registers[target] = register;
        self.spread(value, scratch);
    }

    /// Runs the last loop of a tile and stores past the cache: a part at a time, as loads continue beside few such
    /// stores only.
    fn stream(&self, own: &Loop, args: &[&[u8]], register: &mut Register, stream: &Stream, out: &mut [u8]) {
        let size = self.program.dtype.size();
        let all = out.len() / size;
        let mut start = 0;
        // A line that tiles share takes ordinary stores, which others wait for.
        let shared = out.last().filter(|_| !out.as_ptr_range().end.addr().is_multiple_of(LINE));
        shared.into_iter().for_each(lines::prefetch);
        // The first part ends at a line, so that parts share none.
        let first = PART * size - LINE + lines::to_line(out);
        let (first, rest) = out.split_at_mut(first.min(out.len()));
        let mut parts: SmallVec<[&[u8]; 4]> = SmallVec::from_slice(args);
        for out in std::iter::once(first).chain(rest.chunks_mut(PART * size)) {
            let length = out.len() / size;
            for ((part, arg), &value) in parts.iter_mut().zip(args).zip(&own.args) {
                let size = self.sizes[value];
                let start = if arg.len() == all * size { start } else { 0 };
                *part = &arg[start * size..(start + length) * size];
            }
            register.through(Some(stream), out, |part| own.job.run(&parts, part));
            start += length;
        }
    }

    /// Reduces the rows of a value into the input with the result.
    fn reduce(&self, own: &Reduction, scratch: &mut Scratch) {
        let (size, target) = (self.sizes[own.value], self.registers[own.gives]);
        let Tile { rows, columns, .. } = scratch.tile;
        let columns = columns.unwrap_or(self.inner);
        let mut register = std::mem::take(&mut scratch.registers[target]);
        let [mut buffer, mut expanded] = [&mut scratch.buffer, &mut scratch.expanded].map(std::mem::take);
        let x = self.all(own.value, &mut expanded, scratch);
        let out = register.bytes_mut(rows * size);
        own.loops.reduce([self.row, columns], x, buffer.bytes_mut(2 * self.row * columns * size), out);
        if let Some(identity) = &own.identity {
            for out in out.chunks_mut(PART * size) {
                (own.loops.accumulate)(out, identity.bytes(out.len()));
            }
        }
        (scratch.buffer, scratch.expanded) = (buffer, expanded);
        scratch.registers[target] = register;
        self.spread(own.gives, scratch);
    }
}
