//! One kernel of a recording: its bindings, and the call that recorded it.

use std::any::Any;
use std::sync::{Arc, Weak};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::buffer::{Bound, Buffer};
use super::connection::{ALL, Connection, said};
use super::pipelines::Compiled;
use crate::error::{Error, ErrorKind, Line, Result};

/// A kernel with its bindings, ready to be encoded.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub compiled: Arc<Compiled>,
    pub bind_group: wgpu::BindGroup,
    /// Where its uniform block begins.
    pub offset: u32,
    pub groups: [u32; 3],
    pub buffers: Buffers,
    /// The call that recorded it.
    pub line: Option<Line>,
}

/// The buffers of a dispatch, the results first. This does not keep them alive: their memory is reused as soon as every
/// other handle is gone.
#[derive(Debug)]
pub(super) struct Buffers {
    all: SmallVec<[Forgotten; 4]>,
    results: usize,
    /// Whether the kernel writes all elements of the results, and reads none of them.
    whole: bool,
}

/// A handle that does not keep a buffer.
type Forgotten = Weak<dyn Any + Send + Sync>;

/// Buffers whose elements were not computed, by address, each with the error.
#[derive(Default)]
pub(super) struct Lost(FxHashMap<usize, (Forgotten, Error)>);

impl Lost {
    fn get(&self, buffer: &Forgotten) -> Option<&Error> {
        self.0.get(&address(buffer)).map(|(_, error)| error)
    }

    /// Poisons the buffers that still exist, and keeps the errors for the next call that waits for all work.
    pub(super) fn poison(self, connection: &Connection) {
        for (buffer, error) in self.0.into_values() {
            if let Some(buffer) = known(&buffer) {
                buffer.poison.set(error.clone());
            }
            connection.failures.keep(error);
        }
    }
}

fn address(buffer: &Forgotten) -> usize {
    buffer.as_ptr().cast::<()>() as usize
}

/// The buffer, if it still exists.
fn known(buffer: &Forgotten) -> Option<Arc<Buffer>> {
    buffer.upgrade()?.downcast().ok()
}

impl Buffers {
    pub(super) fn new(bound: &[Bound<'_>], results: usize, whole: bool) -> Buffers {
        let all = bound.iter().map(|bound| Arc::downgrade(bound.memory)).collect();
        Buffers { all, results, whole }
    }

    /// The error that a kernel was not run. It names a destroyed buffer of the caller's, if that is the cause.
    pub(super) fn refused(
        &self,
        connection: &Connection,
        (name, line): (&str, Option<Line>),
        cause: &Error,
    ) -> Error {
        if cause.kind() == ErrorKind::Lost {
            return cause.clone();
        }
        let is_gone = |buffer: &Forgotten| {
            let of_the_caller = known(buffer).filter(|buffer| buffer.is_known());
            of_the_caller.is_some_and(|buffer| connection.can_bind(&buffer.raw, buffer.size).is_err())
        };
        let operand = match self.all.iter().position(is_gone) {
            None => String::new(),
            Some(i) if i < self.results => "its result, a buffer of yours, was destroyed: ".into(),
            Some(i) => format!("operand {}, a buffer of yours, was destroyed: ", i - self.results + 1),
        };
        uncomputed(name, connection.name(), &format!("{operand}{}", cause.message()), line)
    }
}

/// The device's message as an error.
pub(super) fn cause(error: wgpu::Error) -> Error {
    Error::new(ErrorKind::Kernel, said(&error))
}

impl Dispatch {
    /// Encodes it after one with the kernel `set`.
    pub(super) fn encode(&self, pass: &mut wgpu::ComputePass<'_>, set: Option<&Arc<Compiled>>) {
        if !set.is_some_and(|set| Arc::ptr_eq(set, &self.compiled)) {
            pass.set_pipeline(&self.compiled.pipeline);
        }
        pass.set_bind_group(0, &self.bind_group, &[self.offset]);
        let [x, y, z] = self.groups;
        pass.dispatch_workgroups(x, y, z);
    }

    /// Submits the kernel alone, if its uniform block is written and none of its operands is lost. Otherwise, and if
    /// the device refuses it, its results are lost too.
    pub(super) fn submit_alone(&self, connection: &Connection, written: &Result<()>, lost: &mut Lost) {
        let Buffers { all, results, whole } = &self.buffers;
        let read = if *whole { &all[*results..] } else { all };
        let refused = |cause| self.buffers.refused(connection, (&self.compiled.name, self.line), &cause);
        let outcome = match read.iter().find_map(|buffer| lost.get(buffer)) {
            Some(error) => Err(error.clone()),
            None => {
                let run = || connection.scoped(&ALL, || self.submit(connection), cause).map(drop);
                written.clone().and_then(|()| run()).map_err(refused)
            }
        };
        for buffer in &all[..*results] {
            match &outcome {
                Err(error) => drop(lost.0.insert(address(buffer), (buffer.clone(), error.clone()))),
                Ok(()) if *whole => drop(lost.0.remove(&address(buffer))),
                Ok(()) => {}
            }
        }
    }

    fn submit(&self, connection: &Connection) {
        let mut encoder = connection.encoder();
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        self.encode(&mut pass, None);
        drop(pass);
        connection.queue.submit([encoder.finish()]);
    }

    /// The error of a refusal that the device reports later.
    pub(super) fn refusal(
        &self,
        connection: &Connection,
    ) -> impl FnOnce(wgpu::Error) -> Error + Send + use<> {
        let (device, name, line) = (connection.name().to_string(), self.compiled.name.clone(), self.line);
        move |error| uncomputed(&name, &device, &said(&error), line)
    }
}

/// The error that a kernel, by its operations, was not run for a call.
fn uncomputed(name: &str, device: &str, cause: &str, line: Option<Line>) -> Error {
    let name = if name.is_empty() { "a copy" } else { name };
    let error = Error::new(ErrorKind::Kernel, format!("{name} was not computed on {device}: {cause}"));
    match line {
        Some(line) => error.at(line),
        None => error,
    }
}
