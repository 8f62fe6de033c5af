//! Boxes of indices, the elements that a layout reaches from a box, and places to cut it.

use smallvec::SmallVec;

use super::GRAIN;
use crate::layout::Path;
use crate::plan::LANES;

/// A range of indices for every axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ranges {
    pub starts: SmallVec<[usize; 6]>,
    pub lengths: SmallVec<[usize; 6]>,
}

/// A cut of ranges in two, before an index of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub axis: usize,
    pub before: usize,
}

impl Ranges {
    pub(super) fn all(lengths: SmallVec<[usize; 6]>) -> Ranges {
        Ranges { starts: SmallVec::from_elem(0, lengths.len()), lengths }
    }

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

    /// An index of an axis near the given one: at the next whole grain, if that is inside.
    pub(super) fn near(&self, axis: usize, index: usize, up: bool) -> usize {
        let whole = if up { index.next_multiple_of(GRAIN) } else { index / GRAIN * GRAIN };
        if (self.starts[axis] + 1..self.end(axis)).contains(&whole) { whole } else { index }
    }
}

/// The elements that a layout reaches over the axes of a nest.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    pub path: Path,
    /// The reach of computed indices, down and up.
    pub computed: (usize, usize),
}

impl Reach {
    /// The distance from the first element to the last along an axis of some ranges.
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

    /// The cut that leaves a buffer's begin on one side: it takes the longest range of everything before it, or of
    /// everything after it.
    pub(super) fn cut_at(&self, ranges: &Ranges, element: usize) -> Option<Cut> {
        let (low, high) = self.reach(ranges);
        let mut axes: SmallVec<[usize; 6]> = self.axes(ranges).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(self.spread(ranges, axis)));
        axes.into_iter().find_map(|axis| {
            let (stride, spread) = (self.path.strides[axis].unsigned_abs(), self.spread(ranges, axis));
            let others = high - low - spread;
            // Upward steps that stay before the buffer whatever the others do; otherwise steps that reach it in any
            // case.
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

    /// The cut whose first part reaches at most `most` elements.
    pub(super) fn cut_to(&self, ranges: &Ranges, most: usize) -> Option<Cut> {
        let (low, high) = self.reach(ranges);
        let parts = |axis: usize| {
            let others = high - low - self.spread(ranges, axis);
            let steps = most.checked_sub(1 + others)? / self.path.strides[axis].unsigned_abs() + 1;
            Some((axis, steps, ranges.lengths[axis].div_ceil(steps)))
        };
        let all: SmallVec<[(usize, usize, usize); 6]> = self.axes(ranges).filter_map(parts).collect();
        let least = all.iter().map(|&(.., parts)| parts).min()?;
        // Into twice as many parts, if that keeps short axes, such as channels, together.
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

    /// The middle of the axis along which elements lie furthest apart.
    pub(super) fn halve(&self, ranges: &Ranges) -> Option<Cut> {
        let axis = self.axes(ranges).max_by_key(|&axis| self.spread(ranges, axis))?;
        Some(Cut { axis, before: ranges.starts[axis] + ranges.lengths[axis] / 2 })
    }
}
