//! What kernels make of the elements of their programs: all that a text depends on where it folds, scans or
//! computes rows.

use std::ops::Range;

use smallvec::SmallVec;

use super::turns::Turns;
use super::walk::whole;
use crate::dtype::DType;
use crate::ir::{ByValue, Fold, Value};

/// What a kernel makes of the elements of its program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Makes {
    /// It stores them.
    Elements,
    Fold(Folder),
    Scan(Scanner),
    Rows(RowFolder),
}

/// Where the four lanes of an invocation lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lanes {
    /// Next to each other along the run, so that they are folded themselves at last.
    Run,
    /// Next to each other along the innermost axis, which is kept: the same place in four runs.
    Kept,
    /// One after the other in the order of the result: coordinates by division, per lane.
    Anywhere,
}

/// What a kernel's text depends on where it folds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Folder {
    pub fold: Fold,
    /// The type of what is folded.
    pub element: DType,
    pub lanes: Lanes,
    pub halves: Halves,
    /// The axes of the run.
    pub run: Range<usize>,
    /// Whether all blocks are whole, so that nothing is past the end.
    pub whole: bool,
    /// Values that are folded side by side.
    pub values: usize,
    /// Whether the index of each value is a result of the program too, from a pass before.
    pub indexed: bool,
    pub stored: SmallVec<[Stored; 2]>,
}

/// What is stored of each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stored {
    Value(usize),
    Index(usize),
}

impl Folder {
    /// The type in which something is stored, of whole words.
    pub(crate) fn stored_type(&self, stored: Stored) -> DType {
        match stored {
            Stored::Value(_) => whole(self.element),
            Stored::Index(_) => DType::U32,
        }
    }

    /// Whether an axis is kept.
    pub(crate) fn keeps(&self, axis: usize) -> bool {
        !self.run.contains(&axis)
    }
}

/// How invocations fold blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Halves {
    /// Values that are loaded and folded before others are.
    pub straight: u32,
    /// How all values of an invocation come by.
    pub turns: Turns,
    /// Invocations that share a block.
    pub team: u32,
    /// Whether they make one value of it, in workgroup memory; else each stores its own vector.
    pub meets: bool,
    /// Runs that an invocation folds, each of one block.
    pub runs: u32,
}

impl Halves {
    /// Whether invocations share a block without meeting, each of which stores its own vector.
    pub(crate) fn shares(&self) -> bool {
        self.team > 1 && !self.meets
    }
}

/// What a kernel's text depends on where it computes rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RowFolder {
    pub lanes: Lanes,
    /// Invocations that share a row.
    pub team: u32,
    /// The axes of the row.
    pub run: Range<usize>,
    /// Whether a row is a whole block, so that nothing is past its end.
    pub whole: bool,
    /// Whether a result is one element of each row.
    pub kept: bool,
    /// Vectors that are stored in a turn, where results are all elements.
    pub stores: u32,
    /// What is dear of the elements that are the result, if a phase folds it: that stores it where the result will be, and
    /// what is given loads it from there.
    pub saved: Option<Saved>,
    pub phases: Vec<Phase>,
    /// Of each value, the phase from which on it is known, and whether it is of the row.
    pub from: ByValue<usize>,
    pub of_row: ByValue<bool>,
}

/// A value of elements that a phase stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Saved {
    pub phase: usize,
    pub value: Value,
}

/// Folds that are made in one turn through a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Phase {
    pub folds: Vec<PhaseFold>,
    /// Values that are loaded straight, and how the turns go that this takes.
    pub straight: u32,
    pub turns: Turns,
}

/// A fold of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PhaseFold {
    pub fold: Fold,
    /// The type of what is folded.
    pub element: DType,
    pub value: Value,
    /// The operand that stands for what it gives.
    pub gives: Value,
    /// Its number among all folds of the program.
    pub number: usize,
}

impl RowFolder {
    /// Whether an axis is kept.
    pub(crate) fn keeps(&self, axis: usize) -> bool {
        !self.run.contains(&axis)
    }

    /// The value of elements that is loaded and not computed again for what is given.
    pub(crate) fn saved_value(&self) -> Option<Value> {
        self.saved.map(|saved| saved.value)
    }

    /// All folds, in the order of their numbers.
    pub(crate) fn folds(&self) -> impl Iterator<Item = &PhaseFold> {
        let mut all: Vec<&PhaseFold> = self.phases.iter().flat_map(|phase| &phase.folds).collect();
        all.sort_by_key(|fold| fold.number);
        all.into_iter()
    }
}

/// What a kernel makes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scanned {
    /// The last value of each group, each by an invocation.
    Lasts,
    /// All values, a group by an invocation, after what is `carried` from before, if anything is.
    Groups { carried: bool },
    /// All values, a run by an invocation, through so many levels of groups.
    Runs { levels: u32 },
}

/// What a kernel's text depends on where it scans.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scanner {
    pub fold: Fold,
    /// The type of what is scanned.
    pub element: DType,
    pub scanned: Scanned,
    pub exclusive: bool,
    /// Whether the four lanes of a vector lie along the run, which is the innermost axis then. Else they lie
    /// along a kept axis, which is that.
    pub along: bool,
    /// The axis of the run.
    pub run: usize,
    /// Whether all groups are whole.
    pub whole: bool,
    /// Vectors across runs that an invocation has side by side.
    pub vectors: u32,
}

impl Scanner {
    /// Whether what comes before a group is read from memory.
    pub(crate) fn is_carried(&self) -> bool {
        self.scanned == Scanned::Groups { carried: true }
    }

    /// The type in which results are stored, of whole words.
    pub(crate) fn stored_type(&self) -> DType {
        whole(self.element)
    }
}
