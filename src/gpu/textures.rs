//! The caller's textures: element types of formats, and copies between textures and storages, by padded rows.

use std::sync::Arc;

use super::connection::said;
use super::device::{Gpu, Parts};
use super::drivers;
use super::lend::Loan;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result, bail};
use crate::ir::Storage;
use crate::layout::{Layout, Shape};

/// The element type and the number of channels of a format, if tensors have such elements.
fn texel(format: wgpu::TextureFormat) -> Result<(DType, usize)> {
    use wgpu::TextureFormat as F;
    Ok(match format {
        F::R8Unorm | F::R8Uint => (DType::U8, 1),
        F::R8Snorm | F::R8Sint => (DType::I8, 1),
        F::R16Unorm | F::R16Uint => (DType::U16, 1),
        F::R16Snorm | F::R16Sint => (DType::I16, 1),
        F::R16Float => (DType::F16, 1),
        F::R32Uint => (DType::U32, 1),
        F::R32Sint => (DType::I32, 1),
        F::R32Float => (DType::F32, 1),
        F::Rg8Unorm | F::Rg8Uint => (DType::U8, 2),
        F::Rg8Snorm | F::Rg8Sint => (DType::I8, 2),
        F::Rg16Unorm | F::Rg16Uint => (DType::U16, 2),
        F::Rg16Snorm | F::Rg16Sint => (DType::I16, 2),
        F::Rg16Float => (DType::F16, 2),
        F::Rg32Uint => (DType::U32, 2),
        F::Rg32Sint => (DType::I32, 2),
        F::Rg32Float => (DType::F32, 2),
        F::Rgba8Unorm | F::Rgba8UnormSrgb | F::Bgra8Unorm | F::Bgra8UnormSrgb | F::Rgba8Uint => {
            (DType::U8, 4)
        }
        F::Rgba8Snorm | F::Rgba8Sint => (DType::I8, 4),
        F::Rgba16Unorm | F::Rgba16Uint => (DType::U16, 4),
        F::Rgba16Snorm | F::Rgba16Sint => (DType::I16, 4),
        F::Rgba16Float => (DType::F16, 4),
        F::Rgba32Uint => (DType::U32, 4),
        F::Rgba32Sint => (DType::I32, 4),
        F::Rgba32Float => (DType::F32, 4),
        _ => bail!(
            Resource,
            "a texture of {format:?} as a tensor: formats of 1, 2 or 4 channels of 8, 16 or 32 bits are"
        ),
    })
}

/// An area of a texture in texels, and their format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area<'a> {
    texture: wgpu::TexelCopyTextureInfo<'a>,
    extent: wgpu::Extent3d,
    pub dtype: DType,
    channels: usize,
}

/// Rows of texels in memory.
struct Rows {
    loan: Loan,
    layout: wgpu::TexelCopyBufferLayout,
}

