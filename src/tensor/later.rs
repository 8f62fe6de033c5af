//! Work of another thread, as a future that never blocks.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::error::{Error, ErrorKind, Result};

/// The result of work on a thread of its own.
pub(super) struct Later<T>(Arc<Mutex<State<T>>>);

struct State<T> {
    answer: Option<Result<T>>,
    waker: Option<Waker>,
}

/// The answering side. If a panic drops it without an answer, the future returns an error and does not wait for ever.
struct Sender<T>(Arc<Mutex<State<T>>>);

impl<T> Sender<T> {
    fn send(&self, answer: Result<T>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.answer.get_or_insert(answer);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // If there is an answer already, this one is dropped.
        self.send(Err(Error::new(ErrorKind::Kernel, "work on another thread ended without a result")));
    }
}

impl<T: Send + 'static> Later<T> {
    /// Begins work on another thread; if none can be started, does it now.
    pub(super) fn begin(work: impl FnOnce() -> Result<T> + Send + 'static) -> Later<T> {
        let state = Arc::new(Mutex::new(State { answer: None, waker: None }));
        let sender = Sender(state.clone());
        // The cell hands the work over, and returns it if no thread starts.
        let work = Arc::new(Mutex::new(Some(work)));
        let take = |work: &Mutex<Option<_>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let theirs = work.clone();
        let run = move || {
            if let Some(work) = take(&theirs) {
                sender.send(work());
            }
        };
        let name = "zerostride-later".to_string();
        let alone =
            cfg!(target_arch = "wasm32") || std::thread::Builder::new().name(name).spawn(run).is_err();
        if alone && let Some(work) = take(&work) {
            let answer = work();
            state.lock().unwrap_or_else(PoisonError::into_inner).answer = Some(answer);
        }
        Later(state)
    }
}

impl<T> Later<T> {
    /// A result that is ready.
    pub(super) fn ready(answer: Result<T>) -> Later<T> {
        Later(Arc::new(Mutex::new(State { answer: Some(answer), waker: None })))
    }
}

impl<T> Future for Later<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.answer.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let later: Later<()> = Later::begin(|| panic!("on purpose"));
        let error = pollster::block_on(later).unwrap_err();
        assert_eq!(error.message(), "work on another thread ended without a result");
    }

    #[test]
    fn results_come_from_another_thread() {
        let own = std::thread::current().id();
        let other = pollster::block_on(Later::begin(|| Ok(std::thread::current().id()))).unwrap();
        assert_ne!(own, other);
    }
}
