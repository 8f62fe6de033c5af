//! Times of deep, wide and costly expressions: until `eval` returns for a known expression, until the first result of a new
//! one, and beside evaluating a costly part first.

use std::time::{Duration, Instant};

use zerostride::{Device, Expr, Tensor};

use crate::common::{self, Failure, Work, median, medians};

/// Steps and operands of known expressions.
const STEPS: usize = 400;
const OPERANDS: usize = 24;
/// Live tensors beside them, and kept expressions.
const OTHERS: usize = 20_000;

/// Evaluates a part of an expression, into a new or an existing tensor.
type Evaluation<'a> = dyn Fn(&Expr<f32>, &Tensor<f32>) -> zerostride::Result<()> + 'a;

/// Runs everything. Pictures have `side` x `side` pixels.
pub(crate) fn run(device: &Device, side: usize, rounds: usize) -> Result<(), Failure> {
    println!("{}\n", device.name());
    known(device)?;
    first(device)?;
    parts(device, side, rounds)
}

fn known(device: &Device) -> Result<(), Failure> {
    let x = device.full([1024], 1.0_f32)?;
    let returns = |what: &str, expr: &Expr<f32>| -> Result<(), Failure> {
        let mut times = Vec::new();
        for _ in 0..2000 {
            let start = Instant::now();
            expr.eval_on(device)?;
            times.push(start.elapsed());
            // Waits, because the driver's threads would disturb the host's time after many kernels.
            if times.len() % 20 == 0 {
                device.synchronize()?;
            }
        }
        println!("{what:<56} {:>9.1} us", median(times.split_off(200)).as_secs_f64() * 1e6);
        Ok(())
    };
    returns("eval returns, known, of one step", &(&x + 1.0))?;
    let deep = (0..STEPS / 2).fold(x.expr(), |y, i| y * (1.0 + i as f32) + &x);
    returns(&format!("eval returns, known, of {STEPS} steps"), &deep)?;
    let operands =
        (0..OPERANDS).map(|_| device.full([1024], 1.0_f32)).collect::<zerostride::Result<Vec<_>>>()?;
    let wide = operands[1..].iter().fold(operands[0].expr(), |y, x| y + x);
    returns(&format!("eval returns, known, of {OPERANDS} operands"), &wide)?;
    let others = (0..OTHERS).map(|_| device.full([16], 1.0_f32)).collect::<zerostride::Result<Vec<_>>>()?;
    returns(&format!("the same beside {OTHERS} tensors"), &wide)?;
    drop(others);
    kept(device, &x)
}

/// Bytes of memory that the process has, on Linux.
fn resident() -> Option<f64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse::<f64>().ok()?;
    Some(pages * 4096.0)
}

/// The memory of expressions that the program keeps and evaluates again and again, with their schedules and commands.
fn kept(device: &Device, x: &Tensor<f32>) -> Result<(), Failure> {
    let Some(before) = resident() else { return Ok(()) };
    let all: Vec<Expr<f32>> = (0..OTHERS).map(|i| x * (i as f32) + 1.0).collect();
    for _ in 0..4 {
        for expr in &all {
            expr.eval()?;
        }
        device.synchronize()?;
    }
    let bytes = resident().unwrap_or(before) - before;
    println!("{:<56} {:>9.0} bytes", format!("each of {OTHERS} kept expressions"), bytes / all.len() as f64);
    Ok(())
}

/// Takes newly opened devices, which have no kernels. Drivers also keep kernels in files. Mesa does not if
/// `MESA_SHADER_CACHE_DISABLE=true`.
fn first(device: &Device) -> Result<(), Failure> {
    let adapter = common::adapter(device);
    let costly = |x: &Expr<f32>| x.lgamma() + x.digamma() * x.erf();
    let first = |what: &str, shape: [usize; 2], work: &Evaluation| -> Result<(), Failure> {
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..3 {
            let device = adapter.as_ref().map_or(Ok(Device::cpu()), |adapter| adapter.open())?;
            let (x, out) = (device.full(shape, 1.5_f32)?, device.zeros([128, 128])?);
            let start = Instant::now();
            work(&x.expr(), &out)?;
            device.synchronize()?;
            times.push(start.elapsed());
        }
        println!("{what:<56} {:>9.0} ms", median(times).as_secs_f64() * 1e3);
        Ok(())
    };
    let (small, rows) = ([64, 64], [64, 4096]);
    first("first evaluation of lgamma + digamma * erf", small, &|x, _| costly(x).eval().map(drop))?;
    first("the same into a sliced view", small, &|x, out| {
        out.slice(0, ..64).slice(1, 3..67).assign(costly(x))
    })?;
    first("first evaluation of softmax, rows of 4096", rows, &|x, _| x.softmax(1).eval().map(drop))?;
    first("first evaluation of sum, of rows of 4096", rows, &|x, _| x.sum(1).eval().map(drop))
}

fn parts(device: &Device, side: usize, rounds: usize) -> Result<(), Failure> {
    let x = (Expr::<f32>::uniform([side, side], 1) + 0.5).eval_on(device)?.expr();
    let last = side as isize - 2;
    let blur = move |x: &Expr<f32>| {
        let part = |i: isize, j: isize| x.slice(0, i..last + i).slice(1, j..last + j);
        let rows = |j| part(0, j) + part(1, j) + part(2, j);
        (rows(0) + rows(1) + rows(2)) * (1.0 / 9.0)
    };
    let power = x.pow(2.2);
    let place = |axis: usize| {
        let lengths = if axis == 0 { [side, 1] } else { [1, side] };
        Expr::iota(lengths, axis as isize).cast::<f32>() * 0.01
    };
    let waves = |column: &Expr<f32>, row: &Expr<f32>| row.sin() + column.cos();
    let (fused, own) = (blur(&power), power.clone());
    let (coordinates, tensors) =
        (waves(&place(0), &place(1)), [place(0).eval_on(device)?, place(1).eval_on(device)?]);
    let tensors = waves(&tensors[0].expr(), &tensors[1].expr());
    let on = |expr: Expr<f32>| -> Work {
        let device = device.clone();
        Box::new(move || expr.eval_on(&device).map(drop))
    };
    let apart: Work = {
        let device = device.clone();
        Box::new(move || blur(&own.eval_on(&device)?.expr()).eval_on(&device).map(drop))
    };
    // A pair at a time, because an earlier run leaves touched memory to a short one.
    for (what, pair) in [
        ("blur of pow, and pow evaluated first", [on(fused), apart]),
        ("waves of coordinates, and of tensors", [on(coordinates), on(tensors)]),
    ] {
        let times = medians(device, rounds, &[&pair[0], &pair[1]])?;
        println!("{what:<56} {:>9.2} ms {:>9.2} ms {:>6.2}", times[0], times[1], times[0] / times[1]);
    }
    Ok(())
}
