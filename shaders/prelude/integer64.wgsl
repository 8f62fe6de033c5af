// Integers of 64 bits, for adapters that have them. The functions are those of 32 bits.

fn div_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    return select(a / max(b, vec4<u64>(1lu)), vec4<u64>(0lu), b == vec4<u64>(0lu));
}

fn rem_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    return select(a - (a / max(b, vec4<u64>(1lu))) * b, vec4<u64>(0lu), b == vec4<u64>(0lu));
}

fn div_floor_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    return div_u64(a, b);
}

fn rem_floor_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    return rem_u64(a, b);
}

// The magnitude. For the least integer it is the integer itself, read as unsigned.
fn magnitude_i64(x: vec4<i64>) -> vec4<u64> {
    let bits = bitcast<vec4<u64>>(x);
    return select(bits, ~bits + 1lu, x < vec4<i64>(0li));
}

// The integer of magnitude `m`, negative where `negative` is true.
fn signed_i64(m: vec4<u64>, negative: vec4<bool>) -> vec4<i64> {
    return bitcast<vec4<i64>>(select(m, ~m + 1lu, negative));
}

fn div_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    return signed_i64(div_u64(magnitude_i64(a), magnitude_i64(b)), (a ^ b) < vec4<i64>(0li));
}

fn rem_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    return signed_i64(rem_u64(magnitude_i64(a), magnitude_i64(b)), a < vec4<i64>(0li));
}

fn div_floor_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    let down = (rem_i64(a, b) != vec4<i64>(0li)) & ((a ^ b) < vec4<i64>(0li));
    return div_i64(a, b) - select(vec4<i64>(0li), vec4<i64>(1li), down);
}

fn rem_floor_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    let r = rem_i64(a, b);
    return r + select(vec4<i64>(0li), b, (r != vec4<i64>(0li)) & ((a ^ b) < vec4<i64>(0li)));
}

fn neg_i64(x: vec4<i64>) -> vec4<i64> {
    return signed_i64(bitcast<vec4<u64>>(x), vec4<bool>(true));
}

fn neg_u64(x: vec4<u64>) -> vec4<u64> {
    return ~x + 1lu;
}

// abs() of unsigned integers is signed on some backends.
fn abs_u64(x: vec4<u64>) -> vec4<u64> {
    return x;
}

fn abs_i64(x: vec4<i64>) -> vec4<i64> {
    return bitcast<vec4<i64>>(magnitude_i64(x));
}

fn sign_i64(x: vec4<i64>) -> vec4<i64> {
    return select(vec4<i64>(0li), vec4<i64>(1li), x > vec4<i64>(0li)) - select(vec4<i64>(0li), vec4<i64>(1li), x < vec4<i64>(0li));
}

fn sign_u64(x: vec4<u64>) -> vec4<u64> {
    return min(x, vec4<u64>(1lu));
}

fn shl_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    return select(a << vec4<u32>(b & vec4<u64>(63lu)), vec4<u64>(0lu), b > vec4<u64>(63lu));
}

// Read as unsigned, a negative amount is large.
fn shl_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    return bitcast<vec4<i64>>(shl_u64(bitcast<vec4<u64>>(a), bitcast<vec4<u64>>(b)));
}

fn shr_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    return select(a >> vec4<u32>(b & vec4<u64>(63lu)), vec4<u64>(0lu), b > vec4<u64>(63lu));
}

fn shr_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    return a >> vec4<u32>(min(bitcast<vec4<u64>>(b), vec4<u64>(63lu)));
}

// Square and multiply, modulo 2^64.
fn pow_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    var power = vec4<u64>(1lu);
    var base = a;
    var exponent = b;
    while (any(exponent != vec4<u64>(0lu))) {
        power *= select(vec4<u64>(1lu), base, (exponent & vec4<u64>(1lu)) != vec4<u64>(0lu));
        base *= base;
        exponent >>= vec4<u32>(1u);
    }
    return power;
}

// A negative exponent gives 0, except that 1 stays 1 and -1 alternates.
fn pow_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    let power = bitcast<vec4<i64>>(pow_u64(bitcast<vec4<u64>>(a), bitcast<vec4<u64>>(max(b, vec4<i64>(0li)))));
    let odd = (b & vec4<i64>(1li)) != vec4<i64>(0li);
    let unit = (a == vec4<i64>(1li)) | (a == vec4<i64>(-1li));
    let inverse = select(vec4<i64>(0li), select(vec4<i64>(1li), a, odd), unit);
    return select(power, inverse, b < vec4<i64>(0li));
}

