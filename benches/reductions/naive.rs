//! A product of matrices as it is first written by hand: an invocation an element, and a loop.

use wgpu::util::DeviceExt;

use crate::copy::raw_device;

const TEXT: &str = "
    @group(0) @binding(0) var<uniform> n: vec4<u32>;
    @group(0) @binding(1) var<storage, read_write> c: array<f32>;
    @group(0) @binding(2) var<storage, read> a: array<f32>;
    @group(0) @binding(3) var<storage, read> b: array<f32>;
    @compute @workgroup_size(16, 16)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if (id.x >= n.x || id.y >= n.x) { return; }
        var sum = 0.0;
        for (var k = 0u; k < n.x; k++) { sum += a[id.y * n.x + k] * b[k * n.x + id.x]; }
        c[id.y * n.x + id.x] = sum;
    }";

/// The work of one product of square matrices, on the adapter that a device is of.
pub(crate) fn product(name: &str, side: usize) -> Result<crate::Work, crate::Failure> {
    let (device, queue) = raw_device(name)?;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(TEXT.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let buffer = |contents: &[u8], usage| {
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    };
    let values: Vec<f32> = (0..side * side).map(|i| (i % 1021 + 1) as f32 / 1024.0).collect();
    let matrix = || buffer(bytemuck::cast_slice(&values), wgpu::BufferUsages::STORAGE);
    let buffers = [
        buffer(bytemuck::cast_slice(&[side as u32; 4]), wgpu::BufferUsages::UNIFORM),
        matrix(),
        matrix(),
        matrix(),
    ];
    let entries = buffers
        .iter()
        .zip(0..)
        .map(|(buffer, binding)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries.collect::<Vec<_>>(),
    });
    let groups = side.div_ceil(16) as u32;
    Ok(Box::new(move || {
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(groups, groups, 1);
        drop(pass);
        queue.submit([encoder.finish()]);
        // A device that is lost shows in the time.
        device.poll(wgpu::PollType::wait_indefinitely()).map(drop).unwrap_or_default();
        Ok(())
    }))
}
