//! Buffers that are there: each is made with its error, and on adapters that have none for want of memory it is marked
//! and the mark read.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Connection, MARK, refused, said};
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::drivers;
use crate::gpu::failures::Fate;

/// Bytes of memory for a transfer that are too few to be looked for before: an adapter that lacks them
/// has failed already.
const LITTLE: u64 = 1 << 20;

/// Bytes of transfers for which memory that was found is not looked for again: wgpu may still hold theirs.
const SURE: u64 = 256 << 20;

/// Memory for transfers that was found to be there: the most for one, and for how many bytes that holds.
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

    /// Fails when there is no memory for buffers of so many bytes together. Where the driver's memory is the
    /// host's, the system promises any of them, but not all.
    pub(in crate::gpu) fn can_have(&self, bytes: u64) -> Result<()> {
        let room = |bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        // In a browser the driver's memory is another process's.
        match self.waits && drivers::is_software(&self.device.adapter_info()) {
            true if !usize::try_from(bytes).is_ok_and(room) => Err(no_memory(&self.name, bytes)),
            _ => Ok(()),
        }
    }

    /// A new buffer that is copied to and read by the host.
    pub(in crate::gpu) fn create_for_reading(&self, size: u64) -> Result<(wgpu::Buffer, Fate)> {
        if self.mark.is_some() {
            self.make_sure_of(size)?;
        }
        self.create_followed(size, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)
    }

    /// Fails when there is no memory for a transfer of `size` bytes: where wgpu takes such memory itself,
    /// it gives up the whole device for want of it. What was found once is there for a while as long as no
    /// buffer is made (GL, uploads of 1 MiB: 1.2 ms if it is looked for each time, 0.6 so).
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

    /// A new buffer for a purpose, or the error that wgpu reports.
    pub(in crate::gpu) fn create_for(&self, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        Ok(self.create_followed(size, usage)?.0)
    }

    fn create_followed(&self, size: u64, usage: wgpu::BufferUsages) -> Result<(wgpu::Buffer, Fate)> {
        let create = || self.device.create_buffer(&buffer_of(size, usage));
        let filters = [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation];
        let name = self.name.clone();
        let tell = move |error| match error {
            wgpu::Error::OutOfMemory { .. } => no_memory(&name, size),
            error => refused(&name, &format!("a buffer of {size} bytes"), &error),
        };
        self.scoped(&filters, create, tell)
    }

    /// Fails for a buffer of the caller's that kernels cannot bind so many bytes of.
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
        let tell = move |error: wgpu::Error| {
            let text = format!("{name} cannot bind a buffer of {bytes} bytes: {}", said(&error));
            Error::new(ErrorKind::Resource, text)
        };
        self.scoped(&[wgpu::ErrorFilter::Validation], bind, tell).map(drop)
    }

    /// Whether the last word of a buffer becomes the mark when it is copied there: 20 us for 4 KiB, 40
    /// for 1 MiB and 150 for 64 MiB on llvmpipe, which takes 3 us, 0.6 ms and 78 ms to make them.
    fn can_be_marked(&self, buffer: &wgpu::Buffer, mark: &wgpu::Buffer) -> Result<bool> {
        let size = MARK.len() as u64;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        // Until the buffer is gone.
        let _entered = self.gate.enter();
        let seen = self.create_for(size, usage)?;
        self.tried("a copy", || {
            let mut encoder = self.encoder();
            // Memory that was used before may still hold a mark.
            encoder.clear_buffer(&seen, 0, None);
            // Of a size that is no whole number of words, the last whole one.
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
