//! Sorts: for each digit of the keys, its counts in tiles, their sums, and a move of the elements. Rows no longer than a tile
//! are sorted by one kernel. For slots larger than a binding, each range of one is moved to each range of the other.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use super::commands::{Lowering, copy_of};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{ByKey, Gives, Input, Program, ProgramKind, ReduceOp, Segments, Slot, Sort, Source, Value};
use crate::layout::Layout;
use crate::plan::{self, Count, Moved, Pass, Plan, SortNumbers};
use crate::tuning::sort::BITS;

/// What moves from pass to pass: values, or indices of elements.
#[derive(Clone, Copy, Default)]
struct Elements {
    values: Option<Slot>,
    indices: Option<Slot>,
}

/// A sort of the rows of one slot.
struct Rows {
    sort: Sort,
    /// The type of keys.
    dtype: DType,
    /// The elements that are moved in place of keys and their indices.
    moved: Option<Slot>,
    rows: usize,
    length: usize,
}

impl Lowering {
    /// Sorts the last axis, by itself or by a key. Returns the slot of the result.
    pub(super) fn sort(&mut self, program: &Program, sort: Sort, key: Option<Value>) -> Result<Slot> {
        let (shape, dtype) = (&program.shape, program.element_type());
        let (count, length) = (shape.count()?, shape[shape.rank() - 1]);
        let is_shown = self.cuts.ranges(count, dtype).len() == 1;
        // Many rows are halved. A sort by a key has one row.
        let longest =
            (0..shape.rank() - 1).rev().max_by_key(|&axis| shape[axis]).filter(|&axis| shape[axis] > 1);
        if let Some(axis) = longest.filter(|_| !is_shown) {
            let result = self.result(program)?;
            let (n, layout) =
                (shape[axis] as isize, Layout::contiguous(program.result_shape().into_owned())?);
            for range in [0..n / 2, n / 2..n] {
                let (axis, to) = (axis as isize, layout.slice(axis as isize, range.clone(), 1)?);
                let part = self.sort(&program.slice(axis, range)?, sort, None)?;
                self.write(&copy_of(program.dtype, part, to.shape())?, result, Some(&to))?;
            }
            return Ok(result);
        }
        let elements = program.clone().of_kind(ProgramKind::Map);
        let (values, dtype, moved) = match key {
            None => (self.elements(&elements, count)?, dtype, None),
            Some(key) => {
                let [keys, moved] = [key, program.results[0]].map(|value| program.narrowed(value, &[true]));
                let (keys, moved) = (keys?.of_kind(ProgramKind::Map), moved?.of_kind(ProgramKind::Map));
                (self.elements(&keys, count)?, keys.dtype, Some(self.elements(&moved, count)?))
            }
        };
        let rows = Rows { sort, dtype, moved, rows: count / length, length };
        let is_short = length <= plan::Sort::new(dtype, 0, Pass::Count, self.target).tile() && is_shown;
        let result = if is_short { self.whole_rows(&rows, values)? } else { self.by_digits(&rows, values)? };
        self.note_passes();
        let places = sort.places();
        if is_short || places.len() == length || rows.rows == 1 {
            return Ok(result);
        }
        let places = places.start as isize..places.end as isize;
        let kept = Layout::contiguous(shape)?.slice(shape.rank() as isize - 1, places, 1)?;
        self.computed(&Program::copy(Input::new(program.dtype, Source::Slot(result), kept)))
    }

    /// A slot of a program's elements: the one that it reads, or a new one.
    fn elements(&mut self, program: &Program, count: usize) -> Result<Slot> {
        match (program.steps.is_empty(), &program.inputs[..]) {
            (true, [Input { source: Source::Slot(slot), layout, .. }])
                if layout.is_identity() && slot.elements == count && !slot.is_exact =>
            {
                Ok(*slot)
            }
            _ => self.computed(program),
        }
    }

