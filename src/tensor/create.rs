//! Tensors of host data and of constants, and host data that is written to tensors.

use std::borrow::Cow;
use std::panic::Location;

use super::read::room;
use super::{AnyTensor, Tensor};
use crate::device::Device;
use crate::dtype::{DType, Element, Numeric};
use crate::error::{Result, bail, called};
use crate::expr::{AnyExpr, Expr, IntoIndices};
use crate::layout::{AxisIndex, Layout, Shape};

/// Tensors on this device.
impl Device {
    /// Uploads elements in row-major order.
    ///
    /// # Errors
    /// When the number of elements is not the shape's, a limit of the adapter is exceeded, or there is no memory.
    ///
    /// ```
    /// let device = zerostride::Device::cpu();
    /// let x = device.upload(&[1_u8, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.shape(), &[2, 3]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn upload<T: Element>(&self, data: &[T], shape: impl Into<Shape>) -> Result<Tensor<T>> {
        called(Location::caller(), || {
            let layout = Layout::contiguous(shape)?;
            if layout.count() != data.len() {
                bail!(
                    Data,
                    "upload of {} elements as {}, which has {}: data and shape must agree",
                    data.len(),
                    layout.shape(),
                    layout.count()
                );
            }
            Ok(Tensor::face(self.place(bytemuck::cast_slice(data), T::DTYPE, layout)?))
        })
    }

    /// A tensor of one value.
    ///
    /// # Errors
    /// When the shape overflows, a limit of the adapter is exceeded, or there is no memory.
    ///
    /// ```
    /// let x = zerostride::Device::cpu().full([2, 2], 0.5_f32)?;
    /// assert_eq!(x.to_vec()?, [0.5; 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn full<T: Element>(&self, shape: impl Into<Shape>, value: T) -> Result<Tensor<T>> {
        Expr::scalar(value).broadcast_to(shape).eval_on(self)
    }

    /// A tensor of zeros.
    ///
    /// # Errors
    /// As [`full`](Self::full).
    #[track_caller]
    pub fn zeros<T: Element>(&self, shape: impl Into<Shape>) -> Result<Tensor<T>> {
        self.full(shape, T::ZERO)
    }

    /// A tensor of ones.
    ///
    /// # Errors
    /// As [`full`](Self::full).
    ///
    /// ```
    /// assert_eq!(zerostride::Device::cpu().ones::<u8>([2])?.to_vec()?, [1, 1]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn ones<T: Numeric>(&self, shape: impl Into<Shape>) -> Result<Tensor<T>> {
        self.full(shape, T::ONE)
    }

    /// Uploads elements in row-major order as bytes: little-endian, without gaps. A byte other than 0 is true for bool.
    /// The bytes need not be aligned.
    ///
    /// # Errors
    /// When the number of bytes is not the shape's, a limit of the adapter is exceeded, or there is no memory.
    ///
    /// ```
    /// use zerostride::{DType, Device};
    ///
    /// let device = Device::cpu();
    /// let x = device.upload_bytes(&[1, 0, 255, 255], DType::I16, [2])?;
    /// assert_eq!(x.to_vec::<i16>()?, [1, -1]);
    ///
    /// let error = device.upload_bytes(&[1, 0, 255], DType::I16, [2]).unwrap_err();
    /// assert_eq!(error.message(), "upload of 3 bytes as i16 [2], which has 4: data and shape must agree");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn upload_bytes(&self, bytes: &[u8], dtype: DType, shape: impl Into<Shape>) -> Result<AnyTensor> {
        called(Location::caller(), || {
            let layout = Layout::contiguous(shape)?;
            // The count fits 64 bits, but its bytes may not.
            let needed = layout.count() as u128 * dtype.size() as u128;
            if needed != bytes.len() as u128 {
                bail!(
                    Data,
                    "upload of {} bytes as {dtype} {}, which has {needed}: data and shape must agree",
                    bytes.len(),
                    layout.shape()
                );
            }
            self.place(&truths(dtype, bytes)?, dtype, layout)
        })
    }

    /// A tensor of zeros (`false` for bool). For other values, evaluate an
    /// [`AnyExpr::scalar`] that is [broadcast](AnyExpr::broadcast_to) to the shape.
    ///
    /// # Errors
    /// As [`full`](Self::full).
    ///
    /// ```
    /// use zerostride::{DType, Device};
    ///
    /// let x = Device::cpu().zeros_any(DType::Bool, [2])?;
    /// assert_eq!(x.to_vec::<bool>()?, [false, false]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn zeros_any(&self, dtype: DType, shape: impl Into<Shape>) -> Result<AnyTensor> {
        AnyExpr::constant(dtype, 0).broadcast_to(shape).eval_on(self)
    }

    /// A new tensor of packed elements.
    fn place(&self, bytes: &[u8], dtype: DType, layout: Layout) -> Result<AnyTensor> {
        let storage = self.backend()?.upload(bytes, dtype)?;
        Ok(AnyTensor::new(self.clone(), storage, dtype, layout))
    }
}

