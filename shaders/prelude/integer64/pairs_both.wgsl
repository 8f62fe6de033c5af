// Integers of 64 bits as pairs of words, read again with i64 for u64.

// The upper word is 0, and no compiler knows that. SwiftShader in Chromium 156 takes a word that it knows to be 0 as unequal to 0.
fn cast_u32_u64(x: vec4<u32>) -> Lanes_u64 {
    return of_words_u64(x, vec4<u32>(p.zero));
}

fn add_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    let low = low_u64(a) + low_u64(b);
    let carry = select(vec4<u32>(0u), vec4<u32>(1u), low < low_u64(a));
    return of_words_u64(low, high_u64(a) + high_u64(b) + carry);
}

fn sub_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    let borrow = select(vec4<u32>(0u), vec4<u32>(1u), low_u64(a) < low_u64(b));
    return of_words_u64(low_u64(a) - low_u64(b), high_u64(a) - high_u64(b) - borrow);
}

fn neg_u64(x: Lanes_u64) -> Lanes_u64 {
    return sub_u64(Lanes_u64(), x);
}

fn mul_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    let crossed = low_u64(a) * high_u64(b) + high_u64(a) * low_u64(b);
    return of_words_u64(low_u64(a) * low_u64(b), multiply_high_u32(low_u64(a), low_u64(b)) + crossed);
}

fn eq_u64(a: Lanes_u64, b: Lanes_u64) -> vec4<bool> {
    return ((low_u64(a) ^ low_u64(b)) | (high_u64(a) ^ high_u64(b))) == vec4<u32>(0u);
}

fn lt_u64(a: Lanes_u64, b: Lanes_u64) -> vec4<bool> {
    let high = ordered_u64(high_u64(a)) < ordered_u64(high_u64(b));
    return select(high, low_u64(a) < low_u64(b), high_u64(a) == high_u64(b));
}

fn min_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return select_u64(a, b, lt_u64(b, a));
}

fn max_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return select_u64(a, b, lt_u64(a, b));
}

fn and_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return Lanes_u64(a.x & b.x, a.y & b.y, a.z & b.z, a.w & b.w);
}

fn or_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return Lanes_u64(a.x | b.x, a.y | b.y, a.z | b.z, a.w | b.w);
}

fn xor_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    return Lanes_u64(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

fn not_u64(x: Lanes_u64) -> Lanes_u64 {
    return Lanes_u64(~x.x, ~x.y, ~x.z, ~x.w);
}

// Shifts by 0 to 63. Within a word they are by less than 32, and bits that leave it are shifted twice: once by 1.
fn up_u64(x: Lanes_u64, by: vec4<u32>) -> Lanes_u64 {
    let near = by & vec4<u32>(31u);
    let low = low_u64(x) << near;
    let high = (high_u64(x) << near) | ((low_u64(x) >> vec4<u32>(1u)) >> (vec4<u32>(31u) - near));
    let far = by > vec4<u32>(31u);
    return of_words_u64(select(low, vec4<u32>(0u), far), select(high, low, far));
}

fn down_u64(x: Lanes_u64, by: vec4<u32>) -> Lanes_u64 {
    let near = by & vec4<u32>(31u);
    let high = word_down_u64(high_u64(x), near);
    let low = (low_u64(x) >> near) | ((high_u64(x) << vec4<u32>(1u)) << (vec4<u32>(31u) - near));
    let far = by > vec4<u32>(31u);
    // Shifted twice, only copies of the sign are left.
    let rest = word_down_u64(word_down_u64(high_u64(x), vec4<u32>(31u)), vec4<u32>(31u));
    return of_words_u64(select(low, high, far), select(high, rest, far));
}
