//! New buffers, each with its error. On adapters that do not report missing memory, a new buffer is marked and the mark
//! is read back.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Connection, MARK, refused, said};
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::drivers;
use crate::gpu::failures::Fate;

/// Transfers of fewer bytes do not test for memory first: an adapter that lacks so little has failed already.
const LITTLE: u64 = 1 << 20;

/// After a successful test, transfers of this many bytes need no other test: wgpu may still hold their memory.
const SURE: u64 = 256 << 20;

/// The last successful test: the largest transfer, and the bytes for which it is valid.
#[derive(Debug, Default)]
pub(super) struct Sure {
    most: AtomicU64,
    left: AtomicU64,
}

pub(super) fn buffer_of(size: u64, usage: wgpu::BufferUsages) -> wgpu::BufferDescriptor<'static> {
    wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false }
}

fn no_memory(name: &str, size: u64) -> Error {
    Error::new(
        ErrorKind::Memory,
        format!("{name} has no memory for {size} bytes: drop tensors or work on slices"),
    )
}

impl Connection {
    /// A new buffer for elements, or the error that there is no memory for it.
    pub(in crate::gpu) fn create(&self, size: u64) -> Result<wgpu::Buffer> {
        self.sure.most.store(0, Ordering::Relaxed);
        self.create_marked(size)
    }

    fn create_marked(&self, size: u64) -> Result<wgpu::Buffer> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let buffer = self.create_for(size, usage)?;
        if let Some(mark) = &self.mark
            && !self.can_be_marked(&buffer, mark)?
        {
            return Err(no_memory(&self.name, size));
        }
        Ok(buffer)
    }

    /// Fails if there is no memory for `bytes` bytes together. If the driver's memory is the host's, the system
    /// promises each of several buffers but not all of them.
    pub(in crate::gpu) fn can_have(&self, bytes: u64) -> Result<()> {
        let room = |bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        // In a browser the driver's memory is another process's.
        match self.waits && drivers::is_software(&self.device.adapter_info()) {
            true if !usize::try_from(bytes).is_ok_and(room) => Err(no_memory(&self.name, bytes)),
            _ => Ok(()),
        }
    }

    /// A new staging buffer, which the host reads.
    pub(in crate::gpu) fn create_for_reading(&self, size: u64) -> Result<(wgpu::Buffer, Fate)> {
        if self.mark.is_some() {
            self.make_sure_of(size)?;
        }
        self.create_followed(size, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)
    }

    /// Fails if there is no memory for a transfer of `size` bytes. Where wgpu takes that memory itself and there is
    /// none, it loses the device. A successful test is valid for a while, as long as no buffer is made (GL, uploads of
    /// 1 MiB: 1.2 ms with a test each, 0.6 so).
    pub(in crate::gpu) fn make_sure_of(&self, size: u64) -> Result<()> {
        let (Sure { most, left }, order) = (&self.sure, Ordering::Relaxed);
        let is_known = || {
            size <= most.load(order) && left.fetch_update(order, order, |left| left.checked_sub(size)).is_ok()
        };
        if !self.waits || size < LITTLE || is_known() {
            return Ok(());
        }
        match &self.mark {
            Some(_) => drop(self.create_marked(size)?),
            None => {
                let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
                drop(self.create_for(size.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT), usage)?);
            }
        }
        most.store(size, order);
        left.store(SURE, order);
        Ok(())
    }

    /// A new buffer with usages, or the error that wgpu reports.
    pub(in crate::gpu) fn create_for(&self, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        Ok(self.create_followed(size, usage)?.0)
    }

    fn create_followed(&self, size: u64, usage: wgpu::BufferUsages) -> Result<(wgpu::Buffer, Fate)> {
        let create = || self.device.create_buffer(&buffer_of(size, usage));
        let filters = [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation];
        let name = self.name.clone();
        let into_error = move |error| match error {
            wgpu::Error::OutOfMemory { .. } => no_memory(&name, size),
            error => refused(&name, &format!("a buffer of {size} bytes"), &error),
        };
        self.scoped(&filters, create, into_error)
    }

    /// Fails if kernels cannot bind `bytes` bytes of a caller's buffer.
    pub(in crate::gpu) fn can_bind(&self, buffer: &wgpu::Buffer, size: u64) -> Result<()> {
        let device = &self.device;
        let ty = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: false },
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let visibility = wgpu::ShaderStages::COMPUTE;
        let bind = || {
            let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: None,
                entries: &[wgpu::BindGroupLayoutEntry { binding: 0, visibility, ty, count: None }],
            });
            let size = wgpu::BufferSize::new(size);
            let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: 0, size });
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &layout,
                entries: &[wgpu::BindGroupEntry { binding: 0, resource }],
            })
        };
        let (name, bytes) = (self.name.clone(), buffer.size());
        let into_error = move |error: wgpu::Error| {
            let text = format!(
                "{name} cannot bind a buffer of {bytes} bytes, as of a buffer of another device or a destroyed one: make it by this device ({})",
                said(&error)
            );
            Error::new(ErrorKind::Resource, text)
        };
        self.scoped(&[wgpu::ErrorFilter::Validation], bind, into_error).map(drop)
    }

    /// Whether a copy can mark the last word of the buffer: 20 us for 4 KiB, 40 for 1 MiB and 150 for 64 MiB on
    /// llvmpipe, which makes such buffers in 3 us, 0.6 ms and 78 ms.
    fn can_be_marked(&self, buffer: &wgpu::Buffer, mark: &wgpu::Buffer) -> Result<bool> {
        let size = MARK.len() as u64;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        // Held until the buffer is dropped.
        let _entered = self.gate.enter();
        let seen = self.create_for(size, usage)?;
        self.tried("a copy", || {
            let mut encoder = self.encoder();
            // Reused memory may still hold a mark.
            encoder.clear_buffer(&seen, 0, None);
            // The last whole word, if the size is no multiple of words.
            let last = (buffer.size() / size - 1) * size;
            encoder.copy_buffer_to_buffer(mark, 0, buffer, last, size);
            encoder.copy_buffer_to_buffer(buffer, last, &seen, 0, size);
            self.queue.submit([encoder.finish()]);
            seen.map_async(wgpu::MapMode::Read, .., |_| {});
        })?;
        self.wait()?;
        Ok(seen.get_mapped_range(..).is_ok_and(|bytes| bytes[..] == MARK))
    }
}
