//! Recording: kernels queue up on the host and go to the device many at a time.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::batch::{Batch, Work};
use super::buffer::Buffer;
use super::connection::Connection;
use super::failures::Fate;
use super::lock::{Gated, lock};
use super::pool::Pool;
use super::profile::{self, Timed};
use crate::error::{Result, bail};

/// Result bytes after which a recording is submitted, so that a device does not idle while the
/// host records.
const MOST_BYTES: u64 = 32 << 20;

/// Bytes of uniform blocks in one recording, where a buffer may be that large.
const UNIFORM_BYTES: u64 = 256 << 10;

const ALIGN: u64 = wgpu::COPY_BUFFER_ALIGNMENT;

/// Where work is recorded, and submitted in the order of its recording: so a buffer may be used again
/// as soon as the last handle to it is gone.
#[derive(Debug)]
pub(super) struct Recorder {
    recording: Gated<Mutex<Recording>>,
}

/// Work that is recorded and not submitted yet.
#[derive(Debug)]
struct Recording {
    batch: Batch,
    result_bytes: u64,
    /// Gaps that were known when it began.
    gaps: u64,
    /// Times of kernels, where they are wanted.
    times: Option<Vec<Timed>>,
}

impl Recorder {
    pub(super) fn new(connection: &Connection) -> Result<Self> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let bytes = UNIFORM_BYTES.min(connection.limits.max_buffer_size / ALIGN * ALIGN);
        let batch = Batch::new(connection.create_for(bytes, usage)?);
        // No buffer was used in it.
        connection.failures.next_epoch();
        let recording = Mutex::new(Recording { batch, result_bytes: 0, gaps: 0, times: None });
        Ok(Recorder { recording: connection.gate.keep(recording) })
    }

    /// Submits what was recorded, without waiting for it.
    pub(super) fn flush(&self, connection: &Connection) {
        self.submit(connection, &mut lock(&self.recording));
    }

    /// Submits what was recorded if it uses the buffer, before a write that does not queue up.
    pub(super) fn flush_uses(&self, connection: &Connection, buffer: &Buffer) {
        let mut recording = lock(&self.recording);
        if buffer.epoch.load(Ordering::Relaxed) == connection.failures.epoch() {
            self.submit(connection, &mut recording);
        }
    }

    /// Begins another recording where the open one was known to fail since.
    pub(super) fn leave_gap(&self, connection: &Connection) {
        if connection.waits {
            return;
        }
        let gaps = connection.failures.gaps();
        let mut recording = lock(&self.recording);
        if recording.gaps == gaps {
            return;
        }
        recording.gaps = gaps;
        self.begin_another(connection, &mut recording);
    }

    /// Begins another recording where what is made now may turn out to have failed, so that what was recorded and
    /// written before does not go with it.
    pub(super) fn set_apart(&self, connection: &Connection) {
        if !connection.waits {
            self.begin_another(connection, &mut lock(&self.recording));
        }
    }

    fn begin_another(&self, connection: &Connection, recording: &mut Recording) {
        match recording.batch.dispatches.is_empty() {
            true => connection.failures.next_epoch(),
            false => self.submit(connection, recording),
        }
    }

    /// Submits what was recorded, and what `more` encodes after it.
    pub(super) fn submit_with(
        &self,
        connection: &Connection,
        more: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> (wgpu::SubmissionIndex, Fate) {
        self.set_apart(connection);
        let mut recording = lock(&self.recording);
        connection.followed(|| {
            let mut encoder = self.encode(connection, &mut recording);
            more(&mut encoder);
            connection.queue.submit([encoder.finish()])
        })
    }

    /// Records work.
    pub(super) fn record(&self, connection: &Connection, pool: &Pool, work: Work<'_>) -> Result<()> {
        let mut recording = lock(&self.recording);
        if !recording.batch.has_room(connection, work)? {
            self.submit(connection, &mut recording);
        }
        let name = recording.times.is_some().then(|| work.name());
        recording.batch.push(connection, pool, work, name);
        work.mark(connection.failures.epoch());
        recording.result_bytes += work.result_bytes();
        if recording.batch.dispatches.len() >= connection.driver.dispatches
            || recording.result_bytes >= MOST_BYTES
        {
            self.submit(connection, &mut recording);
        }
        Ok(())
    }

    /// Encodes a recording and begins the next.
    fn encode(&self, connection: &Connection, recording: &mut Recording) -> wgpu::CommandEncoder {
        let mut encoder = connection.encoder();
        if !recording.batch.dispatches.is_empty() {
            // Written before the kernels run, and after those of the last submission did.
            recording.batch.write(connection);
            if let Some(times) = &mut recording.times {
                let dispatches = std::mem::take(&mut recording.batch.dispatches);
                times.push(profile::encode(&connection.device, &mut encoder, dispatches));
            }
            recording.batch.encode(&mut encoder);
        }
        recording.batch.clear();
        recording.result_bytes = 0;
        connection.failures.next_epoch();
        encoder
    }

    fn submit(&self, connection: &Connection, recording: &mut Recording) {
        if !recording.batch.dispatches.is_empty() {
            connection.contained(|| {
                let commands = self.encode(connection, recording).finish();
                connection.queue.submit([commands]);
            });
        }
    }

    /// Times all kernels from now on.
    pub(super) fn begin_times(&self, connection: &Connection) -> Result<()> {
        if !connection.has(wgpu::Features::TIMESTAMP_QUERY) {
            let name = connection.name();
            bail!(Limit, "times of kernels need the feature TIMESTAMP_QUERY, which {name} lacks");
        }
        let mut recording = lock(&self.recording);
        self.submit(connection, &mut recording);
        recording.times = Some(Vec::new());
        Ok(())
    }

    /// What ran since.
    pub(super) fn end_times(&self, connection: &Connection) -> Vec<Timed> {
        let mut recording = lock(&self.recording);
        self.submit(connection, &mut recording);
        recording.times.take().unwrap_or_default()
    }
}
