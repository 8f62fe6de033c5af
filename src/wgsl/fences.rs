//! Fences (`llvm.arithmetic.fence` in LLVM): an exclusive or of a value with a 0 that no compiler knows.
//!
//! Compilers of drivers rewrite arithmetic of floats as if it were algebra: `(a + b) - a` becomes `b`, `x - x` becomes
//! 0, `a * b + c` is contracted, `a > a + c` becomes `0 > c`. These rules match operations that read one another, or read
//! one value twice. So no rule matches if the compiler knows nothing of the operands of arithmetic, and no two operands of an
//! operation look equal to it. It knows nothing of loads, nor of constants, which travel in the uniform block. It knows
//! nothing of a result of arithmetic behind a fence, which stands once, where the result is made.
//!
//! A cast of computed integers is fenced too, since a compiler finds that `i - i` is 0. So is a cast whose reader asks for a
//! fraction, since whole numbers have none. Results that meet in an operation have fences of different numbers, since
//! equal fences of equal values are equal.
//!
//! Operations on bits read a result as arithmetic does. Metal's compiler assumes that there is no NaN and no infinity, so
//! a sum's exponent is not the highest, and it folds `is_inf(x + y)` to false.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::types::compute;
use crate::dtype::{DType, Kind};
use crate::ir::{ByValue, Loop, Math, Nature, Op, Step, Value, is_costly, numbered};
use crate::plan::{Kernel, Operand, Origin};

/// The number of fences, which differ by how far the unknown 0 is shifted.
const MOST: u32 = 32;

/// The fences of a kernel's steps, or of a loop's, by number.
pub(super) struct Fences {
    /// The type of each value.
    types: ByValue<DType>,
    /// For each value, the fence that it passes where it is made.
    made: ByValue<Option<u32>>,
    /// For each operand, the first one with the same load.
    loads: Vec<Value>,
    /// Whether each is looked up.
    lookups: Vec<Value>,
    /// Whether there are no fences.
    off: bool,
}

impl Fences {
    pub(super) fn new(kernel: &Kernel) -> Fences {
        let first = |i: usize| {
            let same = |&j: &usize| is_same_load(&kernel.code.operands[i], &kernel.code.operands[j]);
            Value::Input((0..i).find(same).unwrap_or(i) as u32)
        };
        let types = kernel.code.operands.iter().map(|operand| operand.dtype);
        // A reduction reads its values: numbers by arithmetic, or ranks by bits.
        let read = kernel.form.read(&kernel.code.results);
        let loads = (0..kernel.code.operands.len()).map(first).collect();
        Fences::of(types, loads, &kernel.code.steps, &read, kernel, false).numbered(&kernel.code.steps, false)
    }

    /// The fences of an iteration. A state may equal any other incoming value, as a compiler may find out, and the
    /// arithmetic of the next iteration reads the next states.
    pub(super) fn of_turn(own: &Loop, kernel: &Kernel) -> Fences {
        let loads = vec![Value::Input(0); own.args.len()];
        Fences::of(own.args.iter().copied(), loads, &own.steps, &own.next, kernel, true)
            .numbered(&own.steps, true)
    }

