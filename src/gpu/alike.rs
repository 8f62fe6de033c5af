//! How expressions that are like others before them are run: by recipes, which are learned when a form is met again.

use std::sync::Arc;

use smallvec::SmallVec;

use super::device::Gpu;
use super::recipes::{Known, Recipe, To};
use super::{evaluate, parts};
use crate::error::Result;
use crate::ir::{Form, Leaves, Node, Program, Source, Storage};
use crate::layout::Layout;
use crate::plan::{Destination, Field, Plan};

/// Runs an expression whose form is known: into a new storage, or into elements of one.
pub(super) fn run(
    gpu: &Arc<Gpu>,
    root: &Arc<Node>,
    to: Option<(&Storage, &Layout)>,
    program: &dyn Fn(&Arc<Node>) -> Result<Option<Program>>,
) -> Option<Result<Storage>> {
    let (form, leaves) = Form::of(root, to)?;
    match gpu.recipes.find(&form) {
        Some(Known::Recipe(recipe)) => Some(follow(gpu, &recipe, &leaves)),
        Some(Known::Otherwise) => None,
        None => {
            // Most are run once.
            gpu.recipes.keep(form, Known::Seen);
            None
        }
        Some(Known::Seen) => {
            // A mistake is told by the way that any expression goes.
            let learned = learn(gpu, (root, &leaves), to, program).ok().flatten().map(Arc::new);
            let known = learned.clone().map_or(Known::Otherwise, Known::Recipe);
            gpu.recipes.keep(form, known);
            learned.map(|recipe| follow(gpu, &recipe, &leaves))
        }
    }
}

/// The recipe for expressions like one, if one kernel is all that it takes.
fn learn(
    gpu: &Arc<Gpu>,
    (root, leaves): (&Arc<Node>, &Leaves<'_>),
    to: Option<(&Storage, &Layout)>,
    program: &dyn Fn(&Arc<Node>) -> Result<Option<Program>>,
) -> Result<Option<Recipe>> {
    let Some((root, storages)) = Form::stand_in(root, leaves, gpu.clone()) else { return Ok(None) };
    let Some(program) = program(&root)? else { return Ok(None) };
    gpu.supports(&program)?;
    let is_elementwise = !program.folds() && program.joining.is_none() && !Plan::is_empty(&program.shape);
    if !is_elementwise || !parts::is_whole(gpu, &program) {
        return Ok(None);
    }
    let into = to.and_then(|(storage, layout)| Some((leaves.find(storage)?, layout)));
    let mut plan = match into {
        None => Plan::new(&program, Destination::Fresh, gpu.adapter)?,
        Some((number, layout)) => match evaluate::direct(gpu, &program, &storages[number], layout)? {
            Some(plan) => plan,
            None => return Ok(None),
        },
    };
    let compiled = Arc::downgrade(&gpu.pipeline(&plan.kernel)?);
    let mut constants = SmallVec::new();
    for (word, field) in plan.kernel.fields().into_iter().enumerate() {
        let (input, is_high) = match field {
            Field::Scalar(i) => (i, false),
            Field::ScalarHigh(i) => (i, true),
            _ => continue,
        };
        // A stand-in's constants are their numbers.
        if let Source::Scalar(number) = program.inputs[input].source {
            constants.push((word, number as usize, is_high));
        }
    }
    // The storages name the handle that keeps the recipe.
    let planned = std::mem::take(&mut plan.storages);
    let number = |storage: &Storage| storages.iter().position(|known| known.same(storage));
    let Some(reads) = planned.iter().map(number).collect() else { return Ok(None) };
    let to = match into {
        None => To::Fresh(program.dtype, program.byte_size()?),
        Some((number, _)) => To::Known(number),
    };
    Ok(Some(Recipe { plan, compiled, constants, reads, to }))
}

/// Runs what a recipe says of some leaves.
fn follow(gpu: &Arc<Gpu>, recipe: &Recipe, leaves: &Leaves<'_>) -> Result<Storage> {
    let result = match recipe.to {
        To::Fresh(dtype, bytes) => gpu.storage(bytes, dtype)?,
        To::Known(number) => leaves.storages[number].clone(),
    };
    let compiled = match recipe.compiled.upgrade() {
        Some(compiled) => compiled,
        None => gpu.pipeline(&recipe.plan.kernel)?,
    };
    let read = recipe.reads.iter().map(|&number| leaves.storages[number]);
    let all = std::iter::once(&result).chain(read);
    gpu.record_words(&recipe.plan, &recipe.words(leaves), &compiled, all)?;
    gpu.parts.connection.check()?;
    Ok(result)
}
