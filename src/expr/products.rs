//! Products of matrices and tensors: which axes of two operands are contracted, side by side, or batches.
//!
//! Every axis has a label. Labels that both operands have and the result lacks are contracted. That is one node, with
//! the order of additions of [`CHUNK`](crate::ir::CHUNK).

use std::sync::Arc;

use super::both::{built, on_both};
use super::{AnyExpr, Expr, Face, IntoExpr, ReduceOptions};
use crate::dtype::{DType, Element, Kind, Numeric};
use crate::error::{Result, bail};
use crate::ir::{AxisOp, Contract, LONGEST_PRODUCT, Node, Op, Scalar};
use crate::layout::{AxisIndex, Layout, Shape};

/// The label of an axis: a letter of an equation, or a number.
pub(super) type Label = u32;

/// An operand in the type that accumulates, with a label for each axis.
#[derive(Clone)]
pub(super) struct Labelled {
    pub any: AnyExpr,
    pub labels: Vec<Label>,
}

/// The type of the operands, and the device.
pub(super) struct Call {
    dtype: DType,
}

impl Call {
    /// Checks the types of some operands.
    pub(super) fn new(name: &'static str, operands: &[&AnyExpr]) -> Result<Call> {
        let types = operands.iter().map(|operand| operand.dtype()).collect::<Result<Vec<DType>>>()?;
        let Some(&dtype) = types.first() else { bail!(Operation, "{name} takes an operand at least") };
        if let Some(other) = types.iter().find(|&&other| other != dtype) {
            bail!(
                Operation,
                "{name} takes operands of one type and got {dtype} and {other}: cast one of them"
            );
        }
        if dtype.kind() == Kind::Bool {
            bail!(Operation, "{name} takes floats and integers, not bool: cast first");
        }
        Ok(Call { dtype })
    }

    /// An operand whose axes have some labels.
    pub(super) fn labelled(&self, any: &AnyExpr, labels: Vec<Label>) -> Labelled {
        Labelled { any: any.cast(self.dtype.accumulating()), labels }
    }

    /// A result with its axes in the order of some labels, in the operands' type.
    pub(super) fn finish(&self, result: Labelled, labels: &[Label]) -> Result<AnyExpr> {
        Ok(AnyExpr::new(result.over(labels)).cast(self.dtype))
    }

    /// The product of two operands, with some common labels contracted, in order.
    pub(super) fn product(&self, [left, right]: [&Labelled; 2], contracted: &[Label]) -> Result<Labelled> {
        let own = left.labels.iter().chain(right.labels.iter().filter(|label| !left.labels.contains(label)));
        let kept: Vec<Label> = own.copied().filter(|label| !contracted.contains(label)).collect();
        if contracted.is_empty() {
            let [left, right] = [left, right].map(|own| AnyExpr::new(own.over(&kept)));
            return Ok(Labelled { any: left.op(Op::Mul, right), labels: kept });
        }
        let all = [kept.as_slice(), contracted].concat();
        // One axis is contracted. If several do not merge to one, the operand is stored.
        let merged = |own: &Labelled| -> Result<AnyExpr> {
            let any = AnyExpr::new(own.over(&all));
            let shape = any.shape()?;
            let products: usize = shape[kept.len()..].iter().product();
            Ok(any.reshaped([&shape[..kept.len()], &[products]].concat()))
        };
        Ok(Labelled { any: self.sum(&merged(left)?, &merged(right)?)?, labels: kept })
    }

    /// The sums of products along the last axis, without it.
    fn sum(&self, left: &AnyExpr, right: &AnyExpr) -> Result<AnyExpr> {
        let shape = left.shape()?;
        let (axis, n) = (shape.rank() - 1, shape[shape.rank() - 1]);
        if n < 2 {
            return Ok(left.op(Op::Mul, right).reduce("sum", [-1], ReduceOptions::default()));
        }
        if n <= LONGEST_PRODUCT {
            let sums = Node::along(AxisOp::Contract(Contract { axis }), &[left.node()?, right.node()?])?;
            return Ok(AnyExpr::new(Ok(sums)).squeeze(-1));
        }
        let whole = n - n % LONGEST_PRODUCT;
        let mut parts = Vec::new();
        for range in [0..whole, whole..n].into_iter().filter(|range| !range.is_empty()) {
            let part = |own: &AnyExpr| -> Result<AnyExpr> {
                let last = [range.len().div_ceil(LONGEST_PRODUCT), range.len().min(LONGEST_PRODUCT)];
                let shape = own.shape()?;
                Ok(own.slice(-1, range.clone()).reshape([&shape[..axis], &last].concat()))
            };
            parts.push(self.sum(&part(left)?, &part(right)?)?);
        }
        let sums = AnyExpr::concat(&parts, -1);
        let mut lengths = vec![1; axis];
        lengths.push(n.div_ceil(LONGEST_PRODUCT));
        self.sum(&sums, &AnyExpr::scalar(left.dtype()?, Scalar::from(1)).broadcast_to(lengths))
    }
}

