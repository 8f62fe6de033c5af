//! Views: each against a plain table of elements, and the errors of impossible ones.

#![allow(clippy::reversed_empty_ranges)] // a walk down begins at the larger bound

use proptest::prelude::*;
use zerostride::{Device, Layout, Shape};

fn at(layout: &Layout) -> Vec<usize> {
    layout.addresses().collect()
}

#[test]
fn slices_as_python_takes_them() {
    let x = Layout::contiguous([10]).unwrap();
    let slice = |from: Option<isize>, to: Option<isize>, step: isize| {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let bounds = (from.map_or(Unbounded, Included), to.map_or(Unbounded, Excluded));
        at(&x.slice(0, bounds, step).unwrap())
    };
    assert_eq!(slice(None, None, 3), [0, 3, 6, 9]);
    assert_eq!(slice(Some(2), Some(-2), 2), [2, 4, 6]);
    assert_eq!(slice(None, None, -1), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(slice(Some(8), Some(2), -2), [8, 6, 4]);
    assert_eq!(slice(Some(2), None, -1), [2, 1, 0]);
    assert!(slice(Some(5), Some(5), 1).is_empty());
    assert!(slice(Some(7), Some(3), 1).is_empty());
    assert!(slice(Some(10), None, 1).is_empty());
    assert_eq!(at(&x.slice(0, 3..=5, 1).unwrap()), [3, 4, 5]);
    assert_eq!(at(&x.slice(0, 5..=3, -1).unwrap()), [5, 4, 3]);
    assert_eq!(at(&x.slice(0, ..=-1, 4).unwrap()), [0, 4, 8]);
}

#[test]
fn reshape_without_a_copy() {
    let x = Layout::contiguous([2, 3, 4]).unwrap();
    let (a, b) = (|l: Layout| l.strides().to_vec(), |l: &Layout, s: &[isize]| l.reshape(s));
    assert_eq!(a(b(&x, &[6, 4]).unwrap()), [4, 1]);
    assert_eq!(a(b(&x, &[-1]).unwrap()), [1]);
    let columns = x.permute(&[0, 2, 1]).unwrap();
    assert_eq!(a(b(&columns, &[2, 2, 2, 3]).unwrap()), [12, 2, 1, 4]);
    assert_eq!(a(b(&columns, &[2, 4, 3, 1]).unwrap())[..3], [12, 1, 4]);
    assert!(b(&columns, &[8, 3]).is_err());
}

#[test]
fn reshape_splits_a_stretched_axis() {
    let x = Layout::contiguous([1]).unwrap().broadcast_to(&Shape::from([6])).unwrap();
    assert_eq!(x.reshape(&[2, 3]).unwrap().strides(), [0, 0]);
}

#[test]
fn empty_layouts_view_as_anything_empty() {
    let x = Layout::contiguous([3, 0, 2]).unwrap();
    assert_eq!(x.reshape(&[0, 7]).unwrap().shape(), &[0, 7]);
    assert_eq!(x.flip(1).unwrap().count(), 0);
    assert_eq!(x.slice(1, .., 2).unwrap().shape(), &[3, 0, 2]);
}

/// A chain of views, applied to a layout and to an independent model: nested indexes.
#[derive(Clone, Debug)]
enum View {
    Permute(u64),
    Slice { axis: usize, from: usize, to: usize, step: isize },
    Flip(usize),
    Unsqueeze(usize),
    Stretch(usize),
    Windows { axis: usize, length: usize, step: usize, dilation: usize },
}

fn views() -> impl Strategy<Value = Vec<View>> {
    let view = prop_oneof![
        any::<u64>().prop_map(View::Permute),
        (0..6usize, 0..9usize, 0..9usize, prop_oneof![1..4isize, -3..0isize])
            .prop_map(|(axis, from, to, step)| View::Slice { axis, from, to, step }),
        (0..6usize).prop_map(View::Flip),
        (0..6usize).prop_map(View::Unsqueeze),
        (1..4usize).prop_map(View::Stretch),
        (0..6usize, 0..4usize, 1..4usize, 1..3usize)
            .prop_map(|(axis, length, step, dilation)| View::Windows { axis, length, step, dilation }),
    ];
    prop::collection::vec(view, 0..7)
}

/// The model: a shape and its elements in row-major order.
struct Model {
    shape: Vec<usize>,
    elements: Vec<usize>,
}

impl Model {
    /// A model whose element at an index is this one's at the index that `source` names.
    fn remap(&self, shape: Vec<usize>, source: impl Fn(&[usize]) -> Vec<usize>) -> Model {
        let count: usize = shape.iter().product();
        let mut elements = Vec::with_capacity(count);
        for i in 0..count {
            let (mut rest, mut index) = (i, vec![0; shape.len()]);
            for k in (0..shape.len()).rev() {
                index[k] = rest % shape[k];
                rest /= shape[k];
            }
            let from = source(&index);
            let at = from.iter().zip(&self.shape).fold(0, |at, (&i, &n)| at * n + i);
            elements.push(self.elements[at]);
        }
        Model { shape, elements }
    }
}

/// Bounds have one of three types. A bound that is out of range for every axis is an ordinary error.
#[test]
fn slices_take_unsigned_bounds() {
    let layout = Layout::contiguous([6]).unwrap();
    let n = layout.shape()[0];
    let at = |layout: Layout| layout.addresses().collect::<Vec<_>>();
    assert_eq!(at(layout.slice(0, 1..n, 1).unwrap()), [1, 2, 3, 4, 5]);
    assert_eq!(at(layout.slice(0, ..=n - 4, 1).unwrap()), [0, 1, 2]);
    assert_eq!(at(layout.slice(0, -2_i32.., 1).unwrap()), [4, 5]);
    assert_eq!(at(layout.slice(0, -1_isize..2, -1).unwrap()), [5, 4, 3]);
    assert_eq!(at(layout.slice(0, .., -2).unwrap()), [5, 3, 1]);
    let error = layout.slice(0, usize::MAX.., 1).unwrap_err();
    assert!(error.message().contains("outside of axis 0 of [6], which has length 6"), "{error}");
}

proptest! {
    #[test]
    fn chains_of_views(shape in prop::collection::vec(0..5usize, 0..5), chain in views()) {
        let mut layout = Layout::contiguous(shape.clone()).unwrap();
        let count: usize = shape.iter().product();
        let mut model = Model { shape, elements: (0..count).collect() };
        for view in chain {
            let rank = model.shape.len();
            match view {
                View::Permute(seed) => {
                    let mut axes: Vec<usize> = (0..rank).collect();
                    for k in (1..rank).rev() {
                        axes.swap(k, (seed >> (8 * (k % 8))) as usize % (k + 1));
                    }
                    let signed: Vec<isize> = axes.iter().map(|&k| k as isize).collect();
                    layout = layout.permute(&signed).unwrap();
                    let shape = axes.iter().map(|&k| model.shape[k]).collect();
                    model = model.remap(shape, |index| {
                        let mut from = vec![0; rank];
                        axes.iter().zip(index).for_each(|(&k, &i)| from[k] = i);
                        from
                    });
                }
                View::Slice { axis, from, to, step } if rank > 0 => {
                    let k = axis % rank;
                    let n = model.shape[k];
                    let (from, to) = (from.min(n), to.min(n));
                    layout = layout.slice(k as isize, from as isize..to as isize, step).unwrap();
                    let picked: Vec<usize> = match step > 0 {
                        true => (from..to).step_by(step as usize).collect(),
                        false => (to + 1..=from.min(n.saturating_sub(1)))
                            .rev().step_by(step.unsigned_abs()).filter(|_| n > 0).collect(),
                    };
                    let mut shape = model.shape.clone();
                    shape[k] = picked.len();
                    model = model.remap(shape, |index| {
                        let mut from = index.to_vec();
                        from[k] = picked[index[k]];
                        from
                    });
                }
                View::Flip(axis) if rank > 0 => {
                    let k = axis % rank;
                    layout = layout.flip(k as isize).unwrap();
                    let n = model.shape[k];
                    model = model.remap(model.shape.clone(), |index| {
                        let mut from = index.to_vec();
                        from[k] = n - 1 - index[k];
                        from
                    });
                }
                View::Unsqueeze(axis) => {
                    let k = axis % (rank + 1);
                    layout = layout.unsqueeze(k as isize).unwrap();
                    let mut shape = model.shape.clone();
                    shape.insert(k, 1);
                    model = model.remap(shape, |index| {
                        let mut from = index.to_vec();
                        from.remove(k);
                        from
                    });
                }
                View::Stretch(n) => {
                    let mut shape = vec![n];
                    shape.extend(model.shape.iter().map(|&own| if own == 1 { n } else { own }));
                    layout = layout.broadcast_to(&Shape::from(shape.clone())).unwrap();
                    let own = model.shape.clone();
                    model = model.remap(shape, |index| {
                        let inner = index[1..].iter().zip(&own);
                        inner.map(|(&i, &n)| if n == 1 { 0 } else { i }).collect()
                    });
                }
                View::Windows { axis, length, step, dilation } if rank > 0 => {
                    let k = axis % rank;
                    let [own, at, by, apart] = [length, k, step, dilation].map(|n| [n as isize]);
                    let windows = layout.windows(&own, &at, &by, &apart);
                    let span = (length.max(1) - 1) * dilation + 1;
                    let begins = |i: &usize| i + span <= model.shape[k];
                    let starts: Vec<usize> = (0..=model.shape[k]).step_by(step).filter(begins).collect();
                    prop_assert_eq!(windows.is_err(), length == 0 || starts.is_empty());
                    let Ok(windows) = windows else { continue };
                    layout = windows;
                    let mut shape = model.shape.clone();
                    shape[k] = starts.len();
                    shape.push(length);
                    model = model.remap(shape, |index| {
                        let mut from = index[..rank].to_vec();
                        from[k] = starts[index[k]] + index[rank] * dilation;
                        from
                    });
                }
                _ => {}
            }
            prop_assert_eq!(layout.shape().to_vec(), model.shape.clone());
        }
        prop_assert_eq!(at(&layout), model.elements.clone());

        // Reading through the layout agrees, and so does a reshape where there is one.
        let x = Device::cpu().upload(&(0..count as u32).collect::<Vec<_>>(), [count]).unwrap();
        let view = x.as_strided(layout.shape().clone(), layout.strides(), layout.offset());
        if view.shape().is_ok() {
            let read: Vec<usize> = view.to_vec().unwrap().into_iter().map(|v| v as usize).collect();
            prop_assert_eq!(&read, &model.elements);
            if let Ok(flat) = layout.reshape(&[-1]) {
                prop_assert_eq!(at(&flat), model.elements);
            }
        }
    }
}
