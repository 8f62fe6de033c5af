//! The grid: the elements of each invocation.

use super::numbers::ElementsNumbers;
use super::target::Target;
use super::walk::{LANES, Packing, Walk};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::layout::Shape;
use crate::layout::{Nest, Path};
use crate::tuning::grid::{FAR, SHORTEST_ROW, WAVE};

#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub walk: Walk,
    pub workgroup: [u32; 2],
    pub groups: [u32; 3],
    /// Invocations along the dimension that continues in the next one: x into y for a flat walk, y into z for rows of
    /// rank 2 and for bands.
    pub pitch: u32,
    /// Rows of an invocation, each a vector.
    pub rows: u32,
    /// Vectors that it loads and stores together, in the place of each of these.
    pub joined: u32,
    /// Groups of four addresses along the inner axes of a walk over words, at most.
    pub slots: usize,
    /// Rows of a band.
    pub band: usize,
}

/// The smallest of few sides of workgroups that covers an axis, so that few kernels are compiled.
fn side(length: usize, most: u32) -> u32 {
    let fits = |&size: &u32| size < most && size as usize >= length;
    [1, 4, 16, 64].into_iter().find(fits).unwrap_or(most)
}

/// Whether workgroups this wide leave at most a fifth of the invocations along rows of this many columns idle.
fn is_busy(columns: usize, width: u32) -> bool {
    4 * (columns.next_multiple_of(width as usize) - columns) <= columns
}

/// The columns of a workgroup along rows of this many vectors. Long rows take the whole workgroup, so that their
/// kernels have one form. Shorter rows keep most invocations busy.
fn wide(columns: usize, most: u32) -> u32 {
    let fits = |width: u32| columns >= most as usize || is_busy(columns, width);
    (0..most.ilog2()).map(|halved| most >> halved).find(|&width| fits(width)).unwrap_or(1)
}

/// Whether a load for each lane along the inner axis touches a cache line for each lane.
fn is_scattered(loops: &Nest) -> bool {
    loops.paths.iter().any(|path| path.strides.last().is_some_and(|s| s.abs() >= FAR))
}

/// Whether most operands lie in rows that are longer than the rows of a new result. A walk along rows then loads them by
/// vectors, which is worth a store per lane.
fn has_gaps(loops: &Nest) -> bool {
    // One row for all is the same in bands.
    let is_along = |path: &&Path| matches!(path.strides.as_slice(), [.., pitch, 1] if *pitch != 0);
    let along = || loops.paths[1..].iter().filter(is_along);
    let dense = along().filter(|path| path.is_dense(loops, 1)).count();
    along().count() > 2 * dense
}

impl Grid {
    /// A grid of invocations with a vector each.
    fn of(walk: Walk, workgroup: [u32; 2], groups: [usize; 3], pitch: u32) -> Grid {
        let groups = groups.map(|n| n as u32);
        Grid { walk, workgroup, groups, pitch, rows: 1, joined: 1, slots: 0, band: 0 }
    }

    /// The numbers of a launch.
    pub(super) fn numbers(&self, loops: &Nest) -> ElementsNumbers {
        ElementsNumbers {
            pitch: self.pitch as usize,
            count: match self.walk {
                Walk::Words { outer } => loops.lengths[..outer].iter().product::<usize>() * self.slots,
                _ => loops.count(),
            },
            vectors: loops.count().div_ceil(LANES * self.joined as usize),
            slots: self.slots,
            band_vectors: loops.inner() * self.band / LANES,
            band_rows: self.band,
            rows: loops.count() / loops.inner(),
        }
    }

    /// Lays out a grid over elements. [`Grid::words`] does so over the words of a packed destination.
    pub(super) fn new(
        loops: &Nest,
        dtype: DType,
        fresh: bool,
        together: Option<u32>,
        target: Target,
    ) -> Grid {
        Self::rows(loops, dtype, fresh, together, target)
            .or_else(|| Self::bands(loops, fresh, target))
            .unwrap_or_else(|| Self::flat(loops, 1, target))
    }

    /// A grid over bands, if rows are long enough and the result is new.
    fn bands(loops: &Nest, fresh: bool, target: Target) -> Option<Grid> {
        let [outer @ .., inner] = loops.lengths.as_slice() else { return None };
        if !fresh || outer.is_empty() || inner % LANES == 0 {
            return None;
        }
        let band = if inner % 2 == 0 { LANES / 2 } else { LANES };
        let columns = inner * band / LANES;
        let width = [target.workgroup, 64, 16].into_iter().find(|&width| is_busy(columns, width))?;
        let bands = outer.iter().product::<usize>().div_ceil(band);
        let height = target.workgroup / width;
        let limit = target.groups as usize;
        let x = columns.div_ceil(width as usize);
        let y = bands.div_ceil(height as usize);
        let z = y.div_ceil(limit);
        let y = y.div_ceil(z);
        let grid = Self::of(Walk::Bands, [width, height], [x, y, z], y as u32 * height);
        (x <= limit && z <= limit).then_some(Grid { band, ..grid })
    }

