//! Loops in a kernel: the results of plain Rust, on every device, bit for bit, whatever stands around them and inside.

use std::sync::Arc;

use crate::common::{found_in_turn, on_every_device, open, options};
use zerostride::{AnyExpr, DType, Device, Element, Expr, Function, Limits, Options, Outside};

/// The same on every device as on the CPU path, bit for bit.
fn everywhere<T: Element>(expr: impl Fn(&Device) -> Expr<T>) -> Vec<T> {
    let cpu = Device::cpu();
    let known = expr(&cpu).to_vec_on(&cpu).unwrap();
    on_every_device(|device| match expr(device).to_vec_on(device) {
        Ok(all) => {
            assert_eq!(all.len(), known.len());
            // As text zeros have signs, and NaN is NaN.
            let differs = all.iter().zip(&known).find(|(a, b)| format!("{a:?}") != format!("{b:?}"));
            assert!(differs.is_none(), "{}: {differs:?}", device.name());
        }
        Err(error) => assert!(error.message().contains("needs the feature"), "{error}"),
    });
    known
}

fn mandelbrot(rows: usize, columns: usize, turns: u32) -> Expr<u32> {
    let x = Expr::iota([rows, columns], 1).cast::<f32>() * (3.0 / columns as f32) - 2.0;
    let y = Expr::iota([rows, columns], 0).cast::<f32>() * (2.0 / rows as f32) - 1.0;
    let (zero, none) = (Expr::scalar(0.0_f32).broadcast_to([rows, columns]), Expr::scalar(0_u32));
    let (_, _, n) = Expr::repeat_while(turns, (zero.clone(), zero, none), |(a, b, n)| {
        let (aa, bb) = (&a * &a, &b * &b);
        ((&aa + &bb).le(4.0), (aa - bb + &x, a * b * 2.0 + &y, n + 1))
    });
    n
}

#[test]
fn mandelbrot_is_mandelbrot() {
    let (rows, columns) = (61, 102);
    let known = everywhere(|_| mandelbrot(rows, columns, 100));
    for (i, n) in known.into_iter().enumerate() {
        let x = (i % columns) as f32 * (3.0 / columns as f32) - 2.0;
        let y = (i / columns) as f32 * (2.0 / rows as f32) - 1.0;
        let (mut a, mut b, mut turns) = (0.0_f32, 0.0_f32, 0);
        while turns < 100 && a * a + b * b <= 4.0 {
            (a, b) = (a * a - b * b + x, a * b * 2.0 + y);
            turns += 1;
        }
        assert_eq!(n, turns, "{i}");
    }
}

#[test]
fn newtons_method() {
    let x: Vec<f32> = (1..=1001).map(|i| i as f32 * 0.37).collect();
    everywhere(|device| {
        let x = device.upload(&x, [1001]).unwrap();
        let close = |r: &Expr<f32>| (r * r - &x).abs().gt(&x * 1e-6);
        Expr::repeat_while(50, x.expr(), |r| (close(&r), (&r + &x / &r) * 0.5))
    });
}

