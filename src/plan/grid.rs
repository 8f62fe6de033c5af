//! The grid: which invocation computes which elements.

use super::Adapter;
use super::access::Packing;
use super::collapse::Collapsed;
use crate::dtype::DType;

/// Elements that an invocation computes side by side.
pub(crate) const LANES: usize = 4;

/// Invocations of a workgroup: the most that every WebGPU adapter has.
pub(crate) const WORKGROUP: u32 = 256;

/// Vectors of a flat walk that an invocation computes at most: more of them share nothing.
const MOST_FLAT: u32 = 4;

/// The shortest inner axis whose length is no multiple of [`LANES`] that is still walked by rows:
/// below it, idle lanes cost more than the divisions of a flat walk.
const SHORTEST_ROW: usize = 64;

/// Strides along the inner axis from which on a load per lane touches a cache line per lane.
const FAR: isize = 16;

/// Elements of which rows must be a multiple to be written by columns where narrow workgroups do not
/// always pay: a few lines.
const ROW_OF_LINES: isize = 64;

/// How invocations are laid over the collapsed axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Walk {
    /// Over all elements in the output's order; coordinates are divided out where an operand
    /// needs them. No division at rank 1.
    Flat,
    /// Over all elements by rows that are not whole vectors: a band is as many rows as are. The vectors
    /// of a band along x and the bands along y and z, so that coordinates along a row need no division,
    /// and are the same in all bands.
    Bands,
    /// The innermost axis along x and the others along y and z, so that coordinates need no
    /// division up to rank 3.
    Rows,
    /// Over the words of a packed destination that has parts of words: the axes from `outer` on are
    /// found from the address of a lane, as two of their elements may share a word. Those before
    /// are further apart.
    Words { outer: usize },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub walk: Walk,
    pub workgroup: [u32; 2],
    pub groups: [u32; 3],
    /// Invocations along the dimension that continues in the next one: x into y for a flat walk,
    /// y into z for rows of rank 2 and for bands.
    pub pitch: u32,
    /// Vectors that an invocation computes one after the other.
    pub blocks: u32,
    /// Groups of four addresses that the inner axes of a walk over words may touch.
    pub slots: usize,
    /// Rows of a band.
    pub band: usize,
}

/// The smallest of few forms of a workgroup that covers an axis, so that few kernels are compiled.
fn form(length: usize, most: u32) -> u32 {
    let fits = |&size: &u32| size < most && size as usize >= length;
    [1, 4, 16, 64].into_iter().find(fits).unwrap_or(most)
}

impl Grid {
    /// Lays out a grid. `[tiles, interleaved]` says that some operand can be loaded for four rows at
    /// once, or for all.
    pub(super) fn new(
        collapsed: &Collapsed,
        dtype: DType,
        fresh: bool,
        rows_at_once: [bool; 2],
        adapter: Adapter,
    ) -> Grid {
        Self::rows(collapsed, dtype, fresh, rows_at_once, adapter)
            .or_else(|| Self::bands(collapsed, fresh, adapter))
            .unwrap_or_else(|| Self::flat(collapsed, adapter))
    }

    /// A grid over bands, where these are long enough and the result is a new one.
    fn bands(collapsed: &Collapsed, fresh: bool, adapter: Adapter) -> Option<Grid> {
        let [outer @ .., inner] = collapsed.lengths.as_slice() else { return None };
        if !fresh || outer.is_empty() || inner % LANES == 0 {
            return None;
        }
        let band = if inner % 2 == 0 { LANES / 2 } else { LANES };
        let vectors = inner * band / LANES;
        // A fifth of the invocations may be idle.
        let idle = |width: u32| vectors.next_multiple_of(width as usize) - vectors;
        let width = [adapter.workgroup, 64, 16].into_iter().find(|&width| 4 * idle(width) <= vectors)?;
        let bands = outer.iter().product::<usize>().div_ceil(band);
        let blocks = if 2 * bands >= adapter.blocks as usize { adapter.blocks } else { 1 };
        let height = adapter.workgroup / width;
        let limit = adapter.groups as usize;
        let x = vectors.div_ceil(width as usize);
        let y = bands.div_ceil((height * blocks) as usize);
        let z = y.div_ceil(limit);
        let y = y.div_ceil(z);
        (x <= limit && z <= limit).then_some(Grid {
            walk: Walk::Bands,
            workgroup: [width, height],
            groups: [x as u32, y as u32, z as u32],
            pitch: y as u32 * height,
            blocks,
            slots: 0,
            band,
        })
    }

