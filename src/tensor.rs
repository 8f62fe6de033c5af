//! Tensors: elements on a device with a layout, and what consumes expressions.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::Location;

use crate::device::Device;
use crate::dtype::{Element, bf16, f16};
use crate::error::{Error, Result, bail};
use crate::expr::{Expr, Input, IntoExpr, Program, Source, Storage, for_each_view, operators};
use crate::layout::{Broadcast, Layout, Shape};

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
        || Error::new(crate::ErrorKind::Memory, format!("no memory on the host for {} bytes", bytes.len()));
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
                crate::ErrorKind::Alias,
                format!(
                    "cannot assign to {} with strides {:?}: it visits an element more than once, so assign to the tensor it was expanded from",
                    self.shape(),
                    self.layout.strides()
                ),
            );
            return Err(error.at(at));
        }
        self.device.agrees(&value).map_err(|e| e.at(at))?;
        let program = Program::new(node, self.shape())?;
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

/// Consumers.
impl<T: Element> Expr<T> {
    /// Runs the expression as one kernel on the device of its tensors, into a new row-major
    /// tensor; a costly part over fewer elements, as `exp` of a row, may get a kernel of its own. The call
    /// returns when the work is recorded; reading the result waits for it.
    ///
    /// # Errors
    /// The first mistake that was made while building; tensors of different devices, or none at
    /// all (then use [`eval_on`](Self::eval_on)); a limit of the adapter; no memory.
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1.0_f32, 4.0, 9.0], [3])?;
    /// assert_eq!((x.sqrt() - 1.0).eval()?.to_vec()?, [0.0, 1.0, 2.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn eval(&self) -> Result<Tensor<T>> {
        let at = Location::caller();
        let backends = self.backends()?;
        let Some(first) = backends.first() else {
            let text = "an expression without tensors has no device: use eval_on and name one";
            return Err(Error::new(crate::ErrorKind::Device, text).at(at));
        };
        let device = Device::from_backend(first.clone());
        device.is_that_of(&backends).map_err(|e| e.at(at))?;
        self.run(&device)
    }

    /// Runs the expression on a device, which its tensors, if any, must live on.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn eval_on(&self, device: &Device) -> Result<Tensor<T>> {
        device.agrees(self).map_err(|e| e.at(Location::caller()))?;
        self.run(device)
    }

    /// Runs several expressions on the device of their tensors, those of equal shapes by one kernel: what
    /// they have in common is read and computed once. The results are in the order of the expressions.
    ///
    /// # Errors
    /// As [`eval`](Self::eval), for the first expression that has any; then none is evaluated.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let x = Device::cpu().upload(&[3.0_f32, 5.0], [2])?;
    /// let y = Device::cpu().upload(&[1.0_f32, 2.0], [2])?;
    /// let both = Expr::eval_all(&[&x + &y, &x - &y])?;
    /// assert_eq!(both[0].to_vec()?, [4.0, 7.0]);
    /// assert_eq!(both[1].to_vec()?, [2.0, 3.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn eval_all(exprs: &[Expr<T>]) -> Result<Vec<Tensor<T>>> {
        let at = Location::caller();
        let mut backends = Vec::new();
        for expr in exprs {
            backends.extend(expr.backends()?);
        }
        let Some(first) = backends.first() else {
            if exprs.is_empty() {
                return Ok(Vec::new());
            }
            let text = "expressions without tensors have no device: use eval_on and name one";
            return Err(Error::new(crate::ErrorKind::Device, text).at(at));
        };
        let device = Device::from_backend(first.clone());
        device.is_that_of(&backends).map_err(|e| e.at(at))?;
        let nodes = exprs.iter().map(Expr::node).collect::<Result<Vec<_>>>()?;
        let mut results: Vec<Option<Tensor<T>>> = exprs.iter().map(|_| None).collect();
        for i in 0..nodes.len() {
            if results[i].is_some() {
                continue;
            }
            let shape = &nodes[i].shape;
            let alike: Vec<usize> = (i..nodes.len()).filter(|&j| nodes[j].shape == *shape).collect();
            let roots: Vec<_> = alike.iter().map(|&j| nodes[j]).collect();
            let storages = device.backend().eval_all(&Program::of(&roots, shape)?)?;
            for (j, storage) in alike.into_iter().zip(storages) {
                results[j] = Some(Tensor::new(device.clone(), storage, Layout::contiguous(shape)?));
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// Runs the expression on the device of its tensors.
    fn run(&self, device: &Device) -> Result<Tensor<T>> {
        let node = self.node()?;
        let program = Program::new(node, &node.shape)?;
        let layout = Layout::contiguous(&node.shape)?;
        let storage = device.backend().eval(&program)?;
        Ok(Tensor::new(device.clone(), storage, layout))
    }

    /// Evaluates, and reads the elements in row-major order.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.eval()?.to_vec()
    }

    /// Evaluates on a device, and reads the elements in row-major order.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn to_vec_on(&self, device: &Device) -> Result<Vec<T>> {
        self.eval_on(device)?.to_vec()
    }

    /// Evaluates, and reads the elements in row-major order without blocking the calling thread.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn to_vec_async(&self) -> impl Future<Output = Result<Vec<T>>> + Send + use<T> {
        let reading = self.eval().map(|tensor| tensor.to_vec_async());
        async move { reading?.await }
    }

    /// Compiles the kernel of this expression without running it, so that the first evaluation of its
    /// class does not wait for the compiler. Some drivers put a part of that off to the first run.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let device = Device::open()?;
    /// let x = device.zeros::<f32>([4, 3])?;
    /// (&x * 2.0).warm_up(&device)?;
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn warm_up(&self, device: &Device) -> Result<()> {
        device.agrees(self).map_err(|e| e.at(Location::caller()))?;
        let node = self.node()?;
        device.backend().prepare(&Program::new(node, &node.shape)?)
    }

    /// What evaluating on `device` would run: operands under the axes of the result, the axes left
    /// after collapsing, how each operand is accessed, the grid, the bytes that move, and the
    /// kernel's text. Nothing runs.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let device = Device::cpu();
    /// let x = device.zeros::<f32>([4, 3])?;
    /// let row = device.zeros::<f32>([3])?;
    /// let explained = (&x + &row).explain(&device)?;
    /// assert!(explained.to_string().starts_with("f32 [4, 3] = add(a, b)"));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn explain(&self, device: &Device) -> Result<Explain> {
        device.agrees(self).map_err(|e| e.at(Location::caller()))?;
        let node = self.node()?;
        let program = Program::new(node, &node.shape)?;
        let (plan, wgsl) = device.backend().explain(&program)?;
        let text = format!("{}device: {}\n{plan}", program.describe(), device.name());
        Ok(Explain { text, wgsl })
    }
}

/// What would run for an expression, as [`Expr::explain`] tells it. Prints as text.
#[derive(Clone, Debug)]
pub struct Explain {
    text: String,
    wgsl: Option<String>,
}

impl Explain {
    /// The text of the kernel, where the device runs one.
    pub fn wgsl(&self) -> Option<&str> {
        self.wgsl.as_deref()
    }
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
