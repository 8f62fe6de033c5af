//! Folds: a run of values becomes one, or is scanned, by passes, each a kernel.
//!
//! A pass cuts the run into blocks and folds each to `keep` values: `x[i] + x[i + h]` from half a block down
//! to h = `keep`, both powers of two. What it stores is a run again, in blocks of `keep`; where that is one,
//! the next round begins with blocks of the contract's length. So a pass may end at any h, and all cuts
//! give the same bits. A scan has passes of its own: the last values of groups, a scan of these, and a pass
//! that computes all values and adds what comes before their group.

use std::ops::Range;

use smallvec::SmallVec;

use super::access::{Access, Chooser, Store, Stride};
use super::fields::{self, Number};
use super::loops::{Loops, Path};
use super::walk::{LANES, Packing, Together, Walk};
use super::{Bound, Field, Kernel, Launch, Plan, Read, Reading, Target, operands};
use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::expr::{
    BLOCK, Fold, Folding, GROUP, Input, Kept, Op, Program, Scan, Source, Step, Storage, Value,
};
use crate::layout::{Axes, Axis, Layout, merge};

/// Invocations of a workgroup of a fold.
pub(crate) const FOLD_WORKGROUP: u32 = 64;

/// Values that are loaded before any of them are added. Where lanes do not lie along the run, these are all
/// that an invocation folds: more rows lie too far apart for a cache, and leave few invocations.
const STRAIGHT: usize = 16;

/// Additions that the text of a pass costs at most, values that are loaded straight counted each.
const MOST_COST: usize = 160;

/// The shortest axis, unless it is one of whole vectors, along which lanes may lie.
const SHORTEST: usize = 16;

/// Where the four lanes of an invocation lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lanes {
    /// Next to each other along the run, so that they are folded themselves at last.
    Run,
    /// Next to each other along the innermost axis, which is kept: the same place in four runs.
    Kept,
    /// One after the other in the order of the result: coordinates by division, per lane.
    Anywhere,
}

/// In which order a kernel goes through values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    /// By halves of a block, `straight` values at once, which are all that an invocation has or as many as
    /// are in each turn of a loop; `team` invocations share a block.
    Halves { straight: u32, loops: bool, team: u32 },
    /// One after the other, of which the last is stored.
    Last,
    /// One after the other, of which each is stored, after what comes before the group where `carried` says
    /// that there is any.
    Each { exclusive: bool, carried: bool },
}

/// What a kernel's text depends on where it folds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Folder {
    pub fold: Fold,
    /// The type of what is folded.
    pub element: DType,
    pub lanes: Lanes,
    pub order: Order,
    /// The axes of the run.
    pub run: Range<usize>,
    /// Whether all blocks are whole, so that nothing is past the end.
    pub whole: bool,
    /// Values that are folded side by side.
    pub values: usize,
    /// Whether the index of each value is a result of the program too, from a pass before.
    pub indexed: bool,
    pub stored: SmallVec<[Stored; 2]>,
}

/// What is stored of each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stored {
    Value(usize),
    Index(usize),
}

impl Folder {
    /// The type in which something is stored, of whole words.
    pub(crate) fn stored_type(&self, stored: Stored) -> DType {
        match stored {
            Stored::Value(_) => whole(self.element),
            Stored::Index(_) => DType::U32,
        }
    }

    /// Whether an axis is kept.
    pub(crate) fn keeps(&self, axis: usize) -> bool {
        !self.run.contains(&axis)
    }
}

/// The type of whole words that holds a type's values.
pub(super) fn whole(dtype: DType) -> DType {
    match (dtype.packing(), dtype.kind()) {
        (Packing::Whole, _) => dtype,
        (_, Kind::Signed) => DType::I32,
        _ => DType::U32,
    }
}

/// A fold on its way: what its passes before this one left.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// Of the elements that are folded; in the end of several passes, a copy of what the last one stored.
    pub program: Program,
    /// What stays of the folding.
    pub folding: Folding,
    /// The type of the elements of the first pass.
    element: DType,
    /// How many values of the program are folded; the others are their indices.
    values: usize,
    /// Values of a block, of which the passes before left these.
    block: usize,
    /// Of a scan, what is done next.
    order: Option<Order>,
}

