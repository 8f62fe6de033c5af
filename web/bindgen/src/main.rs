//! Writes a module for WebAssembly and the JavaScript around it, as wasm-bindgen's own tool does, which is built three
//! times as long: `zerostride-bindgen MODULE FOLDER NAME`.

use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        return Err("zerostride-bindgen MODULE FOLDER NAME".into());
    };
    let mut bindgen = Bindgen::new();
    bindgen.web(true)?.typescript(false).remove_name_section(true).omit_default_module_path(false);
    bindgen.input_path(module).out_name(name);
    Ok(bindgen.generate(folder)?)
}
