//! *Same bits*: the work of `examples/hash`, and its hashes.

use wasm_bindgen::prelude::*;
use zerostride::Device;

use crate::js;

#[path = "../../examples/hash/work.rs"]
mod work;

/// The names of all work, the zoom first; and the zoom's rows and columns, and its most iterations.
pub(crate) fn about() -> JsValue {
    let names = js::list(work::all().iter().map(|work| JsValue::from(work.name)));
    let most = JsValue::from_f64(f64::from(work::MOST));
    js::object([("names", names), ("size", js::lengths(&work::SIZE)), ("most", most)])
}

/// The SHA-256 of the elements of one work on a device, and the elements' bytes.
pub(crate) async fn hash(device: Device, number: usize) -> Result<JsValue, JsValue> {
    let mut all = work::all();
    let work = all.swap_remove(number.min(all.len() - 1));
    let result = work.expr.eval_on(&work.on(&device)).map_err(js::thrown)?;
    let bytes = result.to_bytes_async().await.map_err(js::thrown)?;
    Ok(js::object([
        ("hash", work::hash(&bytes).into()),
        ("bytes", js_sys::Uint8Array::from(&bytes[..]).into()),
    ]))
}

/// The hash of all hashes, one after another.
pub(crate) fn total(hashes: &str) -> String {
    work::hash(hashes.as_bytes())
}
