//! The pictures of the docs are those that `Explain::svg` draws now.
//!
//! `ZEROSTRIDE_BLESS=1 cargo test --test pictures` writes them anew, and with them `links.md`, which gives the
//! rendered documentation the same pictures without files beside it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use zerostride::{Device, Result, Tensor};

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
