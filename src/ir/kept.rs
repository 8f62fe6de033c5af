//! Results that a caller keeps with a value.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// A place for one result that a higher floor computes from a node or a program, so that it need not be computed again.
/// It is kept from the second time on, since most expressions are evaluated once. A clone begins empty.
#[derive(Default)]
pub(crate) struct Kept {
    seen: AtomicBool,
    thing: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Kept {
    /// The kept result, if it has that type.
    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        self.thing.get()?.downcast_ref()
    }

    /// Whether [`again`](Self::again) was called before.
    pub(crate) fn is_seen(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
    }

    /// Whether this is the second call or a later one: then a result is worth keeping.
    pub(crate) fn again(&self) -> bool {
        self.seen.swap(true, Ordering::Relaxed)
    }

    /// Keeps a result, unless there is one.
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
