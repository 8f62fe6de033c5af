//! The caller's textures, filled and read.

use std::panic::Location;
use std::sync::Arc;

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, ErrorKind, Line, Result, called};
use crate::expr::{AnyExpr, Expr};
use crate::gpu::{self, Area, Gpu};
use crate::ir::{NodeKind, Source, Storage};
use crate::layout::Layout;
use crate::tensor::{AnyTensor, Tensor};

impl AnyExpr {
    /// Copies elements to a texture ([`Expr::copy_to_texture`]).
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, _)) = device.wgpu() else { return Ok(()) };
    /// use zerostride::{AnyTensor, DType, wgpu};
    ///
    /// # let texture = gpu.create_texture(&wgpu::TextureDescriptor {
    /// #     label: None,
    /// #     size: wgpu::Extent3d { width: 3, height: 2, depth_or_array_layers: 1 },
    /// #     mip_level_count: 1,
    /// #     sample_count: 1,
    /// #     dimension: wgpu::TextureDimension::D2,
    /// #     format: wgpu::TextureFormat::R32Float,
    /// #     usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
    /// #     view_formats: &[],
    /// # });
    /// // A texture of R32Float, three texels wide and two high.
    /// let x = AnyTensor::from(device.upload(&[1.0_f32, 2.0, 3.0], [1, 3])?);
    /// x.broadcast_to([2, 3]).copy_to_texture(texture.as_image_copy())?;
    /// let back = AnyTensor::from_texture(&device, texture.as_image_copy())?;
    /// assert_eq!(back.dtype(), DType::F32);
    /// assert_eq!(back.to_vec::<f32>()?, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn copy_to_texture(&self, texture: wgpu::TexelCopyTextureInfo<'_>) -> Result<()> {
        let at = Location::caller();
        to_texture(self, &self.device(at)?, None, texture, at)
    }

    /// The same on a device, for expressions without tensors.
    ///
    /// # Errors
    /// As [`copy_to_texture`](Self::copy_to_texture).
    ///
    /// ```
    /// use zerostride::{AnyExpr, AnyTensor, wgpu};
    ///
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// # let texture = gpu.create_texture(&wgpu::TextureDescriptor {
    /// #     label: None,
    /// #     size: wgpu::Extent3d { width: 3, height: 2, depth_or_array_layers: 1 },
    /// #     mip_level_count: 1,
    /// #     sample_count: 1,
    /// #     dimension: wgpu::TextureDimension::D2,
    /// #     format: wgpu::TextureFormat::R32Sint,
    /// #     usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
    /// #     view_formats: &[],
    /// # });
    /// // A texture of R32Sint, three texels wide and two high.
    /// AnyExpr::coordinate([2, 3], 1).copy_to_texture_on(&device, texture.as_image_copy())?;
    /// let back = AnyTensor::from_texture(&device, texture.as_image_copy())?;
    /// assert_eq!(back.to_vec::<i32>()?, [0, 1, 2, 0, 1, 2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn copy_to_texture_on(&self, device: &Device, texture: wgpu::TexelCopyTextureInfo<'_>) -> Result<()> {
        to_texture(self, device, None, texture, Location::caller())
    }

    /// Records such a copy into an encoder of the caller's ([`Expr::record_to_texture`]).
    ///
    /// # Errors
    /// As [`copy_to_texture`](Self::copy_to_texture); nothing is encoded then.
    ///
    /// ```
    /// use zerostride::{AnyExpr, AnyTensor, wgpu};
    ///
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// # let texture = gpu.create_texture(&wgpu::TextureDescriptor {
    /// #     label: None,
    /// #     size: wgpu::Extent3d { width: 3, height: 2, depth_or_array_layers: 1 },
    /// #     mip_level_count: 1,
    /// #     sample_count: 1,
    /// #     dimension: wgpu::TextureDimension::D2,
    /// #     format: wgpu::TextureFormat::R32Sint,
    /// #     usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
    /// #     view_formats: &[],
    /// # });
    /// // A texture of R32Sint, three texels wide and two high.
    /// let mut encoder = gpu.create_command_encoder(&Default::default());
    /// let x = AnyExpr::coordinate([2, 3], 1).eval_on(&device)?;
    /// x.record_to_texture(&mut encoder, texture.as_image_copy())?;
    /// queue.submit([encoder.finish()]);
    /// let back = AnyTensor::from_texture(&device, texture.as_image_copy())?;
    /// assert_eq!(back.to_vec::<i32>()?, [0, 1, 2, 0, 1, 2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn record_to_texture(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        texture: wgpu::TexelCopyTextureInfo<'_>,
    ) -> Result<()> {
        let at = Location::caller();
        to_texture(self, &self.device(at)?, Some(encoder), texture, at)
    }

    /// The same on a device, for expressions without tensors.
    ///
    /// # Errors
    /// As [`copy_to_texture`](Self::copy_to_texture); nothing is encoded then.
    ///
    /// ```
    /// use zerostride::{AnyExpr, AnyTensor, wgpu};
    ///
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// # let texture = gpu.create_texture(&wgpu::TextureDescriptor {
    /// #     label: None,
    /// #     size: wgpu::Extent3d { width: 3, height: 2, depth_or_array_layers: 1 },
    /// #     mip_level_count: 1,
    /// #     sample_count: 1,
    /// #     dimension: wgpu::TextureDimension::D2,
    /// #     format: wgpu::TextureFormat::R32Sint,
    /// #     usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
    /// #     view_formats: &[],
    /// # });
    /// // A texture of R32Sint, three texels wide and two high.
    /// let mut encoder = gpu.create_command_encoder(&Default::default());
    /// AnyExpr::coordinate([2, 3], 1).record_to_texture_on(&device, &mut encoder, texture.as_image_copy())?;
    /// queue.submit([encoder.finish()]);
    /// let back = AnyTensor::from_texture(&device, texture.as_image_copy())?;
    /// assert_eq!(back.to_vec::<i32>()?, [0, 1, 2, 0, 1, 2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn record_to_texture_on(
        &self,
        device: &Device,
        encoder: &mut wgpu::CommandEncoder,
        texture: wgpu::TexelCopyTextureInfo<'_>,
    ) -> Result<()> {
        to_texture(self, device, Some(encoder), texture, Location::caller())
    }

    /// The device of its tensors.
    fn device(&self, at: Line) -> Result<Device> {
        match self.backends()?.first() {
            Some(backend) => Ok(Device::from_backend(backend.clone())),
            None => {
                let text = "an expression without tensors has no device: use copy_to_texture_on and name one";
                Err(Error::new(ErrorKind::Device, text).at(at))
            }
        }
    }
}