impl Labelled {
    /// The operand with its axes in the order of some labels, and length 1 where it lacks one.
    fn over(&self, labels: &[Label]) -> Result<Arc<Node>> {
        let place = |label: &Label| self.labels.iter().position(|own| own == label);
        let axes: Vec<isize> = labels.iter().filter_map(place).map(|axis| axis as isize).collect();
        self.any.node()?.view(&|layout| {
            let missing = (0..).zip(labels).filter(|(_, label)| place(label).is_none());
            missing
                .map(|(axis, _)| axis)
                .try_fold(layout.permute(&axes)?, |layout, axis| layout.unsqueeze(axis))
        })
    }

    /// The length of a label's axis; 1 where it lacks one.
    pub(super) fn length(&self, label: Label) -> usize {
        let axis = self.labels.iter().position(|own| *own == label);
        axis.map_or(1, |axis| self.any.shape().map_or(1, |shape| shape[axis]))
    }
}

/// Two operands, their shapes, and the name of the product.
struct Pair<'a> {
    name: &'static str,
    operands: [&'a AnyExpr; 2],
    shapes: [&'a Shape; 2],
    call: Call,
}

impl Pair<'_> {
    /// The product of operands with labelled axes, some of which are contracted, with the labels of the result.
    fn product(&self, labels: [Vec<Label>; 2], contracted: &[Label], result: &[Label]) -> Result<AnyExpr> {
        let Pair { name, operands: [a, b], shapes: [left, right], call } = self;
        for label in contracted {
            let place = |own: &Vec<Label>| own.iter().position(|own| own == label).unwrap_or(0);
            let [i, j] = labels.each_ref().map(place);
            let (n, m) = (left[i], right[j]);
            if n != m {
                bail!(
                    Shape,
                    "{name} of {left} and {right}: axis {i} of length {n} meets axis {j} of length {m}"
                );
            }
        }
        let [of_left, of_right] = labels;
        let operands = [call.labelled(a, of_left), call.labelled(b, of_right)];
        call.finish(call.product([&operands[0], &operands[1]], contracted)?, result)
    }

    /// The axis of an operand that a number means.
    fn axis(&self, i: usize, axis: isize) -> Result<usize> {
        Layout::contiguous(self.shapes[i])?.axis(axis)
    }

    /// The product over axes of both, by number. The result has the other axes of the left, then of the right.
    fn met(&self, axes: [&[usize]; 2]) -> Result<AnyExpr> {
        let of_left: Vec<Label> = (0..self.shapes[0].rank() as Label).collect();
        let own = |axis: usize| match axes[1].iter().position(|own| *own == axis) {
            Some(place) => axes[0][place] as Label,
            None => (of_left.len() + axis) as Label,
        };
        let of_right: Vec<Label> = (0..self.shapes[1].rank()).map(own).collect();
        let contracted: Vec<Label> = axes[0].iter().map(|&axis| axis as Label).collect();
        let kept = of_left.iter().chain(&of_right).copied().filter(|label| !contracted.contains(label));
        let kept: Vec<Label> = kept.collect();
        self.product([of_left, of_right], &contracted, &kept)
    }

    fn matmul(&self) -> Result<AnyExpr> {
        let [left, right] = self.shapes;
        let [m, n] = [left, right].map(Shape::rank);
        if m == 0 || n == 0 {
            bail!(Shape, "matmul of {left} and {right}: a number is no matrix, multiply by it with `*`");
        }
        let (columns, rows) = (left[m - 1], right[n.max(2) - 2]);
        if columns != rows {
            bail!(Shape, "matmul of {left} and {right}: {columns} columns meet {rows} rows");
        }
        let [row, column, inner] = [0, 1, 2];
        // Batches count from the end.
        let batch = |rank: usize| (0..rank.saturating_sub(2)).rev().map(|axis| axis as Label + 3);
        let left = batch(m).chain([row, inner].into_iter().skip(2 - m.min(2)));
        let right = batch(n).chain([inner, column].into_iter().take(n));
        let kept = batch(m.max(n)).chain((m > 1).then_some(row)).chain((n > 1).then_some(column));
        self.product([left.collect(), right.collect()], &[inner], &kept.collect::<Vec<Label>>())
    }

    fn dot(&self) -> Result<AnyExpr> {
        let [left, right] = self.shapes;
        if left.rank() == 0 || right.rank() == 0 {
            bail!(Shape, "dot of {left} and {right}: multiply by a number with `*`");
        }
        self.met([&[left.rank() - 1], &[right.rank().max(2) - 2]])
    }

    fn outer(&self) -> Result<AnyExpr> {
        let [left, right] = self.shapes;
        if left.rank() != 1 || right.rank() != 1 {
            bail!(Shape, "outer of {left} and {right}: it takes operands of one axis");
        }
        self.met([&[], &[]])
    }

    fn tensordot(&self, axes: &[[isize; 2]]) -> Result<AnyExpr> {
        let of = |i: usize| -> Result<Vec<usize>> {
            let own = axes.iter().map(|pair| self.axis(i, pair[i])).collect::<Result<Vec<usize>>>()?;
            let ([left, right], shape) = (self.shapes, self.shapes[i]);
            match (1..own.len()).find(|&k| own[..k].contains(&own[k])) {
                Some(k) => {
                    bail!(Axis, "tensordot of {left} and {right} names axis {} of {shape} twice", own[k])
                }
                None => Ok(own),
            }
        };
        self.met([&of(0)?, &of(1)?])
    }

    fn vecdot(&self, axis: isize) -> Result<AnyExpr> {
        // All other axes broadcast, counted from the end.
        let labels = |i: usize| -> Result<Vec<Label>> {
            let (rank, axis) = (self.shapes[i].rank(), self.axis(i, axis)?);
            let mut others = (1..rank as Label).rev();
            Ok((0..rank).map(|k| if k == axis { 0 } else { others.next().unwrap_or(0) }).collect())
        };
        let rank = self.shapes[0].rank().max(self.shapes[1].rank()) as Label;
        self.product([labels(0)?, labels(1)?], &[0], &(1..rank).rev().collect::<Vec<Label>>())
    }
}

