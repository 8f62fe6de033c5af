//! Joined vectors of small elements. On a GPU an invocation moves sixteen bytes by an instruction: four elements of
//! f32, eight of f16, sixteen of u8. So where all elements are small and lie in such runs, an invocation computes two
//! or four neighbouring vectors, whose words are loaded and stored together.

use smallvec::SmallVec;

use super::access::{Access, Store};
use super::grid::Grid;
use super::target::Target;
use super::walk::{LANES, Walk};
use crate::ir::Program;
use crate::layout::{Nest, Path};
use crate::tuning::joined::WIDEST;

/// The data for the number of joined vectors.
pub(super) struct Sides<'a> {
    pub program: &'a Program,
    pub loops: &'a Nest,
    pub fresh: bool,
    /// The number of vectors of an invocation whose text compiles in time.
    pub affordable: u32,
    pub target: Target,
}

/// Joined vectors: their grid, loads and stores.
pub(super) struct Joined {
    pub grid: Grid,
    pub accesses: SmallVec<[Access; 8]>,
    pub store: Store,
}

impl Sides<'_> {
    /// Joins vectors, if any can be joined.
    pub(super) fn join(&self, grid: Grid, accesses: &[Access], store: Store) -> Option<Joined> {
        let is_plain = |access: &Access| matches!(access, Access::Vector | Access::Splat);
        if grid.rows > 1 || store != Store::Vector || !accesses.iter().all(is_plain) {
            return None;
        }
        let wide = || accesses.iter().enumerate().filter(|(_, access)| **access == Access::Vector);
        let read = wide().map(|(i, _)| self.program.inputs[i].dtype.size());
        let written = (0..self.program.results.len()).map(|i| self.program.result_type(i).size());
        let largest = read.chain(written).max().unwrap_or(WIDEST);
        let fits = |&vectors: &u8| {
            let elements = LANES * usize::from(vectors);
            let paths = std::iter::once(self.loops.output());
            elements * largest <= WIDEST
                && u32::from(vectors) <= self.affordable
                && self.ends(grid.walk, elements)
                && paths
                    .chain(wide().map(|(i, _)| self.loops.operand(i)))
                    .all(|path| begins(path, grid.walk, elements))
        };
        let vectors = [4, 2].into_iter().find(fits)?;
        let grid = grid.joined(self.loops, vectors.into(), self.target)?;
        let join =
            |&access: &Access| if access == Access::Vector { Access::Joined { vectors } } else { access };
        Some(Joined { grid, accesses: accesses.iter().map(join).collect(), store: Store::Joined { vectors } })
    }

    /// Whether this many elements side by side end with the walk's rows, or in the padding of a new storage.
    fn ends(&self, walk: Walk, elements: usize) -> bool {
        match walk {
            Walk::Flat => self.fresh || self.loops.count().is_multiple_of(elements),
            Walk::Rows => self.loops.inner().is_multiple_of(elements),
            Walk::Bands | Walk::Words { .. } | Walk::Anywhere => false,
        }
    }
}

/// Whether vectors of this many elements side by side are aligned, on every row of a walk.
fn begins(path: &Path, walk: Walk, elements: usize) -> bool {
    let outer = path.strides.split_last().map_or(&[][..], |(_, outer)| outer);
    let whole = |stride: &isize| stride.unsigned_abs().is_multiple_of(elements);
    path.offset.is_multiple_of(elements) && (walk == Walk::Flat || outer.iter().all(whole))
}
