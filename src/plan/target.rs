//! The target of a plan: facts about an adapter.

use crate::error::{Result, bail};
use crate::ir::Math;
use crate::tuning::rows::VALUES;

/// Missing or inexact operations of an adapter. Kernels for it use other forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Faults {
    /// Subnormal results become 0, also those that would round up to the least normal float.
    pub flushes: bool,
    /// Quotients are not always the nearest floats.
    pub quotients: bool,
    /// Square roots are not always the nearest floats.
    pub roots: bool,
    /// `unpack2x16float` or `pack2x16float` changes numbers that f16 has.
    pub halves: bool,
    /// There is no f16, or conversions to it are not rounded to the nearest.
    pub half_rounding: bool,
    /// There are no 64-bit integers, whose product has the high word of one of 32 bits. RDNA2's compiler: a batch and a
    /// channel added take 45 cycles a wave with them, 48 without.
    pub products: bool,
    /// `fma` rounds its product.
    pub fma: bool,
    /// `fma` is several instructions, or the driver's compiler may take it apart.
    pub splits: bool,
    /// NaN from sums and products has bits set in its lower half.
    pub nans: bool,
    /// `floor`, `ceil`, `round` and `trunc` leave fractions of f64.
    pub fractions: bool,
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
            let is_on = number != 0;
            match name {
                "workgroup" => self.workgroup = number,
                "shared" => self.shared = number,
                "quotients" => self.faults.quotients = is_on,
                "roots" => self.faults.roots = is_on,
                "flushes" => self.faults.flushes = is_on,
                "halves" => self.faults.halves = is_on,
                "half_rounding" => self.faults.half_rounding = is_on,
                "products" => self.faults.products = is_on,
                "fma" => self.faults.fma = is_on,
                "splits" => self.faults.splits = is_on,
                "nans" => self.faults.nans = is_on,
                "fractions" => self.faults.fractions = is_on,
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
