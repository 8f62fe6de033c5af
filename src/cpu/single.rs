//! Functions with results in f32, computed in f64 within 2^-36 of the result and without a branch, so that their loops
//! vectorize. Arguments are f32 values.

use std::f64::consts::{FRAC_1_PI, LN_10, LOG2_10, LOG2_E, LOG10_2, LOG10_E, SQRT_2};

/// ln 2 and log10 2 in two parts. The first is so short that its product with an exponent is exact.
pub(super) const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
const LG_2: [f64; 2] = [0.301_029_995_549_470_2, 1.145_110_089_802_183_8e-10];

/// Adding it rounds to an integer, in the low bits of the sum.
const ROUND: f64 = 1.5 * (1_u64 << 52) as f64;

/// Beyond exponents of 2 of this size, results of f32 are 0 or infinite. f64 still has them.
const EXPONENTS: f64 = 400.0;

/// 2 to the power of a sum that [`ROUND`] rounded.
#[inline(always)]
fn power_of_two(rounded: f64) -> f64 {
    f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// `e^r - 1` for |r| <= ln 2 / 2, by Taylor: the next term is below 2^-37 of it. In pairs, which do not wait for each
/// other (Estrin's scheme).
#[inline(always)]
fn expm1_near_0(r: f64) -> f64 {
    let w = r * r;
    let low = (1.0 / 2.0 + r * (1.0 / 6.0)) + w * (1.0 / 24.0 + r * (1.0 / 120.0));
    let high = (1.0 / 720.0 + r * (1.0 / 5040.0)) + w * (1.0 / 40320.0 + r * (1.0 / 362_880.0));
    r + w * (low + w * w * high)
}

/// `x` as `k ln 2 + r`: 2 to the power of k, and `e^r - 1`.
#[inline(always)]
fn split_exp(x: f64) -> (f64, f64) {
    let limit = EXPONENTS / LOG2_E;
    let x = x.clamp(-limit, limit);
    let rounded = x * LOG2_E + ROUND;
    let k = rounded - ROUND;
    (power_of_two(rounded), expm1_near_0((x - k * LN_2[0]) - k * LN_2[1]))
}

#[inline(always)]
fn exp(x: f64) -> f64 {
    let (scale, tail) = split_exp(x);
    scale + scale * tail
}

#[inline(always)]
pub(super) fn expm1(x: f64) -> f64 {
    let (scale, tail) = split_exp(x);
    // Near 0 it is the tail, with the sign of `x`, since the sum has lost the sign of -0.
    if scale == 1.0 { tail.copysign(x) } else { scale * tail + (scale - 1.0) }
}

#[inline(always)]
pub(super) fn exp2(x: f64) -> f64 {
    let x = x.clamp(-EXPONENTS, EXPONENTS);
    let rounded = x + ROUND;
    let scale = power_of_two(rounded);
    scale + scale * expm1_near_0((x - (rounded - ROUND)) * std::f64::consts::LN_2)
}

#[inline(always)]
pub(super) fn exp10(x: f64) -> f64 {
    let limit = EXPONENTS / LOG2_10;
    let x = x.clamp(-limit, limit);
    let rounded = x * LOG2_10 + ROUND;
    let k = rounded - ROUND;
    let scale = power_of_two(rounded);
    scale + scale * expm1_near_0(((x - k * LG_2[0]) - k * LG_2[1]) * LN_10)
}

/// A positive `x` as `2^e m` with m between the roots of 1/2 and 2: e, and `(m - 1) / (m + 1)`. `ln m` is twice the
/// inverse hyperbolic tangent of the latter.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    const ROOT: u64 = (SQRT_2 / 2.0).to_bits();
    const FRACTION: u64 = (1 << 52) - 1;
    const INTEGERS: f64 = (1_u64 << 52) as f64;
    let bits = x.to_bits().wrapping_add(1.0_f64.to_bits() - ROOT);
    let e = f64::from_bits((bits >> 52) | INTEGERS.to_bits()) - (INTEGERS + 1023.0);
    let m = f64::from_bits((bits & FRACTION) + ROOT);
    (e, (m - 1.0) / (m + 1.0))
}

