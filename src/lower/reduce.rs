//! Reductions and scans, pass after pass. Each pass is a kernel over the results of the one before.

use smallvec::{SmallVec, smallvec};

use super::commands::{Command, Lowering};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{
    AxisOp, CHUNK, Contract, Input, Op, Program, ProgramBuilder, ProgramKind, Scalar, Slot, Source, Step,
};
use crate::layout::{Layout, MAX_RANK};
use crate::plan::{Plan, ScanWork};

/// The widest type that a pass stores.
pub(super) const WIDEST: DType = DType::F64;

/// Slots, and the type of their elements.
type Typed = (SmallVec<[Slot; 1]>, DType);

impl Lowering {
    /// Reduces or scans a program that kernels bind. Returns a slot for each result.
    pub(super) fn whole(&mut self, program: &Program) -> Result<SmallVec<[Slot; 1]>> {
        self.note.parts += 1;
        let (slots, dtype) = match &program.kind {
            ProgramKind::Axis(AxisOp::Scan(_), _) => self.scan(program)?,
            ProgramKind::Axis(AxisOp::Contract(own), _) => self.product(program, *own)?,
            _ => self.rows(program)?,
        };
        if dtype == program.dtype {
            return Ok(slots);
        }
        let layout = Layout::contiguous(program.result_shape().into_owned())?;
        let each = |slot: Slot| {
            let cast = cast(Input::new(dtype, Source::Slot(slot), layout.clone()), program.dtype);
            let result = self.result(&cast)?;
            self.write(&cast, result, None)?;
            Ok(result)
        };
        slots.into_iter().map(each).collect()
    }

    /// Whether kernels bind everything that the passes of a program store. If a pass cannot be planned, running it
    /// returns the error.
    pub(super) fn has_room(&self, program: &Program) -> bool {
        let mut aside = self.aside();
        let planned = aside.whole(program);
        let is_shown = |command: &Command| match *command {
            Command::Allocate { dtype, elements, .. } => self.cuts.shows(elements, dtype),
            _ => true,
        };
        planned.is_err() || aside.commands.list.iter().all(is_shown)
    }

    /// A product of matrices. If few workgroups would have all results, one pass adds up the chunks and another their
    /// sums, which is the contract's order too.
    fn product(&mut self, program: &Program, own: Contract) -> Result<Typed> {
        let axis = own.axis;
        let pass = Plan::contract(program, self.target)?;
        let n = program.shape[axis];
        let is_split = program.shape.rank() < MAX_RANK && pass.is_better_in_chunks(n);
        if !is_split || !self.cuts.shows(n / CHUNK * pass.count, WIDEST) {
            return self.typed(pass);
        }
        let mut chunks = program.only_product()?;
        chunks.kind = ProgramKind::of(AxisOp::Contract(Contract { axis: axis + 1 }));
        chunks.shape =
            [&program.shape[..axis], &[n / CHUNK, CHUNK], &program.shape[axis + 1..]].concat().into();
        let lengths: Vec<isize> = chunks.shape.iter().map(|&n| n as isize).collect();
        for input in &mut chunks.inputs {
            input.layout = input.layout.reshape(&lengths)?;
        }
        let pass = Plan::contract(&chunks, self.target)?;
        let dtype = pass.kernel.stored[0].dtype;
        let sums = Layout::contiguous(chunks.result_shape().into_owned())?.squeeze(axis as isize + 1)?;
        let (shape, slot) = (sums.shape().clone(), self.pass(pass)?[0]);
        let mut all = ProgramBuilder::new();
        let one = Layout::contiguous([])?.stretched(&shape);
        let one = Input::new(dtype, Source::Scalar(Scalar::from(1).to_bits(dtype)?), one);
        let factors = [Input::new(dtype, Source::Slot(slot), sums), one].map(|input| all.input(input));
        let product = all.steps.once(Step::new(Op::Mul, dtype, dtype, factors.into_iter().collect()));
        let mut sums =
            all.finish(shape, dtype, smallvec![product]).of_kind(ProgramKind::of(AxisOp::Contract(own)));
        if let Some(after) = program.after_product()? {
            match sums.then(&after, |input| input.source.is_row())? {
                Some(all) => sums = all,
                None => bail!(Kernel, "steps after a product that have no layout"),
            }
        }
        self.typed(Plan::contract(&sums, self.target)?)
    }

    /// Passes over rows, each over the partial results of the one before.
    fn rows(&mut self, program: &Program) -> Result<Typed> {
        let mut rows = program.in_rows()?;
        loop {
            let (pass, rest) = Plan::reduce(&rows, self.target)?;
            let Some(layout) = rest else { return self.typed(pass) };
            let stored: SmallVec<[DType; 2]> = pass.stored().collect();
            let slots = self.pass(pass)?;
            let mut inputs = slots
                .iter()
                .zip(stored)
                .map(|(&slot, dtype)| Input::new(dtype, Source::Slot(slot), layout.clone()));
            let mut partials = Vec::new();
            while let Some(value) = inputs.next() {
                let gives_index = rows.gives_index(partials.len());
                partials.push((value, if gives_index { inputs.next() } else { None }));
            }
            rows = rows.over_partials(partials)?;
        }
    }

    /// One pass; or the last values of tiles, a scan of these, and all values.
    fn scan(&mut self, program: &Program) -> Result<Typed> {
        let work = ScanWork::new(program, self.target)?;
        if work.is_one() {
            return self.scan_pass(&work);
        }
        let lasts = self.scan_pass(&work.lasts())?.0[0];
        let sums = self.scan(&work.scan_of_lasts(lasts)?)?.0[0];
        self.scan_pass(&work.values(sums, lasts, 0)?)
    }

    /// A pass of a scan.
    pub(super) fn scan_pass(&mut self, work: &ScanWork) -> Result<Typed> {
        self.typed(Plan::scan(work, self.target)?)
    }

    /// The slots of a pass, and the type of their elements.
    fn typed(&mut self, pass: Plan) -> Result<Typed> {
        let dtype = pass.kernel.stored[0].dtype;
        Ok((self.pass(pass)?, dtype))
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
