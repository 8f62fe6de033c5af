//! The mapping of a reduction to invocations: the axis of a vector's lanes, and the accumulators of each invocation.
//!
//! The contract adds up a block in 64 accumulators, each of which takes every 64th value, and halves them. If lanes lie
//! along the row, a vector holds four accumulators, so a block has sixteen vectors of them. Otherwise each accumulator
//! is a vector. An invocation has one or a few, and those of a block meet in workgroup memory.

use smallvec::SmallVec;

use super::form::{Tile, VectorAxis};
use super::target::Target;
use super::walk::{LANES, REDUCE_WORKGROUP};
use crate::error::{Result, bail};
use crate::ir::{ACCUMULATORS, BLOCK, Program};
use crate::layout::Axis;
use crate::tuning::reduce::{FEW, IN_FLIGHT, MOST_COST, MOST_HELD, MOST_HELD_COST, OF_LINE, SHORTEST};

/// The data for a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub vector_axis: VectorAxis,
    /// Values of a row.
    pub count: usize,
    /// The cost of an element, in additions.
    pub cost: usize,
    /// Bytes of the values that an invocation accumulates at once.
    pub bytes: usize,
    /// Whether a pass may leave partial results.
    pub leaves: bool,
}

/// The axis of the lanes: the one that fits the most tensors, if it is long enough. With the number of a kept axis.
pub(super) fn vector_axis(program: &Program, kept: &[Axis], reduced: &[Axis]) -> (VectorAxis, Option<usize>) {
    let tensors: SmallVec<[usize; 8]> =
        (0..program.inputs.len()).filter(|&i| program.inputs[i].source.is_memory()).collect();
    let score = |axis: &Axis| {
        let jumps = tensors.iter().filter(|&&i| axis.strides[i].abs() > 1).count();
        let along = tensors.iter().filter(|&&i| axis.strides[i] == 1).count();
        (std::cmp::Reverse(jumps), along)
    };
    let is_long = |length: usize| length.is_multiple_of(LANES) || length >= SHORTEST;
    let mut best = None;
    let whole =
        matches!(reduced, [_]) || reduced.last().is_some_and(|axis| axis.length.is_multiple_of(LANES));
    if let Some(axis) = reduced.last().filter(|_| whole) {
        let count: usize = reduced.iter().map(|axis| axis.length).product();
        if is_long(count) {
            best = Some((score(axis), VectorAxis::Reduced, None));
        }
    }
    for (k, axis) in kept.iter().enumerate().rev().filter(|(_, axis)| is_long(axis.length)) {
        if best.is_none_or(|(best, ..)| score(axis) > best) {
            best = Some((score(axis), VectorAxis::Kept, Some(k)));
        }
    }
    best.map_or((VectorAxis::Gathered, None), |(_, vector_axis, lane)| (vector_axis, lane))
}

/// Blocks of a row of this many values. A pass that does not reduce the whole row leaves a partial result of each.
pub(super) fn blocks(count: usize) -> usize {
    count.div_ceil(BLOCK)
}

impl Row {
    /// Values of a row that a vector holds side by side.
    fn width(&self) -> usize {
        if self.vector_axis == VectorAxis::Reduced { LANES } else { 1 }
    }

    /// Vectors of a block, or of a shorter row.
    fn vectors(&self) -> usize {
        self.count.min(BLOCK).div_ceil(self.width())
    }

    /// The tile of a pass, the invocations of a workgroup, and whether the pass reduces the whole row and leaves no
    /// partial results.
    pub(super) fn tile(&self, target: Target) -> Result<(Tile, u32, bool)> {
        // Few sizes, as each has a kernel of its own.
        let accumulators = match self.vectors() {
            vectors if vectors <= FEW => vectors.next_power_of_two(),
            _ => ACCUMULATORS / self.width(),
        };
        let is_affordable = |own: usize| own == 1 || own * self.cost <= MOST_COST;
        let is_along = self.vector_axis == VectorAxis::Reduced;
        let is_short = self.vectors() <= FEW;
        let mut own = match accumulators {
            // A short row has few invocations, whose loads are still whole cache lines.
            few if is_along && is_short && is_affordable(few.div_ceil(OF_LINE)) => few.div_ceil(OF_LINE),
            _ if is_along => 1,
            // One invocation adds up a few by itself.
            few if few <= FEW && is_affordable(few) => few,
            // Four are a short text.
            many => many.min(LANES),
        };
        let blocks = blocks(self.count).next_power_of_two();
        loop {
            let lanes = accumulators / own;
            // If lanes lie across rows, passes of blocks keep more invocations busy.
            let most = if self.leaves && !is_along { 1 } else { target.workgroup as usize / lanes };
            let is_all = blocks <= most;
            if !is_all && !self.leaves {
                if own < accumulators {
                    own *= 2;
                    continue;
                }
                bail!(
                    Limit,
                    "rows of {} values are more than a kernel reduces: evaluate them in slices",
                    self.count
                );
            }
            let blocks = if is_all { blocks } else { 1 };
            let group = lanes * blocks;
            let meets = group > 1;
            let widest =
                if meets && (is_short || !is_along) { target.workgroup } else { REDUCE_WORKGROUP } as usize;
            let fits = |size: &usize| !meets || size * self.bytes <= target.shared as usize;
            let sizes =
                std::iter::successors(Some(widest.max(group)), |&size| (size > group).then_some(size / 2));
            let Some(workgroup) = { sizes }.find(fits) else {
                // Fewer invocations share more.
                own *= 2;
                if own > accumulators {
                    bail!(
                        Limit,
                        "rows of {} values need more workgroup memory than the {} bytes of the adapter: evaluate them in slices",
                        self.count,
                        target.shared
                    );
                }
                continue;
            };
            let tile = Tile {
                accumulators: accumulators as u32,
                own: own as u32,
                block: (BLOCK / self.width()) as u32,
                blocks: blocks as u32,
                beside: (workgroup / group) as u32,
            };
            return Ok((tile, workgroup as u32, is_all));
        }
    }

    /// Vectors of each accumulator of an invocation, if it keeps this many words of each element in registers between
    /// phases. Such a row is read once.
    pub(super) fn held(&self, tile: &Tile, words: usize, cost: usize) -> Option<u32> {
        let iterations = self.vectors().div_ceil(tile.accumulators as usize).next_power_of_two();
        let vectors = iterations * tile.own as usize;
        (words > 0 && vectors * words <= MOST_HELD && vectors * cost <= MOST_HELD_COST)
            .then_some(iterations as u32)
    }

    /// Vectors of each accumulator that an invocation loads before it adds them, at this cost of an element; and
    /// whether there are more.
    pub(super) fn unroll(&self, tile: &Tile, cost: usize) -> (u32, bool) {
        let (accumulators, own) = (tile.accumulators as usize, tile.own as usize);
        let iterations = self.vectors().div_ceil(accumulators).next_power_of_two();
        let fits = |n: &usize| *n == 1 || n * own <= IN_FLIGHT && n * own * cost <= MOST_COST;
        let unroll = [8, 4, 2, 1].into_iter().filter(|&n| n <= iterations).find(fits).unwrap_or(1);
        (unroll as u32, iterations > unroll)
    }

    /// Whether some loads of invocations lie past the end of the row, where loops end.
    pub(super) fn is_masked(&self, tile: &Tile, (unroll, is_loop): (u32, bool)) -> bool {
        let together = self.width() * (tile.accumulators * unroll) as usize;
        !self.count.is_multiple_of(together) || !is_loop && tile.blocks as usize > blocks(self.count)
    }
}
