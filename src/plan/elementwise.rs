//! The plan of an elementwise program.

use super::access::{Chooser, Store};
use super::builder::{Made, PlanBuilder};
use super::cost::affordable;
use super::form::{Elements, Form};
use super::grid::Grid;
use super::joined::Sides;
use super::launch::{Place, Plan, counted};
use super::reading::{Bound, Read, Reading};
use super::target::Target;
use super::walk::{LANES, Walk};
use crate::error::Result;
use crate::ir::Program;
use crate::layout::Nest;

impl Plan {
    /// Plans a program of slots over a non-empty shape.
    pub(crate) fn new(program: &Program, to: Place<'_>, target: Target) -> Result<Plan> {
        let output = match to {
            Place::Fresh => None,
            Place::Into(_, layout) => Some(layout),
        };
        let loops = Nest::over(program, output)?;
        counted(Some(loops.count()), || format!("a result of {} has", program.shape))?;
        let reading = Reading::of(program, to);
        let affordable = affordable(program, target.math);
        let together = together(&reading, &loops, affordable);
        let fresh = matches!(to, Place::Fresh);
        // Results that share words decide for all.
        let types = (0..program.results.len()).map(|i| program.result_type(i));
        let dtype = types.min_by_key(|dtype| dtype.size()).unwrap_or(program.dtype);
        let mut grid = Grid::new(&loops, dtype, fresh, together, target);
        let store = Store::of(&loops, grid.walk, dtype, fresh);
        if store == Store::Words {
            grid = Grid::words(&loops, target);
        }
        let chooser = Chooser { loops: &loops, walk: grid.walk, together };
        let (mut accesses, mut store) = reading.accesses(program, &chooser, store);
        let mut bound = Bound::new(program, &reading, &mut accesses, program.results.len(), target)?;
        let sides = Sides { program, loops: &loops, fresh, affordable, target };
        if let Some(joined) = sides.join(grid, &accesses, store)
            && let other = Bound::of(program, &reading, &joined.accesses)?
            && other.fits(program.results.len(), target)
        {
            (grid, accesses, store, bound) = (joined.grid, joined.accesses, joined.store, other);
        }
        let mut elements = Elements { vectors: grid.rows * grid.joined, fresh, carries: false };
        let may_carry = grid.walk == Walk::Flat && loops.inner() + 1 >= LANES;
        let made = Made {
            form: Form::Elements(elements),
            store,
            stored: program.results.iter().map(|&result| program.dtype_of(result)).collect(),
            count: loops.count(),
            numbers: grid.numbers(&loops).words(),
            workgroup: grid.workgroup,
            groups: grid.groups,
            description: None,
        };
        let mut plan = PlanBuilder { program, target, loops, walk: grid.walk, accesses }.plan(bound, made);
        elements.carries = may_carry && plan.kernel.code.needs_coordinates();
        plan.kernel.form = Form::Elements(elements);
        plan.kernel.copy_bits();
        Ok(plan)
    }
}

/// The rows that an invocation computes together: all of them, if an operand has them side by side, as loads then serve
/// all rows.
fn together(reading: &Reading, loops: &Nest, affordable: u32) -> Option<u32> {
    let is_any = reading.of_kind(Read::Bound).any(|i| loops.operand(i).is_interleaved(loops));
    loops.rows().map(|rows| rows as u32).filter(|_| is_any && affordable >= LANES as u32)
}
