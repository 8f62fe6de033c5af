//! Running a program as what its storages are cut into: one kernel where all of them are bound whole, else one
//! for each part over windows of them.

use std::sync::Arc;

use super::device::Gpu;
use crate::error::{Result, bail};
use crate::ir::{Backend, Program, Storage};
use crate::layout::Layout;
use crate::plan::{Destination, Plan};
use crate::schedule::Cuts;

/// Kernels that are planned before any runs, at most: a stretched scalar may have any number of elements.
pub(super) const MOST_PLANS: usize = 1 << 14;

/// Records a program whose result goes to a layout of a storage; `fresh` says that this is all of
/// a new one.
pub(super) fn run(
    gpu: &Arc<Gpu>,
    program: &Program,
    storage: &Storage,
    layout: &Layout,
    fresh: bool,
) -> Result<()> {
    each_plan(gpu, program, (storage, layout, fresh), &mut |plan, to| {
        gpu.record(&plan, std::slice::from_ref(to))
    })
}

/// The plans of a program for a layout of a storage, or for a new storage, which is not there.
pub(super) fn plans(
    gpu: &Arc<Gpu>,
    program: &Program,
    into: Option<(&Storage, &Layout)>,
) -> Result<Vec<Plan>> {
    let mut plans = Vec::new();
    let mut keep = |plan, _: &Storage| {
        if plans.len() == MOST_PLANS {
            let (shape, name) = (&program.shape, gpu.name());
            bail!(Limit, "{shape} takes more than {MOST_PLANS} parts on {name}: plan a slice of it");
        }
        plans.push(plan);
        Ok(())
    };
    match into {
        Some((to, layout)) => each_plan(gpu, program, (to, layout, false), &mut keep)?,
        None => {
            let (to, layout) =
                (Storage::declared(gpu.clone(), program)?, Layout::contiguous(&program.shape)?);
            each_plan(gpu, program, (&to, &layout, true), &mut keep)?;
        }
    }
    Ok(plans)
}

/// Calls `each` with the plans of a program and with what they write to.
pub(super) fn each_plan(
    gpu: &Arc<Gpu>,
    program: &Program,
    (storage, layout, fresh): (&Storage, &Layout, bool),
    each: &mut dyn FnMut(Plan, &Storage) -> Result<()>,
) -> Result<()> {
    let mut plan = |program: &Program, storage: &Storage, layout: &Layout, fresh: bool| {
        let to = if fresh { Destination::Fresh } else { Destination::Into(storage, layout) };
        each(Plan::new(program, to, gpu.adapter)?, storage)
    };
    let cuts = gpu.cuts();
    if cuts.is_whole(program) && !cuts.divides(storage, program.dtype) {
        return plan(program, storage, layout, fresh);
    }
    cuts.parts(
        program,
        (storage, layout, fresh),
        &mut |storage, window| gpu.bind(storage, window),
        &mut |part| plan(&part.program, &part.to, &part.layout, part.fresh),
    )
}

/// Records a program of several results, each all of a new storage: in slices, where one kernel would take too long.
/// Nothing, where there are none.
pub(super) fn run_all(gpu: &Arc<Gpu>, program: &Program, results: &[Storage]) -> Result<bool> {
    let cuts = gpu.cuts();
    if cuts.is_short(program) {
        gpu.record(&Plan::new(program, Destination::Fresh, gpu.adapter)?, results)?;
        return Ok(true);
    }
    let Some((axis, slices)) = cuts.slices(program) else { return Ok(false) };
    let row: usize = program.shape[axis + 1..].iter().product();
    for slice in slices {
        let part = program.slice(axis as isize, slice.start as isize..slice.end as isize)?;
        let window = |i: usize| Cuts::window(slice.start * row..slice.end * row, program.result_type(i));
        let bound = results.iter().enumerate().map(|(i, storage)| gpu.bind(storage, window(i)));
        let bound = bound.collect::<Result<Vec<_>>>()?;
        gpu.record(&Plan::new(&part, Destination::Fresh, gpu.adapter)?, &bound)?;
    }
    Ok(true)
}
