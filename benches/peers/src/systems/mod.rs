//! The systems, each by its own means as a user of it would write a case well.

mod burn;
mod candle;
mod ndarray;
mod zerostride;

use self::burn::Burn;
use self::zerostride::Zerostride;
use crate::Failure;
use crate::cases::Case;

/// Computes a case once. It ends when the result is there, and gives what reads all of it.
pub(crate) type Run = Box<dyn FnMut() -> Result<Reader, Failure>>;
pub(crate) type Reader = Box<dyn FnOnce() -> Result<Vec<f64>, Failure>>;

pub(crate) struct Systems {
    adapter: Zerostride,
    burn: Burn,
    cpu: Zerostride,
}

impl Systems {
    pub fn open(adapter: &str) -> Result<Self, Failure> {
        Ok(Self { adapter: Zerostride::named(adapter)?, burn: Burn::open(), cpu: Zerostride::named("cpu")? })
    }

    /// The adapters of this crate and of Burn, in words.
    pub fn adapters(&self) -> [String; 2] {
        [self.adapter.name(), self.burn.name()]
    }

    /// The runs of a case, with the names of the systems.
    pub fn runs(&self, case: &Case) -> Result<Vec<(&'static str, Run)>, Failure> {
        Ok(vec![
            ("zerostride wgpu", self.adapter.run(case)?),
            ("burn wgpu", self.burn.run(case)),
            ("zerostride cpu", self.cpu.run(case)?),
            ("ndarray rayon", ndarray::run(case)?),
            ("candle cpu", candle::run(case)?),
        ])
    }
}
