//! The form of a kernel: what its text does with the elements of its program.

use std::ops::Range;

use smallvec::SmallVec;

use super::numbers::{
    ContractNumbers, CountNumbers, ElementsNumbers, PutNumbers, ReduceNumbers, ScanNumbers, SortNumbers,
};
use super::walk::{LANES, whole};
use crate::dtype::DType;
use crate::ir::{ByValue, GROUP, KeyKind, ReduceOp, Value};
use crate::tuning::sort::EACH;

/// What a kernel does with the elements of its program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// It stores them.
    Elements(Elements),
    Reduce(Reduce),
    Scan(Scan),
    Contract(Contract),
    /// It moves elements of a slot, and has no program.
    Sort(Sort),
    Count(Count),
    /// It writes elements of a slot to computed places, and has no program.
    Put,
}

impl Form {
    /// The numbers that its text may name, in order.
    pub(super) fn numbers(&self) -> &'static [&'static str] {
        match self {
            Form::Elements(_) => ElementsNumbers::NAMES,
            Form::Reduce(_) => ReduceNumbers::NAMES,
            Form::Scan(_) => ScanNumbers::NAMES,
            Form::Contract(_) => ContractNumbers::NAMES,
            Form::Sort(_) => SortNumbers::NAMES,
            Form::Count(_) => CountNumbers::NAMES,
            Form::Put => PutNumbers::NAMES,
        }
    }

    /// The identities of its reductions, by number.
    pub(super) fn identities(&self) -> SmallVec<[u64; 2]> {
        match self {
            Form::Reduce(reduce) => reduce.reductions().map(|own| own.op.identity(own.element)).collect(),
            Form::Scan(scan) => SmallVec::from_slice(&[scan.op.identity(scan.element)]),
            _ => SmallVec::new(),
        }
    }

    /// Its operations, in words, after those of steps.
    pub(super) fn names(&self) -> Vec<&'static str> {
        match self {
            Form::Elements(_) => Vec::new(),
            Form::Reduce(reduce) => reduce.reductions().map(|own| own.op.name()).collect(),
            Form::Scan(scan) => vec!["cumulative", scan.op.name()],
            Form::Contract(_) => vec!["product"],
            Form::Sort(_) => vec!["sort"],
            Form::Count(_) => vec!["bincount"],
            Form::Put => vec!["put"],
        }
    }

    /// The values that it computes with, among the results of its program.
    pub(crate) fn read(&self, results: &[Value]) -> Vec<Value> {
        match self {
            Form::Elements(_) | Form::Sort(_) | Form::Count(_) | Form::Put => Vec::new(),
            Form::Reduce(reduce) => reduce.reductions().map(|own| own.value).collect(),
            Form::Scan(_) => results.to_vec(),
            Form::Contract(_) => results[..2].to_vec(),
        }
    }

    /// Vectors that an invocation computes at a time.
    pub(crate) fn vectors(&self) -> u32 {
        match self {
            Form::Elements(own) => own.vectors,
            Form::Sort(_) => EACH / LANES as u32,
            _ => 1,
        }
    }
}

/// The text of a kernel that stores the elements of its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Elements {
    /// Vectors of an invocation: on as many rows, or joined by their store.
    pub vectors: u32,
    /// Whether the result is a new storage, and begins at its first element.
    pub fresh: bool,
    /// Whether the innermost axis has as many elements as an invocation of a flat walk computes, or one less. Then a
    /// carry leads from the coordinates of the first element to the others.
    pub carries: bool,
}

/// The text of a kernel that adds up products of two factors, which are the first results of its program. A third is
/// what it stores, made of the sums. The axes are those of the batch, the rows, the contracted one, and the columns,
/// along which lanes lie.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Contract {
    pub batch: Range<usize>,
    pub axis: usize,
    /// Rows of an invocation, and in each its vectors of columns.
    pub rows: u32,
    pub vectors: u32,
    /// Invocations of a workgroup, down and across.
    pub sides: [u32; 2],
    /// Whether they share loads in workgroup memory. If so, whether they load into registers while they multiply, for each
    /// factor whether neighbours load it along the contracted axis, and whether some loads lie past its end.
    pub shares: bool,
    pub early: bool,
    pub along: [bool; 2],
    pub masked: bool,
    /// Whether all products are one chunk.
    pub is_chunk: bool,
    pub fused: Fused,
}

