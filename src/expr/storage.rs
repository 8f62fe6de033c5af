//! What a leaf holds of its device, and what a device does for expressions.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::{DType, Math, Node, Program};
use crate::error::{Error, Result, bail};
use crate::layout::Layout;

/// An opaque handle to elements on a device. Clones name the same elements.
#[derive(Clone)]
pub(crate) struct Storage {
    pub backend: Arc<dyn Backend>,
    /// How many elements there are.
    pub elements: usize,
    /// What only the device looks into.
    pub buffer: Arc<dyn Any + Send + Sync>,
    /// Whether memory may end with the last element, as it may where it is the caller's. Else it is whole
    /// vectors.
    pub is_exact: bool,
}

impl Storage {
    pub(crate) fn new(backend: Arc<dyn Backend>, elements: usize, buffer: impl Any + Send + Sync) -> Self {
        Storage { backend, elements, buffer: Arc::new(buffer), is_exact: false }
    }

    /// Whether both are the same elements.
    pub(crate) fn same(&self, other: &Storage) -> bool {
        self.address() == other.address()
    }

    /// A number that no other living storage has.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.buffer).cast::<()>() as usize
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "storage on {}", self.backend.name())
    }
}

/// What a storage holds that is planned for and not there.
#[derive(Debug)]
pub(crate) struct Declared;

impl Storage {
    /// A storage for the result of a program that is not run, but of which is to be told what reading it
    /// would run. It takes no memory.
    pub(crate) fn declared(backend: Arc<dyn Backend>, program: &Program) -> Result<Storage> {
        Ok(Storage::without_memory(backend, program.byte_size()? / program.dtype.size()))
    }

    /// The same for so many elements.
    pub(crate) fn without_memory(backend: Arc<dyn Backend>, elements: usize) -> Storage {
        Storage::new(backend, elements, Declared)
    }
}

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

/// What a device can do. Storages passed in were made by the same device.
pub(crate) trait Backend: Send + Sync + fmt::Debug {
    /// The adapter's name, and the interface that reaches it.
    fn name(&self) -> String;

    /// A number that no other living device has. Handles of one device share it.
    fn identity(&self) -> usize;

    /// Tensors that one kernel reads at most.
    fn operands(&self) -> usize {
        usize::MAX
    }

    /// Fails for an element type that it does not compute with.
    fn supports(&self, _dtype: DType) -> Result<()> {
        Ok(())
    }

    /// Elements of the last axis, at most, for all of which it computes once what is the same along that axis.
    fn row(&self) -> usize {
        1
    }

    /// Bytes of a tensor that a kernel binds whole.
    fn whole(&self) -> u64 {
        u64::MAX
    }

    /// A storage of `bytes` packed elements of type `dtype`.
    fn upload(self: Arc<Self>, bytes: &[u8], dtype: DType) -> Result<Storage>;

    /// Runs a program into a new storage, in row-major order.
    fn eval(self: Arc<Self>, program: &Program) -> Result<Storage>;

    /// Runs an expression that is like one before it, but for its tensors and constants, into a new storage or into
    /// elements of one, which it gives, if the device knows how. `program` makes one of an expression, if one is all of
    /// it.
    fn run_alike(
        self: Arc<Self>,
        _root: &Arc<Node>,
        _to: Option<(&Storage, &Layout)>,
        _program: &dyn Fn(&Arc<Node>) -> Result<Option<Program>>,
    ) -> Option<Result<Storage>> {
        None
    }

    /// Runs a program of several results into new storages, by as few kernels as the device can.
    fn eval_all(self: Arc<Self>, program: &Program) -> Result<Vec<Storage>> {
        program.each(|one| self.clone().eval(one))
    }

    /// Runs a program into elements of `storage`, as if every source were read first. The layout
    /// has the program's shape and visits no element twice.
    fn assign(self: Arc<Self>, program: Program, storage: &Storage, layout: &Layout) -> Result<()>;

    /// Runs a program of several results into elements of storages that it does not read, by one kernel, where
    /// the device can; else nothing is done.
    fn assign_all(self: Arc<Self>, _program: &Program, _to: &[(&Storage, &Layout)]) -> Result<bool> {
        Ok(false)
    }

