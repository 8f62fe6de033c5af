//! Programs that fold inside: some rows at a time are computed to the end while they are in cache. What is
//! computed of their elements is computed once, however many folds read it.
//!
//! A program is `outer` matrices of `count` rows and `inner` columns, of which rows are folded, so that a range
//! is a column. As many matrices are computed together as a block holds; of larger ones a strip of columns.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};
use smallvec::SmallVec;

use super::blocks::{From, with_memory};
use super::combine::{self, Loops, Values};
use super::eval;
use super::fold;
use super::kernels::PART;
use super::lines::{self, LINE, Stream};
use super::load::Reader;
use super::memory::HostMemory;
use super::pairs::{self, Loop};
use super::registers::{self, Register};
use super::threads;
use crate::error::{Result, bail};
use crate::expr::{Frame, Input, Program, Rows, Source, Value};
use crate::layout::Layout;

/// Elements that a block computes.
const MOST: usize = 4096;

/// Elements of a task; less than two of these are not worth threads.
const TASK: usize = 32 << 10;

/// Runs a program with folds inside, of one result.
pub(super) fn rows(program: &Program, from: &[From<'_>], out: &mut [u8]) -> Result<()> {
    let Some((rows, frame)) = program.rows.as_ref().zip(program.frame()) else {
        bail!(Kernel, "a program without rows");
    };
    if out.is_empty() {
        return Ok(());
    }
    if let Some(plain) = program.plain_fold() {
        return after_fold(program, &plain, from, out);
    }
    match turned(program, rows, &frame)? {
        None => run(program, rows, &frame, from, out),
        Some((turned, layout)) => {
            let mut held = HostMemory::take(out.len())?;
            let bytes = out.len();
            let (Some(rows), Some(frame)) = (&turned.rows, turned.frame()) else {
                bail!(Kernel, "a program without rows");
            };
            run(&turned, rows, &frame, from, &mut held[..bytes])?;
            let copy = Program::copy(Input::new(program.dtype, Source::Scalar(0), layout));
            eval::eval(&copy, &[From::Bytes(&held[..bytes])], out)
        }
    }
}

/// Folds all, and computes of that what follows.
fn after_fold(program: &Program, plain: &Program, from: &[From<'_>], out: &mut [u8]) -> Result<()> {
    let Some(folding) = &plain.fold else { bail!(Kernel, "a fold without a folding") };
    let bytes = plain.byte_size()?;
    let mut held = plain.results.iter().map(|_| HostMemory::take(bytes)).collect::<Result<Vec<_>>>()?;
    let source = |input: &Input| {
        let same = |other: &Input| other.source.is_same(&input.source) && other.layout == input.layout;
        input_of(program, from, input, same)
    };
    let own: Vec<From<'_>> = plain.inputs.iter().map(source).collect::<Result<_>>()?;
    fold::fold(plain, folding, &own, held.iter_mut().map(|memory| &mut memory[..bytes]).collect())?;
    let mut after = program.after_folds()?;
    let row_major = Layout::contiguous(&after.shape)?;
    let mut own: Vec<From<'_>> = Vec::new();
    for input in &mut after.inputs {
        own.push(match input.source {
            Source::Row(fold) => {
                input.layout = row_major.clone();
                From::Bytes(&held[fold][..bytes])
            }
            _ => input_of(program, from, input, |other| other.source.is_same(&input.source))?,
        });
    }
    eval::eval(&after, &own, out)
}

/// What an input of a part of a program is read from.
fn input_of<'a>(
    program: &Program,
    from: &[From<'a>],
    input: &Input,
    same: impl Fn(&Input) -> bool,
) -> Result<From<'a>> {
    if let Source::Scalar(bits) = input.source {
        return Ok(From::Scalar(bits));
    }
    match program.inputs.iter().position(same) {
        Some(i) => Ok(from[i]),
        None => bail!(Kernel, "{:?} is no input of the program", input.source),
    }
}

/// The program with rows along its last axes, where most of what it reads lies so and they are others: and
/// how its results lie then, if they are all elements.
fn turned(program: &Program, rows: &Rows, frame: &Frame) -> Result<Option<(Program, Layout)>> {
    let rank = frame.shape.rank();
    let is_last = frame.shape[rows.axes.end..].iter().all(|&n| n == 1);
    if is_last || !program.lies_along(frame) {
        return Ok(None);
    }
    let kept = (0..rank).filter(|axis| !rows.axes.contains(axis));
    let order: Vec<usize> = kept.chain(rows.axes.clone()).collect();
    let there: Vec<isize> = order.iter().map(|&axis| axis as isize).collect();
    let mut back = vec![0; rank];
    order.iter().enumerate().for_each(|(i, &axis)| back[axis] = i as isize);
    let mut turned = program.clone();
    turned.shape = order.iter().map(|&axis| frame.shape[axis]).collect();
    for input in &mut turned.inputs {
        input.layout = input.layout.permute(&there)?;
    }
    let axes = rank - rows.axes.len()..rank;
    turned.rows = Some(Rows { axes, ..rows.clone() });
    let layout = Layout::contiguous(turned.result_shape())?.permute(&back)?;
    Ok(Some((turned, layout)))
}

/// What is done next of a block.
#[derive(Clone, Copy)]
enum Next {
    Loop(usize),
    Fold(usize),
}

/// A program made ready.
struct Job<'a> {
    program: &'a Program,
    from: &'a [From<'a>],
    /// Of inputs: over all elements, or over one of each row.
    readers: Vec<Reader>,
    of_row: Vec<bool>,
    /// Values of the row that are read for each element.
    spread: Vec<bool>,
    loops: Vec<Loop>,
    order: Vec<Next>,
    folds: Vec<Folded>,
    registers: Vec<usize>,
    register_count: usize,
    /// Bytes of an element of each value.
    sizes: Vec<usize>,
    kept: bool,
    count: usize,
    inner: usize,
    /// Matrices of a block, or columns of a strip where one is too large for a block.
    together: usize,
    strip: usize,
    streams: bool,
}

