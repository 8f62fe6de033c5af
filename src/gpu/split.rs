//! Work on storages that are larger than a binding may be: it is done in parts, each of which binds a
//! window of such a storage.

use std::sync::Arc;

use super::buffer::{Window, buffer};
use super::device::Gpu;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::expr::{Program, Source, Storage};
use crate::layout::Layout;
use crate::plan::{Destination, LANES, MOST_ELEMENTS, Plan};

/// A tensor of a program, bound by a window that begins at a byte of its storage.
struct Part {
    address: usize,
    start: u64,
    size: u64,
    storage: Storage,
}

/// Whether a kernel counts to the elements of a program.
fn counts(program: &Program) -> bool {
    program.shape.iter().product::<usize>() <= MOST_ELEMENTS
}

/// Why a program cannot be run at once: a layout of it reaches over more elements than one binding has.
struct TooFar {
    layout: Layout,
    most: usize,
}

/// Whether a storage of a program, or its result, is larger than a kernel binds or counts.
pub(super) fn is_large(gpu: &Gpu, program: &Program) -> Result<bool> {
    let result = program.byte_size()?.next_multiple_of(32) as u64;
    let inputs = program.tensors().any(|(storage, _)| exceeds_a_binding(gpu, storage));
    Ok(!counts(program) || inputs || result > gpu.parts.connection.limits.max_storage_buffer_binding_size)
}

fn exceeds_a_binding(gpu: &Gpu, storage: &Storage) -> bool {
    let limit = gpu.parts.connection.limits.max_storage_buffer_binding_size;
    buffer(storage).is_ok_and(|buffer| buffer.size > limit)
}

/// Records a program whose result goes to a layout of a storage; `fresh` says that this is all of
/// a new one.
pub(super) fn run(
    gpu: &Arc<Gpu>,
    program: &Program,
    storage: &Storage,
    layout: &Layout,
    fresh: bool,
) -> Result<()> {
    parts_to(gpu, program, storage, layout, fresh, &mut |plan, to| gpu.record(plan, std::slice::from_ref(to)))
}

/// The plans of a program for a new storage.
pub(super) fn plans(gpu: &Arc<Gpu>, program: &Program) -> Result<Vec<Plan>> {
    if !is_large(gpu, program)? {
        return Ok(vec![Plan::new(program, Destination::Fresh, gpu.adapter)?]);
    }
    let mut plans = Vec::new();
    let layout = Layout::contiguous(&program.shape)?;
    parts_to(gpu, program, &gpu.result(program)?, &layout, true, &mut |plan, _| {
        plans.push(plan.clone());
        Ok(())
    })?;
    Ok(plans)
}

/// Calls `each` with the plans of a program and with what they write to: one where all storages can
/// be bound.
fn parts_to(
    gpu: &Arc<Gpu>,
    program: &Program,
    storage: &Storage,
    layout: &Layout,
    fresh: bool,
    each: &mut dyn FnMut(&Plan, &Storage) -> Result<()>,
) -> Result<()> {
    let counts = counts(program);
    let inputs = program.tensors().any(|(storage, _)| exceeds_a_binding(gpu, storage));
    let large = inputs || exceeds_a_binding(gpu, storage);
    if counts && !large {
        let to = if fresh { Destination::Fresh } else { Destination::Into(storage, layout) };
        return each(&Plan::new(program, to, gpu.adapter)?, storage);
    }
    let fits = match counts {
        true => parts(gpu, program, storage, layout)?,
        false => Err(TooFar { layout: layout.clone(), most: MOST_ELEMENTS }),
    };
    let (part, to, layout) = match fits {
        Ok(parts) => parts,
        Err(far) => return split(gpu, program, storage, layout, &far, each),
    };
    each(&Plan::new(&part, Destination::Into(&to, &layout), gpu.adapter)?, &to)
}

