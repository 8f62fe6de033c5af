//! Element types: the run-time tag [`DType`] and the traits that bind it to Rust's types.

use std::fmt;

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
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// 8-bit unsigned integer, packed four to a word on the GPU.
    U8,
    /// Truth value, a byte of 0 or 1, packed four to a word on the GPU.
    Bool,
}

impl DType {
    /// Every element type there is.
    pub const ALL: [DType; 5] = [DType::F32, DType::I32, DType::U32, DType::U8, DType::Bool];

    /// Bytes of one element, in memory of the host and of the device.
    pub const fn size(self) -> usize {
        match self {
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::U8 | DType::Bool => 1,
        }
    }

    /// The name, as Rust writes the type.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::I32 => "i32",
            DType::U32 => "u32",
            DType::U8 => "u8",
            DType::Bool => "bool",
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

/// A type that tensors can hold: `f32`, `i32`, `u32`, `u8`, `bool`.
pub trait Element:
    sealed::Sealed + bytemuck::NoUninit + PartialEq + fmt::Debug + Send + Sync + 'static
{
    /// The type as a value.
    const DTYPE: DType;

    /// The zero of the type (`false` for `bool`).
    const ZERO: Self;

    #[doc(hidden)]
    fn to_word(self) -> u32;

    #[doc(hidden)]
    fn from_bytes(bytes: &[u8]) -> Vec<Self>;
}

/// Types with arithmetic: all but `bool`.
pub trait Numeric: Element {}

/// Floating-point types.
pub trait Float: Numeric {}

/// Types that bitwise operations work on: the integers, and `bool` as one bit.
pub trait Bits: Element {}

/// Integer types.
pub trait Integer: Numeric + Bits {}

macro_rules! elements {
    ($($t:ident $tag:ident $zero:literal [$($class:ident)*] |$x:ident| $word:expr, |$bytes:ident| $read:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl Element for $t {
            const DTYPE: DType = DType::$tag;
            const ZERO: Self = $zero;
            fn to_word(self) -> u32 { let $x = self; $word }
            fn from_bytes($bytes: &[u8]) -> Vec<Self> { $read }
        }
        $(impl $class for $t {})*
    )*};
}

elements! {
    f32  F32  0.0   [Numeric Float]        |x| x.to_bits(), |b| bytemuck::pod_collect_to_vec(b);
    i32  I32  0     [Numeric Bits Integer] |x| x as u32,    |b| bytemuck::pod_collect_to_vec(b);
    u32  U32  0     [Numeric Bits Integer] |x| x,           |b| bytemuck::pod_collect_to_vec(b);
    u8   U8   0     [Numeric Bits Integer] |x| x.into(),    |b| b.to_vec();
    bool Bool false [Bits]                 |x| x.into(),    |b| b.iter().map(|&x| x != 0).collect();
}
