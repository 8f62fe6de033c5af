//! Element types in WGSL: the types that compute, packing, and conversions.

use crate::dtype::{DType, Kind};
use crate::ir::{Op, Step};
use crate::plan::{Binding, LANES, Packing};

/// The type that computes elements of `dtype`, which names prelude functions.
pub(super) fn compute(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => "f32",
        DType::F64 => "f64",
        DType::I8 | DType::I16 | DType::I32 => "i32",
        DType::U8 | DType::U16 | DType::U32 => "u32",
        DType::I64 => "i64",
        DType::U64 => "u64",
        DType::Bool => "bool",
    }
}

/// Whether kernels name the type: elements of 64 bits. They call functions for all that such integers do, and f64 does without
/// arithmetic. So one text serves adapters that have the types, and others by pairs of words (`shaders/prelude/integer64`).
fn is_named(dtype: DType) -> bool {
    dtype.size() == 8
}

pub(super) fn is_long(dtype: DType) -> bool {
    matches!(dtype, DType::I64 | DType::U64)
}

/// The type of some elements of it, by its name for elements of 64 bits.
fn typed(dtype: DType, long: &str, other: impl FnOnce(&str) -> String) -> String {
    let of = compute(dtype);
    if is_named(dtype) { format!("{long}_{of}") } else { other(of) }
}

/// The type of one lane.
pub(super) fn lane(dtype: DType) -> String {
    typed(dtype, "Lane", str::to_string)
}

/// The four-lane type of it.
pub(super) fn lanes(dtype: DType) -> String {
    typed(dtype, "Lanes", |of| format!("vec4<{of}>"))
}

/// A form of the tables, by functions for elements of 64 bits.
pub(super) fn spelled(dtype: DType, form: &str) -> String {
    let call = |name: &str, a: &str, b: &str| format!("{name}_{{T}}({a}, {b})");
    match *form.split(' ').collect::<Vec<_>>() {
        _ if dtype == DType::F64 => form.replace("-({a})", "neg_{T}({a})").replace("abs(", "abs_{T}("),
        _ if !is_long(dtype) => form.into(),
        [a, "+", b] => call("add", a, b),
        [a, "-", b] => call("sub", a, b),
        [a, "*", b] => call("mul", a, b),
        [a, "&", b] => call("and", a, b),
        [a, "|", b] => call("or", a, b),
        [a, "^", b] => call("xor", a, b),
        [a, "==", b] => call("eq", a, b),
        [a, "!=", b] => call("!eq", a, b),
        [a, "<", b] => call("lt", a, b),
        [a, ">", b] => call("lt", b, a),
        [a, "<=", b] => call("!lt", b, a),
        [a, ">=", b] => call("!lt", a, b),
        _ => form.replace("min(", "min_{T}(").replace("max(", "max_{T}(").replace("~(", "not_{T}("),
    }
}

/// The function that selects lanes.
pub(super) fn selecting(dtype: DType) -> String {
    typed(dtype, "select", |_| "select".into())
}

/// `b` in the lanes where a condition of four lanes holds, and else `a`.
pub(super) fn select(dtype: DType, a: &str, b: &str, condition: &str) -> String {
    format!("{}({a}, {b}, {condition})", selecting(dtype))
}

/// The same for a condition of all lanes.
pub(super) fn select_all(dtype: DType, a: &str, b: &str, condition: &str) -> String {
    match is_named(dtype) {
        true => select(dtype, a, b, &format!("vec4<bool>({condition})")),
        false => format!("select({a}, {b}, {condition})"),
    }
}

/// Four lanes of one value.
pub(super) fn splat(dtype: DType, value: &str) -> String {
    let splat = typed(dtype, "splat", |of| format!("vec4<{of}>"));
    format!("{splat}({value})")
}

/// Lanes in another order.
pub(super) fn turned(dtype: DType, value: &str, order: &str) -> String {
    if is_named(dtype) { format!("{order}_{}({value})", compute(dtype)) } else { format!("{value}.{order}") }
}

/// Neighbouring lanes, as arguments.
pub(super) fn part(dtype: DType, value: &str, lanes: &str) -> String {
    match is_named(dtype) {
        true => lanes.chars().map(|lane| format!("{value}.{lane}")).collect::<Vec<_>>().join(", "),
        false => format!("{value}.{lanes}"),
    }
}

/// The four-lane type of raw elements, as [`decode`] takes them: u32 for packed types.
pub(super) fn raw_lanes(dtype: DType) -> String {
    if packed(dtype).is_some() { "vec4<u32>".into() } else { lanes(dtype) }
}

/// The type of the entries of a binding's array.
pub(super) fn array(&Binding { dtype, width }: &Binding) -> String {
    match (dtype.packing(), width) {
        (Packing::Bytes | Packing::Halves, _) => words(width * dtype.size() / 4),
        (Packing::Whole, 1) => lane(dtype),
        (Packing::Whole, 2) => pair(dtype),
        (Packing::Whole, _) => typed(dtype, "Stored", |_| lanes(dtype)),
    }
}

/// The type of two neighbouring elements.
fn pair(dtype: DType) -> String {
    typed(dtype, "Pair", |of| format!("vec2<{of}>"))
}

/// Two neighbouring lanes of a vector.
pub(super) fn two(dtype: DType, value: &str, lanes: &str) -> String {
    let part = part(dtype, value, lanes);
    if is_named(dtype) { format!("{}({part})", pair(dtype)) } else { part }
}

/// The type of this many words, or of single elements.
fn words(count: usize) -> String {
    if count <= 1 { "u32".into() } else { format!("vec{count}<u32>") }
}

