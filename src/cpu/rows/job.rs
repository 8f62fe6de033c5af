//! A program made ready, and the way of a block through it: loops, and reductions between them.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};

use super::{Block, Job, MOST, Next, Place, Reduced, Scratch, Task};
use crate::cpu::ahead::Ahead;
use crate::cpu::bytes::{From, LARGEST_NEAR};
use crate::cpu::combine::{self, Loops};
use crate::cpu::kernels::PART;
use crate::cpu::lines::{self, LINE, Stream};
use crate::cpu::load::Reader;
use crate::cpu::pairs::{self, Loop};
use crate::cpu::registers::Register;
use crate::error::{Result, bail};
use crate::ir::{ByValue, Frame, Input, Program, RowFused, RowReduction, Source, Value};
use crate::layout::Layout;

impl<'a> Job<'a> {
    pub(super) fn new(
        program: &'a Program,
        rows: &RowFused,
        frame: &Frame,
        from: &'a [From<'a>],
        bytes: usize,
    ) -> Result<Job<'a>> {
        let of_row = program.levels().of_row;
        let (shape, count) = (&frame.shape, frame.count());
        let inner: usize = shape[rows.axes.end..].iter().product();
        let matrix = count * inner;
        let strip = if matrix <= MOST.max(count) { inner } else { (MOST / count).clamp(1, inner) };
        let reader = |(i, input): (usize, &Input)| -> Result<Reader> {
            let one = |layout: Layout, axis: usize| layout.slice(axis as isize, 0..1, 1);
            let is_read = of_row.inputs()[i] && !matches!(input.source, Source::Row(_));
            Ok(Reader::new(&match is_read {
                true => rows.axes.clone().try_fold(input.layout.clone(), one)?,
                false => input.layout.clone(),
            }))
        };
        let readers = program.inputs.iter().enumerate().map(reader).collect::<Result<_>>()?;
        let loops = pairs::loops(program, &of_row)?;
        let (registers, register_count) = pairs::registers(program, &loops);
        let sizes = registers.map(|value, _| program.dtype_of(value).size());
        let together = (MOST / matrix).max(1);
        let fold = |(i, own): (usize, &RowReduction)| -> Result<Reduced> {
            let dtype = program.dtype_of(own.value);
            let Loops::Values(loops) = combine::of(own.op, dtype)? else {
                bail!(Kernel, "{} inside of a program", own.op.name());
            };
            let Some(gives) = program.given(i) else {
                bail!(Kernel, "a reduction that nothing reads");
            };
            let (bits, most) = (own.op.identity(dtype), together * inner);
            let identity = own.op.is_ordered(dtype).then(|| Register::of_equal(bits, dtype.size(), most));
            Ok(Reduced { value: own.value, gives, loops, identity: identity.transpose()? })
        };
        let reductions: Vec<Reduced> = rows.reductions.iter().enumerate().map(fold).collect::<Result<_>>()?;
        // What is of the row and read for each element of it.
        let mut spread = program.by_value(false);
        for own in loops.iter().filter(|own| !of_row[own.value]) {
            own.args.iter().for_each(|&arg| spread[arg] |= of_row[arg]);
        }
        let whole = program.results.iter().filter(|_| !rows.kept);
        for &value in reductions.iter().map(|fold| &fold.value).chain(whole) {
            spread[value] |= of_row[value];
        }
        let order = order(program, &loops, &reductions)?;
        // What was read for a row is in a cache, so only what is stored leaves it.
        let streams = !rows.kept && strip == inner && lines::streams(bytes, From::bytes(from));
        Ok(Job {
            program,
            from,
            readers,
            of_row,
            spread,
            loops,
            order,
            reductions,
            registers,
            register_count,
            sizes,
            kept: rows.kept,
            count,
            inner,
            together,
            strip,
            streams,
            asks: From::bytes(from) > LARGEST_NEAR,
        })
    }

    pub(super) fn scratch(&self) -> Result<Scratch> {
        Ok(Scratch {
            registers: (0..self.register_count).map(|_| Register::default()).collect(),
            spread: self.spread.map(|_, _| Register::default()),
            places: vec![Place::Register; self.program.inputs.len()],
            lengths: self.program.by_value(0),
            buffer: Register::default(),
            result: Register::default(),
        })
    }

    pub(super) fn task(&self, mut task: Task<'_>, stream: Option<&Stream>, scratch: &mut Scratch) {
        let size = self.program.dtype.size();
        if self.strip == self.inner {
            let per_matrix = if self.kept { self.inner } else { self.count * self.inner };
            let Some(out) = task.outs.first_mut() else { return };
            let end = task.matrix + out.len() / (per_matrix * size);
            for (k, out) in out.chunks_mut(self.together * per_matrix * size).enumerate() {
                let matrices = out.len() / (per_matrix * size);
                let matrix = task.matrix + k * self.together;
                let block = Block { matrix, column: 0, matrices, columns: self.inner };
                // As many at most.
                let after = matrix + matrices;
                let next = match self.asks && after < end {
                    true => self.ahead(Block { matrix: after, matrices: matrices.min(end - after), ..block }),
                    false => Ahead::default(),
                };
                self.block(block, next, Some(out), stream, scratch);
            }
            return;
        }
        for first in (0..task.columns).step_by(self.strip) {
            let columns = self.strip.min(task.columns - first);
            let (matrix, column) = (task.matrix, task.column + first);
            let block = Block { matrix, column, matrices: 1, columns };
            self.block(block, Ahead::default(), None, None, scratch);
            let result = self.program.results[0];
            let values = self.value(result, !self.kept, scratch);
            let parts = if values.len() < task.outs.len() * columns * size { 1 } else { task.outs.len() };
            for (k, out) in task.outs.iter_mut().enumerate() {
                let to = &mut out[first * size..(first + columns) * size];
                let row = &values[(k % parts) * columns * size..];
                to.copy_from_slice(&row[..columns * size]);
            }
        }
    }

    /// Computes a block, and asks for what is read next; its result into `out`, if that is there.
    fn block(
        &self,
        block: Block,
        next: Ahead<'_>,
        out: Option<&mut [u8]>,
        stream: Option<&Stream>,
        scratch: &mut Scratch,
    ) {
        let rows = block.matrices * block.columns;
        let all = rows * self.count;
        for i in 0..self.program.inputs.len() {
            self.load(i, block, scratch);
            self.spread(Value::Input(i as u32), block, scratch);
        }
        let result = self.program.results[0];
        let mut out = out;
        let mut ask = next.in_steps(self.order.len());
        for own in &self.order {
            ask();
            match *own {
                Next::Loop(k) => {
                    let own = &self.loops[k];
                    let value = own.value;
                    let of_row = self.of_row[value];
                    let target = self.registers[value];
                    // Taken out, so that the others can be read.
                    let mut register = std::mem::take(&mut scratch.registers[target]);
                    let mut part = std::mem::take(&mut scratch.result);
                    let length = if of_row { rows } else { all };
                    scratch.lengths[value] = length;
                    let mut args: [&[u8]; 3] = [&[]; 3];
                    for (slot, &arg) in args.iter_mut().zip(&own.args) {
                        *slot = self.value(arg, !of_row, scratch);
                    }
                    let args = &args[..own.args.len()];
                    let is_last = value == result && !self.reductions.iter().any(|fold| fold.value == result);
                    match out.take_if(|_| is_last && of_row == self.kept) {
                        Some(out) => {
                            self.last(own, args, &mut part, stream, out);
                            (scratch.registers[target], scratch.result) = (register, part);
                            return;
                        }
                        None => own.job.run(args, register.bytes_mut(length * self.sizes[value])),
                    }
                    (scratch.registers[target], scratch.result) = (register, part);
                    self.spread(value, block, scratch);
                }
                Next::ReduceOp(i) => self.fold(i, block, scratch),
            }
        }
        let Some(out) = out else { return };
        let values = self.value(result, !self.kept, scratch);
        for out in out.chunks_mut(values.len()) {
            out.copy_from_slice(&values[..out.len()]);
        }
    }

    /// Runs the last loop of a block, past the cache where results are stored so.
    fn last(
        &self,
        own: &Loop,
        args: &[&[u8]],
        register: &mut Register,
        stream: Option<&Stream>,
        out: &mut [u8],
    ) {
        let Some(stream) = stream else { return own.job.run(args, out) };
        let size = self.program.dtype.size();
        let length = out.len() / size;
        // The first part ends where a line does, so that parts share none.
        let first = (PART * size - LINE + lines::to_line(out)).min(out.len());
        let (head, rest) = out.split_at_mut(first);
        let mut at = 0;
        for out in std::iter::once(head).chain(rest.chunks_mut(PART * size)) {
            let count = out.len() / size;
            let mut parts: [&[u8]; 3] = [&[]; 3];
            for ((part, arg), &value) in parts.iter_mut().zip(args).zip(&own.args) {
                let size = self.sizes[value];
                let start = if arg.len() >= length * size { at } else { 0 };
                *part = &arg[start * size..(start + count) * size];
            }
            let part = register.bytes_mut(out.len());
            own.job.run(&parts[..args.len()], part);
            stream.copy(part, out);
            at += count;
        }
    }

    /// Reduces a value, to what stands for that.
    fn fold(&self, i: usize, block: Block, scratch: &mut Scratch) {
        let &Reduced { value, gives, ref loops, ref identity } = &self.reductions[i];
        let size = self.sizes[value];
        let each = block.matrices * block.columns;
        let (rows, columns) = (self.count, block.columns);
        let target = self.registers[gives];
        let mut register = std::mem::take(&mut scratch.registers[target]);
        let mut buffer = std::mem::take(&mut scratch.buffer);
        {
            let x = self.value(value, true, scratch);
            let out = register.bytes_mut(each * size);
            // Of equal ones a part is there.
            let is_part = x.len() < each * rows * size;
            let all = is_part.then(|| scratch_of(each * rows * size, x));
            let x = all.as_deref().map_or(x, cast);
            let buffer = buffer.bytes_mut(2 * rows * columns * size);
            loops.reduce([rows, columns], x, buffer, out);
            if let Some(identity) = identity {
                (loops.accumulate)(out, identity.bytes(each * size));
            }
        }
        scratch.registers[target] = register;
        scratch.buffer = buffer;
        scratch.lengths[gives] = each;
        self.spread(gives, block, scratch);
    }
}

