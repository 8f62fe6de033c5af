// Floats to integers and bool. WGSL does not define NaN, and some backends do not define the range, so both are
// decided here. NaN is tested by its bits and not by a comparison.

fn cast_f32_i32(x: vec4<f32>) -> vec4<i32> {
    let inside = vec4<i32>(clamp(x, vec4<f32>(-2147483648.0), vec4<f32>(2147483520.0)));
    let high = select(inside, vec4<i32>(2147483647), x >= vec4<f32>(2147483648.0));
    let low = select(high, vec4<i32>(-2147483647 - 1), x <= vec4<f32>(-2147483648.0));
    return select(low, vec4<i32>(0), is_nan_f32(x));
}

fn cast_f32_u32(x: vec4<f32>) -> vec4<u32> {
    let inside = vec4<u32>(clamp(x, vec4<f32>(0.0), vec4<f32>(4294967040.0)));
    let high = select(inside, vec4<u32>(0xffffffffu), x >= vec4<f32>(4294967296.0));
    return select(high, vec4<u32>(0u), (x <= vec4<f32>(0.0)) | is_nan_f32(x));
}

// Rounds to the nearest float, halves to even, on adapters that truncate. Integer arithmetic rounds to 24 bits,
// so the conversion is exact.
fn cast_u32_f32(x: vec4<u32>) -> vec4<f32> {
    let excess = vec4<u32>(8u) - min(countLeadingZeros(x), vec4<u32>(8u));
    let kept = x >> excess;
    let lost = x - (kept << excess);
    let half = max((vec4<u32>(1u) << excess) >> vec4<u32>(1u), vec4<u32>(1u));
    let up = select(select(vec4<u32>(0u), kept & vec4<u32>(1u), lost == half), vec4<u32>(1u), lost > half);
    return vec4<f32>(kept + up) * vec4<f32>(vec4<u32>(1u) << excess);
}

fn cast_i32_f32(x: vec4<i32>) -> vec4<f32> {
    let magnitude = cast_u32_f32(magnitude_i32(x));
    return select(magnitude, -magnitude, x < vec4<i32>(0));
}

// Rounded to odd: if bits are lost, the last bit is set. A second rounding to fewer digits then has the result of
// a single rounding (Boldo and Melquiond, When double rounding is odd, 2005).
fn odd_u32_f32(x: vec4<u32>) -> vec4<f32> {
    let excess = vec4<u32>(8u) - min(countLeadingZeros(x), vec4<u32>(8u));
    let kept = x >> excess;
    let sticky = select(vec4<u32>(0u), vec4<u32>(1u), (kept << excess) != x);
    return vec4<f32>(kept | sticky) * vec4<f32>(vec4<u32>(1u) << excess);
}

fn odd_i32_f32(x: vec4<i32>) -> vec4<f32> {
    let magnitude = odd_u32_f32(magnitude_i32(x));
    return select(magnitude, -magnitude, x < vec4<i32>(0));
}

// The first 24 bits as a number in [0, 1), which is exact. All 32 bits would be rounded, some up to 1.
fn unit_f32(bits: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(bits >> vec4<u32>(8u)) * vec4<f32>(5.9604644775390625e-8);
}

// Normal numbers: the first bit of a word is the sign, and the others are the share of numbers farther from 0, in units of
// 2^-32. The first set bit of the share and three more select a cubic, which takes the rest, counted from the upper end.
fn normal_number_f32(bits: vec4<u32>) -> vec4<f32> {
    let beyond = (bits << vec4<u32>(1u)) | vec4<u32>(1u);
    let zeros = countLeadingZeros(beyond);
    let rest = ~(beyond << zeros);
    let own = (zeros << vec4<u32>(3u)) | (rest >> vec4<u32>(28u));
    let t = unit_f32(rest << vec4<u32>(4u));
    let a = p.cubics[own.x];
    let b = p.cubics[own.y];
    let c = p.cubics[own.z];
    let d = p.cubics[own.w];
    var x = mul_add_f32(vec4<f32>(a.w, b.w, c.w, d.w), t, vec4<f32>(a.z, b.z, c.z, d.z));
    x = mul_add_f32(x, t, vec4<f32>(a.y, b.y, c.y, d.y));
    x = mul_add_f32(x, t, vec4<f32>(a.x, b.x, c.x, d.x));
    // No compiler sees a sum behind bits that it does not know.
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ (bits & vec4<u32>(SIGN_f32)));
}
