//! Fences: where a value passes an exclusive or with a 0 that no compiler knows.
//!
//! Compilers of drivers rewrite arithmetic of floats as if it were algebra: `(a + b) - a` becomes `b`,
//! `x - x` becomes 0, `a * b + c` is contracted, `a > a + c` becomes `0 > c`. All such rules match
//! operations that read one another, or one value twice. So nothing is left to match if every operand of
//! arithmetic is one that the compiler knows nothing of, and no two operands of an operation are the
//! same to it. Loads and constants are such operands, as constants travel in the uniform block. Results
//! of arithmetic become so by a fence, once, where they are made. So do integers that are cast, where they were
//! computed, as a compiler finds that `i - i` is 0, or where what reads them asks for a fraction, which is 0
//! for a whole number. Results that meet in an operation have fences of different numbers, since equal fences
//! of what a compiler finds equal are equal again.
//!
//! What looks at the bits of a result reads it as arithmetic does. A compiler that assumes that there is no NaN and no
//! infinity, as Metal's does, knows of a sum that its exponent is not the highest: it folds `is_inf(x + y)` to false.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::types::compute;
use crate::dtype::{DType, Kind};
use crate::ir::{ByValue, Loop, Math, Nature, Op, Step, Value, is_costly, numbered};
use crate::plan::{Kernel, Makes, Operand, Origin};

/// Fences there are: by how far the unknown 0 is shifted.
const MOST: u32 = 32;

/// The fences of a kernel's steps, or of those of a loop, each by its number.
pub(super) struct Fences {
    /// The type of each value.
    types: ByValue<DType>,
    /// Of each value, the one that it passes where it is made.
    made: ByValue<Option<u32>>,
    /// Of each operand, the first that has the same load.
    loads: Vec<Value>,
    /// What is looked up.
    lookups: Vec<Value>,
    /// Whether there are none.
    off: bool,
}

impl Fences {
    pub(super) fn new(kernel: &Kernel) -> Fences {
        let first = |i: usize| {
            let same = |&j: &usize| is_same_load(&kernel.operands[i], &kernel.operands[j]);
            Value::Input((0..i).find(same).unwrap_or(i) as u32)
        };
        let types = kernel.operands.iter().map(|operand| operand.dtype);
        // What a reduction combines is read by that: numbers by arithmetic, or ranks by bits.
        let read: Vec<Value> = match &kernel.makes {
            Makes::Elements | Makes::Sort(_) => Vec::new(),
            Makes::Reduce(reduce) => reduce.reductions().map(|own| own.value).collect(),
            Makes::Scan(_) | Makes::Contract(_) => kernel.results.to_vec(),
        };
        let loads = (0..kernel.operands.len()).map(first).collect();
        Fences::of(types, loads, &kernel.steps, &read, kernel, false).numbered(&kernel.steps, false)
    }

    /// Those of a turn of a loop. A state may be any other value that comes in, as a compiler may find out; and what
    /// it becomes is read by the arithmetic of the next turn.
    pub(super) fn of_turn(own: &Loop, kernel: &Kernel) -> Fences {
        let loads = vec![Value::Input(0); own.args.len()];
        Fences::of(own.args.iter().copied(), loads, &own.steps, &own.next, kernel, true)
            .numbered(&own.steps, true)
    }

    /// Those of some steps over values of some types, of which `loads` says the first that is the same; `also` are
    /// values that something else than steps reads as arithmetic does.
    fn of(
        types: impl Iterator<Item = DType>,
        loads: Vec<Value>,
        steps: &[Step],
        also: &[Value],
        kernel: &Kernel,
        is_turn: bool,
    ) -> Fences {
        // By a type of its own a compiler may compute in that, and then reorder it.
        let by_type = !kernel.faults.half_rounding;
        let types = ByValue::of(types, steps, |step, _| step.result);
        let lookups = numbered(steps).filter(|(_, step)| step.op == Op::Lookup).map(|(value, _)| value);
        let (made, lookups) = (types.map(|_, _| None), lookups.collect());
        let mut fences = Fences { types, made, loads, lookups, off: kernel.math == Math::Fast };
        if fences.off {
            return fences;
        }
        // Which values a compiler could combine with the arithmetic that reads them. What comes in is loaded; but of
        // states that are integers, which have no fence, it may know what they are in every turn.
        let is_known = |value: Value| matches!(value, Value::Input(_)) && is_turn;
        let mut open = fences.types.map(|value, of| is_known(value) && of.kind() != Kind::Float);
        let [mut read, mut whole, mut asked] = [(); 3].map(|()| fences.types.map(|_, _| false));
        let readers = || steps.iter().filter(|step| step.nature() != Nature::Moves);
        readers().flat_map(|step| &step.args).chain(also).for_each(|&arg| read[arg] = true);
        // And which are read by what asks for a fraction, which whole numbers have none of.
        readers()
            .filter(|step| step.nature() == Nature::Arithmetic && asks_for_fraction(step))
            .flat_map(|step| &step.args)
            .for_each(|&arg| asked[arg] = true);
        for (value, step) in numbered(steps) {
            let of_first = |known: &ByValue<bool>| step.args.first().is_some_and(|&arg| known[arg]);
            open[value] = !is_closed(step, of_first(&open), by_type);
            whole[value] = step.op == Op::Cast && (step.dtype.kind() != Kind::Float || of_first(&whole));
            let is_read = read[value] && open[value] || asked[value] && whole[value];
            if is_read && step.result.kind() == Kind::Float {
                fences.made[value] = Some(0);
                (open[value], whole[value]) = (false, false);
            }
        }
        fences
    }

