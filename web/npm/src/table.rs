//! The names that JavaScript makes methods and functions of.

use js_sys::Array;
use wasm_bindgen::prelude::*;
use zerostride::{DType, compositions, operations, reductions};

use crate::object::object;

/// Every operation, composition and reduction of the crate: its `name`, `doc` and `kind`, its `arity` if it has one, and
/// whether a reduction `keeps` the shape.
#[wasm_bindgen]
pub fn table() -> Array {
    let row = |name: &str, arity: Option<usize>, doc: &str, kind: &str, keeps: bool| {
        object([
            ("name", name.into()),
            ("arity", arity.map_or(JsValue::NULL, JsValue::from)),
            ("doc", doc.into()),
            ("kind", kind.into()),
            ("keeps", keeps.into()),
        ])
    };
    operations()
        .map(|op| row(op.name, Some(op.arity), op.doc, "operation", true))
        .chain(compositions().map(|own| row(own.name, Some(own.arity), own.doc, "composition", true)))
        .chain(reductions().map(|own| row(own.name, None, own.doc, "reduction", own.keeps_shape)))
        .collect()
}

/// The names of the element types.
#[wasm_bindgen]
pub fn dtypes() -> Vec<String> {
    DType::ALL.iter().map(|dtype| dtype.name().to_string()).collect()
}