    /// The fences of some steps over values of some types. `loads` has the first operand with the same load for each.
    /// `also` are values that something else than a step reads as arithmetic does.
    fn of(
        types: impl Iterator<Item = DType>,
        loads: Vec<Value>,
        steps: &[Step],
        also: &[Value],
        kernel: &Kernel,
        is_turn: bool,
    ) -> Fences {
        // A compiler may compute in the adapter's own f16, and reorder it.
        let by_type = !kernel.faults.half_rounding;
        // What f64 does as pairs of words is no arithmetic.
        let seen = |dtype: DType| match dtype {
            DType::F64 if kernel.faults.doubles => DType::U64,
            dtype => dtype,
        };
        let types = ByValue::of(types.map(seen), steps, |step, _| seen(step.result));
        let lookups = numbered(steps).filter(|(_, step)| step.op == Op::Lookup).map(|(value, _)| value);
        let (made, lookups) = (types.map(|_, _| None), lookups.collect());
        let mut fences = Fences { types, made, loads, lookups, off: kernel.math == Math::Fast };
        if fences.off {
            return fences;
        }
        // Values that a compiler could combine with the arithmetic that reads them. Incoming values are loads, except
        // for integer states, which have no fence, so a compiler may know their values.
        let is_known = |value: Value| matches!(value, Value::Input(_)) && is_turn;
        let mut open = fences.types.map(|value, of| is_known(value) && of.kind() != Kind::Float);
        let [mut read, mut whole, mut asked] = [(); 3].map(|()| fences.types.map(|_, _| false));
        let readers = || steps.iter().filter(|step| step.nature() != Nature::Moves);
        readers().flat_map(|step| &step.args).chain(also).for_each(|&arg| read[arg] = true);
        // Values whose reader asks for a fraction, which whole numbers lack.
        readers()
            .filter(|step| step.nature() == Nature::Arithmetic && asks_for_fraction(step))
            .flat_map(|step| &step.args)
            .for_each(|&arg| asked[arg] = true);
        for (value, step) in numbered(steps) {
            let of_first = |known: &ByValue<bool>| step.args.first().is_some_and(|&arg| known[arg]);
            open[value] = !is_closed(step, of_first(&open), by_type);
            whole[value] = step.op == Op::Cast && (step.dtype.kind() != Kind::Float || of_first(&whole));
            let is_read = read[value] && open[value] || asked[value] && whole[value];
            if is_read && fences.types[value].kind() == Kind::Float {
                fences.made[value] = Some(0);
                (open[value], whole[value]) = (false, false);
            }
        }
        fences
    }

    /// Numbers the fences, so that values that meet in a step have different ones. It takes the lowest free number, so
    /// that few fences occupy registers. A step that may return an operand unchanged gets a number of the upper half,
    /// different from its operand's: two equal fences in sequence cancel. `incoming` values may be behind a fence, as
    /// those of an iteration are.
    fn numbered(mut self, steps: &[Step], incoming: bool) -> Fences {
        let mut neighbours = self.made.map(|_, _| Vec::new());
        let mut first = self.made.map(|_, _| 0);
        // Whether only such steps lie between a value and a fence.
        let mut behind_fence = self.made.map(|_, _| incoming);
        for (value, step) in numbered(steps) {
            let fenced = |step: &Step| {
                let made = step.args.iter().copied().filter(|&arg| self.made[arg].is_some());
                made.collect::<SmallVec<[Value; 3]>>()
            };
            let args = fenced(step);
            if step.nature() != Nature::Moves {
                for &arg in &args {
                    neighbours[arg].extend(args.iter().copied().filter(|&other| other < arg));
                }
            }
            let behind = match (step.nature(), step.op) {
                (_, Op::Call | Op::Repeat | Op::State) => true,
                (Nature::Arithmetic, _) => false,
                _ => step.args.iter().any(|&arg| behind_fence[arg]),
            };
            behind_fence[value] = behind || self.made[value].is_some();
            if step.nature() == Nature::Moves && behind || step.op == Op::Call {
                first[value] = MOST / 2;
                neighbours[value].extend(&args);
                // The initial states of a loop.
                let own = step.args.first().and_then(|arg| arg.step());
                if let Some(own) = own.filter(|_| step.op == Op::State) {
                    neighbours[value].extend(fenced(&steps[own]));
                }
            }
        }
        for (value, _) in numbered(steps) {
            if self.made[value].is_some() {
                let taken =
                    |&number: &u32| neighbours[value].iter().any(|&other| self.made[other] == Some(number));
                self.made[value] = Some((first[value]..MOST).find(|number| !taken(number)).unwrap_or(0));
            }
        }
        self
    }

    /// A value as it is made, behind its fence.
    pub(super) fn result(&self, value: Value, dtype: DType, text: String) -> String {
        match self.made[value] {
            Some(number) => fenced(dtype, &text, number),
            None => text,
        }
    }

    /// An operand of a step, behind another fence if it needs one.
    pub(super) fn operand(&self, step: &Step, position: usize, name: String) -> String {
        match self.again(step, position) {
            Some(number) => fenced(self.types[step.args[position]], &name, number),
            None => name,
        }
    }

