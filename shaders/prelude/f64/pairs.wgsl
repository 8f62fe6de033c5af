// f64 as pairs of words, on adapters without the type: what needs no arithmetic. Ranks are integers in the order of the numbers.

// The high word without the sign.
fn top_f64(x: Lanes_f64) -> vec4<u32> {
    return high_f64(x) & vec4<u32>(0x7fffffffu);
}

fn nonzero_f64(x: Lanes_f64) -> vec4<bool> {
    return (top_f64(x) | low_f64(x)) != vec4<u32>(0u);
}

fn is_nan_f64(x: Lanes_f64) -> vec4<bool> {
    // A fraction below the high word is one bit of it.
    return (top_f64(x) | min(low_f64(x), vec4<u32>(1u))) > vec4<u32>(0x7ff00000u);
}

fn is_inf_f64(x: Lanes_f64) -> vec4<bool> {
    return (top_f64(x) | min(low_f64(x), vec4<u32>(1u))) == vec4<u32>(0x7ff00000u);
}

fn is_finite_f64(x: Lanes_f64) -> vec4<bool> {
    return top_f64(x) < vec4<u32>(0x7ff00000u);
}

fn signbit_f64(x: Lanes_f64) -> vec4<bool> {
    return high_f64(x) >= vec4<u32>(0x80000000u);
}

fn neg_f64(x: Lanes_f64) -> Lanes_f64 {
    return of_words_f64(low_f64(x), high_f64(x) ^ vec4<u32>(0x80000000u));
}

fn abs_f64(x: Lanes_f64) -> Lanes_f64 {
    return of_words_f64(low_f64(x), top_f64(x));
}

fn copysign_f64(x: Lanes_f64, sign_of: Lanes_f64) -> Lanes_f64 {
    return of_words_f64(low_f64(x), top_f64(x) | (high_f64(sign_of) & vec4<u32>(0x80000000u)));
}

// A negative number flips all bits, and another number flips the sign. -0 comes before +0.
fn rank_f64(x: Lanes_f64) -> Lanes_u64 {
    let negative = word_down_i64(high_f64(x), vec4<u32>(31u));
    return of_words_u64(low_f64(x) ^ negative, high_f64(x) ^ (negative | vec4<u32>(0x80000000u)));
}

fn of_rank_f64(rank: Lanes_u64) -> Lanes_f64 {
    let negative = ~word_down_i64(high_u64(rank), vec4<u32>(31u));
    return of_words_f64(low_u64(rank) ^ negative, high_u64(rank) ^ (negative | vec4<u32>(0x80000000u)));
}

fn are_numbers_f64(a: Lanes_f64, b: Lanes_f64) -> vec4<bool> {
    return !(is_nan_f64(a) | is_nan_f64(b));
}

// -0 as +0.
fn positive_zero_f64(x: Lanes_f64) -> Lanes_f64 {
    return select_f64(Lanes_f64(), x, nonzero_f64(x));
}

fn eq_f64(a: Lanes_f64, b: Lanes_f64) -> vec4<bool> {
    return eq_u64(rank_f64(positive_zero_f64(a)), rank_f64(positive_zero_f64(b))) & are_numbers_f64(a, b);
}

fn lt_f64(a: Lanes_f64, b: Lanes_f64) -> vec4<bool> {
    return lt_u64(rank_f64(positive_zero_f64(a)), rank_f64(positive_zero_f64(b))) & are_numbers_f64(a, b);
}

fn le_f64(a: Lanes_f64, b: Lanes_f64) -> vec4<bool> {
    return !lt_u64(rank_f64(positive_zero_f64(b)), rank_f64(positive_zero_f64(a))) & are_numbers_f64(a, b);
}

fn lesser_f64(a: Lanes_f64, b: Lanes_f64) -> Lanes_f64 {
    return select_f64(a, b, lt_u64(rank_f64(b), rank_f64(a)));
}

fn greater_f64(a: Lanes_f64, b: Lanes_f64) -> Lanes_f64 {
    return select_f64(a, b, lt_u64(rank_f64(a), rank_f64(b)));
}