/// A pass of a fold.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub plan: Plan,
    /// The types of what is stored, and how many elements of each.
    pub stored: Vec<DType>,
    pub count: usize,
    /// What it does, in words.
    pub form: String,
    /// Where it leaves several values of a run: how these lie, and in blocks of how many.
    pub(super) rest: Option<(Layout, usize)>,
}

impl Work {
    /// All of a fold.
    pub(crate) fn new(program: &Program) -> Result<Work> {
        let Some(folding) = program.fold.clone() else { bail!(Kernel, "a program without a fold") };
        Ok(Work {
            element: program.element_type(),
            values: program.results.len(),
            folding,
            program: program.clone(),
            block: BLOCK,
            order: None,
        })
    }

    /// The values of a run.
    pub(crate) fn count(&self) -> usize {
        self.folding.count(&self.program.shape)
    }

    /// The scan of this work, if it is one.
    pub(crate) fn scan(&self) -> Option<Scan> {
        self.folding.scan
    }

    /// Groups of a scan.
    pub(crate) fn groups(&self) -> usize {
        self.count().div_ceil(GROUP)
    }

    /// The part of a scan that finds the last values of all groups but the last.
    pub(crate) fn totals(&self) -> Work {
        Work { order: Some(Order::Last), ..self.clone() }
    }

    /// The inclusive scan of what [`totals`](Self::totals) stored.
    pub(crate) fn scan_of(&self, pass: &Pass, storages: &[Storage]) -> Result<Work> {
        let mut work = self.after(pass, storages)?;
        work.folding.scan = Some(Scan { exclusive: false });
        Ok(work)
    }

    /// The part of a scan that computes all values, with what comes before each group but the first.
    pub(crate) fn each(&self, carried: &[Storage]) -> Result<Work> {
        let Some(scan) = self.folding.scan else { bail!(Kernel, "a fold is no scan") };
        let mut work = self.clone();
        work.order = Some(Order::Each { exclusive: scan.exclusive, carried: !carried.is_empty() });
        // They are inputs behind those of the program, so the numbers of its steps move up.
        let inputs = work.program.inputs.len() as Value;
        let more = carried.len() as Value;
        let moved = |value: &mut Value| *value += if *value >= inputs { more } else { 0 };
        work.program.steps.iter_mut().flat_map(|step| step.args.iter_mut()).for_each(moved);
        work.program.results.iter_mut().for_each(moved);
        let axis = self.folding.axes.start;
        let mut shape = work.program.shape.to_vec();
        shape[axis] = self.groups() - 1;
        for storage in carried {
            work.program.inputs.push(Input {
                dtype: whole(self.element),
                source: Source::Tensor(storage.clone()),
                layout: Layout::contiguous(shape.as_slice())?,
            });
        }
        Ok(work)
    }

    /// What is to be done after a pass that stored to `storages`.
    pub(crate) fn after(&self, pass: &Pass, storages: &[Storage]) -> Result<Work> {
        let Some((layout, block)) = &pass.rest else { bail!(Kernel, "a fold that is done") };
        let inputs: Vec<Input> = storages
            .iter()
            .zip(&pass.stored)
            .map(|(storage, &dtype)| Input {
                dtype,
                source: Source::Tensor(storage.clone()),
                layout: layout.clone(),
            })
            .collect();
        let mut steps = Vec::new();
        let mut results: SmallVec<[Value; 1]> = (0..inputs.len() as Value).collect();
        if whole(self.element) != self.element {
            for result in results.iter_mut().take(self.values) {
                let (dtype, args) = (whole(self.element), smallvec::smallvec![*result]);
                *result = (inputs.len() + steps.len()) as Value;
                steps.push(Step { op: Op::Cast, dtype, result: self.element, args });
            }
        }
        let program = Program {
            shape: layout.shape().clone(),
            dtype: self.program.dtype,
            inputs,
            steps,
            results,
            fold: Some(self.folding.clone()),
            rows: None,
            ready: Kept::default(),
        };
        let folding =
            Folding { axes: self.folding.axes.start..self.folding.axes.start + 1, ..self.folding.clone() };
        Ok(Work { program, folding, block: *block, order: None, ..self.clone() })
    }
}

