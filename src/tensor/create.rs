//! Tensors made of host data and of values.

use super::Tensor;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, bail};
use crate::expr::Expr;
use crate::layout::{Layout, Shape};

/// Tensors on this device.
impl Device {
    /// Elements in row-major order onto the device.
    ///
    /// # Errors
    /// When the number of elements is not that of the shape, the adapter's limits are exceeded, or
    /// there is no memory.
    ///
    /// ```
    /// let device = zerostride::Device::cpu();
    /// let x = device.upload(&[1_u8, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.shape(), &[2, 3]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn upload<T: Element>(&self, data: &[T], shape: impl Into<Shape>) -> Result<Tensor<T>> {
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
        let storage = self.backend().upload(bytemuck::cast_slice(data), T::DTYPE)?;
        Ok(Tensor::new(self.clone(), storage, layout))
    }

    /// A tensor of one value.
    ///
    /// # Errors
    /// When the shape overflows, the adapter's limits are exceeded, or there is no memory.
    ///
    /// ```
    /// let x = zerostride::Device::cpu().full([2, 2], 0.5_f32)?;
    /// assert_eq!(x.to_vec()?, [0.5; 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn full<T: Element>(&self, shape: impl Into<Shape>, value: T) -> Result<Tensor<T>> {
        Expr::scalar(value).broadcast_to(shape).eval_on(self)
    }

    /// A tensor of zeros.
    ///
    /// # Errors
    /// As [`full`](Self::full).
    pub fn zeros<T: Element>(&self, shape: impl Into<Shape>) -> Result<Tensor<T>> {
        self.full(shape, T::ZERO)
    }
}
