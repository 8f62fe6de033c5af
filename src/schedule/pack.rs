//! Packing puts operands side by side in one storage if one node reads more tensors than a kernel binds. Such nodes are
//! lookups by many indices, and functions and loops of many values. No part of them can be computed separately.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::LANES;
use super::graph::Graph;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Node, NodeKind, Source};
use crate::layout::Layout;

/// The roots of a graph with packed operands of some nodes, one storage for each type. `None` if no node has two
/// unpacked operands of one type.
pub(super) fn roots(graph: &Graph<'_>, wide: &[usize]) -> Result<Option<Vec<Arc<Node>>>> {
    let mut instead: FxHashMap<*const Node, Arc<Node>> = FxHashMap::default();
    for &node in wide {
        pack(&graph.nodes[node].args, &mut instead)?;
    }
    if instead.is_empty() {
        return Ok(None);
    }
    graph.replaced(|i, _| Ok(instead.get(&Arc::as_ptr(graph.nodes[i])).cloned())).map(Some)
}

/// Whether an operand is, or will be, a tensor with a storage of its own.
fn is_alone(node: &Node) -> bool {
    !node.shape.contains(&0)
        && match &node.kind {
            NodeKind::Leaf { source, .. } => !matches!(source, Source::Scalar(_) | Source::Index(_)),
            NodeKind::View(_) => !matches!(node.args[0].kind, NodeKind::Join(_)),
            _ => true,
        }
}

/// Packs operands of one type, if there are several, into one storage. Returns the replacement of each.
fn pack(args: &[Arc<Node>], instead: &mut FxHashMap<*const Node, Arc<Node>>) -> Result<()> {
    let mut types: BTreeMap<DType, Vec<&Arc<Node>>> = BTreeMap::new();
    for arg in args.iter().filter(|arg| is_alone(arg) && !instead.contains_key(&Arc::as_ptr(arg))) {
        let same = types.entry(arg.dtype).or_default();
        // An operand that is read twice is packed once.
        if !same.iter().any(|known| Arc::ptr_eq(known, arg)) {
            same.push(arg);
        }
    }
    for (dtype, nodes) in types.into_iter().filter(|(_, nodes)| nodes.len() > 1) {
        let (mut parts, mut starts, mut length) = (Vec::new(), Vec::new(), 0);
        for &node in &nodes {
            let count = node.shape.count()?;
            parts.push(node.laid_out().view(&|layout| layout.reshape(&[count as isize]))?);
            starts.push(length as isize..(length + count) as isize);
            // Each begins at a vector, so that all may be bound as one array.
            let rest = count.next_multiple_of(LANES) - count;
            if rest > 0 {
                let zeros = Layout::contiguous([1])?.broadcast_to(&[rest].into())?;
                parts.push(Node::constant(dtype, 0, zeros, node));
            }
            length += count + rest;
        }
        let all = Node::join(0, &parts.iter().collect::<Vec<_>>());
        for (node, range) in nodes.into_iter().zip(starts) {
            let shape: Vec<isize> = node.shape.iter().map(|&n| n as isize).collect();
            let own = all.view(&|layout| layout.slice(0, range.clone(), 1)?.reshape(&shape))?;
            instead.insert(Arc::as_ptr(node), own);
        }
    }
    Ok(())
}
