//! The uniform block: which numbers a kernel needs, in which order. The emitter declares the
//! block from this list and the launch fills it from the same list.

use super::collapse::Collapsed;
use super::grid::{Grid, LANES};
use super::{Access, Kernel, Place, Store, Stride, Walk};
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
    /// What divides by that length: `n / length` is the high word of `n * factor`, shifted right.
    Factor(usize),
    Shift(usize),
    /// Vectors and rows of a band, and all rows that bands are made of.
    BandVectors,
    BandRows,
    Rows,
    /// First element, or first vector where the access is by vectors.
    Offset(Slot),
    /// Elements from there to the first of a shifted access.
    Rest(Slot),
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
                    let first = if self.carries { 0 } else { 1 };
                    fields.extend((self.outermost().max(first)..self.rank).map(Field::Length));
                    let divided = self.outermost().max(1)..self.rank;
                    fields.extend(divided.flat_map(|axis| [Field::Factor(axis), Field::Shift(axis)]));
                }
            }
            Walk::Bands => {
                fields.extend([Field::Vectors, Field::BandVectors, Field::Length(self.rank - 1)]);
                if self.outermost() + 1 < self.rank {
                    fields.extend([Field::BandRows, Field::Rows]);
                    let divided = self.outermost().max(1)..self.rank - 1;
                    let axis = |axis| [Field::Length(axis), Field::Factor(axis), Field::Shift(axis)];
                    fields.extend(divided.flat_map(axis));
                }
            }
            Walk::Rows => {
                fields.extend((0..self.rank).map(Field::Length));
                let divided = 1..self.rank.saturating_sub(2);
                fields.extend(divided.flat_map(|axis| [Field::Factor(axis), Field::Shift(axis)]));
            }
            Walk::Words { .. } => {
                fields.extend([Field::Count, Field::Slots]);
                fields.extend((0..self.rank).map(Field::Length));
            }
        }
        let mut walk = |slot: Slot| {
            if slot != Slot::Out || !self.fresh {
                fields.push(Field::Offset(slot));
            }
            if self.access(slot) == Access::Shifted {
                fields.push(Field::Rest(slot));
            }
            let words = (0..self.rank).filter(|&axis| self.stride(slot, axis) == Stride::Any);
            fields.extend(words.map(|axis| Field::Stride(slot, axis)));
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

    /// How the addresses of a slot follow an axis.
    pub(crate) fn stride(&self, slot: Slot, axis: usize) -> Stride {
        let strides = match slot {
            Slot::Out => &self.strides,
            Slot::In(i) => &self.operands[i].strides,
        };
        strides.get(axis).copied().unwrap_or(Stride::Zero)
    }

    /// Whether the addresses of any slot follow an axis.
    pub(crate) fn follows(&self, axis: usize) -> bool {
        let slots = std::iter::once(Slot::Out).chain((0..self.operands.len()).map(Slot::In));
        slots.into_iter().any(|slot| self.stride(slot, axis) != Stride::Zero)
    }

    /// The first axis that some address follows.
    pub(crate) fn outermost(&self) -> usize {
        (0..self.rank).find(|&axis| self.follows(axis)).unwrap_or(self.rank - 1)
    }
}

/// A factor and a shift that divide by `d`, from 2 on, every number below 2^31: by Granlund and
/// Montgomery (Division by invariant integers using multiplication, 1994, theorem 4.2 with N = 31)
/// `n / d = n * m >> (31 + l)` for `m = floor(2^(31 + l) / d) + 1` and `2^(l - 1) < d <= 2^l`, and m
/// has 32 bits. Elements are counted below 2^31.
fn divider(d: usize) -> (u32, u32) {
    let l = usize::BITS - (d - 1).leading_zeros();
    (((1_u64 << (31 + l)) / d as u64 + 1) as u32, l - 1)
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
            let alike = |axis| kernel.stride(slot, axis) == kernel.stride(own, axis);
            !scalar && same && (0..kernel.rank).all(alike)
        };
        let before = std::iter::once(Slot::Out).chain((0..i).map(Slot::In));
        kernel.operands[i].walks_as = before.into_iter().find(alike).unwrap_or(own);
    }
}

impl Kernel {
    /// How a slot is accessed.
    fn access(&self, slot: Slot) -> Access {
        match slot {
            Slot::Out if self.store == Store::Vector => Access::Vector,
            Slot::Out => Access::Strided,
            Slot::In(i) => self.operands[i].access,
        }
    }

    /// Elements that the offset and the strides of a slot count.
    fn unit(&self, slot: Slot) -> usize {
        match self.access(slot) {
            _ if matches!(self.walk, Walk::Words { .. }) => 1,
            access => access.width(),
        }
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
        Field::Factor(axis) => divider(collapsed.lengths[axis]).0,
        Field::Shift(axis) => divider(collapsed.lengths[axis]).1,
        Field::BandVectors => (collapsed.lengths[kernel.rank - 1] * grid.band / LANES) as u32,
        Field::BandRows => grid.band as u32,
        Field::Rows => collapsed.lengths[..kernel.rank - 1].iter().product::<usize>() as u32,
        Field::Rest(slot) => (walk(slot).offset % LANES) as u32,
        Field::Offset(slot) => (walk(slot).offset / kernel.unit(slot)) as u32,
        Field::Stride(slot, axis) => (walk(slot).strides[axis] / kernel.unit(slot) as isize) as u32,
        Field::Zero => 0,
        Field::Scalar(i) => bits(i) as u32,
        Field::ScalarHigh(i) => (bits(i) >> 32) as u32,
    };
    kernel.fields().iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::divider;

    #[test]
    fn dividers_are_exact_below_2_to_31() {
        let last = (1_u64 << 31) - 1;
        let mut checked = 0;
        for d in
            (2..70_000_u64).chain((2..31).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1])).chain([last])
        {
            let (factor, shift) = divider(d as usize);
            let quotient = |n: u64| ((n * u64::from(factor)) >> 32) >> shift;
            // A quotient can only go wrong just below and at a multiple.
            let multiples = [d, 2 * d, last / d * d, last / 2 / d * d, last / 3 / d * d];
            for n in multiples.into_iter().flat_map(|n| [n.saturating_sub(1), n, n + 1]).chain([0, last]) {
                assert!(n > last || quotient(n) == n / d, "{n} / {d}");
                checked += 1;
            }
        }
        assert!(checked > 1_000_000);
    }
}