/// The fewest axes of `range` that all operands walk as these.
pub(super) fn axes(program: &Program, range: impl Iterator<Item = usize>) -> Axes {
    let strides = |k: usize| program.inputs.iter().map(|input| input.layout.strides()[k]).collect();
    merge(range.map(|k| Axis { length: program.shape[k], strides: strides(k) }))
}

/// What a pass does, in numbers.
struct Cut {
    order: Order,
    /// Values of a block and what stays of it.
    block: usize,
    keep: usize,
}

impl Pass {
    /// Plans the next pass of a fold.
    pub(crate) fn new(work: &Work, target: Target) -> Result<Pass> {
        let program = &work.program;
        let run_axes = work.folding.axes.clone();
        let is_scan = matches!(work.order, Some(Order::Each { .. }));
        // What a scan stores is not next to each other across the run, so there kept axes do not merge.
        let mut kept = axes(program, 0..run_axes.start);
        let before = kept.len();
        match is_scan {
            true => kept.extend(axes(program, run_axes.end..program.shape.rank())),
            false => kept = axes(program, (0..program.shape.rank()).filter(|k| !run_axes.contains(k))),
        }
        let mut run = axes(program, run_axes.clone());
        if run.is_empty() {
            run.push(Axis { length: 1, strides: program.inputs.iter().map(|_| 0).collect() });
        }
        let count: usize = run.iter().map(|axis| axis.length).product();
        let results: usize = kept.iter().map(|axis| axis.length).product();
        if results.checked_mul(count).is_none_or(|all| all > super::MOST_ELEMENTS) {
            bail!(
                Limit,
                "{} of {} folds more than {} elements, which is what a kernel counts to: evaluate it in slices",
                work.folding.name(),
                program.shape,
                super::MOST_ELEMENTS
            );
        }
        let halves = work.folding.scan.is_none() && work.order.is_none();
        let (lanes, lane) = lanes(program, halves.then_some(work.block), &kept, &run);
        let cut = cut(work, lanes, count, target);
        let positions = match cut.order {
            Order::Halves { .. } => count / cut.block * cut.keep + (count % cut.block).min(cut.keep),
            Order::Last => work.groups() - 1,
            Order::Each { .. } => work.groups(),
        };

        // The strides of what is stored along the kept axes, and from one position to the next.
        let (unit, position_stride) = match lanes {
            _ if is_scan => (count, 0),
            Lanes::Run => (positions, 1),
            Lanes::Kept | Lanes::Anywhere => (1, results),
        };
        let inner = |from: usize| -> usize { kept[from..].iter().map(|axis| axis.length).product() };
        let out_stride = |k: usize| {
            let unit = if is_scan && k >= before { 1 } else { unit };
            (inner(k + 1) * unit) as isize
        };

        // The loops: the run behind the kept axes, or before the one along which lanes lie.
        let mut order: Vec<(&Axis, isize)> = Vec::new();
        let others = (0..kept.len()).filter(|&k| lanes != Lanes::Kept || k != lane);
        order.extend(others.map(|k| (&kept[k], out_stride(k))));
        let first = order.len();
        let run_stride = if is_scan { inner(before) as isize } else { 0 };
        order.extend(run.iter().map(|axis| (axis, run_stride)));
        let run_range = first..order.len();
        if lanes == Lanes::Kept {
            order.push((&kept[lane], out_stride(lane)));
        }
        let path = |offset: usize, strides: SmallVec<[isize; 6]>| Path { offset, strides };
        let mut paths = vec![path(0, order.iter().map(|&(_, stride)| stride).collect())];
        paths.extend(program.inputs.iter().enumerate().map(|(i, input)| {
            path(input.layout.offset(), order.iter().map(|(axis, _)| axis.strides[i]).collect())
        }));
        let loops = Loops { lengths: order.iter().map(|(axis, _)| axis.length).collect(), paths };

        let walk = if lanes == Lanes::Anywhere { Walk::Anywhere } else { Walk::Rows };
        let store = match lanes {
            Lanes::Anywhere if !is_scan => Store::Vector,
            Lanes::Kept
                if loops.output().has_linear_rows(1)
                    && loops.inner().is_multiple_of(LANES)
                    && position_stride.is_multiple_of(LANES) =>
            {
                Store::Vector
            }
            _ => Store::Lanes,
        };
        let strides: SmallVec<[Stride; 6]> = match (lanes, store) {
            (Lanes::Anywhere, Store::Vector) => SmallVec::new(),
            (_, store) => store.access().strides(loops.output(), walk),
        };
        let reading = Reading::of(program, super::Destination::Fresh);
        let chooser = Chooser { loops: &loops, walk, together: Together::Apart, blocks: 1 };
        let access = |(i, input): (usize, &Input)| match reading.0[i] {
            Read::Scalar | Read::Row => Access::Splat,
            Read::Index if chooser.plain(i) == Access::Splat => Access::Splat,
            Read::Index => Access::Strided,
            _ => {
                let widest = if target.pairs && input.dtype.size() == 4 { 2 * LANES } else { LANES };
                chooser.bound(i, widest, input.dtype)
            }
        };
        let accesses: SmallVec<[Access; 8]> = program.inputs.iter().enumerate().map(access).collect();

        let is_last = matches!(cut.order, Order::Halves { .. }) && positions == 1;
        let gives_index = work.folding.fold.row().gives_index;
        let values = work.values;
        let mut stored: SmallVec<[Stored; 2]> = SmallVec::new();
        if !(gives_index && is_last) {
            stored.extend((0..values).map(Stored::Value));
        }
        if gives_index {
            stored.extend((0..values).map(Stored::Index));
        }
        let folder = Folder {
            fold: work.folding.fold,
            element: work.element,
            lanes,
            order: cut.order,
            run: run_range,
            whole: count.is_multiple_of(cut.block),
            values,
            indexed: program.results.len() > values,
            stored,
        };
        let bound = Bound::new(program, &reading, &accesses, folder.stored.len(), target)?;
        let operands = operands(program, &bound, &accesses, &loops, (walk, store, &strides));

        let team = match cut.order {
            Order::Halves { team, .. } => team as usize,
            _ => 1,
        };
        let columns = loops.inner().div_ceil(LANES);
        let items = match lanes {
            Lanes::Run => results * positions * team,
            Lanes::Kept => results / loops.inner() * columns * positions,
            Lanes::Anywhere => results * positions,
        };
        let invocations = if lanes == Lanes::Anywhere { items.div_ceil(LANES) } else { items };
        let workgroups = invocations.div_ceil(FOLD_WORKGROUP as usize);
        let y = workgroups.div_ceil(target.groups as usize).max(1);
        let x = workgroups.div_ceil(y).max(1);
        if y > target.groups as usize {
            bail!(
                Limit,
                "{} needs {workgroups} workgroups, more than the adapter runs at once",
                program.shape
            );
        }
        let unit = store.access().width();
        let numbers = numbers(&folder, &cut, (items, positions, count), (x, columns, position_stride / unit));
        let form = describe(&folder, &cut, count, positions);
        let kernel = Kernel {
            walk,
            rank: loops.lengths.len(),
            workgroup: [FOLD_WORKGROUP, 1],
            blocks: 1,
            bindings: bound.bindings,
            operands,
            steps: program.steps.clone(),
            results: program.results.clone(),
            out: whole(work.element),
            store,
            strides,
            fresh: true,
            carries: false,
            pairs: target.pairs,
            faults: target.faults,
            math: target.math,
            fold: Some(folder),
            rows: None,
        };
        let words = fields::words(&kernel, &loops, program, |field| numbers.word(field));
        let Some(folder) = &kernel.fold else { bail!(Kernel, "a fold without a folder") };
        let stored = folder.stored.iter().map(|&stored| folder.stored_type(stored)).collect();
        let count = if is_scan { results * count } else { results * positions };
        let rest = if is_scan || is_last { None } else { Some(rest(work, lanes, &cut, positions)?) };
        Ok(Pass {
            plan: Plan {
                kernel,
                launch: Launch { words, groups: [x as u32, y as u32, 1] },
                storages: bound.storages,
                lengths: loops.lengths.to_vec(),
                strides: loops.paths.iter().map(|path| path.strides.to_vec()).collect(),
            },
            stored,
            count,
            form,
            rest,
        })
    }

