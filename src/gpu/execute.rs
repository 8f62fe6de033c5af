//! Execution of commands: run them, compile their kernels ahead, ask whether they are compiled, and run them again with
//! other operands.

use std::borrow::Cow;
use std::sync::{Arc, Weak};

use smallvec::SmallVec;

use super::buffer::{Bound, bound};
use super::cached::{CachedPlan, Work};
use super::device::{Gpu, Parts};
use super::pipelines::Compiled;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::ir::{
    Backend, Destination, Fingerprint, Leaves, Math, Program, Results, Schedule, Slot, Source, Stage, Storage,
};
use crate::layout::Layout;
use crate::lower::{Command, Commands, lower};

/// The words of a uniform block.
type Words = SmallVec<[u32; 64]>;

/// A schedule's commands, kept with the schedule.
struct Ready {
    /// The handle that the commands are for: its device state, and how it computes functions.
    parts: Weak<Parts>,
    math: Math,
    work: Work,
    operands: Box<[Storage]>,
}

/// Runs a schedule: the storages of its results.
pub(super) fn run(
    gpu: &Arc<Gpu>,
    schedule: Cow<'_, Schedule>,
    to: Destination<'_>,
    known: Option<&(Fingerprint, Leaves<'_>)>,
) -> Result<Results> {
    let is_new = matches!(to, Destination::New);
    let is_own =
        |ready: &&Ready| ready.parts.as_ptr() == Arc::as_ptr(&gpu.parts) && ready.math == gpu.adapter.math;
    if is_new && let Some(ready) = schedule.ready.get::<Ready>().filter(is_own) {
        return execute(gpu, &ready.work, &|slot| &ready.operands[slot], &|_| None);
    }
    // A tensor without memory would take more kernels than a list has.
    let new = schedule.stages.iter().chain(is_new.then_some(&schedule.last));
    new.flat_map(Stage::byte_sizes).try_for_each(|bytes| gpu.can_have(bytes? as u64))?;
    let again = match &schedule {
        Cow::Borrowed(schedule) if is_new && known.is_none() && schedule.ready.again() => Some(*schedule),
        _ => None,
    };
    let (commands, operands) = lowered(gpu, schedule.into_owned(), to)?;
    let mut compiled: SmallVec<[Arc<Compiled>; 1]> = SmallVec::new();
    for dispatch in &commands.dispatches {
        compiled.push(gpu.pipeline(&dispatch.plan.kernel)?);
    }
    let work = Work { commands, compiled: compiled.iter().map(Arc::downgrade).collect() };
    let results = execute(gpu, &work, &|slot| &operands[slot], &|_| None)?;
    if let Some((print, leaves)) = known {
        gpu.plans.keep(print, || CachedPlan::new(leaves, work, &operands));
    } else if let Some(schedule) = again {
        let parts = Arc::downgrade(&gpu.parts);
        let operands = operands.into_iter().collect();
        schedule.ready.put(Ready { parts, math: gpu.adapter.math, work, operands });
    }
    Ok(results)
}

/// Runs an expression from the plan cache, if its fingerprint is there.
pub(super) fn run_known(gpu: &Arc<Gpu>, print: &Fingerprint, leaves: &Leaves<'_>) -> Option<Result<Results>> {
    let plan = gpu.plans.find(print)?;
    let operand = |slot: usize| leaves.storages[plan.operands[slot]];
    let words = |dispatch: usize| (!plan.constants.is_empty()).then(|| plan.words(dispatch, leaves));
    Some(execute(gpu, &plan.work, &operand, &words))
}

/// The commands of a schedule, and their operands.
pub(super) fn lowered(
    gpu: &Gpu,
    schedule: Schedule,
    to: Destination<'_>,
) -> Result<(Commands, SmallVec<[Storage; 4]>)> {
    schedule.all().flat_map(Stage::programs).try_for_each(|program| gpu.supports(program))?;
    lower(schedule, to, gpu.adapter, gpu.cuts())
}

/// Runs a program into a new storage.
pub(super) fn eval(gpu: &Arc<Gpu>, program: Program) -> Result<Storage> {
    let mut results = run(gpu, Cow::Owned(Schedule::only(program)), Destination::New, None)?;
    results.pop().ok_or_else(|| Error::new(ErrorKind::Kernel, "a program without a result"))
}

/// Compiles the kernels of a schedule.
pub(super) fn compile(gpu: &Arc<Gpu>, schedule: &Schedule, to: Destination<'_>) -> Result<()> {
    let (commands, _) = lowered(gpu, schedule.clone(), to)?;
    commands.dispatches.iter().try_for_each(|dispatch| gpu.pipeline(&dispatch.plan.kernel).map(drop))?;
    gpu.parts.connection.check()
}

/// Whether all kernels of a schedule are compiled.
pub(super) fn is_compiled(gpu: &Arc<Gpu>, schedule: &Schedule) -> Result<bool> {
    let (commands, _) = lowered(gpu, schedule.clone(), Destination::New)?;
    Ok(commands.dispatches.iter().all(|dispatch| gpu.parts.pipelines.has(&dispatch.plan.kernel)))
}

/// Runs commands and returns the storages of their results. `operand` returns the storage of an operand's slot, and
/// `words` the words of a dispatch's uniform block, if they are not the planned ones.
///
/// If a dispatch fails after elements of an operand were written, old and new elements are mixed, and the operand is
/// poisoned. A poisoned operand is valid again once all of its elements are written and none is read.
fn execute<'a>(
    gpu: &Arc<Gpu>,
    work: &Work,
    operand: &dyn Fn(usize) -> &'a Storage,
    words: &dyn Fn(usize) -> Option<Words>,
) -> Result<Results> {
    let commands = &work.commands;
    let mut written: SmallVec<[usize; 2]> = SmallVec::new();
    for place in &commands.writes {
        if !place.is_read && gpu.heal(operand(place.slot), place.bytes)? {
            written.push(place.slot);
        }
    }
    let mut made: SmallVec<[Option<Storage>; 4]> = SmallVec::new();
    let mut one = |command: &Command| -> Result<()> {
        match *command {
            // In the order of slots.
            Command::Allocate { dtype, elements, .. } => {
                made.push(Some(gpu.storage(elements * dtype.size(), dtype)?));
            }
            Command::Free(slot) => made[slot - commands.operands] = None,
            Command::Dispatch(number) => {
                let dispatch = &commands.dispatches[number];
                let storage = |slot: &Slot| match slot.number.checked_sub(commands.operands) {
                    None => Ok(operand(slot.number)),
                    Some(own) => made.get(own).and_then(Option::as_ref).ok_or_else(|| {
                        Error::new(ErrorKind::Kernel, format!("slot {} has no memory", slot.number))
                    }),
                };
                let mut all: SmallVec<[Bound<'_>; 8]> = SmallVec::new();
                for slot in dispatch.writes.iter().chain(&dispatch.plan.reads) {
                    all.push(bound(storage(slot)?, slot.range)?);
                }
                let compiled = match work.compiled[number].upgrade() {
                    Some(compiled) => compiled,
                    None => gpu.pipeline(&dispatch.plan.kernel)?,
                };
                let own = words(number);
                let words = own.as_deref().unwrap_or(&dispatch.plan.launch.words);
                gpu.record(&dispatch.plan, words, &compiled, &all)?;
                let operands = dispatch.writes.iter().map(|slot| slot.number);
                written.extend(operands.filter(|&slot| slot < commands.operands));
            }
        }
        Ok(())
    };
    if let Err(error) = commands.list.iter().try_for_each(&mut one) {
        written.iter().for_each(|&slot| gpu.poison(operand(slot), &error));
        return Err(error);
    }
    gpu.parts.connection.check()?;
    let result = |&slot: &usize| made[slot - commands.operands].take();
    Ok(commands.results.iter().filter_map(result).collect())
}

/// Writes elements to a layout. A contiguous range is written as it is, except for words that it shares. A kernel
/// writes shared words and scattered elements.
pub(super) fn write(
    gpu: &Arc<Gpu>,
    storage: &Storage,
    dtype: DType,
    layout: &Layout,
    bytes: &[u8],
) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    // If a later step fails, old and new elements are mixed.
    let mut begun = gpu.heal(storage, bytes.len() as u64)?;
    write_in_steps(gpu, (storage, layout), dtype, bytes, &mut begun).inspect_err(|error| {
        if begun {
            gpu.poison(storage, error);
        }
    })?;
    gpu.parts.connection.check()
}

