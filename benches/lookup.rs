//! The speed of lookups. Rows of a table are timed beside `x + 1.0` of the result's shape. A resize, a warp and a step of
//! Gray and Scott's reaction are timed beside hand-written kernels with an invocation for each element.
//!
//! ```text
//! cargo bench --bench lookup -- [--device NAME] [--quick]
//! ```
//!
//! Times are medians of interleaved, warm runs. Each run ends when the device is done.

#[allow(dead_code)] // used here in part
mod common;
#[path = "lookup/kernels.rs"]
mod kernels;

use std::process::ExitCode;

use clap::Parser;
use common::{Failure, Work, medians};
use kernels::OfTensors;
use zerostride::{AssignAll, Device, Expr, Math, Result, Tensor};

#[derive(Parser)]
struct Options {
    /// Fewer runs
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    all: common::All,
}

fn main() -> ExitCode {
    common::ended(run(&Options::parse()))
}

fn run(options: &Options) -> std::result::Result<(), Failure> {
    let mut device = options.all.device()?;
    // The adapter's functions, which hand-written kernels call too.
    device.set_math(Math::Fast);
    let (scale, rounds) = match (options.all.bench, options.quick) {
        (false, _) => (16, 1),
        (true, true) => (1, 7),
        (true, false) => (1, 25),
    };
    println!("{}, medians of {rounds}\n", device.name());
    println!("{:<12} {:>10} {:>10} {:>8}", "case", "ms", "beside ms", "ratio");
    for (name, work, beside) in cases(&device, scale)? {
        let times = medians(&device, rounds, &[&work, &beside])?;
        let (own, other) = (times[0], times[1]);
        println!("{name:<12} {own:>10.3} {other:>10.3} {:>8.2}", own / other);
    }
    Ok(())
}

fn numbers(device: &Device, shape: [usize; 2]) -> Result<Tensor<f32>> {
    let index = Expr::iota([shape[0] * shape[1]], 0);
    let shape = shape.map(|n| n as isize);
    ((index % 1021).cast::<f32>() / 1024.0).eval_on(device)?.reshape(shape).tensor()
}

fn cases(device: &Device, scale: usize) -> std::result::Result<Vec<(&'static str, Work, Work)>, Failure> {
    let mut all: Vec<(&'static str, Work, Work)> = Vec::new();
    let table = numbers(device, [8192 / scale, 256])?;
    let (count, rows) = (16384 / scale, 8192 / scale);
    let indices: Vec<u32> = (0..count).map(|i| (i * 7919 % rows) as u32).collect();
    let (indices, dense) = (device.upload(&indices, [count])?, numbers(device, [count, 256])?);
    let taken = table.take(&indices, 0);
    let plus = &dense + 1.0;
    all.push(("take", Box::new(move || taken.eval().map(drop)), Box::new(move || plus.eval().map(drop))));

    let side = 1024 / scale;
    let large = numbers(device, [2 * side, 2 * side])?;
    let small = resized(&large, side);
    let Some(beside) = OfTensors::new(device, kernels::RESIZE, side, &[&large])? else { return Ok(all) };
    beside.agrees(&small.eval()?)?;
    all.push(("resize", Box::new(move || small.eval().map(drop)), beside.work()));

    let image = numbers(device, [side, side])?;
    let turned = warped(&image, side);
    let Some(beside) = OfTensors::new(device, kernels::WARP, side, &[&image])? else { return Ok(all) };
    beside.agrees(&turned.eval()?)?;
    all.push(("warp", Box::new(move || turned.eval().map(drop)), beside.work()));

    let side = (512 / scale).max(64);
    let [u, v, next_u, next_v] =
        [0.0, 0.5, 0.0, 0.0].map(|by| numbers(device, [side, side]).and_then(|x| (x + by).eval()));
    let (u, v, next_u, next_v) = (u?, v?, next_u?, next_v?);
    let Some(beside) = OfTensors::new(device, kernels::STEP, side, &[&u, &v, &next_v])? else {
        return Ok(all);
    };
    beside.agrees(&step(&u, &v).0.eval()?)?;
    let work = move || {
        let (du, dv) = step(&u, &v);
        (&next_u, &next_v).assign_all((du, dv))
    };
    all.push(("gray-scott", Box::new(work), beside.work()));
    Ok(all)
}

/// Half as many pixels along each axis, by bilinear weights.
fn resized(image: &Tensor<f32>, side: usize) -> Expr<f32> {
    let place = |axis: usize| {
        let mut shape = [1, 1];
        shape[axis] = side;
        let at = ((Expr::iota(shape, axis as isize).cast::<f32>() + 0.5) * 2.0 - 0.5).maximum(0.0);
        let whole = at.floor();
        (whole.cast::<i32>(), at - whole)
    };
    let ((y, fy), (x, fx)) = (place(0), place(1));
    bilinear(image, &y, &x, &fy, &fx)
}

fn bilinear(image: &Tensor<f32>, y: &Expr<i32>, x: &Expr<i32>, fy: &Expr<f32>, fx: &Expr<f32>) -> Expr<f32> {
    let (below, right) = (y + 1, x + 1);
    let row = |y: &Expr<i32>| {
        let (a, b) = (image.at([y, x]), image.at([y, &right]));
        &a + fx * (b - &a)
    };
    let (above, below) = (row(y), row(&below));
    &above + fy * (below - &above)
}

/// A picture whose rotation grows towards its centre.
fn warped(image: &Tensor<f32>, side: usize) -> Expr<f32> {
    let centre = side as f32 / 2.0;
    let place = |axis: isize| Expr::iota([side, side], axis).cast::<f32>() - centre;
    let (y, x) = (place(0), place(1));
    let angle = ((&x * &x + &y * &y).sqrt() * (-4.0 / side as f32)).exp() * 2.0;
    let (sin, cos) = (angle.sin(), angle.cos());
    let (from_x, from_y) = (&x * &cos - &y * &sin + centre, &x * &sin + &y * &cos + centre);
    let (whole_x, whole_y) = (from_x.floor(), from_y.floor());
    let (fx, fy) = (from_x - &whole_x, from_y - &whole_y);
    bilinear(image, &whole_y.cast(), &whole_x.cast(), &fy, &fx)
}

/// A step of two substances that feed on each other, with periodic borders.
fn step(u: &Tensor<f32>, v: &Tensor<f32>) -> (Expr<f32>, Expr<f32>) {
    let laplacian = |x: &Tensor<f32>| {
        x.roll([1], [0]) + x.roll([-1], [0]) + x.roll([1], [1]) + x.roll([-1], [1]) - x * 4.0
    };
    let reaction = u * v.square();
    let next_u = u + (laplacian(u) * 0.16 - &reaction + (1.0 - u) * 0.035);
    let next_v = v + (laplacian(v) * 0.08 + &reaction - v * 0.1);
    (next_u, next_v)
}
