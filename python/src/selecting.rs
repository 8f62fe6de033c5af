//! Sorting, the functions that sort, and writes at computed indices.

use pyo3::prelude::*;
use zerostride::{AnyExpr, Side};

use crate::array::{Array, joined};
use crate::wait::wait;

/// The elements sorted along an axis.
#[pyfunction]
pub(crate) fn sort(py: Python<'_>, x: &Bound<'_, Array>, axis: isize, descending: bool) -> PyResult<Array> {
    x.get().mapped(py, |expr| if descending { expr.sort_descending(axis) } else { expr.sort(axis) })
}

/// The indices that sort an axis, as uint32.
#[pyfunction]
pub(crate) fn argsort(
    py: Python<'_>,
    x: &Bound<'_, Array>,
    axis: isize,
    descending: bool,
) -> PyResult<Array> {
    x.get().mapped(py, |expr| if descending { expr.argsort_descending(axis) } else { expr.argsort(axis) })
}

/// The expression `of` two arrays on one device.
fn both(
    py: Python<'_>,
    x: &Array,
    y: &Array,
    of: impl FnOnce(&AnyExpr, &AnyExpr) -> AnyExpr,
) -> PyResult<Array> {
    let (parts, cost, slot) = joined(py, [x, y])?;
    Array::new(py, cost.of(of(&parts[0], &parts[1])), slot)
}

/// The indices at which values keep a sorted array of one axis sorted, as uint32.
#[pyfunction]
pub(crate) fn searchsorted(
    py: Python<'_>,
    x: &Bound<'_, Array>,
    values: &Bound<'_, Array>,
    right: bool,
) -> PyResult<Array> {
    let side = if right { Side::Right } else { Side::Left };
    both(py, x.get(), values.get(), |x, values| x.searchsorted(values, side))
}

/// Whether each element of `x` is an element of `test`.
#[pyfunction]
pub(crate) fn isin(py: Python<'_>, x: &Bound<'_, Array>, test: &Bound<'_, Array>) -> PyResult<Array> {
    both(py, x.get(), test.get(), |x, test| x.isin(test))
}

/// The count of each of the integers below `bins`, as uint32.
#[pyfunction]
pub(crate) fn bincount(py: Python<'_>, x: &Bound<'_, Array>, bins: usize) -> PyResult<Array> {
    x.get().mapped(py, |expr| expr.bincount(bins))
}

/// The elements of each key reduced, by the name of the reduction.
#[pyfunction]
pub(crate) fn segment(
    py: Python<'_>,
    name: &str,
    x: &Bound<'_, Array>,
    keys: &Bound<'_, Array>,
    count: usize,
    assume_sorted: bool,
) -> PyResult<Array> {
    both(py, x.get(), keys.get(), |x, keys| match assume_sorted {
        true => x.segment(name, keys.assume_sorted(), count),
        false => x.segment(name, keys, count),
    })
}

/// The rank of each slice along an axis among the different ones, as uint32.
#[pyfunction]
pub(crate) fn dense_rank(py: Python<'_>, x: &Bound<'_, Array>, axis: isize) -> PyResult<Array> {
    x.get().mapped(py, |expr| expr.dense_rank(axis))
}

#[pyfunction]
pub(crate) fn median(py: Python<'_>, x: &Bound<'_, Array>, axis: isize) -> PyResult<Array> {
    x.get().mapped(py, |expr| expr.median(axis))
}

/// The coordinates of elements other than zero, as uint32, with a row for each axis. Their number is read.
#[pyfunction]
pub(crate) fn nonzero(py: Python<'_>, x: &Bound<'_, Array>) -> PyResult<Array> {
    let tensor = x.get().tensor(py)?;
    Ok(Array::of(wait(py, true, move || tensor.nonzero())?, x.get().slot.clone()))
}

/// The elements where a mask of leading axes is true. Their number is read.
#[pyfunction]
pub(crate) fn compress(py: Python<'_>, x: &Bound<'_, Array>, mask: &Bound<'_, Array>) -> PyResult<Array> {
    let x = x.get();
    x.slot.join(&mask.get().slot, py)?;
    let (tensor, mask) = (x.tensor(py)?, mask.get().tensor(py)?);
    Ok(Array::of(wait(py, true, move || tensor.compress(&mask))?, x.slot.clone()))
}

/// The elements, where indices of leading axes are with updates in their place.
#[pyfunction]
pub(crate) fn scatter(
    py: Python<'_>,
    x: &Bound<'_, Array>,
    indices: Vec<Bound<'_, Array>>,
    updates: &Bound<'_, Array>,
) -> PyResult<Array> {
    let arrays = [x.get(), updates.get()].into_iter().chain(indices.iter().map(|index| index.get()));
    let (mut all, cost, slot) = joined(py, arrays)?;
    let indices = all.split_off(2);
    Array::new(py, cost.of(all[0].scatter(indices, &all[1])), slot)
}