/// Copies elements to a texture, at once or in a caller's encoder.
fn to_texture(
    expr: &AnyExpr,
    device: &Device,
    encoder: Option<&mut wgpu::CommandEncoder>,
    texture: wgpu::TexelCopyTextureInfo<'_>,
    at: Line,
) -> Result<()> {
    called(at, || {
        device.agrees(expr)?;
        let gpu = gpu::of(device.backend())?;
        let Some(area) = area(expr, texture, at)? else { return Ok(()) };
        match encoder {
            None => {
                let (storage, layout) = rows(expr, area, &gpu, at)?;
                gpu.copy_to(area, &storage, &layout, None)
            }
            Some(encoder) => {
                let (storage, layout) = gpu.record_into(encoder, |gpu| rows(expr, area, gpu, at))?;
                gpu.copy_to(area, &storage, &layout, Some(encoder))
            }
        }
    })
}

/// The area of a texture that an expression fills, if it has elements.
fn area<'a>(expr: &AnyExpr, texture: wgpu::TexelCopyTextureInfo<'a>, at: Line) -> Result<Option<Area<'a>>> {
    let node = expr.node()?;
    let area = Area::of(texture, &node.shape).map_err(|e| e.at(at))?;
    if area.dtype != node.dtype {
        let text = format!(
            "cannot copy {} to a texture of {:?}, whose channels are {}: cast to that",
            node.dtype,
            texture.texture.format(),
            area.dtype
        );
        return Err(Error::new(ErrorKind::Type, text).at(at));
    }
    Ok(Some(area).filter(|area| !area.is_empty()))
}

/// The elements in rows with the alignment of textures: in place, or computed.
fn rows(expr: &AnyExpr, area: Area<'_>, gpu: &Arc<Gpu>, at: Line) -> Result<(Storage, Layout)> {
    let device = Device::from_backend(gpu.clone());
    if let NodeKind::Leaf { source: Source::Tensor(storage), layout } = &expr.node()?.kind
        && gpu.fits(area, storage, layout)?
    {
        return Ok((storage.clone(), layout.clone()));
    }
    let (layout, bytes) = area.padded(&expr.node()?.shape)?;
    let storage = gpu.rows_of(bytes, area)?;
    AnyTensor::new(device.clone(), storage.clone(), area.dtype, layout.clone())
        .assign_by(&device, expr, at)?;
    Ok((storage, layout))
}

