//! Lookups: elements of a table at computed indices, for a tile.

use bytemuck::{Pod, cast_slice as cast, cast_slice_mut as cast_mut};
use smallvec::SmallVec;

use super::bytes::with_memory;
use crate::ir::Extent;

/// The table of a loop.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub elements: &'a [u8],
    /// Bytes of an element.
    pub size: usize,
    /// The step of an index along each axis, in elements.
    pub computed: &'a [Extent],
}

impl Table<'_> {
    /// Gathers elements: each address, an i64, plus the steps of its indices.
    pub(super) fn look_up(&self, addresses: &[u8], indices: &[&[u8]], out: &mut [u8]) {
        let walk = Addresses::Each(cast(addresses));
        let along = indices.iter().zip(self.computed).map(|(index, extent)| (cast(index), extent.stride));
        let along: SmallVec<[(&[i32], isize); 4]> = along.collect();
        with_memory!(self.size, |M| gather::<M>(cast(self.elements), &walk, &along, cast_mut(out)));
    }
}

/// The addresses of a table's elements, without the indices.
pub(super) enum Addresses<'a> {
    /// Addresses a stride apart.
    Run(isize, isize),
    /// An address for each element.
    Each(&'a [i64]),
}

/// Gathers elements: the layout's address plus each index times its stride. An index that all elements share may be one
/// part.
pub(super) fn gather<M: Pod>(source: &[M], walk: &Addresses<'_>, indices: &[(&[i32], isize)], out: &mut [M]) {
    match *walk {
        Addresses::Run(at, stride) => by(source, |k| at + k as isize * stride, indices, out),
        Addresses::Each(all) => by(source, |k| all[k] as isize, indices, out),
    }
}

#[inline(always)]
fn by<M: Pod>(source: &[M], base: impl Fn(usize) -> isize, indices: &[(&[i32], isize)], out: &mut [M]) {
    let whole = indices.iter().all(|(index, _)| index.len() == out.len());
    match *indices {
        [] => each(out, |k| source[base(k) as usize]),
        [(i, s)] if whole => each(out, |k| source[(base(k) + i[k] as isize * s) as usize]),
        [(i, s), (j, t)] if whole => {
            each(out, |k| source[(base(k) + i[k] as isize * s + j[k] as isize * t) as usize]);
        }
        _ => each(out, |k| {
            let along = indices.iter().map(|&(index, stride)| index[k % index.len()] as isize * stride);
            source[(base(k) + along.sum::<isize>()) as usize]
        }),
    }
}

#[inline(always)]
fn each<M: Pod>(out: &mut [M], element: impl Fn(usize) -> M) {
    out.iter_mut().enumerate().for_each(|(k, out)| *out = element(k));
}
