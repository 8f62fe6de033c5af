//! The systems. Each case is written as a good user of the system would write it.

mod burn;
mod candle;
mod ndarray;
mod zerostride;

use self::burn::Burn;
use self::zerostride::Zerostride;
use crate::Failure;
use crate::cases::Case;

/// Computes a case once. It ends when the result is computed, and returns a function that reads the result.
pub(crate) type Run = Box<dyn FnMut() -> Result<Reader, Failure>>;
pub(crate) type Reader = Box<dyn FnOnce() -> Result<Vec<f64>, Failure>>;

/// Systems of a GPU and systems of the CPU run in separate processes, because idle threads of the former take time of the
/// latter.
pub(crate) enum Systems {
    Gpu(Zerostride, Burn),
    Cpu(Zerostride),
}

impl Systems {
    /// The systems of a GPU if there is an adapter, else those of the CPU.
    pub fn open(adapter: Option<&str>) -> Result<Self, Failure> {
        Ok(match adapter {
            Some(adapter) => Systems::Gpu(Zerostride::named(adapter)?, Burn::open()),
            None => Systems::Cpu(Zerostride::named("cpu")?),
        })
    }

    /// The adapters of this crate and of Burn, in words.
    pub fn adapters(&self) -> Option<[String; 2]> {
        match self {
            Systems::Gpu(own, burn) => Some([own.name(), burn.name()]),
            Systems::Cpu(_) => None,
        }
    }

    /// The runs of a case, with the names of the systems.
    pub fn runs(&self, case: &Case) -> Result<Vec<(&'static str, Run)>, Failure> {
        Ok(match self {
            Systems::Gpu(own, burn) => {
                vec![("zerostride wgpu", own.run(case)?), ("burn wgpu", burn.run(case))]
            }
            Systems::Cpu(own) => vec![
                ("zerostride cpu", own.run(case)?),
                ("ndarray rayon", ndarray::run(case)?),
                ("candle cpu", candle::run(case)?),
            ],
        })
    }
}
