//! Two steps in one loop: ops that take less time than their loads and stores, where only the second
//! reads what the first gives. For f32, in which most chains of such ops are.

use std::marker::PhantomData;

use smallvec::SmallVec;

use super::kernels::{self, map3};
use crate::dtype::DType;
use crate::expr::{Op, Program, Step, Value, for_each_op};

/// An op of the table on f32. One of a single operand takes no notice of the second.
trait Cheap {
    fn apply(a: f32, b: f32) -> f32;
}

/// An op with its operands in the other order.
struct Swapped<F>(PhantomData<F>);

impl<F: Cheap> Cheap for Swapped<F> {
    #[inline(always)]
    fn apply(a: f32, b: f32) -> f32 {
        F::apply(b, a)
    }
}

/// The ops that are cheap, by the forms of the table.
macro_rules! cheap {
    ($($(#[doc = $doc:literal])+ $op:ident: $name:ident $args:tt $(is $commutative:ident)? for $class:ident -> $gives:ident
        $(within $ulp:literal $(above $from:literal)?)?,
        [$($eg:tt)*] { $($kind:ident $wgsl:literal = $cpu:expr;)+ })*) => {
        $(cheap!(@take $op $args $($kind = $cpu;)+);)*
    };
    (@take Add $($rest:tt)*) => { cheap!(@op Add $($rest)*); };
    (@take Sub $($rest:tt)*) => { cheap!(@op Sub $($rest)*); };
    (@take Mul $($rest:tt)*) => { cheap!(@op Mul $($rest)*); };
    (@take Div $($rest:tt)*) => { cheap!(@op Div $($rest)*); };
    (@take Neg $($rest:tt)*) => { cheap!(@op Neg $($rest)*); };
    (@take Abs $($rest:tt)*) => { cheap!(@op Abs $($rest)*); };
    (@take Relu $($rest:tt)*) => { cheap!(@op Relu $($rest)*); };
    (@take $($other:tt)*) => {};
    (@op $op:ident $args:tt moves $($rest:tt)*) => { cheap!(@op $op $args float $($rest)*); };
    (@op $op:ident $args:tt float = $cpu:expr; $($rest:tt)*) => {
        enum $op {}

        impl Cheap for $op {
            #[inline(always)]
            fn apply(a: f32, b: f32) -> f32 {
                cheap!(@call $args $cpu, a, b)
            }
        }
    };
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

/// Calls `$call` with the type of a cheap op.
macro_rules! with_cheap {
    ($op:expr, |$f:ident| $call:expr) => {
        with_cheap!(@of $op, |$f| $call, Add Sub Mul Div Neg Abs Relu)
    };
    (@of $value:expr, |$f:ident| $call:expr, $($op:ident)*) => {
        match $value {
            $(Op::$op => {
                type $f = $op;
                Some($call)
            })*
            _ => None,
        }
    };
}

fn is_cheap(step: &Step) -> bool {
    step.dtype == DType::F32 && with_cheap!(step.op, |F| F::apply as fn(f32, f32) -> f32).is_some()
}

/// A loop over a block: one step, or two.
pub(super) struct Loop {
    /// The step whose value it gives.
    pub step: usize,
    /// The step before that one, and whether its value is the second operand.
    first: Option<(usize, bool)>,
    /// What it reads: of two steps, the operands of the first and the other one of the second.
    pub args: SmallVec<[Value; 3]>,
}

/// The loops of a program, in which a step is joined to the one that reads it where that pays.
pub(super) fn loops(program: &Program) -> Vec<Loop> {
    let inputs = program.inputs.len();
    let mut uses = vec![0; inputs + program.steps.len()];
    let read = program.steps.iter().flat_map(|step| &step.args);
    read.chain(&program.results).for_each(|&value| uses[value as usize] += 1);
    let mut loops: Vec<Option<Loop>> = Vec::with_capacity(program.steps.len());
    for (i, step) in program.steps.iter().enumerate() {
        let joins = |&position: &usize| {
            let arg = step.args[position];
            let before = (arg as usize).checked_sub(inputs)?;
            let single = loops[before].as_ref().is_some_and(|known| known.first.is_none());
            let joined =
                single && is_cheap(step) && is_cheap(&program.steps[before]) && uses[arg as usize] == 1;
            joined.then_some((before, position == 1))
        };
        let first = (0..step.args.len()).find_map(|position| joins(&position));
        let mut args: SmallVec<[Value; 3]> = step.args.iter().copied().collect();
        if let Some((before, second)) = first {
            let own = &program.steps[before].args;
            let other = if step.args.len() == 1 { own[0] } else { step.args[usize::from(!second)] };
            args = SmallVec::from_slice(&[own[0], own.get(1).copied().unwrap_or(own[0]), other]);
            loops[before] = None;
        }
        loops.push(Some(Loop { step: i, first, args }));
    }
    loops.into_iter().flatten().collect()
}

impl Loop {
    /// Runs the loop over a block: every argument has as many elements as `out`, or a part of equal ones.
    pub(super) fn run(&self, program: &Program, args: &[&[u8]], out: &mut [u8]) {
        let step = &program.steps[self.step];
        let Some((first, swapped)) = self.first else { return kernels::run(step, args, out) };
        let _ = with_cheap!(program.steps[first].op, |F| run_second::<F>(step.op, swapped, args, out));
    }
}

fn run_second<F: Cheap>(second: Op, swapped: bool, args: &[&[u8]], out: &mut [u8]) {
    let _ = with_cheap!(second, |G| match swapped {
        true => pair::<F, Swapped<G>>(args, out),
        false => pair::<F, G>(args, out),
    });
}

fn pair<F: Cheap, G: Cheap>(args: &[&[u8]], out: &mut [u8]) {
    map3::<f32, f32, f32, f32>(args, out, |a, b, c| G::apply(F::apply(a, b), c));
}
