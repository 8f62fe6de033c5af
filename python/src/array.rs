//! The array: an expression until it is read, then a tensor.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use zerostride::{AnyExpr, AnyTensor, DType, Layout, Shape};

use crate::device::{Device, Slot};
use crate::dtype::{self, Kind};
use crate::error::raised;
use crate::host::Host;
use crate::wait::{LONG, SHORT, detached, is_busy, running, wait};

/// The greatest depth of an expression. A deeper one is evaluated, so a loop that builds on its own result keeps a
/// bounded number of arrays alive.
const DEEPEST: u32 = 256;

/// The source of a cell's elements.
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

/// The elements that an array and its views share.
pub(crate) struct Cell(Mutex<Inner>);

/// The state, and the number of its changes.
struct Inner {
    state: State,
    version: u64,
    /// Whether a view needs a row-major tensor, as it is known by its strides alone.
    is_dense: bool,
}

/// How a view finds its elements among those of its cell.
type View = Arc<dyn Fn(&AnyExpr) -> AnyExpr + Send + Sync>;

/// The most views of views. More become one, by their strides.
const MOST_VIEWS: u32 = 32;

/// Where an array's elements are.
#[derive(Clone)]
struct At {
    cell: Arc<Cell>,
    /// The view and the number of views that it is made of. `None` for all elements.
    view: Option<(View, u32)>,
    /// The view's elements, computed before the cell's, at a version of the cell.
    seen: Option<(u64, AnyTensor)>,
}

/// An array of the array API standard. Operators build an expression. Reading the array (printing it, `bool`, `float`,
/// conversion to NumPy) evaluates the expression, in one kernel where possible. Views share elements: a write to `x[1:]`
/// changes `x`. A result keeps the values that it was made of: `y = x + 1; x += 1` leaves `y` as it was. An index in an
/// `Array` is clamped to its axis, because raising would need a read. Other indices raise if they are out of range.
#[pyclass(frozen, weakref, module = "zerostride", name = "Array")]
pub(crate) struct Array {
    at: Mutex<At>,
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    pub(crate) slot: Arc<Slot>,
    is_readonly: bool,
}

/// An operand's expression with its depth and its work, as in [`State`].
pub(crate) struct Part {
    pub expr: AnyExpr,
    pub depth: u32,
    pub work: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    fn replace(&mut self, state: State) {
        self.state = state;
        self.version += 1;
    }

    /// The tensor, if its elements are in row-major order from the begin of its memory.
    fn dense(&self) -> Option<&AnyTensor> {
        let is_dense = |layout: &Layout| layout.is_contiguous() && layout.offset() == 0;
        match &self.state {
            State::Tensor(tensor) if is_dense(tensor.layout()) => Some(tensor),
            _ => None,
        }
    }

    fn all(&self) -> AnyExpr {
        match &self.state {
            State::Tensor(tensor) => tensor.expr(),
            State::Expr { expr, .. } => expr.clone(),
        }
    }
}

impl At {
    fn new(state: State) -> At {
        let inner = Inner { state, version: 0, is_dense: false };
        At { cell: Arc::new(Cell(Mutex::new(inner))), view: None, seen: None }
    }

    fn viewed(&self, all: &AnyExpr) -> AnyExpr {
        self.view.as_ref().map_or_else(|| all.clone(), |(view, _)| view(all))
    }