impl<'a> Area<'a> {
    /// All of a texture from an origin on.
    pub(crate) fn rest(
        texture: wgpu::TexelCopyTextureInfo<'a>,
        usage: wgpu::TextureUsages,
    ) -> Result<Area<'a>> {
        let (dtype, channels) = texel(texture.texture.format())?;
        needs(texture.texture, usage)?;
        let (size, origin) = (mip(&texture)?, texture.origin);
        let extent = wgpu::Extent3d {
            width: size.width.saturating_sub(origin.x),
            height: size.height.saturating_sub(origin.y),
            depth_or_array_layers: size.depth_or_array_layers.saturating_sub(origin.z),
        };
        Ok(Area { texture, extent, dtype, channels })
    }

    /// The area that elements of a shape fill: `[height, width]` of one channel, `[height, width, channels]`, or
    /// `[depth, height, width, channels]`.
    pub(crate) fn of(texture: wgpu::TexelCopyTextureInfo<'a>, shape: &Shape) -> Result<Area<'a>> {
        let rest = Area::rest(texture, wgpu::TextureUsages::COPY_DST)?;
        let format = texture.texture.format();
        let (depth, height, width, channels) = match shape[..] {
            [height, width] => (1, height, width, 1),
            [height, width, channels] => (1, height, width, channels),
            [depth, height, width, channels] => (depth, height, width, channels),
            _ => bail!(Shape, "{shape} to a texture: it takes [height, width, channels]"),
        };
        if channels != rest.channels {
            bail!(Shape, "{shape} to a texture of {format:?}, which has {} channels", rest.channels);
        }
        let room = rest.extent;
        let has = [room.depth_or_array_layers, room.height, room.width].map(|length| length as usize);
        if depth > has[0] || height > has[1] || width > has[2] {
            let ([depth, height, width], wgpu::Origin3d { x, y, z }) = (has, texture.origin);
            bail!(
                Shape,
                "{shape} to a texture that has {depth} layers of {height} x {width} texels from ({x}, {y}, {z}) on"
            );
        }
        let extent = wgpu::Extent3d {
            width: width as u32,
            height: height as u32,
            depth_or_array_layers: depth as u32,
        };
        Ok(Area { extent, ..rest })
    }

    fn lengths(&self) -> [usize; 4] {
        let wgpu::Extent3d { width, height, depth_or_array_layers } = self.extent;
        [depth_or_array_layers as usize, height as usize, width as usize, self.channels]
    }

    /// The shape of the elements. Only a volume has a depth.
    pub(crate) fn shape(&self) -> Shape {
        let lengths = self.lengths();
        let skipped = usize::from(self.texture.texture.depth_or_array_layers() == 1);
        Shape::from(&lengths[skipped..])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lengths().contains(&0)
    }

    /// The area with all layers of a volume before it, and the number of these layers. Of other textures, the area
    /// itself.
    fn with_layers_before(mut self) -> (Area<'a>, usize) {
        if self.texture.texture.dimension() != wgpu::TextureDimension::D3 {
            return (self, 0);
        }
        let before = std::mem::take(&mut self.texture.origin.z);
        self.extent.depth_or_array_layers += before;
        (self, before as usize)
    }

    /// Bytes of a texel.
    fn texel(&self) -> u64 {
        (self.channels * self.dtype.size()) as u64
    }

    /// A layout of a shape with rows at the alignment of textures, and its bytes.
    pub(crate) fn padded(&self, shape: &Shape) -> Result<(Layout, usize)> {
        let [depth, height, width, _] = self.lengths();
        let align = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize;
        let row = (width * self.texel() as usize).next_multiple_of(align) / self.dtype.size();
        let all = [height * row, row, self.channels, 1];
        let strides = match shape.rank() {
            2 => vec![row as isize, 1],
            rank => all[4 - rank..].iter().map(|&stride| stride as isize).collect(),
        };
        let elements = depth * height * row;
        Ok((Layout::strided(shape.clone(), &strides, 0, elements)?, elements * self.dtype.size()))
    }

    /// Whether the rows of a layout have the alignment of textures.
    fn fits(&self, layout: &Layout) -> bool {
        let (size, texel) = (self.dtype.size() as u64, self.texel());
        let align = u64::from(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let strides = layout.strides();
        let has_texels = match strides {
            [.., x, channel] if strides.len() > 2 => {
                (*channel == 1 || self.channels == 1) && *x == self.channels as isize
            }
            [_, x] => *x == 1,
            _ => false,
        };
        has_texels
            && self.row(layout).is_some_and(|row| row.is_multiple_of(align))
            && (layout.offset() as u64 * size).is_multiple_of(texel.max(wgpu::COPY_BUFFER_ALIGNMENT))
            && self.rows(layout).is_some()
    }

    /// Bytes from one row to the next.
    fn row(&self, layout: &Layout) -> Option<u64> {
        let strides = layout.strides();
        let axis = if strides.len() == 2 { 0 } else { strides.len() - 3 };
        let row = u64::try_from(strides[axis]).ok()? * self.dtype.size() as u64;
        (row >= u64::from(self.extent.width) * self.texel()).then_some(row)
    }

    /// Rows from one layer to the next.
    fn rows(&self, layout: &Layout) -> Option<u64> {
        if layout.rank() < 4 {
            return Some(self.extent.height.into());
        }
        let layer = u64::try_from(layout.strides()[0]).ok()? * self.dtype.size() as u64;
        let row = self.row(layout)?;
        let rows = layer / row;
        (layer.is_multiple_of(row) && rows >= self.extent.height.into()).then_some(rows)
    }
}

fn needs(texture: &wgpu::Texture, usage: wgpu::TextureUsages) -> Result<()> {
    if !texture.usage().contains(usage) {
        bail!(Resource, "a copy with a texture of usage {:?}: create it with {usage:?} too", texture.usage());
    }
    if texture.sample_count() > 1 {
        bail!(
            Resource,
            "a copy with a texture of {} samples a texel: resolve it first",
            texture.sample_count()
        );
    }
    Ok(())
}

fn mip(texture: &wgpu::TexelCopyTextureInfo<'_>) -> Result<wgpu::Extent3d> {
    let (level, has) = (texture.mip_level, texture.texture.mip_level_count());
    if level >= has {
        bail!(Resource, "mip level {level} of a texture that has {has} levels");
    }
    Ok(texture.texture.size().mip_level_size(level, texture.texture.dimension()))
}

impl Gpu {
    /// Whether elements have the alignment of textures, in a buffer that may be copied from.
    pub(crate) fn fits(&self, area: Area<'_>, storage: &Storage, layout: &Layout) -> Result<bool> {
        Ok(area.fits(layout) && self.allows(storage, wgpu::BufferUsages::COPY_SRC)?)
    }

    /// Copies elements that [fit](Self::fits) an area into it, by a caller's encoder or at once.
    pub(crate) fn copy_to(
        &self,
        area: Area<'_>,
        storage: &Storage,
        layout: &Layout,
        encoder: Option<&mut wgpu::CommandEncoder>,
    ) -> Result<()> {
        let Rows { loan, layout } = self.rows(area, storage, layout)?;
        let copy = |encoder: &mut wgpu::CommandEncoder| {
            let buffer = wgpu::TexelCopyBufferInfo { buffer: loan.raw(), layout };
            encoder.copy_buffer_to_texture(buffer, area.texture, area.extent);
        };
        match encoder {
            Some(encoder) => {
                // A caller's encoder reports mistakes to its owner, so they are found by an encoder of this crate's.
                self.refusing(|| {
                    let mut own = self.parts.connection.encoder();
                    copy(&mut own);
                    own.finish()
                })?;
                copy(encoder);
                let held = loan.clone();
                encoder.on_submitted_work_done(move || drop(held));
                Ok(())
            }
            None => self.submit_apart(copy),
        }
    }

    /// A new storage for the rows of an area.
    pub(crate) fn rows_of(self: &Arc<Self>, bytes: usize, area: Area<'_>) -> Result<Storage> {
        self.parts.connection.supports(area.dtype)?;
        self.storage(bytes, area.dtype)
    }

    /// The elements of an area, in a new storage.
    pub(crate) fn copy_from(self: &Arc<Self>, area: Area<'_>) -> Result<(Storage, Layout)> {
        let (connection, format) = (&self.parts.connection, area.texture.texture.format());
        if drivers::is_misread(&connection.device.adapter_info(), format) {
            bail!(
                Limit,
                "{} changes texels of {format:?} when it copies them from a texture: render to a format of Float, Unorm or Sint",
                connection.name()
            );
        }
        let (area, before) = match drivers::begins_volumes(&connection.device.adapter_info()) {
            true => area.with_layers_before(),
            false => (area, 0),
        };
        let (layout, bytes) = area.padded(&area.shape())?;
        let storage = self.rows_of(bytes, area)?;
        let asked = if before == 0 { layout.clone() } else { layout.slice(0, before.., 1)? };
        if area.is_empty() {
            return Ok((storage, asked));
        }
        let rows = self.rows(area, &storage, &layout)?;
        // Recorded work may use a buffer of the pool.
        self.parts.recorder.flush(connection);
        connection.check()?;
        rows.loan.mark_written(connection.failures.epoch());
        self.submit_apart(|encoder| {
            let buffer = wgpu::TexelCopyBufferInfo { buffer: rows.loan.raw(), layout: rows.layout };
            encoder.copy_texture_to_buffer(area.texture, buffer, area.extent);
        })?;
        Ok((storage, asked))
    }

    fn rows(&self, area: Area<'_>, storage: &Storage, layout: &Layout) -> Result<Rows> {
        let loan = self.loan(storage, area.dtype, layout)?;
        let (Some(row), Some(rows)) = (area.row(layout), area.rows(layout)) else {
            bail!(Kernel, "rows of {layout:?} for a texture");
        };
        let layout = wgpu::TexelCopyBufferLayout {
            offset: loan.offset,
            bytes_per_row: u32::try_from(row).ok(),
            rows_per_image: u32::try_from(rows).ok(),
        };
        Ok(Rows { loan, layout })
    }

    /// Submits commands by themselves, so that recorded work does not fail with them.
    fn submit_apart(&self, encode: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<()> {
        let Parts { connection, .. } = &*self.parts;
        self.refusing(|| {
            let mut encoder = connection.encoder();
            encode(&mut encoder);
            connection.queue.submit([encoder.finish()]);
        })?;
        connection.check()
    }

    /// Does work with a caller's texture, and returns what wgpu says against it.
    fn refusing<T>(&self, work: impl FnOnce() -> T) -> Result<()> {
        let connection = &self.parts.connection;
        let filters = [wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::OutOfMemory];
        let name = connection.name().to_string();
        let into_error = move |error| {
            let text = format!(
                "{name} refuses a copy with a texture, as with one of another device or a destroyed one: make it by this device ({})",
                said(&error)
            );
            Error::new(ErrorKind::Resource, text)
        };
        connection.scoped(&filters, work, into_error).map(drop)
    }
}
