// Integers of 64 bits of either sign, read again with i64 for u64. What has a sign of its own is in `integer64.wgsl`.

fn nonzero_u64(x: Lanes_u64) -> vec4<bool> {
    return (low_u64(x) | high_u64(x)) != vec4<u32>(0u);
}

fn cast_bool_u64(x: vec4<bool>) -> Lanes_u64 {
    return cast_u32_u64(select(vec4<u32>(0u), vec4<u32>(1u), x));
}

// lavapipe (Mesa 22.3) negates an integer before it widens it, unless it cannot see the conversion.
fn cast_i32_u64(x: vec4<i32>) -> Lanes_u64 {
    return of_words_u64(bitcast<vec4<u32>>(x), bitcast<vec4<u32>>(x >> vec4<u32>(31u)) ^ vec4<u32>(p.zero));
}

fn cast_u64_u32(x: Lanes_u64) -> vec4<u32> {
    return low_u64(x);
}

fn cast_u64_i32(x: Lanes_u64) -> vec4<i32> {
    return bitcast<vec4<i32>>(low_u64(x));
}

// Functions of bits take two halves, because not every adapter has builtins for 64 bits.
fn count_ones_u64(x: Lanes_u64, width: u32) -> Lanes_u64 {
    return cast_u32_u64(countOneBits(low_u64(x)) + countOneBits(high_u64(x)));
}

fn leading_zeros_u64(x: Lanes_u64, width: u32) -> Lanes_u64 {
    let high = high_u64(x);
    let zeros = select(countLeadingZeros(high), countLeadingZeros(low_u64(x)) + 32u, high == vec4<u32>(0u));
    return cast_u32_u64(zeros);
}

fn trailing_zeros_u64(x: Lanes_u64, width: u32) -> Lanes_u64 {
    let low = low_u64(x);
    let zeros = select(countTrailingZeros(low), countTrailingZeros(high_u64(x)) + 32u, low == vec4<u32>(0u));
    return cast_u32_u64(zeros);
}

fn reverse_bits_u64(x: Lanes_u64, width: u32) -> Lanes_u64 {
    return of_words_u64(reversed_u32(high_u64(x)), reversed_u32(low_u64(x)));
}

// Read as unsigned, a negative amount is large.
fn shl_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    let low = low_u64(b);
    let inside = (high_u64(b) == vec4<u32>(0u)) & (low < vec4<u32>(64u));
    return select_u64(Lanes_u64(), up_u64(a, low & vec4<u32>(63u)), inside);
}

// Square and multiply, modulo 2^64.
fn power_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    var power = cast_u32_u64(vec4<u32>(1u));
    var base = a;
    var exponent = b;
    while (any(nonzero_u64(exponent))) {
        power = select_u64(power, mul_u64(power, base), (low_u64(exponent) & vec4<u32>(1u)) != vec4<u32>(0u));
        base = mul_u64(base, base);
        exponent = down_u64(exponent, vec4<u32>(1u));
    }
    return power;
}
