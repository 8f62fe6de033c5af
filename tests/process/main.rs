//! Tests that have a process to themselves: programs with a wgpu device of their own, of which every message is heard,
//! and tensors of gigabytes.

#[path = "../common/mod.rs"]
mod common;

mod caller;
mod caller_order;
mod failures;
mod huge;
mod textures;
