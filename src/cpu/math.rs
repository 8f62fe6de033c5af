//! Functions of one element that are exact and more than one operator.

use std::ops::{Add, Div, Neg, Rem, Sub};

use super::convert::ToOdd;
pub(super) use super::integers::IntOps;
pub(super) use super::prelude::Function;
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
}

macro_rules! reals {
    ($($t:ident)*) => {$(
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
        }
    )*};
}
reals! { f32 f64 }

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

/// The lesser, and the number if the other one is NaN.
#[inline(always)]
pub(super) fn minimum_number<R: Real>(a: R, b: R) -> R {
    let (first, second) = (if b.is_nan() { a } else { b }, if a.is_nan() { b } else { a });
    minimum(first, second)
}

/// The greater, and the number if the other one is NaN.
#[inline(always)]
pub(super) fn maximum_number<R: Real>(a: R, b: R) -> R {
    let (first, second) = (if b.is_nan() { a } else { b }, if a.is_nan() { b } else { a });
    maximum(first, second)
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

/// Floats as they are stored.
pub(super) trait Stored: Copy {
    fn nextafter(a: Self, b: Self) -> Self;
    /// `a * b + c`, rounded once.
    fn fma(a: Self, b: Self, c: Self) -> Self;
    /// A subnormal becomes a zero of its sign, as total mode takes operands.
    fn flushed(self) -> Self;
    /// Any NaN becomes the positive quiet one, too, as total mode returns results.
    fn total(self) -> Self;
}

macro_rules! stored {
    ($($t:ident $bits:ident |$a:ident, $b:ident, $c:ident| $fma:expr;)*) => {$(
        impl Stored for $t {
            #[inline(always)]
            fn fma($a: $t, $b: $t, $c: $t) -> $t { $fma }

            #[inline(always)]
            fn flushed(self) -> $t {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                let is_normal = self.to_bits() & !SIGN >= $t::MIN_POSITIVE.to_bits();
                $t::from_bits(self.to_bits() & if is_normal { $bits::MAX } else { SIGN })
            }

            #[inline(always)]
            fn total(self) -> $t {
                let is_nan = self.to_bits() << 1 > $t::INFINITY.to_bits() << 1;
                $t::from_bits(if is_nan { $t::NAN.to_bits() } else { self.flushed().to_bits() })
            }

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
#[inline(always)]
pub(super) fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    let lost = (a - (sum - part)) + (b - part);
    match () {
        () if !sum.is_finite() || lost == 0.0 || sum.to_bits() & 1 == 1 => sum,
        () if (lost > 0.0) == (sum > 0.0) => f64::from_bits(sum.to_bits() + 1),
        () => f64::from_bits(sum.to_bits() - 1),
    }
}
