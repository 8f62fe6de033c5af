//! The prelude: WGSL functions. A kernel contains those that it calls.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::plan::Faults;

/// Files of the prelude.
macro_rules! files {
    ($($name:literal)*) => {
        [$(include_str!(concat!("../../shaders/prelude/", $name, ".wgsl"))),*]
    };
}

/// Sources for one type, or for all types that they name.
const OWN: &[&str] = &files![
    "pack" "integer" "integer64" "cast"
    "f32/bits" "f32/exponential" "f32/trigonometry" "f32/power" "f32/error" "f32/gamma"
    "f32/flush" "f32/total" "f32/fma" "f32/fast"
];

/// Sources for f64, on adapters that have it.
const DOUBLE: &[&str] =
    &files!["f64/fma" "f64/exponential" "f64/trigonometry" "f64/power" "f64/error" "f64/gamma"];

/// Sources for f32, and for f64 with f64 and u64 in place of f32 and u32.
const SHARED: &[&str] = &files![
    "float" "remainder" "fma" "nearest" "exponential" "trigonometry" "power" "error" "gamma" "reduce" "total"
];

/// Sources over words of 32 bits, read again with 64.
const NARROW: &str = include_str!("../../shaders/prelude/random.wgsl");

/// Elements of 64 bits, by builtins and in pairs of words: of any type, of either sign, and of one. Texts for u64 are read
/// again with the others' names.
const LONGS: [[[&str; 2]; 3]; 2] = [
    [
        files!["integer64/builtins_named" "integer64/named"],
        files!["integer64/builtins_both" "integer64/both"],
        files!["integer64/builtins" "f64/bits"],
    ],
    [
        files!["integer64/pairs_named" "integer64/named"],
        files!["integer64/pairs_both" "integer64/both"],
        files!["integer64/pairs" "f64/pairs"],
    ],
];

/// Functions by instructions that some adapters lack. They replace those of the same names.
const BY_INSTRUCTIONS: &str = include_str!("../../shaders/prelude/instructions.wgsl");

/// All of the prelude, one text after another: with elements of 64 bits, and with pairs of words instead.
fn sources(in_pairs: bool) -> &'static [String] {
    static SOURCES: [OnceLock<Vec<String>>; 2] = [const { OnceLock::new() }; 2];
    SOURCES[usize::from(in_pairs)].get_or_init(|| {
        let [named, both, single] = LONGS[usize::from(in_pairs)];
        let again = |texts: [&str; 2], of: &str| texts.map(|text| text.replace("u64", of));
        let named = ["u64", "i64", "f64"].into_iter().flat_map(|of| again(named, of));
        let both = ["u64", "i64"].into_iter().flat_map(|of| again(both, of));
        let single = single.iter().chain(OWN).chain(SHARED).map(|text| text.to_string());
        let double = DOUBLE.iter().map(|text| text.to_string());
        let again = SHARED.iter().map(|text| text.replace("f32", "f64").replace("u32", "u64"));
        let double = double.chain(again).filter(|_| !in_pairs);
        let narrow = [NARROW.to_string(), NARROW.replace("_narrow", "_wide")];
        named.chain(both).chain(single).chain(double).chain(narrow).collect()
    })
}

/// The blocks of a source. A block begins at the first column after a blank line, so functions may contain blank lines.
fn blocks(source: &'static str) -> impl Iterator<Item = &'static str> {
    let mut rest = source;
    std::iter::from_fn(move || {
        let ends = rest.match_indices("\n\n").map(|(i, _)| i);
        let mut at_margin = ends.filter(|&i| rest[i + 2..].starts_with(|c: char| !c.is_whitespace()));
        let (block, after) = match at_margin.next() {
            Some(end) => (&rest[..end], &rest[end + 2..]),
            None => (rest, ""),
        };
        rest = after;
        (!block.trim().is_empty()).then_some(block)
    })
}

/// A function, constant, struct or alias of the prelude.
#[derive(Debug)]
struct Item {
    /// Its text, with the comment above it.
    text: &'static str,
    /// Its place in the prelude, whose order kernels keep.
    order: usize,
}

/// Items by name.
type Items = BTreeMap<&'static str, Item>;

fn items(in_pairs: bool) -> &'static Items {
    static ITEMS: [OnceLock<Items>; 2] = [const { OnceLock::new() }; 2];
    let of = || named(sources(in_pairs).iter().flat_map(|source| blocks(source)));
    ITEMS[usize::from(in_pairs)].get_or_init(of)
}

