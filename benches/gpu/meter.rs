//! Measures the time of work, and writes it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use zerostride::{Device, Result};

use crate::common::{Failure, Work, median, timed};

/// The lengths of measurements.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// The least total time of the evaluations of one wait. A wait takes up to 0.15 ms.
    pub(crate) least: Duration,
    /// The number of measurements, of which the median counts.
    pub(crate) turns: usize,
    /// The time of warm-up. A GPU that idled while a kernel was compiled runs at less than half of its clock.
    pub(crate) warm: Duration,
}

impl Effort {
    pub(crate) const FULL: Effort =
        Effort { least: Duration::from_millis(20), turns: 5, warm: Duration::from_millis(500) };
    /// Short measurements, to check that everything runs.
    pub(crate) const QUICK: Effort =
        Effort { least: Duration::from_millis(1), turns: 1, warm: Duration::ZERO };
}

/// The most evaluations of one wait.
const MOST: usize = 200;

/// The time of one evaluation.
pub(crate) struct Time {
    /// The time of its kernels alone, by the device's timestamps.
    pub(crate) device: Option<Duration>,
    /// The host's time, of many evaluations for each wait.
    pub(crate) host: Duration,
    /// The nanoseconds of each kernel of one evaluation.
    pub(crate) kernels: Vec<u64>,
}

impl Time {
    /// The shorter of both. Timestamps leave out gaps between kernels, but put a pass around each kernel.
    pub(crate) fn least(&self) -> Duration {
        self.device.map_or(self.host, |device| device.min(self.host))
    }
}

pub(crate) struct Meter<'a> {
    pub(crate) device: Device,
    /// Sizes. The number of elements is the square of a size.
    pub(crate) sides: &'a [usize],
    pub(crate) effort: Effort,
    step: &'static str,
    file: Option<File>,
    only: &'a [String],
}

impl<'a> Meter<'a> {
    pub(crate) fn new(
        device: Device,
        sides: &'a [usize],
        effort: Effort,
        file: Option<&Path>,
        only: &'a [String],
    ) -> std::result::Result<Meter<'a>, Failure> {
        let open = |path| OpenOptions::new().create(true).append(true).open(path);
        Ok(Meter { device, sides, effort, step: "", file: file.map(open).transpose()?, only })
    }

    pub(crate) fn begin(&mut self, step: &'static str) -> std::result::Result<(), Failure> {
        println!("\n{step}: {}", self.device.name());
        self.step = step;
        Ok(())
    }

    pub(crate) fn wants(&self, case: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == case)
    }

    /// Adds a line about a case.
    pub(crate) fn tell(&mut self, case: &str, facts: Value) -> std::result::Result<(), Failure> {
        let mut line = json!({ "step": self.step, "case": case });
        if let (Some(line), Value::Object(facts)) = (line.as_object_mut(), facts) {
            line.extend(facts);
        }
        if let Some(file) = &mut self.file {
            writeln!(file, "{line}")?;
        }
        Ok(())
    }

    /// Whether this run only checks that everything works.
    pub(crate) fn is_short(&self) -> bool {
        self.sides[0] < 4096
    }

    /// Times a case, prints it beside a copy of the same bytes, and records it.
    pub(crate) fn case(
        &mut self,
        name: &str,
        side: usize,
        bytes: usize,
        copy: f64,
        sets: &[&Work],
    ) -> std::result::Result<(), Failure> {
        let time = match time(&self.device, self.effort, sets) {
            Ok(time) => time,
            Err(error) => {
                println!("  {name:<20} {side:>6}  {error}");
                return self.tell(name, json!({ "n": side, "error": error.to_string() }));
            }
        };
        let rate = bytes as f64 / time.least().as_secs_f64();
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        println!(
            "  {name:<20} {side:>6} {:>10.1} us {:>10.1} us host {:>8.0} GB/s {:>6.2} of copy, {} kernels",
            time.device.map_or(f64::NAN, micros),
            micros(time.host),
            rate / 1e9,
            rate / copy,
            time.kernels.len()
        );
        self.tell(
            name,
            json!({
                "n": side, "ns": time.device.map(|time| time.as_nanos() as u64), "wall_ns": time.host.as_nanos() as u64,
                "bytes": bytes, "copy": rate / copy, "kernels": time.kernels,
            }),
        )
    }
}

/// The time of work on a device, with several sets of tensors.
pub(crate) fn time(device: &Device, effort: Effort, sets: &[&Work]) -> Result<Time> {
    let each = || sets.iter().try_for_each(|work| work());
    // The first run compiles kernels, and touches memory for the first time.
    for _ in 0..effort.turns.min(2) {
        timed(device, each)?;
    }
    let begun = Instant::now();
    while begun.elapsed() < effort.warm {
        (0..10).try_for_each(|_| each())?;
        device.synchronize()?;
    }
    let one = timed(device, each)?.as_secs_f64() / sets.len() as f64;
    let count = ((effort.least.as_secs_f64() / one).ceil() as usize)
        .clamp(sets.len(), MOST)
        .next_multiple_of(sets.len());
    let (mut hosts, mut devices, mut kernels) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.turns {
        device.synchronize()?;
        let start = Instant::now();
        for k in 0..count {
            sets[k % sets.len()]()?;
        }
        device.synchronize()?;
        hosts.push(start.elapsed() / count as u32);
        if let Ok(((), times)) = device.profile(each) {
            devices.push(times.iter().map(|kernel| kernel.time).sum::<Duration>() / sets.len() as u32);
            let count = times.len() / sets.len();
            kernels = times.iter().take(count).map(|kernel| kernel.time.as_nanos() as u64).collect();
        }
    }
    let device = (!devices.is_empty()).then(|| median(devices));
    Ok(Time { device, host: median(hosts), kernels })
}
