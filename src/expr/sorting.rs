//! Sorts, and results composed of sorts: the order of elements, the greatest ones, medians and quantiles. One node sorts the last axis of elements of 32 or 64 bits ([`Sort`]).
//!
//! Every sort is stable, NaN is the greatest and both zeros are equal. So there is one answer, NumPy's stable one.

use super::both::on_both;
use super::{AnyExpr, Expr, Outside};
use crate::dtype::{DType, Element, Float, Kind};
use crate::error::{Result, bail};
use crate::ir::{AxisOp, Gives, Node, Op, Scalar, Sort};
use crate::layout::{AxisIndex, Layout, Shape};
use std::ops::Range;

/// The value of a quantile that lies between two elements (NumPy `quantile`).
///
/// ```
/// use zerostride::{Between, Device};
///
/// let x = Device::cpu().upload(&[1.0_f32, 2.0, 4.0, 8.0], [4])?;
/// let of = |between| x.quantile(0.5, 0, between).item();
/// assert_eq!((of(Between::Linear)?, of(Between::Lower)?, of(Between::Higher)?), (3.0, 2.0, 4.0));
/// assert_eq!((of(Between::Midpoint)?, of(Between::Nearest)?), (3.0, 4.0));
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Between {
    /// Linear interpolation: `a + (b - a) * t`, or `b - (b - a) * (1 - t)` if `t` is at least 0.5. Each operation is
    /// rounded, and `t` is rounded once. Between equal infinities it is that infinity.
    #[default]
    Linear,
    /// The lower one.
    Lower,
    /// The higher one.
    Higher,
    /// Halfway between both.
    Midpoint,
    /// The nearer one. Halfway between both, the one with the even index.
    Nearest,
}

/// An axis of an operand that is sorted.
struct Axis<'a> {
    name: &'static str,
    any: &'a AnyExpr,
    dtype: DType,
    shape: &'a Shape,
    axis: usize,
}

impl<'a> Axis<'a> {
    fn new(name: &'static str, any: &'a AnyExpr, axis: isize) -> Result<Axis<'a>> {
        let (shape, dtype) = (any.shape()?, any.dtype()?);
        let axis = Layout::contiguous(shape)?.axis(axis)?;
        if u32::try_from(shape[axis]).is_err() {
            bail!(
                Overflow,
                "{name} of {shape} over axis {axis}: an index is u32, so it takes at most 2^32 - 1 elements"
            );
        }
        Ok(Axis { name, any, dtype, shape, axis })
    }

    fn length(&self) -> usize {
        self.shape[self.axis]
    }

    /// Fails where there are no elements to choose one of.
    fn is_not_empty(&self) -> Result<()> {
        match self.length() {
            0 => bail!(Shape, "{} over axis {} of {}, which has length 0", self.name, self.axis, self.shape),
            _ => Ok(()),
        }
    }

    /// The elements as a type of 32 or 64 bits, how many of its low bits may differ, and the number that was added to them.
    fn keys(&self) -> (AnyExpr, u32, Option<Scalar>) {
        let bits = 8 * self.dtype.size() as u32;
        match (self.dtype.kind(), bits) {
            (Kind::Bool, _) => (self.any.cast(DType::U32), 1, None),
            (_, 32 | 64) => (self.any.clone(), bits, None),
            (Kind::Float, _) => (self.any.cast(DType::F32), 32, None),
            (Kind::Signed, _) => {
                let half = Scalar::from(1_i32 << (bits - 1));
                let raised = self.any.cast(DType::I32).op(Op::Add, AnyExpr::scalar(DType::I32, half));
                (raised.cast(DType::U32), bits, Some(half))
            }
            (Kind::Unsigned, _) => (self.any.cast(DType::U32), bits, None),
        }
    }

    /// Elements sorted, or their indices, at some places.
    fn sorted(&self, gives_index: bool, descending: bool, places: Range<usize>) -> Result<AnyExpr> {
        if self.length() < 2 || self.shape.contains(&0) || places.is_empty() {
            let all = match gives_index {
                true => self.any.cast(DType::U32).of_constant(0, self.shape)?,
                false => self.any.clone(),
            };
            return Ok(all.slice(self.axis as isize, places.start as isize..places.end as isize));
        }
        let (keys, bits, added) = self.keys();
        let turned = |any: &AnyExpr| any.transpose(self.axis as isize, -1);
        let keys = turned(&keys);
        let places = [places.start as u32, places.end as u32];
        let gives = if gives_index { Gives::Indices } else { Gives::Values };
        let node = Node::along(AxisOp::Sort(Sort { gives, descending, bits, places }), &[keys.node()?]);
        let sorted = turned(&AnyExpr::new(node));
        Ok(match added {
            _ if gives_index => sorted,
            Some(added) => {
                let added = AnyExpr::scalar(DType::I32, added);
                sorted.cast(DType::I32).op(Op::Sub, &added).cast(self.dtype)
            }
            None => sorted.cast(self.dtype),
        })
    }

    /// The sorted element at a place, without the axis.
    fn place(&self, sorted: &AnyExpr, place: usize) -> AnyExpr {
        let (axis, place) = (self.axis as isize, place as isize);
        sorted.slice(axis, place..place + 1).squeeze(axis)
    }

    /// The quantile at an index of the sorted elements, which need not be whole.
    fn between(&self, virtual_index: f64, between: Between) -> Result<AnyExpr> {
        if self.dtype.kind() != Kind::Float {
            bail!(Operation, "{} takes floats, not {}: cast first", self.name, self.dtype);
        }
        self.is_not_empty()?;
        let accumulating = self.dtype.accumulating();
        let wide = self.any.cast(accumulating);
        let lower = virtual_index.floor();
        let (index, weight) = match between {
            Between::Linear => (lower, virtual_index - lower),
            Between::Lower => (lower, 0.0),
            Between::Higher => (virtual_index.ceil(), 0.0),
            Between::Midpoint => (lower, if lower == virtual_index { 0.0 } else { 0.5 }),
            Between::Nearest => (virtual_index.round_ties_even(), 0.0),
        };
        let index = index as usize;
        let places = index..index + 1 + usize::from(weight != 0.0);
        let sorted = Axis { any: &wide, dtype: accumulating, ..*self }.sorted(false, false, places)?;
        let a = self.place(&sorted, 0);
        let found = if weight == 0.0 {
            a
        } else {
            let b = self.place(&sorted, 1);
            let number = |value: f64| AnyExpr::scalar(accumulating, Scalar::from(value));
            // Equal infinities have no distance.
            let apart = b.op(Op::Eq, &a).select(number(0.0), b.op(Op::Sub, &a));
            match (self.name, weight < 0.5) {
                ("median", _) => a.op(Op::Add, &b).op(Op::Div, number(2.0)),
                (_, true) => a.op(Op::Add, apart.op(Op::Mul, number(weight))),
                (_, false) => b.op(Op::Sub, apart.op(Op::Mul, number(1.0 - weight))),
            }
        };
        // One NaN makes the result NaN.
        let is_nan = wide.amax(self.axis).map(Op::IsNan);
        Ok(is_nan.select(AnyExpr::scalar(accumulating, f64::NAN), found).cast(self.dtype))
    }
}

