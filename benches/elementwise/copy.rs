//! The device's own copy, which is the least time to move the same bytes.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use zerostride::Device;

use crate::common::Failure;
use crate::common::hand::raw_device;

/// Copies between two buffers of a device's adapter, or on the CPU between two vectors.
pub(crate) enum Copier {
    Memory(RefCell<(Vec<u8>, Vec<u8>)>),
    Adapter { device: wgpu::Device, queue: wgpu::Queue, buffers: RefCell<Option<[wgpu::Buffer; 2]>> },
}

impl Copier {
    pub(crate) fn new(device: &Device) -> Result<Copier, Failure> {
        let name = device.name();
        if name == "cpu" {
            return Ok(Copier::Memory(RefCell::default()));
        }
        let (device, queue) = raw_device(&name)?;
        Ok(Copier::Adapter { device, queue, buffers: RefCell::default() })
    }

    /// The time to move `bytes` bytes in all: half of them read, half of them written.
    pub(crate) fn copy(&self, bytes: usize) -> Result<Duration, Failure> {
        let half = (bytes / 2).next_multiple_of(16);
        match self {
            Copier::Memory(vectors) => {
                let (from, to) = &mut *vectors.borrow_mut();
                from.resize(half, 1);
                to.resize(half, 2);
                let start = Instant::now();
                to.copy_from_slice(from);
                std::hint::black_box(&to);
                Ok(start.elapsed())
            }
            Copier::Adapter { device, queue, buffers } => {
                let mut buffers = buffers.borrow_mut();
                let create = || {
                    device.create_buffer(&wgpu::BufferDescriptor {
                        label: None,
                        size: half as u64,
                        usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
                        mapped_at_creation: false,
                    })
                };
                if buffers.as_ref().is_none_or(|[from, _]| from.size() != half as u64) {
                    *buffers = Some([create(), create()]);
                }
                let Some([from, to]) = buffers.as_ref() else { return Err("no buffers".into()) };
                device.poll(wgpu::PollType::wait_indefinitely())?;
                let start = Instant::now();
                let mut encoder = device.create_command_encoder(&Default::default());
                encoder.copy_buffer_to_buffer(from, 0, to, 0, half as u64);
                queue.submit([encoder.finish()]);
                device.poll(wgpu::PollType::wait_indefinitely())?;
                Ok(start.elapsed())
            }
        }
    }
}
