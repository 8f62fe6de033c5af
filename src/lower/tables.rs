//! Lookups in tables that no binding shows whole. Each is computed separately, chunk by chunk of the table: the
//! elements whose index lies in a chunk are written. A loop that looks up in such a table is computed iteration by
//! iteration.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::smallvec;

use super::commands::Lowering;
use super::ranges::{Cuts, Piece};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{
    Body, ByValue, Input, Loop, Op, Program, ProgramBuilder, Slot, Source, Step, Value, numbered,
};
use crate::layout::Layout;

impl Lowering {
    /// The program without such lookups, which are computed before.
    pub(super) fn without_tables<'a>(&mut self, program: &'a Program) -> Result<Cow<'a, Program>> {
        let mut program = Cow::Borrowed(program);
        let looks_up = |step: &Step| step.op == Op::Lookup || step.body.is_some();
        if !program.steps.iter().any(looks_up) || self.cuts.is_shown(&program) {
            return Ok(program);
        }
        // One after the other, as an index may itself come from a lookup.
        while let Some(found) = first(self.cuts, &program) {
            let known = match found {
                Found::Lookup(value, pieces) => {
                    let own = program.only(&[value])?;
                    let (to, layout) = (self.result(&own)?, Layout::contiguous(&own.shape)?);
                    for piece in &pieces {
                        let (part, layout) = of_piece(&own, piece, to, &layout)?;
                        self.assign(part, to, &layout)?;
                    }
                    BTreeMap::from([(value, Input::new(own.dtype, Source::Slot(to), layout))])
                }
                Found::Loop(value, own) => {
                    let states = self.states(&program, value, &own)?;
                    let known = numbered(&program.steps).filter_map(|(state, step)| match step.body {
                        Some(Body::State(i)) if step.args[0] == value => Some((state, states[i].clone())),
                        _ => None,
                    });
                    known.collect()
                }
            };
            // The explanation of a stage is about the remaining program.
            self.note.tables = true;
            self.note.first = self.commands.dispatches.len();
            program = Cow::Owned(program.with_known(&known)?);
        }
        Ok(program)
    }

    /// The final states of a loop, by the value of its step. Every step of every iteration is a program of its own,
    /// with no more tensors than any kernel binds.
    fn states(&mut self, program: &Program, value: Value, own: &Loop) -> Result<Vec<Input>> {
        let Some(Step { args, .. }) = program.step(value) else { bail!(Kernel, "a loop without a step") };
        let layout = Layout::contiguous(&program.shape)?;
        let mut stored = |own: Program| {
            let (to, dtype) = (self.result(&own)?, own.dtype);
            self.assign(own, to, &layout)?;
            Ok(Input::new(dtype, Source::Slot(to), layout.clone()))
        };
        let given = |&value: &Value| match program.input(value) {
            Some(input) => Ok(input.clone()),
            None => stored(program.only(&[value])?),
        };
        let mut args = args.iter().map(given).collect::<Result<Vec<Input>>>()?;
        let beside = args.split_off(1 + own.states);
        let mut states = args.split_off(1);
        let Source::Scalar(turns) = args[0].source else {
            bail!(Kernel, "a loop of turns that nobody knows")
        };
        let mut open: Option<Input> = None;
        let step = |op: Op, result: DType, args: &[&Input]| {
            let numbers = (0..args.len() as u32).map(Value::Input).collect();
            let own = Step::new(op, result, result, numbers);
            of_steps(program, args.iter().map(|&arg| arg.clone()).collect(), vec![own])
        };
        for _ in 0..turns {
            let mut values: ByValue<Input> = states.iter().chain(&beside).cloned().collect();
            for own_step in &own.steps {
                let of = |step: &Step| step.args.iter().map(|&arg| values[arg].clone()).collect();
                let alone = |step: &Step| Step {
                    args: (0..).map(Value::Input).take(step.args.len()).collect(),
                    ..step.clone()
                };
                values.push(match &own_step.body {
                    // A loop's states are values, and the loop is none.
                    Some(Body::Loop(_)) => states[0].clone(),
                    Some(Body::State(_)) => {
                        let Some(inner) = own_step.args[0].step().map(|i| &own.steps[i]) else {
                            bail!(Kernel, "a state without a loop")
                        };
                        let state = Step { args: smallvec![Value::Step(0)], ..own_step.clone() };
                        stored(of_steps(program, of(inner), vec![alone(inner), state]))?
                    }
                    _ => stored(of_steps(program, of(own_step), vec![alone(own_step)]))?,
                });
            }
            if let Some(goes_on) = own.goes_on {
                let goes_on = values[goes_on].clone();
                open = Some(match &open {
                    None => goes_on,
                    Some(open) => stored(step(Op::And, DType::Bool, &[open, &goes_on]))?,
                });
            }
            let next = |(old, &next): (&Input, &Value)| match (&values[next], &open) {
                (next, Some(open)) => stored(step(Op::Select, old.dtype, &[open, next, old])),
                (next, None) => Ok(next.clone()),
            };
            states = states.iter().zip(&own.next).map(next).collect::<Result<_>>()?;
        }
        Ok(states)
    }
}

