//! Windows of tensors and expressions, against loops over plain elements.

use crate::common::depth::depth;
use crate::common::{Random, on_every_device, takes};
use zerostride::{
    AnyExpr, AnyTensor, DType, Device, Element, ErrorKind, Expr, Pad, ReduceOptions, Result, Tensor,
};

/// A shape and its elements in row-major order.
#[derive(Clone)]
struct Plain {
    shape: Vec<usize>,
    all: Vec<i32>,
}

impl Plain {
    /// Windows by their definition: an index of the result, and where its element is.
    fn windows(&self, lengths: &[usize], axes: &[usize], steps: &[usize], dilations: &[usize]) -> Plain {
        let rank = self.shape.len();
        let mut shape = self.shape.clone();
        for (k, &axis) in axes.iter().enumerate() {
            shape[axis] = (shape[axis] - (lengths[k] - 1) * dilations[k] - 1) / steps[k] + 1;
        }
        shape.extend(lengths);
        let all = indexes(&shape).map(|index| {
            let mut at = index[..rank].to_vec();
            for (k, &axis) in axes.iter().enumerate() {
                at[axis] = at[axis] * steps[k] + index[rank + k] * dilations[k];
            }
            self.all[at.iter().zip(&self.shape).fold(0, |all, (&i, &n)| all * n + i)]
        });
        let all = all.collect();
        Plain { shape, all }
    }

    /// The result of each run of the last axes.
    fn reduced(&self, axes: usize, of: impl Fn(&[i32]) -> i32) -> Vec<i32> {
        let run: usize = self.shape[self.shape.len() - axes..].iter().product();
        self.all.chunks(run).map(of).collect()
    }
}

fn indexes(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let index = |mut i: usize| {
        let mut index: Vec<usize> = shape.iter().rev().map(|&n| (i % n, i /= n).0).collect();
        index.reverse();
        index
    };
    (0..shape.iter().product()).map(index)
}

/// An operand, as an expression and as plain elements. It may be computed, or a view.
fn operand(device: &Device, random: &mut Random, shape: &[usize]) -> Result<(Expr<i32>, Plain)> {
    let all: Vec<i32> = (0..shape.iter().product()).map(|_| random.below(200) as i32 - 100).collect();
    let x = device.upload(&all, shape)?;
    let mut plain = Plain { shape: shape.to_vec(), all };
    Ok(match random.below(4) {
        0 => (x.expr(), plain),
        1 => {
            plain.all.iter_mut().for_each(|value| *value = value.wrapping_mul(*value) - 3);
            (&x * &x - 3, plain)
        }
        2 => {
            plain.all.reverse();
            ((0..shape.len()).fold(x.expr(), |x, axis| x.flip(axis)), plain)
        }
        // Of the last axes exchanged, the same elements.
        _ => {
            let rank = shape.len();
            let mut turned = shape.to_vec();
            turned.swap(rank - 1, rank - 2);
            let moved = |index: Vec<usize>| {
                let mut from = index;
                from.swap(rank - 1, rank - 2);
                plain.all[from.iter().zip(shape).fold(0, |all, (&i, &n)| all * n + i)]
            };
            let all: Vec<i32> = indexes(&turned).map(moved).collect();
            (device.upload(&all, turned)?.transpose(rank - 1, rank - 2), plain)
        }
    })
}

