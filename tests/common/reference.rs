//! The exact results of inexact functions, by the crate `pxfm`, whose functions of f64 and f32 are within a hair of
//! half a unit in the last place. Nothing else here uses it.

use pxfm::*;

/// A function by its name in the op table.
pub struct Unary {
    pub name: &'static str,
    pub of_f64: fn(f64) -> f64,
    /// Rounded to f32 once.
    pub of_f32: fn(f32) -> f32,
}

macro_rules! unary {
    ($($name:ident: $f64:expr, $f32:expr;)*) => {
        &[$(Unary { name: stringify!($name), of_f64: $f64, of_f32: $f32 }),*]
    };
}

/// A function of f32 by one of f64: the two roundings differ from one in 1 of 2^28 values.
macro_rules! through {
    ($f64:expr) => {
        |x: f32| {
            let of_f64: fn(f64) -> f64 = $f64;
            of_f64(f64::from(x)) as f32
        }
    };
}

pub const UNARY: &[Unary] = unary! {
    sqrt: f64::sqrt, f32::sqrt;
    reciprocal: |x| 1.0 / x, |x| 1.0 / x;
    rsqrt: f_rsqrt, f_rsqrtf;
    cbrt: f_cbrt, f_cbrtf;
    exp: f_exp, f_expf;
    exp2: f_exp2, f_exp2f;
    exp10: f_exp10, f_exp10f;
    expm1: f_expm1, f_expm1f;
    log: f_log, f_logf;
    log2: f_log2, f_log2f;
    log10: f_log10, f_log10f;
    log1p: f_log1p, f_log1pf;
    sin: f_sin, f_sinf;
    cos: f_cos, f_cosf;
    tan: f_tan, f_tanf;
    asin: f_asin, f_asinf;
    acos: f_acos, f_acosf;
    atan: f_atan, f_atanf;
    sinh: f_sinh, f_sinhf;
    cosh: f_cosh, f_coshf;
    tanh: f_tanh, f_tanhf;
    asinh: f_asinh, f_asinhf;
    acosh: f_acosh, f_acoshf;
    atanh: f_atanh, f_atanhf;
    erf: f_erf, f_erff;
    erfc: f_erfc, f_erfcf;
    sigmoid: sigmoid, through!(sigmoid);
    logit: logit, through!(logit);
    lgamma: lgamma, through!(lgamma);
    digamma: digamma, through!(digamma);
    to_degrees: |x| x * (180.0 / std::f64::consts::PI), through!(|x| x * (180.0 / std::f64::consts::PI));
    to_radians: |x| x * (std::f64::consts::PI / 180.0), through!(|x| x * (std::f64::consts::PI / 180.0));
};

/// A function of two operands by its name in the op table.
pub struct Binary {
    pub name: &'static str,
    pub of_f64: fn(f64, f64) -> f64,
}

macro_rules! binary {
    ($($name:ident: $f64:expr;)*) => {
        &[$(Binary { name: stringify!($name), of_f64: $f64 }),*]
    };
}

pub const BINARY: &[Binary] = binary! {
    div: |a, b| a / b;
    pow: pow_by_the_standard;
    atan2: f_atan2;
    hypot: |a, b| if a.is_infinite() || b.is_infinite() { f64::INFINITY } else { f_hypot(a, b) };
    xlogy: |x, y| if x == 0.0 && !y.is_nan() { 0.0 } else { x * f_log(y) };
    logaddexp: |a, b| match () {
        () if a.is_nan() || b.is_nan() => f64::NAN,
        () if a == b => a + std::f64::consts::LN_2,
        () => a.max(b) + f_log1p(f_exp(a.min(b) - a.max(b))),
    };
};

// What pxfm 0.1.30 answers at the ends of the range is NaN or of the wrong sign.

fn sigmoid(x: f64) -> f64 {
    if x < -700.0 { f_exp(x) } else { f_logistic(x) }
}

fn logit(x: f64) -> f64 {
    if x == 0.0 { f64::NEG_INFINITY } else { f_logit(x) }
}

fn lgamma(x: f64) -> f64 {
    match x.abs() {
        0.0 => f64::INFINITY,
        y if y < 1e-290 => -f_log(y),
        y if y < 1e300 || y.is_nan() => f_lgamma(x),
        y if x > 0.0 => y * (f_log(y) - 1.0),
        _ => f64::INFINITY,
    }
}

fn digamma(x: f64) -> f64 {
    match x.abs() {
        y if y < 1e-290 => -1.0 / x,
        y if y < 1e300 || y.is_nan() => f_digamma(x),
        y if x > 0.0 => f_log(y),
        _ => f64::NAN,
    }
}

fn pow_by_the_standard(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 { 1.0 } else { f_pow(x, y) }
}
