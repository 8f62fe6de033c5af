//! Joins, borders, rolls, repetitions, lookups and generators have NumPy's results. `tests/data/joining.py` wrote them.

use crate::common::on_every_device;
use zerostride::{AnyExpr, Device, ErrorKind, Expr, MAX_RANK, Pad, Tensor};

/// 1, 2, 3 .. in a shape.
fn numbers(device: &Device, shape: &[usize]) -> Tensor<i32> {
    let all: Vec<i32> = (1..=shape.iter().product::<usize>() as i32).collect();
    device.upload(&all, shape).unwrap()
}

/// Within larger expressions, under views, in each other, folded and assigned.
#[test]
fn they_stand_in_expressions() {
    on_every_device(|device| {
        let (x, y) = (numbers(device, &[3, 4]), numbers(device, &[3, 2]));
        let both = Expr::concat([&x * 10, y.expr()], 1);
        assert_eq!(both.shape().unwrap(), &[3, 6]);
        let expected: Vec<i32> = vec![10, 20, 30, 40, 1, 2, 50, 60, 70, 80, 3, 4, 90, 100, 110, 120, 5, 6];
        assert_eq!(both.to_vec().unwrap(), expected);
        let doubled: Vec<i32> = expected.iter().map(|x| 2 * x + 1).collect();
        assert_eq!((&both * 2 + 1).to_vec().unwrap(), doubled);
        assert_eq!(both.sum(0).to_vec().unwrap(), [150, 180, 210, 240, 9, 12]);
        assert_eq!(both.slice(1, 3..5).flip(0).to_vec().unwrap(), [120, 5, 80, 3, 40, 1]);
        // A join of a join, and joins that are read twice.
        let nested = Expr::concat([both.slice(1, ..1), Expr::stack([both.sum(1), both.max(1)], 1)], 1);
        assert_eq!(nested.to_vec().unwrap(), [10, 103, 40, 50, 267, 80, 90, 431, 120]);
        assert_eq!(both.roll([1, -2], [0, 1]).slice(0, ..1).to_vec().unwrap(), [110, 120, 5, 6, 90, 100]);
        assert_eq!(both.tile([2, 1]).sum(0).to_vec().unwrap(), [300, 360, 420, 480, 18, 24]);
        let padded = (&x + &x).pad([(1, 0), (0, 1)], Pad::constant(-1)) + 1;
        assert_eq!(padded.slice(0, ..2).to_vec().unwrap(), [0, 0, 0, 0, 0, 3, 5, 7, 9, 0]);
        // Several results at once, and by name of a type.
        let all = Expr::eval_all(&[&both + 1, both.clone(), both.clone()]).unwrap();
        assert_eq!(all[1].to_vec().unwrap(), expected);
        assert_eq!(all[2].to_vec().unwrap(), expected);
        assert_eq!((all[0].expr() - 1).to_vec().unwrap(), expected);
        // A join is assigned to its operand.
        let columns = x.unbind(1).unwrap();
        x.assign(Expr::stack([&columns[3], &columns[2], &columns[1], &columns[0]], 1)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9]);
        x.assign(x.roll([1], [0])).unwrap();
        assert_eq!(x.to_vec().unwrap(), [12, 11, 10, 9, 4, 3, 2, 1, 8, 7, 6, 5]);
        x.slice(1, 1..).assign(Expr::concat([y.slice(1, ..1), y.expr()], 1)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [12, 1, 1, 2, 4, 3, 3, 4, 8, 5, 5, 6]);
        both.warm_up(device).unwrap();
        assert!(both.explain(device).unwrap().to_string().contains("2 parts along axis 1"));
        both.explain(device).unwrap().svg();
    });
}

/// Channels that read the same channels, beside constant channels and runs of other lengths, and a value that the channels
/// of a pixel share.
#[test]
fn channels_share_what_they_read() {
    on_every_device(|device| {
        let (pixels, all) = (5000, 5000 * 3);
        let x = numbers(device, &[pixels, 3]);
        let channels: Vec<Expr<i32>> = (0..3).map(|i| x.slice(1, i..i + 1) * 2).collect();
        let sum = &channels[0] + &channels[1] + &channels[2];
        let ones = device.full([1, 1], 7).unwrap();
        let seven = ones.broadcast_to([pixels, 1]);
        let mut parts: Vec<Expr<i32>> = (0..20).map(|i| &channels[i % 3] + i as i32).collect();
        parts.extend([seven, x.slice(1, 1..), sum.clone()]);
        let expected: Vec<i32> = (0..all)
            .step_by(3)
            .flat_map(|p| {
                let mut pixel: Vec<i32> = (0..20).map(|i| 2 * (p + 1 + i % 3) + i).collect();
                pixel.extend([7, p + 2, p + 3, 6 * p + 12]);
                pixel
            })
            .collect();
        assert_eq!(Expr::concat(parts, 1).to_vec().unwrap(), expected, "{}", device.name());
        let expected: Vec<i32> = (0..all).map(|i| (i + 1) * 5 - (6 * (i / 3 * 3) + 12)).collect();
        assert_eq!((&x * 5 - &sum).to_vec().unwrap(), expected, "{}", device.name());
    });
}

