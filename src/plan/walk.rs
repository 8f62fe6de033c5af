//! Terms of grids and accesses: lanes, walks, and packed elements.

use crate::dtype::{DType, Kind};

pub(crate) use crate::schedule::LANES;

/// Invocations of a workgroup: the most that every WebGPU adapter has.
pub(crate) const WORKGROUP: u32 = 256;

/// Invocations of a workgroup of a reduction, unless that needs more memory than there is.
pub(crate) const REDUCE_WORKGROUP: u32 = 64;

/// How invocations cover the loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Walk {
    /// Over all elements in the output's order. Coordinates are divided if an operand needs them; at rank 1 nothing is
    /// divided.
    Flat,
    /// Over all elements, in bands of rows that together are whole vectors. The vectors of a band lie along x and the
    /// bands along y and z, so coordinates along a row need no division, and are the same in all bands.
    Bands,
    /// The innermost axis along x, and the others along y and z, so coordinates need no division up to rank 3.
    Rows,
    /// Over the words of a packed destination that shares words with others. The axes from `outer` on are found from a
    /// lane's address, since two of their elements may share a word. Steps along axes before that are larger.
    Words { outer: usize },
    /// Each lane at coordinates of its own, in a reduction.
    Anywhere,
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
        (_, Kind::Float) => DType::F32,
        (_, Kind::Signed) => DType::I32,
        _ => DType::U32,
    }
}
