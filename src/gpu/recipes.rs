//! Recipes: how expressions of a form are run. A loop builds its expressions anew in each turn, of other tensors and
//! constants: planning one of them does for all, and each then takes what writing its constants takes.

use std::sync::{Arc, Mutex, Weak};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::device::Gpu;
use super::lock::lock;
use super::pipelines::Compiled;
use super::{evaluate, parts};
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{Form, Leaves, Node, Program, Source, Storage};
use crate::layout::Layout;
use crate::plan::{Destination, Field, Plan};

/// Forms that are remembered. Where there are more, all are forgotten, as those in use are soon known again.
const MOST: usize = 512;

/// What is known of the forms that were run by a handle.
#[derive(Debug, Default)]
pub(super) struct Recipes(Mutex<FxHashMap<Form, Known>>);

#[derive(Clone, Debug)]
enum Known {
    /// It was run once.
    Seen,
    Recipe(Arc<Recipe>),
    /// More than one kernel runs it, or there is an error to tell.
    Otherwise,
}

/// The plan of a form.
#[derive(Debug)]
struct Recipe {
    /// Its constants are to be written, and it names no storages.
    plan: Plan,
    /// The pipeline, while it is kept.
    compiled: Weak<Compiled>,
    /// The word of each constant, by its number, and whether it is the high one.
    constants: SmallVec<[(usize, usize, bool); 4]>,
    /// What is read, by number.
    reads: SmallVec<[usize; 4]>,
    to: To,
}

/// What is written.
#[derive(Debug)]
enum To {
    /// A new storage of so many bytes.
    Fresh(DType, usize),
    /// One that is there, by number.
    Known(usize),
}

/// Runs an expression whose form is known: into a new storage, or into elements of one.
pub(super) fn run(
    gpu: &Arc<Gpu>,
    root: &Arc<Node>,
    to: Option<(&Storage, &Layout)>,
    program: &dyn Fn(&Arc<Node>) -> Result<Option<Program>>,
) -> Option<Result<Storage>> {
    let (form, leaves) = Form::of(root, to)?;
    let known = lock(&gpu.recipes.0).get(&form).cloned();
    let recipe = match known {
        Some(Known::Recipe(recipe)) => recipe,
        Some(Known::Otherwise) => return None,
        // Most are run once.
        None => return gpu.recipes.keep(form, Known::Seen),
        Some(Known::Seen) => match learn(gpu, (root, &leaves), to, program) {
            Ok(Some(recipe)) => {
                let recipe = Arc::new(recipe);
                gpu.recipes.keep::<()>(form, Known::Recipe(recipe.clone()));
                recipe
            }
            _ => return gpu.recipes.keep(form, Known::Otherwise),
        },
    };
    Some(recipe.run(gpu, &leaves))
}

impl Recipes {
    /// Remembers a form, of which nothing is there yet.
    fn keep<T>(&self, form: Form, known: Known) -> Option<T> {
        let mut all = lock(&self.0);
        if all.len() >= MOST && !all.contains_key(&form) {
            all.clear();
        }
        all.insert(form, known);
        None
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

impl Recipe {
    fn run(&self, gpu: &Arc<Gpu>, leaves: &Leaves<'_>) -> Result<Storage> {
        let result = match self.to {
            To::Fresh(dtype, bytes) => gpu.storage(bytes, dtype)?,
            To::Known(number) => leaves.storages[number].clone(),
        };
        let mut words: SmallVec<[u32; 64]> = SmallVec::from_slice(&self.plan.launch.words);
        for &(word, number, is_high) in &self.constants {
            let bits = leaves.constants[number];
            words[word] = if is_high { (bits >> 32) as u32 } else { bits as u32 };
        }
        let compiled = match self.compiled.upgrade() {
            Some(compiled) => compiled,
            None => gpu.pipeline(&self.plan.kernel)?,
        };
        let read = self.reads.iter().map(|&number| leaves.storages[number]);
        gpu.record_words(&self.plan, &words, &compiled, std::iter::once(&result).chain(read))?;
        gpu.parts.connection.check()?;
        Ok(result)
    }
}
