//! Integers of any type that name axes, lengths and indices: one, a list, or a range of them.

use std::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use smallvec::SmallVec;

use super::Shape;

/// An axis, or an index along one, as any integer. Negative ones count from the end.
///
/// ```
/// let x = zerostride::Device::cpu().upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// let (last, first): (usize, i64) = (1, -2);
/// assert_eq!((x.sum(last).to_vec()?, x.flip(first).to_vec()?), (vec![6, 15], vec![4, 5, 6, 1, 2, 3]));
/// # Ok::<(), zerostride::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no axis and no index along one",
    note = "axes and indexes are integers of any type; negative ones count from the end"
)]
pub trait AxisIndex: sealed::Index {}

/// Axes, lengths, steps or indexes: one, or an array, a slice, a `Vec` or a [`Shape`] of them, or a reference to one,
/// of any integer.
///
/// ```
/// let x = zerostride::Device::cpu().upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// let (rows, axes): (usize, Vec<u32>) = (3, vec![1, 0]);
/// assert_eq!(x.reshape([rows, 2]).shape()?, &[3, 2]);
/// assert_eq!(x.permute(&axes).shape()?, &[3, 2]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of axes, lengths or steps",
    note = "give an integer of any type, or an array, a slice, a `Vec` or a `Shape` of them"
)]
pub trait Integers: sealed::List {}

/// The indices that a slice takes, such as `1..`, `..n` and `-3..=-1`, of any [`AxisIndex`].
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
    note = "bounds are integers of any type; negative ones count from the end"
)]
pub trait IndexRange {
    /// The begin and the end of the range. Negative bounds count from the end of the axis.
    fn bounds(self) -> (Bound<isize>, Bound<isize>);
}

use sealed::Index as _;

mod sealed {
    pub trait Index: Copy {
        fn signed(self) -> isize;
    }

    pub trait List {
        fn signed_all(&self) -> super::List;
    }
}

pub(crate) type List = SmallVec<[isize; 6]>;

macro_rules! indexes {
    ($($t:ident)*) => {$(
        impl sealed::Index for $t {
            fn signed(self) -> isize {
                // No axis is longer than the greatest number that fits.
                isize::try_from(self).unwrap_or(isize::MAX)
            }
        }
        impl AxisIndex for $t {}
        impl sealed::List for $t {
            fn signed_all(&self) -> List {
                List::from_slice(&[self.signed()])
            }
        }
        impl Integers for $t {}
    )*};
}
indexes!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

macro_rules! lists {
    ($([$($generic:tt)*] $list:ty;)*) => {$(
        impl<$($generic)*> sealed::List for $list {
            fn signed_all(&self) -> List {
                self.iter().map(|&index| index.signed()).collect()
            }
        }
        impl<$($generic)*> Integers for $list {}
    )*};
}
lists! {
    [I: AxisIndex, const N: usize] [I; N];
    [I: AxisIndex, const N: usize] &[I; N];
    [I: AxisIndex] &[I];
    [I: AxisIndex] Vec<I>;
    [I: AxisIndex] &Vec<I>;
    [] Shape;
    [] &Shape;
}

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

/// A range for each of several axes: a tuple of up to six [`IndexRange`]s, or an array or a `Vec` of equal ones.
///
/// ```
/// let x = zerostride::Device::cpu().upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// assert_eq!(x.slices((1.., ..-1)).to_vec()?, [4, 5]);
/// assert_eq!(x.slices([0..1]).to_vec()?, [1, 2, 3]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tuple of ranges",
    note = "give a range for each axis, as `(.., 1..-1)`; one axis alone has `slice`"
)]
pub trait IndexRanges {
    /// The bounds of each range.
    fn ranges(self) -> Vec<(Bound<isize>, Bound<isize>)>;
}

macro_rules! several {
    ($([$($generic:tt)*] $list:ty;)*) => {$(
        impl<R: IndexRange, $($generic)*> IndexRanges for $list {
            fn ranges(self) -> Vec<(Bound<isize>, Bound<isize>)> {
                self.into_iter().map(IndexRange::bounds).collect()
            }
        }
    )*};
    ($($($range:ident)+;)*) => {$(
        #[allow(non_snake_case)]
        impl<$($range: IndexRange),+> IndexRanges for ($($range,)+) {
            fn ranges(self) -> Vec<(Bound<isize>, Bound<isize>)> {
                let ($($range,)+) = self;
                vec![$($range.bounds()),+]
            }
        }
    )*};
}
several!([const N: usize] [R; N]; [] Vec<R>;);
several!(A; A B; A B C; A B C D; A B C D E; A B C D E F;);