/// Windows of random operands, along random axes: as they are, as operands, as reduced ranges, and as what is assigned.
#[test]
fn windows_are_those_of_their_definition() {
    on_every_device(|device| {
        for case in (0..depth(12, 90)).filter(|&case| takes(case, device)) {
            let mut random = Random(46 + case as u64);
            let rank = 2 + random.below(3);
            let shape: Vec<usize> = (0..rank)
                .map(|k| if k + 1 == rank { 5 + random.below(70) } else { 3 + random.below(8) })
                .collect();
            let (x, plain) = operand(device, &mut random, &shape).unwrap();
            let mut axes: Vec<usize> = (0..rank).collect();
            (1..rank).for_each(|k| axes.swap(k, random.below(k + 1)));
            axes.truncate(1 + random.below(rank));
            let lengths: Vec<usize> = axes.iter().map(|&axis| 1 + random.below(shape[axis].min(5))).collect();
            let most = |k: usize| if lengths[k] > 1 { (shape[axes[k]] - 1) / (lengths[k] - 1) } else { 2 };
            let dilations: Vec<usize> = (0..axes.len()).map(|k| 1 + random.below(most(k).min(3))).collect();
            let steps: Vec<usize> = axes.iter().map(|_| 1 + random.below(3)).collect();
            let expected = plain.windows(&lengths, &axes, &steps, &dilations);
            let windows = x.windows_with(&lengths, &axes, &steps, &dilations);
            let about = format!("case {case}: {lengths:?} {axes:?} {steps:?} {dilations:?} of {shape:?}");
            assert_eq!(windows.shape().unwrap().to_vec(), expected.shape, "{about}");
            assert_eq!(windows.to_vec().unwrap(), expected.all, "{about}");
            // Of a tensor they are a layout of its own elements, whose strides are NumPy's.
            if let (Ok(own), Ok(seen)) = (x.tensor(), windows.tensor()) {
                let strides = own.layout().strides();
                let mut known = strides.to_vec();
                for (k, &axis) in axes.iter().enumerate() {
                    known[axis] *= steps[k] as isize;
                    known.push(strides[axis] * dilations[k] as isize);
                }
                let long = |all: &[isize]| -> Vec<isize> {
                    all.iter().zip(&expected.shape).filter(|(_, n)| **n > 1).map(|(&s, _)| s).collect()
                };
                assert_eq!(long(seen.layout().strides()), long(&known), "{about}");
            }
            let doubled: Vec<i32> = expected.all.iter().map(|value| value * 2 + 1).collect();
            assert_eq!((&windows * 2 + 1).to_vec().unwrap(), doubled, "{about}");
            let last: Vec<isize> = (1..=axes.len() as isize).map(|k| -k).collect();
            let sums = expected.reduced(axes.len(), |run| run.iter().sum());
            assert_eq!(windows.sum(&last).to_vec().unwrap(), sums, "{about}");
            let most = expected.reduced(axes.len(), |run| *run.iter().max().unwrap());
            assert_eq!(windows.max(&last).to_vec().unwrap(), most, "{about}");
            // The first axis too, of an expression of windows.
            let ranges = (&windows + 1).sum(&last).sum(0).to_vec().unwrap();
            let (run, by): (usize, i32) =
                (sums.len() / expected.shape[0], lengths.iter().product::<usize>() as i32);
            let columns = (0..run).map(|i| sums.iter().skip(i).step_by(run).map(|sum| sum + by).sum());
            assert_eq!(ranges, columns.collect::<Vec<i32>>(), "{about}");
            let to = device.zeros::<i32>(&expected.shape).unwrap();
            to.flip(0).assign(&windows).unwrap();
            assert_eq!(to.flip(0).to_vec().unwrap(), expected.all, "{about}");
        }
    });
}

/// Windows of a padded operand, of floats and of types of a byte, have the bits of the same sum of shifted slices.
#[test]
fn pools_and_convolutions_have_the_bits_of_shifted_slices() {
    fn check<T: Element>(device: &Device, of: impl Fn(usize) -> T, same: impl Fn(&Expr<T>)) {
        let all: Vec<T> = (0..37 * 66).map(of).collect();
        same(&device.upload(&all, [37, 66]).unwrap());
    }
    on_every_device(|device| {
        check(
            device,
            |i| (i * 37 % 101) as f32 / 8.0 - 3.0,
            |x| {
                let padded = x.pad([(1, 1), (1, 1)], Pad::Edge);
                let at = |y: usize, x: usize| padded.slices((y..y + 37, x..x + 66));
                let shifts: Vec<Expr<f32>> = (0..9).map(|i| at(i / 3, i % 3)).collect();
                let most = shifts[1..].iter().fold(shifts[0].clone(), |most, shift| most.maximum(shift));
                let windows = padded.windows([3, 3], [0, 1]);
                assert_eq!(windows.max([-2, -1]).to_vec().unwrap(), most.to_vec().unwrap());
                // Eighths: exact in any order.
                let sum = shifts.iter().cloned().sum::<Expr<f32>>();
                assert_eq!(windows.sum([-2, -1]).to_vec().unwrap(), sum.to_vec().unwrap());
                let kernel =
                    device.upload(&[-1.0_f32, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0], [3, 3]).unwrap();
                let sobel = (&windows * &kernel).sum([-2, -1]).to_vec().unwrap();
                let weights = [-1.0, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0];
                let shifted =
                    shifts.iter().zip(weights).map(|(shift, weight)| shift * weight).sum::<Expr<f32>>();
                assert_eq!(sobel, shifted.to_vec().unwrap());
            },
        );
        check(
            device,
            |i| (i * 31 % 251) as u8,
            |x| {
                let most = (0..4).map(|i| x.slices((i / 2..36 + i / 2, i % 2..65 + i % 2)));
                let most = most.reduce(|most, shift| most.maximum(shift)).unwrap();
                assert_eq!(x.windows([2, 2], [0, 1]).max([2, 3]).to_vec().unwrap(), most.to_vec().unwrap());
            },
        );
    });
}

