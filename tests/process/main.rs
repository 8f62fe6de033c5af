//! Tests with a process of their own: programs with a wgpu device, every message of which is checked, and tensors of
//! gigabytes.

#[path = "../common/mod.rs"]
mod common;

mod caller;
mod caller_order;
mod failures;
mod huge;
mod textures;
