//! Windows and stencils beside `x + 1.0` of the same shape, or beside another way to write them.
//!
//! ```text
//! cargo bench --bench windows -- [--device NAME] [--quick] [--only NAME] [--explain]
//! ```
//!
//! Times are medians of interleaved, warm runs, each of which ends when the device is done.

#![allow(clippy::reversed_empty_ranges)] // a negative bound counts from the end

#[allow(dead_code)] // used here in part
mod common;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use common::hand::{self, Hand};
use common::{Failure, Work, median, medians, timed};
use zerostride::{Device, Expr, Pad, Result, Tensor};

#[derive(Parser)]
struct Options {
    /// Smaller sizes and fewer runs
    #[arg(long)]
    quick: bool,
    /// Only cases whose name has this in it
    #[arg(long, default_value = "")]
    only: String,
    /// Explains the kernels instead of timing them
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    all: common::All,
}

fn main() -> ExitCode {
    common::ended(run(&Options::parse()))
}

fn run(options: &Options) -> std::result::Result<(), Failure> {
    let device = options.all.device()?;
    let (side, rounds) = match (options.all.bench, options.quick) {
        (false, _) => (64, 1),
        (true, true) => (1024, 9),
        (true, false) => (4096, 15),
    };
    println!("{}, f32, {side} x {side} where not said otherwise, medians of {rounds}\n", device.name());
    let add = numbers(&device, [side, side])? + 1.0;
    let add: Work = Box::new(move || add.eval().map(drop));
    for (name, expr) in cases(&device, side)? {
        if !name.contains(&options.only) {
            continue;
        }
        if options.explain {
            println!("{name}\n{}", expr.explain(&device)?);
            continue;
        }
        let own: Work = Box::new(move || expr.eval().map(drop));
        let times = medians(&device, rounds, &[&add, &own])?;
        println!("{name:<24} {:>9.2} ms, {:.2} of x + 1.0", times[1], times[1] / times[0]);
    }
    if "by hand".contains(&options.only) && !options.explain && device.name() != "cpu" {
        by_hand(&device, side, rounds, &add)?;
    }
    if "wave".contains(&options.only) && !options.explain {
        wave(&device, if options.all.bench { (512, 1000) } else { (32, 5) }, rounds.min(5))?;
    }
    if "shallow water".contains(&options.only) && !options.explain {
        let all: &[_] =
            if options.all.bench { &[([256, 320], 100), ([2048, 2048], 4)] } else { &[([16, 20], 5)] };
        all.iter().try_for_each(|&(shape, steps)| shallow_water(&device, shape, steps, 3 * rounds))?;
    }
    Ok(())
}

/// Numbers from 0 up to 1 that differ from their neighbours.
fn numbers<const N: usize>(device: &Device, shape: [usize; N]) -> Result<Tensor<f32>> {
    let flat = Expr::iota([shape.iter().product::<usize>()], 0);
    ((flat.rem(1021) + 1).cast::<f32>() / 1024.0).eval_on(device)?.reshape(shape).tensor()
}

fn cases(device: &Device, n: usize) -> Result<Vec<(&'static str, Expr<f32>)>> {
    let x = numbers(device, [n, n])?;
    let (three, five) = (numbers(device, [3, 3])?, numbers(device, [5, 5])?);
    // 64 channels of 128 x 128, and as many results.
    let (channels, size) = (n / 64, n / 32);
    let planes =
        numbers(device, [channels, size, size])?.pad([(0, 0), (1, 1), (1, 1)], Pad::constant(0.0)).eval()?;
    let weights = numbers(device, [channels, channels, 3, 3])?;
    let convolved = Expr::einsum("chwij,ocij->ohw", [planes.windows([3, 3], [1, 2]), weights.expr()]);
    Ok(vec![
        ("box blur of 3 x 3", x.windows([3, 3], [0, 1]).mean([-2, -1])),
        ("weights of 3 x 3", (x.windows([3, 3], [0, 1]) * &three).sum([-2, -1])),
        ("weights of 5 x 5", (x.windows([5, 5], [0, 1]) * &five).sum([-2, -1])),
        ("maximum of 3 x 3", x.windows([3, 3], [0, 1]).max([-2, -1])),
        ("pool of 2 x 2, apart", x.windows_with([2, 2], [0, 1], [2, 2], [1, 1]).max([-2, -1])),
        ("pool of 3 x 3 by 2", x.windows_with([3, 3], [0, 1], [2, 2], [1, 1]).max([-2, -1])),
        ("blur with borders", x.pad([(1, 1), (1, 1)], Pad::Edge).windows([3, 3], [0, 1]).mean([-2, -1])),
        ("inner part plus one", x.slices((1..-1, 1..-1)) + 1.0),
        ("convolution", convolved),
    ])
}

