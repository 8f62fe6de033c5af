//! Plan cache for expressions that are built anew in every iteration, with other tensors and constants. Expressions
//! with one fingerprint share commands. The first evaluation records the fingerprint, and the second keeps its
//! commands. From then on, running one writes its constants into a copy of the uniform blocks and binds its buffers:
//! nothing is scheduled or planned again.

use std::sync::{Arc, Mutex, Weak};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::lock::lock;
use super::pipelines::Compiled;
use crate::ir::{Fingerprint, Leaves, Storage};
use crate::lower::{Commands, Patch};

/// Fingerprints that are kept. When there are more, all are dropped: those in use are soon known again.
const MOST: usize = 512;

/// Commands, with the pipeline of each dispatch.
#[derive(Debug)]
pub(super) struct Work {
    pub commands: Commands,
    pub compiled: SmallVec<[Weak<Compiled>; 1]>,
}

/// The state of a fingerprint.
#[derive(Debug, Default)]
pub(super) struct Plans(Mutex<FxHashMap<Fingerprint, Known>>);

#[derive(Clone, Debug)]
enum Known {
    /// It was run once, as most are.
    Once,
    Again,
    Plan(Arc<CachedPlan>),
    /// Its commands cannot be reused, as a constant has no place of its own in them.
    Never,
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

impl Plans {
    /// The state of the expression that is about to run.
    pub(super) fn find(&self, print: &Fingerprint) -> Option<Arc<CachedPlan>> {
        let mut all = lock(&self.0);
        match all.get_mut(print) {
            Some(Known::Plan(plan)) => return Some(plan.clone()),
            Some(known @ Known::Once) => *known = Known::Again,
            Some(_) => {}
            None => {
                if all.len() >= MOST {
                    all.clear();
                }
                all.insert(print.clone(), Known::Once);
            }
        }
        None
    }

    /// Keeps the commands of an expression with these leaves, from its second run on.
    pub(super) fn keep(&self, print: Fingerprint, leaves: &Leaves<'_>, work: Work, operands: &[Storage]) {
        if !matches!(lock(&self.0).get(&print), Some(Known::Again)) {
            return;
        }
        let constants = work.commands.constants.iter().map(|&patch| {
            let is_own = |&(_, node): &(u64, usize)| node == patch.node;
            Some((patch, leaves.constants.iter().position(is_own)?))
        });
        let known = operands
            .iter()
            .map(|storage| leaves.find(storage))
            .collect::<Option<_>>()
            .zip(constants.collect());
        let known = match known {
            Some((operands, constants)) => Known::Plan(Arc::new(CachedPlan { work, operands, constants })),
            None => Known::Never,
        };
        lock(&self.0).insert(print, known);
    }
}

impl CachedPlan {
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
