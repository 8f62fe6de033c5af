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
mod loops;
mod picture;
mod rows;
mod scan;
mod walk;

pub(crate) use access::{Access, Store, Stride};
pub(crate) use cut::{MOST_HELD, Turns};
pub(crate) use explain::{name as operand_name, tell};
pub(crate) use fields::{Field, Number, Role, ScanNumber};
pub(crate) use fold::{Folder, Lanes, Pass, Stored, Work};
pub(crate) use halves::Halves;
pub(crate) use picture::{Panel, svg};
pub(crate) use rows::{Phase, RowFolder};
pub(crate) use scan::{ScanWork, Scanned, Scanner};
pub(crate) use walk::{LANES, Packing, WORKGROUP, Walk};

use access::Chooser;
use fields::Addressing;
use grid::Grid;
use joined::Sides;
use loops::Loops;
use smallvec::SmallVec;
use walk::Together;

use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::expr::{Extent, Input, Math, Op, Program, Source, Step, Storage, Value};
use crate::layout::{Layout, Shape};

/// Elements that a kernel counts to.
pub(crate) const MOST_ELEMENTS: usize = u32::MAX as usize / 2;

/// What the kernel reads an operand from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// A read-only binding, by its index.
    Binding(usize),
    /// The output's binding: an in-place operand.
    Output,
    /// A constant of the uniform block.
    Scalar,
    /// The address itself.
    Index,
    /// What a fold of the same kernel gives, which this operand stands for.
    Row(usize),
}

/// An operand as the kernel's text sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operand {
    pub dtype: DType,
    pub origin: Origin,
    pub access: Access,
    /// How its addresses follow the axes, the outermost first; those that are left out they do not.
    pub strides: SmallVec<[Stride; 6]>,
    /// How its addresses follow indices that are computed, where it is looked up.
    pub computed: SmallVec<[Stride; 2]>,
    /// The first of the output and the operands that walks just as this one does: they share their
    /// addresses, and the words that these are made of.
    pub walks_as: Role,
}

/// A read-only binding: the type of its elements, and how many its array holds side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Binding {
    pub dtype: DType,
    pub width: usize,
}

/// What an adapter lacks, or computes otherwise than IEEE 754, so that kernels carry forms of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Faults {
    /// Subnormal results become 0, those too that would round up to the least normal float.
    pub flushes: bool,
    /// Quotients are not the nearest floats.
    pub quotients: bool,
    /// Square roots are not.
    pub roots: bool,
    /// `unpack2x16float` or `pack2x16float` changes numbers that f16 has.
    pub halves: bool,
    /// There is no f16, or what is converted to it is not rounded to the nearest.
    pub half_rounding: bool,
    /// There are no integers of 64 bits, or a product of them is no faster than several of 32.
    pub products: bool,
}

/// What a kernel makes of the elements of its program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Makes {
    /// It stores them.
    Elements,
    Fold(Folder),
    Scan(Scanner),
    Rows(RowFolder),
}

/// Everything that a kernel's text depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    pub walk: Walk,
    pub rank: usize,
    pub workgroup: [u32; 2],
    /// Vectors that an invocation computes, one after the other along a flat walk or on as many rows, or
    /// joined by their store.
    pub blocks: u32,
    pub bindings: Vec<Binding>,
    pub operands: Vec<Operand>,
    pub steps: Vec<Step>,
    /// A value for each result.
    pub results: SmallVec<[Value; 1]>,
    /// The type of the first result; those of others are their values'.
    pub out: DType,
    pub store: Store,
    /// How the addresses of the result follow the axes, as [`Operand::strides`].
    pub strides: SmallVec<[Stride; 6]>,
    /// Whether the result is a new storage, which begins at its first element.
    pub fresh: bool,
    /// Whether the innermost axis has as many elements as an invocation of a flat walk computes, or one less,
    /// so that the coordinates of the first tell those of the others by a carry.
    pub carries: bool,
    /// Whether wide accesses are of words of 64 bits.
    pub wide_words: bool,
    pub faults: Faults,
    pub math: Math,
    pub makes: Makes,
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
    pub blocks: u32,
    /// Whether words of 64 bits are moved faster than twice as many of 32.
    pub wide_words: bool,
    /// Invocations of a workgroup that fold a block together at most: 1 where a barrier costs more than
    /// neighbours gain.
    pub team: u32,
    /// Runs that keep the adapter busy where an invocation scans each.
    pub runs: u32,
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

