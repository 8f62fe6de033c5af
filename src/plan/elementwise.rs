//! The plan of an elementwise program.

use smallvec::SmallVec;

use super::access::{Chooser, Store, Stride};
use super::cost::affordable;
use super::fields;
use super::grid::Grid;
use super::joined::Sides;
use super::kernel::Kernel;
use super::launch::{Launch, MOST_ELEMENTS, Place, Plan};
use super::reading::{Bound, Read, Reading};
use super::target::Target;
use super::walk::{LANES, Walk};
use crate::error::{Result, bail};
use crate::ir::Program;
use crate::layout::{Layout, Nest};

impl Plan {
    /// Plans a program of slots over a non-empty shape.
    pub(crate) fn new(program: &Program, to: Place<'_>, target: Target) -> Result<Plan> {
        let loops = loops(program, to)?;
        let reading = Reading::of(program, to);
        let affordable = affordable(program, target.math);
        let together = together(&reading, &loops, affordable);
        let fresh = matches!(to, Place::Fresh);
        let (mut grid, store) = lay_out(program, &loops, fresh, together, target);
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
        let strides = match grid.walk {
            // Divisors of coordinates.
            Walk::Words { .. } => loops.lengths.iter().map(|_| Stride::Any).collect(),
            walk => store.access().strides(loops.output(), walk),
        };
        let walk = (grid.walk, store, strides);
        let (kernel, reads) = Kernel::assemble(program, bound, &accesses, &loops, walk, target);
        let kernel = Kernel {
            workgroup: grid.workgroup,
            vectors: grid.rows * grid.joined,
            carries: grid.walk == Walk::Flat
                && fields::needs_coordinates(store, &kernel.operands)
                && loops.inner() + 1 >= LANES,
            fresh,
            ..kernel
        }
        .into_bits();
        let words = fields::words(&kernel, &loops, program, |number| grid.number(number, &loops));
        let launch = Launch { words, groups: grid.groups };
        let moved = Plan::bytes(program) as u64;
        Ok(Plan { kernel, launch, reads, loops, moved, work: program.work_moving(moved) })
    }
}

/// The loops over a program's elements.
fn loops(program: &Program, to: Place<'_>) -> Result<Nest> {
    let row_major = Layout::contiguous(&program.shape)?;
    let output = match to {
        Place::Fresh => &row_major,
        Place::Into(_, layout) => layout,
    };
    let operands = program.inputs.iter().map(|input| &input.layout);
    let layouts: SmallVec<[&Layout; 8]> = std::iter::once(output).chain(operands).collect();
    let loops = Nest::ordered(&program.shape, &layouts);
    let count = loops.count();
    if count > MOST_ELEMENTS {
        bail!(
            Limit,
            "a result of {} has {count} elements, and a kernel counts to {MOST_ELEMENTS}: evaluate it in slices",
            program.shape
        );
    }
    Ok(loops)
}

/// The rows that an invocation computes together: all of them, if an operand has them side by side, as loads then serve
/// all rows.
fn together(reading: &Reading, loops: &Nest, affordable: u32) -> Option<u32> {
    let is_any = reading.of_kind(Read::Bound).any(|i| loops.operand(i).is_interleaved(loops));
    loops.rows().map(|rows| rows as u32).filter(|_| is_any && affordable >= LANES as u32)
}

/// The grid, and the store along it.
fn lay_out(
    program: &Program,
    loops: &Nest,
    fresh: bool,
    together: Option<u32>,
    target: Target,
) -> (Grid, Store) {
    // Results that share words decide for all.
    let types = || (0..program.results.len()).map(|i| program.result_type(i));
    let dtype = types().min_by_key(|dtype| dtype.size()).unwrap_or(program.dtype);
    let grid = Grid::new(loops, dtype, fresh, together, target);
    match Store::of(loops, grid.walk, dtype, fresh) {
        Store::Words => (Grid::words(loops, target), Store::Words),
        store => (grid, store),
    }
}
