//! Every broadcasting rule has the verdicts of its system.

use serde_json::Value;
use zerostride::{Broadcast, Shape};

fn cases() -> Vec<Value> {
    let text = include_str!("../data/shapes.jsonl");
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
        // The axis of an error is the axis that its text names.
        if let Err(error) = &result
            && let Some(axis) = error.axis()
        {
            assert!(error.to_string().contains(&format!("axis {axis} ")), "{axis}: {error}");
        }
        assert_eq!(result.ok().map(|s| s.to_vec()), expected, "{case}");
    }
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

/// Trailing 1s of the second operand count, as in OpenVINO, though documents ignore them.
#[test]
fn trailing_ones() {
    let message =
        |rule: Broadcast, a: &[usize], b: &[usize]| rule.shape(a, b).unwrap_err().message().to_string();
    assert_eq!(
        message(Broadcast::Pdpd { axis: 3 }, &[2, 3, 4, 5], &[5, 1]),
        "cannot broadcast [2, 3, 4, 5] with [5, 1]: 2 axes from axis 3 on do not fit in 4 (pdpd axis 3 rule): drop the trailing 1 of [5, 1]"
    );
    assert_eq!(
        message(Broadcast::Paddle { axis: 1 }, &[1, 3], &[3, 1]),
        "cannot broadcast [1, 3] with [3, 1]: axis 1 is neither -1 nor 0 for equal ranks (paddle axis 1 rule): drop the trailing 1 of [3, 1]"
    );
    let remedies: [(Broadcast, &[usize], &[usize], &str); 9] = [
        (Broadcast::Pdpd { axis: 1 }, &[1, 3], &[3, 1], ": drop the trailing 1 of [3, 1]"),
        (Broadcast::Pdpd { axis: 1 }, &[2, 3, 4, 5], &[3, 1, 1, 1], ": drop the trailing 1 of [3, 1, 1, 1]"),
        (Broadcast::Pdpd { axis: 2 }, &[2, 3, 4], &[4, 1, 1], ": drop 2 trailing 1s of [4, 1, 1]"),
        (Broadcast::Pdpd { axis: -1 }, &[4], &[4, 1], ": drop the trailing 1 of [4, 1]"),
        (Broadcast::Pdpd { axis: 3 }, &[2, 3, 4, 5], &[3, 1], ""), // 3 meets 5
        (Broadcast::Pdpd { axis: 3 }, &[2, 3, 4, 5], &[1, 5], ""),
        (Broadcast::Pdpd { axis: -2 }, &[4], &[4, 1], ""), // no axis
        (Broadcast::Paddle { axis: 2 }, &[2, 3], &[1, 1], ""), // out of range whatever is dropped
        (Broadcast::Paddle { axis: 1 }, &[4, 1], &[1, 3, 4], ""),
    ];
    for (rule, a, b, remedy) in remedies {
        let text = message(rule, a, b);
        let got = text.split_once(" rule)").unwrap().1;
        assert_eq!(got, remedy, "{text}");
    }
    // A remedy works: the shape that it asks for fits.
    assert_eq!(Broadcast::Pdpd { axis: 3 }.shape(&[2, 3, 4, 5], &[5]).unwrap(), [2, 3, 4, 5]);
    assert_eq!(Broadcast::Pdpd { axis: 1 }.shape(&[2, 3, 4, 5], &[3, 1, 1]).unwrap(), [2, 3, 4, 5]);
    assert_eq!(Broadcast::Paddle { axis: 1 }.shape(&[1, 3], &[3]).unwrap(), [1, 3]);
    // As long as they fit, 1s at the end are lengths like others.
    assert_eq!(Broadcast::Pdpd { axis: 1 }.shape(&[2, 3, 4, 5], &[3, 1]).unwrap(), [2, 3, 4, 5]);
}

/// -1 is counted before any 1 is dropped. A lower axis is refused.
#[test]
fn negative_axes() {
    let rules = |axis| [Broadcast::Pdpd { axis }, Broadcast::Paddle { axis }];
    for rule in rules(-1) {
        assert_eq!(rule.shape(&[2, 3, 4, 5], &[4, 5]).unwrap(), [2, 3, 4, 5]);
        // The document that ignores trailing 1s takes the axis first: [3, 1] meets [4, 5], and not [3] the 5.
        assert!(rule.shape(&[2, 3, 4, 5], &[3, 1]).is_err());
        assert_eq!(rule.shape(&[2, 3, 4, 5], &[4, 1]).unwrap(), [2, 3, 4, 5]);
    }
    for axis in [-2, -3, isize::MIN] {
        for rule in rules(axis) {
            // -2 would be axis 1 by what older versions counted from the difference of the ranks, and fit.
            let error = rule.shape(&[2, 3, 4, 5], &[3, 4]).unwrap_err();
            assert!(error.message().contains(&format!("axis {axis} is below -1")), "{error}");
        }
    }
}

