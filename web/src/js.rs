//! Values for JavaScript.

use js_sys::{Array, Float64Array};
use wasm_bindgen::prelude::*;

// Those of the package, whose module is a part of the page's.
pub(crate) use zerostride_npm::{object, thrown};

#[wasm_bindgen]
extern "C" {
    /// Milliseconds since the page began.
    #[wasm_bindgen(js_namespace = performance)]
    pub(crate) fn now() -> f64;
}

/// Numbers as an array.
pub(crate) fn numbers<T: Copy>(all: impl IntoIterator<Item = T>, number: impl Fn(T) -> f64) -> JsValue {
    all.into_iter().map(|n| JsValue::from_f64(number(n))).collect::<Array>().into()
}

pub(crate) fn lengths(all: &[usize]) -> JsValue {
    numbers(all, |&n| n as f64)
}

pub(crate) fn strides(all: &[isize]) -> JsValue {
    numbers(all, |&n| n as f64)
}

pub(crate) fn list(all: impl IntoIterator<Item = JsValue>) -> JsValue {
    all.into_iter().collect::<Array>().into()
}

pub(crate) fn floats(all: &[f64]) -> JsValue {
    Float64Array::from(all).into()
}

pub(crate) fn text_or_null(text: Option<&str>) -> JsValue {
    text.map_or(JsValue::NULL, JsValue::from)
}
