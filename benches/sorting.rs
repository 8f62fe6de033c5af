//! Sorts, selections, counts and sums by key, beside `x + 1.0` of as many elements.
//!
//! ```text
//! cargo bench --bench sorting -- [--device NAME] [--log2 N] [--only NAME] [--explain]
//! ```
//!
//! Times are medians of interleaved, warm runs, each of which ends when the device is done.

#[allow(dead_code)] // used here in part
mod common;

use std::process::ExitCode;

use clap::Parser;
use common::{Failure, Work, hashed, medians};
use zerostride::AnyExpr;

#[derive(Parser)]
struct Options {
    /// The logarithm of the number of elements
    #[arg(long, default_value_t = 24)]
    log2: u32,
    /// Rounds that are timed
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Only cases whose name has this in it
    #[arg(long, default_value = "")]
    only: String,
    /// Explains the kernels instead of timing them
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    all: common::All,
}

fn main() -> ExitCode {
    common::ended(run(&Options::parse()))
}

fn run(options: &Options) -> std::result::Result<(), Failure> {
    let device = options.all.device()?;
    let (count, rounds) = if options.all.bench { (1 << options.log2, options.rounds) } else { (1 << 12, 1) };
    println!("{}, f32, {count} elements, medians of {rounds}\n", device.name());
    let x = hashed::numbers(&device, count)?;
    let keys = hashed::keys(&device, count)?;
    let mask = x.gt(0.5).eval()?;
    let zeros = device.zeros::<f32>([1000])?;
    let add: Work = {
        let x = x.clone();
        Box::new(move || (&x + 1.0).eval().map(drop))
    };
    let lazy = |expr: AnyExpr| -> (Option<AnyExpr>, Work) {
        let own = expr.clone();
        (Some(expr), Box::new(move || own.eval().map(drop)))
    };
    let cases: Vec<(&str, (Option<AnyExpr>, Work))> = vec![
        ("sort", lazy(x.sort(0).into())),
        ("argsort", lazy(x.argsort(0).into())),
        ("topk of 100", lazy(x.topk(100, 0).0.into())),
        ("median", lazy(x.median(0).into())),
        ("bincount into 1000", lazy(keys.bincount(1000).into())),
        ("segment_sum into 1000", lazy(x.segment_sum(&keys, 1000).into())),
        ("segment_sum, sorted", lazy(x.segment_sum(keys.sort(0).eval()?.assume_sorted(), 1000).into())),
        ("segment_max into 1000", lazy(x.segment_max(&keys, 1000).into())),
        ("scatter_add into 1000", lazy(zeros.scatter_add([&keys], &x).into())),
        ("compress, half", {
            let (x, mask) = (x.clone(), mask.clone());
            (None, Box::new(move || x.compress(&mask).map(drop)))
        }),
        ("histogram of 256", {
            let x = x.clone();
            (None, Box::new(move || x.histogram(256, (0.0, 1.0)).map(drop)))
        }),
    ];
    for (name, (expr, own)) in cases {
        if !name.contains(&options.only) {
            continue;
        }
        if options.explain {
            expr.map_or(Ok(()), |expr| expr.explain(&device).map(|text| println!("{name}\n{text}")))?;
            continue;
        }
        let times = medians(&device, rounds, &[&add, &own])?;
        println!("{name:<24} {:>9.2} ms, {:.2} of x + 1.0", times[1], times[1] / times[0]);
    }
    Ok(())
}
