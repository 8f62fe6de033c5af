//! Lines about lookups, joins, borders and moves, with NumPy's results. The operand is 1, 2, 3 .. in its `shape`.

use serde_json::Value;
use zerostride::{AnyExpr, DType, Device, ErrorKind, Outside, Pad, Result};

use super::Verdict;

/// Types of every size that hold those numbers. A line takes one by its number.
const TYPES: [DType; 5] = [DType::I32, DType::F32, DType::I16, DType::F16, DType::F32];

/// Evaluates a line on a device.
pub(crate) async fn check(device: &Device, case: &Value, number: usize) -> Verdict {
    let of = if case["op"] == "linspace" { DType::F32 } else { TYPES[number % TYPES.len()] };
    let (shape, got) = match evaluate(device, case, of).await {
        Ok(result) => result,
        Err(error) if error.kind() == ErrorKind::Limit => return Verdict::Skipped(error.to_string()),
        Err(error) => return Verdict::Failed(error.to_string()),
    };
    if shape != list::<usize>(&case["result"]) {
        return Verdict::Failed(format!("the shape is {shape:?} and not {}", case["result"]));
    }
    let expected = case["expect"].as_array().into_iter().flatten().filter_map(Value::as_f64);
    let expected: Vec<f32> = expected.map(|x| x as f32).collect();
    let near = |(a, b): (&f32, &f32)| a == b || of == DType::F32 && (a - b).abs() <= 1e-6 * b.abs().max(1.0);
    match got.len() == expected.len() && got.iter().zip(&expected).all(near) {
        true => Verdict::Passed { ulp: 0 },
        false => Verdict::Failed(format!("of {of}: {got:?} and not {expected:?}")),
    }
}

/// The shape of the result, and its elements.
async fn evaluate(device: &Device, case: &Value, of: DType) -> Result<(Vec<usize>, Vec<f32>)> {
    let result = asked(device, case, of)?.eval_on(device)?;
    let elements = result.cast(DType::F32).typed::<f32>()?.to_vec_async().await?;
    Ok((result.shape().to_vec(), elements))
}

fn list<T: TryFrom<i64>>(value: &Value) -> Vec<T> {
    let number = |value: &Value| T::try_from(value.as_i64()?).ok();
    value.as_array().into_iter().flatten().filter_map(number).collect()
}

fn number<T: TryFrom<i64>>(case: &Value, name: &str) -> T {
    let number = case[name].as_i64().unwrap_or_else(|| panic!("the line has no {name}: {case}"));
    T::try_from(number).ok().unwrap_or_else(|| panic!("{name} is {number}"))
}

/// 1, 2, 3 .. in a shape.
fn numbers(device: &Device, shape: &[usize]) -> Result<AnyExpr> {
    let all: Vec<i32> = (1..=shape.iter().product::<usize>() as i32).collect();
    Ok(AnyExpr::from(device.upload(&all, shape)?))
}

/// The expression for a call of NumPy.
fn asked(device: &Device, case: &Value, of: DType) -> Result<AnyExpr> {
    let shape: Vec<usize> = list(&case["shape"]);
    let x = numbers(device, &shape)?.cast(of).eval()?.expr();
    let axis = || number::<isize>(case, "axis");
    let indices = |values: &Value, of: &Value| -> Result<AnyExpr> {
        let (values, of): (Vec<i32>, Vec<usize>) = (list(values), list(of));
        Ok(AnyExpr::from(device.upload(&values, of)?))
    };
    Ok(match case["op"].as_str().unwrap_or_default() {
        "take" => x.take(indices(&case["indices"], &case["of"])?, axis()),
        "take nearest" => x.take(indices(&case["indices"], &case["of"])?, axis()),
        "take wrapped" => x.take_with(indices(&case["indices"], &case["of"])?, axis(), Outside::Wrapped),
        "at" => {
            let lists = |name: &str| case[name].as_array().into_iter().flatten();
            let each = lists("indices").zip(lists("of")).map(|(values, of)| indices(values, of));
            x.at(each.collect::<Result<Vec<_>>>()?)
        }
        "repeat" => x.repeat_interleave(number(case, "times"), axis()),
        "tile" => x.tile(list::<usize>(&case["times"])),
        "roll" => x.roll(list::<isize>(&case["shifts"]), list::<isize>(&case["axes"])),
        "pad" => {
            let widths = case["widths"].as_array().into_iter().flatten().map(|pair| {
                let pair: Vec<usize> = list(pair);
                (pair[0], pair[1])
            });
            let pad = match case["mode"].as_str().unwrap_or_default() {
                "constant" => Pad::constant(-7),
                "edge" => Pad::Edge,
                "reflect" => Pad::Reflect,
                _ => Pad::Wrap,
            };
            x.pad(widths.collect::<Vec<_>>(), pad)
        }
        "concat" => {
            let at = axis().rem_euclid(shape.len() as isize) as usize;
            let part = |n: usize| -> Result<AnyExpr> {
                let mut shape = shape.clone();
                shape[at] = n;
                Ok(numbers(device, &shape)?.cast(of))
            };
            let rest = list::<usize>(&case["lengths"]).into_iter().map(part);
            let all = std::iter::once(Ok(x)).chain(rest).collect::<Result<Vec<_>>>()?;
            AnyExpr::concat(&all, axis())
        }
        "stack" => {
            let more = AnyExpr::scalar(of, 100);
            let (sum, twice) =
                (AnyExpr::call("add", &[x.clone(), more]), AnyExpr::call("add", &[x.clone(), x.clone()]));
            AnyExpr::stack(&[x, sum, twice], axis())
        }
        "eye" => AnyExpr::eye(of, number(case, "rows"), number(case, "columns")),
        "arange" => AnyExpr::arange(
            of,
            number::<i64>(case, "start"),
            number::<i64>(case, "end"),
            number::<i64>(case, "step"),
        ),
        "linspace" => AnyExpr::linspace(
            DType::F32,
            number::<i64>(case, "start"),
            number::<i64>(case, "end"),
            number(case, "count"),
        ),
        other => panic!("no case is called {other}"),
    })
}
