//! A loop nest over the elements of several layouts of one shape: the fewest axes, and the strides of each layout.

use std::cmp::Reverse;

use smallvec::SmallVec;

use super::{Layout, Shape};

/// An axis of several layouts: its length, and the stride of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub length: usize,
    pub strides: SmallVec<[isize; 8]>,
}

/// Axes, outermost first.
pub(crate) type Axes = SmallVec<[Axis; 6]>;

/// Whether two neighbouring axes of a layout step as one: the stride of the outer, and the stride and the length of the
/// inner.
pub(super) fn is_one(outer: isize, stride: isize, length: usize) -> bool {
    stride.checked_mul(length as isize) == Some(outer)
}

/// The fewest axes that visit the same elements in the same order. Axes of length 1 are dropped, and neighbours merge
/// if every layout steps through them as one axis.
pub(crate) fn merge(axes: impl Iterator<Item = Axis>) -> Axes {
    let mut merged = Axes::new();
    for axis in axes.filter(|axis| axis.length != 1) {
        let merges = |outer: &&mut Axis| {
            let mut strides = outer.strides.iter().zip(&axis.strides);
            strides.all(|(&outer, &stride)| is_one(outer, stride, axis.length))
        };
        match merged.last_mut().filter(merges) {
            Some(outer) => *outer = Axis { length: outer.length * axis.length, ..axis },
            None => merged.push(axis),
        }
    }
    merged
}

/// The steps of a layout through a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// The first element.
    pub offset: usize,
    /// The stride along each axis.
    pub strides: SmallVec<[isize; 6]>,
}

/// Axes, outermost first, and the path of each layout over them.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    pub lengths: SmallVec<[usize; 6]>,
    pub paths: Vec<Path>,
}

