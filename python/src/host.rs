//! Elements in host memory, as a Python buffer.

use std::ffi::c_int;
use std::sync::Mutex;

use pyo3::ffi;
use pyo3::prelude::*;
use zerostride::HostBytes;

/// The bytes of an array's elements, which this crate no longer writes. They are read through Python's buffer protocol,
/// and live as long as a buffer refers to them.
#[pyclass(frozen, module = "zerostride._core")]
pub(crate) struct Host {
    /// Keeps the memory alive. The content is `Send` and not `Sync`, hence the mutex.
    _bytes: Mutex<Box<dyn Send>>,
    address: usize,
    length: usize,
    is_read_only: bool,
}

impl Host {
    /// The memory of an array, which is read-only.
    pub(crate) fn shared(bytes: HostBytes) -> Host {
        let (address, length) = (bytes.as_ptr() as usize, bytes.len());
        Host { _bytes: Mutex::new(Box::new(bytes)), address, length, is_read_only: true }
    }

    /// A copy, which Python may write.
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
    /// `view` points to a buffer that the interpreter passes to be filled.
    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let host = slf.get();
        // SAFETY: the filled view holds a reference to `slf`, and the bytes do not move while `slf` lives: they are on the
        // heap or in mapped memory, so moving their owner does not move them. An array's own bytes are declared read-only.
        // This crate never writes them either: it copies memory that a `HostBytes` reads before a write.
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
