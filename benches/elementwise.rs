//! The speed of elementwise work, by layout: bytes over time, against the device's own buffer copy, against the same
//! shape, and against the CPU path in the same run.
//!
//! ```text
//! cargo bench --bench elementwise -- [--device NAME] [--quick] [--json FILE] [--sweep] [--host] [--expressions] [--strict] [--case NAME]...
//! ```
//!
//! Times are medians of interleaved, warm runs. Each run ends when the device is done.

#[path = "elementwise/arithmetic.rs"]
mod arithmetic;
#[path = "elementwise/cases.rs"]
mod cases;
#[allow(dead_code)] // used here in part
mod common;
#[path = "elementwise/copy.rs"]
mod copy;
#[path = "elementwise/expressions.rs"]
mod expressions;
#[path = "elementwise/host.rs"]
mod host;

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use cases::Case;
use clap::Parser;
use common::progress::Progress;
use common::{Failure, median};
use serde_json::json;
use zerostride::{Device, ErrorKind};

#[derive(Parser)]
struct Options {
    /// Smaller sizes and fewer runs
    #[arg(long)]
    quick: bool,
    /// The file for one JSON object a row
    #[arg(long)]
    json: Option<PathBuf>,
    /// The same shape at 1 to 64 Mi elements instead
    #[arg(long)]
    sweep: bool,
    /// The host's times instead: returns, chains, transfers, the start
    #[arg(long)]
    host: bool,
    /// Deep, wide and costly expressions instead
    #[arg(long)]
    expressions: bool,
    /// The cost of strict arithmetic instead: chains with and without fences
    #[arg(long)]
    strict: bool,
    /// Only these cases
    #[arg(long)]
    case: Vec<String>,
    #[command(flatten)]
    all: common::All,
}

/// The measurements of one case.
struct Row {
    name: &'static str,
    bytes: usize,
    /// Elements of the result.
    elements: usize,
    median: Duration,
    copy: Duration,
    cpu: Duration,
    kernels: usize,
    /// Time per element against that of the same shape in the same rounds.
    same: f64,
}

