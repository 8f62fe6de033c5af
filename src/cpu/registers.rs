//! Registers of the CPU path: tiles for the values of a program, as few as are needed at once.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};

use super::bytes::with_memory;
use super::lines::{LINE, Stream, to_line};
use super::memory::{keep_block, known_block};
use crate::error::{Result, bail};

/// Memory for a tile of elements of any type, from a cache line's start on.
#[derive(Default)]
pub(super) struct Register {
    words: Vec<u64>,
    start: usize,
    /// Its contents, which may serve the next tile: the address of one element, or the begin within a repeated row; and
    /// the number of elements.
    pub held: Option<(usize, usize)>,
}

impl Drop for Register {
    fn drop(&mut self) {
        keep_block(std::mem::take(&mut self.words));
    }
}

impl Register {
    /// Memory for this many bytes. The first use cannot fail.
    pub(super) fn of(bytes: usize) -> Result<Register> {
        let words = (bytes + LINE).div_ceil(8);
        match Vec::<u64>::new().try_reserve_exact(words) {
            Ok(()) => {}
            Err(_) => bail!(Memory, "no memory for {bytes} bytes on the CPU"),
        }
        let mut register = Register::default();
        register.bytes_mut(bytes);
        Ok(register)
    }

    /// Equal elements of `size` bytes, by their bits.
    pub(super) fn of_equal(bits: u64, size: usize, count: usize) -> Result<Register> {
        let mut register = Register::of(count * size)?;
        with_memory!(size, |M| cast_mut::<_, M>(register.bytes_mut(count * size)).fill(bits as M));
        Ok(register)
    }

    pub(super) fn bytes(&self, count: usize) -> &[u8] {
        &cast(&self.words)[self.start..self.start + count]
    }

    /// Takes memory at the first use, since most values are read in place or written to the result.
    pub(super) fn bytes_mut(&mut self, count: usize) -> &mut [u8] {
        if self.start + count > 8 * self.words.len() {
            let words = (count + LINE).div_ceil(8);
            keep_block(std::mem::take(&mut self.words));
            self.words = known_block(words).unwrap_or_else(|| vec![0; words]);
            self.start = to_line(cast(&self.words));
        }
        &mut cast_mut(&mut self.words)[self.start..self.start + count]
    }

    /// Computes elements at their place, or here first if they are stored past the cache.
    pub(super) fn through(
        &mut self,
        stream: Option<&Stream>,
        out: &mut [u8],
        compute: impl FnOnce(&mut [u8]),
    ) {
        let Some(stream) = stream else { return compute(out) };
        let held = self.bytes_mut(out.len());
        compute(held);
        stream.copy(held, out);
    }
}
