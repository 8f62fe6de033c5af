//! The array: an expression until it is read, then a tensor.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use zerostride::{AnyExpr, AnyTensor, DType, Shape};

use crate::device::{Device, Slot};
use crate::dtype::{self, Kind};
use crate::error::raised;
use crate::host::Host;
use crate::wait::{LONG, SHORT, is_busy, wait};

/// The greatest depth of an expression. A deeper one is evaluated, so a loop that builds on its own result keeps a
/// bounded number of arrays alive.
const DEEPEST: u32 = 256;

/// The source of an array's elements.
#[derive(Clone)]
pub(crate) enum State {
    /// An expression that is not evaluated.
    Expr {
        expr: AnyExpr,
        /// The longest chain of operations in the expression.
        depth: u32,
        /// The number of elements of the largest operand.
        work: usize,
    },
    Tensor(AnyTensor),
}

/// The state, and the number of its changes.
struct Inner {
    state: State,
    version: u64,
}

/// An array of the array API standard. Operators build an expression. Reading the array (printing it, `bool`, `float`,
/// conversion to NumPy) evaluates the expression, in one kernel where possible. Writing to an array changes no other:
/// `y = x + 1; x += 1` leaves `y` as it was. An index in an `Array` is clamped to its axis, because raising would need a
/// read. Other indices raise if they are out of range.
#[pyclass(frozen, weakref, module = "zerostride", name = "Array")]
pub(crate) struct Array {
    inner: Mutex<Inner>,
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    pub(crate) slot: Arc<Slot>,
}

/// An operand's expression with its depth and its work, as in [`State`].
pub(crate) struct Part {
    pub expr: AnyExpr,
    pub depth: u32,
    pub work: usize,
}

impl Array {
    /// The array of an expression, or the expression's error.
    pub(crate) fn new(
        py: Python<'_>,
        expr: AnyExpr,
        depth: u32,
        work: usize,
        slot: Arc<Slot>,
    ) -> PyResult<Array> {
        let dtype = expr.dtype().map_err(raised)?;
        let shape = expr.shape().map_err(raised)?.clone();
        let deep = depth > DEEPEST;
        let work = work.max(shape.iter().product());
        let inner = Mutex::new(Inner { state: State::Expr { expr, depth, work }, version: 0 });
        let array = Array { inner, dtype, shape, slot };
        if deep {
            array.tensor(py)?;
        }
        Ok(array)
    }

    /// A view of the array. It adds no depth.
    pub(crate) fn viewed(&self, py: Python<'_>, view: impl FnOnce(&AnyExpr) -> AnyExpr) -> PyResult<Array> {
        let Part { expr, depth, work } = self.some();
        Array::new(py, view(&expr), depth, work, self.slot.clone())
    }

    /// The array with one more operation.
    pub(crate) fn mapped(&self, py: Python<'_>, map: impl FnOnce(&AnyExpr) -> AnyExpr) -> PyResult<Array> {
        let Part { expr, depth, work } = self.part();
        Array::new(py, map(&expr), depth + 1, work, self.slot.clone())
    }