// Functions of bits take two halves, because not every adapter has builtins for 64 bits.
fn low_u64(x: vec4<u64>) -> vec4<u32> {
    return vec4<u32>(x & vec4<u64>(0xfffffffflu));
}

fn high_u64(x: vec4<u64>) -> vec4<u32> {
    return vec4<u32>(x >> vec4<u32>(32u));
}

fn count_ones_u64(x: vec4<u64>, width: u32) -> vec4<u64> {
    return vec4<u64>(countOneBits(low_u64(x)) + countOneBits(high_u64(x)));
}

fn count_ones_i64(x: vec4<i64>, width: u32) -> vec4<i64> {
    return bitcast<vec4<i64>>(count_ones_u64(bitcast<vec4<u64>>(x), width));
}

fn leading_zeros_u64(x: vec4<u64>, width: u32) -> vec4<u64> {
    let high = high_u64(x);
    let zeros = select(countLeadingZeros(high), countLeadingZeros(low_u64(x)) + 32u, high == vec4<u32>(0u));
    return vec4<u64>(zeros);
}

fn leading_zeros_i64(x: vec4<i64>, width: u32) -> vec4<i64> {
    return bitcast<vec4<i64>>(leading_zeros_u64(bitcast<vec4<u64>>(x), width));
}

fn trailing_zeros_u64(x: vec4<u64>, width: u32) -> vec4<u64> {
    let low = low_u64(x);
    let zeros = select(countTrailingZeros(low), countTrailingZeros(high_u64(x)) + 32u, low == vec4<u32>(0u));
    return vec4<u64>(zeros);
}

fn trailing_zeros_i64(x: vec4<i64>, width: u32) -> vec4<i64> {
    return bitcast<vec4<i64>>(trailing_zeros_u64(bitcast<vec4<u64>>(x), width));
}

// Conversions. From floats they take the significand, and to floats the leading 24 bits.
fn cast_f32_u64(x: vec4<f32>) -> vec4<u64> {
    let bits = bits_f32(x);
    let exponent = (bits >> vec4<u32>(23u)) & vec4<u32>(255u);
    let significand = vec4<u64>((bits & vec4<u32>(0x007fffffu)) | vec4<u32>(0x00800000u));
    let left = significand << (max(exponent, vec4<u32>(150u)) - vec4<u32>(150u) & vec4<u32>(63u));
    let right = significand >> min(vec4<u32>(150u) - min(exponent, vec4<u32>(150u)), vec4<u32>(63u));
    let inside = select(right, left, exponent > vec4<u32>(150u));
    let high = select(inside, vec4<u64>(0xfffffffffffffffflu), exponent >= vec4<u32>(191u));
    let none = is_nan_f32(x) | ((bits >> vec4<u32>(31u)) != vec4<u32>(0u)) | (exponent < vec4<u32>(127u));
    return select(high, vec4<u64>(0lu), none);
}

fn cast_f32_i64(x: vec4<f32>) -> vec4<i64> {
    let negative = (bits_f32(x) >> vec4<u32>(31u)) != vec4<u32>(0u);
    let limit = select(vec4<u64>(0x7ffffffffffffffflu), vec4<u64>(0x8000000000000000lu), negative);
    return signed_i64(min(cast_f32_u64(abs(x)), limit), negative);
}

fn odd_u64_f32(x: vec4<u64>) -> vec4<f32> {
    let zeros = vec4<u32>(leading_zeros_u64(x, 64u));
    let excess = vec4<u32>(40u) - min(zeros, vec4<u32>(40u));
    let kept = x >> excess;
    let sticky = select(vec4<u32>(0u), vec4<u32>(1u), (kept << excess) != x);
    let scale = bitcast<vec4<f32>>((excess + vec4<u32>(127u)) << vec4<u32>(23u));
    return vec4<f32>(low_u64(kept) | sticky) * scale;
}

fn odd_i64_f32(x: vec4<i64>) -> vec4<f32> {
    let magnitude = odd_u64_f32(magnitude_i64(x));
    return select(magnitude, -magnitude, x < vec4<i64>(0li));
}

