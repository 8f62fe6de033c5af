//! The module of the npm package: devices, and tensors whose element type is known at run time. The JavaScript beside it
//! makes methods of the names in [`table`].

mod device;
mod error;
mod lent;
mod object;
mod operands;
mod table;
mod tensor;
mod views;

pub use device::CoreDevice;
pub use error::{set_class, thrown};
pub use lent::Lent;
pub use object::object;
pub use operands::Operands;
pub use table::{dtypes, table};
pub use tensor::{CoreTensor, Tensors, call, repeat};
pub use views::{index, join};

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn log(text: &str);
}

/// Prints a panic, which is a defect, before the module ends.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| log(&panic.to_string())));
}

/// Bytes of the module's own memory, which never shrinks.
#[wasm_bindgen(js_name = moduleBytes)]
pub fn module_bytes() -> f64 {
    let memory = wasm_bindgen::memory().unchecked_into::<js_sys::WebAssembly::Memory>();
    f64::from(memory.buffer().unchecked_into::<js_sys::ArrayBuffer>().byte_length())
}
