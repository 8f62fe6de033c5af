//! Waiting for work of the crate, in a way that Ctrl-C interrupts, and until the interpreter exits.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

/// Does work without holding the interpreter.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> zerostride::Result<T> + Send,
) -> PyResult<T> {
    let _running = running()?;
    py.detach(work).map_err(raised)
}

/// Does work without holding the interpreter. Work that may be long runs on another thread. Ctrl-C ends the wait, and
/// the result of the work is then dropped.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    may_be_long: bool,
    work: impl FnOnce() -> zerostride::Result<T> + Send + 'static,
) -> PyResult<T> {
    if !may_be_long {
        return detached(py, work);
    }
    let running = running()?;
    let (sender, receiver) = channel();
    let long = Counted::one(&LONG_ONES);
    let job = move || {
        let result = work();
        drop(long);
        // Ctrl-C may have dropped the receiver.
        drop(sender.send(result));
        drop(running);
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

/// The calls of the crate that run, and those of them that may be long.
static CALLS: AtomicUsize = AtomicUsize::new(0);
static LONG_ONES: AtomicUsize = AtomicUsize::new(0);

/// One more in a count, until it is dropped.
pub(crate) struct Counted(&'static AtomicUsize);

impl Counted {
    fn one(count: &'static AtomicUsize) -> Counted {
        count.fetch_add(1, Ordering::SeqCst);
        Counted(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether work that may be long is running, even if nothing waits for it. Its queue delays other work.
pub(crate) fn is_busy() -> bool {
    LONG_ONES.load(Ordering::Relaxed) > 0
}

static EXITS: AtomicBool = AtomicBool::new(false);

/// Counts a call of the crate. It is an error when the interpreter exits.
pub(crate) fn running() -> PyResult<Counted> {
    // It counts first, so either `finish` sees the call or the call sees the exit.
    let call = Counted::one(&CALLS);
    match EXITS.load(Ordering::SeqCst) {
        false => Ok(call),
        true => Err(PyRuntimeError::new_err(
            "the interpreter is exiting, and no work begins then: do it before, or join the thread that does it",
        )),
    }
}

/// Makes new calls of the crate errors, and waits for those that run and then for `queues`, at most for a time. The static
/// destructors of a driver's compiler end the process by a signal if they run beside the compiler.
pub(crate) fn finish(py: Python<'_>, limit: Duration, queues: impl FnOnce() + Send + 'static) {
    EXITS.store(true, Ordering::SeqCst);
    let (sender, receiver) = channel();
    let wait = move || {
        while CALLS.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        queues();
        let _ = sender.send(());
    };
    // On another thread, because a driver may hang.
    if std::thread::Builder::new().name("zerostride-exit".into()).spawn(wait).is_ok() {
        let _ = py.detach(move || receiver.recv_timeout(limit));
    }
}

/// Forgets the calls of a parent: its threads do not exist in a forked child.
#[pyfunction]
pub(crate) fn forked() {
    CALLS.store(0, Ordering::SeqCst);
    LONG_ONES.store(0, Ordering::SeqCst);
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
