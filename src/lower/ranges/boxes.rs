//! Boxes of indexes, what a layout reaches from one, and where to cut it.

use smallvec::SmallVec;

use super::GRAIN;
use crate::layout::Path;
use crate::plan::LANES;

/// A range of indexes on every axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ranges {
    pub starts: SmallVec<[usize; 6]>,
    pub lengths: SmallVec<[usize; 6]>,
}

/// Where ranges are cut in two: before an index of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub axis: usize,
    pub before: usize,
}

impl Ranges {
    pub(super) fn end(&self, axis: usize) -> usize {
        self.starts[axis] + self.lengths[axis]
    }

    pub(super) fn cut(self, Cut { axis, before }: Cut) -> (Ranges, Ranges) {
        let (mut low, mut high) = (self.clone(), self);
        low.lengths[axis] = before - low.starts[axis];
        high.lengths[axis] -= low.lengths[axis];
        high.starts[axis] = before;
        (low, high)
    }

    /// An index within an axis near to one there: of the next whole grain, if that is inside.
    pub(super) fn near(&self, axis: usize, index: usize, up: bool) -> usize {
        let whole = if up { index.next_multiple_of(GRAIN) } else { index / GRAIN * GRAIN };
        if (self.starts[axis] + 1..self.end(axis)).contains(&whole) { whole } else { index }
    }
}

/// What a layout reaches over the axes of a nest.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    pub path: Path,
    /// How far computed indices may lead, down and up from where the axes do.
    pub computed: (usize, usize),
}

impl Reach {
    /// The elements between the first and the last along an axis of some ranges.
    pub(super) fn spread(&self, ranges: &Ranges, axis: usize) -> usize {
        (ranges.lengths[axis] - 1) * self.path.strides[axis].unsigned_abs()
    }

    pub(super) fn first(&self, ranges: &Ranges) -> usize {
        let steps =
            self.path.strides.iter().zip(&ranges.starts).map(|(&stride, &start)| stride * start as isize);
        (self.path.offset as isize + steps.sum::<isize>()) as usize
    }

    /// The least and the greatest element.
    pub(super) fn reach(&self, ranges: &Ranges) -> (usize, usize) {
        let axes = 0..self.path.strides.len();
        let first = self.first(ranges);
        let (mut low, mut high) = (first - self.computed.0, first + self.computed.1);
        for axis in axes {
            match self.path.strides[axis] < 0 {
                true => low -= self.spread(ranges, axis),
                false => high += self.spread(ranges, axis),
            }
        }
        (low, high)
    }

    pub(super) fn axes<'a>(&'a self, ranges: &'a Ranges) -> impl Iterator<Item = usize> + use<'a> {
        (0..self.path.strides.len()).filter(|&axis| ranges.lengths[axis] > 1 && self.path.strides[axis] != 0)
    }

    /// Where to cut so that a buffer that begins with an element is on one side: the longest way to all that
    /// is before it, or to all that is not.
    pub(super) fn cut_at(&self, ranges: &Ranges, element: usize) -> Option<Cut> {
        let (low, high) = self.reach(ranges);
        let mut axes: SmallVec<[usize; 6]> = self.axes(ranges).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(self.spread(ranges, axis)));
        axes.into_iter().find_map(|axis| {
            let (stride, spread) = (self.path.strides[axis].unsigned_abs(), self.spread(ranges, axis));
            let others = high - low - spread;
            // Steps up that stay before the buffer whatever the others do, or else reach it anyway.
            let before = (element - 1).checked_sub(low + others).map(|rest| rest / stride + 1);
            let reach = (element - low).div_ceil(stride);
            let (steps, is_before) = match before {
                Some(before) => (before, true),
                None => (reach, false),
            };
            if steps >= ranges.lengths[axis] {
                return None;
            }
            let ascends = self.path.strides[axis] > 0;
            let index = if ascends { ranges.starts[axis] + steps } else { ranges.end(axis) - steps };
            // Rounded towards the side that has all of its elements in one buffer.
            Some(Cut { axis, before: ranges.near(axis, index, ascends != is_before) })
        })
    }

    /// Where to cut so that the first part reaches over `most` elements at most.
    pub(super) fn cut_to(&self, ranges: &Ranges, most: usize) -> Option<Cut> {
        let (low, high) = self.reach(ranges);
        let parts = |axis: usize| {
            let others = high - low - self.spread(ranges, axis);
            let steps = most.checked_sub(1 + others)? / self.path.strides[axis].unsigned_abs() + 1;
            Some((axis, steps, ranges.lengths[axis].div_ceil(steps)))
        };
        let all: SmallVec<[(usize, usize, usize); 6]> = self.axes(ranges).filter_map(parts).collect();
        let least = all.iter().map(|&(.., parts)| parts).min()?;
        // Into twice as many parts, if that leaves together what is few, as channels are.
        let is_long =
            |&&(axis, _, parts): &&(usize, usize, usize)| ranges.lengths[axis] > LANES && parts <= 2 * least;
        let fewest = |&&(_, _, parts): &&(usize, usize, usize)| parts;
        let &(axis, steps, parts) =
            all.iter().filter(is_long).min_by_key(fewest).or_else(|| all.iter().min_by_key(fewest))?;
        let start = ranges.starts[axis];
        let even = start + ranges.lengths[axis].div_ceil(parts);
        let up = even.next_multiple_of(GRAIN);
        let before = if up <= start + steps { up } else { ranges.near(axis, even, false) };
        (before < ranges.end(axis)).then_some(Cut { axis, before })
    }

    /// The middle of the axis along which elements are furthest apart.
    pub(super) fn halve(&self, ranges: &Ranges) -> Option<Cut> {
        let axis = self.axes(ranges).max_by_key(|&axis| self.spread(ranges, axis))?;
        Some(Cut { axis, before: ranges.starts[axis] + ranges.lengths[axis] / 2 })
    }
}