fn min_f64(a: Lanes_f64, b: Lanes_f64) -> Lanes_f64 {
    return select_f64(select_f64(lesser_f64(a, b), b, is_nan_f64(b)), a, is_nan_f64(a));
}

fn max_f64(a: Lanes_f64, b: Lanes_f64) -> Lanes_f64 {
    return select_f64(select_f64(greater_f64(a, b), b, is_nan_f64(b)), a, is_nan_f64(a));
}

fn fmin_f64(a: Lanes_f64, b: Lanes_f64) -> Lanes_f64 {
    return select_f64(select_f64(lesser_f64(a, b), a, is_nan_f64(b)), b, is_nan_f64(a));
}

fn fmax_f64(a: Lanes_f64, b: Lanes_f64) -> Lanes_f64 {
    return select_f64(select_f64(greater_f64(a, b), a, is_nan_f64(b)), b, is_nan_f64(a));
}

// The number of NaN of one sign, by which ranks are turned: all NaN is least or greatest.
fn nans_f64() -> Lanes_u64 {
    return of_words_u64(vec4<u32>(0xffffffffu), vec4<u32>(0x000fffffu));
}

fn min_rank_f64(x: Lanes_f64) -> Lanes_u64 {
    return add_u64(rank_f64(x), nans_f64());
}

fn of_min_rank_f64(rank: Lanes_u64) -> Lanes_f64 {
    return of_rank_f64(sub_u64(rank, nans_f64()));
}

fn max_rank_f64(x: Lanes_f64) -> Lanes_u64 {
    return sub_u64(rank_f64(x), nans_f64());
}

fn of_max_rank_f64(rank: Lanes_u64) -> Lanes_f64 {
    return of_rank_f64(add_u64(rank, nans_f64()));
}

// Both zeros are equal, and all NaN is equal.
fn argmin_rank_f64(x: Lanes_f64) -> Lanes_u64 {
    let nan = of_words_u64(vec4<u32>(0xfffffffdu), vec4<u32>(0x001fffffu));
    return max_u64(min_rank_f64(positive_zero_f64(x)), nan);
}

fn of_argmin_rank_f64(rank: Lanes_u64) -> Lanes_f64 {
    return of_min_rank_f64(rank);
}

fn argmax_rank_f64(x: Lanes_f64) -> Lanes_u64 {
    let nan = of_words_u64(vec4<u32>(2u), vec4<u32>(0xffe00000u));
    return min_u64(max_rank_f64(positive_zero_f64(x)), nan);
}

fn of_argmax_rank_f64(rank: Lanes_u64) -> Lanes_f64 {
    return of_max_rank_f64(rank);
}

fn cast_bool_f64(x: vec4<bool>) -> Lanes_f64 {
    return of_words_f64(vec4<u32>(0u), select(vec4<u32>(0u), vec4<u32>(0x3ff00000u), x));
}

// A subnormal f32 is normal. Its leading bit moves to where a normal one's is hidden.
fn cast_f32_f64(x: vec4<f32>) -> Lanes_f64 {
    let bits = bits_f32(x);
    let magnitude = bits & vec4<u32>(MAGNITUDE_f32);
    let is_subnormal = magnitude < vec4<u32>(LEAST_f32);
    let by = select(vec4<u32>(0u), countLeadingZeros(magnitude) - vec4<u32>(8u), is_subnormal & (magnitude != vec4<u32>(0u)));
    let significand = magnitude << by;
    // The exponents differ by 896. A leading bit that moved counts as one.
    let moved = (vec4<u32>(896u) - by) << vec4<u32>(20u);
    let normal = (significand >> vec4<u32>(3u)) + moved;
    let special = (magnitude >> vec4<u32>(3u)) | vec4<u32>(0x7ff00000u);
    let quiet = special | select(vec4<u32>(0u), vec4<u32>(0x00080000u), is_nan_f32(x));
    let high = select(normal, quiet, magnitude >= vec4<u32>(INFINITE_f32));
    let none = magnitude == vec4<u32>(0u);
    return of_words_f64(significand << vec4<u32>(29u), select(high, vec4<u32>(0u), none) | (bits & vec4<u32>(SIGN_f32)));
}

