// Reduction and polynomials of f64 for trigonometry (FreeBSD msun, Sun Microsystems, 1993).

// A quadrant and the rest of an angle, in two parts.
struct Reduced_f64 {
    r: vec4<f64>,
    tail: vec4<f64>,
    quadrant: vec4<u32>,
}

fn turned_f64(reduced: Reduced_f64) -> Reduced_f64 {
    return Reduced_f64(reduced.r, reduced.tail, reduced.quadrant + 1u);
}

// The first 1248 bits of 1 / (2 pi) behind the point.
const INVERSE_TAU = array<u32, 39>(
    0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u, 0x4f10e410u,
    0x7f9458eau, 0xf7aef158u, 0x6dc91b8eu, 0x909374b8u, 0x01924bbau, 0x82746487u,
    0x3f877ac7u, 0x2c4a69cfu, 0xba208d7du, 0x4baed121u, 0x3a671c09u, 0xad17df90u,
    0x4e64758eu, 0x60d4ce7du, 0x272117e2u, 0xef7e4a0eu, 0xc7fe25ffu, 0xf7816603u,
    0xfbcbc462u, 0xd6829b47u, 0xdb4d9fb3u, 0xc9f2c26du, 0xd3d18fd9u, 0xa797fa8bu,
    0x5d49eeb1u, 0xfaf97c5eu, 0xcf41ce7du, 0xe294a4bau, 0x9afed7ecu, 0x47e35742u,
    0x1580cc11u, 0xbf1edaeau, 0xfc33ef08u
);

// Bits `at` to `at + 32` of 1 / (2 pi) in each lane. Bits before the point are 0.
fn bits_of_inverse_tau(at: vec4<i32>) -> vec4<u64> {
    var words = INVERSE_TAU;
    let word = at >> vec4<u32>(5u);
    let first = vec4<u32>(clamp(word, vec4<i32>(0), vec4<i32>(38)));
    let second = vec4<u32>(clamp(word + 1, vec4<i32>(0), vec4<i32>(38)));
    let high = vec4<u32>(words[first.x], words[first.y], words[first.z], words[first.w]);
    let low = vec4<u32>(words[second.x], words[second.y], words[second.z], words[second.w]);
    let both = (vec4<u64>(select(high, vec4<u32>(0u), word < vec4<i32>(0))) << vec4<u32>(32u))
        | vec4<u64>(select(low, vec4<u32>(0u), word < vec4<i32>(-1)));
    return (both >> (vec4<u32>(32u) - (vec4<u32>(at) & vec4<u32>(31u)))) & vec4<u64>(0xfffffffflu);
}

// Subtracts k pi/2 in four parts. The first three have 33 bits, so their products with k < 2^20 are exact
// (Cody and Waite, Software Manual for the Elementary Functions, 1980).
fn reduce_small_f64(x: vec4<f64>) -> Reduced_f64 {
    let k = whole_f64(times_f64(x, vec4(6.36619772367581382433e-01lf)));
    let r1 = opaque_f64(mul_add_f64(k, vec4(-1.57079632673412561417e+00lf), x));
    let b = times_f64(k, vec4(6.07710050630396597660e-11lf));
    let r2 = opaque_f64(r1 - b);
    let c = times_f64(k, vec4(2.02226624871116645580e-21lf));
    let r3 = opaque_f64(r2 - c);
    let lost = opaque_f64(opaque_f64(opaque_f64(r1 - r2) - b) + opaque_f64(opaque_f64(r2 - r3) - c));
    let rest = opaque_f64(mul_add_f64(k, vec4(8.47842766036889956997e-32lf), -lost));
    let r = opaque_f64(r3 - rest);
    return Reduced_f64(r, opaque_f64(opaque_f64(r3 - r) - rest), bitcast<vec4<u32>>(vec4<i32>(k)));
}

