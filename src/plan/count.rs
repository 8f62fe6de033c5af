//! Counts of keys below a number: a kernel computes the keys of a tile, and counts them in the tile's own table.

use smallvec::SmallVec;

use super::access::{Access, Chooser, Store};
use super::fields::{self, Number};
use super::grid::workgroups;
use super::kernel::Kernel;
use super::launch::{Launch, Place, Plan};
use super::makes::{Counter, Makes};
use super::reading::{Bound, Reading};
use super::target::Target;
use super::walk::Walk;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::Program;
use crate::layout::{Layout, Nest};
use crate::tuning::sort::GROUP;

impl Counter {
    /// With more elements than a tile has, all tables together have at most a thirty-second of them.
    pub(crate) fn new(bins: usize, target: Target) -> Counter {
        let table = bins.next_power_of_two().max(256) as u32;
        let group = GROUP.min(target.workgroup);
        Counter { table, group, each: (32 * table).div_ceil(group) }
    }

    /// Elements of a tile.
    pub(crate) fn tile(&self) -> usize {
        (self.each * self.group) as usize
    }
}

impl Plan {
    /// Plans the counts of a program's values, of which `before` tiles have other tables. `None` if the kernel would
    /// gather lanes, or take long for some elements.
    pub(crate) fn count(
        program: &Program,
        counter: Counter,
        (bins, before): (usize, usize),
        target: Target,
    ) -> Result<Option<Plan>> {
        let row_major = Layout::contiguous(&program.shape)?;
        let layouts = program.inputs.iter().map(|input| &input.layout);
        let layouts: SmallVec<[&Layout; 8]> = std::iter::once(&row_major).chain(layouts).collect();
        let loops = Nest::ordered(&program.shape, &layouts);
        let reading = Reading::of(program, Place::Fresh);
        let chooser = Chooser { loops: &loops, walk: Walk::Flat, together: None };
        let (accesses, _) = reading.accesses(program, &chooser, Store::Vector);
        let bound = Bound::of(program, &reading, &accesses)?;
        let is_side_by_side = accesses.iter().all(|access| matches!(access, Access::Vector | Access::Splat));
        if !is_side_by_side || !bound.fits(1, target) || program.steps.iter().any(|step| step.body.is_some())
        {
            return Ok(None);
        }
        let walk = (Walk::Flat, Store::Lanes, SmallVec::new());
        let (kernel, reads) = Kernel::assemble(program, bound, &accesses, &loops, walk, target);
        let (workgroup, makes) = ([counter.group, 1], Makes::Count(counter));
        let kernel = Kernel { workgroup, out: DType::U32, makes, ..kernel };
        let length = loops.count();
        let tiles = length.div_ceil(counter.tile());
        let [x, y] = workgroups(&program.shape, tiles * counter.group as usize, counter.group, target)?;
        let words = fields::words(&kernel, &loops, program, |number| match number {
            Number::Count => tiles,
            Number::Pitch => x,
            Number::Length => length,
            Number::Before => before,
            Number::Row => bins,
            _ => 0,
        });
        let launch = Launch { words, groups: [x as u32, y as u32, 1] };
        let moved = (program.read_bytes() + tiles * bins * size_of::<u32>()) as u64;
        Ok(Some(Plan { kernel, launch, reads, loops, moved, work: program.work_moving(moved) }))
    }
}