/// Without iterations, a loop returns its first values. Another number of iterations compiles nothing, and no iteration of a
/// long loop is left out.
#[test]
fn any_number_of_turns() {
    let count = |turns: u32| Expr::repeat(turns, Expr::iota([5, 67], 1).cast::<u32>(), |n| n * 3 + 1);
    for turns in [0, 1, 2, 7, 70_000, 200_000] {
        let known = everywhere(|_| count(turns));
        let plain = |n: u32| (0..turns).fold(n, |n, _| n.wrapping_mul(3).wrapping_add(1));
        assert_eq!(known, (0..335).map(|i| plain(i % 67)).collect::<Vec<u32>>());
    }
    // Nested loops multiply their iterations. A driver that would leave the loop early is an error.
    let zero = Expr::scalar(0_u32).broadcast_to([8]);
    let within = |n: u32| Expr::repeat(n, zero.clone(), |n| Expr::repeat(100, n, |n| n + 1));
    everywhere(|_| within(600));
    on_every_device(|device| match within(3000).to_vec_on(device) {
        Ok(all) => assert_eq!(all, [300_000; 8], "{}", device.name()),
        Err(error) => {
            assert!(error.message().contains(" ends a kernel after 65535: run it in parts"), "{error}");
        }
    });
    // As many of them as elements are folded.
    let sum = everywhere(|_| Expr::repeat(500, Expr::iota([3, 5000], 0).cast::<u32>(), |n| n + 1).sum(1));
    assert_eq!(sum, [2_500_000, 2_505_000, 2_510_000]);
    // Devices of its own, which have no other kernels.
    for device in found_in_turn().map(|adapter| open(&adapter)) {
        let own = |n: u32| Expr::repeat(n, Expr::iota([4], 0), |n| n.rotate_left(3) ^ 1);
        let own_while = |n: u32| Expr::repeat_while(n, Expr::iota([4], 0), |n| (n.ne(7), n.rotate_left(3)));
        (0..9).for_each(|turns| {
            drop((own(turns).eval_on(&device).unwrap(), own_while(turns).eval_on(&device).unwrap()))
        });
        let is_own = |kernel: &&Arc<str>| kernel.contains("= rotate_left_i32(");
        assert_eq!(device.kernels().iter().filter(is_own).count(), 2);
    }
}

#[test]
fn states_of_every_type() {
    for of in DType::ALL {
        let known = |device: &Device| {
            let drawn = AnyExpr::random_bits([3, 33], 5).cast(DType::U8).cast(of);
            let n = AnyExpr::random_bits([33], 6).cast(DType::U8).cast(DType::F32);
            let one = AnyExpr::scalar(DType::F32, 1);
            let after = AnyExpr::repeat_while(40, &[drawn.clone(), n.broadcast_to([3, 33])], |state| {
                let [x, n] = [&state[0], &state[1]];
                let next =
                    AnyExpr::call(if of == DType::Bool { "xor" } else { "add" }, &[x.clone(), drawn.clone()]);
                let left = AnyExpr::call("sub", &[n.clone(), one.clone()]);
                (AnyExpr::call("gt", &[n.clone(), one.clone()]), vec![next, left])
            });
            after[0].eval_on(device).map(|all| all.to_bytes().unwrap())
        };
        let cpu = known(&Device::cpu()).unwrap();
        on_every_device(|device| match known(device) {
            Ok(bytes) => assert_eq!(bytes, cpu, "{}, {of}", device.name()),
            Err(error) => assert!(error.message().contains("needs the feature"), "{error}"),
        });
    }
}

/// Every iteration has strict arithmetic: states that a compiler may find equal, error terms, and a first iteration that a
/// compiler may take out of the loop.
#[test]
fn arithmetic_is_strict() {
    let x = Expr::<f32>::uniform([40, 50], 1) - 0.5;
    let y = (Expr::<f32>::uniform([40, 50], 2) - 0.5) * 1e6;
    // Kahan's summation of the same number, again and again.
    everywhere(|_| {
        let (sum, error) = Expr::repeat(100, (x.clone(), &x * 0.0), |(sum, error)| {
            let next = &x - error;
            let total = &sum + &next;
            (total.clone(), (total - sum) - next)
        });
        sum + error
    });
    // Two that are the same, and their difference where they are infinite.
    everywhere(|_| {
        let (a, b) = Expr::repeat(30, (y.clone(), y.clone()), |(a, b)| {
            let next = &a * 1e9 - &b * 0.5;
            (next.clone(), next)
        });
        a - b
    });
    everywhere(|_| Expr::repeat(3, x.clone(), |a| (&a + &y) - &a));
    everywhere(|_| Expr::repeat(3, &x + &y, |a| (&a - &x) * &y + &x));
    everywhere(|_| Expr::repeat(1, (x.clone(), &x + &y), |(a, b)| (&b - &a, a.maximum(b))).0 - &y);
    everywhere(|_| {
        Expr::repeat_while(9, &x * &y, |a| (a.abs().gt(1.0), &a / 3.0 * 1.5 - &a * 0.25)) + &x * &y
    });
}

