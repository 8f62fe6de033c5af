//! The steps, the most important first.

use std::time::{Duration, Instant};

use serde_json::json;
use zerostride::{Device, Expr};

use crate::cases;
use crate::common::{Failure, Work};
use crate::constants::{constants, measure};
use crate::elementwise::{Case, NAMES};
use crate::meter::{Meter, time};
use crate::programs::programs;
use crate::robust;

type Step = fn(&mut Meter) -> Result<(), Failure>;

pub(crate) const ALL: &[(&str, Step)] = &[
    ("facts", facts),
    ("robust", robust),
    ("constants", constants),
    ("access", access),
    ("reductions", reductions),
    ("programs", programs),
    ("forms", forms),
    ("compile", compile),
];

/// Sets of tensors that take turns.
pub(crate) const SETS: usize = 3;

/// The facts about the adapters.
fn facts(meter: &mut Meter) -> Result<(), Failure> {
    for adapter in Device::all() {
        let start = Instant::now();
        let opened = adapter.open();
        let took = start.elapsed().as_secs_f64() * 1e3;
        println!(
            "  {} ({}), {}, {}: opens in {took:.0} ms",
            adapter.name,
            adapter.backend,
            adapter.kind.name(),
            adapter.driver
        );
        let limits: serde_json::Map<_, _> = adapter
            .limits()
            .into_iter()
            .flat_map(|limits| limits.named())
            .map(|(name, limit)| (name.to_string(), limit.into()))
            .collect();
        meter.tell(
            &adapter.name,
            json!({
                "backend": adapter.backend, "kind": adapter.kind.name(), "driver": adapter.driver,
                "features": adapter.features(), "limits": limits, "open_ms": took,
                "error": opened.err().map(|error| error.to_string()),
            }),
        )?;
    }
    Ok(())
}

/// Elementwise cases of one name in sets.
fn sets(device: &Device, name: &str, side: usize) -> zerostride::Result<Vec<Case>> {
    (0..SETS).map(|_| Case::new(name, device, side)).collect()
}

fn access(meter: &mut Meter) -> Result<(), Failure> {
    for &side in meter.sides {
        let copy = measure(meter, side)?;
        for name in NAMES {
            if !meter.wants(name) {
                continue;
            }
            let sets = sets(&meter.device, name, side)?;
            let work: Vec<&Work> = sets.iter().map(|case| &case.work).collect();
            meter.case(name, side, sets[0].bytes, copy, &work)?;
        }
        for columns in [1024, 1028, 1500] {
            let rows = side * side / columns;
            let add = |device: &Device| {
                Ok(cases::tensor(device, &[rows, columns])? + cases::tensor(device, &[columns])?)
            };
            case(meter, &format!("rows of {columns}"), side, 8 * rows * columns, copy, add)?;
        }
        for stride in [side, side + 32] {
            let turned = |device: &Device| {
                let x = cases::tensor(device, &[stride, stride])?;
                Ok(x.slice(0, ..side as isize).slice(1, ..side as isize).transpose(0, 1) + 1.0)
            };
            case(meter, &format!("turned of {stride}"), side, 8 * side * side, copy, turned)?;
        }
    }
    Ok(())
}

/// Times an expression over tensors that are made for each set, if the case is selected.
fn case(
    meter: &mut Meter,
    name: &str,
    side: usize,
    bytes: usize,
    copy: f64,
    expr: impl Fn(&Device) -> zerostride::Result<Expr<f32>>,
) -> Result<(), Failure> {
    if !meter.wants(name) {
        return Ok(());
    }
    let work = |_| {
        let expr = expr(&meter.device)?;
        Ok(Box::new(move || expr.eval().map(drop)) as Work)
    };
    let sets = (0..SETS).map(work).collect::<zerostride::Result<Vec<Work>>>()?;
    meter.case(name, side, bytes, copy, &sets.iter().collect::<Vec<_>>())
}

