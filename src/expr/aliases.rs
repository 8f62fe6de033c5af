//! Names of other libraries for what is here, and small compositions of views that they have names for.

use super::axes::{IntoAxes, IntoAxis};
use super::both::{built, on_both};
use super::{AnyExpr, Expr, IntoExpr, IntoIndices, Key};
use crate::dtype::{DType, Element, Float, Integer, Numeric};
use crate::error::{Result, bail};
use crate::ir::{Op, Scalar};
use crate::layout::{AxisIndex, Integers, Layout, Shape};

impl AnyExpr {
    /// The lengths of the last two axes.
    fn matrix(&self, name: &str) -> Result<[usize; 2]> {
        match self.shape()?[..] {
            [.., rows, columns] => Ok([rows, columns]),
            _ => bail!(Shape, "{name} of {}: it takes at least 2 axes", self.shape()?),
        }
    }

    fn diagonal_at(&self, offset: isize) -> Result<AnyExpr> {
        let [rows, columns] = self.matrix("diagonal")?;
        let begin = [offset.saturating_neg().max(0) as usize, offset.max(0) as usize];
        let count = rows.saturating_sub(begin[0]).min(columns.saturating_sub(begin[1]));
        let begin = [begin[0].min(rows), begin[1].min(columns)];
        let square = self.slice(-2, begin[0]..begin[0] + count).slice(-1, begin[1]..begin[1] + count);
        Ok(AnyExpr::einsum("...ii->...i", &[square]))
    }

    /// Zeros on one side of a diagonal of the last two axes.
    fn triangle(&self, name: &str, offset: isize, is_upper: bool) -> Result<AnyExpr> {
        let lengths = self.matrix(name)?;
        let [row, column] = [0, 1].map(|axis| AnyExpr::iota(lengths, axis));
        // Beyond the matrix every offset is the same.
        let most = lengths[0].saturating_add(lengths[1]).min(i32::MAX as usize / 2) as isize;
        let moved = row.op(Op::Add, AnyExpr::scalar(DType::I32, offset.clamp(-most, most) as i64));
        let stays = column.op(if is_upper { Op::Ge } else { Op::Le }, moved);
        Ok(stays.select(self, AnyExpr::scalar(self.dtype()?, Scalar::Int(0))))
    }

    /// Slices of `size` indices along an axis, the last of which may have fewer.
    fn in_parts(&self, axis: isize, size: usize) -> Result<Vec<AnyExpr>> {
        let shape = self.shape()?;
        let axis = Layout::contiguous(shape)?.axis(axis)?;
        let length = shape[axis];
        if size == 0 {
            bail!(Shape, "split of axis {axis} of {shape} into parts of 0: a part has at least 1 index");
        }
        if length.div_ceil(size) > super::joining::MOST_VIEWS {
            bail!(
                Limit,
                "split of axis {axis} of {shape} into {} parts: it makes at most {}, so take slices",
                length.div_ceil(size),
                super::joining::MOST_VIEWS
            );
        }
        let begins = (0..length.max(1)).step_by(size);
        Ok(begins.map(|begin| self.slice(axis, begin..length.min(begin.saturating_add(size)))).collect())
    }

    fn moved_axis(&self, from: isize, to: isize) -> Result<AnyExpr> {
        let layout = Layout::contiguous(self.shape()?)?;
        let (from, to) = (layout.axis(from)?, layout.axis(to)?);
        let mut order: Vec<usize> = (0..self.shape()?.rank()).collect();
        let axis = order.remove(from);
        order.insert(to, axis);
        Ok(self.permute(order))
    }
}

