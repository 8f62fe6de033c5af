//! The core of zerostride for Python: the array, its operators and views, devices, and memory of the host. The
//! functions of the array API standard are Python, over these.

mod array;
mod device;
mod dtype;
mod error;
mod functions;
mod host;
mod index;
mod operators;
mod rules;
mod selecting;
mod wait;

use pyo3::prelude::*;

/// Arrays of any GPU that wgpu reaches.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<array::Array>()?;
    module.add_class::<device::Device>()?;
    module.add_class::<host::Host>()?;
    module.add_function(wrap_pyfunction!(device::adapters, module)?)?;
    module.add_function(wrap_pyfunction!(device::device_variable, module)?)?;
    module.add_function(wrap_pyfunction!(device::finish, module)?)?;
    module.add_function(wrap_pyfunction!(wait::forked, module)?)?;
    module.add_function(wrap_pyfunction!(index::written, module)?)?;
    module.add_function(wrap_pyfunction!(operators::call, module)?)?;
    module.add_function(wrap_pyfunction!(operators::select, module)?)?;
    rules::add_to(module)?;
    selecting::add_to(module)?;
    functions::add_to(module)
}
