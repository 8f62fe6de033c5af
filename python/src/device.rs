//! Python's devices. A device has a name before it is opened, and is opened once in a process.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zerostride::{DEVICE_VARIABLE, DType, Math};

use crate::wait::{self, detached, wait};

/// The devices by name.
static SLOTS: Mutex<Vec<Arc<Slot>>> = Mutex::new(Vec::new());

/// The device of arrays that are created without a device.
pub(crate) static DEFAULT: LazyLock<Arc<Slot>> = LazyLock::new(|| Slot::new(None));

/// A device that the first use opens.
pub(crate) struct Slot {
    /// The argument of [`zerostride::Device::named`], or `None` for the default device.
    name: Option<String>,
    opened: OnceLock<zerostride::Device>,
    has_queue: OnceLock<bool>,
}

/// How devices compute: as the environment variable `ZEROSTRIDE_MATH` says.
fn math() -> PyResult<Math> {
    match std::env::var("ZEROSTRIDE_MATH").as_deref() {
        Err(std::env::VarError::NotPresent) | Ok("" | "precise") => Ok(Math::Precise),
        Ok("total") => Ok(Math::Total),
        Ok("fast") => Ok(Math::Fast),
        other => Err(PyValueError::new_err(format!(
            "ZEROSTRIDE_MATH is {}: it takes precise, total or fast",
            other.unwrap_or("no UTF-8")
        ))),
    }
}

fn slots() -> MutexGuard<'static, Vec<Arc<Slot>>> {
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Slot {
    fn new(name: Option<String>) -> Arc<Slot> {
        Arc::new(Slot { name, opened: OnceLock::new(), has_queue: OnceLock::new() })
    }

    /// The slot of a name, which is added if it is new.
    fn named(name: &str) -> Arc<Slot> {
        let mut slots = slots();
        if let Some(slot) = slots.iter().find(|slot| slot.name.as_deref() == Some(name)) {
            return slot.clone();
        }
        let slot = Slot::new(Some(name.to_string()));
        slots.push(slot.clone());
        slot
    }

    /// The device, opened if it is not yet.
    pub(crate) fn device(&self, py: Python<'_>) -> PyResult<&zerostride::Device> {
        if let Some(device) = self.opened.get() {
            return Ok(device);
        }
        let math = math()?;
        let mut device = detached(py, || self.open())?;
        device.set_math(math);
        Ok(self.opened.get_or_init(|| device))
    }

    fn open(&self) -> zerostride::Result<zerostride::Device> {
        let all = self.name.as_ref().map_or_else(Vec::new, |_| zerostride::Device::all());
        // The text that an open device prints is a valid name too.
        let printed = |name: &str| all.iter().find(|a| format!("{} ({})", a.name, a.backend) == name);
        let name = self.name.as_deref().map(|name| match printed(name) {
            Some(adapter) => format!("{}:{}", adapter.backend, adapter.index),
            None => name.to_string(),
        });
        let device = match &name {
            Some(name) => zerostride::Device::named(name)?,
            None => zerostride::Device::open()?,
        };
        // An adapter that is open under another name is the same device, unless two adapters look alike.
        let found = name.as_deref().and_then(|name| all.iter().find(|adapter| adapter.matches(name)));
        let is_alike =
            |a: &zerostride::Adapter, b: &zerostride::Adapter| a.backend == b.backend && a.name == b.name;
        if found.is_some_and(|found| all.iter().filter(|other| is_alike(found, other)).count() > 1) {
            return Ok(device);
        }
        let known = slots()
            .iter()
            .chain([&*DEFAULT])
            .find_map(|slot| slot.opened.get().filter(|known| known.name() == device.name()).cloned());
        Ok(known.unwrap_or(device))
    }

    /// Whether the device is open and has a queue. Reading a result then waits for all earlier work.
    pub(crate) fn has_queue(&self) -> bool {
        let Some(device) = self.opened.get() else { return false };
        *self.has_queue.get_or_init(|| device.name() != "cpu")
    }

    /// Whether both are one device, as far as that is known without opening one.
    pub(crate) fn same(&self, other: &Slot) -> bool {
        std::ptr::eq(self, other)
            || match (self.opened.get(), other.opened.get()) {
                (Some(a), Some(b)) => a.same(b),
                _ => false,
            }
    }

    /// Checks that both are one device, so that an operation may combine arrays on them.
    pub(crate) fn join(self: &Arc<Slot>, other: &Arc<Slot>, py: Python<'_>) -> PyResult<()> {
        if self.same(other) {
            return Ok(());
        }
        let (a, b) = (self.device(py)?, other.device(py)?);
        match a.same(b) {
            true => Ok(()),
            false => Err(PyValueError::new_err(format!(
                "an array on {} cannot be combined with one on {}: bring one over by to_device",
                a.name(),
                b.name()
            ))),
        }
    }

    /// The default type of floats: NumPy's if the device computes with it.
    pub(crate) fn default_float(&self, py: Python<'_>) -> PyResult<DType> {
        Ok(if self.device(py)?.supports(DType::F64).is_ok() { DType::F64 } else { DType::F32 })
    }
}

