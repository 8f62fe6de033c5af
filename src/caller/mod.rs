//! The caller's wgpu: a device, buffers, encoders and textures that a program has already. What is here and
//! `gpu/` is all that names `wgpu`.

mod buffers;
mod device;
mod encoders;
mod textures;

pub use buffers::LentBuffer;
