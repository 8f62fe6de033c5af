// Power by IEEE 754. The logarithm is carried in two floats whose high one has few bits, cut by
// masks, so that no compiler can reassociate the split away. After FreeBSD e_powf.c (Sun
// Microsystems, 1993).

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
    let sum_low = a - (sum_high - base);
    let s_low = v * ((u - s_high * sum_high) - s_high * sum_low);

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
    let t_low = r - ((t_high - 3.0) - square);
    let p_exact = s_high * t_high;
    let p_rest = s_low * t_high + t_low * s;
    let p_high = cut_f32(p_exact + p_rest);
    let p_low = p_rest - (p_high - p_exact);
    let z_high = 0.9619140625 * p_high;
    let z_low = -1.1736857402e-4 * p_high + p_low * 0.96179670095 + select(vec4<f32>(0.0), vec4<f32>(1.56322085e-6), middle);
    let shift = select(vec4<f32>(0.0), vec4<f32>(0.584960938), middle);
    let whole = vec4<f32>(n);
    let log_high = cut_f32(((z_high + z_low) + shift) + whole);
    let log_low = z_low - (((log_high - whole) - shift) - z_high);

    // 2^(y log2(x)): the product in two parts, then its integer and its fraction.
    let y_high = cut_f32(y);
    let e_low = (y - y_high) * log_high + y * log_low;
    let e_high = y_high * log_high;
    let e = e_low + e_high;
    let bounded = clamp(e, vec4<f32>(-160.0), vec4<f32>(140.0));
    let inside = bounded == e;
    let k = round(bounded);
    let rest_high = select(vec4<f32>(0.0), e_high - k, inside);
    let rest_low = select(vec4<f32>(0.0), e_low, inside);
    let f = bitcast<vec4<f32>>(bits_f32(rest_high + rest_low) & vec4<u32>(0xffff8000u));
    let natural_high = f * 0.693145752;
    let natural_low = (rest_low - (f - rest_high)) * 0.69314718246 + f * 1.42860654e-6;
    let z = natural_high + natural_low;
    let lost = natural_low - (z - natural_high);
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

fn pow_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let ax = magnitude_bits_f32(x);
    let ay = magnitude_bits_f32(y);
    let infinite = vec4<u32>(0x7f800000u);
    let one = vec4<u32>(0x3f800000u);
    let y_negative = (bits_f32(y) >> vec4<u32>(31u)) != vec4<u32>(0u);
    let x_negative = (bits_f32(x) >> vec4<u32>(31u)) != vec4<u32>(0u);
    // From 2^24 on every float is an even integer.
    let y_bounded = select(abs(y), vec4<f32>(0.0), ay >= vec4<u32>(0x4b800000u));
    let y_integer = floor(y_bounded) == y_bounded;
    let y_odd = y_integer & ((vec4<u32>(y_bounded) & vec4<u32>(1u)) != vec4<u32>(0u));

    let regular = (ax != vec4<u32>(0u)) & (ax < infinite) & (ay < infinite);
    var magnitude = pow_positive_f32(
        bitcast<vec4<f32>>(select(one, ax, regular)),
        select(vec4<f32>(1.0), y, regular),
    );
    // 0 and infinite bases, and infinite exponents: 0 or infinity by which way the power grows.
    let x_grows = select(ax > one, ax >= infinite, ax == vec4<u32>(0u));
    let vanishes = x_grows == y_negative;
    let limit = bitcast<vec4<f32>>(select(infinite, vec4<u32>(0u), vanishes));
    magnitude = select(magnitude, limit, !regular);
    magnitude = select(magnitude, vec4<f32>(1.0), (ay == infinite) & (ax == one));
    var power = select(magnitude, -magnitude, x_negative & y_odd);
    let undefined = x_negative & !y_integer & (ax != vec4<u32>(0u)) & (ax != infinite) & (ay != infinite);
    power = select(power, nan_f32(x), undefined | (ax > infinite) | (ay > infinite));
    return select(power, vec4<f32>(1.0), (ay == vec4<u32>(0u)) | (bits_f32(x) == one));
}
