//! Expressions as text, in one line.

use std::fmt;
use std::sync::Arc;

use super::{AnyExpr, Expr};
use crate::ir::{Constant, Node, NodeKind, Source};

/// The depth of operations that are written out.
const DEPTH: usize = 6;

impl fmt::Debug for AnyExpr {
    /// The operations, with tensors as `x0`, `x1`, ..., and the result's type and shape: `mul(x0, 2.0), f32 [3]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node() {
            Ok(node) => {
                Line { known: Vec::new() }.write(f, node, 0)?;
                write!(f, ", {} {}", node.dtype, node.shape)
            }
            Err(error) => write!(f, "(mistake: {})", error.message()),
        }
    }
}

impl<T> fmt::Debug for Expr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any.fmt(f)
    }
}

/// A line, and the storages that it has named, in order.
struct Line {
    known: Vec<usize>,
}

impl Line {
    fn write(&mut self, f: &mut fmt::Formatter<'_>, node: &Arc<Node>, depth: usize) -> fmt::Result {
        let name = match &node.kind {
            NodeKind::Leaf { source: Source::Tensor(storage), .. } => {
                let known = self.known.iter().position(|&known| known == storage.address());
                let number = known.unwrap_or_else(|| {
                    self.known.push(storage.address());
                    self.known.len() - 1
                });
                return write!(f, "x{number}");
            }
            NodeKind::Leaf { source: Source::Scalar(bits), .. } => {
                return write!(f, "{:?}", Constant(node.dtype, *bits));
            }
            NodeKind::Leaf { .. } => return f.write_str("index"),
            NodeKind::Op(crate::ir::Op::Cast) => node.dtype.name(),
            _ => node.name(),
        };
        if depth == DEPTH {
            return write!(f, "{name}(..)");
        }
        write!(f, "{name}(")?;
        for (i, arg) in node.args.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            self.write(f, arg, depth + 1)?;
        }
        f.write_str(")")
    }
}
