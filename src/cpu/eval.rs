//! The reference evaluator. It walks the program's own layouts, block by block: each step is a
//! loop over a block that stays in cache, so nothing is interpreted per element.
//!
//! It shares nothing with the planner on purpose: a mistake of either shows as a difference.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::kernels;
use super::load::Reader;
use crate::expr::{Input, Program, Source, Value};

/// Elements of a block: a block of words fills a quarter of a small first-level cache.
const BLOCK: usize = 2048;

/// Elements that a thread takes at a time; less than two of these are not worth threads.
const CHUNK: usize = 16 * BLOCK;

/// What an input is read from.
#[derive(Clone, Copy)]
pub(super) enum From<'a> {
    /// Elements of a storage.
    Bytes(&'a [u8]),
    /// The elements that the output holds until they are overwritten.
    Output,
    /// What the program itself says: a constant or a coordinate.
    Program,
}

/// A program made ready: readers of its inputs, and a register for each value.
struct Job<'a> {
    program: &'a Program,
    from: &'a [From<'a>],
    readers: Vec<Reader>,
    registers: Vec<usize>,
    register_count: usize,
}

/// Runs a program over all of its elements, in row-major order, into `out`.
pub(super) fn eval(program: &Program, from: &[From<'_>], out: &mut [u8]) {
    let (registers, register_count) = assign_registers(program);
    let readers = program.inputs.iter().map(|input| Reader::new(&input.layout)).collect();
    let job = Job { program, from, readers, registers, register_count };
    let chunk = CHUNK * program.dtype.size();
    // In a task of the caller's own pool, splitting would let this thread pick up another task
    // while it holds locks of storages.
    let pool = if rayon::current_thread_index().is_some() { None } else { pool() };
    match pool.filter(|_| out.len() >= 2 * chunk) {
        Some(pool) => pool.install(|| {
            out.par_chunks_mut(chunk)
                .enumerate()
                .for_each_init(|| job.scratch(), |scratch, (i, out)| job.chunk(i * CHUNK, out, scratch));
        }),
        None => job.chunk(0, out, &mut job.scratch()),
    }
}

/// The crate's own threads; none where they cannot be started.
fn pool() -> Option<&'static rayon::ThreadPool> {
    static POOL: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();
    let build = || {
        let name = |i| format!("zerostride-{i}");
        rayon::ThreadPoolBuilder::new().thread_name(name).build()
    };
    POOL.get_or_init(|| build().map_err(|e| log::warn!("the CPU path runs on one thread: {e}")).ok()).as_ref()
}

/// Gives each value a register, reusing those whose value is not read any more.
fn assign_registers(program: &Program) -> (Vec<usize>, usize) {
    let inputs = program.inputs.len();
    let values = inputs + program.steps.len();
    let mut last_use = vec![0; values];
    for (i, step) in program.steps.iter().enumerate() {
        step.args.iter().for_each(|&arg| last_use[arg as usize] = i);
    }
    last_use[program.result as usize] = usize::MAX;
    let mut registers: Vec<usize> = (0..inputs).collect();
    let mut free: Vec<usize> = Vec::new();
    let mut count = inputs;
    for (i, step) in program.steps.iter().enumerate() {
        registers.push(free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        }));
        let mut done: Vec<Value> = step.args.to_vec();
        done.sort_unstable();
        done.dedup();
        // Inputs keep their registers: they are loaded before the first step.
        let dead = done.iter().map(|&arg| arg as usize).filter(|&arg| last_use[arg] == i);
        free.extend(dead.map(|arg| registers[arg]));
    }
    (registers, count)
}

/// Registers of one thread. Words of 8 bytes keep every element type aligned.
type Scratch = Vec<Vec<u64>>;

