//! Broadcasting by the rules of other systems, and PyTorch's warning.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use zerostride::{Broadcast, Shape};

use crate::array::Array;
use crate::cell::Part;
use crate::error::raised;

static WARNS: AtomicBool = AtomicBool::new(false);

/// A rule by its system's name for it.
fn rule_of(name: &str, axis: Option<isize>, axes: Option<Vec<usize>>) -> PyResult<Broadcast> {
    Ok(match name {
        "numpy" | "torch" | "onnx" => Broadcast::NumPy,
        "none" => Broadcast::None,
        "pdpd" => Broadcast::Pdpd { axis: axis.unwrap_or(-1) },
        "paddle" => Broadcast::Paddle { axis: axis.unwrap_or(-1) },
        "bidirectional" => Broadcast::Bidirectional,
        "explicit" => match axes {
            Some(axes) => Broadcast::Explicit { axes },
            None => {
                return Err(PyTypeError::new_err(
                    "the rule 'explicit' takes axes: an axis of b for each axis of a",
                ));
            }
        },
        _ => {
            return Err(PyValueError::new_err(format!(
                "no rule is called '{name}': there are numpy, torch, onnx, none, pdpd, paddle, bidirectional and explicit"
            )));
        }
    })
}

/// Two arrays broadcast together by the rule of another system.
#[pyfunction]
#[pyo3(signature = (a, b, rule, axis=None, axes=None))]
pub(crate) fn align(
    py: Python<'_>,
    a: &Bound<'_, Array>,
    b: &Bound<'_, Array>,
    rule: &str,
    axis: Option<isize>,
    axes: Option<Vec<usize>>,
) -> PyResult<(Array, Array)> {
    let (a, b) = (a.get(), b.get());
    a.slot.join(&b.slot, py)?;
    let rule = rule_of(rule, axis, axes)?;
    let (x, y) = (a.part(), b.part());
    let (left, right) = match rule {
        Broadcast::Bidirectional => {
            let (left, right) = (a.shape.clone(), b.shape.clone());
            (x.expr.broadcast(rule.clone(), right), y.expr.broadcast(rule, left))
        }
        rule => rule.align_any(&x.expr, &y.expr).map_err(raised)?,
    };
    let array = |expr, part, like: &Array| Array::new(py, Part { expr, ..part }, &like.slot);
    Ok((array(left, x, a)?, array(right, y, b)?))
}

/// An array broadcast to a shape by the rule of another system. With `torch`, -1 keeps a length. With `onnx` and
/// `bidirectional`, the result may be larger than the shape. With any other rule, the result has the shape.
#[pyfunction]
#[pyo3(signature = (x, shape, rule, axis=None, axes=None))]
pub(crate) fn broadcast_by(
    py: Python<'_>,
    x: &Bound<'_, Array>,
    shape: Vec<isize>,
    rule: &str,
    axis: Option<isize>,
    axes: Option<Vec<usize>>,
) -> PyResult<Array> {
    if rule == "torch" {
        return x.get().viewed(py, move |expr| expr.expand(&shape));
    }
    let lengths: Result<Vec<usize>, _> = shape.iter().map(|&length| usize::try_from(length)).collect();
    let Ok(lengths) = lengths else {
        return Err(PyValueError::new_err(format!(
            "{shape:?} for the shape of broadcast_to: it takes integers of 0 or more"
        )));
    };
    let target = Shape::from(lengths);
    let rule = match rule {
        "numpy" => return x.get().viewed(py, move |expr| expr.broadcast_to(&target)),
        "onnx" => Broadcast::Bidirectional,
        name => rule_of(name, axis, axes)?,
    };
    let (own, to) = (rule.clone(), target.clone());
    let result = x.get().viewed(py, move |expr| expr.broadcast(own.clone(), &to))?;
    if rule != Broadcast::Bidirectional && result.shape != target {
        return Err(PyValueError::new_err(format!(
            "cannot broadcast {} to {target}: together they broadcast to {} ({rule} rule): take the bidirectional rule",
            x.get().shape,
            result.shape
        )));
    }
    Ok(result)
}

#[pyfunction]
pub(crate) fn warn_on_reinterpreted_shapes(enabled: bool) {
    WARNS.store(enabled, Ordering::Relaxed);
}

/// Warns about operands whose broadcast older code may have meant in another way, if the warning is on.
pub(crate) fn warn<'a>(py: Python<'_>, shapes: impl Iterator<Item = &'a Shape>) -> PyResult<()> {
    if !WARNS.load(Ordering::Relaxed) {
        return Ok(());
    }
    let shapes: Vec<Shape> = shapes.cloned().collect();
    match Broadcast::reinterpreted(&shapes) {
        Some(text) => py.import("zerostride._rules")?.call_method1("_warn", (text,)).map(drop),
        None => Ok(()),
    }
}