    /// Counts keys in a table for each tile, and adds the tables up.
    pub(super) fn counted(&mut self, program: &Program, own: Segments) -> Result<Slot> {
        let Segments { gives: ByKey::Count, count: bins, are_sorted: false } = own else {
            bail!(Kernel, "a stage that reduces by key");
        };
        let (count, target) = (program.shape.count()?, self.target);
        let counting = Count::new(bins, target);
        let plan = |keys: &Program, before: usize| Plan::count(keys, counting, (bins, before), target);
        let mut keys = program.clone().of_kind(ProgramKind::Map);
        let fused = if self.cuts.is_whole(&keys) { plan(&keys, 0)? } else { None };
        let mut plans: SmallVec<[Plan; 1]> = fused.into_iter().collect();
        let mut tiles = count.div_ceil(counting.tile()) * plans.len();
        if plans.is_empty() {
            let values = self.elements(&keys, count)?;
            for range in self.cuts.ranges(count, DType::U32) {
                let slot = self.cuts.bound(values, &range, DType::U32);
                keys = Program::copy_of(keys.dtype, Source::Slot(slot), &[range.len()].into())?;
                let Some(plan) = plan(&keys, tiles)? else { bail!(Kernel, "keys that lie apart") };
                plans.push(plan);
                tiles += range.len().div_ceil(counting.tile());
            }
        }
        if !self.cuts.shows(tiles * bins, DType::U32) {
            bail!(
                Limit,
                "a count of {count} elements needs more tables than a kernel binds: count parts of them"
            );
        }
        let tables = self.slot(tiles * bins, DType::U32);
        for plan in plans {
            self.dispatch(plan, smallvec![tables])?;
        }
        let all = Input::new(DType::U32, Source::Slot(tables), Layout::contiguous([tiles, bins])?);
        let result = self.computed(&Program::copy(all).reduced(ReduceOp::Sum, 0..1))?;
        self.note_passes();
        Ok(result)
    }

    /// Sorts rows no longer than a tile, and stores their wanted places.
    fn whole_rows(&mut self, rows: &Rows, values: Slot) -> Result<Slot> {
        let (sort, gives_index) = (rows.sort, rows.sort.gives != Gives::Values);
        let moved = Moved { values: !gives_index, indices: gives_index, again: rows.moved.is_some() };
        let pass = plan::Sort::new(rows.dtype, 0, Pass::Rows(moved), self.target);
        let tiles = (pass.tile() / rows.length).min(rows.rows);
        let (rounds, places) = (sort.bits.div_ceil(4) as usize, sort.places());
        let all_rounds = rounds + (usize::BITS - (tiles - 1).leading_zeros()).div_ceil(4) as usize;
        let (length, low, size, flip) = (rows.length, places.start, places.len(), flip(sort));
        let run = SortNumbers {
            length,
            tiles,
            all: rows.rows,
            rounds,
            all_rounds,
            flip,
            low,
            size,
            ..SortNumbers::default()
        };
        let result = self.slot(rows.rows * size, if gives_index { DType::U32 } else { rows.dtype });
        let reads = std::iter::once(values).chain(rows.moved).collect();
        let plan = Plan::sort(pass, (rows.rows, rows.rows.div_ceil(tiles)), run, reads, self.target)?;
        self.dispatch(plan, smallvec![result])?;
        Ok(result)
    }

    fn by_digits(&mut self, rows: &Rows, values: Slot) -> Result<Slot> {
        // As few digits as possible, of equal size, each in one word.
        let bits = rows.sort.bits;
        let word = bits.min(u32::BITS);
        let width = word.div_ceil(word.div_ceil(BITS).max(1)).max(1);
        let gives_index = rows.sort.gives != Gives::Values;
        let mut elements = Elements { values: Some(values), indices: rows.moved };
        for shift in (0..bits).step_by(width as usize) {
            let is_last = shift + width >= bits;
            let moved = Moved {
                values: !gives_index || !is_last,
                indices: gives_index,
                again: shift > 0 || rows.moved.is_some(),
            };
            let places =
                if is_last && rows.rows == 1 { rows.sort.places() } else { 0..rows.rows * rows.length };
            elements = self.by_digit(rows, (shift, width), elements, moved, places)?;
        }
        match if gives_index { elements.indices } else { elements.values } {
            Some(slot) => Ok(slot),
            None => bail!(Kernel, "a sort without a digit"),
        }
    }

