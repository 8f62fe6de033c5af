//! Expressions of several kernels: long, wide, deep, and shared through views.

use crate::common::depth::depth;
use crate::common::{on_every_device, takes};
use zerostride::{Device, Element, Expr, Math, Tensor, f16};

#[test]
fn sums_with_their_own_reverse() {
    on_every_device(|device| {
        let mut y = device.upload(&[1.0_f32, 2.0], [2]).unwrap().expr();
        for _ in 0..40 {
            y = &y + y.flip(0);
        }
        assert_eq!(y.to_vec().unwrap(), [3.0 * 2_f32.powi(39); 2]);
    });
}

#[test]
fn chains_as_long_as_a_loop() {
    on_every_device(|device| {
        let x = device.upload(&[0.0_f32, 0.5, -1.0], [3]).unwrap();
        for length in depth(&[501][..], &[500, 501, 1000, 5000]).iter().copied() {
            let left = (0..length).fold(x.expr(), |y, _| y + 1.0);
            let right = (0..length).fold(x.expr(), |y, _| 1.0 + y);
            let expected = [0.0, 0.5, -1.0].map(|x| x + length as f32);
            assert_eq!(left.to_vec().unwrap(), expected);
            assert_eq!(right.to_vec().unwrap(), expected);
        }
    });
}

/// Were the time not linear, this would not end.
#[test]
fn chains_of_a_hundred_thousand() {
    on_every_device(|device| {
        let x = device.upload(&[0.0_f32, 0.5], [2]).unwrap();
        let longest = if device.name() == "cpu" { depth(20_000, 100_000) } else { depth(3_000, 10_000) };
        for length in [depth(1_000, 5_000), longest] {
            let chain = (0..length).fold(x.expr(), |y, _| &x + &(y + 1.0));
            let expected = [length as f32, 0.5 * (length + 1) as f32 + length as f32];
            assert_eq!(chain.to_vec().unwrap(), expected);
        }
    });
}

#[test]
fn the_longest_chains_are_dropped_and_printed() {
    let device = zerostride::Device::cpu();
    let x = device.upload(&[1.0_f32], [1]).unwrap();
    let number = depth(200_000, 1_000_000);
    let chain = (0..number).fold(x.expr(), |y, _| y + 1.0);
    let other = (0..number).fold(x.expr(), |y, _| (1.0 - y).flip(0));
    assert!(format!("{chain:?} {other:?}").len() < 1000);
    drop(chain.clone());
    drop((chain, other));
}

#[test]
fn many_costly_functions() {
    on_every_device(|device| {
        let x = device.upload(&[0.25_f32, 3.0, -7.0, 0.0], [4]).unwrap();
        let step = |y: &Expr<f32>| (y.sin() + y.cos()).tanh();
        let (mut fused, mut stepped): (Expr<f32>, Tensor<f32>) = (x.expr(), x.clone());
        for _ in 0..60 {
            fused = step(&fused);
            stepped = step(&stepped).eval().unwrap();
        }
        assert_eq!(fused.to_vec().unwrap(), stepped.to_vec().unwrap());
    });
}

/// Their texts are as long as those of costly functions.
#[test]
fn many_casts() {
    on_every_device(|device| {
        let mut x = device.upload(&[0.25_f32, 3e9, -7.5, f32::NAN], [4]).unwrap().expr();
        for _ in 0..50 {
            x = (x + 1.0).cast::<i32>().cast::<f32>();
        }
        let explained = x.explain(device).unwrap().to_string();
        assert!(explained.contains("first"), "{explained}");
        assert_eq!(x.to_vec().unwrap(), [50.0, 2147483648.0, 43.0, 49.0]);
    });
}

