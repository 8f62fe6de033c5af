// Exponentials, logarithms and hyperbolics. Builtins are not used: drivers miss NaN, infinities
// and 2^-11 and more of the value.

// The same number, which no compiler can know: it keeps `(x + y) - x` from becoming `y`.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bits_f32(x) ^ vec4<u32>(p.zero));
}

// x 2^k for k in -252..=254, by two factors of one half each, so that neither leaves the range.
fn scale_f32(x: vec4<f32>, k: vec4<i32>) -> vec4<f32> {
    let half = k >> vec4<u32>(1u);
    let rest = k - half;
    let first = bitcast<vec4<f32>>((half + vec4<i32>(127)) << vec4<u32>(23u));
    let second = bitcast<vec4<f32>>((rest + vec4<i32>(127)) << vec4<u32>(23u));
    return x * first * second;
}

// e^x 2^up = 2^(k + up) e^r with |r| <= ln(2) / 2; polynomial of Cephes (Moshier, expf.c), r in two
// parts.
fn exp_scaled_f32(x: vec4<f32>, up: i32) -> vec4<f32> {
    // Beyond these e^x is 0 and infinite.
    let bounded = clamp(x, vec4<f32>(-105.0), vec4<f32>(91.0));
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
    return select(scale_f32(power, vec4<i32>(k) + up), x, is_nan_f32(x));
}

fn exp_f32(x: vec4<f32>) -> vec4<f32> {
    return exp_scaled_f32(x, 0);
}

// Polynomial of Cephes (Moshier, exp2f.c).
fn exp2_f32(x: vec4<f32>) -> vec4<f32> {
    let bounded = clamp(x, vec4<f32>(-152.0), vec4<f32>(130.0));
    let k = round(bounded);
    let r = bounded - k;
    var q = vec4<f32>(1.535336188319500e-4);
    q = q * r + 1.339887440266574e-3;
    q = q * r + 9.618437357674640e-3;
    q = q * r + 5.550332471162809e-2;
    q = q * r + 2.402264791363012e-1;
    q = q * r + 6.931472028550421e-1;
    return select(scale_f32(1.0 + q * r, vec4<i32>(k)), x, is_nan_f32(x));
}

// Polynomial of Cephes (Moshier, exp10f.c).
fn exp10_f32(x: vec4<f32>) -> vec4<f32> {
    let bounded = clamp(x, vec4<f32>(-46.0), vec4<f32>(39.0));
    let k = round(bounded * 3.32192809);
    let r = (bounded - k * 0.30078125) - k * 2.48745663981195e-4;
    var q = vec4<f32>(2.063216740311022e-1);
    q = q * r + 5.420251702225484e-1;
    q = q * r + 1.171292686296281;
    q = q * r + 2.034649854009453;
    q = q * r + 2.650948748208892;
    q = q * r + 2.302585167056758;
    return select(scale_f32(1.0 + q * r, vec4<i32>(k)), x, is_nan_f32(x));
}

// FreeBSD s_expm1f.c (Sun Microsystems, 1993), which bounds its error by 1 ulp.
fn expm1_f32(x: vec4<f32>) -> vec4<f32> {
    let bounded = clamp(x, vec4<f32>(-30.0), vec4<f32>(91.0));
    let small = abs(bounded) < vec4<f32>(0.34657359);
    let k = select(round(bounded * 1.44269502), vec4<f32>(0.0), small);
    let high = bounded - k * 0.69313812256;
    let low = k * 9.0580006145e-6;
    let r = high - low;
    let lost = (high - opaque_f32(r)) - low;
    let half = 0.5 * r;
    let square = r * half;
    let r1 = 1.0 + square * (-3.3333212137e-2 + square * 1.5807170421e-3);
    let t = 3.0 - r1 * half;
    let e = square * ((r1 - t) / (6.0 - r * t));
    let near = r - (r * e - square);
    let rest = (r * (e - lost) - lost) - square;
    let whole = vec4<i32>(k);
    let middle = (whole >= vec4<i32>(-2)) & (whole <= vec4<i32>(23));
    let inverse = scale_f32(vec4<f32>(1.0), -clamp(whole, vec4<i32>(-2), vec4<i32>(23)));
    let by_parts = scale_f32((r - rest) + (1.0 - inverse), whole);
    let outer = scale_f32((r - rest) + 1.0, whole) - 1.0;
    let far = select(outer, by_parts, middle);
    let tiny = magnitude_bits_f32(x) < vec4<u32>(0x33000000u);
    return select(select(far, near, small), x, is_nan_f32(x) | tiny);
}

