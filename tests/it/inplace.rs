//! `assign`: the shape rule, views as destinations, and overlap as if operands were read first.

#![allow(clippy::reversed_empty_ranges)] // a negative bound counts from the end

use crate::common::{Random, on_every_device};
use zerostride::{AssignAll, Device, Element, Expr, Result, Tensor, f16};

fn counting(device: &Device, n: usize) -> Result<Tensor<i32>> {
    device.upload(&(0..n as i32).collect::<Vec<_>>(), [n])
}

#[test]
fn destination_keeps_its_shape() {
    on_every_device(|device| {
        let x = counting(device, 6).unwrap().reshape([2, 3]);
        let row = device.upload(&[10, 20, 30], [3]).unwrap();
        x.assign(&x + &row).unwrap();
        assert_eq!(x.to_vec().unwrap(), [10, 21, 32, 13, 24, 35]);
        x.assign(7).unwrap();
        assert_eq!(x.to_vec().unwrap(), [7; 6]);
        let empty = device.zeros::<i32>([0]).unwrap();
        empty.assign(device.zeros::<i32>([1]).unwrap()).unwrap();
    });
}

#[test]
fn no_elements_from_another_view_of_them() {
    on_every_device(|device| {
        let x = device.zeros::<u16>([4, 0]).unwrap();
        x.slice(0, ..2).assign(x.slice(0, 2..)).unwrap();
        x.slice(0, ..2).assign(x.slice(0, 2..).flip(0) + 1_u16).unwrap();
    });
}

#[test]
fn overlapping_sources_are_read_first() {
    on_every_device(|device| {
        let x = counting(device, 10).unwrap();
        let even = x.slice_step(0, .., 2);
        even.assign(&even + x.slice(0, ..5)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [0, 1, 3, 3, 6, 5, 9, 7, 12, 9]);

        let x = counting(device, 1000).unwrap();
        x.slice(0, 1..).assign(x.slice(0, ..-1)).unwrap();
        assert_eq!(x.to_vec().unwrap(), (0..1000).map(|i| (i - 1).max(0)).collect::<Vec<_>>());

        let x = counting(device, 777).unwrap();
        x.assign(x.flip(0)).unwrap();
        assert_eq!(x.to_vec().unwrap(), (0..777).rev().collect::<Vec<_>>());

        let square = counting(device, 64 * 64).unwrap().reshape([64, 64]);
        square.assign(&square + square.transpose(0, 1)).unwrap();
        let expected = (0..64 * 64).map(|i| i + (i % 64) * 64 + i / 64).collect::<Vec<_>>();
        assert_eq!(square.to_vec().unwrap(), expected);
    });
}

#[test]
fn disjoint_halves_need_no_temporary_but_agree() {
    on_every_device(|device| {
        let x = counting(device, 96).unwrap();
        let (low, high) = (x.slice(0, ..48), x.slice(0, 48..));
        low.assign(&low * 2 + &high).unwrap();
        let expected: Vec<i32> = (0..48).map(|i| i * 3 + 48).chain(48..96).collect();
        assert_eq!(x.to_vec().unwrap(), expected);
    });
}

/// Small elements share words with elements beside the destination, which must stay: views of every
/// kind, and layouts whose axes interleave, against the CPU path.
#[test]
fn packed_destinations_keep_what_is_beside() {
    fn check<T: Element + PartialEq>(device: &Device, seed: u64, of: impl Fn(u64) -> T) {
        let mut random = Random(seed);
        for _ in 0..40 {
            let shape = [1 + random.below(5), 1 + random.below(9), 1 + random.below(40)];
            let count = shape.iter().product();
            let old: Vec<T> = (0..count).map(|_| of(random.next())).collect();
            let new: Vec<T> = (0..count).map(|_| of(random.next())).collect();
            let steps: Vec<isize> = shape.iter().map(|_| [1, 1, 2, 3, 5, -1, -2][random.below(7)]).collect();
            let starts: Vec<isize> = shape.iter().map(|&n| random.below(n) as isize).collect();
            let turn = random.below(3) as isize;
            let interleaved = random.chance(20) && count > 40;
            let run = |device: &Device| -> Result<Vec<T>> {
                let x = device.upload(&old, shape)?;
                let y = device.upload(&new, shape)?;
                let (mut to, mut from) = (x.expr(), y.expr());
                for (axis, (&step, &start)) in (0..).zip(steps.iter().zip(&starts)) {
                    let part = |x: &Expr<T>| x.slice(axis, start..).slice_step(axis, .., step);
                    (to, from) = (part(&to), part(&from));
                }
                to = to.transpose(turn, 2);
                if interleaved {
                    // 3, 5, 7, ... and 20, 22, 24, ...: addresses differ, steps do not nest.
                    (to, from) = (x.as_strided([2, 3], &[2, 3], 3), y.as_strided([2, 3], &[1, 2], 1));
                } else {
                    from = from.transpose(turn, 2);
                }
                to.assign(&from)?;
                to.slice(0, ..1).assign(from.slice(0, ..1))?;
                x.to_vec()
            };
            assert!(run(device).unwrap() == run(&Device::cpu()).unwrap(), "{shape:?} {starts:?} {steps:?}");
        }
    }
    on_every_device(|device| {
        check::<u8>(device, 1, |bits| bits as u8);
        check::<bool>(device, 2, |bits| bits & 1 == 1);
        check::<i16>(device, 3, |bits| bits as i16);
        check::<f16>(device, 4, |bits| f16::from_f32(bits as u8 as f32));
        check::<f32>(device, 5, |bits| bits as u8 as f32);
    });
}

