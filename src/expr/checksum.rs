//! A checksum of all elements, which is made where they are.

use std::sync::LazyLock;

use super::both::on_both;
use super::{AnyExpr, Expr, Function, ReduceOptions};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::ir::{AnyFunction, Op};

/// The bits of floats, words of u32. Any NaN is the quiet one.
static SINGLE: LazyLock<Result<AnyFunction>> = LazyLock::new(|| {
    let text = "fn bits(x: vec4<f32>) -> vec4<u32> {
        let all = bitcast<vec4<u32>>(x);
        return select(all, vec4<u32>(0x7fc00000u), (all & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u));
    }";
    let bits = |x: f32| if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() };
    Ok(Function::new("bits", text, bits)?.into())
});

/// The two words of floats of 64 bits, the low one at 0.
static DOUBLE: LazyLock<Result<AnyFunction>> = LazyLock::new(|| {
    let text = "fn word(x: vec4<f64>, half: vec4<u32>) -> vec4<u32> {
        let all = bitcast<vec4<u64>>(x);
        let nan = (all & vec4<u64>(0x7ffffffffffffffflu)) > vec4<u64>(0x7ff0000000000000lu);
        let one = select(all, vec4<u64>(0x7ff8000000000000lu), nan);
        return vec4<u32>((one >> (half << vec4<u32>(5u))) & vec4<u64>(0xfffffffflu));
    }";
    let word = |x: f64, half: u32| {
        let all = if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() };
        (all >> (half << 5)) as u32
    };
    Ok(Function::new("word", text, word)?.into())
});

fn number(value: u32) -> AnyExpr {
    AnyExpr::scalar(DType::U32, value)
}

/// A word whose high bits move its low ones, times an odd number.
fn mixed(x: &AnyExpr, shift: u32, factor: u32) -> AnyExpr {
    x.op(Op::Xor, x.op(Op::Shr, number(shift))).op(Op::Mul, number(factor))
}

impl AnyExpr {
    /// The bits of each element: one word of u32, or two for a type of 64 bits.
    fn words(&self) -> Result<Vec<AnyExpr>> {
        Ok(match self.dtype()? {
            DType::F32 | DType::F16 | DType::BF16 => vec![SINGLE.clone()?.call(&[self.cast(DType::F32)])],
            DType::F64 => {
                let function = DOUBLE.clone()?;
                [0, 1].map(|half| function.call(&[self.clone(), number(half)])).into()
            }
            DType::I64 | DType::U64 => {
                let high = self.cast(DType::U64).op(Op::Shr, AnyExpr::scalar(DType::U64, 32));
                vec![self.cast(DType::U32), high.cast(DType::U32)]
            }
            _ => vec![self.cast(DType::U32)],
        })
    }

    fn summed_up(&self) -> Result<AnyExpr> {
        let flat = self.reshaped([-1]);
        let words = flat.words()?;
        let place = AnyExpr::iota(flat.shape()?.clone(), 0).cast(DType::U32);
        let mut sum = number(0);
        for (i, word) in words.iter().enumerate() {
            // Of places from 1 on, so that zeros at the end count.
            let place = place.op(Op::Mul, number(words.len() as u32)).op(Op::Add, number(i as u32 + 1));
            let apart = word.op(Op::Xor, place.op(Op::Mul, number(0x9e37_79b9)));
            // Wellons' hash of one word, every bit of which moves each bit of the result.
            let word = mixed(&mixed(&mixed(&apart, 16, 0x21f0_aaad), 15, 0x735a_2d97), 15, 1);
            sum = sum.op(Op::Add, word.reduce("sum", .., ReduceOptions::default()));
        }
        Ok(sum)
    }
}

on_both! {
    /// Checksums.
    examples of f32 ["[1.0_f32, 2.0, 3.0], [3]"];

    /// A number of u32, of shape `[]`, that depends on the bits of every element and on its place in row-major order. It is
    /// computed on the tensor's device, and 4 bytes of it are read. So programs on several machines find out whether
    /// their tensors have the same bits, step by step.
    ///
    /// Tensors of equal elements have equal checksums, on every device and in every version: it is the sum, modulo
    /// 2^32, of a mixed word for each element, or two for a type of 64 bits. Different ones have the same by
    /// chance, once in 2^32, and anyone can make such. The shape is no part of it. f16 and bf16 count as the same numbers
    /// in f32. Any NaN counts as one NaN, and -0 is not 0. Subnormal numbers are 0 on a device that flushes them
    /// ([`Device::flushes_subnormals`](crate::Device::flushes_subnormals)). 2^31 elements or more are an error.
    checksum() -> u32, "x.checksum()" => "[352842983]", |x| x.summed_up();
}
