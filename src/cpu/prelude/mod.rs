//! Functions such as `exp`, as kernels have them: a test writes `f32.rs` and `f64.rs` from `shaders/prelude`, so the CPU path
//! computes the same operations in the same order.

// What a program writes is not formatted, and has more parentheses than a person would write.
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

/// The greater, and the second if one is NaN. Processors have this choice as an instruction.
#[inline(always)]
fn larger<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// The lesser, and the second if one is NaN.
#[inline(always)]
fn smaller<T: PartialOrd>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

macro_rules! functions {
    ($($name:ident($($arg:ident),+))*) => {
        /// A type that has the functions.
        pub(super) trait Function: Copy + PartialOrd {
            /// The greatest angle of `near_sin`, `near_cos` and `near_tan`, whose loops vectorize.
            const NEAR: Self;
            fn abs(self) -> Self;
            $(fn $name($($arg: Self),+) -> Self;)*
        }
        functions! { @ f32 $($name($($arg),+))* }
        functions! { @ f64 $($name($($arg),+))* }
    };
    (@ $t:ident $($name:ident($($arg:ident),+))*) => {
        impl Function for $t {
            const NEAR: $t = $t::NEAR;
            #[inline(always)]
            fn abs(self) -> $t { self.abs() }
            $(#[inline(always)] fn $name($($arg: $t),+) -> $t { $t::$name($($arg),+) })*
        }
    };
}
functions! {
    exp(x) exp2(x) exp10(x) expm1(x) log(x) log2(x) log10(x) log1p(x) sinh(x) cosh(x) tanh(x) asinh(x) acosh(x) atanh(x)
    asin(x) acos(x) atan(x) atan2(y, x) sigmoid(x) logit(x) pow(x, y) rsqrt(x) cbrt(x) hypot(a, b) erf(x) erfc(x) lgamma(x)
    digamma(x) sin(x) cos(x) tan(x) near_sin(x) near_cos(x) near_tan(x) xlogy(x, y) logaddexp(a, b) to_degrees(x) to_radians(x)
}
