//! The schedule: from a graph to the stages that compute it. Pure; no device.
//!
//! A *stage* is computed on its own: a program whose result is row-major, so that every view of it is a layout. Other
//! stages read it as [`Source::Stage`]. Passes decide about stages:
//!
//! | pass | a stage for |
//! | --- | --- |
//! | [`by_key`] | sorts, counts and blocks of elements that are reduced by key |
//! | [`first`] | the first places of long rows that are sorted: blocks of the row, and candidates |
//! | [`boundaries`] | parts too long for a kernel, with too many operands, or read through several views |
//! | [`apart`], [`loops`] | values that several kernels would compute; values of one loop |
//! | [`pack`] | operands of one operation that reads more tensors than a kernel binds |
//! | [`hoist`] | parts with far fewer elements than the result |
//! | [`horizontal`] | reductions that read the same elements: one stage |
//! | [`rows`] | reductions and their readers, row by row: one stage |
//! | [`after`] | products of matrices and the steps that read them: one stage |
//! | [`unroll`] | reductions of windows: steps in place of the reduction |

mod after;
mod apart;
mod boundaries;
mod by_key;
mod common;
mod first;
mod graph;
mod hoist;
mod horizontal;
mod loops;
mod pack;
mod rows;
mod unroll;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use common::stored;
use smallvec::{SmallVec, smallvec};

use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::ir::{
    Bounds, Input, Kept, Known, Node, NodeKind, Op, Program, Schedule, Source, Stage, Storage, Value, cost,
};
use crate::layout::Shape;
use crate::tuning::costs::{COSTLY, LEAST_SPARED, MOST_COST, NARROWING};

/// Elements of a vector, which kernels compute side by side.
pub(crate) const LANES: usize = 4;

/// A cost above that of a load; otherwise 0.
fn costly(cost: usize) -> usize {
    if cost >= COSTLY { cost } else { 0 }
}

/// The cost of a node by itself, in additions.
fn own_cost(node: &Node) -> usize {
    match node.kind {
        NodeKind::Op(op) => cost(op, operand_type(node)),
        NodeKind::Lookup => cost(Op::Lookup, DType::I32),
        NodeKind::Body(ref body, _) => body.work(),
        _ => 0,
    }
}

fn is_narrowing(from: DType, to: DType) -> bool {
    from.kind() == Kind::Float && matches!(to.kind(), Kind::Signed | Kind::Unsigned)
}

/// The cost of its text for a compiler, by itself, in additions.
fn text_cost(node: &Node) -> usize {
    match &node.kind {
        NodeKind::Body(body, _) => body.cost(),
        NodeKind::Op(Op::Cast) if is_narrowing(operand_type(node), node.dtype) => NARROWING,
        _ => own_cost(node),
    }
}

/// The type that an op computes in: its last operand's, as a condition comes first.
fn operand_type(node: &Node) -> DType {
    node.args.last().map_or(node.dtype, |arg| arg.dtype)
}

/// A schedule that is kept with its root.
struct OfRoot {
    bounds: Bounds,
    schedule: Arc<Schedule>,
}

impl Schedule {
    /// A schedule of one program.
    pub(crate) fn only(last: Program) -> Schedule {
        Schedule { stages: Vec::new(), last: Stage::One(last), finished: Vec::new(), ready: Kept::default() }
    }

