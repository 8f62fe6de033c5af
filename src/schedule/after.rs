//! Steps after a product of matrices, which read each sum once, at its own place: a scale, a bias, an activation, a cast.
//! They are part of the product's stage, so nothing between is stored.

use super::{Bounds, rows};
use crate::error::Result;
use crate::ir::{Input, Op, Program, ProgramKind, Source, Stage, Step};
use crate::tuning::contract::MOST_AFTER;

/// Stages, with the only reader of a product joined to it, if that is elementwise. The last one computes the results.
pub(super) fn join(stages: Vec<Stage>, bounds: Bounds) -> Result<Vec<Stage>> {
    let is_product = |stage: &&Stage| {
        stage.one().is_some_and(|program| matches!(program.kind, ProgramKind::Contract { .. }))
    };
    if !stages.iter().any(|stage| is_product(&stage)) {
        return Ok(stages);
    }
    let mut joined: Vec<Option<Stage>> = stages.into_iter().map(Some).collect();
    for i in 0..joined.len() {
        let reads = |stage: &Option<Stage>| stage.iter().any(|stage| stage.stages().any(|read| read == i));
        let mut readers = (i + 1..joined.len()).filter(|&reader| reads(&joined[reader]));
        let (Some(reader), None) = (readers.next(), readers.next()) else { continue };
        let product = joined[i].as_ref().filter(is_product).and_then(Stage::one);
        let (Some(product), Some(after)) = (product, joined[reader].as_ref().and_then(Stage::one)) else {
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
    let cost: usize = after.steps.iter().map(Step::cost).sum();
    if after.kind != ProgramKind::Map
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