/// The words of one of several joined vectors, of a packed type, in an array's entry.
pub(super) fn joined_part(dtype: DType, vector: u32) -> &'static str {
    match dtype.packing() {
        Packing::Bytes => ["x", "y", "z", "w"][vector as usize],
        _ => ["xy", "zw"][vector as usize],
    }
}

/// The array's entry from the words of joined vectors.
pub(super) fn join(dtype: DType, parts: &[String]) -> String {
    format!("{}({})", words(parts.len() * LANES * dtype.size() / 4), parts.join(", "))
}

/// The vector of raw lanes in a wide entry of an array: lanes that compute, or u32 for [`decode`].
pub(super) fn unpack(dtype: DType, word: String) -> String {
    changed("unpack", dtype, word)
}

/// The inverse of [`unpack`].
pub(super) fn pack(dtype: DType, value: String) -> String {
    changed("pack", dtype, value)
}

/// A vector by a function of its type's, if it is stored otherwise than computed.
fn changed(how: &str, dtype: DType, value: String) -> String {
    let long = is_named(dtype).then(|| compute(dtype));
    match long.or(packed(dtype).map(|(suffix, _)| suffix)) {
        Some(suffix) => format!("{how}_{suffix}({value})"),
        None => value,
    }
}

/// Raw elements of a packed type, in the low bits of u32 lanes, as lanes that compute. Other types stay.
pub(super) fn decode(dtype: DType, raw: String) -> String {
    match dtype {
        DType::I8 | DType::I16 => format!("sign_extend({raw}, {}u)", 32 - 8 * dtype.size()),
        DType::F16 | DType::BF16 => format!("decode_{dtype}({raw})"),
        DType::Bool => format!("{raw} != vec4<u32>(0u)"),
        _ => raw,
    }
}

/// The inverse of [`decode`].
pub(super) fn encode(dtype: DType, value: &str) -> String {
    match dtype {
        DType::I8 | DType::I16 => low_bits(dtype, &format!("bitcast<vec4<u32>>({value})")),
        DType::F16 | DType::BF16 => format!("encode_{dtype}({value})"),
        DType::Bool => format!("select(vec4<u32>(0u), vec4<u32>(1u), {value})"),
        _ => value.into(),
    }
}

/// As many low bits of words as a packed type has.
fn low_bits(dtype: DType, words: &str) -> String {
    format!("{words} & vec4<u32>({:#x}u)", (1 << (8 * dtype.size())) - 1)
}

/// A result that may have more digits than `dtype`, cut off or rounded.
pub(super) fn narrow(dtype: DType, value: String) -> String {
    match dtype {
        DType::U8 | DType::U16 => low_bits(dtype, &format!("({value})")),
        DType::I8 | DType::I16 => decode(dtype, format!("bitcast<vec4<u32>>({value})")),
        DType::F16 | DType::BF16 => format!("round_{dtype}({value})"),
        _ => value,
    }
}

/// The result of an op of the table, in the type that computes.
pub(super) fn rounded(step: &Step, value: String) -> String {
    match (step.result, step.op) {
        (DType::F16 | DType::BF16, _) if step.keeps_digits() => value,
        (DType::BF16, Op::Add | Op::Sub | Op::Mul | Op::Square) => format!("round_sum_bf16({value})"),
        (dtype, _) => narrow(dtype, value),
    }
}

/// The suffix of functions on packed elements, and the shift from an address to its word.
pub(super) fn packed(dtype: DType) -> Option<(&'static str, u32)> {
    match dtype.packing() {
        Packing::Whole => None,
        Packing::Halves => Some(("u16", 1)),
        Packing::Bytes => Some(("u8", 2)),
    }
}

/// A conversion as Rust's `as` makes it: to the type that computes the target, then to the target's range.
pub(super) fn cast(from: DType, to: DType, value: &str) -> String {
    let (own, target) = (compute(from), compute(to));
    let bits = |dtype: DType| dtype.size() * 8;
    let wide = match (own, target) {
        ("bool", _) if !is_named(to) => format!("select(vec4<{target}>(0), vec4<{target}>(1), {value})"),
        ("f32" | "f64" | "i64" | "u64", "bool") => return format!("nonzero_{own}({value})"),
        (_, "bool") => return format!("{value} != {}(0)", lanes(from)),
        _ if own == target => value.to_string(),
        // Rounded to odd first, so that the second rounding is as if it were the only one.
        ("i32" | "u32" | "i64" | "u64" | "f64", "f32") if to != DType::F32 => {
            format!("odd_{own}_f32({value})")
        }
        ("i32" | "u32", "f32") if bits(from) < 24 => format!("vec4<f32>({value})"),
        ("i32", "u32") | ("u32", "i32") => format!("bitcast<vec4<{target}>>({value})"),
        _ => format!("cast_{own}_{target}({value})"),
    };
    match (from.kind(), to.kind()) {
        (Kind::Float, Kind::Signed | Kind::Unsigned) if bits(to) < 32 => {
            // Floats saturate, and integers wrap.
            let (low, high) = match to {
                DType::I8 => (-128, 127),
                DType::I16 => (-32768, 32767),
                DType::U8 => (0, 255),
                _ => (0, 65535),
            };
            format!("clamp({wide}, vec4<{target}>({low}), vec4<{target}>({high}))")
        }
        (Kind::Float, Kind::Float) if to == DType::F32 => wide,
        _ => narrow(to, wide),
    }
}

/// A constant of the uniform block in four lanes.
pub(super) fn constant(dtype: DType, word: &str) -> String {
    match dtype {
        DType::F32 | DType::I32 => format!("vec4<{0}>(bitcast<{0}>({word}))", compute(dtype)),
        DType::I64 | DType::U64 | DType::F64 => {
            format!("of_words_{dtype}(vec4<u32>({word}), vec4<u32>({word}_high))")
        }
        _ => decode(dtype, format!("vec4<u32>({word})")),
    }
}
