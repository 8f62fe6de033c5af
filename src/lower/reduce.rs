//! Reductions and scans: pass after pass, each a kernel over what the one before stored.

use std::borrow::Cow;

use smallvec::{SmallVec, smallvec};

use super::commands::{Command, Lowering};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{Input, Op, Program, ProgramBuilder, Slot, Source, Step};
use crate::layout::Layout;
use crate::plan::{Pass, ScanWork, Work};

/// Slots, and the type of their elements.
type Typed = (SmallVec<[Slot; 1]>, DType);

impl Lowering {
    /// Reduces or scans what kernels bind: a slot for each result.
    pub(super) fn whole(&mut self, program: &Program) -> Result<SmallVec<[Slot; 1]>> {
        self.note.parts += 1;
        let (slots, dtype) = match () {
            () if program.is_scan() => self.scan(program)?,
            () if program.rows.is_some() => self.rows(program)?,
            () => self.halves(Work::new(program)?)?,
        };
        if dtype == program.dtype {
            return Ok(slots);
        }
        let layout = Layout::contiguous(program.result_shape())?;
        let each = |slot: Slot| {
            let cast = cast(Input::new(dtype, Source::Slot(slot), layout.clone()), program.dtype);
            let result = self.result(&cast)?;
            self.write(&cast, result, None)?;
            Ok(result)
        };
        slots.into_iter().map(each).collect()
    }

    /// Whether kernels bind all that the passes of a program store. Where they cannot be planned, running them says why.
    pub(super) fn has_room(&self, program: &Program) -> bool {
        let mut aside = self.aside();
        let planned = aside.whole(program);
        let is_shown = |command: &Command| match *command {
            Command::Allocate { dtype, elements, .. } => self.cuts.shows(elements, dtype),
            _ => true,
        };
        planned.is_err() || aside.commands.list.iter().all(is_shown)
    }

    fn halves(&mut self, mut work: Work) -> Result<Typed> {
        loop {
            let pass = Pass::new(&work, self.target)?;
            if pass.is_last() {
                let dtype = pass.stored[0];
                return Ok((self.pass(pass)?, dtype));
            }
            let slots = self.pass(pass.clone())?;
            work = work.after(&pass, &slots)?;
        }
    }

    /// Rows, in one kernel: of what passes leave of them where they are long, which is where nothing but what
    /// follows a fold is made of them.
    fn rows(&mut self, program: &Program) -> Result<Typed> {
        let mut work = program.plain_fold().map(|plain| Work::new(&plain)).transpose()?;
        let mut left = Cow::Borrowed(program);
        while let Some(known) = &work {
            let pass = Pass::new(known, self.target)?;
            if pass.is_last() {
                break;
            }
            let slots = self.pass(pass.clone())?;
            let after = known.after(&pass, &slots)?;
            left = Cow::Owned(program.left_of_folds(&after.program)?);
            work = Some(after);
        }
        let pass = Pass::of_rows(&left, self.target)?;
        let dtype = pass.stored[0];
        Ok((self.pass(pass)?, dtype))
    }

    /// One pass, or the last values of groups, a scan of these, and all values.
    fn scan(&mut self, program: &Program) -> Result<Typed> {
        let work = ScanWork::new(program)?;
        if work.is_one(self.target) {
            return self.scan_pass(&work);
        }
        let lasts = self.scan_pass(&work.lasts())?.0[0];
        let carried = self.scan(&work.scan_of_lasts(lasts)?)?.0[0];
        self.scan_pass(&work.each(Some(carried), false)?)
    }

    /// A pass of a scan.
    pub(super) fn scan_pass(&mut self, work: &ScanWork) -> Result<Typed> {
        let pass = Pass::scan(work, self.target)?;
        let dtype = pass.stored[0];
        let slots = self.pass(pass)?;
        match slots.is_empty() {
            true => bail!(Kernel, "a scan without a result"),
            false => Ok((slots, dtype)),
        }
    }
}

/// A program that copies an input as another type.
pub(super) fn cast(input: Input, to: DType) -> Program {
    let (shape, from) = (input.layout.shape().clone(), input.dtype);
    let mut built = ProgramBuilder::new();
    let mut value = built.input(input);
    if from != to {
        value = built.steps.once(Step::new(Op::Cast, from, to, smallvec![value]));
    }
    built.finish(shape, to, smallvec![value])
}