impl Job<'_> {
    fn scratch(&self) -> Scratch {
        vec![Vec::new(); self.register_count]
    }

    /// Computes the elements from `start` on, until `out` is full.
    fn chunk(&self, start: usize, out: &mut [u8], scratch: &mut Scratch) {
        let size = self.program.dtype.size();
        for (i, out) in out.chunks_mut(BLOCK * size).enumerate() {
            self.block(start + i * BLOCK, out.len() / size, out, scratch);
        }
    }

    fn block(&self, start: usize, length: usize, out: &mut [u8], scratch: &mut Scratch) {
        let program = self.program;
        for (i, input) in program.inputs.iter().enumerate() {
            if self.borrowed(i, start, length).is_none() {
                let mut register = std::mem::take(&mut scratch[i]);
                register.resize(BLOCK, 0);
                let bytes = &mut bytemuck::cast_slice_mut(&mut register)[..length * input.dtype.size()];
                self.load(i, input, start, bytes, out);
                scratch[i] = register;
            }
        }
        for (i, step) in program.steps.iter().enumerate() {
            let value = program.inputs.len() + i;
            let target = self.registers[value];
            let last = value as Value == program.result;
            let mut register = std::mem::take(&mut scratch[target]);
            register.resize(BLOCK, 0);
            {
                let arg = |&arg: &Value| self.value(arg, start, length, scratch);
                let args: smallvec::SmallVec<[&[u8]; 3]> = step.args.iter().map(arg).collect();
                let bytes = length * step.result.size();
                match last {
                    true => kernels::run(step, &args, out),
                    false => kernels::run(step, &args, &mut bytemuck::cast_slice_mut(&mut register)[..bytes]),
                }
            }
            scratch[target] = register;
            if last {
                return;
            }
        }
        out.copy_from_slice(self.value(program.result, start, length, scratch));
    }

    /// The elements of an input, where they lie as the block needs them.
    fn borrowed(&self, input: usize, start: usize, length: usize) -> Option<&[u8]> {
        let From::Bytes(bytes) = self.from[input] else { return None };
        let size = self.program.inputs[input].dtype.size();
        let at = self.readers[input].contiguous(start, length)?;
        Some(&bytes[at * size..(at + length) * size])
    }

    fn value<'s>(&'s self, value: Value, start: usize, length: usize, scratch: &'s Scratch) -> &'s [u8] {
        let index = value as usize;
        let borrowed =
            (index < self.program.inputs.len()).then(|| self.borrowed(index, start, length)).flatten();
        borrowed.unwrap_or_else(|| {
            let bytes: &[u8] = bytemuck::cast_slice(&scratch[self.registers[index]]);
            &bytes[..length * self.program.dtype_of(value).size()]
        })
    }

    fn load(&self, i: usize, input: &Input, start: usize, to: &mut [u8], out: &[u8]) {
        let reader = &self.readers[i];
        match (self.from[i], &input.source) {
            (From::Bytes(bytes), _) => match input.dtype.size() {
                1 => reader.gather(bytes, start, to),
                2 => reader.gather::<u16>(bytemuck::cast_slice(bytes), start, bytemuck::cast_slice_mut(to)),
                4 => reader.gather::<u32>(bytemuck::cast_slice(bytes), start, bytemuck::cast_slice_mut(to)),
                _ => reader.gather::<u64>(bytemuck::cast_slice(bytes), start, bytemuck::cast_slice_mut(to)),
            },
            (From::Output, _) => to.copy_from_slice(out),
            (_, Source::Index(_)) => reader.addresses(start, bytemuck::cast_slice_mut(to)),
            (_, Source::Scalar(bits)) => match input.dtype.size() {
                1 => to.fill(*bits as u8),
                2 => bytemuck::cast_slice_mut::<_, u16>(to).fill(*bits as u16),
                4 => bytemuck::cast_slice_mut::<_, u32>(to).fill(*bits as u32),
                _ => bytemuck::cast_slice_mut::<_, u64>(to).fill(*bits),
            },
            (From::Program, Source::Tensor(_)) => {}
        }
    }
}

/// Writes row-major elements of `size` bytes to their places in `out`.
pub(super) fn scatter(elements: &[u8], size: usize, layout: &crate::layout::Layout, out: &mut [u8]) {
    let reader = Reader::new(layout);
    match size {
        1 => reader.scatter(elements, out),
        2 => reader.scatter::<u16>(bytemuck::cast_slice(elements), bytemuck::cast_slice_mut(out)),
        4 => reader.scatter::<u32>(bytemuck::cast_slice(elements), bytemuck::cast_slice_mut(out)),
        _ => reader.scatter::<u64>(bytemuck::cast_slice(elements), bytemuck::cast_slice_mut(out)),
    }
}
