//! Reductions of more than a kernel binds, in chunks: if operands, results or partial results are too large. Kept axes
//! are halved until a chunk can be bound, or its elements can be computed into a slot that can. A run that is too long
//! is cut into chunks of a power of 1024 values, each of which is one value of a later round of the contract's order.
//! So the cuts change no bit.

use std::ops::Range;

use smallvec::smallvec;

use super::commands::{Lowering, copy_of, imagined};
use super::reduce::{WIDEST, cast};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{
    AxisOp, BLOCK, GROUP, Input, Op, Program, ProgramBuilder, ProgramKind, ReduceAxes, ReduceOp, ScanAxis,
    Slot, Source, Step, Value,
};
use crate::layout::{Layout, Shape};
use crate::plan::ScanWork;

impl Lowering {
    /// Whether a reduction can run as it is.
    fn is_whole(&self, program: &Program) -> bool {
        self.cuts.is_short(program) && self.is_shown(program)
    }

    /// Whether kernels bind everything that a program reads and stores. Its passes store no more values than elements.
    fn is_shown(&self, program: &Program) -> bool {
        let is_small = || self.cuts.shows(program.counted(), WIDEST);
        self.cuts.is_shown(program) && (is_small() || self.has_room(program))
    }

    /// Whether a program can run as it is after its elements are computed.
    fn has_room_computed(&self, program: &Program) -> Result<bool> {
        let elements = program.clone().of_kind(ProgramKind::Map);
        let stored = imagined(elements.shape.iter().product());
        Ok(self.is_whole(&copy_of(elements.dtype, stored, &elements.shape)?.of_kind(program.kind.clone())))
    }

    /// Runs a program of one result that reduces, as it is or in chunks. Returns the slot of the result.
    pub(super) fn reduced(&mut self, program: &Program) -> Result<Slot> {
        if self.is_whole(program) { self.one(program) } else { self.divided(program) }
    }

    fn divided(&mut self, program: &Program) -> Result<Slot> {
        // A row needs all of its elements in one range, so elements of windows are copied.
        if !self.cuts.is_whole(program) && program.plain_reduction().is_some() {
            return self.after_reductions(program);
        }
        let result = self.result(program)?;
        let mut open = vec![(program.clone(), Layout::contiguous(program.result_shape().into_owned())?)];
        while let Some((part, to)) = open.pop() {
            let axes = axes(&part)?;
            // The outermost of the longest axes, so that a chunk of the result is contiguous.
            let kept = (0..part.shape.rank()).rev().filter(|axis| !axes.contains(axis));
            let longest = kept.max_by_key(|&axis| part.shape[axis]).filter(|&axis| part.shape[axis] > 1);
            // If a single run takes too long, its elements are computed first, or its chunks are reduced.
            let bound = match longest {
                Some(_) if !self.cuts.is_short(&part) => Err(part),
                _ => self.bound(part)?,
            };
            let value = match (bound, longest) {
                (Ok(part), _) => self.one(&part)?,
                (Err(part), None) if part.row_fused().is_some() => self.after_reductions(&part)?,
                (Err(part), None) => self.long_run(part)?,
                (Err(part), Some(axis)) => {
                    let (n, axis) = (part.shape[axis] as isize, axis as isize);
                    for range in [n / 2..n, 0..n / 2] {
                        open.push((part.slice(axis, range.clone())?, to.slice(axis, range, 1)?));
                    }
                    continue;
                }
            };
            self.write(&copy_of(program.dtype, value, to.shape())?, result, Some(&to))?;
        }
        Ok(result)
    }

    /// Reduces rows once for each reduction, and then computes the steps that follow.
    fn after_reductions(&mut self, program: &Program) -> Result<Slot> {
        let Some(frame) = program.frame() else { bail!(Kernel, "a program without rows") };
        let mut values = Vec::new();
        let bound = |mut program: Program, values: &[Slot]| -> Result<Program> {
            let layout = Layout::contiguous(frame.kept())?.broadcast_to(&program.shape)?;
            for input in &mut program.inputs {
                if let Source::Row(number) = input.source {
                    (input.source, input.layout) = (Source::Slot(values[number]), layout.clone());
                }
            }
            Ok(program)
        };
        for alone in program.reductions_alone()? {
            values.push(self.reduced(&bound(alone, &values)?)?);
        }
        let after = bound(program.after_reductions()?, &values)?;
        let result = self.result(&after)?;
        self.write(&after, result, None)?;
        Ok(result)
    }

