//! The planner: from a program and its layouts to a kernel and a launch. Pure; no GPU.
//!
//! A plan has two halves. [`Kernel`] is everything that the kernel's text depends on and is the
//! key of the pipeline cache; it holds no size, stride, offset or constant. [`Launch`](launch::Launch) is the
//! rest: those numbers, which travel in a uniform block, and the grid. So a new shape of a known
//! class compiles nothing.
//!
//! A kernel is a head, which is its bindings and workgroups; the code of the program that it computes; and a form: what
//! it does with the elements, and the numbers that it alone has.
//!
//! Each file uses only those before it: the [`walk`]s of invocations; [`loops`] over elements, the [`numbers`] of launches,
//! and the [`target`]; the [`access`] of operands, and the [`form`] of a kernel; the [`kernel`]; the [`fields`] of its
//! uniform block, its [`launch`], and the [`cost`] of its text; [`near`] rows; the [`grid`], the [`reading`] of operands,
//! and the [`tiling`] of a reduction; [`joined`] vectors, and the [`builder`] of plans; the plans of [`elementwise`]
//! programs, of passes of reductions ([`mod@reduce`]) and [`scan`]s, of products of matrices ([`contract`]), of
//! [`mod@count`]s, of [`mod@sort`]s and of writes of rows ([`put`]); and plans in words ([`explain`]) and pictures ([`picture`]).

mod access;
mod builder;
mod contract;
mod cost;
mod count;
mod elementwise;
mod explain;
mod fields;
mod form;
mod grid;
mod joined;
mod kernel;
mod launch;
mod loops;
mod near;
mod numbers;
mod picture;
mod put;
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
pub(crate) use form::{
    Contract, Count, Elements, Form, Fused, Moved, Output, Pass, Phase, Reduce, Reduction, Scan, Scanned,
    Sort, Tile, VectorAxis,
};
pub(crate) use kernel::{Binding, Code, Kernel, Operand, Origin, Role};
pub(crate) use launch::{MOST_ELEMENTS, Place, Plan};
pub(crate) use numbers::SortNumbers;
pub(crate) use picture::{Panel, svg};
pub(crate) use scan::ScanWork;
pub(crate) use target::{Faults, Target};
pub(crate) use walk::{LANES, Packing, WORKGROUP, Walk};
