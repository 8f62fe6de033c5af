//! Several results of one kernel have the bits of a kernel each.

use crate::common::{on_every_device, takes};
use zerostride::{
    AnyExpr, AnyTensor, AssignAll, DType, Device, Element, ErrorKind, EvalAll, Expr, Result, Tensor, f16,
};

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
        let shapes = [[8, 64], [37, 253], [5, 3], [130, 67], [1, 1]];
        for (_, shape) in shapes.into_iter().enumerate().filter(|&(case, _)| takes(case, device)) {
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

/// Of all types at once, by one kernel where an adapter has them.
#[test]
fn results_of_several_types() {
    on_every_device(|device| {
        let shapes = [[8, 64], [37, 253], [5, 3], [130, 67]];
        for (_, shape) in shapes.into_iter().enumerate().filter(|&(case, _)| takes(case, device)) {
            let x = numbers(device, shape, |i| (i % 100) as f32 / 8.0).unwrap();
            let row = numbers(device, [shape[1]], |i| i as f32).unwrap();
            let turned = numbers(device, [shape[1], shape[0]], |i| i as f32).unwrap().transpose(0, 1);
            let sum = AnyExpr::from(&(&x + &row));
            let types = [DType::F32, DType::U8, DType::F16, DType::I16, DType::I32];
            let mut exprs: Vec<AnyExpr> = types.iter().map(|&of| sum.cast(of)).collect();
            exprs.push((&turned - &x).gt(3.0).into());
            exprs.push(x.sum(1).into());
            let all = AnyExpr::eval_all(&exprs).unwrap();
            for (got, expr) in all.iter().zip(&exprs) {
                assert_eq!(got.to_bytes().unwrap(), expr.to_bytes().unwrap(), "{got:?} on {}", device.name());
            }
        }
        let x = numbers(device, [100], |i| i as f32 - 50.0).unwrap();
        let (signs, roots, halves) = (x.lt(0.0), x.abs().sqrt(), x.cast::<f16>()).eval_all().unwrap();
        assert_eq!(signs.to_vec().unwrap(), x.lt(0.0).to_vec().unwrap());
        assert_eq!(roots.to_vec().unwrap(), x.abs().sqrt().to_vec().unwrap());
        assert_eq!(halves.to_vec().unwrap(), x.cast::<f16>().to_vec().unwrap());
    });
    for adapter in Device::all().iter().filter(|adapter| adapter.backend != "cpu") {
        let device = adapter.open().unwrap();
        let x = numbers(&device, [64, 63], |i| i as f32).unwrap();
        let (a, b) = (device.zeros::<f32>([64, 63]).unwrap(), device.zeros::<u8>([64, 63]).unwrap());
        let before = device.kernels().len();
        (x.cos() * 3.0, x.gt(7.0)).eval_all().unwrap();
        assert_eq!(device.kernels().len(), before + 1, "{}", device.name());
        // Written where they go by the same.
        (&a, &b).assign_all((x.cos() * 3.0, x.gt(7.0).cast::<u8>())).unwrap();
        assert_eq!(device.kernels().len(), before + 2, "{}", device.name());
        assert_eq!(b.to_vec().unwrap()[6..10], [0, 0, 1, 1]);
    }
}

/// Every value reads the elements of before.
#[test]
fn assigned_at_once() {
    on_every_device(|device| {
        let x = numbers(device, [5, 7], |i| i as f32).unwrap();
        let y = numbers(device, [5, 7], |i| 100.0 - i as f32).unwrap();
        let bytes = device.zeros::<u8>([7]).unwrap();
        let (a, b) = (x.to_vec().unwrap(), y.to_vec().unwrap());
        (&x, &y, &bytes)
            .assign_all((&y + 1.0, x.roll([1], [1]), x.slice(0, 1..2).squeeze(0).cast()))
            .unwrap();
        assert_eq!(x.to_vec().unwrap(), b.iter().map(|b| b + 1.0).collect::<Vec<_>>());
        let rolled: Vec<f32> = (0..35).map(|i| a[i / 7 * 7 + (i % 7 + 6) % 7]).collect();
        assert_eq!(y.to_vec().unwrap(), rolled);
        assert_eq!(bytes.to_vec().unwrap(), [7, 8, 9, 10, 11, 12, 13]);
        // Parts of tensors, broadcast values, reductions and joins. None reads a destination.
        let (left, right) = (x.slice(1, ..3).tensor().unwrap(), x.slice(1, 3..).tensor().unwrap());
        let row = numbers(device, [3], |i| i as f32).unwrap();
        let both = Expr::concat([row.expr(), row.slice(0, ..1)], 0);
        (&left, &right, &bytes).assign_all((&row, &both, y.max(0).cast::<u8>())).unwrap();
        assert_eq!(x.to_vec().unwrap()[..8], [0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
        // The last value of a shared element stays, whether values read the destinations or not.
        let tens = numbers(device, [4], |i| 10 + i as i32).unwrap();
        for reads in [false, true] {
            let whole = numbers(device, [4], |_| 0_i32).unwrap();
            let first = whole.slice(0, ..2).tensor().unwrap();
            let all = if reads { &tens + &whole } else { tens.expr() };
            (&whole, &first, &whole).assign_all((0, tens.slice(0, 2..), all)).unwrap();
            assert_eq!(whole.to_vec().unwrap(), [10, 11, 12, 13]);
            (&first, &whole, &first).assign_all((tens.slice(0, ..2), &tens * 2, tens.slice(0, 2..))).unwrap();
            assert_eq!(whole.to_vec().unwrap(), [12, 13, 24, 26]);
        }
        // A mistake in one writes none.
        let before = x.to_vec().unwrap();
        let error = (&x, &y).assign_all((1.0_f32, &row)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
        assert_eq!(x.to_vec().unwrap(), before);
        let (any, other) = (AnyTensor::from(&x), AnyTensor::from(&bytes));
        let pairs = [(&any, AnyExpr::scalar(DType::F32, 3)), (&other, AnyExpr::scalar(DType::F32, 3))];
        let error = AnyTensor::assign_all(pairs).unwrap_err();
        assert_eq!(error.message(), "cannot assign f32 to a tensor of u8: cast the value");
        assert!(error.to_string().contains("eval_all.rs"), "{error}");
        assert_eq!(x.to_vec().unwrap(), before);
    });
}
