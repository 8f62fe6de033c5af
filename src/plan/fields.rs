//! The uniform block: numbers of a launch, in order. A launch has every number that a kernel of its kind may need. The
//! emitter declares the ones that its text names, and only these are uploaded.

use super::access::{Access, Store, Stride};
use super::kernel::{Kernel, Operand, Origin, Role};
use super::makes::{Makes, Output, Reduce, VectorAxis};
use super::walk::{LANES, Walk};
use crate::ir::{Program, Source};
use crate::layout::{Nest, Path};

/// Declares the numbers of launches, in the order of the block, each with its name in the text. A flat walk has the numbers
/// up to vectors, and other walks over all elements have those up to rows.
macro_rules! numbers {
    ($($(#[doc = $doc:literal])* $number:ident $name:literal;)*) => {
        /// A number of a launch.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Number {
            $($(#[doc = $doc])* $number,)*
        }

        impl Number {
            const ALL: &[Number] = &[$(Number::$number),*];

            /// Its name in the text.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Number::$number => $name,)*
                }
            }
        }
    };
}

numbers! {
    /// Invocations in a row of the grid, where one dimension continues in the next.
    Pitch "pitch";
    /// Elements of the result; on a walk over words, groups of four addresses. Otherwise rows, or tiles.
    Count "count";
    /// Vectors of the result. Of a reduction, those of the innermost axis of a row of several axes, of a scan those of
    /// the innermost axis, and of a product of matrices tiles across.
    Vectors "vectors";
    /// Vectors along the inner axes, at most.
    Slots "slots";
    /// Vectors and rows of a band.
    BandVectors "band_vectors";
    BandRows "band_rows";
    /// Rows of all bands, of a reduction, or of a matrix.
    Rows "rows";
    /// Values of a row, or products. Of a sort, elements of a row whose number is the key. The number of counted keys.
    Row "row";
    /// Vectors of rows or runs, if lanes lie in several. Columns of a matrix.
    Columns "columns";
    /// Partial results of a row, tiles of a run, or tiles down a matrix.
    Positions "positions";
    /// The distance of partial results.
    PositionStride "position_stride";
    /// Values of a run, and the distance of the parts of a tile's last value.
    Run "run";
    Part "part";
    /// Tiles of earlier rows of a sort or a count, or of a scan before the first.
    Before "before";
    /// Elements and tiles of a row, elements of earlier rows, and all tiles of one digit: see [`Run`](super::Run).
    Length "length";
    Tiles "tiles";
    Start "start";
    All "all";
    /// The lowest bit of a digit, and the bits that flip keys.
    Shift "shift";
    Flip "flip";
    /// The first bound place, and the number of bound places.
    Low "low";
    Size "size";
}

/// One 32-bit word of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Number(Number),
    /// The divisor by a number, as by a length.
    FactorOf(Number),
    ShiftOf(Number),
    /// Length of a collapsed axis.
    Length(usize),
    /// The divisor by that length: `n / length` is the high word of `n * factor`, shifted right.
    Factor(usize),
    Shift(usize),
    /// First element, or first vector if the access is by vectors.
    Offset(Role),
    /// Elements from there to the first of a shifted access.
    Rest(Role),
    /// The last vector that holds an element of the operands that share loads with this one.
    Last(Role),
    /// Distance along a computed index of a table, in the same unit.
    Computed(usize, usize),
    /// Distance along a collapsed axis, in elements or vectors, modulo 2^32.
    Stride(Role, usize),
    /// A constant, or its low word.
    Scalar(usize),
    /// The high word of a constant of 64 bits.
    ScalarHigh(usize),
    /// The identity of a reduction for elements past the end of a row, or its low word.
    Identity(usize),
    IdentityHigh(usize),
    /// 0, which no compiler knows. Fences are made of it.
    Zero,
}

/// The numbers that kernels divide by.
const DIVISORS: [Number; 3] = [Number::Vectors, Number::Columns, Number::Positions];

