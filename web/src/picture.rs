//! A photograph through one kernel, and onto the page without a copy to the host.

use std::cell::RefCell;
use std::collections::VecDeque;

use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;
use zerostride::{AnyExpr, Device, Expr, LentBuffer, Result, Tensor, wgpu};

use crate::js;

/// Places among the sliders.
const EXPOSURE: isize = 0;
const VIGNETTE: isize = 1;
const COLOURS: isize = 2;
const NORMALIZED: isize = 3;
const SHARPNESS: isize = 4;
/// The white balance: a row of three channels.
const BALANCE: isize = 5;
const SLIDERS: usize = 8;

/// Colours of the map, by brightness.
const MAP: usize = 256;

/// A picture that is developed again and again. The sliders lie on the device, so moving one builds no other
/// expression.
#[wasm_bindgen]
pub struct Picture {
    device: Device,
    size: [usize; 2],
    /// Channels, height and width, with a border that repeats the edge. Rows are whole vectors, so that neighbours are
    /// loaded four at a time.
    framed: Tensor<u8>,
    sliders: Tensor<f32>,
    map: Tensor<f32>,
    /// The mean of each channel, and the factor that equalizes deviations.
    statistics: Tensor<f32>,
    developed: Expr<u8>,
    shown: Option<Shown>,
}

impl Picture {
    /// A photograph as bytes of red, green, blue and opacity.
    pub(crate) fn new(
        device: &Device,
        (width, height): (usize, usize),
        rgba: &[u8],
        canvas: Option<HtmlCanvasElement>,
    ) -> std::result::Result<Picture, JsValue> {
        let shown =
            canvas.map(|canvas| Shown::new(device, canvas, width as u32, height as u32)).transpose()?;
        if width * height == 0 || rgba.len() != width * height * 4 {
            return Err(JsValue::from("a photograph has four bytes a pixel"));
        }
        let made = || -> Result<Picture> {
            let size = [height, width];
            let framed = device.upload(&framed(rgba, size), [3, height + 2, pitch(width)])?;
            let sliders = device.upload(&[1.0_f32, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [SLIDERS])?;
            let map = device.zeros::<f32>([MAP, 3])?;
            let statistics = device.zeros::<f32>([2, 3, 1, 1])?;
            let developed = developed(&framed, size, &sliders, &map, &statistics);
            developed.shape()?;
            let picture =
                Picture { device: device.clone(), size, framed, sliders, map, statistics, developed, shown };
            picture.measure()?;
            Ok(picture)
        };
        made().map_err(js::thrown)
    }

    /// Computes the statistics of the photograph.
    fn measure(&self) -> Result<()> {
        let light = inner(&self.framed, self.size, 1, 1).cast::<f32>() / 255.0;
        self.statistics.slice(0, ..1).assign(light.mean_keepdim([1, 2]).unsqueeze(0))?;
        self.statistics
            .slice(0, 1..)
            .assign((0.22 / (light.var_keepdim([1, 2], 0).sqrt() + 0.02)).unsqueeze(0))
    }
}

/// Pixels of a row with its border.
fn pitch(width: usize) -> usize {
    (width + 2).next_multiple_of(4)
}

/// The picture without its border, shifted.
fn inner(framed: &Tensor<u8>, [height, width]: [usize; 2], y: usize, x: usize) -> Expr<u8> {
    framed.slice(1, y..y + height).slice(2, x..x + width)
}

/// The developed photograph: one kernel. Values that all channels share are computed for each, as storing them would
/// take another kernel.
fn developed(
    framed: &Tensor<u8>,
    size: [usize; 2],
    sliders: &Tensor<f32>,
    map: &Tensor<f32>,
    statistics: &Tensor<f32>,
) -> Expr<u8> {
    let shape = [3, size[0], size[1]];
    let slider = |place: isize| sliders.slice(0, place..place + 1);
    let light = |y: usize, x: usize| inner(framed, size, y, x).cast::<f32>();
    // Sharpening adds the difference from a blur of nine pixels.
    let own = light(1, 1) * (1.0 / 255.0);
    let row = |y: usize| light(y, 0) + light(y, 1) * 2.0 + light(y, 2);
    let blurred = (row(0) + row(1) * 2.0 + row(2)) * (1.0 / (16.0 * 255.0));
    let sharp = &own + (&own - blurred) * slider(SHARPNESS);
    // Each channel around a middle grey, with the same spread.
    let statistic = |k: usize| statistics.slice(0, k..k + 1).squeeze(0);
    let (mean, scale) = (statistic(0), statistic(1));
    let normal = (&sharp - mean) * scale + 0.45;
    let even = &sharp + (normal - &sharp) * slider(NORMALIZED);
    // Darker edges, by the square of the distance from the middle.
    let place = |axis: usize| {
        let at = Expr::<i32>::iota(shape, axis as isize).cast::<f32>();
        (at + 0.5) * (2.0 / shape[axis] as f32) - 1.0
    };
    let (y, x) = (place(1), place(2));
    let edge = 1.0 - (&x * &x + &y * &y) * 0.5 * slider(VIGNETTE);
    let exposed = even * sliders.slice(0, BALANCE..).reshape([3, 1, 1]) * slider(EXPOSURE) * &edge;
    // Colours by brightness.
    let channel = |k: isize| inner(framed, size, 1, 1).slice(0, k..k + 1).broadcast_to(shape).cast::<f32>();
    let grey = channel(0) * 0.299 + channel(1) * 0.587 + channel(2) * 0.114;
    let index = (grey * slider(EXPOSURE) * edge).clamp(0.0, 255.0).round().cast::<i32>();
    let colour = map.at([&index, &Expr::iota(shape, 0)]);
    let mixed = &exposed + (colour - &exposed) * slider(COLOURS);
    (mixed.clamp(0.0, 1.0) * 255.0).round().cast::<u8>()
}

/// Channels one after the other, without opacity, with a border that repeats the edge.
fn framed(rgba: &[u8], [height, width]: [usize; 2]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(3 * pitch(width) * (height + 2));
    for channel in 0..3 {
        for y in 0..height + 2 {
            let row = y.clamp(1, height) - 1;
            let at = |x: usize| rgba[(row * width + x) * 4 + channel];
            bytes.push(at(0));
            bytes.extend((0..width).map(at));
            bytes.extend((width + 1..pitch(width)).map(|_| at(width - 1)));
        }
    }
    bytes
}

#[wasm_bindgen]
impl Picture {
    /// Sets all sliders: exposure as a factor; then vignette, map of colours, normalization and sharpness, from 0 to 1
    /// (sharpness may exceed 1); then the white balance, a factor for each channel.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn set(&self, sliders: &[f32]) -> std::result::Result<(), JsValue> {
        self.sliders.write(sliders).map_err(js::thrown)
    }

