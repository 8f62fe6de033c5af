//! Hand-written kernels in plain wgpu, to compare the crate's kernels with.

use wgpu::util::DeviceExt;

use super::Failure;

/// The adapter of a device of the crate, opened without the crate.
pub(crate) fn raw_device(name: &str) -> Result<(wgpu::Device, wgpu::Queue), Failure> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let same = |adapter: &wgpu::Adapter| {
        let info = adapter.get_info();
        name == format!("{} ({})", info.name, info.backend.to_str())
    };
    let adapter = adapters.into_iter().find(same).ok_or("the adapter is not found again")?;
    let descriptor = wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
    Ok(pollster::block_on(adapter.request_device(&descriptor))?)
}

/// A buffer of numbers, for `array`s and for uniform blocks.
pub(crate) fn buffer<T: bytemuck::NoUninit>(device: &wgpu::Device, numbers: &[T]) -> wgpu::Buffer {
    device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: None,
        contents: bytemuck::cast_slice(numbers),
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_SRC,
    })
}

/// The kernel of a WGSL text, with the bindings of the text.
pub(crate) fn pipeline(device: &wgpu::Device, text: &str) -> wgpu::ComputePipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    })
}

/// Buffers for a kernel's bindings 0, 1 and so on.
pub(crate) fn group(
    device: &wgpu::Device,
    pipeline: &wgpu::ComputePipeline,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let entries: Vec<wgpu::BindGroupEntry> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    })
}

/// A kernel with its buffers and its grid.
pub(crate) struct Hand {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    workgroups: [usize; 2],
}

impl Hand {
    /// A WGSL text with buffers for its bindings 0, 1 and so on, and the number of workgroups along x and y.
    pub(crate) fn new(
        (device, queue): &(wgpu::Device, wgpu::Queue),
        text: &str,
        buffers: &[&wgpu::Buffer],
        workgroups: [usize; 2],
    ) -> Hand {
        let pipeline = pipeline(device, text);
        let group = group(device, &pipeline, buffers);
        Hand { device: device.clone(), queue: queue.clone(), pipeline, group, workgroups }
    }

    /// Submits it once.
    pub(crate) fn submit(&self) {
        self.submit_many(1);
    }

    /// Submits it a number of times, in one pass. A dispatch waits for the one before if both write one buffer.
    pub(crate) fn submit_many(&self, count: usize) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        let [x, y] = self.workgroups.map(|n| n as u32);
        for _ in 0..count {
            pass.dispatch_workgroups(x, y, 1);
        }
        drop(pass);
        self.queue.submit([encoder.finish()]);
    }

    /// Runs it once, to its end. A lost device makes the time absurd.
    pub(crate) fn run(&self) {
        self.submit();
        self.device.poll(wgpu::PollType::wait_indefinitely()).map(drop).unwrap_or_default();
    }
}
