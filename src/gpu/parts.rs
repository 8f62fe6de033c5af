//! Folds of more than a kernel binds, part by part: what they read, what they give, or what their passes store is
//! too large. Kept axes are cut in halves until a part can be bound, or until its elements can be computed into a
//! storage that can. A run that is too long for that is cut into chunks of 4096 to some power: a chunk is then a
//! value of a later round of the contract's order, so that these cuts change no bit.

use std::ops::Range;
use std::sync::Arc;

use smallvec::smallvec;

use super::device::Gpu;
use super::runner::{Counts, Look, Looked, Runner};
use super::tables::{self, How};
use super::{fold, scan};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result, bail};
use crate::ir::{BLOCK, Fold, Folding, GROUP, Input, Op, Program, Scan, Source, Step, Storage, Told, Value};
use crate::layout::{Layout, Shape};
use crate::plan::{Plan, ScanWork};
use crate::wgsl;

/// The widest type that a pass stores.
const WIDEST: DType = DType::F64;

/// Runs a program of one result that folds: a storage for it.
pub(super) fn eval(gpu: &Arc<Gpu>, program: &Program) -> Result<Storage> {
    run(&mut Runner::new(gpu), program)
}

/// Whether a program is run as it is.
pub(super) fn is_whole(gpu: &Arc<Gpu>, program: &Program) -> bool {
    gpu.cuts().is_short(program) && is_shown(gpu, program)
}

/// Whether kernels bind all that a program takes. Its passes store no more values than there are elements.
fn is_shown(gpu: &Arc<Gpu>, program: &Program) -> bool {
    let cuts = gpu.cuts();
    let is_small = || cuts.shows(program.shape.iter().product(), WIDEST);
    cuts.is_shown(program) && (!program.folds() || is_small() || fold::has_room(gpu, program))
}

/// Whether a program is run as it is where its elements are computed before.
fn has_room(gpu: &Arc<Gpu>, program: &Program) -> Result<bool> {
    let elements = program.clone().folded(None);
    let stored = Storage::without_memory(gpu.clone(), elements.shape.iter().product());
    Ok(is_whole(gpu, &reading(&elements, stored)?.folded(program.fold.clone())))
}

/// Calls `each` with the plans of a fold; parts of one have kernels that other folds have too.
pub(super) fn plans(
    gpu: &Arc<Gpu>,
    program: &Program,
    each: &mut dyn FnMut(&Plan) -> Result<()>,
) -> Result<()> {
    dry_run(gpu, program, &mut |looked| each(looked.plan)).map(drop)
}

/// What would run, and the text of the first kernel.
pub(super) fn explain(gpu: &Arc<Gpu>, program: &Program) -> Result<Told> {
    let mut told = Told::default();
    let mut passes = String::new();
    let mut number = 0;
    let counts = dry_run(gpu, program, &mut |Looked { plan, pass, part }| {
        if told.text.is_empty() {
            let (wgsl, lines) = wgsl::emit_told(&plan.kernel)?;
            (told.text, told.wgsl) = (plan.to_string(), Some(wgsl));
            // Else it copies one of the operands.
            if pass.is_some() || plan.kernel.operands.len() == program.inputs.len() {
                (told.lines, told.accesses) = (lines, plan.accesses());
            }
        }
        if let Some(pass) = pass.filter(|_| part == 1) {
            number += 1;
            let [x, y, z] = plan.launch.groups;
            passes.push_str(&format!("pass {number}: {}; workgroups {x} x {y} x {z}\n", pass.form));
        }
        Ok(())
    })?;
    told.text.push_str(&passes);
    let is_cut = |input: &Input| input.is_table() && gpu.cuts().pieces(input).is_some();
    if program.inputs.iter().any(is_cut) {
        told.text.push_str("before: lookups in tables larger than a binding, which are not counted\n");
    }
    let runs = match (is_whole(gpu, program), counts.kernels) {
        (true, 1) => "1 kernel, as above".to_string(),
        (true, kernels) => {
            if kernels > number {
                told.text.push_str(&format!("then: a cast to {}\n", program.dtype));
            }
            format!("{kernels} kernels, the first as above")
        }
        (false, kernels) => format!(
            "{kernels} kernels over {} parts, the first as above: what is read or stored is larger than a binding (max_storage_buffer_binding_size), or one would take too long",
            counts.parts
        ),
    };
    told.text.push_str(&format!("runs: {runs}\n"));
    told.moved = Some(counts.bytes);
    Ok(told)
}

