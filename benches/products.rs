//! Products of matrices. On the CPU path beside loops by hand in the contract's order: products and additions, each
//! rounded. On an adapter beside a kernel by hand with an invocation for each result.
//!
//! ```text
//! cargo bench --bench products -- [--device NAME] [--quick] [--only NAME]
//! ```
//!
//! Times are medians of interleaved, warm runs, each of which ends when the device is done.

#[allow(dead_code)] // used here in part
mod common;
#[path = "products/floor.rs"]
mod floor;
#[path = "products/naive.rs"]
mod naive;

use std::process::ExitCode;

use clap::Parser;
use common::{Failure, Work, medians};
use zerostride::{Device, Expr, Result, Tensor};

#[derive(Parser)]
struct Options {
    /// Smaller sizes and fewer runs
    #[arg(long)]
    quick: bool,
    /// Only cases whose name has this in it
    #[arg(long, default_value = "")]
    only: String,
    #[command(flatten)]
    all: common::All,
}

/// A case: the crate's work, and the work and the name that it is compared with.
type Case = (String, Work, Option<(&'static str, Work)>);

fn main() -> ExitCode {
    common::ended(run(&Options::parse()))
}

fn run(options: &Options) -> std::result::Result<(), Failure> {
    let device = options.all.device()?;
    let (part, rounds) = match (options.all.bench, options.quick) {
        (false, _) => (32, 1),
        (true, true) => (4, 9),
        (true, false) => (1, 15),
    };
    println!("{}, f32, medians of {rounds}\n", device.name());
    for (name, own, other) in cases(&device, part)? {
        if !name.contains(&options.only) {
            continue;
        }
        let Some((what, other)) = other else {
            println!("{name:<36} {:>9.3} ms", medians(&device, rounds, &[&own])?[0]);
            continue;
        };
        let times = medians(&device, rounds, &[&own, &other])?;
        println!("{name:<36} {:>9.3} ms, {:.2} of {:.3} {what}", times[0], times[0] / times[1], times[1]);
    }
    Ok(())
}

fn cases(device: &Device, part: usize) -> std::result::Result<Vec<Case>, Failure> {
    let mut cases: Vec<Case> = Vec::new();
    let numbers = |shape: &[usize]| numbers(device, shape);
    let matrix = |n: usize| numbers(&[n, n]);
    if device.name() == "cpu" {
        for n in [1024 / part, 256 / part] {
            let product = matrix(n)?.matmul(matrix(n)?);
            cases.push((format!("{n} x {n} x {n}"), work(product), Some(("by hand", floor::product(n)))));
        }
        let n = 4096 / part;
        let product = matrix(n)?.matmul(numbers(&[n])?);
        cases.push((
            format!("{n} x {n} by a vector"),
            work(product),
            Some(("to read it", floor::read(n * n))),
        ));
        let n = 64 / part.min(8);
        let product = numbers(&[64, n, n])?.matmul(numbers(&[64, n, n])?);
        cases.push((
            format!("64 of {n} x {n} x {n}"),
            work(product),
            Some(("by hand", floor::products(64, n))),
        ));
    } else {
        for n in [512, 1024, 2048].map(|n| n / part) {
            let product = matrix(n)?.matmul(matrix(n)?);
            let naive = naive::product(device, n)?;
            cases.push((format!("{n} x {n} x {n}"), work(product), Some(("by an invocation each", naive))));
        }
    }
    // A layer: steps after the sums, and at the load of small weights, beside the same in passes of their own.
    let n = 512 / part;
    let (x, weights, bias) = (matrix(n)?, matrix(n)?, numbers(&[n])?);
    let apart = |x: Expr<f32>| x.shared();
    let layer = (x.matmul(&weights) + &bias).gelu_tanh();
    let other = (apart(x.matmul(&weights)) + &bias).gelu_tanh();
    cases.push((format!("{n}, bias and gelu"), work(layer), Some(("apart", work(other)))));
    let small = (weights.expr() * 255.0).cast::<u8>().eval()?;
    let layer = x.matmul(small.cast::<f32>() * &bias);
    let other = x.matmul(apart(small.cast::<f32>() * &bias));
    cases.push((format!("{n}, bytes by a scale"), work(layer), Some(("apart", work(other)))));
    let halves = (x.cast::<zerostride::f16>().eval()?, weights.cast::<zerostride::f16>().eval()?);
    let product = halves.0.matmul(&halves.1);
    cases.push((format!("{n}, f16"), Box::new(move || product.eval().map(drop)), None));
    let [tokens, depth] = [512 / part, 64];
    let [q, k, v] = [(); 3].map(|()| numbers(&[2, 8, tokens, depth]));
    let scores = q?.matmul(k?.transpose(-1, -2)) * (1.0 / (depth as f32).sqrt());
    let is_later = Expr::iota([tokens, tokens], 0).lt(Expr::iota([tokens, tokens], 1));
    let block = is_later.select(f32::NEG_INFINITY, scores).softmax(-1).matmul(v?);
    cases.push((format!("attention, 2 x 8 of {tokens} x {depth}"), work(block), None));
    Ok(cases)
}

fn work(expr: Expr<f32>) -> Work {
    Box::new(move || expr.eval().map(drop))
}

/// Numbers from 0 up to 1 that differ from their neighbours.
fn numbers(device: &Device, shape: &[usize]) -> Result<Tensor<f32>> {
    let flat = Expr::iota([shape.iter().product::<usize>()], 0);
    let lengths: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
    ((flat.rem(1021) + 1).cast::<f32>() / 1024.0).reshape(&lengths).eval_on(device)
}
