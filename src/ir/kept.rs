//! What was made of a value once and is kept with it, whoever made it.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// A place for one thing that floors above make of a node or a program, so that making it again is
/// spared. It is kept from the second time on: most expressions are evaluated once. A clone is another
/// value, and begins empty.
#[derive(Default)]
pub(crate) struct Kept {
    seen: AtomicBool,
    thing: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Kept {
    /// What is kept, if it is of that type.
    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        self.thing.get()?.downcast_ref()
    }

    /// Whether [`again`](Self::again) was asked before.
    pub(crate) fn is_seen(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
    }

    /// Whether this was asked before: then what is made is worth keeping.
    pub(crate) fn again(&self) -> bool {
        self.seen.swap(true, Ordering::Relaxed)
    }

    /// Keeps a thing, unless there is one.
    pub(crate) fn put(&self, thing: impl Any + Send + Sync) {
        let _ = self.thing.set(Box::new(thing));
    }
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        Kept::default()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.thing.get().is_some() { "kept" } else { "none" })
    }
}
