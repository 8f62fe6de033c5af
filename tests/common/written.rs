//! Functions of users, of bits alone, which have the same results on every adapter.

use std::sync::LazyLock;

use zerostride::{AnyFunction, DType, Function};

use super::value::Value;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Written {
    /// A float, with the other sign where an integer is odd.
    Turned,
    /// A product of a word and a shifted word, modulo 2^32.
    Stirred,
}

static TURNED: LazyLock<AnyFunction> = LazyLock::new(|| {
    let text = "fn turned(x: vec4<f32>, by: vec4<i32>) -> vec4<f32> {
        let sign = bitcast<vec4<u32>>(by) << vec4<u32>(31u);
        return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ sign);
    }";
    let turned = |x: f32, by: i32| f32::from_bits(x.to_bits() ^ (by as u32) << 31);
    Function::new("turned", text, turned).unwrap().into()
});

static STIRRED: LazyLock<AnyFunction> = LazyLock::new(|| {
    let text = "fn stirred(x: vec4<u32>, by: vec4<u32>) -> vec4<u32> {
        return (x ^ by >> vec4<u32>(3u)) * 2654435761u;
    }";
    let stirred = |x: u32, by: u32| (x ^ by >> 3).wrapping_mul(2_654_435_761);
    Function::new("stirred", text, stirred).unwrap().into()
});

impl Written {
    /// The function with a result of a type, if there is one.
    pub fn giving(dtype: DType) -> Option<Written> {
        [Written::Turned, Written::Stirred].into_iter().find(|own| own.types().1 == dtype)
    }

    /// The types of its operands and of its result.
    pub fn types(self) -> ([DType; 2], DType) {
        match self {
            Written::Turned => ([DType::F32, DType::I32], DType::F32),
            Written::Stirred => ([DType::U32, DType::U32], DType::U32),
        }
    }

    pub fn function(self) -> &'static AnyFunction {
        match self {
            Written::Turned => &TURNED,
            Written::Stirred => &STIRRED,
        }
    }

    pub fn of(self, values: &[Value]) -> Value {
        match (self, values) {
            (Written::Turned, &[Value::Float(x), Value::Int(by)]) => {
                Value::Float(if by % 2 == 0 { x } else { -x })
            }
            (Written::Stirred, &[Value::Int(x), Value::Int(by)]) => {
                Value::Int((x ^ by >> 3) * 2_654_435_761 % (1 << 32))
            }
            _ => panic!("{self:?} of {values:?}"),
        }
    }
}
