//! A wgpu device and its queue, with its features and its errors. The rest of `gpu/` builds on it.

mod buffers;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use self::buffers::{Sure, buffer_of};
use super::adapters::{self, Found};
use super::drivers::{self, Driver};
use super::failures::{Answer, Failures, Fate};
use super::lock::{Entered, Gate, Gated};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result, bail};
use crate::limits::Limits;
use crate::options::Options;

/// Features that are used on adapters that have them.
pub(super) const FEATURES: wgpu::Features = wgpu::Features::SHADER_INT64
    .union(wgpu::Features::SHADER_F64)
    .union(wgpu::Features::SHADER_F16)
    .union(wgpu::Features::TIMESTAMP_QUERY)
    .union(wgpu::Features::PIPELINE_CACHE);

/// The mark of a new buffer, to see whether the buffer has memory.
const MARK: [u8; 4] = *b"zero";

/// A device that was opened or handed in.
#[derive(Debug)]
pub(super) struct Connection {
    pub device: Gated<wgpu::Device>,
    pub queue: Gated<wgpu::Queue>,
    pub limits: wgpu::Limits,
    pub driver: &'static Driver,
    pub features: wgpu::Features,
    /// The adapter's name, and the interface that reaches it.
    name: Arc<str>,
    pub failures: Arc<Failures>,
    /// Whether the host may wait for the device and wgpu reports errors in the call. On a page of a browser neither is
    /// so: the page would wait for itself.
    pub waits: bool,
    /// Whether no one else has the device.
    is_ours: AtomicBool,
    /// Whether the program handed it in.
    is_adopted: bool,
    sure: Sure,
    /// Calls of wgpu that reach the driver go through this gate.
    pub gate: Gate,
    /// Holds [`MARK`], if the adapter does not report missing memory.
    mark: Option<Gated<wgpu::Buffer>>,
    /// Errors on purpose, in tests.
    #[cfg(test)]
    pub faults: super::tests::Faults,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A browser frees a dropped device when it collects garbage.
        if !self.waits && *self.is_ours.get_mut() {
            let _entered = self.gate.enter();
            self.device.destroy();
        }
    }
}

/// Kinds of errors that are watched for, with the gate held until they are known.
struct Scopes {
    scopes: SmallVec<[(wgpu::ErrorFilter, wgpu::ErrorScopeGuard); 3]>,
    _entered: Entered,
}

/// The errors of some calls.
enum Observed {
    /// The first error, if any.
    Known(Option<wgpu::Error>),
    /// A promise of the errors.
    Later(Vec<Answer>),
}

/// All kinds of errors.
pub(super) const ALL: [wgpu::ErrorFilter; 3] =
    [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::Internal];

/// The error that a device refuses a request.
pub(super) fn refused(name: &str, what: &str, error: &wgpu::Error) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => {
            let text = format!("{name} has no memory for {what}: drop tensors or work on slices");
            Error::new(ErrorKind::Memory, text)
        }
        error => Error::new(ErrorKind::Kernel, format!("{name} refuses {what}: {}", said(error))),
    }
}

