//! Conversions of one element that Rust lacks.

use crate::dtype::odd;

/// A value as f32, rounded to odd as [`odd`] does.
pub(super) trait ToOdd {
    fn odd(self) -> f32;
}

macro_rules! exact {
    ($($t:ident)*) => {$(impl ToOdd for $t { fn odd(self) -> f32 { self.into() } })*};
}
exact!(f32 i8 u8 i16 u16);

macro_rules! wide {
    ($($t:ident)*) => {$(
        impl ToOdd for $t {
            fn odd(self) -> f32 {
                let magnitude = i128::from(self).unsigned_abs();
                let excess = (128 - magnitude.leading_zeros()).saturating_sub(24);
                let sticky = u128::from((magnitude >> excess) << excess != magnitude);
                let odd = (((magnitude >> excess) | sticky) << excess) as f32;
                if i128::from(self) < 0 { -odd } else { odd }
            }
        }
    )*};
}
wide!(i32 u32 i64 u64);

impl ToOdd for f64 {
    fn odd(self) -> f32 {
        odd(self)
    }
}

/// A value of f32 as Rust's `as` converts it, by operations that vectorize.
pub(super) trait FromSingle {
    fn from_single(x: f32) -> Self;
}

macro_rules! plain {
    ($($t:ident)*) => {$(impl FromSingle for $t {
        #[inline(always)]
        fn from_single(x: f32) -> $t { x as $t }
    })*};
}
plain!(f32 f64 i64 u64);

macro_rules! truncated {
    ($($t:ident)*) => {$(impl FromSingle for $t {
        #[inline(always)]
        fn from_single(x: f32) -> $t {
            let magnitude = magnitude(x);
            match x.is_sign_negative() {
                // In two's complement the least integer is its own negation.
                true => (magnitude.min(i64::from($t::MIN).unsigned_abs() as u32) as $t).wrapping_neg(),
                false => magnitude.min($t::MAX as u32) as $t,
            }
        }
    })*};
}
truncated!(i8 u8 i16 u16 i32 u32);

/// The integer part of a magnitude, limited to the greatest; 0 for NaN. Compilers do not vectorize `as`.
#[inline(always)]
fn magnitude(x: f32) -> u32 {
    let bits = x.to_bits() & (u32::MAX >> 1);
    let whole = (bits << 8) | (1 << 31);
    let shift = (127 + 31_u32).wrapping_sub(bits >> 23);
    let value = if shift < 32 { whole >> (shift & 31) } else { 0 };
    let value = if bits < 4_294_967_296_f32.to_bits() { value } else { u32::MAX };
    if bits > f32::INFINITY.to_bits() { 0 } else { value }
}