    /// Row-fused programs and products over slots that a kernel binds: larger operands are copied. Returns the program
    /// unchanged if that is still too large.
    fn bound_rows(&mut self, program: Program) -> Result<std::result::Result<Program, Program>> {
        let mut copied = program.clone();
        let mut copies = Vec::new();
        let followed = program.followed();
        for (i, input) in copied.inputs.iter_mut().enumerate() {
            let copy = program.narrowed(Value::Input(i as u32), &followed.inputs()[i])?;
            if matches!(input.source, Source::Slot(_)) && !self.cuts.is_shown(&copy) {
                input.source = Source::Slot(imagined(copy.shape.iter().product()));
                input.layout = Layout::contiguous(&copy.shape)?.stretched(&program.shape);
                copies.push((i, copy));
            }
        }
        // One row is the least, however long it takes.
        if !self.is_shown(&copied) {
            return Ok(Err(program));
        }
        for (i, copy) in copies {
            copied.inputs[i].source = self.stored(&copy)?.inputs.swap_remove(0).source;
        }
        Ok(Ok(copied))
    }

    /// A program that a kernel binds: the program itself, over ranges, or one over its computed elements. Returns the
    /// program unchanged if both are too large.
    fn bound(&mut self, program: Program) -> Result<std::result::Result<Program, Program>> {
        if self.is_whole(&program) {
            return Ok(Ok(program));
        }
        if program.row_fused().is_some() || program.is_contraction() {
            return self.bound_rows(program);
        }
        if !self.has_room_computed(&program)? {
            return Ok(Err(program));
        }
        let elements = program.clone().of_kind(ProgramKind::Map);
        let layout = Layout::contiguous(&elements.shape)?;
        let mut parts = self.cuts.parts(&elements, (imagined(layout.count()), &layout, true));
        let first = parts.next().transpose()?;
        // Its axes may be merged: only the bindings of inputs matter to a reduction.
        if let Some(part) = first
            && parts.next().is_none()
            && part.program.inputs.len() == program.inputs.len()
        {
            let mut windows = program.clone();
            for (input, bound) in windows.inputs.iter_mut().zip(part.program.inputs) {
                input.layout = input.layout.from(bound.layout.offset());
                input.source = bound.source;
            }
            if self.cuts.is_short(&windows) && self.has_room(&windows) {
                return Ok(Ok(windows));
            }
        }
        Ok(Ok(self.stored(&elements)?.of_kind(program.kind)))
    }

    /// A program over elements that are computed into a slot.
    fn stored(&mut self, elements: &Program) -> Result<Program> {
        let slot = self.result(elements)?;
        self.write(elements, slot, None)?;
        copy_of(elements.dtype, slot, &elements.shape)
    }

    /// Reduces a program of one run: chunk by chunk, and then the chunks' values.
    fn long_run(&mut self, program: Program) -> Result<Slot> {
        let program = self.flat(program)?;
        let op = match program.kind {
            ProgramKind::Axis(AxisOp::Scan(scan), _) => return self.long_scan(&program, scan),
            ProgramKind::Axis(AxisOp::Reduce(ReduceAxes { op, .. }), _) => op,
            _ => bail!(Kernel, "a run of what is not reduced"),
        };
        let (count, element) = (program.shape[0], program.element_type());
        let is_bound = |all: &Lowering, length: usize| -> Result<bool> {
            let chunk = program.slice(0, 0..length as isize)?;
            Ok(all.is_whole(&chunk) || all.has_room_computed(&chunk)?)
        };
        if !is_bound(self, BLOCK.min(count))? {
            bail!(
                Limit,
                "a kernel binds fewer than {BLOCK} elements of {element} (max_storage_buffer_binding_size)"
            );
        }
        let mut length = BLOCK;
        while length < count.div_ceil(BLOCK) && is_bound(self, length * BLOCK)? {
            length *= BLOCK;
        }
        let (chunks, whole) = (count.div_ceil(length), count / length);
        let shape = Shape::from([chunks]);
        let values_of = match op {
            ReduceOp::ArgMin => ReduceOp::Min,
            ReduceOp::ArgMax => ReduceOp::Max,
            op => op,
        };
        // The value of each chunk, and its index in the chunk. Chunks of one length are rows.
        let gather = |own: &mut Lowering, op: ReduceOp, dtype: DType| -> Result<Program> {
            let all = Layout::contiguous(&shape)?;
            let slot = own.slot(chunks, dtype);
            let mut rows = program.slice(0, 0..(whole * length) as isize)?;
            rows.shape = Shape::from([whole, length]);
            for input in &mut rows.inputs {
                input.layout = input.layout.reshape(&[whole as isize, length as isize])?;
            }
            let values = own.reduced(&rows.reduced(op, 1..2))?;
            let to = all.slice(0, 0..whole as isize, 1)?;
            own.write(&copy_of(dtype, values, to.shape())?, slot, Some(&to))?;
            if whole < chunks {
                let rest = program.slice(0, (whole * length) as isize..count as isize)?;
                // A run of one element is an operation, except for a reduction to an index.
                let value = match count - whole * length == 1 && !op.row().gives_index {
                    true => own.stored(&rest.of_kind(ProgramKind::Map))?.inputs.swap_remove(0),
                    false => {
                        let value = own.reduced(&rest.reduced(op, 0..1))?;
                        Input::new(dtype, Source::Slot(value), Layout::contiguous([1])?)
                    }
                };
                let to = all.slice(0, whole as isize..chunks as isize, 1)?;
                own.write(&Program::copy(value), slot, Some(&to))?;
            }
            copy_of(dtype, slot, &shape)
        };
        let values = gather(self, values_of, element)?;
        let best = self.reduced(&values.reduced(op, 0..1))?;
        if !op.row().gives_index {
            return Ok(best);
        }
        // First the chunk that has it, then the value of that chunk.
        let indexes = gather(self, op, DType::U32)?;
        self.chosen(best, indexes, length)
    }

