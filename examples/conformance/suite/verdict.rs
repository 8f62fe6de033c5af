//! The outcome of a case.

/// What became of one case.
pub(crate) enum Verdict {
    /// Right, with the largest distance in units in the last place.
    Passed { ulp: u64 },
    /// Wrong, and how.
    Failed(String),
    /// Not something this device can have, and why.
    Skipped(String),
}
