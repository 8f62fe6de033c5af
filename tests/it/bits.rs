//! Every operation of floats has the same bits on every device: those that `tests/data/bits.txt` names by a hash. They are part
//! of the version. A change of a function's bits changes its lines there, and CHANGELOG names it.
//!
//! `scripts/check-functions` hashes all arguments of f32 and many of other types. `ZEROSTRIDE_BLESS=1` writes the file.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use crate::common::depth::{depth, one_of};
use crate::common::{Random, devices, listed};
use rayon::prelude::*;
use zerostride::{DType, Device, Element, Expr, Operation, Tensor, bf16, f16, operations};

/// Floats by their bits, up to what a device decides: subnormals are 0, and all NaN is one.
trait Float: Element {
    fn from_word(word: u64) -> Self;
    fn of(x: f64) -> Self;
    fn known(self) -> u64;
    /// The same, as an argument.
    fn flushed(self) -> Self;
}

macro_rules! floats {
    ($($t:ident $bits:ident $least:expr, |$x:ident| $of:expr;)*) => {$(
        impl Float for $t {
            fn from_word(word: u64) -> $t { $t::from_bits(word as $bits) }
            fn of($x: f64) -> $t { $of }
            fn known(self) -> u64 { if self.is_nan() { u64::MAX } else { self.flushed().to_bits().into() } }
            fn flushed(self) -> $t {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                const LEAST: $bits = $least;
                let bits = self.to_bits();
                if (bits & !SIGN).cmp(&LEAST).is_lt() { $t::from_bits(bits & SIGN) } else { self }
            }
        }
    )*};
}
floats! {
    f32 u32 0x80_0000, |x| x as f32;
    f64 u64 0x10_0000_0000_0000, |x| x;
    // Computed in f32, where all of f16 is normal.
    f16 u16 0, |x| f16::from_f64(x);
    bf16 u16 0x80, |x| bf16::from_f64(x);
}

/// Elements that are hashed one after another.
const CHUNK: usize = 1 << 16;

/// FNV-1a of words.
fn hash(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3))
}

/// Where functions and their types end, and where they change their methods.
const EDGES: [f64; 24] = [
    0.0,
    0.25,
    0.35,
    0.414_213_56,
    0.4375,
    0.5,
    0.625,
    std::f64::consts::FRAC_1_SQRT_2,
    0.843_75,
    1.0,
    1.25,
    2.0,
    2.414_213_6,
    6.0,
    10.0,
    87.336_54,
    88.722_84,
    103.972_08,
    709.782_7,
    745.133_2,
    6000.0,
    1e6,
    3.4e38,
    f64::INFINITY,
];

/// An argument: a neighbour of an edge, any bits, or a number from -10 to 10.
fn argument<T: Float>(place: u64) -> T {
    let word = Random(place.wrapping_mul(0x9e37_79b9_7f4a_7c15)).next();
    let x = match word % 16 {
        0 => {
            let edge = T::of(EDGES[(word >> 8) as usize % EDGES.len()]).known();
            let sign = (word >> 20 & 1) << (T::DTYPE.size() * 8 - 1);
            T::from_word(edge.wrapping_add(word >> 32 & 15).wrapping_sub(7) | sign)
        }
        1..8 => T::from_word(word >> 4 ^ word << 60),
        _ => T::of(word as f64 / 2.0_f64.powi(64) * 20.0 - 10.0),
    };
    x.flushed()
}

/// How an operation's arguments are made from their places.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Of {
    Sample,
    /// Every value in turn.
    Values,
}

/// Of an operation of floats: 16 bits have no more values than a chunk.
fn sample<T: Float>(op: &Operation) -> Of {
    if op.arity == 1 && T::DTYPE.size() == 2 { Of::Values } else { Of::Sample }
}

/// The operand with a number, for some chunks.
fn operand<T: Float>(device: &Device, of: Of, number: u64, chunks: Range<u64>) -> Tensor<T> {
    let places = (chunks.start * CHUNK as u64..chunks.end * CHUNK as u64).into_par_iter();
    let own = |place| match of {
        Of::Values => T::from_word(place).flushed(),
        Of::Sample => argument(place * 4 + number),
    };
    let list: Vec<T> = places.map(own).collect();
    device.upload(&list, [list.len()]).unwrap()
}

/// The hashes of an operation's results, one for each chunk.
fn hashes<T: Float>(op: &Operation, operands: Vec<Tensor<T>>) -> Vec<u64> {
    let operands: Vec<Expr<T>> = operands.iter().map(Tensor::expr).collect();
    let results = Expr::<T>::call(op.name, &operands).to_vec().unwrap();
    results.par_chunks(CHUNK).map(|chunk| hash(chunk.iter().map(|x| x.known()))).collect()
}

/// The hash of an operation's results in a sample of so many chunks, whose operands are kept for the next operation.
fn hashed_sample<T: Float>(op: &Operation, device: &Device, kept: &mut Kept<T>, chunks: u64) -> u64 {
    let of = sample::<T>(op);
    let own = |number| {
        kept.entry((of, number, chunks)).or_insert_with(|| operand(device, of, number, 0..chunks)).clone()
    };
    hash(hashes(op, (0..op.arity as u64).map(own).collect()).into_iter())
}

/// The operands of a device's samples: how they are made, their number, and their chunks.
type Kept<T> = HashMap<(Of, u64, u64), Tensor<T>>;