// A positive number as 2^k (1 + f), with 1 + f in sqrt(1/2)..sqrt(2).
struct Split {
    f: vec4<f32>,
    k: vec4<f32>,
}

fn split_f32(x: vec4<f32>) -> Split {
    let magnitude = magnitude_bits_f32(x);
    let subnormal = magnitude < vec4<u32>(0x00800000u);
    // 2^149 x is an integer, so that nothing is flushed.
    let normal = select(x, vec4<f32>(magnitude), subnormal);
    let bits = bits_f32(normal) + vec4<u32>(0x3f800000u - 0x3f3504f3u);
    let k = vec4<i32>(bits >> vec4<u32>(23u)) - select(vec4<i32>(127), vec4<i32>(276), subnormal);
    let f = bitcast<vec4<f32>>((bits & vec4<u32>(0x007fffffu)) + vec4<u32>(0x3f3504f3u)) - 1.0;
    return Split(f, vec4<f32>(k));
}

// ln(1 + f) - f + f^2 / 2; polynomial of FreeBSD k_logf.h (Sun Microsystems, 1993).
fn log_tail_f32(f: vec4<f32>, half_square: vec4<f32>) -> vec4<f32> {
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (0.40000972152 + w * 0.24279078841);
    let odd = z * (0.66666662693 + w * 0.28498786688);
    return s * (half_square + even + odd);
}

// What every logarithm of x answers where x is no positive finite number.
fn log_edges_f32(value: vec4<f32>, x: vec4<f32>) -> vec4<f32> {
    let finite = select(value, inf_f32(vec4<f32>(-1.0)), magnitude_bits_f32(x) == vec4<u32>(0u));
    let infinite = bits_f32(x) == vec4<u32>(0x7f800000u);
    let negative = (bits_f32(x) > vec4<u32>(0x80000000u)) & !is_nan_f32(x);
    return select(select(finite, x, infinite | is_nan_f32(x)), nan_f32(x), negative);
}

// After FreeBSD e_logf.c, which bounds its error by 1 ulp.
fn log_f32(x: vec4<f32>) -> vec4<f32> {
    let split = split_f32(x);
    let half_square = 0.5 * split.f * split.f;
    let tail = log_tail_f32(split.f, half_square);
    return log_edges_f32(tail + split.k * 9.0580006145e-6 - half_square + split.f + split.k * 0.69313812256, x);
}

// After FreeBSD e_log2f.c: the logarithm in two parts, times 1 / ln(2) in two parts.
fn log2_f32(x: vec4<f32>) -> vec4<f32> {
    let split = split_f32(x);
    let half_square = 0.5 * split.f * split.f;
    let high = cut_f32(split.f - half_square);
    let low = (split.f - high) - half_square + log_tail_f32(split.f, half_square);
    let value = (low + high) * -1.7605285393e-4 + low * 1.4428710938 + high * 1.4428710938 + split.k;
    return log_edges_f32(value, x);
}

// After FreeBSD e_log10f.c.
fn log10_f32(x: vec4<f32>) -> vec4<f32> {
    let split = split_f32(x);
    let half_square = 0.5 * split.f * split.f;
    let high = cut_f32(split.f - half_square);
    let low = (split.f - high) - half_square + log_tail_f32(split.f, half_square);
    let fraction = (low + high) * -3.1689971365e-5 + low * 0.43432617188 + high * 0.43432617188;
    return log_edges_f32(split.k * 7.9034151668e-7 + fraction + split.k * 0.30102920532, x);
}

