//! The planner: from a program and its layouts to a kernel and a launch. Pure; no GPU.
//!
//! A plan has two halves. [`Kernel`] is everything that the kernel's text depends on and is the
//! key of the pipeline cache; it holds no size, stride, offset or constant. [`Launch`] is the
//! rest: those numbers, which travel in a uniform block, and the grid. So a new shape of a known
//! class compiles nothing.

mod access;
mod collapse;
mod explain;
mod fields;
mod grid;

pub(crate) use access::{Access, Packing, Store, Stride};
pub(crate) use explain::tell;
pub(crate) use fields::{Field, Slot};
pub(crate) use grid::{LANES, WORKGROUP, Walk};

use smallvec::SmallVec;

use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::expr::{Math, Program, Source, Step, Storage, Value, cost};
use crate::layout::{Layout, Shape};

/// Elements that a kernel counts to.
pub(crate) const MOST_ELEMENTS: usize = u32::MAX as usize / 2;

/// What the kernel reads an operand from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// A read-only binding, by its index.
    Binding(usize),
    /// The output's binding: an in-place operand.
    Output,
    /// A constant of the uniform block.
    Scalar,
    /// The address itself.
    Index,
}

/// An operand as the kernel's text sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operand {
    pub dtype: DType,
    pub place: Place,
    pub access: Access,
    /// How its addresses follow the axes, the outermost first; those that are left out they do not.
    pub strides: SmallVec<[Stride; 6]>,
    /// The first of the output and the operands that walks just as this one does: they share their
    /// addresses, and the words that these are made of.
    pub walks_as: Slot,
}

/// A read-only binding: the type of its elements, and how many its array holds side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Binding {
    pub dtype: DType,
    pub width: usize,
}

/// What an adapter computes otherwise than IEEE 754, so that kernels carry forms of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Faults {
    /// Subnormal results become 0, those too that would round up to the least normal float.
    pub flushes: bool,
    /// Quotients are not the nearest floats.
    pub quotients: bool,
    /// Square roots are not.
    pub roots: bool,
}

/// Everything that a kernel's text depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    pub walk: Walk,
    pub rank: usize,
    pub workgroup: [u32; 2],
    /// Vectors that an invocation computes, one after the other along a flat walk or on as many rows.
    pub blocks: u32,
    pub bindings: Vec<Binding>,
    pub operands: Vec<Operand>,
    pub steps: Vec<Step>,
    /// A value for each result.
    pub results: SmallVec<[Value; 1]>,
    pub out: DType,
    pub store: Store,
    /// How the addresses of the result follow the axes, as [`Operand::strides`].
    pub strides: SmallVec<[Stride; 6]>,
    /// Whether the result is a new storage, which begins at its first element.
    pub fresh: bool,
    /// Whether the innermost axis has as many elements as an invocation of a flat walk computes, so
    /// that the coordinates of the first tell those of the others by a carry.
    pub carries: bool,
    /// Whether wide accesses are of words of 64 bits.
    pub pairs: bool,
    pub faults: Faults,
    pub math: Math,
}

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
    /// The collapsed axes, outermost first.
    pub lengths: Vec<usize>,
    /// The strides of the output and of each operand over the collapsed axes.
    pub strides: Vec<Vec<isize>>,
}

