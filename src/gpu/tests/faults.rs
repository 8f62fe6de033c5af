//! Errors on purpose.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::gpu::device::Gpu;
use crate::gpu::failures::Answer;
use crate::gpu::lock::Entered;

/// Which of the next calls of wgpu are refused. All of them go through one place, so that this is any step of allocating,
/// compiling, binding, writing, submitting, copying and mapping.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Calls up to the first that is refused; 0 where none is.
    left: AtomicU64,
    /// How many are refused, one after the other.
    many: AtomicU64,
    /// Those that were refused so far.
    refused: AtomicU64,
}

impl Faults {
    /// The error of this call, if it is refused.
    pub(in crate::gpu) fn next(&self) -> Option<wgpu::Error> {
        let order = Ordering::Relaxed;
        if self.left.fetch_update(order, order, |left| left.checked_sub(1)) != Ok(1) {
            return None;
        }
        if self.many.fetch_sub(1, order) > 1 {
            self.left.store(1, order);
        }
        self.refused.fetch_add(1, order);
        let description = "Validation Error\n\nCaused by:\n  on purpose".to_string();
        Some(wgpu::Error::Validation { source: "on purpose".into(), description })
    }

    /// The late report of a call, with the error if it is refused.
    pub(in crate::gpu) fn after(&self, mut answers: Vec<Answer>) -> Vec<Answer> {
        answers.extend(self.next().map(|error| Box::pin(std::future::ready(Some(error))) as Answer));
        answers
    }

    /// Refuses a number of calls, from the n-th on, or none if n is 0.
    pub(crate) fn refuse(&self, n: u64, many: u64) {
        self.many.store(many, Ordering::Relaxed);
        self.left.store(n, Ordering::Relaxed);
    }
}

impl Faults {
    /// Whether some of the next calls are refused.
    pub(crate) fn are_to_come(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }

    /// How many were refused so far.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Gpu {
    /// Its errors on purpose.
    pub(crate) fn faults(&self) -> &Faults {
        &self.parts.connection.faults
    }

    /// Lets kernels that were refused be compiled again. Else each is an error once more.
    pub(crate) fn forget_refused(&self) {
        self.parts.pipelines.forget_refused();
    }

    /// Lets this thread call wgpu itself.
    pub(crate) fn enter(&self) -> Entered {
        self.parts.connection.gate.enter()
    }
}
