// Floats: NaN, zeros and comparisons. NaN is tested by its bits, because some compilers assume that there is no
// NaN and fold `x != x` to false, and builtins may or may not return it.
//
// This file, like others of this folder, is read twice: for f64 with f64 and u64 in place of f32 and u32. Code that
// differs otherwise is in f32/ and f64/. src/wgsl/prelude.rs lists the files.

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) > vec4<u32>(INFINITE_f32);
}

fn are_numbers_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return max(magnitude_bits_f32(a), magnitude_bits_f32(b)) <= vec4<u32>(INFINITE_f32);
}

fn is_inf_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) == vec4<u32>(INFINITE_f32);
}

fn is_finite_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) < vec4<u32>(INFINITE_f32);
}

// A product that no compiler joins with what reads it. All products of functions are such, except those by a power of
// two, which are exact.
fn times_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return opaque_f32(a * b);
}

// The sum of such a product and a number.
fn plus_f32(product: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return product + b;
}

// a * b + c, rounded twice.
fn mul_add_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return plus_f32(times_f32(a, b), c);
}

// NaN, made from an operand so that no compiler can fold it.
fn nan_f32(from_any: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(from_any) | vec4<u32>(QUIET_f32));
}

fn inf_f32(sign_of: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>((bitcast<vec4<u32>>(sign_of) & vec4<u32>(SIGN_f32)) | vec4<u32>(INFINITE_f32));
}

// The magnitude of `x` with the sign of `sign_of`.
fn copysign_f32(x: vec4<f32>, sign_of: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(magnitude_bits_f32(x) | (bitcast<vec4<u32>>(sign_of) & vec4<u32>(SIGN_f32)));
}

fn eq_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a == b) & are_numbers_f32(a, b);
}

fn lt_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a < b) & are_numbers_f32(a, b);
}

fn le_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a <= b) & are_numbers_f32(a, b);
}

// The lesser of two numbers, and -0 of two zeros. Only zeros have no bit but the sign.
fn lesser_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let either = bits_f32(a) | bits_f32(b);
    return bitcast<vec4<f32>>(select(bits_f32(min(a, b)), either, (either & vec4<u32>(MAGNITUDE_f32)) == vec4<u32>(0)));
}

fn greater_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let either = bits_f32(a) | bits_f32(b);
    let both = bits_f32(a) & bits_f32(b);
    return bitcast<vec4<f32>>(select(bits_f32(max(a, b)), both, (either & vec4<u32>(MAGNITUDE_f32)) == vec4<u32>(0)));
}

fn min_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(lesser_f32(a, b), b, is_nan_f32(b)), a, is_nan_f32(a));
}

fn max_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(greater_f32(a, b), b, is_nan_f32(b)), a, is_nan_f32(a));
}

fn fmin_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(lesser_f32(a, b), a, is_nan_f32(b)), b, is_nan_f32(a));
}

fn fmax_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(greater_f32(a, b), a, is_nan_f32(b)), b, is_nan_f32(a));
}

fn relu_f32(x: vec4<f32>) -> vec4<f32> {
    return select(x, vec4<f32>(0.0), is_negative_f32(x));
}

fn sign_f32(x: vec4<f32>) -> vec4<f32> {
    let unit = select(vec4<f32>(0.0), copysign_f32(vec4<f32>(1.0), x), nonzero_f32(x));
    return select(unit, x, is_nan_f32(x));
}

// Rounding to whole numbers, which keeps NaN and the sign of zero.
fn floor_f32(x: vec4<f32>) -> vec4<f32> {
    return select(copysign_f32(down_f32(x), x), x, is_nan_f32(x));
}

fn ceil_f32(x: vec4<f32>) -> vec4<f32> {
    return select(copysign_f32(up_f32(x), x), x, is_nan_f32(x));
}

fn trunc_f32(x: vec4<f32>) -> vec4<f32> {
    return select(copysign_f32(inward_f32(x), x), x, is_nan_f32(x));
}

fn round_f32(x: vec4<f32>) -> vec4<f32> {
    return select(copysign_f32(whole_f32(x), x), x, is_nan_f32(x));
}

// The fraction above the next whole number below.
fn fraction_f32(x: vec4<f32>) -> vec4<f32> {
    return x - down_f32(x);
}

fn sqrt_f32(x: vec4<f32>) -> vec4<f32> {
    // NaN may equal 0 where a compiler takes floats for real numbers.
    let root = select(sqrt(x), copysign_f32(vec4<f32>(0.0), x), x == vec4<f32>(0.0));
    return select(root, nan_f32(x), (x < vec4<f32>(0.0)) | is_nan_f32(x));
}

fn signbit_f32(x: vec4<f32>) -> vec4<bool> {
    return (bits_f32(x) & vec4<u32>(SIGN_f32)) != vec4<u32>(0);
}

fn nonzero_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) != vec4<u32>(0);
}

// The neighbour of `a` towards `b`, for floats by their bits. `sign` is the sign bit.
fn next_u32(a: vec4<u32>, b: vec4<u32>, sign: u32) -> vec4<u32> {
    let x = a & vec4<u32>(sign - 1);
    let y = b & vec4<u32>(sign - 1);
    let across = ((a ^ b) & vec4<u32>(sign)) != vec4<u32>(0);
    let stepped = select(x - 1, x + 1, !across & (y > x)) | (a & vec4<u32>(sign));
    let from_zero = (b & vec4<u32>(sign)) | vec4<u32>(1);
    let there = (x == y) & (!across | (x == vec4<u32>(0)));
    return select(select(stepped, from_zero, x == vec4<u32>(0)), b, there);
}

fn nextafter_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let next = bitcast<vec4<f32>>(next_u32(bits_f32(a), bits_f32(b), SIGN_f32));
    return select(select(next, nan_f32(a), is_nan_f32(a)), nan_f32(b), is_nan_f32(b));
}
