//! The table of operations along axes, whose elements meet: reductions, scans, products of matrices, sorts, reductions by
//! key. A program has at most one. A method here is a column: the graph, the schedule and flattening ask nothing else of
//! an operation. Devices match on it where they run it.

use std::ops::Range;

use super::reduce::ReduceOp;
use super::sort::{Gives, Sort};
use crate::dtype::DType;
use crate::layout::Shape;

/// A reduction of an operand of a known shape, along neighbouring axes.
///
/// These axes are one *run*, in row-major order. Axes of length 1 do not matter. Runs without elements and of one
/// element are operations and never become reductions.
///
/// A float sum or product is made in this order. The run is cut into blocks of [`BLOCK`] values. A block has
/// [`ACCUMULATORS`]: number i adds up `x[i], x[i + 64], x[i + 128] ..` of the block in sequence. They become one by
/// halving: for h = 32, 16, .. 1, `a[i] = a[i] + a[i + h]` for every i < h with an `a[i + h]`. The values of the blocks
/// are the values of the next round, until there is one. A zero of a sum is +0.
///
/// A scan goes by groups of [`GROUP`] values: `y[0] = x[0]`, `y[k] = y[k - 1] + x[k]`. With more than one group, `c` is
/// the scan of the last y of every group but the last, and each y of group g > 0 becomes `c[g - 1] + y`. A zero of a
/// scan of sums is +0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReduceAxes {
    pub op: ReduceOp,
    pub axes: Range<usize>,
}

impl ReduceAxes {
    /// The values of a run.
    pub(crate) fn count(&self, operand: &Shape) -> usize {
        operand[self.axes.clone()].iter().product()
    }
}

/// A cumulative sum or product along an axis, in the order that stands at [`ReduceAxes`]: the result has the operand's
/// shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScanAxis {
    pub op: ReduceOp,
    pub axis: usize,
    /// Whether each result leaves its own element out. The first result is the identity.
    pub exclusive: bool,
}

/// The products of two operands, which broadcast, added up along an axis in the order of [`CHUNK`](super::CHUNK).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Contract {
    pub axis: usize,
}

/// The result for the elements of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ByKey {
    Count,
    Last,
    Reduced(ReduceOp),
}

/// The rows of a matrix by a column of keys, 32-bit words: a result for each key below a count. The elements of other
/// keys are left out. Counts have keys alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Segments {
    pub gives: ByKey,
    pub count: usize,
    /// Whether the elements of key `k` are those from the place that a search among the keys finds for `k` up to the
    /// place for `k + 1`.
    pub are_sorted: bool,
}

/// An operation along axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AxisOp {
    Reduce(ReduceAxes),
    Scan(ScanAxis),
    Contract(Contract),
    /// A second operand is the key by which the first is moved.
    Sort(Sort),
    /// The last operand is the column of keys.
    Segments(Segments),
    /// The rows of a matrix, some of which are replaced by rows of updates, the second operand. The third is a column of
    /// u32: the place of each update. Places differ, and an update whose place is past the last row is dropped.
    Put,
}

/// How an operation reads its operands, which decides what else its program holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Each element once. It computes the steps before it, and one program has several results of one operation.
    Once,
    /// Each element of two factors for several results. It computes cheap steps where it loads.
    Factors,
    /// Each element once. It computes cheap steps where it loads, and its program has one result.
    Loaded,
    /// Elements in memory, several times.
    Stored,
}

impl AxisOp {
    /// The operands that broadcast to the shape of its elements. The others are tables.
    pub(super) fn broadcast(&self, operands: usize) -> usize {
        if *self == AxisOp::Put { 1 } else { operands }
    }

    /// Its name, in a word.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            AxisOp::Reduce(own) => own.op.name(),
            AxisOp::Scan(own) if own.op.is_sum() => "cumsum",
            AxisOp::Scan(_) => "cumprod",
            AxisOp::Contract(_) => "product",
            AxisOp::Sort(own) => own.name(),
            AxisOp::Segments(own) => own.name(),
            AxisOp::Put => "put",
        }
    }

    pub(crate) fn operands(&self) -> Operands {
        match self {
            AxisOp::Reduce(_) | AxisOp::Scan(_) => Operands::Once,
            AxisOp::Contract(_) => Operands::Factors,
            AxisOp::Segments(Segments { gives: ByKey::Count, .. }) | AxisOp::Put => Operands::Loaded,
            AxisOp::Sort(_) | AxisOp::Segments(_) => Operands::Stored,
        }
    }

    /// The axes along which elements meet.
    pub(crate) fn axes(&self, rank: usize) -> Range<usize> {
        match self {
            AxisOp::Reduce(own) => own.axes.clone(),
            AxisOp::Scan(ScanAxis { axis, .. }) | AxisOp::Contract(Contract { axis }) => *axis..axis + 1,
            AxisOp::Sort(_) => rank - 1..rank,
            AxisOp::Segments(_) | AxisOp::Put => 0..1,
        }
    }

    /// Whether the elements along these axes are a row, of which a result has one element.
    pub(crate) fn reduces(&self) -> bool {
        matches!(self, AxisOp::Reduce(_) | AxisOp::Contract(_))
    }

    /// The shape of the result for operands that broadcast to a shape.
    pub(crate) fn shape(&self, over: &Shape) -> Shape {
        match self {
            AxisOp::Sort(own) => over.with(over.rank() - 1, own.places().len()),
            AxisOp::Segments(own) => over.with(0, own.count),
            AxisOp::Scan(_) | AxisOp::Put => over.clone(),
            _ => self.axes(over.rank()).fold(over.clone(), |shape, axis| shape.with(axis, 1)),
        }
    }

    /// The type of the result for elements of a type. `None` if it does not take these.
    pub(crate) fn result(&self, element: DType) -> Option<DType> {
        match self {
            AxisOp::Reduce(own) => own.op.result(element),
            AxisOp::Segments(Segments { gives: ByKey::Count, .. })
            | AxisOp::Sort(Sort { gives: Gives::Indices, .. }) => Some(DType::U32),
            _ => Some(element),
        }
    }

    /// The tensors that a kernel binds for a result. An index is stored beside a value, and a scan reads the state before
    /// tiles, and its parts.
    pub(crate) fn tensors(&self) -> usize {
        match self {
            AxisOp::Scan(_) => 3,
            AxisOp::Reduce(own) if own.op.row().gives_index => 2,
            _ => 1,
        }
    }

    /// The operation that makes several values one.
    pub(crate) fn combines(&mut self) -> Option<&mut ReduceOp> {
        match self {
            AxisOp::Reduce(ReduceAxes { op, .. })
            | AxisOp::Scan(ScanAxis { op, .. })
            | AxisOp::Segments(Segments { gives: ByKey::Reduced(op), .. }) => Some(op),
            _ => None,
        }
    }
}

impl Segments {
    pub(crate) fn name(&self) -> &'static str {
        match self.gives {
            ByKey::Count => "bincount",
            ByKey::Last => "last by key",
            ByKey::Reduced(op) => op.name(),
        }
    }
}
