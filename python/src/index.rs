//! Indexing by integers, slices, ellipses and new axes, which make views. `_indexing.py` handles other keys.

use std::ops::Bound as End;

use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};
use zerostride::{AnyExpr, Shape};

use crate::array::{Array, made};
use crate::cell::Part;
use crate::device::Device;
use crate::dtype::{self, Kind};
use crate::numbers::{constant, scalar, weak};

/// A part of a key.
#[derive(Clone)]
enum Item {
    /// One index, which removes the axis.
    At(isize),
    /// `count` indices, `step` apart, from `first` on.
    Range { first: isize, step: isize, count: usize },
    /// A new axis of length 1.
    New,
}

/// The parts of a key for each axis, or `None` if a part is no number, slice, ellipsis or new axis.
fn items(key: &Bound<'_, PyAny>, shape: &Shape) -> PyResult<Option<Vec<Item>>> {
    let parts: Vec<Bound<'_, PyAny>> = match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => vec![key.clone()],
    };
    let mut used = 0;
    let mut ellipses = 0;
    for part in &parts {
        if part.is_instance_of::<PyEllipsis>() {
            ellipses += 1;
        } else if part.is_none() {
        } else if part.is_instance_of::<PySlice>() || is_index(part)? {
            used += 1;
        } else {
            return Ok(None);
        }
    }
    if ellipses > 1 {
        return Err(PyIndexError::new_err("an index has one ellipsis at most"));
    }
    if used > shape.rank() {
        return Err(PyIndexError::new_err(format!(
            "{used} indexes for an array of {}, which has {} axes",
            shape,
            shape.rank()
        )));
    }
    let whole = |axis: usize| Item::Range { first: 0, step: 1, count: shape[axis] };
    let mut items = Vec::with_capacity(shape.rank());
    let mut axis = 0;
    for part in &parts {
        if part.is_none() {
            items.push(Item::New);
        } else if part.is_instance_of::<PyEllipsis>() {
            let rest = shape.rank() - used;
            items.extend((axis..axis + rest).map(whole));
            axis += rest;
        } else if let Ok(slice) = part.cast::<PySlice>() {
            let found = slice.indices(shape[axis] as isize)?;
            let count = found.slicelength;
            let step = if count > 1 { found.step } else { 1 };
            items.push(Item::Range { first: if count > 0 { found.start } else { 0 }, step, count });
            axis += 1;
        } else {
            let index: isize = part.extract().map_err(|_| {
                PyIndexError::new_err(format!("an index is out of range for axis {axis} of {shape}"))
            })?;
            let length = shape[axis] as isize;
            let at = if index < 0 { index + length } else { index };
            if !(0..length).contains(&at) {
                return Err(PyIndexError::new_err(format!(
                    "index {index} is outside of axis {axis} of {shape}, which has length {length}"
                )));
            }
            items.push(Item::At(at));
            axis += 1;
        }
    }
    items.extend((axis..shape.rank()).map(whole));
    Ok(Some(items))
}

/// Whether a part of a key is one integer: Python's, or an object with `__index__` that is no array.
fn is_index(part: &Bound<'_, PyAny>) -> PyResult<bool> {
    if part.is_instance_of::<PyBool>() {
        return Ok(false);
    }
    if part.is_instance_of::<PyInt>() {
        return Ok(true);
    }
    Ok(!part.is_instance_of::<Array>() && !part.hasattr("__len__")? && part.hasattr("__index__")?)
}

/// The view that a key selects.
fn view(expr: &AnyExpr, items: &[Item], shape: &Shape) -> AnyExpr {
    let mut expr = expr.clone();
    let (mut axis, mut source) = (0, 0);
    for item in items {
        match *item {
            Item::New => expr = expr.unsqueeze(axis),
            Item::At(at) => expr = expr.slice(axis, at..at + 1).squeeze(axis),
            Item::Range { count: 0, .. } => expr = expr.slice(axis, 0..0),
            Item::Range { first: 0, step: 1, count } if count == shape[source] => {}
            Item::Range { first, step, count } => {
                let last = first + (count as isize - 1) * step;
                let end = match last + step.signum() {
                    end if end < 0 => End::Unbounded,
                    end => End::Excluded(end),
                };
                expr = expr.slice_step(axis, (End::Included(first), end), step);
            }
        }
        axis += isize::from(!matches!(item, Item::At(_)));
        source += usize::from(!matches!(item, Item::New));
    }
    expr
}

/// A value to write to an array, converted to its type and on its device. A value of a higher kind is an error.
fn as_written(x: &Array, value: &Bound<'_, PyAny>) -> PyResult<AnyExpr> {
    let py = value.py();
    let kinds = |from: &str| {
        PyTypeError::new_err(format!(
            "{from} cannot be written to an array of {}: cast it by astype",
            dtype::name(x.dtype)
        ))
    };
    if let Some(number) = scalar(value)? {
        if weak(py, x.dtype, number, &x.slot)? != x.dtype {
            return Err(kinds("a number of another kind"));
        }
        return constant(x.dtype, number);
    }
    let array = match value.cast::<Array>() {
        Ok(array) => array.clone(),
        Err(_) => {
            let device = Device(x.slot.clone());
            let array = made(value, Some(&device), None)?;
            let are_whole = [array.get().dtype, x.dtype].map(dtype::kind) == [Kind::Integer; 2];
            // NumPy raises for an integer of a list that the type does not hold.
            match are_whole && !value.hasattr("__array_interface__")? {
                true => made(value, Some(&device), Some(x.dtype))?,
                false => array,
            }
        }
    };
    let array = array.get();
    x.slot.join(&array.slot, py)?;
    if dtype::kind(array.dtype) > dtype::kind(x.dtype) {
        return Err(kinds(dtype::name(array.dtype)));
    }
    Ok(array.part().expr.cast(x.dtype))
}

/// A value converted to an array of the type of `x`, to write to `x`.
#[pyfunction]
pub(crate) fn written(py: Python<'_>, x: &Bound<'_, Array>, value: &Bound<'_, PyAny>) -> PyResult<Array> {
    let x = x.get();
    Array::new(py, Part::new(as_written(x, value)?), &x.slot)
}

#[pymethods]
impl Array {
    fn __getitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let (py, x) = (slf.py(), slf.get());
        match items(key, &x.shape)? {
            Some(items) => {
                let shape = x.shape.clone();
                let array = x.viewed(py, move |expr| view(expr, &items, &shape))?;
                Ok(Py::new(py, array)?.into_any())
            }
            None => Ok(py.import("zerostride._indexing")?.call_method1("get", (slf, key))?.unbind()),
        }
    }

    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, x) = (slf.py(), slf.get());
        let Some(items) = items(key, &x.shape)? else {
            py.import("zerostride._indexing")?.call_method1("put", (slf, key, value))?;
            return Ok(());
        };
        // Python writes `x[key] += y` back to where it is already.
        if let Ok(own) = value.cast::<Array>()
            && own.get().shares(x)
        {
            let shape = x.shape.clone();
            let items = items.clone();
            if x.viewed(py, move |expr| view(expr, &items, &shape))?.is_same(py, own.get())? {
                return Ok(());
            }
        }
        let value = as_written(x, value)?;
        x.write(py, value, |expr| view(expr, &items, &x.shape))
    }
}