impl Nest {
    /// The nest of some axes and layouts, with the offset of each layout.
    pub(crate) fn of<'a>(
        offsets: impl Iterator<Item = usize>,
        axes: impl Iterator<Item = &'a Axis> + Clone,
    ) -> Nest {
        let strides = |i: usize| axes.clone().map(|axis| axis.strides[i]).collect();
        let paths = offsets.enumerate().map(|(i, offset)| Path { offset, strides: strides(i) }).collect();
        Nest { lengths: axes.clone().map(|axis| axis.length).collect(), paths }
    }

    /// The nest of layouts of one shape, in row-major order.
    pub(crate) fn row_major(shape: &Shape, layouts: &[&Layout]) -> Nest {
        let mut nest = Nest::without_axes(layouts);
        (0..shape.rank()).for_each(|k| nest.push(shape[k], |i| layouts[i].strides()[k]));
        nest
    }

    /// The nest of layouts of one non-empty shape, in the order of the first layout, whose strides become positive. So
    /// neighbouring invocations write neighbouring elements. At least one axis stays.
    pub(crate) fn ordered(shape: &Shape, layouts: &[&Layout]) -> Nest {
        let output = layouts[0].strides();
        let mut order: SmallVec<[usize; 6]> = (0..shape.rank()).collect();
        order.sort_by_key(|&k| Reverse(output[k].unsigned_abs()));
        let mut nest = Nest::without_axes(layouts);
        for k in order {
            if output[k] < 0 {
                let last = shape[k] as isize - 1;
                let ends = layouts.iter().map(|layout| layout.strides()[k] * last);
                let move_to =
                    |(path, end): (&mut Path, isize)| path.offset = (path.offset as isize + end) as usize;
                nest.paths.iter_mut().zip(ends).for_each(move_to);
            }
            let sign = if output[k] < 0 { -1 } else { 1 };
            nest.push(shape[k], |i| sign * layouts[i].strides()[k]);
        }
        if nest.lengths.is_empty() {
            nest.lengths.push(1);
            nest.paths.iter_mut().enumerate().for_each(|(i, path)| path.strides.push(isize::from(i == 0)));
        }
        nest
    }

    fn without_axes(layouts: &[&Layout]) -> Nest {
        let path = |layout: &&Layout| Path { offset: layout.offset(), strides: SmallVec::new() };
        Nest { lengths: SmallVec::new(), paths: layouts.iter().map(path).collect() }
    }

    /// Adds an innermost axis with a stride for each path, as [`merge`] does.
    fn push(&mut self, length: usize, stride: impl Fn(usize) -> isize) {
        if length == 1 {
            return;
        }
        let follows = |(i, path): (usize, &Path)| {
            path.strides.last().is_some_and(|&outer| is_one(outer, stride(i), length))
        };
        let merges = !self.lengths.is_empty() && self.paths.iter().enumerate().all(follows);
        match self.lengths.last_mut().filter(|_| merges) {
            Some(outer) => *outer *= length,
            None => self.lengths.push(length),
        }
        for (i, path) in self.paths.iter_mut().enumerate() {
            match path.strides.last_mut().filter(|_| merges) {
                Some(outer) => *outer = stride(i),
                None => path.strides.push(stride(i)),
            }
        }
    }

    /// All elements.
    pub(crate) fn count(&self) -> usize {
        self.lengths.iter().product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(list: &[(usize, &[isize])]) -> Axes {
        list.iter().map(|&(length, strides)| Axis { length, strides: strides.into() }).collect()
    }

    #[test]
    fn neighbours_merge_where_all_walk_them_as_one() {
        // A contiguous result, and an operand that repeats along the second axis.
        let all = axes(&[(2, &[60, 12]), (1, &[7, 7]), (5, &[12, 0]), (4, &[3, 3]), (3, &[1, 1])]);
        let merged = merge(all.into_iter());
        assert_eq!(merged, axes(&[(2, &[60, 12]), (5, &[12, 0]), (12, &[1, 1])]));
    }

    #[test]
    fn one_element_has_no_axes() {
        assert!(merge(axes(&[(1, &[1]), (1, &[1])]).into_iter()).is_empty());
    }

    fn collapsed(shape: &[usize], operands: &[&[usize]]) -> Nest {
        let shape = Shape::from(shape);
        let output = Layout::contiguous(&shape).unwrap();
        let views: Vec<Layout> =
            operands.iter().map(|&s| Layout::contiguous(s).unwrap().broadcast_to(&shape).unwrap()).collect();
        let all: Vec<&Layout> = std::iter::once(&output).chain(&views).collect();
        Nest::ordered(&shape, &all)
    }

    /// The published expectations of TensorFlow's `bcast_test.cc`: the collapsed lengths of each
    /// operand, 1 where it stretches.
    #[test]
    fn tensorflow_expectations() {
        let text = include_str!("../../tests/data/collapse.jsonl");
        let numbers = |value: &serde_json::Value| -> Vec<usize> {
            value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
        };
        let mut checked = 0;
        for line in text.lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            let (x, y) = (numbers(&case["x"]), numbers(&case["y"]));
            let shape = crate::Broadcast::NumPy.shape(&x, &y).unwrap();
            if case["fewer_dims_optimization"] == false || shape.count().unwrap() == 0 {
                continue;
            }
            let got = collapsed(&shape, &[&x, &y]);
            let lengths = |i: usize| -> Vec<usize> {
                let stretch = |(&n, &s): (&usize, &isize)| if s == 0 { 1 } else { n };
                got.lengths.iter().zip(&got.paths[i].strides).map(stretch).collect()
            };
            assert_eq!(lengths(1), numbers(&case["x_reshape"]), "{}", case["id"]);
            assert_eq!(lengths(2), numbers(&case["y_reshape"]), "{}", case["id"]);
            checked += 1;
        }
        assert!(checked >= 10, "only {checked} cases apply");
    }

    #[test]
    fn equal_shapes_become_one_axis() {
        let got = collapsed(&[4, 1, 5, 6], &[&[4, 1, 5, 6], &[4, 1, 5, 6]]);
        assert_eq!(got.lengths.as_slice(), [120]);
    }

    #[test]
    fn channels_split_three_ways() {
        let got = collapsed(&[2, 3, 4, 5], &[&[2, 3, 4, 5], &[3, 1, 1]]);
        assert_eq!(got.lengths.as_slice(), [2, 3, 20]);
        assert_eq!(got.paths[2].strides.as_slice(), [0, 1, 0]);
    }

    #[test]
    fn axes_follow_a_permuted_and_reversed_output() {
        let shape = Shape::from([3, 4]);
        let output = Layout::contiguous([4, 3]).unwrap().permute(&[1, 0]).unwrap();
        let output = output.flip(0).unwrap().flip(1).unwrap();
        let got = Nest::ordered(&shape, &[&output, &output]);
        assert_eq!(got.lengths.as_slice(), [12]);
        assert_eq!(got.paths[1], Path { offset: 0, strides: SmallVec::from_slice(&[1]) });
    }

    #[test]
    fn one_element_is_one_axis() {
        assert_eq!(collapsed(&[1, 1], &[&[]]).lengths.as_slice(), [1]);
    }
}
