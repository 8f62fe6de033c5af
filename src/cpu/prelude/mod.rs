//! Functions such as `exp`, as kernels have them: a test writes `f32.rs` and `f64.rs` from `shaders/prelude`, so the CPU path
//! computes the same operations in the same order.

#[rustfmt::skip]
#[allow(unused, clippy::all, clippy::pedantic)]
mod f32;
#[rustfmt::skip]
#[allow(unused, clippy::all, clippy::pedantic)]
mod f64;

/// The second value where a condition holds, as in WGSL. Both are computed, so loops vectorize.
#[inline(always)]
fn select<T>(otherwise: T, value: T, condition: bool) -> T {
    if condition { value } else { otherwise }
}

/// The greater, and the second if one is NaN, which processors have an instruction for.
#[inline(always)]
fn larger<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// The lesser, and the second if one is NaN.
#[inline(always)]
fn smaller<T: PartialOrd>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

/// A type that has the functions.
macro_rules! functions {
    ($($name:ident($($arg:ident),+))*) => {
        pub(super) trait Function: Copy + PartialOrd {
            /// The greatest angle of the trigonometric functions here. A loop that could reduce any angle would not vectorize.
            const NEAR: Self;
            fn abs(self) -> Self;
            fn sin(x: Self) -> Self;
            fn cos(x: Self) -> Self;
            fn tan(x: Self) -> Self;
            /// The same of any angle.
            fn far_sin(x: Self) -> Self;
            fn far_cos(x: Self) -> Self;
            fn far_tan(x: Self) -> Self;
            $(fn $name($($arg: Self),+) -> Self;)*
        }
        functions! { @ f32 6000.0 $($name($($arg),+))* }
        functions! { @ f64 1.0e6 $($name($($arg),+))* }
    };
    (@ $t:ident $near:literal $($name:ident($($arg:ident),+))*) => {
        impl Function for $t {
            const NEAR: $t = $near;
            #[inline(always)]
            fn abs(self) -> $t { self.abs() }
            #[inline(always)]
            fn sin(x: $t) -> $t { $t::sin_of_quarter(x) }
            #[inline(always)]
            fn cos(x: $t) -> $t { $t::cos_of_quarter(x) }
            #[inline(always)]
            fn tan(x: $t) -> $t { $t::tan_of_quarter(x) }
            fn far_sin(x: $t) -> $t { $t::sin(x) }
            fn far_cos(x: $t) -> $t { $t::cos(x) }
            fn far_tan(x: $t) -> $t { $t::tan(x) }
            $(#[inline(always)] fn $name($($arg: $t),+) -> $t { $t::$name($($arg),+) })*
        }
    };
}
functions! {
    exp(x) exp2(x) exp10(x) expm1(x) log(x) log2(x) log10(x) log1p(x) sinh(x) cosh(x) tanh(x) asinh(x) acosh(x) atanh(x)
    asin(x) acos(x) atan(x) atan2(y, x) sigmoid(x) logit(x) pow(x, y) rsqrt(x) cbrt(x) hypot(a, b) erf(x) erfc(x) lgamma(x)
    digamma(x) xlogy(x, y) logaddexp(a, b) to_degrees(x) to_radians(x)
}
