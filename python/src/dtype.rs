//! Element types: NumPy's objects for them, and which type operands of several have.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use zerostride::DType;

/// NumPy's name of each type.
const NAMES: [(DType, &str); 13] = [
    (DType::F32, "float32"),
    (DType::F64, "float64"),
    (DType::I32, "int32"),
    (DType::I64, "int64"),
    (DType::Bool, "bool"),
    (DType::U8, "uint8"),
    (DType::I8, "int8"),
    (DType::U16, "uint16"),
    (DType::I16, "int16"),
    (DType::U32, "uint32"),
    (DType::U64, "uint64"),
    (DType::F16, "float16"),
    (DType::BF16, "bfloat16"),
];

/// The types that NumPy itself has, with its objects.
static OBJECTS: PyOnceLock<Vec<(DType, Py<PyAny>)>> = PyOnceLock::new();

fn objects(py: Python<'_>) -> PyResult<&'static Vec<(DType, Py<PyAny>)>> {
    OBJECTS.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        let own = NAMES.iter().filter(|(dtype, _)| *dtype != DType::BF16);
        own.map(|(dtype, name)| Ok((*dtype, numpy.call_method1("dtype", (*name,))?.unbind()))).collect()
    })
}

/// NumPy's name of a type.
pub(crate) fn name(dtype: DType) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == dtype).map_or("", |(_, name)| name)
}

/// NumPy's object of a type. That of bfloat16 is made by the package `ml_dtypes`.
pub(crate) fn object(py: Python<'_>, dtype: DType) -> PyResult<Py<PyAny>> {
    if let Some((_, object)) = objects(py)?.iter().find(|(known, _)| *known == dtype) {
        return Ok(object.clone_ref(py));
    }
    let bfloat16 = py.import("ml_dtypes")?.getattr("bfloat16")?;
    Ok(py.import("numpy")?.call_method1("dtype", (bfloat16,))?.unbind())
}

/// The type of an object that NumPy takes as a type: `zs.float32`, `"float32"`, `numpy.float32`.
pub(crate) fn parse(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    let py = object.py();
    if let Some((dtype, _)) = objects(py)?.iter().find(|(_, known)| known.is(object)) {
        return Ok(*dtype);
    }
    let known = match object.is_none() {
        true => Err(PyTypeError::new_err("None is no element type")),
        false => py.import("numpy")?.call_method1("dtype", (object,)),
    }?;
    let (text, native): (String, bool) =
        (known.getattr("name")?.extract()?, known.getattr("isnative")?.extract()?);
    match NAMES.iter().find(|(_, name)| *name == text) {
        Some((dtype, _)) if native => Ok(*dtype),
        _ => {
            let order = if native { "" } else { " of the other byte order" };
            Err(PyTypeError::new_err(format!(
                "{text}{order} is no element type here: these are bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32 and float64"
            )))
        }
    }
}

/// The kinds of types, in the order of promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Bool,
    Integer,
    Float,
}

pub(crate) fn kind(dtype: DType) -> Kind {
    match dtype {
        DType::Bool => Kind::Bool,
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Kind::Float,
        _ => Kind::Integer,
    }
}

fn is_signed(dtype: DType) -> bool {
    matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64)
}

fn signed(size: usize) -> Option<DType> {
    Some(match size {
        1 => DType::I8,
        2 => DType::I16,
        4 => DType::I32,
        8 => DType::I64,
        _ => return None,
    })
}

/// The type that two types promote to, by the standard's "Type Promotion Rules". Beyond the standard, bool promotes to
/// every other type, and an integer to every float whatever its width, as in PyTorch.
pub(crate) fn promote(a: DType, b: DType) -> PyResult<DType> {
    if a == b {
        return Ok(a);
    }
    let wider = if a.size() >= b.size() { a } else { b };
    let promoted = match (kind(a), kind(b)) {
        (Kind::Float, Kind::Float) if a.size() == b.size() => Some(DType::F32),
        (Kind::Integer, Kind::Integer) if is_signed(a) != is_signed(b) => {
            let (signed_one, other) = if is_signed(a) { (a, b) } else { (b, a) };
            if signed_one.size() > other.size() { Some(signed_one) } else { signed(2 * other.size()) }
        }
        (x, y) if x == y => Some(wider),
        (x, y) => Some(if x > y { a } else { b }),
    };
    promoted.ok_or_else(|| {
        PyTypeError::new_err(format!(
            "no integer type holds both {} and {}: cast one of the operands",
            name(a),
            name(b)
        ))
    })
}
