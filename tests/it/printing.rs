//! Tensors and expressions as `{:?}` writes them.

#[cfg(feature = "ndarray")]
use std::fmt::Debug;

use crate::common::devices;
#[cfg(feature = "ndarray")]
use zerostride::Tensor;
use zerostride::{DType, Device, Expr};

/// The text of the crate ndarray for the same values, without its description of the array.
#[cfg(feature = "ndarray")]
fn by_ndarray<T: zerostride::Element>(tensor: &Tensor<T>, write: impl Fn(&dyn Debug) -> String) -> String {
    let array = write(&tensor.to_array().unwrap());
    let end = array.find(", shape=").unwrap();
    format!("{}, {} {} on {}", &array[..end], T::DTYPE, tensor.shape(), tensor.device().name())
}

#[test]
fn tensors_show_their_values() {
    for device in devices() {
        let name = device.name();
        let x = device.upload(&[1.0_f32, -2.5, 3.0, 40.0, 5.0, 6.0], [2, 3]).unwrap();
        let expected = format!("[[1.0, -2.5, 3.0],\n [40.0, 5.0, 6.0]], f32 [2, 3] on {name}");
        assert_eq!(format!("{x:?}"), expected);
        assert_eq!(
            format!("{:6.2?}", x.slice(0, 1..).tensor().unwrap()),
            format!("[[ 40.00,   5.00,   6.00]], f32 [1, 3] on {name}")
        );
        let flipped = x.cast::<i8>().eval().unwrap().reshape([3, 1, 2]).flip(0).tensor().unwrap();
        let expected = format!("[[[5, 6]],\n\n [[3, 40]],\n\n [[1, -2]]], i8 [3, 1, 2] on {name}");
        assert_eq!(format!("{flipped:?}"), expected);
        assert_eq!(format!("{:?}", device.full([], true).unwrap()), format!("true, bool [] on {name}"));
        assert_eq!(
            format!("{:?}", device.zeros_any(DType::F16, [2, 0]).unwrap()),
            format!("[[]], f16 [2, 0] on {name}")
        );
    }
}

/// Of a large tensor the ends are read, and no more.
#[test]
fn long_axes_are_shortened() {
    for device in devices() {
        let x = Expr::iota([1001, 2], 0).eval_on(device).unwrap();
        let row = |n: usize| format!("[{n}, {n}]");
        let [first, last] = [0..5, 996..1001].map(|ends| ends.map(row).collect::<Vec<_>>().join(",\n "));
        assert_eq!(
            format!("{x:?}"),
            format!("[{first},\n ...,\n {last}], i32 [1001, 2] on {}", device.name())
        );
        let x = Expr::iota([2000], 0).eval_on(device).unwrap();
        let ends = "[0, 1, 2, 3, 4, ..., 1995, 1996, 1997, 1998, 1999]";
        assert_eq!(format!("{x:?}"), format!("{ends}, i32 [2000] on {}", device.name()));
        // As far as to read all of it.
        let all = format!("{x:#?}");
        assert!(all.starts_with("[0, 1, 2, 3, 4, 5, 6,") && !all.contains("..."), "{all}");
    }
}

/// Values are printed as in the crate ndarray, for every rank, around the lengths from which on axes are shortened.
#[cfg(feature = "ndarray")]
#[test]
fn values_look_as_ndarrays() {
    let shapes: [&[usize]; 16] = [
        &[],
        &[1],
        &[499],
        &[500],
        &[501],
        &[11, 50],
        &[12, 50],
        &[50, 11],
        &[50, 12],
        &[22, 22],
        &[23, 22],
        &[7, 6, 12],
        &[6, 7, 13],
        &[3, 8, 2, 30],
        &[0],
        &[3, 0, 2],
    ];
    for device in devices() {
        for shape in shapes {
            let zeros = Expr::scalar(0_i32).broadcast_to(shape);
            let axes = 0..shape.len() as isize;
            let flat = axes.fold(zeros.clone(), |flat, axis| flat * 7 + zeros.coordinate(axis));
            let x = (flat.cast::<f32>() * 0.375 - 9.0).eval_on(device).unwrap();
            assert_eq!(format!("{x:?}"), by_ndarray(&x, |array| format!("{array:?}")), "{shape:?}");
            assert_eq!(format!("{x:9.3?}"), by_ndarray(&x, |array| format!("{array:9.3?}")), "{shape:?}");
            let whole = flat.cast::<u8>().eval_on(device).unwrap();
            assert_eq!(format!("{whole:#?}"), by_ndarray(&whole, |array| format!("{array:#?}")), "{shape:?}");
        }
    }
}

#[test]
fn expressions_are_one_line() {
    let device = Device::cpu();
    let x = device.upload(&[1.0_f32, 2.0], [2]).unwrap();
    let y = (&x * 2.0 + x.coordinate(0).cast::<f32>()).exp();
    assert_eq!(format!("{y:?}"), "exp(add(mul(x0, 2.0), f32(index))), f32 [2]");
    let deep = (0..10_000).fold(x.expr(), |x, _| x + 1.0);
    assert!(format!("{deep:?}").len() < 200);
    let mistake = &x + device.zeros::<f32>([3]).unwrap();
    assert!(format!("{mistake:?}").starts_with("(mistake: cannot broadcast [2] with [3]"), "{mistake:?}");
}
