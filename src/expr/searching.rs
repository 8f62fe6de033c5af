//! Searches: places in sorted elements, and elements among others.

use super::both::{built, on_both};
use super::{AnyExpr, Expr, IntoExpr};
use crate::dtype::{DType, Element, Kind};
use crate::error::{Result, bail};
use crate::ir::Op;

/// The side of equal elements on which a value is placed in sorted elements (NumPy `searchsorted`).
///
/// ```
/// use zerostride::{Device, Side};
///
/// let sorted = Device::cpu().upload(&[1, 2, 2, 3], [4])?;
/// assert_eq!(sorted.searchsorted(2, Side::Left).item()?, 1);
/// assert_eq!(sorted.searchsorted(2, Side::Right).item()?, 3);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Before them.
    #[default]
    Left,
    /// After them.
    Right,
}

impl AnyExpr {
    fn searched(&self, values: &AnyExpr, side: Side) -> Result<AnyExpr> {
        let (sorted, dtype, shape) = (self.shape()?, self.dtype()?, values.shape()?);
        let other = values.dtype()?;
        if dtype != other {
            bail!(
                Operation,
                "searchsorted takes operands of one type and got {dtype} and {other}: cast one of them"
            );
        }
        let [length] = sorted[..] else {
            bail!(Shape, "searchsorted in {sorted}: the sorted operand has one axis");
        };
        let zero = self.cast(DType::I32).of_constant(0, shape)?;
        if length == 0 || shape.contains(&0) {
            return Ok(zero.cast(DType::U32));
        }
        let Ok(most) = i32::try_from(length) else {
            bail!(
                Limit,
                "searchsorted in {sorted}: the sorted operand has fewer than 2^31 elements, so search a slice"
            );
        };
        let table = self.shared();
        let is_before = |index: &AnyExpr| {
            let element: AnyExpr = built(|| table.found(std::slice::from_ref(index)));
            let is_before = match side {
                Side::Left => element.op(Op::Lt, values),
                Side::Right => element.op(Op::Le, values),
            };
            if dtype.kind() != Kind::Float {
                return is_before;
            }
            // NaN is the greatest.
            let is_nan = values.map(Op::IsNan);
            let is_last = match side {
                Side::Right => is_nan,
                Side::Left => is_nan.op(Op::And, element.map(Op::IsNan).map(Op::Not)),
            };
            is_before.op(Op::Or, &is_last)
        };
        Ok(zero.first_not(most, is_before).cast(DType::U32))
    }

    /// For each of these zeros the first index below `length` of which `is_before` is false, or the length. Of the indices
    /// before it is true, and of those after it false.
    pub(crate) fn first_not(&self, length: i32, is_before: impl Fn(&AnyExpr) -> AnyExpr) -> AnyExpr {
        // The count of indices before, bit by bit from the highest.
        let number = |value: i32| AnyExpr::scalar(DType::I32, value);
        let Some(turns) = length.checked_ilog2().map(|bits| bits + 1) else { return self.clone() };
        let (most, one) = (number(length), number(1));
        let mut found = AnyExpr::repeat(turns, &[self.clone(), number(1 << (turns - 1))], |state| {
            let [count, bit] = state else { return state.to_vec() };
            let next = count.op(Op::Add, bit);
            let is_before = is_before(&next.op(Op::Min, &most).op(Op::Sub, &one));
            let is_more = next.op(Op::Le, &most).op(Op::And, &is_before);
            vec![is_more.select(&next, count), bit.op(Op::Shr, &one)]
        });
        found.swap_remove(0)
    }

    fn among(&self, test: &AnyExpr) -> Result<AnyExpr> {
        let test = test.flat()?;
        let Some(last) = test.shape()?[0].checked_sub(1) else {
            return self.cast(DType::Bool).of_constant(0, self.shape()?);
        };
        let sorted = test.sort(0).shared();
        let place = sorted.searched(self, Side::Left)?.cast(DType::I32);
        let place = place.op(Op::Min, AnyExpr::scalar(DType::I32, last as i64));
        Ok(sorted.found(&[place])?.op(Op::Eq, self))
    }
}

on_both! {
    /// Searches in sorted elements. NaN is the greatest.
    examples of f32 ["[3.0_f32, 1.0, 2.0, 1.0], [4]", "# use zerostride::Side;", "let y = device.upload(&[1.0_f32, 2.5], [2])?;"];
    /// For each value the number of elements of this sorted axis before it, which is where the value would be inserted (NumPy
    /// `searchsorted`, and `digitize` with sorted bins; PyTorch `bucketize`). Without sorted elements the result has no
    /// meaning.
    #[doc(alias = "digitize")]
    #[doc(alias = "bucketize")]
    searchsorted(; values, side: Side) -> u32, "x.sort(0).searchsorted(&y, Side::Right)" => "[2, 3]",
        |x| x.searched(values, side);
    /// Whether each element equals one of some others, of any shape (NumPy `isin`). NaN equals none.
    isin(; test) -> bool, "x.isin(&y)" => "[false, true, false, true]", |x| x.among(test);
}
