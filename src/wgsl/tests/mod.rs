//! Kernels as text: those that are kept in the tree, those in all languages, and those for other compilers and for the tracer.

mod dump;
mod golden;
mod launches;
mod portable;
mod real;

pub(crate) use golden::GPU;