/// A compiler finds that a state is 0 in every turn, or whole; `0 + x` and `x` differ where x is -0.
#[test]
fn states_that_a_compiler_knows() {
    let x = [-0.0_f32, 0.0, -1.5, 2.5];
    let known = everywhere(|device| {
        let x = device.upload(&x, [4]).unwrap();
        let i = device.upload(&[1, 2, 3, 4], [4]).unwrap();
        let (_, y) = Expr::repeat(3, (&i - &i, x.expr()), |(zero, y)| (zero.clone(), zero.cast::<f32>() + y));
        y
    });
    assert_eq!(format!("{known:?}"), "[0.0, 0.0, -1.5, 2.5]");
    let known = everywhere(|device| {
        let x = device.upload(&x, [4]).unwrap();
        let i = device.upload(&[1, 2, 3, 4], [4]).unwrap();
        let (_, y) = Expr::repeat(3, (i.expr(), x.expr()), |(i, y)| (&i + 1, i.cast::<f32>().fract() + y));
        y
    });
    assert_eq!(format!("{known:?}"), "[0.0, 0.0, -1.5, 2.5]");
}

#[test]
fn inside_of_whatever_stands_around() {
    let x = (Expr::<f32>::uniform([37, 66], 4) - 0.5) * 4.0;
    let doubled = |x: Expr<f32>| Expr::repeat(4, x, |a| &a + &a * 0.125);
    everywhere(|_| doubled(x.clone()).sum(1));
    everywhere(|_| doubled(x.clone()).cumsum(0));
    everywhere(|_| doubled(x.sum_keepdim(1)) + &x);
    everywhere(|_| doubled(x.permute([1, 0])).slice(0, 3..).flip(1));
    everywhere(|_| doubled(&x - x.max_keepdim(1)) / doubled(x.abs()).sum_keepdim(1));
    everywhere(|_| doubled(x.broadcast_to([3, 37, 66])).shared().flip(2) * 2.0);
    everywhere(|_| doubled(doubled(x.clone()).shared() * 0.5));
    everywhere(|_| {
        // What all turns share: other shapes, views, folds, another loop.
        let (row, total) = (x.slice(0, 1..2), x.abs().sum(..) * 1e-3);
        let other = doubled(x.clone());
        Expr::repeat(5, x.clone(), |a| a * 0.5 + &row - &total + other.flip(0))
    });
    everywhere(|device| {
        let to = x.eval_on(device).unwrap();
        to.assign(doubled(to.expr())).unwrap();
        to.slice_step(1, .., 2).assign(doubled(to.slice_step(1, .., 2))).unwrap();
        to.expr()
    });
    on_every_device(|device| {
        let x = x.eval_on(device).unwrap();
        let (a, b) = Expr::repeat(6, (x.expr(), &x * 0.5), |(a, b)| (&a - &b * 0.125, b + a));
        let all = Expr::eval_all(&[a.clone(), b.clone(), &a + &b]).unwrap();
        let cpu = |expr: &Expr<f32>| expr.to_vec().unwrap();
        assert_eq!([all[0].to_vec().unwrap(), all[1].to_vec().unwrap()], [cpu(&a), cpu(&b)]);
        assert_eq!(all[2].to_vec().unwrap(), cpu(&(a + b)));
    });
    for shape in [vec![], vec![0], vec![3, 0], vec![1], vec![5]] {
        everywhere(|_| doubled(Expr::scalar(1.5_f32).broadcast_to(&shape[..])));
    }
}

