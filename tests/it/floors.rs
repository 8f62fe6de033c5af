//! The floors of DESIGN.md: a module, and a file of a folder, uses only modules and files on lower floors. A folder in a folder
//! counts as one file.

use std::fs;
use std::path::{Path, PathBuf};

/// Floors, lowest first. Modules on one floor do not use each other.
type Floors = &'static [&'static [&'static str]];

/// The floors of the crate's modules, and of the files of a folder. `lib.rs` and `mod.rs` are faces: who takes a name from
/// one uses the file that the face has it from, and no file uses what a face defines itself.
const HOUSES: &[(&str, Floors)] = &[
    (
        "",
        &[
            &["dtype", "error", "vectors"],
            &["files", "layout", "limits"],
            &["options", "tuning"],
            &["ir"],
            &["expr"],
            &["schedule"],
            &["plan"],
            &["lower", "wgsl"],
            &["cpu", "gpu"],
            &["device"],
            &["tensor"],
            &["caller", "interop"],
            &["guide"],
        ],
    ),
    (
        "ir",
        &[
            &[
                "answers",
                "constant",
                "kept",
                "normal",
                "op",
                "philox",
                "scalar",
                "small_map",
                "validated",
                "value",
            ],
            &["written"],
            &["callee", "reduce", "sort", "typing"],
            &["axis_op"],
            &["body"],
            &["graph"],
            &["fingerprint", "node", "plans", "program", "storage"],
            &["builder"],
            &["contract", "flatten", "parts", "rows", "total"],
            &["stage"],
        ],
    ),
    (
        "expr",
        &[
            &["axes", "compat", "turn"],
            &["any"],
            &["build", "reduce"],
            &["both"],
            &[
                "composed",
                "function",
                "generators",
                "joining",
                "lookup",
                "operators",
                "print",
                "products",
                "random",
                "reductions",
                "repeat",
                "views",
            ],
            &["einsum", "ops", "partial", "sorting"],
            &["aliases", "checksum", "gaps", "searching", "selecting"],
            &["runs"],
            &["scattering"],
        ],
    ),
    (
        "plan",
        &[
            &["walk"],
            &["loops", "numbers", "target"],
            &["access", "form"],
            &["kernel"],
            &["cost", "fields", "launch", "near"],
            &["grid", "reading", "tiling"],
            &["builder", "joined"],
            &["contract", "count", "elementwise", "put", "reduce", "scan", "sort"],
            &["explain"],
            &["picture"],
        ],
    ),
    (
        "wgsl",
        &[
            &["lines", "prelude", "template", "text", "types"],
            &["fences", "gather", "workarounds"],
            &["bodies"],
            &["emitter"],
            &["near"],
            &["combine", "coordinates", "load"],
            &["elementwise", "rows"],
            &["stores"],
            &["reduce", "scan"],
            &["contract", "count", "put", "sort"],
            &["emit"],
        ],
    ),
    (
        "cpu",
        &[
            &[
                "bytes", "cached", "convert", "explain", "integers", "memory", "prelude", "random", "select",
                "threads",
            ],
            &["buffer", "lines", "lookup", "reorder"],
            &["ahead", "load", "math", "registers"],
            &["kernels", "reduce"],
            &["combine", "jobs"],
            &["pairs"],
            &["engine"],
            &["eval", "scan"],
            &["contract", "fold", "join", "put", "segments", "sort"],
            &["rows"],
            &["execute"],
        ],
    ),
    (
        "gpu",
        &[
            &["budget", "drivers", "limits", "lock", "none"],
            &["adapters", "failures"],
            &["connection"],
            &["pool", "disk"],
            &["buffer", "pipelines"],
            &["dispatch"],
            &["batch", "cached", "profile"],
            &["recorder", "session"],
            &["transfer"],
            &["device"],
            &["execute", "known", "lend"],
            &["explain", "open", "textures"],
            &["backend"],
        ],
    ),
    (
        "lower",
        &[&["ranges"], &["commands"], &["elementwise", "put", "reduce", "sort"], &["chunks", "tables"]],
    ),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn without_tests(text: &str) -> &str {
    let end = ["#[cfg(test)]\nmod tests {", "#[cfg(all(test, feature = \"gpu\"))]\nmod tests {"];
    end.iter().fold(text, |text, end| text.split(end).next().unwrap())
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The module that a file belongs to, and its text without comments and tests.
fn modules() -> Vec<(String, PathBuf, String)> {
    let root = source();
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 30, "found only {} files", files.len());
    // Files of tests stand in folders of that name.
    files.retain(|path| path.strip_prefix(&root).unwrap().iter().all(|part| part != "tests"));
    let describe = |path: PathBuf| {
        let first = path.strip_prefix(&root).unwrap().iter().next().unwrap().to_str().unwrap();
        let module = first.trim_end_matches(".rs").to_string();
        let text = fs::read_to_string(&path).unwrap();
        let lines = without_tests(&text).lines().filter(|line| !line.trim_start().starts_with("//"));
        (module, path, lines.collect::<Vec<_>>().join("\n"))
    };
    files.into_iter().map(describe).collect()
}

/// The first name of each path behind `prefix` in a text, including paths in braces.
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

/// The file that a face takes a name from.
fn home(face: &str, name: &str) -> Option<String> {
    let words = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    let takes = face.split(';').filter_map(|item| item.split_once("use "));
    let takes = takes
        .filter_map(|(before, path)| Some((before.lines().last().unwrap_or(""), path.split_once("::")?)));
    let mut takes = takes.filter(|(before, _)| ["", "pub ", "pub(crate) "].contains(before));
    takes.find(|(_, (_, names))| words(names)).map(|(_, (file, _))| file.to_string())
}

/// Whether a text defines a name, for a module inside of it.
fn defines(text: &str, name: &str) -> bool {
    let kinds = ["const", "enum", "fn", "macro_rules!", "static", "struct", "trait", "type"];
    kinds.iter().any(|kind| {
        text.lines().any(|line| names_after(line, &format!("{kind} ")).iter().any(|own| own == name))
    })
}

#[test]
fn names_are_found_in_every_form() {
    let text = "use crate::{a::{B, C}, d, E};\ncrate::f::g(); $crate::H; use crate::i::{J, K};";
    assert_eq!(names_after(text, "crate::"), ["a", "d", "E", "f", "H", "i"]);
    assert_eq!(home("use a::B;\npub(crate) use c::{\n    D,\n    E,\n};", "E").as_deref(), Some("c"));
    assert!(
        defines("pub(super) const LINE: usize = 64;", "LINE") && !defines("const LINES: u8 = 1;", "LINE")
    );
}

#[test]
fn files_use_lower_floors_only() {
    let modules = modules();
    for (house, floors) in HOUSES {
        let root = source().join(house);
        let is_face = |path: &Path| {
            path.parent() == Some(&root) && (path.ends_with("lib.rs") || path.ends_with("mod.rs"))
        };
        let (_, _, face) = modules.iter().find(|(_, path, _)| is_face(path)).unwrap();
        let floor = |file: &str| floors.iter().position(|files| files.contains(&file));
        for (_, path, text) in modules.iter().filter(|(_, path, _)| path.starts_with(&root) && !is_face(path))
        {
            let below: Vec<&str> =
                path.strip_prefix(&root).unwrap().iter().filter_map(|part| part.to_str()).collect();
            // A folder is one file of the house that it stands in.
            let file = below[0].trim_end_matches(".rs");
            let own = floor(file).unwrap_or_else(|| panic!("{house}/{file} has no floor"));
            let up = "super::".repeat(below.iter().filter(|part| **part != "mod.rs").count());
            let down = ["crate", house, ""].join("::").replace("::::", "::");
            let used = [up, down].into_iter().flat_map(|prefix| names_after(text, &prefix));
            for name in used.filter(|name| !["super", "tests"].contains(&&**name)) {
                let used = if floor(&name).is_some() { Some(name.clone()) } else { home(face, &name) };
                if used.is_none() && defines(text, &name) {
                    continue;
                }
                let path = path.display();
                let other = used.as_deref().and_then(floor);
                let other = other.unwrap_or_else(|| panic!("{path} uses {name}, which is on no floor"));
                let is_own = used.as_deref() == Some(file);
                assert!(is_own || other < own, "{path} on floor {own} uses {name} on floor {other}");
            }
        }
    }
}

/// Facts about drivers stand in one table.
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
        let is_named = text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "plan");
        assert!(module != "cpu" || !is_named, "{} names the planner", path.display());
    }
}

