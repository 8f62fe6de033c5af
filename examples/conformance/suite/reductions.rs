//! Lines about reductions: a tensor, given or generated, views of it, and functions of its ranges.
//! `tests/data/README.md` has the format.

use serde_json::Value;
use zerostride::{AnyExpr, AnyTensor, DType, Device, ErrorKind, ReduceOptions, Result, bf16, f16};

use super::Verdict;
use super::values::{dtype, infinity, is_nan, number, parse, shown};

/// Evaluates one line on a device.
pub(crate) async fn check(device: &Device, case: &Value) -> Verdict {
    if is_too_long(&case["view"]) {
        let text = format!("lengths are usize, which has {} bits here", usize::BITS);
        return Verdict::Skipped(text);
    }
    let malformed = |what: &str| Verdict::Failed(format!("the line has no {what}"));
    let Some(from) = case["in"].as_str().and_then(dtype) else { return malformed("type of elements") };
    let Some(shape) = integers(&case["shape"]) else { return malformed("shape") };
    let shape: Vec<usize> = shape.into_iter().map(|n| n as usize).collect();
    let Some(data) = elements(&case["data"], from, shape.iter().product()) else {
        return malformed("elements");
    };
    match (evaluate(device, case, from, &shape, &data).await, case["error"].as_object()) {
        (Ok(_), Some(_)) => Verdict::Failed(format!("expected an error: {}", case["error"])),
        (Ok((result, bytes)), None) => judge(case, &result, &bytes),
        // A type that the adapter lacks.
        (Err(error), _) if error.kind() == ErrorKind::Limit => Verdict::Skipped(error.to_string()),
        (Err(error), None) => Verdict::Failed(error.to_string()),
        (Err(error), Some(expected)) => {
            let kind = expected["kind"].as_str().unwrap_or_default();
            let says = expected["says"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let lacks: Vec<&str> = says.filter(|text| !error.message().contains(text)).collect();
            match format!("{:?}", error.kind()) == kind && lacks.is_empty() {
                true => Verdict::Passed { ulp: 0 },
                false => Verdict::Failed(format!("{error:?} is no {kind} that says {lacks:?}")),
            }
        }
    }
}

fn integers(list: &Value) -> Option<Vec<isize>> {
    list.as_array()?.iter().map(|n| Some(n.as_i64()? as isize)).collect()
}

/// Whether a length is too large for 32-bit addresses.
fn is_too_long(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(is_too_long),
        value => value.as_i64().is_some_and(|n| isize::try_from(n).is_err()),
    }
}

