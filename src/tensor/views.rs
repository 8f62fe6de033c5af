//! Views of tensors: expressions that name a tensor's elements. They convert to tensors, and are destinations.

use super::{AnyTensor, Tensor};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, bail};
use crate::expr::{AnyExpr, Expr, IntoExpr, on_both};
use crate::ir::{NodeKind, Source};
use crate::layout::{Layout, Shape};

on_both! {
    /// Views of tensors.
    examples of i32 ["[1, 2, 3, 4, 5, 6], [2, 3]"];

    /// The tensor that this expression is: a tensor, or views of one. Both name the same elements. Call it to find a
    /// mistake of a view at its own line, before a consumer does.
    ///
    /// # Errors
    /// The first mistake that was made while building; when the expression computes something.
    tensor() -> (T, Result<AnyTensor> | Result<Tensor<T>>), "x.slice(1, ..1).tensor()?" => "[1, 4]", |x| match x.named()? {
        Some(tensor) => Ok(tensor),
        None => bail!(
            Operation,
            "{x:?} is computed and names no elements of a tensor: evaluate it, or take views of a tensor alone"
        ),
    };
    /// A view of any strides (in elements) and offset over the storage of a tensor (PyTorch `as_strided`). A mistake,
    /// such as an index outside of the storage, is kept as in every view. A view that visits an element twice is no
    /// destination of [`assign`](Self::assign).
    as_strided(shape: impl Into<Shape>, strides: &[isize], offset: usize) -> T,
        "x.as_strided([3, 2], &[1, 2], 0)" => "[1, 3, 2, 4, 3, 5]", let shape = shape.into(), |x| {
            let tensor = x.tensor()?;
            let layout = Layout::strided(shape, strides, offset, tensor.storage().elements)?;
            Ok(AnyExpr::leaf(tensor.storage().clone(), tensor.dtype(), layout))
        };
}

impl AnyExpr {
    /// The tensor that this expression is, as from [`tensor`](Self::tensor). `None` if it computes something.
    ///
    /// # Errors
    /// The first mistake that was made while building.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = Device::cpu().zeros_any(DType::F32, [2, 3])?;
    /// assert!(x.transpose(0, 1).named()?.is_some());
    /// assert!(AnyExpr::call("exp", &[x.expr()]).named()?.is_none());
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn named(&self) -> Result<Option<AnyTensor>> {
        let node = self.node()?;
        let NodeKind::Leaf { source: Source::Tensor(storage), .. } = &node.kind else { return Ok(None) };
        Ok(Some(AnyTensor { device: Device::from_backend(storage.backend.clone()), leaf: self.clone() }))
    }

    /// [`AnyTensor::assign`] to the elements that this expression names.
    ///
    /// # Errors
    /// As there, and as [`tensor`](Self::tensor).
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = Device::cpu().zeros_any(DType::U8, [3])?;
    /// x.slice(0, 1..).assign(AnyExpr::scalar(DType::U8, 7))?;
    /// assert_eq!(x.to_bytes()?, [0, 7, 7]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn assign(&self, value: impl Into<AnyExpr>) -> Result<()> {
        self.tensor()?.assign(value)
    }

    /// [`AnyTensor::write_bytes`] to the elements that this expression names.
    ///
    /// # Errors
    /// As there, and as [`tensor`](Self::tensor).
    #[track_caller]
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<()> {
        self.tensor()?.write_bytes(bytes)
    }
}

/// Views of tensors.
impl<T: Element> Expr<T> {
    /// [`Tensor::assign`] to the elements that this expression names, which must be views of a tensor.
    ///
    /// # Errors
    /// As there, and as [`tensor`](Self::tensor).
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let x = Device::cpu().upload(&[1, 2, 3, 4], [2, 2])?;
    /// x.slice(0, 1..).assign(x.slice(0, ..1) * 10)?;
    /// assert_eq!(x.to_vec()?, [1, 2, 10, 20]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn assign(&self, value: impl IntoExpr<T>) -> Result<()> {
        self.untyped().assign(value.into_expr())
    }

    /// [`Tensor::write`] to the elements that this expression names, which must be views of a tensor.
    ///
    /// # Errors
    /// As there, and as [`tensor`](Self::tensor).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().zeros::<u8>([2, 2])?;
    /// x.transpose(0, 1).slice(0, 1..).write(&[7, 8])?;
    /// assert_eq!(x.to_vec()?, [0, 7, 0, 8]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn write(&self, data: &[T]) -> Result<()> {
        self.tensor()?.write(data)
    }
}
