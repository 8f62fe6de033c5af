//! Fewer axes, the same elements: the loops that a kernel has to run.

use smallvec::SmallVec;

use super::walk::LANES;
use crate::ir::Program;
use crate::layout::{Axes, Axis, Layout, Shape, merge};

/// How the addresses of a tensor move through the loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub offset: usize,
    pub strides: SmallVec<[isize; 6]>,
}

/// Collapsed axes, outermost first, and the path of each layout over them.
#[derive(Clone, Debug)]
pub(super) struct Loops {
    pub lengths: SmallVec<[usize; 6]>,
    /// That of the output, then those of the operands.
    pub paths: Vec<Path>,
}

/// Reduces `layouts`, all of one non-empty shape, to the fewest axes.
///
/// The first layout is the output: axes are ordered by its strides and walked upwards, so that
/// neighbouring invocations write neighbouring elements. Axes of length 1 go; neighbours merge
/// where every layout walks them as one. At least one axis is left.
pub(super) fn collapse(shape: &Shape, layouts: &[&Layout]) -> Loops {
    let output = layouts[0];
    let mut axes: SmallVec<[usize; 6]> = (0..shape.rank()).filter(|&k| shape[k] != 1).collect();
    axes.sort_by_key(|&k| std::cmp::Reverse(output.strides()[k].unsigned_abs()));

    let mut paths: Vec<Path> =
        layouts.iter().map(|layout| Path { offset: layout.offset(), strides: SmallVec::new() }).collect();
    let merged = merge(axes.into_iter().map(|k| {
        let (length, backwards) = (shape[k], output.strides()[k] < 0);
        let mut strides: SmallVec<[isize; 8]> = layouts.iter().map(|layout| layout.strides()[k]).collect();
        if backwards {
            for (path, stride) in paths.iter_mut().zip(&mut strides) {
                path.offset = (path.offset as isize + *stride * (length as isize - 1)) as usize;
                *stride = -*stride;
            }
        }
        Axis { length, strides }
    }));
    let mut lengths: SmallVec<[usize; 6]> = merged.iter().map(|axis| axis.length).collect();
    for (i, path) in paths.iter_mut().enumerate() {
        path.strides.extend(merged.iter().map(|axis| axis.strides[i]));
    }
    if lengths.is_empty() {
        lengths.push(1);
        paths.iter_mut().for_each(|path| path.strides.push(0));
        paths[0].strides[0] = 1;
    }
    Loops { lengths, paths }
}

impl Loops {
    /// The loops of a program over axes in this order, each with the stride of the output.
    pub(super) fn over(program: &Program, axes: &[(&Axis, isize)]) -> Loops {
        let mut paths = vec![Path { offset: 0, strides: axes.iter().map(|&(_, stride)| stride).collect() }];
        paths.extend(program.inputs.iter().enumerate().map(|(i, input)| Path {
            offset: input.layout.offset(),
            strides: axes.iter().map(|(axis, _)| axis.strides[i]).collect(),
        }));
        Loops { lengths: axes.iter().map(|(axis, _)| axis.length).collect(), paths }
    }

    /// All elements.
    pub(super) fn count(&self) -> usize {
        self.lengths.iter().product()
    }

    /// The length of the innermost axis.
    pub(super) fn inner(&self) -> usize {
        self.lengths.last().copied().unwrap_or(1)
    }

    /// The length of the axis before that.
    pub(super) fn rows(&self) -> Option<usize> {
        self.lengths.iter().nth_back(1).copied()
    }

    pub(super) fn output(&self) -> &Path {
        &self.paths[0]
    }

    pub(super) fn operand(&self, i: usize) -> &Path {
        &self.paths[i + 1]
    }
}

impl Path {
    /// Whether it begins where a vector does: at its first element, or going back at its last.
    fn is_aligned(&self, step: isize) -> bool {
        let first = if step == 1 { self.offset } else { self.offset + 1 };
        first.is_multiple_of(LANES)
    }

    /// Whether all axes visit elements one after the other in steps of `step`.
    pub(super) fn is_dense(&self, loops: &Loops, step: isize) -> bool {
        let mut next = step;
        loops.lengths.iter().zip(&self.strides).rev().all(|(&n, &stride)| {
            let fits = stride == next;
            next *= n as isize;
            fits
        })
    }

    /// Whether they do so from an aligned element on, in steps of 1 or -1.
    pub(super) fn is_linear(&self, loops: &Loops, step: isize) -> bool {
        self.is_dense(loops, step) && self.is_aligned(step)
    }

    /// Whether each row of the innermost axis does.
    pub(super) fn has_linear_rows(&self, step: isize) -> bool {
        let Some((&inner, outer)) = self.strides.split_last() else { return false };
        inner == step && self.is_aligned(step) && outer.iter().all(is_whole)
    }

    /// Whether four rows of the innermost axis do across it: a transposed operand.
    pub(super) fn has_linear_columns(&self) -> bool {
        let [outer @ .., row, inner] = self.strides.as_slice() else { return false };
        // An inner stride of 0 is a splat, which needs no turning.
        *row == 1 && *inner != 0 && self.is_aligned(1) && is_whole(inner) && outer.iter().all(is_whole)
    }

    /// Whether the rows, as few as there are lanes at most, are interleaved in memory: pixels of an image
    /// whose channels come last.
    pub(super) fn is_interleaved(&self, loops: &Loops) -> bool {
        let ([.., rows, inner], [outer @ .., row, step]) =
            (loops.lengths.as_slice(), self.strides.as_slice())
        else {
            return false;
        };
        *rows <= LANES
            && *row == 1
            && *step == *rows as isize
            && inner.is_multiple_of(LANES)
            && self.is_aligned(1)
            && outer.iter().all(is_whole)
    }
}

/// Whether a stride is one of whole vectors.
fn is_whole(stride: &isize) -> bool {
    stride % LANES as isize == 0
}

/// The fewest axes of `range` that all operands walk as these.
pub(super) fn axes(program: &Program, range: impl Iterator<Item = usize>) -> Axes {
    let strides = |k: usize| program.inputs.iter().map(|input| input.layout.strides()[k]).collect();
    merge(range.map(|k| Axis { length: program.shape[k], strides: strides(k) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collapsed(shape: &[usize], operands: &[&[usize]]) -> Loops {
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
        let got = collapse(&shape, &[&output, &output]);
        assert_eq!(got.lengths.as_slice(), [12]);
        assert_eq!(got.paths[1], Path { offset: 0, strides: SmallVec::from_slice(&[1]) });
    }

    #[test]
    fn one_element_is_one_axis() {
        assert_eq!(collapsed(&[1, 1], &[&[]]).lengths.as_slice(), [1]);
    }
}
