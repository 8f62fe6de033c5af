//! Kernels as text: those that are kept in the tree, those in all languages, and those for other compilers.

mod dump;
mod golden;
mod portable;
mod real;

pub(crate) use golden::GPU;