    /// Lets every read of a storage be an error from now on, until all of it is written anew: some of its elements were
    /// written by work that failed, and others were not.
    fn poison(&self, storage: &Storage, error: &Error);

    /// Writes packed elements, in row-major order, to elements of `storage`, after what was asked for
    /// before. The layout visits no element twice.
    fn write(self: Arc<Self>, storage: &Storage, dtype: DType, layout: &Layout, bytes: &[u8]) -> Result<()>;

    /// A storage of the same elements as they are after what was asked for before, which nothing writes.
    fn snapshot(self: Arc<Self>, storage: &Storage, dtype: DType) -> Result<Storage>;

    /// Whether it computes on threads of the host, so that a call takes the time of its work.
    fn computes_here(&self) -> bool {
        false
    }

    /// Whether running a program only records it, since all that it needs is compiled.
    fn only_records(self: Arc<Self>, _program: &Program) -> Result<bool> {
        Ok(false)
    }

    /// Bytes that one reading takes at most.
    fn most_read(&self) -> usize {
        PIECE
    }

    /// The `count` elements from `offset` on, as they are after what was asked for before.
    fn read(self: Arc<Self>, storage: &Storage, dtype: DType, offset: usize, count: usize) -> Reading;

    /// Fails for a form that waits, where the caller may not, by the name of the form.
    fn can_wait(&self, _form: &str) -> Result<()> {
        Ok(())
    }

    /// The same, where the caller may wait: by default it waits for [`read`](Self::read).
    fn read_now(
        self: Arc<Self>,
        storage: &Storage,
        dtype: DType,
        offset: usize,
        count: usize,
    ) -> Result<HostBytes> {
        pollster::block_on(self.read(storage, dtype, offset, count))
    }

    /// Lets begin what was asked for, without waiting for it.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Waits until everything that was asked for has run.
    fn synchronize(&self) -> Result<()>;

    /// The same without blocking.
    fn synchronize_async(self: Arc<Self>) -> Outcome {
        Box::pin(std::future::ready(self.synchronize()))
    }

    /// What is reported after the calls that it is of: waits for the reports of what was asked for before, and fails
    /// if what these storages hold is wrong.
    fn settle(self: Arc<Self>, _storages: &[Storage]) -> Outcome {
        Box::pin(std::future::ready(Ok(())))
    }

    /// The device itself, for what only one kind of it can do.
    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;

    /// Whether the device is gone, and all that was on it.
    fn is_lost(&self) -> bool {
        false
    }

    /// Makes ready what a program needs, without running it.
    fn prepare(self: Arc<Self>, _program: &Program) -> Result<()> {
        Ok(())
    }

    /// The same for [`assign`](Self::assign).
    fn prepare_assign(
        self: Arc<Self>,
        _program: Program,
        _storage: &Storage,
        _layout: &Layout,
    ) -> Result<()> {
        Ok(())
    }

    /// Keeps compiled pipelines in files of a directory from now on; whether the device has any.
    fn cache_pipelines(&self, _directory: &Path) -> Result<bool> {
        Ok(false)
    }

    /// Writes these files.
    fn save_pipelines(&self) -> Result<()> {
        Ok(())
    }

    /// What would run for a program.
    fn explain(self: Arc<Self>, program: &Program) -> Result<Told>;

    /// A handle of the same device that computes functions in another way, if it has one.
    fn with_math(&self, _math: Math) -> Option<Arc<dyn Backend>> {
        None
    }

    /// How functions are computed.
    fn math(&self) -> Math {
        Math::Precise
    }

    /// Times kernels from now on, if the device can.
    fn begin_profile(&self) -> Result<()> {
        bail!(Limit, "times of kernels are had of adapters only, and not of {}", self.name())
    }

    /// The times since then, from when they are there.
    fn end_profile(&self) -> Times {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// What tensors take of the device's memory.
    fn memory(&self) -> Memory {
        Memory::default()
    }

    /// The texts of the kernels compiled so far.
    fn kernels(&self) -> Vec<String> {
        Vec::new()
    }
}
