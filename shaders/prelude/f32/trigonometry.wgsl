// Reduction and polynomials of f32 for trigonometry.

// Word `i` of 1 / (2 pi), whose word 0 has the first 32 bits behind the point.
fn word_of_inverse_tau(i: vec4<u32>) -> vec4<u32> {
    var word = vec4<u32>(0x28be60dbu);
    word = select(word, vec4<u32>(0x9391054au), i == vec4<u32>(1u));
    word = select(word, vec4<u32>(0x7f09d5f4u), i == vec4<u32>(2u));
    word = select(word, vec4<u32>(0x7d4d3770u), i == vec4<u32>(3u));
    word = select(word, vec4<u32>(0x36d8a566u), i == vec4<u32>(4u));
    word = select(word, vec4<u32>(0x4f10e410u), i == vec4<u32>(5u));
    return select(word, vec4<u32>(0x7f9458eau), i == vec4<u32>(6u));
}

// A quadrant and what remains of an angle.
struct Reduced_f32 {
    r: vec4<f32>,
    quadrant: vec4<u32>,
}

const HALF_PI_A: f32 = 1.5703125;

const HALF_PI_B: f32 = 0.0004837512969970703;

const HALF_PI_C: f32 = 7.549533620476723e-08;

const HALF_PI_D: f32 = 2.5633440682570896e-12;

// Subtracts k pi/2 in four parts, of which the first three have 12 bits, so that their products
// with k < 2^12 are exact (Cody and Waite, Software Manual for the Elementary Functions, 1980).
fn reduce_small_f32(x: vec4<f32>) -> Reduced_f32 {
    let k = round(x * 0.636619772);
    let r = opaque_f32(opaque_f32(opaque_f32(x - k * HALF_PI_A) - k * HALF_PI_B) - k * HALF_PI_C) - k * HALF_PI_D;
    return Reduced_f32(r, bitcast<vec4<u32>>(vec4<i32>(k)));
}

// Multiplies the significand by the bits of 2/pi that matter for its exponent, in 2.62 fixed
// point (Payne and Hanek, Radian reduction for trigonometric functions, 1983).
fn reduce_large_f32(x: vec4<f32>) -> Reduced_f32 {
    let bits = bits_f32(x);
    let significand = (bits << vec4<u32>(8u)) | vec4<u32>(0x80000000u);
    let e = ((bits >> vec4<u32>(23u)) & vec4<u32>(255u)) - vec4<u32>(126u);
    let i = e >> vec4<u32>(5u);
    let up = e & vec4<u32>(31u);
    let down = (vec4<u32>(32u) - up) & vec4<u32>(31u);
    let w0 = select(word_of_inverse_tau(i - 1u), vec4<u32>(0u), i == vec4<u32>(0u));
    let w1 = word_of_inverse_tau(i);
    let w2 = word_of_inverse_tau(i + 1u);
    let w3 = word_of_inverse_tau(i + 2u);
    let aligned = up == vec4<u32>(0u);
    let high = select((w0 << up) | (w1 >> down), w0, aligned);
    let middle = select((w1 << up) | (w2 >> down), w1, aligned);
    let low = select((w2 << up) | (w3 >> down), w2, aligned);
    // The 64 bits `top:bottom` of significand * high:middle:low that lie around the point.
    let carried = multiply_high_u32(significand, low);
    let bottom = significand * middle + carried;
    let carry = select(vec4<u32>(0u), vec4<u32>(1u), bottom < carried);
    let top = significand * high + multiply_high_u32(significand, middle) + carry;
    // Round to the nearest quadrant; what remains is a signed fraction of it.
    let fraction_top = top & vec4<u32>(0x3fffffffu);
    let above_half = fraction_top >= vec4<u32>(0x20000000u);
    let quadrant = (top >> vec4<u32>(30u)) + select(vec4<u32>(0u), vec4<u32>(1u), above_half);
    let negated_bottom = ~bottom + 1u;
    let borrow = select(vec4<u32>(0u), vec4<u32>(1u), bottom != vec4<u32>(0u));
    let high_word = select(fraction_top, vec4<u32>(0x40000000u) - fraction_top - borrow, above_half);
    let low_word = select(bottom, negated_bottom, above_half);
    // The leading 32 bits of the fraction, times pi/2 as 1.31 fixed point.
    let empty = high_word == vec4<u32>(0u);
    let lead = countLeadingZeros(select(high_word, low_word, empty));
    let spill = (vec4<u32>(32u) - lead) & vec4<u32>(31u);
    let both = (high_word << lead) | select(low_word >> spill, vec4<u32>(0u), lead == vec4<u32>(0u));
    let mantissa = select(both, low_word << (lead & vec4<u32>(31u)), empty);
    let zeros = lead + select(vec4<u32>(0u), vec4<u32>(32u), empty);
    let product = multiply_high_u32(mantissa, vec4<u32>(0xc90fdaa2u));
    // mantissa 2^-30-zeros of a quadrant: product 2^(1 - 30 - zeros) = value 2^(-29 - zeros).
    let scale = bitcast<vec4<f32>>((vec4<u32>(127u - 29u) - zeros) << vec4<u32>(23u));
    let magnitude = vec4<f32>(product) * scale;
    let negative = above_half != (x < vec4<f32>(0.0));
    let turned = select(quadrant, ~quadrant + 1u, x < vec4<f32>(0.0));
    return Reduced_f32(select(magnitude, -magnitude, negative), turned);
}

