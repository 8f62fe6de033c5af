//! Folds inside of a program: what one gives for a row is read by steps of the same program.

use smallvec::SmallVec;

use super::{Built, Fold, Folding, Frame, Input, Program, ProgramBuilder, RowFold, Rows, Source, Value};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::layout::{Layout, Shape};

/// When the values of a program of rows are known. Its folds are in *phases*: those of one are read together,
/// and need only what the phases before give.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// Of each fold, its phase.
    pub phases: Vec<usize>,
    /// Of each value, the phase from which on it is known.
    pub from: Vec<usize>,
    /// Of each value, whether it is of the row.
    pub of_row: Vec<bool>,
}

impl Program {
    /// What is known of the values of a program of rows.
    pub(crate) fn levels(&self) -> Levels {
        let Some((rows, frame)) = self.rows.as_ref().zip(self.frame()) else { return Levels::default() };
        let count = self.inputs.len() + self.steps.len();
        let mut levels = Levels { phases: vec![0; rows.folds.len()], ..Levels::default() };
        // What a fold gives is an input, which comes before what the fold needs: so some turns may pass until
        // all is known, as many as there are phases.
        loop {
            (levels.from, levels.of_row) = (vec![0; count], vec![false; count]);
            for (i, input) in self.inputs.iter().enumerate() {
                (levels.from[i], levels.of_row[i]) = match input.source {
                    Source::Row(fold) => (levels.phases[fold] + 1, true),
                    Source::Scalar(_) => (0, true),
                    _ => (0, frame.is_of_row(&input.layout)),
                };
            }
            for (step, value) in self.steps.iter().zip(self.inputs.len()..) {
                levels.from[value] =
                    step.args.iter().map(|&arg| levels.from[arg as usize]).max().unwrap_or(0);
                levels.of_row[value] = step.args.iter().all(|&arg| levels.of_row[arg as usize]);
            }
            let phases = rows.folds.iter().map(|fold| levels.from[fold.value as usize]).collect();
            if std::mem::replace(&mut levels.phases, phases) == levels.phases {
                return levels;
            }
        }
    }

    /// Whether what most elements are read of lies along the rows of a frame.
    pub(crate) fn lies_along(&self, frame: &Frame) -> bool {
        let is_tensor = |input: &&Input| input.source.is_memory();
        let elements = |layout: &Layout| -> usize {
            let walked = frame.shape.iter().zip(layout.strides()).filter(|(_, stride)| **stride != 0);
            walked.map(|(&n, _)| n).product()
        };
        let layouts = self.inputs.iter().filter(is_tensor).map(|input| &input.layout);
        let Some(main) = layouts.max_by_key(|layout| elements(layout)) else { return true };
        let step = |axis: usize| match main.strides()[axis] {
            0 => usize::MAX,
            stride => stride.unsigned_abs(),
        };
        let long = |axis: &usize| frame.shape[*axis] > 1;
        let run = frame.axes.clone().filter(long).map(step).min().unwrap_or(0);
        let mut kept = (0..frame.shape.rank()).filter(|axis| !frame.axes.contains(axis)).filter(long);
        kept.all(|axis| run < step(axis))
    }

    /// The program of the folds, if all are the same and nothing but what follows them needs what they give.
    pub(crate) fn plain_fold(&self) -> Option<Program> {
        let rows = self.rows.as_ref().filter(|rows| rows.kept)?;
        let fold = rows.folds.first()?.fold;
        let values: Vec<Value> = rows.folds.iter().map(|fold| fold.value).collect();
        let same = |layout: &Layout| Ok(layout.clone());
        let plain = self.extract(&values, self.shape.clone(), &Default::default(), same).ok()?;
        let is_row = |input: &Input| matches!(input.source, Source::Row(_));
        let alike = rows
            .folds
            .iter()
            .all(|own| own.fold == fold && self.dtype_of(own.value) == self.dtype_of(values[0]));
        let folding = Folding { fold, axes: rows.axes.clone(), scan: None };
        (alike && !plain.inputs.iter().any(is_row)).then(|| plain.folded(Some(folding)))
    }

