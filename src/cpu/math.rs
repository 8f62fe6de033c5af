//! Functions of one element that are more than one operator. They are the reference for every adapter: f32 is computed
//! in f64 and rounded once, or in f32 if that is within a unit.

use std::ops::{Add, Div, Neg, Rem, Sub};

use super::convert::ToOdd;
pub(super) use super::integers::IntOps;
pub(super) use super::single::TURNS;
use super::{narrow, single};
use crate::dtype::{bf16, f16};

/// Floats that compute: f32, also for narrower types, and f64.
pub(super) trait Real:
    Copy
    + PartialOrd
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + Neg<Output = Self>
{
    const ONE: Self;
    fn is_nan(self) -> bool;
    fn is_negative(self) -> bool;
    fn with_sign_of(self, other: Self) -> Self;
    fn rounded(self) -> Self;
    const NAN: Self;
    /// The bits that both have, and the bits that either has.
    fn bits_of_both(self, other: Self) -> Self;
    fn bits_of_either(self, other: Self) -> Self;
    /// Whether results in f64 are rounded to f32.
    const SINGLE: bool;
    fn through_f64(self, f: impl Fn(f64) -> f64) -> Self;
    fn pair_through_f64(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self;
    /// This value as f32, if it is one.
    fn through_f32(self, f: impl Fn(f32) -> f32) -> Self;
    fn pair_through_f32(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self;
}

macro_rules! reals {
    ($($t:ident $single:literal;)*) => {$(
        impl Real for $t {
            const ONE: $t = 1.0;
            fn is_nan(self) -> bool { self.is_nan() }
            fn is_negative(self) -> bool { self.is_sign_negative() }
            fn with_sign_of(self, other: $t) -> $t { self.copysign(other) }
            fn rounded(self) -> $t { self.round_ties_even() }
            const NAN: $t = $t::NAN;
            #[inline(always)]
            fn bits_of_both(self, other: $t) -> $t { $t::from_bits(self.to_bits() & other.to_bits()) }
            #[inline(always)]
            fn bits_of_either(self, other: $t) -> $t { $t::from_bits(self.to_bits() | other.to_bits()) }
            const SINGLE: bool = $single;
            #[inline(always)]
            fn through_f64(self, f: impl Fn(f64) -> f64) -> $t { f(f64::from(self)) as $t }
            #[inline(always)]
            fn pair_through_f64(self, other: $t, f: impl Fn(f64, f64) -> f64) -> $t {
                f(f64::from(self), f64::from(other)) as $t
            }
            #[inline(always)]
            fn through_f32(self, f: impl Fn(f32) -> f32) -> $t { f(self as f32).into() }
            #[inline(always)]
            fn pair_through_f32(self, other: $t, f: impl Fn(f32, f32) -> f32) -> $t {
                f(self as f32, other as f32).into()
            }
        }
    )*};
}
reals! { f32 true; f64 false; }

pub(super) fn min<R: Real>(a: R, b: R) -> R {
    if a.is_nan() || a < b { a } else { b }
}

pub(super) fn max<R: Real>(a: R, b: R) -> R {
    if a.is_nan() || a > b { a } else { b }
}

/// The lesser. NaN is the least, and -0 is less than +0.
#[inline(always)]
pub(super) fn minimum<R: Real>(a: R, b: R) -> R {
    // Processors have these choices, and loops of them vectorize. For equal numbers each returns another operand, which
    // differs only for zeros.
    let (first, second) = (if a < b { a } else { b }, if b < a { b } else { a });
    if a.is_nan() | b.is_nan() { R::NAN } else { first.bits_of_either(second) }
}

/// The greater. NaN is the greatest, and +0 is greater than -0.
#[inline(always)]
pub(super) fn maximum<R: Real>(a: R, b: R) -> R {
    let (first, second) = (if a > b { a } else { b }, if b > a { b } else { a });
    if a.is_nan() | b.is_nan() { R::NAN } else { first.bits_of_both(second) }
}

/// Whether `b`, which comes later, replaces `a` as the minimum.
#[inline(always)]
#[allow(clippy::neg_cmp_op_on_partial_ord)] // which is true of NaN
pub(super) fn beats_min<R: Real>(a: R, b: R) -> bool {
    !a.is_nan() & !(b >= a)
}

/// Whether `b`, which comes later, replaces `a` as the maximum.
#[inline(always)]
#[allow(clippy::neg_cmp_op_on_partial_ord)] // which is true of NaN
pub(super) fn beats_max<R: Real>(a: R, b: R) -> bool {
    !a.is_nan() & !(b <= a)
}

pub(super) fn sign<R: Real>(x: R) -> R {
    match () {
        () if x.is_nan() => x,
        () if x == R::default() => R::default(),
        () => R::ONE.with_sign_of(x),
    }
}

/// Python's remainder, with the sign of `b`, zero included. Exact, except for one addition.
pub(super) fn rem_floor<R: Real>(a: R, b: R) -> R {
    let r = a % b;
    match () {
        () if r == R::default() => r.with_sign_of(b),
        () if r.is_negative() != b.is_negative() => r + b,
        () => r,
    }
}

/// NumPy's `floor_divide`: by 0 it is the quotient.
pub(super) fn div_floor<R: Real>(a: R, b: R) -> R {
    if b == R::default() {
        return a / b;
    }
    let r = a % b;
    let down = r != R::default() && r.is_negative() != b.is_negative();
    let quotient = ((a - r) / b - if down { R::ONE } else { R::default() }).rounded();
    if quotient == R::default() { quotient.with_sign_of(a / b) } else { quotient }
}

/// Functions of floats in f64. After the comma stands the form for f32, and after the arrow the function of f32.
macro_rules! functions {
    ($($name:ident($($arg:ident),+) = $value:expr $(=> $narrow:path)? $(, $single:expr)?;)*) => {$(
        functions!(@ $name ($($arg),+) [$(=> $narrow)? $($single)?] $value);
    )*};
    (@ $name:ident ($x:ident) [=> $narrow:path] $value:expr) => {
        #[inline(always)]
        pub(super) fn $name<R: Real>(x: R) -> R {
            if R::SINGLE { x.through_f32($narrow) } else { x.through_f64(|$x| $value) }
        }
    };
    (@ $name:ident ($a:ident, $b:ident) [=> $narrow:path] $value:expr) => {
        #[inline(always)]
        pub(super) fn $name<R: Real>(a: R, b: R) -> R {
            if R::SINGLE { a.pair_through_f32(b, $narrow) } else { a.pair_through_f64(b, |$a, $b| $value) }
        }
    };
    (@ $name:ident $args:tt [] $value:expr) => { functions!(@ $name $args $value); };
    (@ $name:ident $args:tt [$single:expr] $value:expr) => {
        functions!(@ $name $args if R::SINGLE { $single } else { $value });
    };
    (@ $name:ident ($x:ident) $value:expr) => {
        #[inline(always)]
        pub(super) fn $name<R: Real>(x: R) -> R { x.through_f64(|$x| $value) }
    };
    (@ $name:ident ($a:ident, $b:ident) $value:expr) => {
        #[inline(always)]
        pub(super) fn $name<R: Real>(a: R, b: R) -> R { a.pair_through_f64(b, |$a, $b| $value) }
    };
}

functions! {
    rsqrt(x) = 1.0 / x.sqrt();
    cbrt(x) = x.cbrt();
    exp(x) = x.exp() => narrow::exp;
    exp2(x) = x.exp2(), single::exp2(x);
    // More accurate than libm::exp10.
    exp10(x) = 10_f64.powf(x), single::exp10(x);
    expm1(x) = x.exp_m1(), single::expm1(x);
    log(x) = x.ln() => narrow::log;
    log2(x) = x.log2(), single::log2(x);
    log10(x) = x.log10(), single::log10(x);
    log1p(x) = x.ln_1p(), single::log1p(x);
    // For f32 up to `TURNS`.
    sin(x) = x.sin(), single::sin(x);
    cos(x) = x.cos(), single::cos(x);
    tan(x) = x.tan(), single::tan(x);
    asin(x) = x.asin();
    acos(x) = x.acos();
    atan(x) = x.atan();
    sinh(x) = x.sinh(), single::sinh(x);
    cosh(x) = x.cosh(), single::cosh(x);
    tanh(x) = x.tanh() => narrow::tanh;
    asinh(x) = libm::asinh(x);
    // libm ignores the sign below -1.
    acosh(x) = if x < 1.0 { f64::NAN } else { libm::acosh(x) };
    atanh(x) = libm::atanh(x);
    erf(x) = libm::erf(x);
    erfc(x) = super::erfc::erfc(x);
    // Near its zeros, where libm::lgamma takes a difference, it is the logarithm of gamma.
    lgamma(x) = match () {
        () if x < 0.0 && x == x.floor() => f64::INFINITY,
        () if -20.0 < x && x < -2.0 => libm::tgamma(x).abs().ln(),
        () => libm::lgamma(x),
    };
    digamma(x) = digamma64(x);
    logit(x) = if (x - 0.5).abs() < 0.25 { ((2.0 * x - 1.0) / (1.0 - x)).ln_1p() } else { (x / (1.0 - x)).ln() };
    to_degrees(x) = x * (180.0 / std::f64::consts::PI);
    to_radians(x) = x * (std::f64::consts::PI / 180.0);
    xlogy(x, y) = if x == 0.0 && !y.is_nan() { 0.0 } else { x * y.ln() };
    logaddexp(a, b) = match () {
        () if a.is_nan() || b.is_nan() => f64::NAN,
        () if a == b => a + std::f64::consts::LN_2,
        () => a.max(b) + (-(a - b).abs()).exp().ln_1p(),
    };
    sigmoid(x) = 1.0 / (1.0 + (-x).exp()), single::sigmoid(x);
    pow(x, y) = x.powf(y) => single::pow;
    atan2(y, x) = y.atan2(x);
    hypot(a, b) = a.hypot(b), single::hypot(a, b);
}

/// From 10 on the asymptotic series (Abramowitz and Stegun 6.3.18). Below 10 it is shifted there by 6.3.5, with the
/// sum's roundings corrected, and below 0 reflected by 6.3.7.
fn digamma64(x: f64) -> f64 {
    use std::f64::consts::PI;
    const SERIES: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32760.0,
        1.0 / 12.0,
        -3617.0 / 8160.0,
    ];
    match () {
        () if x == 0.0 => return -(1.0 / x),
        () if x < 0.0 => {
            let r = x - x.round();
            let pole = if r == 0.0 { f64::NAN } else { PI / (PI * r).tan() };
            return digamma64(1.0 - x) - pole;
        }
        () => {}
    }
    // A compensated sum (Kahan).
    let (mut sum, mut lost, mut z) = (0.0_f64, 0.0_f64, x);
    let mut add = |term: f64| {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    };
    while z < 10.0 {
        add(-1.0 / z);
        z += 1.0;
    }
    if z.is_infinite() {
        return z;
    }
    add(z.ln());
    add(-0.5 / z);
    let w = 1.0 / (z * z);
    add(-w * SERIES.iter().rev().fold(0.0, |q, c| q * w + c));
    if sum.is_finite() { sum + lost } else { sum }
}

/// Floats as they are stored.
pub(super) trait Stored: Copy {
    fn nextafter(a: Self, b: Self) -> Self;
    /// `a * b + c`, rounded once.
    fn fma(a: Self, b: Self, c: Self) -> Self;
}

macro_rules! stored {
    ($($t:ident $bits:ident |$a:ident, $b:ident, $c:ident| $fma:expr;)*) => {$(
        impl Stored for $t {
            #[inline(always)]
            fn fma($a: $t, $b: $t, $c: $t) -> $t { $fma }

            fn nextafter(a: $t, b: $t) -> $t {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                let (x, y) = (a.to_bits(), b.to_bits());
                match () {
                    () if a.is_nan() => a,
                    () if b.is_nan() || a == b => b,
                    () if x & !SIGN == 0 => $t::from_bits((y & SIGN) | 1),
                    () if (a < b) == (x & SIGN == 0) => $t::from_bits(x + 1),
                    () => $t::from_bits(x - 1),
                }
            }
        }
    )*};
}
stored! {
    f32 u32 |a, b, c| a.mul_add(b, c);
    f64 u64 |a, b, c| a.mul_add(b, c);
    f16 u16 |a, b, c| f16::from_f32(odd_sum(f64::from(a) * f64::from(b), c.into()).odd());
    bf16 u16 |a, b, c| bf16::from_f32(odd_sum(f64::from(a) * f64::from(b), c.into()).odd());
}

/// `a + b` rounded to odd, so that a second rounding is as if it were the only one. It uses the error of the nearest
/// sum (Knuth's TwoSum).
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    let lost = (a - (sum - part)) + (b - part);
    match () {
        () if !sum.is_finite() || lost == 0.0 || sum.to_bits() & 1 == 1 => sum,
        () if (lost > 0.0) == (sum > 0.0) => f64::from_bits(sum.to_bits() + 1),
        () => f64::from_bits(sum.to_bits() - 1),
    }
}
