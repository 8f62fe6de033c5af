//! Row-fused programs: steps that read the results of reductions of the same program.

use smallvec::{SmallVec, smallvec};

use super::{
    AxisOp, ByValue, Frame, Input, Op, Program, ProgramBuilder, ProgramKind, ReduceAxes, RowFused,
    RowReduction, Source, Step, Value,
};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::layout::{Layout, Shape};
use crate::tuning::rows::LONGEST_ACROSS;

/// When the values of a row-fused program are known. Its reductions are in *phases*: those of one phase read the row
/// together, and need only results of earlier phases.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// For each value, the phase from which on it is known. A reduction has the phase of its operand.
    pub from: ByValue<usize>,
    /// For each value, whether it is of the row.
    pub of_row: ByValue<bool>,
}

impl Program {
    /// Computes the levels of a program.
    pub(crate) fn levels(&self) -> Levels {
        let Some((rows, frame)) = self.row_fused().zip(self.frame()) else { return Levels::default() };
        let inputs = self.inputs.iter().map(|input| frame.is_of_row(input));
        let of_row =
            ByValue::of(inputs, &self.steps, |step, of_row| step.args.iter().all(|&arg| of_row[arg]));
        let mut from = self.by_value(0);
        // A reduction's result is an input, which comes before the reduction's operand. So this repeats until nothing
        // changes, at most once for each phase.
        loop {
            let known = |input: &Input| match input.source {
                Source::Row(number) => from[rows.reductions[number].value] + 1,
                _ => 0,
            };
            let next = ByValue::of(self.inputs.iter().map(known), &self.steps, |step, from| {
                step.args.iter().map(|&arg| from[arg]).max().unwrap_or(0)
            });
            if next == from {
                return Levels { from, of_row };
            }
            from = next;
        }
    }

    /// The input with a reduction's result, by the reduction's number.
    pub(crate) fn given(&self, number: usize) -> Option<Value> {
        let is_own = |input: &Input| matches!(input.source, Source::Row(row) if row == number);
        self.inputs.iter().position(is_own).map(|i| Value::Input(i as u32))
    }

    /// Whether most of the bytes that it reads lie along the rows of a frame.
    pub(crate) fn lies_along(&self, frame: &Frame) -> bool {
        let is_tensor = |input: &&Input| input.source.is_memory();
        let layouts = self.inputs.iter().filter(is_tensor).map(|input| &input.layout);
        let Some(main) = layouts.max_by_key(|layout| layout.distinct()) else { return true };
        let step = |axis: usize| match main.strides()[axis] {
            0 => usize::MAX,
            stride => stride.unsigned_abs(),
        };
        let long = |axis: &usize| frame.shape[*axis] > 1;
        let run = frame.axes.clone().filter(long).map(step).min().unwrap_or(0);
        let mut kept = (0..frame.shape.rank()).filter(|axis| !frame.axes.contains(axis)).filter(long);
        kept.all(|axis| run < step(axis))
    }

    /// Whether rows are short enough to be read repeatedly. Rows along memory stay in a cache, up to a length. Other rows
    /// read their lines repeatedly.
    pub(crate) fn has_short_rows(&self, frame: &Frame, longest: usize) -> bool {
        frame.count() <= if self.lies_along(frame) { longest } else { LONGEST_ACROSS }
    }

    /// The program of the reductions, if they are all the same and only later steps read their results.
    pub(crate) fn plain_reduction(&self) -> Option<Program> {
        let rows = self.row_fused().filter(|rows| rows.kept)?;
        let op = rows.reductions.first()?.op;
        let values: Vec<Value> = rows.reductions.iter().map(|own| own.value).collect();
        let plain = self.only(&values).ok()?;
        let alike = |own: &RowReduction| own.op == op && self.dtype_of(own.value) == plain.element_type();
        let is_plain =
            rows.reductions.iter().all(alike) && !plain.inputs.iter().any(|input| input.source.is_row());
        is_plain.then(|| plain.reduced(op, rows.axes.clone()))
    }

    /// The reductions of a row-fused program, each alone. They come after those whose results they read, and read
    /// them as [`Source::Row`].
    pub(crate) fn reductions_alone(&self) -> Result<Vec<Program>> {
        let Some(rows) = self.row_fused() else { return Ok(Vec::new()) };
        rows.reductions.iter().map(|own| self.alone(rows, own)).collect()
    }