/// An error of wgpu in one line: its causes, the outermost first.
pub(super) fn said(error: &wgpu::Error) -> String {
    let text = error.to_string();
    let causes = text.split_once("Caused by:").map_or(&*text, |(_, causes)| causes);
    let lines: Vec<&str> = causes.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(": ")
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
        let full_name = format!("{} ({})", found.name, found.backend);
        let mut limits = found.adapter.limits();
        if let Some(lesser) = &options.limits {
            lesser.lower(&mut limits);
        }
        let mut features = found.adapter.features() & FEATURES;
        if let Some(names) = &options.features {
            features = chosen(names, features, &full_name)?;
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("zerostride"),
            required_features: features,
            required_limits: limits,
            memory_hints: drivers::of(&info).memory.clone(),
            ..Default::default()
        };
        let opened = match found.fresh().await {
            Ok(adapter) => {
                // For a native adapter the call has done everything.
                let entered = Gate::of(info.backend).enter();
                let asked = adapter.request_device(&descriptor);
                drop(entered);
                asked.await.map_err(|error| error.to_string())
            }
            Err(error) => Err(error),
        };
        match opened {
            Ok((device, queue)) => {
                let mut connection = Connection::adopt(device, queue, Some(&found.name))?;
                *connection.is_ours.get_mut() = true;
                connection.is_adopted = false;
                connection.listen();
                Ok(connection)
            }
            Err(error) => bail!(Device, "the adapter {full_name} does not open: {error}"),
        }
    }

    /// Takes a program's device, if kernels run within its limits. The device keeps its callbacks, as wgpu has one of
    /// each: scopes find errors, and failing calls find a loss.
    pub(super) fn adopt(device: wgpu::Device, queue: wgpu::Queue, name: Option<&str>) -> Result<Connection> {
        let info = device.adapter_info();
        let name = adapters::named(name.unwrap_or(&info.name));
        let name = format!("{name} ({})", drivers::interface(info.backend));
        let limits = device.limits();
        Limits::of(&limits).suffice(&name)?;
        let gate = Gate::of(info.backend);
        let mut connection = Connection {
            mark: None,
            limits,
            driver: drivers::of(&info),
            features: device.features(),
            name: name.into(),
            failures: Arc::default(),
            waits: info.backend != wgpu::Backend::BrowserWebGpu,
            is_ours: AtomicBool::new(false),
            is_adopted: true,
            sure: Sure::default(),
            gate,
            device: gate.keep(device),
            queue: gate.keep(queue),
            #[cfg(test)]
            faults: super::tests::Faults::default(),
        };
        if !connection.waits {
            // A promise, which any number of listeners may await.
            connection.listen_for_loss();
        }
        if drivers::is_silent(&info) {
            let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
            let mark = connection.create_for(MARK.len() as u64, usage)?;
            connection.tried("a write", || connection.queue.write_buffer(&mark, 0, &MARK))?;
            connection.mark = Some(gate.keep(mark));
        }
        Ok(connection)
    }

    /// Keeps an error that the device reports outside of any scope for the next call that waits for all work. All calls
    /// of this crate are inside of a scope, so such an error is the program's.
    fn listen(&self) {
        if self.waits {
            self.listen_for_loss();
        }
        let (failures, name) = (self.failures.clone(), self.name.clone());
        self.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            log::error!("{error}");
            let text = format!("the device {name} reports an error outside of this crate: {}", said(&error));
            failures.keep(Error::new(ErrorKind::Kernel, text));
        }));
    }

    /// Keeps the device alive after this is dropped.
    pub(super) fn share(&self) {
        self.is_ours.store(false, Ordering::Relaxed);
    }

    fn listen_for_loss(&self) {
        let failures = self.failures.clone();
        self.device.set_device_lost_callback(move |reason, message| {
            let _ = failures.lost.set(format!("{reason:?}: {message}"));
        });
    }

    /// A device that reports later and must not be waited for, as in a browser.
    #[cfg(test)]
    pub(super) fn like_a_browser(self) -> Connection {
        let mut connection = self;
        (connection.waits, connection.mark) = (false, None);
        connection
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn has(&self, feature: wgpu::Features) -> bool {
        self.features.contains(feature)
    }

    /// Whether the device is lost. Polling wgpu finds a loss of our device. Of a program's device, its owner hears
    /// first.
    pub(super) fn is_lost(&self) -> bool {
        let _ = self.poll(wgpu::PollType::Poll);
        self.find_loss();
        self.failures.lost.get().is_some()
    }

    /// Tests for a loss: a buffer that a lost device creates does not exist, and there is no error.
    pub(super) fn find_loss(&self) {
        // A browser reports it.
        if !self.waits || self.failures.lost.get().is_some() {
            return;
        }
        let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
        let descriptor =
            wgpu::BufferDescriptor { mapped_at_creation: true, ..buffer_of(MARK.len() as u64, usage) };
        let filters = [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation];
        // Held until the buffer is dropped.
        let _entered = self.gate.enter();
        let scopes = self.watch(&filters);
        let buffer = self.device.create_buffer(&descriptor);
        let Observed::Known(None) = self.observed(scopes) else { return };
        if buffer.get_mapped_range(..).is_err() {
            let _ = self.failures.lost.set("it no longer makes buffers".into());
        }
    }

    /// Fails if the device is lost. Takes in reports that have arrived.
    pub(super) fn check(&self) -> Result<()> {
        self.check_known_loss()?;
        self.failures.look();
        Ok(())
    }

    /// Fails for a form that waits on a page of a browser: the page's one thread would wait for itself.
    pub(super) fn can_wait(&self, form: &str) -> Result<()> {
        if self.waits { Ok(()) } else { Err(Error::blocking(form, &self.name)) }
    }

    fn check_known_loss(&self) -> Result<()> {
        match self.failures.lost.get() {
            None => Ok(()),
            Some(reason) => {
                bail!(Lost, "the device {} was lost ({reason}): open it again and upload anew", self.name)
            }
        }
    }

    /// Fails for an element type that the adapter does not compute with.
    pub(super) fn supports(&self, dtype: DType) -> Result<()> {
        // The functions of f64 read its bits as integers.
        let lacking = (wgpu::Features::SHADER_F64 | wgpu::Features::SHADER_INT64) - self.features;
        if dtype == DType::F64 && !lacking.is_empty() {
            let remedy = match self.is_adopted {
                true => "create the device with the features of Device::wants(&adapter), ",
                false => "",
            };
            bail!(
                Limit,
                "{dtype} needs the feature {lacking}, which {} lacks: {remedy}use f32, or Device::cpu()",
                self.name
            );
        }
        Ok(())
    }

    /// Does `work`. Returns its output, or the first error of these kinds, worded by `into_error`, or the loss of the
    /// device if that is the cause. An error that is reported later goes to the fate.
    pub(super) fn scoped<T>(
        &self,
        filters: &[wgpu::ErrorFilter],
        work: impl FnOnce() -> T,
        into_error: impl FnOnce(wgpu::Error) -> Error + Send + 'static,
    ) -> Result<(T, Fate)> {
        #[cfg(test)]
        if let Some(error) = self.waits.then(|| self.faults.next()).flatten() {
            return Err(into_error(error));
        }
        let epoch = self.failures.epoch();
        let scopes = self.watch(filters);
        let made = work();
        match self.observed(scopes) {
            Observed::Known(None) => Ok((made, Fate::default())),
            Observed::Known(Some(error)) => {
                // A lost device refuses work before it reports its loss.
                self.find_loss();
                self.check_known_loss()?;
                Err(into_error(error))
            }
            Observed::Later(answers) => {
                #[cfg(test)]
                let answers = self.faults.after(answers);
                Ok((made, self.failures.expect(answers, epoch, Box::new(into_error))))
            }
        }
    }

    /// The same for errors of all kinds, which name the request.
    pub(super) fn tried<T>(&self, what: &'static str, work: impl FnOnce() -> T) -> Result<(T, Fate)> {
        let name = self.name.clone();
        self.scoped(&ALL, work, move |error| refused(&name, what, &error))
    }

    /// Begins to watch for errors of these kinds.
    fn watch(&self, filters: &[wgpu::ErrorFilter]) -> Scopes {
        let entered = self.gate.enter();
        let scopes = filters.iter().map(|&filter| (filter, self.device.push_error_scope(filter))).collect();
        Scopes { scopes, _entered: entered }
    }

    /// The errors of the calls since `watch`.
    fn observed(&self, watched: Scopes) -> Observed {
        // Scopes end in reverse order, all of them.
        let scopes = watched.scopes.into_iter().rev();
        if self.waits {
            // Natively the promise is ready.
            let first = scopes.fold(None, |first, (_, scope)| first.or(pollster::block_on(scope.pop())));
            return Observed::Known(first);
        }
        let mut answers: Vec<Answer> = Vec::with_capacity(ALL.len());
        for (filter, scope) in scopes {
            let answer = scope.pop();
            // wgpu 30 panics when a browser reports an internal error (`Error::from_js`). So a missing pipeline is
            // reported by its first use.
            if filter != wgpu::ErrorFilter::Internal {
                answers.push(Box::pin(answer));
            }
        }
        Observed::Later(answers)
    }

    /// Polls the device, and lets wgpu call back.
    pub(super) fn poll(&self, how: wgpu::PollType) -> std::result::Result<wgpu::PollStatus, wgpu::PollError> {
        let _entered = self.gate.enter();
        self.device.poll(how)
    }

    /// Waits until all submitted work has run.
    pub(super) fn wait(&self) -> Result<()> {
        self.wait_for(None)
    }

    /// Waits until all work up to a submission has run.
    pub(super) fn wait_for(&self, submission_index: Option<wgpu::SubmissionIndex>) -> Result<()> {
        self.can_wait("this")?;
        if let Err(error) = self.poll(wgpu::PollType::Wait { submission_index, timeout: None }) {
            self.check()?;
            bail!(Lost, "the device {} does not answer: {error}", self.name);
        }
        self.find_loss();
        self.check()
    }

    /// A new encoder.
    pub(super) fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }
}