/// Bytes that share words with elements outside of the destination.
#[test]
fn packed_destinations_leave_their_neighbours() {
    on_every_device(|device| {
        let mut random = Random(11);
        for _ in 0..60 {
            let (rows, columns) = (1 + random.below(9), 1 + random.below(23));
            let before: Vec<u8> = (0..rows * columns).map(|i| (i * 7 + 1) as u8).collect();
            let x = device.upload(&before, [rows, columns]).unwrap();
            let (top, left) = (random.below(rows), random.below(columns));
            let step = 1 + random.below(3) as isize;
            let view = x.slice(0, top as isize..).slice_step(1, left as isize.., step);
            view.assign(&view + 100_u8).unwrap();
            let expected: Vec<u8> = (0..rows * columns)
                .map(|i| {
                    let (row, column) = (i / columns, i % columns);
                    let inside = row >= top && column >= left && (column - left) % step as usize == 0;
                    if inside { before[i].wrapping_add(100) } else { before[i] }
                })
                .collect();
            assert_eq!(x.to_vec().unwrap(), expected, "{rows} x {columns} from {top}, {left} by {step}");
        }
    });
}

#[test]
fn bool_masks_in_place() {
    on_every_device(|device| {
        let mask = device.upload(&[true, false, true, false, true, true, false], [7]).unwrap();
        let odd = mask.slice_step(0, 1.., 2);
        odd.assign(!&odd).unwrap();
        assert_eq!(mask.to_vec().unwrap(), [true, true, true, true, true, false, false]);
    });
}

#[test]
fn permuted_and_reversed_destinations() {
    on_every_device(|device| {
        let x = device.zeros::<f32>([30, 40]).unwrap();
        let view = x.transpose(0, 1).flip(0);
        let values = device.upload(&(0..1200).map(|i| i as f32).collect::<Vec<_>>(), [40, 30]).unwrap();
        view.assign(&values).unwrap();
        assert_eq!(view.to_vec().unwrap(), values.to_vec().unwrap());
        let expected: Vec<f32> = (0..1200).map(|i| ((39 - i % 40) * 30 + i / 40) as f32).collect();
        assert_eq!(x.to_vec().unwrap(), expected);
    });
}

#[test]
fn order_of_assignments_is_that_of_the_calls() {
    on_every_device(|device| {
        let x = counting(device, 5).unwrap();
        let later = &x * 10;
        let before = later.eval().unwrap();
        x.assign(&x + 1).unwrap();
        x.assign(&x * 2).unwrap();
        // An expression reads its tensors when it is evaluated.
        assert_eq!(before.to_vec().unwrap(), [0, 10, 20, 30, 40]);
        assert_eq!(later.to_vec().unwrap(), [20, 40, 60, 80, 100]);
    });
}

#[test]
fn uploads_do_not_overtake_recorded_work() {
    on_every_device(|device| {
        for round in 0..50 {
            let x = device.upload(&vec![round; 300], [300]).unwrap();
            let y = (&x + 1).eval().unwrap();
            drop(x);
            // May reuse the buffer of x, which the recorded addition still has to read.
            let z = device.upload(&vec![-1; 300], [300]).unwrap();
            assert_eq!(y.to_vec().unwrap(), vec![round + 1; 300]);
            assert_eq!(z.to_vec().unwrap(), vec![-1; 300]);
        }
    });
}

