//! The WebAssembly module of the npm package.

pub use zerostride_npm::*;
