//! Ranges of indexes along an axis.

use std::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// An index along an axis: `usize`, or `isize` and `i32`, of which negative ones count from the end.
pub trait AxisIndex: sealed::Index {}

/// The indexes that a slice takes: `1..`, `..n`, `-3..=-1` and the like, of any [`AxisIndex`].
///
/// ```
/// use zerostride::Layout;
///
/// let row = Layout::contiguous([10])?;
/// let half: usize = 5;
/// assert_eq!(row.slice(0, ..half, 1)?.shape(), &[5]);
/// assert_eq!(row.slice(0, -3.., 1)?.shape(), &[3]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no range of indexes along an axis",
    note = "bounds are i32, isize or usize; negative ones count from the end"
)]
pub trait IndexRange {
    /// Where the range begins and where it ends, negative bounds from the end of the axis.
    fn bounds(self) -> (Bound<isize>, Bound<isize>);
}

mod sealed {
    pub trait Index: Copy {
        fn signed(self) -> isize;
    }
}

macro_rules! indexes {
    ($($t:ident)*) => {$(
        impl sealed::Index for $t {
            fn signed(self) -> isize {
                // No axis is as long as what does not fit.
                isize::try_from(self).unwrap_or(isize::MAX)
            }
        }
        impl AxisIndex for $t {}
    )*};
}
indexes!(i32 isize usize);

fn signed<I: AxisIndex>(range: impl RangeBounds<I>) -> (Bound<isize>, Bound<isize>) {
    (range.start_bound().map(|bound| bound.signed()), range.end_bound().map(|bound| bound.signed()))
}

macro_rules! ranges {
    ($($range:ty)*) => {$(
        impl<I: AxisIndex> IndexRange for $range {
            fn bounds(self) -> (Bound<isize>, Bound<isize>) {
                signed(self)
            }
        }
    )*};
}
ranges!(Range<I> RangeFrom<I> RangeTo<I> RangeInclusive<I> RangeToInclusive<I> (Bound<I>, Bound<I>));

impl IndexRange for RangeFull {
    fn bounds(self) -> (Bound<isize>, Bound<isize>) {
        (Bound::Unbounded, Bound::Unbounded)
    }
}