    /// The program over what is left of its values, by number of the fold, when they were folded in part.
    pub(crate) fn left_of_folds(&self, left: &Program) -> Result<Program> {
        let Some((rows, frame)) = self.rows.as_ref().zip(left.frame()) else {
            bail!(Kernel, "a program without rows");
        };
        let Some(fold) = rows.folds.first().map(|own| own.fold) else { bail!(Kernel, "rows without folds") };
        let mut after = self.after_folds()?;
        for input in &mut after.inputs {
            input.layout = input.layout.broadcast_to(&frame.shape)?;
        }
        after.shape = frame.shape.clone();
        let mut joined = Joined::new(frame);
        let values = joined.add(&Program { fold: None, ..left.clone() }, |_| None)?;
        let gives = after.inputs.iter().map(|input| input.dtype).collect::<Vec<_>>();
        let mut known = Vec::new();
        for (number, &value) in values.iter().enumerate() {
            let is_own = |input: &Input| matches!(input.source, Source::Row(row) if row == number);
            let dtype = after.inputs.iter().position(is_own).map_or(self.dtype, |i| gives[i]);
            known.push(joined.fold(fold, value, dtype)?);
        }
        let results = joined.add(&after, |input| match input.source {
            Source::Row(fold) => known.get(fold).copied(),
            _ => None,
        })?;
        Ok(joined.finish(&results, true))
    }

    /// What follows the folds, as a program over one element of each row; what they give is read as
    /// [`Source::Row`].
    pub(crate) fn after_folds(&self) -> Result<Program> {
        let Some((rows, frame)) = self.rows.as_ref().zip(self.frame()) else {
            bail!(Kernel, "a program without rows");
        };
        self.extract(&self.results, frame.kept(), &Default::default(), |layout| {
            rows.axes.clone().try_fold(layout.clone(), |layout, axis| layout.slice(axis as isize, 0..1, 1))
        })
    }
}

/// Programs over the rows of one frame, put together to one. Equal inputs and equal steps appear once.
pub(crate) struct Joined {
    frame: Frame,
    program: ProgramBuilder,
    folds: Vec<(Fold, Built)>,
}

impl Joined {
    pub(crate) fn new(frame: Frame) -> Joined {
        Joined { frame, program: ProgramBuilder::new(), folds: Vec::new() }
    }

    /// Adds a program of the frame's shape, and its folds: its results, of which some inputs are known.
    pub(crate) fn add(
        &mut self,
        program: &Program,
        known: impl Fn(&Input) -> Option<Built>,
    ) -> Result<SmallVec<[Built; 2]>> {
        let (first, shape) = (self.folds.len(), &self.frame.shape);
        let found = self.program.copy_all(program, |built, input| match (known(input), &input.source) {
            (Some(known), _) => Ok(known),
            (None, Source::Row(fold)) => row(built, shape, first + fold, input.dtype),
            (None, _) => Ok(built.input(input.clone())),
        })?;
        let value = |value: &Value| found[*value as usize];
        if let Some(rows) = &program.rows {
            self.folds.extend(rows.folds.iter().map(|own| (own.fold, value(&own.value))));
        }
        let results = program.results.iter().map(value);
        match &program.fold {
            None => Ok(results.collect()),
            Some(folding) => results.map(|value| self.fold(folding.fold, value, program.dtype)).collect(),
        }
    }

    /// Folds a value: what that gives, of a type.
    fn fold(&mut self, fold: Fold, value: Built, gives: DType) -> Result<Built> {
        let known = self.folds.iter().position(|&own| own == (fold, value));
        let number = known.unwrap_or_else(|| {
            self.folds.push((fold, value));
            self.folds.len() - 1
        });
        row(&mut self.program, &self.frame.shape, number, gives)
    }

    /// The program of some results.
    pub(crate) fn finish(self, results: &[Built], kept: bool) -> Program {
        let value = |of: &Built| self.program.value(*of);
        let folds = self.folds.iter().map(|(fold, of)| RowFold { fold: *fold, value: value(of) }).collect();
        let rows = Some(Rows { axes: self.frame.axes, folds, kept });
        let mut program = Program { rows, ..self.program.finish(self.frame.shape, DType::Bool, results) };
        program.dtype = program.element_type();
        program
    }
}

/// What a fold gives for each row.
fn row(program: &mut ProgramBuilder, shape: &Shape, fold: usize, dtype: DType) -> Result<Built> {
    let layout = Layout::contiguous([])?.broadcast_to(shape)?;
    Ok(program.input(Input::new(dtype, Source::Row(fold), layout)))
}
