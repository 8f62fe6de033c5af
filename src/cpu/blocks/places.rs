//! Where the elements of values lie as a block needs them: in memory as they are, or gathered in registers.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};
use smallvec::SmallVec;

use super::{Blocks, Scratch};
use crate::cpu::bytes::{From, with_memory};
use crate::cpu::kernels::PART;
use crate::cpu::load;
use crate::cpu::lookup::{self, Addresses, Table};
use crate::cpu::pairs::Loop;
use crate::ir::{Input, Value};

/// Where the elements of a value lie as a block needs them.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// In an input's source, or what was turned of it, from a byte on.
    Source(usize, usize),
    Turned(usize, usize),
    Register,
    /// Of a table: where its elements lie, but for the indices; without such a walk its register has that.
    Walk(usize, isize),
}

impl<'a> Blocks<'a> {
    /// `length` elements of a value from `start` on, if they lie side by side where an input is read.
    pub(in crate::cpu) fn in_place(&self, value: Value, start: usize, length: usize) -> Option<&'a [u8]> {
        let i = value.input().filter(|&i| !self.program.inputs[i].is_table())?;
        let size = self.sizes[value];
        match (self.from[i], self.readers[i].run(start, length)?) {
            (From::Bytes(bytes), (at, 1)) if self.row == 1 && !self.turned[i] => {
                Some(&bytes[at * size..(at + length) * size])
            }
            _ => None,
        }
    }

    /// Rows of a value from an element on, if each row is one stretch of memory: the memory of all of them, and how many
    /// elements apart rows lie there. Among the elements of the program they lie `pitch` apart.
    pub(in crate::cpu) fn rows_in_place(
        &self,
        value: Value,
        start: usize,
        [rows, columns, pitch]: [usize; 3],
    ) -> Option<(&'a [u8], usize)> {
        let whole = (rows - 1) * pitch + columns;
        if let Some(all) = self.in_place(value, start, whole) {
            return Some((all, pitch));
        }
        let i = value.input().filter(|_| columns < whole)?;
        let apart = self.readers[i].pitch(start, rows, pitch)?;
        let (From::Bytes(bytes), Some(_)) = (self.from[i], self.in_place(value, start, columns)) else {
            return None;
        };
        let (at, _) = self.readers[i].run(start, columns)?;
        let size = self.sizes[value];
        Some((&bytes[at * size..(at + (rows - 1) * apart + columns) * size], apart))
    }

    /// What a loop over a few values looks up.
    pub(super) fn tables(&self, own: &Loop) -> SmallVec<[Table<'_>; 2]> {
        let tables = own.args.iter().filter_map(|arg| {
            let i = arg.input().filter(|&i| self.program.inputs[i].is_table())?;
            let input = &self.program.inputs[i];
            let From::Bytes(elements) = self.from[i] else { return None };
            Some(Table { elements, size: input.dtype.size(), computed: &input.computed })
        });
        tables.collect()
    }

    /// Looks up elements of a block: where they lie, if that is one run of the source, else their own.
    pub(super) fn look_up(&self, value: Value, own: &Loop, length: usize, scratch: &mut Scratch) {
        let Some((&table, indices)) = own.args.split_first() else { return };
        let Some(i) = table.input() else { return };
        let input = &self.program.inputs[i];
        let From::Bytes(source) = self.from[i] else { return };
        let equal = own.args.iter().all(|&arg| scratch.equal[arg]);
        let count = if equal { length.min(PART) } else { length };
        let target = self.registers[value];
        let mut register = std::mem::take(&mut scratch.registers[target]);
        register.held = None;
        let size = self.sizes[value];
        let mut walk = match scratch.places[table] {
            Place::Walk(at, stride) => Addresses::Run(at as isize, stride),
            _ => Addresses::Each(cast(scratch.registers[self.registers[table]].bytes(8 * count))),
        };
        let mut varying: SmallVec<[(&[i32], isize); 4]> = SmallVec::new();
        for (&index, extent) in indices.iter().zip(&input.computed) {
            let values: &[i32] = cast(self.value(index, scratch));
            match &mut walk {
                // One index for all elements.
                Addresses::Run(at, _) if scratch.equal[index] => {
                    *at += values[0] as isize * extent.stride;
                }
                _ => varying.push((values, extent.stride)),
            }
        }
        let place = match (&walk, varying.is_empty()) {
            (&Addresses::Run(at, 1), true) => Place::Source(i, at as usize * size),
            _ => {
                let to = register.bytes_mut(count * size);
                with_memory!(size, |M| lookup::gather::<M>(cast(source), &walk, &varying, cast_mut(to)));
                Place::Register
            }
        };
        drop(varying);
        (scratch.places[value], scratch.equal[value]) = (place, equal);
        scratch.registers[target] = register;
    }

    /// Repeats a value of the row for each element, where it is read so.
    pub(super) fn spread(&self, value: Value, scratch: &mut Scratch) {
        if !self.spread[value] || scratch.equal[value] {
            return;
        }
        let mut register = std::mem::take(&mut scratch.spread[value]);
        let size = self.sizes[value];
        let to = register.bytes_mut(scratch.length * size);
        let from = self.read(value, true, scratch);
        with_memory!(size, |M| load::spread::<M>(cast(from), self.row, cast_mut(to)));
        scratch.spread[value] = register;
    }

    /// The elements of a value that was computed; one part of them where all are equal.
    pub(in crate::cpu) fn value<'s>(&'s self, value: Value, scratch: &'s Scratch) -> &'s [u8] {
        self.read(value, false, scratch)
    }

    /// The elements of a value, or one for each row.
    pub(super) fn read<'s>(&'s self, value: Value, by_row: bool, scratch: &'s Scratch) -> &'s [u8] {
        let elements = if by_row { scratch.length / self.row } else { scratch.length };
        if self.of_row[value] && !by_row && !scratch.equal[value] {
            return scratch.spread[value].bytes(elements * self.sizes[value]);
        }
        let bytes = if scratch.equal[value] { elements.min(PART) } else { elements } * self.sizes[value];
        let source = match scratch.places[value] {
            Place::Source(i, at) => match self.from[i] {
                From::Bytes(source) => Some((source, at)),
                _ => None,
            },
            Place::Turned(i, at) => Some((cast(&scratch.turned[i]), at)),
            _ => None,
        };
        match source {
            Some((source, at)) => &source[at..at + bytes],
            None => scratch.registers[self.registers[value]].bytes(bytes),
        }
    }

    /// Finds the elements of an input, and gathers them in its register where they do not lie
    /// side by side; whether they are one element.
    pub(super) fn place(
        &self,
        i: usize,
        input: &Input,
        start: usize,
        length: usize,
        scratch: &mut Scratch,
        out: &[u8],
    ) -> (Place, bool) {
        let size = input.dtype.size();
        if self.turned[i] {
            return (Place::Turned(i, (start - scratch.start) * size), false);
        }
        let (reader, own) = (&self.readers[i], self.registers.inputs()[i]);
        let run = reader.run(start, length);
        if input.is_table() {
            let register = &mut scratch.registers[own];
            let Some((at, stride)) = run else {
                reader.addresses(start, cast_mut(register.bytes_mut(8 * length)), |at| at as i64);
                return (Place::Register, false);
            };
            // Loops have addresses beside their values.
            if self.in_loops[i] {
                let count = if stride == 0 { length.min(PART) } else { length };
                let to: &mut [i64] = cast_mut(register.bytes_mut(8 * count));
                (0..).zip(to).for_each(|(k, to)| *to = (at as isize + k * stride) as i64);
            }
            return (Place::Walk(at, stride), stride == 0);
        }
        if let (From::Bytes(_), Some((at, 1))) = (self.from[i], run) {
            return (Place::Source(i, at * size), false);
        }
        let register = &mut scratch.registers[own];
        let splat = run.filter(|&(_, stride)| stride == 0).map(|(at, _)| at);
        let count = if splat.is_some() { self.most.min(PART) } else { length };
        let from_row = || reader.repeats().map(|period| start % period);
        if let Some(first) = splat.or_else(from_row) {
            let is_held = |(held, elements): (usize, usize)| held == first && elements >= count;
            if register.held.is_some_and(is_held) {
                return (Place::Register, splat.is_some());
            }
            register.held = Some((first, count));
        } else {
            register.held = None;
        }
        let to = register.bytes_mut(count * size);
        match self.from[i] {
            From::Bytes(bytes) => with_memory!(size, |M| match splat {
                Some(at) => cast_mut::<_, M>(to).fill(cast::<_, M>(bytes)[at]),
                None => reader.gather::<M>(cast(bytes), start, cast_mut(to)),
            }),
            From::Output => to.copy_from_slice(out),
            From::Index => match splat {
                Some(at) => cast_mut::<_, i32>(to).fill(at as i32),
                None => reader.addresses(start, cast_mut(to), |at| at as i32),
            },
            From::Scalar(bits) => with_memory!(size, |M| cast_mut::<_, M>(to).fill(bits as M)),
        }
        (Place::Register, splat.is_some())
    }
}
