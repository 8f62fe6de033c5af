//! Counts and reductions by key, of devices that have no stage for them ([`Bounds::irregular`]): by sorted runs
//! ([`Runs`]).

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Bounds;
use super::graph::Graph;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{AnyExpr, Runs};
use crate::ir::{AxisOp, ByKey, Node, NodeKind, Segments};
use crate::tuning::segments::MOST_COUNTED;

/// The roots of a graph with sorts in place of nodes that the device has no stage for. `None` if there are no such
/// nodes.
pub(super) fn roots(graph: &Graph<'_>, bounds: Bounds) -> Result<Option<Vec<Arc<Node>>>> {
    let of = |node: &Arc<Node>| match (&node.kind, node.args.last()) {
        (NodeKind::Axis(AxisOp::Segments(own)), Some(keys)) => Some((*own, Arc::as_ptr(keys))),
        _ => None,
    };
    let is_stage = |own: Segments| bounds.irregular || is_counted(own);
    if graph.nodes.iter().all(|node| of(node).is_none_or(|(own, _)| is_stage(own))) {
        return Ok(None);
    }
    // One sort for what one node of keys reduces, and for its counts.
    let mut known: FxHashMap<(*const Node, Segments), Runs> = FxHashMap::default();
    let replaced = graph.replaced(|i, node| {
        let Some((own, address)) = of(graph.nodes[i]) else { return Ok(None) };
        let mut others = graph.nodes.iter().filter_map(|node| of(node));
        let is_moved = others.any(|(other, keys)| keys == address && other.gives != ByKey::Count);
        if !is_moved && is_stage(own) {
            return Ok(None);
        }
        let operand = |i: usize| AnyExpr::new(Ok(node.args[i].clone()));
        let all = Segments { gives: ByKey::Count, ..own };
        let runs = match known.entry((address, all)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Runs::new(&operand(node.args.len() - 1), all, is_moved)?),
        };
        let made = match own.gives {
            ByKey::Count => runs.totals().cast(DType::U32).unsqueeze(1),
            ByKey::Last => runs.last(&operand(0))?,
            ByKey::Reduced(op) => runs.reduced(op, &operand(0))?,
        };
        Ok(Some(made.node()?.clone()))
    });
    replaced.map(Some)
}

/// Whether an adapter counts keys in tables.
fn is_counted(own: Segments) -> bool {
    own.gives == ByKey::Count && own.count <= MOST_COUNTED && !own.are_sorted
}
