//! Pipelines, compiled once per kernel.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use super::connection::{Connection, said};
use super::disk::DiskCache;
use super::failures::Fate;
use super::lock::{Gated, lock};
use crate::error::{Error, ErrorKind, Result};
use crate::plan::Kernel;
use crate::wgsl;

/// A compiled kernel.
#[derive(Debug)]
pub(super) struct Compiled {
    pub pipeline: Gated<wgpu::ComputePipeline>,
    pub layout: wgpu::BindGroupLayout,
    /// Bytes of the uniform block.
    pub uniform_size: u64,
    /// The words that it declares, by their numbers in a launch.
    pub words: Vec<usize>,
    text: Arc<str>,
    /// Its operations, in words; empty for a copy.
    pub name: Arc<str>,
    /// Whether the driver accepted it.
    pub fate: Fate,
}

/// Pipelines that are kept. lavapipe needs half a megabyte for each.
pub(super) const MOST: usize = 256;

/// Compiled pipelines, and the driver's file of them.
#[derive(Debug)]
pub(super) struct Pipelines {
    known: Mutex<Known>,
    most: usize,
    disk: Mutex<Option<DiskCache>>,
}

/// Kernels with equally many bindings share a layout.
#[derive(Debug, Default)]
struct Known {
    /// Each with its last use.
    compiled: FxHashMap<Kernel, (Arc<Compiled>, u64)>,
    layouts: FxHashMap<(usize, usize, u64), wgpu::BindGroupLayout>,
    /// The number of uses so far.
    uses: u64,
}

impl Known {
    fn get(&mut self, kernel: &Kernel) -> Option<Arc<Compiled>> {
        let (compiled, used) = self.compiled.get_mut(kernel)?;
        self.uses += 1;
        *used = self.uses;
        Some(compiled.clone())
    }

    /// Keeps a pipeline, if it is not yet there, and drops the least recently used.
    fn keep(&mut self, kernel: &Kernel, compiled: Arc<Compiled>, most: usize) -> Arc<Compiled> {
        if let Some(known) = self.get(kernel) {
            return known;
        }
        while self.compiled.len() >= most.max(1) {
            let oldest = self.compiled.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(kernel, _)| kernel.clone()) else { break };
            let Some((oldest, _)) = self.compiled.remove(&oldest) else { break };
            if !self.compiled.values().any(|(known, _)| known.layout == oldest.layout) {
                self.layouts.retain(|_, layout| *layout != oldest.layout);
            }
        }
        self.uses += 1;
        self.compiled.insert(kernel.clone(), (compiled.clone(), self.uses));
        compiled
    }
}

impl Pipelines {
    /// An empty cache of at most `most` pipelines.
    pub(super) fn new(most: usize) -> Pipelines {
        Pipelines { known: Mutex::default(), most, disk: Mutex::default() }
    }

    /// The pipeline of a kernel, compiled if it is missing. If two threads miss the same one, both compile it and share
    /// the first result: no thread waits for the driver on behalf of another.
    pub(super) fn get(&self, connection: &Connection, kernel: &Kernel) -> Result<Arc<Compiled>> {
        let known = lock(&self.known).get(kernel);
        if let Some(known) = known {
            // A refusal stays. But a device may only have lacked memory, so the next call tries again.
            known.fate.check().inspect_err(|_| drop(lock(&self.known).compiled.remove(kernel)))?;
            return Ok(known);
        }
        let emitted = wgsl::emit(kernel)?;
        let text = emitted.text();
        wgsl::validate(&text)?;
        let uniform_size = (emitted.words.len() as u64 * 4).next_multiple_of(16);
        let (results, inputs) = (kernel.stored.len(), kernel.bindings.len());
        let key = (results, inputs, uniform_size);
        let known = lock(&self.known).layouts.get(&key).cloned();
        let layout = match known {
            Some(known) => known,
            None => {
                let made = layout(connection, results, inputs, uniform_size)?;
                lock(&self.known).layouts.entry(key).or_insert(made).clone()
            }
        };
        let disk = lock(&self.disk).as_ref().map(|disk| disk.cache.clone());
        let named = (text.into(), kernel.name().into());
        let block = (layout, uniform_size, emitted.words);
        let compiled = compile(connection, named, block, disk.as_ref())?;
        let compiled = Arc::new(compiled);
        Ok(lock(&self.known).keep(kernel, compiled, self.most))
    }

    pub(super) fn texts(&self) -> Vec<Arc<str>> {
        lock(&self.known).compiled.values().map(|(compiled, _)| compiled.text.clone()).collect()
    }

    /// Whether a kernel is compiled and kept.
    pub(super) fn has(&self, kernel: &Kernel) -> bool {
        lock(&self.known).compiled.contains_key(kernel)
    }

    /// Forgets the pipelines that the driver was reported to refuse.
    #[cfg(test)]
    pub(super) fn forget_refused(&self) {
        lock(&self.known).compiled.retain(|_, (compiled, _)| compiled.fate.check().is_ok());
    }

    /// The number of kept pipelines.
    pub(super) fn count(&self) -> u64 {
        lock(&self.known).compiled.len() as u64
    }

    /// Compiles with a cache in `directory` from now on. Returns whether the backend has one.
    pub(super) fn keep_in(&self, connection: &Connection, directory: &Path) -> Result<bool> {
        let disk = DiskCache::open(connection, directory)?;
        let has_one = disk.is_some();
        *lock(&self.disk) = disk;
        Ok(has_one)
    }

    /// Writes the file of this cache, if there is one.
    pub(super) fn save(&self) -> Result<()> {
        let disk = lock(&self.disk).clone();
        disk.map_or(Ok(()), |disk| disk.save())
    }
}

/// Uniforms, the results, then inputs.
fn layout(
    connection: &Connection,
    results: usize,
    inputs: usize,
    uniform_size: u64,
) -> Result<wgpu::BindGroupLayout> {
    let uniform = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: true,
        min_binding_size: wgpu::BufferSize::new(uniform_size),
    };
    let storage = |read_only| wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Storage { read_only },
        has_dynamic_offset: false,
        // The pool's buffers are large enough for any kernel. A caller's buffer is checked when it is bound.
        min_binding_size: None,
    };
    let types = std::iter::once(uniform).chain(std::iter::repeat_n(storage(false), results));
    let types = types.chain(std::iter::repeat_n(storage(true), inputs));
    let entries: Vec<wgpu::BindGroupLayoutEntry> = (0..)
        .zip(types)
        .map(|(binding, ty)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty,
            count: None,
        })
        .collect();
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
    Ok(connection
        .tried("bindings of a kernel", || connection.device.create_bind_group_layout(&descriptor))?
        .0)
}

fn compile(
    connection: &Connection,
    (text, operations): (Arc<str>, Arc<str>),
    (layout, uniform_size, words): (wgpu::BindGroupLayout, u64, Vec<usize>),
    cache: Option<&wgpu::PipelineCache>,
) -> Result<Compiled> {
    let device = &connection.device;
    let create = || {
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("zerostride"),
            source: wgpu::ShaderSource::Wgsl((&*text).into()),
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("zerostride"),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache,
        })
    };
    let filters = [wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::Internal];
    let (name, refused) = (connection.name().to_string(), text.clone());
    let (pipeline, fate) = connection.scoped(&filters, create, move |error| {
        Error::new(ErrorKind::Kernel, format!("{name} refuses a kernel: {}\n{refused}", said(&error)))
    })?;
    let pipeline = connection.gate.keep(pipeline);
    connection.check()?;
    Ok(Compiled { pipeline, layout, uniform_size, words, text, name: operations, fate })
}