/// The same with `ln m`, by the tangent's series. The next term is below 2^-44 of it.
#[inline(always)]
fn split_log(x: f64) -> (f64, f64) {
    let (e, s) = split(x);
    let w = s * s;
    let w2 = w * w;
    let low = (1.0 / 3.0 + w * (1.0 / 5.0)) + w2 * (1.0 / 7.0 + w * (1.0 / 9.0));
    let high = (1.0 / 11.0 + w * (1.0 / 13.0)) + w2 * (1.0 / 15.0);
    (e, 2.0 * (s + s * w * (low + w2 * w2 * high)))
}

/// Numbers between the magnitudes of f32 and 0 or infinity. Comparisons with 0 and infinity themselves become tests of
/// bits, which cost more.
const TINY: f64 = 1e-300;
const HUGE: f64 = 1e300;

/// `value` of a positive finite `x`, and the logarithm's result elsewhere.
#[inline(always)]
fn log_of(x: f64, value: f64) -> f64 {
    let value = if x > HUGE { x } else { value };
    let not_positive = if x.abs() < TINY { f64::NEG_INFINITY } else { f64::NAN };
    if x > TINY { value } else { not_positive }
}

#[inline(always)]
fn log(x: f64) -> f64 {
    let (e, tail) = split_log(x);
    log_of(x, e * LN_2[0] + (e * LN_2[1] + tail))
}

#[inline(always)]
pub(super) fn log2(x: f64) -> f64 {
    let (e, tail) = split_log(x);
    log_of(x, e + tail * LOG2_E)
}

#[inline(always)]
pub(super) fn log10(x: f64) -> f64 {
    let (e, tail) = split_log(x);
    log_of(x, e * LOG10_2 + tail * LOG10_E)
}

#[inline(always)]
pub(super) fn log1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    // The rounding error of the sum, to first order.
    let lost = (x - (sum - 1.0)) / sum;
    // It is 0 from 2^53 on, and NaN at -1 and infinity.
    let lost = if (sum > TINY) & (sum < 1e15) { lost } else { 0.0 };
    let value = log(sum) + lost;
    if x.abs() < TINY { x } else { value }
}

/// The greatest angle, in radians, whose half turns are counted here. Beyond it half turns times the first part of pi
/// have more than 53 bits.
pub(super) const TURNS: f32 = 2_097_152.0;

/// Pi in two parts, the first of 33 bits.
const PI: [f64; 2] = [3.141_592_653_468_251_2, 1.215_420_101_301_238_4e-10];

/// The sine of `x` and `shift` half turns, by Taylor on a half turn around 0. The next term is below 2^-44 of it.
#[inline(always)]
fn sin_of(x: f64, shift: f64) -> f64 {
    let rounded = (x * FRAC_1_PI + shift) + ROUND;
    let k = (rounded - ROUND) - shift;
    let r = (x - k * PI[0]) - k * PI[1];
    let w = r * r;
    let w2 = w * w;
    let low = (-1.0 / 6.0 + w * (1.0 / 120.0)) + w2 * (-1.0 / 5040.0 + w * (1.0 / 362_880.0));
    let high = (-1.0 / 39_916_800.0 + w * (1.0 / 6_227_020_800.0))
        + w2 * (-1.0 / 1_307_674_368_000.0 + w * (1.0 / 355_687_428_096_000.0));
    // A product, so that 0 keeps its sign. The sign changes with every half turn.
    let sin = r * (1.0 + w * (low + w2 * w2 * high));
    f64::from_bits(sin.to_bits() ^ (rounded.to_bits() << 63))
}

#[inline(always)]
pub(super) fn sin(x: f64) -> f64 {
    sin_of(x, 0.0)
}

