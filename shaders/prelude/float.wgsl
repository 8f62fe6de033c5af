// Floats: NaN, zeros and comparisons. NaN is tested by its bits, because some compilers assume
// that there is none and fold `x != x` to false, and builtins may or may not return it.

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) > vec4<u32>(0x7f800000u);
}

fn is_inf_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) == vec4<u32>(0x7f800000u);
}

fn is_finite_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) < vec4<u32>(0x7f800000u);
}

// NaN, made where no compiler can fold it: from an operand.
fn nan_f32(from_any: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(from_any) | vec4<u32>(0x7fc00000u));
}

fn inf_f32(sign_of: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>((bitcast<vec4<u32>>(sign_of) & vec4<u32>(0x80000000u)) | vec4<u32>(0x7f800000u));
}

// The magnitude of `x` with the sign of `sign_of`.
fn copysign_f32(x: vec4<f32>, sign_of: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(magnitude_bits_f32(x) | (bitcast<vec4<u32>>(sign_of) & vec4<u32>(0x80000000u)));
}

fn eq_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a == b) & !(is_nan_f32(a) | is_nan_f32(b));
}

fn lt_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a < b) & !(is_nan_f32(a) | is_nan_f32(b));
}

fn le_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a <= b) & !(is_nan_f32(a) | is_nan_f32(b));
}

fn min_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(min(a, b), b, is_nan_f32(b)), a, is_nan_f32(a));
}

fn max_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(max(a, b), b, is_nan_f32(b)), a, is_nan_f32(a));
}

fn fmin_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(min(a, b), a, is_nan_f32(b)), b, is_nan_f32(a));
}

fn fmax_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(max(a, b), a, is_nan_f32(b)), b, is_nan_f32(a));
}

fn relu_f32(x: vec4<f32>) -> vec4<f32> {
    return select(x, vec4<f32>(0.0), (x <= vec4<f32>(0.0)) & !is_nan_f32(x));
}

fn sign_f32(x: vec4<f32>) -> vec4<f32> {
    let unit = select(vec4<f32>(0.0), copysign_f32(vec4<f32>(1.0), x), nonzero_f32(x));
    return select(unit, x, is_nan_f32(x));
}

// The rounding builtins, with the sign of zero and NaN kept.
fn floor_f32(x: vec4<f32>) -> vec4<f32> {
    return select(copysign_f32(floor(x), x), x, is_nan_f32(x));
}

fn ceil_f32(x: vec4<f32>) -> vec4<f32> {
    return select(copysign_f32(ceil(x), x), x, is_nan_f32(x));
}

fn trunc_f32(x: vec4<f32>) -> vec4<f32> {
    return select(copysign_f32(trunc(x), x), x, is_nan_f32(x));
}

fn round_f32(x: vec4<f32>) -> vec4<f32> {
    return select(copysign_f32(round(x), x), x, is_nan_f32(x));
}

fn sqrt_f32(x: vec4<f32>) -> vec4<f32> {
    let negative = (x < vec4<f32>(0.0)) & !is_nan_f32(x);
    return select(select(sqrt(x), nan_f32(x), negative | is_nan_f32(x)), copysign_f32(vec4<f32>(0.0), x), x == vec4<f32>(0.0));
}

fn signbit_f32(x: vec4<f32>) -> vec4<bool> {
    return (bits_f32(x) >> vec4<u32>(31u)) != vec4<u32>(0u);
}

// The leading 12 bits of the significand.
fn cut_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bits_f32(x) & vec4<u32>(0xfffff000u));
}