    /// All stages, in the order in which they run.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Stage> {
        self.stages.iter().chain([&self.last])
    }

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

    /// Schedules expressions, broadcast to one shape.
    pub(crate) fn new(roots: &[&Arc<Node>], shape: &Shape, bounds: Bounds) -> Result<Schedule> {
        let stored: SmallVec<[&Arc<Node>; 1]> = roots.iter().copied().map(result).collect();
        // Views that move nothing are dropped above stored nodes.
        let is_stored = |node: &&Arc<Node>| node.kind.is_stored() && node.shape == stored[0].shape;
        let (roots, shape) =
            match roots.iter().all(|root| root.shape == *shape) && stored.iter().all(is_stored) {
                true => (stored.as_slice(), &stored[0].shape),
                false => (roots, shape),
            };
        let found = boundaries::find(roots, shape, bounds)?;
        match found.instead {
            None => Schedule::of_stages(roots, shape, bounds, found.stages),
            // Repeats until nothing is left to replace.
            Some(roots) => Schedule::new(&roots.iter().collect::<Vec<_>>(), shape, bounds),
        }
    }

    fn of_stages(
        roots: &[&Arc<Node>],
        shape: &Shape,
        bounds: Bounds,
        nodes: Vec<horizontal::Stage<'_>>,
    ) -> Result<Schedule> {
        let mut stages = Vec::new();
        let mut known = Known::default();
        let mut at: Vec<(*const Node, usize)> = Vec::new();
        for nodes in nodes {
            let mut stage = Stage::of(&nodes, &nodes[0].shape, &known)?;
            let results = match &mut stage {
                Stage::One(program) => numbers(&mut program.results),
                Stage::Join(_) => smallvec![0],
            };
            at.extend(nodes.iter().map(|node| Arc::as_ptr(node)).zip(results));
            let stage = hoist::stage(stage, bounds, &mut stages)?;
            stages.push(stage);
            known.extend(at.drain(..).map(|(node, result)| (node, (stages.len() - 1, result))));
        }
        let last = hoist::stage(Stage::of(roots, shape, &known)?, bounds, &mut stages)?;
        stages.push(last);
        let stages = after::join(rows::join(stages, bounds)?, bounds)?.into_iter();
        let mut stages = stages.map(|stage| unroll::stage(stage, bounds)).collect::<Result<Vec<_>>>()?;
        if bounds.total {
            stages.iter_mut().flat_map(Stage::programs_mut).for_each(Program::make_total);
        }
        // What no memory holds is refused before anything is computed.
        stages.iter().flat_map(Stage::byte_sizes).try_for_each(|bytes| bytes.map(drop))?;
        let Some(last) = stages.pop() else { bail!(Kernel, "a schedule without a stage") };
        let mut finished = vec![Vec::new(); stages.len()];
        let mut seen = vec![false; stages.len()];
        last.stages().for_each(|stage| seen[stage] = true);
        for (i, own) in stages.iter().enumerate().rev() {
            for stage in own.stages() {
                if !std::mem::replace(&mut seen[stage], true) {
                    finished[i].push(stage);
                }
            }
        }
        Ok(Schedule { stages, last, finished, ready: Kept::default() })
    }

    /// The same over other storages. `instead` maps each once.
    pub(crate) fn over(
        &self,
        mut instead: impl FnMut(&Storage, DType) -> Result<Storage>,
    ) -> Result<Schedule> {
        let mut known: BTreeMap<usize, Storage> = BTreeMap::new();
        self.over_sources(|input| {
            let Source::Tensor(storage) = &input.source else { return Ok(input.source.clone()) };
            let other = match known.get(&storage.address()) {
                Some(other) => other.clone(),
                None => instead(storage, input.dtype)?,
            };
            known.insert(storage.address(), other.clone());
            Ok(Source::Tensor(other))
        })
    }

    /// The same over other sources.
    pub(crate) fn over_sources(&self, mut each: impl FnMut(&Input) -> Result<Source>) -> Result<Schedule> {
        let stages = self.stages.iter().map(|stage| stage.clone().over(&mut each)).collect::<Result<_>>()?;
        let last = self.last.clone().over(&mut each)?;
        Ok(Schedule { stages, last, finished: self.finished.clone(), ready: Kept::default() })
    }
}

/// Whether one program may compute the results of both expressions.
pub(crate) fn are_alike(a: &Arc<Node>, b: &Arc<Node>) -> bool {
    let kind = |node| result(node).kind.reads_once().map(|kind| (kind, &result(node).args[0].shape));
    let apart = !Arc::ptr_eq(a, b) && [a, b].iter().any(|node| result(node).kind.is_apart());
    let reduces = kind(a).is_some();
    a.shape == b.shape && kind(a) == kind(b) && (a.dtype == b.dtype || !reduces) && !apart
}

/// The node with a root's elements in row-major order: below a view that moves nothing it is the view's operand. The
/// last program computes it.
fn result(root: &Arc<Node>) -> &Arc<Node> {
    match (&root.kind, root.args.first()) {
        (NodeKind::View(layout), Some(of)) if of.kind.is_stored() => {
            let is_all = layout.count() == of.shape.iter().product::<usize>();
            if is_all && layout.is_identity() { of } else { root }
        }
        _ => root,
    }
}

/// For each value, its number among the different ones, which stay in the list.
fn numbers(values: &mut SmallVec<[Value; 1]>) -> SmallVec<[usize; 1]> {
    let all = std::mem::take(values);
    let number = |value: Value| {
        values.iter().position(|&other| other == value).unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        })
    };
    all.into_iter().map(number).collect()
}
