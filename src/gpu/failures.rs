//! Failures of a device. Natively wgpu reports an error in the call. A browser reports it later, by a promise.
//!
//! A submission holds kernels of many earlier calls. If it is refused natively, the buffers that were not computed are
//! poisoned, each with the error of its own call. A buffer is valid again once all of it is written.
//!
//! In a browser a call assumes success, and work goes on. When a report arrives, everything written meanwhile may be
//! wrong: a missing buffer fails every kernel of the recording that binds it, and later kernels read their results. So
//! the recordings from the failed one to the open one become a *gap* with the error. A buffer that was written in a gap
//! returns the error wherever it is bound or read, for good, as it may not exist. Buffers written before or after the
//! gap are valid.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Wake, Waker};

use super::lock::lock;
use crate::error::{Error, Poison, Result};

/// The error that a scope of wgpu found, once it is known.
pub(super) type Answer = Pin<Box<dyn Future<Output = Option<wgpu::Error>> + Send>>;

/// An error of wgpu as one of this crate.
pub(super) type IntoError = Box<dyn FnOnce(wgpu::Error) -> Error + Send>;

/// The outcome of a request: an error, if one is reported later.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate(Option<Arc<OnceLock<Error>>>);

impl Fate {
    /// Fails if the request is known to have failed.
    pub(super) fn check(&self) -> Result<()> {
        match self.0.as_ref().and_then(|error| error.get()) {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }
}

/// A report that has not arrived.
struct Report {
    answers: Vec<Answer>,
    /// Taken by the first error.
    into_error: Option<IntoError>,
    /// The recording that was open when the scopes were.
    epoch: u64,
    number: u64,
    fate: Arc<OnceLock<Error>>,
}

/// Recordings whose writes may be wrong, from the first to the last, with the error.
#[derive(Debug)]
struct Gap {
    first: u64,
    last: u64,
    error: Error,
}

impl Gap {
    fn holds(&self, recording: u64) -> bool {
        (self.first..=self.last).contains(&recording)
    }
}

/// The tasks that wait for reports. A promise wakes one waker, so this one wakes the others.
#[derive(Default)]
struct Waiting(Mutex<Vec<Waker>>);

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        let wakers = std::mem::take(&mut *lock(&self.0));
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Errors that wgpu reports after a call, or outside of any call.
#[derive(Default)]
pub(super) struct Failures {
    pub lost: OnceLock<String>,
    later: Mutex<Later>,
    /// The number of expected reports so far.
    count: AtomicU64,
    waiting: Arc<Waiting>,
    /// The number of the recording that is open.
    epoch: AtomicU64,
    /// The number of gaps.
    gaps: AtomicU64,
    /// Reports are held back, for tests.
    #[cfg(test)]
    pub is_late: std::sync::atomic::AtomicBool,
}

#[derive(Default)]
struct Later {
    reports: VecDeque<Report>,
    gaps: Vec<Gap>,
    /// The error of finished calls that no call has returned yet.
    untold: Option<Error>,
}

impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failures").field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Failures {
    /// The number of the open recording, to which writes belong now.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// The next recording is open from now on.
    pub(super) fn next_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::Relaxed);
    }

    /// Expects a report about the calls during recording `epoch`.
    pub(super) fn expect(&self, answers: Vec<Answer>, epoch: u64, into_error: IntoError) -> Fate {
        let fate = Arc::new(OnceLock::new());
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.later).reports.push_back(Report {
            answers,
            into_error: Some(into_error),
            epoch,
            number,
            fate: fate.clone(),
        });
        Fate(Some(fate))
    }

    /// The number of gaps so far. When it grows, older recordings and idle buffers must not be used.
    pub(super) fn gaps(&self) -> u64 {
        self.gaps.load(Ordering::Relaxed)
    }

    /// Takes in reports that have arrived.
    pub(super) fn look(&self) {
        #[cfg(test)]
        if self.is_late.load(Ordering::Relaxed) {
            return;
        }
        if self.count() == 0 {
            return;
        }
        let mut later = lock(&self.later);
        let waker = Waker::from(self.waiting.clone());
        let mut context = Context::from_waker(&waker);
        let Later { reports, gaps, untold, .. } = &mut *later;
        reports.retain_mut(|report| {
            while let Some(answer) = report.answers.first_mut() {
                let Poll::Ready(answer) = answer.as_mut().poll(&mut context) else { return true };
                drop(report.answers.remove(0));
                let Some(error) = answer.and_then(|error| Some(report.into_error.take()?(error))) else {
                    continue;
                };
                log::error!("{error}");
                let _ = report.fate.set(error.clone());
                // Since the failure is known, nothing has read its results.
                if gaps.iter().any(|gap| gap.holds(report.epoch)) {
                    continue;
                }
                untold.get_or_insert_with(|| error.clone());
                gaps.push(Gap { first: report.epoch, last: self.epoch(), error });
                self.gaps.fetch_add(1, Ordering::Relaxed);
            }
            false
        });
    }

    /// Waits for the reports about everything before this call.
    pub(super) fn settled(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let (failures, last) = (self.clone(), self.count());
        std::future::poll_fn(move |context| failures.poll_settled(last, context))
    }

    /// The number of expected reports.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether the first of the reports, up to a number, have arrived.
    pub(super) fn poll_settled(&self, last: u64, context: &mut Context<'_>) -> Poll<()> {
        let is_settled = || lock(&self.later).reports.iter().all(|report| report.number > last);
        if is_settled() {
            return Poll::Ready(());
        }
        let mut waiting = lock(&self.waiting.0);
        if !waiting.iter().any(|own| own.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        drop(waiting);
        self.look();
        if is_settled() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Fails if the recording lies in a gap: its writes may be wrong.
    pub(super) fn trust(&self, written: u64) -> Result<()> {
        if self.gaps() == 0 {
            return Ok(());
        }
        let mut later = lock(&self.later);
        let Later { gaps, untold, .. } = &mut *later;
        match gaps.iter().find(|gap| gap.holds(written)) {
            None => Ok(()),
            Some(gap) => {
                *untold = None;
                Err(gap.error.clone())
            }
        }
    }

    /// Whether a recording lies in no gap.
    pub(super) fn is_good(&self, written: u64) -> bool {
        self.gaps() == 0 || !lock(&self.later).gaps.iter().any(|gap| gap.holds(written))
    }

    /// Keeps the error of a finished call for the next call that waits for all work.
    pub(super) fn keep(&self, error: Error) {
        lock(&self.later).untold.get_or_insert(error);
    }

    /// Fails with such an error, once.
    pub(super) fn untold(&self) -> Result<()> {
        lock(&self.later).untold.take().map_or(Ok(()), Err)
    }

    /// Fails for poisoned elements. The next call that waits for all work then need not return the same error.
    pub(super) fn check(&self, poison: &Poison) -> Result<()> {
        poison.check().inspect_err(|_| lock(&self.later).untold = None)
    }
}
