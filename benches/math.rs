//! The cost of precise math. Every function that WGSL has as a builtin is timed beside the driver's builtin, in a prebuilt
//! kernel of plain wgpu.
//!
//! ```text
//! cargo bench --bench math -- [--device NAME] [--elements N]
//! ```
//!
//! Times are medians of interleaved, warm runs. Each run ends when the device is done. `compile` is the time of the
//! first evaluation, which builds the kernel.

#[allow(dead_code)] // used here in part
mod common;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use common::hand::{self, Hand};
use common::progress::Progress;
use common::{Failure, median, timed};
use zerostride::{DType, Expr, operations};

#[derive(Parser)]
struct Options {
    #[arg(long, default_value_t = 1 << 24)]
    elements: usize,
    #[command(flatten)]
    all: common::All,
}

/// Operations and the WGSL builtins that compute them. An operation without a builtin is listed for comparison.
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
    common::ended(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Failure> {
    let device = options.all.device()?;
    let n = if options.all.bench { options.elements } else { 1024 };
    println!("{}, {n} f32, medians of 7\n", device.name());
    println!("| function | compile ms | ms | builtin ms | ratio |\n|---|---|---|---|---|");
    // All of these functions are defined from 0.05 to 0.95, except acosh, which begins at 1.
    let inside: Vec<f32> = (0..n).map(|i| 0.05 + 0.9 * (i * 7919 % n) as f32 / n as f32).collect();
    let above: Vec<f32> = inside.iter().map(|x| 1.0 + 10.0 * x).collect();
    // The CPU path has no builtins.
    let raw = if device.name() == "cpu" { None } else { Some(hand::raw_device(&device.name())?) };
    let mut progress = Progress::new("math", BUILTINS.len(), "functions");
    for (done, (name, builtin)) in BUILTINS.iter().enumerate() {
        progress.at(done, &format!(": {name}"));
        let op = operations().find(|op| op.name == *name).ok_or("no such operation")?;
        assert!(op.result(DType::F32).is_some());
        let x = if *name == "acosh" { &above } else { &inside };
        let operands = [device.upload(x, [n])?.expr(), device.upload(&above, [n])?.expr()];
        let expr = Expr::<f32>::call(name, &operands[..op.arity]);
        let compile = timed(&device, || expr.eval().map(drop))?;
        let kernel = raw
            .as_ref()
            .filter(|_| !builtin.is_empty())
            .map(|raw| builtin_by_hand(raw, builtin, x, &above, device.name().contains("llvmpipe")));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..9 {
            let own = timed(&device, || expr.eval().map(drop))?;
            let start = Instant::now();
            kernel.as_ref().map(Hand::run);
            let other = start.elapsed();
            if round > 1 {
                ours.push(own);
                theirs.push(other);
            }
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let beside =
            kernel.map_or("- | -".into(), |_| format!("{:.1} | {:.2}", ms(theirs), ms(ours) / ms(theirs)));
        progress.print(|| println!("| {name} | {:.1} | {:.1} | {beside} |", ms(compile), ms(ours)));
    }
    Ok(())
}

/// A kernel of the form that the crate's planner makes for a flat walk.
fn builtin_by_hand(
    raw: &(wgpu::Device, wgpu::Queue),
    builtin: &str,
    x: &[f32],
    y: &[f32],
    four: bool,
) -> Hand {
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
    let buffers = [x, x, y].map(|values| hand::buffer(&raw.0, values));
    let workgroups = [(x.len() / 4).div_ceil(256 * each), 1];
    Hand::new(raw, &text, &buffers.each_ref(), workgroups)
}
