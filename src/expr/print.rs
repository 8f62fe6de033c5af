//! Expressions as text, in one line.

use std::fmt;
use std::sync::Arc;

use super::node::Kind;
use super::{AnyExpr, DType, Expr, Node, Source};
use crate::dtype::{bf16, f16};

/// Operations within each other that are written out.
const DEPTH: usize = 6;

impl fmt::Debug for AnyExpr {
    /// The operations, tensors as `x0`, `x1`, ..., and what the result is: `mul(x0, 2.0), f32 [3]`.
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

/// A line with the storages that were named in it, in their order.
struct Line {
    known: Vec<usize>,
}

impl Line {
    fn write(&mut self, f: &mut fmt::Formatter<'_>, node: &Arc<Node>, depth: usize) -> fmt::Result {
        let name = match &node.kind {
            Kind::Leaf { source: Source::Tensor(storage), .. } => {
                let known = self.known.iter().position(|&known| known == storage.address());
                let number = known.unwrap_or_else(|| {
                    self.known.push(storage.address());
                    self.known.len() - 1
                });
                return write!(f, "x{number}");
            }
            Kind::Leaf { source: Source::Scalar(bits), .. } => {
                return f.write_str(&constant(node.dtype, *bits));
            }
            Kind::Leaf { .. } => return f.write_str("index"),
            Kind::Op(super::Op::Cast) => node.dtype.name(),
            Kind::Op(op) => op.name(),
            Kind::Fold(folding) => folding.name(),
            Kind::View(_) => "view",
            Kind::Shared => "shared",
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

/// A constant, by its bits.
pub(crate) fn constant(dtype: DType, bits: u64) -> String {
    match dtype {
        DType::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        DType::F64 => format!("{:?}", f64::from_bits(bits)),
        DType::F16 => format!("{:?}", f16::from_bits(bits as u16)),
        DType::BF16 => format!("{:?}", bf16::from_bits(bits as u16)),
        DType::I8 => (bits as i8).to_string(),
        DType::I16 => (bits as i16).to_string(),
        DType::I32 => (bits as i32).to_string(),
        DType::I64 => (bits as i64).to_string(),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => bits.to_string(),
        DType::Bool => (bits != 0).to_string(),
    }
}
