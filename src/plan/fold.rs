//! Folds: a run of values becomes one, by passes, each a kernel.
//!
//! A pass cuts the run into blocks and folds each to `keep` values: `x[i] + x[i + h]` from half a block down
//! to h = `keep`, both powers of two. What it stores is a run again, in blocks of `keep`; where that is one,
//! the next round begins with blocks of the contract's length. So a pass may end at any h, and all cuts
//! give the same bits.

use std::ops::Range;

use smallvec::SmallVec;

use super::halves::{self, Halves};
use super::walk::Packing;
use super::{Plan, Target};
use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::expr::{BLOCK, Fold, Folding, Input, Op, Program, Source, Step, Storage, Value};
use crate::layout::{Axes, Axis, Layout, Shape, merge};

/// Invocations of a workgroup of a fold, unless what they hold takes more memory than there is.
pub(crate) const FOLD_WORKGROUP: u32 = 64;

/// Where the four lanes of an invocation lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lanes {
    /// Next to each other along the run, so that they are folded themselves at last.
    Run,
    /// Next to each other along the innermost axis, which is kept: the same place in four runs.
    Kept,
    /// One after the other in the order of the result: coordinates by division, per lane.
    Anywhere,
}

/// The workgroups of so many invocations in a line, which goes on in the next row where a dimension ends.
pub(super) fn workgroups(
    shape: &Shape,
    invocations: usize,
    workgroup: u32,
    target: Target,
) -> Result<[usize; 2]> {
    let (all, most) = (invocations.div_ceil(workgroup as usize), target.groups as usize);
    let y = all.div_ceil(most).max(1);
    if y > most {
        bail!(Limit, "{shape} needs {all} workgroups, more than the adapter runs at once");
    }
    Ok([all.div_ceil(y).max(1), y])
}

/// What a kernel's text depends on where it folds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Folder {
    pub fold: Fold,
    /// The type of what is folded.
    pub element: DType,
    pub lanes: Lanes,
    pub halves: Halves,
    /// The axes of the run.
    pub run: Range<usize>,
    /// Whether all blocks are whole, so that nothing is past the end.
    pub whole: bool,
    /// Values that are folded side by side.
    pub values: usize,
    /// Whether the index of each value is a result of the program too, from a pass before.
    pub indexed: bool,
    pub stored: SmallVec<[Stored; 2]>,
}

/// What is stored of each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stored {
    Value(usize),
    Index(usize),
}

impl Folder {
    /// The type in which something is stored, of whole words.
    pub(crate) fn stored_type(&self, stored: Stored) -> DType {
        match stored {
            Stored::Value(_) => whole(self.element),
            Stored::Index(_) => DType::U32,
        }
    }

    /// Whether an axis is kept.
    pub(crate) fn keeps(&self, axis: usize) -> bool {
        !self.run.contains(&axis)
    }
}

/// The type of whole words that holds a type's values.
pub(super) fn whole(dtype: DType) -> DType {
    match (dtype.packing(), dtype.kind()) {
        (Packing::Whole, _) => dtype,
        (_, Kind::Signed) => DType::I32,
        _ => DType::U32,
    }
}

/// A fold on its way: what its passes before this one left.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// Of the elements that are folded; in the end of several passes, a copy of what the last one stored.
    pub program: Program,
    /// What stays of the folding.
    pub folding: Folding,
    /// The type of the elements of the first pass.
    element: DType,
    /// How many values of the program are folded; the others are their indices.
    values: usize,
    /// Values of a block, of which the passes before left these.
    block: usize,
}

/// A pass of a fold.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub plan: Plan,
    /// The types of what is stored, and how many elements of each.
    pub stored: Vec<DType>,
    pub count: usize,
    /// Bytes that it reads at least.
    pub(super) read: usize,
    /// What it does, in words.
    pub form: String,
    /// Where it leaves several values of a run: how these lie, and in blocks of how many.
    pub(super) rest: Option<(Layout, usize)>,
}

impl Work {
    /// All of a fold.
    pub(crate) fn new(program: &Program) -> Result<Work> {
        let Some(folding) = program.fold.clone() else { bail!(Kernel, "a program without a fold") };
        Ok(Work {
            element: program.element_type(),
            values: program.results.len(),
            folding,
            program: program.clone(),
            block: BLOCK,
        })
    }

    /// Values of a block, of which the passes before left these.
    pub(super) fn block(&self) -> usize {
        self.block
    }

    /// How many values of the program are folded; the others are their indices.
    pub(super) fn values(&self) -> usize {
        self.values
    }

    /// The type of the elements of the first pass.
    pub(super) fn element_type(&self) -> DType {
        self.element
    }

    /// What is to be done after a pass that stored to `storages`.
    pub(crate) fn after(&self, pass: &Pass, storages: &[Storage]) -> Result<Work> {
        let Some((layout, block)) = &pass.rest else { bail!(Kernel, "a fold that is done") };
        let inputs: Vec<Input> = storages
            .iter()
            .zip(&pass.stored)
            .map(|(storage, &dtype)| Input::new(dtype, Source::Tensor(storage.clone()), layout.clone()))
            .collect();
        let mut steps = Vec::new();
        let mut results: SmallVec<[Value; 1]> = (0..inputs.len() as Value).collect();
        if whole(self.element) != self.element {
            for result in results.iter_mut().take(self.values) {
                let (dtype, args) = (whole(self.element), smallvec::smallvec![*result]);
                *result = (inputs.len() + steps.len()) as Value;
                steps.push(Step::new(Op::Cast, dtype, self.element, args));
            }
        }
        let (shape, dtype) = (layout.shape().clone(), self.program.dtype);
        let program = Program {
            fold: Some(self.folding.clone()),
            ..Program::of_steps(shape, dtype, inputs, steps, results)
        };
        let folding =
            Folding { axes: self.folding.axes.start..self.folding.axes.start + 1, ..self.folding.clone() };
        Ok(Work { program, folding, block: *block, ..self.clone() })
    }
}

/// The fewest axes of `range` that all operands walk as these.
pub(super) fn axes(program: &Program, range: impl Iterator<Item = usize>) -> Axes {
    let strides = |k: usize| program.inputs.iter().map(|input| input.layout.strides()[k]).collect();
    merge(range.map(|k| Axis { length: program.shape[k], strides: strides(k) }))
}

impl Pass {
    /// Plans the next pass of a fold.
    pub(crate) fn new(work: &Work, target: Target) -> Result<Pass> {
        halves::pass(work, target)
    }

    pub(crate) fn is_last(&self) -> bool {
        self.rest.is_none()
    }

    /// Bytes that move at least: each element that it reads once, and all that it stores.
    pub(crate) fn bytes(&self) -> usize {
        self.read + self.stored.iter().map(|dtype| self.count * dtype.size()).sum::<usize>()
    }
}
