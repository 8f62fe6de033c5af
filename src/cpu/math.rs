//! Functions of one element, where the op table needs more than an operator. The reference for
//! every adapter: f32 is computed in f64 and rounded once.

pub(super) fn min(a: f32, b: f32) -> f32 {
    if a.is_nan() || a < b { a } else { b }
}

pub(super) fn max(a: f32, b: f32) -> f32 {
    if a.is_nan() || a > b { a } else { b }
}

pub(super) fn sign(x: f32) -> f32 {
    match x {
        x if x > 0.0 => 1.0,
        x if x < 0.0 => -1.0,
        x if x.is_nan() => x,
        _ => 0.0,
    }
}

/// Python's remainder: the sign of `b`, zero included. Exact but for the one addition.
pub(super) fn rem_floor(a: f32, b: f32) -> f32 {
    match a % b {
        0.0 => 0.0_f32.copysign(b),
        r if r.is_sign_negative() != b.is_sign_negative() => r + b,
        r => r,
    }
}

/// NumPy's `floor_divide`: by 0 it is the plain quotient.
pub(super) fn div_floor(a: f32, b: f32) -> f32 {
    if b == 0.0 {
        return a / b;
    }
    let r = a % b;
    let down = r != 0.0 && r.is_sign_negative() != b.is_sign_negative();
    let quotient = ((a - r) / b - f32::from(u8::from(down))).round_ties_even();
    if quotient == 0.0 { quotient.copysign(a / b) } else { quotient }
}

macro_rules! through_f64 {
    ($($name:ident($($arg:ident),+) = $value:expr;)*) => {$(
        pub(super) fn $name($($arg: f32),+) -> f32 {
            $(let $arg = f64::from($arg);)+
            $value as f32
        }
    )*};
}

through_f64! {
    exp(x) = x.exp();
    log(x) = x.ln();
    sin(x) = x.sin();
    cos(x) = x.cos();
    tanh(x) = x.tanh();
    sigmoid(x) = 1.0 / (1.0 + (-x).exp());
    pow(x, y) = x.powf(y);
}

/// Integer functions that Rust names differently for signed and unsigned types, or not at all.
pub(super) trait IntOps: Copy {
    fn div_floor(a: Self, b: Self) -> Self;
    fn rem_floor(a: Self, b: Self) -> Self;
    fn pow(base: Self, exponent: Self) -> Self;
    fn abs(x: Self) -> Self;
    fn sign(x: Self) -> Self;
    fn shl(a: Self, b: Self) -> Self;
    fn shr(a: Self, b: Self) -> Self;
}

macro_rules! unsigned {
    ($($t:ident)*) => {$(
        impl IntOps for $t {
            fn div_floor(a: $t, b: $t) -> $t { a.checked_div(b).unwrap_or(0) }
            fn rem_floor(a: $t, b: $t) -> $t { a.checked_rem(b).unwrap_or(0) }
            fn pow(base: $t, exponent: $t) -> $t { base.wrapping_pow(exponent.into()) }
            fn abs(x: $t) -> $t { x }
            fn sign(x: $t) -> $t { x.min(1) }
            fn shl(a: $t, b: $t) -> $t { u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0) }
            fn shr(a: $t, b: $t) -> $t { u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(0) }
        }
    )*};
}

macro_rules! signed {
    ($($t:ident)*) => {$(
        impl IntOps for $t {
            fn div_floor(a: $t, b: $t) -> $t {
                if b == 0 { return 0; }
                let down = a.wrapping_rem(b) != 0 && (a < 0) != (b < 0);
                a.wrapping_div(b) - $t::from(down)
            }
            fn rem_floor(a: $t, b: $t) -> $t {
                if b == 0 { return 0; }
                let r = a.wrapping_rem(b);
                if r != 0 && (a < 0) != (b < 0) { r + b } else { r }
            }
            fn pow(base: $t, exponent: $t) -> $t {
                match (base, u32::try_from(exponent)) {
                    (_, Ok(exponent)) => base.wrapping_pow(exponent),
                    (1, _) => 1,
                    (-1, _) => if exponent & 1 == 0 { 1 } else { -1 },
                    _ => 0,
                }
            }
            fn abs(x: $t) -> $t { x.wrapping_abs() }
            fn sign(x: $t) -> $t { x.signum() }
            fn shl(a: $t, b: $t) -> $t { u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0) }
            fn shr(a: $t, b: $t) -> $t {
                let fill = if a < 0 { -1 } else { 0 };
                u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(fill)
            }
        }
    )*};
}

unsigned!(u8 u32);
signed!(i32);
