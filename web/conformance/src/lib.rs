//! The conformance tool in a page's worker, and checks of a browser's own behaviour.

mod checks;
#[path = "../../../examples/hash/work.rs"]
mod hash;
#[path = "../../../examples/conformance/suite/mod.rs"]
mod suite;

use std::collections::{BTreeMap, BTreeSet};

use js_sys::Function;
use suite::Event;
use wasm_bindgen::prelude::*;
use zerostride::Device;

/// The outcome of the cases on a device.
#[wasm_bindgen(getter_with_clone)]
pub struct Outcome {
    /// The device's name.
    pub device: String,
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    /// A line for each kind of case.
    pub table: String,
    /// Failed cases, and how they failed.
    pub failures: Vec<String>,
    /// Why cases were skipped, with their names.
    pub reasons: Vec<String>,
}

/// Checks a device (`webgpu`, `cpu`) against cases, one JSON object a line, as `examples/conformance` does. `progress`
/// is called with the number of finished cases and of all.
///
/// # Errors
/// When the device does not open, or a line is no case.
#[wasm_bindgen]
pub async fn conformance(device: String, cases: String, progress: Function) -> Result<Outcome, JsError> {
    console_error_panic_hook::set_once();
    let device = Device::named_async(&device).await?;
    let cases = suite::parse(&cases).map_err(|error| JsError::new(&format!("line {error}")))?;
    let mut failures = Vec::new();
    let mut skipped_for: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let tell = |event| match event {
        Event::Done(done) => {
            let _ = progress.call2(&JsValue::NULL, &done.into(), &cases.len().into());
        }
        Event::Failed(text) => failures.push(text),
        Event::Skipped(name, why) => {
            skipped_for.entry(why).or_default().insert(name);
        }
    };
    let rows = suite::check(&device, &cases, usize::MAX, tell).await;
    let [passed, failed, skipped] = suite::counts(&rows);
    let table = suite::table(&device, &rows);
    let names = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>().join(", ");
    let reasons = skipped_for.into_iter().map(|(why, all)| format!("{why} ({})", names(all))).collect();
    Ok(Outcome { device: device.name(), passed, failed, skipped, table, failures, reasons })
}
