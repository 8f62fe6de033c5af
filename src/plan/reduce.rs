//! The plan of a pass over rows. An invocation or a group computes all reductions of a row, phase after phase, and stores
//! one element of the row or all of them. If rows are longer than a kernel reads, it stores partial results of blocks.

use smallvec::SmallVec;

use super::access::{Access, Chooser, Store, Stride};
use super::fields::{self, Number};
use super::grid::workgroups;
use super::kernel::Kernel;
use super::launch::{Launch, MOST_ELEMENTS, Pass, Place};
use super::loops::axes;
use super::makes::{Makes, Output, Phase, Reduce, Reduction, Tile, VectorAxis};
use super::reading::{Bound, Reading};
use super::target::Target;
use super::tiling::{Row, vector_axis};
use super::walk::{LANES, Walk, whole};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{Levels, Program, RowReduction, Value};
use crate::layout::Nest;
use crate::layout::{Axis, Layout, Shape};

impl Pass {
    /// Plans the next pass over a row-fused program.
    pub(crate) fn reduce(program: &Program, target: Target) -> Result<Pass> {
        let Some((rows, frame)) = program.row_fused().zip(program.frame()) else {
            bail!(Kernel, "a program without rows");
        };
        let (count, all) =
            (frame.count(), program.shape.iter().try_fold(1_usize, |all, &n| all.checked_mul(n)));
        let Some(all) = all.filter(|&all| all <= MOST_ELEMENTS) else {
            bail!(
                Limit,
                "{} of {} reduces more than {MOST_ELEMENTS} elements, which is what a kernel counts to: evaluate it in slices",
                rows.reductions.first().map_or("", |own| own.op.name()),
                program.shape
            );
        };
        let results = all / count.max(1);
        let mut reduced = axes(program, rows.axes.clone());
        if reduced.is_empty() {
            reduced.push(Axis { length: 1, strides: program.inputs.iter().map(|_| 0).collect() });
        }
        // Elements are stored on either side of the row, so kept axes do not merge there.
        let rank = program.shape.rank();
        let (kept, before) = match rows.kept {
            true => (axes(program, (0..rank).filter(|k| !rows.axes.contains(k))), 0),
            false => {
                let mut kept = axes(program, 0..rows.axes.start);
                let before = kept.len();
                kept.extend(axes(program, rows.axes.end..rank));
                (kept, before)
            }
        };
        let (vector_axis, lane) = vector_axis(program, &kept, &reduced);
        let is_kept = vector_axis == VectorAxis::Kept;
        let inner = |axes: &[Axis]| -> usize { axes.iter().map(|axis| axis.length).product() };
        let out_stride = |k: usize| {
            let more = if !rows.kept && k < before { count } else { 1 };
            (inner(&kept[k + 1..]) * more) as isize
        };
        let row_stride = |k: usize| match rows.kept {
            true => 0,
            false => (inner(&reduced[k + 1..]) * inner(&kept[before..])) as isize,
        };
        // The axis of the lanes is the innermost.
        let mut order: Vec<(&Axis, isize)> = Vec::new();
        let others = (0..kept.len()).filter(|&k| !is_kept || k != lane);
        order.extend(others.map(|k| (&kept[k], out_stride(k))));
        let first = order.len();
        order.extend(reduced.iter().enumerate().map(|(k, axis)| (axis, row_stride(k))));
        let reduced_axes = first..order.len();
        if is_kept {
            order.push((&kept[lane], out_stride(lane)));
        }
        let loops = Nest::over(program, &order);

        let walk = if vector_axis == VectorAxis::Gathered { Walk::Anywhere } else { Walk::Rows };
        let reading = Reading::of(program, Place::Fresh);
        let chooser = Chooser { loops: &loops, walk, together: None };
        let mut accesses = reading.reduced(program, &chooser);
        let levels = program.levels();
        let text = Text { program, levels: &levels, accesses: &accesses, vector_axis };
        let mut phases = text.phases()?;
        let vectors = loops.inner().div_ceil(LANES);
        let is_linear = loops.output().has_linear_rows(1) && loops.inner().is_multiple_of(LANES);
        let row = Row {
            vector_axis,
            count,
            cost: phases.iter().map(|(_, cost)| *cost).max().unwrap_or(1),
            bytes: phases.iter().map(|(phase, _)| bytes(phase)).sum(),
            leaves: program.leaves_partials(),
        };
        let (tile, workgroup, is_last) = row.tile(target)?;
        let (holds, words) = text.held(&phases, rows.kept);
        let all_cost = phases.iter().map(|(_, cost)| cost).sum();
        let held = row.held(&tile, words, all_cost).filter(|_| is_last);
        let mut masked = false;
        for ((phase, cost), holds) in phases.iter_mut().zip(holds) {
            (phase.unroll, phase.is_loop) = held.map_or(row.unroll(&tile, *cost), |all| (all, false));
            phase.holds = if held.is_some() { holds } else { Vec::new() };
            masked |= row.is_masked(&tile, (phase.unroll, phase.is_loop));
        }
        let output = match (is_last, rows.kept) {
            (false, _) => Output::Partials,
            (true, true) => Output::OnePerRow,
            (true, false) => Output::Elements { unroll: text.stores() },
        };
        let store = match (vector_axis, output) {
            (VectorAxis::Gathered, Output::OnePerRow | Output::Partials) => Store::Vector,
            (VectorAxis::Reduced, Output::Elements { .. }) | (VectorAxis::Kept, _) if is_linear => {
                Store::Vector
            }
            _ => Store::Lanes,
        };
        let strides: SmallVec<[Stride; 6]> = match (vector_axis, store) {
            (VectorAxis::Gathered, Store::Vector) => SmallVec::new(),
            (_, store) => store.access().strides(loops.output(), walk),
        };
        let reduce = Reduce {
            vector_axis,
            axes: reduced_axes,
            tile,
            masked,
            phases: phases.into_iter().map(|(phase, _)| phase).collect(),
            output,
            from: levels.from,
            of_row: levels.of_row,
        };
        let (out, stored) = match output {
            Output::Partials => (DType::U32, reduce.partials().collect::<Vec<_>>()),
            _ => {
                let out = if store == Store::Vector { program.dtype } else { whole(program.dtype) };
                (out, vec![out; program.results.len()])
            }
        };
        let bound = Bound::new(program, &reading, &mut accesses, stored.len(), target)?;

        // Vectors of rows.
        let columns = match vector_axis {
            VectorAxis::Reduced => 1,
            VectorAxis::Kept => vectors,
            VectorAxis::Gathered => results.div_ceil(LANES),
        };
        let positions = if is_last { 1 } else { row.blocks() };
        let items = positions
            * match vector_axis {
                VectorAxis::Reduced => results,
                VectorAxis::Kept => results / loops.inner() * columns,
                VectorAxis::Gathered => columns,
            };
        let invocations = items.div_ceil(tile.beside as usize) * workgroup as usize;
        let [x, y] = workgroups(&program.shape, invocations, workgroup, target)?;
        let form = describe(program, &reduce, count, positions);
        let (kernel, reads) =
            Kernel::assemble(program, bound, &accesses, &loops, (walk, store, strides), target);
        let kernel = Kernel { workgroup: [workgroup, 1], out, makes: Makes::Reduce(reduce), ..kernel };
        let words = fields::words(&kernel, &loops, program, |number| match number {
            Number::Count => items,
            Number::Pitch => x * workgroup as usize,
            Number::Row => count,
            Number::Rows => results,
            Number::Columns => columns,
            Number::Positions => positions,
            Number::PositionStride => match (vector_axis, store) {
                (VectorAxis::Gathered, _) => columns,
                _ => results / store.access().width(),
            },
            Number::Vectors => vectors,
            _ => 0,
        });
        let launch = Launch { words, groups: [x as u32, y as u32, 1] };
        let padded = if vector_axis == VectorAxis::Gathered { columns * LANES } else { results };
        let count = match output {
            Output::Partials => positions * padded,
            Output::OnePerRow => results,
            Output::Elements { .. } => all,
        };
        let rest = match is_last {
            true => None,
            false => Some(rest(&program.shape, &rows.axes, vector_axis, positions, padded)?),
        };
        Ok(Pass::of(program, (kernel, launch, reads, loops), (stored, count), form, rest))
    }
}

