//! Tensors with an element type at run time. `Tensor` is their typed face.

use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use super::Tensor;
use crate::device::Device;
use crate::dtype::{DType, Element};
use crate::error::{Result, bail, called};
use crate::expr::AnyExpr;
use crate::ir::{Destination, NodeKind, Schedule, Source, Storage};
use crate::layout::{Broadcast, Layout, Shape};

/// A [`Tensor`] whose element type is a value, for code that learns types at run time: files, other languages, pages.
///
/// A tensor of a static type holds one, and both deref to expressions: this to [`AnyExpr`], that to
/// [`Expr`](crate::Expr). Tensors convert by `into()`, and [`typed`](AnyTensor::typed) converts back. Both name the
/// same elements.
///
/// ```
/// use zerostride::{AnyTensor, DType, Device};
///
/// let device = Device::cpu();
/// let x: AnyTensor = device.upload(&[1_i16, 2, 3, 4], [2, 2])?.into();
/// assert_eq!((x.dtype(), x.shape().rank()), (DType::I16, 2));
/// let column = x.slice(1, 1..);
/// column.assign(AnyTensor::from(device.full([1], 9_i16)?))?;
/// assert_eq!(x.to_bytes()?, [1, 0, 9, 0, 3, 0, 9, 0]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone)]
pub struct AnyTensor {
    pub(super) device: Device,
    /// A leaf over a storage: all else about the tensor.
    pub(super) leaf: AnyExpr,
}

impl Deref for AnyTensor {
    type Target = AnyExpr;
    fn deref(&self) -> &AnyExpr {
        &self.leaf
    }
}

impl From<AnyTensor> for AnyExpr {
    fn from(tensor: AnyTensor) -> AnyExpr {
        tensor.leaf
    }
}

impl From<&AnyTensor> for AnyExpr {
    fn from(tensor: &AnyTensor) -> AnyExpr {
        tensor.leaf.clone()
    }
}

impl AnyTensor {
    pub(crate) fn new(device: Device, storage: Storage, dtype: DType, layout: Layout) -> Self {
        AnyTensor { device, leaf: AnyExpr::leaf(storage, dtype, layout) }
    }

    fn parts(&self) -> (&Storage, DType, &Layout) {
        match self.leaf.node().map(|node| (&node.kind, node.dtype)) {
            Ok((NodeKind::Leaf { source: Source::Tensor(storage), layout }, dtype)) => {
                (storage, dtype, layout)
            }
            _ => unreachable!("a tensor is made with a leaf over a storage"),
        }
    }

