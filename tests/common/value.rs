//! Elements of any type as values, and the types by their tag.

use zerostride::{DType, Element, bf16, f16};

/// An element: f64 holds every float, and i128 every integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Float(f64),
    Int(i128),
    Bool(bool),
}

/// Runs `$body` with `$t` as the Rust type of a tag.
macro_rules! with_type {
    ($dtype:expr, $t:ident => $body:expr) => {
        $crate::common::value::with_type!(@ $dtype, $t => $body;
            F32 f32, F16 zerostride::f16, BF16 zerostride::bf16, F64 f64, I8 i8, U8 u8, I16 i16, U16 u16,
            I32 i32, U32 u32, I64 i64, U64 u64, Bool bool)
    };
    (@ $dtype:expr, $t:ident => $body:expr; $($tag:ident $rust:ty),*) => {
        match $dtype {
            $(zerostride::DType::$tag => {
                type $t = $rust;
                $body
            })*
            other => panic!("no type {other}"),
        }
    };
}
pub(crate) use with_type;

/// Rust's types, from and to values that they hold.
pub trait Plain: Element {
    fn of(value: Value) -> Self;
    fn value(self) -> Value;
}

macro_rules! plain {
    ($($t:ident $variant:ident |$x:ident| $of:expr, |$y:ident| $value:expr;)*) => {$(
        impl Plain for $t {
            fn of(value: Value) -> $t {
                match value {
                    Value::$variant($x) => $of,
                    other => panic!("{other:?} is no {}", stringify!($t)),
                }
            }
            fn value(self) -> Value {
                let $y = self;
                Value::$variant($value)
            }
        }
    )*};
}
plain! {
    f32 Float |x| x as f32, |x| x.into();
    f64 Float |x| x, |x| x;
    f16 Float |x| f16::from_f32(odd(x)), |x| x.to_f32().into();
    bf16 Float |x| bf16::from_f32(odd(x)), |x| x.to_f32().into();
    i8 Int |x| x as i8, |x| x.into();
    u8 Int |x| x as u8, |x| x.into();
    i16 Int |x| x as i16, |x| x.into();
    u16 Int |x| x as u16, |x| x.into();
    i32 Int |x| x as i32, |x| x.into();
    u32 Int |x| x as u32, |x| x.into();
    i64 Int |x| x as i64, |x| x.into();
    u64 Int |x| x as u64, |x| x.into();
    bool Bool |x| x, |x| x;
}

/// To f32 so that another rounding, to fewer digits, is as if there had been none before.
fn odd(x: f64) -> f32 {
    let near = x as f32;
    if near.is_nan() || f64::from(near) == x || near.to_bits() & 1 == 1 {
        return near;
    }
    let away = f64::from(near).abs() < x.abs();
    f32::from_bits(if away { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

pub fn is_float(of: DType) -> bool {
    matches!(of, DType::F32 | DType::F16 | DType::BF16 | DType::F64)
}

/// The nearest number of a float type. Sums, products, quotients and roots rounded to f64 and then to a
/// narrower type of at most 25 digits are as if rounded once (Figueroa, When is double rounding
/// innocuous?, 1995).
pub fn nearest(x: f64, of: DType) -> f64 {
    match of {
        DType::F32 => f64::from(x as f32),
        DType::F16 => f64::from(f16::from_f32(odd(x)).to_f32()),
        DType::BF16 => f64::from(bf16::from_f32(odd(x)).to_f32()),
        _ => x,
    }
}

/// The least normal number, below which an adapter may flush. f16 is computed in f32, whose subnormals
/// are flushed; its own are kept.
pub fn least(of: DType) -> f64 {
    if of == DType::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() }
}

/// The rank of a float in its type: 0 for zeros, and one more for each float above.
pub fn rank(x: f64, of: DType) -> i64 {
    let magnitude = match of {
        DType::F32 => i64::from((x as f32).abs().to_bits()),
        DType::F16 => i64::from(f16::from_f32(odd(x.abs())).to_bits()),
        DType::BF16 => i64::from(bf16::from_f32(odd(x.abs())).to_bits()),
        _ => x.abs().to_bits() as i64,
    };
    if x < 0.0 { -magnitude } else { magnitude }
}

/// The float of a number.
pub fn by_rank(rank: i64, of: DType) -> f64 {
    let bits = rank.unsigned_abs();
    let magnitude = match of {
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        DType::F16 => f64::from(f16::from_bits(bits as u16).to_f32()),
        DType::BF16 => f64::from(bf16::from_bits(bits as u16).to_f32()),
        _ => f64::from_bits(bits),
    };
    if rank < 0 { -magnitude } else { magnitude }
}
