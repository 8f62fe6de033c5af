//! What is known of drivers beyond the limits and features that they state: one row for each kind of
//! driver, each value with the measurement behind it.

use wgpu::{AdapterInfo, Backend, DeviceType, MemoryHints};

use crate::tuning::Tuning;

/// A row of the table.
#[derive(Debug)]
pub(super) struct Driver {
    /// Whether the high word of a product is that of one of 64 bits, where the adapter has such integers.
    pub products: bool,
    /// What makes kernels fast.
    pub tuning: Tuning,
    /// Turns after which a kernel leaves its loops, all of them counted together, without a word.
    pub turns: u64,
    /// Kernels after which a recording is submitted.
    pub dispatches: usize,
    /// How wgpu takes memory from the driver.
    pub memory: MemoryHints,
}

/// A processor of its own.
pub(super) static GPU: Driver = Driver {
    // RDNA2's compiler: a batch and a channel added take 45 cycles a wave with, 48 without.
    products: true,
    tuning: Tuning::GPU,
    turns: u64::MAX,
    // It should not idle while the host records.
    dispatches: 256,
    memory: MemoryHints::Performance,
};

/// Mesa's rasterizer on the host's processor, as lavapipe (Vulkan) and llvmpipe (GL).
static LLVMPIPE: Driver = Driver {
    // A loop of 65536 turns gives what 65535 do, and so do two of 40000, one within the other or behind it.
    turns: 65_535,
    tuning: Tuning::LANE_BY_LANE,
    ..SOFTWARE
};

/// SwiftShader, and other adapters on the host's processor.
static HOST: Driver = SOFTWARE;

/// What both have in common.
const SOFTWARE: Driver = Driver {
    products: false,
    tuning: Tuning::HOST,
    // 200000 are none too many.
    turns: u64::MAX,
    // It runs on the host's own cores, so submitting early overlaps nothing. 1000 small kernels on lavapipe: 48 ms with
    // 256, 37 with 1024.
    dispatches: 1024,
    // Blocks of 8 to 64 MiB and not of 128 to 256, which would be touched on the host.
    memory: MemoryHints::MemoryUsage,
};

fn is_llvmpipe(info: &AdapterInfo) -> bool {
    info.name.contains("llvmpipe")
}

/// Whether an adapter is the host's processor. llvmpipe does not say so through GL.
pub(super) fn is_software(info: &AdapterInfo) -> bool {
    info.device_type == DeviceType::Cpu || is_llvmpipe(info)
}

/// The row of an adapter.
pub(super) fn of(info: &AdapterInfo) -> &'static Driver {
    match () {
        () if is_llvmpipe(info) => &LLVMPIPE,
        () if is_software(info) => &HOST,
        () => &GPU,
    }
}

/// Whether an adapter has a language for kernels, in which wgpu reaches it. wgpu-hal 30 asks for OpenGL 3.3 and takes what
/// it gets: Mesa's newest, but of NVIDIA just that, with compute shaders as an extension that naga does not write.
pub(super) fn has_kernels(info: &AdapterInfo) -> bool {
    // "3.3.0 NVIDIA 580.159.04"; that of OpenGL ES begins with its name.
    let mut numbers = info.driver_info.split(['.', ' ']).map(str::parse::<u32>);
    match (info.backend, numbers.next(), numbers.next()) {
        (Backend::Gl, Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (4, 3),
        _ => true,
    }
}

/// Whether the builtin `fma` is an instruction: naga may write a product and a sum for GL, which may or may not be
/// rounded once from kernel to kernel.
pub(super) fn has_fma(info: &AdapterInfo) -> bool {
    info.backend != Backend::Gl
}

/// Whether an adapter that has no memory for a buffer does so without a word: wgpu-hal 30 makes buffers
/// of GL and never asks for GL's errors. What is done with such a buffer does nothing.
pub(super) fn is_silent(info: &AdapterInfo) -> bool {
    info.backend == Backend::Gl
}

/// Whether texels of a format are not copied to a buffer as they are: GL reads signed normalized ones as if none were
/// negative (llvmpipe gives 0 for each that is).
pub(super) fn is_misread(info: &AdapterInfo, format: wgpu::TextureFormat) -> bool {
    use wgpu::TextureFormat as F;
    let is_signed = matches!(
        format,
        F::R8Snorm | F::Rg8Snorm | F::Rgba8Snorm | F::R16Snorm | F::Rg16Snorm | F::Rgba16Snorm
    );
    info.backend == Backend::Gl && is_signed
}

/// Whether part of a volume is copied to a buffer only with all layers before it: wgpu-hal 30 counts those of GL from the
/// origin to the depth of the part, and not of the volume, so that layers 2 and 3 are none.
pub(super) fn begins_volumes(info: &AdapterInfo) -> bool {
    info.backend == Backend::Gl
}

/// Bytes that a driver may add to a buffer. SwiftShader adds 15, and has no memory then for one as large as
/// its limit.
pub(super) const PADDING: u64 = 4096;

/// The interface that reaches an adapter, in one word.
pub(super) fn interface(backend: Backend) -> &'static str {
    match backend {
        Backend::Vulkan => "vulkan",
        Backend::Metal => "metal",
        Backend::Dx12 => "dx12",
        Backend::Gl => "gl",
        Backend::BrowserWebGpu => "webgpu",
        Backend::Noop => "noop",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_gl_with_kernels() {
        let has = |backend, version: &str| {
            let mut info = AdapterInfo::new(DeviceType::Other, backend);
            info.driver_info = version.into();
            has_kernels(&info)
        };
        assert!(
            !has(Backend::Gl, "3.3.0 NVIDIA 580.159.04") && !has(Backend::Gl, "4.2 (Core Profile) Mesa 22")
        );
        assert!(has(Backend::Gl, "4.5 (Core Profile) Mesa 22.3.6") && has(Backend::Gl, "4.3.0"));
        assert!(has(Backend::Gl, "OpenGL ES 3.2 Mesa 22.3.6") && has(Backend::Gl, ""));
        assert!(has(Backend::Vulkan, "3.3.0"));
    }
}
