//! The threads of the CPU path: the calling one, and the crate's own pool.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::ir::{Body, Program, Source, Step, cost};

/// The pool's threads. `None` if they cannot be started, or in a task of the caller's own pool. There, a wait would let
/// this thread pick up another task while it holds locks of storages.
fn pool() -> Option<&'static rayon::ThreadPool> {
    static POOL: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();
    if rayon::current_thread_index().is_some() {
        return None;
    }
    let build = || {
        let others = thread_count() - 1;
        let name = |i| format!("zerostride-{i}");
        let pool = (others > 0)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(others).thread_name(name).build());
        pool?.map_err(|e| log::warn!("the CPU path runs on one thread: {e}")).ok()
    };
    POOL.get_or_init(build).as_ref()
}

/// The most threads that compute at once: as many as rayon would start.
pub(crate) fn thread_count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| {
        let wanted = std::env::var("RAYON_NUM_THREADS").ok().and_then(|count| count.parse().ok());
        let there = || std::thread::available_parallelism().map_or(1, usize::from);
        wanted.filter(|&count| count > 0).unwrap_or_else(there)
    })
}

/// The number of threads for tasks.
pub(super) fn count() -> usize {
    pool().map_or(1, |pool| pool.current_num_threads() + 1)
}

/// Elements of a task of a reduction. Less than two of the smallest tasks are not worth threads. With many elements a
/// task has more, since prefetching stops at its end.
pub(super) fn task(all: usize) -> usize {
    const LEAST: usize = 32 << 10;
    const OF_THREAD: usize = 64;
    LEAST.max(all / (OF_THREAD * count()))
}

/// The time of some work on one thread, roughly, in picoseconds.
#[derive(Clone, Copy)]
pub(super) struct Work(usize);

/// The time of an addition of the op table's costs in a vectorized loop, and of a byte that is loaded or stored in
/// cache.
const ADDITION: usize = 20;
const BYTE: usize = 12;

/// Work of one thread that is worth waking another: twice the time until that begins, as measured when one was woken,
/// since the caller waits for all that it woke. An idle processor takes some microseconds, one with other work a
/// scheduler's turn. Both are bounds of the measurement.
static WAKING: AtomicUsize = AtomicUsize::new(LEAST_WAKING);
const LEAST_WAKING: usize = 20_000_000;
const MOST_WAKING: usize = 2_000_000_000;

/// Changes the measurement.
fn measure(change: impl Fn(usize) -> usize) {
    let within = |waking| Some(change(waking).clamp(LEAST_WAKING, MOST_WAKING));
    let _ = WAKING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within);
}

impl Work {
    /// The time of this many elements of a program.
    pub(super) fn of(program: &Program, elements: usize) -> Work {
        let step = |step: &Step| match step.body {
            // They may be of any cost.
            Some(Body::Function(_) | Body::Loop(_)) => LEAST_WAKING,
            _ => cost(step.op, step.dtype) * ADDITION,
        };
        let steps: usize = program.steps.iter().map(step).sum();
        let read = program.inputs.iter().filter(|input| !matches!(input.source, Source::Scalar(_)));
        let bytes = read.map(|input| input.dtype.size()).sum::<usize>() + program.dtype.size();
        Work(elements.saturating_mul(steps + bytes * BYTE))
    }

    /// The time of this many products that are added up.
    pub(super) fn of_products(count: usize) -> Work {
        Work(count.saturating_mul(ADDITION))
    }

    /// Whether it may be worth several threads.
    pub(super) fn is_shared(self) -> bool {
        self.0 >= LEAST_WAKING
    }

    /// The threads that do it.
    pub(super) fn threads(self) -> usize {
        1 + self.helpers(count() - 1)
    }

    /// Threads worth waking beside the calling one.
    fn helpers(self, others: usize) -> usize {
        others.min(self.0 / WAKING.load(Ordering::Relaxed))
    }
}

impl std::iter::Sum for Work {
    fn sum<I: Iterator<Item = Work>>(all: I) -> Work {
        Work(all.fold(0, |sum, work| sum.saturating_add(work.0)))
    }
}

/// Threads of the pool that help a caller.
static LENT: AtomicUsize = AtomicUsize::new(0);

/// One of them, which is free again when this is dropped.
struct Helper;

impl Helper {
    /// As many free threads as are wanted. Busy ones are not waited for: work behind another caller's would end with
    /// that.
    fn lend(wanted: usize, all: usize) -> impl Iterator<Item = Helper> {
        let more = |lent: usize| wanted.min(all.saturating_sub(lent));
        let before = LENT.fetch_update(Ordering::AcqRel, Ordering::Acquire, |lent| Some(lent + more(lent)));
        let count = before.map_or(0, more);
        (0..count).map(|_| Helper)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        LENT.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Some columns of a matrix: the memory of each row's part.
pub(super) type Strip<'a, T> = SmallVec<[&'a mut [T]; 1]>;

/// The strips of a matrix, of a row's length and a strip's.
pub(super) fn strips<T>(matrix: &mut [T], row: usize, width: usize) -> SmallVec<[Strip<'_, T>; 1]> {
    let mut strips: SmallVec<[Strip<'_, T>; 1]> = (0..row.div_ceil(width)).map(|_| SmallVec::new()).collect();
    for row in matrix.chunks_mut(row) {
        strips.iter_mut().zip(row.chunks_mut(width)).for_each(|(strip, part)| strip.push(part));
    }
    strips
}

/// Calls `run` with every task, as [`each`] does, without scratch memory. So nothing can fail.
pub(super) fn all<T: Send>(
    tasks: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator + Send>,
    work: Work,
    run: impl Fn(T) + Sync,
) {
    let done = each(tasks, work, || Ok(()), |(), task| run(task));
    debug_assert!(done.is_ok());
}

/// Calls `each` with every task, on as many threads as the work is worth, with scratch memory for each thread. The
/// calling thread begins at once, and others take tasks when they wake.
pub(super) fn each<T: Send, S>(
    tasks: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator + Send>,
    work: Work,
    scratch: impl Fn() -> Result<S> + Sync,
    each: impl Fn(&mut S, T) + Sync,
) -> Result<()> {
    let tasks = tasks.into_iter();
    let others = tasks.len().saturating_sub(1);
    if others == 0 || work.helpers(others) == 0 {
        // Work that was worth it once measures again after some hundred times.
        if others > 0 && work.is_shared() {
            measure(|waking| waking - waking / 256);
        }
        let mut scratch = scratch()?;
        tasks.for_each(|task| each(&mut scratch, task));
        return Ok(());
    }
    let tasks = Mutex::new(tasks);
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || -> Result<()> {
        let mut scratch = scratch()?;
        while let Some(task) = next() {
            each(&mut scratch, task);
        }
        Ok(())
    };
    let Some(pool) = pool() else { return run() };
    let failed: OnceLock<Error> = OnceLock::new();
    let woken = Instant::now();
    pool.in_place_scope(|scope| {
        let all = pool.current_num_threads();
        for helper in Helper::lend(work.helpers(others.min(all)), all) {
            let (run, failed) = (&run, &failed);
            scope.spawn(move |_| {
                let _helper = helper;
                let begun = woken.elapsed().as_nanos() as usize;
                measure(|waking| waking / 4 * 3 + begun.saturating_mul(1000) / 2);
                // Others do the rest.
                let _ = run().map_err(|error| failed.set(error));
            });
        }
        run()
    })?;
    failed.into_inner().map_or(Ok(()), Err)
}