impl AnyExpr {
    /// The product with another operand.
    fn by(
        &self,
        name: &'static str,
        other: &AnyExpr,
        product: impl FnOnce(Pair<'_>) -> Result<AnyExpr>,
    ) -> Result<AnyExpr> {
        let (shapes, operands) = ([self.shape()?, other.shape()?], [self, other]);
        product(Pair { name, operands, shapes, call: Call::new(name, &operands)? })
    }
}

on_both! {
    /// Products of matrices and tensors. Contracted axes of different lengths, and operands of different types, are
    /// errors. Each product is added by one `fma`, which rounds once: 64 in sequence, and the sums of these in sequence
    /// again, so that the bits of a result depend on the number of products alone. f16 and bf16 are added up in f32 and
    /// rounded once, integers wrap.
    examples of i32 ["[1, 10], [2]", "let y = device.upload(&[1, 2, 3, 4], [2, 2])?;"];

    /// The product of matrices: rows along the last two axes of this, columns of the other. Earlier axes are batches
    /// and broadcast. An operand of one axis is a row on the left, or a column on the right, and the result lacks that
    /// axis (NumPy, PyTorch, array API).
    #[doc(alias = "gemm")]
    #[doc(alias = "mm")]
    #[doc(alias = "bmm")]
    matmul(; other) -> T where Numeric, "x.matmul(&y)" => "[31, 42]", |x| x.by("matmul", other, |pair| pair.matmul());
    /// The sum of products along the last axis of this and the second-last of the other, or its only one (NumPy `dot`).
    /// For vectors and matrices it is [`matmul`](Self::matmul).
    dot(; other) -> T where Numeric, "x.dot(&x)" => "[101]", |x| x.by("dot", other, |pair| pair.dot());
    /// The sum of products along an axis of both. The other axes broadcast (array API).
    #[doc(alias = "inner")]
    vecdot(; other, axis: impl AxisIndex) -> T where Numeric, "x.vecdot(&y, -1)" => "[21, 43]",
        |x| x.by("vecdot", other, |pair| pair.vecdot(axis.signed()));
    /// The sum of products over pairs of axes, one of each operand. The result has the other axes of this, then those
    /// of the other (NumPy, array API).
    tensordot(; other, axes: impl IntoIterator<Item = [impl AxisIndex; 2]>) -> T where Numeric, "x.tensordot(&y, [[0, 0]])" => "[31, 42]",
        let axes = axes.into_iter().map(|two| two.map(|axis| axis.signed())).collect::<Vec<_>>(),
        |x| x.by("tensordot", other, |pair| pair.tensordot(&axes));
    /// Each element of a vector times each of another (NumPy, array API).
    #[doc(alias = "ger")]
    outer(; other) -> T where Numeric, "x.outer(&x)" => "[1, 10, 10, 100]", |x| x.by("outer", other, |pair| pair.outer());
}

impl AnyExpr {
    /// The product of matrices of i8 or u8 in i32, which wraps (ONNX `MatMulInteger`). Each factor loses its zero point first:
    /// one of each matrix, one of each row of the left as `[m]` or `[.., m, 1]`, and one of each column of the right as `[n]` or
    /// `[.., 1, n]`. A zero point has its matrix's type.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let device = Device::cpu();
    /// let a = AnyExpr::from(device.upload(&[11_u8, 7, 3, 10, 6, 2], [2, 3])?);
    /// let b = AnyExpr::from(device.upload(&[1_i8, 4, 2, 5, 3, 6], [3, 2])?);
    /// let product = a.matmul_integer(&b, AnyExpr::scalar(DType::U8, 12), AnyExpr::scalar(DType::I8, 0));
    /// assert_eq!(product.to_vec::<i32>()?, [-38, -83, -44, -98]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the lengths do not meet, as for [`matmul`](Self::matmul); for another type; and when zero points do not broadcast to
    /// their matrix.
    #[track_caller]
    pub fn matmul_integer(
        &self,
        other: impl Into<AnyExpr>,
        zero: impl Into<AnyExpr>,
        other_zero: impl Into<AnyExpr>,
    ) -> AnyExpr {
        let (other, zero, other_zero) = (other.into(), zero.into(), other_zero.into());
        built(|| {
            let is_each_row = zero.shape()?.rank() == 1 && self.shape()?.rank() > 1;
            let zero = if is_each_row { zero.unsqueeze(-1) } else { zero };
            self.above(&zero)?.by("matmul", &other.above(&other_zero)?, |pair| pair.matmul())
        })
    }