/// How a product and its addition are rounded once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fused {
    /// By a product and a sum, of integers, or as the adapter likes.
    Open,
    /// By the builtin.
    Builtin,
    /// By a product that is exact, and a sum.
    Exact,
    /// By f64, in which products of f32 are exact.
    Doubles,
    /// By integers.
    Integers,
}

impl Fused {
    /// Whether it takes many operations, next to which loads cost little.
    pub(super) fn is_made(self) -> bool {
        matches!(self, Fused::Doubles | Fused::Integers)
    }
}

impl Contract {
    /// Products whose factors are in workgroup memory at a time.
    pub(crate) const DEPTH: u32 = 16;

    /// The rows and columns of a workgroup.
    pub(crate) fn tile(&self) -> [u32; 2] {
        [self.sides[0] * self.rows, self.places(1) * LANES as u32]
    }

    /// The vectors of rows of a workgroup, or of columns.
    pub(crate) fn places(&self, i: usize) -> u32 {
        match i {
            0 => self.sides[0] * self.rows.div_ceil(LANES as u32),
            _ => self.sides[1] * self.vectors,
        }
    }

    /// The vectors of workgroup memory from one product's to the next. Where neighbours store along the products, one
    /// more lies between them, so that they meet in no bank.
    pub(crate) fn pitch(&self, i: usize) -> u32 {
        self.places(i) + u32::from(self.along[i])
    }

    /// Bytes of workgroup memory for each byte of an element.
    pub(super) fn shared(&self) -> u32 {
        (self.pitch(0) + self.pitch(1)) * LANES as u32 * Contract::DEPTH
    }

    /// The axes of rows.
    pub(crate) fn rows_axes(&self) -> Range<usize> {
        self.batch.end..self.axis
    }
}

/// The text of a pass of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sort {
    pub kind: KeyKind,
    /// Words of an element.
    pub words: u32,
    /// Bits of a digit.
    pub digit: u32,
    /// Invocations of a workgroup.
    pub group: u32,
    pub pass: Pass,
}

/// What a pass of a sort does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pass {
    /// It counts the digits of each tile.
    Count,
    /// It adds up the counts of tiles.
    Scan,
    /// It moves elements by a digit.
    Move(Moved),
    /// It sorts whole rows, several in a tile.
    Rows(Moved),
}

/// The text of a kernel that counts the keys of a tile in the tile's own table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Count {
    /// Counts of a table.
    pub table: u32,
    /// Invocations of a workgroup, and elements of each.
    pub group: u32,
    pub each: u32,
}

/// The parts of an element that move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Moved {
    pub values: bool,
    pub indices: bool,
    /// Whether indices are read: an earlier pass has moved them, or they are other elements.
    pub again: bool,
}

impl Moved {
    /// The number of storages that it moves to.
    pub(crate) fn count(self) -> usize {
        usize::from(self.values) + usize::from(self.indices)
    }
}

/// Where the four lanes of a vector lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum VectorAxis {
    /// Side by side along the row, so that they are reduced at the end.
    Reduced,
    /// Side by side along the innermost axis, which is kept: one place in four rows.
    Kept,
    /// In four rows, in the order of the result. Coordinates are divided for each lane.
    Gathered,
}

/// The text of a kernel that reduces rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reduce {
    pub vector_axis: VectorAxis,
    /// The axes of the row.
    pub axes: Range<usize>,
    pub tile: Tile,
    /// Whether some loads lie past the end of the row, and are replaced by the identity.
    pub masked: bool,
    pub phases: Vec<Phase>,
    pub output: Output,
    /// For each value, its phase, and whether it is of the row.
    pub from: ByValue<usize>,
    pub of_row: ByValue<bool>,
}

/// The mapping of a row to invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tile {
    /// Vectors of accumulators of a block, and an invocation's share of them, which lie evenly apart.
    pub accumulators: u32,
    pub own: u32,
    /// Vectors of a block, and blocks of a row that the kernel reads, rounded up to a power of two.
    pub block: u32,
    pub blocks: u32,
    /// Rows of a workgroup.
    pub beside: u32,
}

impl Tile {
    /// Invocations with the accumulators of a block.
    pub(crate) fn lanes(&self) -> u32 {
        self.accumulators / self.own
    }

