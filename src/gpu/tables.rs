//! Lookups in tables that no window shows: each is computed on its own, piece by piece of the table, and what
//! lies in a piece is written where its index does.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::smallvec;

use super::device::Gpu;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::expr::{Extent, Input, Op, Program, Source, Step, Storage, Value};
use crate::layout::Layout;
use crate::schedule::Piece;

/// The program with such lookups as tensors. `result` gives a storage for a program, and `each` takes the
/// programs that are written to layouts of one.
pub(super) fn computed<'a>(
    gpu: &Arc<Gpu>,
    program: &'a Program,
    result: &dyn Fn(&Program) -> Result<Storage>,
    each: &mut dyn FnMut(Program, &Storage, &Layout) -> Result<()>,
) -> Result<Cow<'a, Program>> {
    let mut program = Cow::Borrowed(program);
    // One after the other, as an index may be looked up itself.
    while let Some((value, pieces)) = first(gpu, &program) {
        let same = |layout: &Layout| Ok(layout.clone());
        let own = program.extract(&[value], program.shape.clone(), &BTreeMap::new(), same)?;
        let (to, layout) = (result(&own)?, Layout::contiguous(&own.shape)?);
        for piece in &pieces {
            let (part, layout) = of_piece(&own, piece, &to, &layout)?;
            each(part, &to, &layout)?;
        }
        let known = BTreeMap::from([(value, Input::new(own.dtype, Source::Tensor(to), layout))]);
        let rest = program.extract(&program.results, program.shape.clone(), &known, same)?;
        program = Cow::Owned(rest.folded(program.fold.clone()));
    }
    Ok(program)
}

/// The first lookup in a table of several pieces.
fn first(gpu: &Gpu, program: &Program) -> Option<(Value, Vec<Piece>)> {
    let values = (program.inputs.len() as Value..).zip(&program.steps);
    let mut lookups = values.filter(|(_, step)| step.op == Op::Lookup);
    lookups.find_map(|(value, step)| {
        let pieces = gpu.parts.cuts.pieces(&program.inputs[step.args[0] as usize])?;
        Some((value, pieces))
    })
}

/// A program whose result is a lookup, for what lies in a piece: other elements stay as they are.
fn of_piece(own: &Program, piece: &Piece, to: &Storage, layout: &Layout) -> Result<(Program, Layout)> {
    let (mut part, mut layout) = (own.clone(), layout.clone());
    for (axis, range) in (0..).zip(&piece.axes) {
        let range = range.start as isize..range.end as isize;
        part = part.slice(axis, range.clone())?;
        layout = layout.slice(axis, range, 1)?;
    }
    let Some(Step { args, .. }) = part.steps.pop() else { bail!(Kernel, "a lookup without a step") };
    let Some((&table, indices)) = args.split_first() else { bail!(Kernel, "a lookup without a table") };
    let is_part = |(range, extent): &(&std::ops::Range<usize>, &Extent)| range.len() < extent.length;
    let extents = part.inputs[table as usize].computed.clone();
    let cut: Vec<bool> = piece.indices.iter().zip(&extents).map(|pair| is_part(&pair)).collect();
    // Where each such index begins and ends, 0, and what is there already.
    let stretched = Layout::contiguous([])?.broadcast_to(&part.shape)?;
    let number = |value: usize| Input::new(DType::I32, Source::Scalar(value as u64), stretched.clone());
    let before = part.inputs.len() as Value;
    part.inputs.push(number(0));
    part.inputs.push(Input::new(own.dtype, Source::Tensor(to.clone()), layout.clone()));
    for (range, _) in piece.indices.iter().zip(&cut).filter(|(_, cut)| **cut) {
        part.inputs.extend([number(range.start), number(range.len() - 1)]);
    }
    let more = part.inputs.len() as Value - before;
    let moved = |value: Value| if value >= before { value + more } else { value };
    part.steps.iter_mut().flat_map(|step| step.args.iter_mut()).for_each(|arg| *arg = moved(*arg));
    let looked = &mut part.inputs[table as usize];
    for (range, extent) in piece.indices.iter().zip(&mut looked.computed) {
        let start = looked.layout.offset() as isize + range.start as isize * extent.stride;
        looked.layout = looked.layout.from(start as usize);
        extent.length = range.len();
    }
    let mut step = |op: Op, dtype: DType, result: DType, args: &[Value]| {
        part.steps.push(Step::new(op, dtype, result, args.into()));
        (part.inputs.len() + part.steps.len()) as Value - 1
    };
    let (mut args, mut inside) = (smallvec![table], None);
    let mut numbers = before + 2;
    for (&index, cut) in indices.iter().zip(cut) {
        let index = moved(index);
        if !cut {
            args.push(index);
            continue;
        }
        let from = step(Op::Sub, DType::I32, DType::I32, &[index, numbers]);
        let nearest = step(Op::Clamp, DType::I32, DType::I32, &[from, before, numbers + 1]);
        let is_own = step(Op::Eq, DType::I32, DType::Bool, &[from, nearest]);
        inside = Some(match inside {
            Some(all) => step(Op::And, DType::Bool, DType::Bool, &[all, is_own]),
            None => is_own,
        });
        args.push(nearest);
        numbers += 2;
    }
    let args: smallvec::SmallVec<[Value; 3]> = args;
    let mut found = step(Op::Lookup, DType::I32, own.dtype, &args);
    if let Some(inside) = inside {
        found = step(Op::Select, own.dtype, own.dtype, &[inside, found, before + 1]);
    }
    part.results = smallvec![found];
    // What is not read is no input.
    let same = |layout: &Layout| Ok(layout.clone());
    Ok((part.extract(&[found], part.shape.clone(), &BTreeMap::new(), same)?, layout))
}
