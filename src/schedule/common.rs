//! Parts that several expressions need and that run as kernels of their own, such as products of matrices. If the
//! expressions are several kernels, each would compute such a part again.

use std::sync::Arc;

use super::Bounds;
use super::graph::Graph;
use crate::error::Result;
use crate::ir::Node;

/// What needs a node: nothing so far, one group of expressions or one stored part, or several of them.
#[derive(Clone, Copy, PartialEq)]
enum Needed {
    Never,
    By(usize),
    Often,
}

impl Needed {
    fn and(&mut self, by: Needed) {
        *self = match *self {
            Needed::Never => by,
            own if own == by => own,
            _ => Needed::Often,
        };
    }
}

/// The expressions with their common parts replaced. `store` computes a part, and returns its elements as a leaf. A
/// group lists the expressions of one kernel.
pub(crate) fn stored(
    roots: &[&Arc<Node>],
    groups: &[Vec<usize>],
    bounds: Bounds,
    mut store: impl FnMut(&Arc<Node>) -> Result<Arc<Node>>,
) -> Result<Vec<Arc<Node>>> {
    let graph = Graph::new(roots, bounds);
    let mut needed = vec![Needed::Never; graph.nodes.len()];
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|&root| needed[graph.roots[root]].and(Needed::By(number)));
    }
    let is_common = |i: usize, needed: Needed| needed == Needed::Often && graph.nodes[i].kind.is_apart();
    for i in (0..needed.len()).rev() {
        let by = if is_common(i, needed[i]) { Needed::By(groups.len() + i) } else { needed[i] };
        graph.args[i].iter().for_each(|&arg| needed[arg as usize].and(by));
    }
    graph.replaced(|i, node| if is_common(i, needed[i]) { store(node).map(Some) } else { Ok(None) })
}
