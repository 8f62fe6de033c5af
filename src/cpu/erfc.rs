//! The complementary error function far from 0. libm multiplies two exponentials there, whose error is an ulp more than the
//! CPU path promises. The rational functions are those of FreeBSD s_erf.c (Sun Microsystems, 1993).

use super::single::LN_2;

const R_BELOW: [f64; 8] = [
    -0.009864944034847148,
    -0.6938585727071818,
    -10.558626225323291,
    -62.375332450326006,
    -162.39666946257347,
    -184.60509290671104,
    -81.2874355063066,
    -9.814329344169145,
];

const S_BELOW: [f64; 8] = [
    19.651271667439257,
    137.65775414351904,
    434.56587747522923,
    645.3872717332679,
    429.00814002756783,
    108.63500554177944,
    6.570249770319282,
    -0.0604244152148581,
];

const R_ABOVE: [f64; 7] = [
    -0.0098649429247001,
    -0.799283237680523,
    -17.757954917754752,
    -160.63638485582192,
    -637.5664433683896,
    -1025.0951316110772,
    -483.5191916086514,
];

const S_ABOVE: [f64; 7] = [
    30.33806074348246,
    325.7925129965739,
    1536.729586084437,
    3199.8582195085955,
    2553.0504064331644,
    474.52854120695537,
    -22.44095244658582,
];

fn polynomial(coefficients: &[f64], z: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * z + c)
}

/// `erfc(x)` of f64.
pub(super) fn erfc(x: f64) -> f64 {
    if !(1.25..28.0).contains(&x) {
        return libm::erfc(x);
    }
    let z = 1.0 / (x * x);
    let tail = match x < 1.0 / 0.35 {
        true => polynomial(&R_BELOW, z) / (1.0 + z * polynomial(&S_BELOW, z)),
        false => polynomial(&R_ABOVE, z) / (1.0 + z * polynomial(&S_ABOVE, z)),
    };
    // -x^2 = -cut^2 + (cut - x) (cut + x), whose first part is exact.
    let cut = f64::from_bits(x.to_bits() & 0xffff_ffff_0000_0000);
    let (high, low) = (-cut * cut - 0.5625, (cut - x) * (cut + x) + tail);
    exp_of_sum(high, low) / x
}

/// e^(high + low), for small low, with the rounding of the reduced sum corrected.
fn exp_of_sum(high: f64, low: f64) -> f64 {
    let k = ((high + low) / std::f64::consts::LN_2).round();
    let exact = high - k * LN_2[0];
    let rest = low - k * LN_2[1];
    let r = exact + rest;
    let lost = (exact - r) + rest;
    let power = r.exp();
    // Two factors, as 2^k alone may be subnormal.
    let half = (k / 2.0).floor();
    (power + power * lost) * 2_f64.powi(half as i32) * 2_f64.powi((k - half) as i32)
}
