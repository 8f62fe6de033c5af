//! Reductions to an index: each round keeps the best values and their indices, and the last one returns the indices.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};
use smallvec::SmallVec;

use super::{Job, Outs, Scratch};
use crate::cpu::combine::Indexes;
use crate::cpu::memory::HostMemory;
use crate::error::Result;

impl Job<'_> {
    /// Finds the best row of each column, in each block of rows, and then the best of the blocks.
    pub(super) fn indexes(&self, loops: &Indexes, outs: Outs<'_>) -> Result<()> {
        let sizes: SmallVec<[usize; 4]> = outs.iter().flat_map(|_| [self.size, 4]).collect();
        let results = outs.len();
        let elements = outs[0].len() / 4 * self.cuts;
        let mut bests: Vec<HostMemory> =
            (0..results).map(|_| HostMemory::take(elements * self.size)).collect::<Result<_>>()?;
        // With one block these are the results.
        let held = if self.cuts == 1 { 0 } else { elements * 4 };
        let mut found: Vec<HostMemory> =
            (0..results).map(|_| HostMemory::take(held)).collect::<Result<_>>()?;
        let mut outs = outs;
        {
            let bests = bests.iter_mut().map(|best| &mut best[..elements * self.size]);
            let indexes = outs.iter_mut().zip(&mut found).map(|(out, found)| match held {
                0 => &mut **out,
                _ => &mut found[..held],
            });
            let pairs: Outs<'_> = bests.zip(indexes).flat_map(|(best, index)| [best, index]).collect();
            self.run(pairs, &sizes, |scratch, mut task| {
                let column = task.column;
                self.parts(&mut task, &sizes, self.together.max(1), |number, mut outs| {
                    self.seek(loops, number, column, &mut outs, scratch);
                });
            })?;
        }
        if held == 0 {
            return Ok(());
        }
        let [values, places] = [self.inner * self.size, self.inner * 4];
        for ((best, found), out) in bests.iter_mut().zip(&mut found).zip(&mut outs) {
            let bests = best[..elements * self.size].chunks_mut(self.cuts * values);
            let found = found[..held].chunks_mut(self.cuts * places);
            for ((best, found), out) in bests.zip(found).zip(out.chunks_mut(places)) {
                let (best, others) = best.split_at_mut(values);
                let (index, indexes) = found.split_at_mut(places);
                for (other, indexes) in others.chunks(values).zip(indexes.chunks(places)) {
                    (loops.merge)(best, cast_mut(index), other, cast(indexes));
                }
                out.copy_from_slice(index);
            }
        }
        Ok(())
    }

    /// Finds the best rows of a block, of some of its columns, or of matrices from one on.
    fn seek(
        &self,
        loops: &Indexes,
        number: usize,
        column: usize,
        outs: &mut Outs<'_>,
        scratch: &mut Scratch,
    ) {
        let (results, columns) = (&self.engine.program.results, outs[0].len() / self.size);
        if self.together > 0 && self.cuts == 1 {
            let elements = self.count * self.inner;
            let length = columns * self.count;
            self.engine.compute(number * elements, length, None, &mut scratch.block);
            for (&result, outs) in results.iter().zip(outs.chunks_exact_mut(2)) {
                let [best, index] = outs else { continue };
                let x = self.engine.all(result, &mut scratch.expanded, &scratch.block);
                let bests = best.chunks_exact_mut(self.inner * self.size);
                let indexes = cast_mut::<_, u32>(index).chunks_exact_mut(self.inner);
                for ((x, best), index) in x.chunks_exact(elements * self.size).zip(bests).zip(indexes) {
                    (loops.seek)(self.inner, 0, true, x, best, index);
                }
            }
            return;
        }
        let (matrix, cut) = (number / self.cuts, number % self.cuts);
        let rows = cut * self.block..self.count.min((cut + 1) * self.block);
        let most = if self.strip == self.inner { (self.engine.most / columns).max(1) } else { 1 };
        for at in rows.clone().step_by(most) {
            let length = (rows.end - at).min(most) * columns;
            let start = (matrix * self.count + at) * self.inner + column;
            self.engine.compute(start, length, None, &mut scratch.block);
            for (&result, outs) in results.iter().zip(outs.chunks_exact_mut(2)) {
                let [best, index] = outs else { continue };
                let x = self.engine.all(result, &mut scratch.expanded, &scratch.block);
                (loops.seek)(columns, at, at == rows.start, x, best, cast_mut(index));
            }
        }
    }
}
