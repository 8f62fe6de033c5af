//! The crate's errors as Python's.

use pyo3::PyErr;
use pyo3::exceptions::{
    PyIndexError, PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError,
};
use zerostride::{Error, ErrorKind};

/// The Python exception for an error, with the crate's text. Python's own traceback has the caller's line.
pub(crate) fn raised(error: Error) -> PyErr {
    let text = error.message().to_string();
    match error.kind() {
        ErrorKind::Shape | ErrorKind::Data | ErrorKind::Alias => PyValueError::new_err(text),
        ErrorKind::Axis => PyIndexError::new_err(text),
        ErrorKind::Operation | ErrorKind::Type => PyTypeError::new_err(text),
        ErrorKind::Overflow => PyOverflowError::new_err(text),
        ErrorKind::Memory => PyMemoryError::new_err(text),
        ErrorKind::File => PyOSError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}