    /// Sets the map: 256 colours of three numbers from 0 to 1.
    ///
    /// # Errors
    /// When there are not 256, or the device is lost.
    pub fn colours(&self, map: &[f32]) -> std::result::Result<(), JsValue> {
        self.map.write(map).map_err(js::thrown)
    }

    /// Replaces the photograph by one of the same size, as from a camera.
    ///
    /// # Errors
    /// When it has another size, or the device is lost.
    pub fn photo(&self, rgba: &[u8]) -> std::result::Result<(), JsValue> {
        if rgba.len() != self.size[0] * self.size[1] * 4 {
            return Err(JsValue::from("the photograph has another size"));
        }
        let set = self.framed.write(&framed(rgba, self.size)).and_then(|()| self.measure());
        set.map_err(js::thrown)
    }

    /// Computes the picture and shows it on the canvas. Nothing waits for the device, and nothing is read back.
    ///
    /// # Errors
    /// When the device is lost, or the picture has no canvas.
    pub fn frame(&self) -> std::result::Result<(), JsValue> {
        let Some(shown) = &self.shown else { return Err(JsValue::from("the picture has no canvas")) };
        let lent = self.developed.eval().and_then(|picture| picture.buffer()).map_err(js::thrown)?;
        shown.draw(&lent)
    }

    /// The picture on the host: bytes of red, green, blue and opacity.
    ///
    /// # Errors
    /// When the device is lost.
    pub async fn pixels(&self) -> std::result::Result<Vec<u8>, JsValue> {
        let bytes = self.developed.to_vec_async().await.map_err(js::thrown)?;
        let count = bytes.len() / 3;
        Ok((0..count).flat_map(|i| [bytes[i], bytes[count + i], bytes[2 * count + i], 255]).collect())
    }

