//! The speed of random numbers and loops. `uniform` is timed beside `full` of the same shape, which writes the same bytes.
//! Mandelbrot's set is timed beside hand-written kernels of one and of four pixels for each invocation.
//!
//! ```text
//! cargo bench --bench loops -- [--device NAME] [--quick]
//! ```
//!
//! Times are medians of interleaved, warm runs. Each run ends when the device is done.

#[allow(dead_code)] // used here in part
mod common;

use std::process::ExitCode;

use clap::Parser;
use common::hand::{self, Hand};
use common::{Failure, Work, medians};
use zerostride::{Device, Expr, Result};

#[derive(Parser)]
struct Options {
    /// Smaller sizes and fewer runs
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    all: common::All,
}

const TURNS: u32 = 200;

fn main() -> ExitCode {
    common::ended(run(&Options::parse()))
}

fn run(options: &Options) -> std::result::Result<(), Failure> {
    let device = options.all.device()?;
    let (side, rounds) = match (options.all.bench, options.quick) {
        (false, _) => (64, 1),
        (true, true) => (1024, 9),
        (true, false) => (4096, 15),
    };
    println!("{}, medians of {rounds} interleaved runs\n", device.name());
    let shape = [side, side];
    let full = {
        let device = device.clone();
        move || device.full(shape, 1.5_f32).map(drop)
    };
    let add = Expr::iota(shape, 1) + 1;
    let on = |expr: Expr<f32>| -> Work {
        let device = device.clone();
        Box::new(move || expr.eval_on(&device).map(drop))
    };
    let coordinates = device.clone();
    let mut all: Vec<(&str, Work)> = vec![
        ("full", Box::new(full)),
        ("coordinate", Box::new(move || add.eval_on(&coordinates).map(drop))),
        ("uniform", on(Expr::uniform(shape, 1))),
        ("normal", on(Expr::<f32>::normal(shape, 1))),
    ];
    if device.name() != "cpu" {
        all.push(("uniform by hand", by_hand(&device, side, &philox(), 4)?));
    }
    compare(&format!("random numbers, {side} x {side}"), &device, rounds, &all)?;

    let side = side / 4;
    let ours = {
        let (device, set) = (device.clone(), mandelbrot(side));
        move || set.eval_on(&device).map(drop)
    };
    let mut all: Vec<(&str, Work)> = vec![];
    if device.name() != "cpu" {
        all.push(("by hand, a pixel", by_hand(&device, side, PIXEL, 1)?));
        all.push(("by hand, four", by_hand(&device, side, FOUR, 4)?));
    }
    all.push(("repeat_while", Box::new(ours)));
    compare(&format!("Mandelbrot's set, {side} x {side}, {TURNS} turns"), &device, rounds, &all)?;
    Ok(())
}

/// Prints times, and their ratios to the first.
fn compare(what: &str, device: &Device, rounds: usize, all: &[(&str, Work)]) -> Result<()> {
    println!("{what}");
    let works: Vec<&Work> = all.iter().map(|(_, work)| work).collect();
    let times = medians(device, rounds, &works)?;
    for ((name, _), time) in all.iter().zip(&times) {
        println!("  {name:<18} {time:>10.3} ms {:>8.2}", time / times[0]);
    }
    Ok(())
}

fn mandelbrot(side: usize) -> Expr<u32> {
    let step = 3.0 / side as f32;
    let x = Expr::iota([side, side], 1).cast::<f32>() * step - 2.25;
    let y = Expr::iota([side, side], 0).cast::<f32>() * step - 1.5;
    let zero = Expr::scalar(0.0_f32).broadcast_to([side, side]);
    let (_, _, n) = Expr::repeat_while(TURNS, (zero.clone(), zero, Expr::scalar(0_u32)), |(a, b, n)| {
        let (aa, bb) = (&a * &a, &b * &b);
        ((&aa + &bb).le(4.0), (aa - bb + &x, a * b * 2.0 + &y, n + 1))
    });
    n
}

