//! Transfer of bytes to the device and back.

use std::future::Future;
use std::ops::{Deref, Range};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use smallvec::SmallVec;

use super::buffer::Buffer;
use super::connection::Connection;
use super::failures::Fate;
use super::lock::{Gated, lock};
use super::recorder::Recorder;
use crate::error::{Result, bail};
use crate::ir::HostBytes;
use crate::lower::Cuts;

/// Buffer copies begin and end at multiples of this many bytes.
const ALIGN: usize = wgpu::COPY_BUFFER_ALIGNMENT as usize;

/// An upload is cut into portions of this many bytes.
pub(super) const PORTION: usize = 8 << 20;

/// Writes bytes to a buffer, from a multiple of four on. Zeros fill the last word. wgpu runs such a write before
/// recorded work, so a recording that uses the buffer is submitted first. wgpu also copies the bytes, so an upload is
/// cut into portions, two of which are in flight: the device takes one while the host copies the other. Sets `begun`
/// when the first is written.
pub(super) fn write(
    (connection, recorder): (&Connection, &Recorder),
    buffer: &Buffer,
    start: u64,
    bytes: &[u8],
    begun: &mut bool,
) -> Result<()> {
    recorder.leave_gap(connection);
    // A recorded kernel that fails poisons the buffer before all of it is written again.
    recorder.flush_uses(connection, buffer);
    let whole = connection.waits && start == 0 && bytes.len() as u64 >= buffer.held;
    if !whole {
        buffer.check(connection)?;
    }
    buffer.written.store(connection.failures.epoch(), Ordering::Relaxed);
    let mut write = |at: u64, bytes: &[u8]| {
        connection.tried("a write", || connection.queue.write_buffer(&buffer.raw, at, bytes))?;
        *begun = true;
        Ok(())
    };
    let (words, tail) = bytes.split_at(bytes.len() / ALIGN * ALIGN);
    let mut before = None;
    for (i, portion) in words.chunks(PORTION).enumerate() {
        let at = start + (i * PORTION) as u64;
        write(at, portion)?;
        if words.len() > PORTION && connection.waits {
            let (own, _) = connection.tried("a submission", || connection.queue.submit([]))?;
            if let Some(before) = before.replace(own) {
                connection.wait_for(Some(before))?;
            }
        }
    }
    if !tail.is_empty() {
        let mut padded = [0; ALIGN];
        padded[..tail.len()].copy_from_slice(tail);
        write(start + words.len() as u64, &padded)?;
    }
    if whole {
        buffer.poison.clear();
    }
    connection.check()
}

/// The answer to a request to map memory, and the tasks that wait for it.
#[derive(Debug, Default)]
struct Mapping {
    state: Mutex<Mapped>,
    answered: Condvar,
}

#[derive(Debug, Default)]
struct Mapped {
    answer: Option<Result<(), String>>,
    waker: Option<Waker>,
    /// A thread drives the device for this, and holds it.
    is_driven: bool,
}

impl Mapping {
    /// Keeps the first answer, and wakes the waiting task.
    fn answer(&self, answer: Result<(), String>) {
        self.wake(|state| {
            state.answer.get_or_insert(answer);
        });
    }

    fn wake(&self, change: impl FnOnce(&mut Mapped)) {
        let mut state = lock(&self.state);
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        self.answered.notify_all();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Waits for an answer. Returns whether there is one.
    fn is_answered_in(&self, time: Duration) -> bool {
        let state = lock(&self.state);
        let waiting = self.answered.wait_timeout_while(state, time, |state| state.answer.is_none());
        waiting.unwrap_or_else(PoisonError::into_inner).0.answer.is_some()
    }
}

/// A mapping for which a thread drives the device until this is dropped.
struct Driven(Arc<Mapping>);

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.wake(|state| {
            state.answer.get_or_insert_with(|| Err("the thread that waited for it ended".into()));
            state.is_driven = false;
        });
    }
}

/// The buffers to read, and how they are cut.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub buffers: &'a [Arc<Buffer>],
    pub cuts: Cuts,
}

