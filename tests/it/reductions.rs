//! Reductions: their calls, their composition, and their place among other operations. The verified cases test their
//! values.

use crate::common::{on_every_device, takes};
use zerostride::{AnyExpr, DType, Device, ErrorKind, Expr, ReduceOptions, Tensor, bf16, f16, reductions};

/// 0, 1, 2 .. in a shape.
fn ramp<const N: usize>(device: &Device, shape: [usize; N]) -> Tensor<f32> {
    let all: Vec<f32> = (0..shape.iter().product::<usize>()).map(|i| i as f32).collect();
    device.upload(&all, shape).unwrap()
}

#[test]
#[allow(clippy::needless_borrows_for_generic_args)] // references are one of the forms
fn axes_in_every_form() {
    on_every_device(|device| {
        let x = ramp(device, [2, 3, 4]);
        let rows = x.sum(2).to_vec().unwrap();
        assert_eq!(rows, [6.0, 22.0, 38.0, 54.0, 70.0, 86.0]);
        let lists: [Expr<f32>; 6] =
            [x.sum(-1), x.sum([2]), x.sum(&[-1]), x.sum(vec![2]), x.sum(&vec![2]), x.sum([2].as_slice())];
        for list in lists {
            assert_eq!(list.shape().unwrap(), &[2, 3]);
            assert_eq!(list.to_vec().unwrap(), rows);
        }
        for all in [x.sum(..), x.sum([0, 1, 2]), x.sum([-1, 0, 1])] {
            assert_eq!(all.shape().unwrap(), &[]);
            assert_eq!(all.to_vec().unwrap(), [276.0]);
        }
        assert_eq!(x.sum([0; 0]).to_vec().unwrap(), x.to_vec().unwrap());
        for outer in [x.sum([0, 2]), x.sum([2, 0]), x.sum(2).sum(0), x.sum(0).sum(1)] {
            assert_eq!(outer.shape().unwrap(), &[3]);
            assert_eq!(outer.to_vec().unwrap(), [60.0, 92.0, 124.0]);
        }
        assert_eq!(x.max([0, 2]).to_vec().unwrap(), [15.0, 19.0, 23.0]);
        assert_eq!((-&x).argmin([0, 2]).to_vec().unwrap(), [7, 7, 7]);
    });
}

/// Several reductions that one pass may compute, of long rows along memory and across it, beside each alone.
#[test]
fn reductions_beside_each_other() {
    on_every_device(|device| {
        for (shape, axis) in [([3, 20_000], 1), ([20_000, 3], 0), ([70_000, 1], 0)] {
            let x = (&ramp(device, shape) * 0.37_f32).sin().eval().unwrap();
            let alone = |expr: Expr<f32>| expr.eval().unwrap();
            let (low, high) = (alone(x.min_keepdim(axis)), alone(x.max_keepdim(axis)));
            let mean = alone(alone(x.sum_keepdim(axis)) / shape[axis as usize] as f32);
            let (own_low, own_high) = (x.min_keepdim(axis), x.max_keepdim(axis));
            for (together, apart) in [
                (x.mean_keepdim(axis), mean.expr()),
                (&own_high - &own_low, &high - &low),
                (&own_high - (&own_low + &own_low) * x.mean_keepdim(axis), &high - (&low + &low) * &mean),
                ((&x - &own_low) / (&own_high - &own_low), (&x - &low) / (&high - &low)),
                ((&x - x.mean_keepdim(axis)) * &own_high + &own_low, (&x - &mean) * &high + &low),
            ] {
                let bits = |expr: Expr<f32>| {
                    expr.to_vec().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>()
                };
                assert_eq!(bits(together), bits(apart), "{shape:?} on {}", device.name());
            }
        }
    });
}

