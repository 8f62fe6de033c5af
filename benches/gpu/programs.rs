//! Products, sorts, sums by key, windows and random numbers, of sizes that follow the benchmark's first side.

use zerostride::{AnyExpr, Device, Expr, Pad, f16};

use crate::cases::tensor;
use crate::common::{Failure, Work, hashed};
use crate::meter::Meter;
use crate::steps::SETS;

/// A case: its name, the number of bytes that must move, and its work on new tensors.
type Program = (&'static str, usize, fn(&Device, usize) -> zerostride::Result<Work>);

fn lazy(expr: impl Into<AnyExpr>) -> zerostride::Result<Work> {
    let expr = expr.into();
    Ok(Box::new(move || expr.eval().map(drop)))
}

fn random(device: &Device, count: usize) -> zerostride::Result<Expr<f32>> {
    Ok(hashed::numbers(device, count)?.expr())
}

fn keys(device: &Device, count: usize) -> zerostride::Result<Expr<i32>> {
    Ok(hashed::keys(device, count)?.expr())
}

fn product(device: &Device, a: &[usize], b: &[usize]) -> zerostride::Result<Work> {
    lazy(tensor(device, a)?.matmul(tensor(device, b)?))
}

fn halves(device: &Device, shape: &[usize]) -> zerostride::Result<Expr<f16>> {
    Ok(tensor(device, shape)?.cast::<f16>().eval()?.expr())
}

/// The names and bytes are those of a side of 4096, `n`. Others have more or fewer elements.
const ALL: &[Program] = &[
    ("product of 1024", 12 << 20, |device, n| product(device, &[n / 4, n / 4], &[n / 4, n / 4])),
    ("product of 4096", 12 << 24, |device, n| product(device, &[n, n], &[n, n])),
    ("product of 4096 turned", 12 << 24, |device, n| {
        lazy(tensor(device, &[n, n])?.matmul(tensor(device, &[n, n])?.transpose(0, 1)))
    }),
    ("product of 4096 f16", 6 << 24, |device, n| {
        lazy(halves(device, &[n, n])?.matmul(halves(device, &[n, n])?))
    }),
    ("product by a vector", 4 << 24, |device, n| product(device, &[n, n], &[n])),
    ("products of 64", 12 << 22, |device, n| product(device, &[n / 4, 64, 64], &[n / 4, 64, 64])),
    ("product long", 8 << 22, |device, n| product(device, &[64, 16 * n], &[16 * n, 64])),
    ("layer of 4096", 12 << 24, |device, n| {
        let [x, weights, bias] = [tensor(device, &[n, n])?, tensor(device, &[n, n])?, tensor(device, &[n])?];
        lazy((x.matmul(weights) + bias).gelu_tanh())
    }),
    ("attention", 16 << 21, |device, n| {
        let tokens = n / 2;
        let [q, k, v] = [(); 3].map(|()| tensor(device, &[2, 8, tokens, 64]));
        let scores = q?.matmul(k?.transpose(-1, -2)) / 8.0;
        let is_later = Expr::iota([tokens, tokens], 0).lt(Expr::iota([tokens, tokens], 1));
        lazy(is_later.select(f32::NEG_INFINITY, scores).softmax(-1).matmul(v?))
    }),
    ("sort", 8 << 24, |device, n| lazy(random(device, n * n)?.sort(0))),
    ("sort of rows", 8 << 24, |device, n| {
        lazy(random(device, n * n)?.reshape([n as isize / 4, 4 * n as isize]).sort(1))
    }),
    ("argsort", 8 << 24, |device, n| lazy(random(device, n * n)?.argsort(0))),
    ("topk of 100", 4 << 24, |device, n| lazy(random(device, n * n)?.topk(100, 0).0)),
    ("bincount", 4 << 24, |device, n| lazy(keys(device, n * n)?.bincount(1000))),
    ("segment_sum", 8 << 24, |device, n| {
        lazy(random(device, n * n)?.segment_sum(keys(device, n * n)?, 1000))
    }),
    ("rows taken", 8 << 24, |device, n| lazy(tensor(device, &[1000, n / 4])?.take(keys(device, 4 * n)?, 0))),
    ("compress", 7 << 24, |device, n| {
        let (x, mask) = (random(device, n * n)?.eval()?, random(device, n * n)?.gt(0.5).eval()?);
        Ok(Box::new(move || x.compress(&mask).map(drop)))
    }),
    ("histogram", 4 << 24, |device, n| {
        let x = random(device, n * n)?.eval()?;
        Ok(Box::new(move || x.histogram(256, (0.0, 1.0)).map(drop)))
    }),
    ("blur of 3 x 3", 8 << 24, |device, n| {
        lazy(tensor(device, &[n, n])?.windows([3, 3], [0, 1]).mean([-2, -1]))
    }),
    ("pool of 2 x 2", 5 << 24, |device, n| {
        lazy(tensor(device, &[n, n])?.windows_with([2, 2], [0, 1], [2, 2], [1, 1]).max([-2, -1]))
    }),
    ("convolution", 8 << 20, |device, n| {
        let (channels, size) = (n / 64, n / 32);
        let planes =
            tensor(device, &[channels, size, size])?.pad([(0, 0), (1, 1), (1, 1)], Pad::constant(0.0));
        let weights = tensor(device, &[channels, channels, 3, 3])?;
        lazy(Expr::einsum("chwij,ocij->ohw", [planes.eval()?.windows([3, 3], [1, 2]), weights.expr()]))
    }),
    ("uniform", 4 << 24, |device, n| {
        let device = device.clone();
        Ok(Box::new(move || Expr::<f32>::uniform([n * n], 1).eval_on(&device).map(drop)))
    }),
    ("normal", 4 << 24, |device, n| {
        let device = device.clone();
        Ok(Box::new(move || Expr::<f32>::normal([n * n], 1).eval_on(&device).map(drop)))
    }),
];

pub(crate) fn programs(meter: &mut Meter) -> Result<(), Failure> {
    let side = meter.sides[0];
    let copy = crate::constants::measure(meter, side)?;
    for (name, bytes, work) in ALL {
        if !meter.wants(name) {
            continue;
        }
        let sets = (0..SETS).map(|_| work(&meter.device, side)).collect::<zerostride::Result<Vec<_>>>()?;
        let bytes = bytes * side.pow(2) / 4096_usize.pow(2);
        meter.case(name, side, bytes, copy, &sets.iter().collect::<Vec<_>>())?;
    }
    Ok(())
}
