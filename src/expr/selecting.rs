//! Results that depend on values but have a known shape: places of true elements, and counts of keys. Both are sorts by
//! few bits. Results whose shape depends on values are in `tensor::selecting`.

use super::both::on_both;
use super::{AnyExpr, Expr, Outside, ReduceOptions};
use crate::dtype::{DType, Element, Integer, Kind};
use crate::error::{Result, bail};
use crate::ir::{AxisOp, ByKey, Gives, Node, Op, Segments, Sort};
use crate::layout::{AxisIndex, Layout, Shape};

/// What a sort by few bits moves. Others have 32 bits and one axis.
pub(crate) enum Payload<'a> {
    Keys,
    Indices,
    Others(&'a AnyExpr),
}

/// Bits of numbers up to one.
pub(crate) fn bits(most: usize) -> u32 {
    usize::BITS - most.leading_zeros()
}

impl AnyExpr {
    /// Whether its elements move with sorted keys, and not by their indices.
    pub(crate) fn is_moved(&self) -> Result<bool> {
        Ok(self.dtype()?.size() == size_of::<u32>())
    }

    /// All elements along one axis: a view, or a copy if no strides lead through them.
    pub(crate) fn flat(&self) -> Result<AnyExpr> {
        Ok(self.reshaped([self.shape()?.count()?]))
    }

    /// Elements of the last axis, all below `2^bits`, sorted, or what is moved by them: at most the first `most`.
    pub(crate) fn by_few_bits(
        &self,
        moved: Payload<'_>,
        descending: bool,
        bits: u32,
        most: usize,
    ) -> Result<AnyExpr> {
        let shape = self.shape()?;
        // Without any row nothing is sorted.
        let count = if shape.contains(&0) { 0 } else { shape[shape.rank() - 1] };
        let sort =
            |gives| Sort { gives, descending, bits: bits.max(1), places: [0, count.min(most.max(1)) as u32] };
        let node = match moved {
            Payload::Indices if count < 2 => return self.cast(DType::U32).of_constant(0, shape),
            Payload::Keys if count < 2 => return Ok(self.clone()),
            Payload::Others(others) if count < 2 => return Ok(others.clone()),
            Payload::Indices => Node::along(AxisOp::Sort(sort(Gives::Indices)), &[self.node()?]),
            Payload::Keys => Node::along(AxisOp::Sort(sort(Gives::Values)), &[self.node()?]),
            Payload::Others(others) => Node::along(
                AxisOp::Sort(sort(Gives::Moved)),
                &[&others.node()?.stored(), &self.node()?.stored()],
            ),
        };
        Ok(AnyExpr::new(node))
    }

    /// The row-major numbers of true elements, or other elements at these places: at most the first `most`. Past the
    /// last true element they have no meaning.
    pub(crate) fn true_first(&self, moved: Option<&AnyExpr>, most: usize) -> Result<AnyExpr> {
        let truth = self.flat()?.cast(DType::Bool);
        if u32::try_from(truth.shape()?[0]).is_err() {
            bail!(
                Overflow,
                "nonzero of {}: an index is u32, so it takes at most 2^32 - 1 elements",
                self.shape()?
            );
        }
        truth.by_few_bits(moved.map_or(Payload::Indices, Payload::Others), true, 1, most)
    }

    /// The coordinates of elements, from their row-major numbers: a row for each axis.
    pub(crate) fn coordinates(&self, shape: &Shape) -> Result<AnyExpr> {
        let number = |value: usize| AnyExpr::scalar(DType::U32, value as u64);
        let row = |axis: usize| {
            let inner = shape[axis + 1..].iter().product();
            let rows = self.op(Op::Div, number(inner));
            rows.op(Op::Rem, number(shape[axis])).unsqueeze(0)
        };
        match shape.rank() {
            0 => bail!(Shape, "nonzero of one element without axes: it has no coordinates"),
            rank => Ok(AnyExpr::concat(&(0..rank).map(row).collect::<Vec<_>>(), 0)),
        }
    }

    /// Whether each element along the last axis differs from the one before it, as the first does. All NaN are equal.
    pub(crate) fn is_new(&self) -> Result<AnyExpr> {
        let before = if self.shape()?.contains(&0) { self.clone() } else { self.roll([1], [-1]) };
        let mut differs = self.op(Op::Ne, &before);
        if self.dtype()?.kind() == Kind::Float {
            let are_nan = self.map(Op::IsNan).op(Op::And, before.map(Op::IsNan));
            differs = differs.op(Op::And, are_nan.map(Op::Not));
        }
        Ok(differs.op(Op::Or, self.coordinate(-1).op(Op::Eq, AnyExpr::scalar(DType::I32, 0))))
    }

    /// How many true elements come before each one along the last axis.
    fn numbers(&self) -> AnyExpr {
        let sums = self.cast(DType::U32).reduce("cumsum", [-1], ReduceOptions::default());
        sums.op(Op::Sub, AnyExpr::scalar(DType::U32, 1))
    }

    /// The numbers of different elements, given in an order along the last axis by where new ones begin, at the places
    /// that the elements had before.
    pub(crate) fn numbered_back(&self, order: &AnyExpr) -> Result<AnyExpr> {
        let shape = order.shape()?;
        let places = order.by_few_bits(Payload::Indices, false, bits(shape[shape.rank() - 1]), usize::MAX)?;
        Ok(self.numbers().take_along(places, -1))
    }

