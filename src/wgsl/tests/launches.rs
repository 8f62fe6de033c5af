//! Kernels as they are launched over large operands, for `scripts/check-memory`: those that are kept in the tree, and
//! forms of reductions, scans and accesses beside them.

use std::fs;
use std::path::{Path, PathBuf};

use super::golden::{self, GPU, Launched};
use crate::common::portable::spirv;
use crate::ir::ReduceOp;
use crate::wgsl::emit;
use crate::{Device, Tensor};

/// Kernels of a GPU beside the golden ones, each over an operand that exceeds the cache.
fn large() -> Vec<(&'static str, Launched)> {
    let zeros = |shape: [usize; 2]| Device::cpu().zeros::<f32>(shape).unwrap();
    let flat = Device::cpu().zeros::<f32>([1 << 22]).unwrap();
    let square = zeros([2048, 2048]);
    let sum = |x: &Tensor<f32>, axis| golden::reduction(GPU, &x.expr(), ReduceOp::Sum, axis);
    let cumsum = |x: &Tensor<f32>, axis, is_last| golden::cumsum(GPU, &x.expr(), axis, false, is_last);
    vec![
        ("plus_one", golden::map(&(&flat + 1.0))),
        ("transposed.2048", golden::map(&(&square + square.transpose(0, 1)))),
        ("every_third", golden::map(&(zeros([2048, 3072]).slice_step(1, .., 3) + zeros([2048, 1024])))),
        ("every_eighth", golden::map(&(zeros([2048, 4096]).slice_step(1, .., 8) + zeros([2048, 512])))),
        ("flipped", golden::map(&(&square + square.flip(1)))),
        ("sum.rows_of_16", sum(&zeros([1 << 17, 16]), 1)),
        ("sum.rows_of_32", sum(&zeros([1 << 16, 32]), 1)),
        ("sum.rows_of_64", sum(&zeros([1 << 15, 64]), 1)),
        ("sum.rows_of_1024", sum(&zeros([1 << 12, 1024]), 1)),
        ("sum.rows_of_4096", sum(&zeros([1 << 10, 4096]), 1)),
        ("sum.all", sum(&flat, 0)),
        ("sum.columns", sum(&square, 0)),
        ("sum.tall", sum(&zeros([1 << 18, 16]), 0)),
        ("cumsum.rows_of_256", cumsum(&zeros([1 << 15, 256]), 1, false)),
        ("cumsum.columns.lasts", cumsum(&square, 0, false)),
        ("cumsum.columns.values", cumsum(&square, 0, true)),
        ("softmax.rows_of_1024", golden::rows(GPU, &zeros([1 << 12, 1024]).softmax(1))),
        ("softmax.rows_of_4096", golden::rows(GPU, &zeros([1 << 10, 4096]).softmax(1))),
    ]
}

/// Kernels that are wrong on purpose: the error to find, the kernel, the replaced text and the replacement.
const WRONG: [(&str, &str, &str, &str); 4] = [
    ("wrong.race.workgroup", "softmax", "workgroupBarrier();", ""),
    ("wrong.race.storage", "same_shape", "result[i]", "result[i / 2u]"),
    ("wrong.above", "same_shape", "in0[i]", "in0[i * 9u % p.vectors]"),
    ("wrong.outside", "same_shape", "in1[i]", "in1[i + 1u]"),
];

/// Writes a kernel as SPIR-V, and beside it as JSON how it is launched.
fn write(folder: &Path, name: &str, text: &str, launched: &Launched) {
    let plan = &launched.plan;
    let bindings = plan.kernel.bindings.iter();
    let read = plan.reads.iter().zip(bindings).map(|(slot, of)| slot.elements * of.dtype.size());
    let json = serde_json::json!({
        "words": emit(&plan.kernel).unwrap().block(&plan.launch.words),
        "groups": plan.launch.groups,
        "stored": launched.stored,
        "read": read.collect::<Vec<_>>(),
    });
    let words = spirv(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(folder.join(format!("{name}.json")), json.to_string()).unwrap();
    fs::write(folder.join(format!("{name}.spv")), bytes).unwrap();
}

#[test]
#[ignore = "writes the kernels for scripts/check-memory"]
fn kernels_as_they_are_launched() {
    let folder: PathBuf = std::env::var_os("ZEROSTRIDE_DUMP").expect("ZEROSTRIDE_DUMP names a folder").into();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, launched) in golden::launched(64) {
        let text = emit(&launched.plan.kernel).unwrap().text();
        let small = fs::read_to_string(kept.join(name).with_extension("wgsl")).unwrap();
        assert_eq!(text, small, "{name}: over a large operand it is another kernel");
        write(&folder, name, &text, &launched);
        for (wrong, _, from, to) in WRONG.into_iter().filter(|(_, of, ..)| *of == name) {
            assert!(text.contains(from), "{name} has no {from}");
            write(&folder, wrong, &text.replacen(from, to, 1), &launched);
        }
    }
    for (name, launched) in large() {
        write(&folder, name, &emit(&launched.plan.kernel).unwrap().text(), &launched);
    }
}
