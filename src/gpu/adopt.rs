//! Devices that a program has already: what to ask for, and which of them is known.

use std::sync::{Arc, Mutex, Weak};

use super::connection::{Connection, FEATURES};
use super::device::{Gpu, Parts};
use super::lock::lock;
use super::{open, pipelines};
use crate::error::{Result, bail};
use crate::expr::Backend;
use crate::plan::Target;

/// Devices that are in use, each with what its first handle asks of plans.
static KNOWN: Mutex<Vec<(Weak<Parts>, Target)>> = Mutex::new(Vec::new());

/// The features of an adapter that are used where it has them, and its limits.
pub(crate) fn wants(adapter: &wgpu::Adapter) -> (wgpu::Features, wgpu::Limits) {
    (adapter.features() & FEATURES, adapter.limits())
}

/// A handle to a device that is the caller's, the same as for the time before if that is still in use.
pub(crate) fn adopt(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Arc<Gpu>> {
    if let Some(known) = find(device) {
        return Ok(known);
    }
    let gpu = open::ready(Connection::adopt(device.clone(), queue.clone())?, pipelines::MOST)?;
    // Another thread may have been first: no lock is held while kernels are compiled.
    Ok(find(device).unwrap_or_else(|| {
        remember(&gpu);
        gpu
    }))
}

/// Lets a device be found.
pub(super) fn remember(gpu: &Gpu) {
    let mut known = lock(&KNOWN);
    known.retain(|(parts, _)| parts.strong_count() > 0);
    known.push((Arc::downgrade(&gpu.parts), gpu.adapter));
}

fn find(device: &wgpu::Device) -> Option<Arc<Gpu>> {
    let all: Vec<(Weak<Parts>, Target)> = lock(&KNOWN).clone();
    all.into_iter().find_map(|(parts, adapter)| {
        let parts = parts.upgrade()?;
        let is_same = is_same(&parts.connection.device, device);
        is_same.then(|| Arc::new(Gpu { parts, adapter, session: None }))
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

/// The adapter behind a device, or the error that there is none.
pub(crate) fn of(backend: Arc<dyn Backend>) -> Result<Arc<Gpu>> {
    match backend.clone().any().downcast::<Gpu>() {
        Ok(gpu) => Ok(gpu),
        Err(_) => bail!(
            Device,
            "{} has no buffers of wgpu: take a device of an adapter, as Device::from_wgpu gives it",
            backend.name()
        ),
    }
}

impl Gpu {
    /// wgpu's device and its queue.
    pub(crate) fn wgpu(&self) -> (wgpu::Device, wgpu::Queue) {
        (self.parts.connection.device.clone(), self.parts.connection.queue.clone())
    }
}
