// Reduction and polynomials of f32 for trigonometry.

// A quadrant and the rest of an angle.
struct Reduced_f32 {
    r: vec4<f32>,
    quadrant: vec4<u32>,
}

const HALF_PI_A: f32 = 1.5703125;

const HALF_PI_B: f32 = 0.0004837512969970703;

const HALF_PI_C: f32 = 7.549533620476723e-08;

const HALF_PI_D: f32 = 2.5633440682570896e-12;

// Subtracts k pi/2 in four parts. The first three have 12 bits, so their products with k < 2^12 are exact (Cody
// and Waite, Software Manual for the Elementary Functions, 1980). The sum with 2^23 has k in its low bits.
fn reduce_small_f32(x: vec4<f32>) -> Reduced_f32 {
    let k = round(times_f32(x, vec4(0.636619772)));
    let a = opaque_f32(mul_add_f32(k, vec4(-HALF_PI_A), x));
    let b = opaque_f32(mul_add_f32(k, vec4(-HALF_PI_B), a));
    let c = opaque_f32(mul_add_f32(k, vec4(-HALF_PI_C), b));
    let r = opaque_f32(mul_add_f32(k, vec4(-HALF_PI_D), c));
    return Reduced_f32(r, bits_f32(k + UNIT_f32));
}

// 96 bits of 2/pi, modulo 2^96, the highest first.
struct Window_f32 {
    high: u32,
    middle: u32,
    low: u32,
}

// A window that moves by a byte for every eighth exponent. Bits of the exponent select the words. An array with a computed
// index would do, but Mesa's drivers for processors compile each such index for half a second.
fn window_f32(bits: u32) -> Window_f32 {
    let by_one = (bits & 0x10000000u) != 0u;
    let by_two = (bits & 0x20000000u) != 0u;
    let a = select(0x000000a2u, 0xf9836e4eu, by_one);
    let b = select(0xf9836e4eu, 0x441529fcu, by_one);
    let c = select(0x441529fcu, 0x2757d1f5u, by_one);
    let d = select(0x2757d1f5u, 0x34ddc0dbu, by_one);
    let e = select(0x34ddc0dbu, 0x6295993cu, by_one);
    let f = select(0x6295993cu, 0x439041feu, by_one);
    let first = select(a, c, by_two);
    let second = select(b, d, by_two);
    let third = select(c, e, by_two);
    let fourth = select(d, f, by_two);
    let shift = (bits >> 23u) & 24u;
    let rest = 31u - shift;
    return Window_f32(
        (first << shift) | ((second >> 1u) >> rest),
        (second << shift) | ((third >> 1u) >> rest),
        (third << shift) | ((fourth >> 1u) >> rest),
    );
}

// A lane of a reduction.
struct Angle_f32 {
    r: f32,
    quadrant: u32,
}

// Multiplies the significand by the bits of 2/pi that matter for its exponent, in 2.62 fixed point (Payne and Hanek,
// Radian reduction for trigonometric functions, 1983). Infinity becomes NaN. It takes one lane, because few angles are
// so large, and four lanes would hold more registers for all angles.
fn reduce_large_f32(x: f32) -> Angle_f32 {
    let bits = bitcast<u32>(x);
    let window = window_f32(bits);
    let significand = ((bits & FRACTION_f32) | LEAST_f32) << ((bits >> 23u) & 7u);
    let carried = high_word_u32(significand, window.low);
    let bottom = significand * window.middle + carried;
    let carry = select(0u, 1u, bottom < carried);
    let top = significand * window.high + high_word_u32(significand, window.middle) + carry;
    // The signed rest beyond the nearest quadrant, in units of 2^-32 quadrants: twelve bits, whose product with twelve
    // bits of pi/2 is exact, and the remaining bits.
    let left = bitcast<i32>((top << 2u) | (bottom >> 30u));
    let high = ((left >> 19u) + 1) >> 1u;
    let low = f32(left - (high << 20u)) + f32((bottom & 0x3fffffffu) >> 6u) * 5.9604644775390625e-8;
    let leading = times_lane_f32(f32(high), HALF_PI_LEADING_f32);
    let trailing = times_lane_f32(f32(high), HALF_PI_TRAILING_f32) + times_lane_f32(low, HALF_PI_UNIT_f32);
    let r = leading + opaque_lane_f32(trailing);
    let nan = bits >= INFINITE_f32;
    return Angle_f32(bitcast<f32>(select(bitcast<u32>(r), QUIET_f32, nan)), (top + 0x20000000u) >> 30u);
}

// The first 12 bits of pi/2 over 2^12, the remaining bits, and pi/2 over 2^32.
const HALF_PI_LEADING_f32: f32 = 0.0003833770751953125;

const HALF_PI_TRAILING_f32: f32 = 1.1812177547199099e-07;

const HALF_PI_UNIT_f32: f32 = 3.6572953e-10;

