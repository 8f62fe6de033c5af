//! Element types: the run-time tag [`DType`] and the traits that bind it to Rust's types.

use std::fmt;

pub use half::{bf16, f16};

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
pub enum DType {
    /// 32-bit float (IEEE 754 binary32).
    F32,
    /// 16-bit float (IEEE 754 binary16). Computes in f32 and rounds once per operation.
    F16,
    /// 16-bit float with the exponent of f32 (bfloat16). Computes in f32 and rounds once per
    /// operation.
    BF16,
    /// 64-bit float (IEEE 754 binary64). Needs an adapter with `SHADER_F64`.
    F64,
    /// 8-bit signed integer.
    I8,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit signed integer.
    I16,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit signed integer. Needs an adapter with `SHADER_INT64`.
    I64,
    /// 64-bit unsigned integer. Needs an adapter with `SHADER_INT64`.
    U64,
    /// Truth value, a byte of 0 or 1.
    Bool,
}

/// What the values of a type are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
}

impl DType {
    /// Every element type there is.
    pub const ALL: [DType; 13] = [
        DType::F32,
        DType::F16,
        DType::BF16,
        DType::F64,
        DType::I8,
        DType::U8,
        DType::I16,
        DType::U16,
        DType::I32,
        DType::U32,
        DType::I64,
        DType::U64,
        DType::Bool,
    ];

    /// Bytes of one element, in memory of the host and of the device. On the GPU, elements of less
    /// than four bytes are packed in words.
    pub const fn size(self) -> usize {
        match self {
            DType::F64 | DType::I64 | DType::U64 => 8,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F16 | DType::BF16 | DType::I16 | DType::U16 => 2,
            DType::I8 | DType::U8 | DType::Bool => 1,
        }
    }

    /// The name, as Rust writes the type.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F64 => "f64",
            DType::I8 => "i8",
            DType::U8 => "u8",
            DType::I16 => "i16",
            DType::U16 => "u16",
            DType::I32 => "i32",
            DType::U32 => "u32",
            DType::I64 => "i64",
            DType::U64 => "u64",
            DType::Bool => "bool",
        }
    }

    pub(crate) const fn kind(self) -> Kind {
        match self {
            DType::F32 | DType::F16 | DType::BF16 | DType::F64 => Kind::Float,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Kind::Signed,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => Kind::Unsigned,
            DType::Bool => Kind::Bool,
        }
    }
}

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
pub trait Numeric: Element {}

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

/// Appends bytes, which may lie at any address, as elements.
fn extend<T: bytemuck::Pod>(all: &mut Vec<T>, bytes: &[u8]) {
    match bytemuck::try_cast_slice(bytes) {
        Ok(aligned) => all.extend_from_slice(aligned),
        Err(_) => all.extend(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>)),
    }
}

/// Writes as many bytes as elements have.
fn fill<T: bytemuck::Pod>(all: &mut [T], bytes: &[u8]) {
    bytemuck::cast_slice_mut(all).copy_from_slice(bytes);
}

fn extend_truths(all: &mut Vec<bool>, bytes: &[u8]) {
    all.extend(bytes.iter().map(|&byte| byte != 0));
}

fn fill_truths(all: &mut [bool], bytes: &[u8]) {
    all.iter_mut().zip(bytes).for_each(|(truth, &byte)| *truth = byte != 0);
}

macro_rules! elements {
    ($($t:ident $tag:ident $zero:tt [$($class:ident)*] |$x:ident| $word:expr, $extend:ident $fill:ident;)*) => {$(
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
    )*};
}

elements! {
    f32  F32  0.0        [Numeric]              |x| f32::to_bits(x).into(), extend fill;
    f64  F64  0.0        [Numeric]              |x| f64::to_bits(x),        extend fill;
    f16  F16  (f16::ZERO)  [Numeric]            |x| f16::to_bits(x).into(), extend fill;
    bf16 BF16 (bf16::ZERO) [Numeric]            |x| bf16::to_bits(x).into(), extend fill;
    i8   I8   0          [Numeric Bits Integer] |x| (x as u8).into(),  extend fill;
    i16  I16  0          [Numeric Bits Integer] |x| (x as u16).into(), extend fill;
    i32  I32  0          [Numeric Bits Integer] |x| (x as u32).into(), extend fill;
    i64  I64  0          [Numeric Bits Integer] |x| x as u64,          extend fill;
    u8   U8   0          [Numeric Bits Integer] |x| x.into(),          extend fill;
    u16  U16  0          [Numeric Bits Integer] |x| x.into(),          extend fill;
    u32  U32  0          [Numeric Bits Integer] |x| x.into(),          extend fill;
    u64  U64  0          [Numeric Bits Integer] |x| x,                 extend fill;
    bool Bool false      [Bits]                 |x| x.into(),          extend_truths fill_truths;
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
    f16 |x| f16::from_f64(x);
    bf16 |x| bf16::from_f64(x);
}