/// What a plan must know of an adapter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adapter {
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
    pub blocks: u32,
    /// Whether words of 64 bits are moved faster than twice as many of 32.
    pub pairs: bool,
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
    pub(crate) fn new(program: &Program, to: Destination<'_>, adapter: Adapter) -> Result<Plan> {
        let row_major = Layout::contiguous(&program.shape)?;
        let output = match to {
            Destination::Fresh => &row_major,
            Destination::Into(_, layout) => layout,
        };
        let layouts: Vec<&Layout> =
            std::iter::once(output).chain(program.inputs.iter().map(|i| &i.layout)).collect();
        let collapsed = collapse::collapse(&program.shape, &layouts);
        let count: usize = collapsed.lengths.iter().product();
        if count > MOST_ELEMENTS {
            bail!(
                Limit,
                "a result of {} has {count} elements, and a kernel counts to {MOST_ELEMENTS}: evaluate it in slices",
                program.shape
            );
        }

        let reads_output = |source: &Source| match (source, to) {
            (Source::Tensor(source), Destination::Into(storage, _)) => source.same(storage),
            _ => false,
        };
        let elsewhere = |i: usize| {
            matches!(&program.inputs[i].source, Source::Tensor(_)) && !reads_output(&program.inputs[i].source)
        };
        let tile = |i: usize| {
            let input = &program.inputs[i];
            elsewhere(i)
                && input.dtype.packing() == Packing::Whole
                && access::linear_columns(&collapsed, i + 1)
        };
        // A fence is an operation more to compile.
        let fence =
            |step: &Step| usize::from(adapter.math == Math::Precise && step.result.kind() == Kind::Float);
        let cost: usize = program.steps.iter().map(|step| cost(step.op, step.dtype) + fence(step)).sum();
        let affordable = ((2 * MOST_COST + cost) / (2 * cost).max(1)).max(1);
        let adapter = Adapter { blocks: adapter.blocks.min(affordable as u32), ..adapter };
        let interleaved = affordable >= LANES
            && (0..program.inputs.len()).any(|i| elsewhere(i) && access::interleaved(&collapsed, i + 1));
        let tiles =
            !interleaved && adapter.tiles && affordable >= LANES && (0..program.inputs.len()).any(tile);
        let fresh = matches!(to, Destination::Fresh);
        let mut grid = grid::Grid::new(&collapsed, program.dtype, fresh, [tiles, interleaved], adapter);
        let mut store = access::store(&collapsed, grid.walk, program.dtype, fresh);
        if store == Store::Words {
            grid = grid::Grid::words(&collapsed, adapter);
        }

        // An array has one element type, so operands in the output's binding are wide only if all
        // of them and the store are. Those of small elements have the output's layout.
        let wide_input = |i: usize| {
            matches!(
                access::load(&collapsed, i + 1, grid.walk, false, 1, LANES),
                Access::Vector | Access::Backward
            )
        };
        let aliased = |i: usize| reads_output(&program.inputs[i].source);
        let aliases_wide = (0..program.inputs.len()).filter(|&i| aliased(i)).all(wide_input);
        if store == Store::Vector && !aliases_wide {
            store = Store::Lanes;
        }

        let mut bindings: Vec<Binding> = Vec::new();
        let mut storages: Vec<Storage> = Vec::new();
        let mut operands = Vec::with_capacity(program.inputs.len());
        for (i, input) in program.inputs.iter().enumerate() {
            let widest = if adapter.pairs && input.dtype.size() == 4 { 2 * LANES } else { LANES };
            let load = access::load(&collapsed, i + 1, grid.walk, tiles && tile(i), grid.blocks, widest);
            let place = match &input.source {
                Source::Scalar(_) => Place::Scalar,
                Source::Index(_) => Place::Index,
                Source::Stage { stage, .. } => bail!(Kernel, "stage {stage} has no storage yet"),
                source if reads_output(source) => Place::Output,
                Source::Tensor(storage) => {
                    // Four bytes are a word, whether they are loaded together or not.
                    let width = if input.dtype.packing() == Packing::Bytes { 1 } else { load.width() };
                    let binding = Binding { dtype: input.dtype, width };
                    let known =
                        (0..bindings.len()).find(|&b| bindings[b] == binding && storages[b].same(storage));
                    Place::Binding(known.unwrap_or_else(|| {
                        bindings.push(binding);
                        storages.push(storage.clone());
                        bindings.len() - 1
                    }))
                }
            };
            let access = match place {
                Place::Scalar => Access::Splat,
                Place::Output if store == Store::Words => Access::Vector,
                Place::Output
                    if store == Store::Vector && matches!(load, Access::Vector | Access::Backward) =>
                {
                    load
                }
                Place::Index | Place::Output if load != Access::Splat => Access::Strided,
                _ => load,
            };
            let strides = match place {
                Place::Scalar => SmallVec::new(),
                _ => access::strides(&collapsed, i + 1, access, grid.walk),
            };
            operands.push(Operand { dtype: input.dtype, place, access, strides, walks_as: Slot::In(i) });
        }
        let results = program.results.len();
        if bindings.len() + results > adapter.bindings as usize {
            bail!(
                Limit,
                "an expression of {} tensors and {} needs {} storage bindings, and the adapter has {} (max_storage_buffers_per_shader_stage): evaluate a part of it first",
                bindings.len(),
                if results == 1 { "a result".into() } else { format!("{results} results") },
                bindings.len() + results,
                adapter.bindings
            );
        }

        let mut kernel = Kernel {
            walk: grid.walk,
            rank: collapsed.lengths.len(),
            workgroup: grid.workgroup,
            blocks: grid.blocks,
            bindings,
            operands,
            steps: program.steps.clone(),
            results: program.results.clone(),
            out: program.dtype,
            store,
            strides: match (store, grid.walk) {
                // Which are divided by.
                (_, Walk::Words { .. }) => collapsed.lengths.iter().map(|_| Stride::Any).collect(),
                (Store::Vector, _) => access::strides(&collapsed, 0, Access::Vector, grid.walk),
                _ => access::strides(&collapsed, 0, Access::Strided, grid.walk),
            },
            fresh,
            carries: false,
            pairs: adapter.pairs,
            faults: adapter.faults,
            math: adapter.math,
        };
        let inner = collapsed.lengths.last().copied().unwrap_or(1);
        kernel.carries = kernel.walk == Walk::Flat
            && kernel.needs_coordinates()
            && inner >= LANES * kernel.blocks as usize;
        fields::share_walks(&mut kernel, &collapsed);
        let words = fields::words(&kernel, &collapsed, &grid, program);
        Ok(Plan {
            kernel,
            launch: Launch { words, groups: grid.groups },
            storages,
            lengths: collapsed.lengths.to_vec(),
            strides: collapsed.walks.iter().map(|walk| walk.strides.to_vec()).collect(),
        })
    }

    /// Bytes that must move at least: each element of each tensor once, and of the result.
    pub(crate) fn bytes(program: &Program) -> usize {
        let distinct = |layout: &Layout| -> usize {
            let axes = layout.shape().iter().zip(layout.strides());
            axes.filter(|&(_, &stride)| stride != 0).map(|(&n, _)| n).product()
        };
        let count: usize = program.shape.iter().product();
        let inputs = program.inputs.iter().filter(|i| matches!(i.source, Source::Tensor(_)));
        let read: usize = inputs.map(|i| distinct(&i.layout).min(count) * i.dtype.size()).sum();
        let results: usize = program.result_shape().iter().product();
        read + results * program.results.len() * program.dtype.size()
    }

    pub(crate) fn is_empty(shape: &Shape) -> bool {
        shape.contains(&0)
    }
}
