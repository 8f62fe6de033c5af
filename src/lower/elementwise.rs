//! Elementwise programs: their results, several results at once, and assignments to elements of a slot.

use smallvec::{SmallVec, smallvec};

use super::commands::{Lowering, copy_of, slots};
use super::ranges::Cuts;
use crate::error::{Error, ErrorKind, Result, bail};
use crate::ir::{AxisOp, Input, Join, Program, ProgramKind, Slot, Source, Stage};
use crate::layout::Layout;

/// The most kernels that store one program: a stretched constant may have any number of elements.
pub(super) const MOST_PARTS: usize = 1 << 14;

pub(super) fn too_many_parts(program: &Program) -> Error {
    let text = format!("{} takes more than {MOST_PARTS} parts: evaluate slices of it", program.shape);
    Error::new(ErrorKind::Limit, text)
}

impl Lowering {
    /// Computes the results of a stage, each into a new slot.
    pub(super) fn stage(&mut self, stage: &Stage) -> Result<SmallVec<[Slot; 1]>> {
        let join = match stage {
            Stage::One(program) => return self.results(program),
            Stage::Join(join) => join,
        };
        let layout = Layout::contiguous(&join.shape)?;
        let slot = self.slot(layout.count(), join.dtype);
        self.join(join, slot, &layout)?;
        Ok(smallvec![slot])
    }

    /// Writes the results of a stage to elements of operands, as if all operands were read first.
    pub(super) fn assign_stage(&mut self, stage: Stage, to: &[(Slot, &Layout)]) -> Result<()> {
        let join = match stage {
            Stage::One(program) => return self.assign_all(program, to),
            Stage::Join(join) => join,
        };
        let [(slot, layout)] = *to else { bail!(Kernel, "a join of several results") };
        let is_read = || join.parts.iter().flat_map(slots).any(|(read, _)| read == slot);
        if join.shape == *layout.shape() && !is_read() {
            return self.join(&join, slot, layout);
        }
        let dtype = join.dtype;
        let result = self.stage(&Stage::Join(join))?[0];
        self.assign(copy_of(dtype, result, layout.shape())?, slot, layout)
    }

    /// Writes the parts of a join, none of which reads the slot, each to its slice of a layout.
    fn join(&mut self, join: &Join, to: Slot, layout: &Layout) -> Result<()> {
        join.places(layout)?.into_iter().try_for_each(|(part, own)| self.assign(part.clone(), to, &own))
    }

    /// Computes the results of a program, each into a new slot.
    fn results(&mut self, program: &Program) -> Result<SmallVec<[Slot; 1]>> {
        if program.results.len() == 1 {
            return Ok(smallvec![self.computed(program)?]);
        }
        let is_once = !program.is_scan()
            && self.cuts.is_shown(program)
            && (program.is_map() || self.cuts.is_short(program));
        if is_once && !program.shape.contains(&0) {
            let all = self.try_to(|all| match program.is_map() {
                true => all.at_once(program),
                false => all.whole(program).map(Some),
            })?;
            if let Some(all) = all.flatten() {
                return Ok(all);
            }
        }
        program.each(|one| self.computed(one))
    }

    /// Computes the result of a program into a new slot.
    pub(super) fn computed(&mut self, program: &Program) -> Result<Slot> {
        if program.shape.contains(&0) {
            return self.result(program);
        }
        let program = &*self.without_tables(program)?;
        match &program.kind {
            ProgramKind::Axis(AxisOp::Sort(sort), key) => self.sort(program, *sort, key.first().copied()),
            ProgramKind::Axis(AxisOp::Segments(own), _) => self.counted(program, *own),
            ProgramKind::Axis(AxisOp::Put, tables) => self.put(program, tables),
            ProgramKind::Map => {
                let result = self.result(program)?;
                self.write(program, result, None)?;
                Ok(result)
            }
            _ => self.reduced(program),
        }
    }

    /// Computes several results with one kernel, or with one for each slice if it would take too long. `None` if there
    /// are no such slices.
    fn at_once(&mut self, program: &Program) -> Result<Option<SmallVec<[Slot; 1]>>> {
        let count = program.result_shape().count()?;
        let results = (0..program.results.len()).map(|i| self.slot(count, program.result_type(i)));
        let results: SmallVec<[Slot; 1]> = results.collect();
        if self.cuts.is_short(program) {
            self.plan(program, &results, None)?;
            return Ok(Some(results));
        }
        let Some((axis, slices)) = self.cuts.slices(program) else { return Ok(None) };
        let row: usize = program.shape[axis + 1..].iter().product();
        for slice in slices {
            let part = program.slice(axis as isize, slice.start as isize..slice.end as isize)?;
            let range =
                |i: usize| Some(Cuts::window(slice.start * row..slice.end * row, program.result_type(i)));
            let bound = results.iter().enumerate().map(|(i, &slot)| Slot { range: range(i), ..slot });
            self.plan(&part, &bound.collect::<SmallVec<[Slot; 2]>>(), None)?;
        }
        Ok(Some(results))
    }

