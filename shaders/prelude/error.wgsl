// The error function. Polynomials are in f32/ and f64/.

// e^-x^2 times a rational function of 1 / x^2, for x in 1.25..28. -x^2 is split into two parts, so its rounding
// does not show.
fn erfc_far_f32(x: vec4<f32>) -> vec4<f32> {
    let tail = erfc_tail_f32(quotient_f32(vec4(1.0), times_f32(x, x)), x >= vec4<f32>(2.857142925));
    let cut = cut_square_f32(x);
    return quotient_f32(exp_of_sum_f32(opaque_f32(mul_add_f32(-cut, cut, vec4(-0.5625))), opaque_f32(mul_add_f32(cut - x, cut + x, tail)), 0), x);
}

// 1 - erf below 0.84375, around 1 by a rational function of x - 1, and by the tail above 1.25.
fn erfc_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let z = min(magnitude, vec4<f32>(0.84375));
    let y = erfc_near_f32(times_f32(z, z));
    let near = select(0.5 - opaque_f32(mul_add_f32(x, y, opaque_f32(x - 0.5))), 1.0 - opaque_f32(mul_add_f32(x, y, x)), x < vec4<f32>(0.25));
    let r = erfc_around_f32(opaque_f32(clamp(magnitude, vec4<f32>(0.84375), vec4<f32>(1.25)) - 1.0));
    let around = select((1.0 - ERF_1_f32) - r, 1.0 + opaque_f32(ERF_1_f32 + r), x < vec4<f32>(0.0));
    let power = erfc_far_f32(clamp(magnitude, vec4<f32>(1.25), vec4<f32>(28.0)));
    let far = select(power, 2.0 - power, x < vec4<f32>(0.0));
    let inner = select(around, near, magnitude < vec4<f32>(0.84375));
    let value = select(inner, far, magnitude >= vec4<f32>(1.25));
    return select(value, x, is_nan_f32(x));
}