    fn flat(collapsed: &Collapsed, adapter: Adapter) -> Grid {
        let count: usize = collapsed.lengths.iter().product();
        let blocks = adapter.blocks.min(MOST_FLAT);
        let groups = count.div_ceil(LANES * (adapter.workgroup * blocks) as usize) as u32;
        // Near-square beyond one dimension, so that few groups are idle.
        let y = groups.div_ceil(adapter.groups).max(1);
        let x = groups.div_ceil(y).max(1);
        Grid {
            walk: Walk::Flat,
            workgroup: [adapter.workgroup, 1],
            groups: [x, y, 1],
            pitch: x * adapter.workgroup,
            blocks,
            slots: 0,
            band: 0,
        }
    }

    /// A grid that follows the axes, where the inner one is long enough and the rest fits.
    fn rows(
        collapsed: &Collapsed,
        dtype: DType,
        fresh: bool,
        rows_at_once: [bool; 2],
        adapter: Adapter,
    ) -> Option<Grid> {
        let [outer @ .., rows, inner] = collapsed.lengths.as_slice() else { return None };
        let far = |strides: &[isize]| strides.last().is_some_and(|s| s.abs() >= FAR);
        let scattered = collapsed.walks.iter().any(|walk| far(&walk.strides));
        // A fresh result of other rows is stored by vectors along a flat walk. Rows of packed elements
        // that do not end with a word would share words.
        let aligned = inner % LANES == 0;
        let packed = dtype.packing() != Packing::Whole;
        if !aligned && (*inner < SHORTEST_ROW || fresh && (packed || !scattered)) {
            return None;
        }
        let vectors = inner.div_ceil(LANES);
        let blocks = match rows_at_once {
            [true, _] => LANES as u32,
            [_, true] => *rows as u32,
            // One kernel for all numbers of rows, as long as half of what it computes is wanted.
            _ if 2 * rows >= adapter.blocks as usize => adapter.blocks,
            _ => 1,
        };
        // Along the rows where lanes are scattered across them, along the inner axis else. Where narrow
        // workgroups do not always pay, one that is a line of the result wide must be filled, and rows
        // must begin where lines do, or its threads share them.
        let (width, height) = if scattered {
            let most = rows.div_ceil(blocks as usize);
            let own = collapsed.walks[0].strides.iter().nth_back(1).into_iter();
            let across = collapsed.walks.iter().filter(|walk| far(&walk.strides));
            let mut apart = own.chain(across.filter_map(|walk| walk.strides.last()));
            let tall = adapter.narrow || most >= 64 && apart.all(|stride| stride % ROW_OF_LINES == 0);
            let height = form(most, if tall { 64 } else { 4 });
            (adapter.workgroup / height, height)
        } else {
            let width = form(vectors, adapter.workgroup);
            (width, adapter.workgroup / width)
        };

        let limit = adapter.groups as usize;
        let x = vectors.div_ceil(width as usize);
        let mut y = rows.div_ceil((height * blocks) as usize);
        let mut z: usize = outer.iter().product();
        if outer.is_empty() {
            z = y.div_ceil(limit);
            y = y.div_ceil(z);
        }
        (x <= limit && y <= limit && z <= limit).then_some(Grid {
            walk: Walk::Rows,
            workgroup: [width, height],
            groups: [x as u32, y as u32, z as u32],
            pitch: y as u32 * height,
            blocks,
            slots: 0,
            band: 0,
        })
    }

    /// A grid over the words of a packed destination.
    pub(super) fn words(collapsed: &Collapsed, adapter: Adapter) -> Grid {
        // Addresses from the first to the last of the axes behind, and the first axis on which a
        // step may stay within a word.
        let (mut extent, mut inner_extent, mut outer) = (1, 1, collapsed.lengths.len());
        for (axis, &n) in collapsed.lengths.iter().enumerate().rev() {
            let stride = collapsed.walks[0].strides[axis].unsigned_abs();
            let apart = stride + 1 - extent;
            extent += (n - 1) * stride;
            if apart < LANES {
                (outer, inner_extent) = (axis, extent);
            }
        }
        let slots = (inner_extent + LANES - 1).div_ceil(LANES);
        let count = collapsed.lengths[..outer].iter().product::<usize>() * slots;
        let groups = count.div_ceil(adapter.workgroup as usize) as u32;
        let y = groups.div_ceil(adapter.groups).max(1);
        let x = groups.div_ceil(y).max(1);
        Grid {
            walk: Walk::Words { outer },
            workgroup: [adapter.workgroup, 1],
            groups: [x, y, 1],
            pitch: x * adapter.workgroup,
            blocks: 1,
            slots,
            band: 0,
        }
    }
}
