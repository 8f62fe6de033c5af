//! Steps, and their bodies: functions of the user's, and loops.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{AnyFunction, ByValue, Nature, Op, Value, cost};
use crate::dtype::DType;

/// The cost of a call in additions, as its text is unknown.
const CALL: usize = 50;

/// The number of iterations that a loop is assumed to run.
const TURNS: usize = 32;

/// One op over values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub op: Op,
    /// The type of the operands (of the values, for `Select`).
    pub dtype: DType,
    pub result: DType,
    pub args: SmallVec<[Value; 3]>,
    /// A function or a loop, if the op is a call of one.
    pub body: Option<Body>,
}

impl Step {
    /// A step without a body.
    pub(crate) fn new(op: Op, dtype: DType, result: DType, args: SmallVec<[Value; 3]>) -> Step {
        Step { op, dtype, result, args, body: None }
    }
}

/// Steps, each with its value.
pub(crate) fn numbered(steps: &[Step]) -> impl DoubleEndedIterator<Item = (Value, &Step)> {
    steps.iter().enumerate().map(|(i, step)| (Value::Step(i as u32), step))
}

/// Which values the given ones depend on, themselves included. Known values depend on nothing.
pub(crate) fn needed(
    inputs: usize,
    steps: &[Step],
    others: impl IntoIterator<Item = Value>,
    is_known: impl Fn(Value) -> bool,
) -> ByValue<bool> {
    let mut needed = ByValue::of((0..inputs).map(|_| false), steps, |_, _| false);
    others.into_iter().for_each(|value| needed[value] = true);
    for (value, step) in numbered(steps).rev() {
        if needed[value] && !is_known(value) {
            step.args.iter().for_each(|&arg| needed[arg] = true);
        }
    }
    needed
}

/// The part of a step that the op table does not describe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Body {
    /// A function of the user's, of [`Op::Call`].
    Function(AnyFunction),
    /// A loop, of [`Op::Repeat`]. Its operands are the greatest number of iterations, the initial states, the values
    /// that all iterations share, and the tables that they look up. Its results are its states, each of which is an
    /// [`Op::State`] of it.
    Loop(Arc<Loop>),
    /// The number of an [`Op::State`].
    State(usize),
}

/// One iteration of a loop: a flat list of steps over the states and the shared values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Loop {
    /// The types of the arguments: states, then shared values, then the elements of tables.
    pub args: Vec<DType>,
    /// The number of states.
    pub states: usize,
    /// For each table, the axes whose index an iteration computes: an [`Op::Lookup`] of it names one for each. The
    /// indices of the other axes are coordinates or constants, and operands of the node behind the table.
    pub tables: Vec<SmallVec<[bool; 4]>>,
    pub steps: Vec<Step>,
    /// The next states, by number.
    pub next: Vec<Value>,
    /// The condition under which an element continues, if there is one. Otherwise its states stay.
    pub goes_on: Option<Value>,
    /// The depth of nested loops, this one included.
    pub depth: usize,
}

impl Loop {
    /// The number of arguments that are values. Tables come after them.
    pub(crate) fn values(&self) -> usize {
        self.args.len() - self.tables.len()
    }

    /// The number of a table, by its argument.
    pub(crate) fn table(&self, value: Value) -> Option<usize> {
        value.input()?.checked_sub(self.values())
    }

    /// The sum over all iterations, nested loops included. `each` returns the figure of one iteration without nested
    /// loops, and `told` an argument's number, if it is known.
    pub(crate) fn total(
        &self,
        turns: Option<u64>,
        told: &dyn Fn(usize) -> Option<u64>,
        each: &dyn Fn(&Loop) -> u64,
    ) -> u64 {
        let within = self.steps.iter().map(|step| {
            let Some(Body::Loop(inner)) = &step.body else { return 0 };
            let of = |arg: usize| step.args.get(arg)?.input().and_then(told);
            inner.total(of(0), &|arg| of(arg + 1), each)
        });
        let one = within.fold(each(self), u64::saturating_add);
        turns.unwrap_or(u64::from(u32::MAX)).saturating_mul(one)
    }

    /// The time of an iteration on a GPU without nested loops, in additions of f32.
    pub(crate) fn operations(&self) -> u64 {
        self.steps.iter().map(Step::operations).fold(1, u64::saturating_add)
    }

    /// The offset of each state of an element in the bytes of all its states, and the number of these bytes. The states
    /// of a block lie one after the other, the widest first, so that all are aligned.
    pub(crate) fn places(&self) -> (Vec<usize>, usize) {
        let mut order: Vec<usize> = (0..self.states).collect();
        order.sort_by_key(|&state| std::cmp::Reverse(self.args[state].size()));
        let (mut places, mut end) = (vec![0; self.states], 0);
        for state in order {
            places[state] = end;
            end += self.args[state].size();
        }
        (places, end)
    }
}

