//! Objects of JavaScript.

use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;

/// An object of some properties.
pub fn object<const N: usize>(properties: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new();
    for (name, value) in properties {
        // It fails only for values that are no objects.
        let _ = Reflect::set(&object, &name.into(), &value);
    }
    object.into()
}