impl Kernel {
    /// All numbers that its text may name, in order. Those that it names are the words of its uniform block.
    pub(crate) fn fields(&self, mut each: impl FnMut(Field)) {
        let mut all = |fields: &[Field]| fields.iter().for_each(|&field| each(field));
        let is_walk = matches!(self.makes, Makes::Elements);
        let last = match self.walk {
            Walk::Flat if is_walk => Number::Vectors,
            _ if is_walk => Number::Rows,
            _ => Number::Size,
        };
        for &number in &Number::ALL[..=last as usize] {
            all(&[Field::Number(number)]);
            if !is_walk && DIVISORS.contains(&number) {
                all(&[Field::FactorOf(number), Field::ShiftOf(number)]);
            }
        }
        for i in 0..self.makes.identities().len() {
            all(&[Field::Identity(i), Field::IdentityHigh(i)]);
        }
        for axis in 0..self.rank {
            all(&[Field::Length(axis), Field::Factor(axis), Field::Shift(axis)]);
        }
        let own =
            |&i: &usize| self.operands[i].walks_as == Role::In(i) && !self.operands[i].origin.is_value();
        let roles = std::iter::once(Role::Out).chain((0..self.operands.len()).filter(own).map(Role::In));
        for role in roles {
            all(&[Field::Offset(role), Field::Rest(role), Field::Last(role)]);
            let axes = (0..self.rank).filter(|&axis| self.stride(role, axis) == Stride::Any);
            axes.for_each(|axis| all(&[Field::Stride(role, axis)]));
        }
        for (i, operand) in self.operands.iter().enumerate() {
            if operand.origin == Origin::Scalar {
                all(&[Field::Scalar(i), Field::ScalarHigh(i)]);
            }
            let computed = (0..operand.computed.len()).filter(|&k| operand.computed[k] == Stride::Any);
            computed.for_each(|k| all(&[Field::Computed(i, k)]));
        }
        all(&[Field::Zero]);
    }

    /// Whether the lanes of a vector have their own coordinates along the innermost axis, in a reduction of rows.
    pub(crate) fn has_lanes(&self, reduce: &Reduce) -> bool {
        let by_lanes = |operand: &Operand| {
            operand.access.needs_coordinates()
                || operand.origin == Origin::Index && operand.access != Access::Splat
        };
        let stores = self.store == Store::Lanes
            && (reduce.vector_axis == VectorAxis::Kept || reduce.output != Output::OnePerRow);
        let needs = stores || self.minds_missing_lanes() || self.operands.iter().any(by_lanes);
        reduce.vector_axis != VectorAxis::Gathered && needs
    }

    /// Whether a flat walk divides: an operand, or the store, follows the axes.
    pub(crate) fn needs_coordinates(&self) -> bool {
        needs_coordinates(self.store, &self.operands)
    }

    /// How the addresses of a tensor follow an axis.
    pub(crate) fn stride(&self, role: Role, axis: usize) -> Stride {
        let strides = match role {
            Role::Out => &self.strides,
            Role::In(i) => &self.operands[i].strides,
        };
        strides.get(axis).copied().unwrap_or(Stride::Zero)
    }

    /// Whether the addresses of any tensor follow an axis.
    pub(crate) fn follows(&self, axis: usize) -> bool {
        let mut roles = std::iter::once(Role::Out).chain((0..self.operands.len()).map(Role::In));
        roles.any(|role| self.stride(role, axis) != Stride::Zero)
    }

    /// The first axis that an address follows.
    pub(crate) fn outermost(&self) -> usize {
        (0..self.rank).find(|&axis| self.follows(axis)).unwrap_or(self.rank - 1)
    }
}

/// See [`Kernel::needs_coordinates`].
pub(super) fn needs_coordinates(store: Store, operands: &[Operand]) -> bool {
    let follows = |operand: &Operand| {
        // A table may follow its indices alone.
        let moves = operand.strides.iter().any(|&stride| stride != Stride::Zero);
        operand.access.needs_coordinates() && (moves || operand.access != Access::Lookup)
    };
    operands.iter().any(follows) || store.access().needs_coordinates()
}

/// A factor and a shift that divide every number below 2^31 by `d`; zeros for 1, which has none. By Granlund and
/// Montgomery (Division by invariant integers using multiplication, 1994, theorem 4.2 with N = 31), `n / d = n * m >>
/// (31 + l)` for `m = floor(2^(31 + l) / d) + 1` and `2^(l - 1) < d <= 2^l`. m has 32 bits, and elements are counted
/// below 2^31.
pub(super) fn divider(d: usize) -> (u32, u32) {
    if d < 2 {
        return (0, 0);
    }
    let l = usize::BITS - (d - 1).leading_zeros();
    (((1_u64 << (31 + l)) / d as u64 + 1) as u32, l - 1)
}