on_both! {
    /// Views and parts, by the names of NumPy and PyTorch.
    examples of i32 ["[1, 2, 3, 4, 5, 6], [2, 3]"];

    /// The elements along one axis, in row-major order: [`reshape`](Self::reshape) to `[-1]`.
    flatten() -> T, "x.flatten()" => "[1, 2, 3, 4, 5, 6]", |x| x.flat();
    /// [`flatten`](Self::flatten), as NumPy calls it.
    ravel() -> T, "x.ravel()" => "[1, 2, 3, 4, 5, 6]", |x| x.flat();
    /// The matrix with rows and columns exchanged. Fewer axes stay as they are, and more are an error (PyTorch `t`).
    t() -> T, "x.t()" => "[1, 4, 2, 5, 3, 6]", |x| match x.shape()?.rank() {
        0 | 1 => Ok(x.clone()),
        2 => Ok(x.transpose(0, 1)),
        rank => bail!(Shape, "t of {}, which has {rank} axes: transpose two of them, or permute all", x.shape()?),
    };
    /// [`transpose`](Self::transpose), as NumPy and PyTorch call it too.
    swapaxes(a: impl AxisIndex, b: impl AxisIndex) -> T, "x.swapaxes(0, 1)" => "[1, 4, 2, 5, 3, 6]", |x| Ok(x.transpose(a, b));
    /// An axis at another place among the others, which stay in their order (NumPy `moveaxis`, PyTorch `movedim`).
    moveaxis(from: impl AxisIndex, to: impl AxisIndex) -> T, "x.moveaxis(0, -1)" => "[1, 4, 2, 5, 3, 6]",
        |x| x.moved_axis(from.signed(), to.signed());
    /// [`moveaxis`](Self::moveaxis), as PyTorch calls it.
    movedim(from: impl AxisIndex, to: impl AxisIndex) -> T, "x.movedim(0, -1)" => "[1, 4, 2, 5, 3, 6]",
        |x| Ok(x.moveaxis(from, to));
    /// [`unsqueeze`](Self::unsqueeze), as NumPy calls it.
    expand_dims(axis: impl AxisIndex) -> T, "x.expand_dims(0)" => "[1, 2, 3, 4, 5, 6]", |x| Ok(x.unsqueeze(axis));
    /// `length` indices along an axis from `start` on (PyTorch and candle `narrow`): [`slice`](Self::slice) takes a range.
    narrow(axis: impl AxisIndex, start: usize, length: usize) -> T, "x.narrow(1, 1, 2)" => "[2, 3, 5, 6]",
        |x| Ok(x.slice(axis, start..start.saturating_add(length)));
    /// The slice at one index of an axis, without that axis (ndarray `index_axis`, PyTorch `select`). A negative index counts
    /// from the end.
    index_axis(axis: impl AxisIndex, index: impl AxisIndex) -> T, "x.index_axis(1, -1)" => "[3, 6]", |x| {
        let (axis, index) = (axis.signed(), index.signed());
        let end = if index == -1 { None } else { Some(index.saturating_add(1)) };
        Ok(match end {
            Some(end) => x.slice(axis, index..end),
            None => x.slice(axis, index..),
        }.squeeze(axis))
    };
    /// The slices of `size` indices along an axis, the last of which may have fewer (PyTorch and Burn `split`; NumPy's
    /// `array_split` counts parts, as [`chunk`](Self::chunk) does).
    ///
    /// # Errors
    /// When there is no such axis, `size` is 0, there are more than 2^20 parts, or the expression holds a mistake.
    split(size: usize, axis: impl AxisIndex) -> (T, Result<Vec<AnyExpr>> | Result<Vec<Expr<T>>>), "x.split(2, 1)?[1]" => "[3, 6]",
        |x| x.in_parts(axis.signed(), size);
    /// At most `parts` slices along an axis, of equal lengths but for the last (PyTorch, candle and Burn `chunk`).
    ///
    /// # Errors
    /// As [`split`](Self::split), and for 0 parts.
    chunk(parts: usize, axis: impl AxisIndex) -> (T, Result<Vec<AnyExpr>> | Result<Vec<Expr<T>>>), "x.chunk(2, 1)?[1]" => "[3, 6]", |x| {
        let axis = Layout::contiguous(x.shape()?)?.axis(axis.signed())?;
        match parts {
            0 => bail!(Shape, "chunk of axis {axis} of {} into 0 parts: there is at least 1", x.shape()?),
            _ => x.in_parts(axis as isize, x.shape()?[axis].div_ceil(parts).max(1)),
        }
    };
    /// The diagonal of the last two axes, from column `offset` on, or from row `-offset` (NumPy and PyTorch `diagonal`, whose
    /// default axes are the first two in NumPy). It is a view.
    diagonal(offset: isize) -> T, "x.diagonal(1)" => "[2, 6]", |x| x.diagonal_at(offset);
    /// A vector as the diagonal of a matrix, or the diagonal of a matrix (NumPy and PyTorch `diag`).
    diag() -> T, "x.diag()" => "[1, 5]", |x| match x.shape()?[..] {
        [n] => Ok(AnyExpr::eye(DType::Bool, n, n).select(x, AnyExpr::scalar(x.dtype()?, Scalar::Int(0)))),
        [_, _] => x.diagonal_at(0),
        _ => bail!(Shape, "diag of {}: it takes a vector or a matrix, and diagonal takes more axes", x.shape()?),
    };
    /// The upper triangle of the last two axes, with zeros below the diagonal that begins at column `offset` (NumPy and PyTorch
    /// `triu`).
    triu(offset: isize) -> T, "x.triu(0)" => "[1, 2, 3, 0, 5, 6]", |x| x.triangle("triu", offset, true);
    /// The lower triangle of the last two axes, with zeros above the diagonal that begins at column `offset` (NumPy and PyTorch
    /// `tril`).
    tril(offset: isize) -> T, "x.tril(0)" => "[1, 0, 0, 4, 5, 0]", |x| x.triangle("tril", offset, false);
    /// [`take_along`](Self::take_along), as PyTorch and candle call it. Along the other axes the indices may be fewer: they take
    /// the first elements.
    gather(axis: impl AxisIndex, indices: impl Into<AnyExpr>) -> T, "x.gather(1, device.upload(&[2, 0], [2, 1])?)" => "[3, 4]", |x| {
        let (indices, own) = (indices.into(), x.shape()?);
        let axis = Layout::contiguous(own)?.axis(axis.signed())?;
        let shape = indices.shape()?;
        let fits = |k: usize| k != axis && shape.rank() == own.rank() && shape[k] < own[k];
        let cut = (0..own.rank()).filter(|&k| fits(k)).fold(x.clone(), |x, k| x.slice(k, ..shape[k]));
        Ok(cut.take_along(&indices, axis))
    };
    /// [`take_along`](Self::take_along), as NumPy calls it.
    take_along_axis(indices: impl Into<AnyExpr>, axis: impl AxisIndex) -> T, "x.take_along_axis(device.upload(&[2, 0], [2, 1])?, 1)" => "[3, 4]",
        |x| Ok(x.take_along(indices, axis));
    /// [`take`](Self::take), as PyTorch and candle call it.
    index_select(axis: impl AxisIndex, indices: impl IntoIndices) -> T, "x.index_select(0, device.upload(&[1], [1])?)" => "[4, 5, 6]",
        |x| Ok(x.take(indices, axis));
    /// `value` where a mask is true, and this elsewhere (PyTorch `masked_fill`). They broadcast.
    masked_fill(mask: impl Into<AnyExpr>; value) -> T, "x.masked_fill(device.upload(&[false, false, true], [3])?, device.upload(&[0], [1])?)" => "[1, 2, 0, 4, 5, 0]",
        |x| Ok(mask.into().select(value, x));
}