/// Expressions that differ in their constants share a plan, which must not keep the constants.
#[test]
fn constants_beside_reductions_change() {
    on_every_device(|device| {
        let x = (&ramp(device, [3, 20_000]) * 0.37_f32).sin().eval().unwrap();
        for scale in [0.5_f32, 2.0, 3.0, f32::INFINITY, f32::NAN, 0.25] {
            let scaled = (&x * scale).eval().unwrap();
            let apart = [scaled.min_keepdim(1), scaled.max_keepdim(1), scaled.sum_keepdim(1)];
            let [low, high, sum] = apart.map(|expr| expr.eval().unwrap());
            let own = &x * scale;
            let mean = own.sum_keepdim(1) * scale;
            let together = (&own - own.min_keepdim(1)) / (own.max_keepdim(1) - own.min_keepdim(1)) + mean;
            let apart = (&scaled - &low) / (&high - &low) + (&sum * scale);
            let bits =
                |expr: Expr<f32>| expr.to_vec().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(together), bits(apart), "{scale} on {}", device.name());
        }
    });
}

#[test]
fn reduced_axes_stay_if_they_are_kept() {
    on_every_device(|device| {
        let x = ramp(device, [2, 3, 4]);
        for (kept, shape) in [
            (x.sum_keepdim(1), [2, 1, 4]),
            (x.prod_keepdim([0, 2]), [1, 3, 1]),
            (x.max_keepdim([0, 2]), [1, 3, 1]),
            (x.mean_keepdim(..), [1, 1, 1]),
            (x.var_keepdim(-1, 0.5), [2, 3, 1]),
            (x.sum_keepdim([0; 0]), [2, 3, 4]),
        ] {
            assert_eq!(kept.shape().unwrap(), &shape);
            let count: usize = shape.iter().product();
            let kept = kept.eval().unwrap();
            assert_eq!((kept.shape(), kept.to_vec().unwrap().len()), (&shape.into(), count));
        }
        assert_eq!(x.max_keepdim([0, 2]).to_vec().unwrap(), x.max([0, 2]).to_vec().unwrap());
    });
}

/// Every row of the table, by its name, with and without kept axes.
#[test]
fn by_name() {
    on_every_device(|device| {
        let (x, truths) = (ramp(device, [2, 3]), ramp(device, [2, 3]).gt(1.0).eval().unwrap());
        for row in reductions() {
            let x = match row.result(DType::F32) {
                Some(_) => AnyExpr::from(&x),
                None => AnyExpr::from(&truths),
            };
            let result = x.reduce(row.name, 1, ReduceOptions::default());
            let kept = x.reduce(row.name, 1, ReduceOptions::default().keepdim());
            let kept_shape = row.keeps_shape.then(|| vec![2, 3]);
            let shapes = [vec![2], vec![2, 1]].map(|shape| kept_shape.clone().unwrap_or(shape));
            assert_eq!(result.shape().unwrap().to_vec(), shapes[0], "{}", row.name);
            assert_eq!(kept.shape().unwrap().to_vec(), shapes[1], "{}", row.name);
            assert_eq!(result.dtype().unwrap(), row.result(x.dtype().unwrap()).unwrap(), "{}", row.name);
            assert_eq!(result.to_bytes().unwrap(), kept.to_bytes().unwrap(), "{}", row.name);
        }
        let error = x.untyped_reduce("median").eval().unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Operation, "no reduction is called 'median'")
        );
    });
}

trait Untyped {
    fn untyped_reduce(&self, name: &str) -> AnyExpr;
}

impl Untyped for Tensor<f32> {
    fn untyped_reduce(&self, name: &str) -> AnyExpr {
        AnyExpr::from(self).reduce(name, .., ReduceOptions::default())
    }
}

