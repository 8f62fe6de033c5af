//! The CPU path: a device, and the reference for all others.
//!
//! One loop evaluates: the [`engine`] computes a program tile by tile. Its callers choose the tiles and the
//! destination: [`eval`] for elementwise programs, [`rows`] for row-fused ones, [`join`] for interleaved results,
//! [`fold`] and [`scan`] for reductions and scans over more than a tile.
//!
//! Each file uses only those before it: moves of elements ([`bytes`]), [`memory`] and [`threads`], conversions
//! ([`convert`]), explanations ([`explain`]) and functions of elements ([`integers`], [`narrow`], [`random`],
//! [`single`]); [`erfc`], cache [`lines`], [`lookup`]s, and orders of axes ([`reorder`]); prefetching ([`ahead`]),
//! inputs ([`load`]), all of [`math`], and [`registers`]; the [`kernels`] of the op table, and of reductions
//! ([`mod@reduce`]); the code of steps ([`jobs`]); loops that [`combine`], and loops of two steps ([`pairs`]); the
//! [`engine`]; [`eval`], [`scan`], [`contract`], [`mod@segments`] and [`mod@sort`]; [`fold`] and [`join`]; [`rows`].

mod ahead;
mod bytes;
mod combine;
mod contract;
mod convert;
mod engine;
mod erfc;
mod eval;
mod explain;
mod fold;
mod integers;
mod jobs;
mod join;
mod kernels;
mod lines;
mod load;
mod lookup;
mod math;
mod memory;
mod narrow;
mod pairs;
mod random;
mod reduce;
mod registers;
mod reorder;
mod rows;
mod scan;
mod segments;
mod single;
mod sort;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
mod threads;

use std::any::Any;
use std::slice;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::From;
use memory::HostMemory;
#[cfg(test)]
pub(crate) use memory::tests::MemoryFault;
use smallvec::smallvec;
pub(crate) use threads::thread_count;

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Poison, Result, bail};
use crate::ir::{
    Backend, Destination, Explanation, Fingerprint, HostBytes, Input, Join, Leaves, Program, ProgramKind,
    Reading, Results, Schedule, Source, Stage, Storage,
};
use crate::layout::Layout;

/// The CPU as a device.
#[derive(Debug, Default)]
pub(crate) struct CpuDevice;

/// Elements in memory. Snapshots share them until one side is written. Locks of several buffers are always taken in the
/// order of their addresses.
struct HostBuffer {
    memory: RwLock<Arc<HostMemory>>,
    poison: Poison,
}

impl HostBuffer {
    fn new(memory: HostMemory) -> HostBuffer {
        HostBuffer::of(Arc::new(memory))
    }

    fn of(memory: Arc<HostMemory>) -> HostBuffer {
        HostBuffer { memory: RwLock::new(memory), poison: Poison::default() }
    }

