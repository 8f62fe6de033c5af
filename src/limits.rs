//! The limits of an adapter that matter here.

/// The list of limits. A row has WebGPU's name, wgpu's type, which of two values is the lower limit, the least value that
/// kernels of this crate need, and the guaranteed values of WebGPU and of older adapters.
macro_rules! for_each_limit {
    ($then:ident) => {
        $then! {
            /// Bytes of a buffer. A tensor of more has several.
            max_buffer_size: u64, lesser by min, least 65_536, webgpu 268_435_456, downlevel 268_435_456;
            /// Bytes of a buffer that a binding reaches. Work over a larger storage is cut into chunks.
            max_storage_buffer_binding_size: u64, lesser by min, least 16_384, webgpu 134_217_728, downlevel 134_217_728;
            /// Buffers that a kernel reads and writes: the tensors of an expression and its results. An expression with more
            /// tensors runs as several kernels. An operation of three operands needs four.
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
            /// The alignment of a uniform block, in bytes.
            min_uniform_buffer_offset_alignment: u32, lesser by max, least 1, webgpu 256, downlevel 256;
            /// The alignment of a range of a buffer, in bytes.
            min_storage_buffer_offset_alignment: u32, lesser by max, least 1, webgpu 256, downlevel 256;
        }
    };
}
#[cfg(feature = "gpu")]
pub(crate) use for_each_limit;

/// Declares [`Limits`].
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
            /// The guaranteed limits of WebGPU: 8 storage buffers, bindings of 128 MiB, buffers of 256 MiB.
            pub fn webgpu() -> Limits {
                Limits { $($name: $webgpu,)* }
            }

            /// The limits that wgpu guarantees on older adapters, such as GLES 3.1: 4 storage buffers.
            pub fn downlevel() -> Limits {
                Limits { $($name: $downlevel,)* }
            }

            $(#[doc = concat!("These limits with another `", stringify!($name), "`.")]
            ///
            /// ```
            /// use zerostride::Limits;
            ///
            #[doc = concat!("let limits = Limits::downlevel().", stringify!($name), "(1024);")]
            #[doc = concat!("assert_eq!(limits.", stringify!($name), ", 1024);")]
            /// ```
            pub fn $name(self, $name: u64) -> Limits {
                Limits { $name, ..self }
            })*

            /// Each with its name.
            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}
for_each_limit!(limits);
