//! Results and reports of a device.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::time::Duration;

use crate::error::Result;

/// Bytes that one piece of a large read-back has. A GPU takes longer to copy this many than the host to request them.
pub(crate) const PIECE: usize = 64 << 20;

/// Memory of a device that tensors use, in bytes, and the number of its compiled kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// Memory of living tensors.
    pub used: u64,
    /// Memory of idle buffers.
    pub idle: u64,
    /// The greatest sum of both so far.
    pub peak: u64,
    /// Buffers created so far.
    pub created: u64,
    /// Compiled kernels that are kept. Their memory is the driver's, which does not report it.
    pub pipelines: u64,
}

/// How long a kernel took on its device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelTime {
    /// The operations of the kernel, in order. Empty for a copy.
    pub steps: String,
    /// The time from its begin to its end.
    pub time: Duration,
}

/// Bytes on their way from a device.
pub(crate) type Reading = Pin<Box<dyn Future<Output = Result<HostBytes>> + Send>>;

/// The outcome of some work.
pub(crate) type Outcome = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// The times of kernels, once they arrive.
pub(crate) type Times = Pin<Box<dyn Future<Output = Result<Vec<KernelTime>>> + Send>>;

/// Bytes that the host can read, in whatever memory.
pub(crate) type HostBytes = Box<dyn Deref<Target = [u8]> + Send>;

/// The explanation of one stage.
#[derive(Debug, Default)]
pub(crate) struct Explanation {
    /// Lines of text, one of which begins with "runs:".
    pub text: String,
    /// The text of the first kernel, if the device runs kernels.
    pub wgsl: Option<String>,
    /// For each input, the lines of that text that name it, counted from 1.
    pub lines: Vec<Vec<usize>>,
    /// Bytes that its kernels move at least, if not those of its operands and results.
    pub moved: Option<usize>,
    /// For each input, the kernel's access in words.
    pub accesses: Vec<&'static str>,
}

impl Explanation {
    /// The explanation of programs that write slices of one result.
    pub(crate) fn of_parts(count: usize) -> Explanation {
        Explanation {
            text: format!("runs: {count} parts, each written to its place\n"),
            ..Explanation::default()
        }
    }
}
