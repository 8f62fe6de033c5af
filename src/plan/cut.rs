//! How a pass of a fold cuts its run: along which axis lanes lie, how much of the run an invocation folds,
//! and how much of it is left for the next pass.
//!
//! What an invocation folds is a few values far apart, straight, then the same from the next place on: so it
//! reads as many streams, each from its begin to its end, which is what caches and their prefetching are made
//! for. Where the order shows, what the straight values give is held until halves of it can be combined.
//! Processors that run a few invocations side by side read what is larger than their cache in its own order: these share
//! a block, and each has all of its values straight.

use std::ops::RangeInclusive;

use smallvec::SmallVec;

use super::cost::text_cost;
use super::fold::Work;
use super::makes::{Halves, Lanes};
use super::target::Target;
use super::turns::{MOST_HELD, Turns};
use super::walk::LANES;
use crate::ir::Program;
use crate::layout::Axis;

/// Values that an invocation loads straight at most, where an order shows.
const STRAIGHT: usize = 16;

/// Additions that the text of a pass costs at most, values that are loaded straight counted each.
const MOST_COST: usize = 160;

/// The same where vectors are loaded by pairs: holding what a turn gives takes llvmpipe longer than compiling more of it.
/// Softmax of rows of 4096 is 2.69, 2.41 and 2.24 times `exp` with 192, 400 and 800, and compiles in 0.25, 0.3 and 0.4 s.
pub(super) const MOST_COST_OF_PAIRS: usize = 800;

/// Values that an invocation loads straight where its neighbours share a block: at least, as it takes time to start, and at
/// most, as all of them are text.
const SHARE: RangeInclusive<usize> = 16..=64;

/// What that costs at most. 64 pairs compile in 0.4 s on llvmpipe, and of a product, which costs 896, in 1.0.
const MOST_COST_OF_SHARE: usize = 900;

/// Loads of an invocation that folds several short runs.
const SHORT: usize = 32;

/// The shortest axis, unless it is one of whole vectors, along which lanes may lie.
const SHORTEST: usize = 16;

/// How a pass cuts a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub halves: Halves,
    /// Values of a block and what stays of it, both powers of two.
    pub block: usize,
    pub keep: usize,
    /// How many times an invocation loads its straight values.
    pub leaves: usize,
}

/// Along which axis lanes lie: that which the fewest tensors jump along and the most lie along, if it is
/// long enough.
pub(super) fn lanes(program: &Program, block: usize, kept: &[Axis], run: &[Axis]) -> (Lanes, usize) {
    let tensors: SmallVec<[usize; 8]> = tensors(program).collect();
    let score = |axis: &Axis| {
        let jumps = tensors.iter().filter(|&&i| axis.strides[i].abs() > 1).count();
        let along = tensors.iter().filter(|&&i| axis.strides[i] == 1).count();
        (std::cmp::Reverse(jumps), along)
    };
    let is_long = |length: usize| length.is_multiple_of(LANES) || length >= SHORTEST;
    let mut best = None;
    let whole = matches!(run, [_]) || run.last().is_some_and(|axis| axis.length.is_multiple_of(LANES));
    if let Some(axis) = run.last().filter(|_| whole && block >= LANES) {
        let count: usize = run.iter().map(|axis| axis.length).product();
        // A pass along the run stores one value of a block.
        if is_long(count) {
            best = Some((score(axis), Lanes::Run, 0));
        }
    }
    for (k, axis) in kept.iter().enumerate().rev().filter(|(_, axis)| is_long(axis.length)) {
        if best.is_none_or(|(best, ..)| score(axis) > best) {
            best = Some((score(axis), Lanes::Kept, k));
        }
    }
    best.map_or((Lanes::Anywhere, 0), |(_, lanes, k)| (lanes, k))
}

/// The operands of a program that are tensors.
fn tensors(program: &Program) -> impl Iterator<Item = usize> {
    (0..program.inputs.len()).filter(|&i| program.inputs[i].source.is_memory())
}