#[test]
fn loops_within_loops() {
    let known = everywhere(|_| {
        let n = Expr::iota([4, 35], 1).cast::<u32>();
        let zero = Expr::scalar(0_u32).broadcast_to([4, 35]);
        // The sum of i * j for i below 5 and j below n.
        let (sum, _) = Expr::repeat(5, (zero.clone(), zero.clone()), |(sum, i)| {
            let (inner, _) =
                Expr::repeat_while(100, (sum, zero.clone()), |(sum, j)| (j.lt(&n), (sum + &i * &j, j + 1)));
            (inner, i + 1)
        });
        sum
    });
    let plain = |n: u32| (0..5).flat_map(|i| (0..n).map(move |j| i * j)).sum::<u32>();
    assert_eq!(known, (0..140).map(|i| plain(i % 35)).collect::<Vec<u32>>());
}

#[test]
fn functions_and_random_numbers_inside() {
    let step = Function::new(
        "step",
        "fn step(x: vec4<u32>, n: vec4<u32>) -> vec4<u32> { return select(x + n, x >> vec4<u32>(1u), x > n); }",
        |x: u32, n: u32| if x > n { x >> 1 } else { x.wrapping_add(n) },
    )
    .unwrap();
    everywhere(|_| Expr::repeat(20, Expr::random_bits([500], 2), |x| step.call(&x, 1_000_000_u32)));
    everywhere(|_| {
        Expr::repeat(20, Expr::<f32>::uniform([500], 2), |x| x * 0.5 + Expr::<f32>::uniform([500], 3))
    });
}

/// Views that move no element, of the values and of expressions of them, beside operands of their shape.
#[test]
fn views_that_move_no_element() {
    let seen = everywhere(|device| {
        let rows = device.upload(&[1.0_f32, 2.0, 3.0], [3, 1, 1]).unwrap();
        let columns = device.upload(&[0.5_f32, 0.25, 0.125, 0.0625], [4]).unwrap();
        Expr::repeat(5, columns.broadcast_to([3, 4]), |a| {
            let wide = a.unsqueeze(1) * &rows + &columns; // [3, 1, 4]
            (wide.squeeze(1) - a.broadcast_to([3, 4]).unsqueeze(0).squeeze(0) * 0.5).reshape([3, 4])
        })
    });
    let plain = (0..12).map(|i| {
        let (row, column) = ((i / 4 + 1) as f32, [0.5_f32, 0.25, 0.125, 0.0625][i % 4]);
        (0..5).fold(column, |a, _| a * row + column - a * 0.5)
    });
    assert_eq!(seen, plain.collect::<Vec<f32>>());
    // A loop over one axis that is written with two. The operand is viewed with one.
    let seen = everywhere(|device| {
        let x = device.upload(&[1.0_f32, 2.0, 3.0], [3, 1]).unwrap();
        Expr::repeat(3, Expr::full([3], 1.0_f32), |a| (a.unsqueeze(-1) * &x + 1.0).squeeze(-1))
    });
    assert_eq!(seen, [4.0, 15.0, 40.0]);
}

