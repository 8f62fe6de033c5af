//! What kernels make of the elements of their programs: all that a text depends on where it reduces or scans.

use std::ops::Range;

use super::walk::whole;
use crate::dtype::DType;
use crate::ir::{ByValue, GROUP, KeyKind, ReduceOp, Value};

/// What a kernel makes of the elements of its program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Makes {
    /// It stores them.
    Elements,
    Reduce(Reduce),
    Scan(Scanner),
    Contract(Contract),
    Sort(Sorter),
}

/// What a kernel's text depends on where it adds up products of two factors, which are the results of its program. Axes are
/// those of a batch, of rows, the one that is contracted, and those of columns, along which lanes lie.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Contract {
    pub batch: Range<usize>,
    pub axis: usize,
    /// Rows and vectors of columns of an invocation.
    pub rows: u32,
    pub vectors: u32,
    /// Invocations of a workgroup, down and across.
    pub sides: [u32; 2],
    /// Whether these share what they load, in workgroup memory; and then, of each factor, whether those side by side load it
    /// along the contracted axis, and whether some of what is loaded lies past its end.
    pub shares: bool,
    pub along: [bool; 2],
    pub masked: bool,
}

impl Contract {
    /// Products whose factors are in workgroup memory at a time.
    pub(crate) const DEPTH: u32 = 16;

    /// The axes of rows.
    pub(crate) fn rows_axes(&self) -> Range<usize> {
        self.batch.end..self.axis
    }
}

/// What a kernel's text depends on where it counts the digits of keys, or moves elements by them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sorter {
    pub kind: KeyKind,
    /// Words of an element.
    pub words: u32,
    /// Bits of a digit.
    pub digit: u32,
    /// Invocations of a workgroup, and neighbouring elements that each of them has.
    pub group: u32,
    pub each: u32,
    /// Whether keys are the numbers of rows, by the indices of elements.
    pub by_row: bool,
    /// What is moved. Else digits are counted.
    pub moved: Option<Moved>,
    /// Counts of a table in workgroup memory, if elements are counted as they are.
    pub table: Option<u32>,
}

/// What is moved of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Moved {
    pub values: bool,
    pub indices: bool,
    /// Whether a pass before has moved elements.
    pub again: bool,
    /// Whether indices become those within rows.
    pub of_row: bool,
}

/// Where the four lanes of a vector lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum VectorAxis {
    /// Next to each other along the row, so that they are reduced themselves at last.
    Reduced,
    /// Next to each other along the innermost axis, which is kept: the same place in four rows.
    Kept,
    /// In four rows, one after the other in the order of the result: coordinates by division, per lane.
    Gathered,
}

/// What a kernel's text depends on where it reduces rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reduce {
    pub vector_axis: VectorAxis,
    /// The axes of the row.
    pub axes: Range<usize>,
    pub tile: Tile,
    /// Whether some of what is loaded lies past the end of the row, and counts for nothing.
    pub masked: bool,
    pub phases: Vec<Phase>,
    pub output: Output,
    /// Of each value, the phase from which on it is known, and whether all of a row has it in common.
    pub from: ByValue<usize>,
    pub of_row: ByValue<bool>,
}

/// How a row is laid over invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tile {
    /// Vectors in which a block is accumulated, and how many of them an invocation has: they lie evenly apart.
    pub accumulators: u32,
    pub own: u32,
    /// Vectors of a block, and blocks of a row that the kernel reads, rounded up to a power of two.
    pub block: u32,
    pub blocks: u32,
    /// Whether those that have the accumulators and blocks of a row meet in workgroup memory. Else one invocation has all
    /// blocks.
    pub meets: bool,
    /// Whether one invocation has all accumulators of a block, and reduces so many at once as are its own, one turn after the
    /// other.
    pub in_turn: bool,
    /// Rows of a workgroup.
    pub beside: u32,
    /// Neighbouring vectors that an invocation has of each place in the row, where lanes lie across rows.
    pub columns: u32,
}

impl Tile {
    /// Invocations that have the accumulators of a block.
    pub(crate) fn lanes(&self) -> u32 {
        self.accumulators / self.own
    }

    /// Invocations that share a row.
    pub(crate) fn group(&self) -> u32 {
        if self.meets { self.lanes() * self.blocks } else { 1 }
    }

    /// Accumulators of an invocation: of the first place in the row those of all its columns, and so on.
    pub(crate) fn all(&self) -> u32 {
        self.own * self.columns
    }