/// A fold of a job.
struct Folded {
    value: Value,
    /// The input that stands for what it gives.
    gives: usize,
    loops: Values,
    /// The value that changes none, where that makes +0 of -0.
    identity: Option<Register>,
}

/// Some matrices, or some columns of one.
struct Task<'a> {
    matrix: usize,
    column: usize,
    columns: usize,
    /// The results: of all matrices, or of each row of the strip.
    outs: SmallVec<[&'a mut [u8]; 1]>,
}

/// The elements of a block: `matrices` whole ones, or `columns` of one.
#[derive(Clone, Copy)]
struct Block {
    matrix: usize,
    column: usize,
    matrices: usize,
    columns: usize,
}

/// Where the elements of an input lie.
#[derive(Clone, Copy)]
enum Place {
    Source(usize),
    Register,
}

/// Memory of one thread.
struct Scratch {
    registers: Vec<Register>,
    /// Values of the row, an element for each.
    spread: Vec<Register>,
    places: Vec<Place>,
    /// Elements of each value: where all are equal, there is one part.
    lengths: Vec<usize>,
    buffer: Register,
    result: Register,
}

fn run(program: &Program, rows: &Rows, frame: &Frame, from: &[From<'_>], out: &mut [u8]) -> Result<()> {
    let job = Job::new(program, rows, frame, from, out.len())?;
    let size = program.dtype.size();
    let per_row = if rows.kept { 1 } else { job.count };
    let mut tasks: Vec<Task<'_>> = Vec::new();
    if job.strip == job.inner {
        let matrix = per_row * job.inner * size;
        let together = TASK.div_ceil(job.count * job.inner).next_multiple_of(job.together);
        for (i, out) in out.chunks_mut(together * matrix).enumerate() {
            let outs = SmallVec::from_iter([out]);
            tasks.push(Task { matrix: i * together, column: 0, columns: job.inner, outs });
        }
    } else {
        let width = (TASK / job.count).next_multiple_of(job.strip);
        for (matrix, out) in out.chunks_mut(per_row * job.inner * size).enumerate() {
            let first = tasks.len();
            for (k, row) in out.chunks_mut(job.inner * size).enumerate() {
                for (strip, part) in row.chunks_mut(width * size).enumerate() {
                    if k == 0 {
                        let (column, columns) = (strip * width, part.len() / size);
                        tasks.push(Task { matrix, column, columns, outs: SmallVec::new() });
                    }
                    tasks[first + strip].outs.push(part);
                }
            }
        }
    }
    threads::each(
        tasks,
        || job.scratch(),
        |scratch, task| match job.streams {
            true => lines::scope(|stream| job.task(task, Some(stream), scratch)),
            false => job.task(task, None, scratch),
        },
    )
}

impl<'a> Job<'a> {
    fn new(
        program: &'a Program,
        rows: &Rows,
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
            let is_read = of_row[i] && !matches!(input.source, Source::Row(_));
            Ok(Reader::new(&match is_read {
                true => rows.axes.clone().try_fold(input.layout.clone(), one)?,
                false => input.layout.clone(),
            }))
        };
        let readers = program.inputs.iter().enumerate().map(reader).collect::<Result<_>>()?;
        let loops = pairs::loops(program, &of_row)?;
        let (registers, register_count) = registers::assign(program, &loops);
        let sizes = (0..registers.len()).map(|value| program.dtype_of(value as Value).size()).collect();
        let together = (MOST / matrix).max(1);
        let fold = |(i, own): (usize, &crate::expr::RowFold)| -> Result<Folded> {
            let dtype = program.dtype_of(own.value);
            let Loops::Values(loops) = combine::of(own.fold, dtype)? else {
                bail!(Kernel, "{} inside of a program", own.fold.name());
            };
            let is_own = |input: &Input| matches!(input.source, Source::Row(row) if row == i);
            let Some(gives) = program.inputs.iter().position(is_own) else {
                bail!(Kernel, "a fold that nothing reads");
            };
            let (bits, most) = (own.fold.identity(dtype), together * inner);
            let identity = own.fold.is_ordered(dtype).then(|| Register::of_equal(bits, dtype.size(), most));
            Ok(Folded { value: own.value, gives, loops, identity: identity.transpose()? })
        };
        let folds: Vec<Folded> = rows.folds.iter().enumerate().map(fold).collect::<Result<_>>()?;
        // What is of the row and read for each element of it.
        let mut spread = vec![false; of_row.len()];
        let inputs = program.inputs.len();
        for own in loops.iter().filter(|own| !of_row[inputs + own.step]) {
            own.args.iter().for_each(|&arg| spread[arg as usize] |= of_row[arg as usize]);
        }
        let whole = program.results.iter().filter(|_| !rows.kept);
        for value in folds.iter().map(|fold| &fold.value).chain(whole) {
            spread[*value as usize] |= of_row[*value as usize];
        }
        let order = order(program, &loops, &folds)?;
        // What was read for a row is in a cache, so only what is stored leaves it.
        let streams = !rows.kept && strip == inner && lines::streams(bytes);
        Ok(Job {
            program,
            from,
            readers,
            of_row,
            spread,
            loops,
            order,
            folds,
            registers,
            register_count,
            sizes,
            kept: rows.kept,
            count,
            inner,
            together,
            strip,
            streams,
        })
    }

    fn scratch(&self) -> Result<Scratch> {
        let register = |count: usize| (0..count).map(|_| Register::default()).collect();
        let values = self.registers.len();
        Ok(Scratch {
            registers: register(self.register_count),
            spread: register(values),
            places: vec![Place::Register; self.program.inputs.len()],
            lengths: vec![0; values],
            buffer: Register::default(),
            result: Register::default(),
        })
    }

    fn task(&self, mut task: Task<'_>, stream: Option<&Stream>, scratch: &mut Scratch) {
        let size = self.program.dtype.size();
        if self.strip == self.inner {
            let per_matrix = if self.kept { self.inner } else { self.count * self.inner };
            let Some(out) = task.outs.first_mut() else { return };
            for (k, out) in out.chunks_mut(self.together * per_matrix * size).enumerate() {
                let matrices = out.len() / (per_matrix * size);
                let matrix = task.matrix + k * self.together;
                let block = Block { matrix, column: 0, matrices, columns: self.inner };
                self.block(block, Some(out), stream, scratch);
            }
            return;
        }
        for first in (0..task.columns).step_by(self.strip) {
            let columns = self.strip.min(task.columns - first);
            let (matrix, column) = (task.matrix, task.column + first);
            self.block(Block { matrix, column, matrices: 1, columns }, None, None, scratch);
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

    /// Computes a block; its result into `out`, if that is there.
    fn block(&self, block: Block, out: Option<&mut [u8]>, stream: Option<&Stream>, scratch: &mut Scratch) {
        let each = block.matrices * block.columns;
        let all = each * self.count;
        for i in 0..self.program.inputs.len() {
            self.load(i, block, scratch);
            self.spread(i, block, scratch);
        }
        let result = self.program.results[0];
        let mut out = out;
        for next in &self.order {
            match *next {
                Next::Loop(k) => {
                    let own = &self.loops[k];
                    let value = self.program.inputs.len() + own.step;
                    let of_row = self.of_row[value];
                    let target = self.registers[value];
                    // Taken out, so that the others can be read.
                    let mut register = std::mem::take(&mut scratch.registers[target]);
                    let mut part = std::mem::take(&mut scratch.result);
                    let length = if of_row { each } else { all };
                    scratch.lengths[value] = length;
                    let mut args: [&[u8]; 3] = [&[]; 3];
                    for (slot, &arg) in args.iter_mut().zip(&own.args) {
                        *slot = self.value(arg, !of_row, scratch);
                    }
                    let args = &args[..own.args.len()];
                    let is_last =
                        value as Value == result && !self.folds.iter().any(|fold| fold.value == result);
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
                Next::Fold(i) => self.fold(i, block, scratch),
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
                let size = self.sizes[value as usize];
                let start = if arg.len() >= length * size { at } else { 0 };
                *part = &arg[start * size..(start + count) * size];
            }
            let part = register.bytes_mut(out.len());
            own.job.run(&parts[..args.len()], part);
            stream.copy(part, out);
            at += count;
        }
    }

    /// Folds a value, to what stands for that.
    fn fold(&self, i: usize, block: Block, scratch: &mut Scratch) {
        let Folded { value, gives, loops, identity } = &self.folds[i];
        let size = self.sizes[*value as usize];
        let each = block.matrices * block.columns;
        let (rows, columns) = (self.count, block.columns);
        let target = self.registers[*gives];
        let mut register = std::mem::take(&mut scratch.registers[target]);
        let mut buffer = std::mem::take(&mut scratch.buffer);
        {
            let x = self.value(*value, true, scratch);
            let out = register.bytes_mut(each * size);
            if x.len() < each * rows * size {
                // Of equal ones.
                let all = scratch_of(each * rows * size, x);
                (loops.halve)([rows, columns], cast(&all), buffer.bytes_mut(rows * columns * size), out);
            } else {
                (loops.halve)([rows, columns], x, buffer.bytes_mut(rows * columns * size), out);
            }
            if let Some(identity) = identity {
                (loops.combine)(out, identity.bytes(each * size));
            }
        }
        scratch.registers[target] = register;
        scratch.buffer = buffer;
        scratch.lengths[*gives] = each;
        self.spread(*gives, block, scratch);
    }

    /// Finds the elements of an input, and gathers them where they do not lie side by side.
    fn load(&self, i: usize, block: Block, scratch: &mut Scratch) {
        let input = &self.program.inputs[i];
        let size = input.dtype.size();
        if matches!(input.source, Source::Row(_)) {
            return;
        }
        // Runs of the elements: how many, of what length, and how far apart.
        let (rows, row) = if self.of_row[i] { (1, 1) } else { (self.count, self.inner) };
        let start = block.matrix * rows * self.inner + block.column;
        let (runs, length, step) = match self.strip == self.inner {
            true => (1, block.matrices * rows * self.inner, 0),
            false => (rows, block.columns, row),
        };
        let reader = &self.readers[i];
        let run = reader.run(start, length).filter(|_| runs == 1);
        if let (From::Bytes(_), Some((at, 1))) = (self.from[i], run) {
            scratch.places[i] = Place::Source(at * size);
            scratch.lengths[i] = length;
            return;
        }
        scratch.places[i] = Place::Register;
        let register = &mut scratch.registers[self.registers[i]];
        if let From::Scalar(bits) = self.from[i] {
            scratch.lengths[i] = PART;
            if register.held.replace((0, 1)).is_none() {
                with_memory!(size, |M| cast_mut::<_, M>(register.bytes_mut(PART * size)).fill(bits as M));
            }
            return;
        }
        scratch.lengths[i] = runs * length;
        let to = register.bytes_mut(runs * length * size);
        for (k, to) in to.chunks_mut(length * size).enumerate() {
            match self.from[i] {
                From::Bytes(bytes) => {
                    with_memory!(size, |M| reader.gather::<M>(cast(bytes), start + k * step, cast_mut(to)));
                }
                _ => reader.addresses(start + k * step, cast_mut(to), |at| at as i32),
            }
        }
    }

    /// An element of the row for each of its elements, where these read it.
    fn spread(&self, value: usize, block: Block, scratch: &mut Scratch) {
        let input = self.program.inputs.get(value).map(|input| &input.source);
        if !self.spread[value] || matches!(input, Some(Source::Scalar(_))) || scratch.lengths[value] == 0 {
            return;
        }
        let size = self.sizes[value];
        let mut register = std::mem::take(&mut scratch.spread[value]);
        {
            let from = self.value(value as Value, false, scratch);
            let each = block.matrices * block.columns;
            if each == 1 {
                let to = register.bytes_mut(self.count.min(PART) * size);
                with_memory!(size, |M| cast_mut::<_, M>(to).fill(cast::<_, M>(from)[0]));
            } else if block.columns == 1 {
                let to = register.bytes_mut(each * self.count * size);
                with_memory!(size, |M| {
                    let rows = cast_mut::<_, M>(to).chunks_exact_mut(self.count);
                    rows.zip(cast::<_, M>(from)).for_each(|(to, &from)| to.fill(from));
                });
            } else {
                let row = block.columns * size;
                let to = register.bytes_mut(each * self.count * size);
                for (to, from) in to.chunks_exact_mut(self.count * row).zip(from.chunks_exact(row)) {
                    to.chunks_exact_mut(row).for_each(|to| to.copy_from_slice(from));
                }
            }
        }
        scratch.spread[value] = register;
    }

    /// The elements of a value, one part of them where all are equal: one of each row, or of all elements.
    fn value<'s>(&'s self, value: Value, all: bool, scratch: &'s Scratch) -> &'s [u8] {
        let index = value as usize;
        let size = self.sizes[index];
        let length = scratch.lengths[index];
        let is_scalar =
            self.program.inputs.get(index).is_some_and(|input| matches!(input.source, Source::Scalar(_)));
        if all && self.of_row[index] && !is_scalar {
            let each = length;
            let count = if each == 1 { self.count.min(PART) } else { each * self.count };
            return scratch.spread[index].bytes(count * size);
        }
        match (scratch.places.get(index), self.from.get(index)) {
            (Some(&Place::Source(at)), Some(From::Bytes(source))) => &source[at..at + length * size],
            _ => scratch.registers[self.registers[index]].bytes(length * size),
        }
    }
}

/// So many bytes of a part that repeats.
fn scratch_of(bytes: usize, part: &[u8]) -> Vec<u64> {
    let mut words = vec![0_u64; bytes.div_ceil(8)];
    let all: &mut [u8] = cast_mut(&mut words);
    all[..bytes].chunks_mut(part.len()).for_each(|to| to.copy_from_slice(&part[..to.len()]));
    words
}

/// Loops, and folds as soon as what they fold is known: each behind what it reads.
fn order(program: &Program, loops: &[Loop], folds: &[Folded]) -> Result<Vec<Next>> {
    let inputs = program.inputs.len();
    let mut known = vec![false; inputs + program.steps.len()];
    for (known, input) in known.iter_mut().zip(&program.inputs) {
        *known = !matches!(input.source, Source::Row(_));
    }
    let mut order = Vec::new();
    let mut done = vec![false; loops.len() + folds.len()];
    loop {
        let before = order.len();
        for (i, fold) in folds.iter().enumerate() {
            if !done[loops.len() + i] && known[fold.value as usize] {
                done[loops.len() + i] = true;
                known[fold.gives] = true;
                order.push(Next::Fold(i));
            }
        }
        let is_ready = |&k: &usize| !done[k] && loops[k].args.iter().all(|&arg| known[arg as usize]);
        // In their order, as registers are used again in it.
        if let Some(k) = (0..loops.len()).find(|&k| !done[k]).filter(is_ready) {
            done[k] = true;
            known[inputs + loops[k].step] = true;
            order.push(Next::Loop(k));
        }
        match order.len() {
            n if n == done.len() => return Ok(order),
            n if n == before => bail!(Kernel, "a fold inside of a program needs what comes after it"),
            _ => {}
        }
    }
}
