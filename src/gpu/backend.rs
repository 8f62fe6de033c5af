//! The GPU path as a backend of expressions.

use std::any::Any;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::buffer::buffers;
use super::device::Gpu;
use super::profile::{self, Timed};
use super::transfer::Transfer;
use super::{execute, explain};
use crate::dtype::DType;
use crate::error::{Error, Result, bail};
use crate::ir::{
    Backend, Bounds, Destination, Explanation, Fingerprint, HostBytes, Input, Leaves, Math, Memory, Outcome,
    PIECE, Program, Reading, Results, Schedule, Source, Storage, Times,
};
use crate::layout::Layout;
use crate::plan::Target;
use crate::tuning::contract::SHARED;

/// The adapter behind a device, or the error that there is none.
pub(crate) fn of(backend: Arc<dyn Backend>) -> Result<Arc<Gpu>> {
    match backend.clone().any().downcast::<Gpu>() {
        Ok(gpu) => Ok(gpu),
        Err(_) => bail!(
            Device,
            "{} has no buffers of wgpu: use the device of an adapter, as of Device::from_wgpu",
            backend.name()
        ),
    }
}

impl Gpu {
    /// Begins to read elements. A caller's buffer without `COPY_SRC` is copied by a kernel first.
    fn reading(
        self: &Arc<Self>,
        storage: &Storage,
        dtype: DType,
        offset: usize,
        count: usize,
    ) -> Result<Transfer> {
        if self.allows(storage, wgpu::BufferUsages::COPY_SRC)? {
            return self.begin_read(storage, offset * dtype.size(), count * dtype.size());
        }
        let layout = Layout::strided([count], &[1], offset, storage.elements)?;
        let source = Source::Tensor(storage.clone());
        let copy = execute::eval(self, Program::copy(Input::new(dtype, source, layout)))?;
        self.begin_read(&copy, 0, count * dtype.size())
    }
}

impl Backend for Gpu {
    fn name(&self) -> String {
        self.parts.connection.name().into()
    }

