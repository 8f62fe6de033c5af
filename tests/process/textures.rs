//! A program's textures, filled and read: every format, padded rows, levels, layers and origins.

use crate::common::Random;
use crate::common::program::{Program, in_every_program};
use zerostride::{AnyExpr, AnyTensor, DType, ErrorKind, Expr, Tensor, wgpu};

const BOTH: wgpu::TextureUsages = wgpu::TextureUsages::COPY_SRC.union(wgpu::TextureUsages::COPY_DST);

fn formats() -> Vec<(wgpu::TextureFormat, DType, usize)> {
    use wgpu::TextureFormat::*;
    vec![
        (R8Unorm, DType::U8, 1),
        (R8Snorm, DType::I8, 1),
        (R8Uint, DType::U8, 1),
        (R8Sint, DType::I8, 1),
        (R16Uint, DType::U16, 1),
        (R16Sint, DType::I16, 1),
        (R16Unorm, DType::U16, 1),
        (R16Snorm, DType::I16, 1),
        (R16Float, DType::F16, 1),
        (Rg8Unorm, DType::U8, 2),
        (Rg8Snorm, DType::I8, 2),
        (Rg8Uint, DType::U8, 2),
        (Rg8Sint, DType::I8, 2),
        (R32Uint, DType::U32, 1),
        (R32Sint, DType::I32, 1),
        (R32Float, DType::F32, 1),
        (Rg16Uint, DType::U16, 2),
        (Rg16Sint, DType::I16, 2),
        (Rg16Unorm, DType::U16, 2),
        (Rg16Snorm, DType::I16, 2),
        (Rg16Float, DType::F16, 2),
        (Rgba8Unorm, DType::U8, 4),
        (Rgba8UnormSrgb, DType::U8, 4),
        (Rgba8Snorm, DType::I8, 4),
        (Rgba8Uint, DType::U8, 4),
        (Rgba8Sint, DType::I8, 4),
        (Bgra8Unorm, DType::U8, 4),
        (Bgra8UnormSrgb, DType::U8, 4),
        (Rg32Uint, DType::U32, 2),
        (Rg32Sint, DType::I32, 2),
        (Rg32Float, DType::F32, 2),
        (Rgba16Uint, DType::U16, 4),
        (Rgba16Sint, DType::I16, 4),
        (Rgba16Unorm, DType::U16, 4),
        (Rgba16Snorm, DType::I16, 4),
        (Rgba16Float, DType::F16, 4),
        (Rgba32Uint, DType::U32, 4),
        (Rgba32Sint, DType::I32, 4),
        (Rgba32Float, DType::F32, 4),
    ]
}

fn texture(
    program: &Program,
    format: wgpu::TextureFormat,
    [depth, height, width]: [u32; 3],
    usage: wgpu::TextureUsages,
) -> wgpu::Texture {
    program.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: depth },
        mip_level_count: 2.min(width.min(height).ilog2() + 1),
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}

/// Whether the program's device has a format, and copies both ways as its adapter says.
fn has(program: &Program, format: wgpu::TextureFormat) -> bool {
    program.device.features().contains(format.required_features())
        && program.adapter.get_texture_format_features(format).allowed_usages.contains(BOTH)
}

/// Whether texels of a format are refused, as the interface reads them wrong.
fn is_refused(program: &Program, format: wgpu::TextureFormat) -> bool {
    program.name.contains("(gl)") && format!("{format:?}").contains("Snorm")
}

/// Elements whose every bit counts, without NaN, which a driver may change.
fn elements(random: &mut Random, dtype: DType, count: usize) -> Vec<u8> {
    let size = dtype.size();
    let mut bytes: Vec<u8> = (0..count * size).map(|_| random.next() as u8).collect();
    if matches!(dtype, DType::F16 | DType::F32) {
        bytes.chunks_exact_mut(size).for_each(|element| element[size - 1] = 0x3c);
    }
    // -128 and -127 are one number to a normalized format.
    if dtype == DType::I8 {
        bytes.iter_mut().filter(|byte| **byte == 0x80).for_each(|byte| *byte = 0x81);
    }
    if dtype == DType::I16 {
        let lowest = |element: &&mut [u8]| **element == [0, 0x80];
        bytes.chunks_exact_mut(2).filter(lowest).for_each(|element| element[0] = 1);
    }
    bytes
}

