//! Elementwise operations: operands, the types that they promote to, and the operators.

// SAFETY: this file has no unsafe code, which the package denies. PyO3 generates some for each method, and the compiler
// checks the style of it where the macro below makes methods.
#![allow(unsafe_op_in_unsafe_fn)]

use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBytes, PyInt, PyList, PyString, PyTuple};
use smallvec::SmallVec;
use zerostride::{AnyExpr, DType, Scalar};

use crate::array::{Array, made};
use crate::cell::{Cost, Part};
use crate::device::{Device, Slot};
use crate::dtype::{self, Kind};
use crate::numbers::{beyond, constant, scalar, weak};

/// The conversion of operands before an operation of the crate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Operands are promoted to one type.
    Same,
    /// Integers and bool become the default float.
    Float,
    /// An integer is the result unchanged, as in `floor`.
    Whole,
    /// Operands become bool.
    Truth,
    /// An integer is finite and no NaN.
    Finite,
}

impl Rule {
    fn of(name: &str) -> PyResult<Rule> {
        Ok(match name {
            "same" => Rule::Same,
            "float" => Rule::Float,
            "whole" => Rule::Whole,
            "truth" => Rule::Truth,
            "finite" => Rule::Finite,
            _ => return Err(PyTypeError::new_err(format!("no rule is called '{name}'"))),
        })
    }
}

enum Operand<'py> {
    Array(Bound<'py, Array>),
    /// A Python number, which takes the type of the arrays.
    Scalar(Scalar),
}

impl Operand<'_> {
    /// The operand in the type of an operation.
    fn converted(&self, dtype: DType, cost: &mut Cost) -> PyResult<AnyExpr> {
        match self {
            Operand::Array(array) => {
                let expr = cost.with(array.get().part());
                Ok(if array.get().dtype == dtype { expr } else { expr.cast(dtype) })
            }
            Operand::Scalar(scalar) => constant(dtype, *scalar),
        }
    }
}

fn refused(op: &str, object: &Bound<'_, PyAny>) -> PyErr {
    let kind = object.get_type().name().map_or_else(|_| "an object".to_string(), |name| name.to_string());
    PyTypeError::new_err(format!("{op} takes arrays and numbers, not {kind}: make it an array by asarray"))
}

/// An object as an operand, or `None` if it is no array, list or number. Arrays of NumPy and lists are uploaded to the
/// device of another array.
fn operand<'py>(
    object: &Bound<'py, PyAny>,
    other: Option<&Bound<'py, Array>>,
) -> PyResult<Option<Operand<'py>>> {
    if let Ok(array) = object.cast::<Array>() {
        return Ok(Some(Operand::Array(array.clone())));
    }
    if let Some(scalar) = scalar(object)? {
        return Ok(Some(Operand::Scalar(scalar)));
    }
    let is_list = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    if is_list || object.hasattr("__array_interface__")? {
        let device = other.map(|other| Device(other.get().slot.clone()));
        return Ok(Some(Operand::Array(made(object, device.as_ref(), None)?)));
    }
    Ok(None)
}

/// The operation that `op` is for bool, and the type that its operands become: NumPy's rules.
fn of_bool(op: &str) -> (&str, DType) {
    match op {
        "add" | "maximum" | "fmax" => ("or", DType::Bool),
        "mul" | "minimum" | "fmin" => ("and", DType::Bool),
        "lt" | "le" | "gt" | "ge" => (op, DType::U8),
        "div" | "div_floor" | "rem_floor" | "rem" | "pow" | "square" | "shl" | "shr" => (op, DType::I8),
        _ => (op, DType::Bool),
    }
}

