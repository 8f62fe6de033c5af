//! Kernels as text: the golden ones, all operations in all languages, input for other compilers and for the tracer, and the
//! stages that DESIGN.md shows.

mod closed;
mod dump;
mod golden;
mod lanes;
mod launches;
mod portable;
mod real;
mod stages;

pub(crate) use golden::{BOUNDS, GPU};