#[test]
fn mistakes_are_told() {
    let x = || Expr::<f32>::uniform([3, 4], 1);
    let told = |expr: Expr<f32>| expr.eval_on(&Device::cpu()).unwrap_err().message().to_string();
    let cases = [
        (
            told(Expr::repeat(3, Expr::scalar(0.0_f32), |a| a + x())),
            "the values of a loop have the shape [] and add of them [3, 4]: begin with values of that shape, by broadcast_to",
        ),
        (
            told(Expr::repeat(3, Expr::scalar(0.0_f32), |_| x())),
            "the values of a loop have the shape [] and its step returns [3, 4]: begin with values of that shape, by broadcast_to",
        ),
        (
            told(Expr::repeat(3, x(), |a| a.flip(0))),
            "a view inside of a loop moves elements of the loop's values, as flip and slice do: take it before the loop, or of the result",
        ),
        (
            told(Expr::repeat(3, x(), |a| (&a + 1.0).permute([1, 0]).permute([1, 0]).flip(0))),
            "a view inside of a loop moves elements of the loop's values, as flip and slice do: take it before the loop, or of the result",
        ),
        (
            told(Expr::repeat(3, x(), |a| a.sum_keepdim(1) + x())),
            "sum of a value inside of its loop: a step computes each element apart, so call it on the result of the loop",
        ),
    ];
    for (got, message) in cases {
        assert_eq!(got, message);
    }
    assert_eq!(
        told(Expr::repeat(3, x(), |a| a.at([a.cast::<i32>(), Expr::iota([3, 4], 1)]))),
        "lookup in a value inside of its loop: a step computes each element apart, so look up a tensor from before the loop, or the result"
    );
    assert_eq!(
        told(Expr::repeat(3, x(), |a| x().at([a.cast::<i32>(), Expr::iota([2, 3, 4], 0)]))),
        "the values of a loop have the shape [3, 4] and lookup of them [2, 3, 4]: begin with values of that shape, by broadcast_to"
    );
    let untyped = |next: Vec<AnyExpr>| {
        let all = AnyExpr::repeat(3, &[x().into(), x().into()], |_| next);
        all.iter()
            .map(|one| one.eval_on(&Device::cpu()).unwrap_err().message().to_string())
            .collect::<Vec<_>>()
    };
    let other = AnyExpr::from(x());
    assert_eq!(
        untyped(vec![other.clone()])[1],
        "a loop over 2 values with a step that returns 1: a step returns one for each value"
    );
    let error = &untyped(vec![other.clone(), other.cast(DType::F64)])[0];
    assert_eq!(error, "value 1 of a loop is f32 and its step returns f64: cast one of them");
    let error = AnyExpr::repeat_while(3, &[x().into()], |a| (a[0].clone(), a.to_vec()));
    assert_eq!(
        error[0].eval_on(&Device::cpu()).unwrap_err().message(),
        "the condition of a loop is f32: it must be bool, so compare or cast it"
    );
    // A value that is taken out of its loop.
    let mut taken = None;
    let _ = Expr::repeat(3, x(), |a| {
        taken = Some(a.clone());
        a
    });
    assert_eq!(
        told(taken.unwrap() + 1.0),
        "a value of a loop is read outside of its step: read the loop's result"
    );
    assert_eq!(AnyExpr::repeat(3, &[], |_| Vec::new()).len(), 0);
    // As deep as kernels are written, and no deeper.
    fn within(depth: usize, x: Expr<f32>) -> Expr<f32> {
        if depth == 0 { x * 0.5 + 1.0 } else { Expr::repeat(2, x, |x| within(depth - 1, x)) }
    }
    assert!(within(8, x()).eval_on(&Device::cpu()).is_ok());
    assert!(told(within(9, x())).starts_with("9 nested loops, and a kernel nests at most 8"));
}

