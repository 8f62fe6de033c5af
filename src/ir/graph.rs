//! What expressions are made of, and what a device does for them. These types need each other: a storage names its
//! device, which runs programs and looks at nodes, whose leaves are storages.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use smallvec::SmallVec;

use super::answers::{HostBytes, Memory, Outcome, PIECE, Reading, Times, Told};
use super::{Body, Kept, Math, Op, ReduceAxes, ReduceOp, ScanAxis, Sort, Step, Value};
use crate::dtype::DType;
use crate::error::{Error, Result, bail};
use crate::layout::{Layout, Shape};

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

/// A range of one buffer of a storage, as a kernel binds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BindingRange {
    /// The number of the buffer.
    pub buffer: usize,
    /// The first byte, and how many there are.
    pub start: u64,
    pub size: u64,
}

/// What stands for a storage in work that is not run yet: its size is known, and its memory is not. Two are equal where that is
/// the same memory, of which each may know another part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub number: usize,
    /// As those of [`Storage`].
    pub elements: usize,
    pub is_exact: bool,
    /// What is bound of it, if not all.
    pub range: Option<BindingRange>,
}

/// Where a leaf's elements come from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Elements of a storage.
    Tensor(Storage),
    /// Elements of a slot. Work that is planned reads these.
    Slot(Slot),
    /// One constant, as its bits.
    Scalar(u64),
    /// The address itself, as i32: a coordinate, under whatever views were taken of it. With the
    /// device of the expression that it was asked of, if that has one.
    Index(Option<Arc<dyn Backend>>),
    /// One of the results of a stage of the schedule that the program is part of, in row-major order.
    Stage { stage: usize, result: usize },
    /// What a reduction inside of the program gives for each row, by its number.
    Row(usize),
    /// What stands for a value of a loop while its step is built, by a number of its own.
    State(u64),
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Leaf {
        source: Source,
        layout: Layout,
    },
    /// Its operands may have smaller shapes: NumPy's rule between them was checked when it was built.
    Op(Op),
    /// What a body gives of them, which is no op of the table: one of its results, by number.
    Body(Body, usize),
    /// Elements of its operand: the layout leads to their numbers in row-major order.
    View(Layout),
    /// Elements of its first operand, a tensor or what is stored: the others are an index for each axis of that,
    /// inside of the axis, as i32.
    Lookup,
    /// Its operands next to each other along an axis.
    Join(usize),
    /// Its operand along some axes, each range of it as one value.
    Reduce(ReduceAxes),
    /// Its operand along an axis, each element as a value of those so far.
    Scan(ScanAxis),
    /// The products of its two operands, which broadcast, added up along an axis.
    Contract(usize),
    /// Its operand, of 32 or 64 bits an element, sorted along the last axis.
    Sort(Sort),
    /// Its operand, which is computed once and stored.
    Shared,
}

/// A node of an expression. Nothing that walks a graph, dropping it included, recurses: it may be as deep
/// as a loop is long.
pub(crate) struct Node {
    pub dtype: DType,
    pub shape: Shape,
    pub kind: NodeKind,
    pub args: SmallVec<[Arc<Node>; 3]>,
    /// The devices of the leaves, each once.
    pub devices: SmallVec<[Arc<dyn Backend>; 1]>,
    /// Its schedule, once it was evaluated.
    pub schedule: Kept,
}

/// A leaf, with its layout broadcast to the shape of the program.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub dtype: DType,
    pub source: Source,
    pub layout: Layout,
    /// Axes that are looked up: a [`Op::Lookup`] names an index for each, and the elements that it reads are as far
    /// from those of the layout. None of what is read as it is.
    pub computed: Vec<Extent>,
    /// Where the node of a constant is: whoever reads the same node reads one constant. Two that happen to be equal are
    /// two, as that must not decide which kernel runs.
    pub node: Option<usize>,
}

/// An axis of a table whose index is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub length: usize,
    pub stride: isize,
}

/// What is reduced inside of a program. Its elements along `axes`, at one place of the other axes, are a
/// *row*; a value that is the same for all of a row is *of the row*, as is what a reduction of it gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RowFused {
    pub axes: Range<usize>,
    /// Each along `axes`. What fold `i` gives is the source [`Source::Row`] of that number.
    pub reductions: Vec<RowReduction>,
    /// Whether a result is one element of each row, of which it is a value, or all elements.
    pub kept: bool,
}

