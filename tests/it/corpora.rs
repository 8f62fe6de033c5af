//! The verified answers of `tests/data`, on every device.

use serde_json::Value;

use crate::common::depth::{depth, share, thinned};
use crate::common::{check_kernels, devices, turns};
use crate::suite::{self, Event};

/// Checks a file's lines, of which the CPU path can have so many at least. A quick run takes one of `quick` there and fewer
/// on adapters, which compile a kernel for most lines, and the first of each kind on each device. Others take all lines, on
/// adapters in turn.
fn check(text: &str, least: usize, quick: u64) {
    let kind = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        ["op", "mode"].map(|key| case[key].to_string()).concat()
    };
    for (k, device) in devices().iter().enumerate() {
        let is_cpu = device.name() == "cpu";
        let lines: Vec<&str> = match is_cpu {
            true => thinned(quick, text, kind).collect(),
            false if depth(true, false) => thinned(4 * quick, text, kind).collect(),
            false => share(text, k, turns(), kind).collect(),
        };
        let cases = suite::parse(&lines.join("\n")).unwrap();
        let tell = |event| match event {
            Event::Done(_) => {}
            Event::Failed(how) => panic!("{how} on {}", device.name()),
            Event::Skipped(name, why) => {
                assert!(why.contains("needs the feature"), "{name} on {}: {why}", device.name());
            }
        };
        let rows = pollster::block_on(suite::check(device, &cases, usize::MAX, tell));
        let [passed, _, skipped] = suite::counts(&rows);
        println!("{passed} of {} lines passed on {}", text.lines().count(), device.name());
        let least = if is_cpu { depth(least / 8 / quick as usize, least) } else { 1 };
        assert!(passed >= least && passed + skipped == cases.len(), "{passed} passed on {}", device.name());
        check_kernels(device);
    }
}

#[test]
fn values() {
    check(include_str!("../data/values.jsonl"), 400, 8);
}

#[test]
fn shapes() {
    check(include_str!("../data/shapes.jsonl"), 500, 4);
}

#[test]
fn reductions() {
    check(include_str!("../data/reductions.jsonl"), 700, 16);
}

#[test]
fn products() {
    check(include_str!("../data/products.jsonl"), 10, 1);
    check(include_str!("../data/fused.jsonl"), 60, 2);
}

#[test]
fn pools_and_convolutions() {
    check(include_str!("../data/pools.jsonl"), 30, 2);
}

#[test]
fn selecting() {
    check(include_str!("../data/selecting.jsonl"), 10, 1);
}

#[test]
fn joining() {
    check(include_str!("../data/joining.jsonl"), 500, 8);
}
