//! Memory for elements. What the system hands out anew costs a page fault every few elements, more
//! than most expressions take, so freed memory is kept for the next result.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use memmap2::MmapMut;

use crate::error::{Result, bail};

/// Bytes that are kept.
const SPARE: usize = 512 << 20;

/// Requests below this come from the allocator: it keeps such blocks itself.
const SMALLEST: usize = 64 << 10;

/// Freed memory, the oldest first.
static IDLE: Mutex<Vec<MmapMut>> = Mutex::new(Vec::new());

/// Bytes, aligned for every element type. They hold what they held before.
pub(super) enum HostMemory {
    Heap(Vec<u64>),
    /// Pages of the system. None once they are given back.
    Pages(Option<MmapMut>),
}

impl HostMemory {
    /// At least `bytes` bytes.
    pub(super) fn take(bytes: usize) -> Result<HostMemory> {
        #[cfg(test)]
        if tests::MemoryFault::next() {
            bail!(Memory, "no memory for {bytes} bytes on the CPU: on purpose");
        }
        // Whole words: it may hold larger elements later, and is then read as a slice of these.
        let bytes = bytes.next_multiple_of(8);
        if bytes >= SMALLEST {
            // Not more than an eighth too large, so that memory in use is memory asked for.
            let fits = |held: &MmapMut| held.len() >= bytes && held.len() - bytes <= bytes / 8;
            let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            let known = idle.iter().rposition(fits).map(|i| idle.swap_remove(i));
            drop(idle);
            if let Some(pages) = known.or_else(|| map(bytes)) {
                return Ok(HostMemory::Pages(Some(pages)));
            }
        }
        let (mut words, count) = (Vec::<u64>::new(), bytes.div_ceil(8));
        match words.try_reserve_exact(count) {
            Ok(()) => {
                words.resize(count, 0);
                Ok(HostMemory::Heap(words))
            }
            Err(_) => bail!(Memory, "no memory for {bytes} bytes on the CPU"),
        }
    }
}

/// Pages of the system, where it has a way to ask for them.
fn map(bytes: usize) -> Option<MmapMut> {
    let pages = MmapMut::map_anon(bytes).ok()?;
    // One entry of the page table for 2 MiB. Only a wish: nothing depends on it.
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

/// Pages are kept for later, in the place of the oldest where there are too many.
impl Drop for HostMemory {
    fn drop(&mut self) {
        let HostMemory::Pages(pages) = self else { return };
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
        /// Requests up to the one that is refused; 0 where none is.
        static LEFT: Cell<usize> = const { Cell::new(0) };
    }

    /// One of this thread's requests is refused, once, until this is dropped.
    pub(crate) struct MemoryFault(());

    impl MemoryFault {
        /// Refuses the next request after so many.
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

        /// Ends it: whether a request was refused.
        pub(crate) fn end(self) -> bool {
            !Self::is_to_come()
        }

        /// Does work of which no request is refused.
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

    /// What held bytes may hold elements of eight bytes next.
    #[test]
    fn memory_is_whole_words() {
        for bytes in [0, 1, 9, SMALLEST + 1, SMALLEST + 77] {
            let length = HostMemory::take(bytes).unwrap().len();
            assert!(length >= bytes && length.is_multiple_of(8), "{length} for {bytes}");
        }
    }
}