impl<T: Element> Expr<T> {
    /// Computes the elements into a caller's texture: `[height, width, channels]`, `[height, width]` for one channel,
    /// `[layers, height, width, channels]` for several layers or a depth, from the given origin on. A kernel writes
    /// rows at multiples of 256 bytes, as wgpu copies them; a tensor with such rows is copied directly. The call
    /// submits recorded work and then the copy, so the caller's next submission sees the texture filled. Nothing waits
    /// for the device.
    ///
    /// | channels of the format | element type |
    /// |---|---|
    /// | 8 bits, `Unorm`, `Uint`; sRGB too, as it is stored | `u8` |
    /// | 8 bits, `Snorm`, `Sint` | `i8` |
    /// | 16 bits, `Unorm`, `Uint`; `Snorm`, `Sint`; `Float` | `u16`; `i16`; `f16` |
    /// | 32 bits, `Uint`; `Sint`; `Float` | `u32`; `i32`; `f32` |
    ///
    /// Channels are in the format's order: blue first for `Bgra8Unorm`.
    ///
    /// # Errors
    /// As [`eval`](Self::eval). When the format has another element type or number of channels, when the elements do
    /// not fit the texture, or when the texture lacks `COPY_DST`.
    ///
    /// ```
    /// use zerostride::wgpu;
    ///
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// let texture = gpu.create_texture(&wgpu::TextureDescriptor {
    ///     label: None,
    ///     size: wgpu::Extent3d { width: 100, height: 50, depth_or_array_layers: 1 },
    ///     mip_level_count: 1,
    ///     sample_count: 1,
    ///     dimension: wgpu::TextureDimension::D2,
    ///     format: wgpu::TextureFormat::Rgba8Unorm,
    ///     usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
    ///     view_formats: &[],
    /// });
    /// let colour = device.upload(&[1.0_f32, 0.5, 0.0, 1.0], [4])?;
    /// let pixels = (colour.broadcast_to([50, 100, 4]) * 255.0).round().cast::<u8>();
    /// pixels.copy_to_texture(texture.as_image_copy())?;
    ///
    /// let back = zerostride::Tensor::<u8>::from_texture(&device, texture.as_image_copy())?;
    /// assert_eq!(back.shape(), &[50, 100, 4]);
    /// assert_eq!(back.to_vec()?[..4], [255, 128, 0, 255]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn copy_to_texture(&self, texture: wgpu::TexelCopyTextureInfo<'_>) -> Result<()> {
        self.untyped().copy_to_texture(texture)
    }

    /// [`copy_to_texture`](Self::copy_to_texture) on a device, for expressions without tensors.
    ///
    /// # Errors
    /// As [`copy_to_texture`](Self::copy_to_texture); when there are tensors, on another device.
    ///
    /// ```
    /// use zerostride::{Expr, Tensor, wgpu};
    ///
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// # let texture = gpu.create_texture(&wgpu::TextureDescriptor {
    /// #     label: None,
    /// #     size: wgpu::Extent3d { width: 3, height: 2, depth_or_array_layers: 1 },
    /// #     mip_level_count: 1,
    /// #     sample_count: 1,
    /// #     dimension: wgpu::TextureDimension::D2,
    /// #     format: wgpu::TextureFormat::R32Sint,
    /// #     usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
    /// #     view_formats: &[],
    /// # });
    /// // A texture of R32Sint, three texels wide and two high.
    /// Expr::<i32>::coordinate([2, 3], 1).copy_to_texture_on(&device, texture.as_image_copy())?;
    /// let back = Tensor::<i32>::from_texture(&device, texture.as_image_copy())?;
    /// assert_eq!(back.to_vec()?, [0, 1, 2, 0, 1, 2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn copy_to_texture_on(&self, device: &Device, texture: wgpu::TexelCopyTextureInfo<'_>) -> Result<()> {
        self.untyped().copy_to_texture_on(device, texture)
    }

    /// Records [`copy_to_texture`](Self::copy_to_texture) into a caller's encoder, as
    /// [`record_into`](Self::record_into) records an assignment.
    ///
    /// # Errors
    /// As [`copy_to_texture`](Self::copy_to_texture); nothing is encoded then.
    ///
    /// ```
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// # use zerostride::wgpu;
    /// # let texture = gpu.create_texture(&wgpu::TextureDescriptor {
    /// #     label: None,
    /// #     size: wgpu::Extent3d { width: 3, height: 1, depth_or_array_layers: 1 },
    /// #     mip_level_count: 1,
    /// #     sample_count: 1,
    /// #     dimension: wgpu::TextureDimension::D2,
    /// #     format: wgpu::TextureFormat::R32Float,
    /// #     usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
    /// #     view_formats: &[],
    /// # });
    /// let x = device.upload(&[1.0_f32, 2.0, 3.0], [1, 3])?;
    /// let mut encoder = gpu.create_command_encoder(&Default::default());
    /// (&x + 1.0).record_to_texture(&mut encoder, texture.as_image_copy())?;
    /// queue.submit([encoder.finish()]);
    /// # let back = zerostride::Tensor::<f32>::from_texture(&device, texture.as_image_copy())?;
    /// # assert_eq!(back.to_vec()?, [2.0, 3.0, 4.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn record_to_texture(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        texture: wgpu::TexelCopyTextureInfo<'_>,
    ) -> Result<()> {
        self.untyped().record_to_texture(encoder, texture)
    }

    /// [`record_to_texture`](Self::record_to_texture) on a device, for expressions without tensors.
    ///
    /// # Errors
    /// As [`record_to_texture`](Self::record_to_texture); when there are tensors, on another device.
    ///
    /// ```
    /// use zerostride::{Expr, Tensor, wgpu};
    ///
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// # let texture = gpu.create_texture(&wgpu::TextureDescriptor {
    /// #     label: None,
    /// #     size: wgpu::Extent3d { width: 3, height: 2, depth_or_array_layers: 1 },
    /// #     mip_level_count: 1,
    /// #     sample_count: 1,
    /// #     dimension: wgpu::TextureDimension::D2,
    /// #     format: wgpu::TextureFormat::R32Sint,
    /// #     usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
    /// #     view_formats: &[],
    /// # });
    /// // A texture of R32Sint, three texels wide and two high.
    /// let mut encoder = gpu.create_command_encoder(&Default::default());
    /// Expr::<i32>::coordinate([2, 3], 1).record_to_texture_on(&device, &mut encoder, texture.as_image_copy())?;
    /// queue.submit([encoder.finish()]);
    /// let back = Tensor::<i32>::from_texture(&device, texture.as_image_copy())?;
    /// assert_eq!(back.to_vec()?, [0, 1, 2, 0, 1, 2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn record_to_texture_on(
        &self,
        device: &Device,
        encoder: &mut wgpu::CommandEncoder,
        texture: wgpu::TexelCopyTextureInfo<'_>,
    ) -> Result<()> {
        self.untyped().record_to_texture_on(device, encoder, texture)
    }
}

