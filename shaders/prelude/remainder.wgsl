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

// C's fmod: the sign of `a`.
fn rem_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let invalid = (x >= vec4<u32>(0x7f800000u)) | (y > vec4<u32>(0x7f800000u)) | (y == vec4<u32>(0u));
    let smaller = x < y;
    let exponent = exponent_f32(y);
    let divisor = max(significand_f32(y), vec4<u32>(1u));
    var rest = significand_f32(x);
    var shift = select(exponent_f32(x) - exponent, vec4<u32>(0u), smaller | invalid);
    rest = rest - (rest / divisor) * divisor;
    while (any(shift != vec4<u32>(0u))) {
        let step = min(shift, vec4<u32>(8u));
        let wider = rest << step;
        rest = wider - (wider / divisor) * divisor;
        shift -= step;
    }
    // Back to a float: the leading bit to its place, or as far as the exponent allows.
    let up = min(countLeadingZeros(rest) - vec4<u32>(8u), exponent - vec4<u32>(1u));
    let scaled = rest << min(up, vec4<u32>(31u));
    let normal = (scaled & vec4<u32>(0x007fffffu)) | ((exponent - up) << vec4<u32>(23u));
    let bits = select(scaled, normal, scaled >= vec4<u32>(0x00800000u));
    let magnitude = select(bits, vec4<u32>(0u), rest == vec4<u32>(0u));
    let exact = copysign_f32(bitcast<vec4<f32>>(select(magnitude, x, smaller)), a);
    return select(exact, nan_f32(a), invalid);
}

// Python's: the sign of `b`, zero included.
fn rem_floor_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let r = rem_f32(a, b);
    let zero = magnitude_bits_f32(r) == vec4<u32>(0u);
    let differ = ((bits_f32(r) ^ bits_f32(b)) & vec4<u32>(0x80000000u)) != vec4<u32>(0u);
    let moved = select(r, r + b, differ & !is_nan_f32(r));
    return select(moved, copysign_f32(r, b), zero);
}

// NumPy's floor_divide: by 0 it is the plain quotient.
fn div_floor_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let r = rem_f32(a, b);
    let nonzero = magnitude_bits_f32(r) != vec4<u32>(0u);
    let differ = ((bits_f32(r) ^ bits_f32(b)) & vec4<u32>(0x80000000u)) != vec4<u32>(0u);
    let down = select(vec4<f32>(0.0), vec4<f32>(1.0), nonzero & differ);
    let quotient = round_f32((a - r) / b - down);
    let exact = select(quotient, copysign_f32(quotient, a / b), quotient == vec4<f32>(0.0));
    let by_zero = (magnitude_bits_f32(b) == vec4<u32>(0u)) & !is_nan_f32(a);
    return select(select(exact, r, is_nan_f32(r)), a / b, by_zero);
}
