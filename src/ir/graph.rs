//! The types of expressions, and the trait of devices. They need each other: a storage names its device, which runs
//! programs and reads nodes, whose leaves are storages.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use smallvec::SmallVec;

use super::answers::{Explanation, HostBytes, Memory, Outcome, PIECE, Reading, Times};
use super::{AxisOp, Body, Kept, Math, Op, ReduceOp, Step, Value};
use crate::dtype::DType;
use crate::error::{Error, Result, bail};
use crate::layout::{Layout, Shape};

/// An opaque handle to elements on a device. Clones name the same elements.
#[derive(Clone)]
pub(crate) struct Storage {
    pub backend: Arc<dyn Backend>,
    /// The number of elements.
    pub elements: usize,
    /// The device's own data.
    pub buffer: Arc<dyn Any + Send + Sync>,
    /// Whether memory may end with the last element, as a caller's may. Otherwise it is whole vectors.
    pub is_exact: bool,
}

/// The range of one buffer of a storage that a kernel binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BindingRange {
    /// The number of the buffer.
    pub buffer: usize,
    /// The first byte, and the number of bytes.
    pub start: u64,
    pub size: u64,
}

/// A storage in work that has not run: its size is known, and its memory is not. Two slots are equal if they are the
/// same memory, even if they bind different ranges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub number: usize,
    /// As in [`Storage`].
    pub elements: usize,
    pub is_exact: bool,
    /// The bound range, if not all.
    pub range: Option<BindingRange>,
}

/// The source of a leaf's elements.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Elements of a storage.
    Tensor(Storage),
    /// Elements of a slot. Planned work reads slots.
    Slot(Slot),
    /// One constant, as its bits.
    Scalar(u64),
    /// The address itself, as i32: a coordinate, under any views. With the device of the expression whose coordinates
    /// these are, if it has one.
    Index(Option<Arc<dyn Backend>>),
    /// One result of a stage of the same schedule, in row-major order.
    Stage { stage: usize, result: usize },
    /// The result of a reduction inside of the program for each row, by number.
    Row(usize),
    /// The place of a loop's value while its step is built, by a number of its own.
    State(u64),
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Leaf {
        source: Source,
        layout: Layout,
    },
    /// An op. Its operands may have smaller shapes: NumPy's rule was checked when it was built.
    Op(Op),
    /// One result of a function or a loop, by number.
    Body(Body, usize),
    /// Elements of its operand. The layout maps indices to row-major numbers of the operand's elements.
    View(Layout),
    /// Elements of its first operand, a tensor or a stored node. The others are an index for each axis of that, as i32,
    /// inside of the axis.
    Lookup,
    /// Its operands, side by side along an axis.
    Join(usize),
    /// An operation along axes of its operands, which broadcast to one shape.
    Axis(AxisOp),
    /// Its operand, computed once and stored.
    Shared,
}

/// A node of an expression. A graph may be as deep as a loop is long, so nothing that walks it recurses, not even drop.
pub(crate) struct Node {
    pub dtype: DType,
    pub shape: Shape,
    pub kind: NodeKind,
    pub args: SmallVec<[Arc<Node>; 3]>,
    /// The devices of the leaves, each once.
    pub devices: SmallVec<[Arc<dyn Backend>; 1]>,
    /// Its schedule, after it was evaluated.
    pub schedule: Kept,
}

/// A leaf of a program, with its layout broadcast to the program's shape.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub dtype: DType,
    pub source: Source,
    pub layout: Layout,
    /// Axes with a computed index: a [`Op::Lookup`] names an index for each, which moves from the layout's address.
    /// Empty for an input that is read as it is.
    pub computed: Vec<Extent>,
    /// The address of a constant's node. Readers of one node read one constant. Two constants that happen to be equal
    /// stay two, since equal values must not decide which kernel runs.
    pub node: Option<usize>,
}

/// An axis of a table with a computed index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub length: usize,
    pub stride: isize,
}

/// The reductions inside of a row-fused program. Its elements along `axes`, at one place of the other axes, are a
/// *row*. A value that is constant along the row is *of the row*, and so is the result of a reduction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RowFused {
    pub axes: Range<usize>,
    /// The reductions along `axes`. The result of number `i` is the source [`Source::Row`] of that number.
    pub reductions: Vec<RowReduction>,
    /// Whether a result is one element of each row, or all elements.
    pub kept: bool,
}

/// A value of a program that is reduced along rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RowReduction {
    pub op: ReduceOp,
    pub value: Value,
    /// The original index of each element, where partial results are reduced and the index is the result.
    pub index: Option<Value>,
}

