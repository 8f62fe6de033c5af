//! The common part of the benchmarks.

pub(crate) mod hand;
pub(crate) mod hashed;
pub(crate) mod progress;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use progress::Progress;
use zerostride::{Adapter, Device, Result};

pub(crate) type Failure = Box<dyn std::error::Error>;

/// Work to time. It returns when the work is recorded, or later.
pub(crate) type Work = Box<dyn Fn() -> Result<()>>;

/// The exit of a program, with an error on the standard error.
pub(crate) fn ended(outcome: std::result::Result<(), Failure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Options of all benchmarks.
#[derive(clap::Args)]
pub(crate) struct All {
    /// A device, as `Device::named` takes it; the best one when none is given
    #[arg(long)]
    device: Option<String>,
    /// Passed by `cargo bench`; without it this is a test that everything runs
    #[arg(long, hide = true)]
    pub(crate) bench: bool,
}

impl All {
    /// The named device, or the best one.
    pub(crate) fn device(&self) -> Result<Device> {
        self.device.as_deref().map_or_else(Device::open, Device::named)
    }
}

/// The adapter of a device, to open it again, or `None` for the CPU path.
pub(crate) fn adapter(device: &Device) -> Option<Adapter> {
    Device::all().into_iter().find(|a| device.name() == format!("{} ({})", a.name, a.backend))
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The time that `work` takes until the device is done.
pub(crate) fn timed(device: &Device, work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    device.synchronize()?;
    let start = Instant::now();
    work()?;
    device.synchronize()?;
    Ok(start.elapsed())
}

/// Medians of interleaved runs, in milliseconds. Two rounds before them are not counted. They compile kernels and touch
/// memory for the first time.
pub(crate) fn medians(device: &Device, rounds: usize, all: &[&Work]) -> Result<Vec<f64>> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); all.len()];
    let mut progress = Progress::new("timing", rounds + 2, "rounds");
    for round in 0..rounds + 2 {
        progress.at(round, "");
        for (work, times) in all.iter().zip(&mut times) {
            let time = timed(device, work)?;
            if round >= 2 {
                times.push(time);
            }
        }
    }
    Ok(times.into_iter().map(|times| median(times).as_secs_f64() * 1e3).collect())
}
