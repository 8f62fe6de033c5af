//! Sorts, and results composed of sorts: the order of elements, the greatest ones, medians and quantiles. One node sorts the last axis of elements of 32 or 64 bits ([`Sort`]).
//!
//! Every sort is stable, NaN is the greatest and both zeros are equal. So there is one answer, NumPy's stable one.

use super::axes::IntoAxis;
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
/// let of = |between| x.quantile_with(0.5, 0, between).item();
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

    /// The elements in the type that computes their quantiles.
    fn accumulating(&self) -> Result<(AnyExpr, DType)> {
        if self.dtype.kind() != Kind::Float {
            bail!(Operation, "{} takes floats, not {}: cast first", self.name, self.dtype);
        }
        self.is_not_empty()?;
        let accumulating = self.dtype.accumulating();
        Ok((self.any.cast(accumulating), accumulating))
    }

    /// The quantile of the elements that are not NaN, whose number differs from row to row.
    fn between_valid(&self, q: f64, between: Between) -> Result<AnyExpr> {
        let (wide, accumulating) = self.accumulating()?;
        let (axis, word) = (self.axis as isize, |value: u32| AnyExpr::scalar(DType::U32, value));
        let number = |value: f64| AnyExpr::scalar(accumulating, Scalar::from(value));
        let last = wide.count_valid_keepdim(axis).op(Op::Max, word(1)).op(Op::Sub, word(1));
        let (lower, part) = scaled(&last, q);
        let weight = part.cast(accumulating).op(Op::Mul, number(2_f64.powi(-32)));
        let (half, is_whole) = (word(1 << 31), part.op(Op::Eq, word(0)));
        let (one, zero) = (number(1.0), number(0.0));
        let weight = match between {
            Between::Linear => weight,
            Between::Lower => zero,
            Between::Higher => is_whole.select(zero, one),
            Between::Midpoint => is_whole.select(zero, number(0.5)),
            Between::Nearest => {
                let is_odd = lower.op(Op::And, word(1)).op(Op::Eq, word(1));
                let is_up = part.op(Op::Gt, &half).op(Op::Or, part.op(Op::Eq, &half).op(Op::And, is_odd));
                is_up.select(one, zero)
            }
        };
        let sorted =
            Axis { any: &wide, dtype: accumulating, ..*self }.sorted(false, false, 0..self.length())?;
        let a = sorted.take_along(&lower, axis);
        let b = sorted.take_along(lower.op(Op::Add, word(1)).op(Op::Min, &last), axis);
        let apart = b.op(Op::Eq, &a).select(number(0.0), b.op(Op::Sub, &a));
        let found = match self.name {
            "nanmedian" => is_whole.select(&a, a.op(Op::Add, &b).op(Op::Div, number(2.0))),
            _ => {
                let below = a.op(Op::Add, apart.op(Op::Mul, &weight));
                let above = b.op(Op::Sub, apart.op(Op::Mul, number(1.0).op(Op::Sub, &weight)));
                let near = weight.op(Op::Lt, number(0.5)).select(below, above);
                // Without a weight the element itself, also beside an infinity.
                weight.op(Op::Eq, number(0.0)).select(&a, weight.op(Op::Eq, number(1.0)).select(&b, near))
            }
        };
        Ok(found.squeeze(axis).cast(self.dtype))
    }

    /// The quantile `q`, at an index of the sorted elements that need not be whole.
    fn between(&self, q: f64, between: Between) -> Result<AnyExpr> {
        let (wide, accumulating) = self.accumulating()?;
        let virtual_index = q * (self.length() - 1) as f64;
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
        let is_nan = wide.max(self.axis).map(Op::IsNan);
        Ok(is_nan.select(AnyExpr::scalar(accumulating, f64::NAN), found).cast(self.dtype))
    }
}

