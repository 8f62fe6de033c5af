//! The prelude's functions of f64, for one lane. `ZEROSTRIDE_BLESS=1 cargo test --lib lanes` writes this file from
//! `shaders/prelude`.

use super::{larger, select, smaller};

pub(in crate::cpu) const NEAR: f64 = 1000000.0_f64;

#[derive(Clone, Copy)]
struct Split {
    f: f64,
    k: f64,
}

#[derive(Clone, Copy)]
struct Reduced {
    r: f64,
    tail: f64,
    quadrant: u32,
}

#[derive(Clone, Copy)]
struct Arcsine {
    high: f64,
    low: f64,
}

#[inline(always)]
fn high_u64(x: u64) -> u32 {
    x.wrapping_shr(32_u32) as u32
}

#[inline(always)]
fn low_u64(x: u64) -> u32 {
    (x & 0xffffffff_u64) as u32
}

#[inline(always)]
fn cast_u32_u64(x: u32) -> u64 {
    x as u64
}

#[inline(always)]
fn leading_zeros_u64(x: u64, width: u32) -> u64 {
    let high = high_u64(x);
    let zeros = select(high.leading_zeros(), low_u64(x).leading_zeros().wrapping_add(32_u32), high == 0_u32);
    cast_u32_u64(zeros)
}

#[inline(always)]
fn bits(x: f64) -> u64 {
    x.to_bits()
}

#[inline(always)]
fn cut(x: f64) -> f64 {
    f64::from_bits(bits(x) & 0xffffffff00000000_u64)
}

#[inline(always)]
fn scale(x: f64, k: i32) -> f64 {
    let half = k.wrapping_shr(1_u32);
    let rest = k.wrapping_sub(half);
    let first = f64::from_bits(((half.wrapping_add(1023_i32) as u32) as u64).wrapping_shl(52_u32));
    let second = f64::from_bits(((rest.wrapping_add(1023_i32) as u32) as u64).wrapping_shl(52_u32));
    (x * first) * second
}

#[inline(always)]
fn magnitude_bits(x: f64) -> u64 {
    x.to_bits() & 0x7fffffffffffffff_u64
}

