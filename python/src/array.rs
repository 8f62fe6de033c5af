//! The array: an expression until it is read, then a tensor.

use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use zerostride::{AnyExpr, AnyTensor, DType, Explain, Layout, Shape};

use crate::cell::{At, Cost, Part, State, lock};
use crate::device::{Device, Slot};
use crate::dtype;
use crate::error::raised;
use crate::host::Host;
use crate::wait::{LONG, SHORT, detached, is_busy, running, wait};

/// The greatest depth of an expression. A deeper one is evaluated, so a loop that builds on its own result keeps a
/// bounded number of arrays alive.
const DEEPEST: u32 = 256;

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

impl Array {
    /// The array of an expression, or the expression's error.
    pub(crate) fn new(py: Python<'_>, mut part: Part, slot: &Arc<Slot>) -> PyResult<Array> {
        let (expr, depth) = (part.expr.clone(), part.depth);
        part.work = part.work.max(expr.shape().map_err(raised)?.iter().product());
        let array = Array::at(At::new(State::Expr(part)), &expr, slot.clone())?;
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
        let mut at = lock(&self.at).clone().viewed(view);
        let expr = at.part().0.expr;
        if at.is_long() {
            let device = self.slot.device(py)?;
            detached(py, || at.shorten(device))?;
        }
        Ok(Array { is_readonly: self.is_readonly, ..Array::at(at, &expr, self.slot.clone())? })
    }

    /// A number of the cell, and the layout of the elements in it, which are stored.
    fn place(&self, py: Python<'_>) -> PyResult<(usize, Layout)> {
        let (device, at) = (self.slot.device(py)?, lock(&self.at).clone());
        Ok((at.number(), detached(py, || at.dense(device))?.1))
    }

    /// The array with one more operation.
    pub(crate) fn mapped(&self, py: Python<'_>, map: impl FnOnce(&AnyExpr) -> AnyExpr) -> PyResult<Array> {
        let part = self.part();
        Array::new(py, Part { expr: map(&part.expr), depth: part.depth + 1, ..part }, &self.slot)
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
        lock(&self.at).keep(&tensor, version);
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
    pub(crate) fn read<T: Send + 'static>(
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
        let (at, part) = (lock(&self.at).clone(), by.part());
        drop(by);
        if self.is_readonly || !at.is_whole() {
            return self.write(py, part.expr, AnyExpr::clone);
        }
        at.replace(part.expr.named().map_err(raised)?.map_or(State::Expr(part), State::Tensor));
        Ok(())
    }

    /// Writes a value to the elements that `key` selects.
    pub(crate) fn write(
        &self,
        py: Python<'_>,
        value: AnyExpr,
        key: impl Fn(&AnyExpr) -> AnyExpr + Send + Sync,
    ) -> PyResult<()> {
        if self.is_readonly {
            return Err(PyValueError::new_err(
                "this view is read-only: copy it first, or write to its array",
            ));
        }
        let (device, at) = (self.slot.device(py)?, lock(&self.at).clone());
        // The interpreter is released before the cell is locked, so a thread that holds the interpreter and waits for
        // the lock cannot deadlock.
        detached(py, || at.write(device, value, key))
    }

    /// Stores all elements of the cell in row-major order.
    pub(crate) fn store(&self, py: Python<'_>) -> PyResult<()> {
        let (device, at) = (self.slot.device(py)?, lock(&self.at).whole());
        detached(py, || at.dense(device)).map(drop)
    }

    /// Whether another array has the same cell.
    pub(crate) fn shares(&self, other: &Array) -> bool {
        std::ptr::eq(self, other) || lock(&self.at).number() == lock(&other.at).number()
    }

    /// Whether another array has the same elements of the same cell.
    pub(crate) fn is_same(&self, py: Python<'_>, other: &Array) -> PyResult<bool> {
        Ok(self.shares(other) && self.place(py)? == other.place(py)?)
    }

    fn explained(&self, py: Python<'_>) -> PyResult<Explain> {
        let (device, expr) = (self.slot.device(py)?, self.part().expr);
        detached(py, || expr.explain(device))
    }
}

/// The expressions of an array at least, as operands on one device.
pub(crate) fn joined<'a>(
    py: Python<'_>,
    arrays: impl IntoIterator<Item = &'a Array>,
) -> PyResult<(Vec<AnyExpr>, Cost, &'a Arc<Slot>)> {
    let (mut exprs, mut cost, mut slot) = (Vec::new(), Cost::default(), None);
    for array in arrays {
        slot.get_or_insert(&array.slot).join(&array.slot, py)?;
        exprs.push(cost.with(array.part()));
    }
    let empty = || PyValueError::new_err("an operation of no arrays: it takes an array at least");
    Ok((exprs, cost, slot.ok_or_else(empty)?))
}

/// The result of `asarray` for an object, on a device or the default one, of a type or its own.
pub(crate) fn made<'py>(
    object: &Bound<'py, PyAny>,
    device: Option<&Device>,
    dtype: Option<DType>,
) -> PyResult<Bound<'py, Array>> {
    let options = PyDict::new(object.py());
    options.set_item("device", device.cloned())?;
    if let Some(dtype) = dtype {
        options.set_item("dtype", dtype::object(object.py(), dtype)?)?;
    }
    let array = object.py().import("zerostride")?.call_method("asarray", (object,), Some(&options))?;
    Ok(array.cast_into::<Array>()?)
}

/// The bytes between neighbours along each axis, and before the first element.
type Place = Option<(Vec<isize>, usize)>;

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
        if at.is_view() || at.stored().is_none() {
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
        let (number, layout) = self.place(py)?;
        Ok((number, layout.strides().to_vec(), layout.offset()))
    }

    /// Describes the kernels that would evaluate this array: operands under the axes of the result, the access of each,
    /// the bytes that move, and on a GPU the WGSL.
    ///
    /// Returns
    /// -------
    /// str
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.explained(py)?.to_string())
    }

    /// The picture of :meth:`explain`, as SVG.
    ///
    /// Returns
    /// -------
    /// str
    fn explain_svg(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.explained(py)?.svg())
    }

    /// The bytes of the elements: on the CPU the array's own memory, elsewhere a copy. Of a view, those of its array, with
    /// their place.
    fn _host(&self, py: Python<'_>) -> PyResult<(Host, Place)> {
        if self.slot.has_queue() {
            return Ok((Host::copied(self.read(py, AnyTensor::to_bytes)?), None));
        }
        let at = lock(&self.at).clone();
        let (tensor, place) = match at.stored().filter(|_| at.is_view()) {
            Some(all) => {
                let place = at.among(&all).tensor().map_err(raised)?;
                let size = self.dtype.size();
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
        Array::new(py, self.some(), &self.slot)
    }

    /// Takes the elements of another array.
    fn _replace(&self, by: &Bound<'_, Array>) -> PyResult<()> {
        self.replace(by.py(), by.get()._copy(by.py())?)
    }

    fn __len__(&self) -> PyResult<usize> {
        self.shape.first().copied().ok_or_else(|| PyTypeError::new_err("an array without axes has no length"))
    }
}