    /// Bytes less their zero points, in i32.
    fn above(&self, zero: &AnyExpr) -> Result<AnyExpr> {
        let [dtype, own] = [self.dtype()?, zero.dtype()?];
        if !matches!(dtype, DType::I8 | DType::U8) {
            bail!(Operation, "matmul_integer takes i8 and u8, not {dtype}: cast first");
        }
        if own != dtype {
            bail!(
                Operation,
                "matmul_integer of {dtype} with a zero point of {own}: it has the matrix's type"
            );
        }
        let zero = zero.broadcast_to(self.shape()?.to_vec());
        Ok(self.cast(DType::I32).op(Op::Sub, zero.cast(DType::I32)))
    }
}

impl<T: Numeric> Expr<T> {
    /// The product of matrices of i8 or u8 in i32, which wraps (ONNX `MatMulInteger`). Each factor loses its zero point first:
    /// one of each matrix, one of each row of the left as `[m]` or `[.., m, 1]`, and one of each column of the right as `[n]` or
    /// `[.., 1, n]`.
    ///
    /// ```
    /// let device = zerostride::Device::cpu();
    /// let a = device.upload(&[11_u8, 7, 3, 10, 6, 2], [2, 3])?;
    /// let b = device.upload(&[1_i8, 4, 2, 5, 3, 6], [3, 2])?;
    /// assert_eq!(a.matmul_integer(&b, 12, 0).to_vec()?, [-38, -83, -44, -98]);
    /// // A zero point of each row.
    /// let zero = device.upload(&[10_u8, 20], [2])?;
    /// assert_eq!(a.matmul_integer(&b, &zero, 0).to_vec()?, [-26, -53, -92, -218]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the lengths do not meet, as for [`matmul`](Self::matmul); for another type; and when zero points do not broadcast to
    /// their matrix.
    #[track_caller]
    pub fn matmul_integer<U: Numeric>(
        &self,
        other: impl IntoExpr<U>,
        zero: impl IntoExpr<T>,
        other_zero: impl IntoExpr<U>,
    ) -> Expr<i32> {
        let product =
            self.untyped().matmul_integer(other.into_expr(), zero.into_expr(), other_zero.into_expr());
        Face::face(product)
    }
}