/// Shapes without axes and without elements broadcast like others.
#[test]
fn rank_0_and_length_0() {
    let shape = |a: &[usize], b: &[usize]| Broadcast::NumPy.shape(a, b).map(|shape| shape.to_vec()).ok();
    assert_eq!(shape(&[], &[]), Some(vec![]));
    assert_eq!(shape(&[2, 2], &[]), Some(vec![2, 2]));
    assert_eq!(shape(&[1], &[0]), Some(vec![0])); // the larger of the two would be 1
    assert_eq!(shape(&[3, 0], &[3, 1]), Some(vec![3, 0]));
    assert_eq!(shape(&[0], &[2, 2]), None);
    crate::common::on_each_adapter(|device| {
        let (one, none) = (device.full([1], 1.0_f32).unwrap(), device.zeros::<f32>([0]).unwrap());
        assert_eq!((&one + &none).eval().unwrap().shape(), &[0]);
        let number = device.full([], 2.0_f32).unwrap();
        assert_eq!((&one + &number).to_vec().unwrap(), [3.0]);
        assert_eq!((&number + &number).item().unwrap(), 4.0);
    });
}

/// `broadcast` stretches an operand against a target: in both directions by NumPy's rule and the bidirectional
/// one, onto the target by the others.
#[test]
fn targets() {
    let device = zerostride::Device::cpu();
    let x = device.upload(&[1, 2, 3], [3]).unwrap();
    let shape = |rule: Broadcast, target: &[usize]| {
        x.broadcast(rule, target)
            .eval()
            .map(|y| y.shape().to_vec())
            .map_err(|error| error.message().to_string())
    };
    assert_eq!(shape(Broadcast::Bidirectional, &[1]), Ok(vec![3]));
    assert_eq!(shape(Broadcast::Bidirectional, &[4, 1]), Ok(vec![4, 3]));
    assert_eq!(shape(Broadcast::Explicit { axes: vec![1] }, &[2, 3, 4]), Ok(vec![2, 3, 4]));
    assert_eq!(shape(Broadcast::Pdpd { axis: 1 }, &[2, 3, 4]), Ok(vec![2, 3, 4]));
    assert_eq!(shape(Broadcast::Paddle { axis: 1 }, &[2, 3, 4]), Ok(vec![2, 3, 4]));
    assert!(
        shape(Broadcast::Pdpd { axis: 0 }, &[2, 3, 4]).unwrap_err().contains("axis 0 has lengths 2 and 3")
    );
    assert!(x.broadcast_to([1]).eval().is_err(), "broadcast_to goes one way");
    let planes = x.broadcast(Broadcast::Pdpd { axis: 1 }, [2, 3, 2]);
    assert_eq!(planes.to_vec().unwrap(), [1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3]);
}

/// A destination keeps its rank, and a stretched view is none.
#[test]
fn in_place() {
    crate::common::on_each_adapter(|device| {
        let x = device.upload(&[1, 2, 3], [3]).unwrap();
        let row = device.upload(&[1, 1, 1], [1, 3]).unwrap();
        let error = x.assign(&x + &row).unwrap_err();
        assert!(error.message().starts_with("cannot assign [1, 3] to [3]"), "{error}");
        let error = x.broadcast_to([2, 3]).assign(x.broadcast_to([2, 3]) + 1).unwrap_err();
        assert!(error.message().contains("visits an element more than once"), "{error}");
        assert_eq!(x.to_vec().unwrap(), [1, 2, 3]);
        row.assign(&row + &x).unwrap();
        assert_eq!(row.to_vec().unwrap(), [2, 3, 4]);
        // `+=` of an expression is another expression: the tensors that it names stay.
        let mut stretched = x.broadcast_to([2, 3]);
        stretched += 1;
        assert_eq!(stretched.to_vec().unwrap(), [2, 3, 4, 2, 3, 4]);
        assert_eq!(x.to_vec().unwrap(), [1, 2, 3]);
    });
}
