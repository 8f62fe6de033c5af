//! A device of wgpu and its queue, with what it can do and what went wrong on it. All else of this
//! module is built on it.

use std::sync::{Arc, Mutex, OnceLock};

use super::adapters::Found;
use super::drivers::{self, Driver};
use super::lock::lock;
use super::options::Options;
use crate::dtype::DType;
use crate::error::{Result, bail};

/// The features that are used where an adapter has them.
const FEATURES: wgpu::Features = wgpu::Features::SHADER_INT64
    .union(wgpu::Features::SHADER_F64)
    .union(wgpu::Features::TIMESTAMP_QUERY)
    .union(wgpu::Features::PIPELINE_CACHE);

/// A device that was opened or handed in.
#[derive(Debug)]
pub(super) struct Connection {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub limits: wgpu::Limits,
    pub driver: &'static Driver,
    features: wgpu::Features,
    /// The adapter's name, and the interface that reaches it.
    name: String,
    failures: Arc<Failures>,
}

/// What wgpu reports outside of any call.
#[derive(Debug, Default)]
struct Failures {
    lost: OnceLock<String>,
    fault: Mutex<Option<String>>,
}

/// The features of these names, all of which the adapter must have.
fn chosen(names: &[String], has: wgpu::Features, adapter: &str) -> Result<wgpu::Features> {
    let mut chosen = wgpu::Features::empty();
    for name in names {
        let Some((_, feature)) = has.iter_names().find(|(own, _)| own == name) else {
            let all: Vec<&str> = has.iter_names().map(|(own, _)| own).collect();
            bail!(
                Limit,
                "the feature {name} is not among those of {adapter} that are used here, {}: leave it out",
                if all.is_empty() { "which are none".into() } else { all.join(", ") }
            );
        };
        chosen |= feature;
    }
    Ok(chosen)
}

impl Connection {
    /// Opens an adapter.
    pub(super) async fn open(found: &Found, options: &Options) -> Result<Connection> {
        let info = found.adapter.get_info();
        let mut limits = found.adapter.limits();
        if let Some(lesser) = &options.limits {
            lesser.lower(&mut limits);
        }
        let mut features = found.adapter.features() & FEATURES;
        if let Some(names) = &options.features {
            features = chosen(names, features, &format!("{} ({})", info.name, found.backend))?;
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("zerostride"),
            required_features: features,
            required_limits: limits,
            memory_hints: drivers::of(&info).memory.clone(),
            ..Default::default()
        };
        match found.adapter.request_device(&descriptor).await {
            Ok((device, queue)) => {
                let connection = Connection::adopt(device, queue);
                connection.listen();
                Ok(connection)
            }
            Err(error) => {
                bail!(Device, "the adapter {} ({}) does not open: {error}", info.name, found.backend)
            }
        }
    }

    /// Takes a device as it is. It keeps its callbacks, of which wgpu has one each.
    pub(super) fn adopt(device: wgpu::Device, queue: wgpu::Queue) -> Connection {
        let info = device.adapter_info();
        Connection {
            limits: device.limits(),
            driver: drivers::of(&info),
            features: device.features(),
            name: format!("{} ({})", info.name, drivers::interface(info.backend)),
            failures: Arc::default(),
            device,
            queue,
        }
    }

    /// Keeps what the device reports outside of any call for the next [`check`](Self::check).
    fn listen(&self) {
        let failures = self.failures.clone();
        self.device.set_device_lost_callback(move |reason, message| {
            let _ = failures.lost.set(format!("{reason:?}: {message}"));
        });
        let failures = self.failures.clone();
        self.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            log::error!("{error}");
            lock(&failures.fault).get_or_insert_with(|| error.to_string());
        }));
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn has(&self, feature: wgpu::Features) -> bool {
        self.features.contains(feature)
    }

    /// Fails when the device is lost, or reported an error since the last check.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(reason) = self.failures.lost.get() {
            bail!(Lost, "the device {} was lost ({reason}): open it again and upload anew", self.name);
        }
        match lock(&self.failures.fault).take() {
            Some(fault) => bail!(Kernel, "the device {} reports: {fault}", self.name),
            None => Ok(()),
        }
    }

    /// Fails for an element type that the adapter does not compute with.
    pub(super) fn supports(&self, dtype: DType) -> Result<()> {
        let needed = match dtype {
            DType::I64 | DType::U64 => wgpu::Features::SHADER_INT64,
            // f64 is tested, split and converted by its bits.
            DType::F64 => wgpu::Features::SHADER_F64 | wgpu::Features::SHADER_INT64,
            _ => return Ok(()),
        };
        let lacking = needed - self.features;
        if !lacking.is_empty() {
            bail!(
                Limit,
                "{dtype} needs the feature {lacking}, which {} lacks: use a type of 32 bits, or Device::cpu()",
                self.name
            );
        }
        Ok(())
    }

    /// Does `work`, and what it made or the first error of these kinds that the device reports of it.
    pub(super) fn scoped<T>(
        &self,
        filters: &[wgpu::ErrorFilter],
        work: impl FnOnce() -> T,
    ) -> std::result::Result<T, wgpu::Error> {
        let scopes: Vec<_> = filters.iter().map(|&filter| self.device.push_error_scope(filter)).collect();
        let made = work();
        // Scopes end in the reverse of their order, all of them. Natively the answer is there already.
        let mut first = None;
        for scope in scopes.into_iter().rev() {
            first = first.or(pollster::block_on(scope.pop()));
        }
        first.map_or(Ok(made), Err)
    }

    /// A new buffer, or the error that there is no memory for it.
    pub(super) fn create(&self, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        match self.scoped(&[wgpu::ErrorFilter::OutOfMemory], || self.device.create_buffer(&descriptor)) {
            Ok(buffer) => Ok(buffer),
            Err(_) => {
                bail!(Memory, "{} has no memory for {size} bytes: drop tensors or work on slices", self.name)
            }
        }
    }

    /// Waits until everything that was submitted has run.
    pub(super) fn wait(&self) -> Result<()> {
        if let Err(error) = self.device.poll(wgpu::PollType::wait_indefinitely()) {
            self.check()?;
            bail!(Lost, "the device {} does not answer: {error}", self.name);
        }
        self.check()
    }
}