impl AnyExpr {
    /// Indices of the host, on this expression's device.
    fn uploaded(&self, indices: &[isize]) -> Result<AnyExpr> {
        if self.backends()?.is_empty() {
            bail!(
                Device,
                "{} indices of the host for an expression without a tensor: upload them, or evaluate it first",
                indices.len()
            );
        }
        let number = |&index: &isize| match i32::try_from(index) {
            Ok(index) => Ok(index),
            Err(_) => bail!(Data, "an index of {index}: numbers of the host fit i32"),
        };
        let all = indices.iter().map(number).collect::<Result<Vec<i32>>>()?;
        Ok(self.own_device()?.upload(&all, [all.len()])?.into())
    }
}

macro_rules! lists {
    ($([$($generic:tt)*] $list:ty;)*) => {$(
        impl<I: AxisIndex, $($generic)*> IntoIndices for $list {
            fn into_indices(self, table: &AnyExpr) -> Result<AnyExpr> {
                table.uploaded(&self.iter().map(|&index| index.signed()).collect::<Vec<_>>())
            }
        }
    )*};
}
lists! {
    [const N: usize] [I; N];
    [const N: usize] &[I; N];
    [] &[I];
    [] Vec<I>;
    [] &Vec<I>;
}

/// Elements of the host.
impl AnyTensor {
    /// Writes elements of the host, as bytes in row-major order, to the elements of this tensor, as [`Tensor::write`]
    /// does. Bytes are little-endian, without gaps. A byte other than 0 is true for bool.
    ///
    /// # Errors
    /// When the number of bytes is not the tensor's, this tensor visits an element twice, the device is lost, or there
    /// is no memory.
    ///
    /// ```
    /// use zerostride::{DType, Device};
    ///
    /// let x = Device::cpu().zeros_any(DType::I16, [3])?;
    /// x.write_bytes(&[1, 0, 2, 0, 3, 0])?;
    /// assert_eq!(x.to_vec::<i16>()?, [1, 2, 3]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<()> {
        called(Location::caller(), || {
            let (shape, dtype, own) = (self.shape(), self.dtype(), bytes.len());
            let needed = self.layout().count() as u128 * dtype.size() as u128;
            if needed != own as u128 {
                bail!(
                    Data,
                    "write of {own} bytes to {dtype} {shape}, which has {needed}: data and shape must agree"
                );
            }
            self.write_packed(&truths(dtype, bytes)?)
        })
    }

    /// The same for elements, of the tensor's type.
    #[track_caller]
    pub(super) fn write<T: Element>(&self, data: &[T]) -> Result<()> {
        called(Location::caller(), || {
            let (shape, count, own) = (self.shape(), self.layout().count(), data.len());
            if count != own {
                bail!(
                    Data,
                    "write of {own} elements to {shape}, which has {count}: data and shape must agree"
                );
            }
            self.write_packed(bytemuck::cast_slice(data))
        })
    }

    fn write_packed(&self, bytes: &[u8]) -> Result<()> {
        self.is_written_once("write")?;
        self.device.backend()?.write(self.storage(), self.dtype(), self.layout(), bytes)
    }
}

/// Bytes of elements. Bool becomes 0 or 1.
fn truths(dtype: DType, bytes: &[u8]) -> Result<Cow<'_, [u8]>> {
    if dtype != DType::Bool || bytes.iter().all(|&byte| byte <= 1) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut truths = room::<u8>(bytes.len())?;
    truths.extend(bytes.iter().map(|&byte| u8::from(byte != 0)));
    Ok(Cow::Owned(truths))
}
