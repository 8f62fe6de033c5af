//! Devices: the choice of one, and everything that it does beside computing.

mod adapter;
mod fork;
#[cfg(all(test, feature = "gpu"))]
mod tests;

pub use adapter::Adapter;

use std::env::VarError;
use std::fmt;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};

use crate::cpu::CpuDevice;
use crate::dtype::DType;
use crate::error::{Error, Result, bail};
use crate::expr::AnyExpr;
use crate::gpu;
use crate::ir::{Backend, Bounds, KernelTime, Math, Memory};

pub use crate::limits::Limits;
pub use crate::options::{AdapterKind, Options};

/// The environment variable that [`Device::open`] takes a device's name from.
pub const DEVICE_VARIABLE: &str = "ZEROSTRIDE_DEVICE";

/// A device: an adapter that was opened, or the CPU path. Clones share it.
///
/// ```
/// use zerostride::Device;
///
/// let device = Device::cpu();
/// assert_eq!(device.name(), "cpu");
/// let x = device.upload(&[1.0_f32, 2.0], [2])?;
/// assert_eq!((x * 10.0).to_vec()?, [10.0, 20.0]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone)]
pub struct Device(Arc<dyn Backend>);

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}

impl Device {
    /// The CPU path. Every machine has it, and adapters are checked against its results.
    pub fn cpu() -> Device {
        static CPU: LazyLock<Arc<CpuDevice>> = LazyLock::new(Arc::default);
        Device::from_backend(CPU.clone())
    }

    /// The device that the environment variable `ZEROSTRIDE_DEVICE` names, else the best real GPU that opens, else the
    /// CPU path, which beats software adapters. GL is searched only if no other interface has a GPU that opens. [`log`]
    /// warns of a GPU that does not open. In a browser, whose CPU path has one thread, any adapter is taken.
    ///
    /// # Errors
    /// When the variable names no device, or the driver refuses to open the named one.
    pub fn open() -> Result<Device> {
        wait_for("Device::open", Self::open_async())
    }

