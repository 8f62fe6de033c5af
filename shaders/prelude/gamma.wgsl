// The logarithm of the gamma function and its derivative. Polynomials are in f32/ and f64/.

// ln |gamma|. Around 2 it is a polynomial, after a shift by gamma(x + 1) = x gamma(x). Far from 2 it is
// Stirling's series. Below 0 it is gamma(x) gamma(-x) = -pi / (x sin(pi x)), with the shift in the quotient,
// so that one logarithm is taken near the zeros and nothing cancels.
fn lgamma_f32(x: vec4<f32>) -> vec4<f32> {
    let y = abs(x);
    let low = y < vec4<f32>(0.5);
    let near_one = !low & (y < vec4<f32>(1.5));
    let large = y >= vec4<f32>(f32(STIRLING_FROM_f32));
    let shifts = !(low | near_one | large);
    var product = vec4<f32>(1.0);
    var rest = y;
    for (var i = 2; i < STIRLING_FROM_f32; i += 1) {
        let above = (rest >= vec4<f32>(2.5)) & shifts;
        rest = select(rest, opaque_f32(rest - 1.0), above);
        product = select(product, times_f32(product, rest), above);
    }
    // lgamma(2 + t), and the shift from there.
    let t = opaque_f32(select(select(select(rest - 2.0, y - 1.0, near_one), y, low), vec4<f32>(0.0), large));
    let around = times_f32(t, mul_add_f32(t, lgamma_tail_f32(t), vec4(ONE_LESS_EULER_f32)));
    let logarithm = opaque_f32(log_f32(select(select(product, times_f32(y, opaque_f32(1.0 + y)), low), y, large)));
    let shifted = plus_f32(around, select(logarithm, -logarithm, low));
    let inverse = quotient_f32(vec4(1.0), y);
    let series = opaque_f32(mul_add_f32(y - 0.5, opaque_f32(logarithm - 1.0), opaque_f32(mul_add_f32(inverse, stirling_tail_f32(times_f32(inverse, inverse)), vec4(0.4189385332046727)))));
    let positive = select(select(shifted, plus_f32(around, -opaque_f32(log1p_f32(t))), near_one), series, large);

    let r = y - whole_f32(y);
    let divisor = times_f32(select(y, times_f32(y, product), shifts), abs(near_sin_f32(times_f32(vec4(PI_f32), r))));
    let reflected = opaque_f32(log_f32(quotient_f32(vec4(PI_f32), divisor))) - opaque_f32(select(positive, around, shifts));
    let integer = (r == vec4<f32>(0.0)) | is_inf_f32(x);
    let negative = select(reflected, inf_f32(vec4<f32>(1.0)), integer);
    let below = (x < vec4<f32>(0.0)) & (y >= vec4<f32>(ROUNDED_f32));
    return select(select(positive, negative, below), x, is_nan_f32(x));
}

// The derivative of lgamma: by its asymptotic series, shifted by digamma(x + 1) = digamma(x) + 1 / x,
// and below 0 by digamma(1 - x) - digamma(x) = pi / tan(pi x).
fn digamma_f32(x: vec4<f32>) -> vec4<f32> {
    var z = select(x, opaque_f32(1.0 - x), x < vec4<f32>(0.0));
    // The first term may be large, so it is added last.
    let begins = z < vec4<f32>(f32(DIGAMMA_FROM_f32));
    let first = select(vec4<f32>(0.0), quotient_f32(vec4(1.0), z), begins);
    z = select(z, opaque_f32(z + 1.0), begins);
    var sum = vec4<f32>(0.0);
    for (var i = 1; i < DIGAMMA_FROM_f32; i += 1) {
        let below = z < vec4<f32>(f32(DIGAMMA_FROM_f32));
        sum = select(sum, opaque_f32(sum - quotient_f32(vec4(1.0), z)), below);
        z = select(z, opaque_f32(z + 1.0), below);
    }
    let positive = opaque_f32(opaque_f32(opaque_f32(plus_f32(-digamma_tail_f32(quotient_f32(vec4(1.0), times_f32(z, z))), opaque_f32(opaque_f32(log_f32(z)) - quotient_f32(vec4(0.5), z)))) + sum) - first);
    let r = x - whole_f32(x);
    let reflected = positive - quotient_f32(vec4(PI_f32), near_tan_f32(times_f32(vec4(PI_f32), r)));
    let undefined = (r == vec4<f32>(0.0)) | is_inf_f32(x);
    let negative = select(reflected, nan_f32(x), undefined);
    let value = select(positive, negative, x < vec4<f32>(0.0));
    let zero = magnitude_bits_f32(x) == vec4<u32>(0);
    return select(select(value, inf_f32(-x), zero), x, is_nan_f32(x));
}