#[test]
fn mistakes() {
    use ErrorKind::{Axis, Operation, Overflow, Shape};
    let device = Device::cpu();
    let x = device.zeros::<f32>([2, 3]).unwrap();
    let long = device.zeros::<f32>([1]).unwrap().broadcast_to([4_294_967_297]);
    let ints = AnyExpr::from(device.zeros::<i32>([2, 3]).unwrap());
    let truths = AnyExpr::from(device.zeros::<bool>([2, 3]).unwrap());
    let mistakes: [(AnyExpr, ErrorKind, &str); 14] = [
        (
            device.zeros::<f32>([2, 0]).unwrap().max(1).into(),
            Shape,
            "max over axis 1 of [2, 0], which has length 0",
        ),
        (
            device.zeros::<f32>([0, 0]).unwrap().argmin(1).into(),
            Shape,
            "argmin over axis 1 of [0, 0], which has length 0",
        ),
        (x.sum([1, -1]).into(), Axis, "sum of [2, 3] over axes [1, -1] names axis 1 twice"),
        (x.sum(2).into(), Axis, "axis 2 of [2, 3] is out of range: axes go from -2 to 1"),
        (x.cumsum(-3).into(), Axis, "axis -3 of [2, 3] is out of range: axes go from -2 to 1"),
        (x.sum(..).softmax(0).into(), Axis, "axis 0 of [], which has no axes"),
        (x.sum_to([2]).into(), Shape, "cannot sum [2, 3] to [2]: axis 1 has length 3 and the target 2"),
        (x.sum_to([1, 2, 3]).into(), Shape, "cannot sum [2, 3] to [1, 2, 3]: it has 2 axes and the target 3"),
        (ints.mean(0), Operation, "mean takes floats, not i32: cast first"),
        (truths.sum(0), Operation, "sum takes floats and integers, not bool: cast first"),
        (ints.any(0), Operation, "any takes bool, not i32: cast first"),
        (truths.sum_to([2, 3]), Operation, "sum_to takes floats and integers, not bool: cast first"),
        (
            long.argmax(0).into(),
            Overflow,
            "argmax of [4294967297] has more than 2^32 elements in a range, and indices are u32",
        ),
        (
            long.count_nonzero(0).into(),
            Overflow,
            "count_nonzero of [4294967297] has more than 2^32 - 1 elements in a range, and counts are u32",
        ),
    ];
    for (expr, kind, text) in mistakes {
        let error = expr.eval().unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, text));
        assert!(error.location().is_some_and(|at| at.file() == file!()), "{error}");
    }
    // The error is the first mistake.
    let error = x.sum(7).exp().mean([0, 0]).eval().unwrap_err();
    assert_eq!(error.message(), "axis 7 of [2, 3] is out of range: axes go from -2 to 1");
    // Nothing is written when there is one.
    assert!(x.assign(x.sum_keepdim(5)).is_err());
}

/// Of no elements, and of one.
#[test]
fn ranges_without_elements_and_with_one() {
    on_every_device(|device| {
        let none = device.zeros::<f32>([2, 0]).unwrap();
        assert_eq!(none.sum(1).to_vec().unwrap(), [0.0; 2]);
        assert_eq!(none.prod(1).to_vec().unwrap(), [1.0; 2]);
        assert!(none.mean(1).to_vec().unwrap().iter().all(|x| x.is_nan()));
        assert!(none.var(1, 0).to_vec().unwrap().iter().all(|x| x.is_nan()));
        assert_eq!(none.logsumexp(1).to_vec().unwrap(), [f32::NEG_INFINITY; 2]);
        assert_eq!(none.count_nonzero(1).to_vec().unwrap(), [0; 2]);
        assert_eq!(none.gt(0.0).all(1).to_vec().unwrap(), [true; 2]);
        assert_eq!(none.gt(0.0).any(..).to_vec().unwrap(), [false]);
        assert!(none.softmax(1).to_vec().unwrap().is_empty());
        assert!(none.cumsum(1).to_vec().unwrap().is_empty());
        assert!(none.sum(0).to_vec().unwrap().is_empty());
        assert!(none.max(0).to_vec().unwrap().is_empty());
        assert_eq!(none.sum_to([2, 1]).to_vec().unwrap(), [0.0; 2]);

        let one = device.upload(&[-0.0_f32], [1, 1]).unwrap();
        let bits = |expr: Expr<f32>| expr.to_vec().unwrap()[0].to_bits();
        assert_eq!(bits(one.sum(1)), 0);
        assert_eq!(bits(one.sum([0; 0])), 0);
        assert_eq!(bits(one.cumsum(0)), 0);
        assert_eq!(bits(one.prod(1)), (-0.0_f32).to_bits());
        assert_eq!(bits(one.min(..)), (-0.0_f32).to_bits());
        // Of two zeros the maximum is +0 and the minimum -0, wherever they lie.
        for zeros in [[-0.0_f32, 0.0], [0.0, -0.0]] {
            let zeros = device.upload(&zeros, [2]).unwrap();
            assert_eq!(bits(zeros.max(..)), 0);
            assert_eq!(bits(zeros.min(..)), (-0.0_f32).to_bits());
        }
        assert_eq!(one.argmax(..).to_vec().unwrap(), [0]);
        assert_eq!(one.cumprod_with(0, ReduceOptions::default().exclusive()).to_vec().unwrap(), [1.0]);
        let scalar = device.upload(&[3.0_f32], []).unwrap();
        assert_eq!(scalar.sum(..).to_vec().unwrap(), [3.0]);
        assert_eq!(scalar.var([0; 0], 1).to_vec().unwrap()[0].to_bits() & 0x7f80_0000, 0x7f80_0000);
    });
}

