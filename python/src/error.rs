//! The crate's errors as Python's.

use pyo3::PyErr;
use pyo3::exceptions::{
    PyIndexError, PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError,
};
use zerostride::{Error, ErrorKind};

/// The exception of an error: of the kind that Python has for it, with the crate's text. The line of the
/// caller stands in Python's own traceback.
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
