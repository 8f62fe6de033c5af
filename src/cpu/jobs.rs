//! The code of a step: a loop over a tile, a user's function, or iterations. Some elements go through all of their
//! iterations before the next ones do, so that an iteration's values stay in the first-level cache.

use std::sync::Arc;

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};
use smallvec::SmallVec;

use super::bytes::with_memory;
use super::kernels::{self, Run};
use super::lookup::Table;
use super::registers::Register;
use crate::error::Result;
use crate::ir::{AnyFunction, Body, ByValue, Loop, Op, Step, Value, numbered};

/// The code of a step, as [`Run`] calls it.
pub(super) enum Job {
    Table(Run),
    Call(AnyFunction),
    Repeat(Repeat),
    /// The states of a loop: the bytes of each state, and of all.
    State {
        place: usize,
        size: usize,
        of: usize,
    },
}

impl Job {
    #[inline]
    pub(super) fn run(&self, args: &[&[u8]], out: &mut [u8]) {
        match self {
            Job::Table(run) => run(args, out),
            Job::Call(function) => function.run(args, out),
            // The caller knows the tables.
            Job::Repeat(repeat) => repeat.run(args, &[], out),
            Job::State { place, size, of } => {
                let count = args[0].len() / of;
                let own = &args[0][place * count..(place + size) * count];
                out.chunks_mut(own.len().max(1)).for_each(|out| out.copy_from_slice(&own[..out.len()]));
            }
        }
    }
}

/// The code of a step.
pub(super) fn of(step: &Step, steps: &[Step]) -> Result<Job> {
    let first = step.args.first().and_then(|arg| arg.step());
    match (&step.body, first.and_then(|first| steps[first].body.as_ref())) {
        (Some(Body::Function(function)), _) => return Ok(Job::Call(function.clone())),
        (Some(Body::Loop(own)), _) => return Ok(Job::Repeat(Repeat::new(own.clone())?)),
        (Some(Body::State(state)), Some(Body::Loop(own))) => {
            let (places, of) = own.places();
            return Ok(Job::State { place: places[*state], size: own.args[*state].size(), of });
        }
        _ => {}
    }
    Ok(Job::Table(kernels::of(step)?))
}

/// Elements that iterate together.
const BLOCK: usize = 256;

/// A loop, ready to run.
pub(super) struct Repeat {
    own: Arc<Loop>,
    /// The code of each step.
    jobs: Vec<Job>,
    /// Bytes of an element of each value.
    sizes: ByValue<usize>,
    /// The offset of each state among an element's states.
    places: Vec<usize>,
    /// Bytes of all states.
    size: usize,
}

impl Repeat {
    pub(super) fn new(own: Arc<Loop>) -> Result<Repeat> {
        let jobs = own.steps.iter().map(|step| of(step, &own.steps)).collect::<Result<_>>()?;
        // A table's element is the address of the lookup.
        let args = (0..).map(Value::Input).zip(&own.args);
        let args = args.map(|(value, dtype)| if own.table(value).is_some() { 8 } else { dtype.size() });
        let sizes = ByValue::of(args, &own.steps, |step, _| step.size());
        let (places, size) = own.places();
        Ok(Repeat { jobs, sizes, places, size, own })
    }

