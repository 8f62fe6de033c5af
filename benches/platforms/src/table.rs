//! A table of kernels by the figures of a GPU's compiler.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::translate;
use crate::vulkan::{Checks, Code, Gpu};

/// The kernel that others are compared with.
const MEASURE: &str = "add.f32.same_shape";

/// The columns of a driver's statistics.
struct Driver {
    /// The statistic that kernels are compared by, and its name as a column.
    measure: &'static str,
    unit: &'static str,
    /// Other statistics, and their names here.
    columns: &'static [(&'static str, &'static str)],
    /// A statistic that is not 0 if registers do not suffice.
    spills: &'static [&'static str],
    /// Machine instructions that load and store, if their text shows their width.
    loads: &'static [&'static str],
    stores: &'static [&'static str],
}

const DRIVERS: [Driver; 3] = [
    Driver {
        measure: "Inverse Throughput",
        unit: "cycles",
        columns: &[("Instructions", "instructions"), ("VGPRs", "VGPRs"), ("Subgroups per SIMD", "waves")],
        spills: &["Spilled VGPRs", "Spilled SGPRs", "Scratch size"],
        loads: &["buffer_load_"],
        stores: &["buffer_store_"],
    },
    Driver {
        measure: "Cycle Count",
        unit: "cycles",
        columns: &[
            ("Instruction Count", "instructions"),
            ("SEND Count", "sends"),
            ("Max live registers", "live registers"),
        ],
        spills: &["Spill Count", "Fill Count"],
        loads: &[],
        stores: &[],
    },
    Driver {
        measure: "Instruction count",
        unit: "instructions",
        columns: &[("Number of GPRs", "registers")],
        spills: &["SLM Size"],
        loads: &["ld.global."],
        stores: &["st.global."],
    },
];

/// Prints a table of the kernels that `elements.txt` of a folder names. Deterministic, so that a difference of two
/// tables is what a change costs.
pub fn print(device: &str, folder: &Path) {
    // As wgpu asks of drivers that have the second form, and of others; then what either part of that costs.
    let gpus = [Checks::Second, Checks::First, Checks::None].map(|checks| Gpu::named(device, checks));
    let compile = |name: &str| {
        let [plain, checked] = translate::kernel(&folder.join(format!("{name}.wgsl")));
        [(0, &plain), (1, &checked), (2, &checked), (2, &plain)].map(|(gpu, words)| gpus[gpu].code(words))
    };
    let first = compile(MEASURE);
    let driver = DRIVERS.iter().find(|driver| first[0].statistics.contains_key(driver.measure));
    let driver = driver.unwrap_or_else(|| panic!("an unknown driver tells {:?}", first[0].statistics.keys()));
    let measure = |code: &Code| code.statistics[driver.measure] as f64;
    let unit = measure(&first[0]) / 4.0;

    println!("## {}\n", gpus[0].description());
    let mut heads = vec!["kernel", "elements", "lanes"];
    heads.extend(driver.columns.iter().map(|(_, name)| *name));
    heads.extend([driver.unit, "first and naga", "naga", "none", "an element"]);
    if !driver.loads.is_empty() {
        heads.extend(["loads", "stores"]);
    }
    println!("| {} |\n|{}", heads.join(" | "), "---|".repeat(heads.len()));
    let elements = fs::read_to_string(folder.join("elements.txt")).unwrap();
    let (mut count, mut logarithms) = (0, [0.0; 3]);
    for (name, elements) in elements.lines().map(|line| line.split_once(' ').unwrap()) {
        let elements: f64 = elements.parse().unwrap();
        let codes = compile(name);
        let code = &codes[0];
        let has_spills = driver.spills.iter().any(|name| code.statistics.get(*name).is_some_and(|&n| n > 0));
        let is_map = elements > 0.0;
        let mut cells = vec![format!("{name}{}", if has_spills { " (spills)" } else { "" })];
        cells.push(if is_map { elements.to_string() } else { String::new() });
        cells.push(code.lanes.to_string());
        let of =
            |(name, _): &(&str, &str)| code.statistics.get(*name).map_or("-".to_string(), u64::to_string);
        cells.extend(driver.columns.iter().map(of));
        cells.extend(codes.iter().map(|code| measure(code).to_string()));
        cells.push(if is_map { format!("{:.2}", measure(code) / elements / unit) } else { String::new() });
        if !driver.loads.is_empty() {
            for kinds in [driver.loads, driver.stores] {
                let [checked, free] = [code, &codes[3]].map(|code| widths(code, kinds));
                cells.push(if checked == free { free } else { format!("{checked}; {free} with none") });
            }
        }
        println!("| {} |", cells.join(" | "));
        count += 1;
        for (sum, other) in logarithms.iter_mut().zip(&codes) {
            *sum += (measure(other) / measure(&codes[3])).ln();
        }
    }
    let [second, first, naga] = logarithms.map(|sum: f64| (sum / f64::from(count)).exp());
    println!(
        "\nGeometric means of {} of {count} kernels, as multiples of none: {second:.2} by robustBufferAccess2, {first:.2} by \
         robustBufferAccess and naga, {naga:.2} by naga.",
        driver.unit
    );
}

/// How wide the instructions of a kind are, as the machine's code has them: "2 x 16" is two of 16 bytes a lane.
fn widths(code: &Code, kinds: &[&str]) -> String {
    let (_, assembly) =
        code.forms.iter().find(|(form, _)| form.ends_with("assembly")).expect("the machine's code");
    let mut counts = BTreeMap::new();
    for line in assembly.lines() {
        // NVK writes the result first.
        let line = line.split_once(" = ").map_or(line, |(_, rest)| rest).trim_start();
        if let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) {
            let form = rest.split_whitespace().next().unwrap().rsplit('.').next().unwrap();
            let bytes = match form {
                "dwordx4" | "b128" => 16,
                "dwordx3" | "b96" => 12,
                "dwordx2" | "b64" => 8,
                "dword" | "b32" => 4,
                _ if form.contains("short") || form.contains("16") => 2,
                _ => 1,
            };
            *counts.entry(std::cmp::Reverse(bytes)).or_insert(0) += 1;
        }
    }
    let texts: Vec<String> = counts.iter().map(|(bytes, count)| format!("{count} x {}", bytes.0)).collect();
    texts.join(", ")
}
