//! What is known of an adapter.

use crate::error::{Result, bail};
use crate::ir::Math;
use crate::tuning::Tuning;

/// What an adapter lacks, or computes otherwise than IEEE 754, so that kernels carry forms of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Faults {
    /// Subnormal results become 0, those too that would round up to the least normal float.
    pub flushes: bool,
    /// Quotients are not the nearest floats.
    pub quotients: bool,
    /// Square roots are not.
    pub roots: bool,
    /// `unpack2x16float` or `pack2x16float` changes numbers that f16 has.
    pub halves: bool,
    /// There is no f16, or what is converted to it is not rounded to the nearest.
    pub half_rounding: bool,
    /// There are no integers of 64 bits, or a product of them is no faster than several of 32.
    pub products: bool,
    /// `fma` rounds its product, or may where it was not asked.
    pub fma: bool,
    /// NaN that sums and products give has bits set in its lower half.
    pub nans: bool,
    /// `floor`, `ceil`, `round` and `trunc` leave fractions of f64.
    pub fractions: bool,
}

/// What a plan must know of an adapter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Workgroups per dimension of a dispatch.
    pub groups: u32,
    /// Storage bindings of a kernel, the output included.
    pub bindings: u32,
    /// Invocations of a workgroup, in whatever form: a power of two from 64 to [`WORKGROUP`](super::WORKGROUP).
    pub workgroup: u32,
    pub faults: Faults,
    /// How functions are computed.
    pub math: Math,
    /// Bytes that it moves in a second; none of an adapter on the host's processor.
    pub rate: Option<u64>,
    /// Bytes of workgroup memory.
    pub shared: u32,
    pub tuning: Tuning,
}

impl Target {
    /// Takes values of fields by their names, as in `vectors=2,wave=32`: to measure what suits an adapter, and to test what
    /// others are given.
    pub(crate) fn tune(&mut self, text: &str) -> Result<()> {
        for field in text.split(',').filter(|field| !field.is_empty()) {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            let Ok(number) = value.parse::<u32>() else {
                bail!(Device, "the tuning {field:?} has no number: write {name}=1")
            };
            let is_on = number != 0;
            match name {
                "workgroup" => self.workgroup = number,
                "shared" => self.shared = number,
                "vectors" => self.tuning.vectors = number,
                "wide_words" => self.tuning.wide_words = is_on,
                "meets" => self.tuning.meets = is_on,
                "wave" => self.tuning.wave = number,
                "tiles" => self.tuning.tiles = is_on,
                "narrow" => self.tuning.narrow = is_on,
                "quotients" => self.faults.quotients = is_on,
                "roots" => self.faults.roots = is_on,
                "flushes" => self.faults.flushes = is_on,
                "halves" => self.faults.halves = is_on,
                "half_rounding" => self.faults.half_rounding = is_on,
                "products" => self.faults.products = is_on,
                "fma" => self.faults.fma = is_on,
                "nans" => self.faults.nans = is_on,
                "fractions" => self.faults.fractions = is_on,
                _ => bail!(Device, "there is no tuning {name:?}: see plan/target.rs"),
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
    fn tunings_are_read_by_name() {
        let tuned = |text| {
            let mut target: Target = GPU;
            target.tune(text).map(|()| (target.tuning.vectors, target.tuning.wave, target.tuning.narrow))
        };
        assert_eq!(tuned("vectors=2,wave=8,narrow=0").unwrap(), (2, 8, false));
        assert!(tuned("").is_ok());
        assert!(tuned("waves=2").unwrap_err().to_string().contains("\"waves\""));
        assert!(tuned("wave").unwrap_err().to_string().contains("write wave=1"));
    }
}