// Sine of quadrant `quadrant` plus r; minimax polynomials of N. Juffa (sinf and cosf, 2015).
fn sine_of_reduced_f32(reduced: Reduced_f32) -> vec4<f32> {
    let r = reduced.r;
    let s = r * r;
    var odd = vec4<f32>(2.86567956e-6);
    odd = odd * s - 1.98559923e-4;
    odd = odd * s + 8.33338592e-3;
    odd = odd * s - 1.66666672e-1;
    let sine = odd * (r * s) + r;
    var even = vec4<f32>(2.44677067e-5);
    even = even * s - 1.38877297e-3;
    even = even * s + 4.16666567e-2;
    let cosine = 1.0 + opaque_f32(even * s * s - 0.5 * s);
    let value = select(sine, cosine, (reduced.quadrant & vec4<u32>(1u)) != vec4<u32>(0u));
    return select(value, -value, (reduced.quadrant & vec4<u32>(2u)) != vec4<u32>(0u));
}

fn reduce_f32(x: vec4<f32>) -> Reduced_f32 {
    let magnitude = abs(x);
    var reduced = reduce_small_f32(select(x, vec4<f32>(0.0), magnitude > vec4<f32>(6000.0)));
    let large = magnitude > vec4<f32>(6000.0);
    if (any(large)) {
        let slow = reduce_large_f32(x);
        reduced = Reduced_f32(
            select(reduced.r, slow.r, large),
            select(reduced.quadrant, slow.quadrant, large),
        );
    }
    return reduced;
}

// The same angle a quadrant further.
fn turned_f32(reduced: Reduced_f32) -> Reduced_f32 {
    return Reduced_f32(reduced.r, reduced.quadrant + 1u);
}

// (asin(sqrt(z)) - sqrt(z)) / sqrt(z) for z in 0..1/4; rational function of FreeBSD e_asinf.c.
fn asin_tail_f32(z: vec4<f32>) -> vec4<f32> {
    let above = z * (1.6666586697e-1 + z * (-4.2743422091e-2 + z * -8.6563630030e-3));
    return above / (1.0 + z * -7.0662963390e-1);
}

// atan of a number >= 0; polynomial of Cephes (Moshier, atanf.c), with pi/4 and pi/2 in two parts.
fn atan_positive_f32(x: vec4<f32>) -> vec4<f32> {
    let large = x > vec4<f32>(2.414213562373095);
    let middle = (x > vec4<f32>(0.4142135623730950)) & !large;
    let r = select(select(x, (x - 1.0) / (x + 1.0), middle), -1.0 / x, large);
    let high = select(select(vec4<f32>(0.0), vec4<f32>(0.785398185253143), middle), vec4<f32>(1.57079637050628662), large);
    let low = select(select(vec4<f32>(0.0), vec4<f32>(-2.18556950009312142e-8), middle), vec4<f32>(-4.37113900018624283e-8), large);
    let z = r * r;
    var q = vec4<f32>(8.05374449538e-2);
    q = q * z - 1.38776856032e-1;
    q = q * z + 1.99777106478e-1;
    q = q * z - 3.33329491539e-1;
    return high + opaque_f32((q * z * r + low) + r);
}

// Below, asin(x) and atan(x) are x.
const TINY_ANGLE_f32: f32 = 2.4414062e-4;

const PI_f32: f32 = 3.14159274101257324;

// What is left of pi.
const PI_LOW_f32: f32 = -8.74227765734758577e-8;

const QUARTER_PI_f32: f32 = 0.785398185253143;

const HALF_PI_LOW_f32: f32 = -4.37113900018624283e-8;

// pi/2 in two parts, the high one rounded down.
const ACOS_f32: f32 = 1.5707962513;

const ACOS_LOW_f32: f32 = 7.5497894159e-8;