impl Body {
    pub(crate) fn name(&self) -> &str {
        match self {
            Body::Function(function) => function.name(),
            Body::Loop(_) => Op::Repeat.name(),
            Body::State(_) => Op::State.name(),
        }
    }

    /// Whether it is a loop.
    pub(crate) fn loops(&self) -> bool {
        match self {
            Body::Function(function) => function.written().is_some_and(|written| written.loops),
            Body::Loop(_) => true,
            Body::State(_) => false,
        }
    }

    /// Whether values decide the number of its iterations.
    pub(crate) fn ends_by_values(&self) -> bool {
        match self {
            Body::Loop(own) => {
                let mut within = own.steps.iter().filter_map(|step| step.body.as_ref());
                own.goes_on.is_some() || within.any(Body::ends_by_values)
            }
            _ => self.loops(),
        }
    }

    /// The cost of its text for a compiler, in additions.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Body::Function(_) => CALL,
            Body::Loop(own) => own.steps.iter().map(Step::cost).sum(),
            Body::State(_) => 0,
        }
    }

    /// The cost of running it, in additions.
    pub(crate) fn work(&self) -> usize {
        match self {
            Body::Loop(own) => {
                own.steps.iter().map(Step::work).fold(0, usize::saturating_add).saturating_mul(TURNS)
            }
            _ => self.cost(),
        }
    }
}

impl Step {
    /// The cost of its text for a compiler, in additions.
    pub(crate) fn cost(&self) -> usize {
        self.body.as_ref().map_or_else(|| cost(self.op, self.dtype), Body::cost)
    }

    /// The cost of running it, in additions.
    pub(crate) fn work(&self) -> usize {
        self.body.as_ref().map_or_else(|| cost(self.op, self.dtype), Body::work)
    }

    /// The cost of running it on a GPU, in additions of f32; 0 for a loop.
    pub(crate) fn operations(&self) -> u64 {
        let times = match (&self.body, self.op, self.dtype) {
            (Some(Body::Loop(_)), ..) => 0,
            // A lookup reads any element, which may be a line of memory for itself.
            (_, Op::Lookup, _) => 25,
            // Most GPUs have few units for f64, and operations on 64-bit integers are several.
            (.., DType::F64) => 16,
            (.., DType::I64 | DType::U64) => 4,
            _ => 1,
        };
        times * self.work() as u64
    }

    /// How it treats floats.
    pub(crate) fn nature(&self) -> Nature {
        match self.op {
            // The result is one of two operands, so it meets everything that they meet.
            Op::Select | Op::State => Nature::Moves,
            Op::Call | Op::Repeat => Nature::Arithmetic,
            op => op.row().and_then(|row| row.form(self.dtype)).map_or(Nature::Bits, |form| form.nature),
        }
    }

    /// Whether its float result has no more digits than its operands.
    pub(crate) fn keeps_digits(&self) -> bool {
        use Op::*;
        let is_operand = matches!(self.op, Select | State | Min | Max | Fmin | Fmax | Clamp);
        is_operand
            || matches!(self.op, Neg | Positive | Abs | Relu | Copysign | Sign | Floor | Ceil | Trunc | Round)
    }

    /// Whether it computes with f64, and not only moves elements, compares them, changes signs or casts.
    pub(crate) fn computes_f64(&self) -> bool {
        use Op::*;
        match self.op {
            Select | Lookup | State | Repeat | Cast | Eq | Ne | Lt | Le | Gt | Ge => false,
            IsNan | IsInf | IsFinite | Signbit | Copysign | Neg | Positive | Abs => false,
            Min | Max | Fmin | Fmax | Clamp => false,
            _ => [self.dtype, self.result].contains(&DType::F64),
        }
    }

    /// Whether it distinguishes the sign of a NaN.
    pub(crate) fn tells_sign(&self) -> bool {
        self.contains(&[Op::Signbit, Op::Copysign])
    }

    /// Whether it is one of some ops, or a loop with one.
    pub(crate) fn contains(&self, ops: &[Op]) -> bool {
        match &self.body {
            Some(Body::Loop(own)) => own.steps.iter().any(|step| step.contains(ops)),
            _ => ops.contains(&self.op),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.body.as_ref().map_or_else(|| self.op.name(), Body::name)
    }

    /// Bytes of an element of its result.
    pub(crate) fn size(&self) -> usize {
        match &self.body {
            Some(Body::Loop(own)) => own.places().1,
            _ => self.result.size(),
        }
    }
}