/// `q * n` as a whole number and 2^32nds of 1, rounded to these, of n as u32. So `0.7 * 10` is 7, as in floating point.
fn scaled(n: &AnyExpr, q: f64) -> (AnyExpr, AnyExpr) {
    let word = |value: u32| AnyExpr::scalar(DType::U32, value);
    if q >= 1.0 {
        return (n.clone(), n.op(Op::Mul, word(0)));
    }
    // The upper 32 bits of a product of words, from products of halves.
    let upper = |c: u32| {
        let of = |x: &AnyExpr, half: u32| x.op(Op::Mul, word(half));
        let high = |x: &AnyExpr| x.op(Op::Shr, word(16));
        let (low, half) = (word(0xffff), [c & 0xffff, c >> 16]);
        let (n_low, n_high) = (n.op(Op::And, &low), high(n));
        let a = of(&n_low, half[1]).op(Op::Add, high(&of(&n_low, half[0])));
        let b = of(&n_high, half[0]).op(Op::Add, a.op(Op::And, &low));
        of(&n_high, half[1]).op(Op::Add, high(&a)).op(Op::Add, high(&b))
    };
    let fixed = (q * 2_f64.powi(64)) as u64;
    let [c_high, c_low] = [(fixed >> 32) as u32, fixed as u32];
    let below = upper(c_low).op(Op::Add, n.op(Op::Mul, word(c_low)).op(Op::Shr, word(31)));
    let part = n.op(Op::Mul, word(c_high)).op(Op::Add, &below);
    let carry = part.op(Op::Lt, &below).cast(DType::U32);
    (upper(c_high).op(Op::Add, carry), part)
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
            false => AnyExpr::iota(all.clone(), k as isize),
        };
        (0..all.rank()).map(place).collect()
    }
}

impl AnyExpr {
    fn sorted(&self, name: &'static str, axis: isize, descending: bool) -> Result<AnyExpr> {
        let axis = Axis::new(name, self, axis)?;
        axis.sorted(name.starts_with("arg"), descending, 0..axis.length())
    }

    fn quantile_along(
        &self,
        name: &'static str,
        q: f64,
        axis: impl IntoAxis,
        between: Between,
    ) -> Result<AnyExpr> {
        let (x, axis) = self.along_one(axis);
        let axis = Axis::new(name, &x, axis)?;
        match (0.0..=1.0).contains(&q) {
            true if name == "nanquantile" => axis.between_valid(q, between),
            true => axis.between(q, between),
            false => bail!(Data, "a quantile of {q}: it is from 0 to 1"),
        }
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
    median(axis: impl IntoAxis) -> T where Float, "x.median(0)" => "[1.5]", |x| {
        let (x, axis) = x.along_one(axis);
        let axis = Axis::new("median", &x, axis)?;
        axis.between(0.5, Between::Linear)
    };
    /// The median of the elements along an axis that are not NaN, as [`median`](Self::median); NaN if there are none
    /// (NumPy `nanmedian`).
    nanmedian(axis: impl IntoAxis) -> T where Float, "x.nanmedian(0)" => "[1.5]", |x| {
        let (x, axis) = x.along_one(axis);
        Axis::new("nanmedian", &x, axis)?.between_valid(0.5, Between::Linear)
    };
    /// [`quantile_with`](Self::quantile_with) by [`Between::Linear`], as NumPy and PyTorch have it without a method.
    quantile(q: f64, axis: impl IntoAxis) -> T where Float, "x.quantile(0.25, ..)" => "[1.0]",
        |x| x.quantile_along("quantile", q, axis, Between::Linear);
    /// The quantile `q`, from 0 to 1, along an axis, which is removed: the sorted element at index `q * (n - 1)`, which is
    /// computed in f64. It is NaN if an element is NaN (NumPy `quantile` and `percentile`). f16 and bf16 are computed in f32
    /// and rounded once.
    ///
    /// A `q` outside of 0 to 1 and an axis without elements are errors.
    #[doc(alias = "percentile")]
    quantile_with(q: f64, axis: impl IntoAxis, between: Between) -> T where Float, "x.quantile_with(0.25, 0, Between::Higher)" => "[1.0]",
        |x| x.quantile_along("quantile", q, axis, between);
    /// The quantile of the elements along an axis that are not NaN, as [`quantile`](Self::quantile), at an index that is
    /// rounded to 2^-32; NaN if there are none (NumPy `nanquantile` and `nanpercentile`).
    nanquantile(q: f64, axis: impl IntoAxis) -> T where Float, "x.nanquantile(0.25, 0)" => "[1.0]",
        |x| x.quantile_along("nanquantile", q, axis, Between::Linear);
    /// [`nanquantile`](Self::nanquantile) by a rule of [`Between`].
    nanquantile_with(q: f64, axis: impl IntoAxis, between: Between) -> T where Float,
        "x.nanquantile_with(0.25, 0, Between::Higher)" => "[1.0]",
        |x| x.quantile_along("nanquantile", q, axis, between);
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