// The logarithm of u = 1 + x, with what the addition lost put back (FreeBSD s_log1pf.c).
fn log1p_f32(x: vec4<f32>) -> vec4<f32> {
    let u = opaque_f32(1.0 + x);
    let large = u >= vec4<f32>(2.0);
    let lost = select(x - (u - 1.0), 1.0 - (u - x), large) / u;
    let near = (x > vec4<f32>(-0.29289323)) & (x < vec4<f32>(0.41421354));
    let split = split_f32(u);
    let f = select(split.f, x, near);
    let k = select(split.k, vec4<f32>(0.0), near);
    let c = select(lost, vec4<f32>(0.0), near | !(u < vec4<f32>(1.0e9)));
    let half_square = 0.5 * f * f;
    let value = log_tail_f32(f, half_square) + (k * 9.0580006145e-6 + c) - half_square + f + k * 0.69313812256;
    let tiny = magnitude_bits_f32(x) < vec4<u32>(0x33000000u);
    return select(log_edges_f32(value, select(u, x, is_nan_f32(x))), x, tiny);
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
    let itself = is_nan_f32(x) | (magnitude_bits_f32(x) == vec4<u32>(0u));
    return select(select(small, large, magnitude >= vec4<f32>(0.625)), x, itself);
}

// By expm1 below 1, by e^x / 2 above, which does not overflow before the result does.
fn sinh_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let t = expm1_f32(min(magnitude, vec4<f32>(1.0)));
    let small = 0.5 * (t + t / (t + 1.0));
    let half = exp_scaled_f32(magnitude, -1);
    let large = half - 0.25 / half;
    let value = copysign_f32(select(small, large, magnitude >= vec4<f32>(1.0)), x);
    return select(value, x, is_nan_f32(x) | (magnitude_bits_f32(x) < vec4<u32>(0x39000000u)));
}

fn cosh_f32(x: vec4<f32>) -> vec4<f32> {
    let half = exp_scaled_f32(abs(x), -1);
    return select(half + 0.25 / half, x, is_nan_f32(x));
}

fn asinh_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let bounded = min(magnitude, vec4<f32>(16384.0));
    let small = log1p_f32(bounded + bounded * bounded / (1.0 + sqrt(1.0 + bounded * bounded)));
    let large = log_f32(magnitude) + 0.69314718;
    let value = copysign_f32(select(small, large, magnitude > vec4<f32>(16384.0)), x);
    return select(value, x, is_nan_f32(x) | (magnitude_bits_f32(x) < vec4<u32>(0x39000000u)));
}

fn acosh_f32(x: vec4<f32>) -> vec4<f32> {
    let t = clamp(x, vec4<f32>(1.0), vec4<f32>(16384.0)) - 1.0;
    let small = log1p_f32(t + sqrt(2.0 * t + t * t));
    let large = log_f32(x) + 0.69314718;
    let value = select(small, large, x > vec4<f32>(16384.0));
    return select(value, nan_f32(x), (x < vec4<f32>(1.0)) | is_nan_f32(x));
}

fn atanh_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let bounded = min(magnitude, vec4<f32>(1.0));
    let twice = bounded + bounded;
    let inner = select(twice / (1.0 - bounded), twice + twice * bounded / (1.0 - bounded), bounded < vec4<f32>(0.5));
    let finite = 0.5 * log1p_f32(inner);
    let value = copysign_f32(select(finite, inf_f32(vec4<f32>(1.0)), bounded == vec4<f32>(1.0)), x);
    let small = magnitude_bits_f32(x) < vec4<u32>(0x39000000u);
    return select(select(value, x, small), nan_f32(x), (magnitude > vec4<f32>(1.0)) | is_nan_f32(x));
}

fn sigmoid_f32(x: vec4<f32>) -> vec4<f32> {
    return 1.0 / (1.0 + exp_f32(-x));
}
