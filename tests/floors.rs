//! The module floors of DESIGN.md: a module uses only modules on floors below it.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules by floor, lowest first. Modules of one floor do not use each other, but for the
/// handles at the top, which are one thing in two files.
const FLOORS: &[&[&str]] = &[
    &["dtype", "error"],
    &["layout"],
    &["expr"],
    &["plan"],
    &["wgsl"],
    &["cpu", "gpu"],
    &["device", "tensor"],
];

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|modules| modules.contains(&module))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The module that a file belongs to, and its text without comments and tests.
fn modules() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 30, "found only {} files", files.len());
    let describe = |path: PathBuf| {
        let first = path.strip_prefix(&root).unwrap().iter().next().unwrap().to_str().unwrap();
        let module = first.trim_end_matches(".rs").to_string();
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        (module, path.clone(), lines.collect::<Vec<_>>().join("\n"))
    };
    files.into_iter().map(describe).collect()
}

#[test]
fn modules_use_lower_floors_only() {
    for (module, path, text) in modules() {
        if module == "lib" {
            continue;
        }
        let own = floor(&module).unwrap_or_else(|| panic!("{module} has no floor"));
        for (at, _) in text.match_indices("crate::") {
            let used: String =
                text[at + 7..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let Some(other) = floor(&used) else { continue };
            let top = own == FLOORS.len() - 1;
            assert!(
                used == module || other < own || (other == own && top),
                "{} on floor {own} uses {used} on floor {other}",
                path.display()
            );
        }
    }
}

#[test]
fn only_gpu_names_wgpu() {
    for (module, path, text) in modules() {
        assert!(module == "gpu" || !text.contains("wgpu::"), "{} names wgpu", path.display());
    }
}

#[test]
fn the_reference_does_not_use_the_planner() {
    for (module, path, text) in modules() {
        assert!(module != "cpu" || !text.contains("plan"), "{} names the planner", path.display());
    }
}

/// What has no other form: a call of wgpu, and three of the processor's instructions. Each says why it
/// is sound.
#[test]
fn unsafe_calls_are_few_and_say_why() {
    for (_, path, text) in modules() {
        let text = text.replace("[allow(unsafe_code)]", "");
        let allowed = match () {
            () if path.ends_with("gpu/cache.rs") => 1,
            () if path.ends_with("cpu/cache.rs") => 3,
            () => 0,
        };
        assert_eq!(text.matches("unsafe").count(), allowed, "unsafe code in {}", path.display());
        let comments = std::fs::read_to_string(&path).unwrap().matches("// SAFETY:").count();
        assert_eq!(comments, allowed, "{}", path.display());
    }
}
