//! Steps, and what they do that no row of the table says: a function of the user's, or a loop.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{AnyFunction, ByValue, Nature, Op, Value, cost};
use crate::dtype::DType;

/// What a call costs in additions, as nobody knows what is in it.
const CALL: usize = 50;

/// Turns that a loop is taken to go through.
const TURNS: usize = 32;

/// One op over values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub op: Op,
    /// The type of the operands (of the values, for `Select`).
    pub dtype: DType,
    pub result: DType,
    pub args: SmallVec<[Value; 3]>,
    /// What it does, where the op does not say it.
    pub body: Option<Body>,
}

impl Step {
    /// A step that its op tells all of.
    pub(crate) fn new(op: Op, dtype: DType, result: DType, args: SmallVec<[Value; 3]>) -> Step {
        Step { op, dtype, result, args, body: None }
    }
}

/// Steps, each with the value that it gives.
pub(crate) fn numbered(steps: &[Step]) -> impl DoubleEndedIterator<Item = (Value, &Step)> {
    steps.iter().enumerate().map(|(i, step)| (Value::Step(i as u32), step))
}

/// Which values of so many inputs and some steps others are made of, these included; what is known is made of nothing.
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

/// What a step does beside its operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Body {
    /// A function of the user's, of [`Op::Call`].
    Function(AnyFunction),
    /// A loop, of [`Op::Repeat`], whose operands are how many turns there are at most, what each state begins with,
    /// what all turns share, and the tables that they look up. It gives its states, each of which is an
    /// [`Op::State`] of it.
    Loop(Arc<Loop>),
    /// Of an [`Op::State`], its number.
    State(usize),
}

/// What a loop does in a turn: a flat list of steps, over the states and what all turns share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Loop {
    /// The types of the states, of what is shared after them, and of the elements of tables after that.
    pub args: Vec<DType>,
    /// How many of these are states.
    pub states: usize,
    /// Of each table, which of its axes a turn has the index of: an [`Op::Lookup`] of it names that of each. The
    /// indices of the others are coordinates or constants, and operands of the node behind the table.
    pub tables: Vec<SmallVec<[bool; 4]>>,
    pub steps: Vec<Step>,
    /// What the states become, by number.
    pub next: Vec<Value>,
    /// Whether an element goes on, where that is asked: else its states stay as they are.
    pub goes_on: Option<Value>,
    /// Loops within each other, this one included.
    pub depth: usize,
}

impl Loop {
    /// How many of its arguments are values; tables come after them.
    pub(crate) fn values(&self) -> usize {
        self.args.len() - self.tables.len()
    }

    /// The number of a table among all, by the argument that it is.
    pub(crate) fn table(&self, value: Value) -> Option<usize> {
        value.input()?.checked_sub(self.values())
    }

    /// What all turns take, those of loops within too, where `each` says it of one turn of a loop without those, and
    /// `told` what an argument is, if that is a number.
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

    /// What a turn takes a GPU without loops within it, in additions of f32.
    pub(crate) fn operations(&self) -> u64 {
        self.steps.iter().map(Step::operations).fold(1, u64::saturating_add)
    }

    /// Where the states of an element lie among the bytes of all of them, and how many bytes these are: the states
    /// of blocks lie one after the other, the widest first, so that all are aligned.
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

    /// Whether it has turns.
    pub(crate) fn loops(&self) -> bool {
        match self {
            Body::Function(function) => function.written().is_some_and(|written| written.loops),
            Body::Loop(_) => true,
            Body::State(_) => false,
        }
    }

    /// Whether values decide how many turns it has.
    pub(crate) fn ends_by_values(&self) -> bool {
        match self {
            Body::Loop(own) => {
                let mut within = own.steps.iter().filter_map(|step| step.body.as_ref());
                own.goes_on.is_some() || within.any(Body::ends_by_values)
            }
            _ => self.loops(),
        }
    }

    /// What its text costs a compiler, in additions.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Body::Function(_) => CALL,
            Body::Loop(own) => own.steps.iter().map(Step::cost).sum(),
            Body::State(_) => 0,
        }
    }

    /// What running it takes, in additions.
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
    /// What its text costs a compiler, in additions.
    pub(crate) fn cost(&self) -> usize {
        self.body.as_ref().map_or_else(|| cost(self.op, self.dtype), Body::cost)
    }

    /// What running it takes, in additions.
    pub(crate) fn work(&self) -> usize {
        self.body.as_ref().map_or_else(|| cost(self.op, self.dtype), Body::work)
    }

    /// What running it takes a GPU, in additions of f32; nothing of a loop.
    pub(crate) fn operations(&self) -> u64 {
        let times = match (&self.body, self.op, self.dtype) {
            (Some(Body::Loop(_)), ..) => 0,
            // It finds an element anywhere, which is a line of memory for itself.
            (_, Op::Lookup, _) => 25,
            // Most GPUs have few units for f64, and integers of 64 bits are several operations.
            (.., DType::F64) => 16,
            (.., DType::I64 | DType::U64) => 4,
            _ => 1,
        };
        times * self.work() as u64
    }

    /// What it does with floats.
    pub(crate) fn nature(&self) -> Nature {
        match self.op {
            // It is one of two values, and meets what that meets.
            Op::Select | Op::State => Nature::Moves,
            Op::Call | Op::Repeat => Nature::Arithmetic,
            op => op.row().and_then(|row| row.form(self.dtype)).map_or(Nature::Bits, |form| form.nature),
        }
    }

    /// Whether a float that it gives has no more digits than its operands.
    pub(crate) fn keeps_digits(&self) -> bool {
        use Op::*;
        let is_operand = matches!(self.op, Select | State | Min | Max | Fmin | Fmax | Clamp);
        is_operand
            || matches!(self.op, Neg | Positive | Abs | Relu | Copysign | Sign | Floor | Ceil | Trunc | Round)
    }

    /// Whether it tells the sign of a NaN.
    pub(crate) fn tells_sign(&self) -> bool {
        match &self.body {
            Some(Body::Loop(own)) => own.steps.iter().any(Step::tells_sign),
            _ => matches!(self.op, Op::Signbit | Op::Copysign),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.body.as_ref().map_or_else(|| self.op.name(), Body::name)
    }

    /// Bytes of an element of what it gives.
    pub(crate) fn size(&self) -> usize {
        match &self.body {
            Some(Body::Loop(own)) => own.places().1,
            _ => self.result.size(),
        }
    }
}
