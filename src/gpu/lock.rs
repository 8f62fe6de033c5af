//! The locks of a device, and their order.
//!
//! A thread that holds one of these takes only locks further down:
//!
//! 1. the recording (`recorder.rs`), or the work of a session (`session.rs`)
//! 2. buffers that the caller knows (`buffer.rs`)
//! 3. the plan cache (`ir/plans.rs`); compiled pipelines, then their file (`pipelines.rs`)
//! 4. the [`Gate`] of adapters of GL
//! 5. idle buffers, pages and bind groups (`pool.rs`)
//! 6. the state of a read-back (`transfer.rs`)
//! 7. failures (`failures.rs`)
//!
//! wgpu calls back while it submits and polls. The callbacks drop a session's buffers into the pool, whose lock no
//! thread holds while it submits.
//!
//! Except for the gate, no lock is held while a driver compiles or while the host waits for the device.

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

use parking_lot::{ReentrantMutex, ReentrantMutexGuard};

/// A lock whose data stays usable after a panic elsewhere.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets one thread at a time use adapters of GL. Such an adapter has one context. A call of wgpu holds it as long as
/// work runs or is waited for, and wgpu panics in a thread that waits for six seconds. So calls wait here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    is_needed: bool,
}

/// While this exists no other thread enters.
pub(super) type Entered = Option<ReentrantMutexGuard<'static, ()>>;

static GL: ReentrantMutex<()> = ReentrantMutex::new(());

impl Gate {
    pub(super) fn of(backend: wgpu::Backend) -> Gate {
        Gate { is_needed: backend == wgpu::Backend::Gl }
    }

    /// Waits until no other thread is inside. A thread may enter again.
    pub(super) fn enter(self) -> Entered {
        self.is_needed.then(|| GL.lock())
    }

    /// A value that is dropped inside of the gate.
    pub(super) fn keep<T>(self, kept: T) -> Gated<T> {
        Gated { gate: self, kept: Some(kept) }
    }
}

/// A value with handles of wgpu. If one is the last handle, dropping it calls wgpu.
#[derive(Debug)]
pub(super) struct Gated<T> {
    gate: Gate,
    /// Present until this is dropped.
    kept: Option<T>,
}

impl<T> Drop for Gated<T> {
    fn drop(&mut self) {
        let _entered = self.gate.enter();
        self.kept = None;
    }
}

impl<T> Deref for Gated<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.kept {
            Some(kept) => kept,
            None => unreachable!("it is there until this is dropped"),
        }
    }
}

#[cfg(test)]
mod tests {
    // Where GL is reached by EGL.
    #[cfg(target_os = "linux")]
    mod egl {
        use std::time::Duration;

        use super::super::Gate;
        use crate::options::Options;
        use crate::{Device, gpu};

        /// Longer than wgpu lets a thread wait for a context before it panics.
        const LONG: Duration = Duration::from_millis(6500);

        #[test]
        fn who_opens_and_closes_adapters_of_gl_waits_outside() {
            for found in pollster::block_on(gpu::find()).iter().filter(|found| found.backend == "gl") {
                let open = || {
                    Device::from_backend(pollster::block_on(gpu::open(found, &Options::default())).unwrap())
                };
                let device = open();
                let x = device.full([1000], 1.0_f32).unwrap();
                let y = (&x + 1.0).eval().unwrap();
                std::thread::scope(|scope| {
                    let entered = Gate { is_needed: true }.enter();
                    // SAFETY: the lock of the adapter's context is taken, and nothing else done with it.
                    #[allow(unsafe_code)]
                    let raw = unsafe { found.adapter.as_hal::<wgpu::hal::api::Gles>() }.unwrap();
                    let context = raw.adapter_context().lock();
                    let opens = scope.spawn(open);
                    let closes = scope.spawn(move || drop((device, x, y)));
                    std::thread::sleep(LONG);
                    assert!(!opens.is_finished() && !closes.is_finished());
                    drop(context);
                    drop(entered);
                    opens.join().unwrap();
                    closes.join().unwrap();
                });
            }
        }
    }
}