    /// The states of some elements, one after the other, after their iterations. The first argument is the number of
    /// iterations, the others are the initial states and shared values, and `tables` holds the tables.
    pub(super) fn run(&self, args: &[&[u8]], tables: &[Table<'_>], out: &mut [u8]) {
        let [turns, args @ ..] = args else { return };
        let Some(&turns) = cast::<u8, u32>(turns).first() else { return };
        let count = out.len() / self.size;
        let mut block = Block {
            values: self.sizes.map(|_, _| Register::default()),
            next: (0..self.own.states).map(|_| Register::default()).collect(),
            open: Vec::new(),
            places: Vec::new(),
        };
        for start in (0..count).step_by(BLOCK) {
            let length = BLOCK.min(count - start);
            let values = block.values.inputs_mut().iter_mut().zip(args);
            for ((register, arg), &size) in values.zip(self.sizes.inputs()) {
                // A part of equal elements is longer than a block.
                let at = if arg.len() == count * size { start * size } else { 0 };
                register.bytes_mut(BLOCK * size)[..length * size]
                    .copy_from_slice(&arg[at..at + length * size]);
            }
            block.places.clear();
            block.places.extend(start..start + length);
            self.turn(turns, &mut block, tables, out, count);
        }
    }

    /// All iterations of a block.
    fn turn(&self, turns: u32, block: &mut Block, tables: &[Table<'_>], out: &mut [u8], count: usize) {
        let table = |&value: &Value| self.own.table(value).and_then(|table| tables.get(table)).copied();
        block.open.clear();
        block.open.resize(block.places.len(), true);
        for _ in 0..turns {
            let length = block.places.len();
            for ((value, step), job) in numbered(&self.own.steps).zip(&self.jobs) {
                let mut register = std::mem::take(&mut block.values[value]);
                let args: SmallVec<[&[u8]; 4]> =
                    step.args.iter().map(|&arg| block.values[arg].bytes(length * self.sizes[arg])).collect();
                let to = &mut register.bytes_mut(BLOCK * self.sizes[value])[..length * self.sizes[value]];
                match job {
                    Job::Repeat(inner) => {
                        // The tables of an inner loop are some of this loop's.
                        let tables: SmallVec<[Table<'_>; 2]> = step.args.iter().filter_map(table).collect();
                        inner.run(&args, &tables, to);
                    }
                    _ if step.op == Op::Lookup => {
                        let own = step.args.first().and_then(table);
                        own.into_iter().for_each(|own| own.look_up(args[0], &args[1..], to));
                    }
                    _ => job.run(&args, to),
                }
                drop(args);
                block.values[value] = register;
            }
            let open = match self.own.goes_on {
                None => length,
                Some(goes_on) => {
                    let go: &[u8] = block.values[goes_on].bytes(length);
                    block.open.iter_mut().zip(go).for_each(|(open, &go)| *open &= go != 0);
                    block.open.iter().filter(|open| **open).count()
                }
            };
            if open == 0 {
                break;
            }
            self.step(block, length, open == length);
            // Ended elements are left behind once there are many.
            if open < length - length / 4 {
                self.leave(block, out, count);
            }
        }
        block.open.fill(false);
        self.leave(block, out, count);
    }

    /// Stores the next states.
    fn step(&self, block: &mut Block, length: usize, all: bool) {
        // First the states that others become, before they are overwritten.
        let own = &self.own;
        let states = (0..).map(Value::Input).zip(&mut block.next);
        for ((state, next), &value) in states.zip(&own.next) {
            let size = self.sizes[state];
            let to = &mut next.bytes_mut(BLOCK * size)[..length * size];
            let [new, old] = [value, state].map(|value| block.values[value].bytes(length * size));
            match all {
                true => to.copy_from_slice(new),
                false => with_memory!(size, |M| {
                    let both = cast::<u8, M>(new).iter().zip(cast::<u8, M>(old)).zip(&block.open);
                    cast_mut::<u8, M>(to).iter_mut().zip(both).for_each(|(to, ((&new, &old), &open))| {
                        *to = if open { new } else { old };
                    });
                }),
            }
        }
        let values = block.values.inputs_mut();
        block.next.iter_mut().zip(values).for_each(|(next, value)| std::mem::swap(next, value));
    }

    /// Stores the states of ended elements, and moves the others together.
    fn leave(&self, block: &mut Block, out: &mut [u8], count: usize) {
        let length = block.places.len();
        let Block { values, open, places, .. } = block;
        for (i, (value, &size)) in values.inputs_mut().iter_mut().zip(self.sizes.inputs()).enumerate() {
            let bytes = &mut value.bytes_mut(BLOCK * size)[..length * size];
            let stored = self.places.get(i).map(|place| &mut out[place * count..(place + size) * count]);
            with_memory!(size, |M| {
                let all = cast_mut::<u8, M>(bytes);
                if let Some(stored) = stored {
                    let stored = cast_mut::<u8, M>(stored);
                    let ended = all.iter().zip(places.iter()).zip(open.iter()).filter(|(_, open)| !**open);
                    ended.for_each(|((&value, &place), _)| stored[place] = value);
                }
                for (to, from) in (0..length).filter(|&from| open[from]).enumerate() {
                    all[to] = all[from];
                }
            });
        }
        let mut left = open.iter();
        places.retain(|_| left.next().is_some_and(|open| *open));
        open.clear();
        open.resize(places.len(), true);
    }
}

/// Elements in their iterations.
struct Block {
    values: ByValue<Register>,
    /// The next states.
    next: Vec<Register>,
    /// Which of them continue.
    open: Vec<bool>,
    /// The number of each among all.
    places: Vec<usize>,
}
