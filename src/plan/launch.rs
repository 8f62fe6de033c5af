//! A plan: a kernel and what it is launched with.

use super::kernel::Kernel;
use crate::dtype::DType;
use crate::ir::{Program, Slot};
use crate::layout::Nest;
use crate::layout::{Layout, Shape};

/// Elements that a kernel counts to.
pub(crate) const MOST_ELEMENTS: usize = u32::MAX as usize / 2;

/// Where the result of a kernel goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// All of a slot, row-major, padded to whole vectors.
    Fresh,
    /// Elements of a slot.
    Into(Slot, &'a Layout),
}

/// The numbers of one dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The uniform block, in the order of [`Kernel::fields`].
    pub words: Vec<u32>,
    /// Workgroups per dimension.
    pub groups: [u32; 3],
}

/// A kernel, its numbers, and what it reads.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub kernel: Kernel,
    pub launch: Launch,
    /// What each read-only binding is bound to.
    pub reads: Vec<Slot>,
    /// What the kernel runs over, to be told.
    pub(super) loops: Nest,
    /// What running it takes ([`Program::work`]).
    pub work: u64,
}

impl Plan {
    /// Elements that the kernel runs over.
    pub(crate) fn elements(&self) -> u64 {
        self.loops.lengths.iter().map(|&n| n as u64).product()
    }

    /// Bytes that a program must move at least: each element of each tensor once, and of the result.
    pub(crate) fn bytes(program: &Program) -> usize {
        let results: usize = program.result_shape().iter().product();
        let each = |i: usize| results * program.result_type(i).size();
        program.read_bytes() + (0..program.results.len()).map(each).sum::<usize>()
    }

    pub(crate) fn is_empty(shape: &Shape) -> bool {
        shape.contains(&0)
    }
}

/// A pass of a reduction or a scan.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub plan: Plan,
    /// The types of what is stored, and how many elements of each.
    pub stored: Vec<DType>,
    pub count: usize,
    /// Bytes that it reads at least.
    pub(super) read: usize,
    /// What it does, in words.
    pub form: String,
    /// Where it leaves partial results: how these lie, and in blocks of how many.
    pub rest: Option<(Layout, usize)>,
}

impl Pass {
    /// A pass over a program, whose kernel stores so many values of each of some types.
    pub(super) fn of(
        program: &Program,
        (kernel, launch, reads, loops): (Kernel, Launch, Vec<Slot>, Nest),
        (stored, count): (Vec<DType>, usize),
        form: String,
        rest: Option<(Layout, usize)>,
    ) -> Pass {
        let bytes: usize = stored.iter().map(|dtype| count * dtype.size()).sum();
        let plan = Plan { kernel, launch, reads, loops, work: program.work_storing(bytes as u64) };
        Pass { plan, stored, count, read: program.read_bytes(), form, rest }
    }

    /// Bytes that move at least: each element that it reads once, and all that it stores.
    pub(crate) fn bytes(&self) -> usize {
        self.read + self.stored.iter().map(|dtype| self.count * dtype.size()).sum::<usize>()
    }
}
