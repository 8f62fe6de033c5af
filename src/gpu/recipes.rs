//! Recipes: how expressions of a form are run. A loop builds its expressions anew in each turn, of other tensors and
//! constants: planning one of them does for all, and each then takes what writing its constants takes.

use std::sync::{Arc, Mutex, Weak};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::lock::lock;
use super::pipelines::Compiled;
use crate::dtype::DType;
use crate::ir::{Form, Leaves};
use crate::plan::Plan;

/// Forms that are remembered. Where there are more, all are forgotten, as those in use are soon known again.
const MOST: usize = 512;

/// What is known of the forms that were run by a handle.
#[derive(Debug, Default)]
pub(super) struct Recipes(Mutex<FxHashMap<Form, Known>>);

#[derive(Clone, Debug)]
pub(super) enum Known {
    /// It was run once.
    Seen,
    Recipe(Arc<Recipe>),
    /// More than one kernel runs it, or there is an error to tell.
    Otherwise,
}

/// The plan of a form.
#[derive(Debug)]
pub(super) struct Recipe {
    /// Its constants are to be written, and it names no storages.
    pub plan: Plan,
    /// The pipeline, while it is kept.
    pub compiled: Weak<Compiled>,
    /// The word of each constant, by its number, and whether it is the high one.
    pub constants: SmallVec<[(usize, usize, bool); 4]>,
    /// What is read, by number.
    pub reads: SmallVec<[usize; 4]>,
    pub to: To,
}

/// What is written.
#[derive(Debug)]
pub(super) enum To {
    /// A new storage of so many bytes.
    Fresh(DType, usize),
    /// One that is there, by number.
    Known(usize),
}

impl Recipes {
    pub(super) fn find(&self, form: &Form) -> Option<Known> {
        lock(&self.0).get(form).cloned()
    }

    /// Remembers a form.
    pub(super) fn keep(&self, form: Form, known: Known) {
        let mut all = lock(&self.0);
        if all.len() >= MOST && !all.contains_key(&form) {
            all.clear();
        }
        all.insert(form, known);
    }
}

impl Recipe {
    /// The words of the uniform block, with the constants of some leaves.
    pub(super) fn words(&self, leaves: &Leaves<'_>) -> SmallVec<[u32; 64]> {
        let mut words = SmallVec::from_slice(&self.plan.launch.words);
        for &(word, number, is_high) in &self.constants {
            let bits = leaves.constants[number];
            words[word] = if is_high { (bits >> 32) as u32 } else { bits as u32 };
        }
        words
    }
}
