// Exponential and logarithm, and what is built on them. Builtins are not used: drivers miss NaN,
// infinities and 2^-11 and more of the value.

// 2^k for k in -252..=254, as two factors of one half each, so that neither leaves the range.
fn scale_f32(x: vec4<f32>, k: vec4<i32>) -> vec4<f32> {
    let half = k >> vec4<u32>(1u);
    let rest = k - half;
    let first = bitcast<vec4<f32>>((half + vec4<i32>(127)) << vec4<u32>(23u));
    let second = bitcast<vec4<f32>>((rest + vec4<i32>(127)) << vec4<u32>(23u));
    return x * first * second;
}

// e^x = 2^k e^r with |r| <= ln(2) / 2; polynomial of Cephes (Moshier, expf.c), r in two parts.
fn exp_f32(x: vec4<f32>) -> vec4<f32> {
    // Beyond these e^x is 0 and infinite.
    let bounded = clamp(x, vec4<f32>(-105.0), vec4<f32>(90.0));
    let k = round(bounded * 1.44269504);
    let high = bounded - k * 0.693145751953125;
    let low = k * 1.42860677e-6;
    let r = high - low;
    var q = vec4<f32>(1.9875691500e-4);
    q = q * r + 1.3981999507e-3;
    q = q * r + 8.3334519073e-3;
    q = q * r + 4.1665795894e-2;
    q = q * r + 1.6666665459e-1;
    q = q * r + 5.0000001201e-1;
    let power = 1.0 + ((q * r * r - low) + high);
    return select(scale_f32(power, vec4<i32>(k)), x, is_nan_f32(x));
}

// ln(x) = k ln(2) + ln(1 + f) with 1 + f in sqrt(1/2)..sqrt(2); polynomial of FreeBSD e_logf.c
// (Sun Microsystems, 1993), which bounds its error by 1 ulp.
fn log_f32(x: vec4<f32>) -> vec4<f32> {
    let subnormal = magnitude_bits_f32(x) < vec4<u32>(0x00800000u);
    let normal = select(x, x * 33554432.0, subnormal);
    let bits = bits_f32(normal) + vec4<u32>(0x3f800000u - 0x3f3504f3u);
    let k = vec4<f32>(vec4<i32>(bits >> vec4<u32>(23u)) - select(vec4<i32>(127), vec4<i32>(152), subnormal));
    let f = bitcast<vec4<f32>>((bits & vec4<u32>(0x007fffffu)) + vec4<u32>(0x3f3504f3u)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (0.40000972152 + w * 0.24279078841);
    let odd = z * (0.66666662693 + w * 0.28498786688);
    let half_square = 0.5 * f * f;
    let value = s * (half_square + even + odd) + k * 9.0580006145e-6 - half_square + f + k * 0.69313812256;
    let special = select(value, inf_f32(vec4<f32>(-1.0)), magnitude_bits_f32(x) == vec4<u32>(0u));
    let infinite = bits_f32(x) == vec4<u32>(0x7f800000u);
    let negative = bits_f32(x) > vec4<u32>(0x80000000u);
    return select(select(special, x, infinite | is_nan_f32(x)), nan_f32(x), negative & !is_nan_f32(x));
}

// Polynomial of Cephes (Moshier, tanhf.c) below 0.625, 1 - 2 / (e^2x + 1) above.
fn tanh_f32(x: vec4<f32>) -> vec4<f32> {
    let z = x * x;
    var q = vec4<f32>(-5.70498872745e-3);
    q = q * z + 2.06390887954e-2;
    q = q * z - 5.37397155531e-2;
    q = q * z + 1.33314422036e-1;
    q = q * z - 3.33332819422e-1;
    let small = q * z * x + x;
    let magnitude = abs(x);
    let large = copysign_f32(1.0 - 2.0 / (exp_f32(magnitude + magnitude) + 1.0), x);
    return select(select(small, large, magnitude >= vec4<f32>(0.625)), x, is_nan_f32(x) | (magnitude_bits_f32(x) == vec4<u32>(0u)));
}

fn sigmoid_f32(x: vec4<f32>) -> vec4<f32> {
    return 1.0 / (1.0 + exp_f32(-x));
}
