//! Passes of a stable radix sort. A tile of a row belongs to a workgroup, and an invocation of it has neighbouring
//! elements. One pass counts the digits of each tile. A scan
//! of the counts finds where a tile's elements of each digit go: after the elements of that digit in all earlier tiles.
//! The next pass moves them there. No kernel waits for another workgroup.

use smallvec::smallvec;

use super::access::Store;
use super::builder::{Made, PlanBuilder};
use super::form::{Form, Moved, Sort};
use super::grid::workgroups;
use super::launch::Plan;
use super::numbers::SortNumbers;
use super::target::Target;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{KeyKind, Slot};
use crate::layout::Shape;
use crate::tuning::sort::{EACH, GROUP};

impl Sort {
    /// A pass over digits of some bits, of elements of a type, for an adapter.
    pub(crate) fn new(dtype: DType, digit: u32, target: Target) -> Sort {
        let (kind, words) = (KeyKind::of(dtype), (dtype.size() / size_of::<u32>()) as u32);
        let group = GROUP.min(target.workgroup);
        Sort { kind, words, digit, group, each: EACH, by_row: false, moved: None }
    }

    /// Elements of a tile.
    pub(crate) fn tile(&self) -> usize {
        (self.each * self.group) as usize
    }
}

impl Plan {
    /// Plans a pass over rows that reads values, indices and the destinations of tiles' digits, as far as it needs them.
    pub(crate) fn sort(
        sort: Sort,
        rows: usize,
        run: SortNumbers,
        reads: Vec<Slot>,
        target: Target,
    ) -> Result<Plan> {
        let tiles = run.length.div_ceil(sort.tile());
        let (count, elements) = (rows * tiles, rows * run.length);
        let shape = Shape::from([elements]);
        let groups = workgroups(&shape, count, target)?;
        let numbers = SortNumbers { pitch: groups[0] as usize, count, tiles, ..run };
        let words = sort.words as usize * usize::from(sort.reads_values());
        let moved = words + usize::from(sort.reads_indices()) + sort.stored();
        let moved = (elements * moved * size_of::<u32>()) as u64;
        let made = Made {
            stored: smallvec![DType::U32; sort.moved.map_or(1, Moved::count)],
            count: elements,
            store: Store::Lanes,
            numbers: numbers.words(),
            workgroup: [sort.group, 1],
            groups,
            description: Some(sort.describe(run.shift)),
            form: Form::Sort(sort),
        };
        Ok(PlanBuilder::over_slots(elements, reads, moved, made, target))
    }
}

impl Sort {
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
    fn describe(&self, shift: usize) -> String {
        let of = if self.by_row { "row numbers" } else { "keys" };
        let bits = shift..shift + self.digit as usize;
        match self.moved {
            None => format!("digits of tiles of {} elements counted, bits {bits:?} of {of}", self.tile()),
            Some(_) => format!("elements moved by bits {bits:?} of {of}"),
        }
    }
}
