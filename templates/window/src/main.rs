//! A window whose own wgpu device computes each frame. No shader is written, and nothing passes through the host.

use std::{error::Error, sync::Arc};

use winit::{application::ApplicationHandler, event::WindowEvent, event_loop::*, window::*};
use zerostride::{Device, Expr, wgpu};

/// Four channels of every pixel at a time: waves around the middle. Change this.
fn picture(height: usize, width: usize, time: f32) -> Expr<f32> {
    let along = |axis, length| Expr::iota([height, width, 1], axis).cast::<f32>() / length as f32 - 0.5;
    let (y, x) = (along(0, height), along(1, width));
    let phase = Expr::iota([4], 0).cast::<f32>();
    ((&x * &x + &y * &y).sqrt() * 40.0 - time + phase).sin() * 0.5 + 0.5
}

struct Shown {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    gpu: wgpu::Device,
    queue: wgpu::Queue,
    device: Device,
    time: f32,
}

impl Shown {
    fn new(events: &ActiveEventLoop) -> Result<Shown, Box<dyn Error>> {
        let window = Arc::new(events.create_window(Window::default_attributes())?);
        let display = Box::new(events.owned_display_handle());
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle(display));
        let surface = instance.create_surface(window.clone())?;
        let compatible_surface = Some(&surface);
        let options = wgpu::RequestAdapterOptions { compatible_surface, ..Default::default() };
        let adapter = pollster::block_on(instance.request_adapter(&options))?;
        let (required_features, required_limits) = Device::wants(&adapter);
        let wanted = wgpu::DeviceDescriptor { required_features, required_limits, ..Default::default() };
        let (gpu, queue) = pollster::block_on(adapter.request_device(&wanted))?;
        let mut config = surface.get_default_config(&adapter, 1, 1).ok_or("the window has no format")?;
        config.usage |= wgpu::TextureUsages::COPY_DST;
        let device = Device::from_wgpu(&gpu, &queue)?;
        let mut shown = Shown { window, surface, config, gpu, queue, device, time: 0.0 };
        shown.resize();
        Ok(shown)
    }

    fn resize(&mut self) {
        let size = self.window.inner_size();
        (self.config.width, self.config.height) = (size.width.max(1), size.height.max(1));
        self.surface.configure(&self.gpu, &self.config);
        self.window.request_redraw();
    }

    fn draw(&mut self) -> Result<(), Box<dyn Error>> {
        let wgpu::CurrentSurfaceTexture::Success(frame) = self.surface.get_current_texture() else {
            self.resize();
            return Ok(());
        };
        self.time += 0.05;
        let pixels = picture(self.config.height as usize, self.config.width as usize, self.time) * 255.0;
        let mut encoder = self.gpu.create_command_encoder(&Default::default());
        pixels.cast::<u8>().record_to_texture_on(&self.device, &mut encoder, frame.texture.as_image_copy())?;
        self.queue.submit([encoder.finish()]);
        self.queue.present(frame);
        self.window.request_redraw();
        Ok(())
    }
}

#[derive(Default)]
struct Program(Option<Shown>);

impl ApplicationHandler for Program {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        self.0 = Some(Shown::new(events).expect("a window with wgpu"));
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.0 else { return };
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(_) => shown.resize(),
            WindowEvent::RedrawRequested => shown.draw().expect("a frame"),
            _ => {}
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    Ok(EventLoop::new()?.run_app(&mut Program::default())?)
}
