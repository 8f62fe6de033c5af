//! The instructions of a program, each after the ones that it reads; and the tiles that they run over.

use std::sync::OnceLock;

use smallvec::SmallVec;

use super::{ASKING, Engine, Kept, Prepared, Runs};
use crate::cpu::bytes::{LARGEST_NEAR, Operand};
use crate::cpu::combine::{self, Loops, Values};
use crate::cpu::kernels::PART;
use crate::cpu::load::Reader;
use crate::cpu::pairs::{self, Loop};
use crate::cpu::registers::Register;
use crate::error::{Result, bail};
use crate::ir::{ByValue, Input, Op, Program, RowFused, RowReduction, Value};
use crate::layout::Layout;

/// One instruction for a tile.
pub(in crate::cpu) enum Instr {
    /// Computes one step or two for all elements.
    Map(Loop),
    /// Looks elements up.
    Gather(Loop),
    /// Reduces rows to one value each.
    Reduce(Reduction),
}

impl Instr {
    /// Its operands, and its value.
    pub(super) fn values(&self) -> (&[Value], Value) {
        match self {
            Instr::Map(own) | Instr::Gather(own) => (&own.args, own.value),
            Instr::Reduce(own) => (std::slice::from_ref(&own.value), own.gives),
        }
    }
}

/// A reduction of the rows of a value.
pub(in crate::cpu) struct Reduction {
    pub(super) value: Value,
    /// The input with its result.
    pub(super) gives: Value,
    pub(super) loops: Values,
    /// Identities, which make +0 of -0.
    pub(super) identity: Option<Register>,
}

/// The elements of a tile: a range, or some columns of a matrix.
#[derive(Clone, Copy, Default)]
pub(in crate::cpu) struct Tile {
    /// Runs of elements: the first one's begin, their number, their length, and the distance of their begins.
    pub(super) start: usize,
    pub(super) runs: usize,
    pub(super) length: usize,
    pub(super) pitch: usize,
    /// The first value of the row, and their number.
    pub(super) first: usize,
    pub(super) rows: usize,
    /// Columns of a matrix, if not all.
    pub(super) columns: Option<usize>,
}

impl Tile {
    /// A range of elements, in rows of a length.
    pub(super) fn flat(start: usize, length: usize, row: usize) -> Tile {
        // A division takes as long as some vectors.
        let (first, rows) = if row == 1 { (start, length) } else { (start / row, length / row) };
        Tile { start, runs: 1, length, pitch: 0, first, rows, columns: None }
    }

    /// Some columns of a matrix, with rows side by side.
    pub(super) fn strip([matrix, column, columns]: [usize; 3], row: usize, inner: usize) -> Tile {
        let (start, first) = (matrix * row * inner + column, matrix * inner + column);
        let (runs, length, rows) = (row, columns, columns);
        Tile { start, runs, length, pitch: inner, first, rows, columns: Some(columns) }
    }

    /// The same for values of the row.
    pub(super) fn of_rows(self) -> Tile {
        Tile { start: self.first, runs: 1, length: self.rows, ..self }
    }

    /// Calls `run` with each run, and the memory of its elements.
    pub(super) fn each<T>(self, to: &mut [T], mut run: impl FnMut(usize, &mut [T])) {
        to.chunks_mut(self.length).enumerate().for_each(|(k, to)| run(self.start + k * self.pitch, to));
    }

    /// Elements of a value.
    pub(super) fn count(&self, of_row: bool) -> usize {
        if of_row { self.rows } else { self.runs * self.length }
    }
}

impl<'a> Engine<'a> {
    /// Instructions of a program without reductions, for empty tiles: tiles are whole rows of `row` elements, which are
    /// the whole last axis, or 1.
    pub(in crate::cpu) fn new(program: &'a Program, from: &'a [Operand<'a>], row: usize) -> Result<Self> {
        Engine::kept(program, from, row, || Prepared::new(program, from, row))
    }

    /// Instructions of a row-fused program.
    pub(in crate::cpu) fn of_rows(
        program: &'a Program,
        rows: &RowFused,
        from: &'a [Operand<'a>],
    ) -> Result<Self> {
        let [row, inner] = [rows.axes.clone(), rows.axes.end..program.shape.rank()]
            .map(|axes| program.shape[axes].iter().product());
        let prepare = || Prepared::of(program, from, rows, [row, inner], program.levels().of_row);
        Engine::kept(program, from, row, prepare)
    }

    /// The engine of what is kept with the program, or is made now.
    fn kept(
        program: &'a Program,
        from: &'a [Operand<'a>],
        row: usize,
        prepare: impl Fn() -> Result<Prepared>,
    ) -> Result<Self> {
        let outputs = || from.iter().map(Operand::is_output);
        let is_same = |known: &&Prepared| known.row == row && outputs().eq(known.outputs.iter().copied());
        let known = || program.ready.get::<Prepared>().filter(is_same);
        if program.ready.get::<Prepared>().is_none() && program.ready.again() {
            program.ready.put(prepare()?);
        }
        let prepared = match known() {
            Some(known) => Kept::Program(known),
            None => Kept::Run(Box::new(prepare()?)),
        };
        Ok(Engine {
            program,
            from,
            prepared,
            most: 0,
            turned: SmallVec::from_elem(false, from.len()),
            chunk: 0,
            runs: Runs::default(),
        })
    }
}

