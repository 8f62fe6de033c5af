//! Waiting for work of the crate, in a way that Ctrl-C interrupts.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::raised;

/// The number of elements from which on work counts as long.
pub(crate) const LONG: usize = 1 << 21;

/// The number of elements up to which work counts as short.
pub(crate) const SHORT: usize = 1 << 12;

/// The time between two checks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(20);

/// Does work without holding the interpreter. Work that may be long runs on another thread. Ctrl-C ends the wait, and
/// the result of the work is then dropped.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    may_be_long: bool,
    work: impl FnOnce() -> zerostride::Result<T> + Send + 'static,
) -> PyResult<T> {
    if !may_be_long {
        return py.detach(work).map_err(raised);
    }
    let (sender, receiver) = channel();
    let long = Long::begin();
    let job = move || {
        let result = work();
        drop(long);
        // Ctrl-C may have dropped the receiver.
        drop(sender.send(result));
    };
    begin(Box::new(job))
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread to compute on: {error}")))?;
    // A receiver is not `Sync`, which `py.detach` requires.
    let receiver = Mutex::new(receiver);
    loop {
        let answer =
            py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PATIENCE));
        match answer {
            Ok(answer) => return answer.map_err(raised),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("work on another thread ended without a result"));
            }
        }
    }
}

/// Counts work that may be long while it runs.
struct Long;

static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

impl Long {
    fn begin() -> Long {
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        Long
    }
}

impl Drop for Long {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether work that may be long is running, even if nothing waits for it. Its queue delays other work.
pub(crate) fn is_busy() -> bool {
    UNDER_WAY.load(Ordering::Relaxed) > 0
}

type Job = Box<dyn FnOnce() + Send>;

/// Threads without a job. Sending a job to a thread takes a third of the time of starting one.
static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

/// Runs a job on another thread.
fn begin(job: Job) -> std::io::Result<()> {
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = idle().pop();
    if let Some(thread) = known {
        // The thread waits for jobs for ever, so sending cannot fail.
        let _ = thread.send(job);
        return Ok(());
    }
    let (thread, jobs) = channel::<Job>();
    let run = move || {
        let mut next = Ok(job);
        while let Ok(job) = next {
            job();
            idle().push(thread.clone());
            next = jobs.recv();
        }
    };
    std::thread::Builder::new().name("zerostride-python".into()).spawn(run).map(drop)
}
