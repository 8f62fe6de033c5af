//! The memory of a storage: one buffer or several, and the ranges that kernels bind.

use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::connection::Connection;
use super::lock::lock;
use super::pool::Pool;
use crate::error::{Error, ErrorKind, Poison, Result};
use crate::ir::{BindingRange, Storage};

/// Memory of a device. On drop it returns to its pool, unless it is the caller's.
#[derive(Debug)]
pub(super) struct Buffer {
    pub raw: wgpu::Buffer,
    /// Bound bytes: the elements, rounded up to whole vectors. Of a caller's buffer, whole words.
    pub size: u64,
    /// Bytes of elements.
    pub held: u64,
    /// The recording that used it last.
    pub epoch: AtomicU64,
    /// The recording that wrote it last.
    pub written: AtomicU64,
    pub poison: Poison,
    pub pool: Arc<Pool>,
    /// Whether it is the caller's.
    pub is_lent: bool,
    /// Whether the caller has a handle, and may destroy it.
    pub is_known: AtomicBool,
}

impl Buffer {
    /// A buffer, last used in a recording, with `size` bound bytes and `held` bytes of elements.
    pub(super) fn new(
        connection: &Connection,
        pool: &Arc<Pool>,
        (raw, epoch): (wgpu::Buffer, u64),
        (size, held): (u64, u64),
        is_lent: bool,
    ) -> Buffer {
        Buffer {
            raw,
            size,
            held,
            epoch: AtomicU64::new(epoch),
            written: AtomicU64::new(connection.failures.epoch()),
            poison: Poison::default(),
            pool: pool.clone(),
            is_lent,
            is_known: AtomicBool::new(is_lent),
        }
    }

    /// Fails if its elements were not computed, or may be wrong by an error that was reported after the call.
    pub(super) fn check(&self, connection: &Connection) -> Result<()> {
        connection.failures.check(&self.poison)?;
        connection.failures.trust(self.written.load(Ordering::Relaxed))
    }

    pub(super) fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let [epoch, written] = [&self.epoch, &self.written].map(|of| of.load(Ordering::Relaxed));
        match (self.is_lent, self.is_known()) {
            (true, _) => self.pool.forget(&self.raw),
            // The caller may still have a handle.
            (_, true) => self.pool.give_up(&self.raw),
            _ => self.pool.give_back(self.raw.clone(), epoch, written),
        }
    }
}

fn hash(buffer: &wgpu::Buffer) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(buffer)
}

/// Living buffers that the caller knows too. Each is one storage, however often it is handed in, since overlap of reads
/// and writes is decided by storages.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<HashMap<u64, Vec<Weak<Buffer>>>>);

impl Shared {
    /// The buffer for one of wgpu's, known or made by `create`.
    pub(super) fn find(
        &self,
        raw: &wgpu::Buffer,
        create: impl FnOnce() -> Result<Buffer>,
    ) -> Result<Arc<Buffer>> {
        let key = hash(raw);
        let known = |all: &[Weak<Buffer>]| all.iter().filter_map(Weak::upgrade).find(|own| own.raw == *raw);
        if let Some(known) = lock(&self.0).get(&key).and_then(|all| known(all)) {
            return Ok(known);
        }
        let created = Arc::new(create()?);
        // Another thread may have been first. The loser's buffer is dropped after the lock.
        let mut all = lock(&self.0);
        let found = all.get(&key).and_then(|all| known(all));
        if found.is_none() {
            Self::keep(&mut all, key, &created);
        }
        drop(all);
        Ok(found.unwrap_or(created))
    }

    /// Registers a buffer that the caller gets to see.
    pub(super) fn insert(&self, buffer: &Arc<Buffer>) {
        let key = hash(&buffer.raw);
        let mut all = lock(&self.0);
        let is_known = |all: &Vec<Weak<Buffer>>| all.iter().any(|own| own.as_ptr() == Arc::as_ptr(buffer));
        if !all.get(&key).is_some_and(is_known) {
            Self::keep(&mut all, key, buffer);
        }
    }

    fn keep(all: &mut HashMap<u64, Vec<Weak<Buffer>>>, key: u64, buffer: &Arc<Buffer>) {
        // When the list is full, dead entries are removed.
        if all.len() == all.capacity() {
            all.retain(|_, all| {
                all.retain(|own| own.strong_count() > 0);
                !all.is_empty()
            });
        }
        all.entry(key).or_default().push(Arc::downgrade(buffer));
    }
}

/// The buffers of a storage that is larger than the largest buffer, in order.
#[derive(Debug)]
pub(super) struct Buffers(pub Vec<Memory>);

/// One buffer. Its handle as a storage may also be a list of buffers.
pub(super) type Memory = Arc<dyn Any + Send + Sync>;

/// The range of a buffer that a kernel binds, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Bound<'a> {
    pub buffer: &'a Buffer,
    pub memory: &'a Memory,
    pub start: u64,
    pub size: u64,
}

fn foreign() -> Error {
    Error::new(ErrorKind::Device, "a tensor of another device reached the GPU")
}

/// The buffers of a storage, in order.
fn memories(storage: &Storage) -> &[Memory] {
    match storage.buffer.downcast_ref::<Buffers>() {
        Some(Buffers(all)) => all,
        None => std::slice::from_ref(&storage.buffer),
    }
}

/// The buffers of a storage of this path.
pub(super) fn buffers(storage: &Storage) -> Result<SmallVec<[Arc<Buffer>; 1]>> {
    memories(storage).iter().map(|memory| memory.clone().downcast().map_err(|_| foreign())).collect()
}

/// The range that a kernel binds of a storage, or all of it.
pub(super) fn bound(storage: &Storage, range: Option<BindingRange>) -> Result<Bound<'_>> {
    let memory = memories(storage).get(range.map_or(0, |range| range.buffer)).ok_or_else(foreign)?;
    let buffer = memory.downcast_ref::<Buffer>().ok_or_else(foreign)?;
    let (start, size) = range.map_or((0, buffer.size), |range| (range.start, range.size));
    Ok(Bound { buffer, memory, start, size })
}
