//! Files and neighbouring crates, each behind a feature of its name that is off by default. They use public items, and
//! what [`files`](crate::files) does.

#[cfg(any(feature = "image", feature = "npy", feature = "safetensors"))]
mod file;
#[cfg(feature = "image")]
pub mod image;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "npy")]
pub mod npy;
#[cfg(feature = "safetensors")]
pub mod safetensors;
#[cfg(feature = "serde")]
mod serde;
