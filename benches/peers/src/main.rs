//! The same cases by this crate and by its peers in Rust, in one process and interleaved: one JSON
//! object a line with `case`, `system`, `side`, and `ns` of each round.
//!
//! Every run ends when its result is there: wgpu's devices are waited for, and of a fused result one
//! element is read, as a result that is dropped may never be computed.

use std::time::{Duration, Instant};

use burn::tensor::{DeviceKind, Tensor as Burn, TensorData};
use candle_core as candle;
use clap::Parser;
use ndarray::parallel::prelude::*;
use ndarray::{Array, ArrayD, ArrayViewD, IxDyn, Zip};
use zerostride::{Device, Expr, Tensor};

#[derive(Parser)]
struct Options {
    /// The adapter of this crate, as `Device::named` takes it
    #[arg(long, default_value = "llvmpipe")]
    adapter: String,
    #[arg(long, default_value_t = 4096)]
    side: usize,
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Only this case
    #[arg(long)]
    case: Option<String>,
}

type Failure = Box<dyn std::error::Error>;
type Run = Box<dyn FnMut() -> Result<(), Failure>>;

/// The operands of a case, and what is done with them.
#[derive(Clone, Copy)]
enum Work {
    Add,
    Exp,
    /// `relu((a - row) / column * b + s)`
    Chain,
}

struct Case {
    name: &'static str,
    work: Work,
    /// Shapes of the operands; the second may be turned.
    shapes: Vec<Vec<usize>>,
    turned: bool,
}

fn cases(n: usize) -> Vec<Case> {
    let case = |name, shapes: &[&[usize]]| Case {
        name,
        work: Work::Add,
        shapes: shapes.iter().map(|shape| shape.to_vec()).collect(),
        turned: false,
    };
    let side = n / 32;
    vec![
        case("same", &[&[n, n], &[n, n]]),
        case("row", &[&[n, n], &[1, n]]),
        case("col", &[&[n, n], &[n, 1]]),
        case("scalar", &[&[n, n], &[1, 1]]),
        case("outer", &[&[n, 1], &[1, n]]),
        case("nchw", &[&[16, 64, side, side], &[1, 64, 1, 1]]),
        case("mid", &[&[n / 16, 16, n], &[n / 16, 1, n]]),
        case("odd", &[&[n - 1, n + 1], &[1, n + 1]]),
        Case { turned: true, ..case("transposed", &[&[n, n], &[n, n]]) },
        Case { work: Work::Exp, ..case("exp", &[&[n, n]]) },
        Case { work: Work::Chain, ..case("chain5", &[&[n, n], &[1, n], &[n, 1], &[1, 1], &[1, 1]]) },
    ]
}

fn values(shape: &[usize]) -> Vec<f32> {
    (0..shape.iter().product()).map(|i: usize| (i % 1021 + 1) as f32 / 1024.0).collect()
}

fn ours(device: &Device, case: &Case) -> Result<Run, Failure> {
    let mut x: Vec<Tensor<f32>> = Vec::new();
    for shape in &case.shapes {
        x.push(device.upload(&values(shape), shape.as_slice())?);
    }
    if case.turned {
        x[1] = x[1].transpose(0, 1).tensor()?;
    }
    let expr: Expr<f32> = match case.work {
        Work::Add => &x[0] + &x[1],
        Work::Exp => x[0].exp(),
        Work::Chain => ((&x[0] - &x[1]) / &x[2] * &x[3] + &x[4]).relu(),
    };
    let device = device.clone();
    Ok(Box::new(move || {
        let result = expr.eval()?;
        device.synchronize()?;
        drop(result);
        Ok(())
    }))
}

fn burn<const D: usize>(device: &burn::tensor::Device, case: &Case) -> Run {
    let mut x: Vec<Burn<D>> = Vec::new();
    for shape in &case.shapes {
        x.push(Burn::from_data(TensorData::new(values(shape), shape.clone()), device));
    }
    if case.turned {
        x[1] = x[1].clone().swap_dims(0, 1);
    }
    let (work, device) = (case.work, device.clone());
    Box::new(move || {
        let result = match work {
            Work::Add => x[0].clone() + x[1].clone(),
            Work::Exp => x[0].clone().exp(),
            Work::Chain => {
                let chain = (x[0].clone() - x[1].clone()) / x[2].clone() * x[3].clone() + x[4].clone();
                burn::tensor::activation::relu(chain)
            }
        };
        let one = result.clone().slice(std::array::from_fn::<_, D, _>(|_| 0..1)).into_data();
        assert_eq!(one.num_elements(), 1);
        device.sync()?;
        drop(result);
        Ok(())
    })
}

