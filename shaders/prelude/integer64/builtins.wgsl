// For adapters with 64-bit integers: what has a sign.

fn low_u64(x: Lanes_u64) -> vec4<u32> {
    return vec4<u32>(x & vec4<u64>(0xfffffffflu));
}

fn low_i64(x: Lanes_i64) -> vec4<u32> {
    return low_u64(cast_i64_u64(x));
}

fn high_u64(x: Lanes_u64) -> vec4<u32> {
    return vec4<u32>(x >> vec4<u32>(32u));
}

fn high_i64(x: Lanes_i64) -> vec4<u32> {
    return high_u64(cast_i64_u64(x));
}

fn of_words_u64(low: vec4<u32>, high: vec4<u32>) -> Lanes_u64 {
    return (vec4<u64>(high) << vec4<u32>(32u)) | vec4<u64>(low);
}

fn of_words_i64(low: vec4<u32>, high: vec4<u32>) -> Lanes_i64 {
    return cast_u64_i64(of_words_u64(low, high));
}

fn cast_u32_u64(x: vec4<u32>) -> Lanes_u64 {
    return vec4<u64>(x);
}

fn cast_u32_i64(x: vec4<u32>) -> Lanes_i64 {
    return cast_u64_i64(vec4<u64>(x));
}

fn cast_i64_u64(x: Lanes_i64) -> Lanes_u64 {
    return bitcast<vec4<u64>>(x);
}

fn cast_u64_i64(x: Lanes_u64) -> Lanes_i64 {
    return bitcast<vec4<i64>>(x);
}

fn neg_u64(x: Lanes_u64) -> Lanes_u64 {
    return ~x + 1lu;
}

fn neg_i64(x: Lanes_i64) -> Lanes_i64 {
    return cast_u64_i64(neg_u64(cast_i64_u64(x)));
}

fn div_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return select(a / max(b, vec4<u64>(1lu)), vec4<u64>(0lu), b == vec4<u64>(0lu));
}
