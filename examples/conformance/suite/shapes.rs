//! Lines about shapes. They check the rule's verdict, and then every element of the rule's result on the device against a
//! plain index loop that does not use the library.

use serde_json::Value;
use zerostride::{Broadcast, Device, Expr, Result, Shape};

use super::Verdict;

/// The largest result that is evaluated. No verified case is larger.
const LARGEST: usize = 1 << 22;

/// Evaluates one line on a device.
pub(crate) async fn check(device: &Device, case: &Value) -> Verdict {
    let Some(question) = Question::parse(case) else {
        return Verdict::Failed("the line is not a question about shapes".into());
    };
    if question.negative && question.expected.is_none() {
        // Refused before it runs: lengths are `usize`.
        return Verdict::Passed { ulp: 0 };
    }
    match (question.run(device).await, &question.expected) {
        (Err(_), None) => Verdict::Passed { ulp: 0 },
        (Err(error), Some(shape)) => Verdict::Failed(format!("expected {shape:?}, got the error: {error}")),
        (Ok(Answer { shape, .. }), None) => Verdict::Failed(format!("expected an error, got {shape:?}")),
        (Ok(Answer { shape, .. }), Some(expected)) if shape != *expected => {
            Verdict::Failed(format!("expected {expected:?}, got {shape:?}"))
        }
        (Ok(answer), Some(_)) => match answer.wrong {
            None => Verdict::Passed { ulp: 0 },
            Some(wrong) => Verdict::Failed(wrong),
        },
    }
}

struct Question {
    mode: String,
    select: bool,
    /// Whether some length is negative, which no shape of this crate can hold.
    negative: bool,
    shapes: Vec<Vec<usize>>,
    target: Vec<isize>,
    axis: isize,
    axes: Vec<usize>,
    expected: Option<Vec<usize>>,
}

struct Answer {
    shape: Vec<usize>,
    wrong: Option<String>,
}

/// An operand of the plain loop: its shape, the result axis that each of its axes is laid onto,
/// and its values.
struct Operand {
    shape: Vec<usize>,
    axes: Vec<usize>,
    values: Vec<i32>,
}

impl Operand {
    fn at(&self, index: &[usize]) -> i32 {
        let mut at = 0;
        for (&n, &axis) in self.shape.iter().zip(&self.axes) {
            at = at * n + if n == 1 { 0 } else { index[axis] };
        }
        self.values[at]
    }
}

fn lengths(value: &Value) -> Option<Vec<usize>> {
    value.as_array()?.iter().map(|n| Some(n.as_i64()?.max(0) as usize)).collect()
}

fn has_negative(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(has_negative),
        value => value.as_i64().is_some_and(|n| n < 0),
    }
}

impl Question {
    fn parse(case: &Value) -> Option<Question> {
        let shapes = match case["shapes"].as_array() {
            Some(shapes) => shapes.iter().map(lengths).collect::<Option<_>>()?,
            None => [&case["a"], &case["b"]].into_iter().filter_map(lengths).collect(),
        };
        let target = case["target"].as_array().map(|t| t.iter().filter_map(Value::as_i64));
        Some(Question {
            mode: case["mode"].as_str()?.to_string(),
            select: case["op"] == "Select",
            negative: ["a", "b", "shapes"].iter().any(|&key| has_negative(&case[key])),
            shapes,
            target: target.map(|t| t.map(|n| n as isize).collect()).unwrap_or_default(),
            axis: case["axis"].as_i64().unwrap_or(-1) as isize,
            axes: lengths(&case["axes"]).unwrap_or_default(),
            expected: if case["error"] == true { None } else { lengths(&case["result"]) },
        })
    }

