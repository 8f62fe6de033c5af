//! Plans of the plan cache: commands that run with other operands and constants. Running one writes its constants into
//! a copy of the uniform blocks and binds its buffers.

use std::sync::Weak;

use smallvec::SmallVec;

use super::pipelines::Compiled;
use crate::ir::{Leaves, Storage};
use crate::lower::{Commands, Patch};

/// Commands, with the pipeline of each dispatch.
#[derive(Debug)]
pub(super) struct Work {
    pub commands: Commands,
    pub compiled: SmallVec<[Weak<Compiled>; 1]>,
}

/// Commands that run with other operands and constants.
#[derive(Debug)]
pub(super) struct CachedPlan {
    pub work: Work,
    /// For each operand, the number of its leaf.
    pub operands: SmallVec<[usize; 4]>,
    /// The places of constants, each with the number of its leaf.
    pub constants: SmallVec<[(Patch, usize); 4]>,
}

impl CachedPlan {
    /// The plan of an expression with these leaves. `None` if a constant has no place of its own in the commands.
    pub(super) fn new(leaves: &Leaves<'_>, work: Work, operands: &[Storage]) -> Option<CachedPlan> {
        // Kernels of reductions have no places of constants.
        if leaves.reduces && !leaves.constants.is_empty() {
            return None;
        }
        let constants = work.commands.constants.iter().map(|&patch| {
            let is_own = |&(_, node): &(u64, usize)| node == patch.node;
            Some((patch, leaves.constants.iter().position(is_own)?))
        });
        let constants: SmallVec<[(Patch, usize); 4]> = constants.collect::<Option<_>>()?;
        // An index of a lookup may be a part of a layout.
        if (0..leaves.constants.len()).any(|leaf| constants.iter().all(|(_, number)| *number != leaf)) {
            return None;
        }
        let operands = operands.iter().map(|storage| leaves.find(storage)).collect::<Option<_>>()?;
        Some(CachedPlan { work, operands, constants })
    }

    /// The words of a dispatch's uniform block, with the constants of some leaves.
    pub(super) fn words(&self, dispatch: usize, leaves: &Leaves<'_>) -> SmallVec<[u32; 64]> {
        let mut words = SmallVec::from_slice(&self.work.commands.dispatches[dispatch].plan.launch.words);
        for (patch, number) in self.constants.iter().filter(|(patch, _)| patch.dispatch == dispatch) {
            let bits = leaves.constants[*number].0;
            words[patch.word] = bits as u32;
            if patch.is_wide {
                words[patch.word + 1] = (bits >> 32) as u32;
            }
        }
        words
    }
}