#[test]
fn sixteen_bits_are_rounded_once() {
    on_every_device(|device| {
        let ones = device.full([4097], f16::from_f32(1.0)).unwrap();
        assert_eq!(ones.sum(0).to_vec().unwrap(), [f16::from_f32(4096.0)]);
        let sums = ones.cumsum(0).slice(0, 2048..2051).to_vec().unwrap();
        assert_eq!(sums, [2049.0, 2050.0, 2051.0].map(f16::from_f32));
        let far = device.upload(&[300.0, -300.0].map(f16::from_f32), [2]).unwrap();
        assert_eq!(far.std(0, 0).to_vec().unwrap(), [f16::from_f32(300.0)]);
        let legs = device.upload(&[300.0, 400.0].map(bf16::from_f32), [2]).unwrap();
        assert_eq!(legs.l2(0).to_vec().unwrap(), [bf16::from_f32(500.0)]);
    });
}

#[test]
fn compositions() {
    on_every_device(|device| {
        let x = device.upload(&[1.0_f32, 2.0, 3.0, 4.0, 6.0, 8.0], [2, 3]).unwrap();
        // Layer norm, as one expression.
        let y = (&x - x.mean_keepdim(1)) / (x.var_keepdim(1, 0) + 1e-5).sqrt();
        let row = [-1.2247, 0.0, 1.2247];
        let near = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
        let y = y.to_vec().unwrap();
        assert!(near(&y, &[row, row].concat()), "{y:?}");
        // Every row of a softmax adds up to 1.
        assert!(near(&x.softmax(1).sum(1).to_vec().unwrap(), &[1.0, 1.0]));
        assert!(near(&x.log_softmax(..).exp().sum(..).to_vec().unwrap(), &[1.0]));
        let far = device.upload(&[1e8_f32, 1e8 + 8.0], [2]).unwrap();
        assert_eq!(far.var(0, 0).to_vec().unwrap(), [16.0]);
        assert_eq!(far.std(0, 0).to_vec().unwrap(), [4.0]);
        assert_eq!(far.std(0, 1.0).square().to_vec().unwrap()[0].round(), 32.0);

        let points = device.upload(&[0.0_f32, 0.0, 5.0, 5.0, 9.0, 9.0], [3, 2]).unwrap();
        let centers = device.upload(&[8.0_f32, 8.0, 1.0, 1.0], [2, 2]).unwrap();
        let apart = points.unsqueeze(1) - centers.unsqueeze(0);
        assert_eq!(apart.square().sum(2).argmin(1).to_vec().unwrap(), [1, 0, 0]);
        // A product that is summed.
        let (a, b) = (ramp(device, [2, 3]), ramp(device, [3, 2]));
        let product = (a.unsqueeze(2) * b.unsqueeze(0)).sum(1);
        assert_eq!(product.to_vec().unwrap(), [10.0, 13.0, 28.0, 40.0]);
    });
}

