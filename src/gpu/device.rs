//! A handle to an opened adapter: the parts that all handles of it share, and what this one asks of
//! plans. What the parts do together is here: memory, compiling and recording.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use smallvec::SmallVec;

use super::buffer::{Buffer, Window, buffer, window};
use super::connection::Connection;
use super::pipelines::{Compiled, Pipelines};
use super::pool::{self, Pool};
use super::recorder::Recorder;
use super::transfer::{self, Transfer};
use crate::dtype::DType;
use crate::error::{ErrorKind, Result, bail};
use crate::expr::{Math, Program, Storage};
use crate::plan::{self, Faults, Kernel, Plan};

/// What all handles of a device share.
#[derive(Debug)]
pub(super) struct Parts {
    pub connection: Arc<Connection>,
    pub pool: Arc<Pool>,
    pub pipelines: Pipelines,
    pub recorder: Recorder,
}

/// A GPU device. Handles that differ in how functions are computed share its parts.
pub(crate) struct Gpu {
    pub(super) parts: Arc<Parts>,
    /// What plans must know of the adapter and of this handle.
    pub(super) adapter: plan::Target,
}

/// Invocations of a workgroup, in whatever form.
fn workgroup(limits: &wgpu::Limits) -> u32 {
    let sides = limits.max_compute_workgroup_size_x.min(limits.max_compute_workgroup_size_y);
    let most = limits.max_compute_invocations_per_workgroup.min(sides).clamp(1, plan::WORKGROUP);
    1 << most.ilog2()
}

impl Gpu {
    /// Puts the parts together on a connection, as if the adapter had no faults. At most `pipelines` are
    /// kept.
    pub(super) fn new(connection: Connection, pipelines: usize) -> Result<Arc<Gpu>> {
        let (limits, driver) = (&connection.limits, connection.driver);
        let adapter = plan::Target {
            groups: limits.max_compute_workgroups_per_dimension,
            bindings: limits.max_storage_buffers_per_shader_stage,
            workgroup: workgroup(limits),
            faults: Faults::default(),
            math: Math::Precise,
            blocks: driver.blocks,
            team: driver.team,
            pairs: driver.pairs && connection.has(wgpu::Features::SHADER_INT64),
            tiles: driver.tiles,
            narrow: driver.narrow,
        };
        let recorder = Recorder::new(&connection)?;
        let connection = Arc::new(connection);
        let parts =
            Parts { connection, pool: Arc::default(), pipelines: Pipelines::new(pipelines), recorder };
        Ok(Arc::new(Gpu { parts: Arc::new(parts), adapter }))
    }

    /// A handle of the same device whose kernels make up for faults.
    pub(super) fn with_faults(&self, faults: Faults) -> Gpu {
        Gpu { parts: self.parts.clone(), adapter: plan::Target { faults, ..self.adapter } }
    }

    /// A handle of the same device that computes functions otherwise.
    pub(super) fn with_math(&self, math: Math) -> Gpu {
        Gpu { parts: self.parts.clone(), adapter: plan::Target { math, ..self.adapter } }
    }

    /// Whether every type of a program is one that the adapter computes with.
    pub(super) fn supports(&self, program: &Program) -> Result<()> {
        let connection = &self.parts.connection;
        program.inputs.iter().try_for_each(|input| connection.supports(input.dtype))?;
        program.steps.iter().try_for_each(|step| connection.supports(step.result))
    }

    /// A buffer for `bytes` bytes, from the pool or new.
    fn allocate(&self, bytes: usize) -> Result<Buffer> {
        let Parts { connection, pool, .. } = &*self.parts;
        connection.check()?;
        // Whole vectors, so that a wide access of the last element stays inside.
        let size = (bytes as u64).max(1).next_multiple_of(32);
        let limit = connection.limits.max_buffer_size;
        if size > limit {
            bail!(
                Limit,
                "a tensor of {bytes} bytes exceeds the {limit} that {} holds in one buffer (max_buffer_size): work on slices of it",
                connection.name()
            );
        }
        let (raw, epoch) = match pool.take(size) {
            Some(found) => found,
            None => {
                let size = pool::class(size).min(limit / 32 * 32);
                (self.with_memory(|| connection.create(size)).inspect_err(|_| pool.untake(size))?, 0)
            }
        };
        Ok(Buffer { raw, size, epoch: AtomicU64::new(epoch), pool: pool.clone() })
    }

    /// Does what takes memory; where there is none, once more without what waits to be used again and
    /// what work holds that is not done yet.
    fn with_memory<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        work().or_else(|error| {
            if error.kind() != ErrorKind::Memory {
                return Err(error);
            }
            self.parts.pool.clear();
            self.finish()?;
            work()
        })
    }

    /// A storage of `bytes` packed elements.
    pub(super) fn upload(self: &Arc<Self>, bytes: &[u8], dtype: DType) -> Result<Storage> {
        let Parts { connection, recorder, .. } = &*self.parts;
        connection.supports(dtype)?;
        let buffer = self.allocate(bytes.len())?;
        self.with_memory(|| connection.make_sure_of(bytes.len() as u64))?;
        transfer::write(connection, recorder, &buffer, bytes)?;
        Ok(Storage::new(self.clone(), bytes.len() / dtype.size(), buffer))
    }

    /// A storage for the result of a program.
    pub(super) fn result(self: &Arc<Self>, program: &Program) -> Result<Storage> {
        let bytes = program.byte_size()?;
        Ok(Storage::new(self.clone(), bytes / program.dtype.size(), self.allocate(bytes)?))
    }

    /// A storage of `count` elements, whatever they hold.
    pub(super) fn storage(self: &Arc<Self>, dtype: DType, count: usize) -> Result<Storage> {
        Ok(Storage::new(self.clone(), count, self.allocate(count * dtype.size())?))
    }

    /// Begins to read `length` bytes of a storage.
    pub(super) fn begin_read(&self, storage: &Storage, start: usize, length: usize) -> Result<Transfer> {
        let Parts { connection, recorder, .. } = &*self.parts;
        let source = buffer(storage)?;
        self.with_memory(|| Transfer::begin(connection, recorder, &source, start, length))
    }

    /// The pipeline of a kernel.
    pub(super) fn pipeline(&self, kernel: &Kernel) -> Result<Arc<Compiled>> {
        self.parts.pipelines.get(&self.parts.connection, kernel)
    }

    /// Records a plan that writes to `results`.
    pub(super) fn record(&self, plan: &Plan, results: &[Storage]) -> Result<()> {
        self.record_compiled(plan, &self.pipeline(&plan.kernel)?, results)
    }

    /// The same, where its kernel is compiled.
    pub(super) fn record_compiled(
        &self,
        plan: &Plan,
        compiled: &Arc<Compiled>,
        results: &[Storage],
    ) -> Result<()> {
        let Parts { connection, pool, recorder, .. } = &*self.parts;
        let storages = results.iter().chain(&plan.storages);
        let windows: SmallVec<[Window; 8]> = storages.map(window).collect::<Result<_>>()?;
        recorder.record(connection, pool, plan, compiled, &windows)
    }

    /// Waits until everything that was recorded has run.
    pub(super) fn finish(&self) -> Result<()> {
        self.parts.recorder.flush(&self.parts.connection);
        self.parts.connection.wait()
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.parts.connection.name())
    }
}
