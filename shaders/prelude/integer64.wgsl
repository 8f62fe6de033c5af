// Integers of 64 bits, by functions that `integer64/builtins.wgsl` has for adapters with 64-bit integers, and
// `integer64/pairs.wgsl` for others. `Lanes_u64` is four elements, `Stored_u64` four of them in memory, `Lane_u64` is one.

fn rem_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return select_u64(Lanes_u64(), sub_u64(a, mul_u64(div_u64(a, b), b)), nonzero_u64(b));
}

fn div_floor_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return div_u64(a, b);
}

fn rem_floor_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return rem_u64(a, b);
}

fn is_negative_i64(x: Lanes_i64) -> vec4<bool> {
    return high_i64(x) >= vec4<u32>(0x80000000u);
}

// The magnitude. For the least integer it is the integer itself, read as unsigned.
fn magnitude_i64(x: Lanes_i64) -> Lanes_u64 {
    return cast_i64_u64(abs_i64(x));
}

// The integer of magnitude `m`, negative where `negative` is true.
fn signed_i64(m: Lanes_u64, negative: vec4<bool>) -> Lanes_i64 {
    return cast_u64_i64(select_u64(m, neg_u64(m), negative));
}

fn div_i64(a: Lanes_i64, b: Lanes_i64) -> Lanes_i64 {
    return signed_i64(div_u64(magnitude_i64(a), magnitude_i64(b)), is_negative_i64(xor_i64(a, b)));
}

fn rem_i64(a: Lanes_i64, b: Lanes_i64) -> Lanes_i64 {
    return signed_i64(rem_u64(magnitude_i64(a), magnitude_i64(b)), is_negative_i64(a));
}

// Rounded down, a quotient of different signs is one less if there is a remainder.
fn div_floor_i64(a: Lanes_i64, b: Lanes_i64) -> Lanes_i64 {
    let q = div_i64(a, b);
    let rest = sub_i64(a, mul_i64(q, b));
    let down = nonzero_i64(rest) & nonzero_i64(b) & is_negative_i64(xor_i64(a, b));
    return sub_i64(q, cast_bool_i64(down));
}

fn rem_floor_i64(a: Lanes_i64, b: Lanes_i64) -> Lanes_i64 {
    let r = rem_i64(a, b);
    return add_i64(r, select_i64(Lanes_i64(), b, nonzero_i64(r) & is_negative_i64(xor_i64(a, b))));
}

// abs() of unsigned integers is signed on some backends.
fn abs_u64(x: Lanes_u64) -> Lanes_u64 {
    return x;
}

fn abs_i64(x: Lanes_i64) -> Lanes_i64 {
    return select_i64(x, neg_i64(x), is_negative_i64(x));
}

fn sign_i64(x: Lanes_i64) -> Lanes_i64 {
    let sign = vec4<i32>(bitcast<vec4<i32>>(high_i64(x)) >> vec4<u32>(31u));
    return cast_i32_i64(sign | select(vec4<i32>(0), vec4<i32>(1), nonzero_i64(x)));
}

fn sign_u64(x: Lanes_u64) -> Lanes_u64 {
    return cast_bool_u64(nonzero_u64(x));
}

fn shr_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    let low = low_u64(b);
    let inside = (high_u64(b) == vec4<u32>(0u)) & (low < vec4<u32>(64u));
    return select_u64(Lanes_u64(), down_u64(a, low & vec4<u32>(63u)), inside);
}

fn shr_i64(a: Lanes_i64, b: Lanes_i64) -> Lanes_i64 {
    let inside = high_i64(b) == vec4<u32>(0u);
    return down_i64(a, select(vec4<u32>(63u), min(low_i64(b), vec4<u32>(63u)), inside));
}

fn pow_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return power_u64(a, b);
}

// A negative exponent gives 0, except that 1 stays 1 and -1 alternates.
fn pow_i64(a: Lanes_i64, b: Lanes_i64) -> Lanes_i64 {
    let below = is_negative_i64(b);
    let power = power_i64(a, select_i64(b, Lanes_i64(), below));
    let one = cast_i32_i64(vec4<i32>(1));
    let odd = (low_i64(b) & vec4<u32>(1u)) != vec4<u32>(0u);
    let magnitude = select_i64(one, a, odd);
    let inverse = select_i64(Lanes_i64(), magnitude, eq_i64(abs_i64(a), one));
    return select_i64(power, inverse, below);
}

// Conversions. From floats they take the significand, and to floats the leading 24 bits.
fn cast_f32_u64(x: vec4<f32>) -> Lanes_u64 {
    let bits = bits_f32(x);
    let exponent = (bits >> vec4<u32>(23u)) & vec4<u32>(255u);
    let significand = (bits & vec4<u32>(0x007fffffu)) | vec4<u32>(0x00800000u);
    let left = (max(exponent, vec4<u32>(150u)) - vec4<u32>(150u)) & vec4<u32>(63u);
    let right = min(vec4<u32>(150u) - min(exponent, vec4<u32>(150u)), vec4<u32>(31u));
    let inside = up_u64(cast_u32_u64(significand >> right), left);
    let high = select_u64(inside, not_u64(Lanes_u64()), exponent >= vec4<u32>(191u));
    let none = is_nan_f32(x) | ((bits >> vec4<u32>(31u)) != vec4<u32>(0u)) | (exponent < vec4<u32>(127u));
    return select_u64(high, Lanes_u64(), none);
}

