//! Fewer axes, the same elements in the same order.

use smallvec::SmallVec;

/// An axis that several layouts walk together: its length, and the stride of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub length: usize,
    pub strides: SmallVec<[isize; 8]>,
}

/// Axes, outermost first.
pub(crate) type Axes = SmallVec<[Axis; 6]>;

/// The fewest axes that visit the same elements in the same order: those of length 1 go, and neighbours
/// merge where every layout walks them as one.
pub(crate) fn merge(axes: impl Iterator<Item = Axis>) -> Axes {
    let mut merged = Axes::new();
    for axis in axes.filter(|axis| axis.length != 1) {
        let is_one = |outer: &&mut Axis| {
            let whole = |&stride: &isize| stride.checked_mul(axis.length as isize);
            outer.strides.iter().copied().map(Some).eq(axis.strides.iter().map(whole))
        };
        match merged.last_mut().filter(is_one) {
            Some(outer) => *outer = Axis { length: outer.length * axis.length, ..axis },
            None => merged.push(axis),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(list: &[(usize, &[isize])]) -> Axes {
        list.iter().map(|&(length, strides)| Axis { length, strides: strides.into() }).collect()
    }

    #[test]
    fn neighbours_merge_where_all_walk_them_as_one() {
        // A contiguous result, and an operand that repeats along the second axis.
        let all = axes(&[(2, &[60, 12]), (1, &[7, 7]), (5, &[12, 0]), (4, &[3, 3]), (3, &[1, 1])]);
        let merged = merge(all.into_iter());
        assert_eq!(merged, axes(&[(2, &[60, 12]), (5, &[12, 0]), (12, &[1, 1])]));
    }

    #[test]
    fn one_element_has_no_axes() {
        assert!(merge(axes(&[(1, &[1]), (1, &[1])]).into_iter()).is_empty());
    }
}