on_both! {
    /// Names of reductions.
    impl [<T: Numeric>] T;
    /// [`max`](Self::max), as PyTorch and NumPy call it too.
    amax(axes: impl IntoAxes) -> T, of f32 ["[1.0_f32, 2.0, 3.0, -5.0], [2, 2]"], "x.amax(1)" => "[2.0, 3.0]", |x| Ok(x.max(axes));
    /// [`min`](Self::min), as PyTorch and NumPy call it too.
    amin(axes: impl IntoAxes) -> T, of f32 ["[1.0_f32, 2.0, 3.0, -5.0], [2, 2]"], "x.amin(1)" => "[1.0, -5.0]", |x| Ok(x.min(axes));
    /// The sum of the diagonal of the last two axes (NumPy and PyTorch `trace`).
    trace() -> T, of f32 ["[1.0_f32, 2.0, 3.0, -5.0], [2, 2]"], "x.trace()" => "[-4.0]", |x| Ok(x.diagonal_at(0)?.sum(-1));
}

on_both! {
    /// Norms and comparisons of floats.
    impl [<T: Float>] T;
    /// The Euclidean norm of all elements: [`l2`](Self::l2) over all axes (PyTorch and ndarray-linalg `norm`).
    norm() -> T, of f32 ["[3.0_f32, -4.0], [2]"], "x.norm()" => "[5.0]", |x| Ok(x.l2(..));
    /// [`quantile`](Self::quantile) of `q` from 0 to 100 (NumPy `percentile`).
    percentile(q: f64, axis: impl IntoAxis) -> T, of f32 ["[3.0_f32, 1.0, 2.0], [3]"], "x.percentile(50.0, 0)" => "[2.0]",
        |x| Ok(x.quantile(q / 100.0, axis));
}

