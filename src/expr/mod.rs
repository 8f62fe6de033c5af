//! Expressions: the op table, the graph that operators build, and its flat form for devices.
//!
//! Each file uses only those before it: the table of ops ([`mod@op`]), a [`scalar`], [`axes`], a function as it is
//! `validated` and [`written`], a [`small_map`], what is [`kept`], and what devices give as [`answers`]; a [`callee`], the table of folds
//! ([`mod@fold`]) and [`typing`]; the [`body`] of a step; the types of the [`graph`]; what they do ([`node`],
//! [`program`], [`parts`], [`storage`]), the [`form`] of an expression and [`compat`]; the builder ([`any`]), and how
//! nodes are made flat ([`flatten`], [`rows`]); its typed face ([`build`]) and how it will [`reduce`]; all else that
//! builds, and how it is printed ([`mod@print`]); and the list of [`ops`].

mod answers;
mod any;
mod axes;
mod body;
mod build;
mod callee;
mod compat;
mod composed;
mod flatten;
mod fold;
mod form;
mod function;
mod generators;
mod graph;
mod joining;
mod kept;
mod lookup;
mod node;
mod op;
mod operators;
mod ops;
mod parts;
mod print;
mod program;
mod random;
mod reduce;
mod reductions;
mod repeat;
mod rows;
mod scalar;
mod small_map;
mod storage;
mod typing;
#[cfg(feature = "gpu")]
mod validated;
mod views;
mod written;

pub(crate) use answers::{HostBytes, Outcome, PIECE, Reading, Times, Told};
pub use answers::{KernelTime, Memory};
pub use any::AnyExpr;
pub use axes::{Axes, IntoAxes};
pub(crate) use body::{Body, Loop, Step, Value};
pub use build::{Expr, IntoExpr};
pub use callee::AnyFunction;
pub use compat::warn_on_reinterpreted_shapes;
pub use composed::{Composition, compositions};
pub(crate) use flatten::Known;
pub(crate) use fold::{BLOCK, Fold, Folding, GROUP, Scan, for_each_fold};
pub(crate) use form::{Form, Leaves};
pub use function::{Closure, Function, FunctionElement};
pub(crate) use graph::{
    Backend, Extent, Input, Joining, Node, NodeKind, Program, RowFold, Rows, Source, Storage,
};
pub use joining::Pad;
pub(crate) use kept::Kept;
pub use lookup::Outside;
pub use op::Math;
pub(crate) use op::{Nature, Op, ROWS, cost, for_each_op, is_costly};
pub(crate) use operators::{binary, for_each_operator, operators, unary};
pub use ops::{Operation, operations};
pub(crate) use print::Constant;
pub(crate) use program::Frame;
pub use random::Key;
pub(crate) use random::philox;
pub use reduce::ReduceOptions;
pub use reductions::{Reduction, reductions};
pub use repeat::LoopState;
pub(crate) use repeat::MOST_TURNS;
pub(crate) use rows::{Found, Joined, Levels};
pub use scalar::Scalar;
pub(crate) use storage::Declared;