/// The program over windows of its storages, if all of them can be bound.
fn parts(
    gpu: &Gpu,
    program: &Program,
    storage: &Storage,
    layout: &Layout,
) -> Result<std::result::Result<(Program, Storage, Layout), TooFar>> {
    // One binding serves the result and what is read of its storage.
    let size = program.dtype.size();
    let own = program.tensors().filter(|(source, _)| source.same(storage)).map(|(_, layout)| layout);
    let to = match part(gpu, storage, program.dtype, layout, own)? {
        Ok(part) => part,
        Err(far) => return Ok(Err(far)),
    };
    let mut program = program.clone();
    let mut parts = vec![to];
    for input in &mut program.inputs {
        let Source::Tensor(source) = &mut input.source else { continue };
        let index = match parts.iter().position(|part| part.address == source.address()) {
            Some(0) => 0,
            _ => {
                let part = match part(gpu, source, input.dtype, &input.layout, std::iter::empty())? {
                    Ok(part) => part,
                    Err(far) => return Ok(Err(far)),
                };
                let same = |known: &Part| {
                    (known.address, known.start, known.size) == (part.address, part.start, part.size)
                };
                parts.iter().position(same).unwrap_or_else(|| {
                    parts.push(part);
                    parts.len() - 1
                })
            }
        };
        input.layout = input.layout.moved_back(parts[index].start as usize / input.dtype.size());
        *source = parts[index].storage.clone();
    }
    let layout = layout.moved_back(parts[0].start as usize / size);
    Ok(Ok((program, parts.swap_remove(0).storage, layout)))
}

/// The window of a storage that a layout of it, and more, reach.
fn part<'a>(
    gpu: &Gpu,
    storage: &Storage,
    dtype: DType,
    layout: &'a Layout,
    more: impl Iterator<Item = &'a Layout>,
) -> Result<std::result::Result<Part, TooFar>> {
    let buffer = buffer(storage)?;
    let limit = gpu.parts.connection.limits.max_storage_buffer_binding_size;
    let address = storage.address();
    if buffer.size <= limit {
        return Ok(Ok(Part { address, start: 0, size: buffer.size, storage: storage.clone() }));
    }
    let layouts: Vec<&Layout> = std::iter::once(layout).chain(more).collect();
    let bytes = dtype.size() as u64;
    let reach = layouts.iter().map(|layout| layout.reach());
    let (low, high) = reach.fold((i128::MAX, 0), |(low, high), (l, h)| (low.min(l), high.max(h)));
    // Whole vectors, and room for the rest of the last one.
    let align = u64::from(gpu.parts.connection.limits.min_storage_buffer_offset_alignment).max(64);
    let start = low as u64 * bytes / align * align;
    let end = ((high as u64 + 1) * bytes).next_multiple_of(64).min(buffer.size);
    let size = end - start;
    if size > limit {
        let spread = |layout: &Layout| {
            let (low, high) = layout.reach();
            high - low
        };
        let wider = |a, b| if spread(b) > spread(a) { b } else { a };
        let layout = layouts.into_iter().fold(layout, wider).clone();
        return Ok(Err(TooFar { layout, most: ((limit - 2 * align) / bytes) as usize }));
    }
    let window = Window { buffer, start, size };
    let elements = (size / bytes) as usize;
    Ok(Ok(Part { address, start, size, storage: Storage::new(storage.backend.clone(), elements, window) }))
}

/// Halves a program along the axis on which a layout of it is spread most, or along one that is not
/// short where that is enough: channels are better computed together.
fn split(
    gpu: &Arc<Gpu>,
    program: &Program,
    storage: &Storage,
    layout: &Layout,
    far: &TooFar,
    each: &mut dyn FnMut(&Plan, &Storage) -> Result<()>,
) -> Result<()> {
    let shape = &program.shape;
    let steps = |axis: usize, n: usize| (n - 1) * far.layout.strides()[axis].unsigned_abs();
    let spread = |&axis: &usize| steps(axis, shape[axis]);
    let all: usize = (0..shape.rank()).map(|axis| spread(&axis)).sum();
    let enough = |&axis: &usize| {
        shape[axis] > LANES && all - spread(&axis) + steps(axis, shape[axis].div_ceil(2)) < far.most
    };
    let axes = || (0..shape.rank()).filter(|&axis| shape[axis] > 1);
    let Some(axis) = axes().filter(enough).max_by_key(spread).or_else(|| axes().max_by_key(spread)) else {
        bail!(
            Limit,
            "elements that meet in one result are further apart than {} bytes, which is what {} binds (max_storage_buffer_binding_size): copy an operand first",
            gpu.parts.connection.limits.max_storage_buffer_binding_size,
            gpu.parts.connection.name()
        );
    };
    let (axis, length) = (axis as isize, shape[axis] as isize);
    [0..length / 2, length / 2..length].into_iter().try_for_each(|range| {
        let part = layout.slice(axis, range.clone(), 1)?;
        parts_to(gpu, &program.slice(axis, range)?, storage, &part, false, each)
    })
}
