//! The prelude's functions of f32, for one lane. `ZEROSTRIDE_BLESS=1 cargo test --lib lanes` writes this file from
//! `shaders/prelude`.

use super::{larger, select, smaller};

pub(in crate::cpu) const NEAR: f32 = 6000.0_f32;

#[derive(Clone, Copy)]
struct Split {
    f: f32,
    k: f32,
}

#[derive(Clone, Copy)]
struct Powers {
    k: f32,
    r: f32,
}

#[derive(Clone, Copy)]
struct Reduced {
    r: f32,
    quadrant: u32,
}

#[derive(Clone, Copy)]
struct Window {
    high: u32,
    middle: u32,
    low: u32,
}

#[derive(Clone, Copy)]
struct Angle {
    r: f32,
    quadrant: u32,
}

#[derive(Clone, Copy)]
struct Arcsine {
    high: f32,
    low: f32,
}

#[inline(always)]
fn high_word_u32(a: u32, b: u32) -> u32 {
    let middle = a.wrapping_shr(16_u32).wrapping_mul(b & 0xffff_u32).wrapping_add((a & 0xffff_u32).wrapping_mul(b & 0xffff_u32).wrapping_shr(16_u32));
    let other = (a & 0xffff_u32).wrapping_mul(b.wrapping_shr(16_u32)).wrapping_add(middle & 0xffff_u32);
    a.wrapping_shr(16_u32).wrapping_mul(b.wrapping_shr(16_u32)).wrapping_add(middle.wrapping_shr(16_u32)).wrapping_add(other.wrapping_shr(16_u32))
}

#[inline(always)]
fn quotient(n: u32, factor: u32, shift: u32) -> u32 {
    high_word_u32(n, factor).wrapping_shr(shift)
}

#[inline(always)]
fn bits(x: f32) -> u32 {
    x.to_bits()
}

#[inline(always)]
fn cut(x: f32) -> f32 {
    f32::from_bits(bits(x) & 0xfffff000_u32)
}

#[inline(always)]
fn scale(x: f32, k: i32) -> f32 {
    let half = k.wrapping_shr(1_u32);
    let first = f32::from_bits((x.to_bits() as i32).wrapping_add(half.wrapping_shl(23_u32)) as u32);
    let second = f32::from_bits(k.wrapping_sub(half).wrapping_add(127_i32).wrapping_shl(23_u32) as u32);
    first * second
}

#[inline(always)]
fn last_bits(k: f32) -> i32 {
    (k + 12582912.0_f32).to_bits() as i32
}

#[inline(always)]
fn residue(a: f32, b: f32, c: f32) -> f32 {
    let a_high = cut(a);
    let a_low = a + (-a_high);
    let b_high = cut(b);
    let b_low = b + (-b_high);
    let product = a * b;
    let rest = a_low * b_low + (a_low * b_high + (a_high * b_low + (a_high * b_high + (-product))));
    (product + c) + rest
}

#[inline(always)]
fn magnitude_bits(x: f32) -> u32 {
    x.to_bits() & 0x7fffffff_u32
}

#[inline(always)]
fn split(x: f32) -> Split {
    let magnitude = magnitude_bits(x);
    let subnormal = magnitude < 0x800000_u32;
    let normal = select(magnitude, bits(magnitude as f32).wrapping_sub(0x4a800000_u32), subnormal);
    let bits2 = normal.wrapping_sub(0x3f3504f3_u32);
    let k = (bits2 as i32).wrapping_shr(23_u32);
    let f = f32::from_bits((bits2 & 0x7fffff_u32).wrapping_add(0x3f3504f3_u32)) - 1.0_f32;
    Split { f: f, k: k as f32 }
}

#[inline(always)]
fn exp_of_rest(r: f32) -> f32 {
    let mut q: f32 = 0.0013814538_f32;
    q = q * r + 0.008368745_f32;
    q = q * r + 0.04166839_f32;
    q = q * r + 0.16666521_f32;
    q = q * r + 0.49999994_f32;
    q = q * r + 1.0_f32;
    q * r + 1.0_f32
}

#[inline(always)]
fn powers(x: f32) -> Powers {
    let k = (x * 1.442695_f32).round_ties_even();
    let high = k * (-0.69314575_f32) + x;
    Powers { k: k, r: k * (-1.4286068e-6_f32) + high }
}

#[inline(always)]
fn exp_scaled(x: f32, up: i32) -> f32 {
    let powers2 = powers(smaller(larger(x, -105.0_f32), 91.0_f32));
    let value = scale(exp_of_rest(powers2.r), last_bits(powers2.k).wrapping_add(up));
    select(value, x, x.is_nan())
}

#[inline(always)]
fn exp_of_sum(x: f32, more: f32, up: i32) -> f32 {
    let bounded = smaller(larger(x, -105.0_f32), 91.0_f32);
    let k = ((bounded + more) * 1.442695_f32).round_ties_even();
    let high = k * (-0.69314575_f32) + bounded;
    let r = high - (k * 1.4286068e-6_f32 + (-more));
    scale(exp_of_rest(r), last_bits(k).wrapping_add(up))
}

