//! Every broadcasting rule answers as the system that it comes from.

mod common;
#[path = "../examples/conformance/suite/shapes.rs"]
mod shapes;
#[allow(dead_code)] // the example counts what tests only compare
#[path = "../examples/conformance/suite/verdict.rs"]
mod verdict;

use serde_json::Value;
use verdict::Verdict;
use zerostride::{Broadcast, Shape};

fn cases() -> Vec<Value> {
    let text = include_str!("data/shapes.jsonl");
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() > 500);
    cases
}

fn shape(value: &Value) -> Option<Vec<usize>> {
    value.as_array()?.iter().map(|n| n.as_u64().map(|n| n as usize)).collect()
}

#[test]
fn shapes_alone() {
    for case in cases() {
        let shapes: Option<Vec<Shape>> = match case["shapes"].as_array() {
            Some(all) => all.iter().map(|s| shape(s).map(Shape::from)).collect(),
            None => Some([&case["a"], &case["b"]].iter().filter_map(|s| shape(s)).map(Shape::from).collect()),
        };
        let Some(shapes) = shapes else { continue }; // a negative length is no `usize`
        let axis = case["axis"].as_i64().unwrap_or(-1) as isize;
        let signed: Vec<isize> = case["target"]
            .as_array()
            .map_or(Vec::new(), |t| t.iter().map(|n| n.as_i64().unwrap() as isize).collect());
        let target: Vec<usize> = signed.iter().map(|&n| n as usize).collect();
        let result = match case["mode"].as_str().unwrap() {
            "numpy" => Broadcast::NumPy.shape(&shapes[0], &shapes[1]),
            "none" => Broadcast::None.shape(&shapes[0], &shapes[1]),
            "pdpd" => Broadcast::Pdpd { axis }.shape(&shapes[0], &shapes[1]),
            "paddle" => Broadcast::Paddle { axis }.shape(&shapes[0], &shapes[1]),
            "bidirectional" => Broadcast::Bidirectional.shape(&shapes[0], &target),
            "explicit" => {
                Broadcast::Explicit { axes: shape(&case["axes"]).unwrap() }.shape(&shapes[0], &target)
            }
            "expand" => Broadcast::expand(&shapes[0], &signed),
            "inplace" => Broadcast::in_place(&shapes[0], &shapes[1]).map(|()| shapes[0].clone()),
            _ => Broadcast::NumPy.shape_of(&shapes),
        };
        let expected = if case["error"] == true { None } else { shape(&case["result"]) };
        assert_eq!(result.ok().map(|s| s.to_vec()), expected, "{case}");
    }
}

#[test]
fn shapes_at_work() {
    let cases = cases();
    common::on_every_device(|device| {
        for case in &cases {
            if let Verdict::Failed(how) | Verdict::Skipped(how) =
                pollster::block_on(shapes::check(device, case))
            {
                panic!("{} on {}: {how}", case["id"], device.name());
            }
        }
    });
}

#[test]
fn n_operands() {
    let fold = |rule: Broadcast, shapes: &[&[usize]]| {
        rule.shape_of(&shapes.iter().map(|&s| Shape::from(s)).collect::<Vec<_>>())
    };
    assert_eq!(fold(Broadcast::NumPy, &[]).unwrap(), []);
    assert_eq!(fold(Broadcast::NumPy, &[&[3, 1], &[1, 4], &[]]).unwrap(), [3, 4]);
    assert_eq!(fold(Broadcast::None, &[&[2], &[2], &[2]]).unwrap(), [2]);
    assert!(fold(Broadcast::None, &[&[2], &[2], &[1]]).is_err());
    assert!(fold(Broadcast::Pdpd { axis: -1 }, &[&[2], &[2], &[2]]).is_err());
}
