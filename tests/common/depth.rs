//! The depth of tests: a quick run takes a part of the random cases.

use std::collections::HashSet;

/// The first of two, or the second where `ZEROSTRIDE_TESTS` is `all`, as scripts/test --all sets it.
pub fn depth<T>(quick: T, all: T) -> T {
    match std::env::var("ZEROSTRIDE_TESTS").as_deref() {
        Ok("all") => all,
        Ok("quick" | "") | Err(_) => quick,
        Ok(other) => panic!("ZEROSTRIDE_TESTS is {other}, and neither quick nor all"),
    }
}

/// Whether a case is run on a device: in a quick run each case is run on one of so many in turn.
pub fn in_turn(case: usize, device: usize, turns: usize) -> bool {
    (case + device).is_multiple_of(depth(turns, 1))
}

/// Whether a text is one that a quick run takes, one of so many. Its hash decides, so each machine takes the same,
/// whatever stands before it.
pub fn one_of(number: u64, text: &str) -> bool {
    hash(text).is_multiple_of(depth(number, 1))
}

/// The lines that a quick run takes of a corpus: one of so many, and the first of each kind.
pub fn thinned(number: u64, text: &str, kind: impl Fn(&str) -> String) -> impl Iterator<Item = &str> {
    let mut kinds = HashSet::new();
    text.lines().filter(move |line| kinds.insert(kind(line)) || one_of(number, line))
}

/// Fowler, Noll and Vo's (FNV-1a), which no version of Rust changes.
fn hash(text: &str) -> u64 {
    let next = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, next)
}
