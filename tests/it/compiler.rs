//! The compiler's errors for mistakes that types find. The guide quotes them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::common::cannot_run;

/// Each row of the guide about the compiler, by the text that it quotes, and a program that the compiler refuses so. `x` is a
/// tensor of f32.
const REFUSED: &[(&str, &str)] = &[
    (
        "`&Tensor<u8>` is no operand of `f32` elements",
        "let image = Device::cpu().zeros::<u8>([2]).unwrap(); let _ = &x + &image;",
    ),
    ("`{integer}` is no operand of `f32` elements", "let _ = &x * 2;"),
    ("`{float}` names no axes", "let _ = x.sum(1.0);"),
    ("`{float}` is no range of indexes along an axis", "let _ = x.slice(0, 1.0);"),
    ("`{float}` is no axis and no index along one", "let _ = x.flip(1.0);"),
    ("`&str` is no list of axes, lengths or steps", "let _ = x.windows(\"3\", 0);"),
    ("`std::ops::Range<{integer}>` is no tuple of ranges", "let _ = x.slices(0..1);"),
];

/// The library that this test is linked with.
fn library() -> Option<PathBuf> {
    let folder = std::env::current_exe().ok()?.parent()?.to_path_buf();
    let is_own = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("libzerostride-") && name.ends_with(".rlib")
    };
    let made =
        |path: &PathBuf| fs::metadata(path).and_then(|of| of.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).filter(is_own).max_by_key(made)
}

/// The compiler's errors for a program.
fn said(library: &Path, body: &str) -> Option<String> {
    let text = format!(
        "use zerostride::*; fn main() {{ let x = Device::cpu().zeros::<f32>([2, 3]).unwrap(); {body} }}"
    );
    let out = std::env::temp_dir().join(format!("zerostride-{}.rmeta", std::process::id()));
    let mut rustc = Command::new("rustc")
        .args(["--edition", "2024", "--crate-name", "refused", "--emit", "metadata", "-", "-o"])
        .arg(&out)
        .arg("-L")
        .arg(format!("dependency={}", library.parent()?.display()))
        .arg("--extern")
        .arg(format!("zerostride={}", library.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    rustc.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = rustc.wait_with_output().ok()?;
    // There is none where the program is refused.
    let _ = fs::remove_file(out);
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn what_the_guide_quotes_of_the_compiler() {
    let guide = include_str!("../../docs/guide/errors.md");
    let quotes: Vec<&str> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("| the compiler: `` ")?.split("``").next())
        .map(str::trim)
        .collect();
    assert_eq!(quotes, REFUSED.iter().map(|(text, _)| *text).collect::<Vec<_>>());
    let Some(library) = library().filter(|library| said(library, "").is_some()) else {
        return cannot_run("there is no compiler here, or no library beside this program");
    };
    assert_eq!(said(&library, "let _ = &x * 2.0;").unwrap(), "");
    for (text, body) in REFUSED {
        let said = said(&library, body).unwrap();
        assert!(said.contains(&format!("error[E0277]: {text}")), "{body}: {said}");
    }
}
