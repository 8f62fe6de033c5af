//! The planner: from a program and its layouts to a kernel and a launch. Pure; no GPU.
//!
//! A plan has two halves. [`Kernel`] is everything that the kernel's text depends on and is the
//! key of the pipeline cache; it holds no size, stride, offset or constant. [`Launch`] is the
//! rest: those numbers, which travel in a uniform block, and the grid. So a new shape of a known
//! class compiles nothing.

mod access;
mod cut;
mod explain;
mod fields;
mod fold;
mod grid;
mod halves;
mod joined;
mod kernel;
mod loops;
mod picture;
mod reading;
mod rows;
mod scan;
mod turns;
mod walk;

pub(crate) use access::{Access, Store, Stride};
pub(crate) use explain::{name as operand_name, tell};
pub(crate) use fields::{Field, Number, Role, ScanNumber};
pub(crate) use fold::{Folder, Lanes, Pass, Stored, Work};
pub(crate) use halves::Halves;
pub(crate) use kernel::{Faults, Kernel, Makes, Operand, Origin};
pub(crate) use picture::{Panel, svg};
pub(crate) use rows::{Phase, PhaseFold, RowFolder};
pub(crate) use scan::{ScanWork, Scanned, Scanner};
pub(crate) use turns::Turns;
pub(crate) use walk::{LANES, Packing, WORKGROUP, Walk};

use access::Chooser;
use fields::Addressing;
use grid::Grid;
use joined::Sides;
use loops::Loops;
use reading::{Bound, Read, Reading};
use smallvec::{SmallVec, smallvec};
use walk::Together;

use crate::dtype::Kind;
use crate::error::{Result, bail};
use crate::expr::{Body, Input, Math, Nature, Program, Source, Step, Storage};
use crate::layout::{Layout, Shape};

/// Elements that a kernel counts to.
pub(crate) const MOST_ELEMENTS: usize = u32::MAX as usize / 2;

/// The numbers of one dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The uniform block, in the order of [`Kernel::fields`].
    pub words: Vec<u32>,
    /// Workgroups per dimension.
    pub groups: [u32; 3],
}

/// A kernel, its numbers, and the storages that it binds.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub kernel: Kernel,
    pub launch: Launch,
    /// What each read-only binding is bound to.
    pub storages: Vec<Storage>,
    /// What the kernel runs over, to be told.
    loops: Loops,
}

impl Plan {
    /// Elements that the kernel runs over.
    pub(crate) fn elements(&self) -> usize {
        self.loops.lengths.iter().product()
    }
}

/// What a plan must know of an adapter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Workgroups per dimension of a dispatch.
    pub groups: u32,
    /// Storage bindings of a kernel, the output included.
    pub bindings: u32,
    /// Invocations of a workgroup, in whatever form: a power of two from 64 to [`WORKGROUP`].
    pub workgroup: u32,
    pub faults: Faults,
    /// How functions are computed.
    pub math: Math,
    /// Vectors per invocation that pay off: 1 on a GPU, where neighbours should stay next to each
    /// other, more where starting an invocation costs as much as a few loads.
    pub vectors: u32,
    /// Whether words of 64 bits are moved faster than twice as many of 32.
    pub wide_words: bool,
    /// Invocations of a workgroup that fold a block together at most: 1 where a barrier costs more than
    /// neighbours gain.
    pub team: u32,
    /// Invocations that an adapter without teams runs side by side, so that they read what is side by side at once.
    pub neighbours: u32,
    /// Elements that are read from a cache in whatever order, so that neighbours need not share blocks of them.
    pub cached: usize,
    /// Values that an invocation loads straight at most where no order shows: a power of two.
    pub straight: u32,
    /// Bytes of workgroup memory.
    pub shared: u32,
    /// Places at least that an invocation has for what turns give: more, and the kernels are fewer.
    pub places: u32,
    /// Additions of an element that take as long as storing it and loading it from a cache.
    pub reload: usize,
    /// Runs that keep the adapter busy where an invocation scans each.
    pub runs: u32,
    /// Invocations side by side that take one step together and compute once what all of them have in common: a
    /// workgroup of as many along a row has no other row.
    pub wave: u32,
    /// Whether loading a transposed operand by tiles pays off.
    pub tiles: bool,
    /// Whether workgroups of few columns pay off wherever lanes are scattered across rows, and not
    /// only where they are filled and begin at cache lines.
    pub narrow: bool,
}

