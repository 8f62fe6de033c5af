//! How an operand is loaded and the result is stored, four lanes at a time.

use smallvec::SmallVec;

use super::collapse::Collapsed;
use super::grid::{LANES, Walk};
use crate::dtype::DType;

/// How the lanes of an operand lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    /// Next to each other and aligned: one wide load.
    Vector,
    /// Next to each other and aligned, the last first: one wide load, turned around.
    Backward,
    /// Next to each other, and no vector begins where they do: two wide loads, of which four elements
    /// are taken.
    Shifted,
    /// Every second or third element: the loads of `width` elements that they lie in, from element
    /// `first` of one on.
    Stepped { step: u8, first: u8, width: u8 },
    /// All the same element: one load.
    Splat,
    /// Next to each other along the axis before the innermost, and aligned: four wide loads serve
    /// four lanes of four rows, turned around in registers.
    Tile,
    /// The elements of all rows next to each other, as channels are: as many wide loads as there are
    /// rows serve four lanes of every row.
    Interleaved,
    /// Anywhere: a load per lane.
    Strided,
}

impl Access {
    /// The loads that four elements lie in.
    pub(crate) fn loads(self) -> u8 {
        match self {
            Access::Stepped { step, first, width } => (first + step * (LANES as u8 - 1)) / width + 1,
            _ => 1,
        }
    }

    /// The elements that a load takes.
    pub(crate) fn width(self) -> usize {
        match self {
            Access::Splat | Access::Strided => 1,
            Access::Stepped { width, .. } => width.into(),
            _ => LANES,
        }
    }
}

/// How an address follows an axis, as far as the text of a kernel depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stride {
    /// Not at all.
    Zero,
    /// By one element along the innermost axis.
    One,
    /// By a word of the uniform block.
    Any,
}

/// How the addresses of an operand, or of the output, follow the axes; none where they follow the
/// vectors of a walk instead.
pub(super) fn strides(collapsed: &Collapsed, of: usize, access: Access, walk: Walk) -> SmallVec<[Stride; 6]> {
    let strides = &collapsed.walks[of].strides;
    let rank = strides.len();
    let axes = match (access, walk) {
        (Access::Strided, _) | (Access::Tile, _) => rank,
        (Access::Interleaved, _) => rank - 2,
        (_, Walk::Rows) => rank - 1,
        _ => 0,
    };
    let stride = |(axis, &stride): (usize, &isize)| match stride {
        // The rows of a tile are the elements of its vectors.
        _ if access == Access::Tile && axis + 2 == rank => Stride::Zero,
        0 => Stride::Zero,
        1 if access == Access::Strided && axis + 1 == rank => Stride::One,
        _ => Stride::Any,
    };
    strides.iter().enumerate().take(axes).map(stride).collect()
}

/// How the lanes of the result are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Store {
    /// Next to each other and aligned: one wide store.
    Vector,
    /// A store per lane that exists.
    Lanes,
    /// The lanes of the words that the invocation owns, of those that the layout visits: the others
    /// keep what they hold.
    Words,
}

/// How elements lie in the 32-bit words of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Packing {
    /// One or two words each.
    Whole,
    /// Two to a word.
    Halves,
    /// Four to a word, so that four lanes are one word.
    Bytes,
}

impl DType {
    pub(crate) fn packing(self) -> Packing {
        match self.size() {
            1 => Packing::Bytes,
            2 => Packing::Halves,
            _ => Packing::Whole,
        }
    }
}

/// Whether a walk begins where a vector does: at its first element, or going back at its last.
fn aligned(offset: usize, step: isize) -> bool {
    if step == 1 { offset.is_multiple_of(LANES) } else { (offset + 1).is_multiple_of(LANES) }
}

/// Whether a walk over all axes visits elements one after the other in steps of `step`, 1 or -1.
fn dense(collapsed: &Collapsed, operand: usize, step: isize) -> bool {
    let mut next = step;
    collapsed.lengths.iter().zip(&collapsed.walks[operand].strides).rev().all(|(&n, &stride)| {
        let fits = stride == next;
        next *= n as isize;
        fits
    })
}

/// Whether it does so from an aligned element on.
fn linear(collapsed: &Collapsed, operand: usize, step: isize) -> bool {
    dense(collapsed, operand, step) && aligned(collapsed.walks[operand].offset, step)
}

/// Whether each row of the innermost axis is such a walk.
fn linear_rows(collapsed: &Collapsed, operand: usize, step: isize) -> bool {
    let walk = &collapsed.walks[operand];
    let Some((&inner, outer)) = walk.strides.split_last() else { return false };
    inner == step && aligned(walk.offset, step) && outer.iter().all(|s| s % LANES as isize == 0)
}

