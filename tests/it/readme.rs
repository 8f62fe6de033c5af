//! The pages: the first ones are short, their counts are right, and their links lead to files.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Pages with links, in the root and in the folders of docs.
fn pages() -> Vec<PathBuf> {
    let folder = |name: &str| fs::read_dir(root().join(name)).unwrap();
    let folders = folder("docs/guide").chain(folder("docs/design"));
    let paths = folders.map(|entry| entry.unwrap().path().strip_prefix(root()).unwrap().to_path_buf());
    let named = ["README.md", "CONTRIBUTING.md", "DESIGN.md", "docs/performance.md", "docs/same-bits.md"];
    named.into_iter().map(PathBuf::from).chain(paths).collect()
}

/// The sentences of a page: no code, no tables, no titles. An item of a list ends one.
fn sentences(text: &str) -> Vec<String> {
    let (mut all, mut now, mut code) = (Vec::new(), String::new(), false);
    for line in text.lines() {
        if line.starts_with("```") {
            code = !code;
        }
        let prose = !(code || line.is_empty() || line.starts_with(['`', '|', '#', '!', '[']));
        if !prose || line.starts_with("- ") {
            all.push(std::mem::take(&mut now));
        }
        if prose {
            now += line;
            now.push(' ');
        }
    }
    all.push(now);
    let ends = |text: String| -> Vec<String> {
        let text = text.replace("? ", ". ").replace("! ", ". ").replace(".** ", ". ").replace(".) ", ". ");
        text.split(". ").map(str::to_string).collect()
    };
    all.into_iter().flat_map(ends).filter(|sentence| !sentence.trim().is_empty()).collect()
}

#[test]
fn it_is_short() {
    for (page, most) in [("README.md", 900), ("DESIGN.md", 3000)] {
        let words = read(page).split_whitespace().count();
        assert!(words <= most, "{words} words in {page}");
    }
    for page in ["README.md", "CONTRIBUTING.md", "docs/guide/rules.md", "docs/guide/missing.md"] {
        for sentence in sentences(&read(page)) {
            let words = sentence.split_whitespace().count();
            assert!(words <= 30, "{words} words in {page}: {sentence}");
        }
    }
}

#[test]
fn links_lead_to_files() {
    let mut followed = 0;
    for page in pages() {
        let text = read(&page);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            if link.contains("://")
                || link.contains("::")
                || link.starts_with('#')
                || link.contains(['`', ' ', '\n'])
            {
                continue;
            }
            followed += 1;
            let target = root().join(page.parent().unwrap()).join(link.split('#').next().unwrap());
            assert!(target.exists(), "{} leads to {link}, which is not there", page.display());
        }
    }
    assert!(followed >= 30, "only {followed} links were found");
}

#[test]
fn it_counts_the_verdicts_of_the_tree() {
    let verdicts = read("tests/data/shapes.jsonl").lines().count();
    assert!(read("README.md").contains(&format!("{verdicts} verdicts")), "there are {verdicts}");
}

/// Every page of the guide that is about Rust is a part of the documentation, so its snippets are tests.
#[test]
fn guides_are_tested() {
    let guide = read("src/guide.rs");
    for page in pages().iter().filter(|page| page.starts_with("docs/guide")) {
        let name = page.file_name().unwrap().to_str().unwrap();
        let python = ["python.md", "cluster.md"].contains(&name);
        assert_ne!(python, guide.contains(&format!("docs/guide/{name}")), "{name}");
    }
}