/// The items that replace others on an adapter.
fn instead(faults: Faults) -> impl Fn(&str) -> Option<&'static Item> {
    static ITEMS: OnceLock<Items> = OnceLock::new();
    let items = ITEMS.get_or_init(|| named(blocks(BY_INSTRUCTIONS)));
    move |name| {
        let lacks = match name {
            "decode_f16" | "encode_f16" => faults.halves,
            "round_f16" => faults.half_rounding,
            "round_sum_bf16" => faults.nans,
            "residue_f32" | "div_nearest_f32" => faults.fma,
            "quotient_f32" | "quotient_f64" => faults.quotients,
            "root_f32" | "root_f64" => faults.roots,
            "times_f32" | "plus_f32" => faults.splits,
            "times_kept_f32" => faults.flushes,
            "whole_f64" | "down_f64" | "up_f64" | "inward_f64" => faults.fractions,
            // In integers the least normal float is kept.
            "fma_f32" => faults.fma || faults.flushes,
            _ => faults.longs,
        };
        items.get(name).filter(|_| !lacks)
    }
}

/// The blocks that declare an item.
fn named(all: impl Iterator<Item = &'static str>) -> Items {
    let named = all.enumerate().filter_map(|(order, text)| {
        let declaration = text.lines().find_map(|line| {
            let keywords = ["fn ", "const ", "struct ", "alias "];
            keywords.iter().find_map(|keyword| line.strip_prefix(keyword))
        })?;
        let end = declaration.find(|c: char| !is_word(c))?;
        Some((&declaration[..end], Item { text: text.trim_end(), order }))
    });
    named.collect()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The items that `body` uses, directly or not, in the order of the prelude.
pub(super) fn used_by(body: &str, faults: Faults) -> String {
    let instead = instead(faults);
    // An adapter that has f64 has 64-bit integers, by which f64 is computed.
    let items = items(if body.contains("f64") { faults.doubles } else { faults.longs });
    let mut wanted = BTreeMap::new();
    let mut open = vec![body];
    while let Some(text) = open.pop() {
        for word in text.split(|c| !is_word(c)) {
            if let Some(item) = items.get(word) {
                let text = instead(word).unwrap_or(item).text;
                if wanted.insert(item.order, text).is_none() {
                    open.push(text);
                }
            }
        }
    }
    wanted.values().map(|text| format!("{text}\n\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_called_and_what_that_calls() {
        let text = used_by("let v = sigmoid_f32(x);", Faults::default());
        assert!(text.contains("fn sigmoid_f32(") && text.contains("fn exp_f32("));
        assert!(!text.contains("fn log_f32("));
        assert_eq!(used_by("let v = x + y;", Faults::default()), "");
    }

    #[test]
    fn every_block_is_an_item() {
        for in_pairs in [false, true] {
            let declarations = sources(in_pairs)
                .iter()
                .flat_map(|source| blocks(source))
                .filter(|block| block.lines().any(|line| !line.is_empty() && !line.starts_with("//")));
            assert_eq!(items(in_pairs).len(), declarations.count());
        }
        let replaced: Vec<&str> = named(blocks(BY_INSTRUCTIONS)).into_keys().collect();
        assert!(
            replaced.len() == 20 && replaced.iter().all(|name| items(false).contains_key(name)),
            "{replaced:?}"
        );
    }
}
