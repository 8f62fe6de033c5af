//! The core's functions other than operators, which the package's Python functions call.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use zerostride::{AnyExpr, DType, Outside, ReduceOptions, compositions, operations, reductions};

use crate::array::{Array, joined};
use crate::cell::{Cost, Part};
use crate::device::{DEFAULT, slot};
use crate::dtype;
use crate::numbers::{constant, scalar, weak};
use crate::wait::detached;

type Object<'py> = Bound<'py, PyAny>;

/// Elements from bytes in row-major order. They are Python's `bytes`, because nobody writes to those while the upload reads
/// them without the interpreter's lock.
#[pyfunction]
#[pyo3(signature = (bytes, dtype, shape, device=None))]
pub(crate) fn upload(
    py: Python<'_>,
    bytes: &[u8],
    dtype: &Object<'_>,
    shape: Vec<usize>,
    device: Option<&Object<'_>>,
) -> PyResult<Array> {
    let (slot, dtype) = (slot(device)?, dtype::parse(dtype)?);
    let device = slot.device(py)?.clone();
    let tensor = detached(py, || device.upload_bytes(bytes, dtype, shape))?;
    Ok(Array::of(tensor, slot))
}

/// An array of one value. It takes no memory and opens no device.
#[pyfunction]
#[pyo3(signature = (shape, value, dtype, device=None))]
pub(crate) fn full(
    py: Python<'_>,
    shape: Vec<usize>,
    value: &Object<'_>,
    dtype: &Object<'_>,
    device: Option<&Object<'_>>,
) -> PyResult<Array> {
    let Some(number) = scalar(value)? else {
        return Err(PyTypeError::new_err(format!(
            "full with a value of type {}: it takes a number or a bool",
            value.get_type().name()?
        )));
    };
    let expr = constant(dtype::parse(dtype)?, number)?.broadcast_to(shape);
    Array::new(py, Part::new(expr), &slot(device)?)
}

/// The index of each element along an axis of a shape, as int32.
#[pyfunction]
#[pyo3(signature = (shape, axis, device=None))]
pub(crate) fn coordinate(
    py: Python<'_>,
    shape: Vec<usize>,
    axis: isize,
    device: Option<&Object<'_>>,
) -> PyResult<Array> {
    Array::new(py, Part::new(AnyExpr::iota(shape, axis)), &slot(device)?)
}

/// Every element converted to a type.
#[pyfunction]
pub(crate) fn cast(py: Python<'_>, x: &Bound<'_, Array>, dtype: &Object<'_>) -> PyResult<Array> {
    let dtype = dtype::parse(dtype)?;
    x.get().mapped(py, |expr| expr.cast(dtype))
}

/// A word of uint32 that depends on every element's bits and place.
#[pyfunction]
pub(crate) fn checksum(py: Python<'_>, x: &Bound<'_, Array>) -> PyResult<Array> {
    x.get().mapped(py, AnyExpr::checksum)
}

/// A reduction by its name in the crate, over some axes or all.
#[pyfunction]
#[pyo3(signature = (name, x, axes=None, keepdims=false, correction=0.0, reverse=false))]
pub(crate) fn reduce(
    py: Python<'_>,
    name: &str,
    x: &Bound<'_, Array>,
    axes: Option<Vec<isize>>,
    keepdims: bool,
    correction: f64,
    reverse: bool,
) -> PyResult<Array> {
    let mut options = ReduceOptions::default().correction(correction);
    if keepdims {
        options = options.keepdim();
    }
    if reverse {
        options = options.reverse();
    }
    let is_bool = x.get().dtype == DType::Bool;
    // As in NumPy, truth values add by "or" and multiply by "and".
    let name = if is_bool && name == "sum" { "any" } else { name };
    let is_truth = is_bool && matches!(name, "prod" | "max" | "min" | "cumsum" | "cumprod");
    x.get().mapped(py, |expr| {
        let counted = is_truth || is_bool && matches!(name, "argmax" | "argmin");
        let expr = if counted { expr.cast(DType::I32) } else { expr.clone() };
        let reduced = match axes {
            Some(axes) => expr.reduce(name, axes, options),
            None => expr.reduce(name, .., options),
        };
        if is_truth { reduced.cast(DType::Bool) } else { reduced }
    })
}

