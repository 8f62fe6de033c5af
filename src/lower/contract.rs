//! Products of matrices: one kernel, or one for each part of the results where that would take too long.

use super::commands::{Lowering, copy_of};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{Input, Program, Slot, Source};
use crate::layout::Layout;

impl Lowering {
    /// Runs a contraction: a slot for its result.
    pub(super) fn contracted(&mut self, program: &Program) -> Result<Slot> {
        let results = program.result_shape();
        let longest = (0..results.rank()).rev().max_by_key(|&axis| results[axis]);
        let Some(axis) = longest.filter(|&axis| results[axis] > 1 && !self.cuts.is_short(program)) else {
            self.check_bound(program)?;
            return self.one(program);
        };
        let result = self.result(program)?;
        let n = results[axis] as isize;
        let to = Layout::contiguous(results)?;
        for range in [0..n / 2, n / 2..n] {
            let value = self.contracted(&program.slice(axis as isize, range.clone())?)?;
            let to = to.slice(axis as isize, range, 1)?;
            self.write(&copy_of(program.dtype, value, to.shape())?, result, Some(&to))?;
        }
        Ok(result)
    }

    /// Fails where a kernel does not bind all of a factor or of the result.
    fn check_bound(&self, program: &Program) -> Result<()> {
        let results: usize = program.result_shape().iter().product();
        let shows = |input: &Input| match input.source {
            Source::Slot(slot) => self.cuts.shows(slot.elements, input.dtype),
            _ => true,
        };
        if !program.inputs.iter().all(shows) || !self.cuts.shows(results, DType::F64) {
            bail!(
                Limit,
                "a product over {} has an operand or result larger than a binding (max_storage_buffer_binding_size): \
                 evaluate it in slices",
                program.shape
            );
        }
        Ok(())
    }
}