    async fn run(&self, device: &Device) -> Result<Answer> {
        // Distinct values per operand and element, and all operands in one storage, so that any
        // number of them takes one binding.
        let counts: Vec<usize> = self.shapes.iter().map(|s| s.iter().product()).collect();
        let values: Vec<Vec<i32>> = (counts.iter().enumerate())
            .map(|(k, &count)| (0..count).map(|i| (i * 31 + k * 1_000_003 + 1) as i32).collect())
            .collect();
        let all: Vec<i32> = values.iter().flatten().copied().collect();
        let pool = device.upload(&all, [all.len()])?;
        let mut operands = Vec::new();
        let mut start = 0;
        for (shape, count) in self.shapes.iter().zip(&counts) {
            let end = start + *count as isize;
            let signed: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
            operands.push(pool.slice(0, start..end).reshape(&signed));
            start = end;
        }
        if self.mode == "inplace" {
            return self.in_place(device, &values, &operands[1]).await;
        }
        let positive: Shape = self.target.iter().map(|&n| n as usize).collect();
        let expr: Expr<i32> = match self.mode.as_str() {
            _ if self.select => self.selected(&operands)?,
            "numpy" => &operands[0] + &operands[1],
            "none" => self.aligned(Broadcast::None, &operands)?,
            "pdpd" => self.aligned(Broadcast::Pdpd { axis: self.axis }, &operands)?,
            "paddle" => self.aligned(Broadcast::Paddle { axis: self.axis }, &operands)?,
            "bidirectional" => operands[0].broadcast(Broadcast::Bidirectional, positive),
            "explicit" => operands[0].broadcast(Broadcast::Explicit { axes: self.axes.clone() }, positive),
            "expand" => operands[0].expand(&self.target),
            _ => {
                let shapes: Vec<Shape> = self.shapes.iter().map(Shape::from).collect();
                Broadcast::NumPy.shape_of(&shapes)?;
                operands.iter().fold(Expr::scalar(0), |sum, operand| sum + operand)
            }
        };
        let result = expr.eval_on(device)?;
        let shape = result.shape().to_vec();
        let wrong = self.compare(&shape, &values, &result.to_vec_async().await?);
        Ok(Answer { shape, wrong })
    }

    /// The second operand where the first is odd, else the third, after the rule between all three.
    fn selected(&self, operands: &[Expr<i32>]) -> Result<Expr<i32>> {
        let [condition, a, b] = operands else {
            return Ok(Expr::call::<i32>("select", &[])); // which is an error
        };
        if self.mode == "none" {
            Broadcast::None.align(condition, a)?;
            Broadcast::None.align(condition, b)?;
        }
        Ok(condition.rem(2).eq(1).select(a, b))
    }

    fn aligned(&self, rule: Broadcast, operands: &[Expr<i32>]) -> Result<Expr<i32>> {
        let shape = rule.shape(&self.shapes[0], &self.shapes[1])?;
        let (a, b) = rule.align(&operands[0], &operands[1])?;
        // Operators see equal shapes after a rule.
        debug_assert_eq!((a.shape()?, b.shape()?), (&shape, &shape));
        Ok(a + b)
    }

    /// `a += b`. A refusal must leave `a` unchanged.
    async fn in_place(&self, device: &Device, values: &[Vec<i32>], source: &Expr<i32>) -> Result<Answer> {
        let destination = device.upload(&values[0], self.shapes[0].as_slice())?;
        let shape = destination.shape().to_vec();
        if let Err(error) = destination.assign(&destination + source) {
            if destination.to_vec_async().await? == values[0] {
                return Err(error);
            }
            let wrong = Some("the destination changed although it was refused".to_string());
            return Ok(Answer { shape, wrong });
        }
        let wrong = self.compare(&shape, values, &destination.to_vec_async().await?);
        Ok(Answer { shape, wrong })
    }

    /// The result axis that axis 0 of each operand is laid onto, by the words of the rules.
    fn axes_of(&self, operand: usize, rank: usize) -> Vec<usize> {
        let own = self.shapes[operand].len();
        let other = self.shapes.iter().map(Vec::len).max().unwrap_or(0);
        let start = match self.mode.as_str() {
            "explicit" if own == 0 => return Vec::new(),
            "explicit" => return self.axes.clone(),
            "pdpd" | "paddle" if self.axis >= 0 && own < other => self.axis as usize,
            _ => rank - own,
        };
        (start..start + own).collect()
    }

    fn compare(&self, shape: &[usize], values: &[Vec<i32>], got: &[i32]) -> Option<String> {
        let count: usize = shape.iter().product();
        if count > LARGEST || got.len() != count {
            return Some(format!("{} elements of {count} were read", got.len()));
        }
        let operands: Vec<Operand> = (self.shapes.iter().zip(values).enumerate())
            .map(|(k, (own, values))| Operand {
                shape: own.clone(),
                axes: self.axes_of(k, shape.len()),
                values: values.clone(),
            })
            .collect();
        let mut index = vec![0; shape.len()];
        for (i, &got) in got.iter().enumerate() {
            let mut rest = i;
            for (k, &n) in shape.iter().enumerate().rev() {
                index[k] = rest % n;
                rest /= n;
            }
            let at: Vec<i32> = operands.iter().map(|operand| operand.at(&index)).collect();
            let expected = match at.as_slice() {
                [condition, a, b] if self.select => {
                    if condition % 2 == 1 {
                        *a
                    } else {
                        *b
                    }
                }
                all => all.iter().fold(0i32, |sum, &value| sum.wrapping_add(value)),
            };
            if got != expected {
                return Some(format!("element {index:?} is {got}, expected {expected}"));
            }
        }
        None
    }
}