// The significand times 192 bits of 1 / (2 pi) that matter for its exponent (Payne and Hanek, Radian
// reduction for trigonometric functions, 1983). 128 bits are kept.
fn reduce_large_f64(x: vec4<f64>) -> Reduced_f64 {
    let bits = magnitude_bits_f64(x);
    let significand = (bits & vec4<u64>(FRACTION_f64)) | vec4<u64>(LEAST_f64);
    let m0 = vec4<u64>(low_u64(significand));
    let m1 = vec4<u64>(high_u64(significand));
    let at = vec4<i32>(vec4<u32>(bits >> vec4<u32>(52u))) - vec4<i32>(1075);
    let mask = vec4<u64>(0xfffffffflu);
    let shift = vec4<u32>(32u);
    // Words of the product, the lowest first.
    var product: array<vec4<u64>, 6>;
    var carry = vec4<u64>(0lu);
    var below = vec4<u64>(0lu);
    for (var i = 0; i < 6; i += 1) {
        let word = bits_of_inverse_tau(at + vec4<i32>(160 - 32 * i));
        let first = m0 * word + carry;
        let second = m1 * below + (first & mask);
        product[i] = second & mask;
        carry = (first >> shift) + (second >> shift);
        below = word;
    }
    var top = (product[5] << shift) | product[4];
    var rest = (product[3] << shift) | product[2];
    // Round to the nearest quadrant. The rest is a signed fraction of a quadrant.
    var quadrant = vec4<u32>((top + vec4<u64>(0x2000000000000000lu)) >> vec4<u32>(62u)) & vec4<u32>(3u);
    top -= vec4<u64>(quadrant) << vec4<u32>(62u);
    let above_half = (top & vec4<u64>(SIGN_f64)) != vec4<u64>(0lu);
    top = select(top, ~top + select(vec4<u64>(0lu), vec4<u64>(1lu), rest == vec4<u64>(0lu)), above_half);
    rest = select(rest, ~rest + 1lu, above_half);
    // Shifted so that the highest bit is set, then as two floats of 53 bits.
    let empty = top == vec4<u64>(0lu);
    top = select(top, rest, empty);
    rest = select(rest, vec4<u64>(0lu), empty);
    let zeros = vec4<u32>(leading_zeros_u64(top, 64u)) & vec4<u32>(63u);
    let spill = select(rest >> (vec4<u32>(64u) - max(zeros, vec4<u32>(1u))), vec4<u64>(0lu), zeros == vec4<u32>(0u));
    top = (top << zeros) | spill;
    rest = rest << zeros;
    let down = vec4<i32>(zeros) + select(vec4<i32>(0), vec4<i32>(64), empty);
    let scale = scale_f64(vec4<f64>(1.0), vec4<i32>(-51) - down);
    let high = times_f64(cast_u64_f64(top >> vec4<u32>(11u)), scale);
    let low = times_f64(cast_u64_f64(((top & vec4<u64>(0x7fflu)) << vec4<u32>(42u)) | (rest >> vec4<u32>(22u))), scale * 1.1102230246251565e-16lf);
    // Times pi/2, with the product's rounding by parts of 26 bits.
    let high_cut = bitcast<vec4<f64>>(bits_f64(high) & vec4<u64>(0xfffffffff8000000lu));
    let high_rest = high - high_cut;
    let angle = times_f64(high, vec4(1.5707963267948966lf));
    let lost = opaque_f64(mul_add_f64(high_rest, vec4(1.5893254712295857e-08lf), opaque_f64(mul_add_f64(high_rest, vec4(1.5707963109016418lf), opaque_f64(mul_add_f64(high_cut, vec4(1.5893254712295857e-08lf), opaque_f64(mul_add_f64(high_cut, vec4(1.5707963109016418lf), -angle))))))));
    let more = opaque_f64(mul_add_f64(low, vec4(1.5707963267948966lf), opaque_f64(mul_add_f64(high, vec4(6.12323399573676603587e-17lf), lost))));
    let r = opaque_f64(angle + more);
    let tail = opaque_f64(opaque_f64(angle - r) + more);
    let negative = above_half != (x < vec4<f64>(0.0));
    quadrant = select(quadrant, ~quadrant + 1u, x < vec4<f64>(0.0));
    return Reduced_f64(select(r, -r, negative), select(tail, -tail, negative), quadrant);
}

const NEAR_f64: f64 = 1.0e6lf;

fn reduce_f64(x: vec4<f64>) -> Reduced_f64 {
    let large = (abs(x) > vec4<f64>(NEAR_f64)) & is_finite_f64(x);
    var reduced = reduce_small_f64(select(x, vec4<f64>(0.0), abs(x) > vec4<f64>(NEAR_f64)));
    if (any(large)) {
        let slow = reduce_large_f64(select(vec4<f64>(NEAR_f64), x, large));
        reduced = Reduced_f64(
            select(reduced.r, slow.r, large),
            select(reduced.tail, slow.tail, large),
            select(reduced.quadrant, slow.quadrant, large),
        );
    }
    reduced.r = select(nan_f64(x), reduced.r, is_finite_f64(x));
    return reduced;
}

// (k_sin.c and k_cos.c)
fn sine_of_reduced_f64(reduced: Reduced_f64) -> vec4<f64> {
    let r = reduced.r;
    let z = times_f64(r, r);
    var odd = vec4<f64>(1.58969099521155010221e-10lf);
    odd = mul_add_f64(odd, z, vec4(-2.50507602534068634195e-08lf));
    odd = mul_add_f64(odd, z, vec4(2.75573137070700676789e-06lf));
    odd = mul_add_f64(odd, z, vec4(-1.98412698298579493134e-04lf));
    odd = mul_add_f64(odd, z, vec4(8.33333333332248946124e-03lf));
    let cube = times_f64(z, r);
    let sine = r - opaque_f64(mul_add_f64(cube, vec4(1.66666666666666324348e-01lf), opaque_f64(mul_add_f64(z, mul_add_f64(-cube, odd, 0.5 * reduced.tail), -reduced.tail))));
    var even = vec4<f64>(-1.13596475577881948265e-11lf);
    even = mul_add_f64(even, z, vec4(2.08757232129817482790e-09lf));
    even = mul_add_f64(even, z, vec4(-2.75573143513906633035e-07lf));
    even = mul_add_f64(even, z, vec4(2.48015872894767294178e-05lf));
    even = mul_add_f64(even, z, vec4(-1.38888888888741095749e-03lf));
    even = mul_add_f64(even, z, vec4(4.16666666666666019037e-02lf));
    let half = 0.5 * z;
    let rough = opaque_f64(1.0 - half);
    let cosine = rough + opaque_f64(opaque_f64(opaque_f64(1.0 - rough) - half) + opaque_f64(mul_add_f64(z, times_f64(z, even), -times_f64(r, reduced.tail))));
    let value = select(sine, cosine, (reduced.quadrant & vec4<u32>(1u)) != vec4<u32>(0u));
    return select(value, -value, (reduced.quadrant & vec4<u32>(2u)) != vec4<u32>(0u));
}

