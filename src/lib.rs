//! Broadcasting elementwise tensor compute on any GPU that wgpu reaches, with a CPU path that
//! gives the same answers.
//!
//! Operators on [`Tensor`]s build an [`Expr`]; consuming it runs one kernel, whatever it holds.
//! Operands are broadcast by giving stretched axes the stride 0, so nothing is ever copied to be
//! broadcast.
//!
//! ```
//! use zerostride::{Broadcast, Device};
//!
//! let device = Device::open()?; // the best GPU, else the CPU
//! let image = device.upload(&[0_u8, 51, 102, 153, 204, 255], [1, 2, 3])?; // height, width, channel
//! let mean = device.upload(&[0.5_f32, 0.25, 0.0], [3])?;
//!
//! // Nothing runs yet; `eval` is one kernel.
//! let chw = (image.cast::<f32>() / 255.0 - &mean).permute([2, 0, 1]).eval()?;
//! assert_eq!(chw.shape(), &[3, 1, 2]);
//!
//! // Rules of other systems are values.
//! let (a, b) = Broadcast::Pdpd { axis: 0 }.align(&chw, &mean)?;
//! println!("{}", (a + b).explain(&device)?);
//! # Ok::<(), zerostride::Error>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`Device`], [`Adapter`], [`Options`] | choosing where to compute; [`upload`](Device::upload) |
//! | [`Tensor`] | elements on a device: views, [`assign`](Tensor::assign), [`to_vec`](Tensor::to_vec) |
//! | [`Expr`] | operations, [`eval`](Expr::eval), [`explain`](Expr::explain) |
//! | [`AnyTensor`], [`AnyExpr`], [`Scalar`] | both with an element type that is known at run time |
//! | [`operations`], [`compositions`], [`reductions`] | the table of operations, and what is made of them, as data |
//! | [`IntoAxes`], [`ReduceOptions`] | what a reduction is over |
//! | [`wgpu`], [`Device::from_wgpu`], [`LentBuffer`] | the device, buffers, encoders and textures of a program that has them |
//! | [`Math`] | whether functions are precise or the adapter's builtins |
//! | [`Broadcast`] | the rules of NumPy, PyTorch, PaddlePaddle, OpenVINO and ONNX |
//! | [`Shape`], [`Layout`] | lengths and strides, on their own |
//! | [`Element`], [`DType`] | element types |
//! | [`guide`] | pages for users of NumPy and PyTorch, broadcasting by pictures, rules, performance, errors |
//! | [`Error`] | what went wrong, where, and what to do |

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod caller;
mod cpu;
mod device;
mod dtype;
mod error;
mod expr;
mod gpu;
pub mod guide;
mod layout;
mod plan;
mod schedule;
mod tensor;
mod wgsl;

pub use caller::LentBuffer;
pub use device::{Adapter, AdapterKind, DEVICE_VARIABLE, Device, Limits, Options};
pub use dtype::{Bits, DType, Element, Float, Integer, Numeric, bf16, f16};
pub use error::{Error, ErrorKind, Result};
pub use expr::{
    AnyExpr, Axes, Composition, Expr, IntoAxes, IntoExpr, KernelTime, Math, Memory, Operation, ReduceOptions,
    Reduction, Scalar, compositions, operations, reductions, warn_on_reinterpreted_shapes,
};
pub use layout::{AxisIndex, Broadcast, IndexRange, Layout, MAX_RANK, Shape};
pub use tensor::{AnyTensor, Explain, Tensor};

pub use wgpu;
