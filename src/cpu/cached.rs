//! Plans of the plan cache: schedules over the leaves of a fingerprint. Their programs keep the engine's instructions.

use smallvec::SmallVec;

use crate::error::{Result, bail};
use crate::ir::{Destination, Input, Leaves, Schedule, Slot, Source, Stage};
use crate::layout::Layout;

/// A schedule that runs with other operands and constants.
#[derive(Debug)]
pub(super) struct CachedPlan {
    /// A slot's number is that of its leaf.
    pub schedule: Schedule,
    /// The node of each constant when this was made, by which the schedule's inputs name it.
    nodes: SmallVec<[usize; 4]>,
    /// The leaf that is written, and its layout.
    pub into: Option<(usize, Layout)>,
}

impl CachedPlan {
    /// The plan of an expression with these leaves. `None` if a constant has no place of its own in the schedule.
    pub(super) fn new(schedule: &Schedule, to: Destination<'_>, leaves: &Leaves<'_>) -> Option<CachedPlan> {
        let nodes: SmallVec<[usize; 4]> = leaves.constants.iter().map(|(_, node)| *node).collect();
        let of_leaf = |input: &Input| -> Result<Source> {
            Ok(match &input.source {
                Source::Tensor(storage) => {
                    let Some(number) = leaves.find(storage) else {
                        bail!(Kernel, "a tensor that is no leaf")
                    };
                    let (elements, is_exact) = (storage.elements, storage.is_exact);
                    Source::Slot(Slot { number, elements, is_exact, range: None })
                }
                Source::Scalar(_) if input.node.is_some_and(|node| !nodes.contains(&node)) => {
                    bail!(Kernel, "a constant that is no leaf")
                }
                Source::Index(_) => Source::Index(None),
                other => other.clone(),
            })
        };
        let into = match to {
            Destination::New => None,
            Destination::Into([(storage, layout)]) => Some((leaves.find(storage)?, (*layout).clone())),
            Destination::Into(_) => return None,
        };
        let schedule = schedule.over_sources(of_leaf).ok()?;
        // An index of a lookup may be a part of a layout.
        let programs = || schedule.all().flat_map(Stage::programs);
        let is_read = |node: &usize| {
            programs().flat_map(|program| &program.inputs).any(|input| input.node == Some(*node))
        };
        nodes.iter().all(is_read).then_some(CachedPlan { schedule, nodes, into })
    }

    /// The bits of a constant input, if it is a leaf's.
    pub(super) fn constant(&self, input: &Input, constants: &[(u64, usize)]) -> Option<u64> {
        let number = self.nodes.iter().position(|&node| Some(node) == input.node)?;
        Some(constants[number].0)
    }
}
