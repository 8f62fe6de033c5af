//! The adapters of the machine, their features, and the reasons why others are missing.

use std::sync::OnceLock;

use wgpu::{Backends, DeviceType, Instance, InstanceDescriptor, InstanceFlags};

use super::drivers;
use crate::limits::Limits;
use crate::options::AdapterKind;

/// An adapter that wgpu reaches.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub adapter: wgpu::Adapter,
    pub name: String,
    pub kind: AdapterKind,
    pub backend: &'static str,
}

impl Found {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn kind(&self) -> AdapterKind {
        self.kind
    }

    /// The interface that reaches it.
    pub(crate) fn interface(&self) -> &'static str {
        self.backend
    }

    /// The driver and its version, if the driver says so.
    pub(crate) fn driver(&self) -> String {
        let info = self.adapter.get_info();
        format!("{} {}", info.driver, info.driver_info).trim().to_string()
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits::of(&self.adapter.limits())
    }

    /// Its optional features, as wgpu names them.
    pub(crate) fn features(&self) -> Vec<&'static str> {
        self.adapter.features().iter_names().map(|(name, _)| name).collect()
    }

    /// The adapter to open, or the error if it is gone. A browser opens each adapter once, and returns another one for
    /// the next request.
    pub(super) async fn fresh(&self) -> Result<wgpu::Adapter, String> {
        match cfg!(target_arch = "wasm32") {
            true => {
                let asked = instance(false).request_adapter(&wgpu::RequestAdapterOptions::default());
                asked.await.map_err(|error| error.to_string())
            }
            false => Ok(self.adapter.clone()),
        }
    }
}

/// The name of an adapter, which may have none in a browser.
pub(super) fn named(name: &str) -> &str {
    if name.is_empty() { "adapter" } else { name }
}

/// A browser's name for its adapter, such as "google swiftshader", which wgpu 30 does not pass on.
#[cfg(target_arch = "wasm32")]
async fn described() -> Option<String> {
    use js_sys::wasm_bindgen::{JsCast, JsValue};
    use js_sys::{Function, Promise, Reflect};

    let get = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).ok();
    let gpu = get(&get(&js_sys::global(), "navigator")?, "gpu")?;
    let ask: Function = get(&gpu, "requestAdapter")?.dyn_into().ok()?;
    let asked: Promise = ask.call0(&gpu).ok()?.dyn_into().ok()?;
    let info = get(&asked.await.ok()?, "info")?;
    let words = ["vendor", "architecture", "device", "description"].map(|name| get(&info, name)?.as_string());
    let words: Vec<String> = words.into_iter().flatten().filter(|word| !word.is_empty()).collect();
    Some(words.join(" "))
}

#[cfg(not(target_arch = "wasm32"))]
async fn described() -> Option<String> {
    None
}

fn descriptor(backends: Backends) -> InstanceDescriptor {
    let mut descriptor = InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    // Kernels are validated before wgpu sees them, so only a user asks for the driver's layers.
    descriptor.flags = InstanceFlags::empty().with_env();
    descriptor
}

/// The instance of GL, or of all other interfaces.
fn instance(is_gl: bool) -> &'static Instance {
    static INSTANCES: [OnceLock<Instance>; 2] = [const { OnceLock::new() }; 2];
    let backends = if is_gl { Backends::GL } else { Backends::all() - Backends::GL };
    INSTANCES[usize::from(is_gl)].get_or_init(|| Instance::new(descriptor(backends)))
}

/// Every adapter, best kind first. Adapters that cannot run compute kernels are left out.
///
/// They are searched once per process: a second search while another thread uses a device of GL panics inside of wgpu.
pub(crate) async fn find() -> &'static [Found] {
    static FOUND: OnceLock<Vec<Found>> = OnceLock::new();
    let others = find_but_gl().await;
    // A browser's GL has no compute kernels.
    if cfg!(target_arch = "wasm32") {
        return others;
    }
    FOUND.get_or_init(|| {
        let mut found = others.to_vec();
        found.extend(pollster::block_on(enumerate(true)));
        // Stable, so backends keep their order within a kind: GL is the last.
        found.sort_by_key(|found| found.kind);
        found
    })
}

/// The adapters of all interfaces except GL, whose search makes a context of each driver.
pub(crate) async fn find_but_gl() -> &'static [Found] {
    static FOUND: OnceLock<Vec<Found>> = OnceLock::new();
    if cfg!(target_arch = "wasm32") && FOUND.get().is_none() {
        // One thread, which must not block.
        let found = enumerate(false).await;
        // A missing adapter may be there later.
        return if found.is_empty() { &[] } else { FOUND.get_or_init(|| found) };
    }
    FOUND.get_or_init(|| pollster::block_on(enumerate(false)))
}

async fn enumerate(is_gl: bool) -> Vec<Found> {
    let described = described().await;
    let mut found: Vec<Found> = instance(is_gl)
        .enumerate_adapters(Backends::all())
        .await
        .into_iter()
        .filter(|adapter| {
            let flags = adapter.get_downlevel_capabilities().flags;
            flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) && drivers::has_kernels(&adapter.get_info())
        })
        .map(|adapter| {
            let info = adapter.get_info();
            let kind = match info.device_type {
                _ if drivers::is_software(&info) => AdapterKind::Cpu,
                DeviceType::DiscreteGpu => AdapterKind::Discrete,
                DeviceType::IntegratedGpu => AdapterKind::Integrated,
                DeviceType::VirtualGpu => AdapterKind::Virtual,
                DeviceType::Cpu | DeviceType::Other => AdapterKind::Other,
            };
            let name = described.clone().unwrap_or(info.name);
            Found { adapter, name: named(&name).into(), kind, backend: drivers::interface(info.backend) }
        })
        .collect();
    // Stable, so backends keep wgpu's order of preference within a kind.
    found.sort_by_key(|found| found.kind);
    found
}

/// The backends without an adapter, each with wgpu's reason.
pub(crate) async fn missing(found: &[Found]) -> Vec<(&'static str, String)> {
    let native = [
        (Backends::VULKAN, "vulkan"),
        (Backends::METAL, "metal"),
        (Backends::DX12, "dx12"),
        (Backends::GL, "gl"),
    ];
    let browser = [(Backends::BROWSER_WEBGPU, "webgpu")];
    let all = if cfg!(target_arch = "wasm32") { &browser[..] } else { &native[..] };
    let mut missing = Vec::new();
    for &(backends, name) in all {
        if found.iter().any(|found| found.backend == name) {
            continue;
        }
        let instance = Instance::new(descriptor(backends));
        match instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await {
            Ok(adapter) if !drivers::has_kernels(&adapter.get_info()) => {
                let info = adapter.get_info();
                missing.push((name, format!("{}: OpenGL {} has no kernels", info.name, info.driver_info)));
            }
            Ok(_) => {}
            Err(error) => missing.push((name, error.to_string())),
        }
    }
    missing
}
