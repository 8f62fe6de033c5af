//! Tensors: elements on a device with a layout. How they are made, and the consumers of expressions.

mod any;
mod consume;
mod create;
mod explain;
mod later;
mod print;
mod read;
mod selecting;
mod several;
mod typed;
mod views;

pub use any::AnyTensor;
pub use explain::{Explain, ExplainedOperand};
pub use read::HostBytes;
pub use selecting::Unique;
pub use several::{AssignAll, EvalAll, Place};

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::Location;

use crate::device::Device;
use crate::dtype::{DType, Element, bf16, f16};
use crate::error::{Result, bail, called};
use crate::expr::{AnyExpr, Expr, Face, IntoExpr, operators};
use crate::layout::{Layout, Shape};

/// Elements of type `T` on a device, seen through a [`Layout`].
///
/// A tensor is a handle. Clones and views share its elements, and an [`assign`](Tensor::assign) through one shows
/// through all. It derefs to [`Expr`], the leaf expression that reads it, so every operation of an expression works on
/// tensors.
///
/// ```
/// use zerostride::Device;
///
/// let device = Device::cpu();
/// let x = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// let last_column = x.slice(1, 2..);
/// last_column.assign(0)?;
/// assert_eq!(x.to_vec()?, [1, 2, 0, 4, 5, 0]);
/// assert_eq!(x.maximum(3).to_vec()?, [3, 3, 3, 4, 5, 3]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor<T: Element> {
    any: AnyTensor,
    leaf: Expr<T>,
}

impl<T: Element> Deref for Tensor<T> {
    type Target = Expr<T>;
    fn deref(&self) -> &Expr<T> {
        &self.leaf
    }
}

impl<T: Element> IntoExpr<T> for Tensor<T> {
    fn into_expr(self) -> Expr<T> {
        self.leaf
    }
}

impl<T: Element> IntoExpr<T> for &Tensor<T> {
    fn into_expr(self) -> Expr<T> {
        self.leaf.clone()
    }
}

operators!(Tensor);

impl<T: Element> From<Tensor<T>> for AnyTensor {
    fn from(tensor: Tensor<T>) -> AnyTensor {
        tensor.any
    }
}

impl<T: Element> From<&Tensor<T>> for AnyTensor {
    fn from(tensor: &Tensor<T>) -> AnyTensor {
        tensor.any.clone()
    }
}

impl<T: Element> From<Tensor<T>> for AnyExpr {
    fn from(tensor: Tensor<T>) -> AnyExpr {
        tensor.leaf.into()
    }
}

impl<T: Element> From<&Tensor<T>> for AnyExpr {
    fn from(tensor: &Tensor<T>) -> AnyExpr {
        (&tensor.leaf).into()
    }
}

impl<T: Element> Face<AnyTensor> for Tensor<T> {
    fn face(untyped: AnyTensor) -> Self {
        Tensor::face(untyped)
    }
}

impl<T: Element> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any.fmt(f)
    }
}

impl<T: Element> Tensor<T> {
    /// The typed face of a tensor whose elements are known to be `T`.
    pub(crate) fn face(any: AnyTensor) -> Self {
        let leaf = Expr::face(any.expr());
        Tensor { any, leaf }
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        self.any.shape()
    }

    /// The number of axes.
    ///
    /// ```
    /// let x = zerostride::Device::cpu().zeros::<f32>([2, 3])?;
    /// assert_eq!((x.rank(), x.ndim(), x.len(), x.numel()), (2, 2, 6, 6));
    /// assert_eq!(x.dtype(), zerostride::DType::F32);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    /// [`rank`](Self::rank), as NumPy and PyTorch call it.
    pub fn ndim(&self) -> usize {
        self.rank()
    }

    /// The number of elements, as of a `Vec` or of an array of ndarray. Python's `len` is `shape()[0]`.
    pub fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// [`len`](Self::len), as PyTorch calls it.
    pub fn numel(&self) -> usize {
        self.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// This tensor if its elements lie in row-major order without gaps, otherwise a copy of which that is true (PyTorch
    /// `contiguous`).
    ///
    /// # Errors
    /// As [`eval`](Expr::eval).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1, 2, 3, 4], [2, 2])?;
    /// let turned = x.t().tensor()?.contiguous()?;
    /// assert_eq!(turned.layout().strides(), [2, 1]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn contiguous(&self) -> Result<Tensor<T>> {
        match self.layout().is_contiguous() {
            true => Ok(self.clone()),
            false => self.copy(),
        }
    }

    /// The layout of the elements in the storage.
    pub fn layout(&self) -> &Layout {
        self.any.layout()
    }

    /// The device that holds the elements.
    pub fn device(&self) -> &Device {
        self.any.device()
    }

    /// The leaf expression that reads this tensor. Operators make it where they need it.
    pub fn expr(&self) -> Expr<T> {
        self.leaf.clone()
    }

