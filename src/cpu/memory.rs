//! Memory for results. What the system hands out anew costs a page fault every few elements, more
//! than most expressions take, so freed memory is kept for the next result.

use std::sync::{Mutex, PoisonError};

use crate::error::{Result, bail};

/// Bytes that are kept.
const SPARE: usize = 512 << 20;

/// Requests below this come from the allocator: it keeps such blocks itself.
const SMALLEST: usize = 64 << 10;

/// Freed memory, the oldest first.
static IDLE: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());

/// Words for at least `bytes` bytes, with whatever they held.
pub(super) fn take(bytes: usize) -> Result<Vec<u64>> {
    let words = bytes.div_ceil(8);
    if bytes >= SMALLEST {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        // Not more than an eighth too large, so that memory in use is memory asked for.
        let fits = |held: &Vec<u64>| held.len() >= words && held.len() - words <= words / 8;
        if let Some(i) = idle.iter().rposition(fits) {
            return Ok(idle.swap_remove(i));
        }
    }
    // A zeroed allocation cannot report that it failed, so ask first.
    match Vec::<u64>::new().try_reserve_exact(words) {
        Ok(()) => Ok(vec![0; words]),
        Err(_) => bail!(Memory, "no memory for {bytes} bytes on the CPU"),
    }
}

/// Keeps memory for later, in the place of the oldest where there is too much.
pub(super) fn give_back(words: Vec<u64>) {
    let bytes = |words: &Vec<u64>| words.len() * 8;
    if !(SMALLEST..=SPARE).contains(&bytes(&words)) {
        return;
    }
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    idle.push(words);
    let mut kept: usize = idle.iter().map(bytes).sum();
    while kept > SPARE && !idle.is_empty() {
        kept -= bytes(&idle.remove(0));
    }
}
