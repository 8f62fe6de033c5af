//! WGSL as programs write it, on a device of this crate. The driver's compiler may rewrite its arithmetic.

use zerostride::Device;

/// The words of a storage buffer at binding 0 of group 0 after each of some dispatches of an entry point `main`, one after
/// another. The buffer begins with `words`. The CPU path has no WGSL, so there is none.
#[cfg(feature = "gpu")]
pub(crate) fn run(
    device: &Device,
    wgsl: &str,
    words: &[u32],
    workgroups: u32,
    dispatches: usize,
) -> Option<Vec<u32>> {
    use zerostride::wgpu::{self, BufferUsages as Usage};

    let (gpu, queue) = device.wgpu()?;
    let module = gpu.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("plain"),
        source: wgpu::ShaderSource::Wgsl(wgsl.into()),
    });
    let pipeline = gpu.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("plain"),
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let size = (words.len() * 4) as u64;
    let buffer = |count: usize, usage| {
        let size = size * count as u64;
        gpu.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let state = buffer(1, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST);
    let trace = buffer(dispatches, Usage::MAP_READ | Usage::COPY_DST);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    queue.write_buffer(&state, 0, &bytes);
    let group = gpu.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: state.as_entire_binding() }],
    });
    for turn in 0..dispatches {
        let mut encoder = gpu.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(workgroups, 1, 1);
        drop(pass);
        encoder.copy_buffer_to_buffer(&state, 0, &trace, size * turn as u64, size);
        queue.submit([encoder.finish()]);
    }
    trace.map_async(wgpu::MapMode::Read, .., |_| {});
    gpu.poll(wgpu::PollType::wait_indefinitely()).ok()?;
    let bytes = trace.get_mapped_range(..).ok()?;
    Some(bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect())
}

/// A build without adapters runs no WGSL.
#[cfg(not(feature = "gpu"))]
pub(crate) fn run(_: &Device, _: &str, _: &[u32], _: u32, _: usize) -> Option<Vec<u32>> {
    None
}
