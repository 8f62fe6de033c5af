//! Recording: kernels queue up on the host and are submitted many at a time.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::batch::{Batch, Work};
use super::budget::Recorded;
use super::buffer::Buffer;
use super::connection::{ALL, Connection};
use super::dispatch::Lost;
use super::failures::Fate;
use super::lock::{Gated, lock};
use super::pool::Pool;
use super::profile::{self, Timed};
use crate::error::{Error, Result, bail};

/// Bytes of uniform blocks in one recording, if a buffer may be that large.
const UNIFORM_BYTES: u64 = 256 << 10;

/// Pages of uniform blocks, used in turn, since a copy into one waits for the kernels that read it.
pub(super) const PAGES: usize = 4;

const ALIGN: u64 = wgpu::COPY_BUFFER_ALIGNMENT;

/// The recorder. Work is submitted in the order of its recording, so a buffer may be reused as soon as its last handle
/// is gone.
#[derive(Debug)]
pub(super) struct Recorder {
    recording: Gated<Mutex<Recording>>,
}

/// Recorded work that is not submitted.
#[derive(Debug)]
struct Recording {
    batch: Batch,
    /// Pages of the next recordings.
    pages: VecDeque<wgpu::Buffer>,
    recorded: Recorded,
    /// The number of gaps when it began.
    gaps: u64,
    /// Times of kernels, if they are taken.
    times: Option<Vec<Timed>>,
    /// The work of each dispatch, by submissions, for tests.
    #[cfg(test)]
    log: Vec<Vec<u64>>,
}

impl Recording {
    /// Submits the recording, without waiting for it.
    fn submit(&mut self, connection: &Connection) {
        if self.batch.dispatches.is_empty() {
            return;
        }
        if let Err(error) = self.send(connection, &|_| ()) {
            self.submit_each(connection, &error);
        }
        self.end(connection);
    }

    /// Submits the recording, and after it the commands of `more`, in one submission. If it is refused, nothing of it
    /// runs.
    fn send(
        &mut self,
        connection: &Connection,
        more: &dyn Fn(&mut wgpu::CommandEncoder),
    ) -> Result<(wgpu::SubmissionIndex, Fate)> {
        // wgpu writes the blocks before the kernels run, and after the kernels of the last submission.
        self.batch.write(connection)?;
        let Recording { batch, times, .. } = self;
        let submit = || {
            let mut encoder = connection.encoder();
            let timed = match times {
                Some(_) => Some(profile::encode(&connection.device, &mut encoder, &batch.dispatches)),
                None => {
                    batch.encode(&mut encoder);
                    None
                }
            };
            more(&mut encoder);
            (connection.queue.submit([encoder.finish()]), timed)
        };
        let ((submission, timed), fate) = match &batch.dispatches[..] {
            [only] => connection.scoped(&ALL, submit, only.refusal(connection))?,
            _ => connection.tried("a submission", submit)?,
        };
        if let Some(times) = times {
            times.extend(timed);
        }
        Ok((submission, fate))
    }

    /// Submits each kernel alone, in order, after a submission of all of them was refused. So a refused kernel fails
    /// alone. The buffers that it would have written are poisoned, and so are the results of kernels that read these.
    fn submit_each(&self, connection: &Connection, error: &Error) {
        log::debug!("{error}: its kernels are submitted one by one");
        // The first write may have left anything in the uniform blocks.
        let written = self.batch.write(connection);
        let mut lost = Lost::default();
        for dispatch in &self.batch.dispatches {
            dispatch.submit_alone(connection, &written, &mut lost);
        }
        lost.poison(connection);
    }

    /// Begins the next recording.
    fn end(&mut self, connection: &Connection) {
        if !self.batch.dispatches.is_empty()
            && let Some(page) = self.pages.pop_front()
        {
            self.pages.push_back(std::mem::replace(&mut self.batch.page, page));
        }
        self.batch.clear();
        self.recorded.next();
        connection.failures.next_epoch();
    }
}

