//! Quotients and roots to the nearest float on adapters whose own are a few units off. The adapters here are exact, so
//! the functions run on guesses that are moved on purpose.

use crate::common::Random;
use wgpu::util::DeviceExt;

/// A float type that the functions are for.
trait Nearest: bytemuck::Pod + PartialOrd {
    /// The functions and a kernel that calls them.
    fn shader() -> String;
    const FEATURES: wgpu::Features;
    fn from_bits(bits: u64) -> Self;
    fn from_f64(x: f64) -> Self;
    /// The quotient, the root, the quotient, and whether the contract leaves them open.
    fn exact(a: Self, b: Self) -> ([Self; 3], [bool; 3]);
    fn same(a: Self, b: Self) -> bool;
    fn show(self) -> String;
}

/// The part of the prelude that the functions need, and a kernel that calls them.
fn shader(own: &[&str], shared: &[&str]) -> String {
    // Without functions of other files.
    let of_others = ["f16", "round_f", "next_u", "nextafter", "scale_f"];
    let mut blocks: Vec<&str> = own.iter().chain(shared).flat_map(|text| text.split("\n\n")).collect();
    blocks.retain(|block| !of_others.iter().any(|name| block.contains(name)));
    let (guess, prelude) = (") - FROM_GUESS_u", blocks.join("\n\n"));
    assert_eq!(prelude.matches(guess).count(), 2);
    let reciprocal = "= 1.0 / n;";
    let main = "
struct Params { zero: u32, off: i32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> result: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    result[3u * id.x] = div_by_integers_f32(a[id.x], b[id.x]);
    result[3u * id.x + 1u] = sqrt_nearest_f32(a[id.x]);
    result[3u * id.x + 2u] = div_nearest_f32(a[id.x], b[id.x]);
}";
    let moved = prelude.replace(guess, ") + vec4<u32>(u32(p.off)) - FROM_GUESS_u");
    moved.replace(reciprocal, "= bitcast<vec4<f32>>(bits_f32(1.0 / n) + vec4<u32>(u32(p.off)));")
        + "\n\n"
        + main
}

/// The blocks of a file that declare some functions and the items that they use.
fn declared<'a>(text: &'a str, names: &'a [&str]) -> impl Iterator<Item = &'a str> {
    text.split("\n\n").filter(|block| names.iter().any(|name| block.contains(&format!("{name}("))))
}

/// The quotient by `fma` in the place of that by integers. No adapter here rounds the builtin once, so it is the crate's own,
/// by integers.
fn by_fma(text: &str) -> String {
    let own = include_str!("../../shaders/prelude/instructions.wgsl");
    let own: Vec<&str> = declared(own, &["fn div_nearest_f32"]).collect();
    assert_eq!(own.concat().matches("= 1.0 / n;").count(), 1);
    let own = own.concat().replace("fma(", "fma_f32(");
    let others = text.split("\n\n").filter(|block| !block.contains("fn div_nearest_f32"));
    let fma = include_str!("../../shaders/prelude/fma.wgsl");
    let parts = [
        (include_str!("../../shaders/prelude/f32/fma.wgsl"), &["fn fma_f32"][..]),
        (include_str!("../../shaders/prelude/remainder.wgsl"), &["fn significand_f32", "fn exponent_f32"]),
        (
            include_str!("../../shaders/prelude/integer.wgsl"),
            &["fn leading_zeros_u32", "fn multiply_high_u32"],
        ),
    ];
    let parts = parts.into_iter().flat_map(|(text, names)| declared(text, names));
    let all = others.chain([fma, "const WORD_u32: u32 = 32u;"]).chain(parts).chain([own.as_str()]);
    all.collect::<Vec<_>>().join("\n\n")
}

const SHARED: [&str; 2] =
    [include_str!("../../shaders/prelude/float.wgsl"), include_str!("../../shaders/prelude/nearest.wgsl")];

