//! Kinds of adapters, and options for opening one.

use crate::limits::Limits;

/// What kind of machine an adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AdapterKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU lent to a virtual machine.
    Virtual,
    /// Unknown to the driver.
    Other,
    /// The host's processor: a software adapter, or this crate's CPU path.
    Cpu,
}

impl AdapterKind {
    /// The kind in one word.
    pub fn name(self) -> &'static str {
        match self {
            AdapterKind::Discrete => "discrete",
            AdapterKind::Integrated => "integrated",
            AdapterKind::Virtual => "virtual",
            AdapterKind::Other => "other",
            AdapterKind::Cpu => "cpu",
        }
    }
}

/// Options of [`Device::open_with`](crate::Device::open_with): which adapter to open, and how much of it to use. The
/// default is that of [`Device::open`](crate::Device::open).
///
/// ```
/// use zerostride::{Device, Limits, Options};
///
/// // The limits of the smallest WebGPU adapters, and no 64-bit types.
/// let options = Options::default().limits(Limits::webgpu()).features(["TIMESTAMP_QUERY"]);
/// if let Ok(device) = Device::open_with(&options.adapter("vulkan:0")) {
///     let x = device.upload(&[1.0_f32, 2.0], [2])?;
///     assert_eq!((x * 2.0).to_vec()?, [2.0, 4.0]);
/// }
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(crate) adapter: Option<String>,
    pub(crate) limits: Option<Limits>,
    pub(crate) features: Option<Vec<String>>,
    pub(crate) pipelines: Option<usize>,
    pub(crate) rate: Option<u64>,
}

impl Options {
    /// The adapter, by a name as [`Device::named`](crate::Device::named) takes it.
    pub fn adapter(mut self, name: impl Into<String>) -> Self {
        self.adapter = Some(name.into());
        self
    }

    /// Lowers the adapter's limits to these. A limit that is already lower stays. The CPU path has no limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Uses only these optional features of the adapter, by the names of
    /// [`Adapter::features`](crate::Adapter::features). An adapter that lacks one does not open. The default
    /// is every useful feature that the adapter has: `SHADER_INT64` (`i64` and `u64` in
    /// fewer instructions), `SHADER_F64`, `SHADER_F16` (`f16` rounded by an instruction), `TIMESTAMP_QUERY` ([`Device::profile`](crate::Device::profile)) and
    /// `PIPELINE_CACHE` ([`Device::cache_pipelines`](crate::Device::cache_pipelines)).
    pub fn features<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.features = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Keeps this many compiled kernels, 256 by default. The least recently used are dropped, and compiled again when
    /// they are needed.
    pub fn pipelines(mut self, most: usize) -> Self {
        self.pipelines = Some(most);
        self
    }

    /// Cuts work as for an adapter that moves this many bytes in a second. With a low rate, tests cut small programs as a
    /// slow GPU cuts large ones.
    #[doc(hidden)]
    pub fn rate(mut self, bytes: u64) -> Self {
        self.rate = Some(bytes);
        self
    }
}
