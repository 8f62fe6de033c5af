//! The target of a plan: facts about an adapter.

use crate::error::{Result, bail};
use crate::ir::Math;
use crate::tuning::rows::VALUES;

/// Declares the faults of adapters.
macro_rules! faults {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// Missing or inexact operations of an adapter. Kernels for it use other forms.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub(crate) struct Faults {
            $($(#[doc = $doc])* pub $name: bool,)*
        }

        impl Faults {
            /// The forms that are right on every adapter.
            pub(crate) const ALL: Faults = Faults { $($name: true,)* };

            /// These and others.
            pub(crate) fn or(self, other: Faults) -> Faults {
                Faults { $($name: self.$name || other.$name,)* }
            }

            fn named(&mut self, name: &str) -> Option<&mut bool> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

faults! {
    /// Subnormal results become 0, also those that would round up to the least normal float.
    flushes,
    /// Quotients are not always the nearest floats.
    quotients,
    /// Square roots are not always the nearest floats.
    roots,
    /// `unpack2x16float` or `pack2x16float` changes numbers that f16 has.
    halves,
    /// There is no f16, or conversions to it are not rounded to the nearest.
    half_rounding,
    /// There are no 64-bit integers, so i64 and u64 are pairs of words. With them the high word of a product of u32 is one
    /// multiplication. RDNA2's compiler: a batch and a channel added take 45 cycles a wave with them, 48 without.
    longs,
    /// `fma` rounds its product.
    fma,
    /// `fma` is several instructions, or the driver's compiler may take it apart.
    splits,
    /// `fma` rounds its product in a product of matrices, where the next `fma` reads it.
    chains,
    /// The same for f64.
    wide_chains,
    /// There is no f64.
    doubles,
    /// NaN from sums and products has bits set in its lower half.
    nans,
    /// `floor`, `ceil`, `round` and `trunc` leave fractions of f64.
    fractions,
}

/// The facts about an adapter that plans need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Workgroups per dimension of a dispatch.
    pub groups: u32,
    /// Storage bindings of a kernel, the output included.
    pub bindings: u32,
    /// Invocations of a workgroup: a power of two from 64 to [`WORKGROUP`](super::WORKGROUP).
    pub workgroup: u32,
    pub faults: Faults,
    /// How functions are computed.
    pub math: Math,
    /// Bytes that it moves in a second. `None` for an adapter on the host's processor.
    pub rate: Option<u64>,
    /// Bytes of workgroup memory.
    pub shared: u32,
    /// Registers of 32 bits for each invocation.
    pub registers: u32,
}

impl Target {
    /// The longest row along memory that one kernel reduces and reads again.
    pub(crate) fn longest_row(&self) -> usize {
        VALUES * self.workgroup as usize
    }

    /// Sets fields by name, as in `workgroup=64,quotients=1`: to test kernels for other adapters.
    pub(crate) fn set(&mut self, text: &str) -> Result<()> {
        for field in text.split(',').filter(|field| !field.is_empty()) {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            let Ok(number) = value.parse::<u32>() else {
                bail!(Device, "the field {field:?} has no number: write {name}=1")
            };
            match (name, self.faults.named(name)) {
                ("workgroup", _) => self.workgroup = number,
                ("shared", _) => self.shared = number,
                ("registers", _) => self.registers = number,
                (_, Some(fault)) => *fault = number != 0,
                _ => bail!(Device, "there is no field {name:?}: see plan/target.rs"),
            }
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "gpu"))]
mod tests {
    use super::Target;
    use crate::wgsl::GPU;

    #[test]
    fn fields_are_read_by_name() {
        let with = |text| {
            let mut target: Target = GPU;
            target.set(text).map(|()| (target.workgroup, target.faults.roots, target.faults.fma))
        };
        assert_eq!(with("workgroup=64,roots=1,fma=0").unwrap(), (64, true, false));
        assert!(with("").is_ok());
        assert!(with("rots=2").unwrap_err().to_string().contains("\"rots\""));
        assert!(with("roots").unwrap_err().to_string().contains("write roots=1"));
    }
}
