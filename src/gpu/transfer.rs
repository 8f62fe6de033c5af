//! Bytes to the device and back.

use std::future::Future;
use std::ops::{Deref, Range};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::buffer::Buffer;
use super::connection::Connection;
use super::lock::{Gate, lock};
use super::recorder::Recorder;
use crate::error::{Result, bail};
use crate::expr::{HostBytes, PIECE};
use crate::schedule::Cuts;

/// Buffer copies begin and end at multiples of this many bytes.
const ALIGN: usize = wgpu::COPY_BUFFER_ALIGNMENT as usize;

/// Writes bytes to a buffer, from a multiple of four on; a last word that they do not fill is filled with
/// zeros. Such a write runs before what is recorded, so a recording
/// that uses the buffer goes first. wgpu copies what is written, so of many bytes a piece is waited for
/// before the next.
pub(super) fn write(
    connection: &Connection,
    recorder: &Recorder,
    buffer: &Buffer,
    start: u64,
    bytes: &[u8],
) -> Result<()> {
    recorder.flush_uses(connection, buffer);
    let (whole, tail) = bytes.split_at(bytes.len() / ALIGN * ALIGN);
    for (i, piece) in whole.chunks(PIECE).enumerate() {
        if i > 0 {
            connection.contained(|| connection.queue.submit([]));
            connection.wait()?;
        }
        connection
            .contained(|| connection.queue.write_buffer(&buffer.raw, start + (i * PIECE) as u64, piece));
    }
    if !tail.is_empty() {
        let mut padded = [0; ALIGN];
        padded[..tail.len()].copy_from_slice(tail);
        connection
            .contained(|| connection.queue.write_buffer(&buffer.raw, start + whole.len() as u64, &padded));
    }
    connection.check()
}

/// The answer to a request to map memory, and who waits for it.
#[derive(Debug, Default)]
struct Mapping {
    state: Mutex<Mapped>,
    answered: Condvar,
}

#[derive(Debug, Default)]
struct Mapped {
    answer: Option<Result<(), String>>,
    waker: Option<Waker>,
}

impl Mapping {
    /// Keeps the first answer, and wakes who waits for it.
    fn tell(&self, answer: Result<(), String>) {
        let mut state = lock(&self.state);
        state.answer.get_or_insert(answer);
        let waker = state.waker.take();
        drop(state);
        self.answered.notify_all();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Waits for an answer; whether there is one.
    fn is_answered_in(&self, time: Duration) -> bool {
        let state = lock(&self.state);
        let waiting = self.answered.wait_timeout_while(state, time, |state| state.answer.is_none());
        waiting.unwrap_or_else(PoisonError::into_inner).0.answer.is_some()
    }
}

/// What is read: buffers, and how they are cut.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub buffers: &'a [Arc<Buffer>],
    pub cuts: Cuts,
}

/// A read-back under way. As a future it never blocks: the device is driven from another thread,
/// or by the browser's event loop.
#[derive(Debug)]
pub(super) struct Transfer {
    connection: Arc<Connection>,
    /// There as long as this is.
    staging: Option<wgpu::Buffer>,
    submission: wgpu::SubmissionIndex,
    mapped: Arc<Mapping>,
    /// Bytes of the staging buffer before those that were asked for.
    skip: usize,
    length: usize,
    driven: bool,
}

impl Transfer {
    /// Submits everything recorded and a copy of `length` bytes from `start` on to where the host can
    /// read them.
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
        let staging = connection.create_for_reading((end - from) as u64)?;
        let submission = recorder.submit_with(connection, |encoder| {
            let mut at = 0;
            for (number, start, end) in source.cuts.stretch(from as u64, end as u64) {
                if let Some(buffer) = source.buffers.get(number) {
                    encoder.copy_buffer_to_buffer(&buffer.raw, start, &staging, at, end - start);
                }
                at += end - start;
            }
        });
        let mapped = Arc::new(Mapping::default());
        let shared = mapped.clone();
        connection.contained(|| {
            staging.map_async(wgpu::MapMode::Read, .., move |answer| {
                shared.tell(answer.map_err(|error| error.to_string()));
            });
        });
        let connection = connection.clone();
        let staging = Some(staging);
        Ok(Transfer { connection, staging, submission, mapped, skip: start - from, length, driven: false })
    }

    /// Blocks until the bytes are there.
    pub(super) fn wait(self) -> Result<HostBytes> {
        drive(&self.connection, &self.submission, &self.mapped);
        self.bytes()
    }

    fn bytes(&self) -> Result<HostBytes> {
        self.connection.check()?;
        match lock(&self.mapped.state).answer.clone() {
            Some(Ok(())) => {}
            Some(Err(error)) => bail!(Lost, "reading from {} failed: {error}", self.connection.name()),
            None => bail!(Lost, "reading from {} did not finish", self.connection.name()),
        }
        let range = self.skip..self.skip + self.length;
        let gate = self.connection.gate;
        match self.staging.as_ref().map(|staging| staging.get_mapped_range(..)) {
            Some(Ok(view)) => Ok(Box::new(Read { view: Some(view), range, gate })),
            Some(Err(error)) => bail!(Lost, "reading from {} failed: {error}", self.connection.name()),
            None => bail!(Lost, "what was read from {} is gone", self.connection.name()),
        }
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        let _entered = self.connection.gate.enter();
        self.staging = None;
    }
}

/// Mapped memory, which goes with the staging buffer that the view holds.
struct Read {
    /// There as long as this is.
    view: Option<wgpu::BufferView>,
    range: Range<usize>,
    gate: Gate,
}

impl Drop for Read {
    fn drop(&mut self) {
        let _entered = self.gate.enter();
        self.view = None;
    }
}

impl Deref for Read {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.view.as_ref().map_or(&[], |view| &view[self.range.clone()])
    }
}

/// Blocks until a submission is done and its bytes are mapped or lost.
fn drive(connection: &Connection, submission: &wgpu::SubmissionIndex, mapped: &Mapping) {
    let wait = wgpu::PollType::Wait { submission_index: Some(submission.clone()), timeout: None };
    if let Err(error) = connection.poll(wait) {
        log::warn!("waiting for {}: {error}", connection.name());
    }
    // The work is done, but another thread that drives the device may yet have to say so.
    while !mapped.is_answered_in(Duration::from_millis(10)) {
        if connection.is_lost() {
            mapped.tell(Err("the device was lost".into()));
        }
    }
}

impl Future for Transfer {
    type Output = Result<HostBytes>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ready = {
            let mut mapped = lock(&self.mapped.state);
            mapped.waker = Some(context.waker().clone());
            mapped.answer.is_some()
        };
        if ready {
            return Poll::Ready(self.bytes());
        }
        if !std::mem::replace(&mut self.driven, true) && cfg!(not(target_arch = "wasm32")) {
            let (connection, submission) = (self.connection.clone(), self.submission.clone());
            let mapped = self.mapped.clone();
            let name = "zerostride-read".to_string();
            let driver = std::thread::Builder::new()
                .name(name)
                .spawn(move || drive(&connection, &submission, &mapped));
            if driver.is_err() {
                drive(&self.connection, &self.submission, &self.mapped);
                return Poll::Ready(self.bytes());
            }
        }
        Poll::Pending
    }
}
