//! The caller's textures, filled and read.

use std::panic::Location;
use std::sync::Arc;

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, bail, called};
use crate::expr::{AnyExpr, Expr};
use crate::gpu::{self, Area, Gpu};
use crate::ir::{NodeKind, Source, Storage};
use crate::layout::Layout;
use crate::tensor::{AnyTensor, Tensor};

/// The texture of the examples.
macro_rules! texture {
    () => {
        r"# let device = zerostride::Device::all().remove(0).open()?;
# let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
# let texture = gpu.create_texture(&wgpu::TextureDescriptor {
#     label: None,
#     size: wgpu::Extent3d { width: 3, height: 2, depth_or_array_layers: 1 },
#     mip_level_count: 1,
#     sample_count: 1,
#     dimension: wgpu::TextureDimension::D2,
#     format: wgpu::TextureFormat::R32Sint,
#     usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
#     view_formats: &[],
# });
// A texture of R32Sint, three texels wide and two high."
    };
}

/// Methods of both faces of an expression, with their call in the example.
macro_rules! filling {
    ($($(#[$doc:meta])+ $name:ident($($arg:ident: $t:ty),*), $($call:literal)+, |$x:ident| $body:expr;)*) => {
        /// The caller's textures.
        impl AnyExpr {$(
            $(#[$doc])+
            ///
            /// ```
            /// use zerostride::{AnyExpr, AnyTensor, wgpu};
            ///
            #[doc = texture!()]
            /// let x = AnyExpr::iota([2, 3], 1).eval_on(&device)?;
            $(#[doc = $call])+
            /// let back = AnyTensor::from_texture(&device, texture.as_image_copy())?;
            /// assert_eq!(back.to_vec::<i32>()?, [0, 1, 2, 0, 1, 2]);
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name(&self, $($arg: $t),*) -> Result<()> {
                let $x = self;
                called(Location::caller(), || $body)
            }
        )*}

        /// The caller's textures.
        impl<T: Element> Expr<T> {$(
            $(#[$doc])+
            ///
            /// ```
            /// use zerostride::{Expr, Tensor, wgpu};
            ///
            #[doc = texture!()]
            /// let x = Expr::iota([2, 3], 1).eval_on(&device)?;
            $(#[doc = $call])+
            /// let back = Tensor::<i32>::from_texture(&device, texture.as_image_copy())?;
            /// assert_eq!(back.to_vec()?, [0, 1, 2, 0, 1, 2]);
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name(&self, $($arg: $t),*) -> Result<()> {
                self.untyped().$name($($arg),*)
            }
        )*}
    };
}
filling! {
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
    copy_to_texture(texture: wgpu::TexelCopyTextureInfo<'_>),
        "x.copy_to_texture(texture.as_image_copy())?;", |x| to_texture(x, &x.device()?, None, texture);
    /// [`copy_to_texture`](Self::copy_to_texture) on a device, for expressions without tensors.
    ///
    /// # Errors
    /// As [`copy_to_texture`](Self::copy_to_texture); when there are tensors, on another device.
    copy_to_texture_on(device: &Device, texture: wgpu::TexelCopyTextureInfo<'_>),
        "x.copy_to_texture_on(&device, texture.as_image_copy())?;", |x| to_texture(x, device, None, texture);
    /// Records [`copy_to_texture`](Self::copy_to_texture) into a caller's encoder, as
    /// [`record_into`](Self::record_into) records an assignment.
    ///
    /// # Errors
    /// As [`copy_to_texture`](Self::copy_to_texture); nothing is encoded then.
    record_to_texture(encoder: &mut wgpu::CommandEncoder, texture: wgpu::TexelCopyTextureInfo<'_>),
        "let mut encoder = gpu.create_command_encoder(&Default::default());"
        "x.record_to_texture(&mut encoder, texture.as_image_copy())?;"
        "queue.submit([encoder.finish()]);",
        |x| to_texture(x, &x.device()?, Some(encoder), texture);
    /// [`record_to_texture`](Self::record_to_texture) on a device, for expressions without tensors.
    ///
    /// # Errors
    /// As [`record_to_texture`](Self::record_to_texture); when there are tensors, on another device.
    record_to_texture_on(
        device: &Device, encoder: &mut wgpu::CommandEncoder, texture: wgpu::TexelCopyTextureInfo<'_>
    ),
        "let mut encoder = gpu.create_command_encoder(&Default::default());"
        "x.record_to_texture_on(&device, &mut encoder, texture.as_image_copy())?;"
        "queue.submit([encoder.finish()]);",
        |x| to_texture(x, device, Some(encoder), texture);
}

impl AnyExpr {
    /// The device of its tensors.
    fn device(&self) -> Result<Device> {
        match self.backends()?.first() {
            Some(backend) => Ok(Device::from_backend(backend.clone())),
            None => {
                bail!(
                    Device,
                    "an expression without tensors has no device: use copy_to_texture_on and name one"
                )
            }
        }
    }
}

/// Copies elements to a texture, at once or in a caller's encoder.
fn to_texture(
    expr: &AnyExpr,
    device: &Device,
    mut encoder: Option<&mut wgpu::CommandEncoder>,
    texture: wgpu::TexelCopyTextureInfo<'_>,
) -> Result<()> {
    device.agrees(expr)?;
    let gpu = gpu::of(device.backend()?)?;
    let Some(area) = area(expr, texture)? else { return Ok(()) };
    let (storage, layout) = match encoder.as_deref_mut() {
        None => rows(expr, area, &gpu)?,
        Some(encoder) => gpu.record_into(encoder, |gpu| rows(expr, area, gpu))?,
    };
    gpu.copy_to(area, &storage, &layout, encoder)
}

/// The area of a texture that an expression fills, if it has elements.
fn area<'a>(expr: &AnyExpr, texture: wgpu::TexelCopyTextureInfo<'a>) -> Result<Option<Area<'a>>> {
    let node = expr.node()?;
    let area = Area::of(texture, &node.shape)?;
    if area.dtype != node.dtype {
        bail!(
            Type,
            "cannot copy {} to a texture of {:?}, whose channels are {}: cast to that",
            node.dtype,
            texture.texture.format(),
            area.dtype
        );
    }
    Ok(Some(area).filter(|area| !area.is_empty()))
}

/// The elements in rows with the alignment of textures: in place, or computed.
fn rows(expr: &AnyExpr, area: Area<'_>, gpu: &Arc<Gpu>) -> Result<(Storage, Layout)> {
    let device = Device::from_backend(gpu.clone());
    if let NodeKind::Leaf { source: Source::Tensor(storage), layout } = &expr.node()?.kind
        && gpu.fits(area, storage, layout)?
    {
        return Ok((storage.clone(), layout.clone()));
    }
    let (layout, bytes) = area.padded(&expr.node()?.shape)?;
    let storage = gpu.rows_of(bytes, area)?;
    AnyTensor::new(device.clone(), storage.clone(), area.dtype, layout.clone()).assign_by(&device, expr)?;
    Ok((storage, layout))
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
    #[doc = texture!()]
    /// let x = AnyTensor::from_texture(&device, texture.as_image_copy())?;
    /// assert_eq!((x.dtype(), x.shape()), (DType::I32, &[2, 3, 1].into()));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn from_texture(device: &Device, texture: wgpu::TexelCopyTextureInfo<'_>) -> Result<AnyTensor> {
        called(Location::caller(), || {
            let gpu = gpu::of(device.backend()?)?;
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
