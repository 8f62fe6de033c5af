//! Programs with a wgpu device of their own, as callers of this crate have: on every adapter, with its own limits, with
//! WebGPU's and with lower ones. wgpu's validation is always on, and Vulkan's layer if it is there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, OnceLock};

use zerostride::{Device, wgpu};

/// A program's device.
pub struct Program {
    pub name: String,
    /// The number of its adapter.
    number: usize,
    pub adapter: wgpu::Adapter,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    /// The crate's device over it.
    pub ours: Device,
}

/// Errors that reached the program's own callback. None may be of this crate.
static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Messages of wgpu, its backends and validation layers.
static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Whether Vulkan's layer was heard, which greets an instance.
static HAS_LAYER: AtomicBool = AtomicBool::new(false);

/// The message of a layer before 1.3.261 for every kernel, because it does not know WGSL's number in SPIR-V.
const UNKNOWN_LANGUAGE: &str = "SPIR-V module not valid: Invalid source language operand: 10";

struct Listener;

impl log::Log for Listener {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Debug
    }

    fn log(&self, record: &log::Record<'_>) {
        if record.level() > log::Level::Warn {
            if record.args().to_string().contains("Khronos Validation Layer Active") {
                HAS_LAYER.store(true, Ordering::Relaxed);
            }
            return;
        }
        let text = record.args().to_string();
        // An indented line belongs to a message.
        if !text.starts_with('\t') && !text.ends_with(UNKNOWN_LANGUAGE) {
            MESSAGES.lock().unwrap().push(format!("{} {}: {text}", record.level(), record.target()));
        }
    }

    fn flush(&self) {}
}

/// Hears every message from now on.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Listener).unwrap();
        log::set_max_level(log::LevelFilter::Warn);
    });
}

/// Fails if there was a message, or an error in a program's callback.
pub fn nothing_was_said(name: &str) {
    let (errors, messages) = (ERRORS.lock().unwrap().clone(), MESSAGES.lock().unwrap().clone());
    assert!(errors.is_empty(), "{name}: the owner was told {errors:#?}");
    assert!(messages.is_empty(), "{name}: wgpu says {messages:#?}");
}

/// An instance with validation on, that is heard. `ZEROSTRIDE_VALIDATION` says that Vulkan's layer is there.
pub fn instance() -> wgpu::Instance {
    listen();
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    // wgpu takes the layer by the second, and listens to it only with the first.
    descriptor.flags = wgpu::InstanceFlags::VALIDATION | wgpu::InstanceFlags::DEBUG;
    // The layer's greeting comes at this level.
    log::set_max_level(log::LevelFilter::Debug);
    let instance = wgpu::Instance::new(descriptor);
    log::set_max_level(log::LevelFilter::Warn);
    if !HAS_LAYER.load(Ordering::Relaxed) {
        assert!(
            std::env::var_os("ZEROSTRIDE_VALIDATION").is_none(),
            "Vulkan's validation layer is not heard"
        );
        println!("without Vulkan's validation layer: only wgpu's own checks are heard");
    }
    instance
}

/// Whether an adapter has a language for kernels, which OpenGL has from 4.3 on: of NVIDIA wgpu gets 3.3 alone, and says that
/// it has kernels.
fn has_kernels(info: &wgpu::AdapterInfo) -> bool {
    let version: Vec<Option<u32>> =
        info.driver_info.split(['.', ' ']).take(2).map(|number| number.parse().ok()).collect();
    match version[..] {
        [Some(major), Some(minor)] if info.backend == wgpu::Backend::Gl => (major, minor) >= (4, 3),
        _ => true,
    }
}

/// The adapters of an instance that run kernels.
pub fn adapters(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    // Adapters are looked for by this crate first: doing so while GL is in use fails inside of wgpu.
    let known = Device::all().len() - 1;
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.retain(|adapter| {
        adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
            && has_kernels(&adapter.get_info())
    });
    assert_eq!(adapters.len(), known, "as many as this crate finds");
    adapters
}

