//! Random expressions over the operands of identities.

use zerostride::DType;

use crate::common::Random;
use crate::common::recipe::{Kind, Recipe};
use crate::common::value::Value;

/// Operands of trees.
pub(crate) const OPERANDS: usize = 4;
pub(crate) const ELEMENTS: usize = 1024;

pub(crate) fn operands(of: DType) -> [Recipe; OPERANDS] {
    [0, 1, 2, 3].map(|i| Recipe::new(of, vec![ELEMENTS], Kind::Leaf(i), Vec::new()))
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
    &["add", "sub", "mul", "div", "add", "sub", "mul", "minimum", "maximum", "fmin", "fmax", "copysign"];
const COMPARISONS: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];

/// A random recipe of about `ops` operations, with nodes that are used again on purpose.
fn random_recipe(of: DType, random: &mut Random, ops: usize, known: &mut Vec<Recipe>) -> Recipe {
    if ops == 0 {
        let constant = [0.0, 1.0, -1.0, 2.0, 0.5, 3.0, f64::INFINITY][random.below(7)];
        return match random.chance(10) {
            true => Recipe::constant(Value::Float(constant), of),
            false => operands(of)[random.below(OPERANDS)].clone(),
        };
    }
    if !known.is_empty() && random.chance(25) {
        return known[random.below(known.len())].clone();
    }
    let left = random.below(ops);
    let right = ops - 1 - left;
    let recipe = match random.below(10) {
        0 | 1 => random_recipe(of, random, ops - 1, known).of1(UNARY[random.below(UNARY.len())]),
        2 => {
            let truth = random_truth(of, random, left, known);
            let a = random_recipe(of, random, right / 2, known);
            truth.select(&a, random_recipe(of, random, right - right / 2, known))
        }
        3 if random.chance(50) => random_truth(of, random, ops - 1, known).cast(of),
        3 if random.chance(30) => random_recipe(of, random, ops - 1, known).cast(DType::I32).cast(of),
        _ => {
            let name = BINARY[random.below(BINARY.len())];
            let a = random_recipe(of, random, left, known);
            a.of2(name, random_recipe(of, random, right, known))
        }
    };
    known.push(recipe.clone());
    recipe
}

fn random_truth(of: DType, random: &mut Random, ops: usize, known: &mut Vec<Recipe>) -> Recipe {
    let left = ops / 2;
    let a = random_recipe(of, random, left, known);
    let b = random_recipe(of, random, ops - left, known);
    let compared = a.of2(COMPARISONS[random.below(COMPARISONS.len())], b);
    if random.chance(20) { compared.of1("not") } else { compared }
}

pub(crate) fn random_recipes(of: DType, seed: u64, count: usize) -> Vec<Recipe> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| {
            let ops = 3 + random.below(14);
            random_recipe(of, &mut random, ops, &mut Vec::new())
        })
        .collect()
}
