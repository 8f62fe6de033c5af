//! The pictures of the docs are the ones that `Explain::svg` draws, and explanations name the right lines.
//!
//! `ZEROSTRIDE_BLESS=1 cargo test --test it pictures` writes the pictures, and `links.md`, with which the rendered
//! documentation has them without files.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use zerostride::{AnyTensor, Device, Result, Tensor};

fn pictures() -> Result<Vec<(&'static str, String)>> {
    let device = Device::cpu();
    let zeros = |shape: &[usize]| -> Result<Tensor<f32>> { device.zeros(shape) };
    let draw = |expr: &zerostride::Expr<f32>| expr.explain(&device).map(|explain| explain.svg());
    let [matrix, row, column] = [zeros(&[3, 4])?, zeros(&[4])?, zeros(&[3, 1])?];
    let channels = zeros(&[3, 1, 1])?;
    let images = zeros(&[8, 3, 32, 48])?;
    Ok(vec![
        ("row", draw(&(&matrix + &row))?),
        ("outer", draw(&(&column * &row))?),
        ("channels", draw(&(&images * &channels))?),
        ("transposed", draw(&(&matrix + zeros(&[4, 3])?.transpose(0, 1)))?),
        ("windows", draw(&zeros(&[5, 6])?.windows([3, 3], [0, 1]))?),
        ("sum", draw(&matrix.sum_keepdim(1))?),
        ("standardize", draw(&((&matrix - matrix.mean_keepdim(1)) / matrix.std_keepdim(1, 0)))?),
    ])
}

/// A picture as an address that Markdown takes.
fn address(svg: &str) -> String {
    let mut text = String::from("data:image/svg+xml,");
    for byte in svg.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' | b':' | b'=' | b',' => {
                text.push(byte as char);
            }
            byte => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

#[test]
fn the_docs_have_todays_pictures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    let mut files: Vec<(String, String)> = Vec::new();
    let mut links = String::new();
    for (name, svg) in pictures().unwrap() {
        assert!(!svg.contains("\n\n"), "{name} has a blank line, which ends HTML in Markdown");
        let _ = writeln!(links, "[{name}]: {}", address(&svg));
        files.push((format!("{name}.svg"), svg));
    }
    files.push(("links.md".into(), links));
    if std::env::var_os("ZEROSTRIDE_BLESS").is_some() {
        fs::create_dir_all(&folder).unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    }
    for (name, text) in &files {
        let known = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            known == *text,
            "docs/pictures/{name} is not what is drawn now: ZEROSTRIDE_BLESS=1 writes it"
        );
    }
    let known = fs::read_dir(&folder).unwrap().count();
    assert_eq!(known, files.len(), "docs/pictures has files that nothing draws");
}

#[test]
fn lines_are_those_of_operands() {
    crate::common::on_every_device(|device| {
        let matrix: Tensor<f32> = device.zeros([8, 16]).unwrap();
        let row: Tensor<f32> = device.zeros([16]).unwrap();
        let explain = ((&matrix - &row.flip(0)) / 3.0).explain(device).unwrap();
        let [a, b] = explain.operands() else { panic!("{explain}") };
        assert!(a.is_of(&AnyTensor::from(&matrix)) && b.is_of(&AnyTensor::from(&row)));
        assert!(!a.is_of(&AnyTensor::from(&row)));
        assert_eq!((b.layout().strides(), b.layout().offset()), (&[0, -1][..], 15));
        let Some(text) = explain.wgsl() else {
            assert!(a.lines().is_empty() && b.lines().is_empty());
            return;
        };
        let lines: Vec<&str> = text.lines().collect();
        let of = |operand: &zerostride::ExplainedOperand| -> Vec<&str> {
            operand.lines().iter().map(|&number| lines[number - 1]).collect()
        };
        for (own, other, binding) in [(of(a), of(b), "in0"), (of(b), of(a), "in1")] {
            assert!(own.iter().any(|line| line.contains(&format!("> {binding}:"))), "{own:?}");
            assert!(own.iter().any(|line| line.contains(&format!("{binding}["))), "{own:?}");
            assert!(!other.iter().any(|line| line.contains(binding)), "{other:?}");
        }
    });
}
