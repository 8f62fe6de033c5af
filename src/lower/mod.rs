//! Lowering: from a schedule to a list of commands over slots. Pure; no device.
//!
//! A list says which memory to take, which kernels to run over which slots, in which order, and which memory to free.
//! Running work, compiling it ahead, explaining it, asking whether it is compiled and running it again with other
//! operands all read such a list.
//!
//! An upload is no command: `gpu/transfer.rs` cuts it. How storages are cut into buffers, and work over them into
//! chunks, is in [`ranges`].
//!
//! Each file uses only those before it: the cuts of a device ([`ranges`]), the [`commands`] and their construction,
//! [`elementwise`] programs, reductions ([`mod@reduce`]), [`mod@sort`]s, reductions in [`chunks`], and lookups in large
//! [`tables`].

mod chunks;
mod commands;
mod elementwise;
mod put;
mod ranges;
mod reduce;
mod sort;
mod tables;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use commands::Dispatch;
pub(crate) use commands::{Command, Commands, Note, Patch};
pub(crate) use ranges::{Cuts, VECTOR};

use commands::{Lowering, Write};
use smallvec::SmallVec;

use crate::error::{Result, bail};
use crate::ir::{Destination, Program, Schedule, Slot, Source, Stage, Storage};
use crate::layout::Layout;
use crate::plan::Target;

/// The commands of a schedule for a device, and its operands: the destinations first, each once.
pub(crate) fn lower(
    schedule: Schedule,
    to: Destination<'_>,
    target: Target,
    cuts: Cuts,
) -> Result<(Commands, SmallVec<[Storage; 4]>)> {
    let mut operands = Operands::default();
    let places: SmallVec<[(Slot, &Layout); 1]> = match to {
        Destination::New => SmallVec::new(),
        Destination::Into(places) => places.iter().map(|&(to, layout)| (operands.slot(to), layout)).collect(),
    };
    schedule.all().flat_map(Stage::tensors).for_each(|(storage, _)| _ = operands.slot(storage));
    let sizes: SmallVec<[usize; 1]> =
        (0..places.len()).map(|i| schedule.last.result_type(i).size()).collect();
    let count = operands.0.len();
    let commands = Commands { slots: count, operands: count, ..Commands::default() };
    let mut all = Lowering { target, cuts, commands, note: Note::default() };
    let mut stages: Vec<SmallVec<[Slot; 1]>> = Vec::with_capacity(schedule.stages.len());
    // Refused before any of its parts is planned.
    let is_endless = |program: &&Program| program.counted() / elementwise::MOST_PARTS > cuts.elements();
    if let Some(program) = schedule.all().flat_map(Stage::programs).find(is_endless) {
        return Err(elementwise::too_many_parts(program));
    }
    for stage in schedule.stages {
        let stage = operands.over(stage, &stages)?;
        stages.push(all.stage(&stage)?);
        all.end_stage();
    }
    let last = operands.over(schedule.last, &stages)?;
    match to {
        Destination::New => {
            let results = all.stage(&last)?;
            all.commands.results = results.iter().map(|slot| slot.number).collect();
        }
        Destination::Into(_) => all.assign_stage(last, &places)?,
    }
    all.end_stage();
    for ((slot, layout), size) in places.iter().zip(sizes) {
        let bytes = (layout.count() * size) as u64;
        let is_read = all.commands.reads(slot.number);
        all.commands.writes.push(Write { slot: slot.number, bytes, is_read });
    }
    all.commands.free_temporaries();
    Ok((all.commands, operands.0))
}

/// Storages that are read or written, by the numbers of their slots.
#[derive(Default)]
struct Operands(SmallVec<[Storage; 4]>);

impl Operands {
    /// The slot of a storage, known or new.
    fn slot(&mut self, storage: &Storage) -> Slot {
        let number = self.0.iter().position(|known| known.same(storage)).unwrap_or_else(|| {
            self.0.push(storage.clone());
            self.0.len() - 1
        });
        Slot { number, elements: storage.elements, is_exact: storage.is_exact, range: None }
    }

    /// A stage over slots: of storages, and of the results of earlier stages.
    fn over(&mut self, stage: Stage, stages: &[SmallVec<[Slot; 1]>]) -> Result<Stage> {
        stage.over(|input| match &input.source {
            Source::Tensor(storage) => Ok(Source::Slot(self.slot(storage))),
            Source::Stage { stage, result } => {
                match stages.get(*stage).and_then(|slots| slots.get(*result)) {
                    Some(&slot) => Ok(Source::Slot(slot)),
                    None => bail!(Kernel, "stage {stage} is read before it is run"),
                }
            }
            other => Ok(other.clone()),
        })
    }
}

/// Single programs over slots, for tests.
#[cfg(test)]
pub(crate) fn over_slots<const N: usize>(programs: [&Program; N]) -> [Program; N] {
    let mut operands = Operands::default();
    programs.map(|program| match operands.over(Stage::One(program.clone()), &[]) {
        Ok(Stage::One(program)) => program,
        other => panic!("{other:?}"),
    })
}