#[test]
fn every_format_there_and_back() {
    in_every_program(|program| {
        if !program.name.ends_with("all") {
            return;
        }
        let mut random = Random(7);
        let mut seen = 0;
        for (format, dtype, channels) in formats() {
            if !has(program, format) {
                continue;
            }
            if is_refused(program, format) {
                let texture = texture(program, format, [1, 4, 4], BOTH);
                let error = AnyTensor::from_texture(&program.ours, texture.as_image_copy()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Limit);
                continue;
            }
            seen += 1;
            for [height, width] in [[3, 5], [7, 64], [2, 130]] {
                let texture = texture(program, format, [1, height as u32, width as u32], BOTH);
                let shape = [height, width, channels];
                let bytes = elements(&mut random, dtype, height * width * channels);
                let x = program.ours.upload_bytes(&bytes, dtype, shape).unwrap();
                x.copy_to_texture(texture.as_image_copy()).unwrap();
                let back = AnyTensor::from_texture(&program.ours, texture.as_image_copy()).unwrap();
                assert_eq!((back.dtype(), back.shape()), (dtype, &shape.into()));
                assert_eq!(back.to_bytes().unwrap(), bytes, "{} {format:?} {shape:?}", program.name);
                // Of one channel, without the axis; and what came of a texture as it lies.
                if channels == 1 {
                    x.squeeze(2).flip(0).copy_to_texture(texture.as_image_copy()).unwrap();
                } else {
                    x.flip(0).copy_to_texture(texture.as_image_copy()).unwrap();
                }
                let turned = AnyTensor::from_texture(&program.ours, texture.as_image_copy()).unwrap();
                assert_eq!(turned.to_bytes().unwrap(), x.flip(0).to_bytes().unwrap());
                back.copy_to_texture(texture.as_image_copy()).unwrap();
                let again = AnyTensor::from_texture(&program.ours, texture.as_image_copy()).unwrap();
                assert_eq!(again.to_bytes().unwrap(), bytes);
            }
        }
        println!("{}: {seen} formats", program.name);
        assert!(seen >= 20, "{}: only {seen} formats", program.name);
    });
}