/// What loading a vector of an operand costs a compiler, in additions.
const LOAD: usize = 3;

impl Kernel {
    /// Whether results are summed or multiplied in an order that nothing may change.
    pub(crate) fn is_ordered(&self) -> bool {
        match &self.makes {
            Makes::Fold(folder) => folder.fold.is_ordered(folder.element),
            Makes::Scan(scanner) => scanner.fold.is_ordered(scanner.element),
            Makes::Elements | Makes::Rows(_) => false,
        }
    }

    /// Vectors that an invocation computes one after the other, or on as many rows.
    pub(crate) fn apart(&self) -> u32 {
        self.blocks / self.joined()
    }

    /// Vectors that are loaded and stored together in the place of each of these.
    pub(crate) fn joined(&self) -> u32 {
        match self.store {
            Store::Joined { blocks } => blocks.into(),
            _ => 1,
        }
    }

    /// The type of a value.
    pub(crate) fn value_type(&self, value: Value) -> DType {
        match (value as usize).checked_sub(self.operands.len()) {
            None => self.operands[value as usize].dtype,
            Some(step) => self.steps[step].result,
        }
    }

    /// Whether an invocation computes rows that need not be neighbours: its launch says how far they are apart.
    pub(crate) fn has_rows_apart(&self) -> bool {
        let serves_rows = |operand: &Operand| operand.access.serves_rows();
        self.walk == Walk::Rows && self.apart() > 1 && !self.operands.iter().any(serves_rows)
    }

    /// The types of what it stores, each in a binding of its own.
    pub(crate) fn stored(&self) -> SmallVec<[DType; 2]> {
        match &self.makes {
            Makes::Elements => self.results.iter().map(|&result| self.value_type(result)).collect(),
            Makes::Fold(folder) => folder.stored.iter().map(|&stored| folder.stored_type(stored)).collect(),
            Makes::Scan(_) => SmallVec::from_slice(&[self.out]),
            Makes::Rows(_) => self.results.iter().map(|_| self.out).collect(),
        }
    }
}

impl Plan {
    /// Plans a program over a non-empty shape.
    pub(crate) fn new(program: &Program, to: Destination<'_>, target: Target) -> Result<Plan> {
        let loops = loops(program, to)?;
        let reading = Reading::of(program, to);
        let affordable = affordable(program, target.math);
        let target = Target { blocks: target.blocks.min(affordable), ..target };
        let together = together(program, &reading, &loops, affordable, target);
        let fresh = matches!(to, Destination::Fresh);
        let (grid, store) = lay_out(program, &loops, fresh, together, target);
        let chooser = Chooser { loops: &loops, walk: grid.walk, together, blocks: grid.blocks };
        let (mut accesses, store) = accesses(program, &reading, chooser, store, target.wide_words);
        let sides = Sides { program, loops: &loops, fresh, affordable, target };
        let (grid, store) = sides.join(grid, &mut accesses, store);
        let bound = Bound::new(program, &reading, &accesses, program.results.len(), target)?;
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
            blocks: grid.blocks * grid.joined,
            carries: grid.walk == Walk::Flat
                && fields::needs_coordinates(store, &operands)
                && loops.inner() + 1 >= LANES * grid.blocks as usize,
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
        Ok(Plan {
            kernel,
            launch: Launch { words, groups: grid.groups },
            storages: bound.storages,
            lengths: loops.lengths.to_vec(),
            strides: loops.paths.iter().map(|path| path.strides.to_vec()).collect(),
        })
    }

    /// Bytes that must move at least: each element of each tensor once, and of the result.
    pub(crate) fn bytes(program: &Program) -> usize {
        let distinct = |layout: &Layout| -> usize {
            let axes = layout.shape().iter().zip(layout.strides());
            axes.filter(|&(_, &stride)| stride != 0).map(|(&n, _)| n).product()
        };
        let count: usize = program.shape.iter().product();
        let inputs = program.read().filter(|i| matches!(i.source, Source::Tensor(_)));
        let looked_up = |input: &Input| input.computed.iter().map(|extent| extent.length).product::<usize>();
        let elements = |input: &Input| distinct(&input.layout).saturating_mul(looked_up(input)).min(count);
        let read: usize = inputs.map(|input| elements(input) * input.dtype.size()).sum();
        let results: usize = program.result_shape().iter().product();
        let each = |i: usize| results * program.result_type(i).size();
        read + (0..program.results.len()).map(each).sum::<usize>()
    }

