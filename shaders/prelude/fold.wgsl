// Floats as folds combine them: minima and maxima by ranks, which are integers in the order of the numbers.

// +0 for -0, and other numbers as they are.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

// -0 comes before +0, and NaN is beyond infinity on either side.
fn rank_f32(x: vec4<f32>) -> vec4<u32> {
    let bits = bits_f32(x);
    return select(~bits, bits | vec4<u32>(SIGN_f32), (bits & vec4<u32>(SIGN_f32)) == vec4<u32>(0));
}

// The number of a rank.
fn of_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    let positive = (rank & vec4<u32>(SIGN_f32)) != vec4<u32>(0);
    return bitcast<vec4<f32>>(select(~rank, rank ^ vec4<u32>(SIGN_f32), positive));
}

// NaN is the least of all.
fn amin_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return select(rank_f32(x), vec4<u32>(0), is_nan_f32(x));
}

// NaN is the greatest of all.
fn amax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return select(rank_f32(x), ~vec4<u32>(0), is_nan_f32(x));
}

// The zeros are equal.
fn argmin_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return amin_rank_f32(positive_zero_f32(x));
}

fn argmax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return amax_rank_f32(positive_zero_f32(x));
}
