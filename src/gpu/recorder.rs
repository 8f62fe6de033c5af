//! Recording: kernels queue up on the host and go to the device many at a time.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::buffer::{Buffer, Window};
use super::connection::Connection;
use super::dispatch::Dispatch;
use super::lock::lock;
use super::pipelines::Compiled;
use super::pool::Pool;
use super::profile::{self, Pending};
use crate::error::{Result, bail};
use crate::expr::KernelTime;
use crate::plan::Plan;

/// Result bytes after which a recording is submitted, so that a device does not idle while the
/// host records.
const MOST_BYTES: u64 = 32 << 20;

/// Bytes of uniform blocks in one recording.
const UNIFORM_BYTES: u64 = 256 << 10;

/// Where work is recorded, and submitted in the order of its recording: so a buffer may be used again
/// as soon as the last handle to it is gone.
#[derive(Debug)]
pub(super) struct Recorder {
    recording: Mutex<Recording>,
    uniform_buffer: wgpu::Buffer,
    /// The most bytes of one uniform block.
    most_uniforms: u64,
}

/// Work that is recorded and not submitted yet.
#[derive(Debug)]
struct Recording {
    dispatches: Vec<Dispatch>,
    result_bytes: u64,
    uniforms: Vec<u8>,
    /// Its number; buffers remember it.
    epoch: u64,
    /// Times of kernels, where they are wanted.
    times: Option<Vec<Pending>>,
}

impl Recorder {
    pub(super) fn new(connection: &Connection) -> Result<Self> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let recording = Recording {
            dispatches: Vec::new(),
            result_bytes: 0,
            uniforms: Vec::new(),
            epoch: 1,
            times: None,
        };
        Ok(Recorder {
            recording: Mutex::new(recording),
            uniform_buffer: connection.create_for(UNIFORM_BYTES, usage)?,
            most_uniforms: connection.limits.max_uniform_buffer_binding_size.min(UNIFORM_BYTES),
        })
    }

    /// Submits what was recorded, without waiting for it.
    pub(super) fn flush(&self, connection: &Connection) {
        self.submit(connection, &mut lock(&self.recording));
    }

    /// Submits what was recorded if it uses the buffer, before a write that does not queue up.
    pub(super) fn flush_uses(&self, connection: &Connection, buffer: &Buffer) {
        let mut recording = lock(&self.recording);
        if buffer.epoch.load(Ordering::Relaxed) == recording.epoch {
            self.submit(connection, &mut recording);
        }
    }

    /// Submits what was recorded, and what `more` encodes after it.
    pub(super) fn submit_with(
        &self,
        connection: &Connection,
        more: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> wgpu::SubmissionIndex {
        let mut recording = lock(&self.recording);
        let mut encoder = self.encode(connection, &mut recording);
        more(&mut encoder);
        connection.queue.submit([encoder.finish()])
    }

    /// Records a plan whose kernel is compiled. `windows` are what it binds, the results first.
    pub(super) fn record(
        &self,
        connection: &Connection,
        pool: &Pool,
        plan: &Plan,
        compiled: &Compiled,
        windows: &[Window],
    ) -> Result<()> {
        if compiled.uniform_size > self.most_uniforms {
            bail!(
                Limit,
                "an expression needs {} bytes of uniforms, and {} has {} (max_uniform_buffer_binding_size): evaluate a part of it first",
                compiled.uniform_size,
                connection.name(),
                self.most_uniforms
            );
        }
        let align = connection.limits.min_uniform_buffer_offset_alignment as usize;
        let mut recording = lock(&self.recording);
        let start = recording.uniforms.len().next_multiple_of(align);
        if start as u64 + compiled.uniform_size > UNIFORM_BYTES {
            self.submit(connection, &mut recording);
        }
        let start = recording.uniforms.len().next_multiple_of(align);
        recording.uniforms.resize(start, 0);
        recording.uniforms.extend_from_slice(bytemuck::cast_slice(&plan.launch.words));
        recording.uniforms.resize(start + compiled.uniform_size as usize, 0);

        let bound = |window: &Window| (window.buffer.raw.clone(), window.start, window.size);
        let key = (compiled.layout.clone(), windows.iter().map(bound).collect());
        let bind_group = pool.group(key, || self.bind_group(connection, compiled, windows));
        let steps = || plan.kernel.steps.iter().map(|step| step.op.name()).collect::<Vec<_>>().join(", ");
        let name = recording.times.is_some().then(steps);
        windows.iter().for_each(|window| window.buffer.epoch.store(recording.epoch, Ordering::Relaxed));
        recording.dispatches.push(Dispatch {
            pipeline: compiled.pipeline.clone(),
            bind_group,
            offset: start as u32,
            groups: plan.launch.groups,
            name,
        });
        let results = &windows[..plan.kernel.stored().len()];
        recording.result_bytes += results.iter().map(|window| window.size).sum::<u64>();
        if recording.dispatches.len() >= connection.driver.dispatches || recording.result_bytes >= MOST_BYTES
        {
            self.submit(connection, &mut recording);
        }
        Ok(())
    }

    fn bind_group(
        &self,
        connection: &Connection,
        compiled: &Compiled,
        windows: &[Window],
    ) -> wgpu::BindGroup {
        let uniform = wgpu::BufferBinding {
            buffer: &self.uniform_buffer,
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
        connection.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &compiled.layout,
            entries: &entries,
        })
    }

    /// Encodes a recording and begins the next.
    fn encode(&self, connection: &Connection, recording: &mut Recording) -> wgpu::CommandEncoder {
        let device = &connection.device;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        if !recording.dispatches.is_empty() {
            // Written before the kernels run, and after those of the last submission did.
            connection.queue.write_buffer(&self.uniform_buffer, 0, &recording.uniforms);
            if let Some(times) = &mut recording.times {
                let dispatches = std::mem::take(&mut recording.dispatches);
                times.push(profile::encode(device, &mut encoder, dispatches));
            }
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            let mut set = None;
            for dispatch in &recording.dispatches {
                dispatch.encode(&mut pass, set);
                set = Some(&dispatch.pipeline);
            }
            drop(pass);
            recording.dispatches.clear();
        }
        recording.uniforms.clear();
        recording.result_bytes = 0;
        recording.epoch += 1;
        encoder
    }

    fn submit(&self, connection: &Connection, recording: &mut Recording) {
        if !recording.dispatches.is_empty() {
            let commands = self.encode(connection, recording).finish();
            connection.queue.submit([commands]);
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
    pub(super) fn end_times(&self, connection: &Connection) -> Result<Vec<KernelTime>> {
        let mut recording = lock(&self.recording);
        self.submit(connection, &mut recording);
        let times = recording.times.take().unwrap_or_default();
        drop(recording);
        profile::read(connection, times)
    }
}