/// The box blur in WGSL, by an invocation for each element, and by an invocation for four columns of eight rows, which loads
/// each row once.
fn by_hand(device: &Device, side: usize, rounds: usize, add: &Work) -> std::result::Result<(), Failure> {
    let raw = hand::raw_device(&device.name())?;
    let (n, to) = (side, side - 2);
    let bindings = |element: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> y: array<f32>;
            @group(0) @binding(1) var<storage, read> x: array<{element}>;"
        )
    };
    let single = format!(
        "{} @compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            if (id.x >= {to}u) {{ return; }}
            var sum = 0.0;
            for (var k = 0u; k < 3u; k++) {{
                let at = (id.y + k) * {n}u + id.x;
                sum += x[at] + x[at + 1u] + x[at + 2u];
            }}
            y[id.y * {to}u + id.x] = sum / 9.0;
        }}",
        bindings("f32")
    );
    let load = |row: usize| {
        format!(
            "let a{row} = x[(first + {row}u) * {q}u + id.x];
            let b{row} = x[min((first + {row}u) * {q}u + id.x + 1u, {last}u)].xy;
            let s{row} = a{row} + vec4(a{row}.yzw, b{row}.x) + vec4(a{row}.zw, b{row});",
            q = n / 4,
            last = n * n / 4 - 1
        )
    };
    // Rows of the result begin at even elements: each of its vectors is two words of 64 bits.
    let store = |row: usize| {
        format!(
            "let m{row} = (s{row} + s{} + s{}) / 9.0;
            let to{row} = ((first + {row}u) * {to}u + id.x * 4u) / 2u;
            y[to{row}] = m{row}.xy;
            if (id.x < {}u) {{ y[to{row} + 1u] = m{row}.zw; }}",
            row + 1,
            row + 2,
            n / 4 - 1
        )
    };
    let shared = format!(
        "{} @compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            if (id.x >= {}u) {{ return; }}
            let first = min(id.y * 8u, {}u);
            {} {} }}",
        bindings("vec4<f32>").replace("y: array<f32>", "y: array<vec2<f32>>"),
        n / 4,
        to - 8,
        (0..10).map(load).collect::<String>(),
        (0..8).map(store).collect::<String>()
    );
    let x = hand::buffer(&raw.0, &numbers(&Device::cpu(), [n, n])?.to_vec()?);
    let y = hand::buffer(&raw.0, &vec![0.0_f32; to * to]);
    let groups = |columns: usize, rows: usize| [columns.div_ceil(256), rows];
    for (name, text, groups) in [
        ("an element each", single, groups(to, to)),
        ("eight rows of four", shared, groups(n / 4, to.div_ceil(8))),
    ] {
        let hand = Hand::new(&raw, &text, &[&y, &x], groups);
        let own: Work = Box::new(move || {
            hand.run();
            Ok(())
        });
        let times = medians(device, rounds, &[add, &own])?;
        println!("by hand, {name:<18} {:>9.2} ms, {:.2} of x + 1.0", times[1], times[1] / times[0]);
    }
    Ok(())
}

/// A wave with an obstacle and a border of zeros, by writing the inner part, and by fields that roll.
fn wave(device: &Device, (side, steps): (usize, usize), rounds: usize) -> Result<()> {
    let start = || -> Result<[Tensor<f32>; 2]> {
        let field = device.zeros::<f32>([side, side])?;
        field.slices((side / 4..side / 4 + 3, side / 4..side / 4 + 3)).assign(1.0)?;
        Ok([field.copy()?, field])
    };
    let open = device.full([side, side], 1.0_f32)?;
    open.slices((side / 2..side / 2 + 8, side / 4..side / 2)).assign(0.0)?;
    let inner_open = open.slices((1..-1, 1..-1));
    let next = |before: &Tensor<f32>, now: &Tensor<f32>| {
        let inner = now.slices((1..-1, 1..-1));
        let around = now.slices((..-2, 1..-1))
            + now.slices((2.., 1..-1))
            + now.slices((1..-1, ..-2))
            + now.slices((1..-1, 2..));
        ((around - &inner * 4.0) * 0.25 + &inner * 2.0 - before.slices((1..-1, 1..-1))) * &inner_open
    };
    let plain = || -> Result<f32> {
        let [mut before, mut now] = start()?;
        for _ in 0..steps {
            before.slices((1..-1, 1..-1)).assign(next(&before, &now))?;
            std::mem::swap(&mut before, &mut now);
        }
        now.get([side / 2 - 1, side / 3])
    };
    open.slices((.., ..1)).assign(0.0)?;
    open.slices((.., -1..)).assign(0.0)?;
    open.slices((..1, ..)).assign(0.0)?;
    open.slices((-1.., ..)).assign(0.0)?;
    let rolled = || -> Result<f32> {
        let [mut before, mut now] = start()?;
        for _ in 0..steps {
            let around = now.roll(1, 0) + now.roll(-1, 0) + now.roll(1, 1) + now.roll(-1, 1);
            before.assign(((around - &now * 4.0) * 0.25 + &now * 2.0 - &before) * &open)?;
            std::mem::swap(&mut before, &mut now);
        }
        now.get([side / 2 - 1, side / 3])
    };
    let padded = || -> Result<f32> {
        let [mut before, mut now] = start()?;
        for _ in 0..steps {
            before = next(&before, &now).pad([(1, 1), (1, 1)], Pad::constant(0.0)).eval()?;
            std::mem::swap(&mut before, &mut now);
        }
        now.get([side / 2 - 1, side / 3])
    };
    let all = [plain()?, rolled()?, padded()?];
    println!("wave: {all:?}");
    let mut times = vec![Vec::new(); 3];
    for _ in 0..rounds {
        for (work, times) in
            [&plain as &dyn Fn() -> Result<f32>, &rolled, &padded].into_iter().zip(&mut times)
        {
            times.push(timed(device, || work().map(drop))?);
        }
    }
    let times: Vec<f64> = times.into_iter().map(|times| median(times).as_secs_f64() * 1e3).collect();
    println!(
        "{side} x {side} wave of {steps} steps: inner part {:.1} ms, rolled {:.1}, padded {:.1}",
        times[0], times[1], times[2]
    );
    Ok(())
}

