//! Steps after a product of matrices, which read each sum once, at its own place: a scale, a bias, an activation, a cast.
//! They are part of the product's stage, so nothing between is stored.

use super::{Bounds, rows};
use crate::error::Result;
use crate::ir::{Input, Op, Program, ProgramKind, Source, Stage, Step};
use crate::tuning::contract::MOST_AFTER;

/// Stages, with the only reader of a product joined to it, if that is elementwise. The last one computes the results.
pub(super) fn join(stages: Vec<Stage>, bounds: Bounds) -> Result<Vec<Stage>> {
    let is_product = |stage: &Stage| stage.one().is_some_and(Program::is_contraction);
    if !stages.iter().any(is_product) {
        return Ok(stages);
    }
    let readers = rows::readers(&stages);
    let mut joined: Vec<Option<Stage>> = stages.into_iter().map(Some).collect();
    for (i, readers) in readers.iter().enumerate() {
        let Some(&reader) = readers.first().filter(|first| readers.iter().all(|other| other == *first))
        else {
            continue;
        };
        let one = |stage: usize| joined[stage].as_ref().and_then(Stage::one);
        let Some((product, after)) = one(i).filter(|own| own.is_contraction()).zip(one(reader)) else {
            continue;
        };
        if let Some(both) = together(product, after, i, bounds)? {
            joined[reader] = Some(Stage::One(both));
            joined[i] = None;
        }
    }
    Ok(rows::numbered(joined))
}

/// Both programs as one; `after` reads the product, which is stage `number`. `None` if no kernel holds them, or the
/// product is read in another order.
fn together(product: &Program, after: &Program, number: usize, bounds: Bounds) -> Result<Option<Program>> {
    let is_sum = |input: &Input| matches!(input.source, Source::Stage { stage, .. } if stage == number);
    let count = |program: &Program| program.result_shape().iter().product::<usize>();
    let is_in_order = |input: &Input| !is_sum(input) || input.layout.is_identity() && !input.is_table();
    let is_plain = |step: &Step| step.body.is_none() && step.op != Op::Lookup;
    // A product with steps after it already is read through them, and not at its sums.
    let has_steps = matches!(&product.kind, ProgramKind::Axis(_, product) if !product.is_empty());
    let cost: usize = after.steps.iter().map(Step::cost).sum();
    if has_steps
        || after.kind != ProgramKind::Map
        || after.results.len() > 1
        || count(product) != count(after)
        || !after.inputs.iter().all(is_in_order)
        || !after.steps.iter().all(is_plain)
        || cost > MOST_AFTER
    {
        return Ok(None);
    }
    let fits = |all: &Program| all.tensors().count() + all.stages().count() <= bounds.operands;
    Ok(product.then(after, is_sum)?.filter(fits))
}