fn reductions(meter: &mut Meter) -> Result<(), Failure> {
    for &side in meter.sides {
        let (count, copy) = (side * side, measure(meter, side)?);
        let sets = (0..SETS).map(|_| cases::cases(&meter.device, side)).collect::<Result<Vec<_>, _>>()?;
        for k in 0..sets[0].len() {
            let name = sets[0][k].name;
            if !meter.wants(name) {
                continue;
            }
            let work: Vec<&Work> = sets.iter().map(|cases| &cases[k].work).collect();
            // The part of the operand's elements that each result has.
            let writes = matches!(
                name,
                "softmax" | "layer norm" | "standardize" | "standardize 0" | "cumsum" | "cumsum first"
            );
            let bytes = match name {
                "dot" => 8 * count,
                "pairwise" => 4 * side * (side / 16),
                "matrix product" => 12 * side.min(1024).pow(2),
                _ => (4 + 4 * usize::from(writes)) * count,
            };
            meter.case(name, side, bytes, copy, &work)?;
        }
        drop(sets);
        let flat = |device: &Device| Ok(cases::tensor(device, &[count])?.cumsum(0));
        case(meter, "cumsum flat", side, 8 * count, copy, flat)?;
        for columns in [16, 32, 64, 256] {
            let sum = |device: &Device| Ok(cases::tensor(device, &[count / columns, columns])?.sum(1));
            case(meter, &format!("sum of {columns}"), side, 4 * count, copy, sum)?;
        }
        let softmax = |device: &Device| Ok(cases::tensor(device, &[16, count / 16])?.softmax(1));
        case(meter, "softmax long", side, 8 * count, copy, softmax)?;
    }
    Ok(())
}

/// The same work for other targets, each in its own process.
fn forms(meter: &mut Meter) -> Result<(), Failure> {
    const TARGETS: &[&str] = &["", "workgroup=64", "workgroup=128", "quotients=0"];
    const CASES: &[&str] = &[
        "same",
        "row",
        "col",
        "nchw",
        "hwc_u8",
        "transposed",
        "nhwc_nchw",
        "step2",
        "u8",
        "chain5",
        "sum all",
        "sum last",
        "sum first",
        "tall last",
        "tall first",
        "sum of 32",
        "wide first",
        "dot",
        "softmax",
        "layer norm",
        "var",
        "cumsum",
        "cumsum first",
        "cumsum flat",
        "matrix product",
    ];
    let side = meter.sides[0];
    let name = meter.device.name();
    // A short run checks that it works.
    let (targets, cases) = if meter.is_short() { (&TARGETS[..2], &CASES[..2]) } else { (TARGETS, CASES) };
    let mut table: Vec<(&str, Vec<Option<u64>>)> = Vec::new();
    for &target in targets {
        let file = std::env::temp_dir().join(format!("zerostride-forms-{}.jsonl", std::process::id()));
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.args([
            "--bench",
            "--only-side",
            &side.to_string(),
            "--step",
            "access",
            "--step",
            "reductions",
            "--json",
        ]);
        command.arg(&file).env("ZEROSTRIDE_TARGET", target);
        let (adapter, backend) = name.rsplit_once(" (").unwrap_or((&name, ""));
        command.args(["--device", &format!("{}:{adapter}", backend.trim_end_matches(')'))]);
        for case in cases.iter().filter(|case| meter.wants(case)) {
            command.args(["--case", case]);
        }
        let output = command.output()?;
        if !output.status.success() {
            println!("  {target}: {}", String::from_utf8_lossy(&output.stderr).trim());
            continue;
        }
        let text = std::fs::read_to_string(&file)?;
        std::fs::remove_file(&file)?;
        let mut times = Vec::new();
        for line in text.lines() {
            let row: serde_json::Value = serde_json::from_str(line)?;
            let (case, ns) = (row["case"].as_str().unwrap_or_default().to_string(), row["ns"].as_u64());
            meter.tell(&case, json!({ "n": side, "way": target, "ns": ns }))?;
            times.push((case, ns));
        }
        let known = table.is_empty();
        if known {
            let names = cases.iter().filter(|case| times.iter().any(|(own, _)| own == *case));
            table = names.map(|case| (*case, Vec::new())).collect();
        }
        print!("  {:<16}", if target.is_empty() { "as it is, us" } else { target });
        for (case, row) in &mut table {
            let ns = times.iter().find(|(own, _)| own == case).and_then(|(_, ns)| *ns);
            row.push(ns);
            match (known, ns, row[0]) {
                (true, Some(ns), _) => print!(" {case} {:.1}", ns as f64 / 1e3),
                (false, Some(ns), Some(first)) if !(0.97..1.03).contains(&(ns as f64 / first as f64)) => {
                    print!(" {case} {:.2}", ns as f64 / first as f64);
                }
                _ => {}
            }
        }
        println!();
    }
    Ok(())
}