on_both! {
    /// Classes as rows.
    impl [<T: Integer>] T;
    /// For each element a row along a new last axis of length `classes`, which is true at the element's index alone (PyTorch
    /// `one_hot`, of bool: [`cast`](Self::cast) it). Elements outside of `0..classes` have a row without one.
    one_hot(classes: usize) -> bool, of i32 ["[2, 0], [2]"], "x.one_hot(3)" => "[false, false, true, true, false, false]", |x| {
        let own = x.unsqueeze(-1);
        let class = AnyExpr::iota([classes], 0).cast(own.dtype()?);
        let is_there = AnyExpr::iota([classes], 0).op(Op::Eq, class.cast(DType::I32));
        Ok(own.op(Op::Eq, class).op(Op::And, is_there))
    };
}

macro_rules! renamed {
    ($($(#[doc = $doc:literal])+ $name:ident($($arg:ident),*) = $of:ident for $class:ident -> $gives:ident, [$x:literal $(, $eg:expr)* => $to:expr];)*) => {
        /// Operations by other names.
        impl<T: Element> Expr<T> {$(
            $(#[doc = $doc])+
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            #[doc = concat!("let x = device.upload(&[", stringify!($x), "_f32], [1])?;")]
            #[doc = concat!("assert_eq!(x.", stringify!($name), "(", $(stringify!($eg), ", ",)* ").to_vec()?, [", stringify!($to), "]);")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name(&self $(, $arg: impl IntoExpr<T>)*) -> Expr<$gives> where T: $class {
                self.$of($($arg),*)
            }
        )*}
    };
}
renamed! {
    /// [`clamp`](Self::clamp), as NumPy and PyTorch call it.
    clip(lo, hi) = clamp for Numeric -> T, [3.5, 0.0, 1.0 => 1.0];
    /// [`reciprocal`](Self::reciprocal), as Rust and candle call it.
    recip() = reciprocal for Float -> T, [2.0 => 0.5];
    /// [`expm1`](Self::expm1), as Rust calls it.
    exp_m1() = expm1 for Float -> T, [0.0 => 0.0];
    /// [`log1p`](Self::log1p), as Rust calls it.
    ln_1p() = log1p for Float -> T, [0.0 => 0.0];
    /// [`round`](Self::round), as NumPy and C call it.
    rint() = round for Float -> T, [2.5 => 2.0];
    /// [`neg`](Self::neg), as NumPy calls it.
    negative() = neg for Numeric -> T, [2.0 => -2.0];
    /// [`silu`](Self::silu), as TensorFlow and JAX call it.
    swish() = silu for Float -> T, [0.0 => 0.0];
    /// [`div_floor`](Self::div_floor), as NumPy and PyTorch call it.
    floor_divide(y) = div_floor for Numeric -> T, [-7.0, 2.0 => -4.0];
    /// [`gt`](Self::gt), as NumPy and PyTorch call it.
    greater(y) = gt for Numeric -> bool, [2.0, 1.0 => true];
    /// [`ge`](Self::ge), as NumPy and PyTorch call it.
    greater_equal(y) = ge for Numeric -> bool, [2.0, 1.0 => true];
    /// [`lt`](Self::lt), as NumPy and PyTorch call it.
    less(y) = lt for Numeric -> bool, [2.0, 1.0 => false];
    /// [`le`](Self::le), as NumPy and PyTorch call it.
    less_equal(y) = le for Numeric -> bool, [2.0, 1.0 => false];
    /// [`ne`](Self::ne), as NumPy and PyTorch call it.
    not_equal(y) = ne for Element -> bool, [2.0, 1.0 => true];
    /// [`square`](Self::square), as candle calls it.
    sqr() = square for Numeric -> T, [3.0 => 9.0];
}

impl<T: Element> Expr<T> {
    /// [`concat`](Self::concat), as PyTorch, candle and Burn call it.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let x = Device::cpu().upload(&[1, 2], [2])?;
    /// assert_eq!(Expr::cat([&x, &x], 0).to_vec()?, [1, 2, 1, 2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn cat<E: IntoExpr<T>>(parts: impl IntoIterator<Item = E>, axis: impl AxisIndex) -> Expr<T> {
        Expr::concat(parts, axis)
    }

    /// [`reshape`](Self::reshape), as PyTorch calls it.
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1, 2], [2])?;
    /// assert_eq!(x.view([2, 1]).shape()?, &[2, 1]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn view(&self, shape: impl Integers) -> Expr<T> {
        self.reshape(shape)
    }

    /// Zeros of this expression's shape (NumPy, PyTorch and candle `zeros_like`).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1, 2], [2])?;
    /// assert_eq!(x.zeros_like().to_vec()?, [0, 0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn zeros_like(&self) -> Expr<T> {
        self.full_like(T::ZERO)
    }

    /// One value in this expression's shape, on its device (NumPy and PyTorch `full_like`).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[0.5_f32, 1.5], [2])?;
    /// assert_eq!(x.full_like(3.0).to_vec()?, [3.0, 3.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn full_like(&self, value: T) -> Expr<T> {
        let any = self.untyped();
        Expr::face(built(|| any.of_constant(value.to_bits(), any.shape()?)))
    }
}