/// Opens an adapter as a program would that knows nothing of this crate, with callbacks of its own.
pub fn open(
    adapter: &wgpu::Adapter,
    required_features: wgpu::Features,
    required_limits: wgpu::Limits,
) -> (wgpu::Device, wgpu::Queue) {
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        label: Some("a program's"),
        required_features,
        required_limits,
        memory_hints: wgpu::MemoryHints::MemoryUsage,
        ..Default::default()
    }))
    .unwrap();
    device.on_uncaptured_error(std::sync::Arc::new(|error: wgpu::Error| {
        ERRORS.lock().unwrap().push(error.to_string());
    }));
    (device, queue)
}

/// Every adapter with the features and limits of `Device::wants`, with WebGPU's default limits and no feature if it has
/// these limits, and with downlevel limits.
pub fn programs() -> &'static [Program] {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let instance = instance();
        let mut programs = Vec::new();
        let adapters = adapters(&instance);
        // What EGL says of drivers that it does not find is no program's.
        MESSAGES.lock().unwrap().clear();
        for (number, adapter) in adapters.into_iter().enumerate() {
            let has = adapter.limits();
            let (features, limits) = Device::wants(&adapter);
            // Something of the program's own.
            let features = features | adapter.features() & wgpu::Features::TEXTURE_FORMAT_16BIT_NORM;
            let mut kinds = vec![("all", features, limits)];
            let alignments = |limits: wgpu::Limits| limits.using_alignment(has.clone());
            let default = alignments(wgpu::Limits::defaults());
            if default.check_limits(&has) {
                kinds.push(("webgpu", wgpu::Features::empty(), default));
            }
            let downlevel = alignments(wgpu::Limits::downlevel_defaults());
            kinds.push(("downlevel", wgpu::Features::empty(), downlevel));
            for (kind, features, limits) in kinds {
                let (device, queue) = open(&adapter, features, limits);
                let ours = Device::from_wgpu(&device, &queue).unwrap();
                let name = format!("{} {kind}", ours.name());
                programs.push(Program { name, number, adapter: adapter.clone(), device, queue, ours });
            }
        }
        programs
    })
}

/// Runs a test in every program, and in silence; in a quick run in those of one adapter in turn. One test at a time, as they
/// look at the memory of a device.
#[track_caller]
pub fn in_every_program(test: impl Fn(&Program)) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let place = super::place();
    for program in programs().iter().filter(|program| super::is_in_turn(place, program.number)) {
        test(program);
        let _ = program.device.poll(wgpu::PollType::wait_indefinitely());
        super::check_kernels(&program.ours);
        nothing_was_said(&program.name);
    }
}

impl Program {
    /// A buffer of bytes, a whole number of words of them.
    pub fn buffer(&self, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("a program's"),
            size: bytes.len() as u64,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    pub fn submit(&self, encoder: wgpu::CommandEncoder) {
        self.queue.submit([encoder.finish()]);
    }

    /// The bytes of a buffer with `COPY_SRC`, as the program reads them.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Vec<u8> {
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        self.submit(encoder);
        staging.map_async(wgpu::MapMode::Read, .., |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        staging.get_mapped_range(..).unwrap().to_vec()
    }

    /// A pipeline of the program's own that adds to every word of a buffer.
    pub fn adder(&self, number: u32) -> wgpu::ComputePipeline {
        self.pipeline(&format!("all[id.x] += {number}u;"))
    }

    /// The program's own pipeline. `body` is the code of an invocation `id` over the words `all` of a buffer.
    pub fn pipeline(&self, body: &str) -> wgpu::ComputePipeline {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> all: array<u32>;
            @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ {body} }}"
        );
        let source = wgpu::ShaderSource::Wgsl(text.into());
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    }

    /// Encodes a pass of the program's that runs a pipeline over words of a binding.
    pub fn pass(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipeline: &wgpu::ComputePipeline,
        resource: wgpu::BindingResource<'_>,
        words: u32,
    ) {
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource }],
        });
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(words, 1, 1);
    }
}
