//! Forks of the process. A child has its parent's memory, but neither the threads that compute nor a connection to drivers.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Result, bail};

/// Whether a parent of this process had a device.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Marks children that this process forks from now on. Only Unix has forks.
pub(super) fn follow() {
    #[cfg(unix)]
    {
        extern "C" fn mark() {
            IS_CHILD.store(true, Ordering::Relaxed);
        }
        static ONCE: std::sync::Once = std::sync::Once::new();
        // SAFETY: `mark` has the required type and lives as long as this code. It stores one atomic, which a child may do
        // even if other threads of its parent held locks. Without memory for it, no child is marked.
        #[allow(unsafe_code)]
        ONCE.call_once(|| _ = unsafe { libc::pthread_atfork(None, None, Some(mark)) });
    }
}

/// Fails in a process that was forked while its parent had a device.
pub(super) fn check() -> Result<()> {
    if IS_CHILD.load(Ordering::Relaxed) {
        bail!(
            Device,
            "this process was forked after a device was opened, and a device does not survive a fork: start processes by spawn or exec, or fork before"
        );
    }
    Ok(())
}
