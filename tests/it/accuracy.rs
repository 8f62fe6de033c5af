//! The accuracy of every inexact function on every device, against a reference that shares no code
//! with it, within the bound that the op table states.
//!
//! Samples of f32 and f64 are dense where functions change their method. All values of f16 and bf16 are taken; they are
//! computed in f32, so a quick run takes one of four functions. `ZEROSTRIDE_BLESS=1 cargo test --release --test it
//! accuracy -- --ignored` runs all 2^32 values of f32 in an hour, and writes docs/accuracy.md.

mod exhaustive;

use crate::common::depth::one_of;
use crate::common::reference::{BINARY, UNARY};
use crate::common::{Random, devices};
use zerostride::{DType, Element, Expr, Operation, bf16, f16, operations};

/// Floats by their value and by their rank: one more per representable value.
trait Real: Element {
    const LEAST: f64;
    /// Exponents of two that lie in the range.
    const EXPONENTS: std::ops::Range<i32>;
    fn of(x: f64) -> Self;
    fn value(self) -> f64;
    fn rank(self) -> i64;
    fn by_rank(rank: i64) -> Self;
}

macro_rules! reals {
    ($($t:ident $bits:ident $exponents:expr, $least:expr, |$x:ident| $of:expr, |$v:ident| $value:expr;)*) => {$(
        impl Real for $t {
            const LEAST: f64 = $least;
            const EXPONENTS: std::ops::Range<i32> = $exponents;
            fn of($x: f64) -> $t { $of }
            fn value(self) -> f64 { let $v = self; $value }
            fn rank(self) -> i64 {
                let magnitude = (self.to_bits() & ($bits::MAX >> 1)) as i64;
                if self.is_sign_negative() { -magnitude } else { magnitude }
            }
            fn by_rank(rank: i64) -> $t {
                let magnitude = $t::from_bits(rank.unsigned_abs() as $bits);
                if rank < 0 { -magnitude } else { magnitude }
            }
        }
    )*};
}
reals! {
    f64 u64 -1022..1024, f64::MIN_POSITIVE, |x| x, |v| v;
    f32 u32 -126..128, f32::MIN_POSITIVE as f64, |x| x as f32, |v| f64::from(v);
    // Computed in f32, where all of f16 is normal.
    f16 u16 -24..16, 1.0 / 16_777_216.0, |x| f16::from_f64(x), |v| v.to_f64();
    bf16 u16 -126..128, f32::MIN_POSITIVE as f64, |x| bf16::from_f64(x), |v| v.to_f64();
}

/// Whether adapters may flush a value.
fn is_subnormal<T: Real>(x: f64) -> bool {
    x != 0.0 && x.abs() < T::LEAST
}

/// Values of either sign: some of every magnitude, and neighbours of points where functions change
/// their ways.
fn stratified<T: Real>(each: usize, random: &mut Random) -> Vec<T> {
    let mut magnitudes = vec![0.0, f64::INFINITY];
    for exponent in T::EXPONENTS {
        let fractions = (0..each).map(|_| 1.0 + random.next() as f64 / 2.0_f64.powi(64));
        magnitudes.extend(fractions.map(|f| f * 2.0_f64.powi(exponent)));
    }
    // Where most functions have their bends.
    magnitudes.extend((0..each * 200).map(|_| random.next() as f64 / 2.0_f64.powi(64) * 20.0));
    let mut values: Vec<T> = magnitudes.iter().flat_map(|&x| [T::of(x), T::of(-x)]).collect();
    let hard = [
        0.032023147,
        0.25,
        0.41421356,
        0.4375,
        0.5,
        0.625,
        0.6875,
        0.84375,
        1.0,
        1.1875,
        1.25,
        1.3246758,
        1.4616321,
        1.5,
        2.0,
    ];
    let more = [
        2.4142135, 2.5, 2.857143, 6.0, 8.0, 9.0, 10.0, 87.33654, 88.72284, 104.0, 709.7, 745.2, 6000.0,
        16384.0,
    ];
    let angles = (1..400).map(|k| f64::from(k) * std::f64::consts::FRAC_PI_2);
    let far = (1..40).map(|k| 3.0_f64.powi(k) * std::f64::consts::FRAC_PI_2);
    let integers = (2..30).map(f64::from);
    for point in hard.into_iter().chain(more).chain(angles).chain(far).chain(integers) {
        let rank = T::of(point).rank();
        for step in -8..=8 {
            values.extend([T::by_rank(rank + step), T::by_rank(-rank - step)]);
        }
    }
    values.push(T::of(f64::NAN));
    values.retain(|x| !is_subnormal::<T>(x.value()));
    values
}