fn cast_u64_f32(x: vec4<u64>) -> vec4<f32> {
    let zeros = vec4<u32>(leading_zeros_u64(x, 64u));
    let excess = vec4<u32>(40u) - min(zeros, vec4<u32>(40u));
    let kept = x >> excess;
    let lost = x - (kept << excess);
    let half = max((vec4<u64>(1lu) << excess) >> vec4<u32>(1u), vec4<u64>(1lu));
    let whole = low_u64(kept);
    let up = select(select(vec4<u32>(0u), whole & vec4<u32>(1u), lost == half), vec4<u32>(1u), lost > half);
    return vec4<f32>(whole + up) * bitcast<vec4<f32>>((excess + vec4<u32>(127u)) << vec4<u32>(23u));
}

fn cast_i64_f32(x: vec4<i64>) -> vec4<f32> {
    let magnitude = cast_u64_f32(magnitude_i64(x));
    return select(magnitude, -magnitude, x < vec4<i64>(0li));
}

fn cast_u64_u32(x: vec4<u64>) -> vec4<u32> {
    return low_u64(x);
}

fn cast_u64_i32(x: vec4<u64>) -> vec4<i32> {
    return bitcast<vec4<i32>>(low_u64(x));
}

fn cast_i64_u32(x: vec4<i64>) -> vec4<u32> {
    return low_u64(bitcast<vec4<u64>>(x));
}

fn cast_i64_i32(x: vec4<i64>) -> vec4<i32> {
    return bitcast<vec4<i32>>(low_u64(bitcast<vec4<u64>>(x)));
}

fn cast_u32_u64(x: vec4<u32>) -> vec4<u64> {
    return vec4<u64>(x);
}

fn cast_u32_i64(x: vec4<u32>) -> vec4<i64> {
    return bitcast<vec4<i64>>(vec4<u64>(x));
}

// lavapipe (Mesa 22.3) negates an integer before it widens it, unless it cannot see the conversion.
fn cast_i32_i64(x: vec4<i32>) -> vec4<i64> {
    return bitcast<vec4<i64>>(cast_i32_u64(x));
}

fn cast_i32_u64(x: vec4<i32>) -> vec4<u64> {
    return bitcast<vec4<u64>>(vec4<i64>(x)) ^ vec4<u64>(u64(p.zero));
}

fn reverse_bits_u64(x: vec4<u64>, width: u32) -> vec4<u64> {
    return (vec4<u64>(reversed_u32(low_u64(x))) << vec4<u32>(32u)) | vec4<u64>(reversed_u32(high_u64(x)));
}

fn reverse_bits_i64(x: vec4<i64>, width: u32) -> vec4<i64> {
    return bitcast<vec4<i64>>(reverse_bits_u64(bitcast<vec4<u64>>(x), width));
}

fn gcd_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    var x = a;
    var y = b;
    while (any(y != vec4<u64>(0lu))) {
        let rest = rem_u64(x, y);
        x = select(y, x, y == vec4<u64>(0lu));
        y = rest;
    }
    return x;
}

fn gcd_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    return bitcast<vec4<i64>>(gcd_u64(magnitude_i64(a), magnitude_i64(b)));
}

fn lcm_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    return div_u64(a, gcd_u64(a, b)) * b;
}

fn lcm_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    return bitcast<vec4<i64>>(lcm_u64(magnitude_i64(a), magnitude_i64(b)));
}

fn rotate_left_u64(a: vec4<u64>, b: vec4<u64>, width: u32) -> vec4<u64> {
    let up = low_u64(b) & vec4<u32>(63u);
    return (a << up) | (a >> ((vec4<u32>(64u) - up) & vec4<u32>(63u)));
}

fn rotate_left_i64(a: vec4<i64>, b: vec4<i64>, width: u32) -> vec4<i64> {
    return bitcast<vec4<i64>>(rotate_left_u64(bitcast<vec4<u64>>(a), bitcast<vec4<u64>>(b), width));
}

// The high words of the products in a round of Philox.
fn philox_high_wide(words: vec2<u32>) -> vec2<u32> {
    let products = vec2<u64>(words) * vec2<u64>(0xd2511f53lu, 0xcd9e8d57lu);
    return vec2<u32>(products >> vec2<u32>(32u));
}
