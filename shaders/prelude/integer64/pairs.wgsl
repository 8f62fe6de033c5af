// Integers of 64 bits as pairs of words: what has a sign.

fn cast_i64_u64(x: Lanes_i64) -> Lanes_u64 {
    return Lanes_u64(x.x, x.y, x.z, x.w);
}

fn cast_u64_i64(x: Lanes_u64) -> Lanes_i64 {
    return Lanes_i64(x.x, x.y, x.z, x.w);
}

// High words in the order of the integers.
fn ordered_u64(high: vec4<u32>) -> vec4<u32> {
    return high;
}

fn ordered_i64(high: vec4<u32>) -> vec4<u32> {
    return high ^ vec4<u32>(0x80000000u);
}

fn word_down_u64(high: vec4<u32>, by: vec4<u32>) -> vec4<u32> {
    return high >> by;
}

fn word_down_i64(high: vec4<u32>, by: vec4<u32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(bitcast<vec4<i32>>(high) >> by);
}

// After H. S. Warren, Hacker's Delight (2013), 9-4 and 9-5: three divisions of words and no loop. A divisor of one word divides
// the high word, then what that leaves with the low word. Otherwise the divisor's leading word divides half of the dividend,
// and the quotient is at most one too large.
fn div_u64(a: Lanes_u64, b: Lanes_u64) -> Lanes_u64 {
    let one = vec4<u32>(1u);
    let is_pair = high_u64(b) != vec4<u32>(0u);
    let top = div_u32(high_u64(a), low_u64(b));
    let left = of_words_u64(low_u64(a), high_u64(a) - top * low_u64(b));
    let shift = countLeadingZeros(select(low_u64(b), high_u64(b), is_pair)) & vec4<u32>(31u);
    let shifted = up_u64(b, shift);
    let dividend = select_u64(up_u64(left, shift), down_u64(a, one), is_pair);
    let q = divided_u64(dividend, select(low_u64(shifted), high_u64(shifted), is_pair));
    let guess = q >> (vec4<u32>(31u) - shift);
    let near = guess - min(guess, one);
    let rest = sub_u64(a, mul_u64(of_words_u64(near, vec4<u32>(0u)), b));
    let exact = near + select(one, vec4<u32>(0u), lt_u64(rest, b));
    let both = of_words_u64(select(q, exact, is_pair), select(top, vec4<u32>(0u), is_pair));
    return select_u64(Lanes_u64(), both, nonzero_u64(b));
}

// The quotient of a divisor whose highest bit is set and that is greater than the high word.
fn divided_u64(x: Lanes_u64, divisor: vec4<u32>) -> vec4<u32> {
    let half = vec4<u32>(16u);
    let next = low_u64(x) >> half;
    let first = half_quotient_u64(high_u64(x), next, divisor);
    let rest = ((high_u64(x) << half) | next) - first * divisor;
    return (first << half) | half_quotient_u64(rest, low_u64(x) & vec4<u32>(0xffffu), divisor);
}

// 16 bits of it: the quotient by the divisor's upper half is at most two too large.
fn half_quotient_u64(high: vec4<u32>, next: vec4<u32>, divisor: vec4<u32>) -> vec4<u32> {
    let none = vec4<u32>(0u);
    let one = vec4<u32>(1u);
    let most = vec4<u32>(0xffffu);
    let top = max(divisor >> vec4<u32>(16u), one);
    let bottom = divisor & most;
    let guess = high / top;
    let rest = high - guess * top;
    let is_large = (guess > most) | (guess * bottom > ((rest << vec4<u32>(16u)) | next));
    let less = guess - select(none, one, is_large);
    let more = rest + top;
    let is_larger = (less > most) | (less * bottom > ((more << vec4<u32>(16u)) | next));
    return less - select(none, one, is_large & is_larger & (more <= most));
}
