//! From a kernel to WGSL text, and that text through naga.

mod bodies;
mod coordinates;
#[cfg(test)]
mod dump;
mod emit;
mod fences;
mod fold;
#[cfg(test)]
mod golden;
mod halves;
mod lines;
mod load;
mod lookup;
#[cfg(test)]
mod portable;
mod prelude;
mod rows;
mod scan;
mod shared;
mod types;
mod values;
mod workarounds;

pub(crate) use emit::{emit, emit_told};
#[cfg(test)]
pub(crate) use golden::GPU;

use crate::error::{Result, bail};

/// Parses and validates a kernel. A kernel that fails is a defect of this crate: the error shows
/// the compiler's message and the text.
pub(crate) fn validate(text: &str) -> Result<()> {
    let module = match naga::front::wgsl::parse_str(text) {
        Ok(module) => module,
        Err(error) => bail!(Kernel, "naga refuses a kernel: {}", error.emit_to_string(text)),
    };
    let flags = naga::valid::ValidationFlags::all();
    use naga::valid::Capabilities as Has;
    let capabilities =
        Has::SHADER_INT64 | Has::FLOAT64 | Has::SHADER_FLOAT16 | Has::SHADER_FLOAT16_IN_FLOAT32;
    match naga::valid::Validator::new(flags, capabilities).validate(&module) {
        Ok(_) => Ok(()),
        Err(error) => bail!(Kernel, "naga refuses a kernel: {}", error.emit_to_string(text)),
    }
}