// Sine of quadrant `quadrant` plus r, by minimax polynomials of N. Juffa (sinf and cosf, 2015). Both have the form
// b + b s (...), where b is r or 1, so a quadrant selects coefficients alone.
fn sine_of_reduced_f32(reduced: Reduced_f32) -> vec4<f32> {
    let odd = (reduced.quadrant & vec4<u32>(1u)) != vec4<u32>(0u);
    let s = times_f32(reduced.r, reduced.r);
    let b = select(reduced.r, vec4<f32>(1.0), odd);
    var q = select(vec4<f32>(2.86567956e-6), vec4<f32>(2.44677067e-5), odd);
    q = mul_add_f32(q, s, select(vec4<f32>(-1.98559923e-4), vec4<f32>(-1.38877297e-3), odd));
    q = mul_add_f32(q, s, select(vec4<f32>(8.33338592e-3), vec4<f32>(4.16666567e-2), odd));
    q = mul_add_f32(q, s, select(vec4<f32>(-1.66666672e-1), vec4<f32>(-0.5), odd));
    let value = mul_add_f32(times_f32(b, s), q, b);
    return bitcast<vec4<f32>>(bits_f32(value) ^ ((reduced.quadrant << vec4<u32>(30u)) & vec4<u32>(SIGN_f32)));
}

// The greatest angle that four parts of pi/2 reduce.
const NEAR_f32: f32 = 6000.0;

// Reduces magnitudes.
fn reduce_f32(x: vec4<f32>) -> Reduced_f32 {
    var reduced = reduce_small_f32(x);
    let large = x > vec4<f32>(NEAR_f32);
    if (any(large)) {
        if (large.x) {
            let angle = reduce_large_f32(x.x);
            reduced.r.x = angle.r;
            reduced.quadrant.x = angle.quadrant;
        }
        if (large.y) {
            let angle = reduce_large_f32(x.y);
            reduced.r.y = angle.r;
            reduced.quadrant.y = angle.quadrant;
        }
        if (large.z) {
            let angle = reduce_large_f32(x.z);
            reduced.r.z = angle.r;
            reduced.quadrant.z = angle.quadrant;
        }
        if (large.w) {
            let angle = reduce_large_f32(x.w);
            reduced.r.w = angle.r;
            reduced.quadrant.w = angle.quadrant;
        }
    }
    return reduced;
}

// The angle plus a quadrant.
fn turned_f32(reduced: Reduced_f32) -> Reduced_f32 {
    return Reduced_f32(reduced.r, reduced.quadrant + 1u);
}

// (asin(sqrt(z)) - sqrt(z)) / sqrt(z) for z in 0..1/4; rational function of FreeBSD e_asinf.c.
fn asin_tail_f32(z: vec4<f32>) -> vec4<f32> {
    let above = times_f32(z, mul_add_f32(z, mul_add_f32(z, vec4(-8.6563630030e-3), vec4(-4.2743422091e-2)), vec4(1.6666586697e-1)));
    return quotient_f32(above, mul_add_f32(z, vec4(-7.0662963390e-1), vec4(1.0)));
}

// atan of a number >= 0; polynomial of Cephes (Moshier, atanf.c), with pi/4 and pi/2 in two parts.
fn atan_positive_f32(x: vec4<f32>) -> vec4<f32> {
    let large = x > vec4<f32>(2.414213562373095);
    let middle = (x > vec4<f32>(0.4142135623730950)) & !large;
    let r = select(select(x, quotient_f32(x - 1.0, x + 1.0), middle), quotient_f32(vec4(-1.0), x), large);
    let high = select(select(vec4<f32>(0.0), vec4<f32>(0.785398185253143), middle), vec4<f32>(1.57079637050628662), large);
    let low = select(select(vec4<f32>(0.0), vec4<f32>(-2.18556950009312142e-8), middle), vec4<f32>(-4.37113900018624283e-8), large);
    let z = times_f32(r, r);
    var q = vec4<f32>(8.05374449538e-2);
    q = mul_add_f32(q, z, vec4(-1.38776856032e-1));
    q = mul_add_f32(q, z, vec4(1.99777106478e-1));
    q = mul_add_f32(q, z, vec4(-3.33329491539e-1));
    return high + opaque_f32(opaque_f32(mul_add_f32(times_f32(q, z), r, low)) + r);
}

// Below, asin(x) and atan(x) are x.
const TINY_ANGLE_f32: f32 = 2.4414062e-4;

const PI_f32: f32 = 3.14159274101257324;

// The low part of pi.
const PI_LOW_f32: f32 = -8.74227765734758577e-8;

const QUARTER_PI_f32: f32 = 0.785398185253143;

const HALF_PI_LOW_f32: f32 = -4.37113900018624283e-8;

// pi/2 in two parts, with the high part rounded down.
const ACOS_f32: f32 = 1.5707962513;

const ACOS_LOW_f32: f32 = 7.5497894159e-8;

// Degrees in a radian, and radians in a degree.
const DEGREES_f32: f32 = 57.29577951308232;

const RADIANS_f32: f32 = 0.017453292519943295;
