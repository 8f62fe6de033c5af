//! Storages: handles to elements.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::{Backend, Slot, Storage};

impl Storage {
    pub(crate) fn new(backend: Arc<dyn Backend>, elements: usize, buffer: impl Any + Send + Sync) -> Self {
        Storage { backend, elements, buffer: Arc::new(buffer), is_exact: false }
    }

    /// Whether both are the same elements.
    pub(crate) fn same(&self, other: &Storage) -> bool {
        self.address() == other.address()
    }

    /// A number that no other living storage has.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.buffer).cast::<()>() as usize
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "storage on {}", self.backend.name())
    }
}

impl PartialEq for Slot {
    fn eq(&self, other: &Slot) -> bool {
        (self.number, self.range) == (other.number, other.range)
    }
}