/// So many bytes of a part that repeats.
fn scratch_of(bytes: usize, part: &[u8]) -> Vec<u64> {
    let mut words = vec![0_u64; bytes.div_ceil(8)];
    let all: &mut [u8] = cast_mut(&mut words);
    all[..bytes].chunks_mut(part.len()).for_each(|to| to.copy_from_slice(&part[..to.len()]));
    words
}

/// Loops, and reductions as soon as what they reduce is known: each behind what it reads.
fn order(program: &Program, loops: &[Loop], reductions: &[Reduced]) -> Result<Vec<Next>> {
    let is_known = |input: &Input| !matches!(input.source, Source::Row(_));
    let mut known = ByValue::of(program.inputs.iter().map(is_known), &program.steps, |_, _| false);
    let mut order = Vec::new();
    let mut done = vec![false; loops.len() + reductions.len()];
    loop {
        let before = order.len();
        for (i, fold) in reductions.iter().enumerate() {
            if !done[loops.len() + i] && known[fold.value] {
                done[loops.len() + i] = true;
                known[fold.gives] = true;
                order.push(Next::ReduceOp(i));
            }
        }
        let is_ready = |&k: &usize| !done[k] && loops[k].args.iter().all(|&arg| known[arg]);
        // In their order, as registers are used again in it.
        if let Some(k) = (0..loops.len()).find(|&k| !done[k]).filter(is_ready) {
            done[k] = true;
            known[loops[k].value] = true;
            order.push(Next::Loop(k));
        }
        match order.len() {
            n if n == done.len() => return Ok(order),
            n if n == before => bail!(Kernel, "a reduction inside of a program needs what comes after it"),
            _ => {}
        }
    }
}
