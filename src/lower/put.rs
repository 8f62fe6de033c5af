//! Writes at computed rows: the elements first, then the updates, of which each kernel writes those of a range.

use smallvec::smallvec;

use super::commands::Lowering;
use crate::error::{Result, bail};
use crate::ir::{Program, ProgramKind, Slot, Source, Value};
use crate::plan::Plan;

impl Lowering {
    /// Writes rows of updates to a copy of a program's elements. The tables are the updates and their places.
    pub(super) fn put(&mut self, program: &Program, tables: &[Value]) -> Result<Slot> {
        let result = self.result(program)?;
        self.write(&program.only(&program.results)?.of_kind(ProgramKind::Map), result, None)?;
        self.put_updates(program, tables, result)?;
        Ok(result)
    }

    /// Writes the updates alone to a slot with the elements.
    pub(super) fn put_updates(&mut self, program: &Program, tables: &[Value], to: Slot) -> Result<()> {
        let slots = tables.iter().filter_map(|&table| match program.input(table)?.source {
            Source::Slot(slot) => Some(slot),
            _ => None,
        });
        let [updates, places] = slots.collect::<Vec<_>>()[..] else {
            bail!(Kernel, "updates that lie nowhere")
        };
        let (dtype, shape) = (program.dtype, &program.shape);
        let (count, row) = (shape.count()?, shape[1]);
        let words = dtype.size() / size_of::<u32>();
        if !self.cuts.shows(updates.elements, dtype) || u32::try_from(count * words).is_err() {
            bail!(
                Limit,
                "{} updates of {shape} {dtype}: a kernel binds all updates, and counts fewer than 2^32 words, so \
                 write parts of them",
                updates.elements / row
            );
        }
        for range in self.cuts.ranges(count, dtype) {
            let bound = range.start * words..range.end * words;
            let plan = Plan::put([updates, places], (shape[0], row * words), bound, self.target)?;
            self.dispatch(plan, smallvec![self.cuts.bound(to, &range, dtype)])?;
        }
        self.note_passes();
        Ok(())
    }
}
