//! Forms that replace those of the op table where an adapter needs it.

use crate::dtype::DType;
use crate::expr::{Op, Step};
use crate::plan::Kernel;

/// Ops that lose the least normal float on adapters that flush subnormals.
const FLUSHED: &[(Op, DType, &str)] = &[
    (Op::Mul, DType::F32, "mul_flushed_f32({a}, {b})"),
    (Op::Square, DType::F32, "mul_flushed_f32({a}, {a})"),
    (Op::Mul, DType::BF16, "mul_flushed_bf16({a}, {b})"),
    (Op::Square, DType::BF16, "mul_flushed_bf16({a}, {a})"),
    (Op::ToRadians, DType::F32, "mul_flushed_f32({a}, vec4<f32>(0.017453292519943295))"),
    (Op::ToRadians, DType::BF16, "mul_flushed_bf16({a}, vec4<f32>(0.017453292519943295))"),
    (Op::Div, DType::F32, "div_flushed_f32({a}, {b})"),
    (Op::Reciprocal, DType::F32, "div_flushed_f32(vec4<f32>(1.0), {a})"),
];

/// The WGSL form of a table op on the adapter that a kernel is for.
pub(super) fn form(kernel: &Kernel, step: &Step) -> &'static str {
    let replaced =
        FLUSHED.iter().find(|(op, dtype, _)| kernel.flushes && *op == step.op && *dtype == step.dtype);
    match replaced {
        Some((_, _, form)) => form,
        None => step.op.row().and_then(|row| row.form(step.dtype)).unwrap_or_default(),
    }
}