/// Shallow water between walls: its height in cells, and its speeds through their sides.
struct Water {
    shape: [usize; 2],
    height: Vec<f32>,
    across: Vec<f32>,
    down: Vec<f32>,
}

/// The time of a step, by the width of a cell.
const STEP: f32 = 0.3;

impl Water {
    fn new([rows, columns]: [usize; 2]) -> Water {
        let bump = |i: usize| {
            let [y, x] = [i / columns, i % columns].map(|at| at as f32 / columns as f32 - 0.4);
            1.0 + 1.0 / (1.0 + 100.0 * (x * x + y * y))
        };
        Water {
            shape: [rows, columns],
            height: (0..rows * columns).map(bump).collect(),
            across: vec![0.0; rows * (columns + 1)],
            down: vec![0.0; (rows + 1) * columns],
        }
    }

    /// A step by plain loops of one thread.
    fn step(&mut self) {
        let [rows, columns] = self.shape;
        for (height, across) in self.height.chunks(columns).zip(self.across.chunks_mut(columns + 1)) {
            for x in 1..columns {
                across[x] -= (height[x] - height[x - 1]) * STEP;
            }
        }
        for y in 1..rows {
            let (above, below) = self.height[(y - 1) * columns..][..2 * columns].split_at(columns);
            let down = &mut self.down[y * columns..][..columns];
            for x in 0..columns {
                down[x] -= (below[x] - above[x]) * STEP;
            }
        }
        for y in 0..rows {
            let across = &self.across[y * (columns + 1)..][..columns + 1];
            let (above, below) = self.down[y * columns..][..2 * columns].split_at(columns);
            let height = &mut self.height[y * columns..][..columns];
            for x in 0..columns {
                height[x] -= ((across[x + 1] - across[x]) + (below[x] - above[x])) * STEP;
            }
        }
    }

    /// The height after some steps by slices, and the time of the steps.
    fn by_slices(&self, device: &Device, steps: usize) -> Result<(Vec<f32>, Duration)> {
        let [rows, columns] = self.shape;
        let height = device.upload(&self.height, self.shape)?;
        let across = device.upload(&self.across, [rows, columns + 1])?;
        let down = device.upload(&self.down, [rows + 1, columns])?;
        let (inner_across, inner_down) = (across.slice(1, 1..-1), down.slice(0, 1..-1));
        let time = timed(device, || {
            for _ in 0..steps {
                let slope = height.slice(1, 1..) - height.slice(1, ..-1);
                inner_across.assign(&inner_across - slope * STEP)?;
                let slope = height.slice(0, 1..) - height.slice(0, ..-1);
                inner_down.assign(&inner_down - slope * STEP)?;
                let flow = (across.slice(1, 1..) - across.slice(1, ..-1))
                    + (down.slice(0, 1..) - down.slice(0, ..-1));
                height.assign(&height - flow * STEP)?;
            }
            Ok(())
        })?;
        Ok((height.to_vec()?, time))
    }
}

/// Small steps beside plain loops. Both have the same bits, and the least times count.
fn shallow_water(device: &Device, shape: [usize; 2], steps: usize, rounds: usize) -> Result<()> {
    let [mut own, mut plain] = [Duration::MAX; 2];
    for _ in 0..rounds {
        let mut water = Water::new(shape);
        let (height, time) = water.by_slices(device, steps)?;
        own = own.min(time);
        let start = Instant::now();
        (0..steps).for_each(|_| water.step());
        plain = plain.min(start.elapsed());
        assert!(height == water.height, "the bits of {shape:?} differ");
    }
    let [own, plain] = [own, plain].map(|time| time.as_secs_f64() * 1e6 / steps as f64);
    println!(
        "shallow water of {} x {}, a step: {own:.0} us, plain loops {plain:.0} us, {:.2} of them",
        shape[0],
        shape[1],
        own / plain
    );
    Ok(())
}