    /// This tensor with a static element type.
    ///
    /// # Errors
    /// When its elements have another type.
    ///
    /// ```
    /// use zerostride::{DType, Device, Tensor};
    ///
    /// let any = Device::cpu().upload_bytes(&[0, 0, 128, 63], DType::F32, [1])?;
    /// let typed: Tensor<f32> = any.typed()?;
    /// assert_eq!(typed.item()?, 1.0);
    ///
    /// let error = any.typed::<u8>().unwrap_err();
    /// assert_eq!(error.message(), "a tensor of f32 was taken as one of u8: cast it");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn typed<T: Element>(&self) -> Result<Tensor<T>> {
        called(Location::caller(), || self.is_of::<T>())?;
        Ok(Tensor::face(self.clone()))
    }

    pub(super) fn is_of<T: Element>(&self) -> Result<()> {
        if self.dtype() != T::DTYPE {
            bail!(Type, "a tensor of {} was taken as one of {}: cast it", self.dtype(), T::DTYPE);
        }
        Ok(())
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.parts().1
    }

    pub(crate) fn storage(&self) -> &Storage {
        self.parts().0
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        self.layout().shape()
    }

    /// The layout of the elements in the storage.
    pub fn layout(&self) -> &Layout {
        self.parts().2
    }

    /// The device that holds the elements.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The leaf expression that reads this tensor.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = Device::cpu().zeros_any(DType::F16, [2])?;
    /// assert_eq!(AnyExpr::call("cos", &[x.expr()]).dtype()?, DType::F16);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn expr(&self) -> AnyExpr {
        self.leaf.clone()
    }

    /// Whether anything beside this handle may read its elements: a clone, a view, an expression. If not, writing
    /// changes no other value. A language whose values never change asks before it writes in place. It may stay true
    /// for a moment after the last other reader is gone.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = Device::cpu().zeros_any(DType::F32, [3])?;
    /// assert!(!x.is_shared());
    /// let y = AnyExpr::call("exp", &[x.slice(0, 1..)]);
    /// assert!(x.is_shared());
    /// drop(y);
    /// assert!(!x.is_shared());
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn is_shared(&self) -> bool {
        // This handle itself has the leaf, which has the storage.
        let leaf = self.leaf.node().map_or(0, Arc::strong_count);
        leaf != 1 || Arc::strong_count(&self.storage().buffer) != 1
    }

    /// Replaces the elements by those of an expression of the same type, as [`Tensor::assign`] does.
    ///
    /// # Errors
    /// When the expression holds a mistake, has another type, does not fit the shape, or lives on another device, or
    /// when this tensor visits an element twice. Nothing is written then.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = Device::cpu().zeros_any(DType::U8, [2])?;
    /// x.assign(AnyExpr::scalar(DType::U8, 7))?;
    /// assert_eq!(x.to_bytes()?, [7, 7]);
    ///
    /// let error = x.assign(AnyExpr::scalar(DType::F32, 7)).unwrap_err();
    /// assert_eq!(error.message(), "cannot assign f32 to a tensor of u8: cast the value");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn assign(&self, value: impl Into<AnyExpr>) -> Result<()> {
        let value = value.into();
        called(Location::caller(), || self.assign_by(&self.device, &value))
    }

    /// The same with the math of the device's handle.
    pub(crate) fn assign_by(&self, device: &Device, value: &AnyExpr) -> Result<()> {
        self.takes(device, value)?;
        let to = (self.storage(), self.layout());
        device.run(value.node()?, Destination::Into(&[to]), || self.schedule(device, value)).map(drop)
    }

    /// Compiles the kernels of [`assign`](Self::assign) without running them.
    ///
    /// # Errors
    /// As [`assign`](Self::assign).
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = Device::open()?.zeros_any(DType::U8, [2])?;
    /// x.warm_up_assign(AnyExpr::scalar(DType::U8, 7))?;
    /// assert_eq!(x.to_bytes()?, [0, 0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn warm_up_assign(&self, value: impl Into<AnyExpr>) -> Result<()> {
        let value = value.into();
        called(Location::caller(), || {
            self.takes(&self.device, &value)?;
            let schedule = self.schedule(&self.device, &value)?;
            let to = (self.storage(), self.layout());
            self.device.backend()?.compile(&schedule, Destination::Into(&[to]))
        })
    }

    /// The schedule of a value that may be assigned to this tensor.
    fn schedule(&self, device: &Device, value: &AnyExpr) -> Result<Arc<Schedule>> {
        let (node, bounds) = (value.node()?, device.bounds());
        match node.shape == *self.shape() {
            true => Schedule::of(node, bounds),
            false => Ok(Arc::new(Schedule::new(&[node], self.shape(), bounds)?)),
        }
    }

    /// Checks that a value may be assigned to this tensor.
    pub(super) fn takes(&self, device: &Device, value: &AnyExpr) -> Result<()> {
        let node = value.node()?;
        if node.dtype != self.dtype() {
            bail!(Type, "cannot assign {} to a tensor of {}: cast the value", node.dtype, self.dtype());
        }
        Broadcast::in_place(self.shape(), &node.shape)?;
        self.is_written_once("assign")?;
        device.agrees(value)
    }

    /// Checks that no element is visited twice, as every write needs.
    pub(super) fn is_written_once(&self, what: &str) -> Result<()> {
        if self.layout().visits_twice() {
            bail!(
                Alias,
                "cannot {what} to {} with strides {:?}: it visits an element more than once, so {what} to the tensor it was expanded from",
                self.shape(),
                self.layout().strides()
            );
        }
        Ok(())
    }
}
