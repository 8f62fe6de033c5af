//! Dispatches that are encoded together. Their uniform blocks lie in one buffer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::buffer::Bound;
use super::connection::{ALL, Connection};
use super::dispatch::{Buffers, Dispatch, cause};
use super::pipelines::Compiled;
use super::pool::{Part, Pool};
use crate::error::{self, Error, Result, bail};
use crate::plan::Plan;

/// One kernel to run: a plan, the words of its launch, the compiled kernel, and its bindings, the results first.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub plan: &'a Plan,
    pub words: &'a [u32],
    pub compiled: &'a Arc<Compiled>,
    pub bound: &'a [Bound<'a>],
    /// Whether it writes all elements of its results, and reads none of them.
    pub whole: bool,
}

#[derive(Debug)]
pub(super) struct Batch {
    pub dispatches: Vec<Dispatch>,
    uniforms: Vec<u8>,
    /// The place of the uniform blocks.
    pub page: wgpu::Buffer,
}

impl Batch {
    /// An empty batch. A page is `UNIFORM` and `COPY_DST`.
    pub(super) fn new(page: wgpu::Buffer) -> Batch {
        Batch { dispatches: Vec::new(), uniforms: Vec::new(), page }
    }

    /// Whether the uniform block of a kernel fits into the page. An error, if it fits into no page.
    pub(super) fn has_room(&self, connection: &Connection, work: Work<'_>) -> Result<bool> {
        let size = work.compiled.uniform_size;
        let most = connection.limits.max_uniform_buffer_binding_size.min(self.page.size());
        if size > most {
            bail!(
                Limit,
                "an expression needs {size} bytes of uniforms, and {} has {most} (max_uniform_buffer_binding_size): evaluate a part of it first",
                connection.name(),
            );
        }
        Ok(self.start(connection) as u64 + size <= self.page.size())
    }

    /// The place of the next uniform block.
    fn start(&self, connection: &Connection) -> usize {
        self.uniforms.len().next_multiple_of(connection.limits.min_uniform_buffer_offset_alignment as usize)
    }

    /// Adds a dispatch, for which there is room. Fails if its operands were not computed, or if the device refuses its
    /// bind group.
    pub(super) fn push(&mut self, connection: &Connection, pool: &Pool, work: Work<'_>) -> Result<()> {
        work.check(connection)?;
        let Work { plan, words, compiled, bound, whole } = work;
        let start = self.start(connection);
        let mut parts: SmallVec<[Part<'_>; 8]> = SmallVec::new();
        parts.push((&self.page, 0, compiled.uniform_size));
        bound.iter().for_each(|bound| parts.push((&bound.buffer.raw, bound.start, bound.size)));
        let create = || group(connection, compiled, &parts);
        // A buffer that the caller may destroy is bound anew each time, so that it is refused before it is recorded.
        let bind_group = match bound.iter().any(|bound| bound.buffer.is_known()) {
            true => create(),
            false => pool.group(&compiled.layout, &parts, create),
        };
        let buffers = Buffers::new(bound, work.results().len(), whole);
        let refused = |cause: Error| buffers.refused(connection, (&compiled.name, error::line()), &cause);
        let bind_group = bind_group.map_err(refused)?;
        self.uniforms.resize(start + compiled.uniform_size as usize, 0);
        for (bytes, &word) in self.uniforms[start..].chunks_exact_mut(size_of::<u32>()).zip(&compiled.words) {
            bytes.copy_from_slice(&words[word].to_ne_bytes());
        }
        self.dispatches.push(Dispatch {
            compiled: compiled.clone(),
            bind_group,
            offset: start as u32,
            groups: plan.launch.groups,
            buffers,
            line: error::line(),
        });
        Ok(())
    }

    /// Asks wgpu to write the uniform blocks, which happens before the next submission.
    pub(super) fn write(&self, connection: &Connection) -> Result<()> {
        connection
            .tried("the uniform blocks of kernels", || {
                connection.queue.write_buffer(&self.page, 0, &self.uniforms);
            })
            .map(drop)
    }

    /// Encodes the dispatches.
    pub(super) fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.dispatches.is_empty() {
            return;
        }
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        let mut set = None;
        for dispatch in &self.dispatches {
            dispatch.encode(&mut pass, set);
            set = Some(&dispatch.compiled);
        }
    }

    pub(super) fn clear(&mut self) {
        self.dispatches.clear();
        self.uniforms.clear();
    }
}

impl Work<'_> {
    /// Fails if an operand was not computed. A result that is written whole may be poisoned. Call this when nothing can
    /// be submitted before the dispatch is added, since a refused submission poisons.
    fn check(&self, connection: &Connection) -> Result<()> {
        let read = if self.whole { &self.bound[self.results().len()..] } else { self.bound };
        read.iter().try_for_each(|bound| bound.buffer.check(connection))
    }

    /// Marks its buffers as used in this recording.
    pub(super) fn mark(&self, epoch: u64) {
        self.bound.iter().for_each(|bound| bound.buffer.epoch.store(epoch, Ordering::Relaxed));
        self.mark_written(epoch);
    }

    /// Marks the written buffers as written in this recording, and clears the poison of those written whole.
    pub(super) fn mark_written(&self, epoch: u64) {
        for Bound { buffer, .. } in self.results() {
            buffer.written.store(epoch, Ordering::Relaxed);
            if self.whole {
                buffer.poison.clear();
            }
        }
    }

    fn results(&self) -> &[Bound<'_>] {
        &self.bound[..self.bound.len() - self.plan.kernel.bindings.len()]
    }
}

fn group(connection: &Connection, compiled: &Compiled, parts: &[Part<'_>]) -> Result<wgpu::BindGroup> {
    let entries: SmallVec<[wgpu::BindGroupEntry<'_>; 8]> = (0..)
        .zip(parts)
        .map(|(binding, &(buffer, offset, size))| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer,
                offset,
                size: wgpu::BufferSize::new(size),
            }),
        })
        .collect();
    let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &compiled.layout, entries: &entries };
    Ok(connection.scoped(&ALL, || connection.device.create_bind_group(&descriptor), cause)?.0)
}
