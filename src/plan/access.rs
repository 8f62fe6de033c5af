//! Access: how an operand is loaded and the result is stored, four lanes at a time.

use smallvec::SmallVec;

use super::walk::{LANES, Packing, Walk};
use crate::dtype::DType;
use crate::layout::{Nest, Path};

/// How the lanes of an operand lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    /// Side by side and aligned: one wide load.
    Vector,
    /// The same for all vectors of an invocation: one load for all, as of small elements.
    Joined { vectors: u8 },
    /// Side by side and aligned, in reverse: one wide load, with reversed lanes.
    Backward,
    /// Side by side, but off the vectors: two wide loads, and four of their elements.
    Shifted,
    /// Every second or third element: the loads of `width` elements in which they lie, from element `first` of one on.
    Stepped { step: u8, first: u8, width: u8 },
    /// Every `step`-th element of rows that begin anywhere: loads of four elements, which operands of the same rows and of
    /// neighbouring rows share. Its first element lies `first` elements after that of the `leader` among them, and `down`
    /// rows below. Where rows are `whole` loads apart, `first` counts from the load that holds the leader's first element.
    Near { leader: u16, step: u8, first: u8, down: i8, whole: bool },
    /// One element for all lanes: one load.
    Splat,
    /// The elements of all rows side by side, as channels are: as many wide loads as rows serve four lanes of every
    /// row.
    Interleaved,
    /// A load for each lane.
    Strided,
    /// A load for each lane, at computed indices.
    Lookup,
    /// Side by side and aligned, at indices that the lanes share: one wide load.
    LookupRow,
}

/// How an address follows an axis, as far as a kernel's text depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stride {
    /// Not at all.
    Zero,
    /// By one element along the innermost axis.
    One,
    /// By a word of the uniform block.
    Any,
}

/// Properties of an access.
impl Access {
    /// The loads that four elements lie in.
    pub(crate) fn loads(self) -> u8 {
        match self {
            Access::Stepped { step, first, width } => (first + step * (LANES as u8 - 1)) / width + 1,
            _ => 1,
        }
    }

    /// The elements of one load.
    pub(crate) fn width(self) -> usize {
        match self {
            Access::Splat | Access::Strided | Access::Lookup => 1,
            Access::Stepped { width, .. } => width.into(),
            Access::Joined { vectors } => LANES * usize::from(vectors),
            _ => LANES,
        }
    }

    /// The cost of the text that loads four elements, in additions: drivers' compilers check and branch for each load.
    pub(super) fn cost(self, dtype: DType) -> usize {
        let loads = match self {
            Access::Shifted | Access::Near { .. } | Access::Stepped { .. } | Access::Interleaved => 3,
            Access::Strided | Access::Lookup => LANES,
            _ => 1,
        };
        loads * if dtype.packing() == Packing::Whole { 2 } else { 4 }
    }

    /// The same elements, with a load for each lane.
    pub(super) fn by_lanes(self) -> Access {
        match self {
            Access::Splat => Access::Splat,
            Access::Lookup | Access::LookupRow => Access::Lookup,
            _ => Access::Strided,
        }
    }

    /// Whether four elements are one load.
    pub(super) fn is_wide(self) -> bool {
        matches!(self, Access::Vector | Access::Backward)
    }

    /// Whether its loads serve several rows or vectors, so that they come before the loads of each.
    pub(crate) fn serves_rows(self) -> bool {
        matches!(self, Access::Interleaved | Access::Joined { .. })
    }

    /// The elements that its offset and strides count in.
    pub(super) fn unit(self, walk: Walk) -> usize {
        let by_elements =
            matches!(walk, Walk::Words { .. }) || matches!(self, Access::Near { whole: false, .. });
        if by_elements { 1 } else { self.width() }
    }

    /// Whether its addresses come from the coordinates of lanes.
    pub(crate) fn needs_coordinates(self) -> bool {
        matches!(self, Access::Strided | Access::Lookup)
    }

