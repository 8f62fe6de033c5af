//! From a kernel to WGSL text, and that text through naga.
//!
//! Each file uses only those before it: how a [`text`] is written, its element [`types`], the functions of its
//! [`prelude`], and which [`lines`] are of which operand; [`fences`], forms that are [`workarounds`], and how elements
//! are [`gather`]ed; the [`bodies`] of functions; the [`emitter`] that has all of these; where its lanes are
//! ([`coordinates`]), what it loads ([`load`]), and how values are [`combine`]d; [`elementwise`] kernels; those that
//! [`mod@reduce`], [`scan`], [`contract`] or [`mod@sort`]; and all of a text ([`mod@emit`]).

mod bodies;
mod combine;
mod contract;
mod coordinates;
mod elementwise;
mod emit;
mod emitter;
mod fences;
mod gather;
mod lines;
mod load;
mod near;
mod prelude;
mod reduce;
mod rows;
mod scan;
mod sort;
mod stores;
#[cfg(test)]
mod tests;
mod text;
mod tiles;
mod types;
mod workarounds;

pub(crate) use emit::emit;
#[cfg(test)]
pub(crate) use tests::GPU;

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
