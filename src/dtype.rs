//! Element types: the run-time tag [`DType`] and the traits that bind it to Rust's types.

use std::fmt;

pub use half::{bf16, f16};

/// Calls `$go!` with the table of element types. A row has the documentation, the tag, Rust's type, the kind of
/// values, the zero, the classes beside [`Element`], the elements as bits, and the function that reads them from
/// bytes. Everything that lists the types is made from it.
macro_rules! for_each_dtype {
    ($go:ident) => {
        $go! {
            /// 32-bit float (IEEE 754 binary32).
            F32 f32: Float, 0.0, [], |x| f32::to_bits(x).into(), extend fill;
            /// 16-bit float (IEEE 754 binary16). Computes in f32 and rounds once per operation.
            F16 f16: Float, (f16::ZERO), [], |x| f16::to_bits(x).into(), extend fill;
            /// 16-bit float with the exponent of f32 (bfloat16). Computes in f32 and rounds once per
            /// operation.
            BF16 bf16: Float, (bf16::ZERO), [], |x| bf16::to_bits(x).into(), extend fill;
            /// 64-bit float (IEEE 754 binary64). Its arithmetic needs an adapter with `SHADER_F64` and `SHADER_INT64`.
            F64 f64: Float, 0.0, [], |x| f64::to_bits(x), extend fill;
            /// 8-bit signed integer.
            I8 i8: Signed, 0, [Bits Integer], |x| (x as u8).into(), extend fill;
            /// 8-bit unsigned integer.
            U8 u8: Unsigned, 0, [Bits Integer], |x| x.into(), extend fill;
            /// 16-bit signed integer.
            I16 i16: Signed, 0, [Bits Integer], |x| (x as u16).into(), extend fill;
            /// 16-bit unsigned integer.
            U16 u16: Unsigned, 0, [Bits Integer], |x| x.into(), extend fill;
            /// 32-bit signed integer.
            I32 i32: Signed, 0, [Bits Integer], |x| (x as u32).into(), extend fill;
            /// 32-bit unsigned integer.
            U32 u32: Unsigned, 0, [Bits Integer], |x| x.into(), extend fill;
            /// 64-bit signed integer. Without `SHADER_INT64` an adapter computes with pairs of words.
            I64 i64: Signed, 0, [Bits Integer], |x| x as u64, extend fill;
            /// 64-bit unsigned integer. Without `SHADER_INT64` an adapter computes with pairs of words.
            U64 u64: Unsigned, 0, [Bits Integer], |x| x, extend fill;
            /// Truth value, a byte of 0 or 1.
            Bool bool: Bool, false, [Bits], |x| x.into(), extend_truths fill_truths;
        }
    };
}
pub(crate) use for_each_dtype;

/// The kind of values that a type has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
}

macro_rules! define {
    ($($(#[doc = $doc:literal])+ $tag:ident $t:ident: $kind:ident, $zero:tt, [$($class:ident)*], |$x:ident| $word:expr, $extend:ident $fill:ident;)*) => {
        /// The type of a tensor's elements, as a value.
        ///
        /// ```
        /// use zerostride::{DType, Element};
        ///
        /// assert_eq!(f32::DTYPE, DType::F32);
        /// assert_eq!(DType::U8.size(), 1);
        /// assert_eq!(DType::Bool.to_string(), "bool");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum DType {$(
            $(#[doc = $doc])+
            $tag,
        )*}

        impl DType {
            /// Every element type.
            pub const ALL: [DType; [$(stringify!($tag)),*].len()] = [$(DType::$tag),*];

            /// Bytes of one element, in memory of the host and of the device. On the GPU, elements of
            /// less than four bytes are packed in words.
            pub const fn size(self) -> usize {
                match self {
                    $(DType::$tag => size_of::<$t>(),)*
                }
            }

            /// The name, as Rust writes the type.
            pub const fn name(self) -> &'static str {
                match self {
                    $(DType::$tag => stringify!($t),)*
                }
            }

            pub(crate) const fn kind(self) -> Kind {
                match self {
                    $(DType::$tag => Kind::$kind,)*
                }
            }

            /// The type in which elements are added up: f32 for f16 and bf16, else their own.
            pub(crate) const fn accumulating(self) -> DType {
                match self {
                    DType::F16 | DType::BF16 => DType::F32,
                    dtype => dtype,
                }
            }
        }

        $(
            impl sealed::Sealed for $t {}
            impl Element for $t {
                const DTYPE: DType = DType::$tag;
                #[allow(unused_parens)] // around constants, which are no literals
                const ZERO: Self = $zero;
                fn to_bits(self) -> u64 { let $x = self; $word }
                fn extend(all: &mut Vec<Self>, bytes: &[u8]) { $extend(all, bytes) }
                fn fill(all: &mut [Self], bytes: &[u8]) { $fill(all, bytes) }
            }
            $(impl $class for $t {})*
        )*
    };
}
for_each_dtype!(define);

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type that tensors can hold: the floats `f32`, `f64`, `f16` and `bf16`, the integers of 8 to
/// 64 bits, and `bool`.
pub trait Element:
    sealed::Sealed + bytemuck::NoUninit + PartialEq + fmt::Debug + Send + Sync + 'static
{
    /// The type as a value.
    const DTYPE: DType;

    /// The zero of the type (`false` for `bool`).
    const ZERO: Self;

    #[doc(hidden)]
    fn to_bits(self) -> u64;

    #[doc(hidden)]
    fn extend(all: &mut Vec<Self>, bytes: &[u8]);

    #[doc(hidden)]
    fn fill(all: &mut [Self], bytes: &[u8]);
}