/// The kind of a program: how results come from values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ProgramKind {
    /// Each value is stored.
    Map,
    /// Each value is stored, and steps read the results of reductions of a row.
    RowFused(RowFused),
    /// An operation along axes of each value; and the values that it reads beside them: the key of a sort or of segments,
    /// the updates of rows and their places, or the product to add up, if steps after it read the sums as [`Source::Row`].
    Axis(AxisOp, SmallVec<[Value; 2]>),
}

/// A flat expression. Equal leaves and equal steps appear once.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The shape that steps run over: that of the results, or, if they are reduced, of the operands.
    pub shape: Shape,
    /// The type of the first result; if values are reduced, of all results.
    pub dtype: DType,
    pub inputs: Vec<Input>,
    /// Shared with copies over other inputs, and with the kernels of these.
    pub steps: Arc<Vec<Step>>,
    /// A value for each result.
    pub results: SmallVec<[Value; 1]>,
    /// The kind.
    pub kind: ProgramKind,
    /// The CPU path's code for it.
    pub ready: Kept,
}

/// A part of a schedule that is computed on its own, and stored.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    /// All results of one program.
    One(Program),
    /// One result, of several programs.
    Join(Join),
}

/// Programs of one result each, which write slices of one result along an axis, in order.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    pub axis: usize,
    pub parts: Vec<Program>,
    /// The shape of the result.
    pub shape: Shape,
    pub dtype: DType,
}

/// Stages in the order in which they run. The results of `stages` are temporaries, which later stages read as
/// [`Source::Stage`].
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub stages: Vec<Stage>,
    /// The stage of the results.
    pub last: Stage,
    /// For each stage, the stages that it reads last.
    pub finished: Vec<Vec<usize>>,
    /// The device's commands for it.
    pub ready: Kept,
}

/// The destination of a schedule's results.
#[derive(Clone, Copy)]
pub(crate) enum Destination<'a> {
    /// Into new storages, in row-major order.
    New,
    /// Elements of a storage for each result, as if every operand were read first. The layouts visit no element twice.
    Into(&'a [(&'a Storage, &'a Layout)]),
}

/// An expression without the contents of its leaves, as words. A plan for one is right for all with the same
/// fingerprint.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint(pub(super) SmallVec<[u64; 32]>);

impl Clone for Fingerprint {
    fn clone(&self) -> Self {
        // Copies a slice. The derived form would push word by word.
        Fingerprint(SmallVec::from_slice(&self.0))
    }
}

/// The leaves of an expression, in the order of its fingerprint, each once.
#[derive(Debug, Default)]
pub(crate) struct Leaves<'a> {
    pub storages: SmallVec<[&'a Storage; 4]>,
    /// Constants, as their bits, each with the address of its node.
    pub constants: SmallVec<[(u64, usize); 4]>,
    /// Whether the expression reduces or scans.
    pub reduces: bool,
}

/// Storages, one for each result.
pub(crate) type Results = SmallVec<[Storage; 1]>;

/// Facts about a device that schedules need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The most tensors that a stage reads.
    pub operands: usize,
    /// The longest last axis along which a constant value is computed once.
    pub row: usize,
    /// The longest row along memory that one kernel reduces and reads again.
    pub longest_row: usize,
    /// Rows or columns of a product that share one load of an element of a factor.
    pub shared: usize,
    /// Bytes of a tensor that is bound whole, however often it is read.
    pub whole: u64,
    /// Whether a stage reduces elements by key, and selects places of a sorted row. Else a stage counts at most
    /// [`MOST_COUNTED`](crate::tuning::segments) keys and sorts whole rows, and the schedule composes the rest of stages.
    pub irregular: bool,
    /// Whether programs are in total mode.
    pub total: bool,
}

/// A device, as expressions use it. All storages passed in were made by the same device.
pub(crate) trait Backend: Send + Sync + fmt::Debug {
    /// The adapter's name, and the interface that reaches it.
    fn name(&self) -> String;

    /// A number that no other living device has. Handles of one device share it.
    fn identity(&self) -> usize;

    /// What schedules need to know.
    fn bounds(&self) -> Bounds;

    /// Fails for an element type that the device does not compute with.
    fn supports(&self, _dtype: DType) -> Result<()> {
        Ok(())
    }

    /// A storage of `bytes` packed elements of type `dtype`.
    fn upload(self: Arc<Self>, bytes: &[u8], dtype: DType) -> Result<Storage>;

