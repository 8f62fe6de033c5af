// Remainders of floats, exact for every quotient, by long division of the integer significands. An iteration
// finds as many bits of the quotient as an exponent has (8 for f32).

// The significand as an integer.
fn significand_f32(magnitude: vec4<u32>) -> vec4<u32> {
    let fraction = magnitude & vec4<u32>(FRACTION_f32);
    return select(fraction | vec4<u32>(LEAST_f32), fraction, magnitude < vec4<u32>(LEAST_f32));
}

// The exponent of the integer significand: `x = significand * 2^(exponent - 150)`, with 1075 for f64.
fn exponent_f32(magnitude: vec4<u32>) -> Count {
    return max(Count(magnitude >> Count(FRACTION_BITS_f32)), Count(1));
}

// The bits of `value * 2^(exponent - 150)`, where `value` has at most as many bits as a significand.
fn assemble_f32(value: vec4<u32>, exponent: Count) -> vec4<u32> {
    // Moves the leading bit to its place, or as far as the exponent allows.
    let up = min(Count(leading_zeros_u32(value, 32u)) - Count(EXPONENT_BITS_f32), exponent - Count(1));
    let scaled = value << min(up, Count(EXPONENT_BITS_f32 + FRACTION_BITS_f32));
    let normal = (scaled & vec4<u32>(FRACTION_f32)) | (vec4<u32>(exponent - up) << Count(FRACTION_BITS_f32));
    let bits = select(scaled, normal, scaled >= vec4<u32>(LEAST_f32));
    return select(bits, vec4<u32>(0), value == vec4<u32>(0));
}

// |a| mod |b| as an integer, where |a| >= |b| and both are finite and not 0.
fn long_division_f32(x: vec4<u32>, y: vec4<u32>, divides: vec4<bool>) -> vec4<u32> {
    let divisor = max(significand_f32(y), vec4<u32>(1));
    var rest = significand_f32(x);
    var shift = select(Count(0), exponent_f32(x) - exponent_f32(y), divides);
    rest = rest - (rest / divisor) * divisor;
    while (any(shift != Count(0))) {
        let step = min(shift, Count(EXPONENT_BITS_f32));
        let wider = rest << step;
        rest = wider - (wider / divisor) * divisor;
        shift -= step;
    }
    return rest;
}

fn rem_is_invalid_f32(x: vec4<u32>, y: vec4<u32>) -> vec4<bool> {
    return (x >= vec4<u32>(INFINITE_f32)) | (y > vec4<u32>(INFINITE_f32)) | (y == vec4<u32>(0));
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

// Python's remainder: the sign of `b`, even of a zero. If the signs differ, it is |b| - |r|. For |a| >= |b| this
// is computed in integers, because r may be subnormal.
fn rem_floor_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let invalid = rem_is_invalid_f32(x, y);
    let divides = (x >= y) & !invalid;
    let rest = long_division_f32(x, y, divides);
    let differ = ((bits_f32(a) ^ bits_f32(b)) & vec4<u32>(SIGN_f32)) != vec4<u32>(0);
    let opposite = differ & (rest != vec4<u32>(0));
    let within = select(rest, significand_f32(y) - rest, opposite);
    let divided = copysign_f32(bitcast<vec4<f32>>(assemble_f32(within, exponent_f32(y))), b);
    let whole = select(a, select(copysign_f32(a, b), a + b, differ & (x != vec4<u32>(0))), differ | (x == vec4<u32>(0)));
    return select(select(whole, divided, divides), nan_f32(a), invalid);
}

// NumPy's floor_divide. A division by 0 is the plain quotient.
fn div_floor_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    // Far from the subnormals, to which a flush would apply.
    let small = max(abs(x), abs(y)) < vec4<f32>(1.0e18);
    let up = select(vec4<f32>(1.0), vec4<f32>(18446744073709551616.0), small);
    let a = x * up;
    let b = y * up;
    let r = rem_f32(a, b);
    let nonzero = magnitude_bits_f32(r) != vec4<u32>(0);
    let differ = ((bits_f32(r) ^ bits_f32(b)) & vec4<u32>(SIGN_f32)) != vec4<u32>(0);
    let down = select(vec4<f32>(0.0), vec4<f32>(1.0), nonzero & differ);
    let quotient = round_f32(quotient_f32(a - r, b) - down);
    let exact = select(quotient, copysign_f32(quotient, a / b), quotient == vec4<f32>(0.0));
    let by_zero = (magnitude_bits_f32(b) == vec4<u32>(0)) & !is_nan_f32(a);
    return select(select(exact, r, is_nan_f32(r)), a / b, by_zero);
}