/// The hash of an operation's results in so many chunks, of which sixteen are computed at once.
fn hashed<T: Float>(op: &Operation, device: &Device, chunks: u64) -> u64 {
    let of = if op.arity == 1 && T::DTYPE == DType::F32 { Of::Values } else { sample::<T>(op) };
    hash((0..chunks).step_by(16).flat_map(|first| {
        let own = |number| operand(device, of, number, first..chunks.min(first + 16));
        hashes::<T>(op, (0..op.arity as u64).map(own).collect())
    }))
}

/// A type, and how all arguments of an operation are hashed.
type Hashed = (DType, fn(&Operation, &Device, u64) -> u64);

const TYPES: [Hashed; 4] = [
    (DType::F32, hashed::<f32>),
    (DType::F64, hashed::<f64>),
    (DType::F16, hashed::<f16>),
    (DType::BF16, hashed::<bf16>),
];

/// The chunks of all arguments: of f32 with one operand each, and else as many as a night has time for.
fn all(op: &Operation, dtype: DType) -> u64 {
    let elements: u64 = match dtype {
        DType::F32 if op.arity == 1 => 1 << 32,
        DType::F32 => 1 << 30,
        DType::F64 => 1 << 28,
        _ if op.arity == 1 => 1 << 16,
        _ => 1 << 24,
    };
    elements / CHUNK as u64
}

/// The hashes of a line: of a chunk, of sixteen, and of all arguments.
type Line = [Option<u64>; 3];

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/bits.txt")
}

fn known() -> BTreeMap<String, Line> {
    let text = std::fs::read_to_string(file()).unwrap_or_default();
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let hashes = [2, 3, 4].map(|i| u64::from_str_radix(words[i], 16).ok());
        (format!("{} {}", words[0], words[1]), hashes)
    };
    text.lines().map(line).collect()
}

fn write(lines: &BTreeMap<String, Line>) {
    let mut text = String::new();
    for (name, hashes) in lines {
        let hashes = hashes.map(|hash| hash.map_or("-".repeat(16), |hash| format!("{hash:016x}")));
        writeln!(text, "{name} {}", hashes.join(" ")).unwrap();
    }
    std::fs::write(file(), text).unwrap();
}

fn is_blessed() -> bool {
    std::env::var_os("ZEROSTRIDE_BLESS").is_some()
}

/// Operations from floats of a type to the same type.
fn of_floats(dtype: DType) -> impl Iterator<Item = Operation> {
    operations().filter(move |op| op.result(dtype) == Some(dtype))
}

/// Compares the operations of a type with their lines, or writes these. Returns which differ.
fn compare<T: Float>(lines: &mut BTreeMap<String, Line>) -> Vec<String> {
    let mut wrong = Vec::new();
    let dtype = T::DTYPE;
    for (i, device) in devices().iter().enumerate() {
        if dtype == DType::F64 && device.supports(dtype).is_err() {
            continue;
        }
        let mut kept = Kept::new();
        for op in of_floats(dtype) {
            let name = format!("{} {dtype}", op.name);
            // A line has two hashes of samples. The second is for functions, but not in a quick run.
            let column = if op.ulp(dtype) > 0 { depth(0, 1) } else { 0 };
            let mut own = |column| Some(hashed_sample::<T>(&op, device, &mut kept, [1, 16][column]));
            if i == 0 && is_blessed() {
                let new = [own(0), own(1)];
                let old = lines.entry(name.clone()).or_default();
                let all = old[2].filter(|_| old[..2] == new);
                *old = [new[0], new[1], all];
            }
            // 16 bits are computed as f32.
            if dtype.size() == 2 && !one_of(4, &name) {
                continue;
            }
            let Some(expected) = lines.get(&name) else { panic!("tests/data/bits.txt has no {name}") };
            if own(column) != expected[column] {
                wrong.push(format!("{name} has other bits on {}", device.name()));
            }
        }
    }
    wrong
}

#[test]
fn operations_have_the_bits_of_the_version() {
    let mut lines = known();
    let compare = [compare::<f32>, compare::<f64>, compare::<f16>, compare::<bf16>];
    let wrong: Vec<String> = compare.iter().flat_map(|compare| compare(&mut lines)).collect();
    if is_blessed() {
        write(&lines);
    }
    assert!(wrong.is_empty(), "{}\nsee CONTRIBUTING, \"Bits\"", wrong.join("\n"));
}

/// `ZEROSTRIDE_DEVICES` names devices, separated by commas, and `ZEROSTRIDE_OPS` operations; without them it takes the CPU path
/// and all functions.
#[test]
#[ignore = "takes hours: scripts/check-functions"]
fn all_arguments() {
    let names = listed("ZEROSTRIDE_DEVICES").unwrap_or(vec!["cpu".into()]);
    let devices: Vec<Device> = names.iter().map(|name| Device::named(name).unwrap()).collect();
    let wanted = listed("ZEROSTRIDE_OPS");
    let mut lines = known();
    let mut wrong = Vec::new();
    for (dtype, hashed) in TYPES {
        for op in of_floats(dtype).filter(|op| op.ulp(dtype) > 0) {
            let name = format!("{} {dtype}", op.name);
            if wanted.as_ref().is_some_and(|wanted| !wanted.iter().any(|own| own == op.name)) {
                continue;
            }
            for device in devices.iter().filter(|own| dtype != DType::F64 || own.supports(dtype).is_ok()) {
                let start = Instant::now();
                let got = hashed(&op, device, all(&op, dtype));
                eprintln!("{name} {got:016x} {} {:.0} s", device.name(), start.elapsed().as_secs_f64());
                let own = lines.get_mut(&name).unwrap();
                if is_blessed() && own[2].is_none() {
                    own[2] = Some(got);
                    write(&lines);
                } else if own[2] != Some(got) {
                    wrong.push(format!("{name} has other bits on {}", device.name()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