    pub(crate) fn is_empty(shape: &Shape) -> bool {
        shape.contains(&0)
    }
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

/// How the operands of a program are read.
struct Reading(SmallVec<[Read; 8]>);

/// How an operand is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    /// From a binding of its own.
    Bound,
    /// The same, lane by lane, as no vector may reach past its last element.
    Exact,
    /// Through the binding of the output, which is the same storage.
    Output,
    /// The same, by lookups.
    Table,
    /// Not from memory.
    Scalar,
    Index,
    Row,
}

impl Reading {
    fn of(program: &Program, to: Destination<'_>) -> Reading {
        let read = |input: &Input| match (&input.source, to) {
            (Source::Scalar(_), _) => Read::Scalar,
            (Source::Index(_), _) => Read::Index,
            (Source::Row(_), _) => Read::Row,
            (Source::Tensor(_) | Source::Stage { .. }, _) if input.is_table() => Read::Table,
            (Source::Tensor(source), Destination::Into(storage, _)) if source.same(storage) => Read::Output,
            (Source::Tensor(source), _) if source.is_exact => Read::Exact,
            (Source::Tensor(_) | Source::Stage { .. } | Source::State(_), _) => Read::Bound,
        };
        Reading(program.inputs.iter().map(read).collect())
    }

    /// How the operands of a kernel that folds or scans are accessed: each by itself, and loaded by functions of
    /// the coordinates.
    fn folded(&self, program: &Program, chooser: &Chooser<'_>, target: Target) -> SmallVec<[Access; 8]> {
        let access = |(i, input): (usize, &Input)| match self.0[i] {
            Read::Scalar | Read::Row => Access::Splat,
            Read::Table => Access::Lookup,
            Read::Index | Read::Exact if chooser.plain(i) == Access::Splat => Access::Splat,
            Read::Index | Read::Exact => Access::Strided,
            Read::Bound | Read::Output => {
                let widest = if target.wide_words && input.dtype.size() == 4 { 2 * LANES } else { LANES };
                chooser.bound(i, widest, input.dtype)
            }
        };
        program.inputs.iter().enumerate().map(access).collect()
    }

    /// The operands that are read so.
    fn of_kind(&self, kind: Read) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(move |&(_, &read)| read == kind).map(|(i, _)| i)
    }
}

/// What a vector of a program costs to compile, in additions: its steps, and a fence after each of floats.
fn text_cost(program: &Program, math: Math) -> usize {
    let fence = |step: &Step| usize::from(math == Math::Precise && step.result.kind() == Kind::Float);
    program.steps.iter().map(|step| step.cost() + fence(step)).sum::<usize>() + LOAD * program.read().count()
}