/// Elements of tensors that a program reads, each counted once.
fn read(program: &Program) -> usize {
    let elements = |i: usize| -> usize {
        let layout = &program.inputs[i].layout;
        let moves = layout.shape().iter().zip(layout.strides()).filter(|(_, stride)| **stride != 0);
        moves.map(|(&length, _)| length).product()
    };
    tensors(program).map(elements).sum()
}

/// How far a pass goes over `results` runs of `count` values each.
pub(super) fn cut(
    work: &Work,
    (lanes, joined): (Lanes, usize),
    count: usize,
    results: usize,
    target: Target,
) -> Cut {
    let fold = work.folding.fold;
    let cost = text_cost(&work.program, target.math);
    let combine = if fold.row().gives_index { 8 } else { 2 };
    let ordered = fold.is_ordered(work.element_type());
    let most_cost = if joined > 1 { MOST_COST_OF_PAIRS } else { MOST_COST };
    let is_affordable = |n: usize| n == 1 || n * joined * (cost + combine) <= most_cost;
    // Where no order shows, nothing is held that more of them would save, and of vectors side by side each load takes its
    // time.
    let largest = if ordered { STRAIGHT } else { (target.straight as usize / joined).max(1) };
    let straight = |most: usize| {
        let mut sizes = std::iter::successors(Some(largest), |n| (*n > 1).then_some(n / 2));
        sizes.find(|&n| n <= most && is_affordable(n)).unwrap_or(1)
    };
    // Where no order shows, nothing is held.
    let most_held = |turns: usize| if ordered { turns.min(MOST_HELD) } else { turns };
    let mut block = work.block().min(count.next_power_of_two());
    let single = Halves { straight: 1, turns: Turns::One, team: 1, meets: false, runs: 1 };
    match lanes {
        Lanes::Run => {
            block = block.max(LANES * joined);
            let vectors = block / LANES / joined;
            let fits = |&team: &usize| team <= target.team as usize && (team == 1 || team * LANES <= vectors);
            let team = [64, 16, 4, 1].into_iter().find(fits).unwrap_or(1);
            let values = vectors / team;
            let share = values / target.neighbours as usize;
            // Neighbours read all in the order of memory. What is combined first lies half a block apart, so that invocations
            // with a block each read it here and there.
            let in_order = ordered
                && team < target.neighbours as usize
                && SHARE.contains(&share)
                && share * joined * (cost + combine) <= MOST_COST_OF_SHARE
                && results * count > target.cached;
            let straight = if in_order { share } else { straight(values) };
            let leaves = if in_order { 1 } else { most_held(values / straight) };
            let apart = values / straight / leaves;
            let turns = Turns::of(leaves, ordered, target);
            let halves = Halves { straight: straight as u32, turns, team: team as u32, ..single };
            if apart > 1 {
                // More than its share, or than it can hold: as many invocations as that takes, each of which stores a vector.
                let team = apart * team;
                let halves = Halves { team: team as u32, ..halves };
                return Cut { halves, block, keep: team * LANES * joined, leaves };
            }
            let runs =
                if target.vectors > 1 && team == 1 && values * joined <= SHORT / LANES && count <= block {
                    (SHORT / values / joined).clamp(LANES, STRAIGHT)
                } else {
                    1
                };
            let runs = if is_affordable(runs * values) { runs } else { 1 };
            let halves = Halves { meets: team > 1, runs: runs as u32, ..halves };
            Cut { halves, block, keep: 1, leaves }
        }
        Lanes::Kept | Lanes::Anywhere => {
            let straight = straight(block);
            // Rows lie too far apart for a cache, so few of them are read by an invocation, unless more would
            // be left than is read: of a product of matrices, say.
            let left = results * count.div_ceil(block) * (block / straight);
            let most =
                if left > read(&work.program) { MOST_HELD } else { (STRAIGHT / straight / joined).max(1) };
            let leaves = most_held(most.min(block / straight));
            let halves =
                Halves { straight: straight as u32, turns: Turns::of(leaves, ordered, target), ..single };
            Cut { halves, block, keep: block / straight / leaves, leaves }
        }
    }
}
