//! The core of zerostride for Python: the array, its operators and views, devices, and memory of the host. The
//! functions of the array API standard are Python, over these.

mod array;
mod cell;
mod device;
mod dtype;
mod error;
mod functions;
mod host;
mod index;
mod numbers;
mod operators;
mod rules;
mod selecting;
mod wait;

/// Arrays of any GPU that wgpu reaches.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::{
        array::Array,
        device::{Device, adapters, device_variable, finish},
        functions::{
            broadcast_to, cast, checksum, concat, coordinate, documentation, einsum, flip, full, lookup,
            permute, promote, reduce, reduce_join, reduce_partial, reshape, roll, squeeze, unsqueeze, upload,
            weak_type, windows,
        },
        host::Host,
        index::written,
        operators::{call, select},
        rules::{align, broadcast_by, warn_on_reinterpreted_shapes},
        selecting::{
            argsort, bincount, compress, dense_rank, isin, median, nonzero, scatter, searchsorted, segment,
            sort,
        },
        wait::forked,
    };
}