/// A value of a program that is reduced along rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RowReduction {
    pub op: ReduceOp,
    pub value: Value,
    /// The index of each element, where partial results are reduced and that is what is asked.
    pub index: Option<Value>,
}

/// What a program makes of its values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ProgramKind {
    /// Each is stored as it is.
    Map,
    /// Each is reduced along the same axes.
    Reduce(ReduceAxes),
    /// Each is stored, and steps read what values of a row are reduced to.
    RowFused(RowFused),
    /// Each is scanned.
    Scan(ScanAxis),
    /// The one, which a product of two values gives, is added up along an axis, in the order of [`CHUNK`](super::CHUNK).
    Contract(usize),
    /// The one is sorted along the last axis.
    Sort(Sort),
}

/// A flat expression. Equal leaves and equal steps appear once.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// What steps run over: the shape of the results, or, where they are reduced, of what is reduced.
    pub shape: Shape,
    /// The type of the first result, and of all where they are reduced.
    pub dtype: DType,
    pub inputs: Vec<Input>,
    pub steps: Vec<Step>,
    /// A value for each result.
    pub results: SmallVec<[Value; 1]>,
    /// What is made of each of these values before it is stored.
    pub kind: ProgramKind,
}

/// What is computed together, and stored.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    /// All results of a program.
    One(Program),
    /// One result, of several programs.
    Join(Join),
}

/// Programs of one result each, that write one result together: each writes its range of an axis, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    pub axis: usize,
    pub parts: Vec<Program>,
    /// The shape of the result.
    pub shape: Shape,
    pub dtype: DType,
}

/// Stages in the order in which they run. The results of `stages` are temporaries, which later ones read as
/// [`Source::Stage`].
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub stages: Vec<Stage>,
    /// What computes the results.
    pub last: Stage,
    /// Of each stage, those whose results are read by it and by none after it.
    pub finished: Vec<Vec<usize>>,
    /// What a device made of it.
    pub ready: Kept,
}

/// Where the results of a schedule go.
#[derive(Clone, Copy)]
pub(crate) enum Destination<'a> {
    /// Into new storages, in row-major order.
    New,
    /// Into elements of a storage for each result, as if every source were read first. The layouts visit no element
    /// twice.
    Into(&'a [(&'a Storage, &'a Layout)]),
}

/// An expression without what its leaves hold, as words. What is planned for one is right for all with the same
/// fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint(pub(super) SmallVec<[u64; 64]>);

/// What the leaves of an expression hold, in the order of its fingerprint, each once.
#[derive(Debug, Default)]
pub(crate) struct Leaves<'a> {
    pub storages: SmallVec<[&'a Storage; 8]>,
    /// Constants, as their bits, each with the address of its node.
    pub constants: SmallVec<[(u64, usize); 8]>,
}

/// Storages, one for each result.
pub(crate) type Results = SmallVec<[Storage; 1]>;

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

    /// Runs a schedule: the storages of its results. What is learned of it is remembered under the fingerprint of its
    /// expression, if it has one.
    fn run(
        self: Arc<Self>,
        schedule: &Schedule,
        to: Destination<'_>,
        known: Option<(Fingerprint, Leaves<'_>)>,
    ) -> Result<Results>;

    /// Whether the device remembers how expressions are run ([`run_known`](Self::run_known)).
    fn remembers(&self) -> bool {
        false
    }

    /// Runs an expression by what is remembered of one with the same fingerprint, if anything is.
    fn run_known(self: Arc<Self>, _print: &Fingerprint, _leaves: &Leaves<'_>) -> Option<Result<Results>> {
        None
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

    /// Whether all kernels of a schedule are compiled, so that running it only records them.
    fn is_compiled(self: Arc<Self>, _schedule: &Schedule) -> Result<bool> {
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

    /// Compiles what a schedule needs, without running it.
    fn compile(self: Arc<Self>, _schedule: &Schedule, _to: Destination<'_>) -> Result<()> {
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

    /// What would run for each stage of a schedule.
    fn explain(self: Arc<Self>, schedule: &Schedule) -> Result<Vec<Told>>;

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
