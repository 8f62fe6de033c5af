//! Passes of a stable radix sort (`shaders/kernels/sort.wgsl`). A tile of a row belongs to a workgroup. For each digit of the
//! keys one pass counts the digits of each tile, one adds the counts up, and one moves elements. Short rows take one pass.
//! No kernel waits for another workgroup.

use smallvec::smallvec;

use super::access::Store;
use super::builder::{Made, PlanBuilder};
use super::form::{Form, Moved, Pass, Sort};
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
    pub(crate) fn new(dtype: DType, digit: u32, pass: Pass, target: Target) -> Sort {
        let (kind, words) = (KeyKind::of(dtype), (dtype.size() / size_of::<u32>()) as u32);
        let fits = |group: &u32| *group <= target.workgroup && Sort::memory(*group) <= target.shared;
        let group = [GROUP, GROUP / 2].into_iter().find(fits).unwrap_or(GROUP / 4);
        // The local sort takes four bits, and the scan eight digits.
        Sort { kind, words, digit: digit.max(4), group, pass }
    }

    /// Bytes of workgroup memory of a pass that moves: items, counts, sums, and the places of digits.
    fn memory(group: u32) -> u32 {
        4 * (EACH * group + 8 * group + 256 + 16 + 256)
    }

    /// Elements of a tile.
    pub(crate) fn tile(&self) -> usize {
        (EACH * self.group) as usize
    }

    /// The parts of an element that move.
    pub(crate) fn moved(&self) -> Moved {
        match self.pass {
            Pass::Move(moved) | Pass::Rows(moved) => moved,
            _ => Moved::default(),
        }
    }

    /// Whether workgroup memory holds the elements themselves, as nothing else moves.
    pub(crate) fn items_are_elements(&self) -> bool {
        matches!(self.pass, Pass::Move(moved) if !moved.indices) && self.words == 1
    }

    /// Whether indices are read. Else an index is the place in the row.
    pub(crate) fn reads_indices(&self) -> bool {
        self.moved().indices && self.moved().again
    }

    /// Storage bindings of a pass that moves elements.
    pub(crate) fn bindings(&self) -> usize {
        let [keys, offsets] = [1, 1];
        keys + usize::from(self.reads_indices()) + offsets + self.moved().count()
    }

    /// A pass in words.
    fn describe(&self, run: &SortNumbers) -> String {
        let bits = run.shift..run.shift + self.digit as usize;
        match self.pass {
            Pass::Count => format!("digits of tiles of {} elements counted, bits {bits:?}", self.tile()),
            Pass::Scan => format!("counts of {} digits added up", 1 << self.digit),
            Pass::Move(_) => format!("elements moved by bits {bits:?} of keys"),
            Pass::Rows(_) => format!("rows sorted, {} in a workgroup", run.tiles),
        }
    }
}

impl Plan {
    /// Plans a pass over rows, by a number of workgroups. It reads values, indices and the destinations of tiles' digits, as
    /// far as it needs them.
    pub(crate) fn sort(
        sort: Sort,
        (rows, count): (usize, usize),
        run: SortNumbers,
        reads: Vec<Slot>,
        target: Target,
    ) -> Result<Plan> {
        let elements = rows * run.length;
        let groups = workgroups(&Shape::from([elements]), count, target)?;
        let numbers = SortNumbers { pitch: groups[0] as usize, count, ..run };
        let moved = sort.moved();
        let stored = usize::from(moved.values) * sort.words as usize + usize::from(moved.indices);
        let words = match sort.pass {
            Pass::Scan => (2 * rows * run.all) << sort.digit,
            _ => elements * (sort.words as usize + usize::from(sort.reads_indices()) + stored),
        };
        let made = Made {
            stored: smallvec![DType::U32; moved.count().max(1)],
            count: elements,
            store: Store::Lanes,
            numbers: numbers.words(),
            workgroup: [sort.group, 1],
            groups,
            description: Some(sort.describe(&run)),
            form: Form::Sort(sort),
        };
        Ok(PlanBuilder::over_slots(elements, reads, (words * size_of::<u32>()) as u64, made, target))
    }
}