    /// The elements, and the version of the cell that has them.
    fn part(&self) -> (Part, u64) {
        let inner = lock(&self.cell.0);
        let part = match (&inner.state, &self.seen) {
            (State::Tensor(tensor), _) => Part { expr: self.viewed(tensor), depth: 0, work: 0 },
            (_, Some((version, seen))) if *version == inner.version => {
                Part { expr: seen.expr(), depth: 0, work: 0 }
            }
            (State::Expr { expr, depth, work }, _) => {
                Part { expr: self.viewed(expr), depth: *depth, work: *work }
            }
        };
        (part, inner.version)
    }
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
        let work = work.max(expr.shape().map_err(raised)?.iter().product());
        let array = Array::at(At::new(State::Expr { expr: expr.clone(), depth, work }), &expr, slot)?;
        if depth > DEEPEST {
            array.tensor(py)?;
        }
        Ok(array)
    }

    fn at(at: At, expr: &AnyExpr, slot: Arc<Slot>) -> PyResult<Array> {
        let (dtype, shape) = (expr.dtype().map_err(raised)?, expr.shape().map_err(raised)?.clone());
        Ok(Array { at: Mutex::new(at), dtype, shape, slot, is_readonly: false })
    }

    /// A view of the array, which shares its elements. It adds no depth.
    pub(crate) fn viewed(
        &self,
        py: Python<'_>,
        view: impl Fn(&AnyExpr) -> AnyExpr + Send + Sync + 'static,
    ) -> PyResult<Array> {
        let At { cell, view: own, seen } = lock(&self.at).clone();
        // A view of what is computed is computed.
        let seen = seen.and_then(|(version, seen)| Some((version, view(&seen).named().ok()??)));
        let (view, count): (View, u32) = match own {
            None => (Arc::new(view), 1),
            Some((own, count)) => (Arc::new(move |all| view(&own(all))), count + 1),
        };
        let mut at = At { cell, view: Some((view, count)), seen };
        let expr = at.part().0.expr;
        if count > MOST_VIEWS {
            let layout = self.dense(py, &at)?.1;
            let by_strides =
                move |all: &AnyExpr| all.as_strided(layout.shape(), layout.strides(), layout.offset());
            lock(&at.cell.0).is_dense = true;
            at.view = Some((Arc::new(by_strides), 1));
        }
        Ok(Array { is_readonly: self.is_readonly, ..Array::at(at, &expr, self.slot.clone())? })
    }

    /// Stores all elements of a cell in row-major order, if they are not yet, and finds the layout of a view of them.
    fn dense(&self, py: Python<'_>, at: &At) -> PyResult<(AnyTensor, Layout)> {
        let device = self.slot.device(py)?.clone();
        detached(py, || {
            let mut inner = lock(&at.cell.0);
            if inner.dense().is_none() {
                inner.state = State::Tensor(inner.all().eval_on(&device)?);
            }
            let all = inner.all().tensor()?;
            let layout = at.viewed(&all).tensor()?.layout().clone();
            Ok((all, layout))
        })
    }

    /// The array with one more operation.
    pub(crate) fn mapped(&self, py: Python<'_>, map: impl FnOnce(&AnyExpr) -> AnyExpr) -> PyResult<Array> {
        let Part { expr, depth, work } = self.part();
        Array::new(py, map(&expr), depth + 1, work, self.slot.clone())
    }

    pub(crate) fn of(tensor: AnyTensor, slot: Arc<Slot>) -> Array {
        let (dtype, shape) = (tensor.dtype(), tensor.shape().clone());
        Array { at: Mutex::new(At::new(State::Tensor(tensor))), dtype, shape, slot, is_readonly: false }
    }

    pub(crate) fn part(&self) -> Part {
        let part = lock(&self.at).part().0;
        Part { work: part.work.max(self.size()), ..part }
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
        let device = self.slot.device(py)?;
        let (Part { expr, work, .. }, version) = lock(&self.at).part();
        let work = work.max(self.size());
        let tensor = match expr.named().map_err(raised)? {
            Some(tensor) => tensor,
            // Releasing the interpreter takes longer.
            None if self.is_short(work) => {
                running().and_then(|_running| expr.eval_on(device).map_err(raised))?
            }
            None => {
                let device = device.clone();
                wait(py, self.may_be_long(work), move || expr.eval_on(&device))?
            }
        };
        let mut at = lock(&self.at);
        let cell = at.cell.clone();
        let mut inner = lock(&cell.0);
        if inner.version == version && matches!(inner.state, State::Expr { .. }) {
            match at.view {
                None => inner.state = State::Tensor(tensor.clone()),
                Some(_) => at.seen = Some((version, tensor.clone())),
            }
        }
        Ok(tensor)
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
    pub(crate) fn replace(&self, py: Python<'_>, by: Array) -> PyResult<()> {
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
        let (at, Part { expr, depth, work }) = (lock(&self.at).clone(), by.part());
        drop(by);
        let is_dense = lock(&at.cell.0).is_dense;
        if at.view.is_some() || is_dense || self.is_readonly {
            return self.write(py, expr, AnyExpr::clone);
        }
        let named = expr.named().map_err(raised)?;
        lock(&at.cell.0).replace(named.map_or(State::Expr { expr, depth, work }, State::Tensor));
        Ok(())
    }

    /// Writes a value to the elements that `key` selects. If an expression reads the same memory, it keeps its values: all
    /// elements are copied first, unless the value alone reads them.
    pub(crate) fn write(
        &self,
        py: Python<'_>,
        mut value: AnyExpr,
        key: impl Fn(&AnyExpr) -> AnyExpr + Send + Sync,
    ) -> PyResult<()> {
        if self.is_readonly {
            return Err(PyValueError::new_err(
                "this view is read-only: copy it first, or write to its array",
            ));
        }
        let (device, at) = (self.slot.device(py)?.clone(), lock(&self.at).clone());
        // The interpreter is released before the cell is locked, so a thread that holds the interpreter and waits for
        // the lock cannot deadlock.
        detached(py, || {
            let mut inner = lock(&at.cell.0);
            let is_alone = |inner: &Inner| inner.dense().is_some_and(|tensor| !tensor.is_shared());
            let place = |all: &AnyExpr| key(&at.viewed(all));
            if !is_alone(&inner) {
                value = value.eval_on(&device)?.expr();
            }
            if !is_alone(&inner) {
                let (all, shape) = (inner.all(), inner.all().shape()?.clone());
                let covers = inner.dense().is_some_and(|tensor| {
                    let place = place(tensor).named().ok().flatten();
                    place.is_some_and(|place| place.layout() == tensor.layout())
                });
                let new = if covers { value.broadcast_to(shape) } else { all };
                inner.state = State::Tensor(new.eval_on(&device)?);
            }
            inner.version += 1;
            match inner.dense() {
                Some(tensor) => place(tensor).assign(value),
                None => Ok(()),
            }
        })
    }

    /// Stores all elements of the cell in row-major order.
    pub(crate) fn store(&self, py: Python<'_>) -> PyResult<()> {
        let at = At { view: None, ..lock(&self.at).clone() };
        self.dense(py, &at).map(drop)
    }

    /// Whether another array has the same cell.
    pub(crate) fn shares(&self, other: &Array) -> bool {
        std::ptr::eq(self, other) || Arc::ptr_eq(&lock(&self.at).cell, &lock(&other.at).cell)
    }

    /// Whether another array has the same elements of the same cell.
    pub(crate) fn is_same(&self, py: Python<'_>, other: &Array) -> PyResult<bool> {
        let [a, b] = [self, other].map(|array| lock(&array.at).clone());
        Ok(Arc::ptr_eq(&a.cell, &b.cell) && self.dense(py, &a)?.1 == self.dense(py, &b)?.1)
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
        self.viewed(py, move |expr| expr.permute(&axes))
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
        slf.get().tensor(slf.py())?;
        Ok(slf)
    }

    /// Evaluates the expression into memory of its own. The array then keeps neither operands alive nor a larger array
    /// that it is a view of, and shares its elements no more.
    fn _settle(&self, py: Python<'_>) -> PyResult<()> {
        let at = lock(&self.at).clone();
        if at.view.is_some() || lock(&at.cell.0).dense().is_none() {
            *lock(&self.at) = At::new(State::Tensor(self.compact(py)?));
        }
        Ok(())
    }

    /// Whether the elements are in memory.
    #[getter]
    fn evaluated(&self) -> bool {
        self.part().expr.named().is_ok_and(|named| named.is_some())
    }

    /// A view that cannot be written to.
    fn _readonly(&self, py: Python<'_>) -> PyResult<Array> {
        Ok(Array { is_readonly: true, ..self.viewed(py, AnyExpr::clone)? })
    }

    /// A number of the cell, and the strides and the offset of the elements in it, in elements.
    fn _place(&self, py: Python<'_>) -> PyResult<(usize, Vec<isize>, usize)> {
        let at = lock(&self.at).clone();
        let layout = self.dense(py, &at)?.1;
        Ok((Arc::as_ptr(&at.cell) as usize, layout.strides().to_vec(), layout.offset()))
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
        detached(py, || expr.explain(device)).map(|explained| explained.to_string())
    }

    /// The picture of :meth:`explain`, as SVG.
    ///
    /// Returns
    /// -------
    /// str
    fn explain_svg(&self, py: Python<'_>) -> PyResult<String> {
        let device = self.slot.device(py)?;
        let expr = self.part().expr;
        detached(py, || expr.explain(device)).map(|explained| explained.svg())
    }

    /// The bytes of the elements: on the CPU the array's own memory, elsewhere a copy. Of a view, those of its array, with
    /// the bytes between neighbours along each axis and before the first element.
    fn _host(&self, py: Python<'_>) -> PyResult<(Host, Option<(Vec<isize>, usize)>)> {
        if self.slot.has_queue() {
            return Ok((Host::copied(self.read(py, AnyTensor::to_bytes)?), None));
        }
        let at = lock(&self.at).clone();
        let stored = lock(&at.cell.0).dense().cloned();
        let size = self.dtype.size();
        let (tensor, place) = match stored.filter(|_| at.view.is_some()) {
            Some(all) => {
                let place = at.viewed(&all).tensor().map_err(raised)?;
                let strides = place.layout().strides().iter().map(|stride| stride * size as isize).collect();
                (all, Some((strides, place.layout().offset() * size)))
            }
            None => (self.tensor(py)?, None),
        };
        let tensor = if tensor.layout().is_contiguous() { tensor } else { self.compact(py)? };
        Ok((Host::shared(wait(py, self.size() >= LONG, move || tensor.host_bytes())?), place))
    }

    /// A new array of the same elements.
    fn _copy(&self, py: Python<'_>) -> PyResult<Array> {
        // Both may read the same memory: writing to either copies it.
        let Part { expr, depth, work } = self.some();
        Array::new(py, expr, depth, work, self.slot.clone())
    }

    /// Takes the elements of another array.
    fn _replace(&self, by: &Bound<'_, Array>) -> PyResult<()> {
        self.replace(by.py(), by.get()._copy(by.py())?)
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
