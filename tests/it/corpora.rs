//! The verified answers of `tests/data`, on every device.

use serde_json::Value;

use crate::common::depth::{depth, thinned};
use crate::common::on_every_device;
use crate::suite::{self, Event};

/// Checks a file's lines, of which each device can have so many at least. A quick run takes one of `quick`, and the first of
/// each kind.
fn check(text: &str, least: usize, quick: u64) {
    let kind = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        ["op", "mode"].map(|key| case[key].to_string()).concat()
    };
    let of = |number: u64| {
        let lines: Vec<&str> = thinned(number, text, kind).collect();
        suite::parse(&lines.join("\n")).unwrap()
    };
    // Adapters take longer, for most lines compile a kernel.
    let (for_cpu, for_adapters) = (of(quick), of(4 * quick));
    println!("{} and {} of {} lines", for_cpu.len(), for_adapters.len(), text.lines().count());
    let least = depth(least / 8 / quick as usize, least);
    on_every_device(|device| {
        let cases = if device.name() == "cpu" { &for_cpu } else { &for_adapters };
        let tell = |event| match event {
            Event::Done(_) => {}
            Event::Failed(how) => panic!("{how} on {}", device.name()),
            Event::Skipped(name, why) => {
                assert!(why.contains("needs the feature"), "{name} on {}: {why}", device.name());
            }
        };
        let rows = pollster::block_on(suite::check(device, cases, usize::MAX, tell));
        let [passed, _, skipped] = suite::counts(&rows);
        assert!(passed >= least && passed + skipped == cases.len(), "{passed} passed on {}", device.name());
    });
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
}

#[test]
fn selecting() {
    check(include_str!("../data/selecting.jsonl"), 10, 1);
}

#[test]
fn joining() {
    check(include_str!("../data/joining.jsonl"), 500, 8);
}
