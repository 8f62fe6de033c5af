//! The plan of a pass over rows. An invocation or a group computes all reductions of a row, phase after phase, and stores
//! one element of the row or all of them. If rows are longer than a kernel reads, it stores partial results of blocks.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use super::access::{Access, Store};
use super::builder::{Made, PlanBuilder};
use super::form::{Form, Output, Phase, Reduce, Reduction, Tile, VectorAxis};
use super::grid::workgroups;
use super::launch::{Plan, counted};
use super::loops::Rows;
use super::numbers::ReduceNumbers;
use super::target::Target;
use super::tiling::{self, Row};
use super::walk::{LANES, Walk, whole};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{Levels, Program, RowReduction, Value};
use crate::layout::{Layout, Nest, Shape};

impl Plan {
    /// Plans the next pass over a row-fused program. If another pass follows, with the layout of partial results.
    pub(crate) fn reduce(program: &Program, target: Target) -> Result<(Plan, Option<Layout>)> {
        let Some((own, frame)) = program.row_fused().zip(program.frame()) else {
            bail!(Kernel, "a program without rows");
        };
        let all = program.shape.iter().try_fold(1_usize, |all, &n| all.checked_mul(n));
        let name = || own.reductions.first().map_or("", |own| own.op.name());
        let all = counted(all, || format!("{} of {} reduces", name(), program.shape))?;
        let row = frame.count();
        let mut rows = Rows::new(program, own.axes.clone(), own.kept);
        let vector_axis;
        (vector_axis, rows.lane) = tiling::vector_axis(program, &rows.kept, &rows.row);
        let loops = rows.loops(program, (!own.kept).then_some(row));
        let walk = if vector_axis == VectorAxis::Gathered { Walk::Anywhere } else { Walk::Rows };
        let mut builder = PlanBuilder::new(program, loops, walk, target);
        let text = Text { program, levels: program.levels(), accesses: &builder.accesses, vector_axis };
        let (reduce, workgroup) = text.reduce(row, rows.place(), target)?;
        let store = store(&reduce, &builder.loops);
        let dtype = if store == Store::Vector { program.dtype } else { whole(program.dtype) };
        let stored: SmallVec<[DType; 2]> = match reduce.output {
            Output::Partials => reduce.partials().collect(),
            _ => smallvec![dtype; program.results.len()],
        };
        let bound = builder.bind(stored.len())?;

        let vectors = builder.loops.inner().div_ceil(LANES);
        let results = all / row.max(1);
        let (others, columns) = match vector_axis {
            VectorAxis::Reduced => (results, 1),
            VectorAxis::Kept => (results / builder.loops.inner(), vectors),
            VectorAxis::Gathered => (1, results.div_ceil(LANES)),
        };
        let is_last = reduce.output != Output::Partials;
        let positions = if is_last { 1 } else { tiling::blocks(row) };
        let items = positions * others * columns;
        let groups = workgroups(&program.shape, items.div_ceil(reduce.tile.beside as usize), target)?;
        let numbers = ReduceNumbers {
            pitch: (groups[0] * workgroup) as usize,
            count: items,
            vectors,
            rows: results,
            row,
            columns,
            positions,
            position_stride: if walk == Walk::Anywhere { columns } else { results / store.width() },
        };
        let padded = if walk == Walk::Anywhere { columns * LANES } else { results };
        let count = match reduce.output {
            Output::Partials => positions * padded,
            Output::OnePerRow => results,
            Output::Elements { .. } => all,
        };
        let rest = match is_last {
            true => None,
            false => Some(rest(&program.shape, &own.axes, vector_axis, positions, padded)?),
        };
        let made = Made {
            description: Some(describe(program, &reduce, row, positions)),
            form: Form::Reduce(reduce),
            store,
            stored,
            count,
            numbers: numbers.words(),
            workgroup: [workgroup, 1],
            groups,
        };
        Ok((builder.plan(bound, made), rest))
    }
}

/// How a kernel stores what it reduces.
fn store(reduce: &Reduce, loops: &Nest) -> Store {
    let is_linear = loops.output().has_linear_rows(1) && loops.inner().is_multiple_of(LANES);
    match (reduce.vector_axis, reduce.output) {
        (VectorAxis::Gathered, Output::OnePerRow | Output::Partials) => Store::Vector,
        (VectorAxis::Reduced, Output::Elements { .. }) | (VectorAxis::Kept, _) if is_linear => Store::Vector,
        _ => Store::Lanes,
    }
}

