//! Reductions in parts: the values of blocks, and the join of all parts' values.

use std::sync::Arc;

use super::AnyExpr;
use super::axes::IntoAxes;
use super::both::built;
use super::reduce::{Part, Ranges, ReduceOptions};
use super::reductions::Reduction;
use crate::error::{Result, bail};
use crate::ir::{AxisOp, BLOCK, Node, ReduceAxes, ReduceOp};
use crate::layout::Layout;

impl AnyExpr {
    /// The first part of a reduction: a value for each block of `block` elements of a range, where `block` is 1024 or a
    /// power of it. So a range that is too large for one device is reduced part by part, with the bits of the whole.
    ///
    /// The axes are neighbours, and a range is their elements in row-major order. The result has the operand's rank:
    /// along the first of these axes a value for each block, the last of which may be shorter, and length 1 along the
    /// others. Its type is the one that accumulates: f32 for f16 and bf16, which [`reduce_join`](Self::reduce_join)
    /// rounds.
    ///
    /// Each part of the range but the last must end at a multiple of `block`. `reduce_join` joins the results of all
    /// parts, in order along the first axis ([`concat`](Self::concat)). The parts may come from several machines.
    ///
    /// It takes reductions that reduce once: `sum prod mean l1 l2 sum_square min max any all count_nonzero`. Other
    /// names, axes with others between them, and another `block` are mistakes of the expression.
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device, ReduceOptions};
    ///
    /// let device = Device::cpu();
    /// let values: Vec<f32> = (0..5000).map(|i| (i as f32).sin()).collect();
    /// let whole = AnyExpr::from(device.upload(&values, [5000])?);
    /// // The parts may lie on several devices.
    /// let parts = [0..3072, 3072..5000].map(|part| whole.slice(0, part).reduce_partial("mean", 0, 1024));
    /// assert_eq!(parts[0].shape()?, &[3]);
    /// let mean = AnyExpr::concat(&parts, 0).reduce_join("mean", 0, 5000, ReduceOptions::default());
    /// assert_eq!(mean.to_vec::<f32>()?, whole.mean(0).to_vec::<f32>()?);
    ///
    /// let error = whole.reduce_partial("sum", 0, 1000).eval().unwrap_err();
    /// assert_eq!(error.message(), "sum in blocks of 1000 elements: the order of additions has blocks of 1024, 1024^2, ..");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn reduce_partial(&self, name: &str, axes: impl IntoAxes, block: usize) -> AnyExpr {
        built(|| {
            let part = Part::Blocks(block);
            let (reduction, ranges) = self.part(name, axes, ReduceOptions::default(), part)?;
            let powers = std::iter::successors(Some(BLOCK), |power| power.checked_mul(BLOCK));
            if !powers.into_iter().any(|power| power == block) {
                bail!(
                    Operation,
                    "{name} in blocks of {block} elements: the order of additions has blocks of {BLOCK}, {BLOCK}^2, .."
                );
            }
            // The steps after the reduction belong to the join.
            (reduction.compose)(&ranges, &ranges.values());
            ranges.only()
        })
    }

    /// The second part of a reduction: the result from the values of all blocks
    /// ([`reduce_partial`](Self::reduce_partial)), which lie along these axes in the order of the range. `count` is the
    /// number of elements of the whole range. The type is that of the values: cast to f16 and bf16 afterwards.
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device, ReduceOptions};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[3.0_f32; 2048], [1, 2048])?);
    /// let squares = x.reduce_partial("l2", 1, 1024);
    /// let norm = squares.reduce_join("l2", 1, 2048, ReduceOptions::default().keepdim());
    /// assert_eq!((squares.shape()?.to_vec(), norm.shape()?.to_vec()), (vec![1, 2], vec![1, 1]));
    /// assert_eq!(norm.to_vec::<f32>()?, x.l2(1).to_vec::<f32>()?);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn reduce_join(
        &self,
        name: &str,
        axes: impl IntoAxes,
        count: usize,
        options: ReduceOptions,
    ) -> AnyExpr {
        built(|| {
            let (reduction, ranges) = self.part(name, axes, options, Part::Join(count))?;
            let value = (reduction.compose)(&ranges, &ranges.values());
            ranges.only()?;
            ranges.finish(&value, self.dtype()?)
        })
    }

    fn part(
        &self,
        name: &str,
        axes: impl IntoAxes,
        options: ReduceOptions,
        part: Part,
    ) -> Result<(Reduction, Ranges)> {
        self.node()?;
        let reduction = Reduction::of(name)?;
        if reduction.keeps_shape || matches!(name, "argmin" | "argmax") {
            bail!(Operation, "{name} cannot be joined from the values of blocks: reduce the whole tensor");
        }
        let ranges = Ranges::new(reduction.name, reduction.class, self, &axes.into_axes(), options, part)?;
        Ok((reduction, ranges))
    }
}

impl Ranges {
    /// The one value that the composition reduced.
    fn only(&self) -> Result<AnyExpr> {
        match self.made.take().as_slice() {
            [value] => Ok(value.clone()),
            all => bail!(
                Operation,
                "{} has {} reductions that depend on each other: reduce each of them in parts",
                self.name,
                all.len()
            ),
        }
    }

    /// A value for each block of a range.
    pub(super) fn blocks(&self, op: ReduceOp, node: &Arc<Node>, length: usize) -> Result<Arc<Node>> {
        let (shape, runs) = (&node.shape, self.runs());
        let run = match runs.as_slice() {
            [] => return self.alone(op, node),
            [run] => run.clone(),
            _ => bail!(
                Axis,
                "{} of {shape} in blocks over axes {:?}, which are no neighbours: reduce the last of them first",
                self.name,
                self.axes.as_slice()
            ),
        };
        let (axis, count) = (run.start as isize, shape[run.clone()].iter().product::<usize>());
        let with = |lengths: &[usize]| -> Vec<isize> {
            let all = shape[..run.start].iter().chain(lengths).chain(&shape[run.end..]);
            all.map(|&length| length as isize).collect()
        };
        let (whole, blocks) = (count / length, count.div_ceil(length));
        // Elements of blocks, which may have no layout.
        let part = |from: usize, to: usize, lengths: &[usize]| {
            let (all, part) = (with(&[count]), with(lengths));
            let view = |layout: &Layout| -> Result<Layout> {
                layout.reshape(&all)?.slice(axis, from as isize..to as isize, 1)?.reshape(&part)
            };
            // A join of one value is a copy.
            node.view(&view).or_else(|_| Node::join(0, &[node]).view(&view))
        };
        let reduced = |node: Arc<Node>, axis: usize| match node.shape[axis] {
            1 => self.alone(op, &node),
            _ => Node::along(AxisOp::Reduce(ReduceAxes { op, axes: axis..axis + 1 }), &[&node]),
        };
        let mut all: Vec<Arc<Node>> = Vec::new();
        if whole > 0 || count == 0 {
            let rows = reduced(part(0, whole * length, &[whole, length])?, run.start + 1)?;
            all.push(rows.view(&|layout| layout.squeeze(axis + 1))?);
        }
        if whole < blocks {
            all.push(reduced(part(whole * length, count, &[count - whole * length])?, run.start)?);
        }
        let values = match all.as_slice() {
            [one] => one.clone(),
            _ => Node::join(run.start, &all.iter().collect::<Vec<_>>()),
        };
        let mut lengths = vec![1; run.len()];
        lengths[0] = blocks;
        values.view(&|layout| layout.reshape(&with(&lengths)))
    }
}
