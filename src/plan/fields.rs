//! The uniform block: which numbers a kernel needs, in which order. The emitter declares the
//! block from this list and the launch fills it from the same list.

use super::collapse::Collapsed;
use super::grid::{Grid, LANES};
use super::{Access, Kernel, Place, Store, Walk};
use crate::expr::{Program, Source};

/// The output, or an operand by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    Out,
    In(usize),
}

/// One 32-bit word of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// Elements of the result; of a walk over words, groups of four addresses.
    Count,
    /// Vectors of the result.
    Vectors,
    /// Those of them that the inner axes may touch.
    Slots,
    /// Invocations per row of the grid, where one dimension continues in the next.
    Pitch,
    /// Length of a collapsed axis.
    Length(usize),
    /// First element, or first vector where the access is by vectors.
    Offset(Slot),
    /// Distance along a collapsed axis, in elements or vectors, modulo 2^32.
    Stride(Slot, usize),
    /// A constant, or its low word.
    Scalar(usize),
    /// The high word of a constant of 64 bits.
    ScalarHigh(usize),
    /// 0, which no compiler can know: the prelude keeps error terms with it.
    Zero,
}

impl Kernel {
    /// The words of the uniform block.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let mut fields = vec![Field::Pitch];
        match self.walk {
            Walk::Flat => {
                fields.push(Field::Vectors);
                if self.needs_coordinates() {
                    fields.push(Field::Count);
                    fields.extend((if self.carries { 0 } else { 1 }..self.rank).map(Field::Length));
                }
            }
            Walk::Rows => fields.extend((0..self.rank).map(Field::Length)),
            Walk::Words { .. } => {
                fields.extend([Field::Count, Field::Slots]);
                fields.extend((0..self.rank).map(Field::Length));
            }
        }
        let mut walk = |slot: Slot| {
            fields.push(Field::Offset(slot));
            fields.extend((0..self.strides(slot)).map(|axis| Field::Stride(slot, axis)));
        };
        walk(Slot::Out);
        let mut scalars = Vec::new();
        for (i, operand) in self.operands.iter().enumerate() {
            match operand.place {
                Place::Scalar => {
                    scalars.push(Field::Scalar(i));
                    if operand.dtype.size() == 8 {
                        scalars.push(Field::ScalarHigh(i));
                    }
                }
                _ if operand.walks_as == Slot::In(i) => walk(Slot::In(i)),
                _ => {}
            }
        }
        fields.extend(scalars);
        fields.push(Field::Zero);
        fields
    }

    /// Whether a flat walk has to divide: some operand, or the store, follows the axes.
    pub(crate) fn needs_coordinates(&self) -> bool {
        self.store != Store::Vector
            || self.operands.iter().any(|o| matches!(o.access, Access::Strided | Access::Tile))
    }
}

/// Lets operands that walk alike share their words. Alike they are in what is addressed, so a vector
/// is no like of an element.
pub(super) fn share_walks(kernel: &mut Kernel, collapsed: &Collapsed) {
    let walk = |slot: Slot| match slot {
        Slot::Out => &collapsed.walks[0],
        Slot::In(i) => &collapsed.walks[i + 1],
    };
    for i in 0..kernel.operands.len() {
        let own = Slot::In(i);
        if kernel.operands[i].place == Place::Scalar {
            continue;
        }
        let alike = |&slot: &Slot| {
            let scalar = matches!(slot, Slot::In(j) if kernel.operands[j].place == Place::Scalar);
            let same = walk(slot) == walk(own) && kernel.unit(slot) == kernel.unit(own);
            !scalar && same && kernel.strides(slot) == kernel.strides(own)
        };
        let before = std::iter::once(Slot::Out).chain((0..i).map(Slot::In));
        kernel.operands[i].walks_as = before.into_iter().find(alike).unwrap_or(own);
    }
}

impl Kernel {
    /// The number of axes whose strides a slot's addresses are made of.
    fn strides(&self, slot: Slot) -> usize {
        let by_lanes = match slot {
            Slot::Out => self.store != Store::Vector,
            Slot::In(i) => {
                !matches!(self.operands[i].access, Access::Vector | Access::Backward | Access::Splat)
            }
        };
        match self.walk {
            _ if by_lanes => self.rank,
            Walk::Rows => self.rank - 1,
            _ => 0,
        }
    }

    /// Elements that the offset and the strides of an operand or the output count.
    fn unit(&self, slot: Slot) -> usize {
        let vectors = match slot {
            _ if matches!(self.walk, Walk::Words { .. }) => false,
            Slot::Out => self.store == Store::Vector,
            Slot::In(i) => {
                matches!(self.operands[i].access, Access::Vector | Access::Backward | Access::Tile)
            }
        };
        if vectors { LANES } else { 1 }
    }
}

pub(super) fn words(kernel: &Kernel, collapsed: &Collapsed, grid: &Grid, program: &Program) -> Vec<u32> {
    let walk = |slot: Slot| match slot {
        Slot::Out => &collapsed.walks[0],
        Slot::In(i) => &collapsed.walks[i + 1],
    };
    let bits = |i: usize| match program.inputs[i].source {
        Source::Scalar(bits) => bits,
        _ => 0,
    };
    let word = |field: &Field| match *field {
        Field::Count => match grid.walk {
            Walk::Words { outer } => {
                (collapsed.lengths[..outer].iter().product::<usize>() * grid.slots) as u32
            }
            _ => collapsed.lengths.iter().product::<usize>() as u32,
        },
        Field::Vectors => collapsed.lengths.iter().product::<usize>().div_ceil(LANES) as u32,
        Field::Slots => grid.slots as u32,
        Field::Pitch => grid.pitch,
        Field::Length(axis) => collapsed.lengths[axis] as u32,
        Field::Offset(slot) => (walk(slot).offset / kernel.unit(slot)) as u32,
        Field::Stride(slot, axis) => (walk(slot).strides[axis] / kernel.unit(slot) as isize) as u32,
        Field::Zero => 0,
        Field::Scalar(i) => bits(i) as u32,
        Field::ScalarHigh(i) => (bits(i) >> 32) as u32,
    };
    kernel.fields().iter().map(word).collect()
}