/// An iteration looks elements up by its values: along all axes of a table, or along some axes beside coordinates and
/// constants, in tensors and in computed tables.
#[test]
fn lookups_inside() {
    // Where a walk through a permutation ends.
    let next: Vec<u32> = (0..977).map(|i| i * 31 % 977).collect();
    let known = everywhere(|device| {
        let next = device.upload(&next, [977]).unwrap();
        Expr::repeat(100, Expr::iota([977], 0).cast::<u32>(), |at| next.at([at]))
    });
    let walked = |i: u32| (0..100).fold(i, |at, _| next[at as usize]);
    assert_eq!(known, (0..977).map(walked).collect::<Vec<u32>>());

    // A march through a volume, from the front to the back.
    let volume = |z: f32, y: f32, x: f32| (x * 0.3).sin() * (y * 0.2).cos() + z * 0.01;
    let all: Vec<f32> =
        (0..16 * 18 * 22).map(|i| volume((i / 396) as f32, (i / 22 % 18) as f32, (i % 22) as f32)).collect();
    let march = |volume: &Expr<f32>| {
        let [x, y] = [1, 0].map(|axis| Expr::iota([18, 22], axis).cast::<f32>());
        let begin = (Expr::scalar(0.0_f32).broadcast_to([18, 22]), Expr::scalar(0.0_f32));
        let (_, sum) = Expr::repeat_while(40, begin, |(t, sum)| {
            let at = [&t * 0.45, &y - &t * 0.2, &x + &t * 0.1].map(|at| at.cast::<i32>());
            let found = volume.at_with(at, Outside::fill(0.0));
            (sum.lt(5.0), (&t + 1.0, &sum + found.abs()))
        });
        sum
    };
    let tensor = everywhere(|device| march(&device.upload(&all, [16, 18, 22]).unwrap().expr()));
    let computed = everywhere(|device| march(&(device.upload(&all, [16, 18, 22]).unwrap() * 1.0)));
    assert_eq!(tensor, computed);
    let plain = (0..396).map(|i| {
        let (mut t, mut sum) = (0.0_f32, 0.0_f32);
        while t < 40.0 && sum < 5.0 {
            let at = [t * 0.45, (i / 22) as f32 - t * 0.2, (i % 22) as f32 + t * 0.1].map(|at| at as i32);
            // From the end on, as far as there are elements.
            let at: Vec<i32> =
                at.iter().zip([16, 18, 22]).map(|(&at, n)| if at < 0 { at + n } else { at }).collect();
            if at.iter().zip([16, 18, 22]).all(|(&at, n)| (0..n).contains(&at)) {
                sum += all[((at[0] * 18 + at[1]) * 22 + at[2]) as usize].abs();
            }
            (t, sum) = (t + 1.0, sum);
        }
        sum
    });
    assert_eq!(tensor, plain.collect::<Vec<f32>>());

    // By the coordinate of a row, and by a constant; of another table, whose index all turns share.
    everywhere(|device| {
        let table = device.upload(&all, [16, 18, 22]).unwrap();
        let (row, constant) = (Expr::iota([18, 22], 0), Expr::scalar(3));
        let shared = Expr::random_bits([18, 22], 4);
        let flipped = table.permute([2, 0, 1]).flip(0);
        Expr::repeat(9, Expr::random_bits([18, 22], 1), |at| {
            let a = table.at([AnyExpr::from(&constant), (&row).into(), (&at % 22).into()]);
            let b =
                table.at_with([(&at % 16).cast::<i32>(), row.clone(), Expr::scalar(-2)], Outside::Wrapped);
            let c = flipped.at([(&at % 22).into(), AnyExpr::from(&shared), (&row).into()]);
            ((a + b * 3.0 + c).abs() * 1e4).cast::<u32>() ^ (at >> 3)
        })
    });
    // Whatever stands around: views, folds, other loops, and several loops over the same and other tables.
    let turned = |table: &Expr<u32>, from: &Expr<u32>| Expr::repeat(5, from.clone(), |at| table.at([at]) + 1);
    everywhere(|device| {
        let [a, b] = [device.upload(&next, [977]).unwrap(), device.full([977], 5_u32).unwrap()];
        let from = Expr::iota([30, 70], 1).cast::<u32>();
        let all =
            turned(&a, &from).permute([1, 0]).slice(0, 3..) ^ turned(&b, &from).transpose(0, 1).slice(0, 3..);
        let sums = turned(&a, &from).sum_keepdim(0);
        all + turned(&(a.flip(0) >> 1), &from).sum(1) + turned(&a, &sums).reshape([70, 1]).slice(0, ..67)
    });
    everywhere(|device| {
        let table = device.upload(&next, [977]).unwrap();
        // Loops within loops: the inner one looks up by its own values, by the outer one's, and by both.
        let square = table.slice(0, ..961).reshape([31, 31]);
        Expr::repeat(4, Expr::iota([300], 0).cast::<u32>(), |outer| {
            let bent = table.at([&outer * 3]);
            Expr::repeat_while(7, outer.clone(), |inner| {
                let both = square.at([&inner % 31, &outer % 31]);
                (inner.ne(&bent), table.at([&inner]) + both)
            })
        })
    });
    everywhere(|device| {
        // Along an axis of one element every index is 0.
        let table = device.upload(&next, [1, 977]).unwrap();
        let one = device.upload(&[7_u32], [1]).unwrap();
        Expr::repeat(3, Expr::iota([5, 9], 1).cast::<u32>(), |at| {
            table.at([&at, &at]) + one.at([&at]) + table.at([Expr::scalar(5_i32), at.cast::<i32>()])
        })
    });
    on_every_device(|device| {
        let to = device.upload(&next, [977]).unwrap();
        to.assign(turned(&to, &to.flip(0))).unwrap();
        let cpu = Device::cpu().upload(&next, [977]).unwrap();
        let known = turned(&cpu, &cpu.flip(0)).to_vec().unwrap();
        assert_eq!(to.to_vec().unwrap(), known, "{}", device.name());
    });
}