impl<T: Numeric> Expr<T> {
    /// Ones of a shape, as from [`full`](Self::full).
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// assert_eq!(Expr::<f32>::ones([2]).to_vec_on(&Device::cpu())?, [1.0, 1.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn ones(shape: impl Into<Shape>) -> Expr<T> {
        Self::full(shape, T::ONE)
    }

    /// Ones of this expression's shape (NumPy, PyTorch and candle `ones_like`).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[0.5_f32], [1])?;
    /// assert_eq!(x.ones_like().to_vec()?, [1.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn ones_like(&self) -> Expr<T> {
        self.full_like(T::ONE)
    }
}

impl<T: Float> Expr<T> {
    /// [`uniform`](Self::uniform), as NumPy and PyTorch call it: the key stands for their seed.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let cpu = Device::cpu();
    /// assert_eq!(Expr::<f32>::rand([2], 7).to_vec_on(&cpu)?, Expr::<f32>::uniform([2], 7).to_vec_on(&cpu)?);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn rand(shape: impl Into<Shape>, key: impl Into<Key>) -> Expr<T> {
        Self::uniform(shape, key)
    }
}

impl Expr<f32> {
    /// [`normal`](Self::normal), as NumPy and PyTorch call it: the key stands for their seed.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let cpu = Device::cpu();
    /// assert_eq!(Expr::randn([2], 7).to_vec_on(&cpu)?, Expr::normal([2], 7).to_vec_on(&cpu)?);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn randn(shape: impl Into<Shape>, key: impl Into<Key>) -> Self {
        Self::normal(shape, key)
    }
}

impl Expr<bool> {
    /// [`select`](Self::select), as NumPy, PyTorch and candle call it in some form of `where`.
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1.0_f32, -2.0], [2])?;
    /// assert_eq!(x.gt(0.0).where_(&x, 0.0).to_vec()?, [1.0, 0.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn where_<U: Element>(&self, a: impl IntoExpr<U>, b: impl IntoExpr<U>) -> Expr<U> {
        self.select(a, b)
    }
}

impl<T: Float> Expr<T> {
    /// Whether this and another number are near: `abs(a - b) <= atol + rtol * abs(b)`, or both are equal. NaN is near nothing
    /// (NumPy and PyTorch `isclose`).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1.0_f32, f32::INFINITY], [2])?;
    /// assert_eq!(x.isclose(&x * 1.01, 0.1, 0.0).to_vec()?, [true, true]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn isclose(&self, other: impl IntoExpr<T>, rtol: f64, atol: f64) -> Expr<bool> {
        let (other, number) = (other.into_expr(), |value: f64| Expr::scalar(T::from_f64(value)));
        let bound = other.abs() * number(rtol) + number(atol);
        let is_near = (self - &other).abs().le(bound) & other.is_finite();
        self.eq(&other) | is_near
    }

    /// Whether all elements are near by NumPy's default bounds: [`isclose`](Self::isclose) with `rtol` 1e-5 and `atol` 1e-8
    /// (NumPy and PyTorch `allclose`).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1.0_f32, 2.0], [2])?;
    /// assert!(x.allclose(&x * 1.000001).item()?);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn allclose(&self, other: impl IntoExpr<T>) -> Expr<bool> {
        self.isclose(other, 1e-5, 1e-8).all(..)
    }
}
