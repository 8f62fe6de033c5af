//! Tensors whose element type is known at run time. `Tensor` is their typed face.

use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use super::Tensor;
use crate::device::Device;
use crate::dtype::{DType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::expr::{AnyExpr, Input, Program, Source, Storage};
use crate::layout::{Broadcast, Layout, Shape};
use crate::schedule::Schedule;

/// A [`Tensor`] whose element type is a value, for what learns types at run time: files, other languages,
/// pages.
///
/// It is what a tensor of a static type is made of, and derefs to [`AnyExpr`] as that does to
/// [`Expr`](crate::Expr). Tensors become one by `into()`, and [`typed`](AnyTensor::typed) leads back: both
/// name the same elements.
///
/// ```
/// use zerostride::{AnyTensor, DType, Device};
///
/// let device = Device::cpu();
/// let x: AnyTensor = device.upload(&[1_i16, 2, 3, 4], [2, 2])?.into();
/// assert_eq!((x.dtype(), x.shape().rank()), (DType::I16, 2));
/// let column = x.slice(1, 1..)?;
/// column.assign(AnyTensor::from(device.full([1], 9_i16)?))?;
/// assert_eq!(x.to_bytes()?, [1, 0, 9, 0, 3, 0, 9, 0]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone)]
pub struct AnyTensor {
    device: Device,
    storage: Storage,
    dtype: DType,
    layout: Layout,
    leaf: AnyExpr,
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
        let leaf = AnyExpr::tensor(storage.clone(), dtype, layout.clone());
        AnyTensor { device, storage, dtype, layout, leaf }
    }

    /// The same elements seen through another layout.
    pub(super) fn with(&self, layout: Layout) -> Self {
        Self::new(self.device.clone(), self.storage.clone(), self.dtype, layout)
    }

    /// This tensor as one of a static type.
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
        self.is_of::<T>(Location::caller())?;
        Ok(Tensor::face(self.clone()))
    }

    pub(super) fn is_of<T: Element>(&self, at: &'static Location<'static>) -> Result<()> {
        if self.dtype != T::DTYPE {
            let text = format!("a tensor of {} was taken as one of {}: cast it", self.dtype, T::DTYPE);
            return Err(Error::new(ErrorKind::Type, text).at(at));
        }
        Ok(())
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    pub(super) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// Where the elements lie in the storage.
    pub fn layout(&self) -> &Layout {
        &self.layout
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

    /// Replaces the elements by those of an expression of the same type, as
    /// [`Tensor::assign`] does.
    ///
    /// # Errors
    /// When the expression holds a mistake, has another type, does not fit the shape, or lives on another
    /// device, or when this tensor visits an element twice. Nothing is written then.
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
        let at = Location::caller();
        let value = value.into();
        let node = value.node()?;
        if node.dtype != self.dtype {
            let text = format!("cannot assign {} to a tensor of {}: cast the value", node.dtype, self.dtype);
            return Err(Error::new(ErrorKind::Type, text).at(at));
        }
        Broadcast::in_place(self.shape(), &node.shape).map_err(|e| e.at(at))?;
        if self.layout.visits_twice() {
            let error = Error::new(
                ErrorKind::Alias,
                format!(
                    "cannot assign to {} with strides {:?}: it visits an element more than once, so assign to the tensor it was expanded from",
                    self.shape(),
                    self.layout.strides()
                ),
            );
            return Err(error.at(at));
        }
        self.device.agrees(&value).map_err(|e| e.at(at))?;
        let bounds = self.device.bounds();
        let schedule = match node.shape == *self.shape() {
            true => Schedule::of(node, bounds)?,
            false => Arc::new(Schedule::new(&[node], self.shape(), bounds)?),
        };
        let mut program = self.device.stages(&schedule)?.into_owned();
        if program.fold.is_some() || program.rows.is_some() {
            // What is folded is all read before the first result.
            let source = Source::Tensor(self.device.backend().eval(&program)?);
            let layout = Layout::contiguous(self.shape())?;
            program = Program::copy(Input { dtype: self.dtype, source, layout });
        }
        self.device.backend().assign(program, &self.storage, &self.layout)
    }

    /// A view of any strides (in elements) and offset over the same storage (PyTorch `as_strided`).
    ///
    /// # Errors
    /// When an index would leave the elements that this tensor's storage holds.
    ///
    /// ```
    /// use zerostride::{AnyTensor, Device};
    ///
    /// let x = AnyTensor::from(Device::cpu().upload(&[1, 2, 3, 4, 5], [5])?);
    /// let windows = x.as_strided([3, 2], &[1, 2], 0)?;
    /// assert_eq!(windows.to_vec::<i32>()?, [1, 3, 2, 4, 3, 5]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn as_strided(&self, shape: impl Into<Shape>, strides: &[isize], offset: usize) -> Result<Self> {
        Ok(self.with(Layout::strided(shape, strides, offset, self.storage.elements)?))
    }
}
