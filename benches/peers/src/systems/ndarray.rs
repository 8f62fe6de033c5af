//! ndarray with rayon's threads. Elementwise results go to existing memory, which is its fastest form.

use std::cell::RefCell;
use std::rc::Rc;

use ndarray::linalg::general_mat_mul;
use ndarray::parallel::prelude::*;
use ndarray::{Array, Array1, Array2, Array3, ArrayD, ArrayView2, ArrayViewD, ArrayViewMut2, Axis, IxDyn, Zip, s};

use super::{Reader, Run};
use crate::Failure;
use crate::cases::{Case, EPSILON, Work};

/// Rows, or columns, that a thread takes at a time.
const STRIP: usize = 256;

pub(super) fn run(case: &Case) -> Result<Run, Failure> {
    rayon_threads();
    let operand = |(x, shape): (Vec<f32>, &[usize])| Array::from_shape_vec(IxDyn(shape), x);
    let x: Vec<ArrayD<f32>> = case.operands().map(operand).collect::<Result<_, _>>()?;
    match case.work {
        Work::Sum(axes) if case.shapes[0].len() == 4 => {
            let channels = Axis((0..4).find(|k| !axes.contains(k)).ok_or("no axis is left")?);
            Ok(fresh(move || {
                let sums: Vec<f32> = x[0].axis_iter(channels).into_par_iter().map(|x| x.sum()).collect();
                Array::from(sums).into_dyn()
            }))
        }
        Work::Matmul if case.shapes[0].len() == 2 => {
            let x = x.into_iter().map(ArrayD::into_dimensionality).collect::<Result<Vec<Array2<f32>>, _>>()?;
            Ok(fresh(move || x[0].dot(&x[1]).into_dyn()))
        }
        Work::Matmul | Work::Attention => {
            // Matrix by matrix, each on a thread.
            let count = matrices_of(&case.shapes[0]);
            let matrices = |x: ArrayD<f32>| {
                let [rows, columns] = [2, 1].map(|k| x.shape()[x.ndim() - k]);
                x.into_shape_with_order([count, rows, columns])
            };
            let x = x.into_iter().map(matrices).collect::<Result<Vec<Array3<f32>>, _>>()?;
            let work = case.work;
            Ok(fresh(move || {
                let mut out = Array3::zeros(x[0].raw_dim());
                let factors = Zip::from(x[0].outer_iter()).and(x[1].outer_iter());
                match work {
                    Work::Matmul => factors.and(out.outer_iter_mut()).par_for_each(|a, b, mut out| {
                        general_mat_mul(1.0, &a, &b, 0.0, &mut out);
                    }),
                    _ => factors.and(x[2].outer_iter()).and(out.outer_iter_mut()).par_for_each(attention),
                }
                out.into_dyn()
            }))
        }
        _ if case.kind() == "reductions" => {
            let x =
                x.into_iter().map(|x| x.into_dimensionality()).collect::<Result<Vec<Array2<f32>>, _>>()?;
            let work = case.work;
            Ok(fresh(move || reduction(work, &x)))
        }
        _ => elementwise(case, x),
    }
}

/// A run whose results are new arrays.
fn fresh(work: impl Fn() -> ArrayD<f32> + 'static) -> Run {
    Box::new(move || {
        let result = work();
        std::hint::black_box(&result);
        let read: Reader = Box::new(move || Ok(result.iter().map(|&x| x.into()).collect()));
        Ok(read)
    })
}

fn elementwise(case: &Case, x: Vec<ArrayD<f32>>) -> Result<Run, Failure> {
    let shape = case.broadcast();
    let out: Rc<RefCell<ArrayD<f32>>> = Rc::new(RefCell::new(Array::zeros(IxDyn(&shape))));
    let (work, turned) = (case.work, case.turned);
    Ok(Box::new(move || {
        let result = Rc::clone(&out);
        let mut out = out.borrow_mut();
        let a = broadcast(&x[0], &shape)?;
        match work {
            Work::Exp => Zip::from(&mut *out).and(&a).par_for_each(|out, &a| *out = a.exp()),
            Work::Chain => {
                let (row, column) = (broadcast(&x[1], &shape)?, broadcast(&x[2], &shape)?);
                let (b, s) = (x[3].iter().sum::<f32>(), x[4].iter().sum::<f32>());
                let all = Zip::from(&mut *out).and(&a).and(&row).and(&column);
                all.par_for_each(|out, &a, &row, &column| *out = ((a - row) / column * b + s).max(0.0));
            }
            _ => {
                let second = if turned { x[1].view().reversed_axes() } else { broadcast(&x[1], &shape)? };
                Zip::from(&mut *out).and(&a).and(&second).par_for_each(|out, &a, &b| *out = a + b);
            }
        }
        std::hint::black_box(&*out);
        let read: Reader = Box::new(move || Ok(result.borrow().iter().map(|&x| x.into()).collect()));
        Ok(read)
    }))
}

fn broadcast<'a>(x: &'a ArrayD<f32>, shape: &[usize]) -> Result<ArrayViewD<'a, f32>, Failure> {
    Ok(x.broadcast(IxDyn(shape)).ok_or("shapes do not broadcast")?)
}

