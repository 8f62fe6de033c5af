//! Two substances that feed on each other (Gray and Scott, 1984; the form of Pearson, Complex patterns in a simple
//! system, 1993) on a torus: a step is one kernel that reads both fields and writes both. Checked, timed and drawn.
//!
//! ```text
//! cargo run --release --example reaction [-- --device NAME] [--steps N]
//! ```

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use image::{Rgb, RgbImage};
use zerostride::{AssignAll, Device, Expr, Result, Tensor};

#[derive(Parser)]
struct Options {
    /// A device, as `Device::named` takes it; the best one when none is given
    #[arg(long)]
    device: Option<String>,
    /// Steps of time
    #[arg(long, default_value_t = 4000)]
    steps: usize,
    /// Where the picture goes
    #[arg(long, default_value = "reaction.png")]
    output: PathBuf,
}

const SIDE: usize = 512;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let device = options.device.as_deref().map_or_else(Device::open, Device::named)?;
    println!("on {}", device.name());
    // A few steps have the same bits on the CPU path.
    if simulated(&device, 10)?.to_vec()? != simulated(&Device::cpu(), 10)?.to_vec()? {
        return Err("the result differs from that of the CPU path".into());
    }
    let start = Instant::now();
    let v = simulated(&device, options.steps)?.to_vec()?;
    let each = start.elapsed().as_secs_f64() * 1e3 / options.steps.max(1) as f64;
    println!("{} steps of {SIDE} x {SIDE}, {each:.3} ms each; the first ten checked", options.steps);
    let picture = RgbImage::from_fn(SIDE as u32, SIDE as u32, |x, y| {
        let light = (v[y as usize * SIDE + x as usize] * 2.8).clamp(0.0, 1.0);
        let mix = |dark: f32, bright: f32| (dark + (bright - dark) * light) as u8;
        Rgb([mix(16.0, 255.0), mix(24.0, 214.0), mix(60.0, 120.0)])
    });
    picture.save(&options.output)?;
    println!("drawn: {}", options.output.display());
    Ok(())
}

/// The second substance after some steps.
fn simulated(device: &Device, steps: usize) -> Result<Tensor<f32>> {
    // The first substance everywhere, and a few squares of the second.
    let (row, column) = (Expr::iota([SIDE, SIDE], 0), Expr::iota([SIDE, SIDE], 1));
    let square = (&row * 3 + &column).rem(151).lt(12) & (&column * 5 - &row).abs().rem(173).lt(12);
    let mut u = square.select(0.5_f32, 1.0_f32).eval_on(device)?;
    let mut v = square.select(0.25_f32, 0.0_f32).eval_on(device)?;
    let (mut next_u, mut next_v) = (device.zeros([SIDE, SIDE])?, device.zeros([SIDE, SIDE])?);
    for _ in 0..steps {
        let (after_u, after_v) = step(&u, &v);
        (&next_u, &next_v).assign_all((after_u, after_v))?;
        (u, v, next_u, next_v) = (next_u, next_v, u, v);
    }
    Ok(v)
}

/// Both fields a step later. Beyond a border is the opposite edge.
fn step(u: &Tensor<f32>, v: &Tensor<f32>) -> (Expr<f32>, Expr<f32>) {
    let around = |x: &Tensor<f32>| {
        x.roll([1], [0]) + x.roll([-1], [0]) + x.roll([1], [1]) + x.roll([-1], [1]) - x * 4.0
    };
    let reaction = u * v.square();
    (u + (around(u) * 0.2 - &reaction + (1.0 - u) * 0.037), v + (around(v) * 0.1 + &reaction - v * 0.097))
}