    /// Moves the elements of some places by one digit: its lowest bit, and its bits.
    fn by_digit(
        &mut self,
        rows: &Rows,
        (shift, width): (u32, u32),
        elements: Elements,
        moved: Moved,
        places: Range<usize>,
    ) -> Result<Elements> {
        let count = rows.rows * rows.length;
        let pass = plan::Sort::new(rows.dtype, width, Pass::Count, self.target);
        // Elements of 32 bits move by truth values.
        let widest = if rows.dtype == DType::Bool { DType::U32 } else { rows.dtype };
        let ranges = self.cuts.ranges(count, widest);
        // Several ranges belong to one row.
        let length = |range: &Range<usize>| if ranges.len() == 1 { rows.length } else { range.len() };
        let tiles: usize = ranges.iter().map(|range| length(range).div_ceil(pass.tile())).sum();
        let counts = (rows.rows * (tiles + 1)) << pass.digit;
        if !self.cuts.shows(counts, DType::U32) {
            bail!(
                Limit,
                "a sort of {count} elements needs more counts than a kernel binds: sort parts of it"
            );
        }
        let (shift, flip) = (shift as usize, flip(rows.sort));
        let all_rounds = pass.digit.div_ceil(4) as usize;
        let run = SortNumbers { all: tiles, shift, flip, all_rounds, ..SortNumbers::default() };
        let mut before = 0;
        let runs: Vec<(SortNumbers, Range<usize>)> = ranges
            .iter()
            .map(|range| {
                let length = length(range);
                let tiles = length.div_ceil(pass.tile());
                let own = SortNumbers { length, tiles, start: range.start, before, ..run };
                before += tiles;
                (own, range.clone())
            })
            .collect();
        // The operands of a pass, over a range of the elements.
        let cuts = self.cuts;
        let reads = |pass: &plan::Sort, range: &Range<usize>| -> Vec<Slot> {
            let indices = elements.indices.filter(|_| pass.reads_indices());
            let values = elements.values.map(|slot| cuts.bound(slot, range, rows.dtype));
            values.into_iter().chain(indices.map(|slot| cuts.bound(slot, range, DType::U32))).collect()
        };
        let [counted, offsets] = [(); 2].map(|()| self.slot(counts, DType::U32));
        for (run, range) in &runs {
            self.sort_pass(pass, rows.rows, *run, reads(&pass, range), smallvec![counted])?;
        }
        let scan = plan::Sort { pass: Pass::Scan, ..pass };
        let blocks = rows.rows << (pass.digit - 3);
        let run_of_counts = SortNumbers { length: tiles << pass.digit, ..run };
        let plan = Plan::sort(scan, (rows.rows, blocks), run_of_counts, vec![counted], self.target)?;
        self.dispatch(plan, smallvec![offsets])?;
        let next = Elements {
            values: moved.values.then(|| self.slot(places.len(), rows.dtype)),
            indices: moved.indices.then(|| self.slot(places.len(), DType::U32)),
        };
        let together = plan::Sort { pass: Pass::Move(moved), ..pass };
        let moves = match together.bindings() > self.target.bindings as usize {
            // A kernel for each, as the adapter binds too few for both. Each kernel reads the digits.
            true => [Moved { indices: false, ..moved }, Moved { values: false, ..moved }].to_vec(),
            false => vec![moved],
        };
        let stored = self.cuts.ranges(places.len(), widest);
        for moved in moves {
            let pass = plan::Sort { pass: Pass::Move(moved), ..pass };
            for (to, (run, range)) in stored.iter().flat_map(|to| runs.iter().map(move |run| (to, run))) {
                let run = SortNumbers { low: places.start + to.start, size: to.len(), ..*run };
                let mut own = reads(&pass, range);
                own.push(offsets);
                let values = next.values.filter(|_| moved.values);
                let indices = next.indices.filter(|_| moved.indices);
                let values = values.map(|slot| cuts.bound(slot, to, rows.dtype));
                let indices = indices.map(|slot| cuts.bound(slot, to, DType::U32));
                let writes = values.into_iter().chain(indices).collect();
                self.sort_pass(pass, rows.rows, run, own, writes)?;
            }
        }
        Ok(next)
    }

    fn sort_pass(
        &mut self,
        pass: plan::Sort,
        rows: usize,
        run: SortNumbers,
        reads: Vec<Slot>,
        writes: SmallVec<[Slot; 1]>,
    ) -> Result<()> {
        let plan = Plan::sort(pass, (rows, rows * run.tiles), run, reads, self.target)?;
        self.dispatch(plan, writes)
    }
}

/// The bits that flip keys.
fn flip(sort: Sort) -> usize {
    if sort.descending { u32::MAX as usize } else { 0 }
}
