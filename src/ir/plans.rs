//! Plan cache of a device, for expressions that are built anew in every iteration, with other tensors and constants.
//! Expressions with one fingerprint share a plan. The first evaluation records the fingerprint, and the second keeps
//! its plan. From then on nothing is scheduled or planned again.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::Fingerprint;

/// Fingerprints that are kept. When there are more, all are dropped: those in use are soon known again.
const MOST: usize = 512;

/// The state of each fingerprint. A plan holds neither tensors nor constants.
pub(crate) struct Plans<P>(Mutex<FxHashMap<Fingerprint, Known<P>>>);

enum Known<P> {
    /// It was run once, as most are.
    Once,
    Again,
    Plan(Arc<P>),
    /// Its work cannot run with other operands, as a constant has no place of its own there.
    Never,
}

impl<P> Plans<P> {
    fn all(&self) -> MutexGuard<'_, FxHashMap<Fingerprint, Known<P>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plan of the expression that is about to run, if it is known.
    pub(crate) fn find(&self, print: &Fingerprint) -> Option<Arc<P>> {
        let mut all = self.all();
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

    /// Keeps the plan of an expression that has run, from its second run on. `plan` makes it, if its work can run with
    /// other operands.
    pub(crate) fn keep(&self, print: &Fingerprint, plan: impl FnOnce() -> Option<P>) {
        if !matches!(self.all().get(print), Some(Known::Again)) {
            return;
        }
        let known = plan().map_or(Known::Never, |plan| Known::Plan(Arc::new(plan)));
        self.all().insert(print.clone(), known);
    }
}

impl<P> Default for Plans<P> {
    fn default() -> Self {
        Plans(Mutex::default())
    }
}

impl<P> fmt::Debug for Plans<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} fingerprints", self.all().len())
    }
}
