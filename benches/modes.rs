//! What total mode costs, beside precise math.
//!
//! ```text
//! cargo bench --bench modes -- [--device NAME] [--rounds N]
//! ```
//!
//! Times are medians of interleaved, warm runs, each of which ends when the device is done.

#[allow(dead_code)] // used here in part
mod common;

use std::process::ExitCode;

use clap::Parser;
use common::{Failure, Work, hashed, medians};
use zerostride::{Device, Expr, Math, Result, Tensor};

#[derive(Parser)]
struct Options {
    /// Rounds that are timed
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    #[command(flatten)]
    all: common::All,
}

/// An expression over a matrix.
type Made = fn(&Tensor<f32>) -> Expr<f32>;

const CASES: [(&str, Made); 6] = [
    ("x + x * 0.5", |x| x + x * 0.5),
    ("ten products and sums", |x| (0..10).fold(x.expr(), |all, i| all * (0.5 + i as f32) + x)),
    ("exp", |x| x.exp()),
    ("sum of rows", |x| x.sum(1)),
    ("softmax of rows", |x| x.softmax(1)),
    ("x.matmul(x)", |x| x.slices([0..1024, 0..1024]).matmul(x.slices([0..1024, 0..1024]))),
];

fn main() -> ExitCode {
    common::ended(run(&Options::parse()))
}

/// Work over numbers from 0 to 1, by a handle of a device.
fn work(device: &Device, rows: usize, made: Made) -> Result<Work> {
    let expr = made(&hashed::numbers(device, rows * 1024)?.reshape([rows as isize, 1024]).tensor()?);
    Ok(Box::new(move || expr.eval().map(drop)))
}

fn run(options: &Options) -> std::result::Result<(), Failure> {
    let precise = options.all.device()?;
    let mut total = precise.clone();
    total.set_math(Math::Total);
    let (rows, rounds) = if options.all.bench { (8192, options.rounds) } else { (1024, 1) };
    println!("{}, f32, [{rows}, 1024], medians of {rounds}\n", precise.name());
    for (name, made) in CASES {
        let handles = [&precise, &total].map(|device| work(device, rows, made));
        let [first, second] = handles;
        let times = medians(&precise, rounds, &[&first?, &second?])?;
        println!(
            "{name:<24} {:>9.2} ms, {:>9.2} in total mode, {:.2}",
            times[0],
            times[1],
            times[1] / times[0]
        );
    }
    Ok(())
}