    /// The kernel of a frame, its explanation, and the least bytes that a frame moves, including the drawn bytes.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn told(&self) -> std::result::Result<JsValue, JsValue> {
        let explain = AnyExpr::from(&self.developed).explain(&self.device).map_err(js::thrown)?;
        let text = explain.to_string();
        let moved = text
            .lines()
            .filter_map(|line| line.strip_prefix("moves: ")?.split(' ').next()?.parse::<f64>().ok());
        let pixels = (self.size[0] * self.size[1]) as f64;
        Ok(js::object([
            ("moved", moved.sum::<f64>().into()),
            ("shown", (pixels * if self.shown.is_some() { 7.0 } else { 0.0 }).into()),
            ("kernels", (text.matches("runs: 1 kernel").count() as f64).into()),
            ("stages", (text.matches("runs: ").count() as f64).into()),
            ("text", text.into()),
            ("wgsl", js::text_or_null(explain.wgsl())),
        ]))
    }
}

/// A canvas, and the pipeline that draws a buffer's bytes onto it.
struct Shown {
    device: wgpu::Device,
    queue: wgpu::Queue,
    surface: wgpu::Surface<'static>,
    pipeline: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    size: wgpu::Buffer,
    /// Bind groups of the buffers that were shown last: pictures reuse a few buffers.
    groups: RefCell<VecDeque<(wgpu::Buffer, wgpu::BindGroup)>>,
}

/// Bind groups that are kept.
const GROUPS: usize = 4;

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

impl Shown {
    fn new(
        device: &Device,
        canvas: HtmlCanvasElement,
        width: u32,
        height: u32,
    ) -> std::result::Result<Shown, JsValue> {
        let Some((device, queue)) = device.wgpu() else {
            return Err(JsValue::from("the CPU path shows nothing"));
        };
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let surface = instance
            .create_surface(wgpu::SurfaceTarget::Canvas(canvas))
            .map_err(|error| JsValue::from(error.to_string()))?;
        surface.configure(
            &device,
            &wgpu::SurfaceConfiguration {
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                format: FORMAT,
                width,
                height,
                present_mode: wgpu::PresentMode::Fifo,
                desired_maximum_frame_latency: 2,
                alpha_mode: wgpu::CompositeAlphaMode::Opaque,
                color_space: wgpu::SurfaceColorSpace::Auto,
                view_formats: Vec::new(),
            },
        );
        let size = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("size of the picture"),
            size: 16,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let words = [width.to_le_bytes(), height.to_le_bytes(), [0; 4], [0; 4]].concat();
        queue.write_buffer(&size, 0, &words);
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("picture"),
            source: wgpu::ShaderSource::Wgsl(include_str!("picture.wgsl").into()),
        });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("picture"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("corners"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("pixel"),
                compilation_options: Default::default(),
                targets: &[Some(FORMAT.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let layout = pipeline.get_bind_group_layout(0);
        Ok(Shown { device, queue, surface, pipeline, layout, size, groups: RefCell::default() })
    }

    /// The bind group of a picture's buffer, all of it.
    fn group(&self, picture: &LentBuffer) -> wgpu::BindGroup {
        let mut groups = self.groups.borrow_mut();
        if let Some((_, group)) = groups.iter().find(|(buffer, _)| buffer == picture.buffer()) {
            return group.clone();
        }
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.layout,
            entries: &[
                entry(0, picture.buffer().as_entire_binding()),
                entry(1, self.size.as_entire_binding()),
            ],
        });
        groups.push_front((picture.buffer().clone(), group.clone()));
        groups.truncate(GROUPS);
        group
    }

    /// Draws bytes of a tensor of three channels, height and width.
    fn draw(&self, picture: &LentBuffer) -> std::result::Result<(), JsValue> {
        use wgpu::CurrentSurfaceTexture::{Suboptimal, Success};
        let (Success(frame) | Suboptimal(frame)) = self.surface.get_current_texture() else {
            return Err(JsValue::from("the canvas gives no texture"));
        };
        let group = self.group(picture);
        let view = frame.texture.create_view(&Default::default());
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
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
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
        drop(pass);
        self.queue.submit([encoder.finish()]);
        self.queue.present(frame);
        Ok(())
    }
}