    pub(crate) fn is_last(&self) -> bool {
        self.rest.is_none()
    }
}

/// How what a pass stores lies: positions behind the kept axes where lanes lie along the run, before them
/// else. And the blocks of it.
fn rest(work: &Work, lanes: Lanes, cut: &Cut, positions: usize) -> Result<(Layout, usize)> {
    let shape = &work.program.shape;
    let run = work.folding.axes.clone();
    let mut own: Vec<usize> =
        shape.iter().enumerate().filter(|(k, _)| !run.contains(k)).map(|(_, &n)| n).collect();
    let rank = own.len();
    let layout = match lanes {
        Lanes::Run => {
            own.push(positions);
            let mut order: Vec<isize> = (0..rank as isize).collect();
            order.insert(run.start, rank as isize);
            Layout::contiguous(own)?.permute(&order)?
        }
        Lanes::Kept | Lanes::Anywhere => {
            own.insert(0, positions);
            let mut order: Vec<isize> = (1..=rank as isize).collect();
            order.insert(run.start, 0);
            Layout::contiguous(own)?.permute(&order)?
        }
    };
    // Folded axes beside the first have length 1 now.
    let more = (1..run.len()).map(|k| (run.start + k) as isize);
    let layout = more.into_iter().try_fold(layout, |layout, axis| layout.unsqueeze(axis))?;
    Ok((layout, if cut.keep == 1 { BLOCK } else { cut.keep }))
}

