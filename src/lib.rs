//! NumPy-like expressions as single GPU kernels, on any GPU that wgpu reaches and on the CPU, with the same bits.
//!
//! Operators on [`Tensor`]s build an [`Expr`], and consuming it runs one kernel. A stretched axis has stride 0, so
//! broadcasting copies nothing.
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
//! | [`operations`], [`compositions`], [`reductions`] | the tables of operations and of compositions, as data |
//! | [`IntoAxes`], [`ReduceOptions`] | the axes and the options of a reduction |
//! | [`wgpu`], [`Device::from_wgpu`], [`LentBuffer`] | the device, buffers, encoders and textures of a program that has them |
//! | [`Math`] | whether functions are precise or the adapter's builtins; total mode, in which all bytes are the same |
//! | [`Broadcast`] | the rules of NumPy, PyTorch, PaddlePaddle, OpenVINO and ONNX |
//! | [`Shape`], [`Layout`] | lengths and strides, on their own |
//! | [`Element`], [`DType`] | element types |
//! | [`guide`] | pages for users of NumPy and PyTorch, broadcasting by pictures, rules, performance, errors |
//! | [`Error`] | the values, the rule, the remedy, and the line of a mistake |
//!
//! # Features
//!
//! | feature | gives |
//! |---|---|
//! | `vulkan`, `metal`, `dx12`, `gles`, `webgpu` | the interfaces that wgpu is built for, all on by default; without one, the crate has the CPU path alone |
//! | `ndarray` | `Device::upload_array` of arrays of any strides, `Expr::to_array` |
//! | `image` | the module `image`: pictures as tensors of height, width and channels |
//! | `npy` | the module `npy`: NumPy's files `.npy` and `.npz` |
//! | `safetensors` | the module `safetensors`: files of tensors by name |
//! | `serde` | [`Shape`], [`Layout`], [`DType`] and [`Broadcast`] as data of any format |
//!
//! # Limits
//!
//! Expressions may have any length and depth and read any number of tensors: a long one runs as several kernels.
//! Exceeding another limit is an error that names it:
//!
//! | | |
//! |---|---|
//! | axes of a tensor | [`MAX_RANK`], 128 |
//! | elements of a tensor, stretched ones counted | `isize::MAX` |
//! | bytes of a tensor | the memory of the device. Work over a tensor larger than a binding or a buffer of the adapter is cut into chunks |
//! | bindings of a kernel | the adapter's, at least 4, one of which is the result's |
//! | steps of one kernel | a cost of 500 additions, beyond which drivers compile for seconds. A longer expression runs in stages |
//! | arithmetic of `f64` | on adapters with `SHADER_INT64` and `SHADER_F64`, and on the CPU path. Others [move it](guide::missing) |
//! | time of one kernel | an estimated 250 ms of an adapter, as systems reset a GPU that takes seconds. Longer work is cut into chunks |
//! | iterations of one kernel | 60000; a longer loop runs as several. Nested loops: the driver's limit, 65535 on llvmpipe |
//! | random numbers of one key | 2^31 - 1 |
//! | compiled kernels that are kept | 256, or as many as [`Options::pipelines`] says |
//! | an element that a destination visits | once: writing to a stretched tensor is an error |

#![cfg_attr(docsrs, feature(doc_cfg))]
// Only kernels use some items.
#![cfg_attr(not(feature = "gpu"), allow(dead_code, unreachable_code, unused_imports))]
#![warn(clippy::print_stdout, clippy::print_stderr)]

// Helpers that unit tests share with the integration tests.
#[cfg(all(test, feature = "gpu"))]
#[path = "../tests/common/mod.rs"]
mod common;
#[cfg(all(test, feature = "gpu"))]
extern crate self as zerostride;

#[cfg(feature = "gpu")]
mod caller;
mod cpu;
mod device;
mod dtype;
mod error;
mod expr;
mod files;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "gpu/none.rs"]
mod gpu;
pub mod guide;
mod interop;
mod ir;
mod layout;
mod limits;
#[cfg(feature = "gpu")]
mod lower;
mod options;
mod plan;
mod schedule;
mod tensor;
mod tuning;
mod vectors;
#[cfg(feature = "gpu")]
mod wgsl;

#[cfg(feature = "gpu")]
pub use caller::LentBuffer;
pub use device::{Adapter, AdapterKind, DEVICE_VARIABLE, Device, Limits, Options};
pub use dtype::{Bits, DType, Element, Float, Integer, Numeric, bf16, f16};
pub use error::{Error, ErrorKind, Result};
pub use expr::{
    AnyExpr, Axes, Between, Closure, Composition, Expr, Function, FunctionElement, IntoAxes, IntoAxis,
    IntoExpr, IntoIndices, Key, Keys, LoopState, Operation, Outside, Pad, ReduceOptions, Reduction, Side,
    Update, compositions, operations, reductions, warn_on_reinterpreted_shapes,
};
#[cfg(feature = "image")]
pub use interop::image;
#[cfg(feature = "npy")]
pub use interop::npy;
#[cfg(feature = "safetensors")]
pub use interop::safetensors;
pub use ir::{AnyFunction, KernelTime, Math, Memory, Scalar};
pub use layout::{AxisIndex, Broadcast, IndexRange, IndexRanges, Integers, Layout, MAX_RANK, Shape};
pub use tensor::{
    AnyTensor, AssignAll, EvalAll, Explain, ExplainedOperand, HostBytes, Place, Tensor, Unique,
};

#[cfg(feature = "gpu")]
pub use wgpu;
