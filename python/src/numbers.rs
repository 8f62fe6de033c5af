//! Python's numbers: as elements beside arrays, and of an array of one element.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};
use zerostride::{AnyExpr, AnyTensor, DType, Scalar};

use crate::array::Array;
use crate::device::Slot;
use crate::dtype::{self, Kind};

/// An object as a Python number, or `None` if it is no number.
pub(crate) fn scalar(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if object.is_exact_instance_of::<PyFloat>() || object.is_instance_of::<PyFloat>() {
        return Ok(Some(Scalar::Float(object.extract()?)));
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(Some(Scalar::Bool(object.extract()?)));
    }
    if object.is_instance_of::<PyInt>() {
        let beyond = |_| PyOverflowError::new_err("an integer is outside of every type: make it a float");
        return Ok(Some(Scalar::Int(object.extract().map_err(beyond)?)));
    }
    Ok(None)
}

/// An integer outside of every type, as what compares like it.
pub(crate) fn beyond(integer: &Bound<'_, PyAny>, is_float: bool) -> PyResult<Scalar> {
    Ok(match (is_float, integer.gt(0)?) {
        (true, _) => Scalar::Float(integer.extract()?),
        (false, is_positive) => Scalar::Int(if is_positive { i128::MAX } else { i128::MIN }),
    })
}

/// The type that an array of `dtype` and a number promote to: the array's, unless the number is of a higher kind.
pub(crate) fn weak(py: Python<'_>, dtype: DType, scalar: Scalar, slot: &Slot) -> PyResult<DType> {
    Ok(match (scalar, dtype::kind(dtype)) {
        (Scalar::Bool(_), _) => dtype,
        (Scalar::Int(_), Kind::Bool) => DType::I64,
        (Scalar::Float(_), Kind::Bool | Kind::Integer) => slot.default_float(py)?,
        _ => dtype,
    })
}

/// A number as an element of a type. A number that is out of a float type's range is infinite, as in NumPy. A number
/// that is out of an integer type's range is an error.
pub(crate) fn constant(dtype: DType, scalar: Scalar) -> PyResult<AnyExpr> {
    let scalar = match (scalar, dtype::kind(dtype)) {
        (Scalar::Bool(value), Kind::Integer | Kind::Float) => Scalar::Int(value.into()),
        // As in NumPy, an integer beside floats is a float, which may be infinite.
        (Scalar::Int(value), Kind::Float) => Scalar::Float(value as f64),
        (Scalar::Int(value), Kind::Bool) => Scalar::Bool(value != 0),
        (Scalar::Float(value), Kind::Bool) => Scalar::Bool(value != 0.0),
        (scalar, _) => scalar,
    };
    let expr = AnyExpr::scalar(dtype, scalar);
    match (expr.dtype(), scalar, dtype::kind(dtype)) {
        (Err(_), Scalar::Float(value), Kind::Float) => {
            Ok(AnyExpr::scalar(dtype, if value > 0.0 { f64::INFINITY } else { f64::NEG_INFINITY }))
        }
        (Err(error), Scalar::Int(_), Kind::Integer) => {
            Err(PyOverflowError::new_err(error.message().to_string()))
        }
        _ => Ok(expr),
    }
}

#[pymethods]
impl Array {
    /// The only element, as a Python number.
    fn item(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if self.size() != 1 {
            let text =
                format!("an array of {} is not one value: reduce it by all, any or sum first", self.shape);
            return Err(match self.shape.rank() {
                0 => PyTypeError::new_err(text),
                _ => PyValueError::new_err(text),
            });
        }
        let bytes = self.read(py, AnyTensor::to_bytes)?;
        macro_rules! number {
            ($t:ty) => {
                <$t>::from_le_bytes(bytes.as_slice().try_into()?)
            };
        }
        match self.dtype {
            DType::Bool => (number!(u8) != 0).into_py_any(py),
            DType::I8 => number!(i8).into_py_any(py),
            DType::U8 => number!(u8).into_py_any(py),
            DType::I16 => number!(i16).into_py_any(py),
            DType::U16 => number!(u16).into_py_any(py),
            DType::I32 => number!(i32).into_py_any(py),
            DType::U32 => number!(u32).into_py_any(py),
            DType::I64 => number!(i64).into_py_any(py),
            DType::U64 => number!(u64).into_py_any(py),
            DType::F16 => f64::from(zerostride::f16::from_bits(number!(u16))).into_py_any(py),
            DType::BF16 => f64::from(zerostride::bf16::from_bits(number!(u16))).into_py_any(py),
            DType::F32 => f64::from(number!(f32)).into_py_any(py),
            _ => number!(f64).into_py_any(py),
        }
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        self.item(py)?.is_truthy(py)
    }

    fn __int__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // Python's conversion raises for NaN and infinities.
        self.item(py)?.call_method0(py, "__int__")
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        self.item(py)?.extract(py)
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyComplex>> {
        Ok(PyComplex::from_doubles(py, self.__float__(py)?, 0.0))
    }

    fn __index__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if dtype::kind(self.dtype) == Kind::Integer && self.shape.rank() == 0 {
            return self.item(py);
        }
        Err(PyTypeError::new_err(format!(
            "an array of {} {} is no index: an index has an integer type and no axes",
            dtype::name(self.dtype),
            self.shape
        )))
    }
}