    /// Gives the values that meet in a step different numbers, the lowest that are free, so that few are kept in
    /// registers. A value that moves what is behind a fence, or that a function makes of it, which may do the same,
    /// has one of the upper half, and none that this has: behind two equal fences is what was before them. What comes
    /// in may be behind a fence, `incoming`, as what comes into a turn of a loop is.
    fn numbered(mut self, steps: &[Step], incoming: bool) -> Fences {
        let mut neighbours = self.made.map(|_, _| Vec::new());
        let mut first = self.made.map(|_, _| 0);
        // Whether nothing but moves is between a value and a fence.
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
                // Of a loop, what its states begin with.
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

    /// An operand of a step, behind another fence where that needs one.
    pub(super) fn operand(&self, step: &Step, position: usize, name: String) -> String {
        match self.again(step, position) {
            Some(number) => fenced(self.types[step.args[position]], &name, number),
            None => name,
        }
    }

    /// The fence of an operand of a step that a compiler may find equal to one before it.
    fn again(&self, step: &Step, position: usize) -> Option<u32> {
        // Of what is the same in both orders, a compiler can make nothing but what it is.
        let commutative = step.op.row().is_some_and(|row| row.commutative);
        // What a loop makes of what is equal is looked at in its turn.
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

    /// The lines that name what the fences of a kernel need.
    pub(super) fn zeros(&self, steps: &[Step]) -> Vec<String> {
        self.used(steps).into_iter().map(|(wide, number)| named(wide, number, number)).collect()
    }

    /// The same lines with other numbers behind the names, so that no fence of steps that are written once more is one
    /// of those before; none where there are not as many.
    pub(super) fn others(&self, steps: &[Step]) -> Option<Vec<String>> {
        let used = self.used(steps);
        let has_room = used.iter().all(|(_, number)| number % (MOST / 2) < MOST / 4);
        has_room.then(|| used.iter().map(|&(wide, number)| named(wide, number, number + MOST / 4)).collect())
    }

    /// The fences of some steps: whether each is of 64 bits, and its number.
    fn used(&self, steps: &[Step]) -> BTreeSet<(bool, u32)> {
        let mut used = BTreeSet::new();
        for (value, step) in numbered(steps) {
            used.extend(self.made[value].map(|number| (is_wide(step.result), number)));
            used.extend((0..step.args.len()).filter_map(|position| {
                let of = self.types[step.args[position]];
                self.again(step, position).map(|number| (is_wide(of), number))
            }));
        }
        used
    }

    /// Whether a compiler may find two values equal: one value, one load, or results without a fence.
    fn may_be_same(&self, a: Value, b: Value) -> bool {
        let closed = |value: Value| matches!(value, Value::Step(_)) && self.made[value].is_none();
        let load = |value: Value| value.input().map_or(value, |i| self.loads[i]);
        // What is looked up may be what is loaded.
        let looked_up = |value: Value| self.lookups.contains(&value);
        let loads = |a: Value, b: Value| looked_up(a) && matches!(b, Value::Input(_));
        load(a) == load(b) || (closed(a) && closed(b)) || loads(a, b) || loads(b, a)
    }
}

/// Whether what a step makes is nothing that compilers rewrite further, nor a number that they may know; `from_open`
/// says whether its first operand may be, `by_type` whether f16 is rounded by a type of its own.
fn is_closed(step: &Step, from_open: bool, by_type: bool) -> bool {
    let is_float = step.result.kind() == Kind::Float;
    let rounds = step.result == DType::BF16 || step.result == DType::F16 && !by_type;
    match step.op {
        // 0 and 1 are folded into products, and a float of the same type is the operand itself.
        Op::Cast => step.dtype != DType::Bool && !from_open,
        // The states of a loop are values, and it is none.
        Op::Repeat | Op::Lookup => true,
        // A compiler finds that `i - i` is 0.
        _ if !is_float => false,
        // Rounded by integers.
        _ => step.nature() == Nature::Bits || rounds && !step.keeps_digits(),
    }
}

/// Whether a step may look at the fraction of an operand, which compilers know to be 0 where that is a whole number.
fn asks_for_fraction(step: &Step) -> bool {
    matches!(step.op, Op::Fract | Op::Call | Op::Repeat) || is_costly(step.op)
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

/// The line that gives the name of a fence to a number.
fn named(wide: bool, name: u32, number: u32) -> String {
    let word = if number == 0 { "p.zero".to_string() } else { format!("p.zero << {number}u") };
    let name = zero(wide, name);
    match wide {
        // In both halves: who asks for the exponent alone looks at the upper one.
        true => format!("let {name} = vec4<u64>(u64({word}) | (u64(p.zero) << 32u));"),
        false => format!("let {name} = vec4<u32>({word});"),
    }
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
