//! `assign`: the shape rule, views as destinations, and overlap as if sources were read first.

mod common;

use common::{Random, on_every_device};
use zerostride::{Device, Result, Tensor};

fn counting(device: &Device, n: usize) -> Result<Tensor<i32>> {
    device.upload(&(0..n as i32).collect::<Vec<_>>(), [n])
}

#[test]
fn destination_keeps_its_shape() {
    on_every_device(|device| {
        let x = counting(device, 6).unwrap().reshape([2, 3]).unwrap();
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
fn overlapping_sources_are_read_first() {
    on_every_device(|device| {
        let x = counting(device, 10).unwrap();
        let even = x.slice_step(0, .., 2).unwrap();
        even.assign(&even + x.slice(0, ..5).unwrap()).unwrap();
        assert_eq!(x.to_vec().unwrap(), [0, 1, 3, 3, 6, 5, 9, 7, 12, 9]);

        let x = counting(device, 1000).unwrap();
        x.slice(0, 1..).unwrap().assign(x.slice(0, ..-1).unwrap()).unwrap();
        assert_eq!(x.to_vec().unwrap(), (0..1000).map(|i| (i - 1).max(0)).collect::<Vec<_>>());

        let x = counting(device, 777).unwrap();
        x.assign(x.flip(0).unwrap()).unwrap();
        assert_eq!(x.to_vec().unwrap(), (0..777).rev().collect::<Vec<_>>());

        let square = counting(device, 64 * 64).unwrap().reshape([64, 64]).unwrap();
        square.assign(&square + square.transpose(0, 1).unwrap()).unwrap();
        let expected = (0..64 * 64).map(|i| i + (i % 64) * 64 + i / 64).collect::<Vec<_>>();
        assert_eq!(square.to_vec().unwrap(), expected);
    });
}

#[test]
fn disjoint_halves_need_no_temporary_but_agree() {
    on_every_device(|device| {
        let x = counting(device, 96).unwrap();
        let (low, high) = (x.slice(0, ..48).unwrap(), x.slice(0, 48..).unwrap());
        low.assign(&low * 2 + &high).unwrap();
        let expected: Vec<i32> = (0..48).map(|i| i * 3 + 48).chain(48..96).collect();
        assert_eq!(x.to_vec().unwrap(), expected);
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
            let view = x.slice(0, top as isize..).unwrap().slice_step(1, left as isize.., step).unwrap();
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
        let odd = mask.slice_step(0, 1.., 2).unwrap();
        odd.assign(!&odd).unwrap();
        assert_eq!(mask.to_vec().unwrap(), [true, true, true, true, true, false, false]);
    });
}

#[test]
fn permuted_and_reversed_destinations() {
    on_every_device(|device| {
        let x = device.zeros::<f32>([30, 40]).unwrap();
        let view = x.transpose(0, 1).unwrap().flip(0).unwrap();
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
