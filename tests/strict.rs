//! Fused arithmetic gives the bits of one operation at a time, on every adapter: no compiler of a driver
//! rewrites it, as `(a + b) - a` to `b` or `x - x` to 0.

mod common;
#[path = "strict/identities.rs"]
mod identities;
#[path = "strict/tree.rs"]
mod tree;

use common::{Random, check_kernels, devices};
use identities::identities;
use tree::{Evaluation, Strict, Tree, Truth, fused};
use zerostride::{Device, Expr, bf16, f16};

/// Operands of trees.
const OPERANDS: usize = 4;
const ELEMENTS: usize = 1024;

/// Floats of the type's whole range, of a range in which sums lose digits but little overflows, and
/// special ones.
fn draw<T: Strict>(random: &mut Random) -> T {
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.5, 3.0, 65504.0];
    let exponent = |range: usize, random: &mut Random| random.below(2 * range + 1) as i32 - range as i32;
    loop {
        let fraction = 1.0
            + random.below(1 << 24) as f64 / f64::from(1 << 24)
            + random.below(1 << 20) as f64 / 2_f64.powi(50);
        let power = match random.below(10) {
            0 => return T::of(special[random.below(special.len())]),
            1 => exponent(140, random),
            2 => exponent(2, random),
            _ => exponent(30, random),
        };
        let x = T::of(if random.chance(50) { fraction } else { -fraction } * 2_f64.powi(power));
        // Subnormal operands may be flushed.
        if x.value() == 0.0 || x.value().abs() >= T::LEAST {
            return x;
        }
    }
}

fn data<T: Strict>(seed: u64) -> Vec<Vec<T>> {
    let mut random = Random(seed);
    (0..OPERANDS).map(|_| (0..ELEMENTS).map(|_| draw(&mut random)).collect()).collect()
}

/// Whether a device computes with a type.
fn has<T: Strict>(device: &Device) -> bool {
    match device.upload(&[T::of(1.0)], [1]) {
        Ok(_) => true,
        Err(error) if error.message().contains("needs the feature") => false,
        Err(error) => panic!("{error}"),
    }
}

/// Compares trees on every device with their values by one operation at a time.
fn check<T: Strict>(trees: &[Tree], seed: u64) {
    let data = data::<T>(seed);
    let expected: Vec<Vec<Option<f64>>> = trees
        .iter()
        .map(|tree| {
            let element = |i: usize| {
                let operands: Vec<f64> = data.iter().map(|operand| operand[i].value()).collect();
                let mut evaluation = Evaluation { operands: &operands, open: false };
                let value = evaluation.tree::<T>(tree);
                (!evaluation.open).then_some(value)
            };
            (0..ELEMENTS).map(element).collect()
        })
        .collect();
    let closed: usize = expected.iter().flatten().flatten().count();
    assert!(closed * 2 > trees.len() * ELEMENTS, "most elements are open: {closed}");
    for device in devices().iter().filter(|device| has::<T>(device)) {
        let upload = |values: &Vec<T>| device.upload(values, [ELEMENTS]).unwrap().expr();
        let operands: Vec<Expr<T>> = data.iter().map(upload).collect();
        let mut wrong = Vec::new();
        for (tree, expected) in trees.iter().zip(&expected) {
            let got = fused(tree, &operands).broadcast_to([ELEMENTS]).to_vec_on(device).unwrap();
            let differs = |i: &usize| {
                let Some(expected) = expected[*i] else { return false };
                let got = got[*i].value();
                got.to_bits() != expected.to_bits() && !(got.is_nan() && expected.is_nan())
            };
            let all: Vec<usize> = (0..ELEMENTS).filter(differs).collect();
            if let Some(&i) = all.first() {
                let operands: Vec<f64> = data.iter().map(|operand| operand[i].value()).collect();
                let (got, expected) = (got[i], expected[i]);
                let count = all.len();
                wrong.push(format!("{tree:?}: {count} differ, of {operands:?} {got:?} and not {expected:?}"));
            }
        }
        let (dtype, count) = (T::DTYPE, wrong.len());
        assert!(
            wrong.is_empty(),
            "{count} of {} trees of {dtype} on {}: {wrong:#?}",
            trees.len(),
            device.name()
        );
        // Writing them takes longer than running them.
        if seed == 1 {
            check_kernels(device);
        }
    }
}