    /// The memory at this time.
    fn snapshot(&self) -> Result<Arc<HostMemory>> {
        self.poison.check()?;
        Ok(self.memory.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

/// Memory to write: a copy, if snapshots share it.
fn own(shared: &mut Arc<HostMemory>) -> Result<&mut HostMemory> {
    if Arc::get_mut(shared).is_none() {
        let mut copy = HostMemory::take(shared.len())?;
        copy[..shared.len()].copy_from_slice(shared);
        *shared = Arc::new(copy);
    }
    match Arc::get_mut(shared) {
        Some(memory) => Ok(memory),
        None => bail!(Kernel, "memory that was just made is shared"),
    }
}

/// Bytes of a snapshot.
struct Snapshot {
    memory: Arc<HostMemory>,
    range: std::ops::Range<usize>,
}

impl std::ops::Deref for Snapshot {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.range.clone()]
    }
}

fn buffer(storage: &Storage) -> Result<Arc<HostBuffer>> {
    let foreign = || Error::new(ErrorKind::Device, "a tensor of another device reached the CPU");
    storage.buffer.clone().downcast::<HostBuffer>().map_err(|_| foreign())
}

/// The destination of a program.
enum Target<'a> {
    /// New memory, for each result.
    New(Vec<&'a mut [u8]>),
    /// Bytes of a storage, which inputs may read at the same places.
    Into(&'a Storage, std::ops::Range<usize>),
}

/// Runs a program, or the programs of a join.
fn run(programs: &[Program], join: Option<&Join>, target: Target<'_>) -> Result<()> {
    let Some(program) = programs.first() else { return Ok(()) };
    let written = match &target {
        Target::New(_) => None,
        Target::Into(storage, _) => Some(storage.address()),
    };
    let mut buffers: Vec<(usize, Arc<HostBuffer>)> = Vec::new();
    for input in programs.iter().flat_map(|program| &program.inputs) {
        if let Source::Tensor(storage) = &input.source {
            buffers.push((storage.address(), buffer(storage)?));
        }
    }
    buffers.iter().try_for_each(|(_, buffer)| buffer.poison.check())?;
    let mut anew = None;
    if let Target::Into(storage, range) = &target {
        let own = buffer(storage)?;
        // Poisoned elements may be written.
        match range.len() == storage.elements * program.dtype.size() {
            true => anew = Some(own.clone()),
            false => own.poison.check()?,
        }
        buffers.push((storage.address(), own));
    }
    buffers.sort_by_key(|(address, _)| *address);
    buffers.dedup_by_key(|(address, _)| *address);
    let mut writing = None;
    let mut reading = Vec::new();
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
        known.map_or(From::Output, |(_, memory)| From::Bytes(memory))
    };
    let from = |input: &Input| match &input.source {
        Source::Tensor(storage) => Ok(find(storage)),
        Source::Scalar(bits) => Ok(From::Scalar(*bits)),
        // Computed while they are read.
        Source::Row(_) => Ok(From::Scalar(0)),
        Source::Index(_) => Ok(From::Index),
        source => bail!(Kernel, "{source:?} is read before it is there"),
    };
    let from = |program: &Program| program.inputs.iter().map(from).collect::<Result<Vec<From<'_>>>>();
    if let Some(own) = join {
        let from = programs.iter().map(from).collect::<Result<Vec<_>>>()?;
        let Target::New(mut outs) = target else { bail!(Kernel, "programs that write to one place") };
        return outs.iter_mut().try_for_each(|out| join::join(own, &from, out));
    }
    let from = from(program)?;
    let done = match (target, &mut writing) {
        (Target::New(mut outs), _) => match (&program.kind, outs.as_mut_slice()) {
            (ProgramKind::Map, [out]) => eval::eval(program, &from, out),
            (ProgramKind::Map, _) => eval::several(program, &from, outs),
            (ProgramKind::Reduce(reduce), _) => fold::fold(program, reduce, &from, outs),
            (ProgramKind::RowFused(_), [out]) => rows::rows(program, &from, out),
            (ProgramKind::Scan(axis), [out]) => scan::scan(program, axis, &from, out),
            (ProgramKind::Contract { .. }, [out]) => contract::contract(program, &from, out),
            (ProgramKind::Sort(sort), [out]) => sort::sort(program, *sort, &from, out),
            (ProgramKind::Segments { .. }, [out]) => segments::segments(program, &from, out),
            (kind, _) => bail!(Kernel, "several results of {kind:?}"),
        },
        (Target::Into(_, range), Some(memory)) if !program.reduces() => {
            eval::eval(program, &from, &mut own(memory)?[range])
        }
        (Target::Into(..), ..) => bail!(Kernel, "a storage to write is not at hand"),
    };
    done.inspect(|()| anew.iter().for_each(|buffer| buffer.poison.clear()))
}

/// Runs a program into new memory for each result.
fn evaluated(program: &Program) -> Result<Vec<HostMemory>> {
    let elements = program.result_shape().count()?;
    let bytes = |i: usize| elements * program.result_type(i).size();
    let memory = (0..program.results.len()).map(|i| HostMemory::take(bytes(i)));
    let mut results = memory.collect::<Result<Vec<HostMemory>>>()?;
    let outs = results.iter_mut().enumerate().map(|(i, memory)| &mut memory[..bytes(i)]);
    run(slice::from_ref(program), None, Target::New(outs.collect()))?;
    Ok(results)
}

impl Backend for CpuDevice {
    fn name(&self) -> String {
        "cpu".into()
    }

