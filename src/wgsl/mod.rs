//! From a kernel to WGSL text, and that text through naga.
//!
//! Each file uses only those before it: [`text`], element [`types`], the functions of the [`prelude`], and the
//! [`lines`] of operands; [`fences`], [`workarounds`], and elements at addresses ([`gather`]); the [`bodies`] of steps;
//! the [`emitter`] with all of these; [`coordinates`] of lanes, loads ([`load`]), and reductions of values
//! ([`combine`]); [`elementwise`] kernels; kernels that [`mod@reduce`], [`scan`], [`contract`] or [`mod@sort`]; and
//! whole texts ([`mod@emit`]).

mod bodies;
mod combine;
mod contract;
mod coordinates;
mod count;
mod elementwise;
mod emit;
mod emitter;
mod fences;
mod gather;
mod lines;
mod load;
mod near;
mod prelude;
mod put;
mod reduce;
mod rows;
mod scan;
mod sort;
mod stores;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod workarounds;

pub(crate) use emit::emit;
#[cfg(test)]
pub(crate) use tests::{BOUNDS, GPU};

use crate::error::{Result, bail};

/// Parses and validates a kernel. A failure is a defect of this crate: the error has the compiler's message and the
/// text.
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
