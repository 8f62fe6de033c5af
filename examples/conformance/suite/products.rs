//! Lines about operators of ONNX: `{"op", "operands": [{"type", "shape", "data"}], "result"}`, an operator with its attributes,
//! and the result of its node test, which may list every few elements only. Lines with `bits` in place of `data` say which
//! bits the result must have.

use serde_json::Value;
use zerostride::{AnyExpr, DType, Device, ErrorKind, Result, bf16, f16};

use super::Verdict;
use super::pools;
use super::values::dtype;

/// Evaluates a line on a device.
pub(crate) async fn check(device: &Device, case: &Value) -> Verdict {
    let (shape, of, got) = match evaluate(device, case).await {
        Ok(result) => result,
        Err(error) if error.kind() == ErrorKind::Limit => return Verdict::Skipped(error.to_string()),
        Err(error) => return Verdict::Failed(error.to_string()),
    };
    let (expected, named) = (elements(of, &bytes(&case["result"], of)), &case["result"]["type"]);
    if shape != lengths(&case["result"]) || *named != of.name() {
        return Verdict::Failed(format!("the result is {of} {shape:?} and not {}", case["result"]));
    }
    let every = case["result"]["every"].as_u64().unwrap_or(1) as usize;
    let got: Vec<f64> = got.into_iter().step_by(every).collect();
    // Units of rounding: there are ten products at most, and each is near 1.
    let near = match of {
        DType::BF16 => 8.0 / 256.0,
        // Some of the expected results have four digits.
        DType::F32 if case["op"] == "AveragePool" => 1e-4,
        DType::F32 => 8.0 * f64::from(f32::EPSILON),
        DType::F64 => 8.0 * f64::EPSILON,
        _ => 0.0,
    };
    let least = if of == DType::F16 { 2.0_f64.powi(-14) } else { 2.0_f64.powi(-126) };
    let is_near = |(a, b): (&f64, &f64)| match case["result"]["bits"].is_array() {
        true => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() || *a == 0.0 && b.abs() < least,
        false => (a - b).abs() <= near * b.abs().max(1.0),
    };
    match got.len() == expected.len() && got.iter().zip(&expected).all(is_near) {
        true => Verdict::Passed { ulp: 0 },
        false => Verdict::Failed(format!("{got:?} and not {expected:?}")),
    }
}

pub(super) fn list(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

pub(super) fn lengths(tensor: &Value) -> Vec<usize> {
    list(&tensor["shape"]).into_iter().map(|n| n as usize).collect()
}

/// The shape of the result, its type and its elements.
async fn evaluate(device: &Device, case: &Value) -> Result<(Vec<usize>, DType, Vec<f64>)> {
    let operands = case["operands"].as_array().into_iter().flatten();
    let operands = operands.map(|own| operand(device, own)).collect::<Result<Vec<AnyExpr>>>()?;
    let result = asked(case, &operands).eval_on(device)?;
    let (shape, of, bytes) = (result.shape().to_vec(), result.dtype(), result.to_bytes_async().await?);
    Ok((shape, of, elements(of, &bytes)))
}

/// Elements of a type, as numbers.
pub(super) fn elements(of: DType, bytes: &[u8]) -> Vec<f64> {
    let element = |bytes: &[u8]| match (of, bytes) {
        (DType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).into(),
        (DType::I32, &[a, b, c, d]) => i32::from_le_bytes([a, b, c, d]).into(),
        (DType::U8, &[a]) => a.into(),
        (DType::U32, &[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]).into(),
        (DType::F16, &[a, b]) => f16::from_le_bytes([a, b]).to_f64(),
        (DType::BF16, &[a, b]) => bf16::from_le_bytes([a, b]).to_f64(),
        (DType::F64, bytes) => bytes.try_into().map_or(f64::NAN, f64::from_le_bytes),
        (DType::I64 | DType::U64, bytes) => {
            bytes.try_into().map_or(f64::NAN, |bytes| i64::from_le_bytes(bytes) as f64)
        }
        _ => f64::NAN,
    };
    bytes.chunks(of.size()).map(element).collect()
}

pub(super) fn operand(device: &Device, own: &Value) -> Result<AnyExpr> {
    let of = own["type"].as_str().and_then(dtype).unwrap_or(DType::F32);
    Ok(device.upload_bytes(&bytes(own, of), of, lengths(own))?.expr())
}

/// The bytes of a tensor's elements, given by number or by their bits.
fn bytes(own: &Value, of: DType) -> Vec<u8> {
    let word = |x: f64| (x as i64).to_le_bytes()[..of.size()].to_vec();
    if own["bits"].is_array() {
        return list(&own["bits"]).into_iter().flat_map(word).collect();
    }
    let element = |x: f64| match of {
        DType::BF16 => bf16::from_f64(x).to_le_bytes().to_vec(),
        DType::F64 => x.to_le_bytes().to_vec(),
        DType::F32 => (x as f32).to_le_bytes().to_vec(),
        _ => word(x),
    };
    list(&own["data"]).into_iter().flat_map(element).collect()
}

/// The result of ONNX's operator.
fn asked(case: &Value, operands: &[AnyExpr]) -> AnyExpr {
    let call = |name: &str, a: &AnyExpr, b: &AnyExpr| AnyExpr::call(name, &[a.clone(), b.clone()]);
    match (case["op"].as_str().unwrap_or_default(), operands) {
        ("MaxPool" | "AveragePool" | "Conv", operands) => pools::asked(case, operands),
        ("MatMul" | "matmul", [a, b]) => a.matmul(b),
        ("MatMulInteger", [a, b, rest @ ..]) => {
            let zeroed = |own: &AnyExpr, zero: Option<&AnyExpr>| match zero {
                Some(zero) => call("sub", &own.cast(DType::I32), &zero.cast(DType::I32)),
                None => own.cast(DType::I32),
            };
            zeroed(a, rest.first()).matmul(zeroed(b, rest.get(1)))
        }
        ("Gemm", [a, b, rest @ ..]) => {
            let side = |own: &AnyExpr, name: &str| match case[name].as_i64() {
                Some(1) => own.transpose(0, 1),
                _ => own.clone(),
            };
            let scaled = |own: &AnyExpr, name: &str| match case[name].as_f64() {
                Some(by) => call("mul", own, &AnyExpr::scalar(DType::F32, by)),
                None => own.clone(),
            };
            let product = scaled(&side(a, "transA").matmul(side(b, "transB")), "alpha");
            rest.first().map_or(product.clone(), |c| call("add", &product, &scaled(c, "beta")))
        }
        (_, operands) => AnyExpr::einsum(case["equation"].as_str().unwrap_or_default(), operands),
    }
}
