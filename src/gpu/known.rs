//! Which devices are in use, so that a program's own is known when it is handed in again.

use std::sync::{Arc, Mutex, Weak};

use super::device::{Gpu, Parts};
use super::lock::lock;
use crate::plan::Target;

/// Devices that are in use, each with what its first handle asks of plans.
static KNOWN: Mutex<Vec<(Weak<Parts>, Target)>> = Mutex::new(Vec::new());

/// Lets a device be found.
pub(super) fn remember(gpu: &Gpu) {
    let mut known = lock(&KNOWN);
    known.retain(|(parts, _)| parts.strong_count() > 0);
    known.push((Arc::downgrade(&gpu.parts), gpu.adapter));
}

pub(super) fn find(device: &wgpu::Device) -> Option<Arc<Gpu>> {
    let all: Vec<(Weak<Parts>, Target)> = lock(&KNOWN).clone();
    all.into_iter().find_map(|(parts, adapter)| {
        let parts = parts.upgrade()?;
        let is_same = is_same(&parts.connection.device, device);
        is_same.then(|| Arc::new(Gpu::of(parts, adapter)))
    })
}

/// Whether both are one device. wgpu compares numbers that each instance gives anew, so equal ones are asked
/// by an error: the scope of one catches what is wrong on the other only if they are the same.
fn is_same(a: &wgpu::Device, b: &wgpu::Device) -> bool {
    if a != b || cfg!(target_arch = "wasm32") {
        return a == b;
    }
    let outer = b.push_error_scope(wgpu::ErrorFilter::Validation);
    let inner = a.push_error_scope(wgpu::ErrorFilter::Validation);
    let usage = wgpu::BufferUsages::empty();
    // No buffer is without a use.
    let _ =
        b.create_buffer(&wgpu::BufferDescriptor { label: None, size: 4, usage, mapped_at_creation: false });
    let caught = pollster::block_on(inner.pop());
    let missed = pollster::block_on(outer.pop());
    // Nothing is told of a device that is lost.
    caught.is_some() || missed.is_none()
}
