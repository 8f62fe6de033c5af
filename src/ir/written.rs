//! The WGSL of a user's function: checks of its text, and names that nothing else of a kernel has. A build without
//! adapters keeps the text unchecked, as nothing runs it.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use crate::dtype::DType;
use crate::error::{Result, bail};

/// A checked text.
#[derive(Debug)]
pub(crate) struct Written {
    /// The text, with names of its own.
    pub text: String,
    /// The name of the function in it.
    pub name: String,
    /// Whether it may contain a loop whose values may never end it.
    pub loops: bool,
}

/// Keywords of loops.
const LOOPS: &[&str] = &["loop", "while", "for"];

/// Directives that only the head of a module may have.
const DIRECTIVES: &[&str] = &["enable", "requires", "diagnostic"];

/// Barriers, which all invocations of a workgroup must reach.
const BARRIERS: &[&str] = &["workgroupBarrier", "storageBarrier", "textureBarrier", "workgroupUniformLoad"];

impl Written {
    /// Checks the WGSL of a function.
    #[cfg_attr(not(feature = "gpu"), allow(unused_variables))]
    pub(crate) fn new(name: &str, text: &str, args: &[DType], result: DType) -> Result<Written> {
        let words: Vec<&str> = tokens(text).map(|token| token.word).collect();
        let held = |names: &'static [&str]| words.iter().find(|word| names.contains(word));
        if let Some(word) = held(DIRECTIVES).or_else(|| held(BARRIERS)) {
            bail!(
                Operation,
                "the WGSL of {name} has {word}: it becomes a part of a kernel, so leave {word} out"
            );
        }
        let loops = held(LOOPS).is_some();
        #[cfg(feature = "gpu")]
        super::validated::check(name, text, args, result)?;
        let mut hasher = rustc_hash::FxHasher::default();
        text.hash(&mut hasher);
        let end = format!("_{:016x}", hasher.finish());
        let text = renamed(text, &end);
        let own = format!("{name}{end}");
        #[cfg(feature = "gpu")]
        super::validated::check_call(name, &own, &text, args)?;
        Ok(Written { text, name: own, loops })
    }
}

/// A word of a text, and where it begins.
struct Token<'a> {
    at: usize,
    word: &'a str,
    /// Whether it follows a dot or an at sign, as members and attributes do.
    is_part: bool,
}

/// The words of a text: names, keywords and numbers, without comments.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    let mut before = ' ';
    std::iter::from_fn(move || {
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            if rest.starts_with("//") {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                at += comment(rest);
            } else if is_word(c) {
                let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
                let token = Token { at, word: &rest[..length], is_part: matches!(before, '.' | '@') };
                (at, before) = (at + length, 'a');
                return Some(token);
            } else {
                if !c.is_whitespace() {
                    before = c;
                }
                at += c.len_utf8();
            }
        }
        None
    })
}

/// The length of a comment, which may contain other comments.
fn comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at.min(text.len())
}

/// The text with `end` appended to its declarations and their uses. A local declaration of the same name is renamed
/// too, and hides what it hid before.
fn renamed(text: &str, end: &str) -> String {
    let mut names = BTreeSet::new();
    let mut keyword = "";
    for token in tokens(text) {
        if matches!(keyword, "fn" | "struct" | "const" | "alias") {
            names.insert(token.word);
        }
        keyword = token.word;
    }
    let mut all = String::with_capacity(text.len() + 64);
    let mut from = 0;
    for token in tokens(text).filter(|token| !token.is_part && names.contains(token.word)) {
        let to = token.at + token.word.len();
        all.push_str(&text[from..to]);
        all.push_str(end);
        from = to;
    }
    all.push_str(&text[from..]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_text_are_its_own() {
        let text = "// f of x\nconst k = 1.5; /* f /* k */ */\nfn f(x: vec4<f32>) -> vec4<f32> { let kf = x.x; return g(x) * k; }\nfn g(f: vec4<f32>) -> vec4<f32> { return f.xxyy; }";
        let expected = "// f of x\nconst k_1 = 1.5; /* f /* k */ */\nfn f_1(x: vec4<f32>) -> vec4<f32> { let kf = x.x; return g_1(x) * k_1; }\nfn g_1(f_1: vec4<f32>) -> vec4<f32> { return f_1.xxyy; }";
        assert_eq!(renamed(text, "_1"), expected);
        assert_eq!(tokens("a/*").count() + tokens("/*/").count() + tokens("ä.b//").count(), 3);
    }

    #[test]
    fn a_name_that_hides_a_builtin_does_so_for_itself() {
        let text = "fn max(x: vec4<f32>) -> vec4<f32> { return x; } fn f(x: vec4<f32>) -> vec4<f32> { return max(x); }";
        let written = Written::new("f", text, &[DType::F32], DType::F32).unwrap();
        assert!(written.text.contains("return max_"));
    }
}
