//! Other forms of a program that reduces inside: as a reduction and what follows it, and with its rows along the last axes.

use crate::cpu::bytes::From;
use crate::cpu::memory::HostMemory;
use crate::cpu::{eval, fold};
use crate::error::{Result, bail};
use crate::ir::{Frame, Input, Program, ProgramKind, RowFused, Source};
use crate::layout::Layout;

/// Reduces all, and computes of that what follows.
pub(super) fn after_reduction(
    program: &Program,
    plain: &Program,
    from: &[From<'_>],
    out: &mut [u8],
) -> Result<()> {
    let ProgramKind::Reduce(reduce) = &plain.kind else { bail!(Kernel, "a program that does not reduce") };
    let bytes = plain.byte_size()?;
    let mut held = plain.results.iter().map(|_| HostMemory::take(bytes)).collect::<Result<Vec<_>>>()?;
    let source = |input: &Input| {
        let same = |other: &Input| other.source.is_same(&input.source) && other.layout == input.layout;
        input_of(program, from, input, same)
    };
    let own: Vec<From<'_>> = plain.inputs.iter().map(source).collect::<Result<_>>()?;
    fold::fold(plain, reduce, &own, held.iter_mut().map(|memory| &mut memory[..bytes]).collect())?;
    let mut after = program.after_reductions()?;
    let row_major = Layout::contiguous(&after.shape)?;
    let mut own: Vec<From<'_>> = Vec::new();
    for input in &mut after.inputs {
        own.push(match input.source {
            Source::Row(number) => {
                input.layout = row_major.clone();
                From::Bytes(&held[number][..bytes])
            }
            _ => input_of(program, from, input, |other| other.source.is_same(&input.source))?,
        });
    }
    eval::eval(&after, &own, out)
}

/// What an input of a part of a program is read from.
fn input_of<'a>(
    program: &Program,
    from: &[From<'a>],
    input: &Input,
    same: impl Fn(&Input) -> bool,
) -> Result<From<'a>> {
    if let Source::Scalar(bits) = input.source {
        return Ok(From::Scalar(bits));
    }
    match program.inputs.iter().position(same) {
        Some(i) => Ok(from[i]),
        None => bail!(Kernel, "{:?} is no input of the program", input.source),
    }
}

/// The program with rows along its last axes, where most of what it reads lies so and they are others: and
/// how its results lie then, if they are all elements.
pub(super) fn turned(program: &Program, rows: &RowFused, frame: &Frame) -> Result<Option<(Program, Layout)>> {
    let rank = frame.shape.rank();
    let is_last = frame.shape[rows.axes.end..].iter().all(|&n| n == 1);
    if is_last || !program.lies_along(frame) {
        return Ok(None);
    }
    let kept = (0..rank).filter(|axis| !rows.axes.contains(axis));
    let order: Vec<usize> = kept.chain(rows.axes.clone()).collect();
    let there: Vec<isize> = order.iter().map(|&axis| axis as isize).collect();
    let mut back = vec![0; rank];
    order.iter().enumerate().for_each(|(i, &axis)| back[axis] = i as isize);
    let mut turned = program.clone();
    turned.shape = order.iter().map(|&axis| frame.shape[axis]).collect();
    for input in &mut turned.inputs {
        input.layout = input.layout.permute(&there)?;
    }
    let axes = rank - rows.axes.len()..rank;
    turned.kind = ProgramKind::RowFused(RowFused { axes, ..rows.clone() });
    let layout = Layout::contiguous(turned.result_shape())?.permute(&back)?;
    Ok(Some((turned, layout)))
}
