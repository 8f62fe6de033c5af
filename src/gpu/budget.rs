//! How much work a device gets at a time. Work is counted in bytes that move ([`Program::work`]), and a rate in bytes a
//! second.
//!
//! [`Program::work`]: crate::ir::Program::work

/// Bytes a second of an adapter that was not measured: an integrated GPU's.
pub(super) const RATE: u64 = 50_000_000_000;

/// The least bytes a second that count, as a busy machine measures less.
pub(super) const LEAST_RATE: u64 = 4_000_000_000;

/// Bytes a second of the host's processor. It decides only when work is submitted.
const HOST_RATE: u64 = 20_000_000_000;

/// Submissions in a second: 5 ms each, during which the host records the next one.
const SUBMISSIONS: u64 = 200;

/// Dispatches in a second: 250 ms each. Windows resets a GPU after two seconds, and work is estimated roughly.
const DISPATCHES: u64 = 4;

/// The lower bound of a dispatch's most work. A block of a reduction, 1024 elements of some operands, has less, so
/// every run can be cut into blocks.
pub(super) const LEAST: u64 = 64 << 10;

/// The first submission has this part of the usual work, as the device is idle.
const FIRST: u64 = 8;

/// The most work of a dispatch on an adapter of a rate. On the host's processor a kernel is a function that nothing
/// interrupts, so there is no bound.
pub(super) fn of_dispatch(rate: Option<u64>) -> u64 {
    rate.map_or(u64::MAX, |rate| (rate / DISPATCHES).max(LEAST))
}

/// Recorded work that is not submitted.
#[derive(Debug)]
pub(super) struct Recorded {
    work: u64,
    /// Divides the budget: after the host waited, recordings grow from a part of it to the whole.
    share: u64,
}

impl Default for Recorded {
    /// Starts anew, after the host waited.
    fn default() -> Self {
        Recorded { work: 0, share: FIRST }
    }
}

impl Recorded {
    fn most(&self, rate: Option<u64>) -> u64 {
        rate.unwrap_or(HOST_RATE) / SUBMISSIONS / self.share
    }

    /// Whether more work goes into the same submission: one dispatch always does, others within the budget.
    pub(super) fn has_room(&self, more: u64, rate: Option<u64>) -> bool {
        self.work.saturating_add(more) <= self.most(rate)
    }

    /// Whether the work is enough to submit.
    pub(super) fn is_full(&self, rate: Option<u64>) -> bool {
        self.work >= self.most(rate)
    }

    pub(super) fn add(&mut self, more: u64) {
        self.work = self.work.saturating_add(more);
    }

    /// Begins the next recording, whose budget is twice as large up to the whole.
    pub(super) fn next(&mut self) {
        *self = Recorded { work: 0, share: (self.share / 2).max(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submissions_are_one_dispatch_or_five_milliseconds() {
        // An integrated GPU's rate: 256 sums of 2 GiB, and then small work.
        let most = RATE / SUBMISSIONS;
        let mut recorded = Recorded::default();
        let (mut submissions, mut open) = (Vec::new(), Vec::new());
        for work in std::iter::repeat_n(2 << 30, 256).chain(std::iter::repeat_n(1 << 20, 2000)) {
            if !recorded.has_room(work, Some(RATE)) && !open.is_empty() {
                submissions.push(std::mem::take(&mut open));
                recorded.next();
            }
            recorded.add(work);
            open.push(work);
            if recorded.is_full(Some(RATE)) {
                submissions.push(std::mem::take(&mut open));
                recorded.next();
            }
        }
        assert!(submissions.iter().all(|own| own.len() == 1 || own.iter().sum::<u64>() <= most));
        assert!((260..280).contains(&submissions.len()), "{}", submissions.len());
    }

    #[test]
    fn the_first_submission_is_early() {
        let mut recorded = Recorded::default();
        let mut sizes = Vec::new();
        for _ in 0..5 {
            let mut count = 0;
            while !recorded.is_full(Some(RATE)) {
                recorded.add(1 << 20);
                count += 1;
            }
            sizes.push(count);
            recorded.next();
        }
        assert_eq!(sizes, [30, 60, 120, 239, 239]);
    }

    #[test]
    fn nothing_watches_over_the_processor() {
        assert_eq!(of_dispatch(None), u64::MAX);
        assert_eq!(of_dispatch(Some(RATE)), RATE / 4);
        assert_eq!(of_dispatch(Some(1)), LEAST);
    }
}