#[inline(always)]
pub(super) fn cos(x: f64) -> f64 {
    sin_of(x, 0.5)
}

#[inline(always)]
pub(super) fn tan(x: f64) -> f64 {
    sin(x) / cos(x)
}

#[inline(always)]
pub(super) fn sinh(x: f64) -> f64 {
    let e = expm1(x.abs());
    (0.5 * (e + e / (e + 1.0))).copysign(x)
}

#[inline(always)]
pub(super) fn cosh(x: f64) -> f64 {
    let e = exp(x.abs());
    0.5 * (e + 1.0 / e)
}

#[inline(always)]
pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

#[inline(always)]
pub(super) fn hypot(a: f64, b: f64) -> f64 {
    let value = (a * a + b * b).sqrt();
    if (a.abs() > HUGE) | (b.abs() > HUGE) { f64::INFINITY } else { value }
}

/// The logarithm of a positive `x` to base 2, by the polynomial nearest to the series of [`split_log`], within 2^-42.
#[inline(always)]
fn near_log2(x: f64) -> f64 {
    let (e, s) = split(x);
    let w = s * s;
    let low = 2.885_390_081_777_926_8 + w * 0.961_796_693_925_975_6;
    let high = (0.577_077_988_936_159_2 + w * 0.412_205_205_705_695_2)
        + w * w * (0.320_050_985_541_248_7 + w * 0.281_055_598_564_108_7);
    e + s * (low + w * w * high)
}

/// 2 to the power of `x` from -1000 to 1000, by the nearest polynomial, within 2^-34.
#[inline(always)]
fn near_exp2(x: f64) -> f64 {
    let rounded = x + ROUND;
    let r = x - (rounded - ROUND);
    let w = r * r;
    let low = 1.0 + r * 0.693_147_180_540_147_1;
    let middle = 0.240_226_510_992_829 + r * 0.055_504_109_684_365_71;
    let high = (0.009_618_033_158_817_634 + r * 0.001_333_342_565_840_292)
        + w * (0.000_154_683_916_805_352_56 + r * 1.531_618_754_006_347e-5);
    let value = low + w * (middle + w * high);
    // Exponents are added as integers. NaN, whose low bits are 0 for a value of f32, stays as it is.
    f64::from_bits(value.to_bits().wrapping_add(rounded.to_bits() << 52))
}

/// Cases without a power of a positive number are decided in f32, whose vectors have twice the lanes.
#[inline(always)]
pub(super) fn pow(x: f32, y: f32) -> f32 {
    let a = x.abs();
    let exponent = f64::from(y) * near_log2(f64::from(a));
    let value = near_exp2(exponent.clamp(-EXPONENTS, EXPONENTS)) as f32;
    let is_zero = a == 0.0;
    let limit = if is_zero ^ (y > 0.0) { f32::INFINITY } else { 0.0 };
    let value = if is_zero | (a == f32::INFINITY) { limit } else { value };
    let value = if x.is_nan() { x } else { value };
    let value = if y.is_nan() { y } else { value };
    let is_integer = y == y.round_ties_even();
    let half = 0.5 * y;
    let is_odd = is_integer & (half != half.round_ties_even());
    let value = if is_odd & x.is_sign_negative() { -value } else { value };
    let is_root = (x < 0.0) & (a != f32::INFINITY) & !is_integer;
    let value = if is_root { f32::NAN } else { value };
    let one = (y == 0.0) | (x == 1.0) | ((x == -1.0) & (y.abs() == f32::INFINITY));
    if one { 1.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Functions that cross 0 with slope 1 keep the sign of 0.
    #[test]
    fn zeros_keep_their_signs() {
        let functions: [fn(f64) -> f64; 5] = [expm1, log1p, sinh, sin, tan];
        for (i, function) in functions.into_iter().enumerate() {
            for zero in [0.0, -0.0_f64] {
                assert_eq!(function(zero).to_bits(), zero.to_bits(), "function {i} of {zero}");
            }
        }
    }
}
