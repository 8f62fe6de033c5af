//! Cache control: stores past the cache, for results that no cache holds, and prefetches. An ordinary store reads the
//! line that it changes, and so moves twice the bytes.

use std::marker::PhantomData;

/// Bytes of a line of the cache.
pub(super) const LINE: usize = 64;

/// Bytes that fill the last-level cache of many processors. A result of half as many has left it before anyone reads
/// it, if operands fill the rest.
const CACHE: usize = 32 << 20;

/// Bytes before the first line begins.
pub(super) fn to_line(bytes: &[u8]) -> usize {
    bytes.as_ptr().addr().wrapping_neg() % LINE
}

/// Whether a result of this many bytes, computed from that many, is stored past the cache. Only if storing is most of
/// the work.
pub(super) fn streams(result: usize, read: usize) -> bool {
    cfg!(target_arch = "x86_64") && result >= CACHE / 2 && result.saturating_add(read) >= CACHE
}

/// Stores of one thread. Other threads see them at the end of the [`scope`].
pub(super) struct Stream(PhantomData<*const ()>);

/// Runs code that stores past the cache if `streams`. Nothing reads the stored elements before it returns.
pub(super) fn scope(streams: bool, run: impl FnOnce(Option<&Stream>)) {
    // The fence runs on drop, and so after a panic too.
    struct Order;

    impl Drop for Order {
        fn drop(&mut self) {
            order();
        }
    }

    let (stream, _order) = (Stream(PhantomData), streams.then_some(Order));
    run(streams.then_some(&stream));
}

impl Stream {
    /// Copies to memory of the same length.
    pub(super) fn copy(&self, from: &[u8], to: &mut [u8]) {
        let head = to_line(to).min(to.len());
        let (first, from) = from.split_at(head);
        let (to_first, to) = to.split_at_mut(head);
        let (from, last) = from.as_chunks::<LINE>();
        let (to, to_last) = to.as_chunks_mut::<LINE>();
        to_first.copy_from_slice(first);
        store(from, to);
        to_last.copy_from_slice(last);
    }
}

/// Prefetches some lines into the second-level cache, so that the first-level cache keeps its lines.
#[inline(always)]
pub(super) fn ask(lines: &[[u8; LINE]]) {
    lines.iter().for_each(|line| machine::prefetch::<2>(line.as_ptr().cast()));
}

/// Prefetches the line of an element.
pub(super) fn prefetch<M>(element: &M) {
    machine::prefetch::<1>(std::ptr::from_ref(element).cast());
}

#[cfg(target_arch = "x86_64")]
mod machine {
    #![allow(unsafe_code)]

    use std::arch::is_x86_feature_detected as has;
    use std::arch::x86_64::*;

    use super::LINE;

    /// Stores whole lines by the widest words: a processor continues while stores wait for memory, but only with a
    /// limited number of them.
    pub(super) fn store(from: &[[u8; LINE]], to: &mut [[u8; LINE]]) {
        match () {
            // SAFETY: the processor has the instructions.
            () if has!("avx512f") => unsafe { by_64(from, to) },
            // SAFETY: the processor has the instructions.
            () if has!("avx") => unsafe { by_32(from, to) },
            () => by_16(from, to),
        }
    }

    macro_rules! stores {
        ($($name:ident by $word:ident $load:ident $stream:ident $(for $feature:literal)?;)*) => {$(
            $(#[target_feature(enable = $feature)])?
            fn $name(from: &[[u8; LINE]], to: &mut [[u8; LINE]]) {
                for (from, to) in from.iter().zip(to) {
                    let (from, to) = (from.as_ptr().cast::<$word>(), to.as_mut_ptr().cast::<$word>());
                    debug_assert!(to.is_aligned());
                    for i in 0..LINE / size_of::<$word>() {
                        // SAFETY: both have as many words, `to` is aligned to them, and its elements are this thread's
                        // alone. No one reads them before `order`: a scope ends with it, and the destination is
                        // borrowed until then by the chunk that the scope computes.
                        unsafe { $stream(to.add(i), $load(from.add(i))) };
                    }
                }
            }
        )*};
    }
    stores! {
        by_16 by __m128i _mm_loadu_si128 _mm_stream_si128;
        by_32 by __m256i _mm256_loadu_si256 _mm256_stream_si256 for "avx";
        by_64 by __m512i _mm512_loadu_si512 _mm512_stream_si512 for "avx512f";
    }

    /// Makes this thread's stores visible to others before its next ones.
    pub(super) fn order() {
        // SAFETY: a fence has no operands, and every processor of this architecture has it.
        unsafe { _mm_sfence() };
    }

    /// Prefetches into the first-level cache, or the second.
    #[inline(always)]
    pub(super) fn prefetch<const LEVEL: usize>(address: *const i8) {
        let prefetch = if LEVEL == 1 { _mm_prefetch::<_MM_HINT_T0> } else { _mm_prefetch::<_MM_HINT_T1> };
        // SAFETY: a hint. Whatever the address, it changes nothing and does not fail.
        unsafe { prefetch(address) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod machine {
    pub(super) fn store(from: &[[u8; super::LINE]], to: &mut [[u8; super::LINE]]) {
        to.copy_from_slice(from);
    }

    pub(super) fn order() {}

    pub(super) fn prefetch<const LEVEL: usize>(_: *const i8) {}
}

use machine::{order, store};
