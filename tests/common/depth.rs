//! How deep tests go: `ZEROSTRIDE_TESTS` is `quick`, `each`, `once` or `all`.

use std::collections::HashSet;

#[derive(PartialEq)]
enum Depth {
    /// A part of the cases, each on the CPU path and one adapter in turn. Tests take turns too, but those of operations
    /// and rules.
    Quick,
    /// The same, but each test on every device: scripts/test --all.
    Each,
    /// Every case, on the CPU path and one adapter in turn: scripts/test --all.
    Once,
    /// Every case on every device.
    All,
}

fn read() -> Depth {
    match std::env::var("ZEROSTRIDE_TESTS").as_deref() {
        Ok("all") => Depth::All,
        Ok("once") => Depth::Once,
        Ok("each") => Depth::Each,
        Ok("quick" | "") | Err(_) => Depth::Quick,
        Ok(other) => panic!("ZEROSTRIDE_TESTS is {other}, and neither quick, each, once nor all"),
    }
}

/// The first of two if a part of the cases is run, the second if all are.
pub fn depth<T>(part: T, all: T) -> T {
    if matches!(read(), Depth::Quick | Depth::Each) { part } else { all }
}

/// Whether adapters take turns by the test: in a quick run, and as if they were GPUs, because many tests have kernels of
/// one form.
pub fn is_by_test() -> bool {
    is_as_gpu() || read() == Depth::Quick
}

/// Whether a case is run on a device, if several devices take turns.
pub fn in_turn(case: usize, device: usize, turns: usize) -> bool {
    read() == Depth::All || (case + device).is_multiple_of(turns)
}

/// Whether adapters are tested as if they were GPUs.
pub fn is_as_gpu() -> bool {
    std::env::var_os("ZEROSTRIDE_TUNING").is_some()
}

/// The lines of a corpus for one of several devices that take turns. A hash of the line decides.
pub fn share(text: &str, device: usize, turns: usize) -> impl Iterator<Item = &str> {
    text.lines().filter(move |line| in_turn((hash(line) % turns as u64) as usize, device, turns))
}

/// Whether a quick run takes a text. It takes one of several, and the text's hash decides, so every machine takes the
/// same texts wherever they stand.
pub fn one_of(number: u64, text: &str) -> bool {
    hash(text).is_multiple_of(depth(number, 1))
}

/// The lines of a corpus that a quick run takes: one of several, and the first of each kind.
pub fn thinned(number: u64, text: &str, kind: impl Fn(&str) -> String) -> impl Iterator<Item = &str> {
    let mut kinds = HashSet::new();
    text.lines().filter(move |line| kinds.insert(kind(line)) || one_of(number, line))
}

/// Fowler, Noll and Vo's (FNV-1a), which no version of Rust changes.
pub fn hash(text: &str) -> u64 {
    let next = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, next)
}