/// A comparison of u64 with signed integers, whose values no type holds both. `wide` are the operands as u64.
fn compared(op: &str, operands: &[Operand<'_>], wide: &[AnyExpr]) -> AnyExpr {
    let is_signed =
        |operand: &Operand<'_>| matches!(operand, Operand::Array(array) if array.get().dtype != DType::U64);
    let first = is_signed(&operands[0]);
    let signed = wide[usize::from(!first)].cast(DType::I64);
    let is_negative = AnyExpr::call("lt", &[signed, AnyExpr::scalar(DType::I64, 0)]);
    let truth = op == "ne" || matches!(op, "lt" | "le") && first || matches!(op, "gt" | "ge") && !first;
    is_negative.select(AnyExpr::scalar(DType::Bool, truth), AnyExpr::call(op, wide))
}

/// The operation `op` of operands that a rule converts, or `None` if an object is no operand.
pub(crate) fn apply(
    py: Python<'_>,
    op: &str,
    rule: Rule,
    objects: &[&Bound<'_, PyAny>],
) -> PyResult<Option<Array>> {
    let first = objects.iter().find_map(|object| object.cast::<Array>().ok());
    let is_comparison = matches!(op, "lt" | "le" | "eq" | "ne" | "gt" | "ge");
    let mut operands: SmallVec<[Operand<'_>; 3]> = SmallVec::new();
    for object in objects {
        match operand(object, first) {
            Ok(Some(operand)) => operands.push(operand),
            Ok(None) => return Ok(None),
            Err(_) if is_comparison && object.is_instance_of::<PyInt>() => {
                let is_float = first.is_some_and(|array| dtype::kind(array.get().dtype) == Kind::Float);
                operands.push(Operand::Scalar(beyond(object, is_float)?));
            }
            Err(error) => return Err(error),
        }
    }
    let mut is_mixed = false;
    let mut together: Option<(DType, &Arc<Slot>)> = None;
    for operand in &operands {
        if let Operand::Array(array) = operand {
            let array = array.get();
            together = Some(match together {
                None => (array.dtype, &array.slot),
                Some((dtype, slot)) => {
                    slot.join(&array.slot, py)?;
                    let promoted = dtype::promote(dtype, array.dtype);
                    is_mixed = is_comparison && promoted.is_err();
                    (if is_mixed { DType::U64 } else { promoted? }, slot)
                }
            });
        }
    }
    let Some((mut dtype, slot)) = together.map(|(dtype, slot)| (dtype, slot.clone())) else {
        return Err(PyTypeError::new_err("an operation of numbers alone: it takes an array at least"));
    };
    for operand in &mut operands {
        if let Operand::Scalar(scalar) = operand {
            dtype = weak(py, dtype, *scalar, &slot)?;
            if let Scalar::Int(value) = *scalar
                && is_comparison
                && dtype::kind(dtype) == Kind::Integer
                && constant(dtype, *scalar).is_err()
            {
                // A number that the integers' type does not hold compares as an infinity does.
                *scalar = Scalar::Float(f64::INFINITY.copysign(value as f64));
                dtype = slot.default_float(py)?;
            }
        }
    }
    let (op, dtype_of_bool) = if dtype == DType::Bool { of_bool(op) } else { (op, dtype) };
    match rule {
        Rule::Same => dtype = dtype_of_bool,
        Rule::Float if dtype::kind(dtype) != Kind::Float => dtype = slot.default_float(py)?,
        Rule::Truth => dtype = DType::Bool,
        _ => {}
    }
    let mut cost = Cost::default();
    let mut exprs: SmallVec<[AnyExpr; 3]> = SmallVec::new();
    for operand in &operands {
        exprs.push(operand.converted(dtype, &mut cost)?);
    }
    let whole = dtype::kind(dtype) != Kind::Float;
    let expr = match rule {
        Rule::Whole if whole => exprs.swap_remove(0),
        _ if op == "abs" && dtype == DType::Bool => exprs.swap_remove(0),
        _ if is_mixed => compared(op, &operands, &exprs),
        // Every integer equals itself, so these comparisons make an array of true or of false.
        Rule::Finite if whole => {
            let op = if op == "is_finite" { "eq" } else { "ne" };
            AnyExpr::call(op, &[exprs[0].clone(), exprs[0].clone()])
        }
        _ if op == "div_floor" && !whole => floor_divided(&exprs),
        // Without NaN, `fmax` is `max` and `fmin` is `min`.
        _ if whole && matches!(op, "fmax" | "fmin") => AnyExpr::call(&op[1..], &exprs),
        _ => AnyExpr::call(op, &exprs),
    };
    let result = Array::new(py, cost.of(expr), &slot)?;
    let arrays = operands.iter().filter_map(|operand| match operand {
        Operand::Array(array) => Some(&array.get().shape),
        Operand::Scalar(_) => None,
    });
    crate::rules::warn(py, arrays)?;
    let is_negative = |operand: &Operand<'_>| matches!(operand, Operand::Scalar(Scalar::Int(..0)));
    if op == "pow" && whole && is_negative(&operands[1]) && result.shape.iter().all(|&length| length > 0) {
        return Err(PyValueError::new_err(format!(
            "{} to a negative power: an integer takes powers of 0 or more, so cast it to a float",
            dtype::name(dtype)
        )));
    }
    Ok(Some(result))
}

/// The quotient of floats rounded down. If an operand is infinite, the standard requires the unrounded quotient, which
/// is infinite or zero, where NumPy and the crate have NaN and -1.
fn floor_divided(operands: &[AnyExpr]) -> AnyExpr {
    let infinite: Vec<AnyExpr> =
        operands.iter().map(|operand| AnyExpr::call("is_inf", std::slice::from_ref(operand))).collect();
    let quotient = AnyExpr::call("div", operands);
    AnyExpr::call("or", &infinite).select(quotient, AnyExpr::call("div_floor", operands))
}

/// An operation by its name in the crate. The rule `same`, `float`, `whole`, `truth` or `finite` converts its operands.
#[pyfunction(name = "apply")]
#[pyo3(signature = (op, rule, /, *operands))]
pub(crate) fn call(py: Python<'_>, op: &str, rule: &str, operands: &Bound<'_, PyTuple>) -> PyResult<Array> {
    let objects: Vec<Bound<'_, PyAny>> = operands.iter().collect();
    let made = apply(py, op, Rule::of(rule)?, &objects.iter().collect::<Vec<_>>())?;
    made.ok_or_else(|| {
        let is_none = |object: &&Bound<'_, PyAny>| !matches!(operand(object, None), Ok(Some(_)));
        refused(op, objects.iter().find(is_none).unwrap_or(&objects[0]))
    })
}

/// `a` where a condition is true, and `b` elsewhere.
#[pyfunction]
pub(crate) fn select(
    py: Python<'_>,
    condition: &Bound<'_, Array>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
) -> PyResult<Array> {
    let like = condition;
    let condition = condition.get();
    let mut cost = Cost::default();
    let truth = cost.with(condition.part()).cast(DType::Bool);
    let mut dtype = None;
    let mut operands: SmallVec<[Operand<'_>; 3]> = SmallVec::new();
    for object in [a, b] {
        let Some(operand) = operand(object, Some(like))? else {
            return Err(refused("where", object));
        };
        if let Operand::Array(array) = &operand {
            let array = array.get();
            condition.slot.join(&array.slot, py)?;
            dtype = Some(dtype.map_or(Ok(array.dtype), |dtype| dtype::promote(dtype, array.dtype))?);
        }
        operands.push(operand);
    }
    // A number alone takes the type that it takes beside truth.
    let mut dtype = dtype.unwrap_or(DType::Bool);
    for operand in &operands {
        if let Operand::Scalar(scalar) = operand {
            dtype = weak(py, dtype, *scalar, &condition.slot)?;
        }
    }
    let [a, b] = [&operands[0], &operands[1]].map(|operand| operand.converted(dtype, &mut cost));
    Array::new(py, cost.of(truth.select(a?, b?)), &condition.slot)
}

/// An operation of two operands, or `NotImplemented`, with which Python tries the other operand's method.
fn binary(op: &str, rule: Rule, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let py = a.py();
    match apply(py, op, rule, &[a, b])? {
        Some(array) => array.into_py_any(py),
        None => Ok(py.NotImplemented()),
    }
}

macro_rules! operators {
    ($($rule:ident $op:literal $forward:ident $backward:ident $inplace:ident;)*) => {
        /// Operators of two operands, each with its reflected and its in-place form.
        #[pymethods]
        impl Array {$(
            fn $forward(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                binary($op, Rule::$rule, slf.as_any(), other)
            }

            fn $backward(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                binary($op, Rule::$rule, other, slf.as_any())
            }

            fn $inplace(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
                in_place($op, Rule::$rule, slf, other)
            }
        )*}
    };
}

fn in_place(op: &str, rule: Rule, x: &Bound<'_, Array>, other: &Bound<'_, PyAny>) -> PyResult<()> {
    match apply(x.py(), op, rule, &[x.as_any(), other])? {
        Some(result) if result.dtype == x.get().dtype => x.get().replace(x.py(), result),
        // One place has NumPy's casting rule.
        Some(result) => x.py().import("zerostride._out")?.call_method1("delivered", (result, x)).map(drop),
        None => Err(refused(op, other)),
    }
}

operators! {
    Same "add" __add__ __radd__ __iadd__;
    Same "sub" __sub__ __rsub__ __isub__;
    Same "mul" __mul__ __rmul__ __imul__;
    Float "div" __truediv__ __rtruediv__ __itruediv__;
    Same "div_floor" __floordiv__ __rfloordiv__ __ifloordiv__;
    Same "rem_floor" __mod__ __rmod__ __imod__;
    Same "and" __and__ __rand__ __iand__;
    Same "or" __or__ __ror__ __ior__;
    Same "xor" __xor__ __rxor__ __ixor__;
    Same "shl" __lshift__ __rlshift__ __ilshift__;
    Same "shr" __rshift__ __rrshift__ __irshift__;
}

/// Refuses the third operand of `pow`, which is for Python's integers.
fn no_modulus(modulus: &Bound<'_, PyAny>) -> PyResult<()> {
    match modulus.is_none() {
        true => Ok(()),
        false => Err(PyTypeError::new_err("pow of arrays takes no modulus: write pow(x, y) % z")),
    }
}

/// The other operators.
#[pymethods]
impl Array {
    fn __pow__(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        modulus: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        no_modulus(modulus)?;
        binary("pow", Rule::Same, slf.as_any(), other)
    }

    fn __rpow__(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        modulus: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        no_modulus(modulus)?;
        binary("pow", Rule::Same, other, slf.as_any())
    }

    fn __ipow__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, _modulo: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("pow", Rule::Same, slf, other)
    }

    fn __neg__(slf: &Bound<'_, Self>) -> PyResult<Option<Array>> {
        apply(slf.py(), "neg", Rule::Same, &[slf.as_any()])
    }

    fn __pos__(slf: &Bound<'_, Self>) -> PyResult<Option<Array>> {
        apply(slf.py(), "positive", Rule::Same, &[slf.as_any()])
    }

    fn __abs__(slf: &Bound<'_, Self>) -> PyResult<Option<Array>> {
        apply(slf.py(), "abs", Rule::Same, &[slf.as_any()])
    }

    fn __invert__(slf: &Bound<'_, Self>) -> PyResult<Option<Array>> {
        apply(slf.py(), "not", Rule::Same, &[slf.as_any()])
    }

    fn __richcmp__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, how: CompareOp) -> PyResult<Py<PyAny>> {
        let (py, x) = (slf.py(), slf.get());
        let op = match how {
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        };
        let is_other =
            other.is_none() || other.is_instance_of::<PyString>() || other.is_instance_of::<PyBytes>();
        if is_other && matches!(op, "eq" | "ne") {
            // No element equals it.
            let truth = AnyExpr::scalar(DType::Bool, op == "ne").broadcast_to(x.shape.clone());
            return Array::new(py, Part::new(truth), &x.slot)?.into_py_any(py);
        }
        binary(op, Rule::Same, slf.as_any(), other)
    }
}
