//! Results whose shapes depend on values. They are evaluated: one count is read, and the elements stay on the device.

use super::{AnyTensor, Tensor};
use crate::device::Device;
use crate::dtype::{DType, Element, Float, Kind};
use crate::error::{Result, bail};
use crate::expr::{AnyExpr, Expr, Face, IntoExpr, ReduceOptions, Side, on_both};
use crate::ir::{Op, Scalar};
use crate::layout::{AxisIndex, Integers};

/// The result of [`unique`](Expr::unique) and [`unique_along`](Expr::unique_along).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unique<V, I> {
    /// The different elements or slices, sorted.
    pub values: V,
    /// How often each of them occurs.
    pub counts: I,
    /// For each element, in the operand's shape, or each slice, the index of its value.
    pub inverse: I,
    /// The row-major place of the first element with each value, or the index of the first slice.
    pub indices: I,
}

impl<T: Element> Face<Unique<AnyTensor, AnyTensor>> for Unique<Tensor<T>, Tensor<u32>> {
    fn face(untyped: Unique<AnyTensor, AnyTensor>) -> Self {
        let Unique { values, counts, inverse, indices } = untyped;
        let [counts, inverse, indices] = [counts, inverse, indices].map(Tensor::face);
        Unique { values: Tensor::face(values), counts, inverse, indices }
    }
}

/// The most bins of a histogram.
const MOST_BINS: usize = 1 << 24;

impl AnyExpr {
    /// The row-major numbers of true elements, or other elements at these places. Their count is read back.
    fn true_places(&self, moved: Option<&AnyExpr>) -> Result<AnyExpr> {
        let mask = self.eval()?;
        let count = mask.reduce("count_nonzero", .., ReduceOptions::default()).to_vec::<u32>()?;
        let all = mask.true_first(moved, count[0] as usize)?;
        Ok(all.slice(0, 0..count[0] as isize))
    }

    /// The different slices along an axis, by a key of each. `inverse` has these lengths.
    fn distinct(
        &self,
        keys: &AnyExpr,
        axis: isize,
        lengths: impl Integers,
    ) -> Result<Unique<AnyTensor, AnyTensor>> {
        let (n, order) = (keys.shape()?[0], keys.argsort(0).eval()?);
        let is_new = keys.take(&order, 0).eval()?.is_new()?.eval()?;
        let first = is_new.true_places(None)?.eval()?;
        let end = AnyExpr::scalar(DType::U32, n as u64).broadcast_to([1]);
        let ends = AnyExpr::concat(&[first.expr(), end], 0);
        let counts = ends.slice(0, 1..).op(Op::Sub, first.expr());
        let indices = order.take(&first, 0).eval()?;
        Ok(Unique {
            values: self.take(&indices, axis).eval()?,
            counts: counts.eval()?,
            inverse: is_new.numbered_back(&order)?.reshape(lengths).eval()?,
            indices,
        })
    }

