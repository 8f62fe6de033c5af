//! The words that grids and accesses have in common: lanes, walks, and how small elements are packed.

use crate::dtype::{DType, Kind};

pub(crate) use crate::schedule::LANES;

/// Invocations of a workgroup: the most that every WebGPU adapter has.
pub(crate) const WORKGROUP: u32 = 256;

/// Invocations of a workgroup of a reduction, unless what they hold takes more memory than there is.
pub(crate) const REDUCE_WORKGROUP: u32 = 64;

/// How invocations are laid over the loops.
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
    /// Each lane by coordinates of its own, which a reduction knows.
    Anywhere,
}

/// Which rows an invocation computes together because an operand is loaded for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Together {
    /// None.
    Apart,
    /// Four, of which a transposed operand is loaded by tiles.
    Tiles,
    /// All, which an operand has next to each other.
    Interleaved,
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

/// The type of whole words that holds a type's values.
pub(super) fn whole(dtype: DType) -> DType {
    match (dtype.packing(), dtype.kind()) {
        (Packing::Whole, _) => dtype,
        (_, Kind::Signed) => DType::I32,
        _ => DType::U32,
    }
}