    fn alone(&self, rows: &RowFused, own: &RowReduction) -> Result<Program> {
        Ok(self.only(&[own.value])?.reduced(own.op, rows.axes.clone()))
    }

    /// Whether a reduction of its rows gives an index.
    pub(crate) fn gives_index(&self, number: usize) -> bool {
        self.row_fused().is_some_and(|rows| rows.reductions[number].op.row().gives_index)
    }

    /// Whether it reduces rows to some elements each, and no reduction gives an index or needs another.
    pub(crate) fn is_of_rows(&self) -> bool {
        match &self.kind {
            ProgramKind::Axis(AxisOp::Reduce(own), _) => !own.op.row().gives_index,
            ProgramKind::RowFused(rows) => {
                self.leaves_partials() && !(0..rows.reductions.len()).any(|number| self.gives_index(number))
            }
            _ => false,
        }
    }

    /// How many tensors it reads to reduce rows.
    pub(crate) fn read_to_reduce(&self) -> usize {
        let values: SmallVec<[Value; 4]> = match &self.kind {
            ProgramKind::Axis(AxisOp::Reduce(_), _) => self.results.iter().copied().collect(),
            ProgramKind::RowFused(rows) => rows.reductions.iter().map(|own| own.value).collect(),
            _ => return 0,
        };
        let needed = self.needed(&values, |_| false);
        self.inputs
            .iter()
            .zip(needed.inputs())
            .filter(|(input, read)| **read && input.source.is_memory())
            .count()
    }

    /// The program of one of the results, with the reductions that the result needs. None of them needs another.
    pub(super) fn row_result(&self, rows: &RowFused, result: Value) -> Result<Program> {
        if let Some(Input { source: Source::Row(number), .. }) = self.input(result) {
            return self.alone(rows, &rows.reductions[*number]);
        }
        let needed = self.needed(&[result], |_| false);
        let is_read = |number: &usize| self.given(*number).is_some_and(|given| needed[given]);
        let numbers: SmallVec<[usize; 4]> = (0..rows.reductions.len()).filter(is_read).collect();
        let read = numbers.iter().map(|&number| rows.reductions[number].value);
        let mut one = self.only(&[result].into_iter().chain(read).collect::<SmallVec<[Value; 4]>>())?;
        for input in &mut one.inputs {
            if let Source::Row(number) = &mut input.source {
                *number = numbers.iter().position(|own| own == number).unwrap_or(*number);
            }
        }
        let own = |(&number, value)| RowReduction { value, ..rows.reductions[number] };
        let reductions = numbers.iter().zip(one.results.drain(1..)).map(own).collect();
        Ok(one.of_kind(ProgramKind::RowFused(RowFused { reductions, ..rows.clone() })))
    }

    /// The same with all reductions as parts of a row-fused program.
    pub(crate) fn in_rows(&self) -> Result<Program> {
        if self.row_fused().is_some() {
            return Ok(self.clone());
        }
        let Some(frame) = self.frame() else { bail!(Kernel, "a program without rows") };
        let mut joined = Joined::new(frame);
        let results = joined.add(self, |_| None)?;
        Ok(joined.finish(&results, true))
    }

    /// Whether several passes may reduce the rows in part: each result is one element of a row, made of reductions'
    /// results alone, and no reduction needs another.
    pub(crate) fn leaves_partials(&self) -> bool {
        self.row_fused().is_some_and(|rows| {
            let values: Vec<Value> = rows.reductions.iter().map(|own| own.value).collect();
            let needed = self.needed(&values, |_| false);
            let mut inputs = self.inputs.iter().zip(needed.inputs());
            rows.kept && !inputs.any(|(input, needed)| *needed && input.source.is_row())
        })
    }