#[test]
fn sums_of_many_tensors() {
    on_every_device(|device| {
        let tensors: Vec<Tensor<i32>> =
            (0..200).map(|i| device.upload(&[i, 2 * i, -i], [3]).unwrap()).collect();
        let sum = tensors.iter().skip(1).fold(tensors[0].expr(), |sum, x| sum + x);
        assert_eq!(sum.to_vec().unwrap(), [19900, 39800, -19900]);
        // As a tree, and from the right.
        let mut row: Vec<Expr<i32>> = tensors.iter().map(|x| x.expr()).collect();
        while row.len() > 1 {
            row = row.chunks(2).map(|pair| pair.iter().skip(1).fold(pair[0].clone(), |a, b| a + b)).collect();
        }
        assert_eq!(row[0].to_vec().unwrap(), [19900, 39800, -19900]);
        let sum = tensors.iter().rev().skip(1).fold(tensors[199].expr(), |sum, x| x + sum);
        assert_eq!(sum.to_vec().unwrap(), [19900, 39800, -19900]);
        // Into elements of one of them.
        tensors[7].slice(0, 1..).assign(sum.slice(0, ..2)).unwrap();
        assert_eq!(tensors[7].to_vec().unwrap(), [7, 19900, 39800]);
    });
}

#[test]
fn shared_parts_are_linear() {
    on_every_device(|device| {
        let x = device.upload(&[1_u32, 2, 3], [3]).unwrap();
        let doubled = (0..31).fold(x.expr(), |y, _| &y + &y);
        assert_eq!(doubled.to_vec().unwrap(), [1 << 31, 0, 1 << 31]);
        // Under views that are another one at each step.
        let mut y = device.upload(&(0..64).collect::<Vec<i32>>(), [64]).unwrap().expr();
        let mut expected: Vec<i32> = (0..64).collect();
        for _ in 0..40 {
            y = y.slice(0, 1..) - y.slice(0, ..-1) + 1;
            expected =
                expected.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]).wrapping_add(1)).collect();
            if expected.len() == 1 {
                break;
            }
        }
        assert_eq!(y.to_vec().unwrap(), expected);
    });
}

#[test]
fn views_of_what_is_computed() {
    on_every_device(|device| {
        let x = device.upload(&(0..24).map(|i| i as f32).collect::<Vec<_>>(), [4, 6]).unwrap();
        let turned = x.permute([1, 0]);
        // No layout of the transposed tensor is this, and of the sum it is.
        let flat = (&turned + 1.0).reshape([24]);
        let expected: Vec<f32> = (0..6).flat_map(|j| (0..4).map(move |i| (6 * i + j) as f32 + 1.0)).collect();
        assert_eq!(flat.to_vec().unwrap(), expected);
        let shared = (&x * 2.0).shared();
        let got = (shared.slice(0, 1..) - shared.slice(0, ..3)).to_vec().unwrap();
        assert_eq!(got, [12.0; 18]);
        let again = (shared.shared() + shared.flip(1)).to_vec().unwrap();
        let of = |i: usize, j: usize| 2.0 * (6 * i + j) as f32;
        let expected: Vec<f32> = (0..24).map(|k| of(k / 6, k % 6) + of(k / 6, 5 - k % 6)).collect();
        assert_eq!(again, expected);
        assert_eq!(shared.to_vec().unwrap(), (0..24).map(|i| 2.0 * i as f32).collect::<Vec<_>>());
    });
}

/// One result is a part of another, and each alone is nearly all that a kernel binds.
#[test]
fn results_of_many_tensors_within_each_other() {
    on_every_device(|device| {
        let tensors: Vec<Tensor<i32>> = (0..64).map(|i| device.upload(&[i, -i], [2]).unwrap()).collect();
        for count in [3, 7, 9, 12, 15, 31] {
            let sum = |range: &[Tensor<i32>]| range.iter().skip(1).fold(range[0].expr(), |sum, x| sum + x);
            let part = sum(&tensors[..count]);
            let whole = &part + sum(&tensors[count..2 * count]);
            let of = |n: usize| (0..n as i32).sum::<i32>();
            for both in [[&part, &whole], [&whole, &part]] {
                let got = Expr::eval_all(&both.map(Expr::clone)).unwrap();
                for (got, expr) in got.iter().zip(both) {
                    let n = if std::ptr::eq(expr, &part) { count } else { 2 * count };
                    assert_eq!(got.to_vec().unwrap(), [of(n), -of(n)]);
                }
            }
        }
    });
}

