//! Several results of one kernel are those of one kernel each.

mod common;

use common::on_every_device;
use zerostride::{Device, Element, ErrorKind, Expr, Result, Tensor, f16};

fn numbers<T: Element, const N: usize>(
    device: &Device,
    shape: [usize; N],
    of: fn(usize) -> T,
) -> Result<Tensor<T>> {
    let count = shape.iter().product();
    device.upload(&(0..count).map(of).collect::<Vec<T>>(), shape)
}

/// All at once, and one by one.
fn check<T: Element>(device: &Device, exprs: &[Expr<T>]) {
    let all = Expr::eval_all(exprs).unwrap();
    assert_eq!(all.len(), exprs.len());
    for (i, (got, expr)) in all.iter().zip(exprs).enumerate() {
        assert_eq!(got.shape(), expr.shape().unwrap(), "{i} on {}", device.name());
        let bits = |values: Vec<T>| bytemuck::cast_slice::<T, u8>(&values).to_vec();
        assert!(
            bits(got.to_vec().unwrap()) == bits(expr.to_vec().unwrap()),
            "{i} of {} on {}",
            T::DTYPE,
            device.name()
        );
    }
}

#[test]
fn results_are_those_of_one_at_a_time() {
    on_every_device(|device| {
        // Whole vectors, odd rows in bands, short rows, scattered lanes, elements of half a word and less.
        for shape in [[8, 64], [37, 253], [5, 3], [130, 67], [1, 1]] {
            let x = numbers(device, shape, |i| (i % 100) as f32 / 8.0).unwrap();
            let row = numbers(device, [shape[1]], |i| i as f32).unwrap();
            let turned = numbers(device, [shape[1], shape[0]], |i| i as f32).unwrap().transpose(0, 1);
            let sum = &x + &row;
            check(device, &[sum.clone(), &sum * 2.0, x.exp(), &turned - &x, sum.clone(), x.expr()]);
            let h = numbers(device, shape, |i| f16::from_f32((i % 64) as f32)).unwrap();
            check(device, &[&h + &h, h.neg(), h.sqrt()]);
            let b = numbers(device, shape, |i| i as u8).unwrap();
            check(device, &[&b + 1, &b ^ 85]);
            check(device, &[x.gt(&row), x.lt(&row), x.eq(&turned)]);
        }
        // Other shapes between, none, more than a kernel binds, and an expensive part.
        let (x, y) =
            (numbers(device, [4, 8], |i| i as f32).unwrap(), numbers(device, [8], |i| i as f32).unwrap());
        check(device, &[&x + &y, &y * 2.0, &x - &y, y.expr(), x.slice(0, 1..) + &y]);
        check::<f32>(device, &[]);
        let many: Vec<Expr<f32>> = (0..40).map(|i| &x + i as f32).collect();
        check(device, &many);
        let (wide, column) =
            (device.full([1100, 1000], 1.5_f32).unwrap(), numbers(device, [1100, 1], |i| i as f32).unwrap());
        check(device, &[&wide + column.log1p(), &wide * column.log1p()]);
    });
}

#[test]
fn one_kernel_computes_them() {
    // Devices of its own, which no other test compiles for.
    for adapter in Device::all().iter().filter(|adapter| adapter.backend != "cpu") {
        let device = adapter.open().unwrap();
        let x = numbers(&device, [64, 64], |i| i as f32).unwrap();
        (&x + 1.0).eval().unwrap();
        let before = device.kernels().len();
        Expr::eval_all(&[&x * 3.0, x.cos() * 3.0, x.sin()]).unwrap();
        let kernels = device.kernels();
        assert_eq!(kernels.len(), before + 1, "{}", device.name());
        assert!(kernels.iter().any(|text| text.contains("result2[") && text.contains("cos")));
    }
}

#[test]
fn mistakes_come_before_any_work() {
    on_every_device(|device| {
        let (x, y) = (device.zeros::<f32>([2, 3]).unwrap(), device.zeros::<f32>([4]).unwrap());
        let error = Expr::eval_all(&[&x + 1.0, &x + &y]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
        let error = Expr::eval_all(&[Expr::scalar(1.0_f32)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Device, "{error}");
    });
}
