//! The locks of a device, and their order.
//!
//! A thread that holds one of these takes only locks further down:
//!
//! 1. the recording (`recorder.rs`), or the work of a session (`session.rs`)
//! 2. buffers that the caller knows (`buffer.rs`)
//! 3. recipes (`recipes.rs`); compiled pipelines, then their file (`pipelines.rs`)
//! 4. the [`Gate`] of adapters of GL
//! 5. idle buffers, pages and bind groups (`pool.rs`)
//! 6. the state of a read-back (`transfer.rs`)
//! 7. failures (`connection.rs`)
//!
//! wgpu calls back while it submits and polls, and drops a session's buffers there: into the pool, which
//! nobody holds who submits.
//!
//! But for the gate, none is held while a driver compiles or while the host waits for the device.

use std::sync::{Mutex, MutexGuard, PoisonError};

use parking_lot::{ReentrantMutex, ReentrantMutexGuard};

/// A lock whose data stays usable after a panic elsewhere.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets one thread at a time to adapters of GL. Such an adapter has one context, which a call of wgpu's holds as long as
/// work runs or is waited for, and a thread that waits for it for six seconds panics there. So calls wait here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    is_needed: bool,
}

/// While it lasts no other thread is let in.
pub(super) type Entered = Option<ReentrantMutexGuard<'static, ()>>;

static GL: ReentrantMutex<()> = ReentrantMutex::new(());

impl Gate {
    pub(super) fn of(backend: wgpu::Backend) -> Gate {
        Gate { is_needed: backend == wgpu::Backend::Gl }
    }

    /// Waits until no other thread is inside. A thread that is may enter again.
    pub(super) fn enter(self) -> Entered {
        self.is_needed.then(|| GL.lock())
    }
}
