//! The schedule: from a graph to the stages that compute it. Pure; no device.
//!
//! What must be computed on its own becomes a *stage*: a flat program whose result has a row-major layout,
//! so that every view of it is a layout, as of a tensor. Those that need it read it as
//! [`Source::Stage`]. Passes decide what a stage is: [`boundaries`] where a kernel would be too long, bind
//! too much or compute again what is read through several views, [`hoist`] where a part has far fewer
//! elements than the result. A stage over storages that no kernel binds whole runs as parts, each over
//! [`windows`] of them; how storages are cut is known when they are there, so this is done as it runs.

mod boundaries;
mod hoist;
mod windows;

pub(crate) use windows::{Cuts, Window};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::expr::{Known, Node, Op, Program, Source, Storage, cost};
use crate::layout::Shape;

/// What a stage must spare, in additions, to be worth a dispatch: lavapipe takes 50 us for a small kernel,
/// and 250 us for 2^20 exponentials.
const LEAST_SPARED: usize = 20 << 20;

/// What an op costs at least that is dearer than a load, in additions.
const COSTLY: usize = 8;

/// What an op on operands of a type costs, where that is dearer than a load.
fn costly(op: Op, dtype: DType) -> usize {
    Some(cost(op, dtype)).filter(|&cost| cost >= COSTLY).unwrap_or(0)
}

/// What a schedule must know of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Tensors that a stage reads at most.
    pub operands: usize,
    /// Bytes of a tensor that is bound whole, however often it is read.
    pub whole: u64,
}

/// Programs in the order in which they run. The results of `stages` are temporaries.
#[derive(Debug)]
pub(crate) struct Schedule {
    pub stages: Vec<Program>,
    /// What gives the results.
    pub last: Program,
    /// Of each stage, those whose results are read by it and by none after it.
    finished: Vec<Vec<usize>>,
}

/// A schedule that is kept with its root.
struct OfRoot {
    bounds: Bounds,
    schedule: Arc<Schedule>,
}

impl Schedule {
    /// The schedule of an expression, kept with it.
    pub(crate) fn of(root: &Arc<Node>, bounds: Bounds) -> Result<Arc<Schedule>> {
        if let Some(known) = root.schedule.get::<OfRoot>().filter(|known| known.bounds == bounds) {
            return Ok(known.schedule.clone());
        }
        let schedule = Arc::new(Schedule::new(&[root], &root.shape, bounds)?);
        if root.schedule.again() {
            root.schedule.put(OfRoot { bounds, schedule: schedule.clone() });
        }
        Ok(schedule)
    }

    /// Schedules expressions of one type, broadcast to one shape.
    pub(crate) fn new(roots: &[&Arc<Node>], shape: &Shape, bounds: Bounds) -> Result<Schedule> {
        let mut stages = Vec::new();
        let mut known = Known::default();
        for node in boundaries::find(roots, bounds)? {
            let program = Program::of(&[node], &node.shape, &known)?;
            let program = hoist::without_parts(program, bounds, &mut stages)?;
            stages.push(program);
            known.insert(Arc::as_ptr(node), stages.len() - 1);
        }
        let last = hoist::without_parts(Program::of(roots, shape, &known)?, bounds, &mut stages)?;
        let mut finished = vec![Vec::new(); stages.len()];
        let mut seen = vec![false; stages.len()];
        last.stages().for_each(|stage| seen[stage] = true);
        for (i, program) in stages.iter().enumerate().rev() {
            for stage in program.stages() {
                if !std::mem::replace(&mut seen[stage], true) {
                    finished[i].push(stage);
                }
            }
        }
        Ok(Schedule { stages, last, finished })
    }

    /// Computes all stages but the last, each by `each`, and gives the last, ready to run. Results that
    /// nothing reads any more are dropped on the way.
    pub(crate) fn run(&self, mut each: impl FnMut(&Program) -> Result<Storage>) -> Result<Cow<'_, Program>> {
        let mut results: BTreeMap<usize, Storage> = BTreeMap::new();
        for (i, program) in self.stages.iter().enumerate() {
            let program = bound(program, &results)?;
            let result = each(&program)?;
            results.insert(i, result);
            self.finished[i].iter().for_each(|stage| drop(results.remove(stage)));
        }
        bound(&self.last, &results)
    }
}

/// A program that reads stages from where their results are.
fn bound<'a>(program: &'a Program, results: &BTreeMap<usize, Storage>) -> Result<Cow<'a, Program>> {
    if program.stages().next().is_none() {
        return Ok(Cow::Borrowed(program));
    }
    let mut program = program.clone();
    for input in &mut program.inputs {
        if let Source::Stage(stage) = input.source {
            let Some(storage) = results.get(&stage) else {
                return Err(Error::new(ErrorKind::Kernel, format!("stage {stage} is read before it is run")));
            };
            input.source = Source::Tensor(storage.clone());
        }
    }
    Ok(Cow::Owned(program))
}