    /// The fence of an operand that a compiler may find equal to an earlier one of the step.
    fn again(&self, step: &Step, position: usize) -> Option<u32> {
        // A compiler can do nothing with two equal operands of `min` or `max`.
        let commutative = step.op.row().is_some_and(|row| row.commutative);
        // An iteration handles equal states itself.
        let is_loop = step.op == Op::Repeat;
        if self.off || commutative || is_loop || step.nature() != Nature::Arithmetic {
            return None;
        }
        let value = step.args[position];
        if self.types[value].kind() != Kind::Float {
            return None;
        }
        let same = step.args[..position].iter().any(|&before| self.may_be_same(before, value));
        same.then(|| (self.made[value].unwrap_or(0) + position as u32) % MOST)
    }

    /// The lines that declare the fences of some steps.
    pub(super) fn zeros(&self, steps: &[Step]) -> Vec<String> {
        // Whether each has 64 bits, and its number.
        let mut used = BTreeSet::new();
        for (value, step) in numbered(steps) {
            used.extend(self.made[value].map(|number| (is_wide(step.result), number)));
            used.extend((0..step.args.len()).filter_map(|position| {
                let of = self.types[step.args[position]];
                self.again(step, position).map(|number| (is_wide(of), number))
            }));
        }
        used.into_iter().map(|(wide, number)| named(wide, number)).collect()
    }

    /// Whether a compiler may find two values equal: one value, one load, or results without a fence.
    fn may_be_same(&self, a: Value, b: Value) -> bool {
        let closed = |value: Value| matches!(value, Value::Step(_)) && self.made[value].is_none();
        let load = |value: Value| value.input().map_or(value, |i| self.loads[i]);
        // A lookup may read the element of a load.
        let looked_up = |value: Value| self.lookups.contains(&value);
        let loads = |a: Value, b: Value| looked_up(a) && matches!(b, Value::Input(_));
        load(a) == load(b) || (closed(a) && closed(b)) || loads(a, b) || loads(b, a)
    }
}

/// Whether compilers neither rewrite a step's result further nor know its value. `from_open` says whether they know its
/// first operand, and `by_type` whether the adapter's f16 rounds.
fn is_closed(step: &Step, from_open: bool, by_type: bool) -> bool {
    let is_float = step.result.kind() == Kind::Float;
    let rounds = step.result == DType::BF16 || step.result == DType::F16 && !by_type;
    match step.op {
        // 0 and 1 are folded into products, and a cast to the same type is the operand.
        Op::Cast => step.dtype != DType::Bool && !from_open,
        // A loop's states are values, and the loop is none.
        Op::Repeat | Op::Lookup => true,
        // A compiler finds that `i - i` is 0.
        _ if !is_float => false,
        // Rounded by integers.
        _ => step.nature() == Nature::Bits || rounds && !step.keeps_digits(),
    }
}

/// Whether a step may use the fraction of an operand. Compilers know that whole numbers have none.
fn asks_for_fraction(step: &Step) -> bool {
    matches!(step.op, Op::Fract | Op::Call | Op::Repeat) || is_costly(step.op)
}

/// Whether two loads are the same text.
fn is_same_load(a: &Operand, b: &Operand) -> bool {
    a.origin == b.origin
        && a.origin != Origin::Scalar
        && (a.dtype, a.access, a.walks_as) == (b.dtype, b.access, b.walks_as)
}

pub(super) fn is_wide(dtype: DType) -> bool {
    compute(dtype) == "f64"
}

/// The line that declares a fence.
pub(super) fn named(wide: bool, number: u32) -> String {
    let word = if number == 0 { "p.zero".to_string() } else { format!("p.zero << {number}u") };
    let name = zero(wide, number);
    match wide {
        // In both halves, since a reader of the exponent looks at the upper one alone.
        true => format!("let {name} = vec4<u64>(u64({word}) | (u64(p.zero) << 32u));"),
        false => format!("let {name} = vec4<u32>({word});"),
    }
}

/// The name of a 0 that no compiler knows.
pub(super) fn zero(wide: bool, number: u32) -> String {
    let name = if wide { "wide_zero" } else { "zero" };
    if number == 0 { name.into() } else { format!("{name}{number}") }
}

pub(super) fn fenced(dtype: DType, value: &str, number: u32) -> String {
    let (wide, compute) = (is_wide(dtype), compute(dtype));
    let word = if wide { "u64" } else { "u32" };
    format!("bitcast<vec4<{compute}>>(bitcast<vec4<{word}>>({value}) ^ {})", zero(wide, number))
}
