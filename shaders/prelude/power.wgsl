// Power by IEEE 754, roots and the hypotenuse. If a logarithm has two floats, masks cut the high one to few
// bits, and the differences that make the low one are opaque, so no compiler can undo the split.

// A finite exponent. If it replaces a larger one, it is even, as every float of that size is.
fn bounded_exponent_f32(y: vec4<f32>) -> vec4<f32> {
    return clamp(y, vec4<f32>(-LARGE_EXPONENT_f32), vec4<f32>(LARGE_EXPONENT_f32));
}

fn pow_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let positive = bitcast<vec4<f32>>(magnitude_bits_f32(x));
    return pow_edges_f32(x, y, pow_positive_f32(positive, bounded_exponent_f32(y)));
}

// x^y, where |x|^y is `positive` if x is neither 0 nor infinite and neither is NaN.
fn pow_edges_f32(x: vec4<f32>, y: vec4<f32>, positive: vec4<f32>) -> vec4<f32> {
    let ax = magnitude_bits_f32(x);
    let ay = magnitude_bits_f32(y);
    let bounded = bounded_exponent_f32(y);
    // Half of a float beside an odd integer may round to half of the integer.
    let fractional = fraction_f32(bounded) != vec4<f32>(0.0);
    let odd = !fractional & (fraction_f32(0.5 * bounded) == vec4<f32>(0.5));
    let negative = signbit_f32(x);
    let zero = ax == vec4<u32>(0);
    let ends = zero | (ax == vec4<u32>(INFINITE_f32));
    let limit = bitcast<vec4<f32>>(select(vec4<u32>(INFINITE_f32), vec4<u32>(0), zero != signbit_f32(y)));
    let magnitude = select(positive, limit, ends);
    let power = select(magnitude, -magnitude, negative & odd);
    let root = negative & fractional;
    let undefined = (root & !ends) | (max(ax, ay) > vec4<u32>(INFINITE_f32));
    let one = (ay == vec4<u32>(0)) | (bits_f32(x) == vec4<u32>(ONE_f32));
    return select(select(power, nan_f32(opaque_f32(vec4<f32>(0.0))), undefined), vec4<f32>(1.0), one);
}

fn rsqrt_f32(x: vec4<f32>) -> vec4<f32> {
    return quotient_f32(vec4(1.0), select(sqrt_f32(x), root_f32(x), x > vec4<f32>(0.0)));
}

fn hypot_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let high = bitcast<vec4<f32>>(max(x, y));
    let low = bitcast<vec4<f32>>(min(x, y));
    let ratio = quotient_f32(low, high);
    let value = times_f32(high, root_f32(mul_add_f32(ratio, ratio, vec4(1.0))));
    let finite = select(value, high, min(x, y) == vec4<u32>(0));
    let infinite = (x == vec4<u32>(INFINITE_f32)) | (y == vec4<u32>(INFINITE_f32));
    let nan = (x > vec4<u32>(INFINITE_f32)) | (y > vec4<u32>(INFINITE_f32));
    return select(select(finite, nan_f32(a), nan), inf_f32(vec4<f32>(1.0)), infinite);
}
