//! How programs are run: conflicts, several results, and what of it is told.

use std::sync::{Arc, Weak};

use super::device::{Gpu, Parts};
use super::pipelines::Compiled;
use super::{fold, parts, split};
use crate::error::{ErrorKind, Result};
use crate::expr::{Input, Math, Program, Source, Storage};
use crate::layout::Layout;
use crate::plan::{self, Destination, Plan};
use crate::wgsl;

/// What running a program takes, kept with it.
struct Ready {
    /// The handle that it is for: its parts, and how it computes functions.
    parts: Weak<Parts>,
    math: Math,
    plan: Plan,
    /// The pipeline, while it is kept.
    compiled: Weak<Compiled>,
}

pub(super) fn eval(gpu: &Arc<Gpu>, program: &Program) -> Result<Storage> {
    let ready = program.ready.get::<Ready>();
    let is_own =
        |ready: &&Ready| ready.parts.as_ptr() == Arc::as_ptr(&gpu.parts) && ready.math == gpu.adapter.math;
    if let Some(ready) = ready.filter(is_own) {
        let result = gpu.result(program)?;
        let compiled = match ready.compiled.upgrade() {
            Some(compiled) => compiled,
            None => gpu.pipeline(&ready.plan.kernel)?,
        };
        gpu.record_compiled(&ready.plan, &compiled, std::slice::from_ref(&result))?;
        gpu.parts.connection.check()?;
        return Ok(result);
    }
    gpu.supports(program)?;
    if fold::is_one(program) {
        let result = parts::eval(gpu, program)?;
        gpu.parts.connection.check()?;
        return Ok(result);
    }
    let result = gpu.result(program)?;
    if !Plan::is_empty(&program.shape) && gpu.parts.cuts.is_whole(program) {
        let plan = Plan::new(program, Destination::Fresh, gpu.adapter)?;
        let compiled = gpu.pipeline(&plan.kernel)?;
        gpu.record_compiled(&plan, &compiled, std::slice::from_ref(&result))?;
        if program.ready.again() {
            let (parts, compiled) = (Arc::downgrade(&gpu.parts), Arc::downgrade(&compiled));
            program.ready.put(Ready { parts, math: gpu.adapter.math, plan, compiled });
        }
    } else if !Plan::is_empty(&program.shape) {
        split::run(gpu, program, &result, &Layout::contiguous(&program.shape)?, true)?;
    }
    gpu.parts.connection.check()?;
    Ok(result)
}

pub(super) fn eval_all(gpu: &Arc<Gpu>, program: &Program) -> Result<Vec<Storage>> {
    let each = || program.each(|one| eval(gpu, one));
    gpu.supports(program)?;
    if Plan::is_empty(&program.shape)
        || program.results.len() == 1
        || program.is_scan()
        || !gpu.parts.cuts.is_whole(program)
    {
        return each();
    }
    if fold::is_one(program) {
        return match fold::eval(gpu, program) {
            // More than a kernel binds.
            Err(error) if error.kind() == ErrorKind::Limit => each(),
            results => results.and_then(|results| gpu.parts.connection.check().map(|()| results)),
        };
    }
    let plan = match Plan::new(program, Destination::Fresh, gpu.adapter) {
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
    // What is written is bound for that alone, so that of a storage that is cut nothing else may be read.
    let elsewhere = |(source, own): (&Storage, &Layout)| source.same(storage) && own != layout;
    let apart = || gpu.parts.cuts.divides(storage, program.dtype) && program.tensors().any(elsewhere);
    let program = match program.fold.is_some() || program.conflicts(storage, layout) || apart() {
        false => program,
        true => {
            let result = eval(gpu, &program)?;
            let layout = Layout::contiguous(program.result_shape())?;
            Program::copy(Input { dtype: program.dtype, source: Source::Tensor(result), layout })
        }
    };
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
    if fold::is_one(program) {
        parts::prepare(gpu, program)?;
    } else if !Plan::is_empty(&program.shape) {
        split::plans(gpu, program)?.iter().try_for_each(|plan| gpu.pipeline(&plan.kernel).map(drop))?;
    }
    gpu.parts.connection.check()
}

/// What would run, and the text of the first kernel.
pub(super) fn explain(gpu: &Arc<Gpu>, program: &Program) -> Result<(String, Option<String>)> {
    gpu.supports(program)?;
    if Plan::is_empty(&program.shape) {
        return Ok(("runs: nothing, the result is empty\n".into(), None));
    }
    if fold::is_one(program) {
        return parts::explain(gpu, program);
    }
    let plans = split::plans(gpu, program)?;
    let text = plans.first().map(|plan| wgsl::emit(&plan.kernel)).transpose()?;
    Ok((plan::tell(&plans), text))
}