/// An expensive value of each element that is reduced and then a part of the result. Adapters on the host's processor
/// compute it once, store it, and load it again. All operations are exact, so the bits are the CPU path's.
#[test]
fn what_is_dear_has_the_same_bits_in_each_phase() {
    let dear = |x: &Expr<f32>| (0..14).fold(x.clone(), |y, _| x / (y + x));
    let lengths = [4, 8, 12, 36, 64, 72, 100, 104];
    let along = lengths.map(|n| ([2100, n], 1));
    for (shape, axis) in along.into_iter().chain([([8, 2100], 0), ([60, 2100], 0), ([2100, 67], 1)]) {
        let values: Vec<f32> = (0..shape[0] * shape[1]).map(|i| (i * 37 % 1009 + 1) as f32).collect();
        let given = |device: &Device| {
            // All readers of a constant read the same one.
            let x = dear(&(device.upload(&values, shape).unwrap() * 0.75 + 2.0));
            let y = &x / x.sum_keepdim(axis);
            y.to_vec().unwrap()
        };
        let expected = given(&Device::cpu());
        on_every_device(|device| {
            assert_eq!(given(device), expected, "{}: {shape:?} along {axis}", device.name());
        });
    }
}

#[test]
fn cumulative() {
    on_every_device(|device| {
        let x = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3]).unwrap();
        let options = ReduceOptions::default;
        assert_eq!(x.cumsum(1).to_vec().unwrap(), [1, 3, 6, 4, 9, 15]);
        assert_eq!(x.cumsum(0).to_vec().unwrap(), [1, 2, 3, 5, 7, 9]);
        assert_eq!(x.cumsum_with(-1, options().exclusive()).to_vec().unwrap(), [0, 1, 3, 0, 4, 9]);
        assert_eq!(x.cumsum_with(1, options().reverse()).to_vec().unwrap(), [6, 5, 3, 15, 11, 6]);
        assert_eq!(x.cumprod_with(1, options().reverse().exclusive()).to_vec().unwrap(), [6, 3, 1, 30, 6, 1]);
        assert_eq!(x.cumsum(1).cumsum(1).to_vec().unwrap(), [1, 4, 10, 4, 13, 28]);
        assert_eq!(x.cumprod(1).slice(1, 2..).sum(..).to_vec().unwrap(), [126]);
        let long = device.full([1000], 1_u8).unwrap();
        let sums: Vec<u8> = (1..=1000).map(|i| i as u8).collect();
        assert_eq!(long.cumsum(0).to_vec().unwrap(), sums);
    });
}

