//! Checks devices against verified cases, for real: every line is evaluated on the device and
//! every element is compared.
//!
//! ```text
//! cargo run --release --example conformance -- [--device NAME]... [--report FILE] FILE...
//! ```
//!
//! Files hold one JSON object a line: questions about shapes (`mode`), about values (`op`), or about
//! reductions (`op` and `shape`), in the format of `tests/data/README.md`. Without `--device` every device of this machine is
//! checked. The exit code is 1 when a case failed.

#[path = "../../benches/common/progress.rs"]
mod progress;
mod reductions;
mod shapes;
mod values;
mod verdict;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use progress::Progress;
use serde_json::Value;
use verdict::Verdict;
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
    /// Where the tables go as Markdown
    #[arg(long)]
    report: Option<PathBuf>,
    /// Files of cases
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Results of one kind of case.
#[derive(Default)]
struct Row {
    passed: usize,
    failed: usize,
    skipped: usize,
    ulp: u64,
    allowed: u64,
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
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let case: Value =
                serde_json::from_str(line).map_err(|e| format!("{}:{}: {e}", file.display(), number + 1))?;
            cases.push(case);
        }
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
        println!("{}", table(device, &rows));
        report += &markdown(device, &rows);
        passed += rows.values().map(|row| row.passed).sum::<usize>();
        failed += rows.values().map(|row| row.failed).sum::<usize>();
        skipped += rows.values().map(|row| row.skipped).sum::<usize>();
    }
    if let Some(path) = &options.report {
        std::fs::write(path, report).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    Ok(failed)
}

fn check(device: &Device, cases: &[Value], print: usize) -> BTreeMap<String, Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut printed = 0;
    let mut progress = Progress::new(device.name(), cases.len(), "cases");
    for (done, case) in cases.iter().enumerate() {
        progress.at(done, "");
        let (name, verdict) = match case["mode"].as_str() {
            Some(mode) => (format!("shape {mode}"), shapes::check(device, case)),
            None => {
                let check = if case["shape"].is_array() { reductions::check } else { values::check };
                (case["op"].as_str().unwrap_or("?").to_string(), check(device, case))
            }
        };
        let row = rows.entry(name.clone()).or_default();
        row.allowed = row.allowed.max(case["ulp"].as_u64().unwrap_or(0));
        match verdict {
            Verdict::Passed { ulp } => {
                row.passed += 1;
                row.ulp = row.ulp.max(ulp);
            }
            Verdict::Failed(how) => {
                row.failed += 1;
                printed += 1;
                if printed <= print {
                    let id = case["id"].as_str().map(|id| format!(" {id}")).unwrap_or_default();
                    progress.print(|| println!("FAILED on {}: {name}{id}: {how}", device.name()));
                }
            }
            Verdict::Skipped(why) => {
                row.skipped += 1;
                progress.print(|| println!("skipped on {}: {name}: {why}", device.name()));
            }
        }
    }
    rows
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

fn table(device: &Device, rows: &BTreeMap<String, Row>) -> String {
    let mut text = format!(
        "{}\n  {:<20} {:>6} {:>7} {:>7} {:>8}  {:>9} {:>8}\n",
        device.name(),
        "case",
        "cases",
        "passed",
        "failed",
        "skipped",
        "worst ulp",
        "allowed"
    );
    for (name, row) in rows {
        text += &format!(
            "  {name:<20} {:>6} {:>7} {:>7} {:>8}  {:>9} {:>8}\n",
            row.passed + row.failed + row.skipped,
            row.passed,
            row.failed,
            row.skipped,
            row.ulp,
            row.allowed
        );
    }
    text
}