/// A device: `zs.Device("cpu")`, `zs.Device("vulkan:1")`, or the default one. The environment variable
/// `ZEROSTRIDE_DEVICE` names the default device. Without it, this is the best GPU, or the CPU on a machine without a GPU.
/// The first computation opens the device. `ZEROSTRIDE_MATH=total` makes the bytes of every result the same on every device.
#[pyclass(frozen, from_py_object, module = "zerostride", name = "Device")]
#[derive(Clone)]
pub(crate) struct Device(pub(crate) Arc<Slot>);

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (name=None))]
    fn new(name: Option<&str>) -> Self {
        Device(name.map_or_else(|| DEFAULT.clone(), Slot::named))
    }

    /// The adapter's name and interface, or `cpu`. This opens the device.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.0.device(py)?.name())
    }

    /// The default type of floats. That of integers is int64 on every device.
    fn _default_float(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        crate::dtype::object(py, self.0.default_float(py)?)
    }

    /// Whether the device has an element type.
    fn supports(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.0.device(py)?.supports(crate::dtype::parse(dtype)?).is_ok())
    }

    /// Waits until all submitted work has run.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        let device = self.0.device(py)?.clone();
        wait(py, self.0.has_queue(), move || device.synchronize())
    }

    /// The bytes of live arrays, and the bytes of memory that is kept for later arrays. Both are 0 on the CPU.
    fn memory(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let memory = self.0.device(py)?.memory();
        Ok((memory.used, memory.idle))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let other = match other.cast::<Device>() {
            Ok(other) => other.get().clone(),
            Err(_) => return Ok(false),
        };
        Ok(self.0.same(&other.0) || self.0.device(py)?.same(other.0.device(py)?))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.0.device(py)?.name().hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn __repr__(&self) -> String {
        match (&self.0.name, self.0.opened.get()) {
            (_, Some(device)) => format!("Device('{}')", device.name()),
            (Some(name), None) => format!("Device('{name}')"),
            (None, None) => "Device()".to_string(),
        }
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.name(py)
    }

    /// Another process opens the device by its name, or its own default device.
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (Option<String>,))> {
        Ok((slf.get_type().into_any().unbind(), (slf.get().0.name.clone(),)))
    }
}

/// The device of an argument: a `Device`, a name, or `None` for the default.
pub(crate) fn slot(device: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<Slot>> {
    let Some(device) = device else { return Ok(DEFAULT.clone()) };
    match device.cast::<Device>() {
        Ok(device) => Ok(device.get().0.clone()),
        Err(_) => Ok(Slot::named(&device.extract::<String>()?)),
    }
}

type Row = (String, &'static str, usize, String, String);

/// Every adapter of this machine and the CPU, as name, interface, index, kind and driver. It opens none.
#[pyfunction]
pub(crate) fn adapters(py: Python<'_>) -> PyResult<Vec<Row>> {
    let all = detached(py, || Ok(zerostride::Device::all()))?;
    let row = |a: zerostride::Adapter| {
        (a.name, a.backend, a.index, format!("{:?}", a.kind).to_lowercase(), a.driver)
    };
    Ok(all.into_iter().map(row).collect())
}

/// Stops new work, and waits for `seconds` at most for work that runs. Python's exit calls it.
#[pyfunction]
pub(crate) fn finish(py: Python<'_>, seconds: f64) {
    let queues = || {
        let slots: Vec<_> = slots().iter().chain([&*DEFAULT]).cloned().collect();
        let opened = slots.iter().filter_map(|slot| slot.opened.get());
        // A lost device has nothing to wait for, nor has one of a forked child's parent.
        opened.for_each(|device| drop(device.synchronize()));
    };
    wait::finish(py, Duration::from_secs_f64(seconds), queues);
}

/// The environment variable that names the default device.
#[pyfunction]
pub(crate) fn device_variable() -> &'static str {
    DEVICE_VARIABLE
}