#[test]
fn identities_are_not_folded_f32() {
    check::<f32>(&identities(), 1);
}

#[test]
fn identities_are_not_folded_f64() {
    check::<f64>(&identities(), 2);
}

#[test]
fn identities_are_not_folded_f16() {
    check::<f16>(&identities(), 3);
}

#[test]
fn identities_are_not_folded_bf16() {
    check::<bf16>(&identities(), 4);
}

const UNARY: &[&str] = &[
    "neg",
    "abs",
    "square",
    "sqrt",
    "reciprocal",
    "floor",
    "ceil",
    "trunc",
    "round",
    "fract",
    "relu",
    "sign",
    "positive",
];
const BINARY: &[&str] =
    &["add", "sub", "mul", "div", "add", "sub", "mul", "min", "max", "fmin", "fmax", "copysign"];
const COMPARISONS: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];

/// A random tree of about `ops` operations, with equal subtrees on purpose.
fn random_tree(random: &mut Random, ops: usize, known: &mut Vec<Tree>) -> Tree {
    if ops == 0 {
        return match random.chance(10) {
            true => Tree::Constant([0.0, 1.0, -1.0, 2.0, 0.5, 3.0, f64::INFINITY][random.below(7)]),
            false => Tree::Operand(random.below(OPERANDS)),
        };
    }
    if !known.is_empty() && random.chance(25) {
        return known[random.below(known.len())].clone();
    }
    let left = random.below(ops);
    let right = ops - 1 - left;
    let tree = match random.below(10) {
        0 | 1 => Tree::Call(UNARY[random.below(UNARY.len())], vec![random_tree(random, ops - 1, known)]),
        2 => {
            let truth = random_truth(random, left, known);
            let a = random_tree(random, right / 2, known);
            let b = random_tree(random, right - right / 2, known);
            Tree::Select(Box::new(truth), Box::new([a, b]))
        }
        3 if random.chance(50) => Tree::Cast(Box::new(random_truth(random, ops - 1, known))),
        3 if random.chance(30) => Tree::Whole(Box::new(random_tree(random, ops - 1, known))),
        _ => {
            let name = BINARY[random.below(BINARY.len())];
            let (a, b) = (random_tree(random, left, known), random_tree(random, right, known));
            Tree::Call(name, vec![a, b])
        }
    };
    known.push(tree.clone());
    tree
}

fn random_truth(random: &mut Random, ops: usize, known: &mut Vec<Tree>) -> Truth {
    let left = ops / 2;
    let args = vec![random_tree(random, left, known), random_tree(random, ops - left, known)];
    let compared = Truth::Compare(COMPARISONS[random.below(COMPARISONS.len())], args);
    if random.chance(20) { Truth::Not(Box::new(compared)) } else { compared }
}

fn random_trees(seed: u64, count: usize) -> Vec<Tree> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| {
            let ops = 3 + random.below(14);
            random_tree(&mut random, ops, &mut Vec::new())
        })
        .collect()
}

/// Trees of a type, from a seed; `ZEROSTRIDE_STRICT=seed,count` draws others.
fn check_random<T: Strict>(seed: u64, count: usize) {
    let chosen = std::env::var("ZEROSTRIDE_STRICT").ok();
    let chosen = chosen.as_deref().and_then(|text| text.split_once(','));
    let (seed, count) =
        chosen.map_or((seed, count), |(seed, count)| (seed.parse().unwrap(), count.parse().unwrap()));
    check::<T>(&random_trees(seed, count), seed);
}

#[test]
fn random_trees_f32() {
    check_random::<f32>(11, 200);
}

#[test]
fn random_trees_f64() {
    check_random::<f64>(12, 100);
}

#[test]
fn random_trees_f16() {
    check_random::<f16>(13, 60);
}

#[test]
fn random_trees_bf16() {
    check_random::<bf16>(14, 60);
}
