//! Elements at four addresses, and the addresses of computed indices in a table.

use super::types::{decode, packed, raw_lanes};
use crate::dtype::DType;
use crate::plan::{Operand, Origin, Stride};

/// The address of computed indices of a type in operand `i`, from the address without them. Indices are taken as bits,
/// since distances and sums are modulo 2^32.
pub(super) fn address(
    i: usize,
    operand: &Operand,
    from: String,
    of: &str,
    indices: impl Iterator<Item = String>,
) -> String {
    let term = |(k, (index, stride)): (usize, (String, &Stride))| match stride {
        Stride::Any => format!(" + {of}({index}) * p.x{i}_index{k}"),
        _ => format!(" + {of}({index})"),
    };
    from + &indices.zip(&operand.computed).enumerate().map(term).collect::<String>()
}

/// The array that an operand is read from.
pub(super) fn array_of(operand: &Operand) -> String {
    match operand.origin {
        Origin::Binding(binding) => format!("in{binding}"),
        _ => "result".into(),
    }
}

/// The lookup of lanes in operand `i`: its addresses, and the elements at named addresses.
pub(super) fn by_lanes(
    i: usize,
    operand: &Operand,
    (from, at): (String, &str),
    indices: impl Iterator<Item = String>,
) -> (String, String) {
    let found = decode(operand.dtype, gather(operand.dtype, &array_of(operand), at));
    (address(i, operand, from, "vec4<u32>", indices), found)
}

/// The elements at four named addresses, as they lie in an array.
pub(super) fn gather(dtype: DType, array: &str, at: &str) -> String {
    let lane = |c: char| match packed(dtype) {
        None => format!("{array}[{at}.{c}]"),
        Some((suffix, shift)) => format!("part_{suffix}({array}[{at}.{c} >> {shift}u], {at}.{c})"),
    };
    format!("{}({})", raw_lanes(dtype), ['x', 'y', 'z', 'w'].map(lane).join(", "))
}