#[inline(always)]
fn exp2_of_sum(x: f32, more: f32) -> f32 {
    let mut q: f32 = 0.00015353362_f32;
    let bounded = smaller(larger(x, -152.0_f32), 130.0_f32);
    let k = bounded.round_ties_even();
    let r = (bounded + (-k)) + more;
    q = q * r + 0.0013398874_f32;
    q = q * r + 0.009618437_f32;
    q = q * r + 0.055503324_f32;
    q = q * r + 0.24022648_f32;
    q = q * r + 0.6931472_f32;
    scale(q * r + 1.0_f32, last_bits(k))
}

#[inline(always)]
pub(in crate::cpu) fn exp2(x: f32) -> f32 {
    select(exp2_of_sum(x, 0.0_f32), x, x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn exp10(x: f32) -> f32 {
    let mut q: f32 = 0.20632167_f32;
    let bounded = smaller(larger(x, -46.0_f32), 39.0_f32);
    let k = (bounded * 3.321928_f32).round_ties_even();
    let r = k * (-0.00024874567_f32) + (k * (-0.30078125_f32) + bounded);
    q = q * r + 0.54202515_f32;
    q = q * r + 1.1712927_f32;
    q = q * r + 2.0346498_f32;
    q = q * r + 2.6509488_f32;
    q = q * r + 2.3025851_f32;
    select(scale(q * r + 1.0_f32, last_bits(k)), x, x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn expm1(x: f32) -> f32 {
    let mut q: f32 = 0.0013951707_f32;
    let powers2 = powers(smaller(larger(x, -30.0_f32), 89.0_f32));
    let r = powers2.r;
    q = q * r + 0.0083696_f32;
    q = q * r + 0.041666187_f32;
    q = q * r + 0.16666512_f32;
    q = q * r + 0.5_f32;
    let half_power = f32::from_bits(last_bits(powers2.k).wrapping_add(126_i32).wrapping_shl(23_u32) as u32);
    let rest = half_power * ((r * r) * q + r);
    let value = 2.0_f32 * (rest + (half_power - 0.5_f32));
    select(value, x, x.is_nan() | (x.abs() < 2.9802322e-8_f32))
}

#[inline(always)]
fn sinh_of_unit(x: f32) -> f32 {
    let mut q: f32 = 0.00020377_f32;
    let z = x * x;
    q = q * z + 0.00833021_f32;
    q = q * z + 0.16666718_f32;
    x * (z * q) + x
}

#[inline(always)]
fn log_tail(f: f32, half_square: f32) -> f32 {
    let w = 2.0_f32 * half_square;
    let a = f * (-0.2500001_f32) + 0.33333313_f32;
    let b = f * (-0.16668_f32) + 0.20002118_f32;
    let c = f * (-0.124055386_f32) + 0.14219561_f32;
    let d = f * (-0.11675913_f32) + 0.1188804_f32;
    let w2 = w * w;
    let low = w * b + a;
    let high = w * d + c;
    let q = w2 * (w2 * 0.06747242_f32 + high) + low;
    (f * w) * q
}

#[inline(always)]
pub(in crate::cpu) fn tanh(x: f32) -> f32 {
    let mut q: f32 = -0.0057049887_f32;
    let z = x * x;
    q = q * z + 0.020639088_f32;
    q = q * z + (-0.053739715_f32);
    q = q * z + 0.13331442_f32;
    q = q * z + (-0.3333328_f32);
    let small = (q * z) * x + x;
    let magnitude = x.abs();
    let powers2 = powers(2.0_f32 * smaller(magnitude, 10.0_f32));
    let rest = exp_of_rest(powers2.r);
    let power = f32::from_bits(bits(rest).wrapping_add((last_bits(powers2.k) as u32).wrapping_shl(23_u32)));
    let large = (1.0_f32 - (2.0_f32 / (power + 1.0_f32))).copysign(x);
    let itself = x.is_nan() | (magnitude_bits(x) == 0_u32);
    select(select(small, large, magnitude >= 0.625_f32), x, itself)
}

#[inline(always)]
fn reduce_small(x: f32) -> Reduced {
    let k = (x * 0.63661975_f32).round_ties_even();
    let a = k * (-1.5703125_f32) + x;
    let b = k * (-0.0004837513_f32) + a;
    let c = k * (-7.5495336e-8_f32) + b;
    let r = k * (-2.563344e-12_f32) + c;
    Reduced { r: r, quadrant: bits(k + 8388608.0_f32) }
}

#[inline(always)]
fn window(bits: u32) -> Window {
    let by_one = (bits & 0x10000000_u32) != 0_u32;
    let by_two = (bits & 0x20000000_u32) != 0_u32;
    let a = select(162_u32, 0xf9836e4e_u32, by_one);
    let b = select(0xf9836e4e_u32, 0x441529fc_u32, by_one);
    let c = select(0x441529fc_u32, 0x2757d1f5_u32, by_one);
    let d = select(0x2757d1f5_u32, 0x34ddc0db_u32, by_one);
    let e = select(0x34ddc0db_u32, 0x6295993c_u32, by_one);
    let f = select(0x6295993c_u32, 0x439041fe_u32, by_one);
    let first = select(a, c, by_two);
    let second = select(b, d, by_two);
    let third = select(c, e, by_two);
    let fourth = select(d, f, by_two);
    let shift = bits.wrapping_shr(23_u32) & 24_u32;
    let rest = 31_u32.wrapping_sub(shift);
    Window { high: first.wrapping_shl(shift) | second.wrapping_shr(1_u32).wrapping_shr(rest), middle: second.wrapping_shl(shift) | third.wrapping_shr(1_u32).wrapping_shr(rest), low: third.wrapping_shl(shift) | fourth.wrapping_shr(1_u32).wrapping_shr(rest) }
}

#[inline(always)]
fn reduce_large(x: f32) -> Angle {
    let bits2 = x.to_bits();
    let window2 = window(bits2);
    let significand = ((bits2 & 0x7fffff_u32) | 0x800000_u32).wrapping_shl(bits2.wrapping_shr(23_u32) & 7_u32);
    let carried = high_word_u32(significand, window2.low);
    let bottom = significand.wrapping_mul(window2.middle).wrapping_add(carried);
    let carry = select(0_u32, 1_u32, bottom < carried);
    let top = significand.wrapping_mul(window2.high).wrapping_add(high_word_u32(significand, window2.middle)).wrapping_add(carry);
    let left = (top.wrapping_shl(2_u32) | bottom.wrapping_shr(30_u32)) as i32;
    let high = left.wrapping_shr(19_u32).wrapping_add(1_i32).wrapping_shr(1_u32);
    let low = (left.wrapping_sub(high.wrapping_shl(20_u32)) as f32) + (((bottom & 0x3fffffff_u32).wrapping_shr(6_u32) as f32) * 5.9604645e-8_f32);
    let leading = (high as f32) * 0.00038337708_f32;
    let trailing = ((high as f32) * 1.18121775e-7_f32) + (low * 3.6572953e-10_f32);
    let r = leading + trailing;
    let nan2 = bits2 >= 0x7f800000_u32;
    Angle { r: f32::from_bits(select(r.to_bits(), 0x7fc00000_u32, nan2)), quadrant: top.wrapping_add(0x20000000_u32).wrapping_shr(30_u32) }
}

#[inline(always)]
fn sine_of_reduced(reduced: Reduced) -> f32 {
    let mut q: f32;
    let odd = (reduced.quadrant & 1_u32) != 0_u32;
    let s = reduced.r * reduced.r;
    let b = select(reduced.r, 1.0_f32, odd);
    q = select(2.8656796e-6_f32, 2.4467707e-5_f32, odd);
    q = q * s + select(-0.00019855992_f32, -0.001388773_f32, odd);
    q = q * s + select(0.008333386_f32, 0.041666657_f32, odd);
    q = q * s + select(-0.16666667_f32, -0.5_f32, odd);
    let value = (b * s) * q + b;
    f32::from_bits(bits(value) ^ (reduced.quadrant.wrapping_shl(30_u32) & 0x80000000_u32))
}

#[inline(always)]
fn reduce(x: f32) -> Reduced {
    let mut reduced: Reduced;
    reduced = reduce_small(x);
    let large = x > 6000.0_f32;
    if large {
        if large {
            let angle = reduce_large(x);
            reduced.r = angle.r;
            reduced.quadrant = angle.quadrant;
        }
    }
    reduced
}

#[inline(always)]
fn turned(reduced: Reduced) -> Reduced {
    Reduced { r: reduced.r, quadrant: reduced.quadrant.wrapping_add(1_u32) }
}

#[inline(always)]
fn asin_tail(z: f32) -> f32 {
    let above = z * (z * (z * (-0.008656363_f32) + (-0.042743422_f32)) + 0.16666587_f32);
    above / (z * (-0.70662963_f32) + 1.0_f32)
}

#[inline(always)]
fn atan_positive(x: f32) -> f32 {
    let mut q: f32 = 0.080537446_f32;
    let large = x > 2.4142137_f32;
    let middle = (x > 0.41421357_f32) & (!large);
    let r = select(select(x, (x - 1.0_f32) / (x + 1.0_f32), middle), (-1.0_f32) / x, large);
    let high = select(select(0.0_f32, 0.7853982_f32, middle), 1.5707964_f32, large);
    let low = select(select(0.0_f32, -2.1855694e-8_f32, middle), -4.371139e-8_f32, large);
    let z = r * r;
    q = q * z + (-0.13877685_f32);
    q = q * z + 0.19977711_f32;
    q = q * z + (-0.3333295_f32);
    high + (((q * z) * r + low) + r)
}

#[inline(always)]
fn pow_positive(x: f32, y: f32) -> f32 {
    let mut q: f32 = 0.43099675_f32;
    let split2 = split(x);
    let inverse = 1.0_f32 / (2.0_f32 + split2.f);
    let s = split2.f * inverse;
    let s_low = residue(-s, split2.f, split2.f - (2.0_f32 * s)) * inverse;
    let z = s * s;
    q = q * z + 0.57675266_f32;
    q = q * z + 0.9617983_f32;
    let rest = q * z + 3.851926e-8_f32;
    let c = 2.88539_f32 + rest;
    let c_low = (2.88539_f32 - c) + rest;
    let product = s * c;
    let product_low = s_low * (c + (2.0_f32 * rest)) + (s * c_low + residue(s, c, -product));
    let log3 = product + split2.k;
    let log_low = product_low - ((-product) + (log3 - split2.k));
    let e = y * log3;
    let e_low = y * log_low + residue(y, log3, -e);
    exp2_of_sum(e, smaller(larger(e_low, -0.001_f32), 0.001_f32))
}

#[inline(always)]
pub(in crate::cpu) fn cbrt(x: f32) -> f32 {
    let magnitude = magnitude_bits(x);
    let high = magnitude > 0x6f800000_u32;
    let low = magnitude < 0xf800000_u32;
    let subnormal = magnitude < 0x800000_u32;
    let scale2 = select(select(1.0_f32, 7.9228163e28_f32, low), 1.2621775e-29_f32, high);
    let unscale = select(select(1.0_f32, 2.3283064e-10_f32, low), 4294967300.0_f32, high);
    let a = select(f32::from_bits(magnitude) * scale2, (magnitude as f32) * 2.0_f32, subnormal);
    let guess = f32::from_bits((bits(a) / 3_u32).wrapping_add(0x2a5119f2_u32));
    let cube = (guess * guess) * guess;
    let rough = guess * ((cube + (2.0_f32 * a)) / (cube + (cube + a)));
    let t = f32::from_bits(bits(rough).wrapping_add(2048_u32) & 0xfffff000_u32);
    let r = a / (t * t);
    let value = ((t * ((r - t) / ((2.0_f32 * t) + r)) + t) * select(unscale, 8.881784e-16_f32, subnormal)).copysign(x);
    let itself = (magnitude >= 0x7f800000_u32) | (magnitude == 0_u32);
    select(value, x, itself)
}

#[inline(always)]
pub(in crate::cpu) fn exp(x: f32) -> f32 {
    exp_scaled(x, 0_i32)
}

#[inline(always)]
pub(in crate::cpu) fn erf(x: f32) -> f32 {
    let mut q: f32;
    let mut r: f32 = -0.0005967617_f32;
    let t = smaller(x.abs(), 6.0_f32);
    let s = t * t;
    q = (-1.7285347e-5_f32) * t + 0.00038319713_f32;
    q = q * s + ((-0.0038839644_f32) * t + 0.024254622_f32);
    q = q * t + (-0.10677788_f32);
    q = q * t + (-0.6348467_f32);
    q = q * t + (-0.12871751_f32);
    let large = ((-exp(q * t + (-t))) + 1.0_f32).copysign(x);
    r = r * s + 0.0049911942_f32;
    r = r * s + (-0.026768135_f32);
    r = r * s + 0.112819925_f32;
    r = r * s + (-0.37612534_f32);
    r = r * s + 0.12837917_f32;
    let small = select(r * x + x, x * 1.1283792_f32, t < 1e-20_f32);
    select(select(small, large, t > 0.9277344_f32), x, x.is_nan())
}

#[inline(always)]
fn erfc_tail(s: f32, far: bool) -> f32 {
    let mut r: f32;
    let mut q: f32;
    r = select(-9.814329_f32, 0.0_f32, far);
    r = r * s + select(-81.28744_f32, -483.5192_f32, far);
    r = r * s + select(-184.60509_f32, -1025.0951_f32, far);
    r = r * s + select(-162.39667_f32, -637.56647_f32, far);
    r = r * s + select(-62.37533_f32, -160.63638_f32, far);
    r = r * s + select(-10.558626_f32, -17.757956_f32, far);
    r = r * s + select(-0.69385856_f32, -0.79928327_f32, far);
    r = r * s + select(-0.009864944_f32, -0.009864943_f32, far);
    q = select(-0.060424414_f32, 0.0_f32, far);
    q = q * s + select(6.5702496_f32, -22.440952_f32, far);
    q = q * s + select(108.635_f32, 474.52853_f32, far);
    q = q * s + select(429.00815_f32, 2553.0503_f32, far);
    q = q * s + select(645.38727_f32, 3199.8582_f32, far);
    q = q * s + select(434.5659_f32, 1536.7296_f32, far);
    q = q * s + select(137.65776_f32, 325.7925_f32, far);
    q = q * s + select(19.651272_f32, 30.33806_f32, far);
    r / (q * s + 1.0_f32)
}

#[inline(always)]
fn erfc_near(zz: f32) -> f32 {
    let mut above: f32 = -2.3763017e-5_f32;
    let mut below: f32 = -3.9602282e-6_f32;
    above = above * zz + (-0.0057702702_f32);
    above = above * zz + (-0.02848175_f32);
    above = above * zz + (-0.3250421_f32);
    above = above * zz + 0.12837917_f32;
    below = below * zz + 0.00013249474_f32;
    below = below * zz + 0.005081306_f32;
    below = below * zz + 0.06502225_f32;
    below = below * zz + 0.3979172_f32;
    above / (below * zz + 1.0_f32)
}

#[inline(always)]
fn erfc_around(s: f32) -> f32 {
    let mut above: f32 = -0.0021663755_f32;
    let mut below: f32 = 0.0119845_f32;
    above = above * s + 0.035478305_f32;
    above = above * s + (-0.110894695_f32);
    above = above * s + 0.31834662_f32;
    above = above * s + (-0.37220788_f32);
    above = above * s + 0.4148561_f32;
    above = above * s + (-0.0023621186_f32);
    below = below * s + 0.013637084_f32;
    below = below * s + 0.12617122_f32;
    below = below * s + 0.071828656_f32;
    below = below * s + 0.54039794_f32;
    below = below * s + 0.10642088_f32;
    above / (below * s + 1.0_f32)
}

#[inline(always)]
fn cut_square(x: f32) -> f32 {
    f32::from_bits(bits(x) & 0xffffe000_u32)
}

#[inline(always)]
fn lgamma_tail(t: f32) -> f32 {
    let mut q: f32 = 0.000111983645_f32;
    q = q * t + (-0.00025056204_f32);
    q = q * t + 0.00050726044_f32;
    q = q * t + (-0.0011874848_f32);
    q = q * t + 0.0028906795_f32;
    q = q * t + (-0.0073859207_f32);
    q = q * t + 0.020580806_f32;
    q = q * t + (-0.067352295_f32);
    q = q * t + 0.32246703_f32;
    q
}

#[inline(always)]
fn stirling_tail(z: f32) -> f32 {
    z * (z * 0.0007936508_f32 + (-0.0027777778_f32)) + 0.083333336_f32
}

#[inline(always)]
fn digamma_tail(z: f32) -> f32 {
    z * ((-z) * (z * (-0.003968254_f32) + 0.008333333_f32) + 0.083333336_f32)
}

#[inline(always)]
fn are_numbers(a: f32, b: f32) -> bool {
    larger(magnitude_bits(a), magnitude_bits(b)) <= 0x7f800000_u32
}

#[inline(always)]
fn is_inf(x: f32) -> bool {
    magnitude_bits(x) == 0x7f800000_u32
}

#[inline(always)]
fn nan(from_any: f32) -> f32 {
    f32::from_bits(from_any.to_bits() | 0x7fc00000_u32)
}

#[inline(always)]
fn inf(sign_of: f32) -> f32 {
    f32::from_bits((sign_of.to_bits() & 0x80000000_u32) | 0x7f800000_u32)
}

#[inline(always)]
fn eq(a: f32, b: f32) -> bool {
    (a == b) & are_numbers(a, b)
}

#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    let either = bits(a) | bits(b);
    let both = bits(a) & bits(b);
    f32::from_bits(select(bits(larger(a, b)), both, (either & 0x7fffffff_u32) == 0_u32))
}

#[inline(always)]
fn max(a: f32, b: f32) -> f32 {
    select(select(greater(a, b), b, b.is_nan()), a, a.is_nan())
}

#[inline(always)]
fn fraction(x: f32) -> f32 {
    x - x.floor()
}

#[inline(always)]
fn signbit(x: f32) -> bool {
    (bits(x) & 0x80000000_u32) != 0_u32
}

#[inline(always)]
fn log_edges(value: f32, x: f32) -> f32 {
    let bits2 = bits(x);
    let regular = bits2.wrapping_sub(1_u32) < 0x7f7fffff_u32;
    let infinite = select(bits2 | 0x7fc00000_u32, bits2, bits2 == 0x7f800000_u32);
    let edge = select(infinite, bits2 | 0xff800000_u32, magnitude_bits(x) == 0_u32);
    select(f32::from_bits(edge), value, regular)
}

#[inline(always)]
pub(in crate::cpu) fn log(x: f32) -> f32 {
    let split2 = split(x);
    let half_square = (0.5_f32 * split2.f) * split2.f;
    let tail = log_tail(split2.f, half_square);
    let rest = ((-half_square) + (split2.k * 9.058001e-6_f32 + tail)) + split2.f;
    log_edges(split2.k * 0.6931381_f32 + rest, x)
}

#[inline(always)]
pub(in crate::cpu) fn log2(x: f32) -> f32 {
    let split2 = split(x);
    let half_square = (0.5_f32 * split2.f) * split2.f;
    let high = cut((-half_square) + split2.f);
    let low = log_tail(split2.f, half_square) + ((-half_square) + (split2.f - high));
    let rest = (low + high) * (-0.00017605285_f32) + (low * 1.4428711_f32);
    log_edges((high * 1.4428711_f32 + rest) + split2.k, x)
}

#[inline(always)]
pub(in crate::cpu) fn log10(x: f32) -> f32 {
    let split2 = split(x);
    let half_square = (0.5_f32 * split2.f) * split2.f;
    let high = cut((-half_square) + split2.f);
    let low = log_tail(split2.f, half_square) + ((-half_square) + (split2.f - high));
    let rest = (low + high) * (-3.168997e-5_f32) + (low * 0.43432617_f32);
    let fraction2 = high * 0.43432617_f32 + (split2.k * 7.903415e-7_f32 + rest);
    log_edges(split2.k * 0.3010292_f32 + fraction2, x)
}

#[inline(always)]
pub(in crate::cpu) fn log1p(x: f32) -> f32 {
    let u = 1.0_f32 + x;
    let large = u >= 2.0_f32;
    let lost = (select(x, 1.0_f32, large) - (u - select(1.0_f32, x, large))) / u;
    let near = (x > (-0.29289323_f32)) & (x < 0.41421354_f32);
    let split2 = split(u);
    let f = select(split2.f, x, near);
    let k = select(split2.k, 0.0_f32, near);
    let c = select(lost, 0.0_f32, near | (!(u < 1000000000.0_f32)));
    let half_square = (0.5_f32 * f) * f;
    let rest = ((-half_square) + (log_tail(f, half_square) + (k * 9.058001e-6_f32 + c))) + f;
    let value = k * 0.6931381_f32 + rest;
    select(log_edges(value, select(u, x, x.is_nan())), x, x.abs() < 2.9802322e-8_f32)
}

#[inline(always)]
pub(in crate::cpu) fn sinh(x: f32) -> f32 {
    let magnitude = x.abs();
    let small = sinh_of_unit(smaller(magnitude, 1.0_f32));
    let half = exp_scaled(magnitude, -1_i32);
    let large = half + (-(0.25_f32 / half));
    let value = select(small, large, magnitude >= 1.0_f32).copysign(x);
    select(value, x, x.is_nan() | (magnitude < 0.00012207031_f32))
}

#[inline(always)]
pub(in crate::cpu) fn cosh(x: f32) -> f32 {
    let half = exp_scaled(x.abs(), -1_i32);
    select(half + (0.25_f32 / half), x, x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn asinh(x: f32) -> f32 {
    let magnitude = x.abs();
    let bounded = smaller(magnitude, 16384.0_f32);
    let small = log1p(bounded + ((bounded * bounded) / (1.0_f32 + (bounded * bounded + 1.0_f32).sqrt())));
    let large = log(magnitude) + 0.6931472_f32;
    let value = select(small, large, magnitude > 16384.0_f32).copysign(x);
    select(value, x, x.is_nan() | (magnitude < 0.00012207031_f32))
}

#[inline(always)]
pub(in crate::cpu) fn acosh(x: f32) -> f32 {
    let t = smaller(larger(x, 1.0_f32), 16384.0_f32) - 1.0_f32;
    let small = log1p(t + (t * t + (2.0_f32 * t)).sqrt());
    let large = log(x) + 0.6931472_f32;
    let value = select(small, large, x > 16384.0_f32);
    select(value, nan(x), (x < 1.0_f32) | x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn atanh(x: f32) -> f32 {
    let magnitude = x.abs();
    let bounded = smaller(magnitude, 1.0_f32);
    let twice = 2.0_f32 * bounded;
    let inner = select(twice / (1.0_f32 - bounded), twice + ((twice * bounded) / (1.0_f32 - bounded)), bounded < 0.5_f32);
    let finite = 0.5_f32 * log1p(inner);
    let value = select(finite, inf(1.0_f32), bounded == 1.0_f32).copysign(x);
    let small = magnitude < 0.00012207031_f32;
    select(select(value, x, small), nan(x), (magnitude > 1.0_f32) | x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn sigmoid(x: f32) -> f32 {
    1.0_f32 / (exp(-x) + 1.0_f32)
}

#[inline(always)]
pub(in crate::cpu) fn logit(x: f32) -> f32 {
    let near = (x - 0.5_f32).abs() < 0.25_f32;
    let middle = log1p(((2.0_f32 * x) - 1.0_f32) / (1.0_f32 - x));
    select(log(x / (1.0_f32 - x)), middle, near)
}

#[inline(always)]
pub(in crate::cpu) fn xlogy(x: f32, y: f32) -> f32 {
    let none = (magnitude_bits(x) == 0_u32) & (!y.is_nan());
    select(x * log(y), 0.0_f32, none)
}

#[inline(always)]
pub(in crate::cpu) fn logaddexp(x: f32, y: f32) -> f32 {
    let apart = select(-(x - y).abs(), 0.0_f32, eq(x, y));
    let sum = max(x, y) + log1p(select(exp(apart), 0.0_f32, apart < (-87.0_f32)));
    select(select(sum, x, x.is_nan()), y, y.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn to_degrees(x: f32) -> f32 {
    x * 57.29578_f32
}

#[inline(always)]
pub(in crate::cpu) fn to_radians(x: f32) -> f32 {
    x * 0.017453292_f32
}

#[inline(always)]
fn with_sign(value: f32, x: f32) -> f32 {
    f32::from_bits(bits(value) ^ (bits(x) & 0x80000000_u32))
}

#[inline(always)]
pub(in crate::cpu) fn sin(x: f32) -> f32 {
    with_sign(sine_of_reduced(reduce(x.abs())), x)
}

#[inline(always)]
pub(in crate::cpu) fn cos(x: f32) -> f32 {
    sine_of_reduced(turned(reduce(x.abs())))
}

#[inline(always)]
fn tan_of_reduced(reduced: Reduced, x: f32) -> f32 {
    with_sign(sine_of_reduced(reduced) / sine_of_reduced(turned(reduced)), x)
}

#[inline(always)]
pub(in crate::cpu) fn tan(x: f32) -> f32 {
    tan_of_reduced(reduce(x.abs()), x)
}

#[inline(always)]
pub(in crate::cpu) fn near_sin(x: f32) -> f32 {
    with_sign(sine_of_reduced(reduce_small(x.abs())), x)
}

#[inline(always)]
pub(in crate::cpu) fn near_cos(x: f32) -> f32 {
    sine_of_reduced(turned(reduce_small(x.abs())))
}

#[inline(always)]
pub(in crate::cpu) fn near_tan(x: f32) -> f32 {
    tan_of_reduced(reduce_small(x.abs()), x)
}

#[inline(always)]
fn arcsine_of_root(z: f32) -> Arcsine {
    let s = z.sqrt();
    let high = cut(s);
    let c = ((-high) * high + z) / larger(s + high, 1e-30_f32);
    Arcsine { high: high, low: asin_tail(z) * s + c }
}

#[inline(always)]
pub(in crate::cpu) fn asin(x: f32) -> f32 {
    let magnitude = x.abs();
    let small = x * asin_tail(smaller(magnitude * magnitude, 0.25_f32)) + x;
    let root2 = arcsine_of_root(0.5_f32 * (1.0_f32 - smaller(magnitude, 1.0_f32)));
    let rest = (2.0_f32 * root2.low) - (-4.371139e-8_f32);
    let large = 0.7853982_f32 - (rest - (0.7853982_f32 - (2.0_f32 * root2.high)));
    let value = select(small, large.copysign(x), magnitude >= 0.5_f32);
    let tiny = magnitude < 0.00024414063_f32;
    select(select(value, x, tiny), nan(x), (magnitude > 1.0_f32) | x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn acos(x: f32) -> f32 {
    let magnitude = x.abs();
    let z = smaller(magnitude * magnitude, 0.25_f32);
    let middle = 1.5707963_f32 - (x - ((-x) * asin_tail(z) + 7.5497894e-8_f32));
    let root2 = arcsine_of_root(0.5_f32 * (1.0_f32 - smaller(magnitude, 1.0_f32)));
    let right = 2.0_f32 * (root2.high + root2.low);
    let left = 2.0_f32 * (1.5707963_f32 - (root2.high + (root2.low - 7.5497894e-8_f32)));
    let outer = select(right, left, x < 0.0_f32);
    let value = select(middle, outer, magnitude >= 0.5_f32);
    select(value, nan(x), (magnitude > 1.0_f32) | x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn atan(x: f32) -> f32 {
    let itself = x.is_nan() | (x.abs() < 0.00024414063_f32);
    select(atan_positive(x.abs()).copysign(x), x, itself)
}

#[inline(always)]
pub(in crate::cpu) fn atan2(y: f32, x: f32) -> f32 {
    let ay = magnitude_bits(y);
    let ax = magnitude_bits(x);
    let infinite = 0x7f800000_u32;
    let both = (ay == infinite) & (ax == infinite);
    let ratio = select(y.abs() / x.abs(), 1.0_f32, both);
    let first = select(atan_positive(ratio), 0.0_f32, ay == 0_u32);
    let left = signbit(x);
    let turned2 = select(first, 3.1415927_f32 - (first - (-8.742278e-8_f32)), left);
    select(turned2.copysign(y), nan(x), (ay > infinite) | (ax > infinite))
}

#[inline(always)]
fn bounded_exponent(y: f32) -> f32 {
    smaller(larger(y, -4294967300.0_f32), 4294967300.0_f32)
}

#[inline(always)]
fn pow_edges(x: f32, y: f32, positive: f32) -> f32 {
    let ax = magnitude_bits(x);
    let ay = magnitude_bits(y);
    let bounded = bounded_exponent(y);
    let fractional = fraction(bounded) != 0.0_f32;
    let odd = (!fractional) & (fraction(0.5_f32 * bounded) == 0.5_f32);
    let negative = signbit(x);
    let zero = ax == 0_u32;
    let ends = zero | (ax == 0x7f800000_u32);
    let limit = f32::from_bits(select(0x7f800000_u32, 0_u32, zero != signbit(y)));
    let magnitude = select(positive, limit, ends);
    let power = select(magnitude, -magnitude, negative & odd);
    let root2 = negative & fractional;
    let undefined = (root2 & (!ends)) | (larger(ax, ay) > 0x7f800000_u32);
    let one = (ay == 0_u32) | (bits(x) == 0x3f800000_u32);
    select(select(power, nan(0.0_f32), undefined), 1.0_f32, one)
}

#[inline(always)]
pub(in crate::cpu) fn pow(x: f32, y: f32) -> f32 {
    let positive = f32::from_bits(magnitude_bits(x));
    pow_edges(x, y, pow_positive(positive, bounded_exponent(y)))
}

#[inline(always)]
pub(in crate::cpu) fn rsqrt(x: f32) -> f32 {
    1.0_f32 / select(x.sqrt(), x.sqrt(), x > 0.0_f32)
}

#[inline(always)]
pub(in crate::cpu) fn hypot(a: f32, b: f32) -> f32 {
    let x = magnitude_bits(a);
    let y = magnitude_bits(b);
    let high = f32::from_bits(larger(x, y));
    let low = f32::from_bits(smaller(x, y));
    let ratio = low / high;
    let value = high * (ratio * ratio + 1.0_f32).sqrt();
    let finite = select(value, high, smaller(x, y) == 0_u32);
    let infinite = (x == 0x7f800000_u32) | (y == 0x7f800000_u32);
    let nan2 = (x > 0x7f800000_u32) | (y > 0x7f800000_u32);
    select(select(finite, nan(a), nan2), inf(1.0_f32), infinite)
}

#[inline(always)]
fn erfc_far(x: f32) -> f32 {
    let tail = erfc_tail(1.0_f32 / (x * x), x >= 2.857143_f32);
    let cut2 = cut_square(x);
    exp_of_sum((-cut2) * cut2 + (-0.5625_f32), (cut2 - x) * (cut2 + x) + tail, 0_i32) / x
}

#[inline(always)]
pub(in crate::cpu) fn erfc(x: f32) -> f32 {
    let magnitude = x.abs();
    let z = smaller(magnitude, 0.84375_f32);
    let y = erfc_near(z * z);
    let near = select(0.5_f32 - (x * y + (x - 0.5_f32)), 1.0_f32 - (x * y + x), x < 0.25_f32);
    let r = erfc_around(smaller(larger(magnitude, 0.84375_f32), 1.25_f32) - 1.0_f32);
    let around = select(0.15493709_f32 - r, 1.0_f32 + (0.8450629_f32 + r), x < 0.0_f32);
    let power = erfc_far(smaller(larger(magnitude, 1.25_f32), 28.0_f32));
    let far = select(power, 2.0_f32 - power, x < 0.0_f32);
    let inner = select(around, near, magnitude < 0.84375_f32);
    let value = select(inner, far, magnitude >= 1.25_f32);
    select(value, x, x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn lgamma(x: f32) -> f32 {
    let mut product: f32 = 1.0_f32;
    let mut rest: f32;
    let mut i: i32 = 2_i32;
    let y = x.abs();
    let low = y < 0.5_f32;
    let near_one = (!low) & (y < 1.5_f32);
    let large = y >= 16.0_f32;
    let shifts = !((low | near_one) | large);
    rest = y;
    loop {
        if i < 16_i32 {
        } else {
            break;
        }
        let above = (rest >= 2.5_f32) & shifts;
        rest = select(rest, rest - 1.0_f32, above);
        product = select(product, product * rest, above);
        i = i.wrapping_add(1_i32);
    }
    let t = select(select(select(rest - 2.0_f32, y - 1.0_f32, near_one), y, low), 0.0_f32, large);
    let around = t * (t * lgamma_tail(t) + 0.42278433_f32);
    let logarithm = log(select(select(product, y * (1.0_f32 + y), low), y, large));
    let shifted = around + select(logarithm, -logarithm, low);
    let inverse = 1.0_f32 / y;
    let series = (y - 0.5_f32) * (logarithm - 1.0_f32) + (inverse * stirling_tail(inverse * inverse) + 0.41893855_f32);
    let positive = select(select(shifted, around + (-log1p(t)), near_one), series, large);
    let r = y - y.round_ties_even();
    let divisor = select(y, y * product, shifts) * near_sin(3.1415927_f32 * r).abs();
    let reflected = log(3.1415927_f32 / divisor) - select(positive, around, shifts);
    let integer = (r == 0.0_f32) | is_inf(x);
    let negative = select(reflected, inf(1.0_f32), integer);
    let below = (x < 0.0_f32) & (y >= 2.9802322e-8_f32);
    select(select(positive, negative, below), x, x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn digamma(x: f32) -> f32 {
    let mut z: f32;
    let mut sum: f32 = 0.0_f32;
    let mut i: i32 = 1_i32;
    z = select(x, 1.0_f32 - x, x < 0.0_f32);
    let begins = z < 6.0_f32;
    let first = select(0.0_f32, 1.0_f32 / z, begins);
    z = select(z, z + 1.0_f32, begins);
    loop {
        if i < 6_i32 {
        } else {
            break;
        }
        let below = z < 6.0_f32;
        sum = select(sum, sum - (1.0_f32 / z), below);
        z = select(z, z + 1.0_f32, below);
        i = i.wrapping_add(1_i32);
    }
    let positive = (((-digamma_tail(1.0_f32 / (z * z))) + (log(z) - (0.5_f32 / z))) + sum) - first;
    let r = x - x.round_ties_even();
    let reflected = positive - (3.1415927_f32 / near_tan(3.1415927_f32 * r));
    let undefined = (r == 0.0_f32) | is_inf(x);
    let negative = select(reflected, nan(x), undefined);
    let value = select(positive, negative, x < 0.0_f32);
    let zero = magnitude_bits(x) == 0_u32;
    select(select(value, inf(-x), zero), x, x.is_nan())
}