/// Indices along one axis, each at its own place along the others.
pub(super) struct Along<'a> {
    indices: &'a AnyExpr,
    pub(super) axis: usize,
}

impl<'a> Along<'a> {
    pub(super) fn new(name: &str, any: &AnyExpr, indices: &'a AnyExpr, axis: isize) -> Result<Along<'a>> {
        let (shape, own) = (any.shape()?, indices.shape()?);
        let axis = Layout::contiguous(shape)?.axis(axis)?;
        if shape.rank() != own.rank() {
            bail!(Shape, "{name} of {shape} at indices of {own}: the ranks must be equal");
        }
        Ok(Along { indices, axis })
    }

    /// The places of a shape as indices of each axis.
    pub(super) fn places(&self, all: &Shape) -> Vec<AnyExpr> {
        let place = |k: usize| match k == self.axis {
            true => self.indices.broadcast_to(all.clone()),
            false => AnyExpr::coordinate(all.clone(), k as isize),
        };
        (0..all.rank()).map(place).collect()
    }
}

impl AnyExpr {
    fn sorted(&self, name: &'static str, axis: isize, descending: bool) -> Result<AnyExpr> {
        let axis = Axis::new(name, self, axis)?;
        axis.sorted(name.starts_with("arg"), descending, 0..axis.length())
    }

