//! Buffers that a program and its tensors share: the caller's as storages, and storages as buffers.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::buffer::{Buffer, buffers};
use super::device::{Gpu, Parts};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result, bail};
use crate::ir::{Backend, Storage};
use crate::layout::{Layout, Shape};
use crate::lower::VECTOR;
use crate::plan::LANES;

/// Bindings are multiples of this many bytes.
const WORD: u64 = wgpu::COPY_BUFFER_ALIGNMENT;

/// The buffer in which elements lie.
#[derive(Clone, Debug)]
pub(crate) struct Loan {
    buffer: Arc<Buffer>,
    /// The byte of the first element, and the bytes up to the end of the last.
    pub offset: u64,
    pub size: u64,
}

impl Loan {
    pub(crate) fn raw(&self) -> &wgpu::Buffer {
        &self.buffer.raw
    }

    /// Remembers the recording that is open when it is written.
    pub(super) fn mark_written(&self, epoch: u64) {
        self.buffer.written.store(epoch, Ordering::Relaxed);
    }
}

/// Bytes of a caller's buffer that kernels can bind.
fn reachable(buffer: &Buffer) -> u64 {
    if buffer.is_lent { buffer.raw.size() / WORD * WORD } else { buffer.size }
}

/// The bytes from the begin of a storage to the first element of a layout, and to the end of the last.
fn stretch(layout: &Layout, dtype: DType) -> (u64, u64) {
    if layout.count() == 0 {
        return (0, 0);
    }
    let ((low, high), size) = (layout.reach(), dtype.size() as u64);
    (low as u64 * size, (high as u64 + 1) * size)
}

impl Gpu {
    /// A storage over a caller's buffer, and a layout of elements in it.
    pub(crate) fn storage_of(
        self: &Arc<Self>,
        raw: &wgpu::Buffer,
        dtype: DType,
        byte_offset: u64,
        shape: Shape,
        strides: &[isize],
    ) -> Result<(Storage, Layout)> {
        let size = dtype.size() as u64;
        if !raw.usage().contains(wgpu::BufferUsages::STORAGE) {
            bail!(
                Resource,
                "a buffer of usage {:?} as a tensor: kernels bind it, so create it with BufferUsages::STORAGE too",
                raw.usage()
            );
        }
        if !byte_offset.is_multiple_of(size) {
            bail!(
                Resource,
                "{dtype} {shape} at byte {byte_offset} of a buffer: elements begin at multiples of {size} bytes"
            );
        }
        let layout =
            Layout::strided(shape, strides, (byte_offset / size) as usize, (raw.size() / size) as usize)?;
        let buffer = self.parts.shared.find(raw, || self.take_in(raw))?;
        let (_, end) = stretch(&layout, dtype);
        // Small elements are read and written in groups.
        let group = if dtype.size() < WORD as usize { LANES as u64 * size } else { WORD };
        let (whole, has) = (end.next_multiple_of(group), reachable(&buffer));
        if whole > has {
            bail!(
                Resource,
                "{dtype} {} ends with byte {end} of a buffer of {}, and its elements are read and written by {group} bytes: create the buffer with {} bytes",
                layout.shape(),
                raw.size(),
                raw.size().max(whole).next_multiple_of(WORD)
            );
        }
        if end > self.parts.cuts.buffer() {
            bail!(
                Limit,
                "{dtype} {} ends with byte {end} of a buffer, and {} reaches {} (max_buffer_size): use several buffers",
                layout.shape(),
                self.name(),
                self.parts.cuts.buffer()
            );
        }
        let is_exact = end.next_multiple_of(VECTOR) > has;
        let elements = (end / size) as usize;
        Ok((Storage { backend: self.clone(), elements, buffer, is_exact }, layout))
    }

    /// A caller's buffer, if kernels can bind it.
    fn take_in(&self, raw: &wgpu::Buffer) -> Result<Buffer> {
        let Parts { connection, cuts, pool, .. } = &*self.parts;
        let size = (raw.size() / WORD * WORD).min(cuts.whole());
        if size == 0 {
            bail!(Resource, "a buffer of {} bytes as a tensor: a kernel binds at least {WORD}", raw.size());
        }
        connection.can_bind(raw, size)?;
        Ok(Buffer::new(connection, pool, (raw.clone(), 0), (size, size), true))
    }

    /// The buffer of some elements, after recorded work on it is submitted.
    pub(crate) fn loan(&self, storage: &Storage, dtype: DType, layout: &Layout) -> Result<Loan> {
        let Parts { connection, recorder, shared, cuts, pool, .. } = &*self.parts;
        let all = buffers(storage)?;
        let (start, end) = stretch(layout, dtype);
        let mut parts = cuts.stretch(start, end.max(start + 1));
        let (Some((number, offset, _)), None) = (parts.next(), parts.next()) else {
            bail!(
                Limit,
                "{dtype} {} lies in several buffers of {} bytes (max_buffer_size): take slices of it",
                layout.shape(),
                cuts.buffer()
            );
        };
        let Some(buffer) = all.get(number).cloned() else {
            return Err(Error::new(ErrorKind::Kernel, format!("no buffer {number} of {storage:?}")));
        };
        recorder.flush_uses(connection, &buffer);
        connection.check()?;
        buffer.check(connection)?;
        buffer.is_known.store(true, Ordering::Relaxed);
        pool.forget(&buffer.raw);
        shared.insert(&buffer);
        Ok(Loan { buffer, offset, size: end - start })
    }

    /// Whether the buffers of a storage have a usage. The pool's do, the caller's may not.
    pub(super) fn allows(&self, storage: &Storage, usage: wgpu::BufferUsages) -> Result<bool> {
        let may = |buffer: &Arc<Buffer>| buffer.raw.usage().contains(usage);
        Ok(buffers(storage)?.iter().all(may))
    }
}