    pub(crate) fn of(tensor: AnyTensor, slot: Arc<Slot>) -> Array {
        let (dtype, shape) = (tensor.dtype(), tensor.shape().clone());
        Array { inner: Mutex::new(Inner { state: State::Tensor(tensor), version: 0 }), dtype, shape, slot }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn part(&self) -> Part {
        match &self.inner().state {
            State::Expr { expr, depth, work } => Part { expr: expr.clone(), depth: *depth, work: *work },
            State::Tensor(tensor) => Part { expr: tensor.expr(), depth: 0, work: self.size() },
        }
    }

    /// The same, if only some elements are read. No work is done for the others of a tensor, or of a view of one.
    pub(crate) fn some(&self) -> Part {
        let part = self.part();
        Part { work: if part.depth == 0 { 0 } else { part.work }, ..part }
    }

    pub(crate) fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// The array's tensor, evaluated if it is not yet.
    pub(crate) fn tensor(&self, py: Python<'_>) -> PyResult<AnyTensor> {
        self.with_tensor(py, AnyTensor::clone)
    }

    /// What `read` takes from the array's tensor, evaluated if it is not yet.
    fn with_tensor<T>(&self, py: Python<'_>, read: impl Fn(&AnyTensor) -> T) -> PyResult<T> {
        let device = self.slot.device(py)?;
        let (expr, work, version) = {
            let inner = self.inner();
            match &inner.state {
                State::Tensor(tensor) => return Ok(read(tensor)),
                State::Expr { expr, work, .. } => (expr.clone(), *work, inner.version),
            }
        };
        let tensor = match expr.named().map_err(raised)? {
            Some(tensor) => tensor,
            // Releasing the interpreter takes longer.
            None if self.is_short(work) => expr.eval_on(device).map_err(raised)?,
            None => {
                let device = device.clone();
                wait(py, self.may_be_long(work), move || expr.eval_on(&device))?
            }
        };
        let result = read(&tensor);
        let mut inner = self.inner();
        if inner.version == version {
            inner.state = State::Tensor(tensor);
        }
        Ok(result)
    }

    /// Whether evaluating a number of elements may take long. A queue accepts work at once unless other work delays it.
    fn may_be_long(&self, elements: usize) -> bool {
        elements >= LONG || self.slot.has_queue() && is_busy()
    }

    /// Whether evaluating a number of elements surely takes some microseconds: the thread computes them itself. It may wait
    /// for memory that another thread writes, but that thread does not wait for the interpreter.
    fn is_short(&self, elements: usize) -> bool {
        elements <= SHORT && !self.slot.has_queue()
    }

    /// Reads the elements, evaluated if they are not yet. A device with a queue may take long even for few elements.
    fn read<T: Send + 'static>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&AnyTensor) -> zerostride::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let tensor = self.tensor(py)?;
        wait(py, self.slot.has_queue() || self.size() >= LONG, move || read(&tensor))
    }

    /// A new tensor of the same elements in row-major order.
    pub(crate) fn compact(&self, py: Python<'_>) -> PyResult<AnyTensor> {
        let device = self.slot.device(py)?.clone();
        let Part { expr, work, .. } = self.part();
        wait(py, self.may_be_long(work.max(self.size())), move || expr.eval_on(&device))
    }

    /// Takes the elements of another array of this shape, type and device.
    pub(crate) fn replace(&self, py: Python<'_>, by: &Array) -> PyResult<()> {
        self.slot.join(&by.slot, py)?;
        if by.dtype != self.dtype {
            return Err(PyTypeError::new_err(format!(
                "a result of {} does not go into an array of {} in place: write x = x + y, or cast by astype",
                dtype::name(by.dtype),
                dtype::name(self.dtype)
            )));
        }
        if by.shape != self.shape {
            return Err(PyValueError::new_err(format!(
                "a result of {} does not go into an array of {} in place: an array keeps its shape, so write x = x + y",
                by.shape, self.shape
            )));
        }
        let state = by.inner().state.clone();
        let mut inner = self.inner();
        inner.state = state;
        inner.version += 1;
        Ok(())
    }

    /// Writes a value to the elements that `view` selects. If another array or an expression may read the same memory,
    /// all elements are copied first.
    pub(crate) fn write(
        &self,
        py: Python<'_>,
        value: AnyExpr,
        view: impl FnOnce(&AnyExpr) -> AnyExpr + Send,
    ) -> PyResult<()> {
        let device = self.slot.device(py)?.clone();
        // The interpreter is released before the array is locked, so a thread that holds the interpreter and waits for
        // the lock cannot deadlock.
        py.detach(|| {
            let mut inner = self.inner();
            let alone = match &inner.state {
                State::Tensor(tensor) if !tensor.is_shared() && tensor.layout().is_contiguous() => None,
                State::Tensor(tensor) => Some(tensor.expr().eval_on(&device)?),
                State::Expr { expr, .. } => Some(expr.eval_on(&device)?),
            };
            if let Some(tensor) = alone {
                inner.state = State::Tensor(tensor);
            }
            inner.version += 1;
            match &inner.state {
                State::Tensor(tensor) => view(tensor).assign(value),
                State::Expr { .. } => Ok(()),
            }
        })
        .map_err(raised)
    }

