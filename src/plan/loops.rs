//! The loop nest of a kernel: its output comes first, then its operands.

use std::ops::Range;

use smallvec::SmallVec;

use super::walk::LANES;
use crate::error::Result;
use crate::ir::Program;
use crate::layout::{Axes, Axis, Layout, Nest, Path, merge};

impl Nest {
    /// The loops over a program's elements, in the order of a layout of its result, by default row-major.
    pub(super) fn over(program: &Program, output: Option<&Layout>) -> Result<Nest> {
        let row_major = Layout::contiguous(&program.shape)?;
        let operands = program.inputs.iter().map(|input| &input.layout);
        let layouts: SmallVec<[&Layout; 8]> =
            std::iter::once(output.unwrap_or(&row_major)).chain(operands).collect();
        Ok(Nest::ordered(&program.shape, &layouts))
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
fn axes(program: &Program, range: impl Iterator<Item = usize>) -> Axes {
    let strides = |k: usize| program.inputs.iter().map(|input| input.layout.strides()[k]).collect();
    merge(range.map(|k| Axis { length: program.shape[k], strides: strides(k) }))
}

/// The axes of rows: those of a row, which is reduced or scanned, and those that are kept.
pub(super) struct Rows {
    pub kept: Axes,
    /// The kept axes before those of the row, or 0 if one element is stored for each row.
    before: usize,
    /// At least one.
    pub row: Axes,
    /// The kept axis of the lanes, if they do not lie along the row.
    pub lane: Option<usize>,
}

impl Rows {
    /// The rows along some axes. If elements are stored on either side of the row, kept axes do not merge there.
    pub(super) fn new(program: &Program, row: Range<usize>, is_one: bool) -> Rows {
        let rank = program.shape.rank();
        let (kept, before) = match is_one {
            true => (axes(program, (0..rank).filter(|k| !row.contains(k))), 0),
            false => {
                let mut kept = axes(program, 0..row.start);
                let before = kept.len();
                kept.extend(axes(program, row.end..rank));
                (kept, before)
            }
        };
        let mut row = axes(program, row);
        if row.is_empty() {
            row.push(Axis { length: 1, strides: program.inputs.iter().map(|_| 0).collect() });
        }
        Rows { kept, before, row, lane: None }
    }

    /// The place of the row's axes among those of the loops.
    pub(super) fn place(&self) -> Range<usize> {
        let first = self.kept.len() - usize::from(self.lane.is_some());
        first..first + self.row.len()
    }

    /// The loops of a program that stores one element or `stored` elements of each row. The axis of the lanes is the
    /// innermost, and the row comes before it.
    pub(super) fn loops(&self, program: &Program, stored: Option<usize>) -> Nest {
        let inner = |axes: &[Axis]| axes.iter().map(|axis| axis.length as isize).product::<isize>();
        let row_stride = |k: usize| match stored {
            Some(_) => inner(&self.row[k + 1..]) * inner(&self.kept[self.before..]),
            None => 0,
        };
        let kept = |k: usize| {
            let more = stored.filter(|_| k < self.before).unwrap_or(1);
            (&self.kept[k], inner(&self.kept[k + 1..]) * more as isize)
        };
        let others = (0..self.kept.len()).filter(|&k| self.lane != Some(k)).map(kept);
        let row = self.row.iter().enumerate().map(|(k, axis)| (axis, row_stride(k)));
        let with_output = |(axis, stride): (&Axis, isize)| Axis {
            length: axis.length,
            strides: std::iter::once(stride).chain(axis.strides.iter().copied()).collect(),
        };
        let axes: Axes = others.chain(row).chain(self.lane.map(kept)).map(with_output).collect();
        let offsets = program.inputs.iter().map(|input| input.layout.offset());
        Nest::of(std::iter::once(0).chain(offsets), axes.iter())
    }
}