    /// Runs a schedule, and returns the storages of its results. Its commands are kept under the fingerprint of the
    /// expression, if it has one.
    fn run(
        self: Arc<Self>,
        schedule: Cow<'_, Schedule>,
        to: Destination<'_>,
        known: Option<&(Fingerprint, Leaves<'_>)>,
    ) -> Result<Results>;

    /// Whether the device has a plan cache ([`run_known`](Self::run_known)).
    fn remembers(&self) -> bool {
        false
    }

    /// Runs an expression from the plan cache, if its fingerprint is there.
    fn run_known(self: Arc<Self>, _print: &Fingerprint, _leaves: &Leaves<'_>) -> Option<Result<Results>> {
        None
    }

    /// Poisons a storage: failed work has written some of its elements, so every read is an error until all are written
    /// again.
    fn poison(&self, storage: &Storage, error: &Error);

    /// Writes packed elements, in row-major order, to elements of `storage`, after all recorded work. The layout visits
    /// no element twice.
    fn write(self: Arc<Self>, storage: &Storage, dtype: DType, layout: &Layout, bytes: &[u8]) -> Result<()>;

    /// A snapshot: a storage with the elements after all recorded work, which nothing writes.
    fn snapshot(self: Arc<Self>, storage: &Storage, dtype: DType) -> Result<Storage>;

    /// Whether it computes on threads of the host, so that a call takes the time of its work.
    fn computes_here(&self) -> bool {
        false
    }

    /// Whether all kernels of a schedule are compiled, so that running it only records.
    fn is_compiled(self: Arc<Self>, _schedule: &Schedule) -> Result<bool> {
        Ok(false)
    }

    /// The most bytes of one reading.
    fn most_read(&self) -> usize {
        PIECE
    }

    /// The `count` elements from `offset` on, after all recorded work.
    fn read(self: Arc<Self>, storage: &Storage, dtype: DType, offset: usize, count: usize) -> Reading;

    /// Fails for a form that waits, if the caller must not. `form` names it.
    fn can_wait(&self, _form: &str) -> Result<()> {
        Ok(())
    }

    /// The same for a caller that may wait. The default waits for [`read`](Self::read).
    fn read_now(
        self: Arc<Self>,
        storage: &Storage,
        dtype: DType,
        offset: usize,
        count: usize,
    ) -> Result<HostBytes> {
        pollster::block_on(self.read(storage, dtype, offset, count))
    }

    /// Starts recorded work, without waiting for it.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Waits until all recorded work has run.
    fn synchronize(&self) -> Result<()>;

    /// The same without blocking.
    fn synchronize_async(self: Arc<Self>) -> Outcome {
        Box::pin(std::future::ready(self.synchronize()))
    }

    /// Waits for reports about earlier calls, and fails if the elements of these storages are wrong.
    fn settle(self: Arc<Self>, _storages: &[Storage]) -> Outcome {
        Box::pin(std::future::ready(Ok(())))
    }

    /// The device itself, for features of one kind of device.
    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;

    /// Whether the device is lost, with all its storages.
    fn is_lost(&self) -> bool {
        false
    }

    /// Compiles the kernels of a schedule, without running it.
    fn compile(self: Arc<Self>, _schedule: &Schedule, _to: Destination<'_>) -> Result<()> {
        Ok(())
    }

    /// Keeps compiled pipelines in files of a directory from now on. Returns whether the device can.
    fn cache_pipelines(&self, _directory: &Path) -> Result<bool> {
        Ok(false)
    }

    /// Writes these files.
    fn save_pipelines(&self) -> Result<()> {
        Ok(())
    }

    /// The explanation of each stage of a schedule.
    fn explain(self: Arc<Self>, schedule: &Schedule) -> Result<Vec<Explanation>>;

    /// A handle of the same device with another `Math`, if it has one.
    fn with_math(&self, _math: Math) -> Option<Arc<dyn Backend>> {
        None
    }

    /// Whether it takes subnormal results of f32 for 0, unless in total mode.
    fn flushes(&self) -> bool {
        false
    }

    /// How it computes.
    fn math(&self) -> Math {
        Math::Precise
    }

    /// Times kernels from now on, if the device can.
    fn begin_profile(&self) -> Result<()> {
        bail!(Limit, "times of kernels on {}: only adapters measure them", self.name())
    }

    /// The times of all kernels since, once they arrive.
    fn end_profile(&self) -> Times {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The device's memory that tensors use.
    fn memory(&self) -> Memory {
        Memory::default()
    }

    /// The texts of the kernels compiled so far.
    fn kernels(&self) -> Vec<Arc<str>> {
        Vec::new()
    }
}
