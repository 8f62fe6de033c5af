//! A plan: a kernel, the numbers of its uniform block, and its bindings.

use super::kernel::Kernel;
use crate::dtype::DType;
use crate::ir::{Program, Slot};
use crate::layout::{Layout, Nest};

/// The most elements that a kernel counts.
pub(crate) const MOST_ELEMENTS: usize = u32::MAX as usize / 2;

/// The destination of a kernel's result.
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

/// A kernel, the numbers of its uniform block, and the storages that it reads.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub kernel: Kernel,
    pub launch: Launch,
    /// The slot of each read-only binding.
    pub reads: Vec<Slot>,
    /// The loop nest of the kernel, for explanations.
    pub(super) loops: Nest,
    /// Bytes that it moves at least, and the work of running it ([`Program::work`]).
    pub moved: u64,
    pub work: u64,
}

impl Plan {
    /// Elements that the kernel runs over.
    pub(crate) fn elements(&self) -> u64 {
        self.loops.lengths.iter().map(|&n| n as u64).product()
    }

    /// Bytes that a program must move at least: each element of each tensor once, and the results.
    pub(crate) fn bytes(program: &Program) -> usize {
        let results = (0..program.results.len()).map(|i| program.byte_size(i).unwrap_or(usize::MAX));
        results.fold(program.read_bytes(), usize::saturating_add)
    }
}

/// A pass of a reduction or a scan.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub plan: Plan,
    /// The types of its results, and the number of elements of each.
    pub stored: Vec<DType>,
    pub count: usize,
    /// The plan in words.
    pub form: String,
    /// The layout of its partial results, and the values of a block that remain.
    pub rest: Option<Layout>,
}

impl Pass {
    /// A pass over a program, with a kernel and the types and the number of its results.
    pub(super) fn of(
        program: &Program,
        (kernel, launch, reads, loops): (Kernel, Launch, Vec<Slot>, Nest),
        (stored, count): (Vec<DType>, usize),
        form: String,
        rest: Option<Layout>,
    ) -> Pass {
        // Each element that it reads once, and its results.
        let results: usize = stored.iter().map(|dtype| count * dtype.size()).sum();
        let moved = (program.read_bytes() + results) as u64;
        let plan = Plan { kernel, launch, reads, loops, moved, work: program.work_moving(moved) };
        Pass { plan, stored, count, form, rest }
    }
}
