//! The threads of the CPU path.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::error::Result;

/// The crate's own threads; none where they cannot be started, or where they may not be waited for: in a
/// task of the caller's own pool, which would let this thread pick up another task while it holds locks of
/// storages.
pub(super) fn pool() -> Option<&'static rayon::ThreadPool> {
    static POOL: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();
    if rayon::current_thread_index().is_some() {
        return None;
    }
    let build = || {
        let name = |i| format!("zerostride-{i}");
        rayon::ThreadPoolBuilder::new().thread_name(name).build()
    };
    POOL.get_or_init(|| build().map_err(|e| log::warn!("the CPU path runs on one thread: {e}")).ok()).as_ref()
}

/// How many threads there are for tasks.
pub(super) fn count() -> usize {
    pool().map_or(1, |pool| pool.current_num_threads())
}

/// Calls `each` with every chunk of so many bytes and where it begins, on all threads if there are two at least,
/// each with scratch memory of its own.
pub(super) fn chunks<S>(
    out: &mut [u8],
    chunk: usize,
    scratch: impl Fn() -> S + Send + Sync,
    each: impl Fn(usize, &mut [u8], &mut S) + Send + Sync,
) {
    match pool().filter(|_| out.len() >= 2 * chunk) {
        Some(pool) => pool.install(|| {
            let chunks = out.par_chunks_mut(chunk).enumerate();
            chunks.for_each_init(scratch, |scratch, (i, out)| each(i * chunk, out, scratch));
        }),
        None => {
            let mut scratch = scratch();
            let chunks = out.chunks_mut(chunk).enumerate();
            chunks.for_each(|(i, out)| each(i * chunk, out, &mut scratch));
        }
    }
}

/// Calls `each` with every task, on all threads, each with scratch memory of its own.
pub(super) fn each<T: Send, S>(
    tasks: Vec<T>,
    scratch: impl Fn() -> Result<S> + Send + Sync,
    each: impl Fn(&mut S, T) + Send + Sync,
) -> Result<()> {
    let each = |scratch: &mut Result<S>, task| match scratch {
        Ok(scratch) => {
            each(scratch, task);
            Ok(())
        }
        Err(error) => Err(error.clone()),
    };
    match pool().filter(|_| tasks.len() > 1) {
        Some(pool) => pool.install(|| tasks.into_par_iter().try_for_each_init(scratch, each)),
        None => {
            let mut scratch = scratch();
            tasks.into_iter().try_for_each(|task| each(&mut scratch, task))
        }
    }
}
