//! Lines about sorting, selecting and scattering: `{"op", "operands", "results"}`, an operator of ONNX with its attributes, and
//! the answers of its node test.

use serde_json::Value;
use zerostride::{AnyExpr, AnyTensor, DType, Device, ErrorKind, Outside, Result, Unique, Update, bf16};

use super::Verdict;
use super::products::{elements, lengths, list, operand};

/// Evaluates a line on a device.
pub(crate) async fn check(device: &Device, case: &Value) -> Verdict {
    let expected = case["results"].as_array().cloned().unwrap_or_default();
    let got = match evaluate(device, case) {
        Ok(got) if got.len() == expected.len() => got,
        Ok(got) => return Verdict::Failed(format!("{} results", got.len())),
        // These operators read counts, and a page must not wait for a read.
        Err(error) if matches!(error.kind(), ErrorKind::Limit | ErrorKind::Blocking) => {
            return Verdict::Skipped(error.to_string());
        }
        Err(error) => return Verdict::Failed(error.to_string()),
    };
    for (got, expected) in got.iter().zip(expected) {
        let bytes = match got.to_bytes_async().await {
            Ok(bytes) => bytes,
            Err(error) => return Verdict::Failed(error.to_string()),
        };
        let of = |x: f64| match got.dtype() {
            DType::F32 => f64::from(x as f32),
            DType::BF16 => bf16::from_f64(x).to_f64(),
            _ => x,
        };
        let wanted: Vec<f64> = list(&expected["data"]).into_iter().map(of).collect();
        // This crate's indices are u32.
        let is_typed = expected["type"] == got.dtype().name() || got.dtype() == DType::U32;
        let found = elements(got.dtype(), &bytes);
        if !is_typed || got.shape()[..] != lengths(&expected)[..] || found != wanted {
            return Verdict::Failed(format!("{} {} {found:?} and not {expected}", got.dtype(), got.shape()));
        }
    }
    Verdict::Passed { ulp: 0 }
}

fn evaluate(device: &Device, case: &Value) -> Result<Vec<AnyTensor>> {
    let operands = case["operands"].as_array().into_iter().flatten();
    let operands = operands.map(|own| operand(device, own)).collect::<Result<Vec<AnyExpr>>>()?;
    let axis = |default: i64| case["axis"].as_i64().unwrap_or(default) as isize;
    let update = match case["reduction"].as_str() {
        Some("add") => Update::Add,
        Some("mul") => Update::Mul,
        Some("min") => Update::Min,
        Some("max") => Update::Max,
        _ => Update::Replace,
    };
    let x = &operands[0];
    let (shape, rank) = (x.shape()?, x.shape()?.len());
    match (case["op"].as_str().unwrap_or_default(), &operands[1..]) {
        ("TopK", _) => {
            let (axis, k) = (axis(-1), list(&case["operands"][1]["data"])[0] as usize);
            if case["largest"].as_i64() != Some(0) {
                let (values, indices) = x.topk(k, axis);
                return Ok(vec![values.eval()?, indices.eval()?]);
            }
            let indices = x.argsort(axis).slice(axis, 0..k as isize);
            Ok(vec![x.take_along(&indices, axis).eval()?, indices.eval()?])
        }
        ("NonZero", _) => Ok(vec![x.nonzero()?]),
        ("Unique", _) => {
            let along = case["axis"].as_i64().map(|axis| axis as isize);
            let found = along.map_or_else(|| x.unique(), |axis| x.unique_along(axis))?;
            let Unique { values, counts, inverse, indices, .. } = found;
            if case["sorted"].as_i64() != Some(0) {
                return Ok(vec![values, indices, inverse, counts]);
            }
            // In the order of first occurrences.
            let order = indices.argsort(0);
            let of = |x: AnyTensor| x.take(&order, 0).eval();
            let values = values.take(&order, along.unwrap_or(0)).eval()?;
            Ok(vec![values, of(indices)?, order.argsort(0).take(inverse, 0).eval()?, of(counts)?])
        }
        ("GatherElements", [indices]) => {
            let (axis, own) = ((axis(0) + rank as isize) as usize % rank, indices.shape()?);
            let cut = (0..rank).filter(|&k| k != axis);
            let cut = cut.fold(x.clone(), |x, k| x.slice(k as isize, 0..own[k] as isize));
            Ok(vec![cut.take_along(indices, axis as isize).eval()?])
        }
        ("ScatterElements", [indices, updates]) => {
            let (axis, own) = ((axis(0) + rank as isize) as usize % rank, indices.shape()?.clone());
            let place = |k: usize| match k == axis {
                true => indices.clone(),
                false => AnyExpr::iota(own.clone(), k as isize),
            };
            let all: Vec<AnyExpr> = (0..rank).map(place).collect();
            Ok(vec![x.scatter_with(all, updates, update, Outside::fill(0)).eval()?])
        }
        ("ScatterND", [indices, updates]) => {
            let last = indices.shape()?.len() as isize - 1;
            let count = indices.shape()?[last as usize] as isize;
            let all: Vec<AnyExpr> = (0..count).map(|k| indices.slice(last, k..k + 1).squeeze(last)).collect();
            Ok(vec![x.scatter_with(all, updates, update, Outside::fill(0)).eval()?])
        }
        (_, mask) => {
            // Along an axis, or of the flattened operand, as many elements as the mask has.
            let (axis, of) = match case["axis"].as_i64() {
                Some(axis) => ((axis as isize + rank as isize) % rank as isize, x.clone()),
                None => (0, x.reshape([shape.iter().product::<usize>() as isize])),
            };
            let count = mask[0].shape()?[0] as isize;
            let of = of.slice(axis, 0..count).transpose(0, axis);
            Ok(vec![of.compress(&mask[0])?.transpose(0, axis).eval()?])
        }
    }
}
