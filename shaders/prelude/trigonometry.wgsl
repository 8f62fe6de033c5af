// Sine and cosine for all finite inputs. An angle is reduced to a quadrant and r in -pi/4..pi/4, and a polynomial takes r.
// If an angle is infinite or NaN, r is NaN. Arcsine and arctangent follow FreeBSD's msun. Reductions, constants and
// polynomials are in f32/ and f64/.

fn to_degrees_f32(x: vec4<f32>) -> vec4<f32> {
    return times_f32(x, vec4(DEGREES_f32));
}

fn to_radians_f32(x: vec4<f32>) -> vec4<f32> {
    return times_kept_f32(x, vec4(RADIANS_f32));
}

// The value of an odd function, from its value for the magnitude.
fn with_sign_f32(value: vec4<f32>, x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bits_f32(value) ^ (bits_f32(x) & vec4<u32>(SIGN_f32)));
}

fn sin_f32(x: vec4<f32>) -> vec4<f32> {
    return with_sign_f32(sine_of_reduced_f32(reduce_f32(abs(x))), x);
}

fn cos_f32(x: vec4<f32>) -> vec4<f32> {
    return sine_of_reduced_f32(turned_f32(reduce_f32(abs(x))));
}

fn tan_f32(x: vec4<f32>) -> vec4<f32> {
    return tan_of_reduced_f32(reduce_f32(abs(x)), x);
}

// Tangent of x, from its reduced magnitude.
fn tan_of_reduced_f32(reduced: Reduced_f32, x: vec4<f32>) -> vec4<f32> {
    return with_sign_f32(quotient_f32(sine_of_reduced_f32(reduced), sine_of_reduced_f32(turned_f32(reduced))), x);
}

// The same for an angle up to NEAR. The reduction of a large angle takes long to compile, and a loop with its branch has no
// vectors on the CPU path, which reads these functions too.
fn near_sin_f32(x: vec4<f32>) -> vec4<f32> {
    return with_sign_f32(sine_of_reduced_f32(reduce_small_f32(abs(x))), x);
}

fn near_cos_f32(x: vec4<f32>) -> vec4<f32> {
    return sine_of_reduced_f32(turned_f32(reduce_small_f32(abs(x))));
}

fn near_tan_f32(x: vec4<f32>) -> vec4<f32> {
    return tan_of_reduced_f32(reduce_small_f32(abs(x)), x);
}

// asin(sqrt(z)), in a high and a low part.
struct Arcsine_f32 {
    high: vec4<f32>,
    low: vec4<f32>,
}

fn arcsine_of_root_f32(z: vec4<f32>) -> Arcsine_f32 {
    let s = root_f32(z);
    let high = cut_f32(s);
    let c = quotient_f32(mul_add_f32(-high, high, z), max(s + high, vec4<f32>(1.0e-30)));
    return Arcsine_f32(high, opaque_f32(mul_add_f32(asin_tail_f32(z), s, c)));
}

fn asin_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let small = mul_add_f32(x, asin_tail_f32(min(times_f32(magnitude, magnitude), vec4<f32>(0.25))), x);
    let root = arcsine_of_root_f32(0.5 * (1.0 - min(magnitude, vec4<f32>(1.0))));
    // pi/2 - 2 (high + low), begun at pi/4 so that nothing cancels early.
    let rest = opaque_f32(2.0 * root.low - HALF_PI_LOW_f32);
    let large = QUARTER_PI_f32 - opaque_f32(rest - opaque_f32(QUARTER_PI_f32 - 2.0 * root.high));
    let value = select(small, copysign_f32(large, x), magnitude >= vec4<f32>(0.5));
    let tiny = magnitude < vec4<f32>(TINY_ANGLE_f32);
    return select(select(value, x, tiny), nan_f32(x), (magnitude > vec4<f32>(1.0)) | is_nan_f32(x));
}

fn acos_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let z = min(times_f32(magnitude, magnitude), vec4<f32>(0.25));
    let middle = ACOS_f32 - opaque_f32(x - opaque_f32(mul_add_f32(-x, asin_tail_f32(z), vec4(ACOS_LOW_f32))));
    let root = arcsine_of_root_f32(0.5 * (1.0 - min(magnitude, vec4<f32>(1.0))));
    let right = 2.0 * (root.high + root.low);
    let left = 2.0 * (ACOS_f32 - opaque_f32(root.high + opaque_f32(root.low - ACOS_LOW_f32)));
    let outer = select(right, left, x < vec4<f32>(0.0));
    let value = select(middle, outer, magnitude >= vec4<f32>(0.5));
    return select(value, nan_f32(x), (magnitude > vec4<f32>(1.0)) | is_nan_f32(x));
}

fn atan_f32(x: vec4<f32>) -> vec4<f32> {
    let itself = is_nan_f32(x) | (abs(x) < vec4<f32>(TINY_ANGLE_f32));
    return select(copysign_f32(atan_positive_f32(abs(x)), x), x, itself);
}

// The angle of (x, y) by IEEE 754. It has the sign of y, even of a zero.
fn atan2_f32(y: vec4<f32>, x: vec4<f32>) -> vec4<f32> {
    let ay = magnitude_bits_f32(y);
    let ax = magnitude_bits_f32(x);
    let infinite = vec4<u32>(INFINITE_f32);
    let both = ((ay == infinite) & (ax == infinite));
    let ratio = select(quotient_f32(abs(y), abs(x)), vec4<f32>(1.0), both);
    let first = select(opaque_f32(atan_positive_f32(ratio)), vec4<f32>(0.0), ay == vec4<u32>(0));
    let left = signbit_f32(x);
    let turned = select(first, PI_f32 - opaque_f32(first - PI_LOW_f32), left);
    return select(copysign_f32(turned, y), nan_f32(x), (ay > infinite) | (ax > infinite));
}