/// Along which axis lanes lie: that which the fewest tensors jump along and the most lie along, if it is
/// long enough; along the run only where it is folded by halves of blocks.
pub(super) fn lanes(program: &Program, halved: Option<usize>, kept: &[Axis], run: &[Axis]) -> (Lanes, usize) {
    let is_tensor = |i: usize| matches!(program.inputs[i].source, Source::Tensor(_) | Source::Stage { .. });
    let tensors: Vec<usize> = (0..program.inputs.len()).filter(|&i| is_tensor(i)).collect();
    let score = |axis: &Axis| {
        let jumps = tensors.iter().filter(|&&i| axis.strides[i].abs() > 1).count();
        let along = tensors.iter().filter(|&&i| axis.strides[i] == 1).count();
        (std::cmp::Reverse(jumps), along)
    };
    let is_long = |length: usize| length.is_multiple_of(LANES) || length >= SHORTEST;
    let mut best = None;
    let whole = matches!(run, [_]) || run.last().is_some_and(|axis| axis.length.is_multiple_of(LANES));
    let is_halved = halved.is_some_and(|block| block >= LANES);
    if let Some(axis) = run.last().filter(|_| is_halved && whole) {
        let count: usize = run.iter().map(|axis| axis.length).product();
        // A pass along the run stores one value of a block.
        if is_long(count) {
            best = Some((score(axis), Lanes::Run, 0));
        }
    }
    for (k, axis) in kept.iter().enumerate().rev().filter(|(_, axis)| is_long(axis.length)) {
        if best.is_none_or(|(best, ..)| score(axis) > best) {
            best = Some((score(axis), Lanes::Kept, k));
        }
    }
    best.map_or((Lanes::Anywhere, 0), |(_, lanes, k)| (lanes, k))
}

