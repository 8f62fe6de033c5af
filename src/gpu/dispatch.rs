//! Recording: kernels queue up on the host and go to the device many at a time.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::context::{Buffer, Gpu, lock};
use super::pipeline::Compiled;
use super::profile::{self, Pending};
use super::split::{Window, window};
use crate::dtype::DType;
use crate::error::{ErrorKind, Result, bail};
use crate::expr::{Backend, HostBytes, Input, KernelTime, Math, Memory, Program, Reading, Source, Storage};
use crate::layout::Layout;
use crate::plan::hoist::{self, Part};
use crate::plan::{self, Destination, Plan};
use crate::wgsl;

/// Kernels after which a recording is submitted: on a GPU, so that it does not idle while the host
/// records, and on an adapter that is the host itself, which a submission only interrupts (lavapipe:
/// 1000 small kernels in 37 ms and not 48).
const MOST_DISPATCHES: usize = 256;
const MOST_DISPATCHES_OF_SOFTWARE: usize = 1024;

/// Result bytes after which a recording is submitted, so that a device does not idle while the
/// host records.
const MOST_BYTES: u64 = 32 << 20;

/// Bytes of uniform blocks in one recording.
const UNIFORM_BYTES: u64 = 256 << 10;

pub(super) struct Dispatch {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    offset: u32,
    groups: [u32; 3],
    /// Its steps, where it is timed.
    pub name: Option<String>,
}

impl Dispatch {
    /// Encodes it after one with the pipeline `set`.
    pub(super) fn encode(&self, pass: &mut wgpu::ComputePass<'_>, set: Option<&wgpu::ComputePipeline>) {
        if set != Some(&self.pipeline) {
            pass.set_pipeline(&self.pipeline);
        }
        pass.set_bind_group(0, &self.bind_group, &[self.offset]);
        let [x, y, z] = self.groups;
        pass.dispatch_workgroups(x, y, z);
    }
}

/// Work that is recorded and not submitted yet.
pub(super) struct Recorder {
    dispatches: Vec<Dispatch>,
    most_dispatches: usize,
    result_bytes: u64,
    uniforms: Vec<u8>,
    uniform_buffer: wgpu::Buffer,
    uniform_align: usize,
    /// The number of this recording; buffers remember it.
    epoch: u64,
    /// Times of kernels, where they are wanted.
    pub profile: Option<Vec<Pending>>,
}

impl Recorder {
    pub(super) fn new(device: &wgpu::Device, limits: &wgpu::Limits, software: bool) -> Self {
        let uniform_buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("uniforms"),
            size: UNIFORM_BYTES,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Recorder {
            dispatches: Vec::new(),
            most_dispatches: if software { MOST_DISPATCHES_OF_SOFTWARE } else { MOST_DISPATCHES },
            result_bytes: 0,
            uniforms: Vec::new(),
            uniform_buffer,
            uniform_align: limits.min_uniform_buffer_offset_alignment as usize,
            epoch: 1,
            profile: None,
        }
    }

    /// Encodes what was recorded and begins anew.
    pub(super) fn encode(&mut self, gpu: &Gpu) -> wgpu::CommandEncoder {
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        if !self.dispatches.is_empty() {
            // Written before the kernels run, and after those of the last submission did.
            gpu.queue.write_buffer(&self.uniform_buffer, 0, &self.uniforms);
            if let Some(pending) = &mut self.profile {
                let dispatches = std::mem::take(&mut self.dispatches);
                pending.push(profile::encode(gpu, &mut encoder, dispatches));
            }
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            let mut set = None;
            for dispatch in &self.dispatches {
                dispatch.encode(&mut pass, set);
                set = Some(&dispatch.pipeline);
            }
            drop(pass);
            self.dispatches.clear();
        }
        self.uniforms.clear();
        self.result_bytes = 0;
        self.epoch += 1;
        encoder
    }

    fn submit(&mut self, gpu: &Gpu) {
        if !self.dispatches.is_empty() {
            let commands = self.encode(gpu).finish();
            gpu.queue.submit([commands]);
        }
    }
}

impl Gpu {
    /// Submits what was recorded, without waiting for it.
    pub(super) fn flush(&self) {
        lock(&self.recorder).submit(self);
    }

    /// Submits what was recorded if it uses the buffer, before a write that does not queue up.
    pub(super) fn flush_uses(&self, buffer: &Buffer) {
        let mut recorder = lock(&self.recorder);
        if buffer.epoch.load(Ordering::Relaxed) == recorder.epoch {
            recorder.submit(self);
        }
    }

