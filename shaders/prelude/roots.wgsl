// Roots, the error function and the hypotenuse.

fn rsqrt_f32(x: vec4<f32>) -> vec4<f32> {
    return 1.0 / sqrt_f32(x);
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
    let rough = guess * ((a + a + cube) / (a + cube + cube));
    let t = bitcast<vec4<f32>>((bits_f32(rough) + vec4<u32>(0x800u)) & vec4<u32>(0xfffff000u));
    let r = a / (t * t);
    let value = copysign_f32((t + t * ((r - t) / (t + t + r))) * select(unscale, vec4<f32>(8.8817841970012523e-16), subnormal), x);
    let itself = (magnitude >= vec4<u32>(0x7f800000u)) | (magnitude == vec4<u32>(0u));
    return select(value, x, itself);
}

fn hypot_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let high = bitcast<vec4<f32>>(max(x, y));
    let low = bitcast<vec4<f32>>(min(x, y));
    let ratio = low / high;
    let value = high * sqrt(1.0 + ratio * ratio);
    let finite = select(value, high, min(x, y) == vec4<u32>(0u));
    let infinite = (x == vec4<u32>(0x7f800000u)) | (y == vec4<u32>(0x7f800000u));
    let nan = (x > vec4<u32>(0x7f800000u)) | (y > vec4<u32>(0x7f800000u));
    return select(select(finite, nan_f32(a), nan), inf_f32(vec4<f32>(1.0)), infinite);
}

// Polynomials of N. Juffa (erff, 2015).
fn erf_f32(x: vec4<f32>) -> vec4<f32> {
    let t = min(abs(x), vec4<f32>(6.0));
    let s = t * t;
    var q = -1.72853470e-5 * t + 3.83197126e-4;
    q = q * s + (-3.88396438e-3 * t + 2.42546219e-2);
    q = q * t - 1.06777877e-1;
    q = q * t - 6.34846687e-1;
    q = q * t - 1.28717512e-1;
    let large = copysign_f32(1.0 - exp_f32(q * t - t), x);
    var r = vec4<f32>(-5.96761703e-4);
    r = r * s + 4.99119423e-3;
    r = r * s - 2.67681349e-2;
    r = r * s + 1.12819925e-1;
    r = r * s - 3.76125336e-1;
    r = r * s + 1.28379166e-1;
    // r x may be subnormal where the sum is not.
    let small = select(r * x + x, x * 1.12837917, t < vec4<f32>(1.0e-20));
    return select(select(small, large, t > vec4<f32>(0.927734375)), x, is_nan_f32(x));
}

// A rational function in 1 / x^2 (FreeBSD s_erff.c, Sun Microsystems, 1993), below 1/0.35 and above.
fn erfc_tail_f32(s: vec4<f32>, far: vec4<bool>) -> vec4<f32> {
    var r = vec4<f32>(-9.8143291473);
    r = r * s - 8.1287437439e1;
    r = r * s - 1.8460508728e2;
    r = r * s - 1.6239666748e2;
    r = r * s - 6.2375331879e1;
    r = r * s - 1.0558626175e1;
    r = r * s - 6.9385856390e-1;
    r = r * s - 9.8649440333e-3;
    var q = vec4<f32>(-6.0424413532e-2);
    q = q * s + 6.5702495575;
    q = q * s + 1.0863500214e2;
    q = q * s + 4.2900814819e2;
    q = q * s + 6.4538726807e2;
    q = q * s + 4.3456588745e2;
    q = q * s + 1.3765776062e2;
    q = q * s + 1.9651271820e1;
    var r_far = vec4<f32>(-4.8351919556e2);
    r_far = r_far * s - 1.0250950928e3;
    r_far = r_far * s - 6.3756646729e2;
    r_far = r_far * s - 1.6063638306e2;
    r_far = r_far * s - 1.7757955551e1;
    r_far = r_far * s - 7.9928326607e-1;
    r_far = r_far * s - 9.8649431020e-3;
    var q_far = vec4<f32>(-2.2440952301e1);
    q_far = q_far * s + 4.7452853394e2;
    q_far = q_far * s + 2.5530502930e3;
    q_far = q_far * s + 3.1998581543e3;
    q_far = q_far * s + 1.5367296143e3;
    q_far = q_far * s + 3.2579251099e2;
    q_far = q_far * s + 3.0338060379e1;
    return select(r / (q * s + 1.0), r_far / (q_far * s + 1.0), far);
}

// 1 - erf below 0.84375, around 1 by a rational function of x - 1, and e^-x^2 times a rational
// function of 1 / x^2 above 1.25, where -x^2 is split so that its rounding does not show.
fn erfc_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let z = min(magnitude, vec4<f32>(0.84375));
    let zz = z * z;
    var above = vec4<f32>(-2.3763017452e-5);
    above = above * zz - 5.7702702470e-3;
    above = above * zz - 2.8481749818e-2;
    above = above * zz - 3.2504209876e-1;
    above = above * zz + 1.2837916613e-1;
    var below = vec4<f32>(-3.9602282413e-6);
    below = below * zz + 1.3249473704e-4;
    below = below * zz + 5.0813062117e-3;
    below = below * zz + 6.5022252500e-2;
    below = below * zz + 3.9791721106e-1;
    let y = above / (below * zz + 1.0);
    let near = select(0.5 - ((x - 0.5) + x * y), 1.0 - (x + x * y), x < vec4<f32>(0.25));

    let s1 = clamp(magnitude, vec4<f32>(0.84375), vec4<f32>(1.25)) - 1.0;
    var p1 = vec4<f32>(-2.1663755178e-3);
    p1 = p1 * s1 + 3.5478305072e-2;
    p1 = p1 * s1 - 1.1089469492e-1;
    p1 = p1 * s1 + 3.1834661961e-1;
    p1 = p1 * s1 - 3.7220788002e-1;
    p1 = p1 * s1 + 4.1485610604e-1;
    p1 = p1 * s1 - 2.3621185683e-3;
    var q1 = vec4<f32>(1.1984500103e-2);
    q1 = q1 * s1 + 1.3637083583e-2;
    q1 = q1 * s1 + 1.2617121637e-1;
    q1 = q1 * s1 + 7.1828655899e-2;
    q1 = q1 * s1 + 5.4039794207e-1;
    q1 = q1 * s1 + 1.0642088205e-1;
    let r1 = p1 / (q1 * s1 + 1.0);
    let around = select((1.0 - 0.84506291151) - r1, 1.0 + (0.84506291151 + r1), x < vec4<f32>(0.0));

    let t = clamp(magnitude, vec4<f32>(1.25), vec4<f32>(12.0));
    let tail = erfc_tail_f32(1.0 / (t * t), t >= vec4<f32>(2.857142925));
    // 11 bits, so that the square and 9/16 fit in one float.
    let cut = bitcast<vec4<f32>>(bits_f32(t) & vec4<u32>(0xffffe000u));
    let power = exp_f32(-cut * cut - 0.5625) * exp_f32((cut - t) * (cut + t) + tail) / t;
    let far = select(power, 2.0 - power, x < vec4<f32>(0.0));

    let inner = select(around, near, magnitude < vec4<f32>(0.84375));
    let value = select(inner, far, magnitude >= vec4<f32>(1.25));
    return select(value, x, is_nan_f32(x));
}