// To the nearest f32, halves to even, or rounded to odd.
fn narrowed_f64(x: Lanes_f64, odd: bool) -> vec4<f32> {
    let one = vec4<u32>(1u);
    let none = vec4<u32>(0u);
    let top = top_f64(x);
    let exponent = vec4<i32>(top >> vec4<u32>(20u)) - vec4<i32>(896);
    let significand = of_words_u64(low_f64(x), (top & vec4<u32>(0x000fffffu)) | vec4<u32>(0x00100000u));
    // A subnormal f32 has fewer digits.
    let lost_bits = vec4<u32>(clamp(vec4<i32>(30) - exponent, vec4<i32>(29), vec4<i32>(60)));
    let all = down_u64(significand, lost_bits);
    let kept = low_u64(all);
    let lost = sub_u64(significand, up_u64(all, lost_bits));
    let half = up_u64(of_words_u64(one, none), lost_bits - one);
    let up = lt_u64(half, lost) | (eq_u64(lost, half) & ((kept & one) != none));
    let nearest = kept + select(none, one, up);
    let sticky = kept | select(none, one, nonzero_u64(lost));
    let rounded = select(nearest, sticky, vec4<bool>(odd));
    let normal = rounded + (vec4<u32>(max(exponent, vec4<i32>(1)) - vec4<i32>(1)) << vec4<u32>(23u));
    let beyond = select(vec4<u32>(0x7f800000u), vec4<u32>(0x7f7fffffu), vec4<bool>(odd));
    let finite = select(normal, beyond, exponent >= vec4<i32>(255));
    let infinite = select(finite, vec4<u32>(0x7f800000u), is_inf_f64(x));
    let bits = select(infinite, vec4<u32>(0x7fc00000u), is_nan_f64(x));
    return bitcast<vec4<f32>>(bits | (high_f64(x) & vec4<u32>(0x80000000u)));
}

fn cast_f64_f32(x: Lanes_f64) -> vec4<f32> {
    return narrowed_f64(x, false);
}

fn odd_f64_f32(x: Lanes_f64) -> vec4<f32> {
    return narrowed_f64(x, true);
}

fn cast_u32_f64(x: vec4<u32>) -> Lanes_f64 {
    return cast_u64_f64(cast_u32_u64(x));
}

fn cast_i32_f64(x: vec4<i32>) -> Lanes_f64 {
    return cast_i64_f64(cast_i32_i64(x));
}

// The leading 53 bits, rounded to the nearest, halves to even. Half a unit is 2^10, and the first bit counts as one exponent.
fn cast_u64_f64(x: Lanes_u64) -> Lanes_f64 {
    let none = vec4<u32>(0u);
    let zeros = low_u64(leading_zeros_u64(x, 64u));
    let top = up_u64(x, min(zeros, vec4<u32>(63u)));
    let kept = down_u64(top, vec4<u32>(11u));
    let up = (low_u64(top) & vec4<u32>(0x7ffu)) + (low_u64(kept) & vec4<u32>(1u)) > vec4<u32>(0x400u);
    let exponent = select((vec4<u32>(1085u) - zeros) << vec4<u32>(20u), none, zeros == vec4<u32>(64u));
    let bits = add_u64(kept, of_words_u64(select(none, vec4<u32>(1u), up), exponent));
    return of_words_f64(low_u64(bits), high_u64(bits));
}

// Shifted down from the top, the significand is the integer of a number from 1 to 2^64.
fn cast_f64_u64(x: Lanes_f64) -> Lanes_u64 {
    let exponent = top_f64(x) >> vec4<u32>(20u);
    let top = up_u64(of_words_u64(low_f64(x), high_f64(x) | vec4<u32>(0x00100000u)), vec4<u32>(11u));
    let inside = down_u64(top, vec4<u32>(1086u) - clamp(exponent, vec4<u32>(1023u), vec4<u32>(1086u)));
    let high = select_u64(inside, not_u64(Lanes_u64()), exponent > vec4<u32>(1086u));
    let none = is_nan_f64(x) | signbit_f64(x) | (exponent < vec4<u32>(1023u));
    return select_u64(high, Lanes_u64(), none);
}
