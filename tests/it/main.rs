//! The tests, one program: a driver is loaded once, and the helpers are compiled once.

// A part of the helpers is for tests/process.
#[path = "../common/mod.rs"]
mod common;
#[path = "../../benches/common/progress.rs"]
mod progress;
#[allow(dead_code)] // the example prints what tests only compare
#[path = "../../examples/conformance/suite/mod.rs"]
mod suite;

mod access;
mod accuracy;
mod bits;
mod budget;
mod checksum;
mod compiler;
mod corpora;
mod devices;
mod doubles;
mod ends;
mod errors;
mod eval_all;
mod fast;
#[cfg(all(
    feature = "image",
    feature = "ndarray",
    feature = "npy",
    feature = "safetensors",
    feature = "serde"
))]
mod files;
mod floors;
mod fma;
mod functions;
mod fusion;
mod gaps;
mod handling;
mod hash;
mod hoist;
mod inplace;
#[cfg(all(
    feature = "image",
    feature = "ndarray",
    feature = "npy",
    feature = "safetensors",
    feature = "serde"
))]
mod interop;
mod joining;
mod large;
mod layout;
mod lookup;
mod loops;
mod memory;
#[cfg(all(
    feature = "image",
    feature = "ndarray",
    feature = "npy",
    feature = "safetensors",
    feature = "serde"
))]
mod mutated;
mod nearest;
mod opening;
mod operations;
mod ops;
mod pairs;
mod partials;
mod pictures;
mod pipelines;
mod printing;
mod products;
mod random;
mod readme;
mod reductions;
mod reductions_bits;
mod rules;
mod scattering;
mod schedule;
#[cfg(all(
    feature = "image",
    feature = "ndarray",
    feature = "npy",
    feature = "safetensors",
    feature = "serde"
))]
mod scratch;
mod sliding;
mod sorting;
mod strict;
mod total;
mod untyped;
mod windows;
