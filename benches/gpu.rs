//! The speed of a GPU beside a copy of the same bytes on the device. Times are those of kernels by the device's own
//! timestamps, or of many evaluations for each wait.
//!
//! ```text
//! cargo bench --bench gpu -- [--device NAME] [--quick] [--json FILE] [--step NAME]... [--case NAME]...
//! ```
//!
//! Each case has three sets of tensors that take turns, so that no cache holds an evaluation's operands. Sizes are 64
//! MiB and 1 GiB of f32. A host that waited for each evaluation would measure the wait.

#[allow(dead_code)] // used here in part
#[path = "reductions/cases.rs"]
mod cases;
#[allow(dead_code)] // used here in part
mod common;
#[path = "gpu/constants.rs"]
mod constants;
#[allow(dead_code)] // used here in part
#[path = "elementwise/cases.rs"]
mod elementwise;
#[path = "gpu/meter.rs"]
mod meter;
#[path = "products/naive.rs"]
mod naive;
#[path = "gpu/programs.rs"]
mod programs;
#[path = "gpu/robust.rs"]
mod robust;
#[path = "gpu/steps.rs"]
mod steps;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use common::Failure;
use meter::{Effort, Meter};

#[derive(Parser)]
struct Options {
    /// Smaller sizes and fewer runs
    #[arg(long)]
    quick: bool,
    /// The file that one JSON object a row is added to
    #[arg(long)]
    json: Option<PathBuf>,
    /// Only these steps: facts, robust, constants, access, reductions, programs, forms, compile
    #[arg(long)]
    step: Vec<String>,
    /// Only the size of this square
    #[arg(long)]
    only_side: Option<usize>,
    /// Only these cases
    #[arg(long)]
    case: Vec<String>,
    #[command(flatten)]
    all: common::All,
}

fn main() -> ExitCode {
    common::ended(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Failure> {
    let device = options.all.device()?;
    let sides: &[usize] = match (options.all.bench, options.quick) {
        (false, _) => &[128],
        (true, true) => &[256],
        (true, false) => &[4096, 16384],
    };
    let own = options.only_side.map(|side| [side]);
    let sides = own.as_ref().map_or(sides, |own| &own[..]);
    let effort = if options.all.bench && !options.quick { Effort::FULL } else { Effort::QUICK };
    let mut meter = Meter::new(device, sides, effort, options.json.as_deref(), &options.case)?;
    if let Some(unknown) = options.step.iter().find(|step| steps::ALL.iter().all(|(name, _)| name != step)) {
        return Err(format!("there is no step {unknown}").into());
    }
    for (name, step) in steps::ALL {
        if options.step.is_empty() || options.step.iter().any(|wanted| wanted == name) {
            meter.begin(name)?;
            step(&mut meter)?;
        }
    }
    Ok(())
}
