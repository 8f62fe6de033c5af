//! What a GPU's compiler makes of kernels, by its own figures, as a table.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::translate;
use crate::vulkan::{Code, Gpu};

/// The kernel that others are measured by.
const MEASURE: &str = "add.f32.same_shape";

/// Prints a table of the kernels that `elements.txt` of a folder names. Deterministic, so that a difference of two
/// tables is what a change costs.
pub fn print(gpu: &Gpu, folder: &Path) {
    let elements = fs::read_to_string(folder.join("elements.txt")).unwrap();
    let kernels: Vec<(&str, f64)> = elements
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, elements)| (name, elements.parse().unwrap()))
        .collect();
    let compile =
        |name: &str| translate::kernel(&folder.join(format!("{name}.wgsl"))).map(|words| gpu.code(&words));
    let cycles = |code: &Code| code.statistics["Inverse Throughput"];
    let measure = cycles(&compile(MEASURE)[0]) as f64 / 4.0;
    println!("## {}\n", gpu.description());
    println!(
        "| kernel | elements | instructions | VGPRs | waves | cycles | with checks | an element | loads | stores |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, elements) in kernels {
        let [code, checked] = compile(name);
        let of = |name: &str| code.statistics[name];
        let spills = match of("Spilled VGPRs") + of("Spilled SGPRs") + of("Scratch size") {
            0 => "",
            _ => ", spills",
        };
        let (count, each) = match elements {
            0.0 => (String::new(), String::new()),
            _ => (format!("{elements}"), format!("{:.2}", cycles(&code) as f64 / elements / measure)),
        };
        println!(
            "| {name} | {count} | {} | {}{spills} | {} | {} | {} | {each} | {} | {} |",
            of("Instructions"),
            of("VGPRs"),
            of("Subgroups per SIMD"),
            cycles(&code),
            cycles(&checked),
            widths(&code, "buffer_load_"),
            widths(&code, "buffer_store_"),
        );
    }
}

/// How wide the instructions of a kind are, as the machine's code has them: "2 x 16" is two of 16 bytes a lane.
fn widths(code: &Code, kind: &str) -> String {
    let (_, assembly) = code.forms.iter().find(|(form, _)| form == "assembly").expect("the machine's code");
    let mut counts = BTreeMap::new();
    for line in assembly.lines() {
        if let Some(rest) = line.trim_start().strip_prefix(kind) {
            let form = rest.split_whitespace().next().unwrap();
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
