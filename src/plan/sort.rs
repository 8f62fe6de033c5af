//! Passes of a stable radix sort. A tile of a row belongs to a workgroup, and an invocation of it has neighbouring
//! elements. One pass counts the digits of each tile. A scan
//! of the counts finds where a tile's elements of each digit go: after the elements of that digit in all earlier tiles.
//! The next pass moves them there. No kernel waits for another workgroup.

use smallvec::SmallVec;

use super::access::Store;
use super::fields::{self, Number};
use super::grid::workgroups;
use super::kernel::{Binding, Kernel};
use super::launch::{Launch, Plan};
use super::makes::{Makes, Moved, Sorter};
use super::reading::Bound;
use super::target::Target;
use super::walk::{LANES, Walk};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{KeyKind, Program, Slot};
use crate::layout::{Axis, Nest, Shape};
use crate::tuning::sort::{EACH, GROUP};

/// The elements of a pass: rows, and the places of elements and counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub rows: usize,
    /// Elements of each row.
    pub length: usize,
    /// Elements and tiles of a row before these, and all tiles of a row.
    pub start: usize,
    pub before: usize,
    pub tiles: usize,
    /// The lowest bit of the digit.
    pub shift: u32,
    pub descending: bool,
    /// Elements of a row where its number is the key.
    pub row: usize,
    /// The first bound place of the destination, and how many are bound.
    pub low: usize,
    pub size: usize,
}

impl Sorter {
    /// A pass over digits of some bits, of elements of a type, for an adapter.
    pub(crate) fn new(dtype: DType, digit: u32, target: Target) -> Sorter {
        let (kind, words) = (KeyKind::of(dtype), (dtype.size() / size_of::<u32>()) as u32);
        let group = GROUP.min(target.workgroup);
        Sorter { kind, words, digit, group, each: EACH, by_row: false, moved: None }
    }

    /// Elements of a tile.
    pub(crate) fn tile(&self) -> usize {
        (self.each * self.group) as usize
    }
}

impl Plan {
    /// Plans a pass that reads values, indices and the destinations of tiles' digits, as far as it needs them.
    pub(crate) fn sort(sorter: Sorter, run: Run, reads: Vec<Slot>, target: Target) -> Result<Plan> {
        let tiles = run.length.div_ceil(sorter.tile());
        let count = run.rows * tiles;
        let elements = run.rows * run.length;
        let shape = Shape::from([elements]);
        let [x, y] = workgroups(&shape, count * sorter.group as usize, sorter.group, target)?;
        let axis = Axis { length: elements, strides: SmallVec::from_slice(&[1]) };
        let loops = Nest::of(std::iter::once(0), std::iter::once(&axis));
        let words = sorter.words as usize * usize::from(sorter.reads_values());
        let stored = sorter.stored();
        let moved = words + usize::from(sorter.reads_indices()) + stored;
        let nothing = Program::of_steps(shape, DType::U32, Vec::new(), Vec::new(), SmallVec::new());
        let bindings = vec![Binding { dtype: DType::U32, width: 1 }; reads.len()];
        let bound = Bound { bindings, slots: reads, origins: SmallVec::new() };
        let walk = (Walk::Flat, Store::Lanes, SmallVec::new());
        let (kernel, reads) = Kernel::assemble(&nothing, bound, &[], &loops, walk, target);
        let kernel = Kernel {
            workgroup: [sorter.group, 1],
            vectors: sorter.each.div_ceil(LANES as u32),
            makes: Makes::Sort(sorter),
            ..kernel
        };
        let words = fields::words(&kernel, &loops, &nothing, |number| match number {
            Number::Count => count,
            Number::Pitch => x,
            Number::Length => run.length,
            Number::Start => run.start,
            Number::Tiles => tiles,
            Number::Before => run.before,
            Number::All => run.tiles,
            Number::Shift => run.shift as usize,
            Number::Flip if run.descending => u32::MAX as usize,
            Number::Row => run.row,
            Number::Low => run.low,
            Number::Size => run.size,
            _ => 0,
        });
        let launch = Launch { words, groups: [x as u32, y as u32, 1] };
        let moved = (elements * moved * size_of::<u32>()) as u64;
        Ok(Plan { kernel, launch, reads, loops, moved, work: moved })
    }
}

impl Sorter {
    pub(crate) fn reads_values(&self) -> bool {
        !self.by_row || self.moved.is_some_and(|moved| moved.values)
    }

    /// Whether an earlier pass stored indices. Else an index is the place in the row.
    pub(crate) fn reads_indices(&self) -> bool {
        self.by_row || self.moved.is_some_and(|moved| moved.indices && moved.again)
    }

    /// Storage bindings of a pass that moves elements.
    pub(crate) fn bindings(&self) -> usize {
        let [values, indices] = [self.reads_values(), self.reads_indices()].map(usize::from);
        let offsets = 1;
        values + indices + offsets + self.moved.map_or(0, Moved::count)
    }

    /// The words stored for an element.
    fn stored(&self) -> usize {
        let words =
            |moved: Moved| usize::from(moved.values) * self.words as usize + usize::from(moved.indices);
        self.moved.map_or(0, words)
    }

    /// A pass in words.
    pub(crate) fn describe(&self, run: &Run) -> String {
        let of = if self.by_row { "row numbers" } else { "keys" };
        let bits = run.shift..run.shift + self.digit;
        match self.moved {
            None => format!("digits of tiles of {} elements counted, bits {bits:?} of {of}", self.tile()),
            Some(_) => format!("elements moved by bits {bits:?} of {of}"),
        }
    }
}
