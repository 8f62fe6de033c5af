//! Random expressions: every device, the CPU path among them, has the results of the naive evaluator, `common::naive`.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::common::case::{Case, Kinds};
use crate::common::depth::depth;
use crate::common::draw::{Size, case};
use crate::common::shrink::shrink;
use crate::common::{check_kernels, devices, in_turn, options, test_limits};
use crate::progress::Progress;
use zerostride::{Adapter, Device, reductions};

/// Fails with a shrunk case if a device has another result than the oracle.
fn check<'a>(seed: u64, size: Size, devices: impl Iterator<Item = &'a Device>) -> Result<(), String> {
    let whole = case(seed, size);
    let expected = whole.expected();
    for device in devices {
        let Some(how) = whole.differs(device, &expected) else { continue };
        let fails = |case: &Case| case.differs(device, &case.expected()).is_some();
        let least = shrink(whole, 1000, fails);
        let now = least.differs(device, &least.expected());
        return Err(format!("seed {seed}: {how}; of less: {}\n{least}", now.unwrap_or_default()));
    }
    Ok(())
}

#[test]
fn devices_agree_with_the_oracle() {
    let seeds = depth(48, 320);
    println!("seeds 0 to {seeds}");
    for seed in 0..seeds {
        check(seed, Size { ops: 12, elements: 6000, steps: 3 }, in_turn(seed as usize))
            .unwrap_or_else(|how| panic!("{how}"));
        if seed % 8 == 7 {
            devices().iter().for_each(check_kernels);
        }
    }
}

/// Cases have reductions of every kind. The contract decides most results to the bit.
#[test]
fn cases_reduce() {
    let (mut names, mut closed, mut all) = (BTreeSet::new(), 0, 0);
    for seed in 0..800 {
        let case = case(seed, Size { ops: 12, elements: 6000, steps: 3 });
        for name in case.reductions() {
            names.insert(name);
        }
        if seed < 200 && !case.reductions().is_empty() {
            let expected = case.expected();
            closed += expected.iter().map(|expected| expected.numbers()).sum::<usize>();
            all += expected.iter().map(|expected| expected.count()).sum::<usize>();
        }
    }
    // What skips NaN is composed of these, and tests/it/gaps.rs has it.
    let others = |name: &&str| !name.starts_with("nan") && *name != "count_valid";
    let rows = reductions().map(|row| row.name).filter(others);
    let unseen: Vec<&str> = rows.filter(|name| !names.contains(name)).collect();
    assert!(unseen.is_empty(), "no case holds {unseen:?}");
    assert!(2 * closed > all, "{closed} numbers of {all} elements");
}

/// Cases look elements up, outside and inside of loops, join parts, draw random numbers, call functions of the user's,
/// and have several results.
#[test]
fn cases_are_of_all_kinds() {
    let size = Size { ops: 12, elements: 6000, steps: 3 };
    let mut kinds = Kinds::default();
    (0..320).for_each(|seed| case(seed, size).count(&mut kinds));
    let Kinds { lookups, joins, written, random, loops, inside, results, destinations } = kinds;
    let enough = lookups > 100 && joins > 30 && written > 10 && random > 30 && loops > 20 && inside > 10;
    assert!(enough && results > 30 && destinations > 30, "{kinds:?}");
}

/// Random cases for as long as `ZEROSTRIDE_SOAK` says in minutes, from the seed `ZEROSTRIDE_SEED` on;
/// without minutes this seed alone. Adapters run each eighth, or all with limits of ours. scripts/soak runs it.
#[test]
#[ignore = "runs for as long as it is told"]
fn soak() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, minutes) = (number("ZEROSTRIDE_SEED").unwrap_or(0), number("ZEROSTRIDE_SOAK"));
    let say = |text: String| writeln!(std::io::stderr(), "{text}").unwrap();
    // Their own, which do not keep all kernels.
    let open = |adapter: &Adapter| Device::open_with(&options(adapter)).unwrap();
    let devices: Vec<Device> = Device::all().iter().map(open).collect();
    // A panic is printed once it is shrunk.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let start = Instant::now();
    let end = 60 * minutes.unwrap_or(0);
    let mut progress = Progress::new("soak", end as usize, "s");
    let mut failed = Vec::new();
    let mut seed = first;
    loop {
        // A driver compiles for longer than the CPU path runs, which sees the mistakes of a schedule too.
        let is_run = |device: &&Device| seed % 8 == 0 || test_limits().is_some() || device.name() == "cpu";
        let those = devices.iter().filter(is_run);
        if let Err(text) = check(seed, size(seed / 8), those) {
            progress.print(|| say(text));
            failed.push(seed);
        }
        seed += 1;
        let more = format!(", seeds {first} to {seed}, {} failed", failed.len());
        progress.at(start.elapsed().as_secs() as usize, &more);
        if start.elapsed() >= Duration::from_secs(end) {
            break;
        }
    }
    drop(progress);
    std::panic::set_hook(hook);
    assert!(failed.is_empty(), "seeds that failed: {failed:?}");
    say(format!("seeds {first} to {}: no device differs", seed - 1));
}

/// Mostly small cases. Some have hundreds of ops, which exceed a kernel, and some have so many elements that parts are
/// worth a stage.
fn size(seed: u64) -> Size {
    match seed % 32 {
        0..=15 => Size { ops: 12, elements: 6000, steps: 3 },
        16..=25 => Size { ops: 40, elements: 600, steps: 4 },
        26..=30 => Size { ops: 200, elements: 300, steps: 2 },
        _ => Size { ops: 8, elements: 1_000_000, steps: 1 },
    }
}