impl Prepared {
    fn new(program: &Program, from: &[Operand<'_>], row: usize) -> Result<Prepared> {
        let axis = program.shape.iter().rposition(|&n| n > 1).unwrap_or(0);
        let is_one = |(input, from): (&Input, &Operand<'_>)| {
            let stays = input.layout.strides().get(axis) == Some(&0) && !from.is_output();
            row > 1 && stays && !input.is_table()
        };
        let inputs = program.inputs.iter().zip(from);
        let of_row = ByValue::of(inputs.map(is_one), &program.steps, |step, of_row| {
            row > 1 && step.op != Op::Lookup && step.args.iter().all(|&arg| of_row[arg])
        });
        let rows = RowFused { axes: axis..axis + 1, reductions: Vec::new(), kept: false };
        Prepared::of(program, from, &rows, [row, 1], of_row)
    }

    fn of(
        program: &Program,
        from: &[Operand<'_>],
        rows: &RowFused,
        [row, inner]: [usize; 2],
        of_row: ByValue<bool>,
    ) -> Result<Prepared> {
        let one = |layout: Layout, axis: usize| layout.slice(axis as isize, 0..1, 1);
        let reader = |(input, is_one): (&Input, &bool)| -> Result<Reader> {
            Ok(Reader::new(&match *is_one && !input.source.is_row() {
                true => rows.axes.clone().try_fold(input.layout.clone(), one)?,
                false => input.layout.clone(),
            }))
        };
        let readers = program.inputs.iter().zip(of_row.inputs()).map(reader).collect::<Result<_>>()?;
        let loops = pairs::loops(program, &of_row)?;
        let (registers, register_count) = pairs::registers(program, &loops);
        let reduction = |(i, own): (usize, &RowReduction)| -> Result<Reduction> {
            let dtype = program.dtype_of(own.value);
            let Loops::Values(loops) = combine::of(own.op, dtype)? else {
                bail!(Kernel, "{} inside of a program", own.op.name());
            };
            let Some(gives) = program.given(i) else {
                bail!(Kernel, "a reduction that nothing reads");
            };
            let (bits, size) = (own.op.identity(dtype), dtype.size());
            let identity = own.op.is_ordered(dtype).then(|| Register::of_equal(bits, size, PART));
            Ok(Reduction { value: own.value, gives, loops, identity: identity.transpose()? })
        };
        let reductions: Vec<Reduction> =
            rows.reductions.iter().enumerate().map(reduction).collect::<Result<_>>()?;
        // Values of the row that are read for each element of it.
        let mut spread = program.by_value(false);
        let read = loops.iter().filter(|own| !of_row[own.value]).flat_map(|own| &own.args);
        let results = program.results.iter().filter(|_| !rows.kept);
        for &value in read.chain(results).chain(reductions.iter().map(|own| &own.value)) {
            spread[value] |= of_row[value];
        }
        let called = || program.steps.iter().filter(|step| step.op == Op::Repeat);
        let in_loop =
            |(value, input): (_, &Input)| input.is_table() && called().any(|step| step.args.contains(&value));
        let in_loops = (0..).map(Value::Input).zip(&program.inputs).map(in_loop).collect();
        // A table's value is an address.
        let inputs = program.inputs.iter().map(|input| if input.is_table() { 8 } else { input.dtype.size() });
        let sizes = ByValue::of(inputs, &program.steps, |step, _| step.size());
        let code = ordered(program, loops, reductions)?;
        let asks = code.len() >= ASKING && Operand::bytes(from) > LARGEST_NEAR;
        Ok(Prepared {
            readers,
            code,
            registers,
            register_count,
            sizes,
            row,
            inner,
            of_row,
            spread,
            is_kept: rows.kept,
            asks,
            in_loops,
            outputs: from.iter().map(Operand::is_output).collect(),
            cut: OnceLock::new(),
        })
    }
}

/// Loops in their order, as registers are reused in it. Reductions as soon as their operand is known.
fn ordered(program: &Program, loops: Vec<Loop>, reductions: Vec<Reduction>) -> Result<Vec<Instr>> {
    let is_known = |input: &Input| !input.source.is_row();
    let mut known = ByValue::of(program.inputs.iter().map(is_known), &program.steps, |_, _| false);
    let is_lookup = |own: &Loop| program.step(own.value).is_some_and(|step| step.op == Op::Lookup);
    let instr = |own: Loop| if is_lookup(&own) { Instr::Gather(own) } else { Instr::Map(own) };
    let (mut code, mut loops) = (Vec::new(), loops.into_iter().map(instr).peekable());
    let mut reductions: SmallVec<[Instr; 4]> = reductions.into_iter().map(Instr::Reduce).collect();
    let is_ready = |own: &Instr, known: &ByValue<bool>| own.values().0.iter().all(|&arg| known[arg]);
    loop {
        let next = match reductions.iter().position(|own| is_ready(own, &known)) {
            Some(k) => Some(reductions.remove(k)),
            None => loops.next_if(|own| is_ready(own, &known)),
        };
        match next {
            Some(own) => {
                known[own.values().1] = true;
                code.push(own);
            }
            None if reductions.is_empty() && loops.peek().is_none() => return Ok(code),
            None => bail!(Kernel, "a reduction inside of a program needs what comes after it"),
        }
    }
}