/// The same work with robust buffers and without, in turns.
fn robust(meter: &mut Meter) -> Result<(), Failure> {
    let side = meter.sides[0];
    let name = meter.device.name();
    let opened: Result<Vec<_>, Failure> = [("robust", true), ("not robust", false)]
        .into_iter()
        .map(|(way, is)| Ok((way, robust::open(&name, is)?)))
        .collect();
    let mut devices = match opened {
        Ok(opened) => opened,
        Err(error) => {
            println!("  not run: {error}");
            return meter.tell("robust", json!({ "left_out": error.to_string() }));
        }
    };
    devices.insert(0, ("own", meter.device.clone()));
    let elementwise = ["same", "row", "transposed", "step2", "u8", "exp", "pow", "chain5", "chain20"];
    let reductions = [
        "sum all",
        "sum last",
        "sum first",
        "tall last",
        "tall first",
        "dot",
        "softmax",
        "layer norm",
        "cumsum",
        "matrix product",
    ];
    // Builds all cases on each device before one is timed.
    let mut all: Vec<Vec<(&str, Vec<Work>)>> = Vec::new();
    for (_, device) in &devices {
        let mut own: Vec<(&str, Vec<Work>)> = Vec::new();
        for name in elementwise {
            own.push((name, sets(device, name, side)?.into_iter().map(|case| case.work).collect()));
        }
        let made = (0..SETS).map(|_| cases::cases(device, side)).collect::<Result<Vec<_>, _>>()?;
        let mut named: Vec<(&str, Vec<Work>)> = reductions.iter().map(|&name| (name, Vec::new())).collect();
        for case in made.into_iter().flatten() {
            if let Some((_, works)) = named.iter_mut().find(|(name, _)| *name == case.name) {
                works.push(case.work);
            }
        }
        own.extend(named);
        all.push(own);
    }
    let names: Vec<&str> = all[0].iter().map(|(name, _)| *name).collect();
    for (k, case) in names.into_iter().enumerate() {
        // A software driver takes a third of a second for this case, so a short run has it in `reductions` alone.
        if !meter.wants(case) || case == "matrix product" && meter.is_short() {
            continue;
        }
        let mut least = vec![Duration::MAX; devices.len()];
        for _ in 0..2 {
            for (i, (_, device)) in devices.iter().enumerate() {
                let works: Vec<&Work> = all[i][k].1.iter().collect();
                let time = time(device, meter.effort, &works)?;
                least[i] = least[i].min(time.device.unwrap_or(time.host));
            }
        }
        print!("  {case:<16}");
        for ((way, _), time) in devices.iter().zip(&least) {
            print!(" {way} {:>9.1} us", time.as_secs_f64() * 1e6);
            meter.tell(case, json!({ "n": side, "way": way, "ns": time.as_nanos() as u64 }))?;
        }
        println!("  {:.2}", least[0].as_secs_f64() / least[2].as_secs_f64());
    }
    Ok(())
}

/// The times of the first evaluation of small tensors, which compiles kernels, and of the second.
fn compile(meter: &mut Meter) -> Result<(), Failure> {
    let device = meter.device.clone();
    let mut all: Vec<(&str, Work)> = Vec::new();
    for name in NAMES {
        all.push((name, Case::new(name, &device, 128)?.work));
    }
    all.extend(cases::cases(&device, 128)?.into_iter().map(|case| (case.name, case.work)));
    let uniform = device.clone();
    all.push(("uniform", Box::new(move || Expr::<f32>::uniform([256], 1).eval_on(&uniform).map(drop))));
    let mut sum = Duration::ZERO;
    for (name, work) in &all {
        let [first, second] = [(); 2].map(|()| {
            let start = Instant::now();
            work().and_then(|()| device.synchronize()).map(|()| start.elapsed())
        });
        let (first, second) = (first?, second?);
        sum += first;
        meter.tell(
            name,
            json!({ "first_ns": first.as_nanos() as u64, "second_ns": second.as_nanos() as u64 }),
        )?;
    }
    println!("  {} kinds of work: {:.0} ms in all the first time", all.len(), sum.as_secs_f64() * 1e3);
    Ok(())
}
