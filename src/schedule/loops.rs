//! Loops of several values. If separate kernels read some of them, one kernel stores all of these, as each of the
//! others would run all iterations again.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::graph::Graph;
use crate::ir::{Body, Node, NodeKind};

/// For each loop with several results, the nodes of these.
pub(super) struct Loops(Vec<Vec<usize>>);

impl Loops {
    pub(super) fn of(graph: &Graph<'_>) -> Loops {
        // Its first operand, the number of iterations, is each loop's own.
        let mut all: BTreeMap<*const Node, Vec<usize>> = BTreeMap::new();
        for (i, node) in graph.nodes.iter().enumerate() {
            if let NodeKind::Body(Body::Loop(_), _) = &node.kind {
                all.entry(Arc::as_ptr(&node.args[0])).or_default().push(i);
            }
        }
        Loops(all.into_values().filter(|values| values.len() > 1).collect())
    }

    /// Stores the loop values that several kernels compute, with some nodes already stored. Returns whether there are
    /// any.
    pub(super) fn store(&self, graph: &Graph<'_>, stored: &mut [bool]) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let kernels =
            graph.kernels(|i, _| (stored[i] || graph.nodes[i].kind.is_stored()).then_some(i as u32));
        let mut any = false;
        for values in &self.0 {
            let first = values[0];
            // A stored value is in the same kernels as the values that it is stored with.
            let kernel = |&kernel: &u32| match graph.nodes.get(kernel as usize).map(|node| &node.kind) {
                Some(NodeKind::Shared) if values.contains(&(graph.args[kernel as usize][0] as usize)) => {
                    first
                }
                _ => kernel as usize,
            };
            let mut all = values.iter().flat_map(|&value| &kernels[value]).map(kernel);
            let one = all.next();
            if all.any(|other| Some(other) != one) {
                any |= values.iter().any(|&value| !stored[value]);
                values.iter().for_each(|&value| stored[value] = true);
            }
        }
        any
    }

    /// The nodes that one kernel stores, for each loop. They have the same operands, so none needs another.
    pub(super) fn groups(&self, graph: &Graph<'_>, stored: &[bool]) -> impl Iterator<Item = Vec<usize>> {
        self.0.iter().map(|values| {
            let is_own = |&i: &usize| match graph.nodes[i].kind {
                _ if !stored[i] => false,
                // The kernel copies a value that is stored itself.
                NodeKind::Shared => {
                    let of = graph.args[i][0] as usize;
                    values.contains(&of) && !stored[of]
                }
                _ => values.contains(&i),
            };
            (0..stored.len()).filter(is_own).collect()
        })
    }
}
