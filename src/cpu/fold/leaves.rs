//! Blocks of rows that are larger than a block of computed elements. Accumulators that lie side by side are a leaf: a
//! stretch of elements, to which one of every turn through the rows is added. Leaves are combined as soon as the order of
//! halves allows, so that few of them wait. Leaves of inputs are read as many rows at once as a processor guesses.

use smallvec::SmallVec;

use super::{Job, Outs, SIDE, Scratch};
use crate::cpu::combine::Values;
use crate::cpu::registers::Register;
use crate::ir::{ACCUMULATORS, Value};

/// Pieces between one that is computed and the one that is asked for: what is asked for takes longer than one.
const PIECES_AHEAD: usize = 2;

/// Bytes of a leaf that are made at a time, where several are.
const PART: usize = 2048;

/// Where elements begin, and how many they are.
type Pieces = SmallVec<[(usize, usize); 16]>;

impl Job<'_> {
    /// Reduces a block of rows, or some columns of it.
    pub(super) fn tree(
        &self,
        loops: &Values,
        number: usize,
        column: usize,
        outs: &mut Outs<'_>,
        scratch: &mut Scratch,
    ) {
        let columns = outs[0].len() / self.size;
        let (first, rows) = self.rows(number);
        let accumulators = ACCUMULATORS.min(rows.next_power_of_two());
        let leaf = self.leaf.min(accumulators);
        // One leaf takes as many rows at a time as a block computes.
        let together = if leaf == accumulators { (self.blocks.most / (leaf * columns)).max(1) } else { 1 };
        let turns = rows.div_ceil(accumulators * together);
        let side = (1 << (SIDE / turns).max(1).ilog2()).min(accumulators / leaf);
        let steps = accumulators / leaf / side;
        let levels = steps.ilog2();
        let bytes = leaf * columns * self.size;
        for step in 0..steps {
            // Leaves of a step, and of steps that follow each other, are as far apart as what is added first.
            let number = step.reverse_bits().checked_shr(usize::BITS - levels).unwrap_or(0);
            let piece = |turn: usize, k: usize| {
                let at = turn * accumulators * together + (number + k * steps) * leaf;
                let count = rows.saturating_sub(at).min(leaf * together);
                ((first + at) * self.inner + column, count * columns)
            };
            let pieces = (0..turns).flat_map(|turn| (0..side).map(move |k| (turn, k)));
            let pieces: Pieces = pieces.map(|(turn, k)| piece(turn, k)).collect();
            let is_read = self.are_read
                && leaf < accumulators
                && pieces.iter().all(|&(_, length)| length == leaf * columns);
            let place = |&result: &Value| -> Option<SmallVec<[&[u8]; 16]>> {
                pieces.iter().map(|&(start, length)| self.blocks.in_place(result, start, length)).collect()
            };
            let results = self.blocks.program.results.iter();
            let places: Option<SmallVec<[_; 2]>> = if is_read { results.map(place).collect() } else { None };
            if places.is_none() {
                self.leaves(loops, &pieces, side, bytes, scratch);
            }
            for (k, (waiting, leaves)) in scratch.waiting.iter_mut().zip(&mut scratch.leaves).enumerate() {
                let to = scratch.made.bytes_mut(bytes);
                match places.as_ref().map(|places| &places[k]) {
                    Some(rows) if side == 1 => (loops.chain)(rows, to),
                    Some(rows) if turns == 1 => (loops.join)(rows, to),
                    rows => {
                        rows.iter().for_each(|rows| chains(loops, rows, &mut leaves[..side], bytes));
                        let leaves: SmallVec<[&[u8]; SIDE]> =
                            leaves.iter().take(side).map(|leaf| leaf.bytes(bytes)).collect();
                        (loops.join)(&leaves, to);
                    }
                }
                // As a counter is carried: a sum of as many leaves waits for what is combined with it.
                for (level, waiting) in waiting.iter_mut().enumerate() {
                    std::mem::swap(waiting, &mut scratch.made);
                    if step >> level & 1 == 0 {
                        break;
                    }
                    (loops.accumulate)(scratch.made.bytes_mut(bytes), waiting.bytes(bytes));
                }
            }
        }
        for (waiting, out) in scratch.waiting.iter().zip(outs) {
            let x = waiting[levels as usize].bytes(bytes);
            loops.reduce([leaf, columns], x, scratch.buffer.bytes_mut(2 * bytes), out);
        }
    }

    /// Computes some leaves side by side, of which pieces are added to each, one after another.
    fn leaves(&self, loops: &Values, pieces: &Pieces, side: usize, bytes: usize, scratch: &mut Scratch) {
        let Scratch { block, expanded, leaves, identity, .. } = scratch;
        for (i, &(start, length)) in pieces.iter().enumerate() {
            // What is computed one piece after the other lies too far apart to be guessed.
            if self.asks
                && let Some(&(start, length)) = pieces.get(i + PIECES_AHEAD)
                && length > 0
            {
                self.blocks.ahead(start, length).load();
            }
            let results = self.blocks.program.results.iter();
            let place = |&result: &Value| match length {
                0 => Some(&[][..]),
                _ => self.blocks.in_place(result, start, length),
            };
            let places: SmallVec<[_; 2]> = results.map(place).collect();
            if places.iter().any(Option::is_none) {
                self.blocks.compute(start, length, None, block);
            }
            for (k, (place, leaves)) in places.into_iter().zip(&mut *leaves).enumerate() {
                let x = place.unwrap_or_else(|| self.elements(k, length, block, expanded));
                let leaf = leaves[i % side].bytes_mut(bytes);
                let first = if i < side { x.len().min(bytes) } else { 0 };
                if i < side {
                    leaf[..first].copy_from_slice(&x[..first]);
                    leaf[first..].copy_from_slice(identity.bytes(bytes - first));
                }
                (loops.accumulate)(leaf, &x[first..]);
            }
        }
    }
}

/// Adds up rows, of which each so many are one of every leaf. A part of all leaves at a time, so that more rows are read at
/// once than one leaf has.
fn chains(loops: &Values, rows: &[&[u8]], leaves: &mut [Register], bytes: usize) {
    let side = leaves.len();
    for at in (0..bytes).step_by(PART) {
        let part = at..bytes.min(at + PART);
        for (k, leaf) in leaves.iter_mut().enumerate() {
            let own = rows.iter().skip(k).step_by(side).map(|row| &row[part.clone()]);
            let own: SmallVec<[&[u8]; 16]> = own.collect();
            (loops.chain)(&own, &mut leaf.bytes_mut(bytes)[part.clone()]);
        }
    }
}
