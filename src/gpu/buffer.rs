//! What a storage of this path holds: a buffer, or a window of one.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

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

/// What is bound of a buffer, in bytes. A storage may be such a window.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub buffer: Arc<Buffer>,
    pub start: u64,
    pub size: u64,
}

/// The buffer of a storage that this path made.
pub(super) fn buffer(storage: &Storage) -> Result<Arc<Buffer>> {
    let foreign = || Error::new(ErrorKind::Device, "a tensor of another device reached the GPU");
    storage.buffer.clone().downcast::<Buffer>().map_err(|_| foreign())
}

/// What a storage binds.
pub(super) fn window(storage: &Storage) -> Result<Window> {
    match storage.buffer.downcast_ref::<Window>() {
        Some(window) => Ok(window.clone()),
        None => buffer(storage).map(|buffer| Window { start: 0, size: buffer.size, buffer }),
    }
}