    /// In words, for `explain`.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Access::Vector => "vector: one load of four",
            Access::Joined { .. } => "joined: one load for all vectors of an invocation",
            Access::Backward => "backward: one load of four, turned around",
            Access::Interleaved => "interleaved: as many loads of four as rows, for all of them",
            Access::Stepped { .. } => "stepped: a few loads of four, of which four elements are taken",
            Access::Shifted => "shifted: two loads of four, of which four elements are taken",
            Access::Near { .. } => "unaligned vectors: loads that operands beside each other share",
            Access::Splat => "splat: one load for all lanes",
            Access::Strided => "strided: a load per lane",
            Access::Lookup => "lookup: a load per lane, at computed indices",
            Access::LookupRow => "lookup: one load of four, at computed indices",
        }
    }

    /// How the addresses along a path follow the axes. `None` if they follow the vectors of a walk instead.
    pub(super) fn strides(self, path: &Path, walk: Walk) -> SmallVec<[Stride; 6]> {
        let rank = path.strides.len();
        let axes = match (self, walk) {
            (Access::Strided | Access::Lookup, _) => rank,
            (Access::Interleaved, _) => rank - 2,
            (_, Walk::Rows) => rank - 1,
            _ => 0,
        };
        let stride = |(axis, &stride): (usize, &isize)| match stride {
            0 => Stride::Zero,
            1 if matches!(self, Access::Strided | Access::Lookup) && axis + 1 == rank => Stride::One,
            _ => Stride::Any,
        };
        path.strides.iter().enumerate().take(axes).map(stride).collect()
    }
}

/// The data for the choice of a kernel's accesses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chooser<'a> {
    pub loops: &'a Nest,
    pub walk: Walk,
    /// Rows that an invocation computes together, if an operand has them side by side.
    pub together: Option<u32>,
}

impl Chooser<'_> {
    /// The access of operands that are loaded by the output's vectors or by lanes: operands in the output's binding,
    /// and coordinates.
    pub(super) fn plain(&self, operand: usize) -> Access {
        let (loops, path) = (self.loops, self.loops.operand(operand));
        // In reverse, the last vector of a row of another length would begin before the row.
        match self.walk {
            Walk::Flat | Walk::Bands | Walk::Words { .. } | Walk::Anywhere
                if path.strides.iter().all(|&s| s == 0) =>
            {
                Access::Splat
            }
            Walk::Flat | Walk::Bands if path.is_linear(loops, 1) => Access::Vector,
            Walk::Flat | Walk::Bands if loops.count().is_multiple_of(LANES) && path.is_linear(loops, -1) => {
                Access::Backward
            }
            Walk::Rows if path.strides.last() == Some(&0) => Access::Splat,
            // The last load of a row may reach past the row, but never past its padded buffer.
            Walk::Rows if path.has_linear_rows(1) => Access::Vector,
            Walk::Rows if loops.inner().is_multiple_of(LANES) && path.has_linear_rows(-1) => Access::Backward,
            _ => Access::Strided,
        }
    }

    /// The access of an operand with a binding of its own.
    pub(super) fn bound(&self, operand: usize) -> Access {
        let (loops, path) = (self.loops, self.loops.operand(operand));
        match (self.plain(operand), self.walk) {
            (Access::Strided, Walk::Flat | Walk::Bands) if path.is_dense(loops, 1) => Access::Shifted,
            (Access::Strided, Walk::Rows) if self.together.is_some() && path.is_interleaved(loops) => {
                Access::Interleaved
            }
            (Access::Strided, _) => self.stepped(path).unwrap_or(Access::Strided),
            (plain, _) => plain,
        }
    }

    /// The access by steps along the innermost axis, if few loads hold four elements.
    fn stepped(&self, path: &Path) -> Option<Access> {
        let (&step, outer) = path.strides.split_last()?;
        if !(2..LANES as isize).contains(&step) {
            return None;
        }
        let is_regular = match self.walk {
            Walk::Flat | Walk::Bands => path.is_dense(self.loops, step),
            Walk::Rows => outer.iter().all(|s| s % LANES as isize == 0),
            Walk::Words { .. } | Walk::Anywhere => false,
        };
        let first = (path.offset % LANES) as u8;
        let access = Access::Stepped { step: step as u8, first, width: LANES as u8 };
        (is_regular && usize::from(access.loads()) < LANES).then_some(access)
    }
}