/// The values of a reduction, by its name in the crate, for each block of `block` elements.
#[pyfunction]
pub(crate) fn reduce_partial(
    py: Python<'_>,
    name: &str,
    x: &Bound<'_, Array>,
    axes: Vec<isize>,
    block: usize,
) -> PyResult<Array> {
    x.get().mapped(py, |expr| expr.reduce_partial(name, axes, block))
}

/// The result of a reduction of `count` elements from the values of its blocks.
#[pyfunction]
pub(crate) fn reduce_join(
    py: Python<'_>,
    name: &str,
    x: &Bound<'_, Array>,
    axes: Vec<isize>,
    count: usize,
    keepdims: bool,
) -> PyResult<Array> {
    let options = ReduceOptions::default();
    let options = if keepdims { options.keepdim() } else { options };
    x.get().mapped(py, |expr| expr.reduce_join(name, axes, count, options))
}

#[pyfunction]
pub(crate) fn permute(py: Python<'_>, x: &Bound<'_, Array>, axes: Vec<isize>) -> PyResult<Array> {
    x.get().viewed(py, move |expr| expr.permute(&axes))
}

/// Windows along axes. The axes within a window come last.
#[pyfunction]
pub(crate) fn windows(
    py: Python<'_>,
    x: &Bound<'_, Array>,
    lengths: Vec<usize>,
    axes: Vec<usize>,
) -> PyResult<Array> {
    x.get().viewed(py, move |expr| expr.windows(&lengths, &axes))
}

#[pyfunction]
pub(crate) fn broadcast_to(py: Python<'_>, x: &Bound<'_, Array>, shape: Vec<usize>) -> PyResult<Array> {
    x.get().viewed(py, move |expr| expr.broadcast_to(&shape))
}

#[pyfunction]
pub(crate) fn unsqueeze(py: Python<'_>, x: &Bound<'_, Array>, axis: isize) -> PyResult<Array> {
    x.get().viewed(py, move |expr| expr.unsqueeze(axis))
}

#[pyfunction]
pub(crate) fn squeeze(py: Python<'_>, x: &Bound<'_, Array>, axis: isize) -> PyResult<Array> {
    x.get().viewed(py, move |expr| expr.squeeze(axis))
}

#[pyfunction]
pub(crate) fn flip(py: Python<'_>, x: &Bound<'_, Array>, axis: isize) -> PyResult<Array> {
    x.get().viewed(py, move |expr| expr.flip(axis))
}

/// Elements shifted along axes. Elements shifted past the end return at the start.
#[pyfunction]
pub(crate) fn roll(
    py: Python<'_>,
    x: &Bound<'_, Array>,
    shifts: Vec<isize>,
    axes: Vec<isize>,
) -> PyResult<Array> {
    x.get().mapped(py, |expr| expr.roll(shifts, axes))
}

/// The elements in another shape: as a view where possible, else of a copy in row-major order.
#[pyfunction]
pub(crate) fn reshape(py: Python<'_>, x: &Bound<'_, Array>, shape: Vec<isize>) -> PyResult<Array> {
    let array = x.get();
    let known = shape.iter().filter(|&&length| length != -1);
    let count =
        known.fold(1_usize, |count, &length| count.saturating_mul(usize::try_from(length).unwrap_or(0)));
    let fits = match shape.iter().filter(|&&length| length == -1).count() {
        0 => count == array.size(),
        1 => count > 0 && array.size().is_multiple_of(count),
        _ => false,
    };
    let lengths = shape.clone();
    let view = move |expr: &AnyExpr| expr.reshape(&lengths);
    let viewed = array.viewed(py, view.clone());
    if viewed.is_ok() || !fits {
        return viewed;
    }
    // Stored row by row, an expression may have a view that its operands have not.
    array.store(py)?;
    if let Ok(viewed) = array.viewed(py, view) {
        return Ok(viewed);
    }
    let compact = array.compact(py)?;
    Array::new(py, Part::new(compact.reshape(&shape)), &array.slot)
}

