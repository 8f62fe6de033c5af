//! The limits of an adapter that matter here.

use crate::error::{Result, bail};

/// Declares [`Limits`] from one list: names as WebGPU has them, wgpu's types, which of two values is the
/// lesser limit, the least that kernels of this crate run with, and what adapters of WebGPU and older ones have at least.
macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $name:ident: $t:ident, lesser by $lesser:ident, least $least:literal, webgpu $webgpu:literal, downlevel $downlevel:literal;)*) => {
        /// The limits of an adapter that matter here, by the names of WebGPU. `max_...` is the most that
        /// may be used, `min_...` the alignment that must be kept.
        ///
        /// ```
        /// use zerostride::Limits;
        ///
        /// let mut limits = Limits::webgpu();
        /// assert_eq!(limits.max_storage_buffers_per_shader_stage, 8);
        /// limits.max_buffer_size = 64 << 20;
        /// assert!(limits.named().contains(&("max_buffer_size", 64 << 20)));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Limits {$(
            $(#[doc = $doc])+
            pub $name: u64,
        )*}

        impl Limits {
            /// What every adapter of WebGPU has: 8 storage buffers, 128 MiB bindings, 256 MiB buffers.
            pub fn webgpu() -> Limits {
                Limits { $($name: $webgpu,)* }
            }

            /// What wgpu asks of older adapters, as those of GLES 3.1: 4 storage buffers.
            pub fn downlevel() -> Limits {
                Limits { $($name: $downlevel,)* }
            }

            /// Each with its name.
            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }

        }

        #[cfg(feature = "gpu")]
        impl Limits {
            pub(crate) fn of(limits: &wgpu::Limits) -> Self {
                Limits { $($name: limits.$name.into(),)* }
            }

            /// Lowers those of an adapter to these, where these are lesser.
            pub(crate) fn lower(&self, limits: &mut wgpu::Limits) {
                $(limits.$name = limits.$name.$lesser($t::try_from(self.$name).unwrap_or($t::MAX));)*
            }

            /// Fails where kernels do not run with so little.
            pub(crate) fn suffice(&self, name: &str) -> Result<()> {
                $(if self.$name < $least {
                    bail!(
                        Limit,
                        "{} is {} for {name}, and kernels need {}: allow more, or use Device::cpu()",
                        stringify!($name),
                        self.$name,
                        $least
                    );
                })*
                Ok(())
            }
        }
    };
}

limits! {
    /// Bytes of a buffer. A tensor of more has several.
    max_buffer_size: u64, lesser by min, least 65_536, webgpu 268_435_456, downlevel 268_435_456;
    /// Bytes of a buffer that a kernel reaches. What is larger is worked on in parts.
    max_storage_buffer_binding_size: u64, lesser by min, least 16_384, webgpu 134_217_728, downlevel 134_217_728;
    /// Buffers that a kernel reads and writes: the tensors of an expression and its results. Of an expression
    /// of more a part is computed first; an operation of three operands takes four.
    max_storage_buffers_per_shader_stage: u32, lesser by min, least 4, webgpu 8, downlevel 4;
    /// Bytes of the numbers that a kernel is given: lengths, strides, constants.
    max_uniform_buffer_binding_size: u64, lesser by min, least 4096, webgpu 65_536, downlevel 16_384;
    /// Workgroups along a dimension of a dispatch.
    max_compute_workgroups_per_dimension: u32, lesser by min, least 16_384, webgpu 65_535, downlevel 65_535;
    /// Invocations of a workgroup.
    max_compute_invocations_per_workgroup: u32, lesser by min, least 64, webgpu 256, downlevel 256;
    /// Invocations of a workgroup along its first dimension.
    max_compute_workgroup_size_x: u32, lesser by min, least 64, webgpu 256, downlevel 256;
    /// Invocations of a workgroup along its second dimension.
    max_compute_workgroup_size_y: u32, lesser by min, least 64, webgpu 256, downlevel 256;
    /// Bytes of memory that the invocations of a workgroup share.
    max_compute_workgroup_storage_size: u32, lesser by min, least 16_352, webgpu 16_384, downlevel 16_352;
    /// Bytes that the begin of a uniform block is a multiple of.
    min_uniform_buffer_offset_alignment: u32, lesser by max, least 1, webgpu 256, downlevel 256;
    /// Bytes that the begin of a window of a buffer is a multiple of.
    min_storage_buffer_offset_alignment: u32, lesser by max, least 1, webgpu 256, downlevel 256;
}

/// Bytes of a binding at most. wgpu holds Vulkan and DX12 to 2^31 - 1, and Metal, whose buffers may be larger, to nothing: it
/// tells a kernel the size of a binding as a u32, below which every index is kept.
#[cfg(feature = "gpu")]
pub(crate) fn binding(limits: &wgpu::Limits) -> u64 {
    limits.max_storage_buffer_binding_size.min(i32::MAX as u64)
}

#[cfg(all(test, feature = "gpu"))]
mod tests {
    use super::{Limits, binding};

    #[test]
    fn they_are_those_of_wgpu() {
        assert_eq!(Limits::webgpu(), Limits::of(&wgpu::Limits::defaults()));
        assert_eq!(Limits::downlevel(), Limits::of(&wgpu::Limits::downlevel_defaults()));
    }

    #[test]
    fn a_binding_has_fewer_bytes_than_2_to_31() {
        let of = |max_storage_buffer_binding_size| {
            binding(&wgpu::Limits { max_storage_buffer_binding_size, ..wgpu::Limits::defaults() })
        };
        // A Mac's: as many as its largest buffer.
        assert_eq!(
            [1 << 20, (1 << 31) - 1, 1 << 32, 36 << 30].map(of),
            [1 << 20, (1 << 31) - 1, (1 << 31) - 1, (1 << 31) - 1]
        );
    }
}
