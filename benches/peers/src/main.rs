//! Times the same cases in this crate and in its peers in Rust, interleaved in one process. Prints one JSON object a line,
//! with `case`, `kind`, `system`, `side`, and `ns` of each round. A wrong result is not timed, and `off` is its error.
//! With an adapter, the first line names it and Burn's.

mod cases;
mod right;
mod systems;

use std::time::{Duration, Instant};

use clap::Parser;
use serde_json::json;

use cases::{Case, cases};
use systems::{Run, Systems};

#[derive(Parser)]
struct Options {
    /// The adapter of this crate, as `Device::named` takes it, for the systems of a GPU; the systems of the CPU without it
    #[arg(long)]
    adapter: Option<String>,
    #[arg(long, default_value_t = 4096)]
    side: usize,
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Only these cases
    #[arg(long)]
    case: Vec<String>,
    /// Only these systems
    #[arg(long)]
    system: Vec<String>,
}

pub(crate) type Failure = Box<dyn std::error::Error>;

/// A case whose second run takes longer than this is timed once. The first run also compiles and tunes.
const LONG: Duration = Duration::from_secs(10);

/// Runs of a turn before the timed one. peers.py has the same number.
const WARMING: usize = 3;

/// The outcome of a system.
struct Timed {
    system: &'static str,
    run: Run,
    /// The error of a wrong result.
    off: f64,
    times: Vec<Duration>,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let systems = Systems::open(options.adapter.as_deref())?;
    if let Some([own, burn]) = systems.adapters() {
        println!("{}", json!({ "adapter": own, "burn": burn }));
    }
    for case in cases(options.side).into_iter().filter(|case| listed(&options.case, case.name)) {
        eprintln!("{}", case.name);
        for Timed { system, off, times, .. } in timed(&systems, &case, &options)? {
            let mut line = json!({
                "case": case.name, "kind": case.kind(), "system": system, "side": options.side,
            });
            match off <= right::BOUND {
                true => line["ns"] = times.iter().map(|time| time.as_nanos() as u64).collect(),
                // JSON has neither infinity nor NaN.
                false => line["off"] = off.to_string().into(),
            }
            println!("{line}");
        }
    }
    Ok(())
}

/// Whether a name is in a list. An empty list has every name.
fn listed(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|one| one == name)
}

fn timed(systems: &Systems, case: &Case, options: &Options) -> Result<Vec<Timed>, Failure> {
    let right = right::right(case);
    let mut all = Vec::new();
    for (system, mut run) in systems.runs(case)? {
        if !listed(&options.system, system) {
            continue;
        }
        let start = Instant::now();
        let read = run()?;
        let mut times = Vec::new();
        if start.elapsed() > LONG {
            let start = Instant::now();
            drop(run()?);
            times.extend(Some(start.elapsed()).filter(|&time| time > LONG));
        }
        all.push(Timed { system, run, off: right::worst(case, &right, &read()?), times });
    }
    let mut turns: Vec<&mut Timed> = all.iter_mut().filter(|timed| timed.is_again()).collect();
    for _ in 0..options.rounds {
        // Forwards and backwards, so that no system always follows the same one.
        turns.reverse();
        for Timed { run, times, .. } in &mut turns {
            // The system before leaves threads asleep and caches full of its data, so each system warms up first.
            for _ in 0..WARMING {
                drop(run()?);
            }
            let start = Instant::now();
            drop(run()?);
            times.push(start.elapsed());
        }
    }
    // Checked again, because a system may have chosen another kernel meanwhile.
    for timed in turns {
        timed.off = right::worst(case, &right, &(timed.run)()?()?);
    }
    Ok(all)
}

impl Timed {
    /// The result is right and not yet timed.
    fn is_again(&self) -> bool {
        self.off <= right::BOUND && self.times.is_empty()
    }
}