/// A result is an expression like any other.
#[test]
fn among_other_operations() {
    on_every_device(|device| {
        let x = ramp(device, [3, 4]);
        // Views of operands and of results of reductions.
        assert_eq!(x.permute([1, 0]).sum(0).to_vec().unwrap(), [6.0, 22.0, 38.0]);
        assert_eq!(x.flip(1).argmax(1).to_vec().unwrap(), [0, 0, 0]);
        assert_eq!(x.sum(1).flip(0).to_vec().unwrap(), [38.0, 22.0, 6.0]);
        assert_eq!(x.sum_keepdim(1).permute([1, 0]).eval().unwrap().shape(), &[1, 3]);
        assert_eq!(x.sum(0).slice(0, 1..3).broadcast_to([2, 2]).to_vec().unwrap(), [15.0, 18.0, 15.0, 18.0]);
        assert_eq!(x.slice(0, 1..1).sum(0).to_vec().unwrap(), [0.0; 4]);
        // A result with its own operand, and results of results.
        assert_eq!((&x - x.min_keepdim(1)).max(..).to_vec().unwrap(), [3.0]);
        assert_eq!(x.sum(1).sum(0).to_vec().unwrap(), [66.0]);
        assert_eq!(x.sum(0).cast::<i32>().prod(..).to_vec().unwrap(), [12 * 15 * 18 * 21]);
        assert_eq!((x.sum(1) * x.max(1)).to_vec().unwrap(), [18.0, 154.0, 418.0]);
        let shared = (&x * 2.0).shared();
        assert_eq!((shared.sum_keepdim(0) - &shared).min(..).to_vec().unwrap(), [8.0]);
        assert_eq!(x.sum(1).shared().sum(0).to_vec().unwrap(), [66.0]);
        // Coordinates, constants, and none of either.
        assert_eq!(x.coordinate(1).sum(1).to_vec().unwrap(), [6, 6, 6]);
        let two = Expr::scalar(2.0_f32).broadcast_to([5]);
        assert_eq!(two.sum(0).to_vec_on(device).unwrap(), [10.0]);
        assert_eq!(two.slice(0, 5..).sum(0).to_vec_on(device).unwrap(), [0.0]);
        // A stretched operand: four times the row.
        let row = device.upload(&[1.0_f32, 2.0], [2]).unwrap().broadcast_to([4, 2]);
        assert_eq!(row.sum(0).to_vec().unwrap(), [4.0, 8.0]);
        assert_eq!(row.sum_to([2]).to_vec().unwrap(), [4.0, 8.0]);
    });
}

#[test]
fn assigned() {
    on_every_device(|device| {
        let x = ramp(device, [2, 3]);
        x.assign(x.sum_keepdim(1)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [3.0, 3.0, 3.0, 12.0, 12.0, 12.0]);
        let y = ramp(device, [3]);
        y.assign(ramp(device, [2, 3]).sum(0)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [3.0, 5.0, 7.0]);
        y.assign(y.cumsum(0)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [3.0, 8.0, 15.0]);
        let column = x.slice(1, 1..2);
        column.assign(x.min_keepdim(0)).unwrap_err();
        column.assign(x.sum_keepdim(1)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [3.0, 9.0, 3.0, 12.0, 36.0, 12.0]);
        let z = device.zeros::<f32>([2, 2]).unwrap();
        z.assign(ramp(device, [4]).sum(0)).unwrap();
        assert_eq!(z.to_vec().unwrap(), [6.0; 4]);
    });
}

#[test]
fn several_results() {
    on_every_device(|device| {
        let x = ramp(device, [2, 3]);
        let all = Expr::eval_all(&[
            x.sum(1),
            x.sum_square(1),
            x.max(1),
            x.mean(1),
            x.sum(0).slice(0, 1..),
            x.cumsum(1),
            x.cumsum(1).cumsum(1),
            x.sum(1),
        ]);
        let all: Vec<Vec<f32>> = all.unwrap().iter().map(|one| one.to_vec().unwrap()).collect();
        let expected: [&[f32]; 8] = [
            &[3.0, 12.0],
            &[5.0, 50.0],
            &[2.0, 5.0],
            &[1.0, 4.0],
            &[5.0, 7.0],
            &[0.0, 1.0, 3.0, 3.0, 7.0, 12.0],
            &[0.0, 1.0, 4.0, 3.0, 10.0, 22.0],
            &[3.0, 12.0],
        ];
        assert_eq!(all, expected);
    });
}

