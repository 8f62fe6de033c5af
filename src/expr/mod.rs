//! Expressions, as programs build them: the public face of the graph of [`ir`](crate::ir).
//!
//! Each file uses only those before it: [`axes`] and [`compat`]; the builder ([`any`]); its typed face ([`build`]) and
//! the construction of reductions ([`mod@reduce`]); methods of both faces ([`both`]); everything else that builds, and printing ([`mod@print`]); products
//! by an equation ([`einsum`]); [`sorting`], [`searching`] and [`selecting`] by it, [`runs`] of equal keys and [`scattering`] by that; and the list of
//! [`ops`].

mod aliases;
mod any;
mod axes;
mod both;
mod build;
mod checksum;
mod compat;
mod composed;
mod einsum;
mod function;
mod gaps;
mod generators;
mod joining;
mod lookup;
mod operators;
mod ops;
mod partial;
mod print;
mod products;
mod random;
mod reduce;
mod reductions;
mod repeat;
mod runs;
mod scattering;
mod searching;
mod selecting;
mod sorting;
mod turn;
mod views;

pub use any::AnyExpr;
pub use axes::{Axes, IntoAxes, IntoAxis};
pub(crate) use both::{Face, built, on_both, operand, read, typed, untyped};
pub use build::{Expr, IntoExpr};
pub use compat::warn_on_reinterpreted_shapes;
pub use composed::{Composition, compositions};
pub use function::{Closure, Function, FunctionElement};
pub use joining::Pad;
pub use lookup::{IntoIndices, Outside};
pub(crate) use operators::{binary, for_each_operator, operators, unary};
pub use ops::{Operation, operations};
pub use random::Key;
pub use reduce::ReduceOptions;
pub use reductions::{Reduction, reductions};
pub use repeat::LoopState;
pub(crate) use runs::Runs;
pub use scattering::{Keys, Update};
pub use searching::Side;
pub(crate) use selecting::bits;
pub use sorting::Between;
