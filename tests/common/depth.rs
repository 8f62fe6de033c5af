//! How deep tests go: `ZEROSTRIDE_TESTS` is `quick`, `each` or `all`.

use std::cell::Cell;
use std::collections::HashSet;

#[derive(PartialEq)]
enum Depth {
    /// A part of the cases, each on the CPU path and one adapter in turn. Tests take turns too, but those of operations
    /// and rules.
    Quick,
    /// Each test on every device, and every case on the CPU path and one adapter in turn: scripts/test --all. GL takes turns
    /// by the test, but those of operations and rules.
    Each,
    /// Every case on every device.
    All,
}

fn read() -> Depth {
    match std::env::var("ZEROSTRIDE_TESTS").as_deref() {
        Ok("all") => Depth::All,
        Ok("each") => Depth::Each,
        Ok("quick" | "") | Err(_) => Depth::Quick,
        Ok(other) => panic!("ZEROSTRIDE_TESTS is {other}, and neither quick, each nor all"),
    }
}

thread_local! {
    /// Whether a test runs on a device that is not its turn.
    static IS_BESIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs a test on a device. Unless it is the device's turn, it goes through a part of its cases.
pub fn on_device(is_its_turn: bool, test: impl FnOnce()) {
    IS_BESIDE.set(!is_its_turn && read() != Depth::All);
    test();
    IS_BESIDE.set(false);
}

/// The first of two if a part of the cases is run, the second if all are.
pub fn depth<T>(part: T, all: T) -> T {
    if read() == Depth::Quick || IS_BESIDE.get() { part } else { all }
}

/// Whether adapters take turns by the test: in a quick run.
pub fn is_by_test() -> bool {
    read() == Depth::Quick
}

/// Whether a case is run on a device, if several devices take turns.
pub fn in_turn(case: usize, device: usize, turns: usize) -> bool {
    read() == Depth::All || (case + device).is_multiple_of(turns)
}

/// The lines of a corpus for one of several devices that take turns, and the first of each kind. A hash of the line
/// decides.
pub fn share(
    text: &str,
    device: usize,
    turns: usize,
    kind: impl Fn(&str) -> String,
) -> impl Iterator<Item = &str> {
    let mut kinds = HashSet::new();
    let is_own = move |line: &str| in_turn((hash(line) % turns as u64) as usize, device, turns);
    text.lines().filter(move |line| kinds.insert(kind(line)) || is_own(line))
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
