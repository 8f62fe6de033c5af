// Floats in reductions. Minima and maxima compare ranks, which are integers in the order of the numbers.

// +0 for -0, and other numbers unchanged.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

// The rank of a number. -0 comes before +0, and NaN is beyond infinity on either side.
fn rank_f32(x: vec4<f32>) -> vec4<u32> {
    let bits = bits_f32(x);
    // A negative number flips all bits, and another number flips the sign.
    let negative = bitcast<vec4<u32>>(bitcast<Signed_u32>(bits) >> Count(WORD_u32 - 1u));
    return bits ^ (negative | vec4<u32>(SIGN_f32));
}

// The number of a rank.
fn of_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    let negative = (rank >> Count(WORD_u32 - 1u)) - vec4<u32>(1);
    return bitcast<vec4<f32>>(rank ^ (negative | vec4<u32>(SIGN_f32)));
}

// Ranks lie on a circle, on which NaN of both signs is side by side. Turned by the number of NaN of one sign, all NaN is
// least.
fn min_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return rank_f32(x) + vec4<u32>(FRACTION_f32);
}

fn of_min_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    return of_rank_f32(rank - vec4<u32>(FRACTION_f32));
}

// Turned the other way, all NaN is greatest.
fn max_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return rank_f32(x) - vec4<u32>(FRACTION_f32);
}

fn of_max_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    return of_rank_f32(rank + vec4<u32>(FRACTION_f32));
}

// Both zeros are equal, and all NaN is equal.
fn argmin_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return max(min_rank_f32(positive_zero_f32(x)), vec4<u32>(ARGMIN_OF_NAN_f32));
}

fn of_argmin_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    return of_min_rank_f32(rank);
}

fn argmax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return min(max_rank_f32(positive_zero_f32(x)), vec4<u32>(ARGMAX_OF_NAN_f32));
}

fn of_argmax_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    return of_max_rank_f32(rank);
}
