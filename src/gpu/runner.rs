//! What becomes of the kernels of a fold: they run, or, in a dry run, are only looked at.

use std::sync::Arc;

use super::device::Gpu;
use super::split::{self, MOST_PLANS};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{Backend, Program, Storage};
use crate::layout::Layout;
use crate::plan::{Pass, Plan};

/// A kernel of a dry run.
pub(super) struct Looked<'a> {
    pub plan: &'a Plan,
    /// The pass that it is, if it is one.
    pub pass: Option<&'a Pass>,
    /// The number of its part, from 1 on.
    pub part: usize,
}

/// Looks at the kernels of a dry run, one after the other.
pub(super) type Look<'a> = dyn FnMut(Looked<'_>) -> Result<()> + 'a;

/// What a dry run counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Folds that are run as they are.
    pub parts: usize,
    pub kernels: usize,
    /// Bytes that these move at least.
    pub bytes: usize,
}

/// Runs kernels, or looks at them.
pub(super) struct Runner<'a> {
    pub gpu: &'a Arc<Gpu>,
    look: Option<&'a mut Look<'a>>,
    pub counts: Counts,
}

impl<'a> Runner<'a> {
    /// Runs kernels.
    pub(super) fn new(gpu: &'a Arc<Gpu>) -> Runner<'a> {
        Runner { gpu, look: None, counts: Counts::default() }
    }

    /// Looks at kernels. Nothing runs, and storages take no memory.
    pub(super) fn dry(gpu: &'a Arc<Gpu>, look: &'a mut Look<'a>) -> Runner<'a> {
        Runner { gpu, look: Some(look), counts: Counts::default() }
    }

    /// A storage for so many elements.
    pub(super) fn storage(&self, elements: usize, dtype: DType) -> Result<Storage> {
        match self.look {
            None => self.gpu.storage(elements * dtype.size(), dtype),
            Some(_) => Ok(Storage::without_memory(self.gpu.clone(), elements)),
        }
    }

    /// A storage for the result of a program.
    pub(super) fn result(&self, program: &Program) -> Result<Storage> {
        self.storage(program.byte_size()? / program.dtype.size(), program.dtype)
    }

    /// Runs a pass: what it stores.
    pub(super) fn pass(&mut self, pass: &Pass) -> Result<Vec<Storage>> {
        let storages = pass.stored.iter().map(|&dtype| self.storage(pass.count, dtype));
        let storages = storages.collect::<Result<Vec<_>>>()?;
        match self.look {
            None => self.gpu.record(&pass.plan, &storages)?,
            Some(_) => self.look(&pass.plan, Some(pass))?,
        }
        self.counts.bytes = self.counts.bytes.saturating_add(pass.bytes());
        Ok(storages)
    }

    /// Writes a program that does not fold to a layout of a storage; `fresh` says that this is all of a new one.
    pub(super) fn write(
        &mut self,
        program: &Program,
        to: &Storage,
        layout: &Layout,
        fresh: bool,
    ) -> Result<()> {
        if self.look.is_none() {
            return split::run(self.gpu, program, to, layout, fresh);
        }
        self.counts.bytes = self.counts.bytes.saturating_add(Plan::bytes(program));
        let plans = split::plans(self.gpu, program, if fresh { None } else { Some((to, layout)) })?;
        plans.iter().try_for_each(|plan| self.look(plan, None))
    }

    fn look(&mut self, plan: &Plan, pass: Option<&Pass>) -> Result<()> {
        if self.counts.kernels == MOST_PLANS {
            bail!(Limit, "more than {MOST_PLANS} kernels on {}: plan a slice of it", self.gpu.name());
        }
        self.counts.kernels += 1;
        let part = self.counts.parts;
        self.look.as_mut().map_or(Ok(()), |look| look(Looked { plan, pass, part }))
    }
}
