// What folds of floats combine by. Order goes by bits, so that no adapter flushes what it compares.

// Numbers in their order, -0 before +0; NaN is beyond infinity on either side.
fn order_f32(x: vec4<f32>) -> vec4<u32> {
    let bits = bits_f32(x);
    return select(~bits, bits | vec4<u32>(SIGN_f32), (bits & vec4<u32>(SIGN_f32)) == vec4<u32>(0));
}

// +0 for -0, and other numbers as they are.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

fn minimum_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(b, a, is_nan_f32(a) | (!is_nan_f32(b) & (order_f32(a) < order_f32(b))));
}

fn maximum_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(b, a, is_nan_f32(a) | (!is_nan_f32(b) & (order_f32(a) > order_f32(b))));
}

// Whether `b` takes the place of `a` as the least: the zeros are equal, and NaN is less than numbers.
fn beats_min_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    let less = order_f32(positive_zero_f32(b)) < order_f32(positive_zero_f32(a));
    return !is_nan_f32(a) & (is_nan_f32(b) | less);
}

fn beats_max_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    let greater = order_f32(positive_zero_f32(b)) > order_f32(positive_zero_f32(a));
    return !is_nan_f32(a) & (is_nan_f32(b) | greater);
}
