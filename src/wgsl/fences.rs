//! Fences: where a value passes an exclusive or with a 0 that no compiler knows.
//!
//! Compilers of drivers rewrite arithmetic of floats as if it were algebra: `(a + b) - a` becomes `b`,
//! `x - x` becomes 0, `a * b + c` is contracted, `a > a + c` becomes `0 > c`. All such rules match
//! operations that read one another, or one value twice. So nothing is left to match if every operand of
//! arithmetic is one that the compiler knows nothing of, and no two operands of an operation are the
//! same to it. Loads and constants are such operands, as constants travel in the uniform block. Results
//! of arithmetic become so by a fence, once, where they are made. Results that meet in an operation have
//! fences of different numbers, since equal fences of what a compiler finds equal are equal again.

use std::collections::BTreeSet;

use super::types::compute;
use crate::dtype::{DType, Kind};
use crate::expr::{Math, Nature, Op, Step, Value};
use crate::plan::{Kernel, Operand, Origin, RowFolder};

/// Fences there are: by how far the unknown 0 is shifted.
const MOST: u32 = 32;

/// The fences of a kernel, each by its number.
pub(super) struct Fences {
    /// Of each value, the one that it passes where it is made.
    made: Vec<Option<u32>>,
    /// Of each operand, the first that has the same load.
    loads: Vec<Value>,
    /// What is looked up.
    lookups: Vec<Value>,
    /// Whether there are none.
    off: bool,
}

impl Fences {
    pub(super) fn new(kernel: &Kernel) -> Fences {
        let inputs = kernel.operands.len();
        let count = inputs + kernel.steps.len();
        let first = |i: usize| {
            let same = |&j: &usize| is_same_load(&kernel.operands[i], &kernel.operands[j]);
            (0..i).find(same).unwrap_or(i) as Value
        };
        let loads = (0..inputs).map(first).collect();
        let values = (inputs as Value..).zip(&kernel.steps);
        let lookups = values.filter(|(_, step)| step.op == Op::Lookup).map(|(value, _)| value).collect();
        let mut fences = Fences { made: vec![None; count], loads, lookups, off: kernel.math == Math::Fast };
        if fences.off {
            return fences;
        }
        // Which values a compiler could combine with the arithmetic that reads them.
        let mut open = vec![false; count];
        let mut read = vec![false; count];
        let arithmetic = || kernel.steps.iter().filter(|step| nature(step) == Nature::Arithmetic);
        arithmetic().flat_map(|step| &step.args).for_each(|&arg| read[arg as usize] = true);
        // What a fold adds or multiplies is read by that.
        if kernel.is_ordered() {
            kernel.results.iter().for_each(|&result| read[result as usize] = true);
        }
        let folds = kernel.rows.iter().flat_map(RowFolder::folds);
        folds
            .filter(|fold| fold.fold.is_ordered(fold.element))
            .for_each(|fold| read[fold.value as usize] = true);
        for (step, value) in kernel.steps.iter().zip(inputs..) {
            let from_open = step.args.first().is_some_and(|&arg| open[arg as usize]);
            open[value] = step.result.kind() == Kind::Float && !is_closed(step, from_open);
            if open[value] && read[value] {
                fences.made[value] = Some(0);
                open[value] = false;
            }
        }
        fences.number(arithmetic());
        fences
    }

