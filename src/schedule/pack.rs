//! Operands next to each other in one storage, where one node reads more tensors than a kernel binds: a lookup by many
//! indices, a function or a loop of many values. Nothing of it can be computed apart.

use std::sync::Arc;

use smallvec::SmallVec;

use super::LANES;
use super::graph::Graph;
use crate::error::Result;
use crate::expr::{DType, Node, NodeKind, Source};
use crate::layout::Layout;

/// The roots of a graph in which operands of some nodes are packed, those of one type together. None if no node has two
/// of one type.
pub(super) fn roots(graph: &Graph<'_>, wide: &[usize]) -> Result<Option<Vec<Arc<Node>>>> {
    let mut nodes: Vec<Arc<Node>> = Vec::with_capacity(graph.nodes.len());
    let mut is_packed = false;
    let number = |graph: &Graph<'_>, i: usize, arg: &Arc<Node>| {
        let same = |&&number: &&u32| Arc::ptr_eq(graph.nodes[number as usize], arg);
        graph.args[i].iter().find(same).map_or(0, |&number| number as usize)
    };
    for (i, &node) in graph.nodes.iter().enumerate() {
        let mut args: SmallVec<[Arc<Node>; 3]> =
            node.args.iter().map(|arg| nodes[number(graph, i, arg)].clone()).collect();
        if wide.contains(&i) {
            is_packed |= pack(&mut args)?;
        }
        let is_same = args.iter().zip(&node.args).all(|(new, old)| Arc::ptr_eq(new, old));
        nodes.push(if is_same { node.clone() } else { node.with(args) });
    }
    let roots = graph.roots.iter().map(|&root| nodes[root].clone());
    Ok(is_packed.then(|| roots.collect()))
}

/// Whether an operand is bound.
fn is_bound(node: &Node) -> bool {
    let is_computed = |source: &Source| matches!(source, Source::Scalar(_) | Source::Index(_));
    !matches!(&node.kind, NodeKind::Leaf { source, .. } if is_computed(source)) && !node.shape.contains(&0)
}

/// Puts operands of one type into one storage; whether there are two of any.
fn pack(args: &mut [Arc<Node>]) -> Result<bool> {
    let mut types: SmallVec<[DType; 4]> = SmallVec::new();
    for arg in args.iter().filter(|arg| is_bound(arg)) {
        if !types.contains(&arg.dtype) {
            types.push(arg.dtype);
        }
    }
    let mut is_packed = false;
    for dtype in types {
        // One that is read twice is one.
        let mut distinct: SmallVec<[Arc<Node>; 4]> = SmallVec::new();
        for arg in args.iter().filter(|arg| arg.dtype == dtype && is_bound(arg)) {
            if !distinct.iter().any(|known| Arc::ptr_eq(known, arg)) {
                distinct.push(arg.clone());
            }
        }
        if distinct.len() < 2 {
            continue;
        }
        let (mut parts, mut starts, mut length) = (Vec::new(), Vec::new(), 0);
        for node in &distinct {
            let count = node.shape.count()?;
            parts.push(node.laid_out().view(&|layout| layout.reshape(&[count as isize]))?);
            starts.push(length..length + count);
            // Each begins where vectors do, so that all may be bound as one array.
            let rest = count.next_multiple_of(LANES) - count;
            if rest > 0 {
                let zeros = Layout::contiguous([1])?.broadcast_to(&[rest].into())?;
                parts.push(Node::constant(dtype, 0, zeros, node));
            }
            length += count + rest;
        }
        let all = Node::join(0, &parts.iter().collect::<Vec<_>>());
        for (node, range) in distinct.iter().zip(starts) {
            let shape: Vec<isize> = node.shape.iter().map(|&n| n as isize).collect();
            let (start, end) = (range.start as isize, range.end as isize);
            let own = all.view(&|layout| layout.slice(0, start..end, 1)?.reshape(&shape))?;
            args.iter_mut().filter(|arg| Arc::ptr_eq(arg, node)).for_each(|arg| *arg = own.clone());
        }
        is_packed = true;
    }
    Ok(is_packed)
}
