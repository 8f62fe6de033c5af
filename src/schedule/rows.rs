//! Row fusion: reductions and their readers as one stage. That is everything after a reduction over its own shape and,
//! if rows are short, everything that is made of a row. The maximum of a softmax, the sum of its exponentials and their
//! quotients are then computed row by row, and nothing between them is stored. Reductions of the same elements are one
//! stage, too, however long rows are.

use smallvec::SmallVec;

use super::Bounds;
use crate::error::Result;
use crate::ir::{
    Frame, Input, Joined, Op, Operands, Program, ProgramKind, RowFused, Source, Stage, Step, Value,
};
use crate::layout::Layout;
use crate::tuning::rows::{FEW, LEAST_ROWS, MOST_COST, MOST_REDUCTIONS, MOST_STEPS};

/// Facts about a stage.
struct Of {
    frame: Frame,
    /// Whether its result has one element for each row.
    kept: bool,
    /// Whether everything made of a row may be one stage, and not only the readers of its reductions.
    short: bool,
}

/// Stages, with worthwhile ones joined. The last one computes the results.
pub(super) fn join(stages: Vec<Stage>, bounds: Bounds) -> Result<Vec<Stage>> {
    let reduces = |stage: &Stage| {
        stage.one().is_some_and(
            |program| matches!(&program.kind, ProgramKind::Axis(kind, _) if kind.operands() == Operands::Once),
        )
    };
    if !stages.iter().any(reduces) {
        return Ok(stages);
    }
    let mut of: Vec<Option<Of>> = Vec::with_capacity(stages.len());
    for stage in &stages {
        let own = stage.one().and_then(|program| known(program, &of, bounds));
        of.push(own);
    }
    let readers = readers(&stages);
    // The stage that each is a part of, and that stage so far.
    let mut part_of: Vec<usize> = (0..stages.len()).collect();
    let mut joined: Vec<Option<Stage>> = stages.iter().cloned().map(Some).collect();
    for i in (0..stages.len()).rev() {
        let mut others = readers[i].iter().map(|&reader| part_of[reader]);
        let Some(reader) = others.next().filter(|reader| others.all(|other| other == *reader)) else {
            continue;
        };
        let (Some(own), Some(other), Some(Stage::One(inner))) = (&of[i], &of[reader], &joined[i]) else {
            continue;
        };
        let outer = joined[reader].as_ref().and_then(Stage::one);
        let Some(outer) = outer.filter(|_| own.kept && own.frame == other.frame) else {
            continue;
        };
        let whole = own.short && other.short;
        if !(whole || other.kept) || outer.results.len() > 1 {
            continue;
        }
        // Only later stages read a stage, and it is known by now which stages they are parts of.
        let follows = whole || inner.frame().is_none() || outer.frame().is_none();
        let is_one = |all: &Program| fits(all, bounds) && (follows || reads_once(all, outer, inner));
        let result = together(outer, inner, i, &own.frame, false)?.filter(is_one);
        if let Some(result) = result {
            joined[reader] = Some(Stage::One(result));
            joined[i] = None;
            part_of[i] = reader;
        }
    }
    // A program that has no reduction left is no program of rows.
    let is_apart = |stage: &Option<Stage>| {
        stage
            .as_ref()
            .and_then(Stage::one)
            .and_then(Program::row_fused)
            .is_some_and(|rows| rows.reductions.is_empty())
    };
    let is_apart: Vec<bool> = joined.iter().map(is_apart).collect();
    for (i, stage) in joined.iter_mut().enumerate().filter(|(i, _)| is_apart[part_of[*i]]) {
        *stage = Some(stages[i].clone());
    }
    beside(&mut joined, bounds)?;
    Ok(numbered(joined))
}

