//! One opened adapter: its device, its queue of recorded work, and what went wrong on it.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::adapters::Found;
use super::cache::DiskCache;
use super::dispatch::Recorder;
use super::pipeline::Pipelines;
use super::pool::Pool;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result, bail};
use crate::expr::{Backend, Program, Storage};
use crate::plan::{self, Destination, Plan};

/// A GPU device. Work is recorded and submitted in order, so a buffer may be reused as soon as
/// the last handle to it is gone: what used it was recorded before what will.
pub(crate) struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: wgpu::Limits,
    features: wgpu::Features,
    pub(super) pipelines: Mutex<Pipelines>,
    pub(super) recorder: Mutex<Recorder>,
    pub(super) pool: Mutex<Pool>,
    pub(super) disk: Mutex<Option<DiskCache>>,
    name: String,
    failures: Arc<Failures>,
    blocks: u32,
    pairs: bool,
    flushes: OnceLock<bool>,
    /// Whether functions are computed by the builtins.
    pub(super) fast: AtomicBool,
}

/// What wgpu reports outside of any call.
#[derive(Debug, Default)]
struct Failures {
    lost: OnceLock<String>,
    fault: Mutex<Option<String>>,
}

/// Memory of a device: a storage's buffer.
pub(super) struct Buffer {
    pub raw: wgpu::Buffer,
    /// Bytes that are bound: what was asked for, rounded up to whole vectors.
    pub size: u64,
    /// The recording in which it was last used.
    pub epoch: AtomicU64,
    gpu: Arc<Gpu>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let epoch = self.epoch.load(Ordering::Relaxed);
        lock(&self.gpu.pool).give_back(self.raw.clone(), epoch);
    }
}

