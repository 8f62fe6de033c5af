//! Storages: handles to elements, and what stands for one that is not there.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::{Backend, Program, Storage};
use crate::error::Result;

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

/// What a storage holds that is planned for and not there.
#[derive(Debug)]
pub(crate) struct Declared;

impl Storage {
    /// A storage for the result of a program that is not run, but of which is to be told what reading it
    /// would run. It takes no memory.
    pub(crate) fn declared(backend: Arc<dyn Backend>, program: &Program) -> Result<Storage> {
        Ok(Storage::without_memory(backend, program.byte_size()? / program.dtype.size()))
    }

    /// The same for so many elements.
    pub(crate) fn without_memory(backend: Arc<dyn Backend>, elements: usize) -> Storage {
        Storage::new(backend, elements, Declared)
    }
}
