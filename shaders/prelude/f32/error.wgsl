// Polynomials of f32 for the error function. The polynomials of erfc are those of FreeBSD s_erff.c (Sun
// Microsystems, 1993).

// Polynomials of N. Juffa (erff, 2015).
fn erf_f32(x: vec4<f32>) -> vec4<f32> {
    let t = min(abs(x), vec4<f32>(6.0));
    let s = times_f32(t, t);
    var q = mul_add_f32(vec4(-1.72853470e-5), t, vec4(3.83197126e-4));
    q = mul_add_f32(q, s, opaque_f32(mul_add_f32(vec4(-3.88396438e-3), t, vec4(2.42546219e-2))));
    q = mul_add_f32(q, t, vec4(-1.06777877e-1));
    q = mul_add_f32(q, t, vec4(-6.34846687e-1));
    q = mul_add_f32(q, t, vec4(-1.28717512e-1));
    let large = copysign_f32(plus_f32(-exp_f32(opaque_f32(mul_add_f32(q, t, -t))), vec4(1.0)), x);
    var r = vec4<f32>(-5.96761703e-4);
    r = mul_add_f32(r, s, vec4(4.99119423e-3));
    r = mul_add_f32(r, s, vec4(-2.67681349e-2));
    r = mul_add_f32(r, s, vec4(1.12819925e-1));
    r = mul_add_f32(r, s, vec4(-3.76125336e-1));
    r = mul_add_f32(r, s, vec4(1.28379166e-1));
    // r x may be subnormal even if the sum is normal.
    let small = select(mul_add_f32(r, x, x), times_f32(x, vec4(1.12837917)), t < vec4<f32>(1.0e-20));
    return select(select(small, large, t > vec4<f32>(0.927734375)), x, is_nan_f32(x));
}

// A rational function in 1 / x^2 (FreeBSD s_erff.c, Sun Microsystems, 1993), below 1/0.35 and above.
fn erfc_tail_f32(s: vec4<f32>, far: vec4<bool>) -> vec4<f32> {
    var r = select(vec4<f32>(-9.8143291473), vec4<f32>(0.0), far);
    r = mul_add_f32(r, s, select(vec4<f32>(-8.1287437439e1), vec4<f32>(-4.8351919556e2), far));
    r = mul_add_f32(r, s, select(vec4<f32>(-1.8460508728e2), vec4<f32>(-1.0250950928e3), far));
    r = mul_add_f32(r, s, select(vec4<f32>(-1.6239666748e2), vec4<f32>(-6.3756646729e2), far));
    r = mul_add_f32(r, s, select(vec4<f32>(-6.2375331879e1), vec4<f32>(-1.6063638306e2), far));
    r = mul_add_f32(r, s, select(vec4<f32>(-1.0558626175e1), vec4<f32>(-1.7757955551e1), far));
    r = mul_add_f32(r, s, select(vec4<f32>(-6.9385856390e-1), vec4<f32>(-7.9928326607e-1), far));
    r = mul_add_f32(r, s, select(vec4<f32>(-9.8649440333e-3), vec4<f32>(-9.8649431020e-3), far));
    var q = select(vec4<f32>(-6.0424413532e-2), vec4<f32>(0.0), far);
    q = mul_add_f32(q, s, select(vec4<f32>(6.5702495575), vec4<f32>(-2.2440952301e1), far));
    q = mul_add_f32(q, s, select(vec4<f32>(1.0863500214e2), vec4<f32>(4.7452853394e2), far));
    q = mul_add_f32(q, s, select(vec4<f32>(4.2900814819e2), vec4<f32>(2.5530502930e3), far));
    q = mul_add_f32(q, s, select(vec4<f32>(6.4538726807e2), vec4<f32>(3.1998581543e3), far));
    q = mul_add_f32(q, s, select(vec4<f32>(4.3456588745e2), vec4<f32>(1.5367296143e3), far));
    q = mul_add_f32(q, s, select(vec4<f32>(1.3765776062e2), vec4<f32>(3.2579251099e2), far));
    q = mul_add_f32(q, s, select(vec4<f32>(1.9651271820e1), vec4<f32>(3.0338060379e1), far));
    return quotient_f32(r, mul_add_f32(q, s, vec4(1.0)));
}

// (1 - erfc(x) - x) / x below 0.84375, for z = x^2.
fn erfc_near_f32(zz: vec4<f32>) -> vec4<f32> {
    var above = vec4<f32>(-2.3763017452e-5);
    above = mul_add_f32(above, zz, vec4(-5.7702702470e-3));
    above = mul_add_f32(above, zz, vec4(-2.8481749818e-2));
    above = mul_add_f32(above, zz, vec4(-3.2504209876e-1));
    above = mul_add_f32(above, zz, vec4(1.2837916613e-1));
    var below = vec4<f32>(-3.9602282413e-6);
    below = mul_add_f32(below, zz, vec4(1.3249473704e-4));
    below = mul_add_f32(below, zz, vec4(5.0813062117e-3));
    below = mul_add_f32(below, zz, vec4(6.5022252500e-2));
    below = mul_add_f32(below, zz, vec4(3.9791721106e-1));
    return quotient_f32(above, mul_add_f32(below, zz, vec4(1.0)));
}

// erf(1 + s) - ERF_1 for 1 + s in 0.84375..1.25.
fn erfc_around_f32(s: vec4<f32>) -> vec4<f32> {
    var above = vec4<f32>(-2.1663755178e-3);
    above = mul_add_f32(above, s, vec4(3.5478305072e-2));
    above = mul_add_f32(above, s, vec4(-1.1089469492e-1));
    above = mul_add_f32(above, s, vec4(3.1834661961e-1));
    above = mul_add_f32(above, s, vec4(-3.7220788002e-1));
    above = mul_add_f32(above, s, vec4(4.1485610604e-1));
    above = mul_add_f32(above, s, vec4(-2.3621185683e-3));
    var below = vec4<f32>(1.1984500103e-2);
    below = mul_add_f32(below, s, vec4(1.3637083583e-2));
    below = mul_add_f32(below, s, vec4(1.2617121637e-1));
    below = mul_add_f32(below, s, vec4(7.1828655899e-2));
    below = mul_add_f32(below, s, vec4(5.4039794207e-1));
    below = mul_add_f32(below, s, vec4(1.0642088205e-1));
    return quotient_f32(above, mul_add_f32(below, s, vec4(1.0)));
}

const ERF_1_f32: f32 = 0.84506291151;

// Cuts x to 11 bits, so that its square and 9/16 fit in one float.
fn cut_square_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bits_f32(x) & vec4<u32>(0xffffe000u));
}
