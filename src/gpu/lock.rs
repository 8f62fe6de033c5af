//! The locks of a device, and their order.
//!
//! A thread that holds one of these takes only locks further down:
//!
//! 1. the recording (`recorder.rs`), or the work of a session (`session.rs`)
//! 2. buffers that the caller knows (`buffer.rs`)
//! 3. idle buffers, pages and bind groups (`pool.rs`)
//! 4. compiled pipelines, then their file (`pipelines.rs`)
//! 5. the state of a read-back (`transfer.rs`)
//! 6. failures (`connection.rs`)
//!
//! wgpu calls back while it submits and polls, and drops a session's buffers there: into the pool, which
//! nobody holds who submits.
//!
//! None is held while a driver compiles or while the host waits for the device.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose data stays usable after a panic elsewhere.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
