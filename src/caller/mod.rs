//! The caller's wgpu: a program's own device, buffers, encoders and textures. Only this folder and `gpu/` name `wgpu`.

mod buffers;
mod device;
mod encoders;
mod textures;

pub use buffers::LentBuffer;
