//! The cost of strict arithmetic: chains with the fences that keep drivers from rewriting them, and without fences, as
//! fast math has them.

use std::time::{Duration, Instant};

use zerostride::{Device, Expr, Math, Result, Tensor};

use crate::common::progress::Progress;
use crate::common::{median, timed};

/// A chain of `steps` operations over a matrix, a row and a column. Chains differ by their constants alone.
fn chain(a: &Tensor<f32>, row: &Tensor<f32>, column: &Tensor<f32>, steps: usize) -> Expr<f32> {
    (0..steps).fold(a.expr(), |x, k| match k % 5 {
        0 => x - row,
        1 => x / column,
        2 => x * 0.9,
        3 => x + 0.1,
        _ => x.relu(),
    })
}

pub(crate) fn run(device: &Device, side: usize, rounds: usize) -> Result<()> {
    let mut fast = device.clone();
    fast.set_math(Math::Fast);
    println!("{}, {side} x {side} f32, medians of {rounds} interleaved runs\n", device.name());
    println!(
        "{:<10} {:>10} {:>10} {:>8} {:>18}",
        "steps", "strict ms", "fast ms", "ratio", "compiling, ratio"
    );
    let lengths = [1, 2, 5, 10, 20, 40];
    let mut progress = Progress::new("strict", lengths.len(), "chains");
    for (done, steps) in lengths.into_iter().enumerate() {
        progress.at(done, &format!(": of {steps}"));
        let build = |device: &Device| -> Result<_> {
            let tensor = |shape: [usize; 2]| {
                let count = (shape[0] * shape[1]) as f32;
                (Expr::iota(shape, 0) + Expr::iota(shape, 1)).cast::<f32>().div(count).eval_on(device)
            };
            Ok(chain(&tensor([side, side])?, &tensor([1, side])?, &(tensor([side, 1])? + 1.0).eval()?, steps))
        };
        let (strict, rewritten) = (build(device)?, build(&fast)?);
        let mut times: [Vec<Duration>; 2] = Default::default();
        for round in 0..rounds + 2 {
            for (times, expr) in times.iter_mut().zip([&strict, &rewritten]) {
                let time = timed(device, || expr.eval().map(drop))?;
                if round >= 2 {
                    times.push(time);
                }
            }
        }
        let [own, other] = times.map(|times| median(times).as_secs_f64());
        let compiling = compiling(device, &fast, steps)?;
        let (ratio, [own, other]) = (own / other, [own, other].map(|seconds| seconds * 1e3));
        progress.print(|| {
            println!("{steps:<10} {own:>10.3} {other:>10.3} {ratio:>8.2} {compiling:>18.2}");
        });
    }
    Ok(())
}

/// The time to the first result of a small new chain with fences, relative to the chain without.
fn compiling(device: &Device, fast: &Device, steps: usize) -> Result<f64> {
    let mut times: [Vec<Duration>; 2] = Default::default();
    for variant in 0..9 {
        for (times, device) in times.iter_mut().zip([device, fast]) {
            let tensor = |shape: [usize; 2]| device.full(shape, 1.0_f32);
            let (a, row, column) = (tensor([8, 8])?, tensor([1, 8])?, tensor([8, 1])?);
            let other = (0..=variant).fold(chain(&a, &row, &column, steps), |x, _| x.abs());
            let start = Instant::now();
            other.to_vec()?;
            times.push(start.elapsed());
        }
    }
    let [own, other] = times.map(|times| median(times).as_secs_f64());
    Ok(own / other)
}