/// Goes through what runs for a program, of whatever results, but for what is looked up in tables that no window
/// shows: that is computed before.
fn dry_run(gpu: &Arc<Gpu>, program: &Program, look: &mut Look<'_>) -> Result<Counts> {
    let result = |own: &Program| Storage::declared(gpu.clone(), own);
    let program =
        tables::computed(gpu, program, How { result: &result, each: &mut |_, _, _| Ok(()), turns: 2 })?;
    let mut runner = Runner::dry(gpu, look);
    match is_whole(gpu, &program) && !program.is_scan() {
        true => whole(&mut runner, &program).map(drop)?,
        false => program.each(|one| run(&mut runner, one)).map(drop)?,
    }
    Ok(runner.counts)
}

/// Runs a program of one result, as it is or in parts.
fn run(runner: &mut Runner<'_>, program: &Program) -> Result<Storage> {
    if is_whole(runner.gpu, program) { whole(runner, program) } else { divided(runner, program) }
}

fn divided(runner: &mut Runner<'_>, program: &Program) -> Result<Storage> {
    // Windows show parts of what is folded, and rows are copied for that.
    if !runner.gpu.cuts().is_whole(program)
        && let Some(plain) = program.plain_fold()
    {
        return after_fold(runner, program, &plain);
    }
    let result = runner.result(program)?;
    let mut open = vec![(program.clone(), Layout::contiguous(program.result_shape())?)];
    while let Some((part, to)) = open.pop() {
        let axes = match &part.rows {
            Some(rows) => rows.axes.clone(),
            None => folding(&part)?.axes,
        };
        // The outermost of the longest, so that a part of the result lies in one run.
        let kept = (0..part.shape.rank()).rev().filter(|axis| !axes.contains(axis));
        let longest = kept.max_by_key(|&axis| part.shape[axis]).filter(|&axis| part.shape[axis] > 1);
        // Of a run that takes too long alone, elements are computed before, or chunks are folded.
        let bound = match longest {
            Some(_) if !runner.gpu.cuts().is_short(&part) => Err(part),
            _ => bound(runner, part)?,
        };
        let value = match (bound, longest) {
            (Ok(part), _) => whole(runner, &part)?,
            (Err(part), None) => match part.plain_fold() {
                Some(plain) => after_fold(runner, &part, &plain)?,
                None => long_run(runner, part)?,
            },
            (Err(part), Some(axis)) => {
                let (n, axis) = (part.shape[axis] as isize, axis as isize);
                for range in [n / 2..n, 0..n / 2] {
                    open.push((part.slice(axis, range.clone())?, to.slice(axis, range, 1)?));
                }
                continue;
            }
        };
        write(runner, program.dtype, value, &result, &to)?;
    }
    Ok(result)
}

/// Folds, and then computes what follows.
fn after_fold(runner: &mut Runner<'_>, program: &Program, plain: &Program) -> Result<Storage> {
    let values = plain.each(|one| run(runner, one))?;
    let mut after = program.after_folds()?;
    let layout = Layout::contiguous(&after.shape)?;
    for input in &mut after.inputs {
        if let Source::Row(fold) = input.source {
            (input.source, input.layout) = (Source::Tensor(values[fold].clone()), layout.clone());
        }
    }
    let result = runner.result(&after)?;
    runner.write(&after, &result, &layout, true)?;
    Ok(result)
}

/// Rows as ones that a kernel binds: what it does not bind whole is copied. Given back where that is too large.
fn bound_rows(runner: &mut Runner<'_>, program: Program) -> Result<std::result::Result<Program, Program>> {
    let gpu = runner.gpu;
    let mut copied = program.clone();
    let mut copies = Vec::new();
    for (i, input) in copied.inputs.iter_mut().enumerate() {
        let copy = Program::copy(input.clone());
        if matches!(input.source, Source::Tensor(_)) && !gpu.cuts().is_shown(&copy) {
            let stored = Storage::without_memory(gpu.clone(), copy.shape.iter().product());
            *input = reading(&copy, stored)?.inputs.swap_remove(0);
            copies.push((i, copy));
        }
    }
    // A row of its own is the least, however long it takes.
    if !is_shown(gpu, &copied) {
        return Ok(Err(program));
    }
    for (i, copy) in copies {
        copied.inputs[i] = computed(runner, &copy)?.inputs.swap_remove(0);
    }
    Ok(Ok(copied))
}

