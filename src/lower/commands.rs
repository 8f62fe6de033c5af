//! Commands: work as data, and the construction of command lists.

use smallvec::SmallVec;

use super::ranges::Cuts;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{Input, Program, Slot, Source};
use crate::layout::{Layout, Shape};
use crate::plan::{Field, Place, Plan, Target};

/// The most kernels of a list, so that a list fits into memory.
const MOST_DISPATCHES: usize = 1 << 18;

/// One command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Take memory for a slot with this many elements.
    Allocate { slot: usize, dtype: DType, elements: usize },
    /// Run a kernel, by its number among [`Commands::dispatches`].
    Dispatch(usize),
    /// Free the memory of a slot. No later command uses it.
    Free(usize),
}

/// A kernel and the slots that it writes. The plan has the slots that it reads.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    pub plan: Plan,
    pub writes: SmallVec<[Slot; 1]>,
}

/// The explanation of a stage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    /// Its first dispatch, after those of tables.
    pub first: usize,
    /// The end of its dispatches.
    pub end: usize,
    /// The number of reductions that run as they are, and the passes of the first.
    pub parts: usize,
    pub passes: usize,
    /// Whether tables larger than a binding were looked up before.
    pub tables: bool,
}

/// Elements of an operand that commands write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub slot: usize,
    /// The bytes of the elements.
    pub bytes: u64,
    /// Whether a kernel reads any of the operand.
    pub is_read: bool,
}

/// The place of a constant of the expression in the uniform block of a dispatch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patch {
    pub dispatch: usize,
    pub word: usize,
    /// The address of the constant's node.
    pub node: usize,
    /// Whether the next word is the constant's high one.
    pub is_wide: bool,
}

/// A list of commands, in order. The first slots are operands, and commands allocate the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands {
    pub list: SmallVec<[Command; 2]>,
    pub dispatches: SmallVec<[Dispatch; 1]>,
    /// The number of slots, and of operands among them.
    pub slots: usize,
    pub operands: usize,
    /// The slots of new results.
    pub results: SmallVec<[usize; 1]>,
    /// The operands that results are written to.
    pub writes: SmallVec<[Write; 1]>,
    pub constants: SmallVec<[Patch; 2]>,
    /// One note for each stage.
    pub notes: SmallVec<[Note; 1]>,
}

impl Commands {
    /// Whether a kernel reads a slot.
    pub(super) fn reads(&self, slot: usize) -> bool {
        let is_it = |other: &Slot| other.number == slot;
        self.dispatches.iter().any(|Dispatch { plan, writes, .. }| {
            plan.reads.iter().any(is_it) || plan.kernel.code.reads_output() && writes.iter().any(is_it)
        })
    }

    /// Frees each temporary after the last kernel that uses it.
    pub(super) fn free_temporaries(&mut self) {
        if self.dispatches.len() < 2 {
            return;
        }
        let mut is_used = vec![false; self.slots];
        self.results.iter().for_each(|&slot| is_used[slot] = true);
        let mut list = Vec::with_capacity(self.list.len() + self.slots);
        for &command in self.list.iter().rev() {
            if let Command::Dispatch(number) = command {
                let Dispatch { plan, writes, .. } = &self.dispatches[number];
                for slot in writes.iter().chain(&plan.reads).map(|slot| slot.number) {
                    if slot >= self.operands && !std::mem::replace(&mut is_used[slot], true) {
                        list.push(Command::Free(slot));
                    }
                }
            }
            list.push(command);
        }
        self.list = list.into_iter().rev().collect();
    }
}

/// A list under construction, for a device's kernels, within the limits of bindings and time.
pub(super) struct Lowering {
    pub target: Target,
    pub cuts: Cuts,
    pub commands: Commands,
    /// The explanation of the current stage.
    pub note: Note,
}

/// A slot that no command allocates, to ask how a program over it would be planned.
pub(super) fn imagined(elements: usize) -> Slot {
    Slot { number: usize::MAX, elements, is_exact: false, range: None }
}

/// A program that copies row-major elements of a slot.
pub(super) fn copy_of(dtype: DType, slot: Slot, shape: &Shape) -> Result<Program> {
    Program::copy_of(dtype, Source::Slot(slot), shape)
}

