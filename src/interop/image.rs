//! Pictures: tensors of `u8` of height, width and channels, which are 1 (gray), 2 (gray and alpha), 3 (RGB) or 4
//! (RGBA).
//!
//! PNG and JPEG are read and written. For other formats, enable them in your own dependency on the crate `image`.
//!
//! ```
//! use zerostride::{Device, image};
//!
//! let device = Device::cpu();
//! let red = device.upload(&[255_u8, 0, 0], [3])?.broadcast_to([2, 4, 3]);
//! let path = std::env::temp_dir().join("zerostride-example.png");
//! image::write(&path, &red)?;
//! let picture = image::read(&path, &device)?;
//! assert_eq!(picture.shape(), &[2, 4, 3]);
//! assert_eq!(picture.slice(0, ..1).slice(1, ..1).to_vec()?, [255, 0, 0]);
//! # Ok::<(), zerostride::Error>(())
//! ```

use std::io::Cursor;
use std::path::Path;

use image::{DynamicImage, ImageBuffer, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::file::{Source, ensure};
use crate::files::{Reason, about, replace};
use crate::{Device, Expr, IntoExpr, Result, Tensor};

/// The most bytes that one byte of a file may become. PNG's are deflated (RFC 1951: 258 by two bits). JPEG has at least
/// a bit for each 8 x 8 values of a channel (T.81, F.1.2), one of which may stand for as many as 4 x 4 others.
fn most(format: ImageFormat) -> Option<u64> {
    match format {
        ImageFormat::Png => Some(1032),
        ImageFormat::Jpeg => Some(8 * 64 * 16),
        _ => None,
    }
}

/// Whether the markers of a JPEG end with EOI (T.81, B.1.1). The decoder takes one that was cut, and fills it up with
/// gray. Between markers are segments, which begin with their length, and data, in which 0 follows a byte 255.
fn is_whole(mut rest: &[u8]) -> bool {
    let is_marker = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0 | 0xff);
    while let Some(at) = rest.windows(2).position(is_marker) {
        let length = match (rest[at + 1], rest[at + 2..].first_chunk()) {
            (0xd9, _) => return true,
            // Without a segment.
            (0x01 | 0xd0..=0xd8, _) | (_, None) => 0,
            (_, Some(length)) => u16::from_be_bytes(*length).into(),
        };
        rest = rest.get(at + 2 + length..).unwrap_or_default();
    }
    false
}

/// The picture of a file, with its channels. Channels of more than 8 bits are rounded to 8. The content decides the
/// format.
///
/// # Errors
/// When the file cannot be read, is no picture, or the device refuses its tensor. The text names the file.
pub fn read(path: impl AsRef<Path>, device: &Device) -> Result<Tensor<u8>> {
    let path = path.as_ref();
    let read = || {
        let file = Source::open(path)?;
        Ok(upload(&decode(&file.part(0, file.size)?)?, device)?)
    };
    read().map_err(|reason: Reason| about(path.display(), reason))
}

fn decode(bytes: &[u8]) -> Result<DynamicImage, Reason> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let format = reader.format().ok_or("its first bytes are those of no picture format")?;
    let (count, is_cut) = (bytes.len(), format == ImageFormat::Jpeg && !is_whole(bytes));
    ensure(!is_cut, || format!("its {count} bytes end before the end of the picture"))?;
    reader.limits(Limits::default());
    let decoder = reader.into_decoder()?;
    let ((width, height), takes) = (decoder.dimensions(), decoder.total_bytes());
    let fits = most(format).is_none_or(|most| takes <= most.saturating_mul(count as u64));
    let picture = || format!("a picture of {width} x {height} takes {takes} bytes");
    ensure(fits, || format!("{}, more than {count} packed bytes can hold", picture()))?;
    Ok(DynamicImage::from_decoder(decoder)?)
}

