//! What is known of drivers beyond the limits and features that they state: one row for each kind of
//! driver, each value with the measurement behind it. f32 matrices of 4096 x 4096 where not said
//! otherwise.

use wgpu::{AdapterInfo, Backend, DeviceType, MemoryHints};

/// A row of the table.
#[derive(Debug)]
pub(super) struct Driver {
    /// Vectors that an invocation computes.
    pub vectors: u32,
    /// Invocations that fold a block of a run together at most.
    pub team: u32,
    /// Invocations that share a block where no team meets, as they run side by side.
    pub neighbours: u32,
    /// Elements that are read from a cache in whatever order: of more, neighbours share blocks.
    pub cached: usize,
    /// Values that an invocation of a fold loads straight where no order shows: a power of two.
    pub straight: u32,
    /// Places at least that an invocation of a fold has for what turns give.
    pub places: u32,
    /// Additions of an element that take as long as storing it and loading it from a cache.
    pub reload: usize,
    /// Runs from which on an invocation scans each: fewer would leave it idle.
    pub runs: u32,
    /// Whether wide accesses are of words of 64 bits, where the adapter has such integers.
    pub wide_words: bool,
    /// Whether the high word of a product is that of one of 64 bits, where the adapter has such integers.
    pub products: bool,
    /// Invocations that compute once what they have in common.
    pub wave: u32,
    /// Whether a transposed operand is loaded along its own rows, four rows at a time, and turned
    /// around in registers.
    pub tiles: bool,
    /// Whether workgroups of few columns pay wherever lanes are scattered across rows, and not only
    /// where they are filled and begin at cache lines.
    pub narrow: bool,
    /// Turns after which a kernel leaves its loops, all of them counted together, without a word.
    pub turns: u64,
    /// Kernels after which a recording is submitted.
    pub dispatches: usize,
    /// How wgpu takes memory from the driver.
    pub memory: MemoryHints,
}

/// A processor of its own. Others were tried on an H100 (docs/performance.md, On a GPU): none was faster by 3 %.
pub(super) static GPU: Driver = Driver {
    // Neighbouring invocations should touch neighbouring words. Same shape with 2: 1.17 times as long (H100).
    vectors: 1,
    // A block of 4096 is sixteen vectors for each. Softmax with 32: 1.46 times as long (H100); with 128 the same.
    team: 64,
    neighbours: 1,
    cached: usize::MAX,
    // So many loads are on their way at once.
    straight: 16,
    // The less workgroup memory a kernel takes, the more of them run side by side.
    places: 2,
    // Memory is what it waits for.
    reload: usize::MAX,
    // Some of what a large one runs side by side.
    runs: 32 << 10,
    wide_words: false,
    // RDNA2's compiler: a batch and a channel added take 45 cycles a wave with, 48 without.
    products: true,
    // RDNA2's compiler: bf16 of NCHW, whose planes are 128 vectors, takes 99 cycles a wave with two rows in a workgroup and
    // 75 with one, whose number is then in a scalar register.
    wave: 64,
    tiles: false,
    narrow: true,
    turns: u64::MAX,
    // It should not idle while the host records.
    dispatches: 256,
    memory: MemoryHints::Performance,
};

/// Mesa's rasterizer on the host's processor, as lavapipe (Vulkan) and llvmpipe (GL).
static LLVMPIPE: Driver = Driver {
    // Starting an invocation costs as much as a few loads. A row: 26 ms with 1, 16.5 with 8; a chain of
    // five: 34 and 20.5.
    vectors: 8,
    // A barrier costs more than neighbours gain: rows of 4096 by 64 invocations 34 ms, by one 9.6.
    team: 1,
    // Lanes of 32 bits in a vector of 256. The sum of 4096 x 4096 products, whose rows are read from their ends and middles by an
    // invocation each: 1.3 times the same shape; by eight, in the order of memory: 0.8.
    neighbours: 8,
    // As their text is longer: 0.4 s to compile, and 0.1.
    cached: 1 << 22,
    // Half as many pairs of words of 64 bits.
    straight: 16,
    // Memory of the host: short rows and long ones are one kernel.
    places: 32,
    // It stores lane by lane. Softmax is 2.29 times `exp` where that is computed twice, and 2.35 where it is loaded again.
    reload: 64,
    // Sixteen workgroups. Cumulative sums of rows of 4096 by an invocation each: 1.1 times the same shape; in two
    // passes, 256 values by an invocation: 2.1.
    runs: 1 << 10,
    // It loads and stores lane by lane, so a word of 64 bits is one load where two of 32 are two. Same
    // shape: 18.3 ms without, 14.6 with.
    wide_words: true,
    products: false,
    // It has no scalar registers, and starting a workgroup costs more.
    wave: u32::MAX,
    // Transposed: 31 ms without, 27 with.
    tiles: true,
    // 100 channels onto last: 3.0 to 4.1 times the same shape with, 1.4 without.
    narrow: false,
    // A loop of 65536 turns gives what 65535 do, and so do two of 40000, one within the other or behind it.
    turns: 65_535,
    // A software adapter runs on the host's own cores, so submitting early overlaps nothing. 1000 small
    // kernels: 48 ms with 256, 37 with 1024.
    dispatches: 1024,
    // Blocks of 8 to 64 MiB and not of 128 to 256, which would be touched on the host.
    memory: MemoryHints::MemoryUsage,
};

/// SwiftShader, and other adapters on the host's processor.
static SOFTWARE: Driver = Driver {
    // As llvmpipe, but eight run out of registers. Same shape: 83 ms with 1, 54 with 4; a row: 83 and 50.
    vectors: 4,
    // Rows of 4096 by 64 invocations 226 ms, by one 23.
    team: 1,
    // It gains nothing by four.
    neighbours: 1,
    cached: usize::MAX,
    // A load is some hundred instructions. The greatest of all: 1.08 times the same shape with 16, 0.89 with 4.
    straight: 4,
    // Memory of the host: short rows and long ones are one kernel.
    places: 32,
    // Softmax is 2.49 times `exp` where that is computed twice, and 2.00 where it is loaded again.
    reload: 12,
    // As llvmpipe: 0.7 and 1.2 times the same shape.
    runs: 1 << 10,
    // SwiftShader has no integers of 64 bits.
    wide_words: false,
    products: false,
    wave: u32::MAX,
    tiles: true,
    // NHWC added to NCHW: 1.9 times the same shape with, 1.4 without; 100 channels: 3.0 and 1.7.
    narrow: false,
    // 200000 are none too many.
    turns: u64::MAX,
    dispatches: 1024,
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
        () if is_software(info) => &SOFTWARE,
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