/// How far a pass goes.
fn cut(work: &Work, lanes: Lanes, count: usize, target: Target) -> Cut {
    if let Some(order) = work.order {
        return Cut { order, block: GROUP, keep: 1 };
    }
    let block = work.block.min(count.next_power_of_two());
    let cost = super::text_cost(&work.program, target.math);
    let combine = if work.folding.fold.row().gives_index { 8 } else { 2 };
    // How many of an invocation's values are straight.
    let halves = |values: usize, team: usize| {
        let is_affordable = |&n: &usize| n == 1 || n * (cost + combine) <= MOST_COST;
        let straight = match values <= STRAIGHT && is_affordable(&values) {
            true => values,
            false => [STRAIGHT, 4, 1].into_iter().find(|n| *n <= values && is_affordable(n)).unwrap_or(1),
        };
        Order::Halves { straight: straight as u32, loops: straight < values, team: team as u32 }
    };
    match lanes {
        Lanes::Run => {
            let block = block.max(LANES);
            let vectors = block / LANES;
            let fits = |&team: &usize| team <= target.team as usize && (team == 1 || team * LANES <= vectors);
            let team = [64, 16, 4, 1].into_iter().find(fits).unwrap_or(1);
            Cut { order: halves(vectors / team, team), block, keep: 1 }
        }
        Lanes::Kept | Lanes::Anywhere => {
            let keep = if block > STRAIGHT { block / STRAIGHT } else { 1 };
            Cut { order: halves(block / keep, 1), block, keep }
        }
    }
}

/// The numbers of a pass. Steps count vectors where lanes lie along the run, values else.
fn numbers(
    folder: &Folder,
    cut: &Cut,
    (items, positions, count): (usize, usize, usize),
    (groups, columns, position_stride): (usize, usize, usize),
) -> Numbers {
    let (straight, team) = match folder.order {
        Order::Halves { straight, team, .. } => (straight as usize, team as usize),
        _ => (1, 1),
    };
    let (block, step) = match folder.lanes {
        Lanes::Run => (cut.block / LANES, team),
        _ => (cut.block, cut.keep),
    };
    let leaves = (block / step / straight).max(1);
    Numbers {
        count: items as u32,
        pitch: groups as u32 * FOLD_WORKGROUP,
        columns: columns as u32,
        positions: positions as u32,
        run: count as u32,
        block: block as u32,
        keep: cut.keep as u32,
        step: step as u32,
        apart: (leaves * step) as u32,
        leaves: leaves as u32,
        position_stride: position_stride as u32,
        identity: folder.fold.identity(folder.element),
    }
}

/// See [`numbers`].
struct Numbers {
    count: u32,
    pitch: u32,
    columns: u32,
    positions: u32,
    run: u32,
    block: u32,
    keep: u32,
    step: u32,
    apart: u32,
    leaves: u32,
    position_stride: u32,
    identity: u64,
}

impl Numbers {
    fn word(&self, field: &Field) -> u32 {
        match *field {
            Field::Count => self.count,
            Field::Pitch => self.pitch,
            Field::Fold(number) => match number {
                Number::Columns => self.columns,
                Number::Positions => self.positions,
                Number::Run => self.run,
                Number::Block => self.block,
                Number::Keep => self.keep,
                Number::Step => self.step,
                Number::Apart => self.apart,
                Number::Leaves => self.leaves,
                Number::PositionStride => self.position_stride,
                Number::Identity => self.identity as u32,
                Number::IdentityHigh => (self.identity >> 32) as u32,
            },
            _ => 0,
        }
    }
}

/// What a pass does, in words.
fn describe(folder: &Folder, cut: &Cut, count: usize, positions: usize) -> String {
    let lanes = match folder.lanes {
        Lanes::Run => "lanes along the run",
        Lanes::Kept => "lanes along a kept axis",
        Lanes::Anywhere => "coordinates by division",
    };
    match folder.order {
        Order::Halves { straight, team, .. } => {
            let team = match team {
                1 => "an invocation".to_string(),
                n => format!("{n} invocations"),
            };
            format!(
                "{} of {count} values to {positions}: {team} folds blocks of {} to {}, {straight} straight; {lanes}",
                folder.fold.name(),
                cut.block,
                cut.keep
            )
        }
        Order::Last => format!("the last of {positions} groups of {GROUP} of {count} values; {lanes}"),
        Order::Each { carried: true, .. } => {
            format!("{count} values in groups of {GROUP}, after what comes before each group; {lanes}")
        }
        Order::Each { .. } => format!("{count} values in groups of {GROUP}; {lanes}"),
    }
}