macro_rules! nearest {
    ($($t:ident $bits:ident $features:expr, |$text:ident| $shader:expr;)*) => {$(
        impl Nearest for $t {
            fn shader() -> String {
                let $text = |own: &[&str], shared: &[&str]| shader(own, shared);
                $shader
            }
            const FEATURES: wgpu::Features = $features;
            fn from_bits(bits: u64) -> $t { $t::from_bits(bits as $bits) }
            fn from_f64(x: f64) -> $t { x as $t }
            fn exact(a: $t, b: $t) -> ([$t; 3], [bool; 3]) {
                let open = |x: $t| x != 0.0 && x.abs() < $t::MIN_POSITIVE;
                let quotient = open(a) || open(b) || open(a / b);
                ([a / b, a.sqrt(), a / b], [quotient, open(a), quotient])
            }
            fn same(a: $t, b: $t) -> bool { a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) }
            fn show(self) -> String { format!("{self:e}") }
        }
    )*};
}
nearest! {
    f32 u32 wgpu::Features::empty(), |text| {
        let cast = include_str!("../../shaders/prelude/cast.wgsl");
        let cast: Vec<&str> = cast.split("\n\n").filter(|block| block.contains("fn cast_f32_u32")).collect();
        let shared = [SHARED[0], &by_fma(SHARED[1])];
        let own = [
            include_str!("../../shaders/prelude/f32/bits.wgsl"),
            include_str!("../../shaders/prelude/f32/flush.wgsl"),
            &cast.concat(),
        ];
        text(&own, &shared)
    };
    f64 u64 wgpu::Features::SHADER_F64.union(wgpu::Features::SHADER_INT64), |text| {
        let shared = SHARED.map(|shared| shared.replace("f32", "f64").replace("u32", "u64"));
        let bits = include_str!("../../shaders/prelude/f64/bits.wgsl");
        let of_others = ["of_words", "cast_i", "cast_u", "split", "Split", "narrowed", "_f64_f32"];
        let mut bits: Vec<&str> = bits.split("\n\n").collect();
        bits.retain(|block| !of_others.iter().any(|name| block.contains(name)));
        let text = text(&["alias Count = vec4<u32>;", &bits.join("\n\n")], &shared.each_ref().map(String::as_str));
        text.replace("array<vec4<f32>>", "array<vec4<f64>>").replace("nearest_f32", "nearest_f64")
            .replace("integers_f32", "integers_f64")
            .replace("vec4<u32>(u32(p.off)) - FROM", "vec4<u64>(u64(i64(p.off))) - FROM")
    };
}

/// Quotients and roots of `a` and `b` on one adapter, guesses moved by `off`.
fn run<T: Nearest>(adapter: &wgpu::Adapter, a: &[T], b: &[T], offs: &[i32]) -> Vec<Vec<T>> {
    let descriptor = wgpu::DeviceDescriptor { required_features: T::FEATURES, ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(T::shader().into()),
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
    let size = 3 * size_of_val(a) as u64;
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
            let got = bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..).unwrap());
            staging.unmap();
            got
        })
        .collect()
}

fn check<T: Nearest>() {
    let mut random = Random(7);
    let edges = [
        1.0,
        -1.0,
        3.0,
        2.0,
        0.5,
        1.0 + 2_f64.powi(-23),
        1.0 - 2_f64.powi(-24),
        1.0 + 2_f64.powi(-52),
        2.0 - 2_f64.powi(-52),
        1e38,
        1.2e-38,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.0,
        -0.0,
    ];
    let count = 1 << 16;
    let mut draw = |i: usize, column: usize| match i {
        i if i < 256 => T::from_f64(edges[if column == 0 { i / 16 } else { i % 16 }]),
        i if i % 4 == 0 => T::from_f64(1.0 + (random.next() >> 12) as f64 / 2_f64.powi(52)),
        _ => T::from_bits(random.next()),
    };
    let a: Vec<T> = (0..count).map(|i| draw(i, 0)).collect();
    let b: Vec<T> = (0..count).map(|i| draw(i, 1)).collect();
    let descriptor = wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    };
    let instance = wgpu::Instance::new(descriptor);
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let able = || adapters.iter().filter(|adapter| adapter.features().contains(T::FEATURES));
    assert!(able().count() > 0 || std::env::var_os("CI").is_none());
    for adapter in able() {
        let (name, kind) = (adapter.get_info().name, adapter.get_info().device_type);
        // A GPU's own are up to three units off before they are moved.
        let most = if kind == wgpu::DeviceType::Cpu { 7 } else { 4 };
        let offs: Vec<i32> = (-most..=most).collect();
        for (off, got) in offs.iter().zip(run(adapter, &a, &b, &offs)) {
            for i in 0..count {
                let (exact, open) = T::exact(a[i], b[i]);
                for (k, what) in ["quotient by integers", "root", "quotient"].iter().enumerate() {
                    let got = got[i / 4 * 12 + 4 * k + i % 4];
                    let right = open[k] || T::same(got, exact[k]);
                    let [a, b, got] = [a[i], b[i], got].map(T::show);
                    assert!(right, "{name}, {off}: the {what} of {a} and {b} is {got}");
                }
            }
        }
    }
}

#[test]
fn guesses_of_f32_that_are_off_are_put_right() {
    check::<f32>();
}

#[test]
fn guesses_of_f64_that_are_off_are_put_right() {
    check::<f64>();
}
