//! The speed of reductions, as a multiple of an elementwise operation on the same tensor in the same run. The operation is
//! `x + 1.0`, which reads and writes the bytes that a sum only reads, or `exp(x)` if the reduction computes exponentials. A
//! product of matrices is timed beside a hand-written one with an invocation for each result.
//!
//! ```text
//! cargo bench --bench reductions -- [--device NAME] [--quick] [--json FILE] [--sizes] [--case NAME]...
//! ```
//!
//! Times are medians of interleaved, warm runs. Each run ends when the device is done. `most` is the multiple that the
//! crate aims to stay below on software drivers. `busy` is the ratio of the times of this process's threads, by Linux. Other
//! work on the machine disturbs these less.

#[path = "reductions/cases.rs"]
mod cases;
#[allow(dead_code)] // used here in part
mod common;
#[path = "products/naive.rs"]
mod naive;

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cases::{cases, tensor};
use clap::Parser;
use common::progress::Progress;
use common::{Failure, median};
use serde_json::json;
use zerostride::Device;

#[derive(Parser)]
struct Options {
    /// Smaller sizes and fewer runs
    #[arg(long)]
    quick: bool,
    /// The file for one JSON object a row
    #[arg(long)]
    json: Option<PathBuf>,
    /// From a thousand to ten million elements instead: the cost and the gain of threads
    #[arg(long)]
    sizes: bool,
    /// Only these cases
    #[arg(long)]
    case: Vec<String>,
    #[command(flatten)]
    all: common::All,
}

fn main() -> ExitCode {
    common::ended(run(&Options::parse()))
}

fn run(options: &Options) -> std::result::Result<(), Failure> {
    let device = options.all.device()?;
    if options.sizes {
        return sizes(&device, if options.all.bench { 4 } else { 1 });
    }
    let (side, rounds) = match (options.all.bench, options.quick) {
        (false, _) => (128, 1),
        (true, true) => (1024, 7),
        (true, false) => (4096, 15),
    };
    println!("{}, {} elements of f32, medians of {rounds} interleaved runs\n", device.name(), side * side);
    println!("{:<16} {:>10} {:>10} {:>8} {:>8} {:>8}", "case", "ms", "base ms", "ratio", "most", "busy");
    let mut file = options.json.as_ref().map(File::create).transpose()?;
    let cases = cases(&device, side)?;
    let mut progress = Progress::new("reductions", cases.len(), "cases");
    for (done, case) in cases.iter().enumerate() {
        progress.at(done, &format!(": {}", case.name));
        if !options.case.is_empty() && !options.case.iter().any(|wanted| wanted == case.name) {
            continue;
        }
        let mut times: [Vec<Duration>; 2] = Default::default();
        let mut busy: [Vec<Duration>; 2] = Default::default();
        // These runs are not counted. They compile kernels and touch memory for the first time.
        for round in 0..rounds + 2 {
            for (k, work) in [&case.work, &case.base].into_iter().enumerate() {
                device.synchronize()?;
                let (start, before) = (Instant::now(), running());
                work()?;
                device.synchronize()?;
                if round >= 2 {
                    times[k].push(start.elapsed());
                    busy[k].push(running() - before);
                }
            }
        }
        let [own, base] = times.map(|times| median(times).as_secs_f64());
        let [own_busy, base_busy] = busy.map(|times| median(times).as_secs_f64());
        let (name, most, busy) = (case.name, case.most, own_busy / base_busy);
        let (ratio, ms) = (own / base, [own, base].map(|time| time * 1e3));
        progress.print(|| {
            println!("{name:<16} {:>10.3} {:>10.3} {ratio:>8.2} {most:>8.2} {busy:>8.2}", ms[0], ms[1]);
        });
        if let Some(file) = &mut file {
            let object = json!({
                "case": name, "device": device.name(), "median_ns": own * 1e9, "base_ns": base * 1e9,
                "ratio": ratio, "most": most, "busy": busy,
            });
            writeln!(file, "{object}")?;
        }
    }
    Ok(())
}

/// Microseconds of one evaluation, for three numbers of elements in each power of ten.
fn sizes(device: &Device, powers: u32) -> std::result::Result<(), Failure> {
    println!("{}, microseconds, medians\n", device.name());
    println!(
        "{:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "elements", "x + y", "exp", "sum", "columns", "softmax"
    );
    for power in 3..3 + powers {
        for digit in [1, 2, 5] {
            let count = digit * 10_usize.pow(power);
            let (x, y) = (tensor(device, &[count])?, tensor(device, &[count])?);
            let rows = x.reshape([-1, 100]);
            let all = [&x + &y, x.exp(), x.sum(..), rows.sum(0), rows.softmax(-1)];
            print!("{count:>10}");
            for expr in all {
                let mut times = Vec::new();
                for _ in 0..(40_000_000 / count).clamp(9, 1001) {
                    let start = Instant::now();
                    expr.eval()?;
                    device.synchronize()?;
                    times.push(start.elapsed());
                }
                print!(" {:>10.2}", median(times).as_secs_f64() * 1e6);
            }
            println!();
        }
    }
    Ok(())
}

/// The time that threads of this process have run.
fn running() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let text = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    let nanoseconds = text.filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    Duration::from_nanos(nanoseconds.sum())
}
