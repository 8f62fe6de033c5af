//! A handle to an opened adapter: the device state that all handles share, and the target of this one's plans. Work of
//! several parts is here: memory, compiling and recording.

use std::fmt;
use std::sync::Arc;

use super::batch::Work;
use super::budget;
use super::buffer::{Bound, Buffer, Buffers, Memory, Shared, buffers};
use super::cached::CachedPlan;
use super::connection::Connection;
use super::drivers::{self, PADDING};
use super::limits;
use super::pipelines::{Compiled, Pipelines};
use super::pool::{self, Pool};
use super::recorder::Recorder;
use super::session::Session;
use super::transfer::{self, Source, Transfer};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result, bail};
use crate::ir::{Body, Math, Plans, Program, Step, Storage};
use crate::lower::Cuts;
use crate::plan::{self, Binding, Faults, Form, Kernel, MOST_ELEMENTS, Plan};

/// The device state that all handles share.
#[derive(Debug)]
pub(super) struct Parts {
    pub connection: Arc<Connection>,
    /// How storages are cut into buffers, and how much of them kernels bind.
    pub cuts: Cuts,
    pub pool: Arc<Pool>,
    pub pipelines: Pipelines,
    pub recorder: Recorder,
    /// Buffers that the caller knows too.
    pub shared: Shared,
}

/// A GPU device. Handles with different `Math` share its state.
pub(crate) struct Gpu {
    pub(super) parts: Arc<Parts>,
    /// The target of plans: the adapter and this handle.
    pub(super) adapter: plan::Target,
    /// The plan cache.
    pub(super) plans: Arc<Plans<CachedPlan>>,
    /// The session that collects work for a caller's encoder, if any.
    pub(super) session: Option<Arc<Session>>,
}

/// Invocations of a workgroup.
fn workgroup(limits: &wgpu::Limits) -> u32 {
    let sides = limits.max_compute_workgroup_size_x.min(limits.max_compute_workgroup_size_y);
    let most = limits.max_compute_invocations_per_workgroup.min(sides).clamp(1, plan::WORKGROUP);
    1 << most.ilog2()
}