/// The address of a tensor. Tensors with equal ones share addresses. Vectors and elements are different units, so the
/// unit is a part of it.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Addressing<'a> {
    path: &'a Path,
    unit: usize,
    strides: &'a [Stride],
}

impl<'a> Addressing<'a> {
    pub(super) fn new(path: &'a Path, access: Access, walk: Walk, strides: &'a [Stride]) -> Self {
        // A last axis along which it does not move is left out, or has stride 0.
        let followed = strides.iter().rposition(|&stride| stride != Stride::Zero).map_or(0, |axis| axis + 1);
        Addressing { path, unit: unit(access, walk), strides: &strides[..followed] }
    }
}

/// The elements that an offset and strides count in.
fn unit(access: Access, walk: Walk) -> usize {
    if matches!(walk, Walk::Words { .. }) { 1 } else { access.unit() }
}

impl Kernel {
    /// The access of a role.
    fn access(&self, role: Role) -> Access {
        match role {
            Role::Out => self.store.access(),
            Role::In(i) => self.operands[i].access,
        }
    }
}

/// See [`Field::Last`].
fn last_near(kernel: &Kernel, loops: &Nest, role: Role) -> usize {
    let Role::In(of) = role else { return 0 };
    let is_near = |i: &usize| matches!(kernel.operands[*i].access, Access::Near { leader, .. } if usize::from(leader) == of);
    let last = |i: usize| {
        let path = loops.operand(i);
        let far = |(&n, &stride): (&usize, &isize)| (n - 1) * stride.max(0) as usize;
        path.offset + loops.lengths.iter().zip(&path.strides).map(far).sum::<usize>()
    };
    (0..kernel.operands.len()).filter(is_near).map(last).max().unwrap_or(0)
        / kernel.operands[of].access.width()
}

/// The words of the uniform block. `number` knows the numbers of the launch.
pub(super) fn words(
    kernel: &Kernel,
    loops: &Nest,
    program: &Program,
    number: impl Fn(Number) -> usize,
) -> Vec<u32> {
    let path = |role: Role| match role {
        Role::Out => loops.output(),
        Role::In(i) => loops.operand(i),
    };
    let unit = |role: Role| unit(kernel.access(role), kernel.walk);
    let bits = |i: usize| match program.inputs[i].source {
        Source::Scalar(bits) => bits,
        _ => 0,
    };
    let identities = kernel.makes.identities();
    let word = |field: Field| match field {
        Field::Number(own) => number(own) as u32,
        Field::FactorOf(own) => divider(number(own)).0,
        Field::ShiftOf(own) => divider(number(own)).1,
        Field::Length(axis) => loops.lengths[axis] as u32,
        Field::Factor(axis) => divider(loops.lengths[axis]).0,
        Field::Shift(axis) => divider(loops.lengths[axis]).1,
        Field::Rest(role) => (path(role).offset % LANES) as u32,
        Field::Last(role) => last_near(kernel, loops, role) as u32,
        Field::Offset(role) => (path(role).offset / unit(role)) as u32,
        Field::Stride(role, axis) => (path(role).strides[axis] / unit(role) as isize) as u32,
        Field::Computed(i, k) => (program.inputs[i].computed[k].stride / unit(Role::In(i)) as isize) as u32,
        Field::Zero => 0,
        Field::Scalar(i) => bits(i) as u32,
        Field::ScalarHigh(i) => (bits(i) >> 32) as u32,
        Field::Identity(i) => identities[i] as u32,
        Field::IdentityHigh(i) => (identities[i] >> 32) as u32,
    };
    let mut words = Vec::with_capacity(16);
    kernel.fields(|field| words.push(word(field)));
    words
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
            // A quotient can only be wrong at a multiple and just below it.
            let multiples = [d, 2 * d, last / d * d, last / 2 / d * d, last / 3 / d * d];
            for n in multiples.into_iter().flat_map(|n| [n.saturating_sub(1), n, n + 1]).chain([0, last]) {
                assert!(n > last || quotient(n) == n / d, "{n} / {d}");
                checked += 1;
            }
        }
        assert!(checked > 1_000_000);
    }
}