/// Results that are too much for one kernel, and one that is stored in any case.
#[test]
fn costly_results_and_shared_ones() {
    on_every_device(|device| {
        let x = device.upload(&[0.5_f32, 1.25, 3.0], [3]).unwrap();
        let powers = |base: f32| (0..5).fold(x.expr(), |y, k| (y + base).pow(0.25 + k as f32 / 8.0));
        let all: Vec<Expr<f32>> = [1.0, 2.0, 3.0].map(powers).into();
        let together = Expr::eval_all(&all).unwrap();
        for (got, expr) in together.iter().zip(&all) {
            assert_eq!(got.to_vec().unwrap(), expr.to_vec().unwrap());
        }
        // A result that is also an operand is not computed twice.
        let shared = (&x * 2.0).shared();
        assert!(!shared.explain(device).unwrap().to_string().contains("first"));
        let both = Expr::eval_all(&[shared.clone(), shared.flip(0) + 1.0]).unwrap();
        assert_eq!(both[0].to_vec().unwrap(), [1.0, 2.5, 6.0]);
        assert_eq!(both[1].to_vec().unwrap(), [7.0, 3.5, 2.0]);
    });
}

/// Nothing is loaded, and still a view lies between the steps.
#[test]
fn views_of_computed_constants() {
    on_every_device(|device| {
        let rows = Expr::scalar(21.5_f32).maximum(0.0).broadcast_to([2, 1]).reciprocal();
        let flat = (-rows.broadcast_to([2, 3])).reshape([6]);
        assert_eq!(flat.to_vec_on(device).unwrap(), [-1.0 / 21.5; 6]);
        let row = (-Expr::scalar(3_i32)).broadcast_to([1, 2]);
        let flat = row.pow(Expr::scalar(2).broadcast_to([2, 2])).reshape([4]);
        assert_eq!(flat.to_vec_on(device).unwrap(), [9; 4]);
    });
}

#[test]
fn a_blur_of_a_power_computes_it_once() {
    on_every_device(|device| {
        let side = 600;
        let x = Expr::iota([side, side], 0) * 7 + Expr::iota([side, side], 1);
        let x = (x.rem(97).cast::<f32>() / 97.0).eval_on(device).unwrap();
        let power = x.pow(2.2);
        let window = |y: &Expr<f32>| {
            let part = |i: isize, j: isize| {
                let end = side as isize - 2;
                y.slice(0, i..i + end).slice(1, j..j + end)
            };
            (0..9).skip(1).fold(part(0, 0), |sum, k| sum + part(k / 3, k % 3)) / 9.0
        };
        let fused = window(&power);
        let explained = fused.explain(device).unwrap().to_string();
        assert!(explained.contains("first, as it is stored"), "{explained}");
        let stepped = window(&power.eval().unwrap().expr());
        assert_eq!(fused.to_vec().unwrap(), stepped.to_vec().unwrap());
        // A cheap part is not stored.
        let cheap = window(&(&x + 1.0));
        assert!(!cheap.explain(device).unwrap().to_string().contains("first"));
    });
}

/// A device that knows a reduction, a scan or a stored part reads its own tensors and constants in each iteration.
#[test]
fn loops_reduce_anew() {
    on_every_device(|device| {
        for turn in 0..5 {
            let number = |i: usize| ((i * 7 + turn * 5) % 11) as f32;
            let x = device.upload(&(0..24).map(number).collect::<Vec<f32>>(), [4, 6]).unwrap();
            let scale = (turn + 1) as f32;
            let place = |i: usize, j: usize| number(6 * i + j);
            let column = |j: usize| (0..4).map(|i| place(i, j)).sum::<f32>();
            let row = |i: usize| (0..6).map(|j| place(i, j)).sum::<f32>();
            let all = |of: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
                (0..24).map(|k| of(k / 6, k % 6)).collect()
            };
            let to_vec = |expr: Expr<f32>| expr.eval().unwrap().to_vec().unwrap();
            let place_of = format!("{}, turn {turn}", device.name());
            assert_eq!(to_vec(x.sum(0)), (0..6).map(column).collect::<Vec<f32>>(), "{place_of}");
            let scaled: Vec<f32> = (0..6).map(|j| column(j) * scale - scale).collect();
            assert_eq!(to_vec((&x * scale).sum(0) - scale), scaled, "{place_of}");
            let beside = all(&|i, j| (place(i, j) * scale + row(i)) * scale);
            assert_eq!(to_vec((&x * scale + x.sum_to([4, 1])) * scale), beside, "{place_of}");
            let before = all(&|i, j| (0..=j).map(|j| place(i, j) + scale).sum());
            assert_eq!(to_vec((&x + scale).cumsum(1)), before, "{place_of}");
            let stored = all(&|i, j| (place(i, j) + scale) * scale);
            assert_eq!(to_vec((&x + scale).shared() * scale), stored, "{place_of}");
        }
    });
}

