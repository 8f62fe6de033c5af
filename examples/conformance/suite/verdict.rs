//! The outcome of a case.

/// The outcome of one case.
pub(crate) enum Verdict {
    /// Right, with the largest distance in units in the last place.
    Passed { ulp: u64 },
    /// Wrong, and how.
    Failed(String),
    /// Impossible on this device, and why.
    Skipped(String),
}
