//! One kernel of a recording: what it binds, and which call asked for it.

use std::sync::{Arc, Weak};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::buffer::{Bound, Buffer};
use super::connection::{ALL, Connection, said};
use super::pipelines::Compiled;
use crate::error::{Error, ErrorKind, Line, Result};

/// A kernel with what it binds, ready to be encoded.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub compiled: Arc<Compiled>,
    pub bind_group: wgpu::BindGroup,
    /// Where its uniform block begins.
    pub offset: u32,
    pub groups: [u32; 3],
    pub buffers: Buffers,
    /// The call that asked for it.
    pub line: Option<Line>,
}

/// The buffers of a dispatch, the results first. It does not hold them: their memory is used again as soon as nobody else
/// does.
#[derive(Debug)]
pub(super) struct Buffers {
    all: SmallVec<[Weak<Buffer>; 4]>,
    results: usize,
    /// Whether all elements of the results are written, and none of them read.
    whole: bool,
}

/// Buffers whose elements were not computed, by address, and why.
pub(super) type Lost = FxHashMap<usize, (Weak<Buffer>, Error)>;

fn address(buffer: &Weak<Buffer>) -> usize {
    buffer.as_ptr() as usize
}

impl Buffers {
    pub(super) fn new(bound: &[Bound], results: usize, whole: bool) -> Buffers {
        let all = bound.iter().map(|bound| Arc::downgrade(&bound.buffer)).collect();
        Buffers { all, results, whole }
    }
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

    /// Submits it alone, if its uniform block is written and nothing that it reads is lost. Else, and where the device
    /// refuses it, its results are lost too.
    pub(super) fn submit_alone(&self, connection: &Connection, written: &Result<()>, lost: &mut Lost) {
        let Buffers { all, results, whole } = &self.buffers;
        let read = if *whole { &all[*results..] } else { all };
        let known = read.iter().find_map(|buffer| lost.get(&address(buffer)));
        let outcome = match (known, written) {
            (Some((_, error)), _) => Err(error.clone()),
            (None, Err(error)) => Err(self.uncomputed(connection, error.message())),
            (None, Ok(())) => connection.scoped(&ALL, || self.submit(connection), self.refusal(connection)),
        };
        for buffer in &all[..*results] {
            match &outcome {
                Err(error) => drop(lost.insert(address(buffer), (buffer.clone(), error.clone()))),
                Ok(_) if *whole => drop(lost.remove(&address(buffer))),
                Ok(_) => {}
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

    fn uncomputed(&self, connection: &Connection, cause: &str) -> Error {
        uncomputed(&self.compiled.name, connection.name(), cause, self.line)
    }

    /// What the device's refusal to run it is as an error.
    pub(super) fn refusal(
        &self,
        connection: &Connection,
    ) -> impl FnOnce(wgpu::Error) -> Error + Send + use<> {
        let (device, name, line) = (connection.name().to_string(), self.compiled.name.clone(), self.line);
        move |error| uncomputed(&name, &device, &said(&error), line)
    }
}

/// The error that a kernel, by its operations, was not run for a call.
pub(super) fn uncomputed(name: &str, device: &str, cause: &str, line: Option<Line>) -> Error {
    let name = if name.is_empty() { "a copy" } else { name };
    let error = Error::new(ErrorKind::Kernel, format!("{name} was not computed on {device}: {cause}"));
    match line {
        Some(line) => error.at(line),
        None => error,
    }
}