    /// Partial results that are left of a block.
    pub(crate) fn left(&self) -> u32 {
        if self.meets || self.in_turn { 1 } else { self.lanes() }
    }
}

/// What a kernel stores of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Output {
    /// What each block was reduced to, for another pass.
    Partials,
    /// One element of each row.
    OnePerRow,
    /// All elements, so many vectors of an invocation in one iteration.
    Elements { unroll: u32 },
}

/// Reductions that are made in one iteration through a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Phase {
    pub reductions: Vec<Reduction>,
    /// Vectors of each accumulator that are loaded before they are added, and whether there are more.
    pub unroll: u32,
    pub is_loop: bool,
    /// Values of elements that an invocation has in registers from here on, for this phase, those after it and the output.
    /// None where each loads and computes again.
    pub holds: Vec<Value>,
}

impl Phase {
    /// The vectors that an invocation loads in one iteration: so many of each of its accumulators.
    pub(crate) fn vectors(&self, tile: &Tile) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (unroll, all) = (self.unroll, tile.all());
        (0..unroll).flat_map(move |k| (0..all).map(move |i| (k, i)))
    }

    /// The values that it reads.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value> {
        self.reductions.iter().flat_map(|own| std::iter::once(own.value).chain(own.index))
    }
}

/// A reduction of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reduction {
    pub op: ReduceOp,
    /// The type of what is reduced.
    pub element: DType,
    pub value: Value,
    /// The index of each value, where a pass before gave it.
    pub index: Option<Value>,
    /// The operand that stands for what it gives.
    pub gives: Value,
    /// Its number among all of the program.
    pub number: usize,
}

impl Reduce {
    /// The phase that put what a phase holds into registers.
    pub(crate) fn holder(&self, phase: usize) -> usize {
        let same = |&before: &usize| self.phases[before].holds == self.phases[phase].holds;
        (0..=phase).rev().take_while(same).last().unwrap_or(phase)
    }

    /// Whether an axis is kept.
    pub(crate) fn keeps(&self, axis: usize) -> bool {
        !self.axes.contains(&axis)
    }

    /// All reductions, in the order of their numbers.
    pub(crate) fn reductions(&self) -> impl Iterator<Item = &Reduction> {
        let mut all: Vec<&Reduction> = self.phases.iter().flat_map(|phase| &phase.reductions).collect();
        all.sort_by_key(|own| own.number);
        all.into_iter()
    }

    /// The types of partial results, each in a binding of its own: a value, and its index where it has one.
    pub(crate) fn partials(&self) -> impl Iterator<Item = DType> {
        self.reductions().flat_map(|own| {
            let index = own.op.row().gives_index.then_some(DType::U32);
            [Some(whole(own.element)), index].into_iter().flatten()
        })
    }
}

/// What a kernel makes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scanned {
    /// What is last in each tile, and the parts that it is made of.
    Lasts,
    /// All values, after what is `carried` from the tiles before, if anything is.
    Values { carried: bool },
}

impl Scanned {
    /// Operands that tell what comes before a tile of that many levels: the sums of all tiles, and the parts of what is last
    /// in each.
    pub(crate) fn carried(self, levels: u32) -> usize {
        if self == (Scanned::Values { carried: true }) { 1 + levels as usize } else { 0 }
    }
}

/// What a kernel's text depends on where it scans.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scanner {
    pub op: ReduceOp,
    /// The type of what is scanned.
    pub element: DType,
    pub scanned: Scanned,
    pub exclusive: bool,
    /// Whether the four lanes of a vector lie along the run, which is the innermost axis then. Else they lie
    /// along a kept axis, which is that.
    pub along: bool,
    /// The axis of the run.
    pub run: usize,
    /// Whether all tiles are whole.
    pub whole: bool,
    /// Of a tile: it has 16 values to this power.
    pub levels: u32,
    /// Whether an invocation has a group, and those of a tile meet in workgroup memory. Else it has a tile.
    pub meets: bool,
}

impl Scanner {
    /// Groups of a tile.
    pub(crate) fn groups(&self) -> u32 {
        (GROUP as u32).pow(self.levels - 1)
    }

    /// Operands that tell what comes before a tile.
    pub(crate) fn carried(&self) -> usize {
        self.scanned.carried(self.levels)
    }

    /// The type in which results are stored, of whole words.
    pub(crate) fn stored_type(&self) -> DType {
        whole(self.element)
    }
}
