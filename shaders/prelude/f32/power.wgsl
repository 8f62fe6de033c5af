// Powers and roots of f32.

// Beyond, a power of a number other than 1 is 0 or infinite.
const LARGE_EXPONENT_f32: f32 = 4294967296.0;

// x^y for finite x > 0 and |y| <= LARGE_EXPONENT. x = 2^n (1 + f), and log2(1 + f) = s c(s^2) with s = f / (2 + f). The
// minimax polynomial c begins with 2 / ln(2). The logarithm is computed in two parts, which multiply y.
fn pow_positive_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let split = split_f32(x);
    let inverse = quotient_f32(vec4(1.0), 2.0 + split.f);
    let s = times_f32(split.f, inverse);
    let s_low = times_f32(residue_f32(-s, split.f, opaque_f32(split.f - 2.0 * s)), inverse);
    let z = times_f32(s, s);
    var q = vec4<f32>(4.309967458e-1);
    q = mul_add_f32(q, z, vec4(5.767526627e-1));
    q = mul_add_f32(q, z, vec4(9.617983103e-1));
    let rest = opaque_f32(mul_add_f32(q, z, vec4(3.8519260670e-8)));
    let c = opaque_f32(2.8853900433 + rest);
    let c_low = opaque_f32(2.8853900433 - c) + rest;
    let product = times_f32(s, c);
    // The rounding error of s, times the slope c + 2 rest.
    let product_low = opaque_f32(mul_add_f32(s_low, c + 2.0 * rest, opaque_f32(mul_add_f32(s, c_low, residue_f32(s, c, -product)))));
    let log = opaque_f32(plus_f32(product, split.k));
    let log_low = product_low - opaque_f32(plus_f32(-product, opaque_f32(log - split.k)));
    let e = times_f32(y, log);
    let e_low = mul_add_f32(y, log_low, residue_f32(y, log, -e));
    // If it is not small, the sum is far out of range.
    return exp2_of_sum_f32(e, clamp(opaque_f32(e_low), vec4<f32>(-1.0e-3), vec4<f32>(1.0e-3)));
}

// A guess by a third of the exponent, then Halley's method twice. Before the second iteration, the guess is
// cut to 12 bits, so that its square is exact (FreeBSD s_cbrt.c, K. C. Ng and D. H. Bailey).
fn cbrt_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = magnitude_bits_f32(x);
    // Near the ends of the range, intermediate values would leave it. The root of 2^96 x is 2^32 times the root
    // of x. A subnormal is taken as the integer 2^150 x, whose root is 2^50 times the root of x.
    let high = magnitude > vec4<u32>(0x6f800000u);
    let low = magnitude < vec4<u32>(0x0f800000u);
    let subnormal = magnitude < vec4<u32>(0x00800000u);
    let scale = select(select(vec4<f32>(1.0), vec4<f32>(7.9228162514264338e28), low), vec4<f32>(1.2621774483536189e-29), high);
    let unscale = select(select(vec4<f32>(1.0), vec4<f32>(2.3283064365386963e-10), low), vec4<f32>(4294967296.0), high);
    let a = select(times_f32(bitcast<vec4<f32>>(magnitude), scale), vec4<f32>(magnitude) * 2.0, subnormal);
    let guess = bitcast<vec4<f32>>(bits_f32(a) / vec4<u32>(3u) + vec4<u32>(709958130u));
    let cube = times_f32(times_f32(guess, guess), guess);
    let rough = times_f32(guess, quotient_f32(plus_f32(cube, 2.0 * a), plus_f32(cube, opaque_f32(plus_f32(cube, a)))));
    let t = bitcast<vec4<f32>>((bits_f32(rough) + vec4<u32>(0x800u)) & vec4<u32>(0xfffff000u));
    let r = quotient_f32(a, times_f32(t, t));
    let value = copysign_f32(times_f32(mul_add_f32(t, quotient_f32(r - t, 2.0 * t + r), t), select(unscale, vec4<f32>(8.8817841970012523e-16), subnormal)), x);
    let itself = (magnitude >= vec4<u32>(0x7f800000u)) | (magnitude == vec4<u32>(0u));
    return select(value, x, itself);
}