    fn flat(loops: &Nest, joined: u32, target: Target) -> Grid {
        let invocations = loops.count().div_ceil(LANES * joined as usize);
        Grid { joined, ..Self::line(Walk::Flat, invocations, target) }
    }

    /// A grid of invocations in a line, each with one vector.
    fn line(walk: Walk, invocations: usize, target: Target) -> Grid {
        let [x, y] = wrapped(invocations.div_ceil(target.workgroup as usize), target);
        Self::of(walk, [target.workgroup, 1], [x, y, 1], x as u32 * target.workgroup)
    }

    /// A grid that follows the axes, if the inner one is long enough and the rest fits.
    fn rows(loops: &Nest, dtype: DType, fresh: bool, together: Option<u32>, target: Target) -> Option<Grid> {
        let [.., _, inner] = loops.lengths.as_slice() else { return None };
        // A new result with other rows is stored by vectors along a flat walk. Rows of packed elements that do not end
        // with a word would share words.
        let aligned = inner % LANES == 0;
        let packed = dtype.packing() != Packing::Whole;
        if !aligned
            && (*inner < SHORTEST_ROW || fresh && (packed || !is_scattered(loops) && !has_gaps(loops)))
        {
            return None;
        }
        Self::along_rows(loops, together.unwrap_or(1), 1, target)
    }

    /// A grid over rows, several for each invocation, if it fits.
    fn along_rows(loops: &Nest, own: u32, joined: u32, target: Target) -> Option<Grid> {
        let [outer @ .., rows, inner] = loops.lengths.as_slice() else { return None };
        let columns = inner.div_ceil(LANES * joined as usize);
        let limit = target.groups as usize;
        // Along rows if lanes are scattered across them, otherwise along the inner axis.
        let (width, height) = if is_scattered(loops) {
            let height = side(rows.div_ceil(own as usize), 64);
            (target.workgroup / height, height)
        } else {
            let width = wide(columns, target.workgroup);
            // One row, unless there are more rows than workgroups.
            let is_lone = width >= WAVE && (outer.is_empty() || *rows <= limit);
            (width, if is_lone { 1 } else { target.workgroup / width })
        };

        let x = columns.div_ceil(width as usize);
        let mut y = rows.div_ceil((height * own) as usize);
        let mut z: usize = outer.iter().product();
        if outer.is_empty() {
            z = y.div_ceil(limit);
            y = y.div_ceil(z);
        }
        let grid = Self::of(Walk::Rows, [width, height], [x, y, z], y as u32 * height);
        (x <= limit && y <= limit && z <= limit).then_some(Grid { rows: own, joined, ..grid })
    }

    /// The grid of fewer invocations, each with this many vectors side by side in the place of one.
    pub(super) fn joined(&self, loops: &Nest, joined: u32, target: Target) -> Option<Grid> {
        match self.walk {
            Walk::Flat => Some(Self::flat(loops, joined, target)),
            Walk::Rows => Self::along_rows(loops, self.rows, joined, target),
            Walk::Bands | Walk::Words { .. } | Walk::Anywhere => None,
        }
    }

    /// A grid over the words of a packed destination.
    pub(super) fn words(loops: &Nest, target: Target) -> Grid {
        // The addresses of the axes behind, and the first axis whose steps may stay within a word.
        let (mut extent, mut inner_extent, mut outer) = (1, 1, loops.lengths.len());
        for (axis, &n) in loops.lengths.iter().enumerate().rev() {
            let stride = loops.output().strides[axis].unsigned_abs();
            let apart = stride + 1 - extent;
            extent += (n - 1) * stride;
            if apart < LANES {
                (outer, inner_extent) = (axis, extent);
            }
        }
        let slots = (inner_extent + LANES - 1).div_ceil(LANES);
        let count = loops.lengths[..outer].iter().product::<usize>() * slots;
        Grid { slots, ..Self::line(Walk::Words { outer }, count, target) }
    }
}

/// A line of workgroups that continues in the next dimension: nearly square beyond one, so that few are idle.
fn wrapped(groups: usize, target: Target) -> [usize; 2] {
    let y = groups.div_ceil(target.groups as usize).max(1);
    [groups.div_ceil(y).max(1), y]
}

/// This many workgroups in a line, which continues in the next dimension.
pub(super) fn workgroups(shape: &Shape, count: usize, target: Target) -> Result<[u32; 3]> {
    let [x, y] = wrapped(count, target);
    if y > target.groups as usize {
        bail!(Limit, "{shape} needs {count} workgroups, more than the adapter runs at once");
    }
    Ok([x as u32, y as u32, 1])
}