fn folding(program: &Program) -> Result<Folding> {
    match &program.fold {
        Some(folding) => Ok(folding.clone()),
        None => bail!(Kernel, "a program without a fold"),
    }
}

/// Folds what can be bound.
fn whole(runner: &mut Runner<'_>, program: &Program) -> Result<Storage> {
    runner.counts.parts += 1;
    match fold::go(runner, program)?.pop() {
        Some(storage) => Ok(storage),
        None => bail!(Kernel, "a fold without a result"),
    }
}

/// Writes row-major elements to their places in a result.
fn write(runner: &mut Runner<'_>, dtype: DType, from: Storage, to: &Storage, layout: &Layout) -> Result<()> {
    let own = Layout::contiguous(layout.shape())?;
    let copy = Program::copy(Input::new(dtype, Source::Tensor(from), own));
    runner.write(&copy, to, layout, false)
}

/// A program as one that a kernel binds: its own, over windows, or one that reads the elements, computed
/// before. Given back where both are too large.
fn bound(runner: &mut Runner<'_>, program: Program) -> Result<std::result::Result<Program, Program>> {
    let gpu = runner.gpu;
    if is_whole(gpu, &program) {
        return Ok(Ok(program));
    }
    if program.rows.is_some() {
        return bound_rows(runner, program);
    }
    if !has_room(gpu, &program)? {
        return Ok(Err(program));
    }
    let elements = program.clone().folded(None);
    let (to, layout) = (Storage::declared(gpu.clone(), &elements)?, Layout::contiguous(&elements.shape)?);
    let mut parts = Vec::new();
    // Stopped by the second part.
    let stopped = gpu.cuts().parts(
        &elements,
        (&to, &layout, true),
        &mut |storage, window| gpu.bind(storage, window),
        &mut |part| match parts.is_empty() {
            true => {
                parts.push(part.program);
                Ok(())
            }
            false => Err(Error::new(ErrorKind::Limit, "more than one part")),
        },
    );
    match (stopped, parts.pop()) {
        // Its axes may be merged: what a fold needs of it is where each input is bound.
        (Ok(()), Some(part)) if part.inputs.len() == program.inputs.len() => {
            let mut windows = program.clone();
            for (input, bound) in windows.inputs.iter_mut().zip(part.inputs) {
                input.layout = input.layout.from(bound.layout.offset());
                input.source = bound.source;
            }
            if gpu.cuts().is_short(&windows) && fold::has_room(gpu, &windows) {
                return Ok(Ok(windows));
            }
        }
        (Err(error), _) if error.kind() != ErrorKind::Limit => return Err(error),
        _ => {}
    }
    Ok(Ok(computed(runner, &elements)?.folded(program.fold)))
}

/// A program that reads elements, which are computed into a storage.
fn computed(runner: &mut Runner<'_>, elements: &Program) -> Result<Program> {
    let storage = runner.result(elements)?;
    runner.write(elements, &storage, &Layout::contiguous(&elements.shape)?, true)?;
    reading(elements, storage)
}

/// A program that reads elements from a storage.
fn reading(elements: &Program, storage: Storage) -> Result<Program> {
    let layout = Layout::contiguous(&elements.shape)?;
    Ok(Program::copy(Input::new(elements.dtype, Source::Tensor(storage), layout)))
}