impl Recorder {
    pub(super) fn new(connection: &Connection) -> Result<Self> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let bytes = UNIFORM_BYTES.min(connection.limits.max_buffer_size / ALIGN * ALIGN);
        let batch = Batch::new(connection.create_for(bytes, usage)?);
        let pages = (1..PAGES).map(|_| connection.create_for(bytes, usage)).collect::<Result<_>>()?;
        // No buffer was used in it.
        connection.failures.next_epoch();
        let recording = Mutex::new(Recording {
            batch,
            pages,
            recorded: Recorded::default(),
            gaps: 0,
            times: None,
            #[cfg(test)]
            log: Vec::new(),
        });
        Ok(Recorder { recording: connection.gate.keep(recording) })
    }

    /// Submits the recording, without waiting for it.
    pub(super) fn flush(&self, connection: &Connection) {
        let mut recording = lock(&self.recording);
        recording.submit(connection);
        // The host is about to wait, so the next recording starts small.
        recording.recorded = Recorded::default();
    }

    /// Submits the recording if it uses the buffer, before a write by the queue.
    pub(super) fn flush_uses(&self, connection: &Connection, buffer: &Buffer) {
        let mut recording = lock(&self.recording);
        if buffer.epoch.load(Ordering::Relaxed) == connection.failures.epoch() {
            recording.submit(connection);
        }
    }

    /// Begins another recording if the open one is in a gap.
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

    /// Begins another recording before work that a browser may later report as failed, so that earlier work is not in
    /// its gap.
    pub(super) fn set_apart(&self, connection: &Connection) {
        if !connection.waits {
            self.begin_another(connection, &mut lock(&self.recording));
        }
    }

    fn begin_another(&self, connection: &Connection, recording: &mut Recording) {
        match recording.batch.dispatches.is_empty() {
            true => connection.failures.next_epoch(),
            false => recording.submit(connection),
        }
    }

    /// Submits the recording, and then the commands of `more`. Returns the error of `more`.
    pub(super) fn submit_with(
        &self,
        connection: &Connection,
        what: &'static str,
        more: impl Fn(&mut wgpu::CommandEncoder),
    ) -> Result<(wgpu::SubmissionIndex, Fate)> {
        self.set_apart(connection);
        let mut recording = lock(&self.recording);
        let encode_alone = |recording: &mut Recording| {
            recording.end(connection);
            connection.tried(what, || {
                let mut encoder = connection.encoder();
                more(&mut encoder);
                connection.queue.submit([encoder.finish()])
            })
        };
        let sent = match recording.batch.dispatches.is_empty() {
            true => encode_alone(&mut recording),
            false => match recording.send(connection, &more) {
                Ok(sent) => {
                    recording.end(connection);
                    Ok(sent)
                }
                Err(error) => {
                    recording.submit_each(connection, &error);
                    encode_alone(&mut recording)
                }
            },
        };
        recording.recorded = Recorded::default();
        sent
    }

    /// Records a kernel. Fails, and records nothing, if the device refuses its bind group.
    pub(super) fn record(
        &self,
        connection: &Connection,
        pool: &Pool,
        rate: Option<u64>,
        work: Work<'_>,
    ) -> Result<()> {
        let mut recording = lock(&self.recording);
        // A browser reports later that a caller's buffer is gone. No other work may be in doubt then.
        let is_apart = !connection.waits && work.bound.iter().any(|bound| bound.buffer.is_known());
        let has_room = recording.recorded.has_room(work.plan.work, rate);
        if is_apart || !has_room || !recording.batch.has_room(connection, work)? {
            recording.submit(connection);
        }
        recording.batch.push(connection, pool, work)?;
        work.mark(connection.failures.epoch());
        recording.recorded.add(work.plan.work);
        #[cfg(test)]
        recording.log(work.plan.work);
        let is_full = recording.recorded.is_full(rate);
        if is_apart || is_full || recording.batch.dispatches.len() >= connection.driver.dispatches {
            recording.submit(connection);
        }
        Ok(())
    }

    /// Times all kernels from now on.
    pub(super) fn begin_times(&self, connection: &Connection) -> Result<()> {
        if !connection.has(wgpu::Features::TIMESTAMP_QUERY) {
            let name = connection.name();
            bail!(Limit, "times of kernels need the feature TIMESTAMP_QUERY, which {name} lacks");
        }
        let mut recording = lock(&self.recording);
        recording.submit(connection);
        recording.times = Some(Vec::new());
        Ok(())
    }

    /// The times of all kernels since.
    pub(super) fn end_times(&self, connection: &Connection) -> Vec<Timed> {
        let mut recording = lock(&self.recording);
        recording.submit(connection);
        recording.times.take().unwrap_or_default()
    }
}

#[cfg(test)]
impl Recording {
    fn log(&mut self, work: u64) {
        if self.batch.dispatches.len() == 1 {
            self.log.push(Vec::new());
        }
        self.log.last_mut().unwrap().push(work);
    }
}

#[cfg(test)]
impl Recorder {
    /// The work of each dispatch since the last call, by submissions.
    pub(super) fn take_log(&self) -> Vec<Vec<u64>> {
        std::mem::take(&mut lock(&self.recording).log)
    }

    /// The place of the next uniform blocks.
    pub(super) fn page(&self) -> wgpu::Buffer {
        lock(&self.recording).batch.page.clone()
    }
}
