// Polynomials of f64 for the gamma function, as those of f32.

const ONE_LESS_EULER_f64: f64 = 0.42278433509846713lf;

fn lgamma_tail_f64(t: vec4<f64>) -> vec4<f64> {
    // 3.9e-17 of the value at most.
    var q = vec4<f64>(1.47455851555312e-08lf);
    q = mul_add_f64(q, t, vec4(-3.085985478390577e-08lf));
    q = mul_add_f64(q, t, vec4(4.537211788401254e-08lf));
    q = mul_add_f64(q, t, vec4(-9.558178101635195e-08lf));
    q = mul_add_f64(q, t, vec4(2.1282474305197616e-07lf));
    q = mul_add_f64(q, t, vec4(-4.508168225446838e-07lf));
    q = mul_add_f64(q, t, vec4(9.54993508309678e-07lf));
    q = mul_add_f64(q, t, vec4(-2.0389077825677104e-06lf));
    q = mul_add_f64(q, t, vec4(4.374884980416112e-06lf));
    q = mul_add_f64(q, t, vec4(-9.439526202058818e-06lf));
    q = mul_add_f64(q, t, vec4(2.0507211376332486e-05lf));
    q = mul_add_f64(q, t, vec4(-4.4926233820610826e-05lf));
    q = mul_add_f64(q, t, vec4(9.945751284637129e-05lf));
    q = mul_add_f64(q, t, vec4(-0.00022315475858818615lf));
    q = mul_add_f64(q, t, vec4(0.0005096695247414077lf));
    q = mul_add_f64(q, t, vec4(-0.0011927539116998527lf));
    q = mul_add_f64(q, t, vec4(0.0028905103307415424lf));
    q = mul_add_f64(q, t, vec4(-0.007385551028674025lf));
    q = mul_add_f64(q, t, vec4(0.020580808427784546lf));
    q = mul_add_f64(q, t, vec4(-0.06735230105319809lf));
    q = mul_add_f64(q, t, vec4(0.3224670334241132lf));
    return q;
}

// (FreeBSD e_lgamma_r.c, Sun Microsystems, 1993)
fn stirling_tail_f64(z: vec4<f64>) -> vec4<f64> {
    var q = vec4<f64>(-1.63092934096575273989e-03lf);
    q = mul_add_f64(q, z, vec4(8.36339918996282139126e-04lf));
    q = mul_add_f64(q, z, vec4(-5.95187557450339963135e-04lf));
    q = mul_add_f64(q, z, vec4(7.93650558643019558500e-04lf));
    q = mul_add_f64(q, z, vec4(-2.77777777728775536470e-03lf));
    return mul_add_f64(q, z, vec4(8.33333333333329678849e-02lf));
}

const STIRLING_FROM_f64: i32 = 20;

const DIGAMMA_FROM_f64: i32 = 10;

fn digamma_tail_f64(z: vec4<f64>) -> vec4<f64> {
    var q = vec4<f64>(-0.4432598039215686lf);
    q = mul_add_f64(q, z, vec4(0.08333333333333333lf));
    q = mul_add_f64(q, z, vec4(-0.021092796092796094lf));
    q = mul_add_f64(q, z, vec4(0.007575757575757576lf));
    q = mul_add_f64(q, z, vec4(-0.004166666666666667lf));
    q = mul_add_f64(q, z, vec4(0.003968253968253968lf));
    q = mul_add_f64(q, z, vec4(-0.008333333333333333lf));
    q = mul_add_f64(q, z, vec4(0.08333333333333333lf));
    return times_f64(q, z);
}