    /// Ranks of slices, of which pairs of elements are ranked at once, and then pairs of ranks.
    pub(crate) fn ranked(&self, axis: isize) -> Result<AnyExpr> {
        let shape = self.shape()?;
        let own = Layout::contiguous(shape)?.axis(axis)?;
        let others: Vec<isize> = (0..shape.rank() as isize).filter(|&k| k != own as isize).collect();
        let length = shape[own];
        if shape.contains(&0) {
            return self.cast(DType::U32).of_constant(0, &Shape::from([length]));
        }
        let turned = self.permute([&others[..], &[own as isize]].concat());
        // A row of the elements at each place in a slice.
        let mut rows = turned.reshaped([-1, length as isize]);
        let mut most = None;
        loop {
            let count = rows.shape()?[0];
            if count % 2 == 1 && count > 1 {
                rows = AnyExpr::concat(&[rows.clone(), rows.slice(0, -1..)], 0).shared();
            }
            let [first, second] = [0, 1].map(|k| rows.slice_step(0, k.min(count as isize - 1).., 2));
            let sorted = |x: &AnyExpr| match most {
                None => Ok(x.argsort(-1)),
                Some(bits) => x.by_few_bits(Payload::Indices, false, bits, usize::MAX),
            };
            let order = sorted(&second)?.shared();
            let order = order.take_along(sorted(&first.take_along(&order, -1))?, -1).shared();
            let [first, second] = [first, second].map(|x| x.take_along(&order, -1).shared().is_new());
            rows = first?.op(Op::Or, second?).numbered_back(&order)?.shared();
            if count <= 2 {
                return Ok(rows.reshape([-1]));
            }
            most = Some(bits(length));
        }
    }

    fn nonzero_of(&self, size: usize, fill: u32) -> Result<AnyExpr> {
        let shape = self.shape()?;
        let count = self.cast(DType::Bool).reduce("count_nonzero", .., ReduceOptions::default());
        let place = AnyExpr::iota([size], 0);
        let found = self.true_first(None, size)?.taken(&place, 0, Outside::fill(0))?;
        let is_there = place.cast(DType::U32).op(Op::Lt, &count);
        let fill = AnyExpr::scalar(DType::U32, u64::from(fill));
        Ok(is_there.select(found.coordinates(shape)?, fill))
    }

    /// The elements as keys of 32 bits along one axis. Read as u32, those outside of the bins are not below their
    /// number.
    pub(super) fn keys(&self, name: &str, bins: usize) -> Result<AnyExpr> {
        let dtype = self.dtype()?;
        if !matches!(dtype.kind(), Kind::Signed | Kind::Unsigned) {
            bail!(Operation, "{name} takes keys that are integers, not {dtype}: cast them first");
        }
        if i32::try_from(bins).is_err() {
            bail!(Limit, "{name} of {bins} keys: it takes fewer than 2^31");
        }
        let op = |op: Op, x: &AnyExpr, value: i64| x.op(op, AnyExpr::scalar(dtype, value));
        let (all, is_signed) = (self.flat()?, dtype.kind() == Kind::Signed);
        let inside = match (dtype.size(), is_signed) {
            (8, true) => op(Op::Max, &op(Op::Min, &all, bins as i64), -1),
            (8, false) => op(Op::Min, &all, bins as i64),
            _ => all,
        };
        Ok(inside.cast(if is_signed { DType::I32 } else { DType::U32 }))
    }

    /// A result for each key of rows of elements. The last operand is a column of keys.
    pub(crate) fn by_key(segments: Segments, operands: &[&AnyExpr]) -> Result<AnyExpr> {
        let nodes = operands.iter().map(|own| own.node()).collect::<Result<Vec<_>>>()?;
        Ok(AnyExpr::new(Node::along(AxisOp::Segments(segments), &nodes)))
    }

    fn counted(&self, count: usize) -> Result<AnyExpr> {
        let keys = self.keys("bincount", count)?;
        if count == 0 || keys.shape()?[0] == 0 {
            return keys.cast(DType::U32).of_constant(0, &Shape::from([count]));
        }
        let own = Segments { gives: ByKey::Count, count, are_sorted: false };
        Ok(AnyExpr::by_key(own, &[&keys.unsqueeze(1)])?.squeeze(1))
    }
}

on_both! {
    /// Places and counts of elements, which are read by no one. Results have a known shape.
    examples of i32 ["[2, 9, 0, 5, 2, 9], [3, 2]"];
    /// The coordinates of the nonzero elements in row-major order: a row for each axis, and `size` columns. Columns
    /// past the last nonzero element hold `fill`. Nothing is read back (JAX `nonzero` with `size`).
    ///
    /// One element without axes is an error.
    nonzero_padded(size: usize, fill: u32) -> u32, "x.slice(0, 1..).nonzero_padded(4, 7)" => "[0, 1, 1, 7, 1, 0, 1, 7]",
        |x| x.nonzero_of(size, fill);
    /// How many elements equal each number below `bins`, whatever their shape (NumPy `bincount`). Other elements are
    /// not counted. Of keys it is the number of elements of each segment.
    #[doc(alias = "segment_count")]
    bincount(bins: usize) -> u32 where Integer, "x.bincount(6)" => "[1, 0, 2, 0, 0, 1]", |x| x.counted(bins);
    /// For each slice along an axis, how many different slices are less than it: their elements are compared in
    /// row-major order (pandas `rank(method="dense")` minus 1). So equal slices have one rank, and `argsort` of the
    /// ranks is the lexicographic order of rows. NaN is the greatest, all NaN are equal, and so are both zeros.
    dense_rank(axis: impl AxisIndex) -> u32, "x.dense_rank(0)" => "[1, 0, 1]", |x| x.ranked(axis.signed());
}
