//! Values for JavaScript.

use js_sys::{Array, Float64Array, Object, Reflect};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// Milliseconds since the page began.
    #[wasm_bindgen(js_namespace = performance)]
    pub(crate) fn now() -> f64;
}

/// An object of some properties.
pub(crate) fn object<const N: usize>(properties: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new();
    for (name, value) in properties {
        // It fails only for values that are no objects.
        let _ = Reflect::set(&object, &name.into(), &value);
    }
    object.into()
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

/// An error for JavaScript, without the crate's source line.
pub(crate) fn thrown(error: zerostride::Error) -> JsValue {
    let thrown = js_sys::Error::new(error.message());
    let _ = Reflect::set(&thrown, &"kind".into(), &format!("{:?}", error.kind()).into());
    thrown.into()
}
