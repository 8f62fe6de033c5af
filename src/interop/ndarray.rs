//! Arrays of the crate `ndarray`.

use ndarray::{ArrayBase, ArrayD, ArrayView, Axis, Data, Dimension, IxDyn, Slice};

use crate::{Device, Element, Error, Expr, Layout, Result, Shape, Tensor};

impl Device {
    /// Uploads an array with its strides. If it is contiguous in the host's memory, in any order of axes and direction,
    /// its memory is uploaded as it is, and a stretched axis stays stretched. Otherwise the elements are gathered
    /// first.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    ///
    /// ```
    /// use ndarray::{Array2, array};
    /// use zerostride::Device;
    ///
    /// let columns: Array2<f32> = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].reversed_axes();
    /// let x = Device::cpu().upload_array(&columns)?;
    /// assert_eq!(x.layout().strides(), [1, 3]);
    /// assert_eq!((x * 2.0).to_array()?, (columns * 2.0).into_dyn());
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn upload_array<T: Element, S: Data<Elem = T>, D: Dimension>(
        &self,
        array: &ArrayBase<S, D>,
    ) -> Result<Tensor<T>> {
        let shape = Shape::from(array.shape());
        let mut once = array.view();
        for axis in 0..array.ndim() {
            if array.strides()[axis] == 0 && array.shape()[axis] > 1 {
                once.slice_axis_inplace(Axis(axis), Slice::from(..1));
            }
        }
        // The memory begins with the lowest element, at which reversed axes end.
        let backward = once.shape().iter().zip(once.strides()).filter(|(n, stride)| **n > 1 && **stride < 0);
        let first: usize = backward.map(|(n, stride)| (n - 1) * stride.unsigned_abs()).sum();
        let view = match once.as_slice_memory_order() {
            Some(piece) => {
                let strides: Vec<isize> = once.strides().to_vec();
                let own = Shape::from(once.shape());
                self.upload(piece, [piece.len()])?.as_strided(own, &strides, first)
            }
            None => self.upload(&gathered(&once)?, Shape::from(once.shape()))?.expr(),
        };
        view.broadcast_to(shape).tensor()
    }
}

/// The elements in row-major order.
fn gathered<T: Element, D: Dimension>(array: &ArrayView<'_, T, D>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    if all.try_reserve_exact(array.len()).is_err() {
        return Err(Error::new(
            crate::ErrorKind::Memory,
            format!("no memory on the host for {} bytes", array.len() as u128 * size_of::<T>() as u128),
        ));
    }
    all.extend(array.iter().copied());
    Ok(all)
}

impl<T: Element> Expr<T> {
    /// Evaluates, and reads the elements into an array, row-major. `into_dimensionality` converts it to an array of a
    /// known number of axes.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    ///
    /// ```
    /// use ndarray::{Ix2, array};
    /// use zerostride::Device;
    ///
    /// let x = Device::cpu().upload(&[1, 2, 3, 4], [2, 2])?;
    /// let turned = x.transpose(0, 1).to_array()?.into_dimensionality::<Ix2>();
    /// assert_eq!(turned.ok(), Some(array![[1, 3], [2, 4]]));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn to_array(&self) -> Result<ArrayD<T>> {
        let shape = self.shape()?.to_vec();
        // ndarray's arrays have at most isize::MAX elements, counting axes of length 0 as 1, as layouts do.
        Layout::contiguous(shape.as_slice())?;
        let elements = self.to_vec()?;
        ArrayD::from_shape_vec(IxDyn(&shape), elements)
            .map_err(|error| Error::new(crate::ErrorKind::Shape, format!("no array of {shape:?}: {error}")))
    }
}
