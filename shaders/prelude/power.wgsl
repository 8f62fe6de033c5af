// Power by IEEE 754, roots and the hypotenuse. Where a logarithm is carried in two floats, the high
// one has few bits, cut by masks, and each difference of the low one is opaque, so that no compiler
// can reassociate the split away.

// Whether |x|^y is left to a logarithm and an exponential.
fn pow_is_regular_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<bool> {
    let nonzero = magnitude_bits_f32(x) != vec4<u32>(0);
    return nonzero & is_finite_f32(x) & is_finite_f32(y);
}

fn pow_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let regular = pow_is_regular_f32(x, y);
    let base = select(vec4<f32>(1.0), abs(x), regular);
    return pow_edges_f32(x, y, pow_positive_f32(base, select(vec4<f32>(1.0), y, regular)));
}

// x^y, where |x|^y is `positive` if that is regular.
fn pow_edges_f32(x: vec4<f32>, y: vec4<f32>, positive: vec4<f32>) -> vec4<f32> {
    let ax = magnitude_bits_f32(x);
    let ay = magnitude_bits_f32(y);
    let infinite = vec4<u32>(INFINITE_f32);
    let one = vec4<u32>(ONE_f32);
    let y_negative = signbit_f32(y);
    let x_negative = signbit_f32(x);
    let y_bounded = select(vec4<f32>(0.0), abs(y), ay < infinite);
    let y_integer = floor(y_bounded) == y_bounded;
    let y_half = 0.5 * y_bounded;
    let y_odd = y_integer & (floor(y_half) != y_half);

    // 0 and infinite bases, and infinite exponents: 0 or infinity by which way the power grows.
    let x_grows = select(ax > one, ax >= infinite, ax == vec4<u32>(0));
    let vanishes = x_grows == y_negative;
    let limit = bitcast<vec4<f32>>(select(infinite, vec4<u32>(0), vanishes));
    var magnitude = select(limit, positive, pow_is_regular_f32(x, y));
    magnitude = select(magnitude, vec4<f32>(1.0), (ay == infinite) & (ax == one));
    var power = select(magnitude, -magnitude, x_negative & y_odd);
    let undefined = x_negative & !y_integer & (ax != vec4<u32>(0)) & (ax != infinite) & (ay != infinite);
    power = select(power, nan_f32(x), undefined | (ax > infinite) | (ay > infinite));
    return select(power, vec4<f32>(1.0), (ay == vec4<u32>(0)) | (bits_f32(x) == one));
}

fn rsqrt_f32(x: vec4<f32>) -> vec4<f32> {
    return 1.0 / sqrt_f32(x);
}

fn hypot_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let high = bitcast<vec4<f32>>(max(x, y));
    let low = bitcast<vec4<f32>>(min(x, y));
    let ratio = low / high;
    let value = high * sqrt(1.0 + ratio * ratio);
    let finite = select(value, high, min(x, y) == vec4<u32>(0));
    let infinite = (x == vec4<u32>(INFINITE_f32)) | (y == vec4<u32>(INFINITE_f32));
    let nan = (x > vec4<u32>(INFINITE_f32)) | (y > vec4<u32>(INFINITE_f32));
    return select(select(finite, nan_f32(a), nan), inf_f32(vec4<f32>(1.0)), infinite);
}
