//! Methods of one tensor and numbers, and of several tensors and numbers, by their names in the crate.

use std::ops::Bound;

use wasm_bindgen::prelude::*;
use zerostride::{AnyExpr, Outside, Pad, Side};

use crate::error::{refused, thrown};
use crate::operands::Operands;
use crate::tensor::{CoreTensor, Tensors};

fn unknown(name: &str, numbers: &[f64]) -> JsValue {
    refused(format!("{name} does not take {} numbers", numbers.len()))
}

/// A bound of a slice, where NaN is none.
fn bounds(start: f64, end: f64) -> (Bound<isize>, Bound<isize>) {
    let start = if start.is_nan() { Bound::Unbounded } else { Bound::Included(start as isize) };
    let end = if end.is_nan() { Bound::Unbounded } else { Bound::Excluded(end as isize) };
    (start, end)
}

#[wasm_bindgen]
impl CoreTensor {
    /// A method by its name, and its numbers in order.
    ///
    /// # Errors
    /// For another name, and those of the method.
    pub fn method(&self, name: &str, numbers: &[f64]) -> Result<CoreTensor, JsValue> {
        let x = self.expr();
        let all: Vec<isize> = numbers.iter().map(|&number| number as isize).collect();
        let lengths = || all.iter().map(|&length| length.max(0) as usize).collect::<Vec<usize>>();
        self.made(match (name, numbers) {
            ("permute", _) => x.permute(&all),
            ("broadcast_to", _) => x.broadcast_to(lengths()),
            ("expand", _) => x.expand(&all),
            ("reshape", _) => match x.reshape(&all) {
                view if view.shape().is_ok() => view,
                // No strides lead through the elements of the expression, but they do once it is stored.
                _ => self.evaluated()?.reshape(&all),
            },
            ("transpose", &[a, b]) => x.transpose(a as isize, b as isize),
            ("flip", &[axis]) => x.flip(axis as isize),
            ("squeeze", &[axis]) => x.squeeze(axis as isize),
            ("unsqueeze", &[axis]) => x.unsqueeze(axis as isize),
            ("coordinate", &[axis]) => x.coordinate(axis as isize),
            ("slice", &[axis, start, end, step]) => {
                x.slice_step(axis as isize, bounds(start, end), step as isize)
            }
            ("windows", _) if all.len().is_multiple_of(4) => {
                let part = |k: usize| &all[k * all.len() / 4..(k + 1) * all.len() / 4];
                x.windows_with(part(0), part(1), part(2), part(3))
            }
            ("roll", _) if all.len().is_multiple_of(2) => {
                let (shifts, axes) = all.split_at(all.len() / 2);
                x.roll(shifts, axes)
            }
            ("tile", _) => x.tile(lengths()),
            ("repeat_interleave", &[times, axis]) => x.repeat_interleave(times as usize, axis as isize),
            ("sort", &[axis]) => x.sort(axis as isize),
            ("sort_descending", &[axis]) => x.sort_descending(axis as isize),
            ("argsort", &[axis]) => x.argsort(axis as isize),
            ("argsort_descending", &[axis]) => x.argsort_descending(axis as isize),
            ("median", &[axis]) => x.median(axis as isize),
            ("nanmedian", &[axis]) => x.nanmedian(axis as isize),
            ("quantile", &[q, axis]) => x.quantile(q, axis as isize),
            ("nanquantile", &[q, axis]) => x.nanquantile(q, axis as isize),
            ("bincount", &[bins]) => x.bincount(bins as usize),
            ("dense_rank", &[axis]) => x.dense_rank(axis as isize),
            ("diff", &[axis]) => x.diff(axis as isize),
            ("ffill", &[axis]) => x.ffill(axis as isize),
            ("bfill", &[axis]) => x.bfill(axis as isize),
            (_, &[window, least, axis]) if name.starts_with("rolling_") => {
                let (window, least, axis) = (window as usize, least as usize, axis as isize);
                match name {
                    "rolling_sum" => x.rolling_sum(window, least, axis),
                    "rolling_mean" => x.rolling_mean(window, least, axis),
                    "rolling_var" => x.rolling_var(window, least, axis),
                    "rolling_std" => x.rolling_std(window, least, axis),
                    "rolling_min" => x.rolling_min(window, least, axis),
                    "rolling_max" => x.rolling_max(window, least, axis),
                    "rolling_median" => x.rolling_median(window, least, axis),
                    _ => return Err(unknown(name, numbers)),
                }
            }
            _ => return Err(unknown(name, numbers)),
        })
    }

