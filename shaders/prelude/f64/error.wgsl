// Polynomials of f64 for the error function (FreeBSD s_erf.c, Sun Microsystems, 1993).

fn erfc_tail_f64(s: vec4<f64>, far: vec4<bool>) -> vec4<f64> {
    var r = vec4<f64>(-9.81432934416914548592e+00lf);
    r = mul_add_f64(r, s, vec4(-8.12874355063065934246e+01lf));
    r = mul_add_f64(r, s, vec4(-1.84605092906711035994e+02lf));
    r = mul_add_f64(r, s, vec4(-1.62396669462573470355e+02lf));
    r = mul_add_f64(r, s, vec4(-6.23753324503260060396e+01lf));
    r = mul_add_f64(r, s, vec4(-1.05586262253232909814e+01lf));
    r = mul_add_f64(r, s, vec4(-6.93858572707181764372e-01lf));
    r = mul_add_f64(r, s, vec4(-9.86494403484714822705e-03lf));
    var q = vec4<f64>(-6.04244152148580987438e-02lf);
    q = mul_add_f64(q, s, vec4(6.57024977031928170135e+00lf));
    q = mul_add_f64(q, s, vec4(1.08635005541779435134e+02lf));
    q = mul_add_f64(q, s, vec4(4.29008140027567833386e+02lf));
    q = mul_add_f64(q, s, vec4(6.45387271733267880336e+02lf));
    q = mul_add_f64(q, s, vec4(4.34565877475229228821e+02lf));
    q = mul_add_f64(q, s, vec4(1.37657754143519042600e+02lf));
    q = mul_add_f64(q, s, vec4(1.96512716674392571292e+01lf));
    var r_far = vec4<f64>(-4.83519191608651397019e+02lf);
    r_far = mul_add_f64(r_far, s, vec4(-1.02509513161107724954e+03lf));
    r_far = mul_add_f64(r_far, s, vec4(-6.37566443368389627722e+02lf));
    r_far = mul_add_f64(r_far, s, vec4(-1.60636384855821916062e+02lf));
    r_far = mul_add_f64(r_far, s, vec4(-1.77579549177547519889e+01lf));
    r_far = mul_add_f64(r_far, s, vec4(-7.99283237680523006574e-01lf));
    r_far = mul_add_f64(r_far, s, vec4(-9.86494292470009928597e-03lf));
    var q_far = vec4<f64>(-2.24409524465858183362e+01lf);
    q_far = mul_add_f64(q_far, s, vec4(4.74528541206955367215e+02lf));
    q_far = mul_add_f64(q_far, s, vec4(2.55305040643316442583e+03lf));
    q_far = mul_add_f64(q_far, s, vec4(3.19985821950859553908e+03lf));
    q_far = mul_add_f64(q_far, s, vec4(1.53672958608443695994e+03lf));
    q_far = mul_add_f64(q_far, s, vec4(3.25792512996573918826e+02lf));
    q_far = mul_add_f64(q_far, s, vec4(3.03380607434824582924e+01lf));
    return select(quotient_f64(r, mul_add_f64(q, s, vec4(1.0))), quotient_f64(r_far, mul_add_f64(q_far, s, vec4(1.0))), far);
}

fn erfc_near_f64(zz: vec4<f64>) -> vec4<f64> {
    var above = vec4<f64>(-2.37630166566501626084e-05lf);
    above = mul_add_f64(above, zz, vec4(-5.77027029648944159157e-03lf));
    above = mul_add_f64(above, zz, vec4(-2.84817495755985104766e-02lf));
    above = mul_add_f64(above, zz, vec4(-3.25042107247001499370e-01lf));
    above = mul_add_f64(above, zz, vec4(1.28379167095512558561e-01lf));
    var below = vec4<f64>(-3.96022827877536812320e-06lf);
    below = mul_add_f64(below, zz, vec4(1.32494738004321644526e-04lf));
    below = mul_add_f64(below, zz, vec4(5.08130628187576562776e-03lf));
    below = mul_add_f64(below, zz, vec4(6.50222499887672944485e-02lf));
    below = mul_add_f64(below, zz, vec4(3.97917223959155352819e-01lf));
    return quotient_f64(above, mul_add_f64(below, zz, vec4(1.0)));
}

fn erfc_around_f64(s: vec4<f64>) -> vec4<f64> {
    var above = vec4<f64>(-2.16637559486879084300e-03lf);
    above = mul_add_f64(above, s, vec4(3.54783043256182359371e-02lf));
    above = mul_add_f64(above, s, vec4(-1.10894694282396677476e-01lf));
    above = mul_add_f64(above, s, vec4(3.18346619901161753674e-01lf));
    above = mul_add_f64(above, s, vec4(-3.72207876035701323847e-01lf));
    above = mul_add_f64(above, s, vec4(4.14856118683748331666e-01lf));
    above = mul_add_f64(above, s, vec4(-2.36211856075265944077e-03lf));
    var below = vec4<f64>(1.19844998467991074170e-02lf);
    below = mul_add_f64(below, s, vec4(1.36370839120290507362e-02lf));
    below = mul_add_f64(below, s, vec4(1.26171219808761642112e-01lf));
    below = mul_add_f64(below, s, vec4(7.18286544141962662868e-02lf));
    below = mul_add_f64(below, s, vec4(5.40397917702171048937e-01lf));
    below = mul_add_f64(below, s, vec4(1.06420880400844228286e-01lf));
    return quotient_f64(above, mul_add_f64(below, s, vec4(1.0)));
}

const ERF_1_f64: f64 = 8.45062911510467529297e-01lf;

fn cut_square_f64(x: vec4<f64>) -> vec4<f64> {
    return cut_f64(x);
}

fn erf_f64(x: vec4<f64>) -> vec4<f64> {
    let magnitude = min(abs(x), vec4<f64>(6.0));
    let z = min(magnitude, vec4<f64>(0.84375));
    // 1 + efx of s_erf.c, where x y would be subnormal and x is not.
    let small = select(mul_add_f64(x, erfc_near_f64(times_f64(z, z)), x), times_f64(x, vec4(1.1283791670955126lf)), magnitude < vec4<f64>(1.0e-290));
    let around = ERF_1_f64 + erfc_around_f64(opaque_f64(clamp(magnitude, vec4<f64>(0.84375), vec4<f64>(1.25)) - 1.0));
    let far = 1.0 - erfc_far_f64(max(magnitude, vec4<f64>(1.25)));
    let large = copysign_f64(select(around, far, magnitude >= vec4<f64>(1.25)), x);
    return select(select(large, small, magnitude < vec4<f64>(0.84375)), x, is_nan_f64(x));
}