/// The layout of partial results: those of a row are side by side if lanes lie along it, otherwise those of all rows.
fn rest(
    shape: &Shape,
    reduced: &Range<usize>,
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
    levels: Levels,
    accesses: &'a [Access],
    vector_axis: VectorAxis,
}

impl Text<'_> {
    /// What a kernel makes of rows of this many values, with the axes of the row, and the invocations of its workgroups.
    fn reduce(self, count: usize, axes: Range<usize>, target: Target) -> Result<(Reduce, u32)> {
        let (program, vector_axis) = (self.program, self.vector_axis);
        let mut phases = self.phases()?;
        let row = Row {
            vector_axis,
            count,
            cost: phases.iter().map(|(_, cost)| *cost).max().unwrap_or(1),
            bytes: phases.iter().map(|(phase, _)| bytes(phase)).sum(),
            leaves: program.leaves_partials(),
        };
        let (tile, workgroup, is_last) = row.tile(target)?;
        let is_one = program.row_fused().is_some_and(|rows| rows.kept);
        let (holds, words) = self.held(&phases, is_one);
        let all_cost = phases.iter().map(|(_, cost)| cost).sum();
        let held = row.held(&tile, words, all_cost).filter(|_| is_last);
        let mut masked = false;
        for ((phase, cost), holds) in phases.iter_mut().zip(holds) {
            (phase.unroll, phase.is_loop) = held.map_or(row.unroll(&tile, *cost), |all| (all, false));
            phase.holds = if held.is_some() { holds } else { Vec::new() };
            masked |= row.is_masked(&tile, (phase.unroll, phase.is_loop));
        }
        let output = match (is_last, is_one) {
            (false, _) => Output::Partials,
            (true, true) => Output::OnePerRow,
            (true, false) => Output::Elements { unroll: self.stores() },
        };
        let phases = phases.into_iter().map(|(phase, _)| phase).collect();
        let Levels { from, of_row, .. } = self.levels;
        Ok((Reduce { vector_axis, axes, tile, masked, phases, output, from, of_row }, workgroup))
    }

    /// Vectors of elements that an invocation stores in one iteration.
    fn stores(&self) -> u32 {
        let cost = self.cost(&self.program.results);
        let fits = |n: &usize| *n == 1 || *n * cost <= crate::tuning::text::MOST_COST;
        [4, 2, 1].into_iter().find(fits).unwrap_or(1) as u32
    }

    /// The cost of some values of elements: their loads, with divided coordinates if lanes lie in several rows, and
    /// steps, usually with a fence after each.
    fn cost(&self, values: &[Value]) -> usize {
        let Text { program, levels, accesses, vector_axis } = self;
        let divisions = if *vector_axis == VectorAxis::Gathered { LANES * program.shape.rank() } else { 0 };
        let needed = program.needed(values, |_| false).which();
        let each = needed.filter(|&value| !levels.of_row[value]).map(|value| match value {
            Value::Input(i) => accesses[i as usize].cost(program.dtype_of(value)),
            Value::Step(i) => program.steps[i as usize].cost() + 1,
        });
        each.sum::<usize>() + divisions
    }

    /// The phases of the program, and the cost of a vector of each.
    fn phases(&self) -> Result<Vec<(Phase, usize)>> {
        let Text { program, levels, .. } = self;
        let Some(rows) = program.row_fused() else { bail!(Kernel, "a program without rows") };
        let mut phases: Vec<Phase> = Vec::new();
        for (number, &RowReduction { op, value, index }) in rows.reductions.iter().enumerate() {
            let Some(gives) = program.given(number) else {
                bail!(Kernel, "a reduction that nothing reads");
            };
            let (phase, element) = (levels.from[value], program.dtype_of(value));
            phases.resize_with(phases.len().max(phase + 1), Phase::default);
            phases[phase].reductions.push(Reduction { op, element, value, index, gives, number });
        }
        let with_cost = |phase: Phase| {
            let read: Vec<Value> = phase.values().collect();
            let cost = self.cost(&read) + 2 * phase.reductions.len();
            (phase, cost)
        };
        Ok(phases.into_iter().map(with_cost).collect())
    }

    /// For each phase, the values of elements that stay in registers, so that nothing is loaded or computed twice; and
    /// the most words of 32 bits that a phase leaves to later ones, or to the output if all elements are stored.
    fn held(&self, phases: &[(Phase, usize)], is_kept: bool) -> (Vec<Vec<Value>>, usize) {
        let Text { program, levels, .. } = self;
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
            let more = before.iter().copied().filter(|&value| needed[value] && !own.contains(&value));
            own.extend(more.collect::<Vec<_>>());
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