/// Folds a run that is all of a program: chunk by chunk, and what these give.
fn long_run(runner: &mut Runner<'_>, program: Program) -> Result<Storage> {
    let folding = folding(&program)?;
    let program = flat(runner, program)?;
    if let Some(scan) = folding.scan {
        return long_scan(runner, &program, scan);
    }
    let gpu = runner.gpu;
    let (count, element) = (program.shape[0], program.element_type());
    let is_bound = |length: usize| -> Result<bool> {
        let chunk = program.slice(0, 0..length as isize)?;
        Ok(is_whole(gpu, &chunk) || has_room(gpu, &chunk)?)
    };
    let mut length = BLOCK;
    while length < count.div_ceil(BLOCK) && is_bound(length * BLOCK)? {
        length *= BLOCK;
    }
    let chunks = count.div_ceil(length);
    let shape = Shape::from([chunks]);
    let along = |fold: Fold| Some(Folding { fold, axes: 0..1, scan: None });
    let values_of = match folding.fold {
        Fold::ArgMin => Fold::Min,
        Fold::ArgMax => Fold::Max,
        fold => fold,
    };
    // The value of each chunk, and the index of it there.
    let gather = |runner: &mut Runner<'_>, fold: Fold, dtype: DType| -> Result<Program> {
        let all = Layout::contiguous(&shape)?;
        let storage = runner.storage(chunks, dtype)?;
        for chunk in 0..chunks {
            let Range { start, end } = chunk * length..count.min((chunk + 1) * length);
            let part = program.slice(0, start as isize..end as isize)?;
            // A run of one element is none, but for what is told of its place.
            let value = match end - start == 1 && !is_index(fold) {
                true => computed(runner, &part.folded(None))?.inputs.swap_remove(0),
                false => match bound(runner, part.folded(along(fold)))? {
                    Ok(part) => {
                        let source = Source::Tensor(whole(runner, &part)?);
                        Input::new(dtype, source, Layout::contiguous([1])?)
                    }
                    Err(_) => bail!(
                        Limit,
                        "a kernel of {} binds fewer than {BLOCK} elements of {element} (max_storage_buffer_binding_size)",
                        gpu.parts.connection.name()
                    ),
                },
            };
            let to = all.slice(0, chunk as isize..chunk as isize + 1, 1)?;
            runner.write(&Program::copy(value), &storage, &to, false)?;
        }
        Ok(Program::copy(Input::new(dtype, Source::Tensor(storage), all)))
    };
    let values = gather(runner, values_of, element)?;
    let best = run(runner, &values.folded(along(folding.fold)))?;
    if !is_index(folding.fold) {
        return Ok(best);
    }
    // Which chunk has it, and then which value of that chunk.
    let indexes = gather(runner, folding.fold, DType::U32)?;
    chosen(runner, best, indexes, length)
}

/// Scans one run: the last values of the groups of each chunk, a scan of all of these, and then the values of
/// each chunk. What these leave out of themselves belongs to the next ones, so that they are moved when they are
/// written.
fn long_scan(runner: &mut Runner<'_>, program: &Program, scan: Scan) -> Result<Storage> {
    let gpu = runner.gpu;
    let folding = Folding { scan: Some(Scan { exclusive: false }), ..folding(program)? };
    let program = program.clone().folded(Some(folding.clone()));
    let (count, stored) = (program.shape[0], ScanWork::stored_type(&program));
    let slice = |from: usize, to: usize| program.slice(0, from as isize..to.min(count) as isize);
    let mut length = GROUP;
    while length < count && has_room(gpu, &slice(0, 2 * length)?)? {
        length *= 2;
    }
    let chunks = || (0..count).step_by(length);
    let chunk = |runner: &mut Runner<'_>, from: usize| match bound(runner, slice(from, from + length)?)? {
        Ok(part) => Ok(part),
        Err(_) => bail!(
            Limit,
            "a kernel of {} binds fewer than {GROUP} elements of {stored} (max_storage_buffer_binding_size)",
            gpu.parts.connection.name()
        ),
    };

    let groups = Layout::contiguous([count.div_ceil(GROUP)])?;
    let lasts = runner.storage(groups.count(), stored)?;
    for from in chunks() {
        let to =
            groups.slice(0, (from / GROUP) as isize..count.min(from + length).div_ceil(GROUP) as isize, 1)?;
        let part = chunk(runner, from)?;
        runner.counts.parts += 1;
        let own = scan::lasts(runner, &part)?;
        write(runner, stored, own, &lasts, &to)?;
    }
    let input = |storage: Storage, layout: Layout| Input::new(stored, Source::Tensor(storage), layout);
    let sums = Program::copy(input(lasts, groups.clone())).folded(Some(folding.clone()));
    let sums = run(runner, &sums)?;

    let all = Layout::contiguous(&program.shape)?;
    let result = runner.result(&program)?;
    let moved = usize::from(scan.exclusive);
    if scan.exclusive {
        let source = Source::Scalar(folding.fold.identity(program.element_type()));
        let nothing = Input::new(program.dtype, source, Layout::contiguous([1])?);
        runner.write(&Program::copy(nothing), &result, &all.slice(0, 0..1, 1)?, false)?;
    }
    for from in chunks() {
        let to = count.min(from + length);
        // Before the first group of a chunk comes the last of the chunk before.
        let before = (from / GROUP).saturating_sub(1);
        let carried = groups.slice(0, before as isize..(before + (to - from).div_ceil(GROUP)) as isize, 1)?;
        let carried = computed(runner, &Program::copy(input(sums.clone(), carried)))?;
        let Some(Source::Tensor(carried)) = carried.inputs.first().map(|input| &input.source) else {
            bail!(Kernel, "what is carried has no storage");
        };
        let part = chunk(runner, from)?;
        runner.counts.parts += 1;
        let values = scan::each(runner, &part, carried, from > 0)?;
        let kept = (to - from).min(count - from - moved);
        if kept == 0 {
            break;
        }
        let own = Layout::contiguous([to - from])?.slice(0, 0..kept as isize, 1)?;
        let mut copy = Program::copy(input(values, own));
        if program.dtype != stored {
            let (op, result, args) = (Op::Cast, program.dtype, smallvec![Value::Input(0)]);
            copy.steps.push(Step::new(op, stored, result, args));
            (copy.results, copy.dtype) = (smallvec![Value::Step(0)], program.dtype);
        }
        let place = (from + moved) as isize;
        runner.write(&copy, &result, &all.slice(0, place..place + kept as isize, 1)?, false)?;
    }
    Ok(result)
}