/// Every reduction of windows has the bits of the same reduction of a copy whose elements lie apart: for zeros of both signs,
/// infinities, NaN, and elements that several reductions read.
#[test]
fn reductions_of_windows_have_the_bits_of_those_of_a_copy() {
    fn value(i: usize) -> f32 {
        match i * 7919 % 97 {
            0 => f32::NAN,
            1 => f32::INFINITY,
            2..=30 => 0.0,
            31..=60 => -0.0,
            k => (k as f32 - 78.0) * 1.37e-3 * (i % 11) as f32,
        }
    }
    let same = |a: &[u8], b: &[u8], about: &str| {
        let floats = |bytes: &[u8]| -> Vec<f32> { bytemuck::pod_collect_to_vec(bytes) };
        for (i, (a, b)) in floats(a).into_iter().zip(floats(b)).enumerate() {
            assert!(
                a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
                "{about}: {a:?} and {b:?} at {i}"
            );
        }
    };
    on_every_device(|device| {
        // Rows with a walk of their own, and short rows.
        let cases = [(3, 1, 81), (2, 1, 41), (3, 1, 41), (3, 2, 90), (5, 1, 41), (5, 1, 83), (7, 1, 41)];
        let cases = cases.into_iter().take(depth(2, cases.len()));
        for (case, (length, dilation, columns)) in cases.enumerate() {
            let all: Vec<f32> = (0..23 * columns).map(value).collect();
            let x = AnyTensor::from(device.upload(&all, [23, columns]).unwrap());
            let windows = x.windows_with(length, 0, 1, dilation).windows_with(length, 1, 1, dilation);
            let finite = AnyExpr::call("clamp", &[windows.clone(), number(-1.0), number(1.0)]);
            for (kind, windows) in [&windows, &finite].into_iter().enumerate() {
                let copy = windows.eval().unwrap();
                let rows = zerostride::reductions()
                    .filter(|row| !row.keeps_shape && row.result(DType::F32).is_some());
                for (_, row) in rows.enumerate().filter(|&(k, _)| takes(case + kind + k, device)) {
                    let of = |x: &AnyExpr| {
                        let reduced = x.reduce(row.name, [-2, -1], ReduceOptions::default());
                        reduced.cast(DType::F32).to_bytes().unwrap()
                    };
                    same(
                        &of(windows),
                        &of(&copy),
                        &format!("{} of {length} {dilation} on {}", row.name, device.name()),
                    );
                }
                let truths = |x: &AnyExpr| AnyExpr::call("gt", &[x.clone(), number(0.0)]);
                for name in ["any", "all", "count_nonzero"] {
                    let of = |x: &AnyExpr| {
                        truths(x).reduce(name, [-2, -1], ReduceOptions::default()).to_bytes().unwrap()
                    };
                    assert_eq!(of(windows), of(&copy), "{name}");
                }
                // Halves are computed in f32 and rounded once.
                let half =
                    |x: &AnyExpr| x.cast(DType::F16).reduce("mean", [-2, -1], ReduceOptions::default());
                let of = |x: &AnyExpr| half(x).cast(DType::F32).to_bytes().unwrap();
                same(&of(windows), &of(&copy), "mean of f16");
                // The shares of a window, which stay apart.
                let shares =
                    |x: &AnyExpr| x.reduce("softmax", [-1], ReduceOptions::default()).to_bytes().unwrap();
                same(&shares(windows), &shares(&copy), "softmax");
            }
        }
    });
}

