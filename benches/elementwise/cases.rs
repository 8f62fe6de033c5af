//! The cases: operands on a device, and the work.

use std::time::Duration;

use zerostride::{Device, Element, Expr, Result, Tensor, f16};

use crate::common::{Work, timed};

/// The names, in the order of the table.
pub(crate) const NAMES: &[&str] = &[
    "same",
    "row",
    "col",
    "scalar",
    "outer",
    "nchw",
    "hwc_u8",
    "mid",
    "odd",
    "unaligned",
    "reversed",
    "step2",
    "transposed",
    "nhwc_nchw",
    "exp",
    "pow",
    "f16",
    "u8",
    "compare",
    "select",
    "inplace",
    "chain5",
    "chain20",
];

/// One case on one device.
pub(crate) struct Case {
    pub(crate) work: Work,
    /// The bytes of all inputs and of the result.
    pub(crate) bytes: usize,
    pub(crate) kernels: usize,
    /// Elements of the result.
    pub(crate) elements: usize,
}

/// A tensor of numbers from 0 up to 1 that differ from their neighbours.
fn tensor<T: Element, const N: usize>(device: &Device, shape: [usize; N]) -> Result<Tensor<T>> {
    let flat = Expr::iota([shape.iter().product()], 0);
    let numbers = (flat.rem(1021) + 1).cast::<f32>() / 1024.0;
    // As bytes and bools, these numbers would all be 0.
    let numbers = if T::DTYPE.size() == 1 { numbers * 200.0 } else { numbers };
    let signed: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
    numbers.cast::<T>().eval_on(device)?.reshape(&signed).tensor()
}

impl Case {
    pub(crate) fn new(name: &str, device: &Device, n: usize) -> Result<Case> {
        let square = || tensor::<f32, 2>(device, [n, n]);
        let vector = |length: usize| tensor::<f32, 1>(device, [length]);
        let f32s = |count: usize| 4 * count;
        match name {
            "same" => eval(square()? + square()?.expr(), f32s(3 * n * n)),
            "row" => eval(square()? + vector(n)?, f32s(2 * n * n + n)),
            "col" => eval(square()? + vector(n)?.unsqueeze(1), f32s(2 * n * n + n)),
            "scalar" => eval(square()? + tensor::<f32, 0>(device, [])?, f32s(2 * n * n)),
            "outer" => eval(vector(n)?.unsqueeze(1) + vector(n)?, f32s(n * n)),
            "nchw" => {
                let channels = tensor::<f32, 1>(device, [64])?.reshape([64, 1, 1]);
                let side = n / 32;
                eval(tensor::<f32, 4>(device, [16, 64, side, side])? + channels, f32s(2 * 1024 * side * side))
            }
            "hwc_u8" => {
                let (height, width) = (n * 3000 / 4096, n * 4000 / 4096);
                let image = tensor::<u8, 3>(device, [height, width, 3])?;
                let normalized = (image.cast::<f32>() / 255.0 - vector(3)?) / vector(3)?;
                eval(normalized.permute([2, 0, 1]), 15 * height * width)
            }
            "mid" => {
                let x = tensor::<f32, 3>(device, [n / 16, 16, n])?;
                eval(x + tensor::<f32, 3>(device, [n / 16, 1, n])?, f32s(2 * n * n + n * n / 16))
            }
            "odd" => {
                let (rows, columns) = (n - 1, n + 1);
                eval(tensor::<f32, 2>(device, [rows, columns])? + vector(columns)?, f32s(2 * rows * columns))
            }
            "unaligned" => {
                let x = vector(n * n + 1)?.slice(0, 1..);
                eval(x + vector(n * n)?, f32s(3 * n * n))
            }
            "reversed" => eval(vector(n * n)?.flip(0) + vector(n * n)?, f32s(3 * n * n)),
            "step2" => {
                let x = vector(2 * n * n)?.slice_step(0, .., 2);
                eval(x + vector(n * n)?, f32s(3 * n * n))
            }
            "transposed" => eval(square()? + square()?.transpose(0, 1), f32s(3 * n * n)),
            "nhwc_nchw" => {
                let side = n / 32;
                let x = tensor::<f32, 4>(device, [16, side, side, 64])?.permute([0, 3, 1, 2]);
                eval(x * 2.0, f32s(2 * 1024 * side * side))
            }
            "exp" => eval(square()?.exp(), f32s(2 * n * n)),
            "pow" => eval(square()?.pow(square()?), f32s(3 * n * n)),
            "f16" => {
                let x = tensor::<f16, 2>(device, [n, n])?;
                eval(&x + tensor::<f16, 2>(device, [n, n])?, 2 * 3 * n * n)
            }
            "u8" => {
                let x = tensor::<u8, 2>(device, [n, n])?;
                eval(&x + tensor::<u8, 2>(device, [n, n])?, 3 * n * n)
            }
            "compare" => eval(square()?.lt(square()?), 9 * n * n),
            "select" => {
                let (x, y) = (square()?, square()?);
                eval(tensor::<u8, 2>(device, [n, n])?.gt(100).select(x, y), 13 * n * n)
            }
            "inplace" => {
                let (x, y) = (square()?, square()?);
                let work = move || x.assign(&x + &y);
                Ok(Case { work: Box::new(work), bytes: f32s(3 * n * n), kernels: 1, elements: n * n })
            }
            "chain5" => {
                let (a, row, column, s) = (square()?, vector(n)?, vector(n)?.unsqueeze(1), vector(1)?);
                let b = tensor::<f32, 0>(device, [])?;
                eval(((a - row) / column * b + s).relu(), f32s(2 * n * n + 2 * n))
            }
            _ => {
                let (a, b) = (square()?, square()?);
                let chain = (0..10).fold(a.expr(), |x, k| (x * &b + (k as f32)).abs());
                eval(chain, f32s(3 * n * n))
            }
        }
    }

    /// One run, which ends when the device is done.
    pub(crate) fn run(&self, device: &Device) -> Result<Duration> {
        timed(device, &self.work)
    }
}

fn eval<T: Element>(expr: impl zerostride::IntoExpr<T>, bytes: usize) -> Result<Case> {
    let expr = expr.into_expr();
    let elements = expr.shape()?.count()?;
    let work = move || expr.eval().map(drop);
    Ok(Case { work: Box::new(work), bytes, kernels: 1, elements })
}
