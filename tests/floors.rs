//! The module floors of DESIGN.md: a module uses only modules on floors below it.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules by floor, lowest first. Modules of one floor do not use each other.
const FLOORS: &[&[&str]] = &[
    &["dtype", "error", "vectors"],
    &["layout"],
    &["expr"],
    &["schedule"],
    &["plan"],
    &["wgsl"],
    &["cpu", "gpu"],
    &["device"],
    &["tensor"],
    &["caller", "interop"],
    &["guide"],
];

/// The same for the files of `gpu/`.
const GPU_FLOORS: &[&[&str]] = &[
    &["lock", "drivers", "limits"],
    &["adapters", "failures", "options"],
    &["connection"],
    &["pool", "disk"],
    &["buffer", "pipelines"],
    &["dispatch"],
    &["profile", "batch", "recipes"],
    &["recorder", "session"],
    &["transfer"],
    &["device"],
    &["known", "lend", "split"],
    &["open", "textures", "runner"],
    &["scan", "tables"],
    &["fold"],
    &["parts"],
    &["evaluate"],
    &["alike"],
    &["backend"],
];

fn floor_of(floors: &[&[&str]], module: &str) -> Option<usize> {
    floors.iter().position(|modules| modules.contains(&module))
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

fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap()
}

/// The module that a file belongs to, and its text without comments and tests.
fn modules() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 30, "found only {} files", files.len());
    let texts: Vec<String> = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    // Files that a parent declares for tests only.
    let is_test = |path: &Path| {
        let declared = format!("#[cfg(test)]\nmod {};", path.file_stem().unwrap().to_str().unwrap());
        let beside = |(other, text): (&PathBuf, &String)| {
            other.parent() == path.parent() && other.ends_with("mod.rs") && text.contains(&declared)
        };
        path.iter().any(|part| part == "tests") || files.iter().zip(&texts).any(beside)
    };
    let describe = |(path, text): (&PathBuf, &String)| {
        let first = path.strip_prefix(&root).unwrap().iter().next().unwrap().to_str().unwrap();
        let module = first.trim_end_matches(".rs").to_string();
        let lines = without_tests(text).lines().filter(|line| !line.trim_start().starts_with("//"));
        (module, path.clone(), lines.collect::<Vec<_>>().join("\n"))
    };
    files.iter().zip(&texts).filter(|(path, _)| !is_test(path)).map(describe).collect()
}

/// What follows `prefix` in a text: the first name of each path, of all those in braces.
fn names_after(text: &str, prefix: &str) -> Vec<String> {
    let name = |path: &str| -> String {
        path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut names = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        let rest = &text[at + prefix.len()..];
        let Some(list) = rest.strip_prefix('{') else {
            names.push(name(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (i, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                ',' if depth == 0 => {
                    names.push(name(&list[start..i]));
                    start = i + 1;
                }
                '}' if depth == 0 => {
                    names.push(name(&list[start..i]));
                    break;
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The module that `lib.rs` takes a name from.
fn home(root: &str, name: &str) -> Option<String> {
    let exports = root.split("pub use ").skip(1).filter_map(|line| line.split(';').next());
    let mut exports = exports.filter_map(|line| line.split_once("::"));
    exports
        .find(|(_, names)| names.split(|c: char| !c.is_alphanumeric() && c != '_').any(|own| own == name))
        .map(|(module, _)| module.to_string())
}

#[test]
fn names_are_found_in_every_form() {
    let text = "use crate::{a::{B, C}, d, E};\ncrate::f::g(); $crate::H; use crate::i::{J, K};";
    assert_eq!(names_after(text, "crate::"), ["a", "d", "E", "f", "H", "i"]);
    assert_eq!(home("pub use a::B;\npub use c::{\n    D,\n    E,\n};", "E").as_deref(), Some("c"));
}

#[test]
fn modules_use_lower_floors_only() {
    let modules = modules();
    let root = &modules.iter().find(|(module, ..)| module == "lib").unwrap().2;
    for (module, path, text) in modules.iter().filter(|(module, ..)| module != "lib") {
        let floor = |module: &str| floor_of(FLOORS, module);
        let own = floor(module).unwrap_or_else(|| panic!("{module} has no floor"));
        for used in names_after(text, "crate::") {
            let used = if floor(&used).is_some() { used } else { home(root, &used).unwrap_or(used) };
            let other = floor(&used).unwrap_or_else(|| panic!("{} uses {used}", path.display()));
            let path = path.display();
            assert!(used == *module || other < own, "{path} on floor {own} uses {used} on floor {other}");
        }
    }
}

#[test]
fn files_of_the_gpu_path_use_lower_floors_only() {
    for (_, path, text) in modules().into_iter().filter(|(module, ..)| module == "gpu") {
        let places: Vec<&str> = path.iter().filter_map(|part| part.to_str()?.split('.').next()).collect();
        let below = places.iter().rposition(|&part| part == "gpu").unwrap() + 1;
        // A folder is one file of this house: what is in it names others from the root on.
        let (file, from) = match places[below..] {
            ["mod"] => continue,
            [file] | [file, "mod"] => (file, "super::"),
            [folder, ..] => (folder, "crate::gpu::"),
            [] => unreachable!("a file below gpu"),
        };
        let own = floor_of(GPU_FLOORS, file).unwrap_or_else(|| panic!("{file} has no floor"));
        for used in names_after(&text, from).into_iter().filter(|used| used != "tests") {
            let other = floor_of(GPU_FLOORS, &used).unwrap_or_else(|| panic!("{file} uses {used}"));
            assert!(other < own, "{file} on floor {own} uses {used} on floor {other}");
        }
    }
}

/// What is known of drivers stands in one table.
#[test]
fn drivers_are_named_in_one_file() {
    for (_, path, text) in modules() {
        let named = text.to_lowercase().contains("llvmpipe") || text.to_lowercase().contains("swiftshader");
        assert_eq!(named, path.ends_with("gpu/drivers.rs"), "{}", path.display());
    }
}

#[test]
fn only_gpu_and_its_face_name_wgpu() {
    for (module, path, text) in modules() {
        assert!(
            module == "gpu" || module == "caller" || !text.contains("wgpu::"),
            "{} names wgpu",
            path.display()
        );
    }
}

#[test]
fn the_reference_does_not_use_the_planner() {
    for (module, path, text) in modules() {
        assert!(module != "cpu" || !text.contains("plan"), "{} names the planner", path.display());
    }
}

/// What has no other form: a call of wgpu, three of the processor's instructions and two choices of wider ones by what it
/// has, and the mapping of a file.
/// Each says why it is sound.
#[test]
fn unsafe_calls_are_few_and_say_why() {
    for (_, path, text) in modules() {
        let text = text.replace("[allow(unsafe_code)]", "");
        let allowed = match () {
            () if path.ends_with("gpu/disk.rs") => 1,
            () if path.ends_with("cpu/lines.rs") => 5,
            () if path.ends_with("interop/file.rs") => 1,
            () => 0,
        };
        assert_eq!(text.matches("unsafe").count(), allowed, "unsafe code in {}", path.display());
        let text = fs::read_to_string(&path).unwrap();
        let comments = without_tests(&text).matches("// SAFETY:").count();
        assert_eq!(comments, allowed, "{}", path.display());
    }
}
