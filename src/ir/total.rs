//! Total mode: programs whose results have the same bytes on every device ([`Math::Total`](super::Math::Total)).
//!
//! Steps compute as in precise math, between two steps of this mode. [`Op::Flush`] makes a subnormal 0, and stands before each
//! reader of a value that was loaded or computed. [`Op::Total`] makes any NaN the one NaN, too. It stands where the bits
//! of a computed NaN would show: before results, and what moves elements beside loaded ones. Reductions and scans have
//! forms that flush each sum. So devices run such a program as any other.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::{Body, ByValue, Loop, Op, Program, ProgramKind, ReduceOp, Step, Steps, Value, numbered};
use crate::dtype::{DType, Kind};

/// A value of the program before, in the one that is written.
#[derive(Clone, Copy)]
struct Written {
    value: Value,
    dtype: DType,
    known: Known,
}

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Known {
    /// It is as it was loaded.
    Loaded,
    /// A step has computed it.
    Computed,
    /// It is no subnormal.
    Flushed,
    /// It is no float, or no subnormal, and as NaN the one NaN.
    Total,
}

/// How a value is read.
#[derive(Clone, Copy, PartialEq)]
enum Reads {
    /// All bits of what is loaded.
    Moves,
    /// A number.
    Computes,
    /// A number, or which NaN it is.
    Tells,
}

/// How a step reads floats.
fn reads(step: &Step) -> Reads {
    match step.op {
        Op::Lookup | Op::State | Op::Signbit | Op::IsNan | Op::IsInf | Op::IsFinite => Reads::Moves,
        Op::Copysign | Op::Call => Reads::Tells,
        _ => Reads::Computes,
    }
}

/// The steps that are written.
struct Writer {
    steps: Steps,
    values: ByValue<Written>,
}

impl Writer {
    /// Writes steps over inputs, each with its type and what is known of it. Operands of reductions are read where they are
    /// made, as steps may read what they are reduced to. The product of a contraction stays the product.
    fn new(
        inputs: impl Iterator<Item = (DType, Known)>,
        steps: &[Step],
        reduced: &[(Value, Reads)],
        product: Option<Value>,
    ) -> Writer {
        let input = |(i, (dtype, known)): (usize, (DType, Known))| {
            let known = if dtype.kind() == Kind::Float { known } else { Known::Total };
            Written { value: Value::Input(i as u32), dtype, known }
        };
        let mut writer = Writer { steps: Steps::new(), values: inputs.enumerate().map(input).collect() };
        for &(value, how) in reduced.iter().filter(|(value, _)| value.input().is_some()) {
            writer.read(value, how);
        }
        for (value, step) in numbered(steps) {
            let mut written = writer.step(step);
            if product == Some(value) {
                written.known = Known::Total;
            }
            writer.values.push(written);
            for &(value, how) in reduced.iter().filter(|(own, _)| *own == value) {
                writer.read(value, how);
            }
        }
        writer
    }

    fn step(&mut self, step: &Step) -> Written {
        let known = step.args.iter().map(|&arg| self.values[arg].known);
        let least = known.fold(Known::Total, |least, own| if own < least { own } else { least });
        let is_chosen = matches!(step.op, Op::Select | Op::Positive);
        let how = match least {
            Known::Loaded if is_chosen => Reads::Moves,
            _ => reads(step),
        };
        // Tables come last, and stay as they are.
        let (body, taken) = match &step.body {
            Some(Body::Loop(own)) => (Some(Body::Loop(Arc::new(own.made_total()))), 1 + own.values()),
            other => (other.clone(), step.args.len()),
        };
        // A function of bf16 is that of f32, whose result may be subnormal before it is rounded.
        let is_function = step.op.row().is_some_and(|row| row.ulp > 0);
        let is_wide = step.result == DType::BF16 && is_function;
        let known = match step.op {
            _ if step.result.kind() != Kind::Float => Known::Total,
            // Of numbers one is a number.
            _ if is_chosen && least == Known::Computed => Known::Flushed,
            _ if is_chosen => least,
            Op::Lookup => Known::Loaded,
            Op::State => Known::Flushed,
            Op::Unit | Op::Normal | Op::Repeat => Known::Total,
            Op::Cast if step.dtype.kind() != Kind::Float => Known::Total,
            _ => Known::Computed,
        };
        let mut args = SmallVec::<[Value; 3]>::new();
        for (i, &arg) in step.args.iter().enumerate() {
            args.push(match how {
                Reads::Computes if i >= taken => self.values[arg].value,
                how if is_wide => {
                    let value = self.read(arg, how);
                    self.steps.once(Step::new(Op::Cast, DType::BF16, DType::F32, smallvec![value]))
                }
                how => self.read(arg, how),
            });
        }
        let (dtype, result) = if is_wide { (DType::F32, DType::F32) } else { (step.dtype, step.result) };
        let value = self.steps.once(Step { body, ..Step::new(step.op, dtype, result, args) });
        let written = Written { value, dtype: result, known };
        if !is_wide {
            return written;
        }
        let value = self.made(written, Op::Flush);
        let value = self.steps.once(Step::new(Op::Cast, DType::F32, DType::BF16, smallvec![value]));
        Written { value, dtype: DType::BF16, known: Known::Flushed }
    }

