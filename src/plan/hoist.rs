//! Expensive parts of a program over fewer elements than the result, as the exponential of a row that
//! is added to a matrix: each runs once, in a kernel of its own, where that is cheaper.

use std::collections::BTreeMap;

use crate::dtype::Kind;
use crate::error::Result;
use crate::expr::{Input, Op, Program, Source, Step, Storage, Value};
use crate::layout::{Layout, Shape};

/// Evaluations of functions that a kernel of its own must spare. lavapipe takes 50 us for a small
/// kernel, and 250 us for as many exponentials.
const LEAST_SPARED: usize = 1 << 20;

/// How much smaller than the result such a part is at least.
const LEAST_RATIO: usize = 16;

/// A value that is computed on its own.
#[derive(Debug)]
pub(crate) struct Part {
    value: Value,
    pub program: Program,
}

/// The largest parts of a program that are worth a kernel of their own.
pub(crate) fn parts(program: &Program) -> Result<Vec<Part>> {
    let functions = program.steps.iter().filter(|step| is_function(step)).count();
    let count: usize = program.shape.iter().product();
    if functions.saturating_mul(count) < LEAST_SPARED {
        return Ok(Vec::new());
    }
    let axes = followed(program);
    let mut parts: Vec<Part> = Vec::new();
    let mut open: Vec<Value> = program.results.to_vec();
    while let Some(value) = open.pop() {
        let Some(step) = (value as usize).checked_sub(program.inputs.len()) else { continue };
        if parts.iter().any(|part| part.value == value) {
            continue;
        }
        if is_worth_it(program, value, &axes[value as usize]) {
            parts.push(Part { value, program: narrowed(program, value, &axes[value as usize])? });
        } else {
            open.extend(&program.steps[step].args);
        }
    }
    Ok(parts)
}

/// The program that reads parts from the storages they were computed into.
pub(crate) fn without(program: &Program, parts: &[(Part, Storage)]) -> Result<Program> {
    let mut known = BTreeMap::new();
    for (part, storage) in parts {
        let layout = Layout::contiguous(&part.program.shape)?.broadcast_to(&program.shape)?;
        let source = Source::Tensor(storage.clone());
        known.insert(part.value, Input { dtype: part.program.dtype, source, layout });
    }
    program.extract(&program.results, program.shape.clone(), &known, |layout| Ok(layout.clone()))
}

/// Of each value, the axes along which it changes.
fn followed(program: &Program) -> Vec<Vec<bool>> {
    let of_layout = |layout: &Layout| -> Vec<bool> {
        layout.shape().iter().zip(layout.strides()).map(|(&n, &stride)| n > 1 && stride != 0).collect()
    };
    let mut axes: Vec<Vec<bool>> = program.inputs.iter().map(|input| of_layout(&input.layout)).collect();
    for step in &program.steps {
        let mut all = vec![false; program.shape.rank()];
        for &arg in &step.args {
            all.iter_mut().zip(&axes[arg as usize]).for_each(|(all, &own)| *all |= own);
        }
        axes.push(all);
    }
    axes
}

/// Functions that take tens of operations are those of floats that have a bound, but for division.
fn is_function(step: &Step) -> bool {
    let is_inexact = step.op != Op::Div && step.op.row().is_some_and(|row| row.ulp > 0);
    is_inexact && step.dtype.kind() == Kind::Float
}

fn is_worth_it(program: &Program, value: Value, axes: &[bool]) -> bool {
    let count: usize = program.shape.iter().product();
    let own: usize = program.shape.iter().zip(axes).filter(|(_, axis)| **axis).map(|(&n, _)| n).product();
    if own.saturating_mul(LEAST_RATIO) > count {
        return false;
    }
    let functions = program
        .needed(&[value], &BTreeMap::new())
        .into_iter()
        .filter_map(|value| (value as usize).checked_sub(program.inputs.len()))
        .filter(|&step| is_function(&program.steps[step]))
        .count();
    functions.saturating_mul(count - own) >= LEAST_SPARED
}

/// The program of one value, over the axes along which it changes.
fn narrowed(program: &Program, value: Value, axes: &[bool]) -> Result<Program> {
    let lengths: Vec<usize> =
        program.shape.iter().zip(axes).map(|(&n, &axis)| if axis { n } else { 1 }).collect();
    program.extract(&[value], Shape::from(lengths), &BTreeMap::new(), |layout| {
        let fixed = (0..).zip(axes).filter(|(_, axis)| !**axis);
        fixed.map(|(axis, _)| axis).try_fold(layout.clone(), |layout, axis| layout.slice(axis, 0..1, 1))
    })
}
