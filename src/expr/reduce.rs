//! The construction of reductions from reduce ops: axes in runs, ranges without elements or with one, types.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::AnyExpr;
use super::axes::Axes;
use crate::dtype::{DType, Kind};
use crate::error::{Error, ErrorKind, Result, bail};
use crate::ir::{AxisOp, Node, Op, ReduceAxes, ReduceOp, ScanAxis};
use crate::layout::{Layout, Shape};

/// Options of a reduction beside its axes. An option that a reduction lacks changes nothing.
///
/// ```
/// use zerostride::{Device, ReduceOptions};
///
/// let x = Device::cpu().upload(&[1, 2, 3], [3])?;
/// let after = x.cumsum_with(0, ReduceOptions::default().exclusive().reverse());
/// assert_eq!(after.to_vec()?, [5, 3, 0]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReduceOptions {
    /// Whether reduced axes stay, with length 1.
    pub keepdim: bool,
    /// Subtracted from the count that a variance is divided by.
    pub correction: f64,
    /// Whether a cumulative result leaves its own element out.
    pub exclusive: bool,
    /// Whether a cumulative result covers the element and those after it.
    pub reverse: bool,
}

impl ReduceOptions {
    /// Reduced axes stay, with length 1.
    pub fn keepdim(self) -> Self {
        ReduceOptions { keepdim: true, ..self }
    }

    /// Subtracts this from the count that a variance is divided by.
    pub fn correction(self, correction: impl Into<f64>) -> Self {
        ReduceOptions { correction: correction.into(), ..self }
    }

    /// Each cumulative result leaves its own element out, so results move on by one.
    pub fn exclusive(self) -> Self {
        ReduceOptions { exclusive: true, ..self }
    }

    /// Cumulative results go from the end to the begin.
    pub fn reverse(self) -> Self {
        ReduceOptions { reverse: true, ..self }
    }
}

/// The types that a reduction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Float,
    Numeric,
    Bool,
    Element,
}

impl Class {
    pub(super) fn takes(self, dtype: DType) -> bool {
        match self {
            Class::Float => dtype.kind() == Kind::Float,
            Class::Numeric => dtype.kind() != Kind::Bool,
            Class::Bool => dtype == DType::Bool,
            Class::Element => true,
        }
    }

    pub(super) fn check(self, name: &str, dtype: DType) -> Result<()> {
        let all = match self {
            _ if self.takes(dtype) => return Ok(()),
            Class::Float => "floats",
            Class::Numeric => "floats and integers",
            Class::Bool => "bool",
            Class::Element => "every type",
        };
        bail!(Operation, "{name} takes {all}, not {dtype}: cast first")
    }
}

/// An operand in the type that accumulates, with its axes in order.
pub(super) struct Ranges {
    pub name: &'static str,
    pub operand: Arc<Node>,
    pub axes: SmallVec<[usize; 6]>,
    pub options: ReduceOptions,
    part: Part,
    /// The values that the composition has reduced so far, if a part is built.
    pub made: RefCell<Vec<AnyExpr>>,
}

/// The part of a reduction that is built.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Whole,
    /// The values of blocks of this many elements.
    Blocks(usize),
    /// The result from the values of all blocks, which have this many elements together.
    Join(usize),
}

impl Ranges {
    /// `any` of a type of `class` over `axes`, or the first mistake.
    pub(super) fn new(
        name: &'static str,
        class: Class,
        any: &AnyExpr,
        axes: &Axes,
        options: ReduceOptions,
        part: Part,
    ) -> Result<Ranges> {
        let node = any.node()?;
        class.check(name, node.dtype)?;
        if options.correction.is_nan() {
            bail!(Data, "{name} with a correction of NaN: it is subtracted from a number of elements");
        }
        let axes = axes.of(&node.shape, name)?;
        let operand = any.cast(node.dtype.accumulating()).node()?.clone();
        Ok(Ranges { name, operand, axes, options, part, made: RefCell::default() })
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.operand.shape
    }

