//! How scans are run: as one pass, or as the last values of groups, a scan of these, and all values.

use std::sync::Arc;

use super::device::Gpu;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::expr::{Program, Storage};
use crate::plan::{Pass, ScanWork};

/// What becomes of a pass: the storages of what it stores.
pub(super) type Run<'a> = dyn FnMut(&Pass) -> Result<Vec<Storage>> + 'a;

/// Goes through the passes of a scan: what the last one stores, and the type of its elements.
pub(super) fn all(gpu: &Gpu, program: &Program, run: &mut Run<'_>) -> Result<(Storage, DType)> {
    let work = ScanWork::new(program)?;
    let mut done = |work: &ScanWork| -> Result<(Storage, DType)> {
        let pass = Pass::scan(work, gpu.adapter)?;
        one(run(&pass)?).map(|storage| (storage, pass.stored[0]))
    };
    if work.is_one(gpu.adapter) {
        return done(&work);
    }
    let (lasts, _) = done(&work.lasts())?;
    let (carried, _) = all(gpu, &work.scan_of_lasts(&lasts)?, run)?;
    let pass = Pass::scan(&work.each(Some(&carried), false)?, gpu.adapter)?;
    one(run(&pass)?).map(|storage| (storage, pass.stored[0]))
}

fn one(mut storages: Vec<Storage>) -> Result<Storage> {
    match storages.pop() {
        Some(storage) => Ok(storage),
        None => bail!(Kernel, "a scan without a result"),
    }
}

/// Runs the pass that finds the last values of the groups of a program.
pub(super) fn lasts(gpu: &Arc<Gpu>, program: &Program) -> Result<Storage> {
    one(record(gpu, &Pass::scan(&ScanWork::new(program)?.lasts(), gpu.adapter)?)?)
}

/// Runs the pass that computes all values, after what is carried: before each group, or before each but the first
/// where the run begins with it.
pub(super) fn each(
    gpu: &Arc<Gpu>,
    program: &Program,
    carried: &Storage,
    is_continued: bool,
) -> Result<Storage> {
    let work = ScanWork::new(program)?.each(Some(carried), is_continued)?;
    one(record(gpu, &Pass::scan(&work, gpu.adapter)?)?)
}

/// Runs a pass.
pub(super) fn record(gpu: &Arc<Gpu>, pass: &Pass) -> Result<Vec<Storage>> {
    let storages = pass.stored.iter().map(|&dtype| gpu.storage(pass.count * dtype.size(), dtype));
    let storages = storages.collect::<Result<Vec<_>>>()?;
    gpu.record(&pass.plan, &storages)?;
    Ok(storages)
}