/// Whether a plan writes all elements of its results' buffers, and reads none of them.
fn writes_all(plan: &Plan, results: &[Bound<'_>]) -> bool {
    let kernel = &plan.kernel;
    let is_whole = |bound: &Bound<'_>| (bound.start, bound.size) == (0, bound.buffer.size);
    let is_new = || results.iter().all(|bound| is_whole(bound) && !bound.buffer.is_lent);
    let Form::Elements(own) = &kernel.form else { return is_new() };
    let elements = plan.elements();
    let covers = |(bound, stored): (&Bound<'_>, &Binding)| {
        is_whole(bound) && elements * stored.dtype.size() as u64 >= bound.buffer.held
    };
    own.fresh && is_new() || results.iter().zip(&kernel.stored).all(covers) && !kernel.code.reads_output()
}

/// Faults that follow from missing features.
fn lacking(connection: &Connection) -> Faults {
    Faults {
        half_rounding: !connection.has(wgpu::Features::SHADER_F16),
        longs: !connection.has(wgpu::Features::SHADER_INT64),
        fma: !drivers::has_fma(&connection.device.adapter_info()),
        splits: !drivers::keeps_fma(&connection.device.adapter_info()),
        doubles: connection.supports(DType::F64).is_err(),
        ..Faults::default()
    }
}

/// The target of plans before the adapter is tested.
fn target(connection: &Connection) -> plan::Target {
    let (limits, info) = (&connection.limits, connection.device.adapter_info());
    plan::Target {
        groups: limits.max_compute_workgroups_per_dimension,
        bindings: limits.max_storage_buffers_per_shader_stage,
        workgroup: workgroup(limits),
        faults: lacking(connection),
        math: Math::Precise,
        rate: (!drivers::is_software(&info)).then_some(budget::RATE),
        shared: limits.max_compute_workgroup_storage_size,
        registers: drivers::of(&info).registers,
    }
}

impl Gpu {
    /// The device state on a connection, for an adapter without faults. At most `pipelines` compiled kernels are kept.
    pub(super) fn new(connection: Connection, pipelines: usize) -> Result<Arc<Gpu>> {
        let adapter = target(&connection);
        let limits = &connection.limits;
        let (binding, align) = (limits::binding(limits), limits.min_storage_buffer_offset_alignment);
        let cuts = Cuts::new(limits.max_buffer_size - PADDING, binding, align.into(), MOST_ELEMENTS);
        let recorder = Recorder::new(&connection)?;
        let connection = Arc::new(connection);
        let pipelines = Pipelines::new(pipelines);
        let shared = Shared::default();
        let pool = Arc::new(Pool::new(&connection));
        let parts = Parts { connection, cuts, pool, pipelines, recorder, shared };
        Ok(Arc::new(Gpu::of(Arc::new(parts), adapter)))
    }

    /// A handle of a device, with a target for its plans.
    pub(super) fn of(parts: Arc<Parts>, adapter: plan::Target) -> Gpu {
        Gpu { parts, adapter, plans: Arc::default(), session: None }
    }

    /// Whether the adapter is the host's processor.
    pub(super) fn is_software(&self) -> bool {
        drivers::is_software(&self.parts.connection.device.adapter_info())
    }

    /// How work is cut: by bindings, and by time.
    pub(super) fn cuts(&self) -> Cuts {
        self.parts.cuts.within(budget::of_dispatch(self.adapter.rate))
    }

    /// A handle of the same device with another target.
    pub(super) fn with_target(&self, adapter: plan::Target) -> Gpu {
        Gpu { session: self.session.clone(), ..Gpu::of(self.parts.clone(), adapter) }
    }

    /// Encodes the work that `work` records with a handle of the same device. Recorded work is submitted before. If
    /// `work` fails, nothing of it is encoded.
    pub(crate) fn record_into<T>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        work: impl FnOnce(&Arc<Gpu>) -> Result<T>,
    ) -> Result<T> {
        let Parts { connection, pool, recorder, .. } = &*self.parts;
        recorder.flush(connection);
        connection.check()?;
        let session = Arc::new(Session::new(pool.clone()));
        let (parts, plans) = (self.parts.clone(), self.plans.clone());
        let handle = Arc::new(Gpu { parts, adapter: self.adapter, plans, session: Some(session.clone()) });
        let made = work(&handle)?;
        session.encode(connection, encoder)?;
        Ok(made)
    }

    /// wgpu's device and its queue.
    pub(crate) fn wgpu(&self) -> (wgpu::Device, wgpu::Queue) {
        self.parts.connection.share();
        (self.parts.connection.device.clone(), self.parts.connection.queue.clone())
    }

    /// Whether the adapter computes what a program does. One without f64 moves its elements.
    pub(super) fn supports(&self, program: &Program) -> Result<()> {
        let connection = &self.parts.connection;
        if let Some(what) = program.adds(DType::F64).filter(|_| self.adapter.faults.doubles) {
            return Err(self.lacks_f64(what));
        }
        let (turns, most) = (program.turns(), connection.driver.turns);
        if turns > most {
            bail!(
                Limit,
                "a loop of {turns} iterations in all, and {} ends a kernel after {most}: run it in parts that begin with the last part's result",
                connection.name()
            );
        }
        program.steps.iter().try_for_each(|step| self.supports_step(step))
    }

    /// Whether it computes with every type of a step, and of steps within it.
    fn supports_step(&self, step: &Step) -> Result<()> {
        match &step.body {
            Some(Body::Function(function)) if function.written().is_none() => bail!(
                Operation,
                "{} has no WGSL and cannot run on {}: make it by Function::new, or evaluate on Device::cpu()",
                function.name(),
                self.parts.connection.name()
            ),
            Some(Body::Loop(own)) => own.steps.iter().try_for_each(|step| self.supports_step(step))?,
            _ => {}
        }
        match self.adapter.faults.doubles && step.computes_f64() {
            true => Err(self.lacks_f64(step.name())),
            false => Ok(()),
        }
    }

    pub(super) fn lacks_f64(&self, what: &str) -> Error {
        let name = self.parts.connection.name();
        let remedy = "cast to f32, or compute on Device::cpu()";
        let text = format!("{what} of f64 needs the feature SHADER_F64, which {name} lacks: {remedy}");
        Error::new(ErrorKind::Limit, text)
    }

    /// A buffer of `size` bytes, `held` of them for elements, from the pool or new.
    fn allocate(&self, size: u64, held: u64) -> Result<Buffer> {
        let Parts { connection, pool, cuts, recorder, .. } = &*self.parts;
        recorder.leave_gap(connection);
        let class = pool::class(size).min(cuts.buffer());
        let (raw, epoch) = match pool.take(class) {
            Some(found) => found,
            None => {
                recorder.set_apart(connection);
                (self.with_memory(|| connection.create(class)).inspect_err(|_| pool.untake(class))?, 0)
            }
        };
        let buffer = Buffer::new(connection, pool, (raw, epoch), (size, held.min(size)), false);
        if self.session.is_some() {
            // Encoded work may run before work that is recorded now.
            recorder.flush_uses(connection, &buffer);
        }
        Ok(buffer)
    }

    /// A storage of `bytes` bytes. If they exceed the largest buffer, it is several buffers, cut by `Cuts`.
    pub(super) fn storage(self: &Arc<Self>, bytes: usize, dtype: DType) -> Result<Storage> {
        self.parts.connection.check()?;
        let elements = bytes / dtype.size();
        let mut sizes = self.parts.cuts.buffers(bytes as u64);
        let mut rest = bytes as u64;
        let mut allocate = |size| {
            let held = rest;
            rest = rest.saturating_sub(size);
            self.allocate(size, held)
        };
        let first = allocate(sizes.next().unwrap_or_default())?;
        let Some(second) = sizes.next() else { return Ok(Storage::new(self.clone(), elements, first)) };
        self.can_have(bytes as u64)?;
        let mut all: Vec<Memory> = vec![Arc::new(first)];
        for size in std::iter::once(second).chain(sizes) {
            all.push(Arc::new(allocate(size)?));
        }
        Ok(Storage::new(self.clone(), elements, Buffers(all)))
    }

    /// Fails if `bytes` bytes take several buffers and there is no memory for them.
    pub(super) fn can_have(&self, bytes: u64) -> Result<()> {
        match bytes <= self.parts.cuts.buffer() {
            true => Ok(()),
            false => self.with_memory(|| self.parts.connection.can_have(bytes)),
        }
    }

    /// Does work that takes memory. If there is none, it frees idle buffers, waits for running work, and tries once
    /// more.
    fn with_memory<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        work().or_else(|error| {
            if error.kind() != ErrorKind::Memory || !self.parts.connection.waits {
                return Err(error);
            }
            self.parts.pool.clear();
            self.finish()?;
            work()
        })
    }

    /// A storage of `bytes` packed elements.
    pub(super) fn upload(self: &Arc<Self>, bytes: &[u8], dtype: DType) -> Result<Storage> {
        let storage = self.storage(bytes.len(), dtype)?;
        self.fill(&storage, 0, bytes, &mut false)?;
        Ok(storage)
    }

    /// Writes bytes to a storage, from an aligned byte on. Bytes after them in the last word are lost. Sets `begun`
    /// when it has begun to write.
    pub(super) fn fill(&self, storage: &Storage, start: usize, bytes: &[u8], begun: &mut bool) -> Result<()> {
        let Parts { connection, recorder, cuts, .. } = &*self.parts;
        self.with_memory(|| connection.make_sure_of(bytes.len().min(2 * transfer::PORTION) as u64))?;
        let buffers = buffers(storage)?;
        let mut rest = bytes;
        for (number, at, end) in cuts.stretch(start as u64, (start + bytes.len()) as u64) {
            let (part, after) = rest.split_at((end - at) as usize);
            rest = after;
            if let Some(buffer) = buffers.get(number) {
                transfer::write((connection, recorder), buffer, at, part, begun)?;
            }
        }
        Ok(())
    }

    /// Begins to read `length` bytes of a storage.
    pub(super) fn begin_read(&self, storage: &Storage, start: usize, length: usize) -> Result<Transfer> {
        let Parts { connection, recorder, cuts, .. } = &*self.parts;
        let source = Source { buffers: &buffers(storage)?, cuts: *cuts };
        self.with_memory(|| Transfer::begin(connection, recorder, source, start, length))
    }

    /// The pipeline of a kernel.
    pub(super) fn pipeline(&self, kernel: &Kernel) -> Result<Arc<Compiled>> {
        let Parts { connection, pipelines, recorder, .. } = &*self.parts;
        if !connection.waits && !pipelines.has(kernel) {
            recorder.set_apart(connection);
        }
        pipelines.get(connection, kernel)
    }

    /// Records a plan with the words of its uniform block and its bindings, the results first.
    pub(super) fn record(
        &self,
        plan: &Plan,
        words: &[u32],
        compiled: &Arc<Compiled>,
        all: &[Bound<'_>],
    ) -> Result<()> {
        let Parts { connection, pool, recorder, .. } = &*self.parts;
        compiled.fate.check()?;
        recorder.leave_gap(connection);
        let results = all.len() - plan.kernel.bindings.len();
        let whole = connection.waits && self.session.is_none() && writes_all(plan, &all[..results]);
        let work = Work { plan, words, compiled, bound: all, whole };
        match &self.session {
            Some(session) => session.record(connection, work)?,
            None => recorder.record(connection, pool, self.adapter.rate, work)?,
        }
        Ok(())
    }

    /// Clears the poison of a storage, if `bytes` covers all of it and is about to be written. Returns whether it was
    /// poisoned.
    pub(super) fn heal(&self, storage: &Storage, bytes: u64) -> Result<bool> {
        let Parts { connection, recorder, .. } = &*self.parts;
        let own = buffers(storage)?;
        // In a browser the memory may not even exist.
        if !connection.waits || own.iter().all(|buffer| buffer.check(connection).is_ok()) {
            return Ok(false);
        }
        if bytes < own.iter().map(|buffer| buffer.held).sum() {
            return Ok(false);
        }
        // A recorded kernel that fails later poisons the storage before that.
        recorder.flush(connection);
        own.iter().for_each(|buffer| buffer.poison.clear());
        Ok(true)
    }

    /// Waits until all recorded work has run.
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