/// Whether four rows of the innermost axis are such walks across it: a transposed operand.
pub(super) fn linear_columns(collapsed: &Collapsed, operand: usize) -> bool {
    let walk = &collapsed.walks[operand];
    let [outer @ .., row, inner] = walk.strides.as_slice() else { return false };
    let aligned = |s: &isize| s % LANES as isize == 0;
    // An inner stride of 0 is a splat, which needs no turning.
    *row == 1
        && *inner != 0
        && walk.offset.is_multiple_of(LANES)
        && aligned(inner)
        && outer.iter().all(aligned)
}

/// Whether the rows, as few as there are lanes at most, are interleaved in memory: pixels of an image
/// whose channels come last.
pub(super) fn interleaved(collapsed: &Collapsed, operand: usize) -> bool {
    let walk = &collapsed.walks[operand];
    let ([.., rows, inner], [outer @ .., row, step]) =
        (collapsed.lengths.as_slice(), walk.strides.as_slice())
    else {
        return false;
    };
    *rows <= LANES
        && *row == 1
        && *step == *rows as isize
        && inner.is_multiple_of(LANES)
        && walk.offset.is_multiple_of(LANES)
        && outer.iter().all(|s| s % LANES as isize == 0)
}

/// The access by steps along the innermost axis, by the widest loads of which few hold four elements.
fn stepped(collapsed: &Collapsed, operand: usize, walk: Walk, widest: usize) -> Option<Access> {
    let own = &collapsed.walks[operand];
    let (&step, outer) = own.strides.split_last()?;
    if !(2..LANES as isize).contains(&step) {
        return None;
    }
    [2 * LANES, LANES].into_iter().filter(|&width| width <= widest).find_map(|width| {
        let regular = match walk {
            Walk::Flat | Walk::Bands => dense(collapsed, operand, step),
            Walk::Rows => outer.iter().all(|s| s % width as isize == 0),
            Walk::Words { .. } => false,
        };
        let whole = (step as usize * LANES).is_multiple_of(width);
        let first = (own.offset % width) as u8;
        let access = Access::Stepped { step: step as u8, first, width: width as u8 };
        (regular && whole && usize::from(access.loads()) * width < LANES * LANES).then_some(access)
    })
}

/// How an operand is loaded. `tiles` says that invocations compute four rows each, and that the
/// operand may be loaded for all of them at once; `widest` is how many elements a load may take.
pub(super) fn load(
    collapsed: &Collapsed,
    operand: usize,
    walk: Walk,
    tiles: bool,
    blocks: u32,
    widest: usize,
) -> Access {
    let strides = &collapsed.walks[operand].strides;
    // Going back, the last vector of a row of another length would begin before it.
    let count: usize = collapsed.lengths.iter().product();
    let inner = collapsed.lengths.last().copied().unwrap_or(1);
    match walk {
        Walk::Flat | Walk::Bands | Walk::Words { .. } if strides.iter().all(|&s| s == 0) => Access::Splat,
        Walk::Flat | Walk::Bands if linear(collapsed, operand, 1) => Access::Vector,
        Walk::Flat | Walk::Bands if dense(collapsed, operand, 1) => Access::Shifted,
        Walk::Flat | Walk::Bands if count.is_multiple_of(LANES) && linear(collapsed, operand, -1) => {
            Access::Backward
        }
        Walk::Rows if strides.last() == Some(&0) => Access::Splat,
        // The last load of a row may read past its end, never past that of its padded buffer.
        Walk::Rows if linear_rows(collapsed, operand, 1) => Access::Vector,
        Walk::Rows if inner.is_multiple_of(LANES) && linear_rows(collapsed, operand, -1) => Access::Backward,
        Walk::Rows
            if collapsed.lengths.iter().nth_back(1) == Some(&(blocks as usize))
                && blocks > 1
                && interleaved(collapsed, operand) =>
        {
            Access::Interleaved
        }
        Walk::Rows if tiles && linear_columns(collapsed, operand) => Access::Tile,
        _ => stepped(collapsed, operand, walk, widest).unwrap_or(Access::Strided),
    }
}

pub(super) fn store(collapsed: &Collapsed, walk: Walk, dtype: DType, fresh: bool) -> Store {
    let whole = |n: usize| n.is_multiple_of(LANES);
    let inner = collapsed.lengths.last().copied().unwrap_or(1);
    let count: usize = collapsed.lengths.iter().product();
    let vector = match walk {
        // A fresh storage is padded, so its last store may be wider than what is left.
        Walk::Flat | Walk::Bands => linear(collapsed, 0, 1) && (fresh || whole(count)),
        Walk::Rows => linear_rows(collapsed, 0, 1) && whole(inner),
        Walk::Words { .. } => false,
    };
    match dtype.packing() {
        _ if vector => Store::Vector,
        Packing::Whole => Store::Lanes,
        Packing::Halves | Packing::Bytes => Store::Words,
    }
}
