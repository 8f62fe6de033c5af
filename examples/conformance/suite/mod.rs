//! Verified cases, evaluated on a device and compared element by element, with forms that do not block, so that the
//! example and a page run the same code.

mod joining;
mod pools;
mod products;
mod reductions;
mod selecting;
mod shapes;
mod values;
mod verdict;

use std::collections::BTreeMap;

use serde_json::Value;
use verdict::Verdict;
use zerostride::Device;

/// Results of one kind of case.
#[derive(Default)]
pub(crate) struct Row {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    pub ulp: u64,
    pub allowed: u64,
}

/// Events while cases are checked.
pub(crate) enum Event {
    /// The number of finished cases.
    Done(usize),
    /// A failed case: its name, and how it failed.
    Failed(String),
    /// A case that the device cannot have: its name, and why.
    Skipped(String, String),
}

/// The cases of a file, one JSON object a line.
pub(crate) fn parse(text: &str) -> Result<Vec<Value>, String> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| serde_json::from_str(line).map_err(|e| format!("{number}: {e}"))).collect()
}

/// Checks all cases on a device. At most `print` failures are reported.
pub(crate) async fn check(
    device: &Device,
    cases: &[Value],
    print: usize,
    mut tell: impl FnMut(Event),
) -> BTreeMap<String, Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut failed = 0;
    for (number, case) in cases.iter().enumerate() {
        tell(Event::Done(number));
        let (name, verdict) = one(device, case, number).await;
        let row = rows.entry(name.clone()).or_default();
        row.allowed = row.allowed.max(case["ulp"].as_u64().unwrap_or(0));
        match verdict {
            Verdict::Passed { ulp } => {
                row.passed += 1;
                row.ulp = row.ulp.max(ulp);
            }
            Verdict::Failed(how) => {
                row.failed += 1;
                failed += 1;
                if failed <= print {
                    let id = case["id"].as_str().map(|id| format!(" {id}")).unwrap_or_default();
                    tell(Event::Failed(format!("{name}{id}: {how}")));
                }
            }
            Verdict::Skipped(why) => {
                row.skipped += 1;
                tell(Event::Skipped(name, why));
            }
        }
    }
    rows
}

/// The kind of a case, and its outcome.
async fn one(device: &Device, case: &Value, number: usize) -> (String, Verdict) {
    let op = || case["op"].as_str().unwrap_or("?").to_string();
    match case["mode"].as_str() {
        _ if case["results"].is_array() => (op(), selecting::check(device, case).await),
        _ if case["operands"].is_array() => (op(), products::check(device, case).await),
        _ if case["expect"].is_array() && case["in"].is_null() => {
            (op(), joining::check(device, case, number).await)
        }
        Some(mode) => (format!("shape {mode}"), shapes::check(device, case).await),
        None if case["shape"].is_array() => (op(), reductions::check(device, case).await),
        None => (op(), values::check(device, case).await),
    }
}

/// The numbers of passed, failed and skipped cases.
pub(crate) fn counts(rows: &BTreeMap<String, Row>) -> [usize; 3] {
    let sum = |of: fn(&Row) -> usize| rows.values().map(of).sum();
    [sum(|row| row.passed), sum(|row| row.failed), sum(|row| row.skipped)]
}

/// A line for each kind of case.
pub(crate) fn table(device: &Device, rows: &BTreeMap<String, Row>) -> String {
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
