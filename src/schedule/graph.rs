//! The graph of an expression with numbered nodes, for the passes.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Bounds;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{AxisOp, Contract, Node, NodeKind};
use crate::layout::Shape;

/// The kernel of the results.
pub(super) const LAST: u32 = u32::MAX;

/// The nodes below some roots, each once and after its operands.
pub(super) struct Graph<'a> {
    pub nodes: Vec<&'a Arc<Node>>,
    /// The numbers of the roots.
    pub roots: Vec<usize>,
    /// For each node, the numbers of its operands, each once.
    pub args: Vec<SmallVec<[u32; 3]>>,
    /// The nodes that read each one.
    pub reads: Vec<u32>,
    /// For each reduction, the first of those that one program may compute with it: along the same axes of operands of
    /// one shape and type, and none needs another. Every other node is its own.
    pub kin: Vec<u32>,
    /// The elements of it that are read in total, through views and stretched axes, repeated ones each time.
    pub elements: Vec<usize>,
}

impl<'a> Graph<'a> {
    /// Values that are constant along a last axis of at most `bounds.row` elements are read once for the whole axis, and
    /// factors once for `bounds.shared` rows or columns.
    pub(super) fn new(roots: &[&'a Arc<Node>], bounds: Bounds) -> Self {
        let mut numbers: FxHashMap<*const Node, u32> = FxHashMap::default();
        let mut graph = Graph {
            nodes: Vec::new(),
            roots: Vec::new(),
            args: Vec::new(),
            reads: Vec::new(),
            elements: Vec::new(),
            kin: Vec::new(),
        };
        // The greatest number of reductions on a path to each node, itself not counted. Nodes with equal numbers do not
        // need each other.
        let mut depths: Vec<u32> = Vec::new();
        let mut kin: FxHashMap<(u32, &AxisOp, &Shape, DType), u32> = FxHashMap::default();
        let mut stack: Vec<(&'a Arc<Node>, usize)> = roots.iter().rev().map(|&root| (root, 0)).collect();
        while let Some((node, next)) = stack.pop() {
            if numbers.contains_key(&Arc::as_ptr(node)) {
                continue;
            }
            if let Some(arg) = node.args.get(next) {
                stack.push((node, next + 1));
                if !numbers.contains_key(&Arc::as_ptr(arg)) {
                    stack.push((arg, 0));
                }
                continue;
            }
            let mut args: SmallVec<[u32; 3]> =
                node.args.iter().map(|arg| numbers[&Arc::as_ptr(arg)]).collect();
            args.sort_unstable();
            args.dedup();
            let number = graph.nodes.len() as u32;
            numbers.insert(Arc::as_ptr(node), number);
            let depth =
                args.iter().map(|&arg| depths[arg as usize] + u32::from(graph.is_reduction(arg as usize)));
            let depth = depth.max().unwrap_or(0);
            depths.push(depth);
            graph.kin.push(match (node.kind.reads_once(), node.args.first()) {
                (Some(kind), Some(operand)) => {
                    *kin.entry((depth, kind, &operand.shape, operand.dtype)).or_insert(number)
                }
                _ => number,
            });
            graph.nodes.push(node);
            graph.reads.push(0);
            graph.elements.push(0);
            // Equal views show the same elements. Other views usually differ.
            let count = graph.count(graph.nodes.len() - 1);
            for &arg in &args {
                graph.reads[arg as usize] += 1;
                let own = graph.count(arg as usize);
                let shape = &graph.nodes[arg as usize].shape;
                let of_row = is_of_row(shape, &node.shape, bounds.row);
                let is_once = node.kind.is_apart();
                let direct = !is_once && !matches!(node.kind, NodeKind::View(_)) && (own == count || of_row);
                let count = match node.kind {
                    NodeKind::Axis(AxisOp::Contract(Contract { axis })) => {
                        let results = count.saturating_mul(shape[axis]) / own.max(1);
                        own.saturating_mul(results.div_ceil(bounds.shared))
                    }
                    _ if direct || is_once => own,
                    _ => count,
                };
                let read = &mut graph.elements[arg as usize];
                // Direct readers share its elements.
                *read = if direct { (*read).max(count) } else { read.saturating_add(count) };
            }
            graph.args.push(args);
        }
        graph.roots = roots.iter().map(|root| numbers[&Arc::as_ptr(root)] as usize).collect();
        graph
    }

    /// The elements of a node.
    pub(super) fn count(&self, i: usize) -> usize {
        self.nodes[i].shape.iter().product()
    }
}

/// Whether a shape is stretched along a short last axis alone.
fn is_of_row(shape: &[usize], to: &[usize], most: usize) -> bool {
    match (shape.split_last(), to.split_last()) {
        (Some((1, shape)), Some((row, to))) => *row <= most && shape == to,
        _ => false,
    }
}

impl Graph<'_> {
    /// The roots with other nodes in place of some. `each` takes the number of a node and the node, whose operands are
    /// replaced already.
    pub(super) fn replaced(
        &self,
        mut each: impl FnMut(usize, &Arc<Node>) -> Result<Option<Arc<Node>>>,
    ) -> Result<Vec<Arc<Node>>> {
        let mut instead: FxHashMap<*const Node, Arc<Node>> = FxHashMap::default();
        for (i, &node) in self.nodes.iter().enumerate() {
            let known = |arg: &Arc<Node>| instead.get(&Arc::as_ptr(arg)).cloned();
            let is_replaced = node.args.iter().any(|arg| known(arg).is_some());
            let other = is_replaced.then(|| {
                node.with(node.args.iter().map(|arg| known(arg).unwrap_or_else(|| arg.clone())).collect())
            });
            let other = each(i, other.as_ref().unwrap_or(node))?.or(other);
            instead.extend(other.map(|other| (Arc::as_ptr(node), other)));
        }
        let root = |&root: &usize| {
            let root = self.nodes[root];
            instead.get(&Arc::as_ptr(root)).unwrap_or(root).clone()
        };
        Ok(self.roots.iter().map(root).collect())
    }

    /// For each node, the kernels that compute it; [`LAST`] is that of the results. `stored` sees the kernels that read a
    /// node, readers first, and returns its own kernel if it is stored.
    pub(super) fn kernels(
        &self,
        mut stored: impl FnMut(usize, &[u32]) -> Option<u32>,
    ) -> Vec<SmallVec<[u32; 4]>> {
        let mut kernels: Vec<SmallVec<[u32; 4]>> = vec![SmallVec::new(); self.nodes.len()];
        self.roots.iter().for_each(|&root| kernels[root].push(LAST));
        for i in (0..self.nodes.len()).rev() {
            let own = match stored(i, &kernels[i]) {
                Some(kernel) => SmallVec::from_slice(&[kernel]),
                None => kernels[i].clone(),
            };
            for &arg in &self.args[i] {
                // Each operand of a join has a kernel.
                let joined = [arg];
                let is_join = matches!(self.nodes[i].kind, NodeKind::Join(_));
                let own: &[u32] = if is_join { &joined } else { &own };
                let reading = &mut kernels[arg as usize];
                for &kernel in own {
                    if !reading.contains(&kernel) {
                        reading.push(kernel);
                    }
                }
            }
        }
        kernels
    }

    pub(super) fn is_reduction(&self, i: usize) -> bool {
        self.nodes[i].kind.reads_once().is_some()
    }
}
