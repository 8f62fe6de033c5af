//! A block of attention: scores of queries and keys, a mask, softmax, and values. Checked bit by bit against the CPU
//! path and approximately against plain loops, timed, and drawn as the weight of each earlier token.
//!
//! ```text
//! cargo run --release --example attention [-- --device NAME]
//! ```

use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use image::GrayImage;
use zerostride::{Device, Expr, Tensor};

#[derive(Parser)]
struct Options {
    /// A device, as `Device::named` takes it; the best one when none is given
    #[arg(long)]
    device: Option<String>,
    /// Tokens of a sequence
    #[arg(long, default_value_t = 512)]
    tokens: usize,
    /// Where the picture goes
    #[arg(long, default_value = "attention.png")]
    output: PathBuf,
}

type Failure = Box<dyn std::error::Error>;

const BATCHES: usize = 2;
const HEADS: usize = 8;
/// Numbers of a token in a head.
const DEPTH: usize = 64;

/// Queries, keys and values: batches x heads x tokens x depth.
struct Block {
    queries: Tensor<f32>,
    keys: Tensor<f32>,
    values: Tensor<f32>,
}

impl Block {
    /// Queries and keys rotate with the place of their token, each pair of numbers at its own speed, so that near
    /// tokens are similar; and noise.
    fn new(device: &Device, tokens: usize) -> Result<Block, Failure> {
        let shape = [BATCHES, HEADS, tokens, DEPTH];
        let noise = |key: u64| Expr::<f32>::normal(shape, key);
        let axis = |axis| Expr::iota(shape, axis).cast::<f32>();
        let pace = (axis(3) * -0.1).exp() * (axis(1) + 1.0) * 0.03;
        let turned = (axis(2) * pace).sin();
        Ok(Block {
            queries: (&turned * 1.5 + noise(1) * 0.5).eval_on(device)?,
            keys: (turned * 1.5 + noise(2) * 0.5).eval_on(device)?,
            values: noise(3).eval_on(device)?,
        })
    }

    /// The weight of each token for each query: 0 for later tokens.
    fn weights(&self) -> Expr<f32> {
        let scores = Expr::einsum("bhqd,bhkd->bhqk", [&self.queries, &self.keys]) / (DEPTH as f32).sqrt();
        let tokens = self.queries.shape()[2];
        let [query, key] = [0, 1].map(|axis| Expr::iota([tokens, tokens], axis));
        key.le(query).select(scores, f32::NEG_INFINITY).softmax(-1)
    }

    fn attended(&self) -> Expr<f32> {
        self.weights().matmul(&self.values)
    }

    /// The numbers of a query by plain loops, in f64.
    fn plain(&self, batch: usize, head: usize, query: usize) -> Result<Vec<f64>, Failure> {
        let of_head = |all: &Tensor<f32>| -> Result<Vec<f64>, Failure> {
            let own = all.slice(0, batch as isize..=batch as isize).slice(1, head as isize..=head as isize);
            Ok(own.to_vec()?.into_iter().map(f64::from).collect())
        };
        let [queries, keys, values] = [of_head(&self.queries)?, of_head(&self.keys)?, of_head(&self.values)?];
        let row = |all: &[f64], token: usize| all[token * DEPTH..][..DEPTH].to_vec();
        let own = row(&queries, query);
        let score = |key: usize| {
            own.iter().zip(row(&keys, key)).map(|(a, b)| a * b).sum::<f64>() / (DEPTH as f64).sqrt()
        };
        let scores: Vec<f64> = (0..=query).map(score).collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
        let all: f64 = weights.iter().sum();
        let of_number = |d: usize| -> f64 {
            weights.iter().enumerate().map(|(key, weight)| weight / all * values[key * DEPTH + d]).sum()
        };
        Ok((0..DEPTH).map(of_number).collect())
    }
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let device = options.device.as_deref().map_or_else(Device::open, Device::named)?;
    let block = Block::new(&device, options.tokens)?;
    println!("on {}: {BATCHES} batches, {HEADS} heads, {} tokens of {DEPTH}", device.name(), options.tokens);

    let start = Instant::now();
    let attended = block.attended().eval()?;
    device.synchronize()?;
    println!("first evaluation: {:.1?}", start.elapsed());
    let start = Instant::now();
    block.attended().eval()?;
    device.synchronize()?;
    println!("again: {:.1?}", start.elapsed());

    check(&block, &attended)?;
    draw(&block, &options.output)?;
    println!("drawn: {}", options.output.display());
    Ok(())
}

/// Products of the same operands have the same bits on the CPU path. The whole result is near the plain loops'.
fn check(block: &Block, attended: &Tensor<f32>) -> Result<(), Failure> {
    let cpu = Device::cpu();
    let moved = |own: &Tensor<f32>| cpu.upload(&own.to_vec()?, own.shape().clone());
    let (queries, keys) = (moved(&block.queries)?, moved(&block.keys)?);
    let scores = Expr::einsum("bhqd,bhkd->bhqk", [&block.queries, &block.keys]).to_vec()?;
    if scores != Expr::einsum("bhqd,bhkd->bhqk", [&queries, &keys]).to_vec()? {
        return Err("scores differ from those of the CPU path".into());
    }
    let (own, tokens) = (attended.to_vec()?, attended.shape()[2]);
    let mut farthest = 0.0_f64;
    for (batch, head, query) in [(0, 0, 0), (0, 3, tokens / 3), (1, 7, tokens - 1)] {
        let first = ((batch * HEADS + head) * tokens + query) * DEPTH;
        for (got, right) in own[first..].iter().zip(block.plain(batch, head, query)?) {
            farthest = farthest.max((f64::from(*got) - right).abs());
        }
    }
    println!("scores have the bits of the CPU path; farthest from plain loops: {farthest:.1e}");
    if farthest < 1e-5 { Ok(()) } else { Err("that is too far".into()) }
}

/// The weights of the heads of the first batch, four side by side: a row for each query, bright where it looks.
fn draw(block: &Block, path: &PathBuf) -> Result<(), Failure> {
    let weights = block.weights().slice(0, ..1).eval()?;
    let tokens = weights.shape()[2];
    let beside = 4;
    let brightness = (weights.sqrt() * 1024.0).minimum(255.0).cast::<u8>();
    let heads =
        brightness.reshape([(HEADS / beside) as isize, beside as isize, tokens as isize, tokens as isize]);
    let pixels = heads.permute([0, 2, 1, 3]).to_vec()?;
    let [columns, rows] = [beside * tokens, HEADS / beside * tokens].map(|n| n as u32);
    Ok(GrayImage::from_raw(columns, rows, pixels).ok_or("no picture")?.save(path)?)
}
