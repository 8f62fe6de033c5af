//! What was made of a value once and is kept with it, whoever made it.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

/// A place for one thing that floors above make of a node or a program, so that making it again is
/// spared. A clone is another value, and begins empty.
#[derive(Default)]
pub(crate) struct Kept(OnceLock<Box<dyn Any + Send + Sync>>);

impl Kept {
    /// What is kept, if it is of that type.
    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        self.0.get()?.downcast_ref()
    }

    /// Keeps a thing, unless there is one.
    pub(crate) fn put(&self, thing: impl Any + Send + Sync) {
        let _ = self.0.set(Box::new(thing));
    }
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        Kept::default()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "kept" } else { "none" })
    }
}