/// Joins reductions of the same rows whose results different stages read, as the minimum and the maximum in
/// `(x - min) / (max - min)`. The rows are then read once.
fn beside(joined: &mut [Option<Stage>], bounds: Bounds) -> Result<()> {
    let is_of_rows =
        |stage: &Option<Stage>| stage.as_ref().and_then(Stage::one).is_some_and(Program::is_of_rows);
    // The last stage has the results.
    let count = joined.len().saturating_sub(1);
    let candidates: Vec<usize> = (0..count).filter(|&i| is_of_rows(&joined[i])).collect();
    let pairs =
        candidates.iter().enumerate().flat_map(|(n, i)| candidates[n + 1..].iter().map(move |j| (i, j)));
    for (&i, &j) in pairs {
        let own = |stage: usize| joined[stage].as_ref().and_then(Stage::one);
        let Some((a, b)) = own(i).zip(own(j)) else { continue };
        let Some(frame) = a.frame().filter(|frame| b.frame().as_ref() == Some(frame)) else { continue };
        let is_read = |own: &Input| own.source.is_memory() && a.inputs.iter().any(|other| other.is_same(own));
        if a.dtype != b.dtype || b.stages().any(|stage| stage > i) || !b.inputs.iter().any(is_read) {
            continue;
        }
        let is_one = |all: &Program| fits(all, bounds) && reads_once(all, a, b);
        let Some(all) = together(b, a, i, &frame, true)?.filter(is_one) else { continue };
        let before = a.results.len();
        (joined[i], joined[j]) = (Some(Stage::One(all)), None);
        let rest = joined.iter_mut().flatten().flat_map(Stage::programs_mut);
        for input in rest.flat_map(|program| &mut program.inputs) {
            if let Source::Stage { stage, result } = &mut input.source
                && *stage == j
            {
                (*stage, *result) = (i, before + *result);
            }
        }
    }
    Ok(())
}

/// Whether a pass over rows that reduces for both programs reads no more than one of them does alone.
fn reads_once(all: &Program, a: &Program, b: &Program) -> bool {
    all.leaves_partials() && all.read_to_reduce() == a.read_to_reduce().max(b.read_to_reduce())
}

/// The readers of each stage, in their order. One is repeated if it reads the stage several times.
pub(super) fn readers(stages: &[Stage]) -> Vec<SmallVec<[usize; 2]>> {
    let mut readers = vec![SmallVec::new(); stages.len()];
    for (i, own) in stages.iter().enumerate() {
        own.stages().for_each(|stage| readers[stage].push(i));
    }
    readers
}

/// The rows of a stage, if it reduces, or reads a reduction's result.
fn known(program: &Program, of: &[Option<Of>], bounds: Bounds) -> Option<Of> {
    if let Some(reduce) = program.kind.reduce() {
        let frame = program.frame()?;
        let takes = !reduce.op.row().gives_index;
        let short = takes && is_short(program, &frame, bounds);
        return takes.then_some(Of { frame, kept: true, short });
    }
    if matches!(program.kind, ProgramKind::Axis(..)) {
        return None;
    }
    let read = |input: &Input| {
        let Source::Stage { stage, .. } = input.source else { return None };
        let own = of[stage].as_ref().filter(|own| own.kept)?;
        let kept = how(program, &input.layout, &own.frame)?;
        Some(Of { frame: own.frame.clone(), kept, short: own.short })
    };
    let all = || program.inputs.iter().filter_map(read);
    all().find(|own| own.short).or_else(|| all().next())
}

/// Whether a program that reads one element of each row through a layout runs over these elements, or over all elements
/// of the rows; `None` if neither.
fn how(program: &Program, layout: &Layout, frame: &Frame) -> Option<bool> {
    let kept = frame.kept();
    if program.shape == frame.shape && kept != frame.shape {
        let stretched = Layout::contiguous(&kept).ok()?.broadcast_to(&frame.shape).ok()?;
        return (stretched == *layout).then_some(false);
    }
    let count = |shape: &[usize]| shape.iter().product::<usize>();
    (count(&program.shape) == count(&kept) && layout.is_identity()).then_some(true)
}

