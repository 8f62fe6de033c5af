//! What kinds of adapters there are, and how one is opened.

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

/// How a device is opened by [`Device::open_with`](crate::Device::open_with): which adapter, and how much
/// of it is used. By default as [`Device::open`](crate::Device::open) does it.
///
/// ```
/// use zerostride::{Device, Limits, Options};
///
/// // As on the least of all WebGPU adapters, and without 64-bit types.
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

    /// Uses no more of the adapter than this. What it has less of stays as it is. The CPU path has no
    /// limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Uses these optional features of the adapter only, by names as
    /// [`Adapter::features`](crate::Adapter::features) gives them. An adapter that lacks one does not
    /// open. By default all that help are used where they are there: `SHADER_INT64` (`i64` and `u64`),
    /// `SHADER_F64`, `SHADER_F16` (`f16` rounded by an instruction), `TIMESTAMP_QUERY` ([`Device::profile`](crate::Device::profile)) and
    /// `PIPELINE_CACHE` ([`Device::cache_pipelines`](crate::Device::cache_pipelines)).
    pub fn features<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.features = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Keeps this many compiled kernels, by default 256: of more, those go that were not used for
    /// longest, and are compiled anew where they are needed again.
    pub fn pipelines(mut self, most: usize) -> Self {
        self.pipelines = Some(most);
        self
    }

    /// Gives the adapter as much work at a time as one that moves so many bytes in a second, whatever it does: so tests
    /// cut small programs as a slow GPU cuts large ones.
    #[doc(hidden)]
    pub fn rate(mut self, bytes: u64) -> Self {
        self.rate = Some(bytes);
        self
    }
}