    /// Records a plan that writes to `results`.
    pub(super) fn record(&self, plan: &Plan, results: &[Storage]) -> Result<()> {
        let compiled = self.pipeline(&plan.kernel)?;
        let most = self.limits.max_uniform_buffer_binding_size.min(UNIFORM_BYTES);
        if compiled.uniform_size > most {
            bail!(
                Limit,
                "an expression needs {} bytes of uniforms, and {} has {most} (max_uniform_buffer_binding_size): evaluate a part of it first",
                compiled.uniform_size,
                self.label()
            );
        }
        let storages = results.iter().chain(&plan.storages);
        let windows: SmallVec<[Window; 8]> = storages.map(window).collect::<Result<_>>()?;

        let mut recorder = lock(&self.recorder);
        let start = recorder.uniforms.len().next_multiple_of(recorder.uniform_align);
        if start as u64 + compiled.uniform_size > UNIFORM_BYTES {
            recorder.submit(self);
        }
        let start = recorder.uniforms.len().next_multiple_of(recorder.uniform_align);
        recorder.uniforms.resize(start, 0);
        recorder.uniforms.extend_from_slice(bytemuck::cast_slice(&plan.launch.words));
        recorder.uniforms.resize(start + compiled.uniform_size as usize, 0);

        let bound = |window: &Window| (window.buffer.raw.clone(), window.start, window.size);
        let key = (compiled.layout.clone(), windows.iter().map(bound).collect());
        let bind_group =
            lock(&self.pool).group(key, || self.bind_group(&compiled, &recorder.uniform_buffer, &windows));
        let epoch = recorder.epoch;
        let steps = || plan.kernel.steps.iter().map(|step| step.op.name()).collect::<Vec<_>>().join(", ");
        let name = recorder.profile.is_some().then(steps);
        windows.iter().for_each(|window| window.buffer.epoch.store(epoch, Ordering::Relaxed));
        recorder.dispatches.push(Dispatch {
            pipeline: compiled.pipeline.clone(),
            bind_group,
            offset: start as u32,
            groups: plan.launch.groups,
            name,
        });
        recorder.result_bytes += windows[..results.len()].iter().map(|window| window.size).sum::<u64>();
        if recorder.dispatches.len() >= recorder.most_dispatches || recorder.result_bytes >= MOST_BYTES {
            recorder.submit(self);
        }
        Ok(())
    }
}

impl Gpu {
    fn bind_group(
        &self,
        compiled: &Compiled,
        uniforms: &wgpu::Buffer,
        windows: &[Window],
    ) -> wgpu::BindGroup {
        let uniform = wgpu::BufferBinding {
            buffer: uniforms,
            offset: 0,
            size: wgpu::BufferSize::new(compiled.uniform_size),
        };
        let storages = windows.iter().map(|window| wgpu::BufferBinding {
            buffer: &window.buffer.raw,
            offset: window.start,
            size: wgpu::BufferSize::new(window.size),
        });
        let bindings = std::iter::once(uniform).chain(storages).map(wgpu::BindingResource::Buffer);
        let entries: SmallVec<[wgpu::BindGroupEntry<'_>; 8]> = (0..)
            .zip(bindings)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &compiled.layout,
            entries: &entries,
        })
    }

    /// A program without its expensive parts over fewer elements: `each` makes the storages that it
    /// then reads these from.
    fn hoist<'a>(
        self: &Arc<Self>,
        program: &'a Program,
        mut each: impl FnMut(&Program) -> Result<Storage>,
    ) -> Result<Cow<'a, Program>> {
        let parts = hoist::parts(program)?;
        if parts.is_empty() {
            return Ok(Cow::Borrowed(program));
        }
        let with_storage = |part: Part| {
            let storage = each(&part.program)?;
            Ok((part, storage))
        };
        let parts = parts.into_iter().map(with_storage).collect::<Result<Vec<_>>>()?;
        Ok(Cow::Owned(hoist::without(program, &parts)?))
    }

    /// A storage for the result of a program.
    pub(super) fn result(self: &Arc<Self>, program: &Program) -> Result<Storage> {
        let bytes = program.byte_size()?;
        Ok(Storage::new(self.clone(), bytes / program.dtype.size(), self.allocate(bytes)?))
    }

    /// Kernels find the index of a small element by its address, which a layout must be nested for:
    /// one that is not is written in slices along its shortest axis.
    fn assign_nested(self: &Arc<Self>, program: &Program, storage: &Storage, layout: &Layout) -> Result<()> {
        if program.dtype.size() >= 4 || layout.is_nested() {
            return self.run(program, storage, layout, false);
        }
        let shape = layout.shape();
        let axis = (0..shape.rank()).filter(|&axis| shape[axis] > 1).min_by_key(|&axis| shape[axis]);
        let Some(axis) = axis else { return Ok(()) };
        (0..shape[axis] as isize).try_for_each(|i| {
            let part = layout.slice(axis as isize, i..i + 1, 1)?;
            self.assign_nested(&program.slice(axis as isize, i..i + 1)?, storage, &part)
        })
    }
}