#[test]
fn parts_levels_and_layers() {
    in_every_program(|program| {
        let ours = &program.ours;
        let texture = texture(program, wgpu::TextureFormat::Rgba8Unorm, [3, 8, 10], BOTH);
        let at = |mip_level, x, y, z| wgpu::TexelCopyTextureInfo {
            texture: &texture,
            mip_level,
            origin: wgpu::Origin3d { x, y, z },
            aspect: wgpu::TextureAspect::All,
        };
        let all = ours.full([3, 8, 10, 4], 9_u8).unwrap();
        all.copy_to_texture(at(0, 0, 0, 0)).unwrap();
        let part = ours.upload(&(0..2 * 3 * 4).collect::<Vec<u8>>(), [2, 3, 4]).unwrap();
        part.copy_to_texture(at(0, 7, 6, 1)).unwrap();
        let host = all.slice(0, 1..2).squeeze(0);
        host.slice(0, 6..).slice(1, 7..).assign(&part).unwrap();
        let back = Tensor::<u8>::from_texture(ours, at(0, 0, 0, 0)).unwrap();
        assert_eq!(back.shape(), &[3, 8, 10, 4]);
        assert_eq!(back.to_vec().unwrap(), all.to_vec().unwrap(), "{}", program.name);
        let rest = Tensor::<u8>::from_texture(ours, at(0, 7, 6, 1)).unwrap();
        assert_eq!(rest.shape(), &[2, 2, 3, 4]);
        assert_eq!(rest.slice(0, ..1).to_vec().unwrap(), part.to_vec().unwrap());
        let small = ours.full([3, 4, 5, 4], 77_u8).unwrap();
        small.copy_to_texture(at(1, 0, 0, 0)).unwrap();
        let level = Tensor::<u8>::from_texture(ours, at(1, 0, 0, 0)).unwrap();
        assert_eq!((level.shape(), level.to_vec().unwrap()), (&[3, 4, 5, 4].into(), vec![77; 240]));

        let error = |made: zerostride::Result<()>| made.unwrap_err().message().to_string();
        assert_eq!(
            error(part.copy_to_texture(at(0, 8, 6, 1))),
            "[2, 3, 4] to a texture that has 2 layers of 2 x 2 texels from (8, 6, 1) on"
        );
        assert_eq!(error(part.copy_to_texture(at(2, 0, 0, 0))), "mip level 2 of a texture that has 2 levels");
        assert_eq!(
            error(part.cast::<f32>().copy_to_texture(at(0, 0, 0, 0))),
            "cannot copy f32 to a texture of Rgba8Unorm, whose channels are u8: cast to that"
        );
        assert_eq!(
            error(part.slice(2, ..3).copy_to_texture(at(0, 0, 0, 0))),
            "[2, 3, 3] to a texture of Rgba8Unorm, which has 4 channels"
        );
        let wrong = Tensor::<f32>::from_texture(ours, at(0, 0, 0, 0)).unwrap_err();
        assert_eq!(wrong.kind(), ErrorKind::Type);
        let constant = Expr::scalar(1_u8).broadcast_to([2, 3, 4]).copy_to_texture(at(0, 0, 0, 0));
        assert_eq!(constant.unwrap_err().kind(), ErrorKind::Device);
    });
}

/// A volume has a depth where others have layers, and its levels get flatter; a line has one row.
#[test]
fn volumes_and_lines() {
    in_every_program(|program| {
        let ours = &program.ours;
        let made = |dimension, [depth_or_array_layers, height, width]: [u32; 3], levels| {
            program.device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width, height, depth_or_array_layers },
                mip_level_count: levels,
                sample_count: 1,
                dimension,
                format: wgpu::TextureFormat::R32Float,
                usage: BOTH,
                view_formats: &[],
            })
        };
        let volume = made(wgpu::TextureDimension::D3, [4, 5, 6], 2);
        let at = |mip_level, x, y, z| wgpu::TexelCopyTextureInfo {
            texture: &volume,
            mip_level,
            origin: wgpu::Origin3d { x, y, z },
            aspect: wgpu::TextureAspect::All,
        };
        let x = Expr::iota([120], 0).cast::<f32>().reshape([4, 5, 6, 1]).eval_on(ours).unwrap();
        x.flip(0).copy_to_texture(at(0, 0, 0, 0)).unwrap();
        let part = Tensor::<f32>::from_texture(ours, at(0, 4, 3, 2)).unwrap();
        assert_eq!(part.shape(), &[2, 2, 2, 1]);
        let right = x.flip(0).slice(0, 2..).slice(1, 3..).slice(2, 4..).to_vec().unwrap();
        assert_eq!(part.to_vec().unwrap(), right, "{}", program.name);
        // Half of each length.
        let level = (&x + 0.5).slice(0, ..2).slice(1, ..2).slice(2, ..3).eval().unwrap();
        level.copy_to_texture(at(1, 0, 0, 0)).unwrap();
        let back = Tensor::<f32>::from_texture(ours, at(1, 0, 0, 0)).unwrap();
        assert_eq!((back.shape(), back.to_vec().unwrap()), (level.shape(), level.to_vec().unwrap()));
        let deep = ours.zeros::<f32>([3, 2, 3, 1]).unwrap().copy_to_texture(at(1, 0, 0, 0)).unwrap_err();
        assert_eq!(
            deep.message(),
            "[3, 2, 3, 1] to a texture that has 2 layers of 2 x 3 texels from (0, 0, 0) on"
        );

        let line = made(wgpu::TextureDimension::D1, [1, 1, 70], 1);
        let row = x.reshape([1, 120]).slice(1, 50..);
        row.copy_to_texture(line.as_image_copy()).unwrap();
        let back = Tensor::<f32>::from_texture(ours, line.as_image_copy()).unwrap();
        assert_eq!((back.shape(), back.to_vec().unwrap()), (&[1, 70, 1].into(), row.to_vec().unwrap()));
    });
}

