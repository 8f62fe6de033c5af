//! Counts of keys below a number: a kernel computes the keys of a tile, and counts them in the tile's own table.

use smallvec::smallvec;

use super::access::{Access, Chooser, Store};
use super::builder::{Made, PlanBuilder};
use super::form::{Count, Form};
use super::grid::workgroups;
use super::launch::{Place, Plan};
use super::numbers::CountNumbers;
use super::reading::{Bound, Reading};
use super::target::Target;
use super::walk::Walk;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::Program;
use crate::layout::Nest;
use crate::tuning::sort::GROUP;

impl Count {
    /// With more elements than a tile has, all tables together have at most a thirty-second of them.
    pub(crate) fn new(bins: usize, target: Target) -> Count {
        let table = bins.next_power_of_two().max(256) as u32;
        let group = GROUP.min(target.workgroup);
        Count { table, group, each: (32 * table).div_ceil(group) }
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
        count: Count,
        (bins, before): (usize, usize),
        target: Target,
    ) -> Result<Option<Plan>> {
        let loops = Nest::over(program, None)?;
        let reading = Reading::of(program, Place::Fresh);
        let chooser = Chooser { loops: &loops, walk: Walk::Flat, together: None };
        let (accesses, _) = reading.accesses(program, &chooser, Store::Vector);
        let bound = Bound::of(program, &reading, &accesses)?;
        let is_side_by_side = accesses.iter().all(|access| matches!(access, Access::Vector | Access::Splat));
        if !is_side_by_side || !bound.fits(1, target) || program.steps.iter().any(|step| step.body.is_some())
        {
            return Ok(None);
        }
        let length = loops.count();
        let tiles = length.div_ceil(count.tile());
        let groups = workgroups(&program.shape, tiles, target)?;
        let numbers = CountNumbers { pitch: groups[0] as usize, count: tiles, row: bins, before, length };
        let made = Made {
            form: Form::Count(count),
            store: Store::Lanes,
            stored: smallvec![DType::U32],
            count: tiles * bins,
            numbers: numbers.words(),
            workgroup: [count.group, 1],
            groups,
            description: Some(format!("elements of tiles of {} counted", count.tile())),
        };
        Ok(Some(PlanBuilder { program, target, loops, walk: Walk::Flat, accesses }.plan(bound, made)))
    }
}
