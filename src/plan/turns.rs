//! How the values of an invocation come by, turn by turn, and where what turns give is held until its half is there:
//! in workgroup memory, in which each invocation has places of its own. Unlike memory of an invocation it is not
//! cleared first: lavapipe compiles 2.5 s where it clears two arrays of 64 vectors, and 0.1 s without.

use smallvec::SmallVec;

use super::target::Target;
use super::walk::{FOLD_WORKGROUP, LANES};
use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::ir::Fold;

/// Turns of which what each gives is held as it comes by, at most.
pub(super) const MOST_HELD: usize = 64;

/// How all values of an invocation come by, some of them loaded straight in each turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Turns {
    /// In one turn.
    One,
    /// One turn after the other, as no order shows.
    AnyOrder,
    /// What each gives is held until its half is there, in so many places: half as many as there are turns at most.
    Held { places: u32 },
    /// In parts of so many turns, whose values are held as those of turns are.
    Parts { turns: u32 },
}

impl Turns {
    /// Those of so many. Places come in few sizes, from the least of the adapter on, as each is a kernel of its own.
    pub(super) fn of(count: usize, is_ordered: bool, target: Target) -> Turns {
        let holds = |places: &u32| *places >= target.places && 2 * *places as usize >= count;
        match count {
            1 => Turns::One,
            _ if !is_ordered => Turns::AnyOrder,
            _ => match [2, 8, MOST_HELD as u32 / 2].into_iter().find(holds) {
                Some(places) => Turns::Held { places },
                None if count <= 256 => Turns::Parts { turns: 16 },
                None => Turns::Parts { turns: 64 },
            },
        }
    }

    /// Places that an invocation has for what turns give.
    pub(crate) fn places(self) -> u32 {
        match self {
            Turns::One | Turns::AnyOrder => 0,
            Turns::Held { places } => places,
            // Those of a part, and those of the values of parts, of which there are as many at most.
            Turns::Parts { turns } => turns,
        }
    }
}

/// What a vector that is held is of: arrays are shared by what is of one type.
type Of = (bool, Kind, usize);

/// Workgroup memory that a kernel takes.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Arrays in which turns are held, of each type of vectors, and places of an invocation in each of them.
    arrays: SmallVec<[(Of, usize); 2]>,
    places: u32,
    /// Bytes of an invocation where those of a team meet.
    met: usize,
}

impl Memory {
    /// That of values that are folded side by side, of so many vectors each.
    pub(super) fn of(
        folds: impl Iterator<Item = (Fold, DType)> + Clone,
        vectors: usize,
        turns: Turns,
        meets: bool,
    ) -> Memory {
        let of = |(fold, dtype): (Fold, DType)| -> Of {
            (fold.is_ordered(dtype), dtype.kind(), dtype.size().max(size_of::<u32>()))
        };
        let index = (false, Kind::Unsigned, size_of::<u32>());
        let gives_index = folds.clone().any(|(fold, _)| fold.row().gives_index);
        let indexes = folds.clone().filter(|_| gives_index).map(|_| index);
        let mut memory = Memory { places: turns.places(), ..Memory::default() };
        for of in folds.map(of).chain(indexes) {
            match memory.arrays.iter_mut().find(|(other, _)| *other == of) {
                _ if memory.places == 0 => {}
                Some((_, count)) => *count += vectors,
                None => memory.arrays.push((of, vectors)),
            }
            memory.met += if meets { LANES * of.2 * vectors } else { 0 };
        }
        memory
    }

    /// That of both in one kernel: turns of one are over before those of the other begin, but teams meet in memory of
    /// each.
    pub(super) fn and(mut self, other: Memory) -> Memory {
        for (of, count) in other.arrays {
            match self.arrays.iter_mut().find(|(own, _)| *own == of) {
                Some((_, own)) => *own = count.max(*own),
                None => self.arrays.push((of, count)),
            }
        }
        Memory { places: self.places.max(other.places), met: self.met + other.met, ..self }
    }

