//! The cases: reductions, and the operations that they are compared with.

use zerostride::{Device, Expr, Result, Tensor};

use super::naive;
use crate::common::{Failure, Work};

/// The operation that a case is compared with.
#[derive(Clone, Copy)]
enum Base {
    /// `x + 1.0`.
    Add,
    /// `exp(x)`.
    Exp,
    /// `x + y`.
    Two,
}

/// One case: its work, the same tensor's elementwise work, and the multiple to stay below.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    pub(crate) base: Work,
    pub(crate) most: f64,
}

/// A tensor of numbers from 0 up to 1 that differ from their neighbours.
pub(crate) fn tensor(device: &Device, shape: &[usize]) -> Result<Tensor<f32>> {
    let flat = Expr::iota([shape.iter().product()], 0);
    let signed: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
    ((flat.rem(1021) + 1).cast::<f32>() / 1024.0).eval_on(device)?.reshape(&signed).tensor()
}

/// Every case, of `side * side` elements.
pub(crate) fn cases(device: &Device, side: usize) -> std::result::Result<Vec<Case>, Failure> {
    let count = side * side;
    let square = tensor(device, &[side, side])?;
    let other = tensor(device, &[side, side])?;
    let tall = tensor(device, &[count / 8, 8])?;
    let wide = tensor(device, &[8, count / 8])?;
    let images = tensor(device, &[16, 64, side / 32, side / 32])?;
    let middle = tensor(device, &[side / 16, 16 * 16, side / 16])?;
    let mut cases = Vec::new();
    let mut add = |name, x: &Tensor<f32>, base, most, of: &dyn Fn(&Tensor<f32>) -> Expr<f32>| {
        // Built once, as in a program that evaluates it repeatedly.
        let (expr, other) = (of(x), other.clone());
        let base = match base {
            Base::Add => x + 1.0,
            Base::Exp => x.exp(),
            Base::Two => x + &other,
        };
        let work = move || expr.eval().map(drop);
        cases.push(Case { name, work: Box::new(work), base: Box::new(move || base.eval().map(drop)), most });
    };
    add("sum all", &square, Base::Add, 0.6, &|x| x.sum(..));
    add("mean all", &square, Base::Add, 0.6, &|x| x.mean(..));
    add("max all", &square, Base::Add, 0.6, &|x| x.max(..));
    add("sum last", &square, Base::Add, 0.6, &|x| x.sum(-1));
    add("mean last", &square, Base::Add, 0.6, &|x| x.mean(-1));
    add("max last", &square, Base::Add, 0.6, &|x| x.max(-1));
    add("sum channels", &images, Base::Add, 0.6, &|x| x.sum([0, 2, 3]));
    add("sum axis 1", &images, Base::Add, 0.6, &|x| x.sum(1));
    add("tall last", &tall, Base::Add, 0.6, &|x| x.sum(1));
    add("wide last", &wide, Base::Add, 0.6, &|x| x.sum(1));
    add("sum first", &square, Base::Add, 0.75, &|x| x.sum(0));
    add("sum middle", &middle, Base::Add, 0.75, &|x| x.sum(1));
    add("tall first", &tall, Base::Add, 0.75, &|x| x.sum(0));
    add("wide first", &wide, Base::Add, 0.75, &|x| x.sum(0));
    add("l2", &square, Base::Add, 0.75, &|x| x.l2(-1));
    add("sum_square", &square, Base::Add, 0.75, &|x| x.sum_square(..));
    add("all", &square, Base::Add, 0.75, &|x| x.gt(0.0).all(-1).cast());
    add("count_nonzero", &square, Base::Add, 0.75, &|x| x.count_nonzero(-1).cast());
    add("transposed", &square, Base::Add, 1.0, &|x| x.expr().permute([1, 0]).sum(1));
    add("argmax", &square, Base::Add, 1.0, &|x| x.argmax(-1).cast());
    add("var", &square, Base::Add, 1.3, &|x| x.var(-1, 0));
    add("dot", &square, Base::Two, 0.65, &|x| (x * &other).sum(..));
    add("softmax", &square, Base::Exp, 2.2, &|x| x.softmax(-1));
    add("layer norm", &square, Base::Exp, 2.2, &|x| {
        (x - x.mean_keepdim(-1)) / (x.var_keepdim(-1, 0) + 1e-5).sqrt()
    });
    add("standardize", &square, Base::Exp, 2.2, &|x| (x - x.mean_keepdim(-1)) / x.std_keepdim(-1, 0));
    add("standardize 0", &square, Base::Exp, 4.0, &|x| {
        (x - x.mean_keepdim(0)) / (x.var_keepdim(0, 0) + 1e-5).sqrt()
    });
    add("logsumexp", &square, Base::Exp, 2.2, &|x| x.logsumexp(-1));
    add("min and max", &square, Base::Add, 1.3, &|x| x.max(-1) - x.min(-1));
    let points = tensor(device, &[side, 16])?;
    let centers = tensor(device, &[side / 16, 16])?;
    // A matrix of a sixteenth of the elements. Each element takes sixteen products.
    add("pairwise", &square, Base::Add, 2.0, &|_| {
        (points.unsqueeze(1) - centers.unsqueeze(0)).square().sum(2)
    });
    add("cumsum", &square, Base::Add, 2.5, &|x| x.cumsum(-1));
    add("cumsum first", &square, Base::Add, 2.5, &|x| x.cumsum(0));
    if device.name() != "cpu" {
        let side = side.min(1024);
        let (a, b) = (tensor(device, &[side, side])?, tensor(device, &[side, side])?);
        let product = a.matmul(&b);
        let (work, base) = (move || product.eval().map(drop), naive::product(device, side)?);
        cases.push(Case { name: "matrix product", work: Box::new(work), base, most: 0.35 });
    }
    Ok(cases)
}