    /// The number of each element's bin, as u32 along one axis, and the edges of the bins, which have equal width.
    fn binned(&self, device: &Device, bins: usize, (low, high): (f64, f64)) -> Result<(AnyExpr, AnyTensor)> {
        let dtype = self.dtype()?;
        if dtype.kind() != Kind::Float {
            bail!(Operation, "histogram takes floats, not {dtype}: cast first");
        }
        if !(low <= high && low.is_finite() && high.is_finite()) {
            bail!(Data, "a histogram from {low} to {high}: the bounds are finite and do not decrease");
        }
        if !(high - low).is_finite() {
            bail!(Data, "a histogram from {low} to {high}: the distance overflows, so scale the elements");
        }
        // The host computes the edges.
        if !(1..=MOST_BINS).contains(&bins) {
            bail!(Limit, "a histogram of {bins} bins: it takes 1 to {MOST_BINS}");
        }
        let (low, high) = if low == high { (low - 0.5, high + 0.5) } else { (low, high) };
        let step = (high - low) / bins as f64;
        let edge = |i: usize| if i == bins { high } else { i as f64 * step + low };
        let mut bytes = Vec::with_capacity((bins + 1) * dtype.size());
        for i in 0..=bins {
            bytes.extend(&Scalar::from(edge(i)).to_bits(dtype)?.to_le_bytes()[..dtype.size()]);
        }
        let edges = device.upload_bytes(&bytes, dtype, [bins + 1])?;
        let flat = self.flat()?;
        let (wide, unit) = match dtype {
            DType::F64 => (dtype, f64::EPSILON),
            DType::F32 => (dtype, f32::EPSILON.into()),
            _ => (DType::F32, 1.0 / 128.0),
        };
        let number = |value: f64| AnyExpr::scalar(wide, value);
        // Rounding moves an element by less than half a bin, so of the edges the nearest one decides.
        let place = if (low.abs() + high.abs()) * unit * 8.0 < step && bins < 1 << 20 {
            let distance = flat.cast(wide).op(Op::Sub, number(low)).op(Op::Mul, number(1.0 / step));
            let nearest = distance.map(Op::Round);
            // An edge is computed where that makes the same bits, and else looked up.
            let is_same = |i: usize| {
                let distance = i as f32 * step as f32;
                let own = distance + low as f32;
                // Adapters may flush subnormal numbers.
                own == edge(i) as f32 && [distance, own].iter().all(|x| *x == 0.0 || x.is_normal())
            };
            let bin = nearest.cast(DType::I32).op(Op::Max, AnyExpr::scalar(DType::I32, -1));
            let edge = match dtype == DType::F32 && (0..=bins).all(is_same) {
                true => nearest.op(Op::Mul, number(step)).op(Op::Add, number(low)),
                false => edges.take(&bin, 0),
            };
            bin.op(Op::Sub, flat.op(Op::Lt, &edge).cast(DType::I32))
        } else {
            let after = edges.searchsorted(&flat, Side::Right).cast(DType::I32);
            after.op(Op::Sub, AnyExpr::scalar(DType::I32, 1))
        };
        // The last bin has both edges. Elements below the first one have a negative place.
        let place = place.op(Op::Min, AnyExpr::scalar(DType::I32, bins as u64 - 1));
        let is_inside = flat.op(Op::Le, AnyExpr::scalar(dtype, high));
        Ok((is_inside.select(place, AnyExpr::scalar(DType::I32, -1)).cast(DType::U32), edges))
    }
}

on_both! {
    /// Histograms. The elements are evaluated, and nothing is read back.
    examples of f32 ["[0.0_f32, 0.1, 0.5, 1.0, 7.0], [5]", "let y = x.flip(0);"];

    /// The number of elements in each of `bins` bins of equal width between two numbers, and the `bins + 1` edges (NumPy
    /// `histogram`). A bin includes its lower edge, and the last bin includes both. Elements outside are not counted. The
    /// edges are computed in f64 and rounded to the type.
    ///
    /// # Errors
    /// Without bins; when the range is not finite or its end is below its start; and as [`eval`](Self::eval).
    histogram(bins: usize, range: (f64, f64)) -> (u32, Result<(AnyTensor, AnyTensor)> | Result<(Tensor<u32>, Tensor<T>)>) where Float,
        "x.histogram(2, (0.0, 1.0))?.0" => "[2, 2]", |x| {
            let (place, edges) = x.binned(&x.own_device()?, bins, range)?;
            Ok((place.bincount(bins).eval()?, edges))
        };
    /// The number of pairs in each bin of two axes, and the edges of both (NumPy `histogram2d`): a pair is an element and
    /// the one at its place in another operand of the same shape. Bins are those of [`histogram`](Self::histogram).
    ///
    /// # Errors
    /// As [`histogram`](Self::histogram), and when the shapes differ.
    histogram2d(; other, bins: [usize; 2], ranges: [(f64, f64); 2])
        -> (u32, Result<(AnyTensor, [AnyTensor; 2])> | Result<(Tensor<u32>, [Tensor<T>; 2])>) where Float,
        "x.histogram2d(&y, [2, 2], [(0.0, 1.0), (0.0, 1.0)])?.0" => "[0, 1, 1, 1]", |x| {
            let (shape, own) = (x.shape()?, other.shape()?);
            if shape != own {
                bail!(Shape, "histogram2d of {shape} and {own}: the shapes must be equal");
            }
            let device = x.own_device()?;
            let (rows, row_edges) = x.binned(&device, bins[0], ranges[0])?;
            let (columns, column_edges) = other.binned(&device, bins[1], ranges[1])?;
            let count = bins[0].saturating_mul(bins[1]);
            let number = |value: usize| AnyExpr::scalar(DType::U32, value as u64);
            let is_inside =
                rows.clone().op(Op::Lt, number(bins[0])).op(Op::And, columns.clone().op(Op::Lt, number(bins[1])));
            let place = rows.op(Op::Mul, number(bins[1])).op(Op::Add, columns);
            let counts = is_inside.select(place, number(u32::MAX as usize)).bincount(count);
            Ok((counts.reshape(bins).eval()?, [row_edges, column_edges]))
        };
}