/// The layout of partial results: those of a row are side by side if lanes lie along it, otherwise those of all rows.
fn rest(
    shape: &Shape,
    reduced: &std::ops::Range<usize>,
    vector_axis: VectorAxis,
    positions: usize,
    rows: usize,
) -> Result<Layout> {
    let (mut lengths, mut strides) = (shape.to_vec(), vec![0_isize; shape.rank()]);
    lengths[reduced.clone()].fill(1);
    lengths[reduced.start] = positions;
    let is_along = vector_axis == VectorAxis::Reduced;
    let mut stride = if is_along { positions } else { 1 };
    for axis in (0..shape.rank()).rev().filter(|axis| !reduced.contains(axis)) {
        strides[axis] = stride as isize;
        stride *= lengths[axis];
    }
    strides[reduced.start] = if is_along { 1 } else { rows as isize };
    Layout::strided(lengths, &strides, 0, usize::MAX)
}

/// Bytes of an invocation's accumulators in a phase.
fn bytes(phase: &Phase) -> usize {
    let each = |own: &Reduction| {
        let index = if own.op.row().gives_index { size_of::<u32>() } else { 0 };
        LANES * (own.element.size().max(size_of::<u32>()) + index)
    };
    phase.reductions.iter().map(each).sum()
}

/// The data for the length of a kernel's text.
struct Text<'a> {
    program: &'a Program,
    levels: &'a Levels,
    accesses: &'a [Access],
    vector_axis: VectorAxis,
}

