//! Buffers of tensors, for passes of a page's own.

use wasm_bindgen::prelude::*;
use zerostride::LentBuffer;

/// The buffer of a tensor. While this lives, nothing else uses the memory.
#[wasm_bindgen]
pub struct Lent(LentBuffer);

impl Lent {
    pub(crate) fn new(lent: LentBuffer) -> Lent {
        Lent(lent)
    }
}

#[wasm_bindgen]
impl Lent {
    /// The `GPUBuffer`, which may be larger than the tensor.
    #[wasm_bindgen(getter)]
    pub fn buffer(&self) -> JsValue {
        self.0.buffer().as_webgpu().map_or(JsValue::UNDEFINED, |buffer| JsValue::from(buffer.clone()))
    }

    /// Bytes before the first element.
    #[wasm_bindgen(getter)]
    pub fn offset(&self) -> f64 {
        self.0.offset() as f64
    }

    /// Bytes of the elements.
    #[wasm_bindgen(getter)]
    pub fn size(&self) -> f64 {
        self.0.size() as f64
    }
}
