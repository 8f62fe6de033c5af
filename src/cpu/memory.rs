//! Memory for elements. New memory of the system costs a page fault every few elements, more than most expressions, so
//! freed memory is kept for the next result.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use memmap2::MmapMut;

use crate::error::{Result, bail};

/// The most bytes that are kept.
const SPARE: usize = 512 << 20;

/// Smaller requests come from the allocator.
const SMALLEST: usize = 64 << 10;

/// Freed memory, the oldest first.
static IDLE: Mutex<Vec<MmapMut>> = Mutex::new(Vec::new());

/// Smaller blocks cost the allocator little. It merges larger ones with their neighbours and cuts them again, and their
/// words must be cleared, which takes as long as some thousand additions. So a few of them are kept.
const SMALLEST_BLOCK: usize = 1 << 10;
const MOST_BLOCKS: usize = 16;

/// Freed blocks of the allocator, the oldest first.
static BLOCKS: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());

/// Bytes, aligned for every element type. They still have their old contents.
pub(super) enum HostMemory {
    Heap(Vec<u64>),
    /// Pages of the system. `None` after they are returned.
    Pages(Option<MmapMut>),
}

impl HostMemory {
    /// At least `bytes` bytes.
    pub(super) fn take(bytes: usize) -> Result<HostMemory> {
        #[cfg(test)]
        if tests::MemoryFault::next() {
            bail!(Memory, "no memory for {bytes} bytes on the CPU: on purpose");
        }
        // Whole words: the memory may hold larger elements later, as a slice of them.
        let Some(bytes) = bytes.checked_next_multiple_of(8) else {
            bail!(Memory, "no memory for {bytes} bytes on the CPU");
        };
        if bytes >= SMALLEST {
            // At most an eighth too large, so that used memory is requested memory.
            let fits = |held: &MmapMut| held.len() >= bytes && held.len() - bytes <= bytes / 8;
            let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            let known = idle.iter().rposition(fits).map(|i| idle.swap_remove(i));
            drop(idle);
            if let Some(pages) = known.or_else(|| map(bytes)) {
                return Ok(HostMemory::Pages(Some(pages)));
            }
        }
        let (mut words, count) = (Vec::<u64>::new(), bytes / 8);
        if let Some(known) = known_block(count) {
            return Ok(HostMemory::Heap(known));
        }
        match words.try_reserve_exact(count) {
            Ok(()) => {
                words.resize(count, 0);
                Ok(HostMemory::Heap(words))
            }
            Err(_) => bail!(Memory, "no memory for {bytes} bytes on the CPU"),
        }
    }
}

/// A kept block of this many words, with its old contents.
pub(super) fn known_block(words: usize) -> Option<Vec<u64>> {
    if 8 * words < SMALLEST_BLOCK {
        return None;
    }
    let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = blocks.iter().rposition(|block| block.len() == words)?;
    Some(blocks.remove(known))
}

/// Keeps a block for later.
pub(super) fn keep_block(words: Vec<u64>) {
    if (SMALLEST_BLOCK..SMALLEST).contains(&(8 * words.len())) {
        let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        if blocks.len() == MOST_BLOCKS {
            blocks.remove(0);
        }
        blocks.push(words);
    }
}

/// Pages of the system, if it has a call for them.
fn map(bytes: usize) -> Option<MmapMut> {
    let pages = MmapMut::map_anon(bytes).ok()?;
    // One entry of the page table for 2 MiB. It is a hint, and nothing depends on it.
    #[cfg(target_os = "linux")]
    let _ = pages.advise(memmap2::Advice::HugePage);
    Some(pages)
}

impl Deref for HostMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            HostMemory::Heap(words) => bytemuck::cast_slice(words),
            HostMemory::Pages(pages) => pages.as_deref().unwrap_or_default(),
        }
    }
}

impl DerefMut for HostMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            HostMemory::Heap(words) => bytemuck::cast_slice_mut(words),
            HostMemory::Pages(pages) => pages.as_deref_mut().unwrap_or_default(),
        }
    }
}

/// Keeps memory for later, and drops the oldest if there is too much.
impl Drop for HostMemory {
    fn drop(&mut self) {
        let pages = match self {
            HostMemory::Heap(words) => {
                keep_block(std::mem::take(words));
                return;
            }
            HostMemory::Pages(pages) => pages,
        };
        let Some(pages) = pages.take().filter(|pages| pages.len() <= SPARE) else { return };
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(pages);
        let mut kept: usize = idle.iter().map(|pages| pages.len()).sum();
        while kept > SPARE && !idle.is_empty() {
            kept -= idle.remove(0).len();
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Requests until one is refused; 0 if none is.
        static LEFT: Cell<usize> = const { Cell::new(0) };
    }

    /// Refuses one of this thread's requests, once, until this is dropped.
    pub(crate) struct MemoryFault(());

    impl MemoryFault {
        /// Refuses the next request after this many.
        pub(crate) fn after(requests: usize) -> MemoryFault {
            LEFT.set(requests + 1);
            MemoryFault(())
        }

        /// Whether this request is refused.
        pub(super) fn next() -> bool {
            let left = LEFT.get();
            LEFT.set(left.saturating_sub(1));
            left == 1
        }

        pub(crate) fn is_to_come() -> bool {
            LEFT.get() > 0
        }

        /// Ends it. Returns whether a request was refused.
        pub(crate) fn end(self) -> bool {
            !Self::is_to_come()
        }

        /// Does work without refused requests.
        pub(crate) fn without<T>(work: impl FnOnce() -> T) -> T {
            let left = LEFT.replace(0);
            let made = work();
            LEFT.set(left);
            made
        }
    }

    impl Drop for MemoryFault {
        fn drop(&mut self) {
            LEFT.set(0);
        }
    }

    /// Memory of bytes may hold elements of eight bytes next.
    #[test]
    fn memory_is_whole_words() {
        for bytes in [0, 1, 9, SMALLEST + 1, SMALLEST + 77] {
            let length = HostMemory::take(bytes).unwrap().len();
            assert!(length >= bytes && length.is_multiple_of(8), "{length} for {bytes}");
        }
    }
}
