//! The program's own shader, which draws each value of a field in a colour. It reads a storage buffer or a texture.

use zerostride::wgpu;

use super::Through;
use super::app::App;

pub(crate) struct Draw {
    /// Rows and columns.
    pub(crate) size: [u32; 2],
    /// The buffer or texture of the values.
    pub(crate) values: Values,
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
}

pub(crate) enum Values {
    Buffer(wgpu::Buffer),
    Texture(wgpu::Texture),
}

impl Draw {
    pub(crate) fn new(
        app: &App,
        [height, width]: [u32; 2],
        through: Through,
        format: wgpu::TextureFormat,
    ) -> Draw {
        let values = match through {
            Through::Buffer => Values::Buffer(app.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("values"),
                size: 4 * u64::from(width) * u64::from(height),
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            })),
            Through::Texture => Values::Texture(app.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("values"),
                size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::R32Float,
                usage: wgpu::TextureUsages::COPY_DST
                    | wgpu::TextureUsages::STORAGE_BINDING
                    | wgpu::TextureUsages::TEXTURE_BINDING,
                view_formats: &[],
            })),
        };
        let read = match through {
            Through::Buffer => {
                format!(
                    "@group(0) @binding(0) var<storage, read> values: array<f32>;
                    fn value(at: vec2<u32>) -> f32 {{ return values[at.y * {width}u + at.x]; }}"
                )
            }
            Through::Texture => "@group(0) @binding(0) var values: texture_2d<f32>;
                fn value(at: vec2<u32>) -> f32 { return textureLoad(values, at, 0).x; }"
                .into(),
        };
        let source = wgpu::ShaderSource::Wgsl(format!("{read}\n{}", include_str!("draw.wgsl")).into());
        let module = app.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = app.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("draw"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("corner"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("colour"),
                compilation_options: Default::default(),
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let view;
        let resource = match &values {
            Values::Buffer(buffer) => buffer.as_entire_binding(),
            Values::Texture(texture) => {
                view = texture.create_view(&Default::default());
                wgpu::BindingResource::TextureView(&view)
            }
        };
        let group = app.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource }],
        });
        Draw { size: [height, width], values, pipeline, group }
    }

    /// Draws the values.
    pub(crate) fn record(&self, encoder: &mut wgpu::CommandEncoder, canvas: &wgpu::TextureView) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: canvas,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.draw(0..3, 0..1);
    }
}
