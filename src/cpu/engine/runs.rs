//! Tiles of several runs: rows of a view, each contiguous in memory, with gaps between them. A loop reads and writes them
//! in place, one after the other.

use smallvec::SmallVec;

use super::values::Place;
use super::{Engine, InTile, Instr, Out, Scratch};
use crate::cpu::bytes::Operand;
use crate::cpu::pairs::Loop;
use crate::cpu::registers::Register;
use crate::ir::{Input, Value};

/// The runs of a tile.
#[derive(Clone, Default)]
pub(in crate::cpu) struct Runs {
    /// Elements of a run; 0 if a tile is not cut.
    pub length: usize,
    /// The distance of runs in the result's memory, in elements.
    pub pitch: usize,
    /// Inputs that are read by runs.
    pub inputs: SmallVec<[bool; 8]>,
}

impl Runs {
    /// The bytes of a run of elements of a size, and the distance of runs, among a tile's bytes in the result's memory.
    pub(super) fn bytes(&self, all: usize, size: usize) -> [usize; 2] {
        if self.length == 0 { [all.max(1); 2] } else { [self.length * size, self.pitch * size] }
    }

    /// The runs among a tile's bytes in the result's memory.
    pub(super) fn of<'o>(
        &self,
        all: &'o mut [u8],
        size: usize,
    ) -> impl Iterator<Item = &'o mut [u8]> + use<'o> {
        let [length, pitch] = self.bytes(all.len(), size);
        all.chunks_mut(pitch).map(move |out| &mut out[..length])
    }
}

impl Engine<'_> {
    /// Inputs that loops alone read, which can run over one run after the other.
    pub(in crate::cpu) fn in_runs(&self) -> SmallVec<[bool; 8]> {
        let is_memory = |(i, input): (usize, &Input)| {
            matches!(self.from[i], Operand::Bytes(_))
                && !input.is_table()
                && !self.of_row.inputs()[i]
                && self.readers[i].rows().is_some()
        };
        let mut inputs: SmallVec<[bool; 8]> = self.program.inputs.iter().enumerate().map(is_memory).collect();
        let is_apart = |own: &&Instr| !matches!(own, Instr::Map(own) if own.is_by_element());
        let read = self.code.iter().filter(is_apart).flat_map(|own| own.values().0);
        read.chain(&self.program.results).filter_map(|value| value.input()).for_each(|i| inputs[i] = false);
        inputs
    }

    /// Whether a loop runs over one run after the other.
    #[inline]
    pub(super) fn is_by_runs(&self, own: &Loop, is_last: bool, scratch: &Scratch) -> bool {
        let is_run = |&arg: &Value| matches!(scratch.values[arg].place, Place::Runs(..));
        self.runs.length > 0 && (is_last && self.runs.pitch > self.runs.length || own.args.iter().any(is_run))
    }

    /// Runs a loop over each run of a tile.
    pub(super) fn by_runs(
        &self,
        own: &Loop,
        args: &[&[u8]],
        register: &mut Register,
        out: Option<Out<'_>>,
        scratch: &Scratch,
    ) {
        // Of each argument the distance of runs, and their length, in bytes. One part is repeated.
        let steps = own.args.iter().zip(args).map(|(&arg, bytes)| {
            let length = self.runs.length * self.sizes[arg];
            match scratch.values[arg] {
                InTile { equal: true, .. } => (0, length.min(bytes.len())),
                InTile { place: Place::Runs(_, _, pitch), .. } => (pitch, length),
                _ => (length, length),
            }
        });
        let steps: SmallVec<[(usize, usize); 4]> = steps.collect();
        let mut parts: SmallVec<[&[u8]; 4]> = SmallVec::from_slice(args);
        let mut run = |k: usize, out: &mut [u8]| {
            for ((part, arg), &(step, length)) in parts.iter_mut().zip(args).zip(&steps) {
                *part = &arg[k * step..][..length];
            }
            own.job.run(&parts, out);
        };
        let size = self.sizes[own.value];
        match out {
            Some(Out { bytes, stream }) => {
                let all = self.runs.of(bytes, size).enumerate();
                all.for_each(|(k, out)| register.through(stream, out, |out| run(k, out)));
            }
            None => {
                let to = register.bytes_mut(scratch.tile.count(false) * size);
                to.chunks_mut(self.runs.length * size).enumerate().for_each(|(k, to)| run(k, to));
            }
        }
    }
}
