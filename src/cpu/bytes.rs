//! Elements as memory: bytes that move by a type of their size, and the memory of an input.

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

/// The elements of an operand.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a> {
    /// Elements of a storage.
    Bytes(&'a [u8]),
    /// The elements of the output, until they are overwritten.
    Output,
    /// One constant, as its bits.
    Scalar(u64),
    /// The address itself: a coordinate.
    Index,
}

impl Operand<'_> {
    pub(super) fn is_output(&self) -> bool {
        matches!(self, Operand::Output)
    }

    /// Bytes of memory that are read at most. Views of one storage count once.
    pub(super) fn bytes(all: &[Operand<'_>]) -> usize {
        let is_one =
            |from: &Operand<'_>, own| matches!(from, Operand::Bytes(bytes) if std::ptr::eq(*bytes, own));
        let bytes = all.iter().enumerate().map(|(i, from)| match *from {
            Operand::Bytes(own) if !all[..i].iter().any(|known| is_one(known, own)) => own.len(),
            _ => 0,
        });
        bytes.sum()
    }
}

/// The first elements of the rest, up to a number, and no longer part of it.
pub(super) fn cut<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    rest.split_off_mut(..count.min(rest.len())).unwrap_or_default()
}

/// Bytes that stay in the second-level cache of many processors, so that they are not prefetched.
pub(super) const LARGEST_NEAR: usize = 1 << 20;