    /// Scans one run: the last values of the tiles of each chunk, a scan of all of these, and then the values of each
    /// chunk. An exclusive scan moves them by one when they are written.
    fn long_scan(&mut self, program: &Program, scan: ScanAxis) -> Result<Slot> {
        let inclusive = ProgramKind::of(AxisOp::Scan(ScanAxis { exclusive: false, ..scan }));
        let program = program.clone().of_kind(inclusive.clone());
        let count = program.shape[0];
        let slice = |from: usize, to: usize| program.slice(0, from as isize..to.min(count) as isize);
        let mut work = ScanWork::new(&program, self.target)?;
        while let Some(smaller) = work.smaller()
            && !self.has_room_computed(&slice(0, 2 * work.tile())?)?
        {
            work = smaller;
        }
        let (tile, stored) = (work.tile(), work.stored_type());
        let mut length = tile;
        while length < count && self.has_room_computed(&slice(0, 2 * length)?)? {
            length *= 2;
        }
        let chunks = || (0..count).step_by(length);
        let chunk = |own: &mut Lowering, from: usize| match own.bound(slice(from, from + length)?)? {
            Ok(part) => Ok(work.over(part)),
            Err(_) => bail!(
                Limit,
                "a kernel binds fewer than {GROUP} elements of {stored} (max_storage_buffer_binding_size)"
            ),
        };

        let tiles = count.div_ceil(tile);
        let all_lasts = Layout::contiguous([work.parts(), tiles])?;
        let lasts = self.slot(all_lasts.count(), stored);
        for from in chunks() {
            let own = (from / tile) as isize..count.min(from + length).div_ceil(tile) as isize;
            let to = all_lasts.slice(1, own, 1)?;
            let part = chunk(self, from)?;
            self.note.parts += 1;
            let own = self.scan_pass(&part.lasts())?.0[0];
            self.write(&copy_of(stored, own, to.shape())?, lasts, Some(&to))?;
        }
        let input = |slot: Slot, layout: Layout| Input::new(stored, Source::Slot(slot), layout);
        let first = all_lasts.slice(0, 0..1, 1)?.reshape(&[tiles as isize])?;
        let sums = self.reduced(&Program::copy(input(lasts, first.clone())).of_kind(inclusive))?;

        let all = Layout::contiguous(&program.shape)?;
        let result = self.result(&program)?;
        let moved = usize::from(scan.exclusive);
        if scan.exclusive {
            let source = Source::Scalar(scan.op.identity(program.element_type()));
            let nothing = Input::new(program.dtype, source, Layout::contiguous([1])?);
            self.write(&Program::copy(nothing), result, Some(&all.slice(0, 0..1, 1)?))?;
        }
        for from in chunks() {
            let to = count.min(from + length);
            // Before the first tile of a chunk come the last two of the chunk before.
            let before = (from / tile).min(2);
            let own = (from / tile - before) as isize..to.div_ceil(tile) as isize;
            let copied =
                [input(sums, first.slice(0, own.clone(), 1)?), input(lasts, all_lasts.slice(1, own, 1)?)];
            let [sums, lasts] = copied.map(|input| self.computed(&Program::copy(input)));
            let part = chunk(self, from)?;
            self.note.parts += 1;
            let values = self.scan_pass(&part.values(sums?, lasts?, before)?)?.0[0];
            let kept = (to - from).min(count - from - moved);
            if kept == 0 {
                break;
            }
            let own = Layout::contiguous([to - from])?.slice(0, 0..kept as isize, 1)?;
            let place = (from + moved) as isize;
            let copy = cast(input(values, own), program.dtype);
            self.write(&copy, result, Some(&all.slice(0, place..place + kept as isize, 1)?))?;
        }
        Ok(result)
    }