/// The unsafe code that has no other form, with its number for each file: a call of wgpu, three uses of the processor's
/// instructions, four choices of wider instructions by the processor's features, a function that the system calls after a
/// fork, a buffer for Python, and what PyO3 generates. Each says why it is sound: a call by a comment, a function in its
/// documentation.
#[test]
fn unsafe_calls_are_few_and_say_why() {
    let mut files = Vec::new();
    for package in ["", "python", "web", "web/bindgen", "web/conformance", "web/npm"] {
        // An archive of a registry has the crate alone.
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(package).join("src");
        if package.is_empty() || root.exists() {
            sources(&root, &mut files);
        }
    }
    files.retain(|path| !path.iter().any(|part| part == "tests"));
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let text = without_tests(&text);
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
        // What the lint `unsafe_code` allows is counted itself. Other lints are about unsafe code.
        let found = words.filter(|word| word.starts_with("unsafe") && *word != "unsafe_code").count();
        let allowed = match () {
            () if path.ends_with("gpu/disk.rs") => 1,
            () if path.ends_with("device/fork.rs") => 1,
            () if path.ends_with("cpu/lines.rs") => 5,
            () if path.ends_with("vectors.rs") => 2,
            () if path.ends_with("python/src/host.rs") => 2,
            () if path.ends_with("python/src/operators.rs") => 1,
            () => 0,
        };
        assert_eq!(found, allowed, "unsafe code in {}", path.display());
        let reasons = text.matches("// SAFETY:").count() + text.matches("/// # Safety\n").count();
        assert_eq!(reasons, allowed, "{}", path.display());
    }
}
