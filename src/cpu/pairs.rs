//! Two steps in one loop: ops that take less time than their loads and stores, where only the second reads the first.
//! For f32, which most such chains have.

use std::marker::PhantomData;

use smallvec::SmallVec;

use super::jobs::{self, Job};
use super::kernels::{Run, map3};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{ByValue, Op, Program, Step, Value, for_each_op, numbered};

/// An op of the table on f32. An op of one operand ignores the second.
trait Cheap {
    /// The op with exchanged operands, if that is another op.
    type Swapped: Cheap;
    fn apply(a: f32, b: f32) -> f32;
}

/// An op with its operands in the other order.
struct Swapped<F>(PhantomData<F>);

impl<F: Cheap> Cheap for Swapped<F> {
    type Swapped = F;

    #[inline(always)]
    fn apply(a: f32, b: f32) -> f32 {
        F::apply(b, a)
    }
}

/// Called with the type of a cheap op.
trait Visitor {
    type Answer;
    fn visit<F: Cheap>(self) -> Self::Answer;
}

/// The cheap ops, as types: those of the table that are in pairs.
macro_rules! cheap {
    ($($(#[doc = $doc:literal])+ $op:ident: $name:ident $args:tt $(is $commutative:ident)? $(in $pairs:ident)? for $class:ident -> $gives:ident
        $(within $ulp:literal $(above $from:literal)?)? $(costs $cost:literal)?,
        [$($eg:tt)*] { $($kind:ident $wgsl:literal = $cpu:expr;)+ })*) => {
        $(cheap!(@[$($pairs)?] $op $args [$($commutative)?] $($kind = $cpu;)+);)*

        /// Calls a visitor with the type of an op, if the op is cheap.
        fn visit<V: Visitor>(op: Op, visitor: V) -> Option<V::Answer> {
            match op {
                $($(Op::$op => cheap!(@visit $pairs $op visitor),)?)*
                _ => None,
            }
        }
    };
    (@visit pairs $op:ident $visitor:ident) => { Some($visitor.visit::<$op>()) };
    (@[] $($rest:tt)*) => {};
    (@[pairs] $op:ident $args:tt $orders:tt moves $($rest:tt)*) => {
        cheap!(@[pairs] $op $args $orders float $($rest)*);
    };
    (@[pairs] $op:ident $args:tt $orders:tt float = $cpu:expr; $($rest:tt)*) => {
        enum $op {}

        impl Cheap for $op {
            type Swapped = cheap!(@swapped $op $args $orders);

            #[inline(always)]
            fn apply(a: f32, b: f32) -> f32 {
                cheap!(@call $args $cpu, a, b)
            }
        }
    };
    (@swapped $op:ident ($x:ident, $y:ident) []) => { Swapped<$op> };
    (@swapped $op:ident $args:tt $orders:tt) => { $op };
    (@call ($x:ident) $cpu:expr, $a:ident, $b:ident) => {{
        let _ = $b;
        let of = |f: fn(f32) -> f32| f($a);
        of($cpu)
    }};
    (@call ($x:ident, $y:ident) $cpu:expr, $a:ident, $b:ident) => {{
        let of = |f: fn(f32, f32) -> f32| f($a, $b);
        of($cpu)
    }};
}
for_each_op!(cheap);

/// The loop of a pair, by its first op, if that is cheap.
struct Before {
    second: Op,
    swapped: bool,
}

impl Visitor for Before {
    type Answer = Option<Run>;
    fn visit<F: Cheap>(self) -> Option<Run> {
        visit(self.second, After::<F> { swapped: self.swapped, first: PhantomData })
    }
}

/// The loop of a pair, by its second op, after `F`.
struct After<F> {
    swapped: bool,
    first: PhantomData<F>,
}

impl<F: Cheap> Visitor for After<F> {
    type Answer = Run;
    fn visit<G: Cheap>(self) -> Run {
        if self.swapped { pair::<F, G::Swapped> } else { pair::<F, G> }
    }
}

fn pair<F: Cheap, G: Cheap>(args: &[&[u8]], out: &mut [u8]) {
    map3::<f32, f32, f32, f32, false>(args, out, |a, b, c| G::apply(F::apply(a, b), c));
}

/// The loop of two steps. The second reads the first as its second operand if it is `swapped`. `None` if one is not
/// cheap.
fn joined(first: &Step, second: &Step, swapped: bool) -> Option<Run> {
    let floats = first.dtype == DType::F32 && second.dtype == DType::F32;
    floats.then(|| visit(first.op, Before { second: second.op, swapped })).flatten().flatten()
}

/// A loop over a tile: one step, or two.
pub(super) struct Loop {
    /// Its value: of the one step, or of the second.
    pub value: Value,
    /// Its operands: of two steps, those of the first and the other one of the second.
    pub args: SmallVec<[Value; 3]>,
    /// The code. Every argument has as many elements as the result, or a part of equal ones.
    pub job: Job,
    /// Whether it has two steps.
    is_pair: bool,
}

impl Loop {
    /// Whether an element of the result needs the same element of each argument alone.
    pub(super) fn is_by_element(&self) -> bool {
        matches!(self.job, Job::Table(_) | Job::Call(_))
    }
}

/// The loops of a program. A step is joined to its reader if that pays. Values `of_row` are computed alone.
pub(super) fn loops(program: &Program, of_row: &ByValue<bool>) -> Result<Vec<Loop>> {
    let (mut uses, steps) = (program.by_value(0), &program.steps);
    let read = steps.iter().flat_map(|step| &step.args);
    let reduced =
        program.row_fused().into_iter().flat_map(|rows| rows.reductions.iter().map(|own| &own.value));
    read.chain(&program.results).chain(reduced).for_each(|&value| uses[value] += 1);
    let mut loops: Vec<Option<Loop>> = Vec::with_capacity(steps.len());
    for (value, step) in numbered(steps) {
        let join = |position: usize| {
            let arg = step.args[position];
            let before = arg.step()?;
            let single = loops[before].as_ref().is_some_and(|known| !known.is_pair);
            let run = joined(&steps[before], step, position == 1)?;
            let alike = of_row[arg] == of_row[value];
            (single && uses[arg] == 1 && alike).then_some((before, position, run))
        };
        let own = match (0..step.args.len()).find_map(join) {
            None => Loop { value, args: step.args.clone(), job: jobs::of(step, steps)?, is_pair: false },
            Some((before, position, run)) => {
                let first = &steps[before].args;
                let other = if step.args.len() == 1 { first[0] } else { step.args[1 - position] };
                let args = SmallVec::from([first[0], first.get(1).copied().unwrap_or(first[0]), other]);
                loops[before] = None;
                Loop { value, args, job: Job::Table(run), is_pair: true }
            }
        };
        loops.push(Some(own));
    }
    Ok(loops.into_iter().flatten().collect())
}

/// Assigns registers to the values of loops, and reuses those whose value is not read again.
pub(super) fn registers(program: &Program, loops: &[Loop]) -> (ByValue<usize>, usize) {
    let mut last_use = program.by_value(0);
    for (i, own) in loops.iter().enumerate() {
        own.args.iter().for_each(|&arg| last_use[arg] = i);
    }
    program.results.iter().for_each(|&result| last_use[result] = usize::MAX);
    let mut count = program.inputs.len();
    let mut registers = ByValue::of(0..count, &program.steps, |_, _| 0);
    let mut free: Vec<usize> = Vec::new();
    for (i, own) in loops.iter().enumerate() {
        registers[own.value] = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        let mut done: Vec<Value> = own.args.to_vec();
        done.sort_unstable();
        done.dedup();
        // Inputs keep their registers, whose contents may serve the next tile.
        let dead = done.into_iter().filter(|&arg| matches!(arg, Value::Step(_)) && last_use[arg] == i);
        free.extend(dead.map(|arg| registers[arg]));
    }
    (registers, count)
}