    /// The program of one run along one axis.
    fn flat(&mut self, program: Program) -> Result<Program> {
        let count: usize = program.shape.iter().product();
        let merged: Result<Vec<Layout>> =
            program.inputs.iter().map(|input| input.layout.reshape(&[count as isize])).collect();
        let mut kind = program.kind.clone();
        match &mut kind {
            ProgramKind::Axis(AxisOp::Reduce(own), _) => own.axes = 0..1,
            ProgramKind::Axis(AxisOp::Scan(own), _) => own.axis = 0,
            _ => {}
        }
        let mut flat = match merged {
            Ok(layouts) => {
                let mut flat = program;
                flat.inputs.iter_mut().zip(layouts).for_each(|(input, layout)| input.layout = layout);
                flat
            }
            // Elements without one stride for the whole run are computed first.
            Err(_) => {
                let mut flat = self.stored(&program.of_kind(ProgramKind::Map))?;
                flat.inputs[0].layout = Layout::contiguous([count])?;
                flat
            }
        };
        flat.shape = Shape::from([count]);
        Ok(flat.of_kind(kind))
    }

    /// `chunk * length + indexes[chunk]` for the chunk that has it, and 0 for all others.
    fn chosen(&mut self, chunk: Slot, indexes: Program, length: usize) -> Result<Slot> {
        let shape = indexes.shape.clone();
        let scalar = Layout::contiguous([])?.broadcast_to(&shape)?;
        let mut all = ProgramBuilder::new();
        let number = Input::new(DType::I32, Source::Index(None), Layout::contiguous(&shape)?);
        let [number, length, zero] = [
            number,
            Input::new(DType::U32, Source::Scalar(length as u64), scalar.clone()),
            Input::new(DType::U32, Source::Scalar(0), scalar),
        ]
        .map(|input| all.input(input));
        let chunk = Layout::contiguous([1])?.broadcast_to(&shape).map(|layout| (chunk, layout))?;
        let chunk = all.input(Input::new(DType::U32, Source::Slot(chunk.0), chunk.1));
        let Some(index) = indexes.inputs.into_iter().next() else {
            bail!(Kernel, "indexes without an input")
        };
        let index = all.input(index);
        let own = all.steps.once(Step::new(Op::Cast, DType::I32, DType::U32, smallvec![number]));
        let first = all.steps.once(Step::new(Op::Mul, DType::U32, DType::U32, smallvec![own, length]));
        let place = all.steps.once(Step::new(Op::Add, DType::U32, DType::U32, smallvec![first, index]));
        let is_it = all.steps.once(Step::new(Op::Eq, DType::U32, DType::Bool, smallvec![own, chunk]));
        let chosen =
            all.steps.once(Step::new(Op::Select, DType::U32, DType::U32, smallvec![is_it, place, zero]));
        let elements = all.finish(shape, DType::U32, smallvec![chosen]);
        self.reduced(&elements.reduced(ReduceOp::Sum, 0..1))
    }

    /// Runs a program that kernels bind.
    fn one(&mut self, program: &Program) -> Result<Slot> {
        match self.whole(program)?.pop() {
            Some(slot) => Ok(slot),
            None => bail!(Kernel, "a reduction without a result"),
        }
    }
}

/// The axes along which a program reduces or scans.
fn axes(program: &Program) -> Result<Range<usize>> {
    match program.axes() {
        Some(axes) => Ok(axes),
        None => bail!(Kernel, "a program that does not reduce"),
    }
}
