//! Folds of more than a kernel binds, part by part. Kept axes are cut in halves until a part can be bound, or
//! until its elements can be computed into a storage that can. A run that is too long for that is cut into
//! chunks of 4096 to some power: a chunk is then a value of a later round of the contract's order, so that
//! these cuts change no bit.

use std::ops::Range;
use std::sync::Arc;

use smallvec::smallvec;

use super::device::Gpu;
use super::{fold, scan, split};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result, bail};
use crate::expr::{BLOCK, Fold, Folding, GROUP, Input, Op, Program, Scan, Source, Step, Storage, Told};
use crate::layout::{Layout, Shape};
use crate::plan::{Kernel, ScanWork};

/// Runs a program of one result that folds: a storage for it.
pub(super) fn eval(gpu: &Arc<Gpu>, program: &Program) -> Result<Storage> {
    if is_whole(gpu, program) { whole(gpu, program) } else { divided(gpu, program) }
}

/// Whether a program is run as it is. Scans store small types as whole words, before they are cast.
pub(super) fn is_whole(gpu: &Gpu, program: &Program) -> bool {
    gpu.parts.cuts.is_whole(program) && (!program.is_scan() || has_room(gpu, program))
}

/// Whether a kernel binds what is stored of a program's elements.
fn has_room(gpu: &Gpu, program: &Program) -> bool {
    let mut elements = program.clone().folded(None);
    if program.is_scan() {
        elements.dtype = ScanWork::stored_type(program);
    }
    gpu.parts.cuts.has_room(&elements)
}

/// Calls `each` with the kernels of a fold; parts of one have kernels that other folds have too.
pub(super) fn kernels(
    gpu: &Arc<Gpu>,
    program: &Program,
    each: &mut dyn FnMut(&Kernel) -> Result<()>,
) -> Result<()> {
    if is_whole(gpu, program) { fold::each_kernel(gpu, program, each) } else { Ok(()) }
}

/// What would run, and the text of the first kernel.
pub(super) fn explain(gpu: &Arc<Gpu>, program: &Program) -> Result<Told> {
    if is_whole(gpu, program) {
        return fold::explain(gpu, program);
    }
    let text = "runs: a fold of each part that a kernel binds (max_storage_buffer_binding_size), then one of what they give\n";
    Ok(Told { text: text.into(), ..Told::default() })
}

fn divided(gpu: &Arc<Gpu>, program: &Program) -> Result<Storage> {
    if let Some(plain) = program.plain_fold() {
        return after_fold(gpu, program, &plain);
    }
    let result = gpu.result(program)?;
    let mut open = vec![(program.clone(), Layout::contiguous(program.result_shape())?)];
    while let Some((part, to)) = open.pop() {
        let axes = match &part.rows {
            Some(rows) => rows.axes.clone(),
            None => folding(&part)?.axes,
        };
        let kept = (0..part.shape.rank()).filter(|axis| !axes.contains(axis));
        let longest = kept.max_by_key(|&axis| part.shape[axis]).filter(|&axis| part.shape[axis] > 1);
        let value = match (bound(gpu, part)?, longest) {
            (Ok(part), _) => whole(gpu, &part)?,
            (Err(part), None) => long_run(gpu, part)?,
            (Err(part), Some(axis)) => {
                let (n, axis) = (part.shape[axis] as isize, axis as isize);
                for range in [n / 2..n, 0..n / 2] {
                    open.push((part.slice(axis, range.clone())?, to.slice(axis, range, 1)?));
                }
                continue;
            }
        };
        write(gpu, program.dtype, value, &result, &to)?;
    }
    Ok(result)
}

/// Folds, and then computes what follows.
fn after_fold(gpu: &Arc<Gpu>, program: &Program, plain: &Program) -> Result<Storage> {
    let values = plain.each(|one| eval(gpu, one))?;
    let mut after = program.after_folds()?;
    let layout = Layout::contiguous(&after.shape)?;
    for input in &mut after.inputs {
        if let Source::Row(fold) = input.source {
            (input.source, input.layout) = (Source::Tensor(values[fold].clone()), layout.clone());
        }
    }
    let result = gpu.result(&after)?;
    split::run(gpu, &after, &result, &layout, true)?;
    Ok(result)
}

/// Rows as ones that a kernel binds: what it does not bind whole is copied. Given back where that is too large.
fn bound_rows(gpu: &Arc<Gpu>, program: Program) -> Result<std::result::Result<Program, Program>> {
    let cuts = &gpu.parts.cuts;
    let mut copied = program.clone();
    for input in &mut copied.inputs {
        let copy = Program::copy(input.clone());
        match &input.source {
            Source::Tensor(_) if cuts.is_whole(&copy) => {}
            Source::Tensor(_) if cuts.has_room(&copy) => {
                *input = computed(gpu, &copy)?.inputs.swap_remove(0);
            }
            Source::Tensor(_) => return Ok(Err(program)),
            _ => {}
        }
    }
    Ok(if cuts.is_whole(&copied) { Ok(copied) } else { Err(program) })
}

