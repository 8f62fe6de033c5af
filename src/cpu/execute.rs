//! Execution of a schedule, stage by stage: which memory its programs read and write.

use std::slice;
use std::sync::{Arc, PoisonError};

use smallvec::{SmallVec, smallvec};

use super::buffer::{HostBuffer, buffer, own};
use super::bytes::Operand;
use super::cached::CachedPlan;
use super::memory::HostMemory;
use super::{contract, eval, fold, join, put, rows, scan, segments, sort};
use crate::error::{Error, ErrorKind, Result, bail, line};
use crate::ir::{
    AxisOp, Backend, Destination, Input, Join, Program, ProgramKind, Results, Schedule, Source, Stage,
    Storage,
};
use crate::layout::Layout;

/// A plan of the plan cache, and the leaves that it runs with.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub cached: &'a CachedPlan,
    pub storages: &'a [&'a Storage],
    pub constants: &'a [(u64, usize)],
}

/// A schedule under way.
struct Execution<'a> {
    device: &'a Arc<dyn Backend>,
    /// The results of each stage so far, until their last reader has run.
    results: SmallVec<[Results; 2]>,
    known: Option<Known<'a>>,
}

/// The destination of a program.
enum Target<'a> {
    /// New memory, for each result.
    New(SmallVec<[&'a mut [u8]; 1]>),
    /// Elements of a storage, which inputs may read at the same places: their bytes, and the length and the distance of
    /// rows.
    Into(&'a Storage, std::ops::Range<usize>, [usize; 2]),
}

/// A destination while a program writes to it. If a function of the user's panics, old and new elements are mixed.
struct HalfWritten<'a>(Option<&'a HostBuffer>);

impl Drop for HalfWritten<'_> {
    fn drop(&mut self) {
        if let Some(buffer) = self.0 {
            let text = "a function panicked while its results were written: write all elements again";
            let error = Error::new(ErrorKind::Operation, text);
            buffer.poison.set(line().map_or(error.clone(), |line| error.at(line)));
        }
    }
}

/// Runs a schedule, and returns the storages of its results.
pub(super) fn run(
    device: &Arc<dyn Backend>,
    schedule: &Schedule,
    to: Destination<'_>,
    known: Option<Known<'_>>,
) -> Result<Results> {
    let mut own = Execution { device, results: SmallVec::new(), known };
    for (stage, finished) in schedule.stages.iter().zip(&schedule.finished) {
        let results = own.stage(stage)?;
        own.results.push(results);
        finished.iter().for_each(|&stage| own.results[stage].clear());
    }
    let last = &schedule.last;
    let Destination::Into(places) = to else { return own.stage(last) };
    if let [(storage, layout)] = places {
        match last {
            Stage::One(program) => own.assign(program, storage, layout)?,
            Stage::Join(join) => own.assign_join(join, storage, layout)?,
        }
        return Ok(Results::new());
    }
    for (i, (result, (storage, layout))) in own.stage(last)?.into_iter().zip(places).enumerate() {
        let copy = Program::copy_of(last.result_type(i), Source::Tensor(result), layout.shape())?;
        let poison = |error: &Error| {
            places[..i].iter().for_each(|(written, _)| device.poison(written, error));
        };
        own.assign(&copy, storage, layout).inspect_err(poison)?;
    }
    Ok(Results::new())
}

