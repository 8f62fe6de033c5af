//! The CPU path: a device, and the reference for all others.
//!
//! One loop evaluates: the [`engine`] computes a program tile by tile. Its callers choose the tiles and the
//! destination: [`eval`] for elementwise programs, [`rows`] for row-fused ones, [`join`] for interleaved results,
//! [`fold`] and [`scan`] for reductions and scans over more than a tile.
//!
//! Each file uses only those before it: moves of elements ([`bytes`]), [`memory`] and [`threads`], conversions
//! ([`convert`]), explanations ([`explain`]), plans of the plan cache ([`cached`]) and functions of elements
//! ([`integers`], [`mod@prelude`], [`random`]); [`buffer`]s, cache [`lines`], [`lookup`]s, and orders
//! of axes ([`reorder`]); prefetching ([`ahead`]), inputs ([`load`]), all of [`math`], and [`registers`]; the
//! [`kernels`] of the op table, and of reductions ([`mod@reduce`]); the code of steps ([`jobs`]); loops that
//! [`combine`], and loops of two steps ([`pairs`]); the [`engine`]; [`eval`], [`scan`], [`contract`], [`mod@segments`]
//! and [`mod@sort`]; [`fold`] and [`join`]; [`rows`]; and schedules, which [`execute`] runs.

mod ahead;
mod buffer;
mod bytes;
mod cached;
mod combine;
mod contract;
mod convert;
mod engine;
mod eval;
mod execute;
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
mod pairs;
mod prelude;
mod put;
mod random;
mod reduce;
mod registers;
mod reorder;
mod rows;
mod scan;
mod segments;
mod select;
mod sort;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
mod threads;

use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, PoisonError};

use buffer::{HostBuffer, buffer, own};
use cached::CachedPlan;
use execute::Known;
use memory::HostMemory;
#[cfg(test)]
pub(crate) use memory::tests::MemoryFault;
pub(crate) use threads::thread_count;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ir::{
    Backend, Bounds, Destination, Explanation, Fingerprint, HostBytes, Leaves, Math, Plans, Reading, Results,
    Schedule, Storage,
};
use crate::layout::Layout;
use crate::tuning::rows::LONGEST;

/// The CPU as a device.
#[derive(Debug, Default)]
pub(crate) struct CpuDevice {
    math: Math,
    plans: Plans<CachedPlan>,
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

impl Backend for CpuDevice {
    fn name(&self) -> String {
        "cpu".into()
    }

    fn identity(&self) -> usize {
        0 // there is one
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            operands: usize::MAX,
            row: eval::SHORT_ROW,
            longest_row: LONGEST,
            shared: usize::MAX,
            whole: u64::MAX,
            irregular: true,
            total: self.math == Math::Total,
        }
    }

    fn with_math(&self, math: Math) -> Option<Arc<dyn Backend>> {
        // Nothing of the CPU path is faster than precise.
        let math = if math == Math::Fast { Math::Precise } else { math };
        Some(Arc::new(CpuDevice { math, ..CpuDevice::default() }))
    }

    fn math(&self) -> Math {
        self.math
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
        schedule: Cow<'_, Schedule>,
        to: Destination<'_>,
        known: Option<&(Fingerprint, Leaves<'_>)>,
    ) -> Result<Results> {
        let device: Arc<dyn Backend> = self.clone();
        let results = execute::run(&device, &schedule, to, None)?;
        if let Some((print, leaves)) = known {
            self.plans.keep(print, || CachedPlan::new(&schedule, to, leaves));
        }
        Ok(results)
    }

    fn remembers(&self) -> bool {
        true
    }

    fn run_known(self: Arc<Self>, print: &Fingerprint, leaves: &Leaves<'_>) -> Option<Result<Results>> {
        let cached = self.plans.find(print)?;
        let device: Arc<dyn Backend> = self;
        let known = Some(Known { cached: &cached, storages: &leaves.storages, constants: &leaves.constants });
        Some(match &cached.into {
            None => execute::run(&device, &cached.schedule, Destination::New, known),
            Some((leaf, layout)) => {
                let to = [(leaves.storages[*leaf], layout)];
                execute::run(&device, &cached.schedule, Destination::Into(&to), known)
            }
        })
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
