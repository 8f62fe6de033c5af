//! Stores values that several kernels read, if computing them in each costs more than storing them once. An example is the power
//! of differences that both a sum and a quotient by this sum read.

use smallvec::SmallVec;

use super::graph::Graph;
use super::{LEAST_SPARED, MOST_COST, own_cost};
use crate::ir::NodeKind;
use crate::tuning::apart::APART;

/// The nodes to store because several kernels read them. [`boundaries`](super::boundaries) decides for nodes such as
/// reductions.
pub(super) fn find(graph: &Graph<'_>) -> Vec<bool> {
    let count = graph.nodes.len();
    let mut stored = vec![false; count];
    let is_apart = |i: usize| graph.nodes[i].kind.is_stored();
    if !(0..count).any(is_apart) {
        return stored;
    }
    graph.kernels(|i, own| {
        if own.len() > 1 && graph.nodes[i].kind.is_operation() {
            stored[i] = is_worth_storing(graph, i, own.len() - 1);
        }
        (is_apart(i) || stored[i]).then(|| graph.kin[i])
    });
    stored
}

/// Whether computing a node `again` times takes longer than storing it.
fn is_worth_storing(graph: &Graph<'_>, i: usize, again: usize) -> bool {
    let spared = again.saturating_mul(graph.count(i));
    let least = (APART / again + 1).max(LEAST_SPARED.div_ceil(spared.max(1)));
    if least > MOST_COST {
        return false;
    }
    // The node's operands, as far as they matter: nodes of fewer elements cost little.
    let mut cost = 0;
    let mut open = vec![i];
    let mut seen: SmallVec<[usize; 32]> = SmallVec::new();
    while let Some(at) = open.pop() {
        if seen.contains(&at) || graph.count(at) < graph.count(i) {
            continue;
        }
        seen.push(at);
        let node = graph.nodes[at];
        if node.kind.is_operation() || matches!(node.kind, NodeKind::View(_)) {
            cost += own_cost(node);
            open.extend(graph.args[at].iter().map(|&arg| arg as usize));
        }
        if cost >= least || seen.len() > MOST_COST {
            return cost >= least;
        }
    }
    false
}