fn write_in_steps(
    gpu: &Arc<Gpu>,
    (storage, layout): (&Storage, &Layout),
    dtype: DType,
    bytes: &[u8],
    begun: &mut bool,
) -> Result<()> {
    let scattered = |layout: &Layout, bytes: &[u8]| {
        let source = Source::Tensor(gpu.upload(bytes, dtype)?);
        let copy = Program::copy_of(dtype, source, layout.shape())?;
        run(gpu, Cow::Owned(Schedule::only(copy)), Destination::Into(&[(storage, layout)]), None).map(drop)
    };
    if !layout.is_contiguous() || !gpu.allows(storage, wgpu::BufferUsages::COPY_DST)? {
        return scattered(layout, bytes);
    }
    let size = dtype.size();
    let start = layout.offset() * size;
    let align = wgpu::COPY_BUFFER_ALIGNMENT as usize;
    let (first, last) = (start.next_multiple_of(align), (start + bytes.len()) / align * align);
    if first >= last {
        return scattered(layout, bytes);
    }
    gpu.fill(storage, first, &bytes[first - start..last - start], begun)?;
    for ends in [start..first, last..start + bytes.len()].into_iter().filter(|ends| !ends.is_empty()) {
        let layout = Layout::contiguous([ends.len() / size])?.from(ends.start / size);
        scattered(&layout, &bytes[ends.start - start..ends.end - start])?;
    }
    Ok(())
}