/// The slots that a program reads, each with its layout.
pub(super) fn slots(program: &Program) -> impl Iterator<Item = (Slot, &Layout)> {
    program.inputs.iter().filter_map(|input| match input.source {
        Source::Slot(slot) => Some((slot, &input.layout)),
        _ => None,
    })
}

impl Lowering {
    /// An empty list for the same device, to ask how work would be planned.
    pub(super) fn aside(&self) -> Lowering {
        let commands = Commands { slots: self.commands.slots, ..Commands::default() };
        Lowering { target: self.target, cuts: self.cuts, commands, note: Note::default() }
    }

    /// Ends a stage, and keeps its explanation.
    pub(super) fn end_stage(&mut self) {
        let end = self.commands.dispatches.len();
        let note = std::mem::replace(&mut self.note, Note { first: end, ..Note::default() });
        self.commands.notes.push(Note { end, ..note });
    }

    /// Says that all dispatches of the stage are passes of one operation.
    pub(super) fn note_passes(&mut self) {
        self.note.parts = 1;
        self.note.passes = self.commands.dispatches.len() - self.note.first;
    }

    /// A new slot with this many elements.
    pub(super) fn slot(&mut self, elements: usize, dtype: DType) -> Slot {
        let number = self.commands.slots;
        self.commands.slots += 1;
        self.commands.list.push(Command::Allocate { slot: number, dtype, elements });
        Slot { number, elements, is_exact: false, range: None }
    }

    /// A new slot for the result of a program.
    pub(super) fn result(&mut self, program: &Program) -> Result<Slot> {
        Ok(self.slot(program.result_shape().bytes(program.dtype)? / program.dtype.size(), program.dtype))
    }

    /// Adds a dispatch.
    pub(super) fn dispatch(&mut self, plan: Plan, writes: SmallVec<[Slot; 1]>) -> Result<()> {
        let number = self.commands.dispatches.len();
        if number == MOST_DISPATCHES {
            bail!(Limit, "more than {MOST_DISPATCHES} kernels: evaluate a slice of it");
        }
        self.commands.dispatches.push(Dispatch { plan, writes });
        self.commands.list.push(Command::Dispatch(number));
        Ok(())
    }

    /// Adds a pass of a reduction. Returns the slots of its results.
    pub(super) fn pass(&mut self, plan: Plan) -> Result<SmallVec<[Slot; 1]>> {
        let slots: SmallVec<[Slot; 1]> = plan.stored().map(|dtype| self.slot(plan.count, dtype)).collect();
        self.note.passes += usize::from(self.note.parts == 1);
        self.dispatch(plan, slots.clone())?;
        Ok(slots)
    }

    /// Adds a kernel that stores elements to slots: to all of new ones, or to a layout of one.
    pub(super) fn plan(&mut self, program: &Program, writes: &[Slot], layout: Option<&Layout>) -> Result<()> {
        let place = layout.map_or(Place::Fresh, |layout| Place::Into(writes[0], layout));
        let plan = Plan::new(program, place, self.target)?;
        let dispatch = self.commands.dispatches.len();
        if program.inputs.iter().any(|input| input.node.is_some() && !input.source.is_memory()) {
            let mut word = 0;
            plan.kernel.fields(|field| {
                if let Field::Scalar(input) = field
                    && let Input { node: Some(node), dtype, .. } = program.inputs[input]
                {
                    let is_wide = dtype.size() > size_of::<u32>();
                    self.commands.constants.push(Patch { dispatch, word, node, is_wide });
                }
                word += 1;
            });
        }
        self.dispatch(plan, SmallVec::from_slice(writes))
    }

    /// Adds the commands of `work`, or none of them if a kernel would bind too much. Returns whether it did.
    pub(super) fn try_to<T>(&mut self, work: impl FnOnce(&mut Lowering) -> Result<T>) -> Result<Option<T>> {
        let (list, dispatches, slots) =
            (self.commands.list.len(), self.commands.dispatches.len(), self.commands.slots);
        let (note, constants) = (self.note.clone(), self.commands.constants.len());
        match work(self) {
            Err(error) if error.kind() == crate::ErrorKind::Limit => {
                self.commands.list.truncate(list);
                self.commands.dispatches.truncate(dispatches);
                self.commands.constants.truncate(constants);
                (self.commands.slots, self.note) = (slots, note);
                Ok(None)
            }
            outcome => outcome.map(Some),
        }
    }
}
