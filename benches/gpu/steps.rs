//! The steps, in the order in which their answers matter.

use std::time::{Duration, Instant};

use serde_json::json;
use zerostride::{Device, Expr, IntoExpr, Tensor};

use crate::cases;
use crate::common::hand::{self, Hand};
use crate::common::{Failure, Work, median};
use crate::elementwise::{Case, NAMES};
use crate::meter::{Meter, time};
use crate::robust;

type Step = fn(&mut Meter) -> Result<(), Failure>;

pub(crate) const ALL: &[(&str, Step)] = &[
    ("facts", facts),
    ("robust", robust),
    ("constants", constants),
    ("access", access),
    ("reductions", reductions),
    ("forms", forms),
    ("compile", compile),
];

/// Sets of tensors that take turns.
const SETS: usize = 3;

/// Work that times itself.
type Timed<'a> = &'a dyn Fn() -> zerostride::Result<Duration>;

/// What is known of the adapters.
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

/// Bytes a second that the device moves, read and written, by a kernel by hand and by the copy command.
fn copy_rates(device: &Device, bytes: usize) -> Result<[f64; 2], Failure> {
    const TEXT: &str = "
        @group(0) @binding(0) var<uniform> n: vec4<u32>;
        @group(0) @binding(1) var<storage, read_write> y: array<vec4<u32>>;
        @group(0) @binding(2) var<storage, read> x: array<vec4<u32>>;
        @compute @workgroup_size(256)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = id.y * n.y + id.x;
            if (i < n.x) { y[i] = x[i]; }
        }";
    let (device, queue) = device.wgpu().ok_or("no device of wgpu")?;
    let vectors = bytes / 32;
    let size = 16 * vectors as u64;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let create = || {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let [x, y] = [create(), create()];
    let groups = vectors.div_ceil(256);
    let (rows, line) = (groups.div_ceil(32768), groups.min(32768));
    let numbers = hand::buffer(&device, &[vectors as u32, 256 * line as u32, 0, 0]);
    let kernel = Hand::new(&(device.clone(), queue.clone()), TEXT, &[&numbers, &y, &x], [line, rows]);
    let wait = || device.poll(wgpu::PollType::wait_indefinitely()).map(drop);
    let command = |count: usize| {
        let mut encoder = device.create_command_encoder(&Default::default());
        for _ in 0..count {
            encoder.copy_buffer_to_buffer(&x, 0, &y, 0, size);
        }
        queue.submit([encoder.finish()]);
    };
    let work: [&dyn Fn(usize); 2] = [&|count| kernel.submit_many(count), &command];
    let mut rates = [0.0; 2];
    for (rate, work) in rates.iter_mut().zip(work) {
        let seconds = |count| -> Result<f64, Failure> {
            wait()?;
            let start = Instant::now();
            work(count);
            wait()?;
            Ok(start.elapsed().as_secs_f64())
        };
        seconds(2)?;
        let few = ((0.02 / seconds(2)? * 2.0) as usize).clamp(2, 400);
        let mut all = (0..5).map(|_| seconds(few)).collect::<Result<Vec<_>, _>>()?;
        all.sort_by(f64::total_cmp);
        *rate = 2.0 * size as f64 * few as f64 / all[2];
    }
    Ok(rates)
}

/// What a copy by a kernel reaches, for a number of elements of f32: the measure of each case.
fn measure(meter: &Meter, side: usize) -> Result<f64, Failure> {
    Ok(copy_rates(&meter.device, 8 * side * side)?[0])
}