/// Stored expressions that are read under another shape, into destinations whose elements lie apart.
#[test]
fn what_is_stored_goes_to_its_places() {
    on_every_device(|device| {
        fn written<T: Element>(device: &Device, of: impl Fn(u8) -> T) {
            let values: Vec<T> = [1, 0, 1, 1, 0, 0].map(&of).to_vec();
            let known = |wide: &Tensor<T>| (wide.to_vec().unwrap(), device.name());
            // Stored, folded, and joined; none of them of the shape that it is written as.
            let x = device.upload(&values, [3, 2]).unwrap();
            let joined = Expr::concat(&[x.slice(0, ..1), x.slice(0, 1..)], 0);
            for value in [x.expr().shared(), joined.clone(), joined.shared()] {
                for shape in [&[1, 3, 1, 2][..], &[3, 2, 1], &[6], &[2, 3]] {
                    let lengths: Vec<isize> = shape.iter().map(|&n: &usize| n as isize).collect();
                    let value = value.reshape(&lengths);
                    // Every third element from the second on, then a part of rows.
                    let wide = device.upload(&[of(0); 20], [20]).unwrap();
                    let part = wide.slice_step(0, 1..19, 3).reshape(&lengths);
                    part.assign(&value).unwrap();
                    let mut expected = vec![of(0); 20];
                    (0..6).for_each(|i| expected[1 + 3 * i] = values[i]);
                    assert_eq!(known(&wide), (expected.clone(), device.name()), "{shape:?}");
                    wide.assign(Expr::scalar(of(0))).unwrap();
                    let all = part.tensor().unwrap();
                    (&all, &x).assign_all((&value, Expr::scalar(of(1)))).unwrap();
                    assert_eq!(known(&wide), (expected, device.name()), "{shape:?}");
                    x.write(&values).unwrap();
                    all.warm_up_assign(&value).unwrap();
                }
            }
        }
        written(device, |i| i != 0);
        written(device, |i| i);
        written(device, f32::from);
    });
}

/// Rows with gaps between them are read and written in place. Elements around a view stay.
#[test]
fn inner_views_are_written_by_rows() {
    on_every_device(|device| {
        for [rows, columns] in [[90, 200], [3, 70], [5, 9000], [70, 5]] {
            let count = rows * columns;
            let numbers = |step: usize| (0..count).map(|i| (i * step % 251) as i32).collect::<Vec<_>>();
            let (x, a, b) = (numbers(7), numbers(11), numbers(13));
            let to = device.upload(&x, [rows, columns]).unwrap();
            let other = device.upload(&a, [rows, columns]).unwrap();
            let turned = device.upload(&b, [columns, rows]).unwrap();
            let row = other.slices((..1, 1..-1));
            let column = other.slices((1..-1, ..1));
            let inner = to.slices((1..-1, 1..-1));
            let mut expected = x;
            // A plan is kept from the second time on.
            for _ in 0..3 {
                let around = other.slices((..-2, 1..-1)) + other.slices((1..-1, 2..)) * 3;
                let turned = turned.transpose(0, 1).slices((1..-1, 1..-1));
                inner.assign((&inner - around) + turned * &row + &column).unwrap();
                inner
                    .assign(
                        (&inner + inner.flip(1).rem(1) + Expr::iota([rows - 2, columns - 2], 1)).rem(1009),
                    )
                    .unwrap();
                for i in 1..rows - 1 {
                    for j in 1..columns - 1 {
                        let at = i * columns + j;
                        let around = a[at - columns] + a[at + 1] * 3;
                        let value = expected[at] - around + b[j * rows + i] * a[j] + a[i * columns];
                        expected[at] = (value + j as i32 - 1) % 1009;
                    }
                }
                assert!(to.to_vec().unwrap() == expected, "{rows} x {columns}");
            }
            inner.assign(other.slices((1..-1, 1..-1))).unwrap();
            inner.slice(0, ..1).assign(5).unwrap();
            for i in 1..rows - 1 {
                let row = i * columns + 1..(i + 1) * columns - 1;
                match i {
                    1 => expected[row].fill(5),
                    _ => expected[row.clone()].copy_from_slice(&a[row]),
                }
            }
            assert!(to.to_vec().unwrap() == expected, "{rows} x {columns}");
        }
    });
}
