//! Expensive parts of a program over fewer elements than the result, as the exponential of a row that is added to a
//! matrix. Each becomes a stage of its own, if that is cheaper.

use std::collections::BTreeMap;

use super::{Bounds, LEAST_SPARED, costly};
use crate::error::Result;
use crate::ir::{Input, Op, Operands, Program, ProgramKind, Source, Stage, Step, Value};
use crate::layout::Layout;
use crate::tuning::hoist::LEAST_RATIO;

/// The stage without such parts of its programs. They become stages before it.
pub(super) fn stage(mut stage: Stage, bounds: Bounds, stages: &mut Vec<Stage>) -> Result<Stage> {
    // Other operands have fewer elements than all together.
    let is_read_once =
        |kind: &ProgramKind| !matches!(kind, ProgramKind::Axis(own, _) if own.operands() != Operands::Once);
    for program in stage.programs_mut().iter_mut().filter(|program| is_read_once(&program.kind)) {
        if let Some(rest) = without_parts(program, bounds, stages)? {
            *program = rest;
        }
    }
    Ok(stage)
}

/// The program without its expensive parts, which are added to the stages, if there are any.
fn without_parts(program: &Program, bounds: Bounds, stages: &mut Vec<Stage>) -> Result<Option<Program>> {
    let parts = parts(program)?;
    if parts.is_empty() {
        return Ok(None);
    }
    let mut known = BTreeMap::new();
    for (stage, (value, part)) in (stages.len()..).zip(&parts) {
        let layout = Layout::contiguous(&part.shape)?.broadcast_to(&program.shape)?;
        known.insert(*value, Input::new(part.dtype, Source::Stage { stage, result: 0 }, layout));
    }
    let rest = program.with_known(&known)?;
    // A part of coordinates alone is one more tensor.
    if rest.tensors().count() + rest.stages().count() > bounds.operands {
        return Ok(None);
    }
    stages.extend(parts.into_iter().map(|(_, part)| Stage::One(part)));
    Ok(Some(rest))
}

/// The largest parts of a program that are worth a stage of their own, by value.
fn parts(program: &Program) -> Result<Vec<(Value, Program)>> {
    let all: usize = program.steps.iter().map(expense).sum();
    let count: usize = program.shape.iter().product();
    if all.saturating_mul(count) < LEAST_SPARED {
        return Ok(Vec::new());
    }
    let axes = program.followed();
    let mut parts: Vec<(Value, Program)> = Vec::new();
    let mut open: Vec<Value> = program.results.to_vec();
    let mut seen = program.by_value(false);
    while let Some(value) = open.pop() {
        let Some(step) = program.step(value) else { continue };
        if std::mem::replace(&mut seen[value], true) {
            continue;
        }
        // A loop's states are values, and the loop is none.
        if step.op != Op::Repeat && is_worth_it(program, value, &axes[value]) {
            parts.push((value, program.narrowed(value, &axes[value])?));
        } else {
            open.extend(&step.args);
        }
    }
    Ok(parts)
}

fn expense(step: &Step) -> usize {
    costly(step.work())
}

fn is_worth_it(program: &Program, value: Value, axes: &[bool]) -> bool {
    let count: usize = program.shape.iter().product();
    let own: usize = program.shape.iter().zip(axes).filter(|(_, axis)| **axis).map(|(&n, _)| n).product();
    if own.saturating_mul(LEAST_RATIO) > count {
        return false;
    }
    let steps = program.needed(&[value], |_| false).which().filter_map(|value| program.step(value));
    let all: usize = steps.map(expense).sum();
    all.saturating_mul(count - own) >= LEAST_SPARED
}
