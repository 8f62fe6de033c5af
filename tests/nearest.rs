//! Quotients and roots to the nearest float, where an adapter's own are a few units off. Those of the
//! adapters here are right, so the functions run on guesses that are moved on purpose.

mod common;

use common::Random;
use wgpu::util::DeviceExt;

/// What the functions need of the prelude, and a kernel that calls them.
fn shader() -> String {
    let prelude = [
        include_str!("../shaders/prelude/f32/bits.wgsl"),
        include_str!("../shaders/prelude/float.wgsl"),
        include_str!("../shaders/prelude/f32/nearest.wgsl"),
    ]
    .concat();
    // Without functions of other files.
    let own =
        |block: &&str| !["f16", "round_f32", "next_u32", "nextafter"].iter().any(|name| block.contains(name));
    let prelude: Vec<&str> = prelude.split("\n\n").filter(own).collect();
    let guess = ") - FROM_GUESS;";
    let prelude = prelude.join("\n\n");
    assert_eq!(prelude.matches(guess).count(), 2);
    let main = "
struct Params { zero: u32, off: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> result: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    result[2u * id.x] = div_nearest_f32(a[id.x], b[id.x]);
    result[2u * id.x + 1u] = sqrt_nearest_f32(a[id.x]);
}";
    prelude.replace(guess, ") - FROM_GUESS + vec4<u32>(p.off);") + main
}

/// Quotients and roots of `a` and `b` on one adapter, guesses moved by `off`.
fn run(adapter: &wgpu::Adapter, a: &[f32], b: &[f32], offs: &[i32]) -> Vec<Vec<f32>> {
    let descriptor = wgpu::DeviceDescriptor::default();
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(shader().into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let buffer = |contents: &[u8], usage| {
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    };
    let size = 8 * a.len() as u64;
    let create = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let result = create(wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
    let staging = create(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    let (a_buffer, b_buffer) = (
        buffer(bytemuck::cast_slice(a), wgpu::BufferUsages::STORAGE),
        buffer(bytemuck::cast_slice(b), wgpu::BufferUsages::STORAGE),
    );
    offs.iter()
        .map(|&off| {
            let params = buffer(bytemuck::cast_slice(&[0, off]), wgpu::BufferUsages::UNIFORM);
            let buffers = [&params, &a_buffer, &b_buffer, &result];
            let entries: Vec<_> = (0..)
                .zip(buffers)
                .map(|(binding, b)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() })
                .collect();
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            });
            let mut encoder = device.create_command_encoder(&Default::default());
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(a.len() as u32 / 256, 1, 1);
            drop(pass);
            encoder.copy_buffer_to_buffer(&result, 0, &staging, 0, size);
            queue.submit([encoder.finish()]);
            staging.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
            device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            let got = bytemuck::cast_slice(&staging.get_mapped_range(..).unwrap()).to_vec();
            staging.unmap();
            got
        })
        .collect()
}

#[test]
fn guesses_that_are_off_are_put_right() {
    let mut random = Random(7);
    let edges = [
        1.0_f32,
        -1.0,
        3.0,
        2.0,
        0.5,
        1.0 + f32::EPSILON,
        1.0 - f32::EPSILON / 2.0,
        2.0 - f32::EPSILON,
        f32::MAX,
        f32::MIN_POSITIVE,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        0.0,
        -0.0,
        16777215.0,
    ];
    let count = 1 << 16;
    let mut draw = |i: usize, column: usize| match i {
        i if i < 256 => edges[if column == 0 { i / 16 } else { i % 16 }],
        i if i % 4 == 0 => 1.0 + random.below(1 << 23) as f32 / (1 << 23) as f32,
        _ => f32::from_bits(random.next() as u32),
    };
    let a: Vec<f32> = (0..count).map(|i| draw(i, 0)).collect();
    let b: Vec<f32> = (0..count).map(|i| draw(i, 1)).collect();
    let offs: Vec<i32> = (-7..=7).collect();
    let descriptor = wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    };
    let instance = wgpu::Instance::new(descriptor);
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    assert!(!adapters.is_empty() || std::env::var_os("CI").is_none());
    for adapter in adapters {
        let name = adapter.get_info().name;
        if adapter.limits().max_compute_invocations_per_workgroup == 0 {
            continue;
        }
        for (off, got) in offs.iter().zip(run(&adapter, &a, &b, &offs)) {
            let subnormal = |x: f32| x != 0.0 && x.abs() < f32::MIN_POSITIVE;
            for i in 0..count {
                let (x, y) = (a[i], b[i]);
                let (quotient, root) = (got[i / 4 * 8 + i % 4], got[i / 4 * 8 + 4 + i % 4]);
                let same = |got: f32, expected: f32| {
                    got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan())
                };
                let open = subnormal(x) || subnormal(y) || subnormal(x / y);
                assert!(open || same(quotient, x / y), "{name}, {off}: {x:e} / {y:e} is {quotient:e}");
                assert!(subnormal(x) || same(root, x.sqrt()), "{name}, {off}: sqrt {x:e} is {root:e}");
            }
        }
    }
}
