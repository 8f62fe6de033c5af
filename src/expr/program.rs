//! An expression made flat: inputs, then steps, each naming values before it. What devices run.

use std::ops::Range;

use smallvec::SmallVec;

use super::{Body, DType, Folding, Kept, Op, Rows, Source, Storage};
use crate::error::{Result, bail};
use crate::layout::{Layout, Shape};

/// A value of a program: input `i`, or step `i - inputs.len()`.
pub(crate) type Value = u32;

/// A leaf, with its layout broadcast to the shape of the program.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub dtype: DType,
    pub source: Source,
    pub layout: Layout,
}

/// One op over values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub op: Op,
    /// The type of the operands (of the values, for `Select`).
    pub dtype: DType,
    pub result: DType,
    pub args: SmallVec<[Value; 3]>,
    /// What it does, where the op does not say it.
    pub body: Option<Body>,
}

impl Step {
    /// A step that its op tells all of.
    pub(crate) fn new(op: Op, dtype: DType, result: DType, args: SmallVec<[Value; 3]>) -> Step {
        Step { op, dtype, result, args, body: None }
    }
}

/// A flat expression. Equal leaves and equal steps appear once.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// What steps run over: the shape of the results, or, where they are folded, of what is folded.
    pub shape: Shape,
    /// The type of the results.
    pub dtype: DType,
    pub inputs: Vec<Input>,
    pub steps: Vec<Step>,
    /// A value for each result, all of one type.
    pub results: SmallVec<[Value; 1]>,
    /// What is made of each of these values before it is stored.
    pub fold: Option<Folding>,
    /// What is folded inside of it.
    pub rows: Option<Rows>,
    /// What a device made of it.
    pub ready: Kept,
}

impl Program {
    /// A program that copies one input.
    pub(crate) fn copy(input: Input) -> Program {
        Program {
            shape: input.layout.shape().clone(),
            dtype: input.dtype,
            inputs: vec![input],
            steps: Vec::new(),
            results: smallvec::smallvec![0],
            fold: None,
            rows: None,
            ready: Kept::default(),
        }
    }

    /// The shape of what is stored for each result.
    pub(crate) fn result_shape(&self) -> Shape {
        match (&self.fold, &self.rows, self.frame()) {
            (Some(folding), ..) => folding.shape(&self.shape),
            (None, Some(Rows { kept: true, .. }), Some(frame)) => frame.kept(),
            _ => self.shape.clone(),
        }
    }

    /// Whether results are scanned.
    pub(crate) fn is_scan(&self) -> bool {
        self.fold.as_ref().is_some_and(|folding| folding.scan.is_some())
    }

    /// The bytes that a result takes.
    pub(crate) fn byte_size(&self) -> Result<usize> {
        let shape = self.result_shape();
        match shape.count()?.checked_mul(self.dtype.size()) {
            Some(bytes) => Ok(bytes),
            None => bail!(Overflow, "the size of {shape} {} in bytes overflows", self.dtype),
        }
    }

    /// The type of what steps give, before it is folded.
    pub(crate) fn element_type(&self) -> DType {
        self.results.first().map_or(self.dtype, |&result| self.dtype_of(result))
    }

    /// The same, with results folded as `fold` says.
    pub(crate) fn folded(mut self, fold: Option<Folding>) -> Program {
        let element = self.element_type();
        self.dtype = fold.as_ref().and_then(|folding| folding.fold.result(element)).unwrap_or(element);
        self.fold = fold;
        self
    }

    pub(crate) fn dtype_of(&self, value: Value) -> DType {
        match (value as usize).checked_sub(self.inputs.len()) {
            None => self.inputs[value as usize].dtype,
            Some(step) => self.steps[step].result,
        }
    }
}

impl Program {
    /// The tensors that it reads, each with its layout.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = (&Storage, &Layout)> {
        self.inputs.iter().filter_map(|input| match &input.source {
            Source::Tensor(storage) => Some((storage, &input.layout)),
            _ => None,
        })
    }

    /// The turns of all its loops.
    pub(crate) fn turns(&self) -> u64 {
        let turns = self.steps.iter().map(|step| {
            let told = |arg: usize| match self.inputs.get(*step.args.get(arg)? as usize)?.source {
                Source::Scalar(bits) => Some(bits),
                _ => None,
            };
            match &step.body {
                Some(Body::Loop(own)) => own.turns(told(0), &|arg| told(arg + 1)),
                _ => 0,
            }
        });
        turns.fold(0, u64::saturating_add)
    }

    /// The stages that it reads.
    pub(crate) fn stages(&self) -> impl Iterator<Item = usize> {
        self.inputs.iter().filter_map(|input| match input.source {
            Source::Stage { stage, .. } => Some(stage),
            _ => None,
        })
    }

    /// The program over a range of an axis. Along a folded axis it is the fold of that range.
    pub(crate) fn slice(&self, axis: isize, range: Range<isize>) -> Result<Program> {
        let mut part = self.clone();
        part.shape = Layout::contiguous(&self.shape)?.slice(axis, range.clone(), 1)?.shape().clone();
        for input in &mut part.inputs {
            input.layout = input.layout.slice(axis, range.clone(), 1)?;
        }
        Ok(part)
    }

    /// Whether writing `layout` of `storage` element by element would destroy a source before it
    /// is read: then the result must go through a temporary. Small elements are written by whole
    /// words, which may hold elements beside the layout. A buffer of the caller's may be read as one type
    /// and written as another.
    pub(crate) fn conflicts(&self, storage: &Storage, layout: &Layout) -> bool {
        self.inputs.iter().any(|input| match &input.source {
            Source::Tensor(source) if source.same(storage) => {
                let overlaps = || self.dtype.size() < 4 || input.layout.may_overlap(layout);
                input.dtype != self.dtype || input.layout != *layout && overlaps()
            }
            _ => false,
        })
    }
}
