//! Idle buffers, by size class.

use std::collections::VecDeque;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::{Arc, Mutex, MutexGuard};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use super::connection::Connection;
use super::failures::Failures;
use super::lock::{Entered, Gate, Gated, lock};
use crate::error::Result;
use crate::ir::Memory;

/// Fewer bytes than this are never released.
const LITTLE: u64 = 1 << 20;

/// After this many buffers were taken, memory of use long ago counts 1/e.
const FORGOTTEN: u64 = 1024;

/// The size that a buffer of at least `size` bytes is created with: eight classes per doubling,
/// so at most an eighth is wasted and sizes that vary a little meet in one class.
pub(super) fn class(size: u64) -> u64 {
    let size = size.max(256);
    size.next_multiple_of((size.next_power_of_two() / 16).max(256))
}

/// Bind groups that are kept: repeated work needs one for each page of uniform blocks.
const GROUPS: usize = 1024;

/// Bytes of a page of uniform blocks, for work that waits in a caller's encoder.
pub(super) const PAGE: u64 = 64 << 10;

/// Pages that are kept.
const PAGES: usize = 16;

/// The bound range of a buffer.
pub(super) type Part<'a> = (&'a wgpu::Buffer, u64, u64);

/// A bind group, its layout, and the bound ranges, that of the uniform blocks first.
#[derive(Debug)]
struct Group {
    layout: wgpu::BindGroupLayout,
    parts: SmallVec<[(wgpu::Buffer, u64, u64); 4]>,
    group: wgpu::BindGroup,
}

impl Group {
    fn is_of(&self, layout: &wgpu::BindGroupLayout, parts: &[Part<'_>]) -> bool {
        let own = self.parts.iter().map(|(buffer, start, size)| (buffer, *start, *size));
        self.layout == *layout && own.eq(parts.iter().copied())
    }

    fn binds(&self, buffer: &wgpu::Buffer) -> bool {
        self.parts.iter().any(|(own, ..)| own == buffer)
    }
}

/// The buffers of a device that no storage uses.
#[derive(Debug)]
pub(super) struct Pool {
    shelf: Gated<Mutex<Shelf>>,
    gate: Gate,
}

/// Idle buffers, the one idle for longest first, each with the recording that used it last.
#[derive(Debug, Default)]
struct Shelf {
    idle: VecDeque<(wgpu::Buffer, u64)>,
    /// Bind groups of living buffers, since repeated work binds the same ones. They are found by hashes of their
    /// ranges, so that a search clones no handle.
    groups: FxHashMap<u64, SmallVec<[Group; 1]>>,
    pages: Vec<wgpu::Buffer>,
    idle_bytes: u64,
    used_bytes: u64,
    /// The most memory that was lately in use: results of work that are all dropped and taken again.
    lately: u64,
    /// The most memory that was held.
    peak_bytes: u64,
    created: u64,
    /// Gaps that were known when a buffer was taken last.
    gaps: u64,
    failures: Arc<Failures>,
    /// Whether a dropped buffer is freed later.
    destroys: bool,
}

impl Pool {
    pub(super) fn new(connection: &Connection) -> Pool {
        let (failures, destroys) = (connection.failures.clone(), !connection.waits);
        let shelf = Mutex::new(Shelf { failures, destroys, ..Shelf::default() });
        Pool { shelf: connection.gate.keep(shelf), gate: connection.gate }
    }

    /// Idle buffers, inside of the gate, as some may be freed.
    #[inline]
    fn shelf(&self) -> (Entered, MutexGuard<'_, Shelf>) {
        (self.gate.enter(), lock(&self.shelf))
    }

    /// The smallest idle buffer of at least `class` bytes that is less than twice as large, the most recently used of
    /// these, with the recording that used it last. If there is none, the caller creates one of `class` bytes, so its
    /// bytes count as used either way.
    pub(super) fn take(&self, class: u64) -> Option<(wgpu::Buffer, u64)> {
        let (_entered, mut shelf) = self.shelf();
        let gaps = shelf.failures.gaps();
        if std::mem::replace(&mut shelf.gaps, gaps) != gaps {
            // A buffer of a gap may not exist.
            shelf.clear();
        }
        shelf.take(class)
    }

    /// Undoes the count of [`take`](Self::take): no buffer of `class` bytes could be created.
    pub(super) fn untake(&self, class: u64) {
        let (_entered, mut shelf) = self.shelf();
        shelf.used_bytes = shelf.used_bytes.saturating_sub(class);
        shelf.created -= 1;
    }

    /// Keeps a buffer that these recordings used and wrote last.
    pub(super) fn give_back(&self, buffer: wgpu::Buffer, epoch: u64, written: u64) {
        let (_entered, mut shelf) = self.shelf();
        match shelf.failures.is_good(written) {
            true => shelf.give_back(buffer, epoch),
            false => {
                shelf.used_bytes = shelf.used_bytes.saturating_sub(buffer.size());
                shelf.let_go(buffer, epoch);
            }
        }
    }

    /// Counts a buffer as unused that must not be used again.
    pub(super) fn give_up(&self, buffer: &wgpu::Buffer) {
        let (_entered, mut shelf) = self.shelf();
        shelf.used_bytes = shelf.used_bytes.saturating_sub(buffer.size());
        shelf.forget(buffer);
    }