/// An invocation for each block of Philox4x32-10, with its rounds unrolled.
fn philox() -> String {
    let round = |i: u32| {
        let (low, high) =
            (1_u32.wrapping_add(0x9e37_79b9_u32.wrapping_mul(i)), 0xbb67_ae85_u32.wrapping_mul(i));
        format!("w = round(w, {low}u, {high}u);\n")
    };
    let rounds: String = (0..10).map(round).collect();
    format!(
        "
    @group(0) @binding(0) var<uniform> n: vec4<u32>;
    @group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
    fn high(a: u32, b: u32) -> u32 {{
        let middle = (a >> 16u) * (b & 0xffffu) + (((a & 0xffffu) * (b & 0xffffu)) >> 16u);
        let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
        return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
    }}
    fn round(w: vec4<u32>, low: u32, top: u32) -> vec4<u32> {{
        let a = 0xd2511f53u;
        let b = 0xcd9e8d57u;
        return vec4<u32>(high(w.z, b) ^ w.y ^ low, w.z * b, high(w.x, a) ^ w.w ^ top, w.x * a);
    }}
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
        if (id.x * 4u >= n.x || id.y >= n.x) {{ return; }}
        let block = id.y * (n.x / 4u) + id.x;
        var w = vec4<u32>(block, 0u, 0u, 0u);
        {rounds}
        result[block] = vec4<f32>(w >> vec4<u32>(8u)) * 5.9604644775390625e-8;
    }}"
    )
}

const PIXEL: &str = "
    @group(0) @binding(0) var<uniform> n: vec4<u32>;
    @group(0) @binding(1) var<storage, read_write> result: array<u32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if (id.x >= n.x || id.y >= n.x) { return; }
        let step = 3.0 / f32(n.x);
        let c = vec2<f32>(f32(id.x) * step - 2.25, f32(id.y) * step - 1.5);
        var z = vec2<f32>();
        var turns = 0u;
        while (turns < n.y && dot(z, z) <= 4.0) {
            z = vec2<f32>(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
            turns++;
        }
        result[id.y * n.x + id.x] = turns;
    }";

const FOUR: &str = "
    @group(0) @binding(0) var<uniform> n: vec4<u32>;
    @group(0) @binding(1) var<storage, read_write> result: array<vec4<u32>>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if (id.x * 4u >= n.x || id.y >= n.x) { return; }
        let step = 3.0 / f32(n.x);
        let x = vec4<f32>(id.x * 4u + vec4<u32>(0u, 1u, 2u, 3u)) * step - 2.25;
        let y = f32(id.y) * step - 1.5;
        var a = vec4<f32>();
        var b = vec4<f32>();
        var turns = vec4<u32>();
        for (var i = 0u; i < n.y; i++) {
            let aa = a * a;
            let bb = b * b;
            let inside = aa + bb <= vec4<f32>(4.0);
            if (!any(inside)) { break; }
            b = select(b, 2.0 * a * b + y, inside);
            a = select(a, aa - bb + x, inside);
            turns = select(turns, turns + 1u, inside);
        }
        result[id.y * (n.x / 4u) + id.x] = turns;
    }";

/// A hand-written kernel on the device's own wgpu, with several elements for each invocation.
fn by_hand(device: &Device, side: usize, text: &str, width: usize) -> std::result::Result<Work, Failure> {
    let wgpu = device.wgpu().ok_or("no device of wgpu")?;
    let numbers = hand::buffer(&wgpu.0, &[side as u32, TURNS, 0, 0]);
    let result = hand::buffer(&wgpu.0, &vec![0_u32; side * side]);
    let hand = Hand::new(&wgpu, text, &[&numbers, &result], [side.div_ceil(64 * width), side]);
    Ok(Box::new(move || {
        hand.run();
        Ok(())
    }))
}
