//! Values with a type at run time.

use crate::dtype::{DType, Float, Kind, bf16, f16};
use crate::error::{Result, bail};

/// A number or a truth value, which becomes an element of a type that is known at run time.
///
/// Every element type converts by `into()`. A whole number must lie in the range of the element type, whichever Rust
/// type it had. A float is rounded to the nearest of a float type and must not exceed its largest. Only a truth value
/// becomes a bool.
///
/// ```
/// use zerostride::{AnyExpr, DType, ErrorKind, Scalar};
///
/// assert_eq!(Scalar::from(7_u8), Scalar::Int(7));
/// assert!(AnyExpr::scalar(DType::U8, 7.0).shape().is_ok());
///
/// let error = AnyExpr::scalar(DType::U8, 7.5).shape().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Type);
/// assert_eq!(error.message(), "7.5 is no u8, which holds whole numbers from 0 to 255");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number, an infinity or NaN.
    Float(f64),
}

macro_rules! from {
    ($($variant:ident($($t:ty)*))*) => {$($(
        impl From<$t> for Scalar {
            fn from(value: $t) -> Scalar {
                Scalar::$variant(value.into())
            }
        }
    )*)*};
}
from! {
    Bool(bool)
    Int(i8 i16 i32 i64 i128 u8 u16 u32 u64)
    Float(f16 bf16 f32 f64)
}

impl Scalar {
    /// The bits of the value as an element of a type, if the type holds it.
    pub(crate) fn to_bits(self, dtype: DType) -> Result<u64> {
        let bits = match (dtype.kind(), self) {
            (Kind::Bool, Scalar::Bool(value)) => Some(value.into()),
            (Kind::Signed | Kind::Unsigned, Scalar::Int(value)) => integer(value, dtype),
            // Beyond i128 it saturates, which is out of range all the same.
            (Kind::Signed | Kind::Unsigned, Scalar::Float(value)) if value.trunc() == value => {
                integer(value as i128, dtype)
            }
            (Kind::Float, Scalar::Int(value)) => {
                float(if dtype == DType::F64 { value as f64 } else { odd(value) }, dtype)
            }
            (Kind::Float, Scalar::Float(value)) => float(value, dtype),
            _ => None,
        };
        match bits {
            Some(bits) => Ok(bits),
            None => {
                let value = match self {
                    Scalar::Bool(value) => value.to_string(),
                    Scalar::Int(value) => value.to_string(),
                    Scalar::Float(value) => format!("{value:?}"),
                };
                bail!(Type, "{value} is no {dtype}, which holds {}", range(dtype))
            }
        }
    }
}

/// The least and the greatest of an integer type.
pub(crate) fn limits(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size();
    match dtype.kind() {
        Kind::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        _ => (0, (1 << bits) - 1),
    }
}

fn integer(value: i128, dtype: DType) -> Option<u64> {
    let (least, greatest) = limits(dtype);
    let mask = u64::MAX >> (64 - 8 * dtype.size());
    (least..=greatest).contains(&value).then_some(value as u64 & mask)
}

/// An integer as an f64, rounded to odd, so that another rounding to a shorter float is as if the integer had been
/// rounded once.
fn odd(value: i128) -> f64 {
    let nearest = value as f64;
    let bits = nearest.to_bits();
    match value - nearest as i128 {
        0 => nearest,
        _ if bits & 1 == 1 => nearest,
        off if (off > 0) == (value > 0) => f64::from_bits(bits + 1),
        _ => f64::from_bits(bits - 1),
    }
}

/// The nearest of a float type, unless a finite number would become infinite.
fn float(value: f64, dtype: DType) -> Option<u64> {
    let (bits, nearest): (u64, f64) = match dtype {
        DType::F16 => {
            let nearest = <f16 as Float>::from_f64(value);
            (nearest.to_bits().into(), nearest.into())
        }
        DType::BF16 => {
            let nearest = <bf16 as Float>::from_f64(value);
            (nearest.to_bits().into(), nearest.into())
        }
        DType::F32 => ((value as f32).to_bits().into(), f64::from(value as f32)),
        _ => (value.to_bits(), value),
    };
    (nearest.is_infinite() == value.is_infinite()).then_some(bits)
}

fn range(dtype: DType) -> String {
    match dtype {
        DType::Bool => "true and false".into(),
        DType::F16 => format!("numbers up to {}", f16::MAX),
        DType::BF16 => format!("numbers up to {:?}", bf16::MAX.to_f32()),
        DType::F32 => format!("numbers up to {:?}", f32::MAX),
        DType::F64 => format!("numbers up to {:?}", f64::MAX),
        _ => {
            let (least, greatest) = limits(dtype);
            format!("whole numbers from {least} to {greatest}")
        }
    }
}
