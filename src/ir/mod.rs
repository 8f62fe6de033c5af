//! Expressions as data: the tables of ops and reductions, the graph of nodes, and programs of steps for devices.
//!
//! Each file uses only those before it: the table of ops ([`mod@op`]), [`scalar`]s, checked and [`written`] functions
//! of users, [`value`]s, a [`small_map`], [`kept`] results, random words ([`philox`]), cubics of [`normal`] numbers and [`answers`] of devices;
//! [`callee`]s, the table of reductions ([`mod@reduce`]), keys that [`sort`] elements, and [`typing`]; operations along
//! axes ([`axis_op`]); the [`body`] of a step; the types of the [`graph`]; their methods ([`node`], [`program`], [`storage`]) the [`fingerprint`] of an
//! expression, and the [`plans`] of fingerprints; the [`builder`] of programs; programs of [`parts`] of others, of
//! products ([`contract`]) and of nodes ([`flatten`], [`rows`]), and programs in [`total`] mode; and a schedule's [`stage`].

mod answers;
mod axis_op;
mod body;
mod builder;
mod callee;
mod constant;
mod contract;
mod fingerprint;
mod flatten;
mod graph;
mod kept;
mod node;
pub(crate) mod normal;
mod op;
mod parts;
pub(crate) mod philox;
mod plans;
mod program;
mod reduce;
mod rows;
mod scalar;
mod small_map;
mod sort;
mod stage;
mod storage;
mod total;
mod typing;
#[cfg(feature = "gpu")]
mod validated;
mod value;
mod written;

pub(crate) use answers::{Explanation, HostBytes, Outcome, PIECE, Reading, Times};
pub use answers::{KernelTime, Memory};
pub(crate) use axis_op::{AxisOp, ByKey, Contract, Operands, ReduceAxes, ScanAxis, Segments};
pub(crate) use body::{Body, Loop, Step, needed, numbered};
pub(crate) use builder::{ProgramBuilder, Steps};
pub use callee::AnyFunction;
pub(crate) use callee::{Inner, Run, list};
pub(crate) use constant::Constant;
pub(crate) use contract::Product;
pub(crate) use flatten::Known;
pub(crate) use graph::{
    Backend, BindingRange, Bounds, Destination, Extent, Fingerprint, Input, Join, Leaves, Node, NodeKind,
    Program, ProgramKind, Results, RowFused, RowReduction, Schedule, Slot, Source, Stage, Storage,
};
pub(crate) use kept::Kept;
pub(crate) use node::LoopTable;
pub use op::Math;
pub(crate) use op::{Nature, Op, ROWS, cost, for_each_op, is_costly};
pub(crate) use plans::Plans;
pub(crate) use program::{Frame, MOST_TURNS};
pub(crate) use reduce::{ACCUMULATORS, BLOCK, CHUNK, GROUP, LONGEST_PRODUCT, ReduceOp, for_each_reduce_op};
pub(crate) use rows::{Joined, Levels};
pub use scalar::Scalar;
pub(crate) use scalar::limits;
pub(crate) use sort::{Gives, KeyKind, Sort};
pub(crate) use typing::{operand_type, result_type, takes_no};
pub(crate) use value::{ByValue, Value};
pub(crate) use written::Written;
