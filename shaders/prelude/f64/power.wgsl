// Powers and roots of f64 (FreeBSD e_pow.c and s_cbrt.c, Sun Microsystems, 1993).

const LARGE_EXPONENT_f64: f64 = 18446744073709551616.0lf;

// x^y for finite x > 0 and |y| <= LARGE_EXPONENT.
fn pow_positive_f64(x: vec4<f64>, y: vec4<f64>) -> vec4<f64> {
    let subnormal = bits_f64(x) < vec4<u64>(LEAST_f64);
    let bits = bits_f64(select(x, cast_u64_f64(bits_f64(x)), subnormal));
    let fraction = bits & vec4<u64>(FRACTION_f64);
    let near_one = fraction <= vec4<u64>(0x0003988efffffffflu);
    let near_two = fraction >= vec4<u64>(0x000bb67a00000000lu);
    let middle = !(near_one | near_two);
    let n = vec4<i32>(vec4<u32>(bits >> vec4<u32>(52u))) - select(vec4<i32>(1023), vec4<i32>(2097), subnormal)
        + select(vec4<i32>(0), vec4<i32>(1), near_two);
    let a_bits = (fraction | vec4<u64>(ONE_f64)) - select(vec4<u64>(0lu), vec4<u64>(LEAST_f64), near_two);
    let a = bitcast<vec4<f64>>(a_bits);
    let base = select(vec4<f64>(1.0), vec4<f64>(1.5), middle);

    // s = (a - base) / (a + base), in two parts.
    let u = opaque_f64(a - base);
    let v = quotient_f64(vec4(1.0), a + base);
    let s = times_f64(u, v);
    let s_high = cut_f64(s);
    let sum_bits = ((a_bits >> vec4<u32>(1u)) & vec4<u64>(0xffffffff00000000lu)) | vec4<u64>(0x2000000000000000lu);
    let sum_high = bitcast<vec4<f64>>(sum_bits + vec4<u64>(0x0008000000000000lu) + select(vec4<u64>(0lu), vec4<u64>(0x0004000000000000lu), middle));
    let sum_low = a - opaque_f64(sum_high - base);
    let s_low = times_f64(v, mul_add_f64(-s_high, sum_low, opaque_f64(mul_add_f64(-s_high, sum_high, u))));

    // log2(a), in two parts.
    let s2 = times_f64(s, s);
    var q = vec4<f64>(2.06975017800338417784e-01lf);
    q = mul_add_f64(q, s2, vec4(2.30660745775561754067e-01lf));
    q = mul_add_f64(q, s2, vec4(2.72728123808534006489e-01lf));
    q = mul_add_f64(q, s2, vec4(3.33333329818377432918e-01lf));
    q = mul_add_f64(q, s2, vec4(4.28571428578550184252e-01lf));
    q = mul_add_f64(q, s2, vec4(5.99999999999994648725e-01lf));
    let r = opaque_f64(mul_add_f64(times_f64(s2, s2), q, times_f64(s_low, s_high + s)));
    let square = times_f64(s_high, s_high);
    let t_high = cut_f64(opaque_f64(3.0 + square) + r);
    let t_low = r - opaque_f64(opaque_f64(t_high - 3.0) - square);
    let p_exact = times_f64(s_high, t_high);
    let p_rest = opaque_f64(mul_add_f64(s_low, t_high, times_f64(t_low, s)));
    let p_high = cut_f64(p_exact + p_rest);
    let p_low = p_rest - opaque_f64(p_high - p_exact);
    let z_high = times_f64(vec4(9.61796700954437255859e-01lf), p_high);
    let z_low = opaque_f64(opaque_f64(mul_add_f64(vec4(-7.02846165095275826516e-09lf), p_high, times_f64(p_low, vec4(9.61796693925975554329e-01lf)))) + select(vec4<f64>(0.0), vec4<f64>(1.35003920212974897128e-08lf), middle));
    let shift = select(vec4<f64>(0.0), vec4<f64>(5.84962487220764160156e-01lf), middle);
    let whole = vec4<f64>(n);
    let log_high = cut_f64(opaque_f64(opaque_f64(z_high + z_low) + shift) + whole);
    let log_low = z_low - opaque_f64(opaque_f64(opaque_f64(log_high - whole) - shift) - z_high);

    // 2^(y log2(x)): the product in two parts, then its integer and its fraction.
    let y_high = cut_f64(y);
    let e_low = opaque_f64(mul_add_f64(y - y_high, log_high, times_f64(y, log_low)));
    let e_high = times_f64(y_high, log_high);
    let e = e_low + e_high;
    let bounded = clamp(e, vec4<f64>(-1100.0), vec4<f64>(1030.0));
    let inside = bounded == e;
    let k = whole_f64(bounded);
    let rest_high = select(vec4<f64>(0.0), opaque_f64(e_high - k), inside);
    let rest_low = select(vec4<f64>(0.0), e_low, inside);
    let f = cut_f64(rest_high + rest_low);
    let natural_high = times_f64(f, vec4(6.93147182464599609375e-01lf));
    let natural_low = opaque_f64(mul_add_f64(rest_low - opaque_f64(f - rest_high), vec4(6.93147180559945286227e-01lf), -times_f64(f, vec4(1.90465429995776804525e-09lf))));
    let z = opaque_f64(natural_high + natural_low);
    let lost = opaque_f64(natural_low - opaque_f64(z - natural_high));
    let zz = times_f64(z, z);
    var w = vec4<f64>(4.13813679705723846039e-08lf);
    w = mul_add_f64(w, zz, vec4(-1.65339022054652515390e-06lf));
    w = mul_add_f64(w, zz, vec4(6.61375632143793436117e-05lf));
    w = mul_add_f64(w, zz, vec4(-2.77777777770155933842e-03lf));
    w = mul_add_f64(w, zz, vec4(1.66666666666666019037e-01lf));
    let t = opaque_f64(mul_add_f64(-zz, w, z));
    let power = opaque_f64(1.0 - opaque_f64(opaque_f64(quotient_f64(times_f64(z, t), t - 2.0) - opaque_f64(mul_add_f64(z, lost, lost))) - z));
    return scale_f64(power, vec4<i32>(k));
}