    fn made(&mut self, Written { value, dtype, .. }: Written, op: Op) -> Value {
        self.steps.once(Step::new(op, dtype, dtype, smallvec![value]))
    }

    /// A value as its reader takes it.
    fn read(&mut self, value: Value, how: Reads) -> Value {
        let written = self.values[value];
        match (written.known, how) {
            (Known::Total, _) | (Known::Loaded, Reads::Moves) | (Known::Flushed, Reads::Computes) => {
                written.value
            }
            (_, Reads::Computes) => self.made(written, Op::Flush),
            _ => self.made(written, Op::Total),
        }
    }
}

impl Program {
    /// Rewrites it for total mode.
    pub(crate) fn make_total(&mut self) {
        // A sum makes its NaN the one, and a greatest element stays what it is.
        let of = |op: ReduceOp| if op.is_ordered(DType::F32) { Reads::Computes } else { Reads::Tells };
        let mut kind = self.kind.clone();
        let op = match &mut kind {
            ProgramKind::Axis(op, _) => op.combines().copied(),
            _ => None,
        };
        let reduced: Vec<(Value, Reads)> = match &self.kind {
            ProgramKind::RowFused(rows) => {
                rows.reductions.iter().map(|own| (own.value, of(own.op))).collect()
            }
            _ => op.iter().flat_map(|&op| self.results.iter().map(move |&result| (result, of(op)))).collect(),
        };
        let product = self.contraction().ok().map(|(_, product)| product);
        let known = |is_row| if is_row { Known::Total } else { Known::Loaded };
        let inputs = self.inputs.iter().map(|input| (input.dtype, known(input.source.is_row())));
        let mut writer = Writer::new(inputs, &self.steps, &reduced, product);
        let element = self.element_type();
        let moved = |writer: &mut Writer, key: &mut Option<Value>| {
            *key = key.map(|key| writer.read(key, Reads::Moves));
        };
        match &mut kind {
            ProgramKind::Map => {}
            ProgramKind::RowFused(rows) => {
                for own in &mut rows.reductions {
                    let dtype = self.dtype_of(own.value);
                    own.value = writer.read(own.value, of(own.op));
                    own.op = own.op.in_total(dtype);
                    moved(&mut writer, &mut own.index);
                }
            }
            ProgramKind::Axis(op, beside) => {
                if let Some(op) = op.combines() {
                    *op = op.in_total(element);
                }
                beside.iter_mut().for_each(|own| *own = writer.read(*own, Reads::Moves));
            }
        }
        for result in &mut self.results {
            *result = writer.read(*result, op.map_or(Reads::Moves, of));
        }
        (self.kind, self.steps) = (kind, Arc::new(writer.steps.all));
    }
}

impl Loop {
    /// The same in total mode. Its states and shared values are flushed, and the elements of tables are loaded.
    fn made_total(&self) -> Loop {
        let known = |i: usize| if i < self.values() { Known::Flushed } else { Known::Loaded };
        let args = self.args.iter().enumerate().map(|(i, &dtype)| (dtype, known(i)));
        let mut writer = Writer::new(args, &self.steps, &[], None);
        let next = self.next.iter().map(|&next| writer.read(next, Reads::Computes)).collect();
        let goes_on = self.goes_on.map(|goes_on| writer.read(goes_on, Reads::Moves));
        let (args, tables) = (self.args.clone(), self.tables.clone());
        Loop { steps: writer.steps.all, next, goes_on, args, tables, ..*self }
    }
}

impl ReduceOp {
    /// The form for total mode.
    fn in_total(self, dtype: DType) -> ReduceOp {
        match self {
            ReduceOp::Sum if dtype.kind() == Kind::Float => ReduceOp::TotalSum,
            ReduceOp::Prod if dtype.kind() == Kind::Float => ReduceOp::TotalProd,
            other => other,
        }
    }
}
