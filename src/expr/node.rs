//! The graph: nodes of an expression, and views pushed down to its leaves.

use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::{Backend, DType, Op, Storage};
use crate::error::{Result, bail};
use crate::layout::{Layout, Shape};

/// The deepest chain of ops that one expression may have. It bounds recursion over the graph and
/// the size of a kernel; real expressions are two orders of magnitude smaller.
pub(crate) const MAX_DEPTH: usize = 512;

/// Where a leaf's elements come from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Elements of a storage.
    Tensor(Storage),
    /// One constant, as its bits.
    Scalar(u64),
    /// The address itself, as i32: a coordinate, under whatever views were taken of it. With the
    /// device of the expression that it was asked of, if that has one.
    Index(Option<Arc<dyn Backend>>),
}

#[derive(Debug)]
pub(crate) enum Kind {
    Leaf { source: Source, layout: Layout },
    Op { op: Op, args: SmallVec<[Arc<Node>; 3]> },
}

/// A node of an expression. The arguments of an op may have smaller shapes than the op: NumPy's
/// rule between them was checked when it was built.
#[derive(Debug)]
pub(crate) struct Node {
    pub dtype: DType,
    pub shape: Shape,
    pub depth: usize,
    pub kind: Kind,
}

impl Node {
    pub(crate) fn leaf(dtype: DType, source: Source, layout: Layout) -> Arc<Node> {
        let shape = layout.shape().clone();
        Arc::new(Node { dtype, shape, depth: 0, kind: Kind::Leaf { source, layout } })
    }

    pub(crate) fn op(op: Op, dtype: DType, args: &[&Arc<Node>]) -> Result<Arc<Node>> {
        let shape = match args {
            [only] => only.shape.clone(),
            [a, b] if a.shape == b.shape => a.shape.clone(),
            _ => {
                let shapes: SmallVec<[Shape; 3]> = args.iter().map(|arg| arg.shape.clone()).collect();
                crate::layout::numpy(&shapes)?
            }
        };
        let depth = 1 + args.iter().map(|arg| arg.depth).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            bail!(
                Overflow,
                "an expression of depth {depth} exceeds the limit of {MAX_DEPTH} ops in a chain: evaluate a part of it first"
            );
        }
        let args = args.iter().map(|&arg| arg.clone()).collect();
        Ok(Arc::new(Node { dtype, shape, depth, kind: Kind::Op { op, args } }))
    }

    /// The same expression under a view, which every leaf takes after it is broadcast to the
    /// shape of this node. Shared nodes stay shared.
    pub(crate) fn view(self: &Arc<Node>, view: &dyn Fn(&Layout) -> Result<Layout>) -> Result<Arc<Node>> {
        // Taken of the shape alone first, so that errors speak of what the user wrote.
        let shape = view(&Layout::contiguous(&self.shape)?)?.shape().clone();
        let outer = &self.shape;
        rebuild(self, &mut HashMap::new(), &shape, &|layout| view(&layout.broadcast_to(outer)?))
    }
}

fn rebuild(
    node: &Arc<Node>,
    done: &mut HashMap<*const Node, Arc<Node>>,
    shape: &Shape,
    view: &dyn Fn(&Layout) -> Result<Layout>,
) -> Result<Arc<Node>> {
    if let Some(known) = done.get(&Arc::as_ptr(node)) {
        return Ok(known.clone());
    }
    let kind = match &node.kind {
        Kind::Leaf { source, layout } => Kind::Leaf { source: source.clone(), layout: view(layout)? },
        Kind::Op { op, args } => {
            let args = args.iter().map(|arg| rebuild(arg, done, shape, view));
            Kind::Op { op: *op, args: args.collect::<Result<_>>()? }
        }
    };
    let viewed = Arc::new(Node { dtype: node.dtype, shape: shape.clone(), depth: node.depth, kind });
    done.insert(Arc::as_ptr(node), viewed.clone());
    Ok(viewed)
}