impl AnyTensor {
    /// A new tensor of a texture's texels ([`Tensor::from_texture`]), with the type of its channels.
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use zerostride::{AnyTensor, DType, wgpu};
    ///
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// # let texture = gpu.create_texture(&wgpu::TextureDescriptor {
    /// #     label: None,
    /// #     size: wgpu::Extent3d { width: 3, height: 2, depth_or_array_layers: 1 },
    /// #     mip_level_count: 1,
    /// #     sample_count: 1,
    /// #     dimension: wgpu::TextureDimension::D2,
    /// #     format: wgpu::TextureFormat::R32Sint,
    /// #     usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
    /// #     view_formats: &[],
    /// # });
    /// // A texture of R32Sint, three texels wide and two high.
    /// let x = AnyTensor::from_texture(&device, texture.as_image_copy())?;
    /// assert_eq!((x.dtype(), x.shape()), (DType::I32, &[2, 3, 1].into()));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn from_texture(device: &Device, texture: wgpu::TexelCopyTextureInfo<'_>) -> Result<AnyTensor> {
        called(Location::caller(), || {
            let gpu = gpu::of(device.backend())?;
            let area = Area::rest(texture, wgpu::TextureUsages::COPY_SRC)?;
            let (storage, layout) = gpu.copy_from(area)?;
            Ok(AnyTensor::new(device.clone(), storage, area.dtype, layout))
        })
    }
}

impl<T: Element> Tensor<T> {
    /// A new tensor `[height, width, channels]` of a texture's texels, from the given origin on; for several layers or
    /// a depth, `[layers, height, width, channels]`. The element type is that of the format's channels
    /// ([`copy_to_texture`](Expr::copy_to_texture) has the table). This call submits the copy, which sees earlier
    /// submissions, and does not wait for it. Rows begin at multiples of 256 bytes, as the tensor's strides show.
    ///
    /// # Errors
    /// When the format has another element type, or the texture lacks `COPY_SRC`; when there is no memory.
    ///
    /// ```
    /// use zerostride::{Tensor, wgpu};
    ///
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// # let texture = gpu.create_texture(&wgpu::TextureDescriptor {
    /// #     label: None,
    /// #     size: wgpu::Extent3d { width: 5, height: 2, depth_or_array_layers: 1 },
    /// #     mip_level_count: 1,
    /// #     sample_count: 1,
    /// #     dimension: wgpu::TextureDimension::D2,
    /// #     format: wgpu::TextureFormat::Rg16Float,
    /// #     usage: wgpu::TextureUsages::COPY_SRC,
    /// #     view_formats: &[],
    /// # });
    /// // A texture of Rg16Float, five texels wide and two high.
    /// let x = Tensor::<zerostride::f16>::from_texture(&device, texture.as_image_copy())?;
    /// assert_eq!(x.shape(), &[2, 5, 2]);
    /// assert_eq!(x.layout().strides(), [128, 2, 1]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn from_texture(device: &Device, texture: wgpu::TexelCopyTextureInfo<'_>) -> Result<Tensor<T>> {
        AnyTensor::from_texture(device, texture)?.typed()
    }
}