impl Text<'_> {
    /// Vectors of elements that an invocation stores in one iteration.
    fn stores(&self) -> u32 {
        let cost = self.cost(&self.program.results);
        let fits = |n: &usize| *n == 1 || *n * cost <= crate::tuning::text::MOST_COST;
        [4, 2, 1].into_iter().find(fits).unwrap_or(1) as u32
    }

    /// The cost of some values of elements: their loads, with divided coordinates if lanes lie in several rows, and
    /// steps, usually with a fence after each.
    fn cost(&self, values: &[Value]) -> usize {
        let Text { program, levels, accesses, vector_axis } = *self;
        let divisions = if vector_axis == VectorAxis::Gathered { LANES * program.shape.rank() } else { 0 };
        let needed = program.needed(values, |_| false).which();
        let each = needed.filter(|&value| !levels.of_row[value]).map(|value| match value {
            Value::Input(i) => accesses[i as usize].cost(program.dtype_of(value)),
            Value::Step(i) => program.steps[i as usize].cost() + 1,
        });
        each.sum::<usize>() + divisions
    }

    /// The phases of the program, and the cost of a vector of each.
    fn phases(&self) -> Result<Vec<(Phase, usize)>> {
        let Text { program, levels, .. } = *self;
        let Some(rows) = program.row_fused() else { bail!(Kernel, "a program without rows") };
        let count = rows.reductions.iter().map(|own| levels.from[own.value] + 1).max().unwrap_or(0);
        let mut phases = Vec::with_capacity(count);
        for phase in 0..count {
            let mut reductions = Vec::new();
            let is_own = |(_, own): &(usize, &RowReduction)| levels.from[own.value] == phase;
            for (number, own) in rows.reductions.iter().enumerate().filter(is_own) {
                let Some(gives) = program.given(number) else {
                    bail!(Kernel, "a reduction that nothing reads");
                };
                let RowReduction { op, value, index } = *own;
                reductions.push(Reduction {
                    op,
                    element: program.dtype_of(value),
                    value,
                    index,
                    gives,
                    number,
                });
            }
            let phase = Phase { reductions, unroll: 1, is_loop: false, holds: Vec::new() };
            let read: Vec<Value> = phase.values().collect();
            let cost = self.cost(&read) + 2 * phase.reductions.len();
            phases.push((phase, cost));
        }
        Ok(phases)
    }

    /// For each phase, the values of elements that stay in registers, so that nothing is loaded or computed twice; and
    /// the most words of 32 bits that a phase leaves to later ones, or to the output if all elements are stored.
    fn held(&self, phases: &[(Phase, usize)], is_kept: bool) -> (Vec<Vec<Value>>, usize) {
        let Text { program, levels, .. } = *self;
        let mut reads: Vec<Vec<Value>> = phases.iter().map(|(phase, _)| phase.values().collect()).collect();
        reads.extend((!is_kept).then(|| program.results.to_vec()));
        let mut holds: Vec<Vec<Value>> = vec![Vec::new(); phases.len()];
        // Coordinates and constants need no memory.
        let is_free = |value: Value| value.input().is_some_and(|i| !program.inputs[i].source.is_memory());
        // For each value, its phase.
        let mut computed = program.by_value(None);
        for (phase, read) in reads.iter().enumerate() {
            let needed = program.needed(read, |value| levels.of_row[value] || computed[value].is_some());
            for value in needed.which().filter(|&value| !levels.of_row[value] && !is_free(value)) {
                let first = *computed[value].get_or_insert(phase);
                for own in holds[first..phase].iter_mut().filter(|own| !own.contains(&value)) {
                    own.push(value);
                }
            }
        }
        let words = |value: &Value| program.dtype_of(*value).size().div_ceil(size_of::<u32>());
        let most = holds.iter().map(|own| own.iter().map(words).sum()).max().unwrap_or(0);
        // Values of earlier phases that only this phase reads stay for it.
        for phase in 1..phases.len() {
            let (before, own) = (holds[phase - 1].clone(), &mut holds[phase]);
            let needed = program.needed(&reads[phase], |value| levels.of_row[value] || own.contains(&value));
            own.extend(
                before
                    .iter()
                    .filter(|&&value| needed[value] && !own.contains(&value))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            if own.iter().all(|value| before.contains(value)) {
                *own = before;
            }
        }
        (holds, most)
    }
}

