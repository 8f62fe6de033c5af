//! Views: other layouts of the same storage, which move no element.

use std::ops::Bound;

use super::{IndexRange, IndexRanges, Layout, Shape, Strides};
use crate::error::{Result, bail};

/// `axis` counted from the front; negative axes count from the back.
fn resolve_axis(axis: isize, rank: usize, shape: &Shape) -> Result<usize> {
    let from_front = if axis < 0 { axis + rank as isize } else { axis };
    if (0..rank as isize).contains(&from_front) {
        return Ok(from_front as usize);
    }
    match rank {
        0 => bail!(Axis, "axis {axis} of {shape}, which has no axes"),
        _ => bail!(Axis, "axis {axis} of {shape} is out of range: axes go from -{rank} to {}", rank - 1),
    }
}

impl Layout {
    /// The index that `axis` names; negative axes count from the back.
    ///
    /// # Errors
    /// When there is no such axis.
    pub fn axis(&self, axis: isize) -> Result<usize> {
        resolve_axis(axis, self.rank(), &self.shape)
    }

    /// Axes in another order: axis `k` of the result is axis `axes[k]` of this.
    ///
    /// # Errors
    /// When `axes` does not name every axis exactly once.
    ///
    /// ```
    /// use zerostride::Layout;
    ///
    /// let hwc = Layout::contiguous([4, 5, 3])?;
    /// let chw = hwc.permute(&[2, 0, 1])?;
    /// assert_eq!(chw.shape(), &[3, 4, 5]);
    /// assert_eq!(chw.strides(), [1, 15, 3]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn permute(&self, axes: &[isize]) -> Result<Layout> {
        if axes.len() != self.rank() {
            bail!(Axis, "permute of {} needs {} axes, got {axes:?}", self.shape, self.rank());
        }
        let mut seen = [false; super::MAX_RANK];
        let mut order = Vec::with_capacity(axes.len());
        for &axis in axes {
            let k = self.axis(axis)?;
            if std::mem::replace(&mut seen[k], true) {
                bail!(Axis, "permute of {} by {axes:?} names axis {k} twice", self.shape);
            }
            order.push(k);
        }
        Ok(Layout {
            shape: order.iter().map(|&k| self.shape[k]).collect(),
            strides: order.iter().map(|&k| self.strides[k]).collect(),
            offset: self.offset,
        })
    }

    /// Two axes exchanged.
    ///
    /// # Errors
    /// When either axis does not exist.
    pub fn transpose(&self, a: isize, b: isize) -> Result<Layout> {
        let (a, b) = (self.axis(a)?, self.axis(b)?);
        let mut axes: Vec<isize> = (0..self.rank() as isize).collect();
        axes.swap(a, b);
        self.permute(&axes)
    }

    /// Every `step`-th index of `range` along `axis`, as Python's `[start:end:step]`, except that bounds outside of the
    /// axis are errors. Negative bounds count from the end. A negative step goes down from `start` (by default the last
    /// index) and stops before `end`.
    ///
    /// # Errors
    /// When the axis does not exist, a bound lies outside of it, or `step` is 0.
    ///
    /// ```
    /// use zerostride::Layout;
    ///
    /// let x = Layout::contiguous([10])?;
    /// let at = |l: Layout| l.addresses().collect::<Vec<_>>();
    /// assert_eq!(at(x.slice(0, 2..8, 3)?), [2, 5]);
    /// assert_eq!(at(x.slice(0, -3.., 1)?), [7, 8, 9]);
    /// assert_eq!(at(x.slice(0, 8..2, -2)?), [8, 6, 4]);
    /// assert_eq!(at(x.slice(0, .., -4)?), [9, 5, 1]);
    /// assert!(x.slice(0, 4..11, 1).is_err());
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn slice(&self, axis: isize, range: impl IndexRange, step: isize) -> Result<Layout> {
        let k = self.axis(axis)?;
        let n = self.shape[k] as isize;
        if step == 0 {
            bail!(Axis, "slice of axis {k} of {} by a step of 0", self.shape);
        }
        let within = |bound: isize, limit: isize| -> Result<isize> {
            let index = if bound < 0 { bound.saturating_add(n) } else { bound };
            match (0..=limit).contains(&index) {
                true => Ok(index),
                false => bail!(
                    Axis,
                    "slice bound {bound} is outside of axis {k} of {}, which has length {n}",
                    self.shape
                ),
            }
        };
        let (from, to) = range.bounds();
        let start = match from {
            Bound::Included(bound) => Some(within(bound, n)?),
            Bound::Excluded(bound) => Some(within(bound, n)? + step.signum()),
            Bound::Unbounded => None,
        };
        let end = match to {
            Bound::Included(bound) => Some(within(bound, n - 1)? + step.signum()),
            Bound::Excluded(bound) => Some(within(bound, n)?),
            Bound::Unbounded => None,
        };
        // A negative step begins at the last index even if the bound is one past it.
        let (start, end) = match step > 0 {
            true => (start.unwrap_or(0).min(n), end.unwrap_or(n).min(n)),
            false => (start.unwrap_or(n - 1).min(n - 1), end.unwrap_or(-1)),
        };
        let distance = if step > 0 { end - start } else { start - end };
        let count = usize::try_from(distance).map_or(0, |d| d.div_ceil(step.unsigned_abs()));
        let mut view = self.clone();
        view.shape = view.shape.with(k, count);
        if count > 0 && !self.shape.contains(&0) {
            view.offset = (self.offset as isize + start * self.strides[k]) as usize;
            // Reached only if there are two indices, so the product stays inside the storage.
            view.strides[k] = if count > 1 { self.strides[k] * step } else { self.strides[k] };
        }
        Ok(view)
    }

    /// A range of indices along each of the first axes. Later axes stay whole.
    ///
    /// # Errors
    /// When there are more ranges than axes, or as [`slice`](Self::slice).
    ///
    /// ```
    /// use zerostride::Layout;
    ///
    /// let inner = Layout::contiguous([4, 5])?.slices((1..-1, 1..-1))?;
    /// assert_eq!((inner.shape(), inner.offset()), (&[2, 3].into(), 6));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn slices(&self, ranges: impl IndexRanges) -> Result<Layout> {
        let ranges = ranges.ranges();
        if ranges.len() > self.rank() {
            bail!(
                Axis,
                "slices of {} by {} ranges, which is more than it has axes",
                self.shape,
                ranges.len()
            );
        }
        let slice = |view: Layout, (k, range)| {
            self.slice(k as isize, range, 1)?; // whose mistake names this shape
            view.slice(k as isize, range, 1)
        };
        ranges.into_iter().enumerate().try_fold(self.clone(), slice)
    }

    /// One element: a shape without axes.
    pub(crate) fn element(&self, index: &[isize]) -> Result<Layout> {
        if index.len() != self.rank() {
            bail!(Axis, "get {index:?} of {}, which has {} axes: an index for each", self.shape, self.rank());
        }
        let mut offset = self.offset as isize;
        for (k, (&i, &stride)) in index.iter().zip(&self.strides).enumerate() {
            let n = self.shape[k] as isize;
            let place = if i < 0 { i.saturating_add(n) } else { i };
            if !(0..n).contains(&place) {
                bail!(
                    Axis,
                    "get {index:?} of {}: index {i} is outside of axis {k}, which has length {n}",
                    self.shape
                );
            }
            offset += place * stride;
        }
        let offset = offset as usize;
        Ok(Layout { shape: Shape::default(), strides: Strides::new(), offset })
    }

    /// `axis` in reverse.
    ///
    /// # Errors
    /// When the axis does not exist.
    pub fn flip(&self, axis: isize) -> Result<Layout> {
        self.slice(axis, .., -1)
    }

    /// Drops `axis`, which must have length 1.
    ///
    /// # Errors
    /// When the axis does not exist or has another length.
    pub fn squeeze(&self, axis: isize) -> Result<Layout> {
        let k = self.axis(axis)?;
        if self.shape[k] != 1 {
            bail!(
                Shape,
                "squeeze of axis {k} of {}, which has length {} and not 1",
                self.shape,
                self.shape[k]
            );
        }
        let keep = |i: usize| i != k;
        Ok(Layout {
            shape: (0..self.rank()).filter(|&i| keep(i)).map(|i| self.shape[i]).collect(),
            strides: (0..self.rank()).filter(|&i| keep(i)).map(|i| self.strides[i]).collect(),
            offset: self.offset,
        })
    }

    /// Adds an axis of length 1 before index `axis` of the result.
    ///
    /// # Errors
    /// When the result has no such axis.
    pub fn unsqueeze(&self, axis: isize) -> Result<Layout> {
        let k = resolve_axis(axis, self.rank() + 1, &self.shape)?;
        let mut shape = self.shape.to_vec();
        let mut strides = self.strides.clone();
        shape.insert(k, 1);
        strides.insert(k, 0);
        let shape = Shape::from(shape);
        shape.count()?;
        Ok(Layout { shape, strides, offset: self.offset })
    }

    /// Stretched to `shape` in one direction: axes align at the end, each has length 1 or that of
    /// the target, new axes lead. Stretched axes get stride 0 (NumPy `broadcast_to`).
    ///
    /// # Errors
    /// When an axis can neither stay nor stretch, or the element count overflows.
    pub fn broadcast_to(&self, shape: &Shape) -> Result<Layout> {
        let signed: Option<Vec<isize>> = shape.iter().map(|&n| isize::try_from(n).ok()).collect();
        match signed {
            Some(target) => self.expand(&target),
            None => bail!(Overflow, "the element count of {shape} overflows {} bits", usize::BITS),
        }
    }

    /// [`broadcast_to`](Self::broadcast_to) with -1 for an axis that keeps its length (PyTorch
    /// `expand`).
    ///
    /// # Errors
    /// When an axis can neither stay nor stretch, -1 names a new axis, or the count overflows.
    pub fn expand(&self, target: &[isize]) -> Result<Layout> {
        Ok(self.stretched(&super::Broadcast::expand(&self.shape, target)?))
    }

    /// Another shape of equally many elements in the same order, if no copy is needed. One length may be -1: the others
    /// determine it.
    ///
    /// # Errors
    /// When the counts differ, or when no strides describe the elements in the new shape.
    ///
    /// ```
    /// use zerostride::Layout;
    ///
    /// let x = Layout::contiguous([4, 6])?;
    /// assert_eq!(x.reshape(&[2, -1, 3])?.shape(), &[2, 4, 3]);
    /// assert!(x.transpose(0, 1)?.reshape(&[24]).is_err());
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn reshape(&self, target: &[isize]) -> Result<Layout> {
        let shape = self.resolve_reshape(target)?;
        if self.count() == 0 {
            return Ok(Self::row_major(shape, self.offset));
        }
        // The steps, reduced to independent axes. The new axes must tile these one by one.
        let walk = self.simplified();
        let mut pieces = walk.shape.iter().copied().zip(walk.strides.iter().copied()).rev();
        let (mut left, mut stride) = pieces.next().unwrap_or((1, 1));
        let mut strides = Strides::new();
        for &n in shape.iter().rev() {
            if left == 1 && n > 1 {
                (left, stride) = pieces.next().unwrap_or((1, 1));
            }
            if left % n != 0 {
                bail!(
                    Shape,
                    "cannot view {} with strides {:?} as {shape}: no strides describe it, so evaluate first and reshape the result",
                    self.shape,
                    self.strides
                );
            }
            strides.push(stride);
            stride = stride.wrapping_mul(n as isize);
            left /= n;
        }
        strides.reverse();
        Ok(Layout { shape, strides, offset: self.offset })
    }

    fn resolve_reshape(&self, target: &[isize]) -> Result<Shape> {
        let count = self.count();
        if let Some(&bad) = target.iter().find(|&&n| n < -1) {
            bail!(Shape, "reshape of {} to {target:?}: {bad} is no length", self.shape);
        }
        if target.iter().filter(|&&n| n == -1).count() > 1 {
            bail!(Shape, "reshape of {} to {target:?}: only one length may be -1", self.shape);
        }
        let mut shape: Shape = target.iter().map(|&n| if n == -1 { 1 } else { n as usize }).collect();
        let known = shape.count()?;
        if let Some(open) = target.iter().position(|&n| n == -1) {
            if known == 0 || !count.is_multiple_of(known) {
                bail!(
                    Shape,
                    "reshape of {} to {target:?}: no length for -1 gives {count} elements",
                    self.shape
                );
            }
            shape = shape.with(open, count / known);
        }
        match shape.count()? {
            n if n == count => Ok(shape),
            n => bail!(Shape, "reshape of {} to {shape}: {count} elements and not {n}", self.shape),
        }
    }

    /// Placed in a shape of `rank` axes, beginning at axis `k`. The other axes have length 1.
    pub(crate) fn place(&self, k: usize, rank: usize) -> Layout {
        let own = |i: usize| i.checked_sub(k).filter(|&j| j < self.rank());
        Layout {
            shape: (0..rank).map(|i| own(i).map_or(1, |j| self.shape[j])).collect(),
            strides: (0..rank).map(|i| own(i).map_or(0, |j| self.strides[j])).collect(),
            offset: self.offset,
        }
    }

    /// The coordinates of `shape` along `axis`: a layout in which an element's address is its coordinate.
    pub(crate) fn coordinate(shape: &Shape, axis: isize) -> Result<Layout> {
        shape.count()?;
        let k = resolve_axis(axis, shape.rank(), shape)?;
        if shape[k] > 1 << 31 {
            bail!(
                Limit,
                "axis {k} of {shape} is too long for its coordinates, which are below 2^31: take a slice of it"
            );
        }
        let strides = (0..shape.rank()).map(|i| isize::from(i == k)).collect();
        Ok(Layout { shape: shape.clone(), strides, offset: 0 })
    }
}