fn cbrt_f64(x: vec4<f64>) -> vec4<f64> {
    let magnitude = magnitude_bits_f64(x);
    // If x is subnormal, 2^1074 x is an integer, whose root is 2^358 times the root of x.
    let subnormal = magnitude < vec4<u64>(LEAST_f64);
    let a = bitcast<vec4<f64>>(select(magnitude, bits_f64(cast_u64_f64(magnitude)), subnormal));
    let guess = bitcast<vec4<f64>>(vec4<u64>(high_u64(bits_f64(a)) / vec4<u32>(3u) + vec4<u32>(715094163u)) << vec4<u32>(32u));
    // To 23 bits by a polynomial in guess^3 / a, then once by Newton.
    let r = times_f64(times_f64(guess, guess), quotient_f64(guess, a));
    let near = times_f64(guess, mul_add_f64(times_f64(times_f64(r, r), r), mul_add_f64(r, vec4(0.145996192886612446982lf), vec4(-0.758397934778766047437lf)), opaque_f64(mul_add_f64(r, mul_add_f64(r, vec4(1.621429720105354466140lf), vec4(-1.88497979543377169875lf)), vec4(1.87595182427177009643lf)))));
    let t = bitcast<vec4<f64>>((bits_f64(near) + vec4<u64>(0x80000000lu)) & vec4<u64>(0xffffffffc0000000lu));
    let q = quotient_f64(a, times_f64(t, t));
    let root = mul_add_f64(t, quotient_f64(q - t, 2.0 * t + q), t);
    let unscale = select(vec4<f64>(1.0), scale_f64(vec4<f64>(1.0), vec4<i32>(-358)), subnormal);
    let itself = (magnitude >= vec4<u64>(INFINITE_f64)) | (magnitude == vec4<u64>(0lu));
    return select(copysign_f64(times_f64(root, unscale), x), x, itself);
}
