//! How programs are run: parts that are hoisted, conflicts, several results, and what of it is told.

use std::borrow::Cow;
use std::sync::Arc;

use super::device::Gpu;
use super::split;
use crate::error::{ErrorKind, Result};
use crate::expr::{Input, Program, Source, Storage};
use crate::layout::Layout;
use crate::plan::hoist::{self, Part};
use crate::plan::{self, Destination, Plan};
use crate::wgsl;

pub(super) fn eval(gpu: &Arc<Gpu>, program: &Program) -> Result<Storage> {
    gpu.supports(program)?;
    let result = gpu.result(program)?;
    if !Plan::is_empty(&program.shape) {
        let program = without_parts(program, |part| eval(gpu, part))?;
        split::run(gpu, &program, &result, &Layout::contiguous(&program.shape)?, true)?;
    }
    gpu.parts.connection.check()?;
    Ok(result)
}

pub(super) fn eval_all(gpu: &Arc<Gpu>, program: &Program) -> Result<Vec<Storage>> {
    let each = || program.each(|one| eval(gpu, one));
    gpu.supports(program)?;
    if Plan::is_empty(&program.shape) || program.results.len() == 1 || split::is_large(gpu, program)? {
        return each();
    }
    let rest = without_parts(program, |part| eval(gpu, part))?;
    let plan = match Plan::new(&rest, Destination::Fresh, gpu.adapter) {
        Ok(plan) => plan,
        // More tensors than a kernel binds.
        Err(error) if error.kind() == ErrorKind::Limit => return each(),
        Err(error) => return Err(error),
    };
    let results = program.results.iter().map(|_| gpu.result(program)).collect::<Result<Vec<_>>>()?;
    gpu.record(&plan, &results)?;
    gpu.parts.connection.check()?;
    Ok(results)
}

pub(super) fn assign(gpu: &Arc<Gpu>, program: Program, storage: &Storage, layout: &Layout) -> Result<()> {
    gpu.supports(&program)?;
    if Plan::is_empty(&program.shape) {
        return Ok(());
    }
    let program = match program.conflicts(storage, layout) {
        false => program,
        true => {
            let result = eval(gpu, &program)?;
            let layout = Layout::contiguous(&program.shape)?;
            Program::copy(Input { dtype: program.dtype, source: Source::Tensor(result), layout })
        }
    };
    let program = without_parts(&program, |part| eval(gpu, part))?;
    assign_nested(gpu, &program, storage, layout)?;
    gpu.parts.connection.check()
}

/// Kernels find the index of a small element by its address, which a layout must be nested for: one that
/// is not is written in slices along its shortest axis.
fn assign_nested(gpu: &Arc<Gpu>, program: &Program, storage: &Storage, layout: &Layout) -> Result<()> {
    if program.dtype.size() >= 4 || layout.is_nested() {
        return split::run(gpu, program, storage, layout, false);
    }
    let shape = layout.shape();
    let axis = (0..shape.rank()).filter(|&axis| shape[axis] > 1).min_by_key(|&axis| shape[axis]);
    let Some(axis) = axis else { return Ok(()) };
    (0..shape[axis] as isize).try_for_each(|i| {
        let part = layout.slice(axis as isize, i..i + 1, 1)?;
        assign_nested(gpu, &program.slice(axis as isize, i..i + 1)?, storage, &part)
    })
}

/// Compiles what a program needs.
pub(super) fn prepare(gpu: &Arc<Gpu>, program: &Program) -> Result<()> {
    gpu.supports(program)?;
    if !Plan::is_empty(&program.shape) {
        let program = without_parts(program, |part| {
            prepare(gpu, part)?;
            gpu.result(part)
        })?;
        split::plans(gpu, &program)?.iter().try_for_each(|plan| gpu.pipeline(&plan.kernel).map(drop))?;
    }
    gpu.parts.connection.check()
}

/// What would run, and the text of the last kernel.
pub(super) fn explain(gpu: &Arc<Gpu>, program: &Program) -> Result<(String, Option<String>)> {
    gpu.supports(program)?;
    if Plan::is_empty(&program.shape) {
        return Ok(("runs: nothing, the result is empty\n".into(), None));
    }
    let mut text = String::new();
    let rest = without_parts(program, |part| {
        let told = plan::tell(&split::plans(gpu, part)?);
        text += &format!("first, as it has fewer elements:\n{}{told}then:\n", part.describe());
        gpu.result(part)
    })?;
    if let Cow::Owned(rest) = &rest {
        text += &rest.describe();
    }
    let plans = split::plans(gpu, &rest)?;
    Ok((text + &plan::tell(&plans), plans.first().map(|plan| wgsl::emit(&plan.kernel))))
}

/// A program without its expensive parts over fewer elements: `each` makes the storages that it then
/// reads these from.
fn without_parts<'a>(
    program: &'a Program,
    mut each: impl FnMut(&Program) -> Result<Storage>,
) -> Result<Cow<'a, Program>> {
    let parts = hoist::parts(program)?;
    if parts.is_empty() {
        return Ok(Cow::Borrowed(program));
    }
    let with_storage = |part: Part| {
        let storage = each(&part.program)?;
        Ok((part, storage))
    };
    let parts = parts.into_iter().map(with_storage).collect::<Result<Vec<_>>>()?;
    Ok(Cow::Owned(hoist::without(program, &parts)?))
}
