//! What precise math costs: every function that WGSL has as a builtin, against that builtin as the
//! driver computes it, in a kernel of raw wgpu with everything prebuilt.
//!
//! ```text
//! cargo bench --bench math -- [--device NAME] [--elements N]
//! ```
//!
//! Times are medians of interleaved, warm runs, each of which ends when the device is done. `compile`
//! is the time of the first evaluation, whose kernel is built.

#[allow(dead_code)] // its copies are measured elsewhere
#[path = "elementwise/copy.rs"]
mod copy;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use wgpu::util::DeviceExt;
use zerostride::{DType, Device, Expr, operations};

#[derive(Parser)]
struct Options {
    /// A device, as `Device::named` takes it; the best one when none is given
    #[arg(long)]
    device: Option<String>,
    #[arg(long, default_value_t = 1 << 24)]
    elements: usize,
    /// Passed by `cargo bench`; without it this is a test that everything runs
    #[arg(long, hide = true)]
    bench: bool,
}

type Failure = Box<dyn std::error::Error>;

/// Operations and the builtin of WGSL that computes them; none has its own row for comparison.
const BUILTINS: &[(&str, &str)] = &[
    ("sqrt", "sqrt(x)"),
    ("rsqrt", "inverseSqrt(x)"),
    ("reciprocal", "1.0 / x"),
    ("cbrt", "sign(x) * pow(abs(x), vec4<f32>(1.0 / 3.0))"),
    ("exp", "exp(x)"),
    ("exp2", "exp2(x)"),
    ("exp10", "exp2(x * 3.321928)"),
    ("expm1", "exp(x) - 1.0"),
    ("log", "log(x)"),
    ("log2", "log2(x)"),
    ("log10", "log2(x) * 0.30103"),
    ("log1p", "log(1.0 + x)"),
    ("sin", "sin(x)"),
    ("cos", "cos(x)"),
    ("tan", "tan(x)"),
    ("asin", "asin(x)"),
    ("acos", "acos(x)"),
    ("atan", "atan(x)"),
    ("sinh", "sinh(x)"),
    ("cosh", "cosh(x)"),
    ("tanh", "tanh(x)"),
    ("asinh", "asinh(x)"),
    ("acosh", "acosh(x)"),
    ("atanh", "atanh(x)"),
    ("sigmoid", "1.0 / (1.0 + exp(-x))"),
    ("round", "round(x)"),
    ("floor", "floor(x)"),
    ("sign", "sign(x)"),
    ("pow", "pow(x, y)"),
    ("atan2", "atan2(x, y)"),
    ("hypot", "sqrt(x * x + y * y)"),
    ("rem", "x % y"),
    ("min", "min(x, y)"),
    ("div", "x / y"),
    ("erf", ""),
    ("erfc", ""),
    ("lgamma", ""),
    ("digamma", ""),
    ("rem_floor", ""),
    ("nextafter", ""),
];

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    let device = options.device.as_deref().map_or_else(Device::open, Device::named)?;
    let n = if options.bench { options.elements } else { 1024 };
    println!("{}, {n} f32, medians of 7\n", device.name());
    println!("| function | compile ms | ms | builtin ms | ratio |\n|---|---|---|---|---|");
    // Where all of these functions have values: 0.05 to 0.95, but from 1 on for acosh.
    let inside: Vec<f32> = (0..n).map(|i| 0.05 + 0.9 * (i * 7919 % n) as f32 / n as f32).collect();
    let above: Vec<f32> = inside.iter().map(|x| 1.0 + 10.0 * x).collect();
    // The CPU path has no builtins beside its own.
    let raw = if device.name() == "cpu" { None } else { Some(copy::raw_device(&device.name())?) };
    for (name, builtin) in BUILTINS {
        let op = operations().find(|op| op.name == *name).ok_or("no such operation")?;
        assert!(op.result(DType::F32).is_some());
        let x = if *name == "acosh" { &above } else { &inside };
        let operands = [device.upload(x, [n])?.expr(), device.upload(&above, [n])?.expr()];
        let expr = Expr::<f32>::call(name, &operands[..op.arity]);
        device.synchronize()?;
        let start = Instant::now();
        drop(expr.eval()?);
        device.synchronize()?;
        let compile = start.elapsed();
        let kernel = raw
            .as_ref()
            .filter(|_| !builtin.is_empty())
            .map(|raw| Raw::new(raw, builtin, x, &above, device.name().contains("llvmpipe")));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..9 {
            let start = Instant::now();
            drop(expr.eval()?);
            device.synchronize()?;
            let own = start.elapsed();
            let other = kernel.as_ref().map_or(Ok(Duration::ZERO), Raw::run)?;
            if round > 1 {
                ours.push(own);
                theirs.push(other);
            }
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        match kernel {
            Some(_) => println!(
                "| {name} | {:.1} | {:.1} | {:.1} | {:.2} |",
                ms(compile),
                ms(ours),
                ms(theirs),
                ms(ours) / ms(theirs)
            ),
            None => println!("| {name} | {:.1} | {:.1} | - | - |", ms(compile), ms(ours)),
        }
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// A kernel of the form that the crate's planner gives a flat walk.
struct Raw<'a> {
    device: &'a wgpu::Device,
    queue: &'a wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    groups: u32,
}

impl Raw<'_> {
    fn new<'a>(
        (device, queue): &'a (wgpu::Device, wgpu::Queue),
        builtin: &str,
        x: &[f32],
        y: &[f32],
        four: bool,
    ) -> Raw<'a> {
        let each = if four { 4 } else { 1 };
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> result: array<vec4<f32>>;
            @group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;
            @group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
            fn one(i: u32) {{
                if (i >= arrayLength(&result)) {{ return; }}
                let x = a[i];
                {}
                result[i] = {builtin};
            }}
            @compute @workgroup_size(256)
            fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                for (var k = 0u; k < {each}u; k++) {{ one(id.x * {each}u + k); }}
            }}",
            if builtin.contains('y') && builtin.contains(", y") || builtin.contains(" y") {
                "let y = b[i];"
            } else {
                "let y = b[0];"
            },
        );
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let storage = |read_only, binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[storage(false, 0), storage(true, 1), storage(true, 2)],
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let buffer = |contents: &[f32]| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: None,
                contents: bytemuck::cast_slice(contents),
                usage: wgpu::BufferUsages::STORAGE,
            })
        };
        let buffers = [buffer(x), buffer(x), buffer(y)];
        let entries: Vec<wgpu::BindGroupEntry> = (0..)
            .zip(&buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        Raw { device, queue, pipeline, group, groups: (x.len() / 4).div_ceil(256 * each) as u32 }
    }

    fn run(&self) -> Result<Duration, Failure> {
        let start = Instant::now();
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(self.groups, 1, 1);
        drop(pass);
        self.queue.submit([encoder.finish()]);
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(start.elapsed())
    }
}
