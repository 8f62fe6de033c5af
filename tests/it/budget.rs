//! The lines of code of `src`, which only a change that says so may raise.

use std::fs;
use std::path::{Path, PathBuf};

/// The most lines of code of a folder, without what a test writes. A change that needs more says in its commit what it buys.
/// One that leaves fewer lowers the figure.
const MOST: [(&str, usize); 2] = [("src", 33451), ("src/wgsl", 3094)];

/// How far below the figure a folder may be.
const SLACK: usize = 60;

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_apart =
            ["tests", "tests.rs", "prelude/f32.rs", "prelude/f64.rs"].iter().any(|own| path.ends_with(own));
        match path.is_dir() {
            _ if is_apart => {}
            true => files(&path, all),
            false if path.extension().is_some_and(|end| end == "rs") => all.push(path),
            false => {}
        }
    }
}

/// Lines that are neither blank nor a comment, outside of a module of tests.
fn lines_of_code(text: &str) -> usize {
    let mut lines = text.lines().map(str::trim).peekable();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let opens = |next: &&&str| next.starts_with("mod ") && next.ends_with('{');
        if line == "#[cfg(test)]" && lines.peek().filter(opens).is_some() {
            let mut depth = 0;
            for line in lines.by_ref() {
                depth += line.matches('{').count() as isize - line.matches('}').count() as isize;
                if depth <= 0 {
                    break;
                }
            }
        } else if !line.is_empty() && !line.starts_with("//") {
            count += 1;
        }
    }
    count
}

#[test]
fn code_stays_within_its_budget() {
    for (folder, most) in MOST {
        let mut all = Vec::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut all);
        let count: usize = all.iter().map(|path| lines_of_code(&fs::read_to_string(path).unwrap())).sum();
        assert!(count <= most, "{folder} has {count} lines of code, and {most} are its budget");
        assert!(count + SLACK >= most, "{folder} has {count} lines of code: lower its budget of {most}");
    }
}

#[test]
fn code_is_what_is_neither_blank_nor_a_comment() {
    let text = "//! A.\n\nfn f() {\n    // b\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    fn h() {}\n}\nfn i() {}\n";
    assert_eq!(lines_of_code(text), 4);
}