#[test]
fn usages_and_formats_are_checked() {
    in_every_program(|program| {
        let ours = &program.ours;
        let x = ours.zeros::<u8>([2, 2, 4]).unwrap();
        let no_copy =
            texture(program, wgpu::TextureFormat::Rgba8Unorm, [1, 2, 2], wgpu::TextureUsages::COPY_SRC);
        let error = x.copy_to_texture(no_copy.as_image_copy()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Resource);
        assert!(error.message().ends_with("create it with TextureUsages(COPY_DST) too"), "{error}");
        let depth =
            texture(program, wgpu::TextureFormat::Depth32Float, [1, 2, 2], wgpu::TextureUsages::COPY_SRC);
        let error = AnyTensor::from_texture(ours, depth.as_image_copy()).unwrap_err();
        assert_eq!(
            error.message(),
            "a texture of Depth32Float as a tensor: formats of 1, 2 or 4 channels of 8, 16 or 32 bits are"
        );
        // A texture that its owner destroyed. Earlier recorded work is not lost.
        let gone = texture(program, wgpu::TextureFormat::Rgba8Unorm, [1, 2, 2], BOTH);
        gone.destroy();
        x.assign(&x + 3).unwrap();
        let error = x.copy_to_texture(gone.as_image_copy()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Resource, "{error}");
        assert_eq!(x.to_vec().unwrap(), [3; 16]);
    });
}

/// In an encoder between the program's passes, with an expression of several stages, from a buffer of the program's that
/// nothing may be copied from.
#[test]
fn textures_in_an_encoder() {
    in_every_program(|program| {
        let ours = &program.ours;
        let host: Vec<f32> = (0..64 * 4).map(|i| i as f32).collect();
        let buffer = program.buffer(bytemuck::cast_slice(&host), wgpu::BufferUsages::STORAGE);
        let x = Tensor::<f32>::from_buffer(ours, &buffer, 0, [4, 64], &[64, 1]).unwrap();
        let first = texture(program, wgpu::TextureFormat::R32Float, [1, 4, 64], BOTH);
        let second = texture(program, wgpu::TextureFormat::Rgba8Unorm, [1, 4, 64], BOTH);
        let mut encoder = program.encoder();
        x.record_to_texture(&mut encoder, first.as_image_copy()).unwrap();
        let grey = ((&x - x.mean_keepdim(1)) + 32.0).cast::<u8>().unsqueeze(2).broadcast_to([4, 64, 4]);
        grey.record_to_texture(&mut encoder, second.as_image_copy()).unwrap();
        (&x * 0.0).record_into(&mut encoder, &x).unwrap();
        drop(buffer);
        for _ in 0..10 {
            ours.full([4, 64], 5.0_f32).unwrap();
            ours.flush().unwrap();
        }
        program.submit(encoder);
        let back = Tensor::<f32>::from_texture(ours, first.as_image_copy()).unwrap();
        assert_eq!(back.to_vec().unwrap(), host, "{}", program.name);
        let grey = Tensor::<u8>::from_texture(ours, second.as_image_copy()).unwrap();
        let right: Vec<u8> =
            (0..4 * 64 * 4).map(|i| (i / 4 % 64) as f32 - 31.5 + 32.0).map(|v| v as u8).collect();
        assert_eq!(grey.to_vec().unwrap(), right);
        assert_eq!(x.to_vec().unwrap(), vec![0.0; 256]);
        let error = AnyExpr::from(&x).record_to_texture(&mut program.encoder(), second.as_image_copy());
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Shape);
    });
}
