//! Tensors: elements on a device with a layout, how they are made, and what consumes expressions.

mod consume;
mod create;

pub use consume::Explain;

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use crate::device::Device;
use crate::dtype::{Element, bf16, f16};
use crate::error::{Error, ErrorKind, Result, bail};
use crate::expr::{Expr, Input, IntoExpr, Program, Source, Storage, for_each_view, operators};
use crate::layout::{Broadcast, Layout, Shape};
use crate::schedule::Schedule;

/// Elements of type `T` on a device, seen through a [`Layout`].
///
/// A tensor is a handle: clones and views share its elements, and [`assign`](Tensor::assign)
/// through one shows through all. It derefs to [`Expr`], the leaf expression that reads it, so
/// every operation of an expression works on tensors.
///
/// ```
/// use zerostride::Device;
///
/// let device = Device::cpu();
/// let x = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// let last_column = x.slice(1, 2..)?;
/// last_column.assign(0)?;
/// assert_eq!(x.to_vec()?, [1, 2, 0, 4, 5, 0]);
/// assert_eq!(x.max(3).to_vec()?, [3, 3, 3, 4, 5, 3]);
/// # Ok::<(), zerostride::Error>(())
/// ```
pub struct Tensor<T: Element> {
    device: Device,
    storage: Storage,
    layout: Layout,
    leaf: Expr<T>,
}

impl<T: Element> Clone for Tensor<T> {
    fn clone(&self) -> Self {
        Self::new(self.device.clone(), self.storage.clone(), self.layout.clone())
    }
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

impl<T: Element> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor<{}> {:?} on {}", T::DTYPE, self.layout, self.device.name())
    }
}

fn elements<T: Element>(bytes: &[u8]) -> Result<Vec<T>> {
    let no_memory =
        || Error::new(ErrorKind::Memory, format!("no memory on the host for {} bytes", bytes.len()));
    T::from_bytes(bytes).ok_or_else(no_memory)
}

impl<T: Element> Tensor<T> {
    pub(crate) fn new(device: Device, storage: Storage, layout: Layout) -> Self {
        let leaf = Expr::tensor(storage.clone(), layout.clone());
        Tensor { device, storage, layout, leaf }
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

    /// The leaf expression that reads this tensor. Operators make it where they need it.
    pub fn expr(&self) -> Expr<T> {
        self.leaf.clone()
    }

    /// Replaces the elements by those of an expression, as if all of its sources were read first,
    /// even where they overlap. The shape stays: the expression may broadcast to it but not
    /// stretch it (PyTorch's in-place rule).
    ///
    /// # Errors
    /// When the expression holds a mistake, does not fit the shape, or lives on another device, or
    /// when this tensor visits an element twice. Nothing is written then.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let x = Device::cpu().upload(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [10])?;
    /// let even = x.slice_step(0, .., 2)?;
    /// even.assign(&even + x.slice(0, ..5)?)?;
    /// assert_eq!(even.to_vec()?, [0, 3, 6, 9, 12]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn assign(&self, value: impl IntoExpr<T>) -> Result<()> {
        let at = Location::caller();
        let value = value.into_expr();
        let node = value.node()?;
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
        let program = self.device.stages(&schedule)?.into_owned();
        self.device.backend().assign(program, &self.storage, &self.layout)
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// When the device is lost or the host has no memory for them.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let (storage, offset) = self.dense()?;
        let count = self.layout.count();
        let bytes = self.device.backend().read_now(&storage, T::DTYPE, offset, count)?;
        elements(&bytes)
    }

    /// The elements in row-major order, without blocking the calling thread. The work is recorded
    /// by this call; the future waits for it.
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
    pub fn to_vec_async(&self) -> impl Future<Output = Result<Vec<T>>> + Send + use<T> {
        let count = self.layout.count();
        let reading = self
            .dense()
            .map(|(storage, offset)| self.device.backend().read(&storage, T::DTYPE, offset, count));
        async move { elements(&reading?.await?) }
    }

    /// The only element of a tensor that has one.
    ///
    /// # Errors
    /// When there is another number of elements, or they cannot be read.
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1, 2, 3], [3])?;
    /// assert_eq!(x.slice(0, 1..2)?.item()?, 2);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn item(&self) -> Result<T> {
        match self.to_vec()?.as_slice() {
            [only] => Ok(*only),
            all => bail!(Shape, "item of {}, which has {} elements and not 1", self.shape(), all.len()),
        }
    }

    /// The elements as one row-major run: where it begins, copied only if they are none already.
    fn dense(&self) -> Result<(Storage, usize)> {
        if self.layout.is_contiguous() {
            let empty = self.layout.count() == 0;
            return Ok((self.storage.clone(), if empty { 0 } else { self.layout.offset() }));
        }
        let source = Source::Tensor(self.storage.clone());
        let input = Input { dtype: T::DTYPE, source, layout: self.layout.clone() };
        Ok((self.device.backend().eval(&Program::copy(input))?, 0))
    }

    /// A view of any strides (in elements) and offset over the same storage (PyTorch
    /// `as_strided`).
    ///
    /// # Errors
    /// When an index would leave the elements that this tensor's storage holds.
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1, 2, 3, 4, 5], [5])?;
    /// let windows = x.as_strided([3, 3], &[1, 1], 0)?;
    /// assert_eq!(windows.to_vec()?, [1, 2, 3, 2, 3, 4, 3, 4, 5]);
    /// assert!(windows.assign(0).is_err()); // elements would be written more than once
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn as_strided(&self, shape: impl Into<Shape>, strides: &[isize], offset: usize) -> Result<Self> {
        let layout = Layout::strided(shape, strides, offset, self.storage.elements)?;
        Ok(Self::new(self.device.clone(), self.storage.clone(), layout))
    }
}

macro_rules! views {
    ($($(#[doc = $doc:literal])+ $name:ident($($arg:ident: $t:ty),*) as $eg:literal, $shape:expr,
        $(let $held:ident = $value:expr,)? |$l:ident| $view:expr;)*) => {
        /// Views: other layouts of the same elements. Nothing is copied.
        impl<T: Element> Tensor<T> {$(
            $(#[doc = $doc])+
            ///
            /// # Errors
            /// When the tensor has no such view; the text names axis, bounds and shape.
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            /// let x = device.zeros::<f32>([2, 3])?;
            #[doc = concat!("assert_eq!(x.", $eg, "?.shape(), &", stringify!($shape), ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            pub fn $name(&self, $($arg: $t),*) -> Result<Self> {
                $(let $held = $value;)?
                let $l = &self.layout;
                Ok(Self::new(self.device.clone(), self.storage.clone(), $view?))
            }
        )*}
    };
}
for_each_view!(views);
