//! Tests with a process of their own: programs with a wgpu device, whose every message is checked, and tensors of
//! gigabytes.

#[path = "../common/mod.rs"]
mod common;

mod caller;
mod caller_order;
mod failures;
mod hostile;
mod huge;
mod processes;
mod textures;