/// A read-back under way. As a future it never blocks: another thread, or the browser's event loop, drives the device.
#[derive(Debug)]
pub(super) struct Transfer {
    connection: Arc<Connection>,
    staging: Arc<Staging>,
    submission: wgpu::SubmissionIndex,
    mapped: Arc<Mapping>,
    trust: Trust,
    /// Bytes of the staging buffer before the requested ones.
    skip: usize,
    length: usize,
}

/// Everything that must have succeeded for the bytes to be right, if it is reported later.
#[derive(Debug, Default)]
struct Trust {
    /// The recordings that wrote the bytes.
    written: SmallVec<[u64; 2]>,
    /// The staging buffer, and the copy to it.
    fates: [Fate; 2],
    /// The number of expected reports when the copy was submitted.
    reports: u64,
}

/// Memory that the host can map.
#[derive(Debug)]
struct Staging {
    raw: Gated<wgpu::Buffer>,
    waits: bool,
}

impl Drop for Staging {
    fn drop(&mut self) {
        // A browser has one thread, and frees dropped memory when it collects garbage.
        if !self.waits {
            self.raw.destroy();
        }
    }
}

impl Transfer {
    /// Submits all recorded work, and a copy of `length` bytes from `start` on to memory that the host can map.
    pub(super) fn begin(
        connection: &Arc<Connection>,
        recorder: &Recorder,
        source: Source<'_>,
        start: usize,
        length: usize,
    ) -> Result<Transfer> {
        connection.check()?;
        let from = start / ALIGN * ALIGN;
        let end = (start + length).next_multiple_of(ALIGN).max(from + ALIGN);
        let stretch = || {
            let parts = source.cuts.stretch(from as u64, end as u64);
            parts.filter_map(|(number, start, end)| Some((source.buffers.get(number)?, start, end)))
        };
        let written = stretch().map(|(buffer, ..)| buffer.written.load(Ordering::Relaxed)).collect();
        let check = || stretch().try_for_each(|(buffer, ..)| buffer.check(connection));
        check()?;
        let mut transfer =
            Transfer::of(connection, recorder, (end - from) as u64, written, |encoder, staging| {
                let mut at = 0;
                for (buffer, start, end) in stretch() {
                    encoder.copy_buffer_to_buffer(&buffer.raw, start, staging, at, end - start);
                    at += end - start;
                }
            })?;
        // The submission with the copy may have been refused.
        check()?;
        transfer.skip = start - from;
        transfer.length = length;
        Ok(transfer)
    }

    /// Submits all recorded work. It returns no bytes when it is done.
    pub(super) fn nothing(connection: &Arc<Connection>, recorder: &Recorder) -> Result<Transfer> {
        connection.check()?;
        // This copy is the last command, so it is done when all others are.
        let mark = |encoder: &mut wgpu::CommandEncoder, staging: &_| encoder.clear_buffer(staging, 0, None);
        Transfer::of(connection, recorder, ALIGN as u64, SmallVec::new(), mark)
    }

    /// Submits all recorded work, and a copy of `size` bytes by `encode` to memory that the host can map.
    fn of(
        connection: &Arc<Connection>,
        recorder: &Recorder,
        size: u64,
        written: SmallVec<[u64; 2]>,
        encode: impl Fn(&mut wgpu::CommandEncoder, &wgpu::Buffer),
    ) -> Result<Transfer> {
        recorder.set_apart(connection);
        let (staging, made) = connection.create_for_reading(size)?;
        let (submission, copied) =
            recorder.submit_with(connection, "a copy to the host", |encoder| encode(encoder, &staging))?;
        let mut transfer = Transfer::map(connection, staging, submission, 0)?;
        (transfer.trust.written, transfer.trust.fates) = (written, [made, copied]);
        Ok(transfer)
    }

    /// Maps a staging buffer that submitted work writes, to read some of its bytes.
    pub(super) fn map(
        connection: &Arc<Connection>,
        staging: wgpu::Buffer,
        submission: wgpu::SubmissionIndex,
        length: usize,
    ) -> Result<Transfer> {
        let mapped = Arc::new(Mapping::default());
        let shared = mapped.clone();
        connection.tried("to be read", || {
            staging.map_async(wgpu::MapMode::Read, .., move |answer| {
                shared.answer(answer.map_err(|error| error.to_string()));
            });
        })?;
        let trust = Trust { reports: connection.failures.count(), ..Trust::default() };
        let staging = Staging { raw: connection.gate.keep(staging), waits: connection.waits };
        Ok(Transfer {
            connection: connection.clone(),
            staging: Arc::new(staging),
            submission,
            mapped,
            trust,
            skip: 0,
            length,
        })
    }

