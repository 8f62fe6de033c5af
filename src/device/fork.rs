//! Forks of the process. A child has its parent's memory, but neither the threads that compute nor a connection to drivers.

use crate::error::{Result, bail};

#[cfg(unix)]
mod child {
    use std::sync::Once;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whether a parent of this process had a device.
    static IS_CHILD: AtomicBool = AtomicBool::new(false);

    extern "C" fn mark() {
        IS_CHILD.store(true, Ordering::Relaxed);
    }

    pub(in crate::device) fn follow() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: `mark` has the required type and lives as long as this code. It stores one atomic, which a child
            // may do even if other threads of its parent held locks.
            #[allow(unsafe_code)]
            let refused = unsafe { libc::pthread_atfork(None, None, Some(mark)) };
            if refused != 0 {
                log::warn!("forks of this process are not noticed: error {refused} of pthread_atfork");
            }
        });
    }

    pub(super) fn is_one() -> bool {
        IS_CHILD.load(Ordering::Relaxed)
    }
}

#[cfg(not(unix))]
mod child {
    pub(in crate::device) fn follow() {}

    pub(super) fn is_one() -> bool {
        false
    }
}

/// Marks children that this process forks from now on.
pub(super) use child::follow;

/// Fails in a process that was forked while its parent had a device.
pub(super) fn check() -> Result<()> {
    if child::is_one() {
        bail!(
            Device,
            "this process was forked after a device was opened, and a device does not survive a fork: start processes by spawn or exec, or fork before"
        );
    }
    Ok(())
}