fn reduction(work: Work, x: &[Array2<f32>]) -> ArrayD<f32> {
    let a = &x[0];
    let rows = Zip::from(a.rows());
    match work {
        Work::Sum([1]) => rows.par_map_collect(|row| row.sum()).into_dyn(),
        Work::Sum([0]) => columns(a, |strip| strip.sum_axis(Axis(0))).into_dyn(),
        Work::Amax => whole(rows.par_fold(|| f32::MIN, |most, row| most.max(greatest(row)), f32::max)),
        Work::Argmax => rows
            .par_map_collect(|row| {
                let first =
                    |best: (usize, f32), (i, &x): (usize, &f32)| if x > best.1 { (i, x) } else { best };
                row.iter().enumerate().fold((0, row[0]), first).0 as f32
            })
            .into_dyn(),
        Work::Var => rows.par_map_collect(|row| moments(row).1 / (row.len() - 1) as f32).into_dyn(),
        Work::Dot => {
            let rows = rows.and(x[1].rows());
            whole(rows.par_fold(|| 0.0, |sum, a, b| sum + a.dot(&b), |a, b| a + b))
        }
        Work::Softmax => by_rows(a, |row, mut out| {
            let most = greatest(row);
            Zip::from(&mut out).and(row).for_each(|out, &x| *out = (x - most).exp());
            let sum = out.sum();
            out /= sum;
        }),
        Work::Standardize(1) => by_rows(a, |row, mut out| {
            let (mean, squares) = moments(row);
            let root = (squares / row.len() as f32 + EPSILON).sqrt();
            Zip::from(&mut out).and(row).for_each(|out, &x| *out = (x - mean) / root);
        }),
        Work::Standardize(_) => {
            let count = a.nrows() as f32;
            let mean = columns(a, |strip| strip.sum_axis(Axis(0))) / count;
            let squares = columns(a, |strip| {
                let mut sums = Array1::zeros(strip.ncols());
                for row in strip.rows() {
                    let all = Zip::from(&mut sums).and(row).and(&mean);
                    all.for_each(|sum, &x, &mean| *sum += (x - mean) * (x - mean));
                }
                sums
            });
            let root = squares.mapv(|squares| (squares / count + EPSILON).sqrt());
            by_rows(a, |row, mut out| {
                let all = Zip::from(&mut out).and(row).and(&mean).and(&root);
                all.for_each(|out, &x, &mean, &root| *out = (x - mean) / root);
            })
        }
        Work::Distances => {
            let mut out = Array2::zeros((a.nrows(), x[1].nrows()));
            Zip::from(out.rows_mut()).and(a.rows()).par_for_each(|out, a| {
                let squares = |out: &mut f32, b: ndarray::ArrayView1<'_, f32>| {
                    *out = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
                };
                Zip::from(out).and(x[1].rows()).for_each(squares);
            });
            out.into_dyn()
        }
        Work::Cumsum(1) => by_rows(a, |row, mut out| {
            let mut sum = 0.0;
            Zip::from(&mut out).and(row).for_each(|out, &x| {
                sum += x;
                *out = sum;
            });
        }),
        Work::Cumsum(_) => {
            let mut out = Array2::zeros(a.raw_dim());
            let strips = out.axis_chunks_iter_mut(Axis(1), STRIP).into_par_iter();
            strips.zip(a.axis_chunks_iter(Axis(1), STRIP)).for_each(|(mut out, a)| {
                out.assign(&a);
                out.accumulate_axis_inplace(Axis(0), |&before, x| *x += before);
            });
            out.into_dyn()
        }
        _ => whole(rows.par_fold(|| 0.0, |sum, row| sum + row.sum(), |a, b| a + b)),
    }
}

/// Matrices of a shape.
fn matrices_of(shape: &[usize]) -> usize {
    shape[..shape.len() - 2].iter().product()
}

fn attention(
    q: ArrayView2<'_, f32>,
    k: ArrayView2<'_, f32>,
    v: ArrayView2<'_, f32>,
    mut out: ArrayViewMut2<'_, f32>,
) {
    let mut scores = q.dot(&k.t()) / (q.ncols() as f32).sqrt();
    for (i, mut row) in scores.rows_mut().into_iter().enumerate() {
        row.slice_mut(s![i + 1..]).fill(f32::NEG_INFINITY);
        let most = greatest(row.view());
        row.mapv_inplace(|x| (x - most).exp());
        let sum = row.sum();
        row /= sum;
    }
    general_mat_mul(1.0, &scores, &v, 0.0, &mut out);
}

fn whole(x: f32) -> ArrayD<f32> {
    Array::from_elem(IxDyn(&[]), x)
}

/// Sums of the results of groups of rows.
fn columns(x: &Array2<f32>, of: impl Fn(ArrayView2<'_, f32>) -> Array1<f32> + Sync + Send) -> Array1<f32> {
    let strips = x.axis_chunks_iter(Axis(0), STRIP).into_par_iter();
    strips.map(of).reduce(|| Array1::zeros(x.ncols()), |a, b| a + b)
}

/// A row of the result for each row.
fn by_rows(
    x: &Array2<f32>,
    of: impl Fn(ndarray::ArrayView1<'_, f32>, ndarray::ArrayViewMut1<'_, f32>) + Sync + Send,
) -> ArrayD<f32> {
    let mut out = Array2::zeros(x.raw_dim());
    Zip::from(x.rows()).and(out.rows_mut()).par_for_each(of);
    out.into_dyn()
}

fn greatest(row: ndarray::ArrayView1<'_, f32>) -> f32 {
    row.iter().copied().fold(f32::MIN, f32::max)
}

/// The mean of a row, and the sum of squared deviations.
fn moments(row: ndarray::ArrayView1<'_, f32>) -> (f32, f32) {
    let mean = row.sum() / row.len() as f32;
    (mean, row.mapv(|x| (x - mean) * (x - mean)).sum())
}

/// Starts the threads before anything is timed.
fn rayon_threads() {
    (0..1000).into_par_iter().for_each(|i| {
        std::hint::black_box(i);
    });
}
