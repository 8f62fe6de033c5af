//! Overlap of layouts: an element visited twice, or two layouts with a common element.

use smallvec::SmallVec;

use super::Layout;

/// Largest span, in elements, that is checked element by element.
const EXACT_SPAN: i128 = 1 << 26;

impl Layout {
    /// Whether two indices name the same element. Such a layout cannot be written.
    ///
    /// Exact, except for layouts that are neither nested nor small: those count as overlapping.
    pub(crate) fn visits_twice(&self) -> bool {
        if self.count() < 2 || self.is_nested() {
            return false;
        }
        let (low, high) = self.reach();
        let stretched = self.shape.iter().zip(&self.strides).any(|(&n, &stride)| n > 1 && stride == 0);
        if stretched || high - low >= EXACT_SPAN || self.count() as i128 > high - low + 1 {
            return true;
        }
        let mut seen = vec![false; (high - low + 1) as usize];
        self.addresses().any(|at| std::mem::replace(&mut seen[at - low as usize], true))
    }

    /// Whether each step along an axis exceeds everything that axes of smaller strides reach. Then divisions find an
    /// element's index from its address. Views of a contiguous layout are nested, unless an axis is stretched.
    pub(crate) fn is_nested(&self) -> bool {
        let mut axes: Vec<(i128, i128)> = (self.shape.iter().zip(&self.strides))
            .filter(|&(&n, _)| n > 1)
            .map(|(&n, &stride)| (stride.unsigned_abs() as i128, n as i128))
            .collect();
        axes.sort_unstable();
        let mut reach = 0;
        axes.iter().all(|&(stride, n)| {
            let clear = stride > reach;
            reach += stride * (n - 1);
            clear
        })
    }

    /// Whether two layouts may have a common element. `false` is certain, and `true` is not: bounds and the common
    /// divisor of the strides are compared, which separates halves, rows and interleaved slices.
    pub(crate) fn may_overlap(&self, other: &Layout) -> bool {
        if self.count() == 0 || other.count() == 0 {
            return false;
        }
        let ((low, high), (other_low, other_high)) = (self.reach(), other.reach());
        if high < other_low || other_high < low {
            return false;
        }
        let strides = |l: &Layout| -> Vec<u128> {
            let used = l.shape.iter().zip(&l.strides).filter(|&(&n, _)| n > 1);
            used.map(|(_, &s)| s.unsigned_abs() as u128).collect()
        };
        let step = strides(self).into_iter().chain(strides(other)).fold(0, gcd);
        let distance = (self.offset as i128 - other.offset as i128).unsigned_abs();
        if step == 0 { distance == 0 } else { distance.is_multiple_of(step) }
    }
}

/// The number of elements that axes visit, each counted once; more if axes of unlike strides meet. An axis whose steps
/// fall into the range of a smaller stride lengthens that range, so an element of several windows counts once.
pub(crate) fn distinct(lengths: &[usize], strides: &[isize]) -> usize {
    let axes = lengths.iter().zip(strides).filter(|&(&n, &stride)| n != 1 && stride != 0);
    let mut axes: SmallVec<[(usize, usize); 6]> = axes.map(|(&n, s)| (s.unsigned_abs(), n)).collect();
    axes.sort_unstable();
    let mut known: SmallVec<[(usize, usize); 6]> = SmallVec::new();
    for (stride, n) in axes {
        let meets = |(unit, length): &&mut (usize, usize)| stride % *unit == 0 && stride / *unit <= *length;
        match known.iter_mut().find(meets) {
            Some((unit, length)) if n > 0 => *length += (n - 1) * (stride / *unit),
            _ => known.push((stride, n)),
        }
    }
    known.iter().fold(1, |all: usize, (_, n)| all.saturating_mul(*n))
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