/// More operands than a kernel binds, of a type that shares words.
#[test]
fn many_operands() {
    on_every_device(|device| {
        let parts: Vec<Tensor<u8>> = (0..40).map(|i| device.full([3, i % 4], i as u8).unwrap()).collect();
        let joined = Expr::concat(&parts, 1);
        let row: Vec<u8> = (0..40).flat_map(|i| vec![i as u8; i % 4]).collect();
        assert_eq!(joined.to_vec().unwrap(), [row.clone(), row.clone(), row].concat());
        let rows: Vec<Expr<f32>> = (0..20).map(|i| device.full([5], i as f32).unwrap().exp()).collect();
        let stacked = Expr::stack(rows, 0).log().mean(1);
        let expected: Vec<f32> = (0..20).map(|i| i as f32).collect();
        assert!(stacked.to_vec().unwrap().iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4));
    });
}

#[test]
fn what_has_no_elements_says_where() {
    on_every_device(|device| {
        let none = device.zeros::<i32>([0]).unwrap();
        let count = Expr::<i32>::arange(3, 7, 2);
        let all = Expr::concat([none.expr(), count.clone()], 0).eval().unwrap();
        assert_eq!((all.to_vec().unwrap(), all.device().name()), (vec![3, 5], device.name()));
        let other = Device::cpu().zeros::<i32>([2]).unwrap();
        if device.name() != "cpu" {
            let error = Expr::concat([none.expr(), other.expr(), count], 0).eval().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Device, "{error}");
        }
    });
}

#[test]
fn of_the_highest_rank() {
    let x = Device::cpu().upload(&[1, 2], vec![1; MAX_RANK - 1].into_iter().chain([2]).collect::<Vec<_>>());
    let x = x.unwrap();
    assert_eq!(x.roll([1], [-1]).to_vec().unwrap(), [2, 1]);
    let fewer = x.squeeze(0);
    assert_eq!(fewer.tile([2]).to_vec().unwrap(), [1, 2, 1, 2]);
    assert_eq!(fewer.repeat_interleave(2, -1).to_vec().unwrap(), [1, 1, 2, 2]);
}

#[test]
fn mistakes_are_errors() {
    let device = Device::cpu();
    let (x, y) = (numbers(&device, &[2, 3]), device.zeros::<f32>([2, 3]).unwrap());
    let none = device.zeros::<i32>([0, 3]).unwrap();
    let says = |expr: AnyExpr, kind: ErrorKind, text: &str| {
        let error = expr.eval_on(&device).unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, text));
        assert!(error.to_string().contains("tests/it/joining.rs"), "{error}");
    };
    let any = || AnyExpr::from(&x);
    says(AnyExpr::concat(&[], 0), ErrorKind::Operation, "concat takes one tensor at least and got none");
    says(
        AnyExpr::concat(&[any(), (&y).into()], 0),
        ErrorKind::Type,
        "concat takes operands of one type and got i32 and f32: cast one of them",
    );
    says(
        AnyExpr::concat(&[any(), any().slice(1, ..2)], 0),
        ErrorKind::Shape,
        "cannot concat [2, 3] and [2, 2] along axis 0: operand 1 differs in another axis",
    );
    says(
        AnyExpr::stack(&[any(), any().slice(1, ..2)], 0),
        ErrorKind::Shape,
        "cannot stack [2, 3] and [2, 2]: their shapes differ",
    );
    says(
        any().roll([1, 2], [0]),
        ErrorKind::Axis,
        "roll of [2, 3] takes a shift for each axis and got 2 for 1",
    );
    says(
        any().pad([(1, 1)], Pad::Edge),
        ErrorKind::Axis,
        "pad of [2, 3] takes widths for each axis, 2 in all, and got 1",
    );
    says(
        AnyExpr::from(&none).pad([(1, 1), (0, 0)], Pad::Wrap),
        ErrorKind::Shape,
        "cannot pad [0, 3] with elements of its own: axis 0 has length 0, so choose a constant",
    );
    says(
        any().pad([(0, 0), (usize::MAX, 1)], Pad::Edge),
        ErrorKind::Overflow,
        "axis 1 of 3 padded by 18446744073709551615 and 1 overflows",
    );
    says(
        any().pad([(0, 0), (1, 1)], Pad::constant(0.5)),
        ErrorKind::Type,
        "0.5 is no i32, which holds whole numbers from -2147483648 to 2147483647",
    );
    assert_eq!(x.unbind(2).unwrap_err().kind(), ErrorKind::Axis);
    assert_eq!(none.pad([(1, 0), (0, 0)], Pad::constant(7)).to_vec().unwrap(), [7, 7, 7]);
    says(
        any().tile([usize::MAX, 1, 1]),
        ErrorKind::Overflow,
        "the element count of [18446744073709551615, 1, 2, 3] overflows 64 bits",
    );
}