    fn identity(&self) -> usize {
        0 // there is one
    }

    fn row(&self) -> usize {
        eval::SHORT_ROW
    }

    fn computes_here(&self) -> bool {
        true
    }

    fn upload(self: Arc<Self>, bytes: &[u8], dtype: DType) -> Result<Storage> {
        let mut memory = HostMemory::take(bytes.len())?;
        memory[..bytes.len()].copy_from_slice(bytes);
        Ok(Storage::new(self, bytes.len() / dtype.size(), HostBuffer::new(memory)))
    }

    fn run(
        self: Arc<Self>,
        schedule: &Schedule,
        to: Destination<'_>,
        _known: Option<(Fingerprint, Leaves<'_>)>,
    ) -> Result<Results> {
        let last = schedule.run(|stage| self.stage(stage))?;
        let Destination::Into(places) = to else { return self.stage(&last) };
        if let [(storage, layout)] = places {
            match &*last {
                Stage::One(program) => self.assign(program, storage, layout)?,
                Stage::Join(join) => self.assign_join(join, storage, layout)?,
            }
            return Ok(Results::new());
        }
        for (i, (result, (storage, layout))) in self.stage(&last)?.into_iter().zip(places).enumerate() {
            let copy = Program::copy_of(last.result_type(i), Source::Tensor(result), layout.shape())?;
            let poison = |error: &Error| {
                places[..i].iter().for_each(|(written, _)| self.poison(written, error));
            };
            self.assign(&copy, storage, layout).inspect_err(poison)?;
        }
        Ok(Results::new())
    }

    fn write(self: Arc<Self>, storage: &Storage, dtype: DType, layout: &Layout, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let buffer = buffer(storage)?;
        let is_all = bytes.len() == storage.elements * dtype.size();
        if !is_all {
            buffer.poison.check()?;
        }
        let mut memory = buffer.memory.write().unwrap_or_else(PoisonError::into_inner);
        let memory = own(&mut memory)?;
        if layout.is_contiguous() {
            let start = layout.offset() * dtype.size();
            memory[start..start + bytes.len()].copy_from_slice(bytes);
        } else {
            eval::scatter(bytes, dtype.size(), layout, memory);
        }
        if is_all {
            buffer.poison.clear();
        }
        Ok(())
    }

    fn poison(&self, storage: &Storage, error: &Error) {
        buffer(storage).iter().for_each(|buffer| buffer.poison.set(error.clone()));
    }

    fn snapshot(self: Arc<Self>, storage: &Storage, _dtype: DType) -> Result<Storage> {
        Ok(Storage::new(self, storage.elements, HostBuffer::of(buffer(storage)?.snapshot()?)))
    }

    fn read(self: Arc<Self>, storage: &Storage, dtype: DType, offset: usize, count: usize) -> Reading {
        let range = offset * dtype.size()..(offset + count) * dtype.size();
        let part = |memory| Box::new(Snapshot { memory, range }) as HostBytes;
        Box::pin(std::future::ready(buffer(storage).and_then(|buffer| buffer.snapshot()).map(part)))
    }

    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn explain(self: Arc<Self>, schedule: &Schedule) -> Result<Vec<Explanation>> {
        Ok(schedule.all().map(explain::explanation).collect())
    }
}

impl CpuDevice {
    /// Runs a stage into new storages, in row-major order.
    fn stage(self: &Arc<Self>, stage: &Stage) -> Result<Results> {
        let join = match stage {
            Stage::One(program) => return self.results(program),
            Stage::Join(join) => join,
        };
        let bytes = stage.byte_size()?;
        let mut memory = HostMemory::take(bytes)?;
        let is_interleaved = join::is_interleaved(join);
        if is_interleaved {
            run(&join.parts, Some(join), Target::New(vec![&mut memory[..bytes]]))?;
        }
        let result = Storage::new(self.clone(), bytes / join.dtype.size(), HostBuffer::new(memory));
        if !is_interleaved {
            self.join(join, &result, &Layout::contiguous(&join.shape)?)?;
        }
        Ok(smallvec![result])
    }

