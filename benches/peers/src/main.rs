//! The same cases by this crate and by its peers in Rust, in one process and interleaved: one JSON
//! object a line with `case`, `reduces`, `system`, `side`, and `ns` of each round, or `off`, which says by how
//! much a system's result is wrong, and then it is not timed. With an adapter the first line names it
//! and Burn's.

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
    /// The adapter of this crate, as `Device::named` takes it, for the systems of a GPU; those of the CPU without it
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

/// What takes longer the first time, which compiles and tunes too, is run once only.
const LONG: Duration = Duration::from_secs(10);

/// Runs of a turn before the one that is timed; peers.py has as many.
const WARMING: usize = 3;

/// What a system did.
struct Timed {
    system: &'static str,
    run: Run,
    /// By how much its result is off.
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
                "case": case.name, "reduces": case.reduces(), "system": system, "side": options.side,
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

/// Whether a name is in a list, of which an empty one has all.
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
        let first = start.elapsed();
        let times = if first > LONG { vec![first] } else { Vec::new() };
        all.push(Timed { system, run, off: right::worst(case, &right, &read()?), times });
    }
    let mut turns: Vec<&mut Timed> = all.iter_mut().filter(|timed| timed.is_again()).collect();
    for _ in 0..options.rounds {
        // There and back, so that none always comes after the same one.
        turns.reverse();
        for Timed { run, times, .. } in &mut turns {
            // What ran before leaves threads asleep and caches full of its own: each follows itself.
            for _ in 0..WARMING {
                drop(run()?);
            }
            let start = Instant::now();
            drop(run()?);
            times.push(start.elapsed());
        }
    }
    // Once more, as a system may have chosen another kernel meanwhile.
    for timed in turns {
        timed.off = right::worst(case, &right, &(timed.run)()?()?);
    }
    Ok(all)
}

impl Timed {
    /// Whether it is right, and was not timed yet.
    fn is_again(&self) -> bool {
        self.off <= right::BOUND && self.times.is_empty()
    }
}