/// How the lanes of the result are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Store {
    /// Side by side and aligned: one wide store.
    Vector,
    /// The same for all vectors of an invocation.
    Joined { vectors: u8 },
    /// Two stores for each vector, of two lanes each that exist together.
    Pairs,
    /// A store for each existing lane.
    Lanes,
    /// The lanes of the invocation's words that the layout visits. Other lanes keep their elements.
    Words,
}

impl Store {
    pub(super) fn of(loops: &Nest, walk: Walk, dtype: DType, fresh: bool) -> Store {
        let whole = |n: usize| n.is_multiple_of(LANES);
        let vector = match walk {
            // A fresh storage is padded, so its last store may be wider than the rest of its elements.
            Walk::Flat | Walk::Bands => loops.output().is_linear(loops, 1) && (fresh || whole(loops.count())),
            Walk::Rows => loops.output().has_linear_rows(1) && whole(loops.inner()),
            Walk::Words { .. } | Walk::Anywhere => false,
        };
        let is_even = |stride: &isize| stride % 2 == 0;
        let output = loops.output();
        let pairs = || match output.strides.split_last() {
            Some((1, outer)) if walk == Walk::Rows && loops.inner().is_multiple_of(2) => {
                output.offset.is_multiple_of(2) && outer.iter().all(is_even)
            }
            _ => false,
        };
        match dtype.packing() {
            _ if vector => Store::Vector,
            Packing::Whole if pairs() => Store::Pairs,
            Packing::Whole => Store::Lanes,
            Packing::Halves | Packing::Bytes => Store::Words,
        }
    }

    /// How the result is addressed.
    pub(crate) fn access(self) -> Access {
        match self {
            Store::Vector => Access::Vector,
            Store::Pairs => Access::Stepped { step: 1, first: 0, width: 2 },
            Store::Joined { vectors } => Access::Joined { vectors },
            Store::Lanes | Store::Words => Access::Strided,
        }
    }

    /// The elements of an entry of the result's array.
    pub(super) fn width(self) -> usize {
        if self == Store::Words { LANES } else { self.access().width() }
    }

    /// How the addresses along the output's path follow the axes.
    pub(super) fn strides(self, path: &Path, walk: Walk) -> SmallVec<[Stride; 6]> {
        match walk {
            // Divisors of coordinates.
            Walk::Words { .. } => path.strides.iter().map(|_| Stride::Any).collect(),
            _ => self.access().strides(path, walk),
        }
    }

    /// In words, for `explain`.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Store::Vector => "vector: one store of four",
            Store::Joined { .. } => "joined: one store for all vectors of an invocation",
            Store::Pairs => "pairs: two stores of two",
            Store::Lanes => "strided: a store per lane",
            Store::Words => "words: read, changed in part, and stored",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each class that `explain` names stands in the guide.
    #[test]
    fn the_guide_has_every_class() {
        let guide = include_str!("../../docs/guide/performance.md");
        let near = Access::Near { leader: 0, step: 1, first: 0, down: 0, whole: true };
        let accesses = [
            Access::Vector,
            Access::Joined { vectors: 2 },
            Access::Backward,
            Access::Shifted,
            Access::Stepped { step: 2, first: 0, width: 4 },
            near,
            Access::Splat,
            Access::Interleaved,
            Access::Strided,
            Access::Lookup,
            Access::LookupRow,
        ];
        let stores = [Store::Vector, Store::Joined { vectors: 2 }, Store::Pairs, Store::Lanes, Store::Words];
        for text in accesses.map(Access::describe).into_iter().chain(stores.map(Store::describe)) {
            let class = text.split(':').next().unwrap_or(text);
            let is_told = ["*{}*", "| {} |"].iter().any(|form| guide.contains(&form.replace("{}", class)));
            let is_told =
                is_told || guide.contains(&format!("*{}{}*", class[..1].to_uppercase(), &class[1..]));
            assert!(is_told, "{text}");
        }
    }
}
