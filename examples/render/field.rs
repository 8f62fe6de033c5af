//! The field, by zerostride and by hand.

use zerostride::{Device, Expr, Math, Tensor, wgpu};

use super::Through;
use super::app::{App, Failure};
use super::draw::{Draw, Values};

/// Computes the values of a frame.
pub(crate) trait Field {
    /// Records the values at a time, in seconds.
    fn record(&self, encoder: &mut wgpu::CommandEncoder, draw: &Draw, time: f32) -> Result<(), Failure>;
}

/// The centers of rings.
fn centre(time: f32) -> [f32; 2] {
    [0.8 * (0.9 * time).sin(), 0.5 * (1.3 * time).cos()]
}

/// The field by zerostride: an expression that is recorded into the program's buffer or texture.
pub(crate) struct Ours {
    device: Device,
}

impl Ours {
    pub(crate) fn new(app: &App) -> Result<Ours, Failure> {
        let mut device = Device::from_wgpu(&app.device, &app.queue)?;
        // The adapter's sine, as in the kernel by hand.
        device.set_math(Math::Fast);
        Ok(Ours { device })
    }

    /// Explains the kernels of a frame.
    pub(crate) fn explain(&self, size: [u32; 2]) -> Result<String, Failure> {
        let explained = Ours::values(size, 1.0).explain(&self.device)?;
        Ok(format!("{explained}\n{}", explained.wgsl().unwrap_or_default()))
    }

    /// The values as an expression. Its constants are no part of a kernel: no frame compiles anything.
    fn values([height, width]: [u32; 2], time: f32) -> Expr<f32> {
        let at = |axis: usize, length: u32| {
            // A row or a column, which is computed once and not for every pixel.
            let mut shape = [1, 1];
            shape[axis] = length as usize;
            let index = Expr::<i32>::iota(shape, axis as isize).cast::<f32>();
            ((index * 2.0 - length as f32) / height as f32).shared()
        };
        let (x, y) = (at(1, width), at(0, height));
        let [cx, cy] = centre(time);
        let (dx, dy) = (&x - cx, &y - cy);
        let ring = ((&dx * &dx + &dy * &dy).sqrt() * 11.0 - time * 3.0).cos();
        let waves = (x * 5.0 + time).sin() * (y * 7.0 - time * 0.7).sin();
        (ring + waves) * 0.5
    }
}

impl Field for Ours {
    fn record(&self, encoder: &mut wgpu::CommandEncoder, draw: &Draw, time: f32) -> Result<(), Failure> {
        let values = Ours::values(draw.size, time);
        let [height, width] = draw.size.map(|length| length as usize);
        match &draw.values {
            Values::Buffer(buffer) => {
                let shown =
                    Tensor::from_buffer(&self.device, buffer, 0, [height, width], &[width as isize, 1])?;
                values.record_into(encoder, &shown)?;
            }
            Values::Texture(texture) => {
                values.record_to_texture_on(&self.device, encoder, texture.as_image_copy())?;
            }
        }
        Ok(())
    }
}

/// The field by the program's own kernel.
pub(crate) struct HandWritten {
    queue: wgpu::Queue,
    device: wgpu::Device,
    module: String,
    frame: wgpu::Buffer,
    made: std::sync::OnceLock<(wgpu::ComputePipeline, wgpu::BindGroup)>,
}

impl HandWritten {
    pub(crate) fn new(app: &App, through: Through) -> HandWritten {
        let put = match through {
            Through::Buffer => {
                "@group(0) @binding(1) var<storage, read_write> values: array<f32>;
                fn put(at: vec2<u32>, value: f32) { values[at.y * WIDTH + at.x] = value; }"
            }
            Through::Texture => {
                "@group(0) @binding(1) var values: texture_storage_2d<r32float, write>;
                fn put(at: vec2<u32>, value: f32) { textureStore(values, at, vec4<f32>(value)); }"
            }
        };
        let frame = app.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("frame"),
            size: 16,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let module = format!("{put}\n{}", include_str!("field.wgsl"));
        let (queue, device) = (app.queue.clone(), app.device.clone());
        HandWritten { queue, device, module, frame, made: Default::default() }
    }

    fn make(&self, draw: &Draw) -> (wgpu::ComputePipeline, wgpu::BindGroup) {
        let [height, width] = draw.size;
        let text = format!("const WIDTH = {width}u; const HEIGHT = {height}u;\n{}", self.module);
        let source = wgpu::ShaderSource::Wgsl(text.into());
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("by hand"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let view;
        let resource = match &draw.values {
            Values::Buffer(buffer) => buffer.as_entire_binding(),
            Values::Texture(texture) => {
                view = texture.create_view(&Default::default());
                wgpu::BindingResource::TextureView(&view)
            }
        };
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: self.frame.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource },
            ],
        });
        (pipeline, group)
    }
}

impl Field for HandWritten {
    fn record(&self, encoder: &mut wgpu::CommandEncoder, draw: &Draw, time: f32) -> Result<(), Failure> {
        let (pipeline, group) = self.made.get_or_init(|| self.make(draw));
        let [x, y] = centre(time);
        self.queue.write_buffer(&self.frame, 0, bytemuck::cast_slice(&[time, 0.0, x, y]));
        let [height, width] = draw.size;
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(width.div_ceil(64), height.div_ceil(4), 1);
        Ok(())
    }
}
