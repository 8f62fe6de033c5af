//! The order of axes in which a reduction reads its operand: elements side by side in memory are read together,
//! whichever axes they are on. The order of a run's values stays.

use super::bytes::Operand;
use crate::error::Result;
use crate::ir::{Program, ProgramKind, ReduceAxes, RowFused};
use crate::layout::{Layout, Shape};

/// Runs of fewer values are reduced side by side.
const SHORT: usize = 32;

/// Fewer runs are not worth it.
const MANY: usize = 256;

/// Elements of a tile of short runs side by side.
const BLOCK: usize = 4096;

/// Elements of a few vectors.
const LANES: usize = 16;

/// A program with its axes in another order.
pub(super) struct Reordered {
    pub program: Program,
    pub reduce: ReduceAxes,
    /// The result, which is row-major in that order, in the requested order. `None` if both are the same.
    pub result: Option<Layout>,
}

impl Reordered {
    /// A better order of axes, if there is one.
    pub(super) fn new(
        program: &Program,
        reduce: &ReduceAxes,
        from: &[Operand<'_>],
    ) -> Result<Option<Reordered>> {
        let shape = &program.shape;
        let run = &reduce.axes;
        // The operand with the most elements decides.
        let tensors = program.inputs.iter().zip(from).filter(|(_, from)| matches!(from, Operand::Bytes(_)));
        let Some(main) = tensors.map(|(input, _)| &input.layout).max_by_key(|layout| layout.distinct())
        else {
            return Ok(None);
        };
        let stride = |axis: usize| match main.strides()[axis] {
            0 => usize::MAX,
            stride => stride.unsigned_abs(),
        };
        let is_long = |axis: &usize| shape[*axis] > 1;
        let kept = || (0..run.start).chain(run.end..shape.rank());
        let (Some(near), Some(inner)) = (
            kept().filter(is_long).min_by_key(|&axis| (stride(axis), shape.rank() - axis)),
            run.clone().rfind(is_long),
        ) else {
            return Ok(None);
        };
        let last = (0..shape.rank()).rfind(is_long);
        let count = reduce.count(shape);
        let ranges: usize = kept().map(|axis| shape[axis]).product();
        // If all operands are stretched, elements are gathered anyway. Short runs are then reduced side by side.
        let is_stretched = main.distinct() <= shape.iter().product::<usize>() / LANES;
        let is_side = |&axis: &usize| (LANES..=BLOCK / count).contains(&shape[axis]);
        let is_short = count < 2 * SHORT && last == Some(inner);
        let side = kept().rfind(is_long).filter(is_side).filter(|_| is_stretched && is_short);
        let order: Vec<usize> = match () {
            () if side.is_some() => {
                kept().filter(|&axis| Some(axis) != side).chain(run.clone()).chain(side).collect()
            }
            // Runs lie along memory, but are so short that they are reduced side by side.
            // A power of two of values is reduced in registers, without an index.
            () if stride(inner) < stride(near)
                && count < SHORT
                && ranges >= MANY
                && !(count.is_power_of_two() && last == Some(inner) && !reduce.op.row().gives_index) =>
            {
                run.clone().chain(kept()).collect()
            }
            () if stride(inner) < stride(near) && last != Some(inner) && count >= SHORT => {
                kept().chain(run.clone()).collect()
            }
            () if stride(near) < stride(inner) && last != Some(near) => {
                (0..shape.rank()).filter(|&axis| axis != near).chain([near]).collect()
            }
            () => return Ok(None),
        };
        let start = order.iter().position(|axis| run.contains(axis)).unwrap_or(run.start);
        let reduce = ReduceAxes { axes: start..start + run.len(), ..reduce.clone() };
        let program = permuted(program, &order)?;
        let walked: Vec<usize> = order.into_iter().filter(|axis| !run.contains(axis)).collect();
        let lengths = walked.iter().map(|&axis| shape[axis]).collect();
        let result = (!walked.is_sorted()).then(|| restored(&walked, lengths)).transpose()?;
        Ok(Some(Reordered { program, reduce, result }))
    }
}

/// A row-fused program with its rows along the last axes, and its results in the requested order. `None` if rows are
/// along the last axes already, or if operands do not lie along other ones.
pub(super) fn rows_last(program: &Program) -> Result<Option<(Program, Layout)>> {
    let (shape, rank) = (&program.shape, program.shape.rank());
    let Some((rows, frame)) = program.row_fused().zip(program.frame()) else { return Ok(None) };
    let is_last = shape[rows.axes.end..].iter().all(|&n| n == 1);
    if is_last || !program.lies_along(&frame) {
        return Ok(None);
    }
    let kept = (0..rank).filter(|axis| !rows.axes.contains(axis));
    let order: Vec<usize> = kept.chain(rows.axes.clone()).collect();
    let axes = rank - rows.axes.len()..rank;
    let kind = ProgramKind::RowFused(RowFused { axes, ..rows.clone() });
    let program = permuted(program, &order)?.of_kind(kind);
    let result = restored(&order, program.result_shape().into_owned())?;
    Ok(Some((program, result)))
}

/// A program with its axes in another order.
fn permuted(program: &Program, order: &[usize]) -> Result<Program> {
    let there: Vec<isize> = order.iter().map(|&axis| axis as isize).collect();
    let mut permuted = program.clone();
    permuted.shape = order.iter().map(|&axis| program.shape[axis]).collect();
    for input in &mut permuted.inputs {
        input.layout = input.layout.permute(&there)?;
    }
    Ok(permuted)
}

/// Results that are row-major in another order of the axes, in the requested order.
pub(super) fn restored(order: &[usize], shape: Shape) -> Result<Layout> {
    let mut back: Vec<isize> = (0..order.len() as isize).collect();
    back.sort_by_key(|&i| order[i as usize]);
    Layout::contiguous(shape)?.permute(&back)
}