/// Two reductions of the same elements are one stage, and the explanation names both.
#[test]
fn what_would_run() {
    let device = Device::cpu();
    let x = ramp(&device, [4, 8]);
    let told = |expr: Expr<f32>| expr.explain(&device).unwrap().to_string();
    let sum = told(x.sum(1));
    assert!(sum.starts_with("f32 [4, 1] = sum over axis 1 of [4, 8] a\n"), "{sum}");
    // Two reductions that need an earlier one, and a later operation: one stage if rows are short, several if they are long.
    let var = told(x.var(1, 0));
    assert!(var.starts_with("f32 [4, 1] = each row over axis 1 of [4, 8]: "), "{var}");
    assert!(!var.contains("first, as it is stored"), "{var}");
    let norm = told((&x - x.mean_keepdim(1)) / (x.var_keepdim(1, 0) + 1e-5).sqrt());
    assert!(norm.starts_with("f32 [4, 8] = each row over axis 1 of [4, 8]: "), "{norm}");
    assert!(!norm.contains("first, as it is stored"), "{norm}");
    let range = told(x.max(1) - x.min(1));
    assert!(range.contains("each row over axis 1 of [4, 8]: sub(max(a), min(a))\n"), "{range}");
    let long = told(ramp(&device, [2, 5000]).var(1, 0));
    assert_eq!(long.matches("first, as it is stored").count(), 1, "{long}");
    assert!(long.contains("each row over axis 1 of [2, 5000]: "), "{long}");
    let mean = told(ramp(&device, [2, 5000]).mean(1));
    assert!(mean.contains("each row over axis 1 of [2, 5000]: div(sum(a), 5000)\n"), "{mean}");
    let shared = told(x.sum(1).shared().sum(0));
    assert_eq!(shared.matches("first, as it is stored").count(), 1, "{shared}");
    let all = told(x.permute([1, 0]).max([0, 1]));
    assert!(all.starts_with("f32 [1, 1] = max over axes 0, 1 of [8, 4] a\n"), "{all}");
}

/// A kernel reads such rows once and keeps them, or several times, or there are several kernels. Bits are the same.
#[test]
fn long_rows_that_are_read_again() {
    on_every_device(|device| {
        let lengths = [4097, 8192, 16_380, 16_384, 16_385];
        for (_, n) in lengths.into_iter().enumerate().filter(|&(case, _)| takes(case, device)) {
            let values: Vec<f32> = (0..3 * n).map(|i| ((i * 37) % 1009) as f32 / 1009.0 - 0.5).collect();
            let bits = |device: &Device| -> Vec<Vec<u32>> {
                let x = device.upload(&values, [3, n]).unwrap();
                let norm = (&x - x.mean_keepdim(1)) / (x.var_keepdim(1, 0) + 1e-5).sqrt();
                let below = &x - x.max_keepdim(1);
                let all = [&below / below.sum_keepdim(1), norm, (&x * 2.0).max(1) - x.min(1)];
                let bits = |own: Expr<f32>| own.to_vec().unwrap().iter().map(|x| x.to_bits()).collect();
                all.into_iter().map(bits).collect()
            };
            assert!(bits(device) == bits(&Device::cpu()), "{device:?} rows of {n}");
        }
    });
}

/// The more expensive the elements of a run are, the fewer of them each invocation reduces.
#[test]
fn long_runs_of_dear_elements() {
    on_every_device(|device| {
        let shapes = [vec![32_000], vec![3, 5000], vec![2, 4096], vec![4104, 3]];
        for (_, shape) in shapes.into_iter().enumerate().filter(|&(case, _)| takes(case, device)) {
            let count: usize = shape.iter().product();
            let values: Vec<f32> = (0..count).map(|i| ((i * 37) % 1009) as f32 / 1009.0 - 0.5).collect();
            let sums = |device: &Device, steps: usize| -> Vec<u32> {
                let x = device.upload(&values, shape.clone()).unwrap();
                let y = (0..steps).fold(x.expr(), |y, _| (&y * &x) * 0.75 + 0.1);
                y.sum(-1).to_vec().unwrap().iter().map(|x| x.to_bits()).collect()
            };
            for steps in [1, 3, 6, 12, 24] {
                assert_eq!(sums(device, steps), sums(&Device::cpu(), steps), "{device:?} {shape:?} {steps}");
            }
        }
    });
}
