//! Results whose shapes depend on values. They are evaluated: one count is read, and the elements stay on the device.

use std::panic::Location;

use super::{AnyTensor, Tensor};
use crate::dtype::{DType, Element, Kind};
use crate::error::{Result, bail, called};
use crate::expr::{AnyExpr, Expr, IntoExpr, ReduceOptions};

/// What [`unique`](Expr::unique) finds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unique<V, I> {
    /// The different elements, sorted.
    pub values: V,
    /// How often each is there.
    pub counts: I,
    /// Of each element, in its own shape, which of the values it is.
    pub inverse: I,
    /// Where each value is first, in row-major order.
    pub indices: I,
}

impl AnyExpr {
    /// How many elements are true, which is read, and the numbers of these in row-major order.
    fn true_places(&self) -> Result<AnyExpr> {
        let mask = self.eval()?;
        let count = mask.reduce("count_nonzero", .., ReduceOptions::default()).to_vec::<u32>()?;
        Ok(mask.true_first(Location::caller())?.slice(0, 0..count[0] as isize))
    }

    /// The elements where a mask is true ([`Expr::compress`]).
    ///
    /// # Errors
    /// As [`Expr::compress`].
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device};
    ///
    /// let device = Device::cpu();
    /// let x = AnyExpr::from(device.upload(&[1, 2, 3], [3])?);
    /// let odd = x.compress(device.upload(&[true, false, true], [3])?)?;
    /// assert_eq!(odd.to_vec::<i32>()?, [1, 3]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn compress(&self, mask: impl Into<AnyExpr>) -> Result<AnyTensor> {
        let mask = mask.into();
        called(Location::caller(), || {
            let (shape, own, dtype) = (self.shape()?, mask.shape()?, mask.dtype()?);
            if dtype != DType::Bool {
                bail!(Operation, "compress takes a mask of bool, not {dtype}: compare or cast it");
            }
            let rank = own.rank();
            if rank == 0 || rank > shape.rank() || own[..] != shape[..rank] {
                bail!(Shape, "compress of {shape} by a mask of {own}: a mask has the leading axes");
            }
            let rest = shape[rank..].iter().map(|&n| n as isize);
            let lengths: Vec<isize> = std::iter::once(own.count()? as isize).chain(rest).collect();
            self.flat()?.reshape(lengths).take(mask.true_places()?, 0).eval()
        })
    }

    /// The coordinates of the elements that are not zero ([`Expr::nonzero`]).
    ///
    /// # Errors
    /// As [`Expr::nonzero`].
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[0, 7, 0, 5], [2, 2])?);
    /// assert_eq!(x.nonzero()?.to_vec::<u32>()?, [0, 1, 1, 1]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn nonzero(&self) -> Result<AnyTensor> {
        let at = Location::caller();
        called(at, || self.cast(DType::Bool).true_places()?.coordinates(self.shape()?, at)?.eval())
    }

    /// The different elements ([`Expr::unique`]).
    ///
    /// # Errors
    /// As [`Expr::unique`].
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[5, 3, 5], [3])?);
    /// assert_eq!(x.unique()?.values.to_vec::<i32>()?, [3, 5]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn unique(&self) -> Result<Unique<AnyTensor, AnyTensor>> {
        called(Location::caller(), || {
            let flat = self.flat()?;
            let order = flat.argsort(0).eval()?;
            let (n, sorted) = (flat.shape()?[0], flat.take(&order, 0).eval()?);
            let call = |name: &str, operands: &[&AnyExpr]| {
                AnyExpr::call(name, &operands.iter().map(|&own| own.clone()).collect::<Vec<_>>())
            };
            let number = |value: usize| AnyExpr::scalar(DType::U32, value as u64);
            // An element that differs from the one before it is a new value, and all NaN are one.
            let place = order.index(0).cast(DType::U32);
            let before = if n == 0 { sorted.expr() } else { sorted.roll([1], [0]) };
            let mut is_new = call("ne", &[&sorted, &before]);
            if sorted.dtype().kind() == Kind::Float {
                let are_nan = call("and", &[&call("is_nan", &[&sorted]), &call("is_nan", &[&before])]);
                is_new = call("and", &[&is_new, &call("not", &[&are_nan])]);
            }
            let is_new = call("or", &[&is_new, &call("eq", &[&place, &number(0)])]).eval()?;
            let first = is_new.true_places()?.eval()?;
            let ends = AnyExpr::concat(&[first.expr(), number(n).broadcast_to([1])], 0);
            let counts = call("sub", &[&ends.slice(0, 1..), &first]);
            let number_of = is_new.cast(DType::U32).reduce("cumsum", [0], ReduceOptions::default());
            let number_of = call("sub", &[&number_of, &number(1)]);
            // The place of each element among those that are sorted.
            let inverse = number_of.take(order.argsort(0), 0);
            let lengths: Vec<isize> = self.shape()?.iter().map(|&n| n as isize).collect();
            Ok(Unique {
                values: sorted.take(&first, 0).eval()?,
                counts: counts.eval()?,
                inverse: inverse.reshape(lengths).eval()?,
                indices: order.take(&first, 0).eval()?,
            })
        })
    }
}

impl<T: Element> Expr<T> {
    /// The elements where a mask is true, in row-major order (NumPy `x[mask]`; ONNX `Compress`). The mask has the leading
    /// axes of the operand, in place of which one axis stands. How many are true is read back.
    ///
    /// # Errors
    /// When the mask has other lengths, or the first mistake that was made while building; and as
    /// [`to_vec`](Self::to_vec).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1, 2, 3, 4], [4])?;
    /// assert_eq!(x.compress(x.gt(2))?.to_vec()?, [3, 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn compress(&self, mask: impl IntoExpr<bool>) -> Result<Tensor<T>> {
        Ok(Tensor::face(self.untyped().compress(mask.into_expr())?))
    }

    /// The coordinates of the elements that are not zero, in row-major order: a row for each axis, and a column for each
    /// element (ONNX `NonZero`; NumPy `nonzero`). How many there are is read back.
    /// [`nonzero_padded`](Self::nonzero_padded) reads nothing.
    ///
    /// # Errors
    /// Of one element without axes; and as [`to_vec`](Self::to_vec).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[0, 7, 0, 5], [2, 2])?;
    /// assert_eq!(x.nonzero()?.to_vec()?, [0, 1, 1, 1]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn nonzero(&self) -> Result<Tensor<u32>> {
        Ok(Tensor::face(self.untyped().nonzero()?))
    }

    /// The different elements, sorted; how often each is there, which of them each element is, and where each is first
    /// (NumPy `unique`). Zeros are equal and all NaN are one, of which the first stands. How many there are is read back.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[5, 3, 5], [3])?;
    /// let found = x.unique()?;
    /// assert_eq!((found.values.to_vec()?, found.counts.to_vec()?), (vec![3, 5], vec![1, 2]));
    /// assert_eq!((found.inverse.to_vec()?, found.indices.to_vec()?), (vec![1, 0, 1], vec![1, 0]));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn unique(&self) -> Result<Unique<Tensor<T>, Tensor<u32>>> {
        let Unique { values, counts, inverse, indices } = self.untyped().unique()?;
        let [counts, inverse, indices] = [counts, inverse, indices].map(Tensor::face);
        Ok(Unique { values: Tensor::face(values), counts, inverse, indices })
    }
}
