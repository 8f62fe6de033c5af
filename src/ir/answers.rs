//! What a device answers.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::time::Duration;

use crate::error::Result;

/// Bytes of large tensors that are on their way to the host at a time: on a GPU, as many take longer than
/// asking for them.
pub(crate) const PIECE: usize = 64 << 20;

/// Memory of a device, in bytes, as this crate takes it for tensors, and how many kernels it keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// Of tensors that are alive.
    pub used: u64,
    /// Of buffers that wait to be used again.
    pub idle: u64,
    /// The most that both were together.
    pub peak: u64,
    /// Buffers created so far.
    pub created: u64,
    /// Compiled kernels that are kept. The driver has their memory, which nothing tells.
    pub pipelines: u64,
}

/// How long a kernel took on its device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelTime {
    /// The operations of the kernel, in order; none for a copy.
    pub steps: String,
    /// From its begin to its end.
    pub time: Duration,
}

/// Bytes on their way from a device.
pub(crate) type Reading = Pin<Box<dyn Future<Output = Result<HostBytes>> + Send>>;

/// What becomes of work.
pub(crate) type Outcome = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// Times of kernels on their way from a device.
pub(crate) type Times = Pin<Box<dyn Future<Output = Result<Vec<KernelTime>>> + Send>>;

/// Bytes that the host can see, wherever they are.
pub(crate) type HostBytes = Box<dyn Deref<Target = [u8]> + Send>;

/// What a device would run for a program.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Lines of text, of which one begins with "runs:".
    pub text: String,
    /// The text of the first kernel, where the device runs one.
    pub wgsl: Option<String>,
    /// The lines of it that name each input, from 1 on.
    pub lines: Vec<Vec<usize>>,
    /// Bytes that its kernels move at least, where these are others than those of its operands and results.
    pub moved: Option<usize>,
    /// How that accesses each input, in words.
    pub accesses: Vec<&'static str>,
}

impl Told {
    /// What is told of programs that write parts of one result.
    pub(crate) fn of_parts(count: usize) -> Told {
        Told { text: format!("runs: {count} parts, each written to its place\n"), ..Told::default() }
    }
}