    /// Blocks until the bytes are mapped.
    pub(super) fn wait(self) -> Result<HostBytes> {
        self.connection.can_wait("reading")?;
        drive(&self.connection, &self.submission, &self.mapped);
        self.bytes()
    }

    fn bytes(&self) -> Result<HostBytes> {
        self.connection.check()?;
        self.trust.fates.iter().try_for_each(Fate::check)?;
        self.trust.written.iter().try_for_each(|&written| self.connection.failures.trust(written))?;
        match lock(&self.mapped.state).answer.clone() {
            Some(Ok(())) => {}
            Some(Err(error)) => bail!(Lost, "reading from {} failed: {error}", self.connection.name()),
            None => bail!(Lost, "reading from {} did not finish", self.connection.name()),
        }
        let (range, staging) = (self.skip..self.skip + self.length, self.staging.clone());
        match staging.raw.get_mapped_range(..) {
            Ok(view) => {
                Ok(Box::new(Read { view: self.connection.gate.keep(view), range, _staging: staging }))
            }
            Err(error) => bail!(Lost, "reading from {} failed: {error}", self.connection.name()),
        }
    }
}

/// Mapped memory, which must be dropped before the staging buffer.
struct Read {
    view: Gated<wgpu::BufferView>,
    range: Range<usize>,
    _staging: Arc<Staging>,
}

impl Deref for Read {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.view[self.range.clone()]
    }
}

/// Blocks until a submission is done and its bytes are mapped or lost.
fn drive(connection: &Connection, submission: &wgpu::SubmissionIndex, mapped: &Mapping) {
    let wait = wgpu::PollType::Wait { submission_index: Some(submission.clone()), timeout: None };
    if let Err(error) = connection.poll(wait) {
        log::warn!("waiting for {}: {error}", connection.name());
    }
    // The work is done, but another thread that drives the device may still have to report it.
    while !mapped.is_answered_in(Duration::from_millis(10)) {
        if connection.is_lost() {
            mapped.answer(Err("the device was lost".into()));
        }
    }
}

impl Future for Transfer {
    type Output = Result<HostBytes>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = lock(&self.mapped.state);
        state.waker = Some(context.waker().clone());
        if state.answer.is_some() && !state.is_driven {
            drop(state);
            return match self.connection.failures.poll_settled(self.trust.reports, context) {
                Poll::Ready(()) => Poll::Ready(self.bytes()),
                Poll::Pending => Poll::Pending,
            };
        }
        let begins = self.connection.waits && !state.is_driven;
        state.is_driven |= begins;
        drop(state);
        if begins {
            let (connection, submission) = (self.connection.clone(), self.submission.clone());
            let mapped = self.mapped.clone();
            let run = move || {
                let driven = Driven(mapped);
                drive(&connection, &submission, &driven.0);
                // Do this first: the woken task may end the program, and SwiftShader crashes if a device is closed
                // meanwhile.
                drop(connection);
            };
            if std::thread::Builder::new().name("zerostride-read".into()).spawn(run).is_err() {
                drive(&self.connection, &self.submission, &self.mapped);
                return Poll::Ready(self.bytes());
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, Options};

    #[test]
    fn a_thread_that_read_holds_the_device_no_longer_than_the_reading() {
        for found in pollster::block_on(crate::gpu::find()) {
            let gpu = pollster::block_on(crate::gpu::open(found, &Options::default())).unwrap();
            let x = Device::from_backend(gpu.clone()).zeros::<f32>([3]).unwrap();
            let before = Arc::strong_count(&gpu.parts.connection);
            for i in 0..100 {
                assert_eq!(pollster::block_on(x.to_vec_async()).unwrap(), [0.0; 3]);
                assert_eq!(Arc::strong_count(&gpu.parts.connection), before, "{gpu:?}: reading {i}");
            }
        }
    }
}
