//! Constants as text.

use std::fmt;

use crate::dtype::{DType, bf16, f16};

/// A constant, by its bits.
pub(crate) struct Constant(pub DType, pub u64);

macro_rules! forms {
    ($($form:ident)*) => {$(
        impl fmt::$form for Constant {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Constant(dtype, bits) = *self;
                match dtype {
                    DType::F32 => fmt::$form::fmt(&f32::from_bits(bits as u32), f),
                    DType::F64 => fmt::$form::fmt(&f64::from_bits(bits), f),
                    DType::F16 => fmt::$form::fmt(&f16::from_bits(bits as u16), f),
                    DType::BF16 => fmt::$form::fmt(&bf16::from_bits(bits as u16), f),
                    DType::I8 => fmt::$form::fmt(&(bits as i8), f),
                    DType::I16 => fmt::$form::fmt(&(bits as i16), f),
                    DType::I32 => fmt::$form::fmt(&(bits as i32), f),
                    DType::I64 => fmt::$form::fmt(&(bits as i64), f),
                    DType::U8 | DType::U16 | DType::U32 | DType::U64 => fmt::$form::fmt(&bits, f),
                    DType::Bool => fmt::$form::fmt(&(bits != 0), f),
                }
            }
        }
    )*};
}
forms!(Debug Display);
