//! Replacements of the op table's forms, where an adapter needs them or its user asked for them.

use super::types::compute;
use crate::dtype::{DType, Kind};
use crate::ir::{Math, Op, Step};
use crate::plan::Kernel;

/// Ops that lose the least normal float on adapters that flush subnormals.
const FLUSHED: &[(Op, DType, &str)] = &[
    (Op::Mul, DType::F32, "mul_flushed_f32({a}, {b})"),
    (Op::Square, DType::F32, "mul_flushed_f32({a}, {a})"),
    (Op::Mul, DType::BF16, "mul_flushed_bf16({a}, {b})"),
    (Op::Square, DType::BF16, "mul_flushed_bf16({a}, {a})"),
    (Op::ToRadians, DType::BF16, "mul_flushed_bf16({a}, vec4<f32>(0.017453292519943295))"),
    (Op::Div, DType::F32, "div_flushed_f32({a}, {b})"),
    (Op::Reciprocal, DType::F32, "div_flushed_f32(vec4<f32>(1.0), {a})"),
];

/// Ops that some adapters do not round to the nearest float.
const QUOTIENTS: &[(Op, &str)] =
    &[(Op::Div, "div_nearest_{T}({a}, {b})"), (Op::Reciprocal, "div_nearest_{T}(vec4<{T}>(1.0), {a})")];

const ROOTS: &[(Op, &str)] = &[(Op::Sqrt, "sqrt_nearest_{T}({a})")];

/// Ops that builtins compute faster, for types that compute in f32.
const FAST: &[(Op, &str)] = &[
    (Op::Exp, "fast_exp_f32({a})"),
    (Op::Exp2, "fast_exp2_f32({a})"),
    (Op::Exp10, "fast_exp10_f32({a})"),
    (Op::Log, "fast_log_f32({a})"),
    (Op::Log2, "fast_log2_f32({a})"),
    (Op::Log10, "fast_log10_f32({a})"),
    (Op::Sin, "fast_sin_f32({a})"),
    (Op::Cos, "fast_cos_f32({a})"),
    (Op::Tan, "fast_tan_f32({a})"),
    (Op::Tanh, "fast_tanh_f32({a})"),
    (Op::Sigmoid, "fast_sigmoid_f32({a})"),
    (Op::Pow, "fast_pow_f32({a}, {b})"),
];

/// The WGSL form of an op for a kernel's adapter.
pub(super) fn form(kernel: &Kernel, step: &Step) -> &'static str {
    let (faults, fast) = (kernel.faults, kernel.math == Math::Fast);
    let float = step.dtype.kind() == Kind::Float;
    let tables = [
        (fast && compute(step.dtype) == "f32", FAST),
        (faults.quotients && !fast && float, QUOTIENTS),
        (faults.roots && !fast && float, ROOTS),
    ];
    let mut replaced = tables.iter().filter(|(holds, _)| *holds).flat_map(|(_, table)| *table);
    if let Some((_, form)) = replaced.find(|(op, _)| *op == step.op) {
        return form;
    }
    let flushed = FLUSHED.iter().find(|(op, dtype, _)| (*op, *dtype) == (step.op, step.dtype));
    match flushed.filter(|_| faults.flushes && !fast) {
        Some((_, _, form)) => form,
        None => step.op.row().and_then(|row| row.form(step.dtype)).map_or("", |form| form.wgsl),
    }
}
