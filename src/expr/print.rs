//! Expressions as text, in one line.

use std::fmt;
use std::sync::Arc;

use super::{AnyExpr, Expr, Node, NodeKind, Source};
use crate::dtype::{DType, bf16, f16};

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
            NodeKind::Op(super::Op::Cast) => node.dtype.name(),
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

/// A constant, by its bits.
pub(crate) struct Constant(pub DType, pub u64);

macro_rules! forms {
    ($($form:ident)*) => {$(
        impl fmt::$form for Constant {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Constant(dtype, bits) = *self;
                match dtype {
                    DType::F32 => fmt::$form::fmt(&f32::from_bits(bits as u32), f),
                    DType::F64 => fmt::$form::fmt(&f64::from_bits(bits), f),
                    DType::F16 => fmt::$form::fmt(&f16::from_bits(bits as u16), f),
                    DType::BF16 => fmt::$form::fmt(&bf16::from_bits(bits as u16), f),
                    DType::I8 => fmt::$form::fmt(&(bits as i8), f),
                    DType::I16 => fmt::$form::fmt(&(bits as i16), f),
                    DType::I32 => fmt::$form::fmt(&(bits as i32), f),
                    DType::I64 => fmt::$form::fmt(&(bits as i64), f),
                    DType::U8 | DType::U16 | DType::U32 | DType::U64 => fmt::$form::fmt(&bits, f),
                    DType::Bool => fmt::$form::fmt(&(bits != 0), f),
                }
            }
        }
    )*};
}
forms!(Debug Display);
