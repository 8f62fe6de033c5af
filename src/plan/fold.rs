//! Folds: a run of values becomes one, by passes, each a kernel.
//!
//! A pass cuts the run into blocks and folds each to `keep` values: `x[i] + x[i + h]` from half a block down
//! to h = `keep`, both powers of two. What it stores is a run again, in blocks of `keep`; where that is one,
//! the next round begins with blocks of the contract's length. So a pass may end at any h, and all cuts
//! give the same bits.

use smallvec::smallvec;

use super::launch::Pass;
use super::walk::whole;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{BLOCK, Folding, Input, Op, Program, Slot, Source, Step, Value};

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

    /// What is to be done after a pass that stored to `slots`.
    pub(crate) fn after(&self, pass: &Pass, slots: &[Slot]) -> Result<Work> {
        let Some((layout, block)) = &pass.rest else { bail!(Kernel, "a fold that is done") };
        let input = |(&slot, &dtype)| Input::new(dtype, Source::Slot(slot), layout.clone());
        let inputs: Vec<Input> = slots.iter().zip(&pass.stored).map(input).collect();
        let is_cast = whole(self.element) != self.element;
        let (casts, all) = (if is_cast { self.values as u32 } else { 0 }, inputs.len() as u32);
        let cast = |value| Step::new(Op::Cast, whole(self.element), self.element, smallvec![value]);
        let steps = (0..casts).map(Value::Input).map(cast).collect();
        let results = (0..casts).map(Value::Step).chain((casts..all).map(Value::Input)).collect();
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
