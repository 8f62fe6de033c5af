// Remainders of floats, exact for every quotient: long division of the integer significands,
// eight bits of the quotient a turn.

// The significand as an integer.
fn significand_f32(magnitude: vec4<u32>) -> vec4<u32> {
    let fraction = magnitude & vec4<u32>(0x007fffffu);
    return select(fraction | vec4<u32>(0x00800000u), fraction, magnitude < vec4<u32>(0x00800000u));
}

// The exponent that goes with it: `x = significand * 2^(exponent - 150)`.
fn exponent_f32(magnitude: vec4<u32>) -> vec4<u32> {
    return max(magnitude >> vec4<u32>(23u), vec4<u32>(1u));
}

// The bits of `value * 2^(exponent - 150)`, where `value` has at most 24 bits.
fn assemble_f32(value: vec4<u32>, exponent: vec4<u32>) -> vec4<u32> {
    // The leading bit to its place, or as far as the exponent allows.
    let up = min(countLeadingZeros(value) - vec4<u32>(8u), exponent - vec4<u32>(1u));
    let scaled = value << min(up, vec4<u32>(31u));
    let normal = (scaled & vec4<u32>(0x007fffffu)) | ((exponent - up) << vec4<u32>(23u));
    let bits = select(scaled, normal, scaled >= vec4<u32>(0x00800000u));
    return select(bits, vec4<u32>(0u), value == vec4<u32>(0u));
}

// |a| mod |b| as an integer, where |a| >= |b| and both are finite and not 0.
fn long_division_f32(x: vec4<u32>, y: vec4<u32>, divides: vec4<bool>) -> vec4<u32> {
    let divisor = max(significand_f32(y), vec4<u32>(1u));
    var rest = significand_f32(x);
    var shift = select(vec4<u32>(0u), exponent_f32(x) - exponent_f32(y), divides);
    rest = rest - (rest / divisor) * divisor;
    while (any(shift != vec4<u32>(0u))) {
        let step = min(shift, vec4<u32>(8u));
        let wider = rest << step;
        rest = wider - (wider / divisor) * divisor;
        shift -= step;
    }
    return rest;
}

fn rem_is_invalid_f32(x: vec4<u32>, y: vec4<u32>) -> vec4<bool> {
    return (x >= vec4<u32>(0x7f800000u)) | (y > vec4<u32>(0x7f800000u)) | (y == vec4<u32>(0u));
}

// C's fmod: the sign of `a`.
fn rem_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let invalid = rem_is_invalid_f32(x, y);
    let divides = (x >= y) & !invalid;
    let rest = assemble_f32(long_division_f32(x, y, divides), exponent_f32(y));
    let exact = copysign_f32(bitcast<vec4<f32>>(select(x, rest, divides)), a);
    return select(exact, nan_f32(a), invalid);
}

// Python's: the sign of `b`, zero included. Where the signs differ it is |b| - |r|, which for
// |a| >= |b| is taken of the integers, as r may be subnormal.
fn rem_floor_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let invalid = rem_is_invalid_f32(x, y);
    let divides = (x >= y) & !invalid;
    let rest = long_division_f32(x, y, divides);
    let differ = ((bits_f32(a) ^ bits_f32(b)) & vec4<u32>(0x80000000u)) != vec4<u32>(0u);
    let opposite = differ & (rest != vec4<u32>(0u));
    let within = select(rest, significand_f32(y) - rest, opposite);
    let divided = copysign_f32(bitcast<vec4<f32>>(assemble_f32(within, exponent_f32(y))), b);
    let whole = select(a, select(copysign_f32(a, b), a + b, differ & (x != vec4<u32>(0u))), differ | (x == vec4<u32>(0u)));
    return select(select(whole, divided, divides), nan_f32(a), invalid);
}

// NumPy's floor_divide: by 0 it is the plain quotient.
fn div_floor_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    // Far from the subnormals, where the remainder might be flushed.
    let small = max(abs(x), abs(y)) < vec4<f32>(1.0e18);
    let up = select(vec4<f32>(1.0), vec4<f32>(18446744073709551616.0), small);
    let a = x * up;
    let b = y * up;
    let r = rem_f32(a, b);
    let nonzero = magnitude_bits_f32(r) != vec4<u32>(0u);
    let differ = ((bits_f32(r) ^ bits_f32(b)) & vec4<u32>(0x80000000u)) != vec4<u32>(0u);
    let down = select(vec4<f32>(0.0), vec4<f32>(1.0), nonzero & differ);
    let quotient = round_f32((a - r) / b - down);
    let exact = select(quotient, copysign_f32(quotient, a / b), quotient == vec4<f32>(0.0));
    let by_zero = (magnitude_bits_f32(b) == vec4<u32>(0u)) & !is_nan_f32(a);
    return select(select(exact, r, is_nan_f32(r)), a / b, by_zero);
}