#[inline(always)]
fn split(x: f64) -> Split {
    let magnitude = magnitude_bits(x);
    let subnormal = magnitude < 0x10000000000000_u64;
    let normal = select(x, magnitude as f64, subnormal);
    let bits2 = bits(normal).wrapping_add(0x3ff0000000000000_u64.wrapping_sub(0x3fe6a09e667f3bcd_u64));
    let k = ((bits2.wrapping_shr(52_u32) as u32) as i32).wrapping_sub(select(1023_i32, 2097_i32, subnormal));
    let f = f64::from_bits((bits2 & 0xfffffffffffff_u64).wrapping_add(0x3fe6a09e667f3bcd_u64)) - 1.0_f64;
    Split { f: f, k: k as f64 }
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
fn exp_of_parts(high: f64, low: f64) -> f64 {
    let mut q: f64 = 4.1381367970572385e-8_f64;
    let r = high - low;
    let s = r * r;
    q = q * s + (-1.6533902205465252e-6_f64);
    q = q * s + 6.613756321437934e-5_f64;
    q = q * s + (-0.0027777777777015593_f64);
    q = q * s + 0.16666666666666602_f64;
    let c = (-s) * q + r;
    1.0_f64 + ((((r * c) / (2.0_f64 - c)) - low) + high)
}

#[inline(always)]
fn exp_of_sum(x: f64, more: f64, up: i32) -> f64 {
    let bounded = smaller(larger(x, -760.0_f64), 712.0_f64);
    let k = ((bounded + more) * 1.4426950408889634_f64).round_ties_even();
    let power = exp_of_parts(k * (-0.6931471803691238_f64) + bounded, k * 1.9082149292705877e-10_f64 + (-more));
    scale(power, (k as i32).wrapping_add(up))
}

#[inline(always)]
fn exp_scaled(x: f64, up: i32) -> f64 {
    select(exp_of_sum(x, 0.0_f64, up), x, x.is_nan())
}

#[inline(always)]
fn exp_of_product(r: f64, first: f64, rest: f64) -> f64 {
    let cut2 = cut(r);
    let high = cut2 * first;
    exp_of_parts(high, -(r * rest + ((r - cut2) * first)))
}

#[inline(always)]
pub(in crate::cpu) fn exp2(x: f64) -> f64 {
    let bounded = smaller(larger(x, -1100.0_f64), 1030.0_f64);
    let k = bounded.round_ties_even();
    let power = exp_of_product(bounded - k, 0.6931471824645996_f64, -1.904654299957768e-9_f64);
    select(scale(power, k as i32), x, x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn exp10(x: f64) -> f64 {
    let bounded = smaller(larger(x, -330.0_f64), 310.0_f64);
    let k = (bounded * 3.321928094887362_f64).round_ties_even();
    let high = k * (-0.30102999566361177_f64) + bounded;
    let r = k * (-3.694239077158931e-13_f64) + high;
    let power = exp_of_product(r, 2.3025856018066406_f64, -5.08812594940982e-7_f64);
    select(scale(power, k as i32), x, x.is_nan())
}

#[inline(always)]
fn expm1_ratio(square: f64) -> f64 {
    let mut q: f64 = -2.0109921818362437e-7_f64;
    q = q * square + 4.008217827329362e-6_f64;
    q = q * square + (-7.93650757887508e-5_f64);
    q = q * square + 0.0015873015872548146_f64;
    q = q * square + (-0.03333333333333313_f64);
    square * q + 1.0_f64
}

#[inline(always)]
fn log_tail(f: f64, half_square: f64) -> f64 {
    let s = f / (2.0_f64 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (w * (w * 0.15313837699209373_f64 + 0.22222198432149784_f64) + 0.3999999999940942_f64);
    let odd = z * (w * (w * (w * 0.14798198605116586_f64 + 0.1818357216161805_f64) + 0.2857142874366239_f64) + 0.6666666666666735_f64);
    s * ((half_square + even) + odd)
}

#[inline(always)]
pub(in crate::cpu) fn expm1(x: f64) -> f64 {
    let bounded = smaller(larger(x, -60.0_f64), 711.0_f64);
    let small = bounded.abs() < 0.34657359_f64;
    let k = select((bounded * 1.4426950408889634_f64).round_ties_even(), 0.0_f64, small);
    let high = k * (-0.6931471803691238_f64) + bounded;
    let low = k * 1.9082149292705877e-10_f64;
    let r = high - low;
    let lost = (high - r) - low;
    let half = 0.5_f64 * r;
    let square = r * half;
    let r1 = expm1_ratio(square);
    let t = (-r1) * half + 3.0_f64;
    let e = square * ((r1 - t) / ((-r) * t + 6.0_f64));
    let near = r - ((r * (e - lost) + (-lost)) - square);
    let whole2 = k as i32;
    let middle = (whole2 >= (-2_i32)) & (whole2 <= 52_i32);
    let inverse = scale(1.0_f64, smaller(larger(whole2, -2_i32), 52_i32).wrapping_neg());
    let by_parts = scale(near + (1.0_f64 - inverse), whole2);
    let outer = scale(near + 1.0_f64, whole2) - 1.0_f64;
    let far = select(outer, by_parts, middle);
    select(select(far, near, small), x, x.is_nan() | (x.abs() < 5.551115123125783e-17_f64))
}

#[inline(always)]
fn sinh_of_unit(x: f64) -> f64 {
    let t = expm1(x);
    0.5_f64 * (t + (t / (t + 1.0_f64)))
}

#[inline(always)]
pub(in crate::cpu) fn tanh(x: f64) -> f64 {
    let magnitude = smaller(x.abs(), 22.0_f64);
    let tiny = magnitude < 0.2554128118829953_f64;
    let twice = 2.0_f64 * magnitude;
    let t = expm1(select(twice, -twice, tiny));
    let small = select(t, -t, tiny) / (t + 2.0_f64);
    let large = 1.0_f64 - (2.0_f64 / (t + 2.0_f64));
    let value = select(small, large, magnitude > 0.5493061443340548_f64).copysign(x);
    select(value, x, x.is_nan() | (magnitude < 3.725290298461914e-9_f64))
}

#[inline(always)]
fn turned(reduced: Reduced) -> Reduced {
    Reduced { r: reduced.r, tail: reduced.tail, quadrant: reduced.quadrant.wrapping_add(1_u32) }
}

#[inline(always)]
fn bits_of_inverse_tau(at: i32) -> u64 {
    let mut words: [u32; 39] = [0x28be60db_u32, 0x9391054a_u32, 0x7f09d5f4_u32, 0x7d4d3770_u32, 0x36d8a566_u32, 0x4f10e410_u32, 0x7f9458ea_u32, 0xf7aef158_u32, 0x6dc91b8e_u32, 0x909374b8_u32, 0x1924bba_u32, 0x82746487_u32, 0x3f877ac7_u32, 0x2c4a69cf_u32, 0xba208d7d_u32, 0x4baed121_u32, 0x3a671c09_u32, 0xad17df90_u32, 0x4e64758e_u32, 0x60d4ce7d_u32, 0x272117e2_u32, 0xef7e4a0e_u32, 0xc7fe25ff_u32, 0xf7816603_u32, 0xfbcbc462_u32, 0xd6829b47_u32, 0xdb4d9fb3_u32, 0xc9f2c26d_u32, 0xd3d18fd9_u32, 0xa797fa8b_u32, 0x5d49eeb1_u32, 0xfaf97c5e_u32, 0xcf41ce7d_u32, 0xe294a4ba_u32, 0x9afed7ec_u32, 0x47e35742_u32, 0x1580cc11_u32, 0xbf1edaea_u32, 0xfc33ef08_u32];
    let word = at.wrapping_shr(5_u32);
    let first = smaller(larger(word, 0_i32), 38_i32) as u32;
    let second = smaller(larger(word.wrapping_add(1_i32), 0_i32), 38_i32) as u32;
    let high = words[first as usize];
    let low = words[second as usize];
    let both = (select(high, 0_u32, word < 0_i32) as u64).wrapping_shl(32_u32) | (select(low, 0_u32, word < (-1_i32)) as u64);
    both.wrapping_shr(32_u32.wrapping_sub((at as u32) & 31_u32)) & 0xffffffff_u64
}

#[inline(always)]
fn reduce_small(x: f64) -> Reduced {
    let k = (x * 0.6366197723675814_f64).round_ties_even();
    let r1 = k * (-1.5707963267341256_f64) + x;
    let b = k * 6.077100506303966e-11_f64;
    let r2 = r1 - b;
    let c = k * 2.0222662487111665e-21_f64;
    let r3 = r2 - c;
    let lost = ((r1 - r2) - b) + ((r2 - r3) - c);
    let rest = k * 8.4784276603689e-32_f64 + (-lost);
    let r = r3 - rest;
    Reduced { r: r, tail: (r3 - r) - rest, quadrant: (k as i32) as u32 }
}

#[inline(always)]
fn reduce_large(x: f64) -> Reduced {
    let mut product: [u64; 6] = [0; 6];
    let mut carry: u64 = 0_u64;
    let mut below: u64 = 0_u64;
    let mut i: i32 = 0_i32;
    let mut top: u64;
    let mut rest: u64;
    let mut quadrant: u32;
    let bits2 = magnitude_bits(x);
    let significand = (bits2 & 0xfffffffffffff_u64) | 0x10000000000000_u64;
    let m0 = low_u64(significand) as u64;
    let m1 = high_u64(significand) as u64;
    let at = ((bits2.wrapping_shr(52_u32) as u32) as i32).wrapping_sub(1075_i32);
    let mask = 0xffffffff_u64;
    let shift = 32_u32;
    loop {
        if i < 6_i32 {
        } else {
            break;
        }
        let word = bits_of_inverse_tau(at.wrapping_add(160_i32.wrapping_sub(32_i32.wrapping_mul(i))));
        let first = m0.wrapping_mul(word).wrapping_add(carry);
        let second = m1.wrapping_mul(below).wrapping_add(first & mask);
        product[i as usize] = second & mask;
        carry = first.wrapping_shr(shift).wrapping_add(second.wrapping_shr(shift));
        below = word;
        i = i.wrapping_add(1_i32);
    }
    top = product[5].wrapping_shl(shift) | product[4];
    rest = product[3].wrapping_shl(shift) | product[2];
    quadrant = (top.wrapping_add(0x2000000000000000_u64).wrapping_shr(62_u32) as u32) & 3_u32;
    top = top.wrapping_sub((quadrant as u64).wrapping_shl(62_u32));
    let above_half = (top & 0x8000000000000000_u64) != 0_u64;
    top = select(top, (!top).wrapping_add(select(0_u64, 1_u64, rest == 0_u64)), above_half);
    rest = select(rest, (!rest).wrapping_add(1_u64), above_half);
    let empty = top == 0_u64;
    top = select(top, rest, empty);
    rest = select(rest, 0_u64, empty);
    let zeros = (leading_zeros_u64(top, 64_u32) as u32) & 63_u32;
    let spill = select(rest.wrapping_shr(64_u32.wrapping_sub(larger(zeros, 1_u32))), 0_u64, zeros == 0_u32);
    top = top.wrapping_shl(zeros) | spill;
    rest = rest.wrapping_shl(zeros);
    let down2 = (zeros as i32).wrapping_add(select(0_i32, 64_i32, empty));
    let scale2 = scale(1.0_f64, (-51_i32).wrapping_sub(down2));
    let high = (top.wrapping_shr(11_u32) as f64) * scale2;
    let low = (((top & 2047_u64).wrapping_shl(42_u32) | rest.wrapping_shr(22_u32)) as f64) * (scale2 * 1.1102230246251565e-16_f64);
    let high_cut = f64::from_bits(bits(high) & 0xfffffffff8000000_u64);
    let high_rest = high - high_cut;
    let angle = high * 1.5707963267948966_f64;
    let lost = high_rest * 1.5893254712295857e-8_f64 + (high_rest * 1.5707963109016418_f64 + (high_cut * 1.5893254712295857e-8_f64 + (high_cut * 1.5707963109016418_f64 + (-angle))));
    let more = low * 1.5707963267948966_f64 + (high * 6.123233995736766e-17_f64 + lost);
    let r = angle + more;
    let tail = (angle - r) + more;
    let negative = above_half != (x < 0.0_f64);
    quadrant = select(quadrant, (!quadrant).wrapping_add(1_u32), x < 0.0_f64);
    Reduced { r: select(r, -r, negative), tail: select(tail, -tail, negative), quadrant: quadrant }
}

#[inline(always)]
fn is_finite(x: f64) -> bool {
    magnitude_bits(x) < 0x7ff0000000000000_u64
}

#[inline(always)]
fn nan(from_any: f64) -> f64 {
    f64::from_bits(from_any.to_bits() | 0x7ff8000000000000_u64)
}

#[inline(always)]
fn reduce(x: f64) -> Reduced {
    let mut reduced: Reduced;
    let large = (x.abs() > 1000000.0_f64) & is_finite(x);
    reduced = reduce_small(select(x, 0.0_f64, x.abs() > 1000000.0_f64));
    if large {
        let slow = reduce_large(select(1000000.0_f64, x, large));
        reduced = Reduced { r: select(reduced.r, slow.r, large), tail: select(reduced.tail, slow.tail, large), quadrant: select(reduced.quadrant, slow.quadrant, large) };
    }
    reduced.r = select(nan(x), reduced.r, is_finite(x));
    reduced
}

#[inline(always)]
fn sine_of_reduced(reduced: Reduced) -> f64 {
    let mut odd: f64 = 1.58969099521155e-10_f64;
    let mut even: f64 = -1.1359647557788195e-11_f64;
    let r = reduced.r;
    let z = r * r;
    odd = odd * z + (-2.5050760253406863e-8_f64);
    odd = odd * z + 2.7557313707070068e-6_f64;
    odd = odd * z + (-0.0001984126982985795_f64);
    odd = odd * z + 0.00833333333332249_f64;
    let cube = z * r;
    let sine = r - (cube * 0.16666666666666632_f64 + (z * ((-cube) * odd + (0.5_f64 * reduced.tail)) + (-reduced.tail)));
    even = even * z + 2.087572321298175e-9_f64;
    even = even * z + (-2.7557314351390663e-7_f64);
    even = even * z + 2.480158728947673e-5_f64;
    even = even * z + (-0.001388888888887411_f64);
    even = even * z + 0.0416666666666666_f64;
    let half = 0.5_f64 * z;
    let rough = 1.0_f64 - half;
    let cosine = rough + (((1.0_f64 - rough) - half) + (z * (z * even) + (-(r * reduced.tail))));
    let value = select(sine, cosine, (reduced.quadrant & 1_u32) != 0_u32);
    select(value, -value, (reduced.quadrant & 2_u32) != 0_u32)
}

#[inline(always)]
fn asin_tail(z: f64) -> f64 {
    let mut above: f64 = 3.479331075960212e-5_f64;
    let mut below: f64 = 0.07703815055590194_f64;
    above = above * z + 0.0007915349942898145_f64;
    above = above * z + (-0.04005553450067941_f64);
    above = above * z + 0.20121253213486293_f64;
    above = above * z + (-0.3255658186224009_f64);
    above = above * z + 0.16666666666666666_f64;
    below = below * z + (-0.6882839716054533_f64);
    below = below * z + 2.0209457602335057_f64;
    below = below * z + (-2.403394911734414_f64);
    (z * above) / (below * z + 1.0_f64)
}

#[inline(always)]
fn atan_positive(x: f64) -> f64 {
    let mut r: f64;
    let mut high: f64;
    let mut low: f64;
    let mut q: f64 = 0.016285820115365782_f64;
    let above = [x >= 0.4375_f64, x >= 0.6875_f64, x >= 1.1875_f64, x >= 2.4375_f64];
    r = select(x, ((2.0_f64 * x) - 1.0_f64) / (2.0_f64 + x), above[0]);
    r = select(r, (x - 1.0_f64) / (x + 1.0_f64), above[1]);
    r = select(r, (x - 1.5_f64) / (1.5_f64 * x + 1.0_f64), above[2]);
    r = select(r, (-1.0_f64) / x, above[3]);
    high = select(0.0_f64, 0.4636476090008061_f64, above[0]);
    high = select(high, 0.7853981633974483_f64, above[1]);
    high = select(high, 0.982793723247329_f64, above[2]);
    high = select(high, 1.5707963267948966_f64, above[3]);
    low = select(0.0_f64, 2.2698777452961687e-17_f64, above[0]);
    low = select(low, 3.061616997868383e-17_f64, above[1]);
    low = select(low, 1.3903311031230998e-17_f64, above[2]);
    low = select(low, 6.123233995736766e-17_f64, above[3]);
    let z = r * r;
    q = q * z + (-0.036531572744216916_f64);
    q = q * z + 0.049768779946159324_f64;
    q = q * z + (-0.058335701337905735_f64);
    q = q * z + 0.06661073137387531_f64;
    q = q * z + (-0.0769187620504483_f64);
    q = q * z + 0.09090887133436507_f64;
    q = q * z + (-0.11111110405462356_f64);
    q = q * z + 0.14285714272503466_f64;
    q = q * z + (-0.19999999999876483_f64);
    q = q * z + 0.3333333333333293_f64;
    high - ((r * (z * q) + (-low)) - r)
}

#[inline(always)]
fn pow_positive(x: f64, y: f64) -> f64 {
    let mut q: f64 = 0.20697501780033842_f64;
    let mut w: f64 = 4.1381367970572385e-8_f64;
    let subnormal = bits(x) < 0x10000000000000_u64;
    let bits2 = bits(select(x, bits(x) as f64, subnormal));
    let fraction2 = bits2 & 0xfffffffffffff_u64;
    let near_one = fraction2 <= 0x3988effffffff_u64;
    let near_two = fraction2 >= 0xbb67a00000000_u64;
    let middle = !(near_one | near_two);
    let n = ((bits2.wrapping_shr(52_u32) as u32) as i32).wrapping_sub(select(1023_i32, 2097_i32, subnormal)).wrapping_add(select(0_i32, 1_i32, near_two));
    let a_bits = (fraction2 | 0x3ff0000000000000_u64).wrapping_sub(select(0_u64, 0x10000000000000_u64, near_two));
    let a = f64::from_bits(a_bits);
    let base = select(1.0_f64, 1.5_f64, middle);
    let u = a - base;
    let v = 1.0_f64 / (a + base);
    let s = u * v;
    let s_high = cut(s);
    let sum_bits = (a_bits.wrapping_shr(1_u32) & 0xffffffff00000000_u64) | 0x2000000000000000_u64;
    let sum_high = f64::from_bits(sum_bits.wrapping_add(0x8000000000000_u64).wrapping_add(select(0_u64, 0x4000000000000_u64, middle)));
    let sum_low = a - (sum_high - base);
    let s_low = v * ((-s_high) * sum_low + ((-s_high) * sum_high + u));
    let s2 = s * s;
    q = q * s2 + 0.23066074577556175_f64;
    q = q * s2 + 0.272728123808534_f64;
    q = q * s2 + 0.33333332981837743_f64;
    q = q * s2 + 0.4285714285785502_f64;
    q = q * s2 + 0.5999999999999946_f64;
    let r = (s2 * s2) * q + (s_low * (s_high + s));
    let square = s_high * s_high;
    let t_high = cut((3.0_f64 + square) + r);
    let t_low = r - ((t_high - 3.0_f64) - square);
    let p_exact = s_high * t_high;
    let p_rest = s_low * t_high + (t_low * s);
    let p_high = cut(p_exact + p_rest);
    let p_low = p_rest - (p_high - p_exact);
    let z_high = 0.9617967009544373_f64 * p_high;
    let z_low = ((-7.028461650952758e-9_f64) * p_high + (p_low * 0.9617966939259756_f64)) + select(0.0_f64, 1.350039202129749e-8_f64, middle);
    let shift = select(0.0_f64, 0.5849624872207642_f64, middle);
    let whole2 = n as f64;
    let log_high = cut(((z_high + z_low) + shift) + whole2);
    let log_low = z_low - (((log_high - whole2) - shift) - z_high);
    let y_high = cut(y);
    let e_low = (y - y_high) * log_high + (y * log_low);
    let e_high = y_high * log_high;
    let e = e_low + e_high;
    let bounded = smaller(larger(e, -1100.0_f64), 1030.0_f64);
    let inside = bounded == e;
    let k = bounded.round_ties_even();
    let rest_high = select(0.0_f64, e_high - k, inside);
    let rest_low = select(0.0_f64, e_low, inside);
    let f = cut(rest_high + rest_low);
    let natural_high = f * 0.6931471824645996_f64;
    let natural_low = (rest_low - (f - rest_high)) * 0.6931471805599453_f64 + (-(f * 1.904654299957768e-9_f64));
    let z = natural_high + natural_low;
    let lost = natural_low - (z - natural_high);
    let zz = z * z;
    w = w * zz + (-1.6533902205465252e-6_f64);
    w = w * zz + 6.613756321437934e-5_f64;
    w = w * zz + (-0.0027777777777015593_f64);
    w = w * zz + 0.16666666666666602_f64;
    let t = (-zz) * w + z;
    let power = 1.0_f64 - ((((z * t) / (t - 2.0_f64)) - (z * lost + lost)) - z);
    scale(power, k as i32)
}

#[inline(always)]
pub(in crate::cpu) fn cbrt(x: f64) -> f64 {
    let magnitude = magnitude_bits(x);
    let subnormal = magnitude < 0x10000000000000_u64;
    let a = f64::from_bits(select(magnitude, bits(magnitude as f64), subnormal));
    let guess = f64::from_bits(((high_u64(bits(a)) / 3_u32).wrapping_add(0x2a9f7893_u32) as u64).wrapping_shl(32_u32));
    let r = (guess * guess) * (guess / a);
    let near = guess * (((r * r) * r) * (r * 0.14599619288661245_f64 + (-0.758397934778766_f64)) + (r * (r * 1.6214297201053545_f64 + (-1.8849797954337717_f64)) + 1.87595182427177_f64));
    let t = f64::from_bits(bits(near).wrapping_add(0x80000000_u64) & 0xffffffffc0000000_u64);
    let q = a / (t * t);
    let root2 = t * ((q - t) / ((2.0_f64 * t) + q)) + t;
    let unscale = select(1.0_f64, scale(1.0_f64, -358_i32), subnormal);
    let itself = (magnitude >= 0x7ff0000000000000_u64) | (magnitude == 0_u64);
    select((root2 * unscale).copysign(x), x, itself)
}

#[inline(always)]
fn erfc_tail(s: f64, far: bool) -> f64 {
    let mut r: f64 = -9.814329344169145_f64;
    let mut q: f64 = -0.0604244152148581_f64;
    let mut r_far: f64 = -483.5191916086514_f64;
    let mut q_far: f64 = -22.44095244658582_f64;
    r = r * s + (-81.2874355063066_f64);
    r = r * s + (-184.60509290671104_f64);
    r = r * s + (-162.39666946257347_f64);
    r = r * s + (-62.375332450326006_f64);
    r = r * s + (-10.558626225323291_f64);
    r = r * s + (-0.6938585727071818_f64);
    r = r * s + (-0.009864944034847148_f64);
    q = q * s + 6.570249770319282_f64;
    q = q * s + 108.63500554177944_f64;
    q = q * s + 429.00814002756783_f64;
    q = q * s + 645.3872717332679_f64;
    q = q * s + 434.56587747522923_f64;
    q = q * s + 137.65775414351904_f64;
    q = q * s + 19.651271667439257_f64;
    r_far = r_far * s + (-1025.0951316110772_f64);
    r_far = r_far * s + (-637.5664433683896_f64);
    r_far = r_far * s + (-160.63638485582192_f64);
    r_far = r_far * s + (-17.757954917754752_f64);
    r_far = r_far * s + (-0.799283237680523_f64);
    r_far = r_far * s + (-0.0098649429247001_f64);
    q_far = q_far * s + 474.52854120695537_f64;
    q_far = q_far * s + 2553.0504064331644_f64;
    q_far = q_far * s + 3199.8582195085955_f64;
    q_far = q_far * s + 1536.729586084437_f64;
    q_far = q_far * s + 325.7925129965739_f64;
    q_far = q_far * s + 30.33806074348246_f64;
    select(r / (q * s + 1.0_f64), r_far / (q_far * s + 1.0_f64), far)
}

#[inline(always)]
fn erfc_near(zz: f64) -> f64 {
    let mut above: f64 = -2.3763016656650163e-5_f64;
    let mut below: f64 = -3.960228278775368e-6_f64;
    above = above * zz + (-0.005770270296489442_f64);
    above = above * zz + (-0.02848174957559851_f64);
    above = above * zz + (-0.3250421072470015_f64);
    above = above * zz + 0.12837916709551256_f64;
    below = below * zz + 0.00013249473800432164_f64;
    below = below * zz + 0.005081306281875766_f64;
    below = below * zz + 0.0650222499887673_f64;
    below = below * zz + 0.39791722395915535_f64;
    above / (below * zz + 1.0_f64)
}

#[inline(always)]
fn erfc_around(s: f64) -> f64 {
    let mut above: f64 = -0.002166375594868791_f64;
    let mut below: f64 = 0.011984499846799107_f64;
    above = above * s + 0.035478304325618236_f64;
    above = above * s + (-0.11089469428239668_f64);
    above = above * s + 0.31834661990116175_f64;
    above = above * s + (-0.3722078760357013_f64);
    above = above * s + 0.41485611868374833_f64;
    above = above * s + (-0.0023621185607526594_f64);
    below = below * s + 0.01363708391202905_f64;
    below = below * s + 0.12617121980876164_f64;
    below = below * s + 0.07182865441419627_f64;
    below = below * s + 0.540397917702171_f64;
    below = below * s + 0.10642088040084423_f64;
    above / (below * s + 1.0_f64)
}

#[inline(always)]
fn cut_square(x: f64) -> f64 {
    cut(x)
}

#[inline(always)]
fn erfc_far(x: f64) -> f64 {
    let tail = erfc_tail(1.0_f64 / (x * x), x >= 2.857142925_f64);
    let cut2 = cut_square(x);
    exp_of_sum((-cut2) * cut2 + (-0.5625_f64), (cut2 - x) * (cut2 + x) + tail, 0_i32) / x
}

#[inline(always)]
pub(in crate::cpu) fn erf(x: f64) -> f64 {
    let magnitude = smaller(x.abs(), 6.0_f64);
    let z = smaller(magnitude, 0.84375_f64);
    let small = select(x * erfc_near(z * z) + x, x * 1.1283791670955126_f64, magnitude < 1e-290_f64);
    let around = 0.8450629115104675_f64 + erfc_around(smaller(larger(magnitude, 0.84375_f64), 1.25_f64) - 1.0_f64);
    let far = 1.0_f64 - erfc_far(larger(magnitude, 1.25_f64));
    let large = select(around, far, magnitude >= 1.25_f64).copysign(x);
    select(select(large, small, magnitude < 0.84375_f64), x, x.is_nan())
}

#[inline(always)]
fn lgamma_tail(t: f64) -> f64 {
    let mut q: f64 = 1.47455851555312e-8_f64;
    q = q * t + (-3.085985478390577e-8_f64);
    q = q * t + 4.537211788401254e-8_f64;
    q = q * t + (-9.558178101635195e-8_f64);
    q = q * t + 2.1282474305197616e-7_f64;
    q = q * t + (-4.508168225446838e-7_f64);
    q = q * t + 9.54993508309678e-7_f64;
    q = q * t + (-2.0389077825677104e-6_f64);
    q = q * t + 4.374884980416112e-6_f64;
    q = q * t + (-9.439526202058818e-6_f64);
    q = q * t + 2.0507211376332486e-5_f64;
    q = q * t + (-4.4926233820610826e-5_f64);
    q = q * t + 9.945751284637129e-5_f64;
    q = q * t + (-0.00022315475858818615_f64);
    q = q * t + 0.0005096695247414077_f64;
    q = q * t + (-0.0011927539116998527_f64);
    q = q * t + 0.0028905103307415424_f64;
    q = q * t + (-0.007385551028674025_f64);
    q = q * t + 0.020580808427784546_f64;
    q = q * t + (-0.06735230105319809_f64);
    q = q * t + 0.3224670334241132_f64;
    q
}

#[inline(always)]
fn stirling_tail(z: f64) -> f64 {
    let mut q: f64 = -0.0016309293409657527_f64;
    q = q * z + 0.0008363399189962821_f64;
    q = q * z + (-0.00059518755745034_f64);
    q = q * z + 0.0007936505586430196_f64;
    q = q * z + (-0.0027777777772877554_f64);
    q * z + 0.08333333333333297_f64
}

#[inline(always)]
fn digamma_tail(z: f64) -> f64 {
    let mut q: f64 = -0.4432598039215686_f64;
    q = q * z + 0.08333333333333333_f64;
    q = q * z + (-0.021092796092796094_f64);
    q = q * z + 0.007575757575757576_f64;
    q = q * z + (-0.004166666666666667_f64);
    q = q * z + 0.003968253968253968_f64;
    q = q * z + (-0.008333333333333333_f64);
    q = q * z + 0.08333333333333333_f64;
    q * z
}

#[inline(always)]
fn are_numbers(a: f64, b: f64) -> bool {
    larger(magnitude_bits(a), magnitude_bits(b)) <= 0x7ff0000000000000_u64
}

#[inline(always)]
fn is_inf(x: f64) -> bool {
    magnitude_bits(x) == 0x7ff0000000000000_u64
}

#[inline(always)]
fn inf(sign_of: f64) -> f64 {
    f64::from_bits((sign_of.to_bits() & 0x8000000000000000_u64) | 0x7ff0000000000000_u64)
}

#[inline(always)]
fn eq(a: f64, b: f64) -> bool {
    (a == b) & are_numbers(a, b)
}

#[inline(always)]
fn greater(a: f64, b: f64) -> f64 {
    let either = bits(a) | bits(b);
    let both = bits(a) & bits(b);
    f64::from_bits(select(bits(larger(a, b)), both, (either & 0x7fffffffffffffff_u64) == 0_u64))
}

#[inline(always)]
fn max(a: f64, b: f64) -> f64 {
    select(select(greater(a, b), b, b.is_nan()), a, a.is_nan())
}

#[inline(always)]
fn fraction(x: f64) -> f64 {
    x - x.floor()
}

#[inline(always)]
fn signbit(x: f64) -> bool {
    (bits(x) & 0x8000000000000000_u64) != 0_u64
}

#[inline(always)]
pub(in crate::cpu) fn exp(x: f64) -> f64 {
    exp_scaled(x, 0_i32)
}

#[inline(always)]
fn log_edges(value: f64, x: f64) -> f64 {
    let bits2 = bits(x);
    let regular = bits2.wrapping_sub(1_u64) < 0x7ff0000000000000_u64.wrapping_sub(1_u64);
    let infinite = select(bits2 | 0x7ff8000000000000_u64, bits2, bits2 == 0x7ff0000000000000_u64);
    let edge = select(infinite, bits2 | (0x7ff0000000000000_u64 | 0x8000000000000000_u64), magnitude_bits(x) == 0_u64);
    select(f64::from_bits(edge), value, regular)
}

#[inline(always)]
pub(in crate::cpu) fn log(x: f64) -> f64 {
    let split2 = split(x);
    let half_square = (0.5_f64 * split2.f) * split2.f;
    let tail = log_tail(split2.f, half_square);
    let rest = ((-half_square) + (split2.k * 1.9082149292705877e-10_f64 + tail)) + split2.f;
    log_edges(split2.k * 0.6931471803691238_f64 + rest, x)
}

#[inline(always)]
pub(in crate::cpu) fn log2(x: f64) -> f64 {
    let split2 = split(x);
    let half_square = (0.5_f64 * split2.f) * split2.f;
    let high = cut((-half_square) + split2.f);
    let low = log_tail(split2.f, half_square) + ((-half_square) + (split2.f - high));
    let rest = (low + high) * 1.6751713164886512e-10_f64 + (low * 1.4426950407214463_f64);
    log_edges((high * 1.4426950407214463_f64 + rest) + split2.k, x)
}

#[inline(always)]
pub(in crate::cpu) fn log10(x: f64) -> f64 {
    let split2 = split(x);
    let half_square = (0.5_f64 * split2.f) * split2.f;
    let high = cut((-half_square) + split2.f);
    let low = log_tail(split2.f, half_square) + ((-half_square) + (split2.f - high));
    let rest = (low + high) * 2.5082946711645275e-11_f64 + (low * 0.4342944818781689_f64);
    let fraction2 = high * 0.4342944818781689_f64 + (split2.k * 3.694239077158931e-13_f64 + rest);
    log_edges(split2.k * 0.30102999566361177_f64 + fraction2, x)
}

#[inline(always)]
pub(in crate::cpu) fn log1p(x: f64) -> f64 {
    let u = 1.0_f64 + x;
    let large = u >= 2.0_f64;
    let lost = (select(x, 1.0_f64, large) - (u - select(1.0_f64, x, large))) / u;
    let near = (x > (-0.29289323_f64)) & (x < 0.41421354_f64);
    let split2 = split(u);
    let f = select(split2.f, x, near);
    let k = select(split2.k, 0.0_f64, near);
    let c = select(lost, 0.0_f64, near | (!(u < 1e18_f64)));
    let half_square = (0.5_f64 * f) * f;
    let rest = ((-half_square) + (log_tail(f, half_square) + (k * 1.9082149292705877e-10_f64 + c))) + f;
    let value = k * 0.6931471803691238_f64 + rest;
    select(log_edges(value, select(u, x, x.is_nan())), x, x.abs() < 5.551115123125783e-17_f64)
}

#[inline(always)]
pub(in crate::cpu) fn sinh(x: f64) -> f64 {
    let magnitude = x.abs();
    let small = sinh_of_unit(smaller(magnitude, 1.0_f64));
    let half = exp_scaled(magnitude, -1_i32);
    let large = half + (-(0.25_f64 / half));
    let value = select(small, large, magnitude >= 1.0_f64).copysign(x);
    select(value, x, x.is_nan() | (magnitude < 3.725290298461914e-9_f64))
}

#[inline(always)]
pub(in crate::cpu) fn cosh(x: f64) -> f64 {
    let half = exp_scaled(x.abs(), -1_i32);
    select(half + (0.25_f64 / half), x, x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    let bounded = smaller(magnitude, 268435456.0_f64);
    let small = log1p(bounded + ((bounded * bounded) / (1.0_f64 + (bounded * bounded + 1.0_f64).sqrt())));
    let large = log(magnitude) + 0.6931471805599453_f64;
    let value = select(small, large, magnitude > 268435456.0_f64).copysign(x);
    select(value, x, x.is_nan() | (magnitude < 3.725290298461914e-9_f64))
}

#[inline(always)]
pub(in crate::cpu) fn acosh(x: f64) -> f64 {
    let t = smaller(larger(x, 1.0_f64), 268435456.0_f64) - 1.0_f64;
    let small = log1p(t + (t * t + (2.0_f64 * t)).sqrt());
    let large = log(x) + 0.6931471805599453_f64;
    let value = select(small, large, x > 268435456.0_f64);
    select(value, nan(x), (x < 1.0_f64) | x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn atanh(x: f64) -> f64 {
    let magnitude = x.abs();
    let bounded = smaller(magnitude, 1.0_f64);
    let twice = 2.0_f64 * bounded;
    let inner = select(twice / (1.0_f64 - bounded), twice + ((twice * bounded) / (1.0_f64 - bounded)), bounded < 0.5_f64);
    let finite = 0.5_f64 * log1p(inner);
    let value = select(finite, inf(1.0_f64), bounded == 1.0_f64).copysign(x);
    let small = magnitude < 3.725290298461914e-9_f64;
    select(select(value, x, small), nan(x), (magnitude > 1.0_f64) | x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn sigmoid(x: f64) -> f64 {
    1.0_f64 / (exp(-x) + 1.0_f64)
}

#[inline(always)]
pub(in crate::cpu) fn logit(x: f64) -> f64 {
    let near = (x - 0.5_f64).abs() < 0.25_f64;
    let middle = log1p(((2.0_f64 * x) - 1.0_f64) / (1.0_f64 - x));
    select(log(x / (1.0_f64 - x)), middle, near)
}

#[inline(always)]
pub(in crate::cpu) fn xlogy(x: f64, y: f64) -> f64 {
    let none = (magnitude_bits(x) == 0_u64) & (!y.is_nan());
    select(x * log(y), 0.0_f64, none)
}

#[inline(always)]
pub(in crate::cpu) fn logaddexp(x: f64, y: f64) -> f64 {
    let apart = select(-(x - y).abs(), 0.0_f64, eq(x, y));
    let sum = max(x, y) + log1p(select(exp(apart), 0.0_f64, apart < (-708.0_f64)));
    select(select(sum, x, x.is_nan()), y, y.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn to_degrees(x: f64) -> f64 {
    x * 57.29577951308232_f64
}

#[inline(always)]
pub(in crate::cpu) fn to_radians(x: f64) -> f64 {
    x * 0.017453292519943295_f64
}

#[inline(always)]
fn with_sign(value: f64, x: f64) -> f64 {
    f64::from_bits(bits(value) ^ (bits(x) & 0x8000000000000000_u64))
}

#[inline(always)]
pub(in crate::cpu) fn sin(x: f64) -> f64 {
    with_sign(sine_of_reduced(reduce(x.abs())), x)
}

#[inline(always)]
pub(in crate::cpu) fn cos(x: f64) -> f64 {
    sine_of_reduced(turned(reduce(x.abs())))
}

#[inline(always)]
fn tan_of_reduced(reduced: Reduced, x: f64) -> f64 {
    with_sign(sine_of_reduced(reduced) / sine_of_reduced(turned(reduced)), x)
}

#[inline(always)]
pub(in crate::cpu) fn tan(x: f64) -> f64 {
    tan_of_reduced(reduce(x.abs()), x)
}

#[inline(always)]
pub(in crate::cpu) fn near_sin(x: f64) -> f64 {
    with_sign(sine_of_reduced(reduce_small(x.abs())), x)
}

#[inline(always)]
pub(in crate::cpu) fn near_cos(x: f64) -> f64 {
    sine_of_reduced(turned(reduce_small(x.abs())))
}

#[inline(always)]
pub(in crate::cpu) fn near_tan(x: f64) -> f64 {
    tan_of_reduced(reduce_small(x.abs()), x)
}

#[inline(always)]
fn arcsine_of_root(z: f64) -> Arcsine {
    let s = z.sqrt();
    let high = cut(s);
    let c = ((-high) * high + z) / larger(s + high, 1e-30_f64);
    Arcsine { high: high, low: asin_tail(z) * s + c }
}

#[inline(always)]
pub(in crate::cpu) fn asin(x: f64) -> f64 {
    let magnitude = x.abs();
    let small = x * asin_tail(smaller(magnitude * magnitude, 0.25_f64)) + x;
    let root2 = arcsine_of_root(0.5_f64 * (1.0_f64 - smaller(magnitude, 1.0_f64)));
    let rest = (2.0_f64 * root2.low) - 6.123233995736766e-17_f64;
    let large = 0.7853981633974483_f64 - (rest - (0.7853981633974483_f64 - (2.0_f64 * root2.high)));
    let value = select(small, large.copysign(x), magnitude >= 0.5_f64);
    let tiny = magnitude < 7.450580596923828e-9_f64;
    select(select(value, x, tiny), nan(x), (magnitude > 1.0_f64) | x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn acos(x: f64) -> f64 {
    let magnitude = x.abs();
    let z = smaller(magnitude * magnitude, 0.25_f64);
    let middle = 1.5707963267948966_f64 - (x - ((-x) * asin_tail(z) + 6.123233995736766e-17_f64));
    let root2 = arcsine_of_root(0.5_f64 * (1.0_f64 - smaller(magnitude, 1.0_f64)));
    let right = 2.0_f64 * (root2.high + root2.low);
    let left = 2.0_f64 * (1.5707963267948966_f64 - (root2.high + (root2.low - 6.123233995736766e-17_f64)));
    let outer = select(right, left, x < 0.0_f64);
    let value = select(middle, outer, magnitude >= 0.5_f64);
    select(value, nan(x), (magnitude > 1.0_f64) | x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn atan(x: f64) -> f64 {
    let itself = x.is_nan() | (x.abs() < 7.450580596923828e-9_f64);
    select(atan_positive(x.abs()).copysign(x), x, itself)
}

#[inline(always)]
pub(in crate::cpu) fn atan2(y: f64, x: f64) -> f64 {
    let ay = magnitude_bits(y);
    let ax = magnitude_bits(x);
    let infinite = 0x7ff0000000000000_u64;
    let both = (ay == infinite) & (ax == infinite);
    let ratio = select(y.abs() / x.abs(), 1.0_f64, both);
    let first = select(atan_positive(ratio), 0.0_f64, ay == 0_u64);
    let left = signbit(x);
    let turned2 = select(first, 3.141592653589793_f64 - (first - 1.2246467991473532e-16_f64), left);
    select(turned2.copysign(y), nan(x), (ay > infinite) | (ax > infinite))
}

#[inline(always)]
fn bounded_exponent(y: f64) -> f64 {
    smaller(larger(y, -1.8446744073709552e19_f64), 1.8446744073709552e19_f64)
}

#[inline(always)]
fn pow_edges(x: f64, y: f64, positive: f64) -> f64 {
    let ax = magnitude_bits(x);
    let ay = magnitude_bits(y);
    let bounded = bounded_exponent(y);
    let fractional = fraction(bounded) != 0.0_f64;
    let odd = (!fractional) & (fraction(0.5_f64 * bounded) == 0.5_f64);
    let negative = signbit(x);
    let zero = ax == 0_u64;
    let ends = zero | (ax == 0x7ff0000000000000_u64);
    let limit = f64::from_bits(select(0x7ff0000000000000_u64, 0_u64, zero != signbit(y)));
    let magnitude = select(positive, limit, ends);
    let power = select(magnitude, -magnitude, negative & odd);
    let root2 = negative & fractional;
    let undefined = (root2 & (!ends)) | (larger(ax, ay) > 0x7ff0000000000000_u64);
    let one = (ay == 0_u64) | (bits(x) == 0x3ff0000000000000_u64);
    select(select(power, nan(0.0_f64), undefined), 1.0_f64, one)
}

#[inline(always)]
pub(in crate::cpu) fn pow(x: f64, y: f64) -> f64 {
    let positive = f64::from_bits(magnitude_bits(x));
    pow_edges(x, y, pow_positive(positive, bounded_exponent(y)))
}

#[inline(always)]
pub(in crate::cpu) fn rsqrt(x: f64) -> f64 {
    1.0_f64 / select(x.sqrt(), x.sqrt(), x > 0.0_f64)
}

#[inline(always)]
pub(in crate::cpu) fn hypot(a: f64, b: f64) -> f64 {
    let x = magnitude_bits(a);
    let y = magnitude_bits(b);
    let high = f64::from_bits(larger(x, y));
    let low = f64::from_bits(smaller(x, y));
    let ratio = low / high;
    let value = high * (ratio * ratio + 1.0_f64).sqrt();
    let finite = select(value, high, smaller(x, y) == 0_u64);
    let infinite = (x == 0x7ff0000000000000_u64) | (y == 0x7ff0000000000000_u64);
    let nan2 = (x > 0x7ff0000000000000_u64) | (y > 0x7ff0000000000000_u64);
    select(select(finite, nan(a), nan2), inf(1.0_f64), infinite)
}

#[inline(always)]
pub(in crate::cpu) fn erfc(x: f64) -> f64 {
    let magnitude = x.abs();
    let z = smaller(magnitude, 0.84375_f64);
    let y = erfc_near(z * z);
    let near = select(0.5_f64 - (x * y + (x - 0.5_f64)), 1.0_f64 - (x * y + x), x < 0.25_f64);
    let r = erfc_around(smaller(larger(magnitude, 0.84375_f64), 1.25_f64) - 1.0_f64);
    let around = select((1.0_f64 - 0.8450629115104675_f64) - r, 1.0_f64 + (0.8450629115104675_f64 + r), x < 0.0_f64);
    let power = erfc_far(smaller(larger(magnitude, 1.25_f64), 28.0_f64));
    let far = select(power, 2.0_f64 - power, x < 0.0_f64);
    let inner = select(around, near, magnitude < 0.84375_f64);
    let value = select(inner, far, magnitude >= 1.25_f64);
    select(value, x, x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn lgamma(x: f64) -> f64 {
    let mut product: f64 = 1.0_f64;
    let mut rest: f64;
    let mut i: i32 = 2_i32;
    let y = x.abs();
    let low = y < 0.5_f64;
    let near_one = (!low) & (y < 1.5_f64);
    let large = y >= 20.0_f64;
    let shifts = !((low | near_one) | large);
    rest = y;
    loop {
        if i < 20_i32 {
        } else {
            break;
        }
        let above = (rest >= 2.5_f64) & shifts;
        rest = select(rest, rest - 1.0_f64, above);
        product = select(product, product * rest, above);
        i = i.wrapping_add(1_i32);
    }
    let t = select(select(select(rest - 2.0_f64, y - 1.0_f64, near_one), y, low), 0.0_f64, large);
    let around = t * (t * lgamma_tail(t) + 0.42278433509846713_f64);
    let logarithm = log(select(select(product, y * (1.0_f64 + y), low), y, large));
    let shifted = around + select(logarithm, -logarithm, low);
    let inverse = 1.0_f64 / y;
    let series = (y - 0.5_f64) * (logarithm - 1.0_f64) + (inverse * stirling_tail(inverse * inverse) + 0.4189385332046727_f64);
    let positive = select(select(shifted, around + (-log1p(t)), near_one), series, large);
    let r = y - y.round_ties_even();
    let divisor = select(y, y * product, shifts) * near_sin(3.141592653589793_f64 * r).abs();
    let reflected = log(3.141592653589793_f64 / divisor) - select(positive, around, shifts);
    let integer = (r == 0.0_f64) | is_inf(x);
    let negative = select(reflected, inf(1.0_f64), integer);
    let below = (x < 0.0_f64) & (y >= 5.551115123125783e-17_f64);
    select(select(positive, negative, below), x, x.is_nan())
}

#[inline(always)]
pub(in crate::cpu) fn digamma(x: f64) -> f64 {
    let mut z: f64;
    let mut sum: f64 = 0.0_f64;
    let mut i: i32 = 1_i32;
    z = select(x, 1.0_f64 - x, x < 0.0_f64);
    let begins = z < 10.0_f64;
    let first = select(0.0_f64, 1.0_f64 / z, begins);
    z = select(z, z + 1.0_f64, begins);
    loop {
        if i < 10_i32 {
        } else {
            break;
        }
        let below = z < 10.0_f64;
        sum = select(sum, sum - (1.0_f64 / z), below);
        z = select(z, z + 1.0_f64, below);
        i = i.wrapping_add(1_i32);
    }
    let positive = (((-digamma_tail(1.0_f64 / (z * z))) + (log(z) - (0.5_f64 / z))) + sum) - first;
    let r = x - x.round_ties_even();
    let reflected = positive - (3.141592653589793_f64 / near_tan(3.141592653589793_f64 * r));
    let undefined = (r == 0.0_f64) | is_inf(x);
    let negative = select(reflected, nan(x), undefined);
    let value = select(positive, negative, x < 0.0_f64);
    let zero = magnitude_bits(x) == 0_u64;
    select(select(value, inf(-x), zero), x, x.is_nan())
}