on_both! {
    /// Results whose shapes depend on values. The number of elements is read back.
    examples of i32 ["[2, 9, 0, 5, 2, 9], [3, 2]"];

    /// The coordinates of the nonzero elements in row-major order: a row for each axis, and a column for each element (ONNX
    /// `NonZero`; NumPy `nonzero`). [`nonzero_padded`](Self::nonzero_padded) reads nothing.
    ///
    /// # Errors
    /// When the operand has no axes; and as [`to_vec`](Self::to_vec).
    nonzero() -> (u32, Result<AnyTensor> | Result<Tensor<u32>>), "x.nonzero()?" => "[0, 0, 1, 2, 2, 0, 1, 1, 0, 1]",
        |x| x.cast(DType::Bool).true_places(None)?.coordinates(x.shape()?)?.eval();
    /// [`nonzero`](Self::nonzero) with a row for each element (NumPy `argwhere`, PyTorch `nonzero`).
    ///
    /// # Errors
    /// As [`nonzero`](Self::nonzero).
    argwhere() -> (u32, Result<AnyTensor> | Result<Tensor<u32>>), "x.argwhere()?" => "[0, 0, 0, 1, 1, 1, 2, 0, 2, 1]",
        |x| x.nonzero()?.transpose(0, 1).eval();
    /// The elements where a mask is true, in row-major order (NumPy `x[mask]`; ONNX `Compress`). The mask has the leading
    /// axes of the operand, and one axis replaces them. The number of true elements is read back.
    ///
    /// # Errors
    /// When the mask has other lengths, or the first mistake that was made while building; and as
    /// [`to_vec`](Self::to_vec).
    compress(; mask as bool) -> (T, Result<AnyTensor> | Result<Tensor<T>>),
        "x.compress(device.upload(&[true, false, true], [3])?)?" => "[2, 9, 2, 9]", |x| {
            let (shape, own, dtype) = (x.shape()?, mask.shape()?, mask.dtype()?);
            if dtype != DType::Bool {
                bail!(Operation, "compress takes a mask of bool, not {dtype}: compare or cast it");
            }
            let rank = own.rank();
            if rank == 0 || rank > shape.rank() || own[..] != shape[..rank] {
                bail!(Shape, "compress of {shape} by a mask of {own}: a mask has the shape of the leading axes");
            }
            if rank == shape.rank() && x.is_moved()? {
                return mask.true_places(Some(&x.flat()?))?.eval();
            }
            let lengths = [&[own.count()?], &shape[rank..]].concat();
            x.reshaped(lengths).take(mask.true_places(None)?, 0).eval()
        };
    /// The different elements, sorted, with the count and the first place of each, and for each element the index of its value
    /// (NumPy `unique`). Zeros are equal and all NaN are one value; the first of equal elements is kept.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    unique() -> (T, Result<Unique<AnyTensor, AnyTensor>> | Result<Unique<Tensor<T>, Tensor<u32>>>),
        "x.unique()?.values" => "[0, 2, 5, 9]", |x| {
            let flat = x.flat()?;
            flat.distinct(&flat, 0, x.shape()?)
        };
    /// The different slices along an axis, sorted: their elements are compared in row-major order (NumPy `unique` with
    /// `axis`; ONNX `Unique`). With the count and the index of the first of each, and for each slice along the axis the
    /// index of its value. Zeros are equal, and so are all NaN; NumPy tells slices with NaN apart.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    unique_along(axis: impl AxisIndex) -> (T, Result<Unique<AnyTensor, AnyTensor>> | Result<Unique<Tensor<T>, Tensor<u32>>>),
        "x.unique_along(0)?.values" => "[0, 5, 2, 9]", let axis = axis.signed(), |x| {
            let keys = if x.shape()?.rank() == 1 { x.clone() } else { x.ranked(axis)?.eval()?.into() };
            x.distinct(&keys, axis, -1)
        };
}
