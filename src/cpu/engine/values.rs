//! The elements of values in a tile: in place in memory, or gathered in registers.

use bytemuck::{cast_slice as cast, cast_slice_mut as cast_mut};
use smallvec::SmallVec;

use super::{Engine, InTile, Scratch, Tile};
use crate::cpu::bytes::{Operand, with_memory};
use crate::cpu::kernels::PART;
use crate::cpu::load;
use crate::cpu::lookup::{self, Addresses, Table};
use crate::cpu::pairs::Loop;
use crate::cpu::registers::Register;
use crate::ir::{Input, Value};

/// The place of a value's elements.
#[derive(Clone, Copy, Default)]
pub(super) enum Place {
    /// In an input's memory, or its transposed chunk, from a byte on.
    Source(usize, usize),
    Turned(usize, usize),
    /// In an input's memory, from a byte on, in runs that lie this many bytes apart.
    Runs(usize, usize, usize),
    #[default]
    Register,
    /// A table: the addresses of its elements without the indices. Without a stride the addresses are in its register.
    Walk(usize, isize),
}

impl<'a> Engine<'a> {
    /// `length` elements of a value from `start` on, if they are contiguous in an input's memory.
    pub(in crate::cpu) fn in_place(&self, value: Value, start: usize, length: usize) -> Option<&'a [u8]> {
        let i = value.input().filter(|&i| !self.program.inputs[i].is_table())?;
        let size = self.sizes[value];
        match (self.from[i], self.readers[i].run(start, length)?) {
            (Operand::Bytes(bytes), (at, 1)) if self.row == 1 && !self.turned[i] => {
                Some(&bytes[at * size..(at + length) * size])
            }
            _ => None,
        }
    }

    /// Rows of a value from an element on, if each row is contiguous: the memory of all, and the distance of rows
    /// there. Among the program's elements the distance is `pitch`.
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
        let (Operand::Bytes(bytes), Some(_)) = (self.from[i], self.in_place(value, start, columns)) else {
            return None;
        };
        let (at, _) = self.readers[i].run(start, columns)?;
        let size = self.sizes[value];
        Some((&bytes[at * size..(at + (rows - 1) * apart + columns) * size], apart))
    }

    /// The tables of a loop over some values.
    pub(super) fn tables(&self, own: &Loop) -> SmallVec<[Table<'_>; 2]> {
        let tables = own.args.iter().filter_map(|arg| {
            let i = arg.input().filter(|&i| self.program.inputs[i].is_table())?;
            let input = &self.program.inputs[i];
            let Operand::Bytes(elements) = self.from[i] else { return None };
            Some(Table { elements, size: input.dtype.size(), computed: &input.computed })
        });
        tables.collect()
    }

    /// Looks up elements of a tile: in one range of the source, or at their own addresses.
    pub(super) fn look_up(&self, own: &Loop, scratch: &mut Scratch) {
        let (value, length) = (own.value, scratch.tile.count(false));
        let Some((&table, indices)) = own.args.split_first() else { return };
        let Some(i) = table.input() else { return };
        let input = &self.program.inputs[i];
        let Operand::Bytes(source) = self.from[i] else { return };
        let equal = own.args.iter().all(|&arg| scratch.values[arg].equal);
        let count = if equal { length.min(PART) } else { length };
        let target = self.registers[value];
        let mut register = std::mem::take(&mut scratch.registers[target]);
        register.held = None;
        let size = self.sizes[value];
        let mut walk = match scratch.values[table].place {
            Place::Walk(at, stride) => Addresses::Run(at as isize, stride),
            _ => Addresses::Each(cast(scratch.registers[self.registers[table]].bytes(8 * count))),
        };
        let mut varying: SmallVec<[(&[i32], isize); 4]> = SmallVec::new();
        for (&index, extent) in indices.iter().zip(&input.computed) {
            let values: &[i32] = cast(self.value(index, scratch));
            match &mut walk {
                // One index for all elements.
                Addresses::Run(at, _) if scratch.values[index].equal => {
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
        (scratch.values[value].place, scratch.values[value].equal) = (place, equal);
        scratch.registers[target] = register;
    }

    /// Repeats a value of the row for each element, if it is read so.
    pub(super) fn spread(&self, value: Value, scratch: &mut Scratch) {
        if !self.spread[value] || scratch.values[value].equal {
            return;
        }
        let Tile { rows, columns, .. } = scratch.tile;
        let columns = columns.unwrap_or(self.inner);
        let mut register = std::mem::take(&mut scratch.spread[value]);
        let size = self.sizes[value];
        let to = register.bytes_mut(self.spread_count(scratch) * size);
        let from = self.read(value, true, scratch);
        with_memory!(size, |M| {
            let (from, to) = (cast::<_, M>(from), cast_mut::<_, M>(to));
            match columns {
                _ if rows == 1 => to.fill(from[0]),
                1 => load::spread(from, self.row, to),
                _ => {
                    let matrices = to.chunks_exact_mut(self.row * columns).zip(from.chunks_exact(columns));
                    matrices.for_each(|(to, from)| {
                        to.chunks_exact_mut(columns).for_each(|to| to.copy_from_slice(from));
                    });
                }
            }
        });
        scratch.spread[value] = register;
    }

    /// Elements of a repeated value of the row; for one row, a part.
    fn spread_count(&self, scratch: &Scratch) -> usize {
        let all = scratch.tile.count(false);
        if scratch.tile.rows == 1 { all.min(PART) } else { all }
    }

    /// The elements of a computed value. One part, if all are equal.
    pub(in crate::cpu) fn value<'s>(&'s self, value: Value, scratch: &'s Scratch) -> &'s [u8] {
        self.read(value, false, scratch)
    }

    /// All elements of a computed value. One part is repeated.
    pub(in crate::cpu) fn all<'s>(
        &'s self,
        value: Value,
        expanded: &'s mut Register,
        scratch: &'s Scratch,
    ) -> &'s [u8] {
        let elements = self.value(value, scratch);
        let bytes = scratch.tile.count(false) * self.sizes[value];
        if elements.len() == bytes {
            return elements;
        }
        let all = expanded.bytes_mut(bytes);
        all.chunks_mut(elements.len()).for_each(|to| to.copy_from_slice(&elements[..to.len()]));
        all
    }

    /// The elements of a value, or one for each row.
    #[inline]
    pub(in crate::cpu) fn read<'s>(&'s self, value: Value, by_row: bool, scratch: &'s Scratch) -> &'s [u8] {
        let elements = scratch.tile.count(by_row);
        if self.of_row[value] && !by_row && !scratch.values[value].equal {
            return scratch.spread[value].bytes(self.spread_count(scratch) * self.sizes[value]);
        }
        let InTile { place, equal } = scratch.values[value];
        let (size, length) = (self.sizes[value], self.runs.length);
        let bytes = match place {
            Place::Runs(_, _, pitch) => (elements / length - 1) * pitch + length * size,
            _ if equal => elements.min(PART) * size,
            _ => elements * size,
        };
        let source = match place {
            Place::Source(i, at) | Place::Runs(i, at, _) => match self.from[i] {
                Operand::Bytes(source) => Some((source, at)),
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

    /// Finds the elements of an input, and gathers them in its register unless they are contiguous. Returns whether
    /// they are one element.
    pub(super) fn place(&self, i: usize, input: &Input, scratch: &mut Scratch, out: &[u8]) -> (Place, bool) {
        let size = input.dtype.size();
        let tile = if self.of_row.inputs()[i] { scratch.tile.of_rows() } else { scratch.tile };
        let (start, count) = (tile.start, tile.count(false));
        if self.turned[i] {
            return (Place::Turned(i, (start - scratch.start) * size), false);
        }
        let (reader, own) = (&self.readers[i], self.registers.inputs()[i]);
        let run = reader.run(start, tile.length).filter(|_| tile.runs == 1);
        if input.is_table() {
            let register = &mut scratch.registers[own];
            let Some((at, stride)) = run else {
                let to: &mut [i64] = cast_mut(register.bytes_mut(8 * count));
                tile.each(to, |start, to| reader.addresses(start, to, |at| at as i64));
                return (Place::Register, false);
            };
            // Loops have addresses beside their values.
            if self.in_loops[i] {
                let count = if stride == 0 { count.min(PART) } else { count };
                let to: &mut [i64] = cast_mut(register.bytes_mut(8 * count));
                (0..).zip(to).for_each(|(k, to)| *to = (at as isize + k * stride) as i64);
            }
            return (Place::Walk(at, stride), stride == 0);
        }
        if let (Operand::Bytes(_), Some((at, 1))) = (self.from[i], run) {
            return (Place::Source(i, at * size), false);
        }
        let length = self.runs.length;
        if length > 0
            && self.runs.inputs[i]
            && let (Some((at, 1)), Some(pitch)) =
                (reader.run(start, length), reader.pitch(start, count / length, length))
        {
            return (Place::Runs(i, at * size, pitch * size), false);
        }
        let register = &mut scratch.registers[own];
        let splat = match self.from[i] {
            Operand::Scalar(_) => Some(0),
            _ => run.filter(|&(_, stride)| stride == 0).map(|(at, _)| at),
        };
        let count = if splat.is_some() { self.most.min(PART) } else { count };
        let from_row = || reader.repeats().filter(|_| tile.runs == 1).map(|period| start % period);
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
            Operand::Bytes(bytes) => with_memory!(size, |M| {
                let (bytes, to) = (cast::<_, M>(bytes), cast_mut::<_, M>(to));
                match splat {
                    Some(at) => to.fill(bytes[at]),
                    None => tile.each(to, |start, to| reader.gather(bytes, start, to)),
                }
            }),
            Operand::Output => {
                let [length, pitch] = self.runs.bytes(out.len(), size);
                let runs = to.chunks_mut(length).zip(out.chunks(pitch));
                runs.for_each(|(to, out)| to.copy_from_slice(&out[..length]));
            }
            Operand::Index => match splat {
                Some(at) => cast_mut::<_, i32>(to).fill(at as i32),
                None => tile.each(cast_mut(to), |start, to| reader.addresses(start, to, |at| at as i32)),
            },
            Operand::Scalar(bits) => with_memory!(size, |M| cast_mut::<_, M>(to).fill(bits as M)),
        }
        (Place::Register, splat.is_some())
    }
}
