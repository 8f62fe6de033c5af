//! Pipelines, compiled once per kernel.

use std::collections::HashMap;
use std::sync::Arc;

use super::context::{Gpu, lock};
use crate::error::{Result, bail};
use crate::plan::Kernel;
use crate::wgsl;

/// A kernel that was compiled.
#[derive(Debug)]
pub(super) struct Compiled {
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
    /// Bytes of the uniform block.
    pub uniform_size: u64,
    pub text: String,
}

/// What was compiled so far. Kernels with equally many bindings share a layout.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    compiled: HashMap<Kernel, Arc<Compiled>>,
    layouts: HashMap<(usize, usize, u64), wgpu::BindGroupLayout>,
}

impl Pipelines {
    pub(super) fn texts(&self) -> Vec<String> {
        self.compiled.values().map(|compiled| compiled.text.clone()).collect()
    }
}

impl Gpu {
    /// The pipeline of a kernel, from the cache or compiled now.
    pub(super) fn pipeline(&self, kernel: &Kernel) -> Result<Arc<Compiled>> {
        let mut pipelines = lock(&self.pipelines);
        if let Some(known) = pipelines.compiled.get(kernel) {
            return Ok(known.clone());
        }
        let text = wgsl::emit(kernel);
        wgsl::validate(&text)?;
        let uniform_size = (kernel.fields().len() as u64 * 4).next_multiple_of(16);
        let (results, inputs) = (kernel.results.len(), kernel.bindings.len());
        let layout = pipelines
            .layouts
            .entry((results, inputs, uniform_size))
            .or_insert_with(|| self.layout(results, inputs, uniform_size))
            .clone();
        let compiled = Arc::new(self.compile(text, layout, uniform_size)?);
        pipelines.compiled.insert(kernel.clone(), compiled.clone());
        Ok(compiled)
    }

    /// Uniforms, the results, then inputs.
    fn layout(&self, results: usize, inputs: usize, uniform_size: u64) -> wgpu::BindGroupLayout {
        let uniform = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: true,
            min_binding_size: wgpu::BufferSize::new(uniform_size),
        };
        let storage = |read_only| wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only },
            has_dynamic_offset: false,
            min_binding_size: wgpu::BufferSize::new(32),
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
        self.device.create_bind_group_layout(&descriptor)
    }

    fn compile(&self, text: String, layout: wgpu::BindGroupLayout, uniform_size: u64) -> Result<Compiled> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("zerostride"),
            source: wgpu::ShaderSource::Wgsl(text.as_str().into()),
        });
        let pipeline_layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("zerostride"),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: lock(&self.disk).as_ref().map(|disk| &disk.cache),
        });
        let internal = pollster::block_on(internal.pop());
        let error = pollster::block_on(scope.pop()).or(internal);
        if let Some(error) = error {
            bail!(Kernel, "{} refuses a kernel: {error}\n{text}", self.label());
        }
        self.check()?;
        Ok(Compiled { pipeline, layout, uniform_size, text })
    }
}
