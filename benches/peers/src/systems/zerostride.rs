//! This crate. Each expression is built once, as a program does that evaluates it again and again.

use zerostride::{Device, Element, Expr, Tensor};

use super::{Reader, Run};
use crate::Failure;
use crate::cases::{Case, EPSILON, Work};

pub(crate) struct Zerostride(Device);

impl Zerostride {
    pub fn named(name: &str) -> Result<Self, Failure> {
        Ok(Self(Device::named(name)?))
    }

    /// The adapter and its driver.
    pub fn name(&self) -> String {
        let driver = self.0.wgpu().map(|(device, _)| {
            let info = device.adapter_info();
            format!(", {} {}", info.driver, info.driver_info)
        });
        self.0.name() + &driver.unwrap_or_default()
    }

    pub fn run(&self, case: &Case) -> Result<Run, Failure> {
        let upload = |(x, shape): (Vec<f32>, &[usize])| self.0.upload(&x, shape);
        let mut x: Vec<Tensor<f32>> = case.operands().map(upload).collect::<Result<_, _>>()?;
        if case.turned {
            x[1] = x[1].transpose(0, 1).tensor()?;
        }
        let a = &x[0];
        Ok(self.evaluated(match case.work {
            Work::Add => a + &x[1],
            Work::Exp => a.exp(),
            Work::Chain => ((a - &x[1]) / &x[2] * &x[3] + &x[4]).relu(),
            Work::Sum(axes) => a.sum(axes.iter().map(|&axis| axis as isize).collect::<Vec<_>>()),
            Work::Amax => a.max(..),
            Work::Argmax => return Ok(self.evaluated(a.argmax(1))),
            Work::Var => a.var(1, 1),
            Work::Dot => (a * &x[1]).sum(..),
            Work::Softmax => a.softmax(1),
            Work::Standardize(axis) => {
                let axis = axis as isize;
                (a - a.mean_keepdim(axis)) / (a.var_keepdim(axis, 0) + EPSILON).sqrt()
            }
            Work::Distances => (a.unsqueeze(1) - x[1].unsqueeze(0)).square().sum(2),
            Work::Cumsum(axis) => a.cumsum(axis as isize),
            Work::Matmul => a.matmul(&x[1]),
            Work::Attention => {
                let (tokens, depth) = (case.shapes[0][2], case.shapes[0][3]);
                let scores = a.matmul(x[1].transpose(2, 3)) / (depth as f32).sqrt();
                let is_later = Expr::iota([tokens, tokens], 0).lt(Expr::iota([tokens, tokens], 1));
                is_later.select(f32::NEG_INFINITY, scores).softmax(3).matmul(&x[2])
            }
        }))
    }

    fn evaluated<T: Element + Into<f64>>(&self, expr: Expr<T>) -> Run {
        let device = self.0.clone();
        Box::new(move || {
            let result = expr.eval()?;
            device.synchronize()?;
            let read: Reader = Box::new(move || Ok(result.to_vec()?.into_iter().map(Into::into).collect()));
            Ok(read)
        })
    }
}
