//! The locks of a device, and their order.
//!
//! A thread that holds one of these takes only locks further down:
//!
//! 1. the recording (`recorder.rs`)
//! 2. idle buffers and bind groups (`pool.rs`)
//! 3. compiled pipelines, then their file (`pipelines.rs`)
//! 4. the state of a read-back (`transfer.rs`)
//! 5. failures (`connection.rs`)
//!
//! None is held while a driver compiles or while the host waits for the device, except the state of a
//! read-back by the thread that waits for it, and then only between two looks at it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose data stays usable after a panic elsewhere.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
