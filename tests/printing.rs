//! Tensors and expressions as `{:?}` writes them.

mod common;

use common::devices;
use zerostride::{DType, Device, Expr};

#[test]
fn tensors_show_their_values() {
    for device in devices() {
        let name = device.name();
        let x = device.upload(&[1.0_f32, -2.5, 3.0, 40.0, 5.0, 6.0], [2, 3]).unwrap();
        let expected = format!("[[ 1.0, -2.5,  3.0],\n [40.0,  5.0,  6.0]], f32 [2, 3] on {name}");
        assert_eq!(format!("{x:?}"), expected);
        assert_eq!(
            format!("{:.2?}", x.slice(0, 1..).tensor().unwrap()),
            format!("[[40.00,  5.00,  6.00]], f32 [1, 3] on {name}")
        );
        let flipped = x.cast::<i8>().eval().unwrap().reshape([3, 1, 2]).flip(0).tensor().unwrap();
        let expected = format!("[[[ 5,  6]],\n\n [[ 3, 40]],\n\n [[ 1, -2]]], i8 [3, 1, 2] on {name}");
        assert_eq!(format!("{flipped:?}"), expected);
        assert_eq!(format!("{:?}", device.full([], true).unwrap()), format!("true, bool [] on {name}"));
        assert_eq!(
            format!("{:?}", device.zeros_any(DType::F16, [2, 0]).unwrap()),
            format!("[[],\n []], f16 [2, 0] on {name}")
        );
    }
}

/// Of a large tensor the ends are read, and no more.
#[test]
fn long_axes_are_shortened() {
    for device in devices() {
        let x = Expr::coordinate([1001, 2], 0).eval_on(device).unwrap();
        let row = |n: usize| format!("[{n:>4}, {n:>4}]");
        let [first, last] = [[0, 1, 2], [998, 999, 1000]].map(|ends| ends.map(row).join(",\n "));
        assert_eq!(
            format!("{x:?}"),
            format!("[{first},\n ...,\n {last}], i32 [1001, 2] on {}", device.name())
        );
        let x = Expr::coordinate([2000], 0).eval_on(device).unwrap();
        let expected = format!("[   0,    1,    2, ..., 1997, 1998, 1999], i32 [2000] on {}", device.name());
        assert_eq!(format!("{x:?}"), expected);
    }
}

#[test]
fn expressions_are_one_line() {
    let device = Device::cpu();
    let x = device.upload(&[1.0_f32, 2.0], [2]).unwrap();
    let y = (&x * 2.0 + x.index(0).cast::<f32>()).exp();
    assert_eq!(format!("{y:?}"), "exp(add(mul(x0, 2.0), f32(index))), f32 [2]");
    let deep = (0..10_000).fold(x.expr(), |x, _| x + 1.0);
    assert!(format!("{deep:?}").len() < 200);
    let mistake = &x + device.zeros::<f32>([3]).unwrap();
    assert!(format!("{mistake:?}").starts_with("(mistake: cannot broadcast [2] with [3]"), "{mistake:?}");
}