// (e_asin.c)
fn asin_tail_f64(z: vec4<f64>) -> vec4<f64> {
    var above = vec4<f64>(3.47933107596021167570e-05lf);
    above = mul_add_f64(above, z, vec4(7.91534994289814532176e-04lf));
    above = mul_add_f64(above, z, vec4(-4.00555345006794114027e-02lf));
    above = mul_add_f64(above, z, vec4(2.01212532134862925881e-01lf));
    above = mul_add_f64(above, z, vec4(-3.25565818622400915405e-01lf));
    above = mul_add_f64(above, z, vec4(1.66666666666666657415e-01lf));
    var below = vec4<f64>(7.70381505559019352791e-02lf);
    below = mul_add_f64(below, z, vec4(-6.88283971605453293030e-01lf));
    below = mul_add_f64(below, z, vec4(2.02094576023350569471e+00lf));
    below = mul_add_f64(below, z, vec4(-2.40339491173441421878e+00lf));
    return quotient_f64(times_f64(z, above), mul_add_f64(below, z, vec4(1.0)));
}

// (s_atan.c)
fn atan_positive_f64(x: vec4<f64>) -> vec4<f64> {
    let above = array<vec4<bool>, 4>(
        x >= vec4<f64>(0.4375), x >= vec4<f64>(0.6875), x >= vec4<f64>(1.1875), x >= vec4<f64>(2.4375)
    );
    var r = select(x, quotient_f64(2.0 * x - 1.0, 2.0 + x), above[0]);
    r = select(r, quotient_f64(x - 1.0, x + 1.0), above[1]);
    r = select(r, quotient_f64(x - 1.5, mul_add_f64(vec4(1.5), x, vec4(1.0))), above[2]);
    r = select(r, quotient_f64(vec4(-1.0), x), above[3]);
    var high = select(vec4<f64>(0.0), vec4<f64>(4.63647609000806093515e-01lf), above[0]);
    high = select(high, vec4<f64>(7.85398163397448278999e-01lf), above[1]);
    high = select(high, vec4<f64>(9.82793723247329054082e-01lf), above[2]);
    high = select(high, vec4<f64>(1.57079632679489655800e+00lf), above[3]);
    var low = select(vec4<f64>(0.0), vec4<f64>(2.26987774529616870924e-17lf), above[0]);
    low = select(low, vec4<f64>(3.06161699786838301793e-17lf), above[1]);
    low = select(low, vec4<f64>(1.39033110312309984516e-17lf), above[2]);
    low = select(low, vec4<f64>(6.12323399573676603587e-17lf), above[3]);
    let z = times_f64(r, r);
    var q = vec4<f64>(1.62858201153657823623e-02lf);
    q = mul_add_f64(q, z, vec4(-3.65315727442169155270e-02lf));
    q = mul_add_f64(q, z, vec4(4.97687799461593236017e-02lf));
    q = mul_add_f64(q, z, vec4(-5.83357013379057348645e-02lf));
    q = mul_add_f64(q, z, vec4(6.66107313738753120669e-02lf));
    q = mul_add_f64(q, z, vec4(-7.69187620504482999495e-02lf));
    q = mul_add_f64(q, z, vec4(9.09088713343650656196e-02lf));
    q = mul_add_f64(q, z, vec4(-1.11111104054623557880e-01lf));
    q = mul_add_f64(q, z, vec4(1.42857142725034663711e-01lf));
    q = mul_add_f64(q, z, vec4(-1.99999999998764832476e-01lf));
    q = mul_add_f64(q, z, vec4(3.33333333333329318027e-01lf));
    return high - opaque_f64(opaque_f64(mul_add_f64(r, times_f64(z, q), -low)) - r);
}

// 2^-27
const TINY_ANGLE_f64: f64 = 7.450580596923828e-9lf;

const PI_f64: f64 = 3.1415926535897931lf;

const PI_LOW_f64: f64 = 1.2246467991473532e-16lf;

const QUARTER_PI_f64: f64 = 7.85398163397448278999e-01lf;

const HALF_PI_LOW_f64: f64 = 6.12323399573676603587e-17lf;

const ACOS_f64: f64 = 1.57079632679489655800e+00lf;

const ACOS_LOW_f64: f64 = 6.12323399573676603587e-17lf;

const DEGREES_f64: f64 = 57.29577951308232lf;

const RADIANS_f64: f64 = 0.017453292519943295lf;
