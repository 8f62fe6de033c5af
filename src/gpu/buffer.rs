//! What a storage of this path holds: a buffer, several, or what is bound of one.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use smallvec::{SmallVec, smallvec};

use super::pool::Pool;
use crate::error::{Error, ErrorKind, Result};
use crate::expr::Storage;

/// Memory of a device, which goes back to its pool.
#[derive(Debug)]
pub(super) struct Buffer {
    pub raw: wgpu::Buffer,
    /// Bytes that are bound: what was asked for, rounded up to whole vectors.
    pub size: u64,
    /// The recording in which it was last used.
    pub epoch: AtomicU64,
    pub pool: Arc<Pool>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.pool.give_back(self.raw.clone(), self.epoch.load(Ordering::Relaxed));
    }
}

/// The buffers of a storage that is larger than one may be, in order.
#[derive(Debug)]
pub(super) struct Buffers(pub Vec<Arc<Buffer>>);

/// What is bound of a buffer, in bytes. A storage may be that, for one kernel.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub buffer: Arc<Buffer>,
    pub start: u64,
    pub size: u64,
}

fn foreign() -> Error {
    Error::new(ErrorKind::Device, "a tensor of another device reached the GPU")
}

/// The buffers of a storage that this path made.
pub(super) fn buffers(storage: &Storage) -> Result<SmallVec<[Arc<Buffer>; 1]>> {
    match storage.buffer.downcast_ref::<Buffers>() {
        Some(Buffers(all)) => Ok(all.iter().cloned().collect()),
        None => Ok(smallvec![storage.buffer.clone().downcast::<Buffer>().map_err(|_| foreign())?]),
    }
}

/// What a kernel binds of a storage: all of it, or what it is bound to.
pub(super) fn bound(storage: &Storage) -> Result<Bound> {
    match storage.buffer.downcast_ref::<Bound>() {
        Some(bound) => Ok(bound.clone()),
        None => {
            let buffer = storage.buffer.clone().downcast::<Buffer>().map_err(|_| foreign())?;
            Ok(Bound { start: 0, size: buffer.size, buffer })
        }
    }
}
