//! Elements in memory of the host, as a buffer of Python.

use std::ffi::c_int;
use std::sync::Mutex;

use pyo3::ffi;
use pyo3::prelude::*;
use zerostride::HostBytes;

/// Bytes of an array's elements, which this crate does not write any more. They are read through Python's buffer
/// protocol, and live as long as whoever reads them.
#[pyclass(frozen, module = "zerostride._core")]
pub(crate) struct Host {
    /// Kept alive; the mutex is only there because what it holds is sent between threads and not shared.
    _bytes: Mutex<Box<dyn Send>>,
    address: usize,
    length: usize,
    is_read_only: bool,
}

impl Host {
    /// Memory of an array, which is only read.
    pub(crate) fn shared(bytes: HostBytes) -> Host {
        let (address, length) = (bytes.as_ptr() as usize, bytes.len());
        Host { _bytes: Mutex::new(Box::new(bytes)), address, length, is_read_only: true }
    }

    /// A copy, which whoever has it may write.
    pub(crate) fn copied(mut bytes: Vec<u8>) -> Host {
        let (address, length) = (bytes.as_mut_ptr() as usize, bytes.len());
        Host { _bytes: Mutex::new(Box::new(bytes)), address, length, is_read_only: false }
    }
}

#[pymethods]
impl Host {
    fn __len__(&self) -> usize {
        self.length
    }

    /// # Safety
    /// `view` is one that the interpreter gives to be filled.
    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let host = slf.get();
        // SAFETY: the bytes stay where they are while `slf` lives, to which the filled view holds a reference:
        // they lie on the heap or in mapped memory, and moving their owner does not move them. An array's own are
        // told to be read-only, and are never written by this crate, which copies memory that a `HostBytes` reads.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                slf.as_ptr(),
                host.address as *mut std::ffi::c_void,
                host.length as ffi::Py_ssize_t,
                host.is_read_only.into(),
                flags,
            )
        };
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}