    fn identity(&self) -> usize {
        Arc::as_ptr(&self.parts) as usize
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            // One binding is for the result.
            operands: self.adapter.bindings.saturating_sub(1) as usize,
            row: 1,
            longest_row: self.adapter.longest_row(),
            shared: SHARED,
            whole: self.parts.cuts.whole(),
            irregular: false,
            total: self.adapter.math == Math::Total,
        }
    }

    fn supports(&self, dtype: DType) -> Result<()> {
        self.parts.connection.supports(dtype)?;
        match dtype == DType::F64 && self.adapter.faults.doubles {
            true => Err(self.lacks_f64("arithmetic")),
            false => Ok(()),
        }
    }

    fn most_read(&self) -> usize {
        // The staging buffer has room for whole words at both ends.
        PIECE.min(self.parts.cuts.buffer() as usize - 2 * size_of::<u64>())
    }

    fn upload(self: Arc<Self>, bytes: &[u8], dtype: DType) -> Result<Storage> {
        Gpu::upload(&self, bytes, dtype)
    }

    fn run(
        self: Arc<Self>,
        schedule: Cow<'_, Schedule>,
        to: Destination<'_>,
        known: Option<&(Fingerprint, Leaves<'_>)>,
    ) -> Result<Results> {
        execute::run(&self, schedule, to, known)
    }

    fn remembers(&self) -> bool {
        true
    }

    fn run_known(self: Arc<Self>, print: &Fingerprint, leaves: &Leaves<'_>) -> Option<Result<Results>> {
        execute::run_known(&self, print, leaves)
    }

    fn poison(&self, storage: &Storage, error: &Error) {
        for buffer in buffers(storage).iter().flatten() {
            buffer.poison.set(error.clone());
        }
    }

    fn write(self: Arc<Self>, storage: &Storage, dtype: DType, layout: &Layout, bytes: &[u8]) -> Result<()> {
        execute::write(&self, storage, dtype, layout, bytes)
    }

    fn snapshot(self: Arc<Self>, storage: &Storage, dtype: DType) -> Result<Storage> {
        let from = buffers(storage)?;
        // A caller's buffer may lack `COPY_SRC`, and is not cut as the pool's buffers are.
        if from.iter().any(|buffer| buffer.is_lent) {
            let (source, layout) = (Source::Tensor(storage.clone()), Layout::contiguous([storage.elements])?);
            return execute::eval(&self, Program::copy(Input::new(dtype, source, layout)));
        }
        let copy = self.storage(storage.elements * dtype.size(), dtype)?;
        let (to, connection) = (buffers(&copy)?, &self.parts.connection);
        let check = || from.iter().try_for_each(|from| from.check(connection));
        check()?;
        self.parts.recorder.submit_with(connection, "a copy", |encoder| {
            for (from, to) in from.iter().zip(&to) {
                to.written.store(connection.failures.epoch(), Ordering::Relaxed);
                let size = from.size.min(to.size);
                encoder.copy_buffer_to_buffer(&from.raw, 0, &to.raw, 0, size);
            }
        })?;
        // The submission with the copy may have been refused.
        check()?;
        connection.check()?;
        Ok(copy)
    }

    fn is_compiled(self: Arc<Self>, schedule: &Schedule) -> Result<bool> {
        execute::is_compiled(&self, schedule)
    }

    fn read(self: Arc<Self>, storage: &Storage, dtype: DType, offset: usize, count: usize) -> Reading {
        match self.reading(storage, dtype, offset, count) {
            Ok(transfer) => Box::pin(transfer),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn read_now(
        self: Arc<Self>,
        storage: &Storage,
        dtype: DType,
        offset: usize,
        count: usize,
    ) -> Result<HostBytes> {
        self.reading(storage, dtype, offset, count)?.wait()
    }

    fn flush(&self) -> Result<()> {
        self.parts.recorder.flush(&self.parts.connection);
        self.parts.connection.check()?;
        self.parts.connection.failures.untold()
    }

    fn can_wait(&self, form: &str) -> Result<()> {
        self.parts.connection.can_wait(form)
    }

    fn synchronize(&self) -> Result<()> {
        self.can_wait("synchronize")?;
        self.finish()?;
        self.parts.connection.failures.untold()
    }

    fn synchronize_async(self: Arc<Self>) -> Outcome {
        let connection = self.parts.connection.clone();
        let done = Transfer::nothing(&connection, &self.parts.recorder);
        Box::pin(async move {
            done?.await?;
            connection.find_loss();
            connection.check()?;
            connection.failures.untold()
        })
    }

    fn settle(self: Arc<Self>, storages: &[Storage]) -> Outcome {
        let connection = self.parts.connection.clone();
        let all = storages.iter().map(buffers).collect::<Result<Vec<_>>>();
        let reports = connection.failures.settled();
        Box::pin(async move {
            reports.await;
            connection.check()?;
            all?.iter().flatten().try_for_each(|buffer| buffer.check(&connection))
        })
    }

    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn is_lost(&self) -> bool {
        self.parts.connection.is_lost()
    }

    fn compile(self: Arc<Self>, schedule: &Schedule, to: Destination<'_>) -> Result<()> {
        execute::compile(&self, schedule, to)
    }

    fn explain(self: Arc<Self>, schedule: &Schedule) -> Result<Vec<Explanation>> {
        explain::explain(&self, schedule)
    }

    fn cache_pipelines(&self, directory: &Path) -> Result<bool> {
        self.parts.pipelines.keep_in(&self.parts.connection, directory)
    }

    fn save_pipelines(&self) -> Result<()> {
        self.parts.pipelines.save()
    }

    fn begin_profile(&self) -> Result<()> {
        self.parts.recorder.begin_times(&self.parts.connection)
    }

    fn end_profile(&self) -> Times {
        let connection = self.parts.connection.clone();
        let timed = self.parts.recorder.end_times(&connection);
        let begun =
            connection.tried("a submission", || connection.queue.submit([])).and_then(|(after, _)| {
                let map = |timed: Timed| {
                    let size = timed.staging.size() as usize;
                    Ok((timed.names, Transfer::map(&connection, timed.staging, after.clone(), size)?))
                };
                timed.into_iter().map(map).collect::<Result<Vec<_>>>()
            });
        Box::pin(async move {
            let mut times = Vec::new();
            for (names, stamps) in begun? {
                times.extend(profile::times(&connection, names, &stamps.await?));
            }
            connection.check()?;
            Ok(times)
        })
    }

    fn memory(&self) -> Memory {
        Memory { pipelines: self.parts.pipelines.count(), ..self.parts.pool.memory() }
    }

    fn with_math(&self, math: Math) -> Option<Arc<dyn Backend>> {
        Some(Arc::new(self.with_target(Target { math, ..self.adapter })))
    }

    fn flushes(&self) -> bool {
        self.adapter.faults.flushes
    }

    fn math(&self) -> Math {
        self.adapter.math
    }

    fn kernels(&self) -> Vec<Arc<str>> {
        self.parts.pipelines.texts()
    }
}