fn main() -> ExitCode {
    common::ended(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Failure> {
    let device = options.all.device()?;
    if options.host {
        return host::run(&device);
    }
    if options.expressions {
        let (side, rounds) = if options.all.bench && !options.quick { (1024, 15) } else { (256, 3) };
        return expressions::run(&device, side, rounds);
    }
    if options.sweep {
        return sweep(&device);
    }
    if options.strict {
        return Ok(arithmetic::run(
            &device,
            if options.all.bench { 4096 } else { 64 },
            if options.quick { 5 } else { 15 },
        )?);
    }
    let (side, rounds) = match (options.all.bench, options.quick) {
        (false, _) => (256, 1),
        (true, true) => (1024, 7),
        (true, false) => (4096, 15),
    };
    println!("{}, {side} x {side} where not said otherwise, medians of {rounds}\n", device.name());
    println!(
        "{:<12} {:>9} {:>10} {:>8} {:>7} {:>7} {:>8} {:>10} {:>8}",
        "case", "MB", "ms", "GB/s", "copy", "same", "kernels", "CPU ms", "to CPU"
    );
    let copier = copy::Copier::new(&device)?;
    let same = Case::new("same", &device, side)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut progress = Progress::new("elementwise", cases::NAMES.len(), "cases");
    for (done, name) in cases::NAMES.iter().enumerate() {
        progress.at(done, &format!(": {name}"));
        if !options.case.is_empty() && !options.case.iter().any(|wanted| wanted == name) {
            continue;
        }
        let row = match measure(name, &device, &same, &copier, side, rounds) {
            Err(error) if error.downcast_ref().map(zerostride::Error::kind) == Some(ErrorKind::Limit) => {
                progress.print(|| println!("{name:<12} not run: {error}"));
                continue;
            }
            row => row?,
        };
        let seconds = row.median.as_secs_f64();
        let line = format!(
            "{:<12} {:>9.1} {:>10.3} {:>8.2} {:>7.2} {:>7.2} {:>8} {:>10.3} {:>8.2}",
            row.name,
            row.bytes as f64 / 1e6,
            seconds * 1e3,
            row.bytes as f64 / seconds / 1e9,
            row.copy.as_secs_f64() / seconds,
            row.same,
            row.kernels,
            row.cpu.as_secs_f64() * 1e3,
            seconds / row.cpu.as_secs_f64()
        );
        progress.print(|| println!("{line}"));
        rows.push(row);
    }
    if let Some(path) = &options.json {
        write_json(path, &device, &rows)?;
    }
    Ok(())
}

/// `a + b` of equal shapes, by size.
fn sweep(device: &Device) -> Result<(), Failure> {
    println!("{}, f32 of one shape, medians of 9\n", device.name());
    println!("{:>12} {:>9} {:>10} {:>8} {:>7}", "elements", "MB", "ms", "GB/s", "copy");
    let copier = copy::Copier::new(device)?;
    let sides = [1024, 1448, 2048, 2896, 4096, 5792, 8192];
    let mut progress = Progress::new("sizes", sides.len(), "sizes");
    for (done, side) in sides.into_iter().enumerate() {
        progress.at(done, &format!(": {side} x {side}"));
        let row = measure("same", device, &Case::new("same", device, side)?, &copier, side, 9)?;
        let seconds = row.median.as_secs_f64();
        let line = format!(
            "{:>12} {:>9.1} {:>10.3} {:>8.2} {:>7.2}",
            row.elements,
            row.bytes as f64 / 1e6,
            seconds * 1e3,
            row.bytes as f64 / seconds / 1e9,
            row.copy.as_secs_f64() / seconds
        );
        progress.print(|| println!("{line}"));
    }
    Ok(())
}

fn measure(
    name: &'static str,
    device: &Device,
    same: &Case,
    copier: &copy::Copier,
    side: usize,
    rounds: usize,
) -> Result<Row, Failure> {
    let cpu = Device::cpu();
    let (case, reference) = (Case::new(name, device, side)?, Case::new(name, &cpu, side)?);
    // These runs are not counted. They compile kernels and touch memory for the first time.
    for _ in 0..2 {
        case.run(device)?;
        same.run(device)?;
        reference.run(&cpu)?;
        copier.copy(case.bytes)?;
    }
    let (mut times, mut same_times) = (Vec::new(), Vec::new());
    let (mut copies, mut cpu_times) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        times.push(case.run(device)?);
        same_times.push(same.run(device)?);
        copies.push(copier.copy(case.bytes)?);
        cpu_times.push(reference.run(&cpu)?);
    }
    let (median_time, same_time) = (median(times), median(same_times));
    let per_element = |time: Duration, case: &Case| time.as_secs_f64() / case.elements as f64;
    Ok(Row {
        name,
        bytes: case.bytes,
        elements: case.elements,
        median: median_time,
        same: per_element(median_time, &case) / per_element(same_time, same),
        copy: median(copies),
        cpu: median(cpu_times),
        kernels: case.kernels,
    })
}

fn write_json(path: &PathBuf, device: &Device, rows: &[Row]) -> Result<(), Failure> {
    let mut file = File::create(path)?;
    for row in rows {
        let seconds = row.median.as_secs_f64();
        let object = json!({
            "case": row.name,
            "device": device.name(),
            "median_ns": row.median.as_nanos() as u64,
            "bytes": row.bytes,
            "gbps": row.bytes as f64 / seconds / 1e9,
            "copy_share": row.copy.as_secs_f64() / seconds,
            "same_ratio": row.same,
            "kernels": row.kernels,
            "cpu_ns": row.cpu.as_nanos() as u64,
        });
        writeln!(file, "{object}")?;
    }
    Ok(())
}