/// Lookups, sorts, products, joins and loops are known by what they are, too. A constant that decides more than a number of a
/// kernel, such as an index or the iterations of a loop, is not that of the plan.
#[test]
fn nodes_of_every_kind_are_built_anew() {
    on_every_device(|device| {
        let upload = |turn: i32| {
            let all: Vec<f32> = (0..12).map(|i| ((i * 7 + turn * 5) % 12) as f32).collect();
            (all.clone(), device.upload(&all, [3, 4]).unwrap())
        };
        for turn in 0..6 {
            let ((x, on), (y, other)) = (upload(turn), upload(turn + 1));
            let column = turn % 4;
            let found = on.at([Expr::iota([3], 0), Expr::scalar(column).broadcast_to([3])]) * 2.0;
            let expected: Vec<f32> = (0..3).map(|i| x[4 * i + column as usize] * 2.0).collect();
            assert_eq!(found.to_vec().unwrap(), expected, "{}, turn {turn}", device.name());
            let by_value =
                on.at([other.slice(1, 0..1).squeeze(1).rem(3.0).cast::<i32>(), Expr::scalar(column)]);
            let expected: Vec<f32> =
                (0..3).map(|i| x[4 * (y[4 * i] as usize % 3) + column as usize]).collect();
            assert_eq!(by_value.to_vec().unwrap(), expected, "{}, turn {turn}", device.name());
            let rows = |order: fn(&f32, &f32) -> std::cmp::Ordering| -> Vec<f32> {
                let row = |row: &[f32]| {
                    let mut row = row.to_vec();
                    row.sort_by(order);
                    row
                };
                x.chunks(4).flat_map(row).collect()
            };
            assert_eq!(on.sort(1).to_vec().unwrap(), rows(|a, b| a.total_cmp(b)));
            assert_eq!(on.sort_descending(1).to_vec().unwrap(), rows(|a, b| b.total_cmp(a)));
            let product = |i: usize, j: usize| (0..4).map(|k| x[4 * i + k] * y[4 * j + k]).sum::<f32>();
            let products: Vec<f32> = (0..9).map(|i| product(i / 3, i % 3)).collect();
            assert_eq!(on.matmul(other.permute([1, 0])).to_vec().unwrap(), products);
            let beside =
                |i: usize| if i % 8 < 4 { x[i / 8 * 4 + i % 8] + 1.0 } else { y[i / 8 * 4 + i % 8 - 4] };
            let joined = Expr::concat([&on + 1.0, other.expr()], 1);
            assert_eq!(joined.to_vec().unwrap(), (0..24).map(beside).collect::<Vec<f32>>());
            let turns = turn as u32 % 3;
            let doubled = Expr::repeat(turns, on.expr(), |x| x * 2.0);
            let expected: Vec<f32> = x.iter().map(|x| x * 2.0_f32.powi(turns as i32)).collect();
            assert_eq!(doubled.to_vec().unwrap(), expected, "{}, {turns} iterations", device.name());
        }
    });
}

