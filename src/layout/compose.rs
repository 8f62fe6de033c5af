//! One layout seen through another.

use smallvec::SmallVec;

use super::Layout;

impl Layout {
    /// Whether the layout is row-major order from element 0 on.
    pub(crate) fn is_identity(&self) -> bool {
        self.offset == 0 && self.is_contiguous()
    }

    /// This layout under a view: `view` maps its own indices to row-major numbers of this layout's indices. `None` if
    /// the composition is no layout, as for transposed rows that are numbered along one axis.
    pub(crate) fn under(&self, view: &Layout) -> Option<Layout> {
        if view.is_identity() && view.shape == self.shape {
            return Some(self.clone());
        }
        if self.is_identity() {
            return Some(view.clone());
        }
        if view.shape.contains(&0) || self.rank() == 0 {
            return Some(Layout { offset: self.offset, ..view.clone() });
        }
        // Axes that this layout steps through as one need not be told apart.
        let own = self.simplified();
        let mut units: SmallVec<[usize; 6]> = SmallVec::from_elem(1, own.rank());
        for axis in (1..own.rank()).rev() {
            units[axis - 1] = units[axis] * own.shape[axis];
        }
        // The view's first index, and its least and greatest index on each axis.
        let mut rest = view.offset;
        let mut start: SmallVec<[usize; 6]> = SmallVec::new();
        for &unit in &units {
            start.push(rest / unit);
            rest %= unit;
        }
        let mut reach: SmallVec<[(isize, isize); 6]> =
            start.iter().map(|&index| (index as isize, index as isize)).collect();
        let mut strides = SmallVec::new();
        for (&n, &step) in view.shape.iter().zip(&view.strides) {
            if n == 1 || step == 0 {
                strides.push(0);
                continue;
            }
            let axis = units.iter().position(|&unit| unit <= step.unsigned_abs())?;
            let unit = units[axis] as isize;
            if step % unit != 0 {
                return None;
            }
            let last = step / unit * (n as isize - 1);
            reach[axis].0 += last.min(0);
            reach[axis].1 += last.max(0);
            strides.push(step / unit * own.strides[axis]);
        }
        let stays = |(&(low, high), &n): (&(isize, isize), &usize)| low >= 0 && high < n as isize;
        if !reach.iter().zip(own.shape.iter()).all(stays) {
            return None;
        }
        let steps = start.iter().zip(&own.strides).map(|(&index, &stride)| index as isize * stride);
        let offset = (own.offset as isize + steps.sum::<isize>()) as usize;
        Some(Layout { shape: view.shape.clone(), strides, offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Layouts over a shape, and views of it. `under` must visit the elements that both name.
    #[test]
    fn addresses_are_those_of_both() {
        let shape = [4, 1, 3, 6];
        let dense = Layout::contiguous(shape).unwrap();
        let row = Layout::contiguous([6]).unwrap().broadcast_to(&shape.into()).unwrap();
        let turned = Layout::contiguous([6, 3, 1, 4]).unwrap().permute(&[3, 2, 1, 0]).unwrap();
        let cut = Layout::contiguous([9, 2, 3, 7]).unwrap();
        let cut = cut.slice(0, 1..9, 2).unwrap().slice(1, 1..2, 1).unwrap().slice(3, 1..7, 1).unwrap();
        let constant = Layout::contiguous([]).unwrap().broadcast_to(&shape.into()).unwrap();
        let layouts = [dense.clone(), row, turned, cut.flip(2).unwrap(), cut, constant];
        let views = [
            dense.clone(),
            dense.flip(3).unwrap().permute(&[3, 0, 1, 2]).unwrap(),
            dense.slice(2, 0..3, 2).unwrap().flip(0).unwrap(),
            dense.slice(0, 1..2, 1).unwrap().broadcast_to(&[5, 3, 3, 6].into()).unwrap(),
            dense.squeeze(1).unwrap().unsqueeze(0).unwrap(),
            dense.reshape(&[4, 18]).unwrap(),
            dense.reshape(&[2, 2, 3, 2, 3]).unwrap().flip(3).unwrap(),
            dense.slice(0, 0..1, 1).unwrap().reshape(&[18]).unwrap().slice(0, 2..17, 3).unwrap(),
            dense.reshape(&[72]).unwrap().slice(0, 5..70, 7).unwrap(),
        ];
        let mut told = 0;
        for layout in &layouts {
            let elements: Vec<usize> = layout.addresses().collect();
            for view in &views {
                let Some(got) = layout.under(view) else { continue };
                let expected: Vec<usize> = view.addresses().map(|i| elements[i]).collect();
                assert_eq!(got.addresses().collect::<Vec<_>>(), expected, "{layout:?} under {view:?}");
                told += 1;
            }
        }
        // All views, except those that number transposed or stretched axes as one.
        assert!(told >= layouts.len() * views.len() - 14, "only {told}");
    }
}