/// Tables of every type, whose elements may share words.
#[test]
fn lookups_inside_of_every_type() {
    for of in DType::ALL {
        let found = |device: &Device| {
            let bytes: Vec<u8> = (0..90 * of.size())
                .map(|i| if of == DType::Bool { i as u8 % 2 } else { i as u8 % 60 })
                .collect();
            let table = AnyExpr::from(device.upload_bytes(&bytes, of, [90])?).flip(0);
            let from = AnyExpr::from(Expr::random_bits([7, 33], 3));
            let all = AnyExpr::repeat(6, &[from, AnyExpr::scalar(DType::U8, 1).cast(of)], |state| {
                let found = table.at_with([&state[0]], Outside::Wrapped);
                let next = AnyExpr::call("add", &[state[0].clone(), found.cast(DType::U8).cast(DType::U32)]);
                let both = if of == DType::Bool { "xor" } else { "maximum" };
                vec![next, AnyExpr::call(both, &[state[1].clone(), found])]
            });
            all[1].eval_on(device).map(|all| all.to_bytes().unwrap())
        };
        let known = found(&Device::cpu()).unwrap();
        on_every_device(|device| match found(device) {
            Ok(bytes) => assert_eq!(bytes, known, "{}, {of}", device.name()),
            Err(error) => assert!(error.message().contains("needs the feature"), "{error}"),
        });
    }
}

/// Under the least limits, and where no window shows a table: then a loop goes turn by turn.
#[test]
fn lookups_in_tables_larger_than_a_binding() {
    let (n, host) = (40_009_u32, Device::cpu());
    let all: Vec<u32> = (0..n).map(|i| i.wrapping_mul(7919) % n).collect();
    let answers = |device: &Device| {
        let table = device.upload(&all, [n as usize]).unwrap();
        let from = Expr::random_bits([30, 70], 9) % n;
        let plain = Expr::repeat(5, from.clone(), |at| table.at([at]));
        // Of several states, with a condition and what all turns share.
        let shared = table.at([Expr::random_bits([70], 8) % n]);
        let (a, b) = Expr::repeat_while(9, (from.clone(), Expr::scalar(0.5_f32)), |(a, b)| {
            ((&a % 3).ne(0), (table.at([&a + &shared]) ^ &shared, b + 1.0))
        });
        let within = Expr::repeat(2, from, |outer| {
            Expr::repeat_while(3, outer.clone(), |inner| (inner.gt(&outer >> 1), table.at([inner])))
        });
        let folded = (&a + 1).sum(1);
        [plain, a, b.cast(), within, folded].map(|one| {
            one.warm_up(device).unwrap();
            one.explain(device).unwrap();
            one.to_vec_on(device).unwrap()
        })
    };
    let known = answers(&host);
    for adapter in found_in_turn() {
        let name = format!("{}:{}", adapter.backend, adapter.index);
        for small in [true, false] {
            let mut limits = Limits::downlevel();
            if small {
                limits.max_storage_buffer_binding_size = 64 << 10;
                limits.max_buffer_size = 128 << 10;
            }
            let options = Options::default().adapter(name.clone()).limits(limits);
            let device = Device::open_with(&options).unwrap();
            assert!(answers(&device) == known, "{}", device.name());
        }
    }
}