/// Types with arithmetic: all but `bool`.
///
/// Numbers of a type that only the caller knows are made of `i32`:
///
/// ```
/// use zerostride::{Device, Expr, IntoExpr, Numeric};
///
/// fn odd<T: Numeric>(x: impl IntoExpr<T>) -> Expr<T> {
///     x.into_expr() * T::from_i32(2) + T::ONE
/// }
/// let device = Device::cpu();
/// assert_eq!(odd(&device.upload(&[1.5_f32], [1])?).to_vec()?, [4.0]);
/// assert_eq!(odd(&device.upload(&[7_u8], [1])?).to_vec()?, [15]);
/// # Ok::<(), zerostride::Error>(())
/// ```
pub trait Numeric: Element {
    /// The one of the type.
    const ONE: Self;

    /// The number in this type, as Rust's `as` makes it: floats are rounded, integers wrap.
    fn from_i32(value: i32) -> Self;
}

/// Floating-point types.
pub trait Float: Numeric {
    /// The nearest value of the type.
    ///
    /// ```
    /// use zerostride::{Float, bf16};
    ///
    /// assert_eq!(bf16::from_f64(0.1).to_f32(), 0.100097656);
    /// ```
    fn from_f64(value: f64) -> Self;
}

/// Types that bitwise operations work on: the integers, and `bool` as one bit.
pub trait Bits: Element {}

/// Integer types.
pub trait Integer: Numeric + Bits {}

/// Appends the elements of bytes, which need not be aligned.
fn extend<T: bytemuck::Pod>(all: &mut Vec<T>, bytes: &[u8]) {
    match bytemuck::try_cast_slice(bytes) {
        Ok(aligned) => all.extend_from_slice(aligned),
        Err(_) => all.extend(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>)),
    }
}

/// Writes the bytes of elements.
fn fill<T: bytemuck::Pod>(all: &mut [T], bytes: &[u8]) {
    bytemuck::cast_slice_mut(all).copy_from_slice(bytes);
}

fn extend_truths(all: &mut Vec<bool>, bytes: &[u8]) {
    all.extend(bytes.iter().map(|&byte| byte != 0));
}

fn fill_truths(all: &mut [bool], bytes: &[u8]) {
    all.iter_mut().zip(bytes).for_each(|(truth, &byte)| *truth = byte != 0);
}

macro_rules! numbers {
    ($($t:ident $one:expr, |$x:ident| $value:expr;)*) => {$(
        impl Numeric for $t {
            const ONE: Self = $one;
            fn from_i32($x: i32) -> Self { $value }
        }
    )*};
    ($($t:ident)*) => { numbers! { $($t 1, |x| x as $t;)* } };
}
numbers!(i8 u8 i16 u16 i32 u32 i64 u64);
numbers! {
    f32 1.0, |x| x as f32;
    f64 1.0, |x| x.into();
    f16 f16::ONE, |x| <f16 as Float>::from_f64(x.into());
    bf16 bf16::ONE, |x| <bf16 as Float>::from_f64(x.into());
}

macro_rules! floats {
    ($($t:ident |$x:ident| $value:expr;)*) => {$(
        impl Float for $t {
            fn from_f64($x: f64) -> Self { $value }
        }
    )*};
}

floats! {
    f32 |x| x as f32;
    f64 |x| x;
    f16 |x| f16::from_f32(odd(x));
    bf16 |x| bf16::from_f32(odd(x));
}

/// A number as f32, rounded to odd: rounded again, to 8 or 11 bits, it is as if rounded once (Boldo and
/// Melquiond, When double rounding is odd, 2005).
pub(crate) fn odd(value: f64) -> f32 {
    let near = value as f32;
    if near.is_nan() || f64::from(near) == value || near.to_bits() & 1 == 1 {
        return near;
    }
    // The even neighbour was chosen: the odd one lies on the other side of the value.
    let up = f64::from(near).abs() < value.abs();
    f32::from_bits(if up { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_once() {
        // Just above the middle between 1 and the next f16, and the next bf16.
        for (middle, next) in [(1.0 + 2_f64.powi(-11), 0x3c01), (1.0 - 2_f64.powi(-12), 0x3c00)] {
            assert_eq!(<f16 as Float>::from_f64(middle + 2_f64.powi(-50)).to_bits(), next);
        }
        assert_eq!(<f16 as Float>::from_f64(1.0 + 2_f64.powi(-11)).to_bits(), 0x3c00);
        assert_eq!(<bf16 as Float>::from_f64(1.0 + 2_f64.powi(-8) + 2_f64.powi(-50)).to_bits(), 0x3f81);
        assert_eq!(<bf16 as Float>::from_f64(-1.0 - 2_f64.powi(-8)).to_bits(), 0xbf80);
        assert_eq!(<f16 as Float>::from_f64(f64::INFINITY).to_bits(), 0x7c00);
        assert!(<bf16 as Float>::from_f64(f64::NAN).is_nan());
    }
}