/// Uploads a picture of the crate `image`, as [`read`] does.
///
/// # Errors
/// As [`Device::upload`].
///
/// ```
/// use zerostride::{Device, image};
///
/// let gray = ::image::DynamicImage::new_luma8(3, 2);
/// assert_eq!(image::upload(&gray, &Device::cpu())?.shape(), &[2, 3, 1]);
/// # Ok::<(), zerostride::Error>(())
/// ```
pub fn upload(picture: &DynamicImage, device: &Device) -> Result<Tensor<u8>> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let channels = usize::from(picture.color().channel_count());
    let shape = [height, width, channels];
    if usize::from(picture.color().bytes_per_pixel()) == channels {
        return device.upload(picture.as_bytes(), shape);
    }
    let converted = match channels {
        1 => DynamicImage::from(picture.to_luma8()),
        2 => DynamicImage::from(picture.to_luma_alpha8()),
        3 => DynamicImage::from(picture.to_rgb8()),
        _ => DynamicImage::from(picture.to_rgba8()),
    };
    device.upload(converted.as_bytes(), shape)
}

/// A picture of the crate `image`, from a tensor or an expression of height, width and channels. Without a last axis it
/// is gray.
///
/// # Errors
/// When the expression has a mistake, or another shape.
///
/// ```
/// use zerostride::{Device, image};
///
/// let ramp = Device::cpu().zeros::<u8>([2, 256])?.coordinate(1).cast::<u8>();
/// let picture = image::picture(&ramp)?.to_luma8();
/// assert_eq!(picture.get_pixel(200, 1).0, [200]);
///
/// let error = image::picture(&ramp.broadcast_to([5, 2, 256])).unwrap_err();
/// assert_eq!(
///     error.message(),
///     "a picture of [5, 2, 256]: its axes are height, width and 1 to 4 channels"
/// );
/// # Ok::<(), zerostride::Error>(())
/// ```
#[track_caller]
pub fn picture(pixels: &Expr<u8>) -> Result<DynamicImage> {
    let at = std::panic::Location::caller();
    let shape = pixels.shape()?.clone();
    let (height, width, channels) = match shape[..] {
        [height, width] => (height, width, 1),
        [height, width, channels] => (height, width, channels),
        _ => (0, 0, 0),
    };
    let none = || {
        let text = format!("a picture of {shape}: its axes are height, width and 1 to 4 channels");
        crate::Error::new(crate::ErrorKind::Shape, text).at(at)
    };
    let (Ok(w), Ok(h), 1..=4) = (u32::try_from(width), u32::try_from(height), channels) else {
        return Err(none());
    };
    let bytes = pixels.to_vec()?;
    let picture = match channels {
        1 => ImageBuffer::from_raw(w, h, bytes).map(DynamicImage::ImageLuma8),
        2 => ImageBuffer::from_raw(w, h, bytes).map(DynamicImage::ImageLumaA8),
        3 => ImageBuffer::from_raw(w, h, bytes).map(DynamicImage::ImageRgb8),
        _ => ImageBuffer::from_raw(w, h, bytes).map(DynamicImage::ImageRgba8),
    };
    picture.ok_or_else(none)
}

/// Writes a picture, in the format that the file's name ends in. The file is replaced at once.
///
/// # Errors
/// As [`picture`]; when there is no such format, it lacks such channels, or the file cannot be written.
#[track_caller]
pub fn write(path: impl AsRef<Path>, pixels: impl IntoExpr<u8>) -> Result<()> {
    let path = path.as_ref();
    let picture = picture(&pixels.into_expr())?;
    replace(path, false, |file| {
        let (format, color) = (ImageFormat::from_path(path)?, picture.color());
        let (fits, less) = (format != ImageFormat::Jpeg || !color.has_alpha(), color.channel_count() - 1);
        ensure(fits, || format!("JPEG has no alpha channel: write a slice of {less} channels"))?;
        Ok(picture.write_to(file, format)?)
    })
}