/// A lookup in a table of several chunks.
enum Found {
    Lookup(Value, Vec<Piece>),
    Loop(Value, Arc<Loop>),
}

/// The first one of a program.
fn first(cuts: Cuts, program: &Program) -> Option<Found> {
    let pieces = |&table: &Value| cuts.pieces(program.input(table)?);
    numbered(&program.steps).find_map(|(value, step)| match &step.body {
        None if step.op == Op::Lookup => Some(Found::Lookup(value, pieces(&step.args[0])?)),
        Some(Body::Loop(own)) => {
            let mut tables = step.args.iter().skip(1 + own.values());
            tables.find_map(pieces).map(|_| Found::Loop(value, own.clone()))
        }
        _ => None,
    })
}

/// Steps over inputs, as a program whose result is the last step.
fn of_steps(like: &Program, inputs: Vec<Input>, steps: Vec<Step>) -> Program {
    let dtype = steps.last().map_or(like.dtype, |step| step.result);
    let last = Value::Step(steps.len() as u32 - 1);
    Program::of_steps(like.shape.clone(), dtype, inputs, steps, smallvec![last])
}

/// A program whose result is a lookup in one chunk. Other elements keep their values.
fn of_piece(own: &Program, piece: &Piece, to: Slot, layout: &Layout) -> Result<(Program, Layout)> {
    let (mut part, mut layout) = (own.clone(), layout.clone());
    for (axis, range) in (0..).zip(&piece.axes) {
        let range = range.start as isize..range.end as isize;
        part = part.slice(axis, range.clone())?;
        layout = layout.slice(axis, range, 1)?;
    }
    let Some(Step { args, .. }) = Arc::make_mut(&mut part.steps).pop() else {
        bail!(Kernel, "a lookup without a step")
    };
    let Some((&Value::Input(table), indices)) = args.split_first() else {
        bail!(Kernel, "a lookup without a table")
    };
    // The table from the begin of the chunk.
    let looked = &mut part.inputs[table as usize];
    let whole = looked.computed.clone();
    for (range, extent) in piece.indices.iter().zip(&mut looked.computed) {
        let start = looked.layout.offset() as isize + range.start as isize * extent.stride;
        looked.layout = looked.layout.from(start as usize);
        extent.length = range.len();
    }
    let mut all = ProgramBuilder::new();
    let values = all.copy_all(&part, |all, input| Ok(all.input(input.clone())))?;
    let stretched = Layout::contiguous([])?.broadcast_to(&part.shape)?;
    let number = |all: &mut ProgramBuilder, value: usize| {
        all.input(Input::new(DType::I32, Source::Scalar(value as u64), stretched.clone()))
    };
    let step = |all: &mut ProgramBuilder, op: Op, dtype: DType, result: DType, args: &[Value]| {
        all.steps.once(Step::new(op, dtype, result, args.into()))
    };
    let (mut args, mut inside) = (vec![values[Value::Input(table)]], None);
    for ((&index, range), extent) in indices.iter().zip(&piece.indices).zip(&whole) {
        let index = values[index];
        if range.len() == extent.length {
            args.push(index);
            continue;
        }
        let [zero, begin, last] = [0, range.start, range.len() - 1].map(|value| number(&mut all, value));
        let from = step(&mut all, Op::Sub, DType::I32, DType::I32, &[index, begin]);
        let nearest = step(&mut all, Op::Clamp, DType::I32, DType::I32, &[from, zero, last]);
        let is_own = step(&mut all, Op::Eq, DType::I32, DType::Bool, &[from, nearest]);
        inside = Some(match inside {
            Some(others) => step(&mut all, Op::And, DType::Bool, DType::Bool, &[others, is_own]),
            None => is_own,
        });
        args.push(nearest);
    }
    let mut found = step(&mut all, Op::Lookup, DType::I32, own.dtype, &args);
    if let Some(inside) = inside {
        // Other elements keep their values.
        let there = all.input(Input::new(own.dtype, Source::Slot(to), layout.clone()));
        found = step(&mut all, Op::Select, own.dtype, own.dtype, &[inside, found, there]);
    }
    Ok((all.finish(part.shape.clone(), own.dtype, smallvec![found]), layout))
}
