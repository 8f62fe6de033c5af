//! A plan: a kernel, the numbers of its uniform block, and its bindings.

use super::kernel::Kernel;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{Program, Slot};
use crate::layout::{Layout, Nest};

/// The most elements that a kernel counts.
pub(crate) const MOST_ELEMENTS: usize = u32::MAX as usize / 2;

/// The elements of something, if a kernel counts them all.
pub(super) fn counted(elements: Option<usize>, what: impl FnOnce() -> String) -> Result<usize> {
    match elements.filter(|&elements| elements <= MOST_ELEMENTS) {
        Some(elements) => Ok(elements),
        None => bail!(
            Limit,
            "{} more than {MOST_ELEMENTS} elements, which is what a kernel counts to: evaluate it in slices",
            what()
        ),
    }
}

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
    /// The number of elements of each result.
    pub count: usize,
    /// What it does, in words, unless it stores elements of a program. The first passes of a stage are explained.
    pub description: Option<String>,
    /// Bytes that it moves at least, and the work of running it ([`Program::work`]).
    pub moved: u64,
    pub work: u64,
}

impl Plan {
    /// The types of its results.
    pub(crate) fn stored(&self) -> impl Iterator<Item = DType> {
        self.kernel.stored.iter().map(|binding| binding.dtype)
    }

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