fn constants(meter: &mut Meter) -> Result<(), Failure> {
    let device = meter.device.clone();
    let largest = if meter.sides[0] < 4096 { 22 } else { 31 };
    for power in [18, 20, 22, 24, 26, 28, 30, 31].into_iter().filter(|&power| power <= largest) {
        // Up to 1 GiB read and as much written.
        let bytes = 1_usize << power;
        let [kernel, command] = copy_rates(&device, bytes)?;
        println!(
            "  copy of {:>9} KiB: {:>7.0} GB/s by a kernel, {:>7.0} by the command",
            bytes >> 11,
            kernel / 1e9,
            command / 1e9
        );
        meter.tell(
            "copy",
            json!({ "bytes": bytes, "kernel_gbps": kernel / 1e9, "command_gbps": command / 1e9 }),
        )?;
    }
    let (raw, queue) = device.wgpu().ok_or("no device of wgpu")?;
    // With a buffer that it writes, dispatches wait for each other; without, they may not.
    let dependent = "
        @group(0) @binding(0) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] += 1u; }";
    let independent = "
        @group(0) @binding(0) var<storage, read> y: array<u32>;
        var<workgroup> w: u32;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { if (y[id.x] == 77u) { w = 1u; } }";
    for (name, text) in [("dependent dispatch", dependent), ("independent dispatch", independent)] {
        let buffer = hand::buffer(&raw, &[0_u32; 64]);
        let kernel = Hand::new(&(raw.clone(), queue.clone()), text, &[&buffer], [1, 1]);
        let once = |count| -> Result<Duration, Failure> {
            let start = Instant::now();
            kernel.submit_many(count);
            raw.poll(wgpu::PollType::wait_indefinitely())?;
            Ok(start.elapsed())
        };
        let count = if meter.sides[0] < 4096 { 200 } else { 2000 };
        once(count)?;
        let many = median((0..meter.effort.turns).map(|_| once(count)).collect::<Result<_, _>>()?);
        let one = median((0..10 * meter.effort.turns).map(|_| once(1)).collect::<Result<_, _>>()?);
        let each = (many.saturating_sub(one)).as_nanos() as f64 / (count - 1) as f64;
        println!("  {name}: {each:.0} ns; submitted alone and waited for: {:.1} us", one.as_secs_f64() * 1e6);
        meter.tell(name, json!({ "ns": each, "alone_ns": one.as_nanos() as u64 }))?;
    }
    for count in [256_usize, 65536] {
        let x = cases::tensor(&device, &[count])?;
        let add = &x + 1.0;
        let long = if meter.sides[0] < 4096 { 100 } else { 1000 };
        let chain = || -> zerostride::Result<Duration> {
            device.synchronize()?;
            let start = Instant::now();
            let mut y = x.clone();
            for _ in 0..long {
                y = (&y + 1.0).eval()?;
            }
            device.synchronize()?;
            Ok(start.elapsed())
        };
        let apart = || -> zerostride::Result<Duration> {
            device.synchronize()?;
            let start = Instant::now();
            for _ in 0..long {
                add.eval()?;
            }
            device.synchronize()?;
            Ok(start.elapsed())
        };
        let alone = || -> zerostride::Result<Duration> {
            device.synchronize()?;
            let start = Instant::now();
            add.eval()?;
            device.synchronize()?;
            Ok(start.elapsed())
        };
        let all: [(&str, Timed, usize); 3] = [
            ("a chain, each", &chain, long),
            ("independent, each", &apart, long),
            ("alone, waited for", &alone, 1),
        ];
        for (name, work, long) in all {
            work()?;
            let each = median((0..meter.effort.turns).map(|_| work()).collect::<zerostride::Result<_>>()?)
                .as_secs_f64()
                / long as f64;
            println!("  x + 1.0 of {count} elements, {name}: {:.2} us", each * 1e6);
            meter.tell(name, json!({ "elements": count, "ns": each * 1e9 }))?;
        }
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
            let name = format!("rows of {columns}");
            if !meter.wants(&name) {
                continue;
            }
            let rows = side * side / columns;
            let sets = (0..SETS)
                .map(|_| {
                    let row = cases::tensor(&meter.device, &[columns])?;
                    work(cases::tensor(&meter.device, &[rows, columns])? + row)
                })
                .collect::<zerostride::Result<Vec<Work>>>()?;
            meter.case(&name, side, 8 * rows * columns, copy, &sets.iter().collect::<Vec<_>>())?;
        }
        for stride in [side, side + 32] {
            let name = format!("turned of {stride}");
            if !meter.wants(&name) {
                continue;
            }
            let sets = (0..SETS)
                .map(|_| {
                    let x: Tensor<f32> = cases::tensor(&meter.device, &[stride, stride])?;
                    let cut = x.slice(0, ..side as isize).slice(1, ..side as isize);
                    work(cut.transpose(0, 1) + 1.0)
                })
                .collect::<zerostride::Result<Vec<Work>>>()?;
            meter.case(&name, side, 8 * side * side, copy, &sets.iter().collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

/// Evaluates an expression that is built once.
fn work(expr: impl IntoExpr<f32>) -> zerostride::Result<Work> {
    let expr = expr.into_expr();
    Ok(Box::new(move || expr.eval().map(drop)))
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
            // What each result has of the operand's elements.
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
        if meter.wants("cumsum flat") {
            let sets = (0..SETS)
                .map(|_| work(cases::tensor(&meter.device, &[count])?.cumsum(0)))
                .collect::<zerostride::Result<Vec<Work>>>()?;
            meter.case("cumsum flat", side, 8 * count, copy, &sets.iter().collect::<Vec<_>>())?;
        }
        for columns in [16, 32, 64, 256] {
            let name = format!("sum of {columns}");
            if !meter.wants(&name) {
                continue;
            }
            let sets = (0..SETS)
                .map(|_| work(cases::tensor(&meter.device, &[count / columns, columns])?.sum(1)))
                .collect::<zerostride::Result<Vec<Work>>>()?;
            meter.case(&name, side, 4 * count, copy, &sets.iter().collect::<Vec<_>>())?;
        }
        if meter.wants("softmax long") {
            let sets = (0..SETS)
                .map(|_| work(cases::tensor(&meter.device, &[16, count / 16])?.softmax(1)))
                .collect::<zerostride::Result<Vec<Work>>>()?;
            meter.case("softmax long", side, 8 * count, copy, &sets.iter().collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

/// The same work under other tunings, each in a process of its own. Without this a table for an adapter is guessed.
fn forms(meter: &mut Meter) -> Result<(), Failure> {
    const TUNINGS: &[&str] = &[
        "",
        "team=16",
        "team=32",
        "team=128",
        "team=256",
        "straight=4",
        "straight=8",
        "straight=32",
        "vectors=2",
        "vectors=4",
        "workgroup=64",
        "workgroup=128",
        "places=8",
        "places=32",
        "neighbours=8",
        "reload=64",
        "wave=32",
        "tiles=1",
        "narrow=0",
        "runs=8192",
        "runs=131072",
        "quotients=0",
        "wide_words=1",
    ];
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
    // A short run sees that it works.
    let (tunings, cases) = if side < 4096 { (&TUNINGS[..2], &CASES[..2]) } else { (TUNINGS, CASES) };
    let mut table: Vec<(&str, Vec<Option<u64>>)> = Vec::new();
    for &tuning in tunings {
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
        command.arg(&file).env("ZEROSTRIDE_TUNING", tuning);
        let (adapter, backend) = name.rsplit_once(" (").unwrap_or((&name, ""));
        command.args(["--device", &format!("{}:{adapter}", backend.trim_end_matches(')'))]);
        for case in cases.iter().filter(|case| meter.wants(case)) {
            command.args(["--case", case]);
        }
        let output = command.output()?;
        if !output.status.success() {
            println!("  {tuning}: {}", String::from_utf8_lossy(&output.stderr).trim());
            continue;
        }
        let text = std::fs::read_to_string(&file)?;
        std::fs::remove_file(&file)?;
        let mut times = Vec::new();
        for line in text.lines() {
            let row: serde_json::Value = serde_json::from_str(line)?;
            let (case, ns) = (row["case"].as_str().unwrap_or_default().to_string(), row["ns"].as_u64());
            meter.tell(&case, json!({ "n": side, "way": tuning, "ns": ns }))?;
            times.push((case, ns));
        }
        let known = table.is_empty();
        if known {
            let names = cases.iter().filter(|case| times.iter().any(|(own, _)| own == *case));
            table = names.map(|case| (*case, Vec::new())).collect();
        }
        print!("  {:<16}", if tuning.is_empty() { "as it is, us" } else { tuning });
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
    // What each device has of all cases, before any is timed.
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
        // A software driver takes a third of a second for it, so a short run has it in `reductions` alone.
        if !meter.wants(case) || case == "matrix product" && side < 4096 {
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

/// How long the first evaluation of small tensors takes, in which its kernels are compiled, and the second.
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