/// A lock whose data stays usable after a panic elsewhere.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    pub(crate) async fn open(found: &Found) -> Result<Arc<Gpu>> {
        let info = found.adapter.get_info();
        let name = format!("{} ({})", info.name, found.backend);
        let software = found.kind == super::AdapterKind::Cpu;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("zerostride"),
            required_features: found.adapter.features()
                & (wgpu::Features::SHADER_INT64
                    | wgpu::Features::SHADER_F64
                    | wgpu::Features::TIMESTAMP_QUERY
                    | wgpu::Features::PIPELINE_CACHE),
            required_limits: found.adapter.limits(),
            memory_hints: match software {
                true => wgpu::MemoryHints::MemoryUsage,
                false => wgpu::MemoryHints::Performance,
            },
            ..Default::default()
        };
        let (device, queue) = match found.adapter.request_device(&descriptor).await {
            Ok(opened) => opened,
            Err(error) => bail!(Device, "the adapter {name} does not open: {error}"),
        };
        // Measured: on a processor starting an invocation costs as much as a few loads. llvmpipe gains
        // by eight rows per invocation, SwiftShader runs out of registers.
        // llvmpipe loads lane by lane, so a word of 64 bits is one load where two of 32 are two.
        let (blocks, pairs) = match software {
            true if info.name.contains("llvmpipe") => {
                (8, descriptor.required_features.contains(wgpu::Features::SHADER_INT64))
            }
            true => (4, false),
            false => (1, false),
        };
        let failures = Arc::new(Failures::default());
        let lost = failures.clone();
        device.set_device_lost_callback(move |reason, message| {
            let _ = lost.lost.set(format!("{reason:?}: {message}"));
        });
        let fault = failures.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            log::error!("{error}");
            lock(&fault.fault).get_or_insert_with(|| error.to_string());
        }));
        let (limits, features) = (device.limits(), device.features());
        let recorder = Mutex::new(Recorder::new(&device, &limits, software));
        Ok(Arc::new(Gpu {
            device,
            queue,
            limits,
            features,
            pipelines: Mutex::default(),
            recorder,
            pool: Mutex::default(),
            disk: Mutex::default(),
            name,
            failures,
            blocks,
            pairs,
            flushes: OnceLock::new(),
            fast: AtomicBool::new(false),
        }))
    }

    pub(super) fn has(&self, feature: wgpu::Features) -> bool {
        self.features.contains(feature)
    }

    pub(super) fn label(&self) -> &str {
        &self.name
    }

    /// Fails when the device is lost, or reported an error since the last check.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(reason) = self.failures.lost.get() {
            bail!(Lost, "the device {} was lost ({reason}): open it again and upload anew", self.name);
        }
        match lock(&self.failures.fault).take() {
            Some(fault) => bail!(Kernel, "the device {} reports: {fault}", self.name),
            None => Ok(()),
        }
    }

    /// What plans must know of this adapter. It asks the adapter once, by a kernel of its own,
    /// where no limit tells.
    pub(super) fn adapter(self: &Arc<Self>) -> plan::Adapter {
        let known = plan::Adapter {
            groups: self.limits.max_compute_workgroups_per_dimension,
            bindings: self.limits.max_storage_buffers_per_shader_stage,
            flushes: false,
            math: self.math(),
            blocks: self.blocks,
            pairs: self.pairs,
        };
        let flushes = *self.flushes.get_or_init(|| {
            self.loses_the_least_float(known).unwrap_or_else(|error| {
                log::warn!("{}: cannot tell whether subnormals are flushed: {error}", self.name);
                false
            })
        });
        plan::Adapter { flushes, ..known }
    }

    /// Whether 2^-126 (1 - 2^-24) becomes 0, which rounds to 2^-126.
    fn loses_the_least_float(self: &Arc<Self>, adapter: plan::Adapter) -> Result<bool> {
        if cfg!(target_arch = "wasm32") {
            return Ok(false); // it could not wait for the answer
        }
        let operands = [f32::MIN_POSITIVE, 1.0 - f32::EPSILON / 2.0];
        let operands = self.clone().upload(bytemuck::cast_slice(&operands), DType::F32)?;
        let program = Program::product_of_two(operands)?;
        let result = self.allocate(4)?;
        let storage = Storage::new(self.clone(), 1, result);
        self.record(&Plan::new(&program, Destination::Fresh, adapter)?, std::slice::from_ref(&storage))?;
        Ok(self.clone().read_now(&storage, DType::F32, 0, 1)?.iter().all(|&byte| byte == 0))
    }

    /// Fails for an element type that the adapter does not compute with.
    pub(super) fn supports(&self, dtype: DType) -> Result<()> {
        let needed = match dtype {
            DType::I64 | DType::U64 => wgpu::Features::SHADER_INT64,
            // f64 is tested, split and converted by its bits.
            DType::F64 => wgpu::Features::SHADER_F64 | wgpu::Features::SHADER_INT64,
            _ => return Ok(()),
        };
        let lacking = needed - self.features;
        if !lacking.is_empty() {
            bail!(
                Limit,
                "{dtype} needs the feature {lacking}, which {} lacks: use a type of 32 bits, or Device::cpu()",
                self.name
            );
        }
        Ok(())
    }

    /// Whether every type of a program is one that the adapter computes with.
    pub(super) fn supports_all(&self, program: &Program) -> Result<()> {
        program.inputs.iter().try_for_each(|input| self.supports(input.dtype))?;
        program.steps.iter().try_for_each(|step| self.supports(step.result))
    }

    /// A buffer for `bytes` bytes, from the pool or new.
    pub(super) fn allocate(self: &Arc<Self>, bytes: usize) -> Result<Buffer> {
        self.check()?;
        // Whole vectors, so that a wide access of the last element stays inside.
        let size = (bytes as u64).max(1).next_multiple_of(32);
        let limit = self.limits.max_buffer_size;
        if size > limit {
            bail!(
                Limit,
                "a tensor of {bytes} bytes exceeds the {limit} that {} holds in one buffer (max_buffer_size): work on slices of it",
                self.name
            );
        }
        let taken = lock(&self.pool).take(size);
        let (raw, epoch) = match taken {
            Some(found) => found,
            None => (self.create(super::pool::class(size))?, 0),
        };
        Ok(Buffer { raw, size, epoch: AtomicU64::new(epoch), gpu: self.clone() })
    }

    fn create(&self, size: u64) -> Result<wgpu::Buffer> {
        let size = size.min(self.limits.max_buffer_size);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let create = || self.create_scoped(size, usage);
        create().or_else(|_| {
            // Memory may be held by what waits to be reused, or by work that is not done yet.
            lock(&self.pool).clear();
            self.finish()?;
            create()
        })
    }

    /// A new buffer, or the error that there is no memory for it.
    pub(super) fn create_scoped(&self, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&descriptor);
        match pollster::block_on(scope.pop()) {
            None => Ok(buffer),
            Some(_) => {
                bail!(Memory, "{} has no memory for {size} bytes: drop tensors or work on slices", self.name)
            }
        }
    }

    /// Waits until everything that was recorded has run.
    pub(super) fn finish(&self) -> Result<()> {
        self.flush();
        if let Err(error) = self.device.poll(wgpu::PollType::wait_indefinitely()) {
            self.check()?;
            bail!(Lost, "the device {} does not answer: {error}", self.name);
        }
        self.check()
    }
}

/// The buffer of a storage that this backend made.
pub(super) fn buffer(storage: &Storage) -> Result<Arc<Buffer>> {
    let foreign = || Error::new(ErrorKind::Device, "a tensor of another device reached the GPU");
    storage.buffer.clone().downcast::<Buffer>().map_err(|_| foreign())
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
