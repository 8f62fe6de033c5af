//! Expressions: the op table, the graph that operators build, and its flat form for devices.

mod any;
mod axes;
mod build;
mod compat;
mod composed;
mod flatten;
mod fold;
mod kept;
mod node;
mod op;
mod operators;
mod ops;
mod parts;
mod print;
mod program;
mod reduce;
mod reductions;
mod rows;
mod scalar;
mod small_map;
mod storage;
mod typing;
mod views;

pub use any::AnyExpr;
pub use axes::{Axes, IntoAxes};
pub use build::{Expr, IntoExpr};
pub use compat::warn_on_reinterpreted_shapes;
pub use composed::{Composition, compositions};
pub(crate) use flatten::Known;
pub(crate) use fold::{BLOCK, Fold, Folding, GROUP, Scan, for_each_fold};
pub(crate) use kept::Kept;
pub(crate) use node::{Kind, Node, Source};
pub use op::Math;
pub(crate) use op::{Nature, Op, ROWS, cost, for_each_op};
pub(crate) use operators::{binary, for_each_operator, operators, unary};
pub use ops::{Operation, operations};
pub(crate) use print::Constant;
pub(crate) use program::{Input, Program, Step, Value};
pub use reduce::ReduceOptions;
pub use reductions::{Reduction, reductions};
pub(crate) use rows::{Found, Frame, Joined, RowFold, Rows};
pub use scalar::Scalar;
pub(crate) use storage::{Backend, Declared, HostBytes, PIECE, Reading, Storage, Told};
pub use storage::{KernelTime, Memory};

pub(crate) use crate::dtype::DType;