/// A device reuses a plan for a similar expression. Each iteration of a loop reads its own tensors, constants and views. An
/// expression of another form does not get the plan.
#[test]
fn loops_build_their_expressions_anew() {
    fn turns<T: Element>(device: &Device, number: impl Fn(i64) -> T, least: i64) {
        let all = |of: &dyn Fn(i64) -> i64| (0..12).map(|i| number(of(i))).collect::<Vec<T>>();
        let (mut x, rows) =
            (device.upload(&all(&|i| i % 5), [3, 4]).unwrap(), device.upload(&all(&|i| i % 3), [4, 3]));
        let (rows, mut known) = (rows.unwrap(), (0..12).map(|i| i % 5).collect::<Vec<i64>>());
        for turn in 0..6 {
            // The two constants, and the operands of one shape, change places.
            let (a, b) = (turn % 3 + 1, 2 - turn % 2);
            let y = device.upload(&all(&|i| (i + turn) % 4), [3, 4]).unwrap();
            let call = |name: &str, a: &Expr<T>, b: &Expr<T>| Expr::<T>::call(name, &[a.clone(), b.clone()]);
            let scaled = call("mul", &x, &Expr::scalar(number(a)));
            let moved = call("add", &scaled, &Expr::scalar(number(b)));
            let sum = if turn % 2 == 0 { call("maximum", &moved, &y) } else { call("maximum", &y, &moved) };
            x = call("minimum", &call("add", &sum, &rows.permute([1, 0])), &Expr::scalar(number(9)))
                .eval()
                .unwrap();
            for (i, known) in known.iter_mut().enumerate() {
                let i = i as i64;
                let row = (i % 4 * 3 + i / 4) % 3;
                *known = ((*known * a + b).max((i + turn) % 4) + row).min(9);
            }
            let expected: Vec<T> = known.iter().map(|&i| number(i)).collect();
            assert_eq!(x.to_vec().unwrap(), expected, "{} {}, turn {turn}", device.name(), T::DTYPE);
            // Of one tensor twice, of a part of it, and of nothing.
            let twice = call("add", &x, &x).eval().unwrap();
            let double: Vec<T> = known.iter().map(|&i| number(2 * i)).collect();
            assert_eq!(twice.to_vec().unwrap(), double);
            let part = x.slice(1, turn as isize % 3..turn as isize % 3 + 2);
            let least = call("maximum", &part, &Expr::scalar(number(least))).eval().unwrap();
            assert_eq!(least.to_vec().unwrap(), part.to_vec().unwrap());
            // In place: into all of a tensor, into a part of one, from itself and from where it overlaps.
            let (own, wide) = (x.clone().eval().unwrap(), device.zeros::<T>([4, 6]).unwrap());
            own.assign(call("add", &own, &Expr::scalar(number(b)))).unwrap();
            wide.slice(1, 1..5)
                .slice(0, 1..)
                .assign(call("maximum", &own, &Expr::scalar(number(a))))
                .unwrap();
            wide.slice(0, 1..).assign(call("add", &wide.slice(0, ..3), &Expr::scalar(number(1)))).unwrap();
            let mut rows = [0; 24];
            for (i, &known) in known.iter().enumerate() {
                rows[6 * (1 + i / 4) + 1 + i % 4] = (known + b).max(a);
            }
            let rows: Vec<T> = (0..24).map(|i| number(if i < 6 { 0 } else { rows[i - 6] + 1 })).collect();
            assert_eq!(wide.to_vec().unwrap(), rows, "{} {}, turn {turn}", device.name(), T::DTYPE);
            let none = x.slice(0, 1..1);
            assert!(call("add", &none, &none).eval().unwrap().to_vec().unwrap().is_empty());
        }
    }
    on_every_device(|device| {
        let all: [fn(&Device); 4] = [
            |device| turns(device, |i| i as f32, -1),
            |device| turns(device, |i| f16::from_f32(i as f32), -1),
            |device| turns(device, |i| i as i32, -1),
            |device| turns(device, |i| i as u8, 0),
        ];
        all.iter().enumerate().filter(|&(case, _)| takes(case, device)).for_each(|(_, run)| run(device));
        turns(device, |i| i, -1);
        // Both words of a constant count.
        let x = device.upload(&[1_i64, -1], [2]).unwrap();
        for turn in 0..4 {
            let y = (&x + (turn << 33)) * ((2 << 40) - turn);
            let known = [1, -1].map(|x: i64| (x + (turn << 33)).wrapping_mul((2 << 40) - turn));
            assert_eq!(y.eval().unwrap().to_vec().unwrap(), known, "{}", device.name());
        }
    });
    // Handles of a device that compute otherwise have plans of their own.
    on_every_device(|device| {
        let mut fast = device.clone();
        fast.set_math(Math::Fast);
        let x = device.upload(&[0.5_f32, 1.5, 3.0], [3]).unwrap();
        for turn in 0..4 {
            let of = |device: &Device| (x.sin() * turn as f32).eval_on(device).unwrap().to_vec().unwrap();
            let (precise, quick) = (of(device), of(&fast));
            assert!(precise.iter().zip(quick).all(|(a, b)| (a - b).abs() < 0.01), "{}", device.name());
        }
    });
}