fn folding(program: &Program) -> Result<Folding> {
    match &program.fold {
        Some(folding) => Ok(folding.clone()),
        None => bail!(Kernel, "a program without a fold"),
    }
}

/// Folds what can be bound.
fn whole(gpu: &Arc<Gpu>, program: &Program) -> Result<Storage> {
    match fold::eval(gpu, program)?.pop() {
        Some(storage) => Ok(storage),
        None => bail!(Kernel, "a fold without a result"),
    }
}

/// Writes row-major elements to their places in a result.
fn write(gpu: &Arc<Gpu>, dtype: DType, from: Storage, to: &Storage, layout: &Layout) -> Result<()> {
    let own = Layout::contiguous(layout.shape())?;
    let copy = Program::copy(Input::new(dtype, Source::Tensor(from), own));
    split::run(gpu, &copy, to, layout, false)
}

/// A program as one that a kernel binds: its own, over windows, or one that reads the elements, computed
/// before. Given back where both are too large.
fn bound(gpu: &Arc<Gpu>, program: Program) -> Result<std::result::Result<Program, Program>> {
    let cuts = &gpu.parts.cuts;
    if is_whole(gpu, &program) {
        return Ok(Ok(program));
    }
    if program.rows.is_some() {
        return bound_rows(gpu, program);
    }
    let elements = program.clone().folded(None);
    if !has_room(gpu, &program) {
        return Ok(Err(program));
    }
    let (to, layout) = (Storage::declared(gpu.clone(), &elements)?, Layout::contiguous(&elements.shape)?);
    let mut parts = Vec::new();
    // Stopped by the second part.
    let stopped = cuts.parts(
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
            let mut program = program;
            for (input, bound) in program.inputs.iter_mut().zip(part.inputs) {
                input.layout = input.layout.from(bound.layout.offset());
                input.source = bound.source;
            }
            Ok(Ok(program))
        }
        (Err(error), _) if error.kind() != ErrorKind::Limit => Err(error),
        _ => Ok(Ok(computed(gpu, &elements)?.folded(program.fold.clone()))),
    }
}

/// A program that reads elements, which are computed into a storage.
fn computed(gpu: &Arc<Gpu>, elements: &Program) -> Result<Program> {
    let layout = Layout::contiguous(&elements.shape)?;
    let storage = gpu.result(elements)?;
    split::run(gpu, elements, &storage, &layout, true)?;
    Ok(Program::copy(Input::new(elements.dtype, Source::Tensor(storage), layout)))
}

/// Folds a run that is all of a program: chunk by chunk, and what these give.
fn long_run(gpu: &Arc<Gpu>, program: Program) -> Result<Storage> {
    let folding = folding(&program)?;
    let program = flat(gpu, program)?;
    if let Some(scan) = folding.scan {
        return long_scan(gpu, &program, scan);
    }
    let (count, element) = (program.shape[0], program.element_type());
    let mut length = BLOCK;
    while gpu.parts.cuts.has_room(&program.slice(0, 0..(length.min(count) as isize))?.folded(None))
        && length < count
    {
        length *= BLOCK;
    }
    let length = (length / BLOCK).max(BLOCK);
    let chunks = count.div_ceil(length);
    let shape = Shape::from([chunks]);
    let along = |fold: Fold| Some(Folding { fold, axes: 0..1, scan: None });
    let values_of = match folding.fold {
        Fold::ArgMin => Fold::Min,
        Fold::ArgMax => Fold::Max,
        fold => fold,
    };
    // The value of each chunk, and the index of it there.
    let gather = |fold: Fold, dtype: DType| -> Result<Program> {
        let all = Layout::contiguous(&shape)?;
        let storage = gpu.storage(chunks * dtype.size(), dtype)?;
        for chunk in 0..chunks {
            let Range { start, end } = chunk * length..count.min((chunk + 1) * length);
            let part = program.slice(0, start as isize..end as isize)?.folded(along(fold));
            let value = match (bound(gpu, part)?, end - start) {
                (Ok(part), 1) if fold != folding.fold || !is_index(fold) => {
                    computed(gpu, &part.folded(None))?.inputs.swap_remove(0)
                }
                (Ok(part), _) => {
                    let (source, layout) = (Source::Tensor(whole(gpu, &part)?), Layout::contiguous([1])?);
                    Input::new(dtype, source, layout)
                }
                (Err(_), _) => bail!(
                    Limit,
                    "a kernel of {} binds fewer than {BLOCK} elements of {element} (max_storage_buffer_binding_size)",
                    gpu.parts.connection.name()
                ),
            };
            let to = all.slice(0, chunk as isize..chunk as isize + 1, 1)?;
            split::run(gpu, &Program::copy(value), &storage, &to, false)?;
        }
        Ok(Program::copy(Input::new(dtype, Source::Tensor(storage), all)))
    };
    let values = gather(values_of, element)?;
    let best = whole(gpu, &values.folded(along(folding.fold)))?;
    if !is_index(folding.fold) {
        return Ok(best);
    }
    // Which chunk has it, and then which value of that chunk.
    let indexes = gather(folding.fold, DType::U32)?;
    chosen(gpu, best, indexes, length)
}