    /// The elements of a range.
    pub(super) fn count(&self) -> usize {
        if let Part::Join(count) = self.part {
            return count;
        }
        self.axes.iter().map(|&axis| self.shape()[axis]).product()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The operand.
    pub(super) fn values(&self) -> AnyExpr {
        AnyExpr::new(Ok(self.operand.clone()))
    }

    /// A number as a constant of the accumulating type.
    pub(super) fn number(&self, value: f64) -> AnyExpr {
        let bits = match self.operand.dtype {
            DType::F64 => value.to_bits(),
            _ => (value as f32).to_bits().into(),
        };
        AnyExpr::constant(self.operand.dtype, bits)
    }

    /// The number of elements of a range.
    pub(super) fn n(&self) -> AnyExpr {
        // Rounded once: an f64 holds every element count exactly.
        self.number(self.count() as f64)
    }

    /// One value for each range of `values`, which has the operand's shape. The axes keep length 1.
    pub(super) fn reduce(&self, op: ReduceOp, values: &AnyExpr) -> AnyExpr {
        let value = AnyExpr::new(match self.part {
            Part::Whole => return AnyExpr::new(values.node().and_then(|node| self.reduced(op, node))),
            Part::Blocks(length) => values.node().and_then(|node| self.blocks(op, node, length)),
            Part::Join(_) => self.reduced(op, &self.operand),
        });
        self.made.borrow_mut().push(value.clone());
        value
    }

    pub(super) fn reduced(&self, op: ReduceOp, node: &Arc<Node>) -> Result<Arc<Node>> {
        let shape = self.shape();
        if let Some(&axis) = self.axes.iter().find(|&&axis| shape[axis] == 0) {
            if matches!(op, ReduceOp::Min | ReduceOp::Max | ReduceOp::ArgMin | ReduceOp::ArgMax) {
                bail!(Shape, "{} over axis {axis} of {shape}, which has length 0", self.name);
            }
            let reduced = |(axis, &n): (usize, &usize)| if self.axes.contains(&axis) { 1 } else { n };
            let reduced = shape.iter().enumerate().map(reduced).collect();
            return constant(node, node.dtype, op.identity(node.dtype), &reduced);
        }
        if op.row().gives_index && self.count() as u64 > 1 << 32 {
            bail!(
                Overflow,
                "{} of {shape} has more than 2^32 elements in a range, and indices are u32",
                self.name
            );
        }
        let runs = self.runs();
        match runs.as_slice() {
            [] if op.row().gives_index => constant(node, DType::U32, 0, shape),
            [] => self.alone(op, node),
            [.., last] if runs.len() > 1 && !op.is_ordered(node.dtype) => {
                // Neighbours of the last run. The others become one run with it.
                let others = runs[..runs.len() - 1].iter().flat_map(Range::clone);
                let others: SmallVec<[usize; 6]> = others.filter(|axis| self.axes.contains(axis)).collect();
                let stays = |axis: &usize| !others.contains(axis);
                let order: Vec<usize> = (0..last.start)
                    .filter(stays)
                    .chain(others.iter().copied())
                    .chain(last.start..shape.rank())
                    .collect();
                let there: Vec<isize> = order.iter().map(|&axis| axis as isize).collect();
                let mut back = vec![0; order.len()];
                order.iter().enumerate().for_each(|(i, &axis)| back[axis] = i as isize);
                let node = node.view(&|layout| layout.permute(&there))?;
                let axes = last.start - others.len()..last.end;
                let node = Node::along(AxisOp::Reduce(ReduceAxes { op, axes }), &[&node])?;
                node.view(&|layout| layout.permute(&back))
            }
            _ => runs.into_iter().rev().try_fold(node.clone(), |node, axes| {
                Node::along(AxisOp::Reduce(ReduceAxes { op, axes }), &[&node])
            }),
        }
    }

    /// The reduction of one value, whose zero is +0 if it is a sum.
    pub(super) fn alone(&self, op: ReduceOp, node: &Arc<Node>) -> Result<Arc<Node>> {
        if op != ReduceOp::Sum || node.dtype.kind() != Kind::Float {
            return Ok(node.clone());
        }
        let zero = constant(node, node.dtype, 0, &node.shape)?;
        Node::op(Op::Add, node.dtype, &[node, &zero])
    }

    /// Reduced axes that are neighbours, except for axes of length 1 between them, and without such axes at either end.
    pub(super) fn runs(&self) -> SmallVec<[Range<usize>; 2]> {
        let shape = self.shape();
        let mut runs: SmallVec<[Range<usize>; 2]> = SmallVec::new();
        for &axis in self.axes.iter().filter(|&&axis| shape[axis] != 1) {
            match runs.last_mut() {
                Some(run) if shape[run.end..axis].iter().all(|&n| n == 1) => run.end = axis + 1,
                _ => runs.push(axis..axis + 1),
            }
        }
        runs
    }

    /// The values of each range of `values` so far, along the one axis.
    pub(super) fn scan(&self, op: ReduceOp, values: &AnyExpr) -> AnyExpr {
        AnyExpr::new(values.node().and_then(|node| self.scanned(op, node)))
    }

    fn scanned(&self, op: ReduceOp, node: &Arc<Node>) -> Result<Arc<Node>> {
        let shape = self.shape();
        let Some(&axis) = self.axes.first() else {
            bail!(Axis, "{} of {shape} takes one axis", self.name);
        };
        let ReduceOptions { exclusive, reverse, .. } = self.options;
        match shape[axis] {
            0 => Ok(node.clone()),
            1 if exclusive => constant(node, node.dtype, op.identity(node.dtype), shape),
            1 => self.alone(op, node),
            _ => {
                let turned = |node: &Arc<Node>| match reverse {
                    true => node.view(&|layout| layout.flip(axis as isize)),
                    false => Ok(node.clone()),
                };
                turned(&Node::along(AxisOp::Scan(ScanAxis { op, axis, exclusive }), &[&turned(node)?])?)
            }
        }
    }

    /// The result of a composition: of type `gives`, and without the axes unless they are kept.
    pub(super) fn finish(&self, value: &AnyExpr, gives: DType) -> Result<AnyExpr> {
        let any = value.cast(gives);
        any.node()?;
        if self.options.keepdim {
            return Ok(any);
        }
        let squeezed = any.node()?.view(&|layout: &Layout| {
            self.axes.iter().rev().try_fold(layout.clone(), |layout, &axis| layout.squeeze(axis as isize))
        });
        Ok(AnyExpr::new(squeezed))
    }

    /// A count of elements, as u32. An error if it may exceed u32.
    pub(super) fn counts(&self, values: &AnyExpr) -> AnyExpr {
        if self.count() as u64 <= u32::MAX.into() {
            return values.clone();
        }
        let (name, shape) = (self.name, self.shape());
        let text =
            format!("{name} of {shape} has more than 2^32 - 1 elements in a range, and counts are u32");
        AnyExpr::mistake(Error::new(ErrorKind::Overflow, text))
    }
}

/// One value of any shape, on the device of another node.
fn constant(like: &Arc<Node>, dtype: DType, bits: u64, shape: &Shape) -> Result<Arc<Node>> {
    Ok(Node::constant(dtype, bits, Layout::contiguous([])?.broadcast_to(shape)?, like))
}

/// Whether elements are not 0, by their bits, as 0 and 1.
pub(super) fn nonzero(x: &AnyExpr) -> AnyExpr {
    let truth = match x.dtype() {
        Ok(DType::Bool) | Err(_) => x.clone(),
        Ok(dtype) => x.op(Op::Ne, AnyExpr::constant(dtype, 0)),
    };
    truth.cast(DType::U32)
}
