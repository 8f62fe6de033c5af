//! What is known of an adapter.

use crate::error::{Result, bail};
use crate::ir::Math;

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
    /// Vectors per invocation that pay off: 1 on a GPU, where neighbours should stay next to each
    /// other, more where starting an invocation costs as much as a few loads.
    pub vectors: u32,
    /// Whether words of 64 bits are moved faster than twice as many of 32.
    pub wide_words: bool,
    /// Invocations of a workgroup that fold a block together at most: 1 where a barrier costs more than
    /// neighbours gain.
    pub team: u32,
    /// Invocations that an adapter without teams runs side by side, so that they read what is side by side at once.
    pub neighbours: u32,
    /// Elements that are read from a cache in whatever order, so that neighbours need not share blocks of them.
    pub cached: usize,
    /// Values that an invocation loads straight at most where no order shows: a power of two.
    pub straight: u32,
    /// Bytes of workgroup memory.
    pub shared: u32,
    /// Places at least that an invocation has for what turns give: more, and the kernels are fewer.
    pub places: u32,
    /// Additions of an element that take as long as storing it and loading it from a cache.
    pub reload: usize,
    /// Runs that keep the adapter busy where an invocation scans each.
    pub runs: u32,
    /// Invocations side by side that take one step together and compute once what all of them have in common: a
    /// workgroup of as many along a row has no other row.
    pub wave: u32,
    /// Whether loading a transposed operand by tiles pays off.
    pub tiles: bool,
    /// Whether workgroups of few columns pay off wherever lanes are scattered across rows, and not
    /// only where they are filled and begin at cache lines.
    pub narrow: bool,
}

impl Target {
    /// Takes values of fields by their names, as in `team=32,straight=8`: to measure what suits an adapter, and to test what
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
                "vectors" => self.vectors = number,
                "wide_words" => self.wide_words = is_on,
                "team" => self.team = number,
                "neighbours" => self.neighbours = number,
                "cached" => self.cached = number as usize,
                "straight" => self.straight = number,
                "shared" => self.shared = number,
                "places" => self.places = number,
                "reload" => self.reload = number as usize,
                "runs" => self.runs = number,
                "wave" => self.wave = number,
                "tiles" => self.tiles = is_on,
                "narrow" => self.narrow = is_on,
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
            target.tune(text).map(|()| (target.team, target.straight, target.narrow))
        };
        assert_eq!(tuned("team=256,straight=8,narrow=0").unwrap(), (256, 8, false));
        assert!(tuned("").is_ok());
        assert!(tuned("teams=2").unwrap_err().to_string().contains("\"teams\""));
        assert!(tuned("team").unwrap_err().to_string().contains("write team=1"));
    }
}
