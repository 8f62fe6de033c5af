//! Products of matrices: one kernel, or one for each part of the results where that would take too long. Results of more
//! products than one loop has turns for are products of chunks, which are added up.

use std::ops::Range;

use smallvec::smallvec;

use super::commands::{Lowering, copy_of};
use crate::error::{Result, bail};
use crate::ir::{CHUNK, Input, Op, Program, ProgramBuilder, ProgramKind, Slot, Source, Step, Value};
use crate::layout::{Layout, Shape};

/// Products of a chunk, a power of [`CHUNK`]; and of a result that one kernel adds up, as llvmpipe ends loops after 65535
/// turns.
const LONG: usize = CHUNK * CHUNK;
const LONGEST: usize = 32 * LONG;

impl Lowering {
    /// Runs a contraction: a slot for its result.
    pub(super) fn contracted(&mut self, program: &Program, axes: &Range<usize>) -> Result<Slot> {
        let products: usize = program.shape[axes.clone()].iter().product();
        if products > LONGEST {
            return self.long_contraction(program, axes, products);
        }
        let rest = (0..program.shape.rank()).filter(|axis| !axes.contains(axis));
        let longest = rest.rev().max_by_key(|&axis| program.shape[axis]);
        match longest.filter(|&axis| program.shape[axis] > 1 && !self.cuts.is_short(program)) {
            None => {
                self.check_bound(program)?;
                self.one(program)
            }
            Some(axis) => {
                let result = self.result(program)?;
                let to = Layout::contiguous(program.result_shape())?;
                let n = program.shape[axis] as isize;
                for range in [0..n / 2, n / 2..n] {
                    let part = program.slice(axis as isize, range.clone())?;
                    let value = self.contracted(&part, axes)?;
                    let to = to.slice(axis as isize, range, 1)?;
                    self.write(&copy_of(program.dtype, value, to.shape())?, result, Some(&to))?;
                }
                Ok(result)
            }
        }
    }

    /// Fails where a kernel does not bind all of a factor or of the result.
    fn check_bound(&self, program: &Program) -> Result<()> {
        let results: usize = program.result_shape().iter().product();
        let shows = |input: &Input| match input.source {
            Source::Slot(slot) => self.cuts.shows(slot.elements, input.dtype),
            _ => true,
        };
        if !program.inputs.iter().all(shows) || !self.cuts.shows(results, crate::dtype::DType::F64) {
            bail!(
                Limit,
                "a product over {} has an operand or result larger than a binding (max_storage_buffer_binding_size): \
                 evaluate it in slices",
                program.shape
            );
        }
        Ok(())
    }

    /// The sums of chunks, and what becomes of these.
    fn long_contraction(&mut self, program: &Program, axes: &Range<usize>, products: usize) -> Result<Slot> {
        let chunks = products / LONG;
        let cut =
            [(0..chunks * LONG, vec![chunks, LONG]), (chunks * LONG..products, vec![1, products % LONG])];
        let flat = self.flattened(program, axes)?;
        let axis = axes.start;
        // Kept axes, then chunks.
        let shape = |lengths: &[usize]| -> Shape {
            let (before, after) = (&program.shape[..axis], &program.shape[axes.end..]);
            [before, lengths, after].concat().into_iter().collect()
        };
        let all = Layout::contiguous(shape(&[products.div_ceil(LONG), 1]))?;
        let sums = self.slot(all.count(), program.dtype);
        for (range, lengths) in cut.into_iter().filter(|(range, _)| !range.is_empty()) {
            let mut part = flat.slice(axis as isize, range.start as isize..range.end as isize)?;
            part.shape = shape(&lengths);
            let lengths: Vec<isize> = part.shape.iter().map(|&n| n as isize).collect();
            for input in &mut part.inputs {
                input.layout = input.layout.reshape(&lengths)?;
            }
            let part = part.of_kind(ProgramKind::Contract(axis + 1..axis + 2));
            let value = self.contracted(&part, &(axis + 1..axis + 2))?;
            let first = (range.start / LONG) as isize;
            let to = all.slice(axis as isize, first..first + part.shape[axis] as isize, 1)?;
            self.write(&copy_of(program.dtype, value, to.shape())?, sums, Some(&to))?;
        }
        // Times one, they are products too.
        let one = match program.dtype {
            crate::dtype::DType::F32 => 1.0_f32.to_bits().into(),
            crate::dtype::DType::F64 => 1.0_f64.to_bits(),
            _ => 1,
        };
        let mut built = ProgramBuilder::new();
        let layout = Layout::contiguous([])?.broadcast_to(all.shape())?;
        let one = built.input(Input::new(program.dtype, Source::Scalar(one), layout));
        let sums = built.input(Input::new(program.dtype, Source::Slot(sums), all.clone()));
        let product = Step::new(Op::Mul, program.dtype, program.dtype, smallvec![sums, one]);
        let product = built.steps.once(product);
        let last = built.finish(all.shape().clone(), program.dtype, smallvec![product]);
        let last = last.of_kind(ProgramKind::Contract(axis..axis + 1));
        self.contracted(&last, &(axis..axis + 1))
    }

    /// The program with one axis in the place of those that are contracted. Factors that none leads through are computed
    /// first.
    fn flattened(&mut self, program: &Program, axes: &Range<usize>) -> Result<Program> {
        let products: usize = program.shape[axes.clone()].iter().product();
        let merged = |shape: &Shape| -> Vec<isize> {
            let inner: usize = shape[axes.clone()].iter().product();
            let lengths = shape[..axes.start].iter().chain([&inner]).chain(&shape[axes.end..]);
            lengths.map(|&n| n as isize).collect()
        };
        let mut flat = program.clone();
        let lengths = merged(&program.shape);
        flat.shape = lengths.iter().map(|&n| n as usize).collect();
        let mut layouts = program.inputs.iter().map(|input| input.layout.reshape(&lengths));
        if let Ok(layouts) = layouts.by_ref().collect::<Result<Vec<Layout>>>() {
            flat.inputs.iter_mut().zip(layouts).for_each(|(input, layout)| input.layout = layout);
            return Ok(flat.of_kind(ProgramKind::Contract(axes.start..axes.start + 1)));
        }
        let Some(step) = program.step(program.results[0]) else {
            bail!(Kernel, "a contraction of no product")
        };
        let mut built = ProgramBuilder::new();
        let mut factors: Vec<Value> = Vec::new();
        for &factor in &step.args {
            let part = program.narrowed(factor, &program.followed()[factor])?;
            let slot = self.computed(&part)?;
            let own: Shape = merged(&part.shape).iter().map(|&n| n as usize).collect();
            let layout = Layout::contiguous(own)?.broadcast_to(&flat.shape)?;
            factors.push(built.input(Input::new(part.dtype, Source::Slot(slot), layout)));
        }
        debug_assert_eq!(flat.shape[axes.start], products);
        let product = Step::new(Op::Mul, program.dtype, program.dtype, factors.into_iter().collect());
        let product = built.steps.once(product);
        let flat = built.finish(flat.shape, program.dtype, smallvec![product]);
        Ok(flat.of_kind(ProgramKind::Contract(axes.start..axes.start + 1)))
    }
}
