//! The layouts of the benchmark, which the page times beside another library.

use wasm_bindgen::prelude::*;
use zerostride::{AnyExpr, Device, Expr, Math, Result, Tensor};

use crate::js;

/// One layout: its operands on the device, and its expression.
#[wasm_bindgen]
pub struct Bench {
    device: Device,
    expr: AnyExpr,
    /// The bytes of all operands and of the result.
    bytes: usize,
}

/// Numbers from 0 up to 1 that differ from their neighbours.
fn tensor<const N: usize>(device: &Device, shape: [usize; N]) -> Result<Tensor<f32>> {
    let flat = Expr::<i32>::iota([shape.iter().product()], 0);
    let numbers = (flat.rem(1021) + 1).cast::<f32>() / 1024.0;
    let signed: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
    numbers.eval_on(device)?.reshape(&signed).tensor()
}

impl Bench {
    /// A layout by its name, of about n x n elements.
    pub(crate) fn new(device: &Device, name: &str, n: usize) -> Result<Bench> {
        // With the adapter's builtins, as the other library does.
        let mut device = device.clone();
        if name.ends_with("fast") {
            device.set_math(Math::Fast);
        }
        let device = &device;
        let square = || tensor(device, [n, n]);
        let vector = |length: usize| tensor(device, [length]);
        let side = n / 32;
        let (expr, count): (AnyExpr, usize) = match name {
            "same" => ((square()? + square()?.expr()).into(), 3 * n * n),
            "row" => ((square()? + vector(n)?).into(), 2 * n * n + n),
            "column" => ((square()? + vector(n)?.unsqueeze(1)).into(), 2 * n * n + n),
            "scalar" => ((square()? + tensor(device, [])?).into(), 2 * n * n),
            "outer" => ((vector(n)?.unsqueeze(1) + vector(n)?).into(), n * n),
            "nchw" => {
                let channels = vector(64)?.reshape([64, 1, 1]);
                ((tensor(device, [16, 64, side, side])? + channels).into(), 2 * 1024 * side * side)
            }
            "middle" => {
                let (x, y) = (tensor(device, [n / 16, 16, n])?, tensor(device, [n / 16, 1, n])?);
                ((x + y).into(), 2 * n * n + n * n / 16)
            }
            "odd" => {
                let (rows, columns) = (n - 1, n + 1);
                ((tensor(device, [rows, columns])? + vector(columns)?).into(), 2 * rows * columns)
            }
            "shifted" => ((vector(n * n + 1)?.slice(0, 1..) + vector(n * n)?).into(), 3 * n * n),
            "reversed" => ((vector(n * n)?.flip(0) + vector(n * n)?).into(), 3 * n * n),
            "transposed" => ((square()? + square()?.transpose(0, 1)).into(), 3 * n * n),
            "nhwc to nchw" => {
                let x = tensor(device, [16, side, side, 64])?.permute([0, 3, 1, 2]);
                ((x * 2.0).into(), 2 * 1024 * side * side)
            }
            "exp" | "exp, fast" => (square()?.exp().into(), 2 * n * n),
            "pow" | "pow, fast" => (square()?.pow(square()?).into(), 3 * n * n),
            "compare" => (square()?.lt(square()?).into(), 2 * n * n + n * n / 4),
            "select" => {
                let (x, y) = (square()?, square()?);
                (square()?.gt(0.5).select(x, y).into(), 4 * n * n)
            }
            "chain of 5" => {
                let (a, row, column) = (square()?, vector(n)?, vector(n)?.unsqueeze(1));
                let (b, s) = (tensor(device, [])?, vector(1)?);
                ((((a - row) / column * b + s).relu()).into(), 2 * n * n + 2 * n)
            }
            _ => {
                let (a, b) = (square()?, square()?);
                let chain = (0..10).fold(a.expr(), |x, k| (x * &b + (k as f32)).abs());
                (chain.into(), 3 * n * n)
            }
        };
        expr.shape()?;
        Ok(Bench { device: device.clone(), expr, bytes: 4 * count })
    }
}

#[wasm_bindgen]
impl Bench {
    /// Evaluates several times, without waiting for the device.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn run(&self, times: u32) -> std::result::Result<(), JsValue> {
        let run = || -> Result<()> {
            (0..times).try_for_each(|_| self.expr.eval().map(drop))?;
            self.device.flush()
        };
        run().map_err(js::thrown)
    }

    /// Waits for all evaluations.
    ///
    /// # Errors
    /// When the device is lost.
    pub async fn done(&self) -> std::result::Result<(), JsValue> {
        self.device.synchronize_async().await.map_err(js::thrown)
    }

    /// The result, with bool as 0 and 1.
    ///
    /// # Errors
    /// When the device is lost.
    pub async fn values(&self) -> std::result::Result<Vec<f32>, JsValue> {
        let numbers = self.expr.cast(zerostride::DType::F32).typed::<f32>().map_err(js::thrown)?;
        numbers.to_vec_async().await.map_err(js::thrown)
    }

    /// The least bytes that move.
    pub fn bytes(&self) -> f64 {
        self.bytes as f64
    }
}
