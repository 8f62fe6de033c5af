//! The elements of a block's values: of inputs as they lie or gathered, and those of the row spread along it.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};

use super::{Block, Job, Place, Scratch};
use crate::cpu::ahead::{self, Ahead};
use crate::cpu::bytes::{From, with_memory};
use crate::cpu::kernels::PART;
use crate::ir::{Input, Source, Value};

impl Job<'_> {
    /// Finds the elements of an input, and gathers them where they do not lie side by side.
    pub(super) fn load(&self, i: usize, block: Block, scratch: &mut Scratch) {
        let (input, value) = (&self.program.inputs[i], Value::Input(i as u32));
        let size = input.dtype.size();
        if matches!(input.source, Source::Row(_)) {
            return;
        }
        // Runs of the elements: how many, of what length, and how far apart.
        let (rows, row) = if self.of_row[value] { (1, 1) } else { (self.count, self.inner) };
        let start = block.matrix * rows * self.inner + block.column;
        let (runs, length, step) = match self.strip == self.inner {
            true => (1, block.matrices * rows * self.inner, 0),
            false => (rows, block.columns, row),
        };
        let reader = &self.readers[i];
        let run = reader.run(start, length).filter(|_| runs == 1);
        if let (From::Bytes(_), Some((at, 1))) = (self.from[i], run) {
            scratch.places[i] = Place::Source(at * size);
            scratch.lengths[value] = length;
            return;
        }
        scratch.places[i] = Place::Register;
        let register = &mut scratch.registers[self.registers[value]];
        if let From::Scalar(bits) = self.from[i] {
            scratch.lengths[value] = PART;
            if register.held.replace((0, 1)).is_none() {
                with_memory!(size, |M| cast_mut::<_, M>(register.bytes_mut(PART * size)).fill(bits as M));
            }
            return;
        }
        scratch.lengths[value] = runs * length;
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

    /// What a block reads of memory, where that lies in stretches.
    pub(super) fn ahead(&self, block: Block) -> Ahead<'_> {
        Ahead::in_stretches(self.program.inputs.iter().enumerate().filter_map(|(i, input)| {
            let From::Bytes(bytes) = self.from[i] else { return None };
            if self.of_row.inputs()[i] || matches!(input.source, Source::Row(_)) {
                return None;
            }
            let matrix = self.count * self.inner;
            let length = block.matrices * matrix;
            let run = self.readers[i].run(block.matrix * matrix, length)?;
            ahead::stretch(bytes, input.dtype.size(), run, length)
        }))
    }

    /// An element of the row for each of its elements, where these read it.
    pub(super) fn spread(&self, value: Value, block: Block, scratch: &mut Scratch) {
        let input = self.program.input(value).map(|input| &input.source);
        if !self.spread[value] || matches!(input, Some(Source::Scalar(_))) || scratch.lengths[value] == 0 {
            return;
        }
        let size = self.sizes[value];
        let mut register = std::mem::take(&mut scratch.spread[value]);
        {
            let from = self.value(value, false, scratch);
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
    pub(super) fn value<'s>(&'s self, value: Value, all: bool, scratch: &'s Scratch) -> &'s [u8] {
        let (size, length) = (self.sizes[value], scratch.lengths[value]);
        let is_scalar = matches!(self.program.input(value), Some(Input { source: Source::Scalar(_), .. }));
        if all && self.of_row[value] && !is_scalar {
            let each = length;
            let count = if each == 1 { self.count.min(PART) } else { each * self.count };
            return scratch.spread[value].bytes(count * size);
        }
        match value.input().map(|i| (scratch.places[i], self.from[i])) {
            Some((Place::Source(at), From::Bytes(source))) => &source[at..at + length * size],
            _ => scratch.registers[self.registers[value]].bytes(length * size),
        }
    }
}
