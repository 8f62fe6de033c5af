//! Fewer axes, the same walk: the loop nest that a kernel has to run.

use smallvec::SmallVec;

use crate::layout::{Layout, Shape};

/// How an operand moves through the collapsed axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    pub offset: usize,
    pub strides: SmallVec<[isize; 6]>,
}

/// Collapsed axes, outermost first, and the walk of each layout over them.
#[derive(Clone, Debug)]
pub(crate) struct Collapsed {
    pub lengths: SmallVec<[usize; 6]>,
    pub walks: Vec<Walk>,
}

/// Reduces `layouts`, all of one non-empty shape, to the fewest axes.
///
/// The first layout is the output: axes are ordered by its strides and walked upwards, so that
/// neighbouring invocations write neighbouring elements. Axes of length 1 go; neighbours merge
/// where every layout walks them as one. At least one axis is left.
pub(crate) fn collapse(shape: &Shape, layouts: &[&Layout]) -> Collapsed {
    let output = layouts[0];
    let mut axes: SmallVec<[usize; 6]> = (0..shape.rank()).filter(|&k| shape[k] != 1).collect();
    axes.sort_by_key(|&k| std::cmp::Reverse(output.strides()[k].unsigned_abs()));

    let mut lengths: SmallVec<[usize; 6]> = SmallVec::new();
    let start = |layout: &&Layout| Walk { offset: layout.offset(), strides: SmallVec::new() };
    let mut walks: Vec<Walk> = layouts.iter().map(start).collect();
    for k in axes {
        let n = shape[k];
        let backwards = output.strides()[k] < 0;
        let step = |layout: &Layout| layout.strides()[k] * if backwards { -1 } else { 1 };
        for (walk, layout) in walks.iter_mut().zip(layouts).filter(|_| backwards) {
            walk.offset = (walk.offset as isize + layout.strides()[k] * (n as isize - 1)) as usize;
        }
        let one_walk = |(walk, layout): (&Walk, &&Layout)| {
            walk.strides.last().is_some_and(|&outer| outer == step(layout) * n as isize)
        };
        let merge = walks.iter().zip(layouts).all(one_walk);
        match lengths.last_mut() {
            Some(outer) if merge => *outer *= n,
            _ => lengths.push(n),
        }
        for (walk, layout) in walks.iter_mut().zip(layouts) {
            if merge {
                walk.strides.pop();
            }
            walk.strides.push(step(layout));
        }
    }
    if lengths.is_empty() {
        lengths.push(1);
        walks.iter_mut().for_each(|walk| walk.strides.push(0));
        walks[0].strides[0] = 1;
    }
    Collapsed { lengths, walks }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collapsed(shape: &[usize], operands: &[&[usize]]) -> Collapsed {
        let shape = Shape::from(shape);
        let output = Layout::contiguous(&shape).unwrap();
        let views: Vec<Layout> =
            operands.iter().map(|&s| Layout::contiguous(s).unwrap().broadcast_to(&shape).unwrap()).collect();
        let all: Vec<&Layout> = std::iter::once(&output).chain(&views).collect();
        collapse(&shape, &all)
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
                got.lengths.iter().zip(&got.walks[i].strides).map(stretch).collect()
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
        assert_eq!(got.walks[2].strides.as_slice(), [0, 1, 0]);
    }

    #[test]
    fn axes_follow_a_permuted_and_reversed_output() {
        let shape = Shape::from([3, 4]);
        let output = Layout::contiguous([4, 3]).unwrap().permute(&[1, 0]).unwrap();
        let output = output.flip(0).unwrap().flip(1).unwrap();
        let got = collapse(&shape, &[&output, &output]);
        assert_eq!(got.lengths.as_slice(), [12]);
        assert_eq!(got.walks[1], Walk { offset: 0, strides: SmallVec::from_slice(&[1]) });
    }

    #[test]
    fn one_element_is_one_axis() {
        assert_eq!(collapsed(&[1, 1], &[&[]]).lengths.as_slice(), [1]);
    }
}