    /// The only element.
    fn item(&self, py: Python<'_>) -> PyResult<Scalar> {
        if self.size() != 1 {
            let text =
                format!("an array of {} is not one value: reduce it by all, any or sum first", self.shape);
            return Err(match self.shape.rank() {
                0 => PyTypeError::new_err(text),
                _ => PyValueError::new_err(text),
            });
        }
        let bytes = self.read(py, AnyTensor::to_bytes)?;
        Scalar::of(self.dtype, &bytes)
            .ok_or_else(|| PyRuntimeError::new_err("read fewer bytes than an element has"))
    }
}

/// An element as a value.
enum Scalar {
    Bool(bool),
    Int(i128),
    Float(f64),
}

impl Scalar {
    fn of(dtype: DType, bytes: &[u8]) -> Option<Scalar> {
        macro_rules! of {
            ($t:ty) => {
                <$t>::from_le_bytes(bytes.get(..size_of::<$t>())?.try_into().ok()?)
            };
        }
        Some(match dtype {
            DType::Bool => Scalar::Bool(*bytes.first()? != 0),
            DType::I8 => Scalar::Int(of!(i8).into()),
            DType::U8 => Scalar::Int(of!(u8).into()),
            DType::I16 => Scalar::Int(of!(i16).into()),
            DType::U16 => Scalar::Int(of!(u16).into()),
            DType::I32 => Scalar::Int(of!(i32).into()),
            DType::U32 => Scalar::Int(of!(u32).into()),
            DType::I64 => Scalar::Int(of!(i64).into()),
            DType::U64 => Scalar::Int(of!(u64).into()),
            DType::F16 => Scalar::Float(zerostride::f16::from_bits(of!(u16)).into()),
            DType::BF16 => Scalar::Float(zerostride::bf16::from_bits(of!(u16)).into()),
            DType::F32 => Scalar::Float(of!(f32).into()),
            DType::F64 => Scalar::Float(of!(f64)),
            _ => return None,
        })
    }
}

