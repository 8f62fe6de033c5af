//! Limits as wgpu has them.

use crate::error::{Result, bail};
use crate::limits::{Limits, for_each_limit};

macro_rules! of_wgpu {
    ($($(#[doc = $doc:literal])+ $name:ident: $t:ident, lesser by $lesser:ident, least $least:literal, webgpu $webgpu:literal, downlevel $downlevel:literal;)*) => {
        impl Limits {
            pub(super) fn of(limits: &wgpu::Limits) -> Self {
                Limits { $($name: limits.$name.into(),)* }
            }

            /// Lowers an adapter's limits to these, where these are lower.
            pub(super) fn lower(&self, limits: &mut wgpu::Limits) {
                $(limits.$name = limits.$name.$lesser($t::try_from(self.$name).unwrap_or($t::MAX));)*
            }

            /// Fails if kernels need higher limits.
            pub(super) fn suffice(&self, name: &str) -> Result<()> {
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
for_each_limit!(of_wgpu);

/// The greatest size of a binding. wgpu limits Vulkan and DX12 to 2^31 - 1 bytes. On Metal it does not, but passes the
/// size of a binding to the kernel as a u32, which bounds every index.
pub(super) fn binding(limits: &wgpu::Limits) -> u64 {
    limits.max_storage_buffer_binding_size.min(i32::MAX as u64)
}

#[cfg(test)]
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
        // A Mac's limit is its largest buffer.
        assert_eq!(
            [1 << 20, (1 << 31) - 1, 1 << 32, 36 << 30].map(of),
            [1 << 20, (1 << 31) - 1, (1 << 31) - 1, (1 << 31) - 1]
        );
    }
}
