//! A program's own wgpu: its device, its canvas and how it saves a picture. From zerostride it takes only the features to
//! request.

use zerostride::{Device, wgpu};

pub(crate) type Failure = Box<dyn std::error::Error>;

pub(crate) struct App {
    pub(crate) name: String,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
}

impl App {
    /// Opens the first adapter of a name, or wgpu's choice.
    pub(crate) fn open(name: &str) -> Result<App, Failure> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let all = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        let fits = |adapter: &wgpu::Adapter| {
            let info = adapter.get_info();
            let full = format!("{:?}:{}", info.backend, info.name).to_lowercase();
            name.to_lowercase().split(':').all(|part| full.contains(part))
        };
        let adapter = all.into_iter().find(fits).ok_or_else(|| format!("no adapter is {name}"))?;
        App::with(&adapter)
    }

    /// Opens an adapter with what zerostride can use.
    pub(crate) fn with(adapter: &wgpu::Adapter) -> Result<App, Failure> {
        let (required_features, required_limits) = Device::wants(adapter);
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_features,
            required_limits,
            ..Default::default()
        }))?;
        Ok(App { name: adapter.get_info().name, device, queue })
    }

    /// A texture to draw to, and to save.
    pub(crate) fn canvas(&self, [height, width]: [u32; 2]) -> wgpu::Texture {
        self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("canvas"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        })
    }

    /// The pixels of a canvas, once.
    pub(crate) fn pixels(&self, canvas: &wgpu::Texture) -> Result<Vec<u8>, Failure> {
        let device = Device::from_wgpu(&self.device, &self.queue)?;
        Ok(zerostride::Tensor::<u8>::from_texture(&device, canvas.as_image_copy())?.to_vec()?)
    }
}