/// The distance of a result from the exact one, in the units of the op's bound. Subnormal results may
/// be flushed.
fn distance<T: Real>(op: &Operation, got: T, exact: f64) -> f64 {
    if got.value().is_nan() || exact.is_nan() {
        return if got.value().is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let flushed = |x: f64| if is_subnormal::<T>(x) { T::ZERO } else { T::of(x) };
    let nearest = T::of(exact);
    if exact.abs() < op.ulp_from() && got.value().is_finite() {
        let unit = T::by_rank(T::of(op.ulp_from()).rank() + 1).value() - op.ulp_from();
        return ((got.value() - nearest.value()).abs() / unit).floor();
    }
    // Tiny before it is rounded, though it may round to the least normal float. All of f16 is normal
    // where it is computed.
    if T::LEAST < 1e-30 && is_subnormal::<T>(exact) && got.value() == 0.0 {
        return 0.0;
    }
    let kept = got.rank().abs_diff(nearest.rank());
    kept.min(flushed(got.value()).rank().abs_diff(flushed(nearest.value()).rank())) as f64
}

/// Where an op misses its bound on a device, and how far off it is at worst.
fn check<T: Real>(op: &Operation, lists: &[Vec<T>], exact: &[f64], wrong: &mut Vec<String>) {
    for device in devices() {
        if device.supports(T::DTYPE).is_err() {
            // Without the feature; tests/it/ops.rs holds that the error says so.
            assert!(T::DTYPE == DType::F64 && device.name() != "cpu");
            continue;
        }
        let upload = |list: &Vec<T>| device.upload(list, [list.len()]).unwrap().expr();
        let operands: Vec<_> = lists.iter().map(upload).collect();
        let got = Expr::<T>::call(op.name, &operands).to_vec().unwrap();
        let distances = got.iter().zip(exact).map(|(&got, &exact)| distance(op, got, exact));
        let (i, worst) = distances.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        if worst > f64::from(op.ulp(T::DTYPE)) {
            let operands: Vec<T> = lists.iter().map(|list| list[i]).collect();
            wrong.push(format!(
                "{} of {operands:?} on {}: {:?} and not {:?}, {worst} ulp of {}",
                op.name,
                device.name(),
                got[i],
                T::of(exact[i]),
                f64::from(op.ulp(T::DTYPE))
            ));
        }
    }
}

fn every_function<T: Real>(unary: &[T], binary: &[T]) {
    let mut wrong = Vec::new();
    let mut compared = 0;
    let halves = T::DTYPE.size() == 2;
    let is_run = |op: &Operation| !halves || one_of(4, op.name);
    for op in operations() {
        let Some(reference) = UNARY.iter().find(|reference| reference.name == op.name) else { continue };
        let of_f64 = reference.of_f64;
        compared += 1;
        if !is_run(&op) {
            continue;
        }
        let exact: Vec<f64> = unary.iter().map(|x| of_f64(x.value())).collect();
        check(&op, &[unary.to_vec()], &exact, &mut wrong);
    }
    let mut random = Random(7);
    let mut turned = binary.to_vec();
    (1..turned.len()).for_each(|i| turned.swap(i, random.below(i + 1)));
    for op in operations() {
        let Some(reference) = BINARY.iter().find(|reference| reference.name == op.name) else { continue };
        let of_f64 = reference.of_f64;
        compared += 1;
        if !is_run(&op) {
            continue;
        }
        let pairs = binary.iter().zip(&turned);
        let exact: Vec<f64> = pairs.map(|(x, y)| of_f64(x.value(), y.value())).collect();
        check(&op, &[binary.to_vec(), turned.clone()], &exact, &mut wrong);
    }
    assert_eq!(compared, UNARY.len() + BINARY.len());
    let known = |op: &Operation| {
        let names = UNARY.iter().map(|reference| reference.name);
        names.chain(BINARY.iter().map(|reference| reference.name)).any(|name| name == op.name)
    };
    assert!(operations().filter(|op| op.ulp(DType::F32) > 0).all(|op| known(&op)));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn samples_of_f32() {
    let mut random = Random(1);
    every_function::<f32>(&stratified(40, &mut random), &stratified(60, &mut random));
}

#[test]
fn samples_of_f64() {
    let mut random = Random(2);
    every_function::<f64>(&stratified(5, &mut random), &stratified(10, &mut random));
}

#[test]
fn all_of_f16() {
    let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    every_function(&all, &stratified(100, &mut Random(3)));
}

#[test]
fn all_of_bf16() {
    let all = (0..=u16::MAX).map(bf16::from_bits);
    let all: Vec<bf16> = all.filter(|x| !is_subnormal::<bf16>(x.value())).collect();
    every_function(&all, &stratified(100, &mut Random(4)));
}
