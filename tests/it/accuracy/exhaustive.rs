//! All 2^32 values of f32 through every inexact function of one operand.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use zerostride::{DType, Device, Expr, Operation, operations};

use super::{Real, distance};
use crate::common::listed;
use crate::common::reference::UNARY;

/// The results of a function on a device.
#[derive(Clone, Copy, Default)]
struct Tally {
    worst: f64,
    at: f32,
    sum: f64,
    count: u64,
}

impl Tally {
    fn add(mut self, other: Tally) -> Tally {
        if other.worst > self.worst {
            (self.worst, self.at) = (other.worst, other.at);
        }
        self.sum += other.sum;
        self.count += other.count;
        self
    }
}

const CHUNK: u32 = 1 << 24;

fn run(op: &Operation, of_f32: fn(f32) -> f32, device: &Device) -> Tally {
    let mut tally = Tally::default();
    for chunk in 0..u32::MAX / CHUNK + 1 {
        let values: Vec<f32> = (chunk * CHUNK..=chunk * CHUNK + (CHUNK - 1)).map(f32::from_bits).collect();
        let exact: Vec<f32> = values.par_iter().map(|&x| of_f32(x)).collect();
        let x = device.upload(&values, [values.len()]).unwrap().expr();
        let got = Expr::<f32>::call(op.name, &[x]).to_vec().unwrap();
        let each = values.par_iter().zip(&got).zip(&exact);
        // Subnormal inputs may be flushed.
        let each = each.filter(|((x, _), _)| !x.is_subnormal());
        let part = each.map(|((&x, &got), &exact)| {
            let off = distance(op, got, exact.value());
            Tally { worst: off, at: x, sum: off, count: 1 }
        });
        tally = tally.add(part.reduce(Tally::default, Tally::add));
    }
    tally
}

/// `ZEROSTRIDE_OPS` names functions, separated by commas. The default is all. They run on the CPU path, because
/// every device has the same bits.
#[test]
#[ignore = "takes an hour"]
fn every_f32() {
    let wanted = listed("ZEROSTRIDE_OPS");
    let device = Device::cpu();
    let mut text = String::from(
        "# Accuracy\n\nEvery f32 through every inexact function of one operand, and the greatest distance from the correctly\n\
         rounded result, in units in the last place. Every device has these results. `ZEROSTRIDE_BLESS=1 cargo test\n\
         --release --test it accuracy -- --ignored` writes this page. The reference is the crate `pxfm`. Subnormal inputs\n\
         are left out, and subnormal results count as 0, as adapters may flush both. `lgamma` and `digamma` count units of 1 and 16 where the\n\
         result is smaller.\n\n| function | bound | worst | input | bits | mean | inputs |\n|---|---|---|---|---|---|---|\n",
    );
    let mut wrong = Vec::new();
    for op in operations().filter(|op| UNARY.iter().any(|reference| reference.name == op.name)) {
        if wanted.as_ref().is_some_and(|wanted| !wanted.iter().any(|name| name == op.name)) {
            continue;
        }
        let reference = UNARY.iter().find(|reference| reference.name == op.name).unwrap();
        let start = Instant::now();
        let tally = run(&op, reference.of_f32, &device);
        let allowed = f64::from(op.ulp(DType::F32));
        let row = format!(
            "| `{}` | {allowed} | {} | {:?} | {:#010x} | {:.5} | {} |",
            op.name,
            tally.worst,
            tally.at,
            tally.at.to_bits(),
            tally.sum / tally.count as f64,
            tally.count
        );
        eprintln!("{row} {:.0} s", start.elapsed().as_secs_f64());
        writeln!(text, "{row}").unwrap();
        if tally.worst > allowed {
            wrong.push(row);
        }
    }
    if std::env::var_os("ZEROSTRIDE_BLESS").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/accuracy.md"), text).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
