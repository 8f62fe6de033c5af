//! candle on its CPU device, with functions of `candle-nn`.

use candle_core::{Device, Tensor};
use candle_nn::ops;

use super::{Reader, Run};
use crate::Failure;
use crate::cases::{Case, EPSILON, Work};

pub(super) fn run(case: &Case) -> Result<Run, Failure> {
    let upload = |(x, shape): (Vec<f32>, &[usize])| Tensor::from_vec(x, shape, &Device::Cpu);
    let mut x: Vec<Tensor> = case.operands().map(upload).collect::<Result<_, _>>()?;
    if case.turned {
        x[1] = x[1].t()?;
    }
    let shape = case.shapes[0].clone();
    let columns = shape[1];
    let ones = Tensor::from_vec(vec![1.0_f32; columns], columns, &Device::Cpu)?;
    let zeros = ones.zeros_like()?;
    let (work, tokens) = (case.work, shape[shape.len() - 2]);
    let later = |i: usize| if i % tokens > i / tokens { f32::NEG_INFINITY } else { 0.0 };
    let hidden = match work {
        Work::Attention => (0..tokens * tokens).map(later).collect(),
        _ => vec![0.0],
    };
    let side = if hidden.len() == 1 { 1 } else { tokens };
    let hidden = Tensor::from_vec(hidden, (side, side), &Device::Cpu)?;
    Ok(Box::new(move || {
        let a = &x[0];
        let result = match work {
            Work::Add => a.broadcast_add(&x[1])?,
            Work::Exp => a.exp()?,
            Work::Chain => {
                let scaled = a.broadcast_sub(&x[1])?.broadcast_div(&x[2])?.broadcast_mul(&x[3])?;
                scaled.broadcast_add(&x[4])?.relu()?
            }
            Work::Sum(axes) => a.sum(axes)?,
            Work::Amax => a.max_all()?,
            Work::Argmax => a.argmax(1)?,
            Work::Var => a.var(1)?,
            Work::Dot => (a * &x[1])?.sum_all()?,
            Work::Softmax => ops::softmax_last_dim(a)?,
            Work::Standardize(1) => ops::layer_norm(a, &ones, &zeros, EPSILON)?,
            Work::Standardize(axis) => {
                let apart = a.broadcast_sub(&a.mean_keepdim(axis)?)?;
                let var = apart.sqr()?.mean_keepdim(axis)?;
                apart.broadcast_div(&(var + f64::from(EPSILON))?.sqrt()?)?
            }
            Work::Distances => a.unsqueeze(1)?.broadcast_sub(&x[1].unsqueeze(0)?)?.sqr()?.sum(2)?,
            Work::Cumsum(axis) => a.cumsum(axis)?,
            Work::Matmul => a.matmul(&x[1])?,
            Work::Attention => {
                let scores = (a.matmul(&x[1].t()?)? / (shape[3] as f64).sqrt())?.broadcast_add(&hidden)?;
                ops::softmax_last_dim(&scores)?.matmul(&x[2])?
            }
        };
        std::hint::black_box(&result);
        let read: Reader = Box::new(move || {
            let flat = result.flatten_all()?.to_dtype(candle_core::DType::F64)?;
            Ok(flat.to_vec1()?)
        });
        Ok(read)
    }))
}
