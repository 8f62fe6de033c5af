//! `fma` rounds once, on every device and for every float type.

use crate::common::value::{Plain, Value, least};
use crate::common::{Random, on_every_device};
use zerostride::{bf16, f16};

fn of<T: Plain>(x: f64) -> T {
    T::of(Value::Float(x))
}

fn number<T: Plain>(x: T) -> f64 {
    let Value::Float(x) = x.value() else { panic!("{x:?} is no float") };
    x
}

/// Compares `fma` with an answer that is rounded once. `spread` is the largest exponent.
fn check<T: Plain>(spread: i32, reference: impl Fn(T, T, T) -> T) {
    let mut random = Random(5);
    let edges = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 3.0, -0.5, 65504.0];
    let mut draw = |i: usize| {
        if i.is_multiple_of(5) {
            return of(edges[random.below(edges.len())]);
        }
        let fraction = 1.0 + (random.next() >> 12) as f64 / 2_f64.powi(52);
        let power = random.below(2 * spread as usize + 1) as i32 - spread;
        of(if random.chance(50) { fraction } else { -fraction } * 2_f64.powi(power))
    };
    let count = 1 << 16;
    let (a, b): (Vec<T>, Vec<T>) = (0..count).map(|i| (draw(i), draw(i + 1))).unzip();
    let c: Vec<T> = (0..count)
        .map(|i| match i % 3 {
            // Operands that nearly cancel, and operands that decide a tie.
            0 => of(-(number(a[i]) * number(b[i]))),
            1 => of(number(a[i]) * number(b[i]) * 2_f64.powi((i % 41) as i32 - 20)),
            _ => draw(i),
        })
        .collect();
    on_every_device(|device| {
        if device.supports(T::DTYPE).is_err() {
            return;
        }
        let [x, y, z] = [&a, &b, &c].map(|values| device.upload(values, [count]).unwrap());
        let got = zerostride::Expr::<T>::call("fma", &[x.expr(), y.expr(), z.expr()]).to_vec().unwrap();
        for i in 0..count {
            let [x, y, z, got] = [a[i], b[i], c[i], got[i]].map(number);
            let expected = number(reference(a[i], b[i], c[i]));
            let subnormal = |x: f64| x != 0.0 && x.abs() < least(T::DTYPE);
            let open = [x, y, z, expected].into_iter().any(subnormal);
            let same = got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan());
            assert!(
                open || same,
                "{}: fma({x:e}, {y:e}, {z:e}) is {got:e} and not {expected:e}",
                device.name()
            );
        }
    });
}

#[test]
fn f32_rounds_once() {
    check::<f32>(70, f32::mul_add);
}

#[test]
fn f64_rounds_once() {
    check::<f64>(500, f64::mul_add);
}

#[test]
fn f16_rounds_once() {
    // Products and sums of f16 are exact in f64.
    check::<f16>(12, |a, b, c| of(f64::from(a) * f64::from(b) + f64::from(c)));
}

#[test]
fn bf16_rounds_once() {
    // Of exponents so near to each other sums are exact in f64, too.
    check::<bf16>(4, |a, b, c| of(f64::from(a).mul_add(f64::from(b), c.into())));
}
