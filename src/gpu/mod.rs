//! The GPU path, and the only code that names `wgpu`.

mod adapters;
mod cache;
mod context;
mod dispatch;
mod pipeline;
mod pool;
mod profile;
mod split;
mod transfer;

pub use adapters::AdapterKind;
pub(crate) use adapters::{Found, find, missing};
pub(crate) use context::Gpu;