impl Backend for Gpu {
    fn name(&self) -> String {
        self.label().into()
    }

    fn upload(self: Arc<Self>, bytes: &[u8], dtype: DType) -> Result<Storage> {
        self.supports(dtype)?;
        let buffer = self.allocate(bytes.len())?;
        self.write(&buffer, bytes)?;
        Ok(Storage::new(self, bytes.len() / dtype.size(), buffer))
    }

    fn eval(self: Arc<Self>, program: &Program) -> Result<Storage> {
        self.supports_all(program)?;
        let result = self.result(program)?;
        if !Plan::is_empty(&program.shape) {
            let program = self.hoist(program, |part| self.clone().eval(part))?;
            self.run(&program, &result, &Layout::contiguous(&program.shape)?, true)?;
        }
        self.check()?;
        Ok(result)
    }

    fn eval_all(self: Arc<Self>, program: &Program) -> Result<Vec<Storage>> {
        let each = || program.each(|one| self.clone().eval(one));
        self.supports_all(program)?;
        if Plan::is_empty(&program.shape) || program.results.len() == 1 || self.is_large(program)? {
            return each();
        }
        let rest = self.hoist(program, |part| self.clone().eval(part))?;
        let plan = match Plan::new(&rest, Destination::Fresh, self.adapter()) {
            Ok(plan) => plan,
            // More tensors than a kernel binds.
            Err(error) if error.kind() == ErrorKind::Limit => return each(),
            Err(error) => return Err(error),
        };
        let results = program.results.iter().map(|_| self.result(program)).collect::<Result<Vec<_>>>()?;
        self.record(&plan, &results)?;
        self.check()?;
        Ok(results)
    }

    fn assign(self: Arc<Self>, program: Program, storage: &Storage, layout: &Layout) -> Result<()> {
        self.supports_all(&program)?;
        if Plan::is_empty(&program.shape) {
            return Ok(());
        }
        let program = match program.conflicts(storage, layout) {
            false => program,
            true => {
                let result = self.clone().eval(&program)?;
                let layout = Layout::contiguous(&program.shape)?;
                Program::copy(Input { dtype: program.dtype, source: Source::Tensor(result), layout })
            }
        };
        let program = self.hoist(&program, |part| self.clone().eval(part))?;
        self.assign_nested(&program, storage, layout)?;
        self.check()
    }

    fn read(self: Arc<Self>, storage: &Storage, dtype: DType, offset: usize, count: usize) -> Reading {
        match self.begin_read(storage, offset * dtype.size(), count * dtype.size()) {
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
        self.begin_read(storage, offset * dtype.size(), count * dtype.size())?.wait()
    }

    fn synchronize(&self) -> Result<()> {
        self.finish()
    }

    fn prepare(self: Arc<Self>, program: &Program) -> Result<()> {
        self.supports_all(program)?;
        if !Plan::is_empty(&program.shape) {
            let program = self.hoist(program, |part| {
                self.clone().prepare(part)?;
                self.result(part)
            })?;
            self.plans(&program)?.iter().try_for_each(|plan| self.pipeline(&plan.kernel).map(drop))?;
        }
        self.check()
    }

    fn explain(self: Arc<Self>, program: &Program) -> Result<(String, Option<String>)> {
        self.supports_all(program)?;
        if Plan::is_empty(&program.shape) {
            return Ok(("runs: nothing, the result is empty\n".into(), None));
        }
        let mut text = String::new();
        let rest = self.hoist(program, |part| {
            let told = plan::tell(&self.plans(part)?);
            text += &format!("first, as it has fewer elements:\n{}{told}then:\n", part.describe());
            self.result(part)
        })?;
        if let Cow::Owned(rest) = &rest {
            text += &rest.describe();
        }
        let plans = self.plans(&rest)?;
        Ok((text + &plan::tell(&plans), plans.first().map(|plan| wgsl::emit(&plan.kernel))))
    }

    fn cache_pipelines(&self, directory: &Path) -> Result<bool> {
        self.use_cache(directory)
    }

    fn save_pipelines(&self) -> Result<()> {
        Gpu::save_pipelines(self)
    }

    fn begin_profile(&self) -> Result<()> {
        Gpu::begin_profile(self)
    }

    fn end_profile(&self) -> Result<Vec<KernelTime>> {
        Gpu::end_profile(self)
    }

    fn memory(&self) -> Memory {
        lock(&self.pool).memory()
    }

    fn set_math(&self, math: Math) {
        self.fast.store(math == Math::Fast, Ordering::Relaxed);
    }

    fn math(&self) -> Math {
        if self.fast.load(Ordering::Relaxed) { Math::Fast } else { Math::Precise }
    }

    fn kernels(&self) -> Vec<String> {
        lock(&self.pipelines).texts()
    }
}