/// A pass in words.
fn describe(program: &Program, reduce: &Reduce, count: usize, positions: usize) -> String {
    let phases: Vec<String> = reduce
        .phases
        .iter()
        .map(|phase| phase.reductions.iter().map(|own| own.op.name()).collect::<Vec<_>>().join(" and "))
        .collect();
    let Tile { own, blocks, .. } = reduce.tile;
    let last = match reduce.output {
        Output::Partials => format!("{positions} partial results"),
        Output::OnePerRow => "one element".into(),
        Output::Elements { .. } => "all elements".into(),
    };
    let lanes = match reduce.vector_axis {
        VectorAxis::Reduced => "lanes along the row",
        VectorAxis::Kept => "lanes along a kept axis",
        VectorAxis::Gathered => "coordinates by division",
    };
    let of = if blocks == 1 || reduce.output == Output::Partials { "a block" } else { "a row" };
    let who = match reduce.tile.group() {
        1 => format!("an invocation has {of}"),
        n => format!("{n} invocations share {of}"),
    };
    let s = if own == 1 { "" } else { "s" };
    format!(
        "{} rows of {count}: {}, then {last}; {who}, with {own} accumulator{s} each; {lanes}",
        program.shape.iter().product::<usize>() / count.max(1),
        phases.join(", then ")
    )
}