    /// Writes the results of a program to elements of operands, as if all operands were read first.
    fn assign_all(&mut self, program: Program, to: &[(Slot, &Layout)]) -> Result<()> {
        if let [(slot, layout)] = to {
            return self.assign(program, *slot, layout);
        }
        let count = program.result_shape().count()?;
        let is_all = |(slot, layout): &(Slot, &Layout)| {
            slot.elements == count && !slot.is_exact && layout.is_identity()
        };
        let is_once = |i: usize| to[..i].iter().all(|(slot, _)| *slot != to[i].0);
        let is_direct = program.is_map() && !program.shape.contains(&0);
        if is_direct && self.cuts.is_whole(&program) && to.iter().all(is_all) && (0..to.len()).all(is_once) {
            let writes: SmallVec<[Slot; 2]> = to.iter().map(|(slot, _)| *slot).collect();
            if self.try_to(|all| all.plan(&program, &writes, None))?.is_some() {
                return Ok(());
            }
        }
        let results = self.results(&program)?;
        let types = (0..results.len()).map(|i| program.result_type(i));
        for ((result, dtype), (slot, layout)) in results.into_iter().zip(types).zip(to) {
            self.assign(copy_of(dtype, result, layout.shape())?, *slot, layout)?;
        }
        Ok(())
    }

    /// Writes the result of a program to elements of a slot, as if all operands were read first.
    pub(super) fn assign(&mut self, program: Program, to: Slot, layout: &Layout) -> Result<()> {
        if layout.shape().contains(&0) {
            return Ok(());
        }
        let is_it = |input: &Input| matches!(input.source, Source::Slot(slot) if slot == to);
        if let Some(tables) = program.put_into(layout, is_it).filter(|_| layout.count() == to.elements) {
            return self.put_updates(&program, tables, to);
        }
        let program = match self.goes_through_a_temporary(&program, to, layout) {
            false => program,
            true => copy_of(program.dtype, self.computed(&program)?, layout.shape())?,
        };
        let program = self.without_tables(&program)?;
        self.nested(&program, to, layout)
    }

    /// Whether the result of a program is computed before any of it is written to a layout: a reduction reads all
    /// operands before its first result, and the parts of a row-fused program may have other shapes.
    fn goes_through_a_temporary(&self, program: &Program, to: Slot, layout: &Layout) -> bool {
        // The destination is bound for writing alone, so nothing else of a storage that is cut can be read.
        let elsewhere = |(source, own): (Slot, &Layout)| source == to && own != layout;
        let apart = || !self.cuts.shows(to.elements, program.dtype) && slots(program).any(elsewhere);
        let is_stored = !program.is_map() || program.shape != *layout.shape();
        is_stored || conflicts(program, to, layout) || apart()
    }

    /// Writes a program to a layout; if no one kernel can, in slices along the shortest axis. A kernel finds the index
    /// of a small element by dividing its address, which needs a nested layout.
    fn nested(&mut self, program: &Program, to: Slot, layout: &Layout) -> Result<()> {
        if program.dtype.size() >= size_of::<u32>() || layout.is_nested() {
            return self.write(program, to, Some(layout));
        }
        let shape = layout.shape();
        let axis = (0..shape.rank()).filter(|&axis| shape[axis] > 1).min_by_key(|&axis| shape[axis]);
        let Some(axis) = axis else { return Ok(()) };
        (0..shape[axis] as isize).try_for_each(|i| {
            let part = layout.slice(axis as isize, i..i + 1, 1)?;
            self.nested(&program.slice(axis as isize, i..i + 1)?, to, &part)
        })
    }

    /// Stores the elements of a program to a layout of a slot, or to all of a new one: with one kernel, or with one for
    /// each chunk if it would bind too much or take too long.
    pub(super) fn write(&mut self, program: &Program, to: Slot, layout: Option<&Layout>) -> Result<()> {
        if self.cuts.is_whole(program) && self.cuts.shows(to.elements, program.dtype) {
            return self.plan(program, &[to], layout);
        }
        let all = Layout::contiguous(&program.shape)?;
        for (number, part) in
            self.cuts.parts(program, (to, layout.unwrap_or(&all), layout.is_none())).enumerate()
        {
            if number == MOST_PARTS {
                return Err(too_many_parts(program));
            }
            let part = part?;
            self.plan(&part.program, &[part.to], if part.fresh { None } else { Some(&part.layout) })?;
        }
        Ok(())
    }
}

/// Whether writing a layout of a slot element by element would destroy an operand before it is read. Small elements are
/// written by whole words, which may hold elements beside the layout. A caller's buffer may be read as one type and
/// written as another.
fn conflicts(program: &Program, to: Slot, layout: &Layout) -> bool {
    program.inputs.iter().any(|input| match input.source {
        // A lookup may read any element.
        Source::Slot(source) if source == to && input.is_table() => true,
        Source::Slot(source) if source == to => {
            let overlaps = || program.dtype.size() < size_of::<u32>() || input.layout.may_overlap(layout);
            input.dtype != program.dtype || input.layout != *layout && overlaps()
        }
        _ => false,
    })
}
