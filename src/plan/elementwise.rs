//! The plan of an elementwise program.

use smallvec::SmallVec;

use super::access::{self, Chooser, Store, Stride};
use super::cost::affordable;
use super::fields;
use super::grid::Grid;
use super::joined::Sides;
use super::kernel::Kernel;
use super::launch::{Launch, MOST_ELEMENTS, Place, Plan};
use super::reading::{Bound, Read, Reading};
use super::target::Target;
use super::walk::{LANES, Together, Walk};
use crate::error::{Result, bail};
use crate::ir::Program;
use crate::layout::{Layout, Nest};
use crate::tuning::Tuning;

impl Plan {
    /// Plans a program of slots over a non-empty shape.
    pub(crate) fn new(program: &Program, to: Place<'_>, target: Target) -> Result<Plan> {
        let loops = loops(program, to)?;
        let reading = Reading::of(program, to);
        let affordable = affordable(program, target.math);
        let tuning = Tuning { vectors: target.tuning.vectors.min(affordable), ..target.tuning };
        let target = Target { tuning, ..target };
        let together = together(program, &reading, &loops, affordable, target);
        let fresh = matches!(to, Place::Fresh);
        let (mut grid, store) = lay_out(program, &loops, fresh, together, target);
        let chooser = Chooser { loops: &loops, walk: grid.walk, together, vectors: grid.vectors };
        let (mut accesses, mut store) = reading.accesses(program, &chooser, store, target);
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
            vectors: grid.vectors * grid.joined,
            carries: grid.walk == Walk::Flat
                && fields::needs_coordinates(store, &kernel.operands)
                && loops.inner() + 1 >= LANES * grid.vectors as usize,
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

/// The rows that are computed together.
fn together(program: &Program, reading: &Reading, loops: &Nest, affordable: u32, target: Target) -> Together {
    let is_tile = |i: usize| access::is_tile(loops.operand(i), program.inputs[i].dtype);
    match affordable >= LANES as u32 {
        true if reading.of_kind(Read::Bound).any(|i| loops.operand(i).is_interleaved(loops)) => {
            Together::Interleaved
        }
        true if target.tuning.tiles && reading.of_kind(Read::Bound).any(is_tile) => Together::Tiles,
        _ => Together::Apart,
    }
}

/// The grid, and the store along it.
fn lay_out(
    program: &Program,
    loops: &Nest,
    fresh: bool,
    together: Together,
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
