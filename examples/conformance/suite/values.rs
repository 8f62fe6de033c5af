//! Lines about values: `{"op", "in": [types], "out", "args": [[bits]], "expect": [bits], "ulp"}`,
//! bits in hexadecimal, most significant digit first; `nan` is any NaN.

use serde_json::Value;
use zerostride::{AnyExpr, DType, Device, ErrorKind, Result};

use super::Verdict;

/// Evaluates one line on a device.
pub(crate) async fn check(device: &Device, case: &Value) -> Verdict {
    let name = case["in"][0].as_str().unwrap_or_default();
    let Some(from) = dtype(name) else {
        return Verdict::Failed(format!("the type {name} is not built"));
    };
    let args: Option<Vec<Vec<u64>>> =
        case["args"].as_array().and_then(|args| args.iter().map(parse).collect());
    let (Some(args), Some(expected)) = (args, case["expect"].as_array()) else {
        return Verdict::Failed("the line has no arguments or no answers".into());
    };
    match evaluate(device, case, from, &args).await {
        Ok((to, results)) => judge(case, (from, &args), (to, &results), expected),
        // A type that the adapter lacks.
        Err(error) if error.kind() == ErrorKind::Limit => Verdict::Skipped(error.to_string()),
        Err(error) => Verdict::Failed(error.to_string()),
    }
}

pub(crate) fn dtype(name: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|dtype| dtype.name() == name)
}

pub(crate) fn parse(list: &Value) -> Option<Vec<u64>> {
    let parse = |bits: &Value| u64::from_str_radix(bits.as_str()?, 16).ok();
    list.as_array()?.iter().map(parse).collect()
}

/// The type and the bits of the results.
async fn evaluate(
    device: &Device,
    case: &Value,
    from: DType,
    args: &[Vec<u64>],
) -> Result<(DType, Vec<u64>)> {
    let upload = |values: &Vec<u64>| {
        let bytes: Vec<u8> =
            values.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(from.size())).collect();
        Ok(device.upload_bytes(&bytes, from, [values.len()])?.expr())
    };
    let operands = args.iter().map(upload).collect::<Result<Vec<AnyExpr>>>()?;
    let target = case["out"].as_str().and_then(dtype);
    let result = match (case["op"].as_str().unwrap_or_default(), operands.as_slice(), target) {
        ("cast", [only], Some(target)) => only.cast(target),
        (op, operands, _) => AnyExpr::call(op, operands),
    };
    let result = result.eval_async().await?;
    let bytes = result.to_bytes_async().await?;
    let bits = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
    Ok((result.dtype(), bytes.chunks(result.dtype().size()).map(bits).collect()))
}

/// The bits of infinity, for floats.
pub(crate) fn infinity(dtype: DType) -> Option<u64> {
    match dtype {
        DType::F16 => Some(0x7c00),
        DType::BF16 => Some(0x7f80),
        DType::F32 => Some(0x7f80_0000),
        DType::F64 => Some(0x7ff0_0000_0000_0000),
        _ => None,
    }
}

/// The bits without the highest, and whether that is set.
fn without_sign(dtype: DType, bits: u64) -> (u64, bool) {
    let sign = 1 << (8 * dtype.size() - 1);
    (bits & (sign - 1), bits & sign != 0)
}

pub(crate) fn is_nan(dtype: DType, bits: u64) -> bool {
    infinity(dtype).is_some_and(|infinity| without_sign(dtype, bits).0 > infinity)
}

/// A number that grows with the value and by one per representable value.
fn rank(dtype: DType, bits: u64) -> i128 {
    let (low, is_set) = without_sign(dtype, bits);
    match dtype {
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::Bool => bits.into(),
        _ if !is_set => low.into(),
        // The zeros have ranks of their own: they differ by more than a rounding.
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => -1 - i128::from(low),
        _ => i128::from(low) - (1 << (8 * dtype.size() - 1)),
    }
}

/// Bits as a text with the value, as f64 has it.
pub(crate) fn shown(dtype: DType, bits: u64) -> String {
    number(dtype, bits).map_or_else(|| format!("{bits:#x}"), |value| format!("{value:?} ({bits:#x})"))
}

/// The value of bits, as f64 has it.
pub(crate) fn number(dtype: DType, bits: u64) -> Option<f64> {
    let bytes = &bits.to_le_bytes()[..dtype.size()];
    let value = Device::cpu().upload_bytes(bytes, dtype, [1]).ok()?.cast(DType::F64).to_vec::<f64>();
    value.ok().map(|value| value[0])
}

fn judge(
    case: &Value,
    (from, args): (DType, &[Vec<u64>]),
    (to, results): (DType, &[u64]),
    expected: &[Value],
) -> Verdict {
    if results.len() != expected.len() {
        return Verdict::Failed(format!("{} results for {} answers", results.len(), expected.len()));
    }
    let allowed = case["ulp"].as_u64().unwrap_or(0);
    let mut worst = 0;
    for (i, (&result, expected)) in results.iter().zip(expected).enumerate() {
        let wanted = expected.as_str().unwrap_or_default();
        let bits = u64::from_str_radix(wanted, 16).ok();
        let distance = match bits {
            None if wanted != "nan" => return Verdict::Failed(format!("the answer {wanted} is no number")),
            Some(bits) if !is_nan(to, bits) && !is_nan(to, result) => {
                rank(to, result).abs_diff(rank(to, bits)).try_into().unwrap_or(u64::MAX)
            }
            _ if bits.is_none_or(|bits| is_nan(to, bits)) && is_nan(to, result) => 0,
            _ => u64::MAX,
        };
        if distance > allowed {
            let inputs: Vec<String> =
                args.iter().filter_map(|arg| arg.get(i)).map(|&bits| shown(from, bits)).collect();
            return Verdict::Failed(format!(
                "element {i}: of {} got {}, expected {}, {distance} ulp of {allowed} allowed",
                inputs.join(", "),
                shown(to, result),
                bits.map_or("NaN".into(), |bits| shown(to, bits))
            ));
        }
        worst = worst.max(distance);
    }
    Verdict::Passed { ulp: worst }
}
