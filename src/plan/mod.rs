//! The planner: from a program and its layouts to a kernel and a launch. Pure; no GPU.
//!
//! A plan has two halves. [`Kernel`] is everything that the kernel's text depends on and is the
//! key of the pipeline cache; it holds no size, stride, offset or constant. [`Launch`](launch::Launch) is the
//! rest: those numbers, which travel in a uniform block, and the grid. So a new shape of a known
//! class compiles nothing.
//!
//! Each file uses only those before it: the [`target`] and the [`walk`]s of invocations; [`loops`] over elements; the
//! [`access`] of operands, and the work that a kernel [`makes`] of elements; the [`kernel`]; the [`fields`] of its uniform
//! block, its [`launch`], and the [`cost`] of its text; [`near`] rows; the [`grid`], and the [`reading`] of operands;
//! [`joined`] vectors, and the [`tiling`] of a reduction; the plans of [`elementwise`] programs, of passes of reductions
//! ([`mod@reduce`]) and [`scan`]s, of products of matrices ([`contract`]) and of [`mod@sort`]s; and plans in words
//! ([`explain`]) and pictures ([`picture`]).

mod access;
mod contract;
mod cost;
mod count;
mod elementwise;
mod explain;
mod fields;
mod grid;
mod joined;
mod kernel;
mod launch;
mod loops;
mod makes;
mod near;
mod picture;
mod reading;
mod reduce;
mod scan;
mod sort;
mod target;
mod tiling;
mod walk;

pub(crate) use access::{Access, Store, Stride};
pub(crate) use explain::name as operand_name;
pub(crate) use fields::Field;
pub(crate) use kernel::{Kernel, Operand, Origin, Role};
pub(crate) use launch::{MOST_ELEMENTS, Pass, Place, Plan};
pub(crate) use makes::{
    Contract, Counter, Fused, Makes, Moved, Output, Phase, Reduce, Reduction, Scanned, Scanner, Sorter, Tile,
    VectorAxis,
};
pub(crate) use picture::{Panel, svg};
pub(crate) use scan::ScanWork;
pub(crate) use sort::Run;
pub(crate) use target::{Faults, Target};
pub(crate) use walk::{LANES, Packing, WORKGROUP, Walk};
