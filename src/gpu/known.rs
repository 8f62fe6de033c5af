//! The devices in use, so that a program's device is recognized when it is handed in again.

use std::sync::{Arc, Mutex, Weak};

use super::device::{Gpu, Parts};
use super::lock::lock;
use crate::plan::Target;

/// Devices in use, each with its first handle's target for plans.
static KNOWN: Mutex<Vec<(Weak<Parts>, Target)>> = Mutex::new(Vec::new());

/// Registers a device.
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

/// Whether both are one device. wgpu compares numbers that each instance counts anew. If two are equal, an error
/// decides: a scope of one device catches the error of the other only if they are the same.
fn is_same(a: &wgpu::Device, b: &wgpu::Device) -> bool {
    if a != b || cfg!(target_arch = "wasm32") {
        return a == b;
    }
    let outer = b.push_error_scope(wgpu::ErrorFilter::Validation);
    let inner = a.push_error_scope(wgpu::ErrorFilter::Validation);
    let usage = wgpu::BufferUsages::empty();
    // A buffer must have a use, so this is an error.
    let _ =
        b.create_buffer(&wgpu::BufferDescriptor { label: None, size: 4, usage, mapped_at_creation: false });
    let caught = pollster::block_on(inner.pop());
    let missed = pollster::block_on(outer.pop());
    // A lost device reports nothing.
    caught.is_some() || missed.is_none()
}