/// Whether rows are computed one by one.
fn is_short(program: &Program, frame: &Frame, bounds: Bounds) -> bool {
    let rows: usize = frame.kept().iter().product();
    program.has_short_rows(frame, bounds.longest_row) && (rows >= LEAST_ROWS || rows * frame.count() <= FEW)
}

/// Both programs as one; `outer` may read `inner`, which is stage `number`, and whose results come first if they stay.
/// `None` if it does not read it so.
fn together(
    outer: &Program,
    inner: &Program,
    number: usize,
    frame: &Frame,
    stay: bool,
) -> Result<Option<Program>> {
    let is_inner = |input: &Input| matches!(input.source, Source::Stage { stage, .. } if stage == number);
    let stretched = Layout::contiguous(frame.kept())?.broadcast_to(&frame.shape)?;
    let (Some(outer), Some(inner)) = (over_rows(outer, frame)?, over_rows(inner, frame)?) else {
        return Ok(None);
    };
    if outer.inputs.iter().any(|input| is_inner(input) && input.layout != stretched) {
        return Ok(None);
    }
    let kept = outer.kind.reduce().is_some() || outer.row_fused().is_some_and(|rows| rows.kept);
    let mut all = Joined::new(frame.clone());
    let known = all.add(&inner, |_| None)?;
    let own = all.add(&outer, |input| match input.source {
        Source::Stage { stage, result } if stage == number => known.get(result).copied(),
        _ => None,
    })?;
    let results: SmallVec<[Value; 2]> = known.into_iter().filter(|_| stay).chain(own).collect();
    Ok(Some(all.finish(&results, kept)))
}

/// A program over all elements of some rows; as one over an element of each, if it is one.
fn over_rows(program: &Program, frame: &Frame) -> Result<Option<Program>> {
    if program.frame().is_some() || program.shape == frame.shape {
        return Ok(Some(program.clone()));
    }
    let kept: Vec<isize> = frame.kept().iter().map(|&n| n as isize).collect();
    let mut program = program.clone();
    for input in &mut program.inputs {
        let Ok(layout) = input.layout.reshape(&kept) else { return Ok(None) };
        input.layout = layout.broadcast_to(&frame.shape)?;
    }
    program.shape = frame.shape.clone();
    let rows = RowFused { axes: frame.axes.clone(), reductions: Vec::new(), kept: true };
    Ok(Some(program.of_kind(ProgramKind::RowFused(rows))))
}

/// Whether a kernel holds the joined program.
fn fits(program: &Program, bounds: Bounds) -> bool {
    let cost: usize = program.steps.iter().map(Step::cost).sum();
    let reductions = program.row_fused().map_or(0, |rows| rows.reductions.len());
    // For long rows each reduction reads its partial results in place of the elements. One result is counted with any kernel.
    let read = program.tensors().count() + program.stages().count() + reductions.saturating_sub(1);
    let bound = read + program.results.len() - 1;
    let is_short = program.steps.len() <= MOST_STEPS && reductions <= MOST_REDUCTIONS && cost <= MOST_COST;
    // A loop must not run again and again, and a lookup has no rows.
    let is_plain = program.steps.iter().all(|step| step.body.is_none() && step.op != Op::Lookup);
    is_short && is_plain && bound <= bounds.operands
}

/// The remaining stages, with their new numbers.
pub(super) fn numbered(joined: Vec<Option<Stage>>) -> Vec<Stage> {
    let mut numbers = Vec::with_capacity(joined.len());
    let mut next = 0;
    for stage in &joined {
        numbers.push(next);
        next += usize::from(stage.is_some());
    }
    let mut all: Vec<Stage> = joined.into_iter().flatten().collect();
    for input in all.iter_mut().flat_map(Stage::programs_mut).flat_map(|program| &mut program.inputs) {
        if let Source::Stage { stage, .. } = &mut input.source {
            *stage = numbers[*stage];
        }
    }
    all
}