    /// The bind group of a layout over some ranges. `create` makes it if it is missing.
    pub(super) fn group(
        &self,
        layout: &wgpu::BindGroupLayout,
        parts: &[Part<'_>],
        create: impl FnOnce() -> Result<wgpu::BindGroup>,
    ) -> Result<wgpu::BindGroup> {
        let key = BuildHasherDefault::<FxHasher>::default().hash_one((layout, parts));
        let (_entered, mut shelf) = self.shelf();
        let alike = shelf.groups.get(&key);
        if let Some(known) = alike.and_then(|all| all.iter().find(|group| group.is_of(layout, parts))) {
            return Ok(known.group.clone());
        }
        let group = create()?;
        if shelf.groups.len() >= GROUPS {
            shelf.groups.clear();
        }
        let parts = parts.iter().map(|&(buffer, start, size)| (buffer.clone(), start, size)).collect();
        let known = Group { layout: layout.clone(), parts, group: group.clone() };
        shelf.groups.entry(key).or_default().push(known);
        Ok(group)
    }

    /// An idle page, if there is one.
    pub(super) fn take_page(&self) -> Option<wgpu::Buffer> {
        self.shelf().1.pages.pop()
    }

    /// Keeps a page for later.
    pub(super) fn give_back_page(&self, page: wgpu::Buffer) {
        let (_entered, mut shelf) = self.shelf();
        match shelf.pages.len() < PAGES {
            true => shelf.pages.push(page),
            false => shelf.forget(&page),
        }
    }

    /// Drops the bind groups of a buffer that is not the pool's.
    pub(super) fn forget(&self, buffer: &wgpu::Buffer) {
        self.shelf().1.forget(buffer);
    }

    pub(super) fn memory(&self) -> Memory {
        let (_entered, shelf) = self.shelf();
        Memory {
            used: shelf.used_bytes,
            idle: shelf.idle_bytes,
            peak: shelf.peak_bytes,
            created: shelf.created,
            pipelines: 0,
        }
    }

    /// Frees all idle buffers.
    pub(super) fn clear(&self) {
        self.shelf().1.clear();
    }
}

impl Shelf {
    fn clear(&mut self) {
        self.groups.clear();
        for (buffer, epoch) in std::mem::take(&mut self.idle) {
            self.let_go(buffer, epoch);
        }
        self.pages.clear();
        self.idle_bytes = 0;
    }

    fn take(&mut self, class: u64) -> Option<(wgpu::Buffer, u64)> {
        let sizes = || self.idle.iter().enumerate().rev().map(|(i, (buffer, _))| (buffer.size(), i));
        // Usually there is one of this very size, which repeated work has just returned.
        let found = sizes().find(|(held, _)| *held == class).or_else(|| {
            let fits = sizes().filter(|(held, _)| (class..2 * class).contains(held));
            fits.min_by_key(|(held, _)| *held)
        });
        let held = found.map_or(class, |(held, _)| held);
        self.used_bytes += held;
        self.lately = self.used_bytes.max(self.lately - self.lately / FORGOTTEN);
        match found {
            Some((_, i)) => {
                self.idle_bytes -= held;
                self.idle.remove(i)
            }
            None => {
                self.created += 1;
                self.trim();
                self.peak_bytes = self.peak_bytes.max(self.used_bytes + self.idle_bytes);
                None
            }
        }
    }

    /// Frees the oldest buffers if too many are idle: sizes that are no longer needed make room for others.
    fn give_back(&mut self, buffer: wgpu::Buffer, epoch: u64) {
        let size = buffer.size();
        self.used_bytes = self.used_bytes.saturating_sub(size);
        self.idle_bytes += size;
        self.idle.push_back((buffer, epoch));
        self.trim();
    }

    /// Frees the oldest buffers while a quarter more is held than was lately in use. A lower bound would cost time: a
    /// driver takes 41 ms to make and free 1 GiB (H100), which a kernel writes in 0.35 ms.
    fn trim(&mut self) {
        let most = (self.lately + self.lately / 4).max(LITTLE);
        while self.used_bytes + self.idle_bytes > most {
            let Some((oldest, epoch)) = self.idle.pop_front() else { break };
            self.idle_bytes -= oldest.size();
            self.let_go(oldest, epoch);
        }
    }

    /// Frees a buffer. If the open recording uses it, a browser's collector frees it.
    fn let_go(&mut self, buffer: wgpu::Buffer, epoch: u64) {
        self.forget(&buffer);
        if self.destroys && epoch < self.failures.epoch() {
            buffer.destroy();
        }
    }

    fn forget(&mut self, gone: &wgpu::Buffer) {
        self.groups.retain(|_, groups| {
            groups.retain(|group| !group.binds(gone));
            !groups.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn classes_waste_an_eighth_at_most() {
        for size in (16..1 << 20).step_by(16) {
            let class = class(size);
            assert!(class >= size && class.is_multiple_of(16));
            assert!(class - size <= (size / 8).max(256), "{size} in {class}");
        }
    }
}
