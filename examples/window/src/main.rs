//! The field of `examples/render` in a window, computed and drawn each frame by the window's own device.
//!
//! ```text
//! cargo run --release --manifest-path examples/window/Cargo.toml [-- --through texture]
//! ```

#[path = "../../render/app.rs"]
#[allow(dead_code)] // what saves a picture
mod app;
#[path = "../../render/draw.rs"]
mod draw;
#[path = "../../render/field.rs"]
#[allow(dead_code)] // the kernel by hand
mod field;

use std::sync::Arc;
use std::time::Instant;

use app::{App, Failure};
use clap::Parser;
use draw::Draw;
use field::{Field, Ours};
use winit::application::ApplicationHandler;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::window::{Window, WindowId};
use zerostride::wgpu;

/// How the field reaches the program's shader.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub(crate) enum Through {
    Buffer,
    Texture,
}

#[derive(Parser)]
struct Options {
    /// How the field reaches the window's shader
    #[arg(long, default_value = "buffer")]
    through: Through,
}

/// The state that needs a window.
struct Shown {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    app: App,
    format: wgpu::TextureFormat,
    draw: Draw,
    field: Ours,
}

impl Shown {
    fn new(events: &ActiveEventLoop, through: Through) -> Result<Shown, Failure> {
        let window = Arc::new(events.create_window(Window::default_attributes().with_title("zerostride"))?);
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle(Box::new(events.owned_display_handle()));
        let instance = wgpu::Instance::new(descriptor);
        let surface = instance.create_surface(window.clone())?;
        let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions {
            compatible_surface: Some(&surface),
            ..Default::default()
        }))?;
        let app = App::with(&adapter)?;
        let capabilities = surface.get_capabilities(&adapter);
        let format = *capabilities.formats.first().ok_or("the surface has no format")?;
        let draw = Draw::new(&app, size(&window), through, format);
        let field = Ours::new(&app)?;
        let shown = Shown { window, surface, app, format, draw, field };
        shown.configure();
        Ok(shown)
    }

    fn configure(&self) {
        let [height, width] = size(&self.window);
        self.surface.configure(
            &self.app.device,
            &wgpu::SurfaceConfiguration {
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                format: self.format,
                width,
                height,
                present_mode: wgpu::PresentMode::AutoVsync,
                desired_maximum_frame_latency: 2,
                alpha_mode: wgpu::CompositeAlphaMode::Auto,
                view_formats: Vec::new(),
                color_space: Default::default(),
            },
        );
    }

    fn frame(&self, time: f32) -> Result<(), Failure> {
        use wgpu::CurrentSurfaceTexture as Current;
        let frame = match self.surface.get_current_texture() {
            Current::Success(frame) | Current::Suboptimal(frame) => frame,
            Current::Outdated | Current::Lost => {
                self.configure();
                return Ok(());
            }
            _ => return Ok(()),
        };
        let mut encoder = self.app.device.create_command_encoder(&Default::default());
        self.field.record(&mut encoder, &self.draw, time)?;
        self.draw.record(&mut encoder, &frame.texture.create_view(&Default::default()));
        self.app.queue.submit([encoder.finish()]);
        self.window.pre_present_notify();
        self.app.queue.present(frame);
        Ok(())
    }
}

fn size(window: &Window) -> [u32; 2] {
    let size = window.inner_size();
    [size.height.max(1), size.width.max(1)]
}

struct Program {
    through: Through,
    start: Instant,
    shown: Option<Shown>,
    failure: Option<Failure>,
}

impl Program {
    /// Ends with an error.
    fn try_to(&mut self, events: &ActiveEventLoop, done: Result<(), Failure>) {
        if let Err(error) = done {
            self.failure = Some(error);
            events.exit();
        }
    }
}

impl ApplicationHandler for Program {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        let shown = Shown::new(events, self.through).map(|shown| self.shown = Some(shown));
        self.try_to(events, shown);
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.shown else { return };
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(_) => {
                shown.configure();
                shown.draw = Draw::new(&shown.app, size(&shown.window), self.through, shown.format);
            }
            WindowEvent::RedrawRequested => {
                let done = shown.frame(self.start.elapsed().as_secs_f32());
                shown.window.request_redraw();
                self.try_to(events, done);
            }
            _ => {}
        }
    }
}

fn main() -> Result<(), Failure> {
    let Options { through } = Options::parse();
    let mut program = Program { through, start: Instant::now(), shown: None, failure: None };
    EventLoop::new()?.run_app(&mut program)?;
    program.failure.map_or(Ok(()), Err)
}
