// Powers and roots of f32.

// |x|^y for finite x > 0.
fn pow_positive_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let subnormal = bits_f32(x) < vec4<u32>(0x00800000u);
    let bits = bits_f32(select(x, vec4<f32>(bits_f32(x)), subnormal));
    let fraction = bits & vec4<u32>(0x007fffffu);
    // x = 2^n a with a near 1 (below sqrt(3/2)) or near 1.5 (below sqrt(3)).
    let near_one = fraction <= vec4<u32>(0x001cc471u);
    let near_two = fraction >= vec4<u32>(0x005db3d7u);
    let middle = !(near_one | near_two);
    let n = vec4<i32>(bits >> vec4<u32>(23u)) - select(vec4<i32>(127), vec4<i32>(276), subnormal)
        + select(vec4<i32>(0), vec4<i32>(1), near_two);
    let a_bits = (fraction | vec4<u32>(0x3f800000u)) - select(vec4<u32>(0u), vec4<u32>(0x00800000u), near_two);
    let a = bitcast<vec4<f32>>(a_bits);
    let base = select(vec4<f32>(1.0), vec4<f32>(1.5), middle);

    // s = (a - base) / (a + base), in two parts.
    let u = a - base;
    let v = 1.0 / (a + base);
    let s = u * v;
    let s_high = cut_f32(s);
    let sum_bits = ((a_bits >> vec4<u32>(1u)) & vec4<u32>(0xfffff000u)) | vec4<u32>(0x20000000u);
    let sum_high = bitcast<vec4<f32>>(sum_bits + vec4<u32>(0x00400000u) + select(vec4<u32>(0u), vec4<u32>(0x00200000u), middle));
    let sum_low = a - opaque_f32(sum_high - base);
    let s_low = v * (opaque_f32(u - s_high * sum_high) - s_high * sum_low);

    // log2(a), in two parts.
    let s2 = s * s;
    var q = vec4<f32>(0.20697501302);
    q = q * s2 + 0.23066075146;
    q = q * s2 + 0.27272811532;
    q = q * s2 + 0.33333334327;
    q = q * s2 + 0.42857142857;
    q = q * s2 + 0.6000000238;
    let r = s2 * s2 * q + s_low * (s_high + s);
    let square = s_high * s_high;
    let t_high = cut_f32(3.0 + square + r);
    let t_low = r - opaque_f32(opaque_f32(t_high - 3.0) - square);
    let p_exact = s_high * t_high;
    let p_rest = s_low * t_high + t_low * s;
    let p_high = cut_f32(p_exact + p_rest);
    let p_low = p_rest - opaque_f32(p_high - p_exact);
    let z_high = 0.9619140625 * p_high;
    let z_low = -1.1736857402e-4 * p_high + p_low * 0.96179670095 + select(vec4<f32>(0.0), vec4<f32>(1.56322085e-6), middle);
    let shift = select(vec4<f32>(0.0), vec4<f32>(0.584960938), middle);
    let whole = vec4<f32>(n);
    let log_high = cut_f32(((z_high + z_low) + shift) + whole);
    let log_low = z_low - opaque_f32(opaque_f32((log_high - whole) - shift) - z_high);

    // 2^(y log2(x)): the product in two parts, then its integer and its fraction.
    let y_high = cut_f32(y);
    let e_low = (y - y_high) * log_high + y * log_low;
    let e_high = opaque_f32(y_high * log_high);
    let e = e_low + e_high;
    let bounded = clamp(e, vec4<f32>(-160.0), vec4<f32>(140.0));
    let inside = bounded == e;
    let k = round(bounded);
    let rest_high = select(vec4<f32>(0.0), e_high - k, inside);
    let rest_low = select(vec4<f32>(0.0), e_low, inside);
    let f = bitcast<vec4<f32>>(bits_f32(rest_high + rest_low) & vec4<u32>(0xffff8000u));
    let natural_high = f * 0.693145752;
    let natural_low = (rest_low - opaque_f32(f - rest_high)) * 0.69314718246 + f * 1.42860654e-6;
    let z = natural_high + natural_low;
    let lost = natural_low - opaque_f32(z - natural_high);
    let zz = z * z;
    var w = vec4<f32>(4.1381369442e-8);
    w = w * zz - 1.6533901999e-6;
    w = w * zz + 6.6137559770e-5;
    w = w * zz - 2.7777778450e-3;
    w = w * zz + 1.6666667163e-1;
    let t = z - zz * w;
    let power = 1.0 - ((z * t) / (t - 2.0) - (lost + z * lost) - z);
    return scale_f32(power, vec4<i32>(k));
}

// A guess from a third of the exponent, then Halley's method twice; before the second turn the
// guess is cut to 12 bits, so that its square is exact (FreeBSD s_cbrt.c, K. C. Ng and D. H. Bailey).
fn cbrt_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = magnitude_bits_f32(x);
    // Near the ends of the range the steps would leave it: there 2^96 x has 2^32 times the root, and
    // 2^150 x, of the integer that a subnormal is, 2^50 times.
    let high = magnitude > vec4<u32>(0x6f800000u);
    let low = magnitude < vec4<u32>(0x0f800000u);
    let subnormal = magnitude < vec4<u32>(0x00800000u);
    let scale = select(select(vec4<f32>(1.0), vec4<f32>(7.9228162514264338e28), low), vec4<f32>(1.2621774483536189e-29), high);
    let unscale = select(select(vec4<f32>(1.0), vec4<f32>(2.3283064365386963e-10), low), vec4<f32>(4294967296.0), high);
    let a = select(bitcast<vec4<f32>>(magnitude) * scale, vec4<f32>(magnitude) * 2.0, subnormal);
    let guess = bitcast<vec4<f32>>(bits_f32(a) / vec4<u32>(3u) + vec4<u32>(709958130u));
    let cube = guess * guess * guess;
    let rough = guess * ((a + a + cube) / (opaque_f32(a + cube) + cube));
    let t = bitcast<vec4<f32>>((bits_f32(rough) + vec4<u32>(0x800u)) & vec4<u32>(0xfffff000u));
    let r = a / (t * t);
    let value = copysign_f32((t + t * ((r - t) / (t + t + r))) * select(unscale, vec4<f32>(8.8817841970012523e-16), subnormal), x);
    let itself = (magnitude >= vec4<u32>(0x7f800000u)) | (magnitude == vec4<u32>(0u));
    return select(value, x, itself);
}