fn broadcast<'a>(x: &'a ArrayD<f32>, shape: &[usize]) -> Result<ArrayViewD<'a, f32>, Failure> {
    Ok(x.broadcast(IxDyn(shape)).ok_or("shapes do not broadcast")?)
}

/// With the result's memory at hand, which is the best that it does.
fn ndarray(case: &Case) -> Result<Run, Failure> {
    let mut x: Vec<ArrayD<f32>> = Vec::new();
    for shape in &case.shapes {
        x.push(Array::from_shape_vec(IxDyn(shape), values(shape))?);
    }
    let rank = case.shapes[0].len();
    let shape: Vec<usize> =
        (0..rank).map(|k| case.shapes.iter().map(|shape| shape[k]).max().unwrap_or(1)).collect();
    let mut out: ArrayD<f32> = Array::zeros(IxDyn(&shape));
    let (work, turned) = (case.work, case.turned);
    Ok(Box::new(move || {
        let a = broadcast(&x[0], &shape)?;
        match work {
            Work::Add => {
                let second = if turned { x[1].view().reversed_axes() } else { broadcast(&x[1], &shape)? };
                Zip::from(&mut out).and(&a).and(&second).par_for_each(|out, &a, &b| *out = a + b);
            }
            Work::Exp => Zip::from(&mut out).and(&a).par_for_each(|out, &a| *out = a.exp()),
            Work::Chain => {
                let (row, column) = (broadcast(&x[1], &shape)?, broadcast(&x[2], &shape)?);
                let (b, s) = (x[3].iter().sum::<f32>(), x[4].iter().sum::<f32>());
                Zip::from(&mut out)
                    .and(&a)
                    .and(&row)
                    .and(&column)
                    .par_for_each(|out, &a, &row, &column| *out = ((a - row) / column * b + s).max(0.0));
            }
        }
        std::hint::black_box(&out);
        Ok(())
    }))
}

fn candle(case: &Case) -> Result<Run, Failure> {
    let cpu = candle::Device::Cpu;
    let mut x: Vec<candle::Tensor> = Vec::new();
    for shape in &case.shapes {
        x.push(candle::Tensor::from_vec(values(shape), shape.as_slice(), &cpu)?);
    }
    if case.turned {
        x[1] = x[1].t()?;
    }
    let work = case.work;
    Ok(Box::new(move || {
        let result = match work {
            Work::Add => x[0].broadcast_add(&x[1])?,
            Work::Exp => x[0].exp()?,
            Work::Chain => {
                let scaled = x[0].broadcast_sub(&x[1])?.broadcast_div(&x[2])?.broadcast_mul(&x[3])?;
                scaled.broadcast_add(&x[4])?.relu()?
            }
        };
        std::hint::black_box(&result);
        Ok(())
    }))
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let (adapter, cpu) = (Device::named(&options.adapter)?, Device::cpu());
    let theirs = burn::tensor::Device::wgpu(DeviceKind::DefaultDevice);
    eprintln!("zerostride on {}, burn on {:?}", adapter.name(), theirs.identity());
    rayon_threads();
    let wanted = |case: &Case| options.case.as_deref().is_none_or(|name| name == case.name);
    for case in cases(options.side).into_iter().filter(wanted) {
        let burn = match case.shapes[0].len() {
            2 => burn::<2>(&theirs, &case),
            3 => burn::<3>(&theirs, &case),
            _ => burn::<4>(&theirs, &case),
        };
        let mut systems: Vec<(&str, Run, Vec<Duration>)> = vec![
            ("zerostride wgpu", ours(&adapter, &case)?, Vec::new()),
            ("burn wgpu", burn, Vec::new()),
            ("zerostride cpu", ours(&cpu, &case)?, Vec::new()),
            ("ndarray rayon", ndarray(&case)?, Vec::new()),
            ("candle cpu", candle(&case)?, Vec::new()),
        ];
        for _ in 0..options.rounds {
            // There and back, so that none always comes after the same one.
            systems.reverse();
            for (_, run, times) in &mut systems {
                // What ran before leaves threads asleep and caches full of its own: each follows itself.
                run()?;
                let start = Instant::now();
                run()?;
                times.push(start.elapsed());
            }
        }
        for (system, _, times) in systems {
            let times: Vec<u64> = times.iter().map(|time| time.as_nanos() as u64).collect();
            let (case, side) = (case.name, options.side);
            println!("{}", serde_json::json!({ "case": case, "system": system, "side": side, "ns": times }));
        }
    }
    Ok(())
}

/// Starts the threads that ndarray uses before anything is timed.
fn rayon_threads() {
    (0..1000).into_par_iter().for_each(|i| {
        std::hint::black_box(i);
    });
}
