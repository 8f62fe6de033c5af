//! What elements are as memory: bytes that are moved by a type of their size, and where those of an input lie.

/// Calls `$call` with the type that moves elements of `$size` bytes.
macro_rules! with_memory {
    ($size:expr, |$memory:ident| $call:expr) => {
        match $size {
            1 => {
                type $memory = u8;
                $call
            }
            2 => {
                type $memory = u16;
                $call
            }
            4 => {
                type $memory = u32;
                $call
            }
            _ => {
                type $memory = u64;
                $call
            }
        }
    };
}

pub(super) use with_memory;

/// What an input is read from.
#[derive(Clone, Copy)]
pub(super) enum From<'a> {
    /// Elements of a storage.
    Bytes(&'a [u8]),
    /// The elements that the output holds until they are overwritten.
    Output,
    /// One constant, as its bits.
    Scalar(u64),
    /// The address itself: a coordinate.
    Index,
}

impl From<'_> {
    /// Bytes that are read of memory, at most.
    pub(super) fn bytes(all: &[From<'_>]) -> usize {
        all.iter().map(|from| if let From::Bytes(bytes) = from { bytes.len() } else { 0 }).sum()
    }
}

/// Bytes that stay in the second cache of many processors, so that none are asked for.
pub(super) const LARGEST_NEAR: usize = 1 << 20;
