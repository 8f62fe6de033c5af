//! Smaller cases that still differ: without some steps and results, with nodes replaced by their operands or by a
//! constant.

use std::collections::HashMap;

use zerostride::DType;

use super::case::{Case, Step};
use super::recipe::{Node, Recipe, View};
use super::value::{Value, is_float};

/// Takes smaller cases as long as `fails` says so, with a limit of tries.
pub fn shrink(mut case: Case, tries: usize, fails: impl Fn(&Case) -> bool) -> Case {
    let mut left = tries;
    'smaller: loop {
        for candidate in smaller(&case) {
            if left == 0 {
                return case;
            }
            left -= 1;
            if candidate.is_built() && fails(&candidate) {
                case = candidate;
                continue 'smaller;
            }
        }
        return case;
    }
}

fn smaller(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let with = |i: usize, steps: &[Step]| {
        let mut case = case.clone();
        case.steps.splice(i..=i, steps.iter().cloned());
        case
    };
    if case.steps.len() > 1 {
        all.extend((0..case.steps.len()).map(|i| with(i, &[])));
    }
    for (i, step) in case.steps.iter().enumerate() {
        match step {
            Step::Eval(roots) if roots.len() > 1 => {
                for k in 0..roots.len() {
                    let mut fewer = roots.clone();
                    fewer.remove(k);
                    all.push(with(i, &[Step::Eval(fewer)]));
                }
                for k in 0..roots.len() {
                    for root in simpler(&roots[k]) {
                        let mut roots = roots.clone();
                        roots[k] = root;
                        all.push(with(i, &[Step::Eval(roots)]));
                    }
                }
            }
            Step::Eval(roots) => {
                // Its operands, the smallest first.
                let parts = roots[0].nodes();
                let own = parts.len() - 1;
                all.extend(parts.into_iter().take(own).map(|part| with(i, &[Step::Eval(vec![part])])));
                all.extend(simpler(&roots[0]).map(|root| with(i, &[Step::Eval(vec![root])])));
            }
            Step::Assign(pairs) => {
                if pairs.len() > 1 {
                    for k in 0..pairs.len() {
                        let mut fewer = pairs.clone();
                        fewer.remove(k);
                        all.push(with(i, &[Step::Assign(fewer)]));
                    }
                }
                for k in 0..pairs.len() {
                    for value in simpler(&pairs[k].2) {
                        let mut pairs = pairs.clone();
                        pairs[k].2 = value;
                        all.push(with(i, &[Step::Assign(pairs)]));
                    }
                }
            }
        }
    }
    all
}

/// The recipe with one node replaced. Nodes near the root come first.
fn simpler(root: &Recipe) -> impl Iterator<Item = Recipe> {
    let nodes = root.nodes();
    nodes.into_iter().rev().flat_map(move |node| {
        let parts = node.nodes();
        let own = parts.len() - 1;
        let like = |part: &Recipe| part.dtype == node.dtype && part.shape == node.shape;
        let mut all: Vec<Recipe> = parts.iter().take(own).filter(|part| like(part)).cloned().collect();
        if own > 0 {
            let zero = Recipe::constant(zero(node.dtype), node.dtype);
            all.push(zero.view(View::Broadcast(node.shape.clone())));
        }
        let root = root.clone();
        all.into_iter().map(move |other| replaced(&root, &node, &other, &mut HashMap::new()))
    })
}

fn zero(of: DType) -> Value {
    match of {
        DType::Bool => Value::Bool(false),
        _ if is_float(of) => Value::Float(0.0),
        _ => Value::Int(0),
    }
}

/// The graph with a node replaced by one of its type and shape. Parts without the node stay shared.
fn replaced(recipe: &Recipe, from: &Recipe, to: &Recipe, known: &mut HashMap<*const Node, Recipe>) -> Recipe {
    if recipe.id() == from.id() {
        return to.clone();
    }
    if let Some(known) = known.get(&recipe.id()) {
        return known.clone();
    }
    let args: Vec<Recipe> = recipe.args.iter().map(|arg| replaced(arg, from, to, known)).collect();
    let same = args.iter().zip(&recipe.args).all(|(new, old)| new.id() == old.id());
    let new = match same {
        true => recipe.clone(),
        false => Recipe::new(recipe.dtype, recipe.shape.clone(), recipe.kind.clone(), args),
    };
    known.insert(recipe.id(), new.clone());
    new
}
