//! Checks devices against verified cases: every line is evaluated on the device, and every element is compared.
//!
//! ```text
//! cargo run --release --example conformance -- [--device NAME]... [--report FILE] FILE...
//! ```
//!
//! Files have one JSON object a line, about shapes (`mode`), values (`op`), reductions (`op` and `shape`), or lookups
//! and joins (`op` and `result`), in the format of `tests/data/README.md`. Without `--device` every device of this
//! machine is checked. The exit code is 1 if a case failed.

#[path = "../../benches/common/progress.rs"]
mod progress;
mod suite;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use progress::Progress;
use serde_json::Value;
use suite::{Event, Row};
use zerostride::Device;

#[derive(Parser)]
#[command(about = "Checks devices against verified cases")]
struct Options {
    /// A device, as `Device::named` takes it; all of this machine when none is given
    #[arg(long)]
    device: Vec<String>,
    /// Failures to print in full, per device
    #[arg(long, default_value_t = 10)]
    failures: usize,
    /// The file for tables in Markdown
    #[arg(long)]
    report: Option<PathBuf>,
    /// Files of cases
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Checks everything and returns the number of failures.
fn run(options: &Options) -> Result<usize, String> {
    let mut cases = Vec::new();
    for file in &options.files {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        cases.extend(suite::parse(&text).map_err(|e| format!("{}:{e}", file.display()))?);
    }
    let devices: Vec<Device> = if options.device.is_empty() {
        let open = |adapter: &zerostride::Adapter| adapter.open().map_err(|e| e.to_string());
        Device::all().iter().rev().map(open).collect::<Result<_, _>>()?
    } else {
        let named = |name: &String| Device::named(name).map_err(|e| e.to_string());
        options.device.iter().map(named).collect::<Result<_, _>>()?
    };

    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut report = String::from("# Conformance\n");
    for device in &devices {
        let rows = check(device, &cases, options.failures);
        println!("{}", suite::table(device, &rows));
        report += &markdown(device, &rows);
        let [own_passed, own_failed, own_skipped] = suite::counts(&rows);
        passed += own_passed;
        failed += own_failed;
        skipped += own_skipped;
    }
    if let Some(path) = &options.report {
        std::fs::write(path, report).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    Ok(failed)
}

fn check(device: &Device, cases: &[Value], print: usize) -> BTreeMap<String, Row> {
    let mut progress = Progress::new(device.name(), cases.len(), "cases");
    let tell = |event| match event {
        Event::Done(done) => progress.at(done, ""),
        Event::Failed(text) => progress.print(|| println!("FAILED on {}: {text}", device.name())),
        Event::Skipped(name, why) => {
            progress.print(|| println!("skipped on {}: {name}: {why}", device.name()));
        }
    };
    pollster::block_on(suite::check(device, cases, print, tell))
}

fn markdown(device: &Device, rows: &BTreeMap<String, Row>) -> String {
    let mut text = format!(
        "\n## {}\n\n| case | passed | failed | skipped | worst ulp | allowed |\n|---|---|---|---|---|---|\n",
        device.name()
    );
    for (name, row) in rows {
        let Row { passed, failed, skipped, ulp, allowed } = row;
        text += &format!("| {name} | {passed} | {failed} | {skipped} | {ulp} | {allowed} |\n");
    }
    text
}