#[pymethods]
impl Array {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.shape.iter())
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.shape.rank()
    }

    #[getter(size)]
    fn count(&self) -> usize {
        self.size()
    }

    #[getter]
    fn itemsize(&self) -> usize {
        self.dtype.size()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.size().saturating_mul(self.dtype.size())
    }

    #[getter(dtype)]
    fn element_type(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        dtype::object(py, self.dtype)
    }

    #[getter]
    fn device(&self) -> Device {
        Device(self.slot.clone())
    }

    /// The array with its axes in reverse order.
    #[getter(T)]
    fn transposed(&self, py: Python<'_>) -> PyResult<Array> {
        let axes: Vec<isize> = (0..self.shape.rank() as isize).rev().collect();
        self.viewed(py, |expr| expr.permute(axes))
    }

    /// Each matrix of a stack transposed.
    #[getter(mT)]
    fn matrices_transposed(&self, py: Python<'_>) -> PyResult<Array> {
        match self.shape.rank() {
            0 | 1 => {
                Err(PyValueError::new_err(format!("an array of {} has no matrices to transpose", self.shape)))
            }
            _ => self.viewed(py, |expr| expr.transpose(-1, -2)),
        }
    }

    /// Evaluates the expression now, and stores the elements.
    ///
    /// Returns
    /// -------
    /// Array
    ///     This array.
    fn evaluate(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().with_tensor(slf.py(), |_| ())?;
        Ok(slf)
    }

    /// Evaluates the expression into memory of its own. The array then keeps neither operands alive nor a larger array
    /// that it is a view of.
    fn _settle(&self, py: Python<'_>) -> PyResult<()> {
        let (settled, version) = {
            let inner = self.inner();
            let settled = match &inner.state {
                State::Tensor(tensor) => tensor.layout().is_contiguous() && tensor.layout().offset() == 0,
                State::Expr { .. } => false,
            };
            (settled, inner.version)
        };
        if !settled {
            let tensor = self.compact(py)?;
            let mut inner = self.inner();
            if inner.version == version {
                inner.state = State::Tensor(tensor);
            }
        }
        Ok(())
    }

    /// Whether the elements are in memory.
    #[getter]
    fn evaluated(&self) -> bool {
        match &self.inner().state {
            State::Expr { expr, .. } => expr.named().is_ok_and(|named| named.is_some()),
            State::Tensor(_) => true,
        }
    }

    /// Describes the kernels that would evaluate this array: operands under the axes of the result, the access of each,
    /// the bytes that move, and on a GPU the WGSL.
    ///
    /// Returns
    /// -------
    /// str
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        let device = self.slot.device(py)?;
        let expr = self.part().expr;
        py.detach(|| expr.explain(device)).map(|explained| explained.to_string()).map_err(raised)
    }

    /// The picture of :meth:`explain`, as SVG.
    ///
    /// Returns
    /// -------
    /// str
    fn explain_svg(&self, py: Python<'_>) -> PyResult<String> {
        let device = self.slot.device(py)?;
        let expr = self.part().expr;
        py.detach(|| expr.explain(device)).map(|explained| explained.svg()).map_err(raised)
    }

    /// The bytes of the elements: on the CPU the array's own memory, elsewhere a copy.
    fn _host(&self, py: Python<'_>) -> PyResult<Host> {
        let tensor = self.tensor(py)?;
        if self.slot.has_queue() {
            return Ok(Host::copied(self.read(py, AnyTensor::to_bytes)?));
        }
        if !tensor.layout().is_contiguous() {
            self._settle(py)?;
        }
        Ok(Host::shared(self.read(py, AnyTensor::host_bytes)?))
    }

    /// A new array of the same elements.
    fn _copy(&self, py: Python<'_>) -> PyResult<Array> {
        // Both may read the same memory: writing to either copies it.
        self.viewed(py, AnyExpr::clone)
    }

    /// Takes the elements of another array.
    fn _replace(&self, by: &Bound<'_, Array>) -> PyResult<()> {
        self.replace(by.py(), by.get())
    }

    /// The only element, as a Python number.
    #[pyo3(name = "item")]
    fn python_item(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(match self.item(py)? {
            Scalar::Bool(value) => value.into_pyobject(py)?.to_owned().into_any().unbind(),
            Scalar::Int(value) => value.into_pyobject(py)?.into_any().unbind(),
            Scalar::Float(value) => value.into_pyobject(py)?.into_any().unbind(),
        })
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(match self.item(py)? {
            Scalar::Bool(value) => value,
            Scalar::Int(value) => value != 0,
            Scalar::Float(value) => value != 0.0,
        })
    }

    fn __int__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let value = match self.item(py)? {
            Scalar::Bool(value) => value.into(),
            Scalar::Int(value) => value,
            // Python's conversion raises for NaN and infinities.
            Scalar::Float(value) => {
                return Ok(value.into_pyobject(py)?.call_method0("__int__")?.unbind());
            }
        };
        Ok(value.into_pyobject(py)?.into_any().unbind())
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(match self.item(py)? {
            Scalar::Bool(value) => value.into(),
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) => value,
        })
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyComplex>> {
        Ok(pyo3::types::PyComplex::from_doubles(py, self.__float__(py)?, 0.0))
    }

    fn __index__(&self, py: Python<'_>) -> PyResult<i128> {
        match (dtype::kind(self.dtype), self.item(py)?) {
            (Kind::Integer, Scalar::Int(value)) if self.shape.rank() == 0 => Ok(value),
            _ => Err(PyTypeError::new_err(format!(
                "an array of {} {} is no index: an index has an integer type and no axes",
                dtype::name(self.dtype),
                self.shape
            ))),
        }
    }

    fn __len__(&self) -> PyResult<usize> {
        self.shape.first().copied().ok_or_else(|| PyTypeError::new_err("an array without axes has no length"))
    }
}