    /// Runs programs, none of which reads the storage, each into its slice of a layout.
    fn join(self: &Arc<Self>, join: &Join, storage: &Storage, layout: &Layout) -> Result<()> {
        for (i, (part, own)) in join.places(layout)?.into_iter().enumerate() {
            // If one fails, old and new elements are mixed.
            let poison = |error: &Error| {
                if i > 0 {
                    self.poison(storage, error)
                }
            };
            self.assign(part, storage, &own).inspect_err(poison)?;
        }
        Ok(())
    }

    /// Runs programs into elements of a storage, as if all operands were read first.
    fn assign_join(self: &Arc<Self>, join: &Join, storage: &Storage, layout: &Layout) -> Result<()> {
        let is_read = || join.parts.iter().flat_map(Program::tensors).any(|(source, _)| source.same(storage));
        if join.shape == *layout.shape() && !is_read() {
            return self.join(join, storage, layout);
        }
        let result = self.stage(&Stage::Join(join.clone()))?.swap_remove(0);
        self.assign(&Program::copy_of(join.dtype, Source::Tensor(result), layout.shape())?, storage, layout)
    }

    /// Runs a program into new storages, in row-major order.
    fn results(self: &Arc<Self>, program: &Program) -> Result<Results> {
        // Operands of reductions are computed once for all results, and so are a loop's iterations.
        let is_once = match program.kind {
            ProgramKind::Reduce(_) => true,
            ProgramKind::Map | ProgramKind::RowFused(_) => program.turns() > 0,
            _ => false,
        };
        if !is_once || program.results.len() == 1 {
            return program.each(|one| self.result(one));
        }
        evaluated(program)?.into_iter().map(|memory| self.storage(program, memory)).collect()
    }

    fn result(self: &Arc<Self>, program: &Program) -> Result<Storage> {
        self.storage(program, evaluated(program)?.swap_remove(0))
    }

    /// Memory as the storage of a program's result.
    fn storage(self: &Arc<Self>, program: &Program, memory: HostMemory) -> Result<Storage> {
        let elements = program.byte_size()? / program.dtype.size();
        Ok(Storage::new(self.clone(), elements, HostBuffer::new(memory)))
    }

    /// Runs a program into elements of a storage, as if all operands were read first.
    fn assign(self: &Arc<Self>, program: &Program, storage: &Storage, layout: &Layout) -> Result<()> {
        let bytes = layout.count() * program.dtype.size();
        if bytes == 0 {
            return Ok(());
        }
        let elsewhere = |input: &Input| match &input.source {
            Source::Tensor(source) => source.same(storage) && (input.layout != *layout || input.is_table()),
            _ => false,
        };
        // A reduction reads all operands before its first result, and the parts of a row-fused program may have other
        // shapes.
        if program.reduces() || program.shape != *layout.shape() {
            let result = Source::Tensor(self.result(program)?);
            let copy = Program::copy_of(program.dtype, result, layout.shape())?;
            return self.assign(&copy, storage, layout);
        }
        if layout.is_contiguous() && !program.inputs.iter().any(elsewhere) {
            let start = layout.offset() * program.dtype.size();
            return run(slice::from_ref(program), None, Target::Into(storage, start..start + bytes));
        }
        let mut result = HostMemory::take(bytes)?;
        run(slice::from_ref(program), None, Target::New(vec![&mut result[..bytes]]))?;
        self.clone().write(storage, program.dtype, layout, &result[..bytes])
    }
}