    /// The program over partial results of its reductions, in whole words: their values, and their indices.
    pub(crate) fn over_partials(&self, partials: Vec<(Input, Option<Input>)>) -> Result<Program> {
        let Some((rows, (first, _))) = self.row_fused().zip(partials.first()) else {
            bail!(Kernel, "a program without rows");
        };
        let frame = Frame { shape: first.layout.shape().clone(), axes: rows.axes.clone() };
        let mut after = self.after_reductions()?;
        for input in &mut after.inputs {
            input.layout = input.layout.broadcast_to(&frame.shape)?;
        }
        after.shape = frame.shape.clone();
        let mut joined = Joined::new(frame);
        let mut given = Vec::with_capacity(rows.reductions.len());
        for ((number, own), (input, index)) in rows.reductions.iter().enumerate().zip(partials) {
            let (stored, element) = (input.dtype, self.dtype_of(own.value));
            let mut value = joined.program.input(input);
            if stored != element {
                value = joined.program.steps.once(Step::new(Op::Cast, stored, element, smallvec![value]));
            }
            let index = index.map(|index| joined.program.input(index));
            let dtype = self.given(number).map_or(self.dtype, |given| self.dtype_of(given));
            given.push(joined.reduce(RowReduction { op: own.op, value, index }, dtype)?);
        }
        let results = joined.add(&after, |input| match input.source {
            Source::Row(number) => given.get(number).copied(),
            _ => None,
        })?;
        Ok(joined.finish(&results, true))
    }

    /// The steps after the reductions, as a program over one element of each row, or over all if its results are of
    /// the row. It reads the reductions' results as [`Source::Row`].
    pub(crate) fn after_reductions(&self) -> Result<Program> {
        let Some(frame) = self.frame() else { bail!(Kernel, "a program without rows") };
        if self.row_fused().is_some_and(|rows| !rows.kept) {
            return self.only(&self.results);
        }
        self.extract(&self.results, frame.kept(), &Default::default(), |layout| {
            frame.axes.clone().try_fold(layout.clone(), |layout, axis| layout.slice(axis as isize, 0..1, 1))
        })
    }
}

/// Programs over the rows of one frame, merged to one. Equal inputs and equal steps appear once.
pub(crate) struct Joined {
    frame: Frame,
    program: ProgramBuilder,
    reductions: Vec<RowReduction>,
}

impl Joined {
    pub(crate) fn new(frame: Frame) -> Joined {
        Joined { frame, program: ProgramBuilder::new(), reductions: Vec::new() }
    }

    /// Adds a program of the frame's shape and its reductions, with some known inputs. Returns its results.
    pub(crate) fn add(
        &mut self,
        program: &Program,
        known: impl Fn(&Input) -> Option<Value>,
    ) -> Result<SmallVec<[Value; 2]>> {
        let (first, shape) = (self.reductions.len(), &self.frame.shape);
        let found = self.program.copy_all(program, |built, input| match (known(input), &input.source) {
            (Some(known), _) => Ok(known),
            (None, Source::Row(number)) => row(built, shape, first + number, input.dtype),
            (None, _) => Ok(built.input(input.clone())),
        })?;
        let value = |&value: &Value| found[value];
        if let Some(rows) = program.row_fused() {
            let own = |own: &RowReduction| RowReduction {
                value: value(&own.value),
                index: own.index.as_ref().map(value),
                ..*own
            };
            self.reductions.extend(rows.reductions.iter().map(own));
        }
        let results = program.results.iter().map(value);
        match &program.kind {
            ProgramKind::Axis(AxisOp::Reduce(ReduceAxes { op, .. }), _) => {
                let own = |value| RowReduction { op: *op, value, index: None };
                results.map(|value| self.reduce(own(value), program.dtype)).collect()
            }
            _ => Ok(results.collect()),
        }
    }

    /// Adds a reduction of a value. Returns its result.
    fn reduce(&mut self, own: RowReduction, gives: DType) -> Result<Value> {
        let number = self.reductions.iter().position(|known| *known == own).unwrap_or_else(|| {
            self.reductions.push(own);
            self.reductions.len() - 1
        });
        row(&mut self.program, &self.frame.shape, number, gives)
    }

    /// The program of some results.
    pub(crate) fn finish(self, results: &[Value], kept: bool) -> Program {
        let rows = RowFused { axes: self.frame.axes, reductions: self.reductions, kept };
        self.program
            .finish(self.frame.shape, DType::Bool, results.into())
            .of_kind(ProgramKind::RowFused(rows))
    }
}

/// The result of a reduction for each row.
fn row(program: &mut ProgramBuilder, shape: &Shape, number: usize, dtype: DType) -> Result<Value> {
    let layout = Layout::contiguous([])?.broadcast_to(shape)?;
    Ok(program.input(Input::new(dtype, Source::Row(number), layout)))
}