    /// Invocations that share a row.
    pub(crate) fn group(&self) -> u32 {
        self.lanes() * self.blocks
    }

    /// Whether the invocations of a row meet in workgroup memory. Otherwise a row has one.
    pub(crate) fn meets(&self) -> bool {
        self.group() > 1
    }
}

/// The results of a kernel that reduces rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Output {
    /// The value of each block, for another pass.
    Partials,
    /// One element of each row.
    OnePerRow,
    /// All elements, with this many vectors of an invocation in one iteration.
    Elements { unroll: u32 },
}

/// The reductions of one reading of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Phase {
    pub reductions: Vec<Reduction>,
    /// Vectors of each accumulator that are loaded before they are added, and whether there are more.
    pub unroll: u32,
    pub is_loop: bool,
    /// Values of elements that stay in an invocation's registers, for this phase, later ones and the output. Empty if
    /// each phase loads and computes again.
    pub holds: Vec<Value>,
}

impl Phase {
    /// The vectors that an invocation loads in one iteration: this many of each of its accumulators.
    pub(crate) fn vectors(&self, tile: &Tile) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (unroll, own) = (self.unroll, tile.own);
        (0..unroll).flat_map(move |k| (0..own).map(move |i| (k, i)))
    }

    /// The values that it reads.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value> {
        self.reductions.iter().flat_map(|own| std::iter::once(own.value).chain(own.index))
    }
}

/// One reduction of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reduction {
    pub op: ReduceOp,
    /// The type of its operand.
    pub element: DType,
    pub value: Value,
    /// The index of each value, from an earlier pass.
    pub index: Option<Value>,
    /// The operand with its result.
    pub gives: Value,
    /// Its number among all reductions of the program.
    pub number: usize,
}

impl Reduce {
    /// The phase that loaded the registers of a phase.
    pub(crate) fn holder(&self, phase: usize) -> usize {
        let same = |&before: &usize| self.phases[before].holds == self.phases[phase].holds;
        (0..=phase).rev().take_while(same).last().unwrap_or(phase)
    }

    /// Whether an axis is kept.
    pub(crate) fn keeps(&self, axis: usize) -> bool {
        !self.axes.contains(&axis)
    }

    /// All reductions, by number.
    pub(crate) fn reductions(&self) -> impl Iterator<Item = &Reduction> {
        let mut all: Vec<&Reduction> = self.phases.iter().flat_map(|phase| &phase.reductions).collect();
        all.sort_by_key(|own| own.number);
        all.into_iter()
    }

    /// The types of partial results, each in a binding of its own: a value, and its index if it has one.
    pub(crate) fn partials(&self) -> impl Iterator<Item = DType> {
        self.reductions().flat_map(|own| {
            let index = own.op.row().gives_index.then_some(DType::U32);
            [Some(whole(own.element)), index].into_iter().flatten()
        })
    }
}

/// The results of a pass of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scanned {
    /// The last value of each tile, and its parts.
    Lasts,
    /// All values. `carried` is the state before each tile, if there is any.
    Values { carried: bool },
}

impl Scanned {
    /// Operands of the state before a tile of that many levels: the sums of all tiles, and the parts of each tile's
    /// last value.
    pub(crate) fn carried(self, levels: u32) -> usize {
        if self == (Scanned::Values { carried: true }) { 1 + levels as usize } else { 0 }
    }
}

/// The text of a kernel that scans.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scan {
    pub op: ReduceOp,
    /// The type of its operand.
    pub element: DType,
    pub scanned: Scanned,
    pub exclusive: bool,
    /// Whether the four lanes of a vector lie along the run, which is the innermost axis then. Otherwise they lie along
    /// a kept axis, which is the innermost.
    pub along: bool,
    /// The axis of the run.
    pub run: usize,
    /// Whether all tiles are whole.
    pub whole: bool,
    /// The levels of a tile, which has 16 values to this power.
    pub levels: u32,
}

impl Scan {
    /// Groups of a tile.
    pub(crate) fn groups(&self) -> u32 {
        (GROUP as u32).pow(self.levels - 1)
    }

    /// Operands of the state before a tile.
    pub(crate) fn carried(&self) -> usize {
        self.scanned.carried(self.levels)
    }
}