fn number(value: f32) -> AnyExpr {
    AnyExpr::scalar(DType::F32, value)
}

/// A reduction of windows of a tensor is one kernel over the tensor's own elements. Each element counts once.
#[test]
fn windows_are_read_where_they_lie() {
    on_every_device(|device| {
        let x = device.zeros::<f32>([64, 96]).unwrap();
        let blur = x.windows([3, 3], [0, 1]).mean([-2, -1]).explain(device).unwrap();
        assert!(blur.operands().iter().all(|own| own.is_of(&AnyTensor::from(&x))), "{blur}");
        let text = blur.to_string();
        let moved = 4 * (64 * 96 + 62 * 94);
        assert!(text.contains(&format!("moves: {moved} bytes at least")), "{text}");
        assert!(!text.contains("first, as it is stored"), "{text}");
    });
}

/// Disjoint windows are a destination, others are not.
#[test]
fn windows_are_destinations_where_they_are_apart() {
    on_every_device(|device| {
        let x = device.upload(&(0..12).collect::<Vec<i32>>(), [2, 6]).unwrap();
        let blocks = x.windows_with(2, 1, 2, 1);
        blocks.assign(blocks.flip(2) * 10).unwrap();
        assert_eq!(x.to_vec().unwrap(), [10, 0, 30, 20, 50, 40, 70, 60, 90, 80, 110, 100]);
        let error = x.windows(2, 1).assign(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Alias);
        // And of themselves: all is read before anything is written.
        x.slice(1, ..5).assign(x.windows(2, 1).sum(2)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [10, 30, 50, 70, 90, 40, 130, 150, 170, 190, 210, 100]);
    });
}

#[test]
fn mistakes_name_axis_length_and_window() {
    let device = Device::cpu();
    let x: Tensor<f32> = device.zeros([4, 3]).unwrap();
    let any = AnyTensor::from(&x);
    let message = |view: Expr<f32>| {
        let error = view.eval().unwrap_err();
        assert!(error.location().is_some_and(|at| at.file().ends_with("sliding.rs")), "{error}");
        error.message().to_string()
    };
    assert_eq!(
        message(x.windows([2, 5], [0, 1])),
        "windows of [4, 3]: a window of 5 along axis 1, which has length 3: pad it, or take a shorter one"
    );
    assert_eq!(
        message((&x + 1.0).windows_with(3, -2, 1, 2)),
        "windows of [4, 3]: a window of 3 whose elements lie 2 apart along axis 0, which has length 4: pad it, or take a shorter one"
    );
    assert_eq!(
        message(x.windows([2, 2], 0)),
        "windows of [4, 3]: 2 lengths [2, 2] and 1 axes [0], which must be as many"
    );
    assert_eq!(
        message(x.windows_with(2, 0, 0, 1)),
        "windows of [4, 3]: a window of 2 along axis 0 by a step of 0 and a dilation of 1, each of which is at least 1"
    );
    assert_eq!(
        message(x.windows(0, 1)),
        "windows of [4, 3]: a window of 0 along axis 1 by a step of 1 and a dilation of 1, each of which is at least 1"
    );
    assert_eq!(message(x.windows(2, 2)), "axis 2 of [4, 3] is out of range: axes go from -2 to 1");
    for far in [isize::MAX, isize::MIN] {
        let kind = if far > 0 { ErrorKind::Shape } else { ErrorKind::Axis };
        assert_eq!(x.windows_with(2, 0, 1, far).eval().unwrap_err().kind(), kind);
        assert_eq!(x.windows(far, 0).eval().unwrap_err().kind(), kind);
        assert_eq!(any.windows_with(2, 0, far, 1).eval().is_err(), far < 0);
    }
    assert_eq!(any.windows(4, 0).dtype().unwrap(), DType::F32);
}
