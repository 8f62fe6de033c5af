//! Errors of the crate as exceptions of JavaScript.

use std::cell::RefCell;

use js_sys::{Array, Error, Function, Reflect};
use wasm_bindgen::prelude::*;

thread_local! {
    static CLASS: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Sets the class of exceptions, which takes a message and the name of a kind.
#[wasm_bindgen(js_name = setErrorClass)]
pub fn set_class(class: Function) {
    CLASS.with(|own| *own.borrow_mut() = Some(class));
}

/// A message as an exception of a kind.
fn exception(message: &str, kind: &str) -> JsValue {
    let arguments = Array::of2(&message.into(), &kind.into());
    let made = CLASS.with(|own| own.borrow().as_ref().map(|class| Reflect::construct(class, &arguments)));
    made.and_then(Result::ok).unwrap_or_else(|| Error::new(message).into())
}

/// An error of the crate, without its source line, which is one of this module.
pub fn thrown(error: zerostride::Error) -> JsValue {
    exception(error.message(), &format!("{:?}", error.kind()))
}

/// A mistake in the arguments of a call.
pub(crate) fn refused(message: impl AsRef<str>) -> JsValue {
    exception(message.as_ref(), "Type")
}