/// Arrays of one type joined along an axis.
#[pyfunction]
pub(crate) fn concat(py: Python<'_>, arrays: Vec<Bound<'_, Array>>, axis: isize) -> PyResult<Array> {
    let (parts, cost, slot) = joined(py, arrays.iter().map(|array| array.get()))?;
    Array::new(py, cost.of(AnyExpr::concat(&parts, axis)), slot)
}

/// Sums of products of arrays of one type, by an equation.
#[pyfunction]
pub(crate) fn einsum(py: Python<'_>, equation: &str, arrays: Vec<Bound<'_, Array>>) -> PyResult<Array> {
    let (parts, cost, slot) = joined(py, arrays.iter().map(|array| array.get()))?;
    let product = AnyExpr::einsum(equation, &parts);
    let sizes: f64 = arrays.iter().map(|array| array.get().size() as f64).product();
    // The work is rows * columns * inner. Each length occurs in two of the three shapes, hence the square root.
    let result = product.shape().map_or(0, |shape| shape.iter().product()) as f64;
    let part = cost.of(product);
    Array::new(py, Part { work: part.work.max((sizes * result).sqrt() as usize), ..part }, slot)
}

/// The index along an axis of a table.
#[derive(FromPyObject)]
pub(crate) enum Along<'py> {
    /// An array of integers.
    Index(Bound<'py, Array>),
    /// The coordinate along an axis of the result.
    Axis(isize),
}

/// The elements of a table at an index for each of its axes. Indices broadcast to `shape`. A negative index counts from
/// the end. An index that is out of range is clamped to its axis, or finds `outside`.
#[pyfunction]
#[pyo3(signature = (x, along, shape, outside=None))]
pub(crate) fn lookup(
    py: Python<'_>,
    x: &Bound<'_, Array>,
    along: Vec<Along<'_>>,
    shape: Vec<usize>,
    outside: Option<i64>,
) -> PyResult<Array> {
    let table = x.get();
    let mut cost = Cost::default();
    let expr = cost.with(table.some());
    let mut indices = Vec::with_capacity(along.len());
    for along in along {
        indices.push(match along {
            Along::Axis(axis) => AnyExpr::iota(shape.clone(), axis),
            Along::Index(index) => {
                let index = index.get();
                table.slot.join(&index.slot, py)?;
                cost.with(index.part()).broadcast_to(shape.clone())
            }
        });
    }
    let outside = outside.map_or(Outside::Nearest, Outside::fill);
    Array::new(py, cost.of(expr.at_with(indices, outside)), &table.slot)
}

/// The type of an operation over operands of two types.
#[pyfunction]
pub(crate) fn promote(py: Python<'_>, a: &Object<'_>, b: &Object<'_>) -> PyResult<Py<PyAny>> {
    dtype::object(py, dtype::promote(dtype::parse(a)?, dtype::parse(b)?)?)
}

/// The type that an array of a type and a number have together, on the default device.
#[pyfunction]
pub(crate) fn weak_type(py: Python<'_>, dtype: &Object<'_>, number: &Object<'_>) -> PyResult<Py<PyAny>> {
    let Some(number) = scalar(number)? else { return Err(PyTypeError::new_err("no number")) };
    dtype::object(py, weak(py, dtype::parse(dtype)?, number, &DEFAULT)?)
}

/// The operations, compositions and reductions of the crate, each with its documentation.
#[pyfunction]
pub(crate) fn documentation() -> Vec<(&'static str, &'static str)> {
    let all = operations().map(|op| (op.name, op.doc));
    let all = all.chain(compositions().map(|op| (op.name, op.doc)));
    all.chain(reductions().map(|op| (op.name, op.doc))).collect()
}