/// Where the result goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Destination<'a> {
    /// A new storage, row-major, padded to whole vectors.
    Fresh,
    /// Elements of a storage that is there already.
    Into(&'a Storage, &'a Layout),
}

/// What all vectors of an invocation cost, in additions, above which it computes fewer: drivers take long
/// to compile a long text.
const MOST_COST: usize = 192;

impl Plan {
    /// Plans a program over a non-empty shape.
    pub(crate) fn new(program: &Program, to: Destination<'_>, target: Target) -> Result<Plan> {
        let loops = loops(program, to)?;
        let reading = Reading::of(program, to);
        let affordable = affordable(program, target.math);
        let target = Target { vectors: target.vectors.min(affordable), ..target };
        let together = together(program, &reading, &loops, affordable, target);
        let fresh = matches!(to, Destination::Fresh);
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
            // Which are divided by.
            Walk::Words { .. } => loops.lengths.iter().map(|_| Stride::Any).collect(),
            walk => store.access().strides(loops.output(), walk),
        };
        let operands = operands(program, &bound, &accesses, &loops, (grid.walk, store, &strides));
        let kernel = Kernel {
            walk: grid.walk,
            rank: loops.lengths.len(),
            workgroup: grid.workgroup,
            vectors: grid.vectors * grid.joined,
            carries: grid.walk == Walk::Flat
                && fields::needs_coordinates(store, &operands)
                && loops.inner() + 1 >= LANES * grid.vectors as usize,
            bindings: bound.bindings,
            operands,
            steps: program.steps.clone(),
            results: program.results.clone(),
            out: program.dtype,
            store,
            strides,
            fresh,
            wide_words: target.wide_words,
            faults: target.faults,
            math: target.math,
            makes: Makes::Elements,
        };
        let words = fields::words(&kernel, &loops, program, |field| grid.word(field, &loops));
        Ok(Plan { kernel, launch: Launch { words, groups: grid.groups }, storages: bound.storages, loops })
    }

    /// Bytes that must move at least: each element of each tensor once, and of the result.
    pub(crate) fn bytes(program: &Program) -> usize {
        let results: usize = program.result_shape().iter().product();
        let each = |i: usize| results * program.result_type(i).size();
        read_bytes(program) + (0..program.results.len()).map(each).sum::<usize>()
    }

    pub(crate) fn is_empty(shape: &Shape) -> bool {
        shape.contains(&0)
    }
}

/// Bytes that a program reads at least: each element of each tensor once.
fn read_bytes(program: &Program) -> usize {
    let distinct = |layout: &Layout| -> usize {
        let axes = layout.shape().iter().zip(layout.strides());
        axes.filter(|&(_, &stride)| stride != 0).map(|(&n, _)| n).product()
    };
    let count: usize = program.shape.iter().product();
    let inputs = program.read().filter(|i| matches!(i.source, Source::Tensor(_)));
    let looked_up = |input: &Input| input.computed.iter().map(|extent| extent.length).product::<usize>();
    let elements = |input: &Input| distinct(&input.layout).saturating_mul(looked_up(input)).min(count);
    inputs.map(|input| elements(input) * input.dtype.size()).sum()
}

