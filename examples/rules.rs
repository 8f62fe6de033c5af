//! Every example of the rules' documents, as a table of shapes, rule, and the result or this crate's error. Examples that
//! the documents show as pictures come last, by name. Each example is evaluated on the device, and must have the result or
//! the refusal of its system.
//!
//! ```text
//! cargo run --release --example rules [-- --device NAME]
//! ```

use std::process::ExitCode;

use clap::Parser;
use serde_json::Value;
use zerostride::{Broadcast, Device, Expr, Result, Shape};

#[derive(Parser)]
struct Options {
    /// A device, as `Device::named` takes it; the best one when none is given
    #[arg(long)]
    device: Option<String>,
}

/// An example of a document. `b` is the target of rules that have one.
#[derive(PartialEq)]
struct Example {
    system: &'static str,
    rule: Rule,
    a: Vec<usize>,
    b: Vec<usize>,
    /// The result in that system; `None` if it refuses.
    result: Option<Vec<usize>>,
    /// The name of a picture, empty for an example of the text.
    picture: String,
}

#[derive(Clone, PartialEq)]
enum Rule {
    Operator(Broadcast),
    Target(Broadcast),
    InPlace,
}

fn main() -> ExitCode {
    match run(Options::parse().device.as_deref()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table. Returns whether every line agrees with its system.
fn run(name: Option<&str>) -> Result<bool> {
    let device = name.map_or_else(Device::open, Device::named)?;
    println!("on {}\n", device.name());
    println!("{:<13} {:<14} {:<14} {:<14} result", "from", "rule", "a", "b");
    let mut agree = true;
    for Example { system, rule, a, b, result, picture } in examples() {
        let outcome = evaluate(&device, &rule, &a, &b);
        agree &= outcome.as_ref().ok().map(|shape| shape.to_vec()) == result;
        let outcome = outcome.map_or_else(|error| error.message().to_string(), |shape| shape.to_string());
        let rule = match &rule {
            Rule::Operator(rule) | Rule::Target(rule) => rule.to_string(),
            Rule::InPlace => "in-place".into(),
        };
        let (a, b) = (Shape::from(a).to_string(), Shape::from(b).to_string());
        let picture = if picture.is_empty() { picture } else { format!("  ({picture})") };
        println!("{system:<13} {rule:<14} {a:<14} {b:<14} {outcome}{picture}");
    }
    println!("\n{}", if agree { "all as in their systems" } else { "some differ from their systems" });
    Ok(agree)
}

/// The lines of the verified cases that come from the documents.
fn examples() -> Vec<Example> {
    let lines = include_str!("../tests/data/shapes.jsonl").lines();
    let cases = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let documents = cases.filter(|case| case["source"].as_str().is_some_and(|s| s.starts_with("seed:")));
    let mut examples: Vec<Example> = Vec::new();
    for example in documents.filter_map(|case| example(&case)) {
        if !examples.contains(&example) {
            examples.push(example);
        }
    }
    examples
}

fn example(case: &Value) -> Option<Example> {
    let lengths = |key: &str| -> Option<Vec<usize>> {
        case[key].as_array()?.iter().map(|n| n.as_u64().map(|n| n as usize)).collect()
    };
    let axis = case["axis"].as_i64().unwrap_or(-1) as isize;
    let rule = match case["mode"].as_str()? {
        "numpy" => Rule::Operator(Broadcast::NumPy),
        "none" => Rule::Operator(Broadcast::None),
        "pdpd" => Rule::Operator(Broadcast::Pdpd { axis }),
        "paddle" => Rule::Operator(Broadcast::Paddle { axis }),
        "bidirectional" => Rule::Target(Broadcast::Bidirectional),
        "inplace" => Rule::InPlace,
        _ => return None,
    };
    let system = match case["system"].as_str()? {
        "paddle" => "PaddlePaddle",
        "torch" => "PyTorch",
        "numpy" => "NumPy",
        _ => "OpenVINO",
    };
    Some(Example {
        system,
        rule,
        a: lengths("a")?,
        b: lengths("b").or_else(|| lengths("target"))?,
        result: lengths("result"),
        picture: case["source"].as_str()?.split_once(", ").map_or("", |(_, name)| name).into(),
    })
}

/// The shape of the result, which was computed on the device.
fn evaluate(device: &Device, rule: &Rule, a: &[usize], b: &[usize]) -> Result<Shape> {
    let (x, y) = (device.full(a, 1.0_f32)?, device.full(b, 2.0_f32)?);
    let result: Expr<f32> = match rule {
        Rule::InPlace => {
            x.assign(&x + &y)?;
            x.expr()
        }
        Rule::Target(rule) => x.broadcast(rule.clone(), b),
        Rule::Operator(rule) => {
            let (x, y) = rule.align(&x, &y)?;
            x + y
        }
    };
    Ok(result.eval()?.shape().clone())
}
