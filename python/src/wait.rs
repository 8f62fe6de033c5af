//! Waiting for work of the crate such that Ctrl-C ends the wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::raised;

/// Elements from which on work is long.
pub(crate) const LONG: usize = 1 << 21;

/// How often a thread that does long work is asked for its result.
const PATIENCE: Duration = Duration::from_millis(20);

/// Does work of this crate without holding the interpreter. Work that may be long is another thread's, and Ctrl-C
/// ends the wait for it: its result is dropped.
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
        // Whoever waited may have gone.
        drop(sender.send(result));
    };
    begin(Box::new(job))
        .map_err(|error| PyRuntimeError::new_err(format!("no thread to compute on: {error}")))?;
    // A receiver is one thread's, and the wait is done without the interpreter.
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

/// Work that may be long, while it is under way.
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

/// Whether work that may be long is under way, waited for or not. A queue that it holds holds other work up.
pub(crate) fn is_busy() -> bool {
    UNDER_WAY.load(Ordering::Relaxed) > 0
}

type Job = Box<dyn FnOnce() + Send>;

/// Threads without a job. To send one to them takes a third of the time that beginning a thread takes.
static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

/// Does a job on another thread.
fn begin(job: Job) -> std::io::Result<()> {
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = idle().pop();
    if let Some(thread) = known {
        // It waits for jobs for ever.
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
