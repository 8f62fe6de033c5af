//! The loop nest of a kernel: its output comes first, then its operands.

use super::walk::LANES;
use crate::ir::Program;
use crate::layout::{Axes, Axis, Nest, Path, merge};

impl Nest {
    /// The nest of a program over axes in this order, each with the stride of the output.
    pub(super) fn over(program: &Program, axes: &[(&Axis, isize)]) -> Nest {
        let with_output = |&(axis, stride): &(&Axis, isize)| Axis {
            length: axis.length,
            strides: std::iter::once(stride).chain(axis.strides.iter().copied()).collect(),
        };
        let axes: Axes = axes.iter().map(with_output).collect();
        let offsets = program.inputs.iter().map(|input| input.layout.offset());
        Nest::of(std::iter::once(0).chain(offsets), axes.iter())
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
    /// Whether it begins at a vector: with its first element, or in reverse with its last.
    fn is_aligned(&self, step: isize) -> bool {
        let first = if step == 1 { self.offset } else { self.offset + 1 };
        first.is_multiple_of(LANES)
    }

    /// Whether all axes together visit elements in steps of `step`.
    pub(super) fn is_dense(&self, nest: &Nest, step: isize) -> bool {
        let mut next = step;
        nest.lengths.iter().zip(&self.strides).rev().all(|(&n, &stride)| {
            let fits = stride == next;
            next *= n as isize;
            fits
        })
    }

    /// Whether they do so from an aligned element on, in steps of 1 or -1.
    pub(super) fn is_linear(&self, nest: &Nest, step: isize) -> bool {
        self.is_dense(nest, step) && self.is_aligned(step)
    }

    /// Whether each row of the innermost axis does so.
    pub(super) fn has_linear_rows(&self, step: isize) -> bool {
        let Some((&inner, outer)) = self.strides.split_last() else { return false };
        inner == step && self.is_aligned(step) && outer.iter().all(is_whole)
    }

    /// Whether the rows, at most as many as lanes, are interleaved in memory: pixels of an image with channels last.
    pub(super) fn is_interleaved(&self, nest: &Nest) -> bool {
        let ([.., rows, inner], [outer @ .., row, step]) = (nest.lengths.as_slice(), self.strides.as_slice())
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

/// The fewest axes of `range` along which all operands step as along these.
pub(super) fn axes(program: &Program, range: impl Iterator<Item = usize>) -> Axes {
    let strides = |k: usize| program.inputs.iter().map(|input| input.layout.strides()[k]).collect();
    merge(range.map(|k| Axis { length: program.shape[k], strides: strides(k) }))
}