    /// Gives the values that meet in a step different numbers, the lowest that are free.
    fn number<'a>(&mut self, steps: impl Iterator<Item = &'a Step>) {
        let mut neighbours = vec![Vec::new(); self.made.len()];
        for step in steps {
            let fenced = || step.args.iter().copied().filter(|&arg| self.made[arg as usize].is_some());
            for arg in fenced() {
                neighbours[arg as usize].extend(fenced().filter(|&other| other < arg));
            }
        }
        for (value, neighbours) in neighbours.iter().enumerate() {
            if self.made[value].is_some() {
                let taken =
                    |&number: &u32| neighbours.iter().any(|&other| self.made[other as usize] == Some(number));
                self.made[value] = Some((0..MOST).find(|number| !taken(number)).unwrap_or(0));
            }
        }
    }

    /// A value as it is made, behind its fence.
    pub(super) fn result(&self, value: Value, dtype: DType, text: String) -> String {
        match self.made[value as usize] {
            Some(number) => fenced(dtype, &text, number),
            None => text,
        }
    }

    /// An operand of a step, behind another fence where that needs one.
    pub(super) fn operand(&self, step: &Step, position: usize, name: String) -> String {
        match self.again(step, position) {
            Some(number) => fenced(step.dtype, &name, number),
            None => name,
        }
    }

    /// The fence of an operand of a step that a compiler may find equal to one before it.
    fn again(&self, step: &Step, position: usize) -> Option<u32> {
        // Of what is the same in both orders, a compiler can make nothing but what it is.
        let commutative = step.op.row().is_some_and(|row| row.commutative);
        if self.off || commutative || nature(step) != Nature::Arithmetic {
            return None;
        }
        let value = step.args[position];
        let same = step.args[..position].iter().any(|&before| self.may_be_same(before, value));
        same.then(|| (self.made[value as usize].unwrap_or(0) + position as u32) % MOST)
    }

    /// The lines that name what the fences of a kernel need.
    pub(super) fn zeros(&self, kernel: &Kernel) -> Vec<String> {
        let mut used = BTreeSet::new();
        for (value, step) in (self.loads.len()..).zip(&kernel.steps) {
            used.extend(self.made[value].map(|number| (is_wide(step.result), number)));
            let again = (0..step.args.len()).filter_map(|position| self.again(step, position));
            used.extend(again.map(|number| (is_wide(step.dtype), number)));
        }
        let line = |(wide, number): (bool, u32)| {
            let word = if number == 0 { "p.zero".to_string() } else { format!("p.zero << {number}u") };
            let name = zero(wide, number);
            if wide {
                format!("let {name} = vec4<u64>(u64({word}));")
            } else {
                format!("let {name} = vec4<u32>({word});")
            }
        };
        used.into_iter().map(line).collect()
    }

    /// Whether a compiler may find two values equal: one value, one load, or results without a fence.
    fn may_be_same(&self, a: Value, b: Value) -> bool {
        let closed = |value: Value| value as usize >= self.loads.len() && self.made[value as usize].is_none();
        let load = |value: Value| self.loads.get(value as usize).copied().unwrap_or(value);
        // What is looked up may be what is loaded.
        let looked_up = |value: Value| self.lookups.contains(&value);
        let loads = |a: Value, b: Value| looked_up(a) && (b as usize) < self.loads.len();
        load(a) == load(b) || (closed(a) && closed(b)) || loads(a, b) || loads(b, a)
    }
}

/// What a step does with floats.
fn nature(step: &Step) -> Nature {
    match step.op {
        // It is one of two values, and meets what that meets.
        Op::Select => Nature::Moves,
        op => op.row().and_then(|row| row.form(step.dtype)).map_or(Nature::Bits, |form| form.nature),
    }
}

/// Whether a float that a step makes is nothing that compilers rewrite further; `from_open` says
/// whether they may its first operand.
fn is_closed(step: &Step, from_open: bool) -> bool {
    let rounded_by_integers = matches!(step.result, DType::F16 | DType::BF16) && step.op != Op::Select;
    let bits = match step.op {
        // 0 and 1 are folded into products, and a float of the same type is the operand itself.
        Op::Cast => step.dtype != DType::Bool && !from_open,
        _ => nature(step) == Nature::Bits,
    };
    rounded_by_integers || bits
}

/// Whether two loads are the same text.
fn is_same_load(a: &Operand, b: &Operand) -> bool {
    a.origin == b.origin
        && a.origin != Origin::Scalar
        && (a.dtype, a.access, a.walks_as) == (b.dtype, b.access, b.walks_as)
}

fn is_wide(dtype: DType) -> bool {
    compute(dtype) == "f64"
}

/// The name of a 0 that no compiler knows.
fn zero(wide: bool, number: u32) -> String {
    let name = if wide { "wide_zero" } else { "zero" };
    if number == 0 { name.into() } else { format!("{name}{number}") }
}

fn fenced(dtype: DType, value: &str, number: u32) -> String {
    let (wide, compute) = (is_wide(dtype), compute(dtype));
    let word = if wide { "u64" } else { "u32" };
    format!("bitcast<vec4<{compute}>>(bitcast<vec4<{word}>>({value}) ^ {})", zero(wide, number))
}