fn cast_f32_i64(x: vec4<f32>) -> Lanes_i64 {
    let negative = (bits_f32(x) >> vec4<u32>(31u)) != vec4<u32>(0u);
    let most = select(vec4<u32>(0x7fffffffu), vec4<u32>(0x80000000u), negative);
    let limit = of_words_u64(select(vec4<u32>(0xffffffffu), vec4<u32>(0u), negative), most);
    return signed_i64(min_u64(cast_f32_u64(abs(x)), limit), negative);
}

// The integer towards 0 in -limit - 1..=limit.
fn bounded_f64(x: Lanes_f64, limit: Lanes_u64) -> Lanes_i64 {
    let negative = signbit_f64(x);
    return signed_i64(min_u64(cast_f64_u64(abs_f64(x)), add_u64(limit, cast_bool_u64(negative))), negative);
}

fn cast_f64_i64(x: Lanes_f64) -> Lanes_i64 {
    return bounded_f64(x, of_words_u64(vec4<u32>(0xffffffffu), vec4<u32>(0x7fffffffu)));
}

fn cast_f64_i32(x: Lanes_f64) -> vec4<i32> {
    return cast_i64_i32(bounded_f64(x, cast_u32_u64(vec4<u32>(0x7fffffffu))));
}

fn cast_f64_u32(x: Lanes_f64) -> vec4<u32> {
    return low_u64(min_u64(cast_f64_u64(x), cast_u32_u64(vec4<u32>(0xffffffffu))));
}

fn cast_i64_f64(x: Lanes_i64) -> Lanes_f64 {
    let magnitude = cast_u64_f64(magnitude_i64(x));
    return select_f64(magnitude, neg_f64(magnitude), is_negative_i64(x));
}

// The leading 24 bits, rounded to odd or to the nearest, halves to even, and their scale. Shifted to the top, 0 stays 0.
fn rounded_u64(x: Lanes_u64, odd: bool) -> vec4<f32> {
    let zeros = low_u64(leading_zeros_u64(x, 64u));
    let top = up_u64(x, min(zeros, vec4<u32>(63u)));
    let kept = high_u64(top) >> vec4<u32>(8u);
    // Half a unit is 2^31, and bits further down are one bit of it.
    let lost = (high_u64(top) << vec4<u32>(24u)) | select(vec4<u32>(0u), vec4<u32>(1u), low_u64(top) != vec4<u32>(0u));
    let half = vec4<u32>(0x80000000u);
    let up = select(select(vec4<u32>(0u), kept & vec4<u32>(1u), lost == half), vec4<u32>(1u), lost > half);
    let sticky = kept | select(vec4<u32>(0u), vec4<u32>(1u), lost != vec4<u32>(0u));
    let scale = bitcast<vec4<f32>>((vec4<u32>(167u) - zeros) << vec4<u32>(23u));
    return vec4<f32>(select(kept + up, sticky, vec4<bool>(odd))) * scale;
}

fn odd_u64_f32(x: Lanes_u64) -> vec4<f32> {
    return rounded_u64(x, true);
}

fn odd_i64_f32(x: Lanes_i64) -> vec4<f32> {
    let magnitude = odd_u64_f32(magnitude_i64(x));
    return select(magnitude, -magnitude, is_negative_i64(x));
}

fn cast_u64_f32(x: Lanes_u64) -> vec4<f32> {
    return rounded_u64(x, false);
}

fn cast_i64_f32(x: Lanes_i64) -> vec4<f32> {
    let magnitude = cast_u64_f32(magnitude_i64(x));
    return select(magnitude, -magnitude, is_negative_i64(x));
}

fn gcd_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    var x = a;
    var y = b;
    while (any(nonzero_u64(y))) {
        let rest = rem_u64(x, y);
        x = select_u64(x, y, nonzero_u64(y));
        y = rest;
    }
    return x;
}

fn gcd_i64(a: Lanes_i64, b: Lanes_i64) -> Lanes_i64 {
    return cast_u64_i64(gcd_u64(magnitude_i64(a), magnitude_i64(b)));
}

fn lcm_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return mul_u64(div_u64(a, gcd_u64(a, b)), b);
}

fn lcm_i64(a: Lanes_i64, b: Lanes_i64) -> Lanes_i64 {
    return cast_u64_i64(lcm_u64(magnitude_i64(a), magnitude_i64(b)));
}

fn rotate_left_u64(a: Lanes_u64, b: Lanes_u64, width: u32) -> Lanes_u64 {
    let up = low_u64(b) & vec4<u32>(63u);
    return or_u64(up_u64(a, up), down_u64(a, (vec4<u32>(64u) - up) & vec4<u32>(63u)));
}

fn rotate_left_i64(a: Lanes_i64, b: Lanes_i64, width: u32) -> Lanes_i64 {
    return cast_u64_i64(rotate_left_u64(cast_i64_u64(a), cast_i64_u64(b), width));
}

// The high words of the products in a round of Philox.
fn philox_high_wide(words: vec2<u32>) -> vec2<u32> {
    let products = vec2<u64>(words) * vec2<u64>(0xd2511f53lu, 0xcd9e8d57lu);
    return vec2<u32>(products >> vec2<u32>(32u));
}