/// Values of one loop that kernels apart read are stored by one of them.
#[test]
fn values_that_are_read_apart() {
    let x = Expr::<f32>::uniform([40, 66], 5);
    let (a, b, c) = Expr::repeat(9, (x.clone(), &x * 0.5, Expr::iota([40, 66], 1)), |(a, b, c)| {
        (&a * 0.75 + &b, b - &a * 0.25, c.rotate_left(3) ^ 1)
    });
    let c = c.cast::<f32>();
    let cases = [
        a.sum(1) + b.sum(1) * c.max(1),
        (&a * 2.0).sum(1) - (&b + 1.0).max(1),
        &a + b.sum_keepdim(1),
        a.shared().flip(0) + b.shared().flip(1) * c.shared(),
        a.shared().flip(0) + &b * a.mean_keepdim(0),
        Expr::concat([&a, &(&b + &c)], 1),
    ];
    for (i, case) in cases.iter().enumerate() {
        everywhere(|_| case.clone());
        for adapter in found_in_turn() {
            // A device of its own, which has no kernels yet.
            let name = format!("{}:{}", adapter.backend, adapter.index);
            let device = Device::open_with(&Options::default().adapter(name)).unwrap();
            case.eval_on(&device).unwrap();
            let kernels = device.kernels();
            let looping = kernels.iter().filter(|kernel| kernel.contains("fn repeat0("));
            assert_eq!(looping.count(), 1, "case {i} on {}", device.name());
        }
    }
    // A loop that takes several kernels. Each kernel returns both values.
    everywhere(|_| {
        let zero = Expr::scalar(0_u32).broadcast_to([6]);
        let (a, b) = Expr::repeat(130_000, (zero.clone(), zero), |(a, b)| (a + 1, b + 3));
        a ^ b
    });
}

/// A loop that reads as much as the adapter binds, once tensors of one type lie in one storage, and more beside it.
#[test]
fn a_loop_over_many_tensors() {
    let answers = |device: &Device| {
        let words = |shape: &[usize], key| Expr::random_bits(shape, key).eval_on(device).unwrap().expr();
        let shape = [5, 5, 6, 1];
        let (a, c, d) = (words(&shape, 1), words(&shape, 2), words(&[5, 5, 1, 2], 3));
        let b = words(&[5], 4).gt(1 << 31).eval_on(device).unwrap().expr();
        let place = Expr::iota(shape, 1);
        let divisor = place.cast::<u32>().gcd(d.flip(1).slice(3, 1..2));
        let table = Expr::scalar(0_u32).broadcast_to([3, 6, 6, 7]);
        let first = a.permute([0, 2, 3, 1]).flip(0).slice(3, ..1).slice(1, 1..);
        let flag = b.reshape([1, 1, 1, 5]).slice(3, 2..3).broadcast_to(shape);
        let (x, ..) = Expr::repeat(2, (first.broadcast_to(shape), flag, c), |(_, flag, _)| {
            let less = divisor.lt(flag.cast::<u32>());
            let indices = [less.cast::<i32>(), Expr::scalar(-1_309_941_206), place.clone(), place.clone()];
            (less.cast(), flag, table.at_with(indices, Outside::fill(7)))
        });
        (x / a).to_vec().unwrap()
    };
    let known = answers(&Device::cpu());
    for adapter in found_in_turn() {
        let device = Device::open_with(&options(&adapter).limits(Limits::downlevel())).unwrap();
        assert_eq!(answers(&device), known, "{}", device.name());
    }
}
