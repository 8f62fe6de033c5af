//! The first page: short, and its counts and links are those of the tree.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Pages that are read in the repository and in the rendered documentation.
fn pages() -> Vec<PathBuf> {
    let guides = fs::read_dir(root().join("docs/guide")).unwrap();
    let guides = guides.map(|entry| entry.unwrap().path().strip_prefix(root()).unwrap().to_path_buf());
    ["README.md", "CONTRIBUTING.md"].into_iter().map(PathBuf::from).chain(guides).collect()
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
    let words = read("README.md").split_whitespace().count();
    assert!(words <= 1200, "{words} words");
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