    /// Invocations of a workgroup that have memory, at least a team of them.
    pub(super) fn workgroup(&self, team: usize, target: Target) -> Option<u32> {
        let vectors: usize = self.arrays.iter().map(|((_, _, bytes), count)| count * LANES * bytes).sum();
        let own = self.places as usize * vectors + self.met;
        let fits = |n: &u32| own * *n as usize <= target.shared as usize;
        std::iter::successors(Some(FOLD_WORKGROUP), |n| (*n as usize > team).then_some(n / 2)).find(fits)
    }
}

/// A plan with smaller teams, where workgroup memory does not suffice for one.
pub(super) fn fewer<T>(target: Target, plan: impl FnOnce(Target) -> Result<T>) -> Result<T> {
    if target.team == 1 {
        bail!(Limit, "{} bytes of workgroup memory are too few for what an invocation folds", target.shared);
    }
    plan(Target { team: target.team / 4, ..target })
}

#[cfg(all(test, feature = "gpu"))]
mod tests {
    use super::*;
    use crate::wgsl::GPU;

    #[test]
    fn places_come_in_few_sizes() {
        let software = Target { places: 32, ..GPU };
        for (count, on_gpu, on_software) in [(2, 2, 32), (4, 2, 32), (8, 8, 32), (16, 8, 32), (64, 32, 32)] {
            assert_eq!(Turns::of(count, true, GPU), Turns::Held { places: on_gpu }, "{count}");
            assert_eq!(Turns::of(count, true, software), Turns::Held { places: on_software }, "{count}");
            assert!(2 * on_gpu as usize >= count);
        }
        for (count, turns) in [(128, 16), (256, 16), (512, 64), (4096, 64)] {
            assert_eq!(Turns::of(count, true, GPU), Turns::Parts { turns }, "{count}");
            // Those of a part are held, and what parts give.
            let held = turns as usize / 2 + (count / turns as usize).div_ceil(2);
            assert!(held <= Turns::Parts { turns }.places() as usize, "{count}");
        }
        assert_eq!(Turns::of(1, true, GPU), Turns::One);
        assert_eq!(Turns::of(4096, false, GPU), Turns::AnyOrder);
    }

    #[test]
    fn what_does_not_fit_has_fewer_invocations() {
        let workgroup = |dtype, places, meets, team, shared| {
            let turns = Turns::Held { places };
            let folds = [(Fold::Sum, dtype), (Fold::Max, dtype)];
            Memory::of(folds.into_iter(), 1, turns, meets).workgroup(team, Target { shared, ..GPU })
        };
        // Two arrays of eight vectors of 16 bytes are 256 bytes of an invocation.
        assert_eq!(workgroup(DType::F32, 8, false, 1, 16384), Some(64));
        assert_eq!(workgroup(DType::F32, 8, false, 1, 16383), Some(32));
        assert_eq!(workgroup(DType::F64, 8, false, 1, 16384), Some(32));
        assert_eq!(workgroup(DType::F32, 8, false, 1, 256), Some(1));
        assert_eq!(workgroup(DType::F32, 8, false, 1, 255), None);
        // Where a team meets each has a vector of both more.
        assert_eq!(workgroup(DType::F32, 8, true, 64, 64 * 288), Some(64));
        assert_eq!(workgroup(DType::F32, 8, true, 64, 64 * 288 - 1), None);
        assert_eq!(workgroup(DType::F32, 8, true, 16, 64 * 288 - 1), Some(32));
    }

    #[test]
    fn phases_share_what_they_hold() {
        let sums = |dtype, count: usize, places| {
            let folds = std::iter::repeat_n((Fold::Sum, dtype), count);
            Memory::of(folds, 1, Turns::Held { places }, false)
        };
        let both = sums(DType::F32, 1, 8).and(sums(DType::F32, 2, 2));
        assert_eq!(both.workgroup(1, Target { shared: 2 * 8 * 16 * 64, ..GPU }), Some(64));
        let both = sums(DType::F32, 1, 8).and(sums(DType::F64, 1, 2));
        assert_eq!(both.workgroup(1, Target { shared: 8 * (16 + 32) * 64, ..GPU }), Some(64));
    }
}