    /// [`open`](Self::open) without blocking, for the browser.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_async() -> Result<Device> {
        Self::open_with_async(&Options::default()).await
    }

    /// Opens an adapter with lower limits or fewer features than it has: to share it, or to test a program for
    /// smaller adapters. Without a name in the options it is chosen as by [`open`](Self::open).
    ///
    /// # Errors
    /// As [`named`](Self::named), if the options name an adapter. When the adapter lacks a feature, or when kernels
    /// need higher limits.
    ///
    /// ```
    /// use zerostride::{Device, Limits, Options};
    ///
    /// let device = Device::open_with(&Options::default().limits(Limits::downlevel()))?;
    /// assert_eq!(device.full([3], 1.0_f32)?.to_vec()?, [1.0; 3]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn open_with(options: &Options) -> Result<Device> {
        wait_for("Device::open_with", Self::open_with_async(options))
    }

    /// [`open_with`](Self::open_with) without blocking, for the browser.
    ///
    /// # Errors
    /// As [`open_with`](Self::open_with).
    pub async fn open_with_async(options: &Options) -> Result<Device> {
        fork::check()?;
        let name = match &options.adapter {
            Some(name) => Some(name.clone()),
            None => of_the_environment()?,
        };
        if name.as_ref().is_some_and(|name| name.eq_ignore_ascii_case("cpu")) {
            return Ok(Device::cpu());
        }
        if let Some(name) = name {
            return Adapter::named(&name).await?.open_with(options).await;
        }
        if let Some(device) = Self::best(Adapter::but_gl().await, options).await {
            return Ok(device);
        }
        let mut all = Adapter::all().await;
        all.retain(|adapter| adapter.backend == "gl");
        Ok(Self::best(all, options).await.unwrap_or_else(Device::cpu))
    }

    /// The first of some adapters that beats the CPU path and opens.
    async fn best(all: Vec<Adapter>, options: &Options) -> Option<Device> {
        // In a browser the CPU path has one thread and no wide instructions. Software adapters have both.
        let pays = |adapter: &&Adapter| adapter.kind != AdapterKind::Cpu || adapter.backend == "webgpu";
        for adapter in all.iter().filter(pays) {
            match adapter.open_with(options).await {
                Ok(device) => return Some(device),
                Err(error) => log::warn!("{error}: the next best device is taken"),
            }
        }
        None
    }

    /// The first device that a name means, in any case:
    ///
    /// | name | device |
    /// |---|---|
    /// | `cpu` | the CPU path |
    /// | `vulkan`, `metal`, `dx12`, `gl`, `webgpu` | the first adapter of that interface |
    /// | `radeon` | the first adapter with this in its name |
    /// | `vulkan:radeon` | both |
    /// | `vulkan:1` | the second adapter of that interface, by [`Adapter::index`]: a number of one or two digits is an index, a longer one a part of a name |
    ///
    /// GL is searched only if it is named or no other interface has an adapter of the name.
    ///
    /// # Errors
    /// When there is none of that name, or the driver refuses.
    ///
    /// ```
    /// use zerostride::{Device, ErrorKind};
    ///
    /// assert_eq!(Device::named("cpu")?.name(), "cpu");
    /// let error = Device::named("voodoo").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Device);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Device> {
        wait_for("Device::named", Self::named_async(name))
    }

    /// [`named`](Self::named) without blocking, for the browser.
    ///
    /// # Errors
    /// As [`named`](Self::named).
    pub async fn named_async(name: &str) -> Result<Device> {
        Self::open_with_async(&Options::default().adapter(name)).await
    }

    /// Chooses how this handle computes from now on: in expressions that it evaluates, and in expressions over tensors
    /// that it makes. Clones of the handle and existing tensors keep their choice. They are on the same device and may
    /// be combined. If handles differ, the first tensor of an expression decides, or
    /// [`eval_on`](crate::Expr::eval_on), or the tensor that is assigned to. The CPU path is precise where
    /// [`Math::Fast`] is asked for.
    ///
    /// ```
    /// use zerostride::{Device, Math};
    ///
    /// let precise = Device::open()?;
    /// let mut fast = precise.clone();
    /// fast.set_math(Math::Fast);
    /// let y = fast.upload(&[f32::NEG_INFINITY, 0.0], [2])?.exp();
    /// assert_eq!(y.to_vec()?, [0.0, 1.0]);
    /// assert_eq!(precise.math(), Math::Precise);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn set_math(&mut self, math: Math) {
        if let Some(handle) = self.0.with_math(math) {
            self.0 = handle;
        }
    }

    /// How this handle computes.
    pub fn math(&self) -> Math {
        self.0.math()
    }

    /// Whether the adapter takes a result of f32 below the least normal number for 0. The CPU path keeps it, and so do
    /// many adapters. In [`Math::Total`] all devices make it 0 by themselves.
    ///
    /// ```
    /// use zerostride::{Device, Math};
    ///
    /// let mut device = Device::open()?;
    /// let half_of_least = |device: &Device| device.upload(&[f32::MIN_POSITIVE], [1])?.mul(0.5).to_vec();
    /// assert_eq!(half_of_least(&device)? == [0.0], device.flushes_subnormals());
    /// device.set_math(Math::Total);
    /// assert_eq!(half_of_least(&device)?, [0.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn flushes_subnormals(&self) -> bool {
        self.0.flushes()
    }

    /// Loads compiled kernels from `directory`, where [`save_pipelines`](Self::save_pipelines) of an earlier process
    /// wrote them, and makes the directory if it is missing. Returns whether the backend can do so: Vulkan can. Each
    /// adapter and driver has a file of its own. A damaged file is ignored.
    ///
    /// Drivers trust compiled kernels, so only the user may write them. On Unix a made directory has mode 0700, its files
    /// have 0600, and a directory or a file that others own or can write is refused. Directories above it are not
    /// checked. On Windows, name a directory in the user's own, such as one in `%LOCALAPPDATA%`, which others cannot
    /// write by default.
    ///
    /// # Errors
    /// When the directory cannot be made or written, or it or a file in it may be another user's.
    ///
    /// ```
    /// use std::env;
    /// use zerostride::Device;
    ///
    /// let device = Device::open()?;
    /// let home = env::home_dir().unwrap_or_default();
    /// let cache = env::var_os("XDG_CACHE_HOME").map_or(home.join(".cache"), Into::into);
    /// device.cache_pipelines(cache.join("my-program"))?;
    /// let x = device.full([4], 2.0_f32)?;
    /// assert_eq!((&x * 3.0).to_vec()?, [6.0; 4]);
    /// device.save_pipelines()?;
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn cache_pipelines(&self, directory: impl AsRef<Path>) -> Result<bool> {
        self.backend()?.cache_pipelines(directory.as_ref())
    }

    /// Writes the kernels compiled since [`cache_pipelines`](Self::cache_pipelines) for the next process. Without
    /// that call it writes nothing. The file is replaced at once.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_pipelines(&self) -> Result<()> {
        self.backend()?.save_pipelines()
    }

    /// Does `work` and returns how long each kernel took, by timestamps of the device. Each kernel then has a pass
    /// of its own, which takes a little longer.
    ///
    /// # Errors
    /// When the device has no timestamps (the CPU path has none), or `work` fails.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let device = Device::open()?;
    /// let x = device.zeros::<f32>([1000])?;
    /// if let Ok((_, times)) = device.profile(|| (&x * 2.0 + 1.0).eval()) {
    ///     assert_eq!(times[0].steps, "mul, add");
    ///     println!("{:?}", times[0].time);
    /// }
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn profile<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(T, Vec<KernelTime>)> {
        self.0.can_wait("profile")?;
        wait_for("profile", self.profile_async(|| std::future::ready(work())))
    }

    /// [`profile`](Self::profile) without blocking the calling thread. It times all kernels of the device until the
    /// future of `work` is ready, on whatever thread they were recorded.
    ///
    /// # Errors
    /// As [`profile`](Self::profile).
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let device = Device::open()?;
    /// let x = device.zeros::<f32>([1000])?;
    /// let profiled = device.profile_async(|| (&x * 2.0 + 1.0).eval_async());
    /// if let Ok((_, times)) = pollster::block_on(profiled) {
    ///     assert_eq!(times[0].steps, "mul, add");
    /// }
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub async fn profile_async<T, F: Future<Output = Result<T>>>(
        &self,
        work: impl FnOnce() -> F,
    ) -> Result<(T, Vec<KernelTime>)> {
        /// Ends the timing where `work` panics, or the future is dropped.
        struct Ending<'a>(&'a dyn Backend);
        impl Drop for Ending<'_> {
            fn drop(&mut self) {
                drop(self.0.end_profile());
            }
        }
        self.backend()?.begin_profile()?;
        let ending = Ending(&*self.0);
        let done = work().await;
        std::mem::forget(ending);
        let times = self.0.end_profile().await?;
        Ok((done?, times))
    }

    /// The memory of this device that tensors use, and the number of compiled kernels. The CPU path counts nothing.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let device = Device::open()?;
    /// let x = device.zeros::<f32>([1000])?;
    /// assert!(device.memory().used >= 4000 || device.name() == "cpu");
    /// # drop(x);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn memory(&self) -> Memory {
        self.0.memory()
    }

    /// Every adapter, the best kind first, and the CPU path as the last. In a browser only
    /// [`all_async`](Self::all_async) finds the adapter.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let adapters = Device::all();
    /// assert_eq!(adapters.last().map(|a| a.backend), Some("cpu"));
    /// ```
    pub fn all() -> Vec<Adapter> {
        // A browser finds its adapter later.
        now(Self::all_async()).unwrap_or_else(|| vec![Adapter::cpu()])
    }

    /// [`all`](Self::all) without blocking, for the browser.
    pub async fn all_async() -> Vec<Adapter> {
        Adapter::all().await
    }

    /// The backends without an adapter on this machine, each with wgpu's reason.
    pub fn missing() -> Vec<(&'static str, String)> {
        now(Self::missing_async()).unwrap_or_default()
    }

    /// [`missing`](Self::missing) without blocking, for the browser.
    pub async fn missing_async() -> Vec<(&'static str, String)> {
        gpu::missing(gpu::find().await).await
    }

    /// The adapter's name and the interface that reaches it, or `cpu`.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// Whether both are the same device, whichever way they compute functions.
    pub fn same(&self, other: &Device) -> bool {
        same_backend(&self.0, &other.0)
    }

    /// [`synchronize`](Self::synchronize), by a shorter name.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn sync(&self) -> Result<()> {
        self.synchronize()
    }

    /// Waits until all recorded work has run.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn synchronize(&self) -> Result<()> {
        self.backend()?.synchronize()
    }

    /// [`synchronize`](Self::synchronize) without blocking the calling thread: waits for work that was recorded before
    /// the future is first polled. A browser reports missing memory and refused kernels after the call. This future
    /// returns such an error if no other call has returned it.
    ///
    /// # Errors
    /// As [`synchronize`](Self::synchronize).
    ///
    /// ```
    /// let device = zerostride::Device::cpu();
    /// let x = device.zeros::<f32>([100])?;
    /// pollster::block_on(device.synchronize_async())?;
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub async fn synchronize_async(&self) -> Result<()> {
        self.backend()?.synchronize_async().await
    }

    /// Whether the device computes with elements of a type. The CPU path has all types. Adapters need `SHADER_F64`
    /// and `SHADER_INT64` for `f64`, whose elements others move, compare and cast.
    ///
    /// # Errors
    /// When it does not: the message names the missing feature.
    ///
    /// ```
    /// use zerostride::{DType, Device};
    ///
    /// assert!(DType::ALL.iter().all(|&dtype| Device::cpu().supports(dtype).is_ok()));
    /// ```
    pub fn supports(&self, dtype: DType) -> Result<()> {
        self.0.supports(dtype)
    }

    /// Whether the device was lost: its driver failed, or it was removed. Its tensors are gone then, and every call
    /// that needs it returns an error of [`ErrorKind::Lost`](crate::ErrorKind::Lost). Open a new device.
    ///
    /// ```
    /// assert!(!zerostride::Device::cpu().is_lost());
    /// ```
    pub fn is_lost(&self) -> bool {
        self.0.is_lost()
    }

    /// The WGSL of the kernels that this device compiled and keeps.
    pub fn kernels(&self) -> Vec<Arc<str>> {
        self.0.kernels()
    }

    pub(crate) fn from_backend(backend: Arc<dyn Backend>) -> Device {
        fork::follow();
        Device(backend)
    }

    pub(crate) fn as_backend(&self) -> &Arc<dyn Backend> {
        &self.0
    }

    /// The backend, for work.
    ///
    /// # Errors
    /// In a process that was forked after a device was opened.
    pub(crate) fn backend(&self) -> Result<Arc<dyn Backend>> {
        fork::check()?;
        Ok(self.0.clone())
    }

    /// What schedules need to know.
    pub(crate) fn bounds(&self) -> Bounds {
        self.0.bounds()
    }

    /// Whether every tensor of an expression lives here.
    pub(crate) fn agrees(&self, expr: &AnyExpr) -> Result<()> {
        self.is_that_of(expr.backends()?)
    }

    /// Whether these are all this device.
    pub(crate) fn is_that_of(&self, backends: &[Arc<dyn Backend>]) -> Result<()> {
        match backends.iter().find(|backend| !same_backend(backend, &self.0)) {
            None => Ok(()),
            Some(backend) if backend.name() == self.name() => bail!(
                Device,
                "a tensor on {} cannot be combined with one of another handle: the adapter was opened twice, so clone one Device",
                self.name()
            ),
            Some(backend) => bail!(
                Device,
                "a tensor on {} cannot be combined with one on {}: read it with to_vec and upload it there",
                backend.name(),
                self.name()
            ),
        }
    }
}

/// The name in the environment, if there is one.
fn of_the_environment() -> Result<Option<String>> {
    match std::env::var(DEVICE_VARIABLE) {
        Ok(name) => Ok(Some(name).filter(|name| !name.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(name)) => {
            bail!(
                Device,
                "{DEVICE_VARIABLE} is {name:?}, which is no UTF-8: set it to a name of Device::named"
            )
        }
    }
}

/// Waits for a future. A page of a browser must not wait: there it returns the output only if it is ready.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    if cfg!(not(target_arch = "wasm32")) {
        return Some(pollster::block_on(future));
    }
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(made) => Some(made),
        Poll::Pending => None,
    }
}

/// The same; if the output is not ready, an error that names the form that does not wait.
pub(crate) fn wait_for<T>(form: &str, future: impl Future<Output = Result<T>>) -> Result<T> {
    now(future).unwrap_or_else(|| Err(Error::blocking(form, "the browser")))
}

fn same_backend(a: &Arc<dyn Backend>, b: &Arc<dyn Backend>) -> bool {
    Arc::ptr_eq(a, b) || a.identity() == b.identity()
}
