// Quotients and roots to the nearest float, halves to even, for adapters whose own are a few units off. The
// adapter's result is a guess of the significand. The rest of the operand decides the right one. The rest is
// an integer that fits in a word, although its parts are longer.

// A guess is at most 7 units off, so the right significand is 1 to 15 more than the guess minus 8.
const FROM_GUESS_u32: u32 = 8;

fn is_normal_f32(magnitude: vec4<u32>) -> vec4<bool> {
    return magnitude - vec4<u32>(LEAST_f32) < vec4<u32>(INFINITE_f32 - LEAST_f32);
}

fn div_nearest_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return div_by_integers_f32(a, b);
}

fn div_by_integers_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let m = (x & vec4<u32>(FRACTION_f32)) | vec4<u32>(LEAST_f32);
    let n = (y & vec4<u32>(FRACTION_f32)) | vec4<u32>(LEAST_f32);
    // The quotient of the significands, as an integer of as many digits. It is below 1 if m is less than n.
    let less = m < n;
    let shift = Count(FRACTION_BITS_f32) + select(Count(0), Count(1), less);
    let top = bitcast<vec4<f32>>(m ^ vec4<u32>(LEAST_f32 ^ ONE_f32));
    let guess = top / bitcast<vec4<f32>>(n ^ vec4<u32>(LEAST_f32 ^ ONE_f32));
    var q = cast_f32_u32(select(guess, guess + guess, less) * UNIT_f32) - FROM_GUESS_u32;
    var rest = (m << shift) - q * n;
    for (var step = FROM_GUESS_u32; step > 0; step >>= 1u) {
        let more = rest >= n * step;
        q = select(q, q + step, more);
        rest = select(rest, rest - n * step, more);
    }
    let up = select(select(vec4<u32>(0), q & vec4<u32>(1), rest + rest == n), vec4<u32>(1), rest + rest > n);
    let bias = vec4<i32>(i32(ONE_f32 >> FRACTION_BITS_f32));
    let apart = vec4<i32>(x >> Count(FRACTION_BITS_f32)) - vec4<i32>(y >> Count(FRACTION_BITS_f32));
    let exponent = apart + bias - select(vec4<i32>(0), vec4<i32>(1), less);
    let finite = q + up + (vec4<u32>(max(exponent, vec4<i32>(1)) - vec4<i32>(1)) << Count(FRACTION_BITS_f32));
    let beyond = exponent >= vec4<i32>(i32(INFINITE_f32 >> FRACTION_BITS_f32));
    let bounded = select(finite, vec4<u32>(INFINITE_f32), beyond);
    // Half a unit below the least normal float, the result rounds to that float.
    let least = (exponent == vec4<i32>(0)) & (q == vec4<u32>(LEAST_f32 | FRACTION_f32));
    let bits = select(bounded, vec4<u32>(LEAST_f32), least);
    let sign = (bits_f32(a) ^ bits_f32(b)) & vec4<u32>(SIGN_f32);
    // Subnormals, which may be flushed, take the adapter's own division. Some adapters multiply by the reciprocal, so
    // infinity over a number whose reciprocal is flushed would be NaN.
    let infinite = (x == vec4<u32>(INFINITE_f32)) & (y < vec4<u32>(INFINITE_f32));
    let normal = is_normal_f32(x) & is_normal_f32(y) & (least | (exponent > vec4<i32>(0)));
    let told = select(bits, vec4<u32>(INFINITE_f32), infinite) | sign;
    return select(a / b, bitcast<vec4<f32>>(told), normal | infinite);
}

// The division that other functions use.
fn quotient_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return div_nearest_f32(a, b);
}

// The square root that other functions use.
fn root_f32(x: vec4<f32>) -> vec4<f32> {
    return sqrt_nearest_f32(x);
}

fn sqrt_nearest_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    let m = (bits & vec4<u32>(FRACTION_f32)) | vec4<u32>(LEAST_f32);
    let exponent = Count(bits >> Count(FRACTION_BITS_f32));
    // The number is 1 to 2 times an even power of two, or 2 to 4 times one.
    let even = (exponent & Count(1)) == Count(0);
    let scaled = bitcast<vec4<f32>>(m ^ vec4<u32>(LEAST_f32 ^ ONE_f32));
    var root = cast_f32_u32(sqrt(select(scaled, scaled + scaled, even)) * UNIT_f32) - FROM_GUESS_u32;
    var rest = (m << (Count(FRACTION_BITS_f32) + select(Count(0), Count(1), even))) - root * root;
    for (var step = FROM_GUESS_u32; step > 0; step >>= 1u) {
        let next = (root + root + step) * step;
        let more = rest >= next;
        root = select(root, root + step, more);
        rest = select(rest, rest - next, more);
    }
    let rounded = root + select(vec4<u32>(0), vec4<u32>(1), rest > root);
    let bias = Count(vec4<i32>(i32(ONE_f32 >> FRACTION_BITS_f32)));
    let halved = (exponent + bias - select(Count(0), Count(1), even)) >> Count(1);
    let value = bitcast<vec4<f32>>(rounded + (vec4<u32>(halved - Count(1)) << Count(FRACTION_BITS_f32)));
    return select(sqrt_f32(x), value, is_normal_f32(bits));
}
