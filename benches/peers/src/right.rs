//! Reference results, by plain loops in 64 bits.

use crate::cases::{Case, EPSILON, Work};

/// The greatest error of a result, relative to its magnitude and the mean magnitude. It detects work that was not done. It
/// is wide, because systems that add numbers one after the other lose digits and are not wrong.
pub(crate) const BOUND: f64 = 1e-3;

/// The greatest error among a system's results, in units of the bound.
pub(crate) fn worst(case: &Case, right: &[f64], got: &[f64]) -> f64 {
    if got.len() != right.len() {
        return f64::INFINITY;
    }
    // Not every system returns the first of equals, so the elements at indices are compared.
    let found = match case.work {
        Work::Argmax => Some(at(case, got)),
        _ => None,
    };
    let got = found.as_deref().unwrap_or(got);
    let mean = right.iter().map(|x| x.abs()).sum::<f64>() / right.len() as f64;
    let off = got.iter().zip(right).map(|(got, right)| (got - right).abs() / (right.abs() + mean));
    off.map(|off| if off.is_nan() { f64::INFINITY } else { off }).fold(0.0, f64::max)
}

/// The elements at indices, one of each row.
fn at(case: &Case, indexes: &[f64]) -> Vec<f64> {
    let x = operands(case).swap_remove(0);
    let columns = case.shapes[0][1];
    let value = |(row, &index): (usize, &f64)| match index as usize {
        column if column < columns => x[row * columns + column],
        _ => f64::NAN,
    };
    indexes.iter().enumerate().map(value).collect()
}

fn operands(case: &Case) -> Vec<Vec<f64>> {
    case.operands().map(|(x, _)| x.into_iter().map(f64::from).collect()).collect()
}

/// The result in row-major order. An index is replaced by its element.
pub(crate) fn right(case: &Case) -> Vec<f64> {
    let mut operands = operands(case);
    let shape = &case.shapes[0];
    let (rows, columns) = (shape[0], shape[shape.len() - 1]);
    if case.kind() == "elementwise" {
        return elementwise(case, &operands);
    }
    let mut x = operands.swap_remove(0);
    match case.work {
        Work::Add | Work::Exp | Work::Chain => {}
        Work::Matmul => {
            let width = *case.shapes[1].last().unwrap_or(&1);
            let all = x.chunks(rows_of(shape) * columns).zip(operands[0].chunks(columns * width));
            return all.flat_map(|(a, b)| product(a, b, columns)).collect();
        }
        Work::Attention => return attention(&x, &operands, shape),
        Work::Sum(axes) => return sum(&x, shape, axes),
        Work::Amax => return vec![greatest(&x)],
        Work::Argmax => return x.chunks(columns).map(greatest).collect(),
        Work::Var => return x.chunks(columns).map(|row| moments(row, 1.0).1).collect(),
        Work::Dot => return vec![x.iter().zip(&operands[0]).map(|(a, b)| a * b).sum()],
        Work::Distances => {
            let distance = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
            let of = |a| operands[0].chunks(columns).map(move |b| distance((a, b)));
            return x.chunks(columns).flat_map(of).collect();
        }
        Work::Softmax => x.chunks_mut(columns).for_each(softmax),
        Work::Standardize(axis) => along(&mut x, [rows, columns], axis, |line| {
            let (mean, var) = moments(line, 0.0);
            let root = (var + f64::from(EPSILON)).sqrt();
            line.iter_mut().for_each(|x| *x = (*x - mean) / root);
        }),
        Work::Cumsum(axis) => along(&mut x, [rows, columns], axis, |line| {
            let mut sum = 0.0;
            line.iter_mut().for_each(|x| {
                sum += *x;
                *x = sum;
            });
        }),
    }
    x
}

fn elementwise(case: &Case, operands: &[Vec<f64>]) -> Vec<f64> {
    let shape = case.broadcast();
    let element = |mut i: usize| {
        let mut index = vec![0; shape.len()];
        for (index, &length) in index.iter_mut().zip(&shape).rev() {
            (*index, i) = (i % length, i / length);
        }
        let operand = |k: usize| {
            let own = index.iter().zip(&case.shapes[k]);
            let own = own.map(|(&i, &length)| (if length == 1 { 0 } else { i }, length));
            let place = |at, (i, length)| at * length + i;
            let is_turned = case.turned && k == 1;
            operands[k][if is_turned { own.rev().fold(0, place) } else { own.fold(0, place) }]
        };
        match case.work {
            Work::Exp => operand(0).exp(),
            Work::Chain => ((operand(0) - operand(1)) / operand(2) * operand(3) + operand(4)).max(0.0),
            _ => operand(0) + operand(1),
        }
    };
    (0..shape.iter().product()).map(element).collect()
}

fn rows_of(shape: &[usize]) -> usize {
    shape[shape.len() - 2]
}

/// The product of two matrices over this many products.
fn product(a: &[f64], b: &[f64], products: usize) -> Vec<f64> {
    let width = b.len() / products;
    let row = |row: &[f64]| {
        let mut sums = vec![0.0; width];
        for (a, b) in row.iter().zip(b.chunks(width)) {
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
        sums
    };
    a.chunks(products).flat_map(row).collect()
}

fn attention(q: &[f64], kv: &[Vec<f64>], shape: &[usize]) -> Vec<f64> {
    let (tokens, depth) = (rows_of(shape), shape[shape.len() - 1]);
    let head = tokens * depth;
    let heads = q.chunks(head).zip(kv[1].chunks(head)).zip(kv[0].chunks(head));
    let block = |((q, k), v): ((&[f64], &[f64]), &[f64])| {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let row = |(i, q): (usize, &[f64])| {
            let scores = k.chunks(depth).take(i + 1).map(|k| dot(q, k) / (depth as f64).sqrt());
            let mut weights: Vec<f64> = scores.collect();
            softmax(&mut weights);
            product(&weights, &v[..weights.len() * depth], weights.len())
        };
        q.chunks(depth).enumerate().flat_map(row).collect::<Vec<f64>>()
    };
    heads.flat_map(block).collect()
}

fn softmax(row: &mut [f64]) {
    let most = greatest(row);
    row.iter_mut().for_each(|x| *x = (*x - most).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|x| *x /= sum);
}

fn sum(x: &[f64], shape: &[usize], axes: &[usize]) -> Vec<f64> {
    let kept = |k: usize| if axes.contains(&k) { 1 } else { shape[k] };
    let mut sums = vec![0.0; (0..shape.len()).map(kept).product()];
    for (mut i, x) in x.iter().enumerate() {
        let (mut at, mut stride) = (0, 1);
        for k in (0..shape.len()).rev() {
            at += i % shape[k] % kept(k) * stride;
            stride *= kept(k);
            i /= shape[k];
        }
        sums[at] += x;
    }
    sums
}

fn greatest(x: &[f64]) -> f64 {
    x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The mean, and the variance.
fn moments(x: &[f64], correction: f64) -> (f64, f64) {
    let count = x.len() as f64;
    let mean = x.iter().sum::<f64>() / count;
    let squares: f64 = x.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, squares / (count - correction))
}

/// Changes each line along an axis of a matrix.
fn along(x: &mut [f64], [rows, columns]: [usize; 2], axis: usize, change: impl Fn(&mut [f64])) {
    if axis == 1 {
        return x.chunks_mut(columns).for_each(change);
    }
    for column in 0..columns {
        let mut line: Vec<f64> = (0..rows).map(|row| x[row * columns + column]).collect();
        change(&mut line);
        line.into_iter().enumerate().for_each(|(row, value)| x[row * columns + column] = value);
    }
}