/// The vectors of an invocation whose text compiles in time.
fn affordable(program: &Program, math: Math) -> u32 {
    // What a loop takes is more than what an invocation costs.
    if program.steps.iter().any(|step| step.op == Op::Repeat) {
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

/// How each operand is accessed, and the result: an array has one element type, so operands in the
/// output's binding are wide only if all of them and the store are. Those of small elements have the
/// output's layout.
fn accesses(
    program: &Program,
    reading: &Reading,
    chooser: Chooser<'_>,
    store: Store,
    wide_words: bool,
) -> (SmallVec<[Access; 8]>, Store) {
    let all_wide = reading.of_kind(Read::Output).all(|i| chooser.plain(i).is_wide());
    let store = if store == Store::Vector && !all_wide { Store::Lanes } else { store };
    let access = |(i, input): (usize, &Input)| match reading.0[i] {
        Read::Scalar | Read::Row => Access::Splat,
        Read::Table => Access::Lookup,
        Read::Bound => {
            let widest = if wide_words && input.dtype.size() == 4 { 2 * LANES } else { LANES };
            chooser.bound(i, widest, input.dtype)
        }
        Read::Output if store == Store::Words => Access::Vector,
        read => match chooser.plain(i) {
            Access::Splat => Access::Splat,
            wide if read == Read::Output && store == Store::Vector => wide,
            _ => Access::Strided,
        },
    };
    let mut accesses = program.inputs.iter().enumerate().map(access).collect();
    if store != Store::Words {
        looked_up_by_rows(program, reading, chooser, &mut accesses);
    }
    (accesses, store)
}

/// Lets tables be loaded by vectors where lanes lie next to each other and have one index in common.
fn looked_up_by_rows(
    program: &Program,
    reading: &Reading,
    chooser: Chooser<'_>,
    accesses: &mut SmallVec<[Access; 8]>,
) {
    let is_row = |i: usize| {
        let is_exact = matches!(&program.inputs[i].source, Source::Tensor(storage) if storage.is_exact);
        let whole = |extent: &Extent| extent.stride % LANES as isize == 0;
        !is_exact && chooser.plain(i) == Access::Vector && program.inputs[i].computed.iter().all(whole)
    };
    let mut by_row: SmallVec<[bool; 8]> =
        (0..accesses.len()).map(|i| reading.0[i] == Read::Table && is_row(i)).collect();
    // Values that are the same in all lanes.
    let mut splat: Vec<bool> = (0..accesses.len())
        .map(|i| match reading.0[i] {
            Read::Table => chooser.plain(i) == Access::Splat,
            _ => accesses[i] == Access::Splat,
        })
        .collect();
    for step in &program.steps {
        if let (Op::Lookup, [table, indices @ ..]) = (step.op, step.args.as_slice()) {
            by_row[*table as usize] &= indices.iter().all(|&index| splat[index as usize]);
        }
        splat.push(step.args.iter().all(|&arg| splat[arg as usize]));
    }
    let rows = accesses.iter_mut().zip(by_row).filter(|(_, by_row)| *by_row);
    rows.for_each(|(access, _)| *access = Access::LookupRow);
}

/// The read-only bindings of a kernel, and what each operand is read from.
struct Bound {
    bindings: Vec<Binding>,
    storages: Vec<Storage>,
    origins: SmallVec<[Origin; 8]>,
}

impl Bound {
    /// Binds what a kernel reads, beside `results` that it writes.
    fn new(
        program: &Program,
        reading: &Reading,
        accesses: &[Access],
        results: usize,
        target: Target,
    ) -> Result<Bound> {
        let mut bound = Bound { bindings: Vec::new(), storages: Vec::new(), origins: SmallVec::new() };
        for (i, input) in program.inputs.iter().enumerate() {
            let origin = match (&input.source, reading.0[i]) {
                (_, Read::Scalar) => Origin::Scalar,
                (_, Read::Index) => Origin::Index,
                (_, Read::Row) => Origin::Row(i),
                (_, Read::Output) => Origin::Output,
                (Source::Tensor(storage), Read::Bound | Read::Exact | Read::Table) => {
                    bound.bind(input.dtype, accesses[i], storage)
                }
                (source, Read::Bound | Read::Exact | Read::Table) => {
                    bail!(Kernel, "{source:?} has no storage yet")
                }
            };
            bound.origins.push(origin);
        }
        let tensors = bound.bindings.len();
        if tensors + results > target.bindings as usize {
            bail!(
                Limit,
                "an expression of {tensors} tensors and {} needs {} storage bindings, and the adapter has {} (max_storage_buffers_per_shader_stage): evaluate a part of it first",
                if results == 1 { "a result".into() } else { format!("{results} results") },
                tensors + results,
                target.bindings
            );
        }
        Ok(bound)
    }

    /// The binding of a storage, known or new.
    fn bind(&mut self, dtype: DType, access: Access, storage: &Storage) -> Origin {
        // Four bytes are a word, whether they are loaded together or not.
        let width = match (dtype.packing(), access) {
            (Packing::Bytes, access) if !matches!(access, Access::Joined { .. }) => 1,
            _ => access.width(),
        };
        let binding = Binding { dtype, width };
        let is_known = |&b: &usize| self.bindings[b] == binding && self.storages[b].same(storage);
        let known = (0..self.bindings.len()).find(is_known);
        Origin::Binding(known.unwrap_or_else(|| {
            self.bindings.push(binding);
            self.storages.push(storage.clone());
            self.bindings.len() - 1
        }))
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