impl Execution<'_> {
    /// The storage that an input reads, if it reads memory.
    fn storage<'s>(&'s self, source: &'s Source) -> Option<&'s Storage> {
        match source {
            Source::Tensor(storage) => Some(storage),
            Source::Slot(slot) => self.known?.storages.get(slot.number).copied(),
            Source::Stage { stage, result } => self.results.get(*stage)?.get(*result),
            _ => None,
        }
    }

    /// Runs a program, or the programs of a join.
    fn run(&self, programs: &[Program], join: Option<&Join>, target: Target<'_>) -> Result<()> {
        let Some(program) = programs.first() else { return Ok(()) };
        let written = match &target {
            Target::New(_) => None,
            Target::Into(storage, ..) => Some(storage.address()),
        };
        let mut buffers: SmallVec<[(usize, &HostBuffer); 4]> = SmallVec::new();
        for input in programs.iter().flat_map(|program| &program.inputs) {
            if let Some(storage) = self.storage(&input.source) {
                buffers.push((storage.address(), buffer(storage)?));
            }
        }
        buffers.iter().try_for_each(|(_, buffer)| buffer.poison.check())?;
        let mut anew = None;
        if let Target::Into(storage, range, _) = &target {
            let own = buffer(storage)?;
            // Poisoned elements may be written.
            match range.len() == storage.elements * program.dtype.size() {
                true => anew = Some(own),
                false => own.poison.check()?,
            }
            buffers.push((storage.address(), own));
        }
        buffers.sort_by_key(|(address, _)| *address);
        buffers.dedup_by_key(|(address, _)| *address);
        let mut writing = None;
        let mut reading: SmallVec<[_; 4]> = SmallVec::new();
        for (address, buffer) in &buffers {
            if Some(*address) == written {
                writing = Some(buffer.memory.write().unwrap_or_else(PoisonError::into_inner));
            } else {
                let guard = buffer.memory.read().unwrap_or_else(PoisonError::into_inner);
                reading.push((*address, guard));
            }
        }
        let find = |storage: &Storage| {
            let known = reading.iter().find(|(address, _)| *address == storage.address());
            known.map_or(Operand::Output, |(_, memory)| Operand::Bytes(memory))
        };
        let from = |input: &Input| match &input.source {
            Source::Scalar(bits) => {
                let known = self.known.and_then(|known| known.cached.constant(input, known.constants));
                Ok(Operand::Scalar(known.unwrap_or(*bits)))
            }
            // Computed while they are read.
            Source::Row(_) => Ok(Operand::Scalar(0)),
            Source::Index(_) => Ok(Operand::Index),
            source => match self.storage(source) {
                Some(storage) => Ok(find(storage)),
                None => bail!(Kernel, "{source:?} is read before it is there"),
            },
        };
        let from = |program: &Program| -> Result<SmallVec<[Operand<'_>; 4]>> {
            let mut all = SmallVec::new();
            for input in &program.inputs {
                all.push(from(input)?);
            }
            Ok(all)
        };
        if let Some(own) = join {
            let from = |part| Ok(from(part)?.into_vec());
            let from = programs.iter().map(from).collect::<Result<Vec<_>>>()?;
            let Target::New(mut outs) = target else { bail!(Kernel, "programs that write to one place") };
            return outs.iter_mut().try_for_each(|out| join::join(own, &from, out));
        }
        let from = from(program)?;
        let mut half = HalfWritten(match target {
            Target::Into(storage, ..) => Some(buffer(storage)?),
            Target::New(_) => None,
        });
        let done = match (target, &mut writing) {
            (Target::New(outs), _) => self.compute(program, &from, outs),
            (Target::Into(_, range, rows), Some(memory)) => {
                let out = &mut own(memory)?[range];
                match &program.kind {
                    ProgramKind::Axis(AxisOp::Put, tables) => put::updates(program, tables, &from, out),
                    _ => eval::eval_rows(program, &from, out, rows),
                }
            }
            (Target::Into(..), ..) => bail!(Kernel, "a storage to write is not at hand"),
        };
        half.0 = None;
        done.inspect(|()| anew.iter().for_each(|buffer| buffer.poison.clear()))
    }

    /// Computes the results of a program from its operands.
    fn compute(
        &self,
        program: &Program,
        from: &[Operand<'_>],
        mut outs: SmallVec<[&mut [u8]; 1]>,
    ) -> Result<()> {
        match (&program.kind, outs.as_mut_slice()) {
            (ProgramKind::Map, [out]) => eval::eval(program, from, out),
            (ProgramKind::Map, _) => eval::several(program, from, outs.into_vec()),
            (ProgramKind::RowFused(_), [out]) => rows::rows(program, from, out),
            (ProgramKind::Axis(AxisOp::Reduce(own), _), _) => fold::fold(program, own, from, outs.into_vec()),
            (ProgramKind::Axis(AxisOp::Scan(own), _), [out]) => scan::scan(program, own, from, out),
            (ProgramKind::Axis(AxisOp::Contract(_), _), [out]) => {
                contract::contract(program, self.device.math(), from, out)
            }
            (ProgramKind::Axis(AxisOp::Sort(own), key), [out]) => {
                sort::sort(program, *own, key.first().copied(), from, out)
            }
            (ProgramKind::Axis(AxisOp::Segments(own), key), [out]) => {
                segments::segments(program, *own, key.first().copied(), from, out)
            }
            (ProgramKind::Axis(AxisOp::Put, tables), [out]) => put::put(program, tables, from, out),
            (kind, _) => bail!(Kernel, "several results of {kind:?}"),
        }
    }

    /// Runs a stage into new storages, in row-major order.
    fn stage(&self, stage: &Stage) -> Result<Results> {
        let join = match stage {
            Stage::One(program) => return self.results(program),
            Stage::Join(join) => join,
        };
        let bytes = join.shape.bytes(join.dtype)?;
        let mut memory = HostMemory::take(bytes)?;
        let is_interleaved = join::is_interleaved(join);
        if is_interleaved {
            self.run(&join.parts, Some(join), Target::New(smallvec![&mut memory[..bytes]]))?;
        }
        let elements = bytes / join.dtype.size();
        let result = Storage::new(self.device.clone(), elements, HostBuffer::new(memory));
        if !is_interleaved {
            self.join(join, &result, &Layout::contiguous(&join.shape)?)?;
        }
        Ok(smallvec![result])
    }

    /// Runs programs, none of which reads the storage, each into its slice of a layout.
    fn join(&self, join: &Join, storage: &Storage, layout: &Layout) -> Result<()> {
        for (i, (part, own)) in join.places(layout)?.into_iter().enumerate() {
            // If one fails, old and new elements are mixed.
            let poison = |error: &Error| {
                if i > 0 {
                    self.device.poison(storage, error)
                }
            };
            self.assign(part, storage, &own).inspect_err(poison)?;
        }
        Ok(())
    }

    /// Runs programs into elements of a storage, as if all operands were read first.
    fn assign_join(&self, join: &Join, storage: &Storage, layout: &Layout) -> Result<()> {
        let is_it = |input: &Input| self.storage(&input.source).is_some_and(|source| source.same(storage));
        let is_read = || join.parts.iter().flat_map(|part| &part.inputs).any(is_it);
        if join.shape == *layout.shape() && !is_read() {
            return self.join(join, storage, layout);
        }
        let result = self.stage(&Stage::Join(join.clone()))?.swap_remove(0);
        self.assign(&Program::copy_of(join.dtype, Source::Tensor(result), layout.shape())?, storage, layout)
    }

    /// Runs a program into new storages, in row-major order.
    fn results(&self, program: &Program) -> Result<Results> {
        // Operands of reductions are computed once for all results, and so are a loop's iterations.
        let is_once = match program.kind {
            ProgramKind::Axis(AxisOp::Reduce(_), _) => true,
            ProgramKind::Map | ProgramKind::RowFused(_) => program.turns() > 0,
            ProgramKind::Axis(..) => false,
        };
        if program.results.len() > 1 && !is_once {
            return program.each(|one| self.result(one));
        }
        let elements = program.result_shape().count()?;
        let mut results: SmallVec<[HostMemory; 1]> = SmallVec::new();
        for i in 0..program.results.len() {
            results.push(HostMemory::take(program.byte_size(i)?)?);
        }
        let mut outs = SmallVec::new();
        for (i, memory) in results.iter_mut().enumerate() {
            outs.push(&mut memory[..program.byte_size(i)?]);
        }
        self.run(slice::from_ref(program), None, Target::New(outs))?;
        let storage = |memory| Storage::new(self.device.clone(), elements, HostBuffer::new(memory));
        Ok(results.into_iter().map(storage).collect())
    }

    fn result(&self, program: &Program) -> Result<Storage> {
        Ok(self.results(program)?.swap_remove(0))
    }

    /// Runs a program into elements of a storage, as if all operands were read first.
    fn assign(&self, program: &Program, storage: &Storage, layout: &Layout) -> Result<()> {
        let bytes = layout.shape().bytes(program.dtype)?;
        if bytes == 0 {
            return Ok(());
        }
        let is_it = |input: &Input| self.storage(&input.source).is_some_and(|source| source.same(storage));
        let size = program.dtype.size();
        // Into rows, if they are contiguous in memory: all elements, or some of them.
        let into = |[row, pitch]: [usize; 2]| {
            let (start, rows) = (layout.offset() * size, bytes / (row * size));
            let end = start + ((rows - 1) * pitch + row) * size;
            self.run(slice::from_ref(program), None, Target::Into(storage, start..end, [row, pitch]))
        };
        let whole = [bytes / size; 2];
        if program.put_into(layout, is_it).is_some() {
            return into(whole);
        }
        // A reduction reads all operands before its first result, and the parts of a row-fused program may have other
        // shapes.
        if !program.is_map() || program.shape != *layout.shape() {
            let result = Source::Tensor(self.result(program)?);
            let copy = Program::copy_of(program.dtype, result, layout.shape())?;
            return self.assign(&copy, storage, layout);
        }
        let elsewhere = |input: &Input| is_it(input) && (input.layout != *layout || input.is_table());
        let rows = if layout.is_contiguous() { Some(whole) } else { eval::rows_of(layout) };
        if let Some(rows) = rows.filter(|_| !program.inputs.iter().any(elsewhere)) {
            return into(rows);
        }
        let mut result = HostMemory::take(bytes)?;
        self.run(slice::from_ref(program), None, Target::New(smallvec![&mut result[..bytes]]))?;
        self.device.clone().write(storage, program.dtype, layout, &result[..bytes])
    }
}