    /// Replaces the elements by those of an expression, as if all operands were read first, even where they overlap.
    /// The shape stays: the expression may broadcast to it but not stretch it (PyTorch's in-place rule).
    ///
    /// # Errors
    /// When the expression holds a mistake, does not fit the shape, or lives on another device, or when this tensor
    /// visits an element twice. Nothing is written then.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let x = Device::cpu().upload(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [10])?;
    /// let even = x.slice_step(0, .., 2);
    /// even.assign(&even + x.slice(0, ..5))?;
    /// assert_eq!(even.to_vec()?, [0, 3, 6, 9, 12]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn assign(&self, value: impl IntoExpr<T>) -> Result<()> {
        self.any.assign(value.into_expr())
    }

    /// Writes elements of the host, in row-major order, to the elements of this tensor, whatever its layout. The write
    /// comes after all earlier calls and before all later ones. It takes memory only for elements in flight.
    ///
    /// # Errors
    /// When the number of elements is not the tensor's, this tensor visits an element twice, the device is lost, or
    /// there is no memory.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let x = Device::cpu().zeros::<u8>([2, 3])?;
    /// let doubled = (&x * 2).eval()?; // of the zeros
    /// x.write(&[1, 2, 3, 4, 5, 6])?;
    /// x.slice(1, 1..2).write(&[8, 9])?;
    /// assert_eq!((x.to_vec()?, doubled.to_vec()?), (vec![1, 8, 3, 4, 9, 6], vec![0; 6]));
    ///
    /// let error = x.write(&[1, 2]).unwrap_err();
    /// assert_eq!(error.message(), "write of 2 elements to [2, 3], which has 6: data and shape must agree");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn write(&self, data: &[T]) -> Result<()> {
        self.any.write(data)
    }

    /// Compiles the kernels of [`assign`](Self::assign) without running them.
    ///
    /// # Errors
    /// As [`assign`](Self::assign).
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let x = Device::open()?.zeros::<f32>([4, 4])?;
    /// let sides = x.slice_step(1, .., 3).tensor()?;
    /// sides.warm_up_assign(1.0)?;
    /// assert_eq!(x.to_vec()?, [0.0; 16]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn warm_up_assign(&self, value: impl IntoExpr<T>) -> Result<()> {
        self.any.warm_up_assign(value.into_expr())
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// When the device is lost or the host has no memory for them.
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.any.to_vec()
    }

    /// The elements in row-major order, as they are now, without blocking the calling thread. On the CPU path another
    /// thread copies them. This call requests them, and the future waits. A tensor of more than 64 MiB then has all of
    /// its bytes in flight; [`read_into_async`](Self::read_into_async) reads it in pieces.
    ///
    /// # Errors
    /// When the device is lost or the host has no memory for them.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let x = Device::cpu().upload(&[1, 2, 3], [3])?;
    /// let read = async { x.to_vec_async().await };
    /// assert_eq!(pollster::block_on(read)?, [1, 2, 3]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn to_vec_async(&self) -> impl Future<Output = Result<Vec<T>>> + Send + use<T> {
        self.any.read()
    }

    /// Writes the elements in row-major order to `all`, without further memory: a tensor of any size has two pieces of
    /// 64 MiB in flight. Assignments by another thread meanwhile may be in later pieces and not in earlier ones.
    ///
    /// # Errors
    /// When `all` has not as many elements as the tensor, or the device is lost. A part of `all` may have been written
    /// then.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let frames = Device::cpu().upload(&[1, 2, 3, 4, 5, 6], [3, 2])?;
    /// let mut frame = [0; 2];
    /// for (i, sum) in [3, 7, 11].into_iter().enumerate() {
    ///     frames.slice(0, i..=i).read_into(&mut frame)?;
    ///     assert_eq!(frame.iter().sum::<i32>(), sum);
    /// }
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn read_into(&self, all: &mut [T]) -> Result<()> {
        self.any.read_into(all)
    }

    /// [`read_into`](Self::read_into) without blocking the calling thread. Assignments before the future is done may be
    /// in some pieces and not in others.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1_u8, 2], [2])?;
    /// let mut all = [0; 2];
    /// pollster::block_on(x.read_into_async(&mut all))?;
    /// assert_eq!(all, [1, 2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn read_into_async<'a>(
        &self,
        all: &'a mut [T],
    ) -> impl Future<Output = Result<()>> + Send + use<'a, T> {
        self.any.fill(all, 1)
    }

    /// The only element of a tensor that has one.
    ///
    /// # Errors
    /// When there is another number of elements, or they cannot be read.
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1, 2, 3], [3])?;
    /// assert_eq!(x.slice(0, 1..2).item()?, 2);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn item(&self) -> Result<T> {
        called(Location::caller(), || match self.to_vec()?.as_slice() {
            [only] => Ok(*only),
            all => bail!(Shape, "item of {}, which has {} elements and not 1", self.shape(), all.len()),
        })
    }
}