/// Scans one run: the last values of the groups of each chunk, a scan of all of these, and then the values of
/// each chunk. What these leave out of themselves belongs to the next ones, so that they are moved when they are
/// written.
fn long_scan(gpu: &Arc<Gpu>, program: &Program, scan: Scan) -> Result<Storage> {
    let folding = Folding { scan: Some(Scan { exclusive: false }), ..folding(program)? };
    let program = program.clone().folded(Some(folding.clone()));
    let (count, stored) = (program.shape[0], ScanWork::stored_type(&program));
    let slice = |from: usize, to: usize| program.slice(0, from as isize..to.min(count) as isize);
    let mut length = GROUP;
    while length < count && has_room(gpu, &slice(0, 2 * length)?) {
        length *= 2;
    }
    let chunks = || (0..count).step_by(length);
    let chunk = |from: usize| match bound(gpu, slice(from, from + length)?)? {
        Ok(part) => Ok(part),
        Err(_) => bail!(
            Limit,
            "a kernel of {} binds fewer than {GROUP} elements of {stored} (max_storage_buffer_binding_size)",
            gpu.parts.connection.name()
        ),
    };

    let groups = Layout::contiguous([count.div_ceil(GROUP)])?;
    let lasts = gpu.storage(groups.count() * stored.size(), stored)?;
    for from in chunks() {
        let to =
            groups.slice(0, (from / GROUP) as isize..count.min(from + length).div_ceil(GROUP) as isize, 1)?;
        write(gpu, stored, scan::lasts(gpu, &chunk(from)?)?, &lasts, &to)?;
    }
    let input = |storage: Storage, layout: Layout| Input::new(stored, Source::Tensor(storage), layout);
    let sums = Program::copy(input(lasts, groups.clone())).folded(Some(folding.clone()));
    let sums = eval(gpu, &sums)?;

    let all = Layout::contiguous(&program.shape)?;
    let result = gpu.result(&program)?;
    let moved = usize::from(scan.exclusive);
    if scan.exclusive {
        let source = Source::Scalar(folding.fold.identity(program.element_type()));
        let nothing = Input::new(program.dtype, source, Layout::contiguous([1])?);
        split::run(gpu, &Program::copy(nothing), &result, &all.slice(0, 0..1, 1)?, false)?;
    }
    for from in chunks() {
        let to = count.min(from + length);
        // Before the first group of a chunk comes the last of the chunk before.
        let before = (from / GROUP).saturating_sub(1);
        let carried = groups.slice(0, before as isize..(before + (to - from).div_ceil(GROUP)) as isize, 1)?;
        let carried = computed(gpu, &Program::copy(input(sums.clone(), carried)))?;
        let Some(Source::Tensor(carried)) = carried.inputs.first().map(|input| &input.source) else {
            bail!(Kernel, "what is carried has no storage");
        };
        let values = scan::each(gpu, &chunk(from)?, carried, from > 0)?;
        let kept = (to - from).min(count - from - moved);
        if kept == 0 {
            break;
        }
        let own = Layout::contiguous([to - from])?.slice(0, 0..kept as isize, 1)?;
        let mut copy = Program::copy(input(values, own));
        if program.dtype != stored {
            let (op, result, args) = (Op::Cast, program.dtype, smallvec![0]);
            copy.steps.push(Step::new(op, stored, result, args));
            (copy.results, copy.dtype) = (smallvec![1], program.dtype);
        }
        let place = (from + moved) as isize;
        split::run(gpu, &copy, &result, &all.slice(0, place..place + kept as isize, 1)?, false)?;
    }
    Ok(result)
}

fn is_index(fold: Fold) -> bool {
    fold.row().gives_index
}

/// The program of one run along one axis.
fn flat(gpu: &Arc<Gpu>, program: Program) -> Result<Program> {
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
            let mut flat = computed(gpu, &program.folded(None))?;
            flat.inputs[0].layout = Layout::contiguous([count])?;
            flat
        }
    };
    flat.shape = Shape::from([count]);
    Ok(flat.folded(fold))
}

/// `chunk * length + indexes[chunk]`: the sum of what that gives for the chunk, and 0 for all others.
fn chosen(gpu: &Arc<Gpu>, chunk: Storage, indexes: Program, length: usize) -> Result<Storage> {
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
    let step = |op: Op, dtype: DType, result: DType, args: &[u32]| Step::new(op, dtype, result, args.into());
    let steps = vec![
        step(Op::Cast, DType::I32, DType::U32, &[0]),
        step(Op::Mul, DType::U32, DType::U32, &[5, 3]),
        step(Op::Add, DType::U32, DType::U32, &[6, 2]),
        step(Op::Eq, DType::U32, DType::Bool, &[5, 1]),
        step(Op::Select, DType::U32, DType::U32, &[8, 7, 4]),
    ];
    let elements = Program::of_steps(shape, DType::U32, inputs, steps, smallvec![9]);
    whole(gpu, &elements.folded(Some(Folding { fold: Fold::Sum, axes: 0..1, scan: None })))
}