/// The bits of the elements, given or generated.
fn elements(data: &Value, dtype: DType, count: usize) -> Option<Vec<u64>> {
    if data.is_array() {
        return parse(data);
    }
    let bits = |bits: &Value| u64::from_str_radix(bits.as_str()?, 16).ok();
    let mut all = match data["fill"].as_str()? {
        "const" => vec![bits(&data["bits"])?; count],
        "splitmix" => {
            let (seed, generated) = (data["seed"].as_u64()?, generator(data, dtype)?);
            let z = |i: u64| mix(seed.wrapping_add((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            (0..count as u64).map(|i| generated(z(i))).collect()
        }
        _ => return None,
    };
    for set in data["set"].as_array().into_iter().flatten() {
        *all.get_mut(set[0].as_u64()? as usize)? = bits(&set[1])?;
    }
    Some(all)
}

/// Splitmix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014).
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The bits of an element, as a function of a random word.
fn generator(data: &Value, dtype: DType) -> Option<Box<dyn Fn(u64) -> u64>> {
    let low = u64::MAX >> (64 - 8 * dtype.size());
    let range = || Some((data["lo"].as_i64()?, data["hi"].as_i64()?));
    let between = |(lo, hi): (i64, i64), of: u64| lo + (of % (hi - lo + 1) as u64) as i64;
    Some(match data["as"].as_str()? {
        "bits" => Box::new(move |z| z & low),
        "bool" => {
            let of = data["of"].as_u64()?;
            Box::new(move |z| u64::from(z.is_multiple_of(of)))
        }
        "int" => {
            let (range, is_float) = (range()?, infinity(dtype).is_some());
            Box::new(move |z| match is_float {
                true => bits_of(dtype, between(range, z) as f64),
                false => between(range, z) as u64 & low,
            })
        }
        "fixed" => {
            let (bits, offset) = (data["bits"].as_u64()?, data["offset"].as_i64()?);
            let unit = (-data["shift"].as_f64()?).exp2();
            Box::new(move |z| bits_of(dtype, ((z >> (64 - bits)) as i64 + offset) as f64 * unit))
        }
        of @ ("float" | "pow2") => {
            let (range, is_signed) = (range()?, data["signed"].as_bool()?);
            let digits = fraction(dtype);
            let bias = (1_i64 << (8 * dtype.size() as u32 - 2 - digits)) - 1;
            let mask = if of == "float" { (1 << digits) - 1 } else { 0 };
            Box::new(move |z| {
                let exponent = between(range, (z >> 53) & 0x3ff) + bias;
                let sign = if is_signed { z >> 63 } else { 0 };
                sign << (8 * dtype.size() - 1) | (exponent as u64) << digits | z & mask
            })
        }
        _ => return None,
    })
}

/// The bits of the fraction of a float type.
fn fraction(dtype: DType) -> u32 {
    infinity(dtype).map_or(0, u64::trailing_zeros)
}

/// The bits of a number that the type holds.
fn bits_of(dtype: DType, x: f64) -> u64 {
    match dtype {
        DType::F16 => f16::from_f64(x).to_bits().into(),
        DType::BF16 => bf16::from_f64(x).to_bits().into(),
        DType::F32 => (x as f32).to_bits().into(),
        _ => x.to_bits(),
    }
}

/// The result, and its elements.
async fn evaluate(
    device: &Device,
    case: &Value,
    dtype: DType,
    shape: &[usize],
    data: &[u64],
) -> Result<(AnyTensor, Vec<u8>)> {
    let mut bytes = Vec::with_capacity(data.len() * dtype.size());
    data.iter().for_each(|bits| bytes.extend_from_slice(&bits.to_le_bytes()[..dtype.size()]));
    let mut x = device.upload_bytes(&bytes, dtype, shape)?.expr();
    for view in case["view"].as_array().into_iter().flatten() {
        x = viewed(&x, view);
    }
    let result = reduced(&x, case).eval_async().await?;
    let bytes = result.to_bytes_async().await?;
    Ok((result, bytes))
}

fn viewed(x: &AnyExpr, view: &Value) -> AnyExpr {
    let integer = |i: usize| view[i].as_i64().map(|n| n as isize);
    let list = || integers(&view[1]).unwrap_or_default();
    let axis = integer(1).unwrap_or_default();
    match view[0].as_str().unwrap_or_default() {
        "permute" => x.permute(list()),
        "flip" => x.flip(axis),
        "broadcast_to" => x.broadcast_to(list().into_iter().map(|n| n as usize).collect::<Vec<_>>()),
        "unsqueeze" => x.unsqueeze(axis),
        "slice_step" => {
            let step = integer(4).unwrap_or(1);
            match (integer(2), integer(3)) {
                (Some(start), Some(end)) => x.slice_step(axis, start..end, step),
                (Some(start), None) => x.slice_step(axis, start.., step),
                (None, Some(end)) => x.slice_step(axis, ..end, step),
                (None, None) => x.slice_step(axis, .., step),
            }
        }
        other => panic!("no view is called {other}"),
    }
}

fn reduced(x: &AnyExpr, case: &Value) -> AnyExpr {
    let name = case["op"].as_str().unwrap_or_default();
    if name == "sum_to" {
        let to = integers(&case["to"]).unwrap_or_default();
        return x.sum_to(to.into_iter().map(|n| n as usize).collect::<Vec<_>>());
    }
    let is = |key: &str| case[key].as_bool().unwrap_or(false);
    let mut options = ReduceOptions::default().correction(case["correction"].as_f64().unwrap_or(0.0));
    options.keepdim = is("keepdims");
    options.exclusive = is("exclusive");
    options.reverse = is("reverse");
    match integers(&case["axes"]) {
        Some(axes) => x.reduce(name, axes, options),
        None => x.reduce(name, .., options),
    }
}

fn judge(case: &Value, result: &AnyTensor, bytes: &[u8]) -> Verdict {
    let wrong = |how: String| Verdict::Failed(how);
    let shape: Vec<isize> = result.shape().iter().map(|&n| n as isize).collect();
    if integers(&case["result"]).as_ref() != Some(&shape) {
        return wrong(format!("the shape is {shape:?} and not {}", case["result"]));
    }
    let dtype = result.dtype();
    if case["out"].as_str() != Some(dtype.name()) {
        return wrong(format!("the type is {dtype} and not {}", case["out"]));
    }
    let bits = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
    let count = bytes.len() / dtype.size();
    let places = integers(&case["at"]).unwrap_or_else(|| (0..count as isize).collect());
    let is_ordered = case["order"].is_array();
    let Some(expected) = case[if is_ordered { "order" } else { "expect" }].as_array() else {
        return wrong("the line has no answers".into());
    };
    if expected.len() != places.len() {
        return wrong(format!("{} results for {} answers", places.len(), expected.len()));
    }
    let allowed = if is_ordered { 0 } else { case["ulp"].as_u64().unwrap_or(0) };
    let mut worst = 0;
    for (i, (&place, expected)) in places.iter().zip(expected).enumerate() {
        let got = bits(&bytes[place as usize * dtype.size()..][..dtype.size()]);
        let wanted = expected.as_str().and_then(|text| u64::from_str_radix(text, 16).ok());
        let distance = match wanted {
            None if expected == "nan" => {
                if is_nan(dtype, got) {
                    0
                } else {
                    u64::MAX
                }
            }
            None => return wrong(format!("the answer {expected} is no number")),
            Some(wanted) if got == wanted || (is_nan(dtype, got) && is_nan(dtype, wanted)) => 0,
            Some(wanted) => distance(dtype, got, wanted, case["above"][i].as_f64().unwrap_or(0.0)),
        };
        if distance > allowed {
            return wrong(format!(
                "element {place} is {}, expected {}, {distance} ulp of {allowed} allowed",
                shown(dtype, got),
                wanted.map_or("NaN".into(), |bits| shown(dtype, bits))
            ));
        }
        worst = worst.max(distance);
    }
    Verdict::Passed { ulp: worst }
}

/// A distance in units in the last place of the larger number, rounded up.
fn distance(dtype: DType, got: u64, wanted: u64, above: f64) -> u64 {
    let (Some(got), Some(wanted)) = (number(dtype, got), number(dtype, wanted)) else { return u64::MAX };
    if !got.is_finite() || !wanted.is_finite() {
        return u64::MAX;
    }
    let size = wanted.abs().max(above).max(f64::MIN_POSITIVE);
    let power = f64::from_bits(size.to_bits() & 0x7ff0_0000_0000_0000);
    let unit = power * 0.5_f64.powi(fraction(dtype) as i32);
    // A zero of the other sign is wrong.
    ((got - wanted).abs() / unit).ceil().max(1.0) as u64
}