fn is_index(fold: Fold) -> bool {
    fold.row().gives_index
}

/// The program of one run along one axis.
fn flat(runner: &mut Runner<'_>, program: Program) -> Result<Program> {
    let count: usize = program.shape.iter().product();
    let merged: Result<Vec<Layout>> =
        program.inputs.iter().map(|input| input.layout.reshape(&[count as isize])).collect();
    let fold = program.fold.clone().map(|folding| Folding { axes: 0..1, ..folding });
    let mut flat = match merged {
        Ok(layouts) => {
            let mut flat = program;
            flat.inputs.iter_mut().zip(layouts).for_each(|(input, layout)| input.layout = layout);
            flat
        }
        // Elements that no one axis leads through are computed first.
        Err(_) => {
            let mut flat = computed(runner, &program.folded(None))?;
            flat.inputs[0].layout = Layout::contiguous([count])?;
            flat
        }
    };
    flat.shape = Shape::from([count]);
    Ok(flat.folded(fold))
}

/// `chunk * length + indexes[chunk]`: the sum of what that gives for the chunk, and 0 for all others.
fn chosen(runner: &mut Runner<'_>, chunk: Storage, indexes: Program, length: usize) -> Result<Storage> {
    let shape = indexes.shape.clone();
    let scalar = |bits: u64| -> Result<Input> {
        let layout = Layout::contiguous([])?.broadcast_to(&shape)?;
        Ok(Input::new(DType::U32, Source::Scalar(bits), layout))
    };
    let number = Input::new(DType::I32, Source::Index(None), Layout::contiguous(&shape)?);
    let chunk = Input::new(DType::U32, Source::Tensor(chunk), Layout::contiguous([1])?.broadcast_to(&shape)?);
    let index = indexes.inputs.into_iter().next();
    let inputs: Vec<Input> =
        [Some(number), Some(chunk), index, Some(scalar(length as u64)?), Some(scalar(0)?)]
            .into_iter()
            .flatten()
            .collect();
    let step =
        |op: Op, dtype: DType, result: DType, args: &[Value]| Step::new(op, dtype, result, args.into());
    let steps = vec![
        step(Op::Cast, DType::I32, DType::U32, &[Value::Input(0)]),
        step(Op::Mul, DType::U32, DType::U32, &[Value::Step(0), Value::Input(3)]),
        step(Op::Add, DType::U32, DType::U32, &[Value::Step(1), Value::Input(2)]),
        step(Op::Eq, DType::U32, DType::Bool, &[Value::Step(0), Value::Input(1)]),
        step(Op::Select, DType::U32, DType::U32, &[Value::Step(3), Value::Step(2), Value::Input(4)]),
    ];
    let elements = Program::of_steps(shape, DType::U32, inputs, steps, smallvec![Value::Step(4)]);
    run(runner, &elements.folded(Some(Folding { fold: Fold::Sum, axes: 0..1, scan: None })))
}
