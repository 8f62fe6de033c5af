//! Facts about drivers beyond their stated limits and features: one row for each kind of driver, each value with its
//! measurement.

use wgpu::{AdapterInfo, Backend, DeviceType, MemoryHints};

/// A row of the table.
#[derive(Debug)]
pub(super) struct Driver {
    /// Iterations, over all loops of a kernel, after which the kernel silently leaves them.
    pub turns: u64,
    /// Kernels after which a recording is submitted.
    pub dispatches: usize,
    /// Registers of 32 bits for each invocation.
    pub registers: u32,
    /// How wgpu takes memory from the driver.
    pub memory: MemoryHints,
}

/// A GPU.
pub(super) const GPU: Driver = Driver {
    turns: u64::MAX,
    // It should not idle while the host records.
    dispatches: 256,
    // AMD 256, NVIDIA 255.
    registers: 255,
    memory: MemoryHints::Performance,
};

/// Intel's GPUs. They compile large kernels for 8 lanes at least, each with 128 registers.
static INTEL: Driver = Driver { registers: 128, ..GPU };

/// Mesa's rasterizer on the host's processor, as lavapipe (Vulkan) and llvmpipe (GL).
static LLVMPIPE: Driver = Driver {
    // A loop of 65536 iterations has the result of 65535. So have two of 40000, nested or in sequence.
    turns: 65_535,
    ..HOST
};

/// SwiftShader, and other adapters on the host's processor.
const HOST: Driver = Driver {
    // 200000 iterations all run.
    turns: u64::MAX,
    // It runs on the host's own cores, so submitting early overlaps nothing. 1000 small kernels on lavapipe: 48 ms with
    // 256, 37 with 1024.
    dispatches: 1024,
    // It keeps values in memory.
    registers: 255,
    // Blocks of 8 to 64 MiB. The host would touch all of blocks of 128 to 256 MiB.
    memory: MemoryHints::MemoryUsage,
};

/// What a program hears that opens such an adapter.
pub(super) const SOFTWARE: &str =
    "the host's processor, on which the CPU path has the same bits and is faster";

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
        () if info.vendor == 0x8086 => &INTEL,
        () => &GPU,
    }
}

/// Whether an adapter has a shading language for kernels that wgpu can use. wgpu-hal 30 requests OpenGL 3.3. Mesa
/// returns its newest version. NVIDIA returns 3.3, with compute shaders as an extension that naga does not write.
pub(super) fn has_kernels(info: &AdapterInfo) -> bool {
    // "3.3.0 NVIDIA 580.159.04". A version of OpenGL ES begins with that name.
    let mut numbers = info.driver_info.split(['.', ' ']).map(str::parse::<u32>);
    match (info.backend, numbers.next(), numbers.next()) {
        (Backend::Gl, Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (4, 3),
        _ => true,
    }
}

/// Whether the builtin `fma` is an instruction. For GL naga may write a product and a sum, which the driver rounds once
/// or twice from kernel to kernel.
pub(super) fn has_fma(info: &AdapterInfo) -> bool {
    info.backend != Backend::Gl
}

/// Whether an `fma` is one instruction that the driver's compiler leaves alone. For DX12 naga writes `mad`, which is a
/// product and a sum to compilers that reorder sums. What a browser writes is unknown.
pub(super) fn keeps_fma(info: &AdapterInfo) -> bool {
    matches!(info.backend, Backend::Vulkan | Backend::Metal)
}

/// Whether the adapter silently creates a buffer that has no memory: wgpu-hal 30 never asks GL for errors. Work on such
/// a buffer does nothing.
pub(super) fn is_silent(info: &AdapterInfo) -> bool {
    info.backend == Backend::Gl
}

/// Whether copies of a texture's format to a buffer change values: GL reads signed normalized texels as unsigned ones
/// (llvmpipe returns 0 for negative texels).
pub(super) fn is_misread(info: &AdapterInfo, format: wgpu::TextureFormat) -> bool {
    use wgpu::TextureFormat as F;
    let is_signed = matches!(
        format,
        F::R8Snorm | F::Rg8Snorm | F::Rgba8Snorm | F::R16Snorm | F::Rg16Snorm | F::Rgba16Snorm
    );
    info.backend == Backend::Gl && is_signed
}

/// Whether a copy of a part of a volume must begin at layer 0: wgpu-hal 30 counts the layers on GL up to the part's
/// depth and not the volume's, so it would not copy layers 2 and 3.
pub(super) fn begins_volumes(info: &AdapterInfo) -> bool {
    info.backend == Backend::Gl
}

/// Bytes that a driver adds to a buffer. SwiftShader adds 15, and then has no memory for a buffer of its limit.
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
