//! Buffers: the memory of a storage.

use std::sync::{Arc, PoisonError, RwLock};

use super::memory::HostMemory;
use crate::error::{Error, ErrorKind, Poison, Result, bail};
use crate::ir::Storage;

/// Elements in memory. Snapshots share them until one side is written. Locks of several buffers are always taken in the
/// order of their addresses.
pub(super) struct HostBuffer {
    pub memory: RwLock<Arc<HostMemory>>,
    pub poison: Poison,
}

impl HostBuffer {
    pub(super) fn new(memory: HostMemory) -> HostBuffer {
        HostBuffer::of(Arc::new(memory))
    }

    pub(super) fn of(memory: Arc<HostMemory>) -> HostBuffer {
        HostBuffer { memory: RwLock::new(memory), poison: Poison::default() }
    }

    /// The memory at this time.
    pub(super) fn snapshot(&self) -> Result<Arc<HostMemory>> {
        self.poison.check()?;
        Ok(self.memory.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

/// Memory to write: a copy, if snapshots share it.
pub(super) fn own(shared: &mut Arc<HostMemory>) -> Result<&mut HostMemory> {
    if Arc::get_mut(shared).is_none() {
        let mut copy = HostMemory::take(shared.len())?;
        copy[..shared.len()].copy_from_slice(shared);
        *shared = Arc::new(copy);
    }
    match Arc::get_mut(shared) {
        Some(memory) => Ok(memory),
        None => bail!(Kernel, "memory that was just made is shared"),
    }
}

/// The buffer of a storage.
pub(super) fn buffer(storage: &Storage) -> Result<&HostBuffer> {
    let foreign = || Error::new(ErrorKind::Device, "a tensor of another device reached the CPU");
    storage.buffer.downcast_ref::<HostBuffer>().ok_or_else(foreign)
}