    fn along(&self, indices: &AnyExpr, axis: isize) -> Result<AnyExpr> {
        let along = Along::new("take_along", self, indices, axis)?;
        let (shape, own) = (self.shape()?, indices.shape()?);
        let all = crate::layout::numpy(&[shape.with(along.axis, own[along.axis]), own.clone()])?;
        let table = self.broadcast_to(all.with(along.axis, shape[along.axis]));
        table.looked_up(along.places(&all), Outside::Nearest)
    }
}

on_both! {
    /// Sorts, and results composed of sorts. They are stable, NaN is the greatest and zeros are equal, so every device
    /// returns NumPy's stable answer.
    examples of f32 ["[3.0_f32, 1.0, 2.0, 1.0], [4]", "# use zerostride::Between;", "let i = device.upload(&[0, -1], [2])?;"];

    /// The elements sorted along an axis, the least first (NumPy `sort` with `kind="stable"`). To sort by several keys, sort
    /// by the last of them first.
    sort(axis: impl AxisIndex) -> T, "x.sort(0)" => "[1.0, 1.0, 2.0, 3.0]", |x| x.sorted("sort", axis.signed(), false);
    /// The elements sorted along an axis, the greatest first. Equal elements stay in their order.
    sort_descending(axis: impl AxisIndex) -> T, "x.sort_descending(0)" => "[3.0, 2.0, 1.0, 1.0]",
        |x| x.sorted("sort", axis.signed(), true);
    /// The indices along an axis that sort it, the least element first: `take_along` of them is `sort` (NumPy `argsort`
    /// with `kind="stable"`).
    argsort(axis: impl AxisIndex) -> u32, "x.argsort(0)" => "[1, 3, 2, 0]", |x| x.sorted("argsort", axis.signed(), false);
    /// The indices along an axis that sort it, the greatest element first. Equal elements stay in their order.
    argsort_descending(axis: impl AxisIndex) -> u32, "x.argsort_descending(0)" => "[0, 2, 1, 3]",
        |x| x.sorted("argsort", axis.signed(), true);
    /// For each index the element at it along an axis, at the same place along the other axes, which broadcast (NumPy
    /// `take_along_axis`; PyTorch `gather`). Negative indices count from the end. An index outside of the axis reads the
    /// nearest element.
    #[doc(alias = "gather")]
    take_along(indices: impl Into<AnyExpr>, axis: impl AxisIndex) -> T, "x.take_along(&i, 0)" => "[3.0, 1.0]",
        let indices = indices.into(), |x| x.along(&indices, axis.signed());
    /// The median along an axis, which is removed: for an even number of elements, the mean of the two in the middle. It is
    /// NaN if an element is NaN (NumPy `median`). f16 and bf16 are computed in f32 and rounded once.
    ///
    /// An axis without elements is an error.
    median(axis: impl AxisIndex) -> T where Float, "x.median(0)" => "[1.5]", |x| {
        let axis = Axis::new("median", x, axis.signed());
        axis.and_then(|axis| axis.between((axis.length().max(1) - 1) as f64 / 2.0, Between::Linear))
    };
    /// The quantile `q`, from 0 to 1, along an axis, which is removed: the sorted element at index `q * (n - 1)`, which is
    /// computed in f64. It is NaN if an element is NaN (NumPy `quantile` and `percentile`). f16 and bf16 are computed in f32
    /// and rounded once.
    ///
    /// A `q` outside of 0 to 1 and an axis without elements are errors.
    #[doc(alias = "percentile")]
    quantile(q: f64, axis: impl AxisIndex, between: Between) -> T where Float, "x.quantile(0.25, 0, Between::Linear)" => "[1.0]",
        |x| Axis::new("quantile", x, axis.signed()).and_then(|axis| match (0.0..=1.0).contains(&q) {
            true => axis.between(q * (axis.length().max(1) - 1) as f64, between),
            false => bail!(Data, "a quantile of {q}: it is from 0 to 1"),
        });
    /// The `k` greatest elements along an axis, the greatest first, and their indices (PyTorch and ONNX `TopK`). Of equal
    /// elements the first comes first.
    ///
    /// A `k` above the length of the axis is an error.
    topk(k: usize, axis: impl AxisIndex) -> (T, (AnyExpr, AnyExpr) | (Expr<T>, Expr<u32>)), "x.topk(2, 0).0" => "[3.0, 2.0]", |x| {
        let own = Axis::new("topk", x, axis.signed())?;
        let (n, axis) = (own.length(), own.axis);
        if k > n {
            bail!(Shape, "topk {k} over axis {axis} of {}, which has length {n}: k goes from 0 to {n}", own.shape);
        }
        let indices = own.sorted(true, true, 0..k)?;
        Ok((x.take_along(&indices, axis), indices))
    };
    /// The `k`-th least element along an axis, from 1 on, and its index, without the axis (PyTorch `kthvalue`). Of equal
    /// elements the first comes first.
    ///
    /// A `k` of 0 or above the length of the axis is an error.
    kthvalue(k: usize, axis: impl AxisIndex) -> (T, (AnyExpr, AnyExpr) | (Expr<T>, Expr<u32>)), "x.kthvalue(3, 0).0" => "[2.0]", |x| {
        let own = Axis::new("kthvalue", x, axis.signed())?;
        let (n, axis) = (own.length(), own.axis);
        if !(1..=n).contains(&k) {
            bail!(Shape, "kthvalue {k} over axis {axis} of {}, which has length {n}: k goes from 1 to {n}", own.shape);
        }
        let indices = own.sorted(true, false, k - 1..k)?;
        Ok((x.take_along(&indices, axis).squeeze(axis), indices.squeeze(axis)))
    };
}
