//! The plan cache: how expressions that are built anew are run. A loop builds its expressions anew in each iteration, of
//! other tensors and constants: the commands of one do for all with its fingerprint, with their constants written anew.

use std::sync::{Arc, Mutex, Weak};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::lock::lock;
use super::pipelines::Compiled;
use crate::ir::{Fingerprint, Leaves, Storage};
use crate::lower::{Commands, Patch};

/// Fingerprints that are remembered. Where there are more, all are forgotten, as those in use are soon known again.
const MOST: usize = 512;

/// Commands, with the pipeline of each dispatch while it is kept.
#[derive(Debug)]
pub(super) struct Work {
    pub commands: Commands,
    pub compiled: SmallVec<[Weak<Compiled>; 1]>,
}

/// What is known of the expressions that a handle ran.
#[derive(Debug, Default)]
pub(super) struct Plans(Mutex<FxHashMap<Fingerprint, Known>>);

#[derive(Clone, Debug)]
enum Known {
    /// It was run once, as most are.
    Once,
    Again,
    Plan(Arc<CachedPlan>),
    /// Its constants are not all its own.
    Never,
}

/// Commands that are run with other operands and constants.
#[derive(Debug)]
pub(super) struct CachedPlan {
    pub work: Work,
    /// Of each operand, the number of the leaf that it is.
    pub operands: SmallVec<[usize; 4]>,
    /// The places of constants, each with the number of the leaf that it is.
    pub constants: SmallVec<[(Patch, usize); 4]>,
}

impl Plans {
    /// What is known of an expression that is run now.
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

    /// Keeps how an expression with these leaves was run, if it was not for the first time.
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
            words[patch.word] = if patch.is_high { (bits >> 32) as u32 } else { bits as u32 };
        }
        words
    }
}