/// The loops over a program's elements.
fn loops(program: &Program, to: Destination<'_>) -> Result<Loops> {
    let row_major = Layout::contiguous(&program.shape)?;
    let output = match to {
        Destination::Fresh => &row_major,
        Destination::Into(_, layout) => layout,
    };
    let layouts: Vec<&Layout> =
        std::iter::once(output).chain(program.inputs.iter().map(|i| &i.layout)).collect();
    let loops = loops::collapse(&program.shape, &layouts);
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

/// What a vector of a program costs to compile at least, in additions: its loads, but for what all vectors share; its
/// steps; and a fence after each float that arithmetic reads.
fn text_cost(program: &Program, math: Math) -> usize {
    let moves = |input: &&Input| input.layout.strides().iter().any(|&stride| stride != 0);
    let loads = program.read().filter(moves).map(|input| Access::Vector.cost(input.dtype));
    let inputs = program.inputs.len();
    let mut fenced: SmallVec<[bool; 32]> = smallvec![false; program.steps.len()];
    for step in program.steps.iter().filter(|step| step.nature() == Nature::Arithmetic) {
        for value in step.args.iter().filter_map(|&arg| (arg as usize).checked_sub(inputs)) {
            fenced[value] = math == Math::Precise && program.steps[value].result.kind() == Kind::Float;
        }
    }
    let fences = fenced.iter().filter(|&&fenced| fenced).count();
    loads.chain(program.steps.iter().map(Step::cost)).sum::<usize>() + fences
}

/// The vectors of an invocation whose text compiles in time.
fn affordable(program: &Program, math: Math) -> u32 {
    // What a loop takes is more than what an invocation costs.
    if program.steps.iter().filter_map(|step| step.body.as_ref()).any(Body::loops) {
        return 1;
    }
    let cost = text_cost(program, math);
    ((2 * MOST_COST + cost) / (2 * cost).max(1)).max(1) as u32
}

/// Which rows are computed together.
fn together(
    program: &Program,
    reading: &Reading,
    loops: &Loops,
    affordable: u32,
    target: Target,
) -> Together {
    let is_tile = |i: usize| access::is_tile(loops.operand(i), program.inputs[i].dtype);
    match affordable >= LANES as u32 {
        true if reading.of_kind(Read::Bound).any(|i| loops.operand(i).is_interleaved(loops)) => {
            Together::Interleaved
        }
        true if target.tiles && reading.of_kind(Read::Bound).any(is_tile) => Together::Tiles,
        _ => Together::Apart,
    }
}

/// The grid, and how the result is stored along it.
fn lay_out(
    program: &Program,
    loops: &Loops,
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

/// The operands as a kernel's text sees them, `output` being how that is walked, stored and follows the
/// axes.
fn operands(
    program: &Program,
    bound: &Bound,
    accesses: &[Access],
    loops: &Loops,
    (walk, store, strides): (Walk, Store, &[Stride]),
) -> Vec<Operand> {
    let output = Addressing::new(loops.output(), store.access(), walk, strides);
    let mut operands: Vec<Operand> = Vec::with_capacity(program.inputs.len());
    for (i, input) in program.inputs.iter().enumerate() {
        let (origin, access) = (bound.origins[i], accesses[i]);
        let strides = match origin {
            Origin::Scalar | Origin::Row(_) => SmallVec::new(),
            _ => access.strides(loops.operand(i), walk),
        };
        let own = Addressing::new(loops.operand(i), access, walk, &strides);
        let is_alike = |&j: &usize| {
            let other: &Operand = &operands[j];
            !matches!(other.origin, Origin::Scalar | Origin::Row(_))
                && Addressing::new(loops.operand(j), other.access, walk, &other.strides) == own
        };
        let walks_as = match origin {
            Origin::Scalar | Origin::Row(_) => Role::In(i),
            _ if own == output => Role::Out,
            _ => Role::In((0..i).find(is_alike).unwrap_or(i)),
        };
        // A vector holds a row's neighbours, so indices lead to whole ones.
        let unit = access.width() as isize;
        let computed = input.computed.iter().map(|extent| match extent.stride / unit {
            1 => Stride::One,
            _ => Stride::Any,
        });
        let computed = computed.collect();
        operands.push(Operand { dtype: input.dtype, origin, access, strides, computed, walks_as });
    }
    operands
}
