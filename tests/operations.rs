//! `docs/operations.md` is the op table, and cannot drift from it.
//! `ZEROSTRIDE_BLESS=1 cargo test --test operations` writes it anew.

use std::fs;
use std::path::Path;

use zerostride::{DType, Operation, operations};

/// The names that other systems give an operation, where they differ: NumPy, PyTorch, ONNX.
const NAMES: &[(&str, &str, &str, &str)] = &[
    ("sub", "subtract", "sub", "Sub"),
    ("mul", "multiply", "mul", "Mul"),
    ("div", "divide", "div", "Div"),
    ("rem", "fmod", "fmod", "Mod (fmod=1)"),
    ("div_floor", "floor_divide", "floor_divide", "-"),
    ("rem_floor", "remainder", "remainder", "Mod"),
    ("pow", "power", "pow", "Pow"),
    ("min", "minimum", "minimum", "Min"),
    ("max", "maximum", "maximum", "Max"),
    ("clamp", "clip", "clamp", "Clip"),
    ("neg", "negative", "neg", "Neg"),
    ("abs", "absolute", "abs", "Abs"),
    ("fmin", "fmin", "fmin", "-"),
    ("fmax", "fmax", "fmax", "-"),
    ("trunc", "trunc", "trunc", "-"),
    ("square", "square", "square", "-"),
    ("cbrt", "cbrt", "-", "-"),
    ("exp2", "exp2", "exp2", "-"),
    ("expm1", "expm1", "expm1", "-"),
    ("log2", "log2", "log2", "-"),
    ("log10", "log10", "log10", "-"),
    ("log1p", "log1p", "log1p", "-"),
    ("copysign", "copysign", "copysign", "-"),
    ("hypot", "hypot", "hypot", "-"),
    ("signbit", "signbit", "signbit", "-"),
    ("relu", "-", "relu", "Relu"),
    ("round", "rint", "round", "Round"),
    ("log", "log", "log", "Log"),
    ("sigmoid", "-", "sigmoid", "Sigmoid"),
    ("rsqrt", "-", "rsqrt", "-"),
    ("exp10", "-", "-", "-"),
    ("asin", "arcsin", "asin", "Asin"),
    ("acos", "arccos", "acos", "Acos"),
    ("atan", "arctan", "atan", "Atan"),
    ("asinh", "arcsinh", "asinh", "Asinh"),
    ("acosh", "arccosh", "acosh", "Acosh"),
    ("atanh", "arctanh", "atanh", "Atanh"),
    ("atan2", "arctan2", "atan2", "-"),
    ("erf", "-", "erf", "Erf"),
    ("erfc", "-", "erfc", "-"),
    ("eq", "equal", "eq", "Equal"),
    ("ne", "not_equal", "ne", "-"),
    ("lt", "less", "lt", "Less"),
    ("le", "less_equal", "le", "LessOrEqual"),
    ("gt", "greater", "gt", "Greater"),
    ("ge", "greater_equal", "ge", "GreaterOrEqual"),
    ("and", "bitwise_and, logical_and", "bitwise_and, logical_and", "BitwiseAnd, And"),
    ("or", "bitwise_or, logical_or", "bitwise_or, logical_or", "BitwiseOr, Or"),
    ("xor", "bitwise_xor, logical_xor", "bitwise_xor, logical_xor", "BitwiseXor, Xor"),
    ("not", "invert, logical_not", "bitwise_not, logical_not", "BitwiseNot, Not"),
    ("shl", "left_shift", "bitwise_left_shift", "BitShift"),
    ("shr", "right_shift", "bitwise_right_shift", "BitShift"),
    ("is_nan", "isnan", "isnan", "IsNaN"),
    ("is_inf", "isinf", "isinf", "IsInf"),
    ("is_finite", "isfinite", "isfinite", "-"),
    ("fract", "-", "-", "-"),
    ("count_ones", "bitwise_count", "-", "-"),
    ("leading_zeros", "-", "-", "-"),
    ("trailing_zeros", "-", "-", "-"),
    ("reverse_bits", "-", "-", "-"),
];

fn types(op: &Operation) -> String {
    let takes = |dtype: DType| op.result(dtype).is_some();
    let groups = [(DType::F32, "floats"), (DType::I32, "integers"), (DType::Bool, "bool")];
    let taken: Vec<&str> = groups.iter().filter(|(dtype, _)| takes(*dtype)).map(|(_, name)| *name).collect();
    taken.join(", ")
}

fn table() -> String {
    let mut text = String::from(
        "# Operations\n\nGenerated from the op table. `ulp` is the greatest distance of an f32 result from the exact one,\n\
         on any adapter, in units in the last place; `-` is exact. f16 and bf16 are within 1, integers and\n\
         bool exact. `select` and `cast` are not in the table, as their operands differ in type.\n\n\
         | name | operands | gives | ulp | what | NumPy | PyTorch | ONNX |\n|---|---|---|---|---|---|---|---|\n",
    );
    for op in operations() {
        let dtype = if op.result(DType::F32).is_some() { DType::F32 } else { DType::I32 };
        let gives = if op.result(dtype) == Some(DType::Bool) { "bool" } else { "the same" };
        let ulp = match op.ulp(dtype) {
            0 => "-".to_string(),
            ulp => ulp.to_string(),
        };
        let title = |name: &str| name[..1].to_uppercase() + &name[1..];
        let known = NAMES.iter().find(|names| names.0 == op.name);
        let (numpy, torch, onnx) = match known {
            Some((_, numpy, torch, onnx)) => (numpy.to_string(), torch.to_string(), onnx.to_string()),
            None => (op.name.to_string(), op.name.to_string(), title(op.name)),
        };
        let what = op.doc.replace('|', "\\|");
        text += &format!(
            "| `{}` | {} of {} | {gives} | {ulp} | {what} | {numpy} | {torch} | {onnx} |\n",
            op.name,
            op.arity,
            types(&op)
        );
    }
    text
}

#[test]
fn the_table_in_the_docs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations.md");
    if std::env::var_os("ZEROSTRIDE_BLESS").is_some() {
        fs::write(&path, table()).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(table(), kept, "run with ZEROSTRIDE_BLESS=1");
}

#[test]
fn names_are_of_operations() {
    for (name, ..) in NAMES {
        assert!(operations().any(|op| op.name == *name), "{name} is no operation");
    }
}