    /// Borders of `numbers[2 * axis]` elements before and `numbers[2 * axis + 1]` after each axis: by a mode, or of a
    /// value.
    ///
    /// # Errors
    /// For another mode, and those of the crate.
    pub fn pad(&self, numbers: &[f64], mode: &str, value: f64) -> Result<CoreTensor, JsValue> {
        let widths: Vec<(usize, usize)> = numbers
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&[before, after]| (before as usize, after as usize))
            .collect();
        let is_float = self.expr().dtype().map_err(thrown)?.to_string().contains('f');
        let pad = match mode {
            "edge" => Pad::Edge,
            "reflect" => Pad::Reflect,
            "wrap" => Pad::Wrap,
            "constant" if value.fract() == 0.0 && !is_float => Pad::constant(value as i64),
            "constant" => Pad::constant(value),
            _ => return Err(refused(format!("pad by '{mode}': it is constant, edge, reflect or wrap"))),
        };
        self.made(self.expr().pad(widths, pad))
    }

    /// The results of a method that has two: `topk` and `kthvalue`.
    ///
    /// # Errors
    /// For another name, and those of the method.
    pub fn pair(&self, name: &str, k: usize, axis: i32) -> Result<Tensors, JsValue> {
        let x = self.expr();
        let (values, indices) = match name {
            "topk" => x.topk(k, axis),
            "kthvalue" => x.kthvalue(k, axis),
            _ => return Err(unknown(name, &[])),
        };
        Tensors::of(self.device(), [values, indices])
    }
}

/// A function of several tensors in one type, by its name, and its numbers: joins and products.
///
/// # Errors
/// For another name, and those of the function.
#[wasm_bindgen]
pub fn join(name: &str, operands: &Operands, numbers: &[f64]) -> Result<CoreTensor, JsValue> {
    let all = operands.together()?;
    let expr = match (name, all.as_slice(), numbers) {
        ("concat", all, &[axis]) => AnyExpr::concat(all, axis as isize),
        ("stack", all, &[axis]) => AnyExpr::stack(all, axis as isize),
        ("matmul", [a, b], []) => a.matmul(b),
        ("dot", [a, b], []) => a.dot(b),
        ("outer", [a, b], []) => a.outer(b),
        ("vecdot", [a, b], &[axis]) => a.vecdot(b, axis as isize),
        ("tensordot", [a, b], axes) => {
            let pairs = axes.as_chunks::<2>().0.iter().map(|&[x, y]| [x as isize, y as isize]);
            a.tensordot(b, pairs)
        }
        ("isin", [a, b], []) => a.isin(b),
        ("searchsorted", [a, b], &[right]) => {
            a.searchsorted(b, if right == 1.0 { Side::Right } else { Side::Left })
        }
        (equation, all, []) if equation.contains("->") => AnyExpr::einsum(equation, all),
        _ => return Err(refused(format!("{name} does not take {} operands", all.len()))),
    };
    CoreTensor::new(&operands.device(name)?, expr)
}

/// A function of tensors of different types, by its name, and its numbers: lookups, scatters and segments.
///
/// # Errors
/// For another name, and those of the function.
#[wasm_bindgen]
pub fn index(name: &str, operands: &Operands, numbers: &[f64]) -> Result<CoreTensor, JsValue> {
    let all = operands.tensors(name)?;
    let Some((x, rest)) = all.split_first() else { return Err(unknown(name, numbers)) };
    let expr = match (name, rest, numbers) {
        ("at", indices, []) => x.at(indices.to_vec()),
        ("at_wrapped", indices, []) => x.at_with(indices.to_vec(), Outside::Wrapped),
        ("take", [indices], &[axis]) => x.take(indices, axis as isize),
        ("take_along", [indices], &[axis]) => x.take_along(indices, axis as isize),
        ("put_along", [indices, values], &[axis]) => x.put_along(indices, values, axis as isize),
        ("scatter", [updates, indices @ ..], []) => x.scatter(indices.to_vec(), updates),
        ("scatter_add", [updates, indices @ ..], []) => x.scatter_add(indices.to_vec(), updates),
        ("scatter_min", [updates, indices @ ..], []) => x.scatter_min(indices.to_vec(), updates),
        ("scatter_max", [updates, indices @ ..], []) => x.scatter_max(indices.to_vec(), updates),
        (_, [keys], &[count]) if name.starts_with("segment_") => x.segment(name, keys, count as usize),
        _ => return Err(refused(format!("{name} does not take {} operands", all.len()))),
    };
    CoreTensor::new(&operands.device(name)?, expr)
}
