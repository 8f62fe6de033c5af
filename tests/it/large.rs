//! Results larger than every cache have, on the CPU path, the bits of their rows one by one: it stores them past the
//! cache. And reductions whose passes store more than a kernel binds.

use crate::common::{adapters, on_every_device};
use zerostride::{Device, Element, Expr, Result, Tensor, f16};

/// Bytes from which a result is large.
const LARGE: usize = 16 << 20;

/// Columns: rows neither begin where a cache line does nor end with a part of a block.
const COLUMNS: usize = 4099;

fn values(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919) % 10_007) as f32 / 64.0 - 40.0).collect()
}

/// Evaluates `f` of operands whole, and of slices of a few rows, which are not large.
fn check<T: Element + PartialEq>(name: &str, f: impl Fn(&[Tensor<f32>]) -> Result<Expr<T>>) {
    let device = Device::cpu();
    let rows = LARGE / size_of::<T>() / COLUMNS + 1;
    let operands = [
        device.upload(&values(rows * COLUMNS), [rows, COLUMNS]).unwrap(),
        device
            .upload(&values(COLUMNS), [1, COLUMNS])
            .unwrap()
            .broadcast_to([rows, COLUMNS])
            .tensor()
            .unwrap(),
        device.upload(&values(rows), [rows, 1]).unwrap().broadcast_to([rows, COLUMNS]).tensor().unwrap(),
    ];
    let whole = f(&operands).unwrap().to_vec().unwrap();
    assert!(size_of_val(&whole[..]) >= LARGE);
    for (i, part) in whole.chunks(61 * COLUMNS).enumerate() {
        let first = (i * 61) as isize;
        let range = first..first + (part.len() / COLUMNS) as isize;
        let slices = operands.each_ref().map(|operand| operand.slice(0, range.clone()).tensor().unwrap());
        assert!(f(&slices).unwrap().to_vec().unwrap() == part, "{name}, rows {range:?}");
    }
}

#[test]
fn large_results_are_as_their_rows() {
    check("sum", |x| Ok(&x[0] + &x[1]));
    check("pair", |x| Ok((&x[0] - &x[2]) * &x[1]));
    check("one loop of three operands", |x| Ok(x[0].gt(&x[1]).select(&x[2], &x[0])));
    check("one element a row", |x| Ok(&x[2] + 1.0));
    check("one element", |x| Ok(x[0].expr() * 0.0 + 1.5));
    check("no step", |x| Ok(x[1].expr()));
    check("many steps", |x| Ok(((&x[0] + &x[1]).abs().sqrt() * &x[2] - 1.0).relu() / 3.0));
    check("reversed", |x| Ok(&x[0].flip(1) + &x[1]));
    check("both ways", |x| Ok(&x[0].flip(1) * &x[0]));
}

#[test]
fn large_results_of_other_types_are_as_their_rows() {
    check::<f16>("f16", |x| Ok((&x[0] + &x[1]).cast()));
    check::<u8>("u8", |x| Ok((&x[0] * &x[1]).cast()));
    check::<bool>("bool", |x| Ok(x[0].lt(&x[2])));
    check::<f64>("f64", |x| Ok(x[0].cast::<f64>() * x[1].cast()));
}

/// Neighbours of a part of a storage stay as they are.
#[test]
fn large_assignments_end_where_they_should() {
    let device = Device::cpu();
    let count = LARGE / 4;
    let whole = device.zeros::<f32>([count + 6]).unwrap();
    let x = device.upload(&values(count), [count]).unwrap();
    whole.slice(0, 3..count as isize + 3).assign(&x + 1000.0).unwrap();
    let got = whole.to_vec().unwrap();
    assert_eq!((&got[..3], &got[count + 3..]), (&[0.0; 3][..], &[0.0; 3][..]));
    assert!(got[3..count + 3].iter().zip(values(count)).all(|(a, b)| *a == b + 1000.0));
}

/// Operands whose rows lie across memory, of every size of element: squares, parts of squares, and batches.
#[test]
fn turned_operands_are_read_where_they_lie() {
    fn check<T: Element + PartialEq>(batch: usize, rows: usize, columns: usize) {
        let device = Device::cpu();
        let count = batch * rows * columns;
        let x = device.upload(&values(count), [batch, columns, rows]).unwrap().cast::<T>().eval().unwrap();
        let elements = x.to_vec().unwrap();
        let turned = x.transpose(1, 2);
        let got = turned.to_vec().unwrap();
        let at = |i: usize| {
            let (plane, r, c) = (i / (rows * columns), i / columns % rows, i % columns);
            elements[(plane * columns + c) * rows + r]
        };
        assert!(
            got.iter().enumerate().all(|(i, &x)| x == at(i)),
            "{batch} x {rows} x {columns} {}",
            T::DTYPE
        );
    }
    for (batch, rows, columns) in [(1, 256, 512), (1, 301, 1027), (3, 65, 70), (1, 5, 40_000), (2, 130, 17)] {
        check::<u8>(batch, rows, columns);
        check::<u16>(batch, rows, columns);
        check::<f32>(batch, rows, columns);
        check::<f64>(batch, rows, columns);
    }
}

/// Views by steps of any size, forwards and backwards.
#[test]
fn steps_are_gathered() {
    let device = Device::cpu();
    let elements = values(100_003);
    let x = device.upload(&elements, [elements.len()]).unwrap();
    for step in [2, 3, 4, 5, 17, -1, -2, -3, -4, -19_isize] {
        let got = (x.slice_step(0, .., step) + 0.0).to_vec().unwrap();
        let mut from = elements.clone();
        if step < 0 {
            from.reverse();
        }
        let expected: Vec<f32> = from.into_iter().step_by(step.unsigned_abs()).collect();
        assert_eq!(got, expected, "step {step}");
    }
}

/// Results few enough for a binding of 128 MiB, and passes that store more.
#[test]
fn partial_results_larger_than_a_binding() {
    for device in adapters() {
        let (rows, columns) = ((1 << 19) + 1, 1024);
        let ones = device.full([columns], 1.0_f32).unwrap().broadcast_to([rows, columns]);
        let sums = ones.sum(-1).to_vec().unwrap();
        assert!(sums.len() == rows && sums.iter().all(|&sum| sum == 1024.0), "{}", device.name());
    }
}

/// What passes store is written and read, and counted so.
#[test]
fn explain_counts_what_passes_move() {
    for device in adapters() {
        let row = device.zeros::<f32>([20_000]).unwrap();
        let explained = (row.broadcast_to([300, 20_000]) * 2.0).sum(1).explain(device).unwrap().to_string();
        let number = |text: &str| text.split(' ').next().unwrap().parse::<usize>().unwrap();
        let after = |line: &str, word: &str| line.split_once(word).map(|(_, rest)| number(rest));
        let stored = explained.lines().filter(|line| line.starts_with("pass ")).map(|line| {
            match line.contains("partial results") {
                true => 300 * after(line, "then ").unwrap(),
                false => 300,
            }
        });
        let stored: Vec<usize> = stored.collect();
        let moved = explained.lines().find_map(|line| after(line, "moves: ")).unwrap();
        let kernels = explained.lines().find_map(|line| after(line, "runs: ")).unwrap();
        assert_eq!(kernels, stored.len(), "{explained}");
        assert_eq!(moved, 4 * (20_000 + 2 * stored.iter().sum::<usize>() - 300), "{explained}");
        let short = row.slice(0, ..16).sum(0).explain(device).unwrap().to_string();
        let last = short.lines().rfind(|line| !line.starts_with("on: "));
        assert_eq!(last, Some("runs: 1 kernel, as above"), "{short}");
    }
}

/// More blocks than a kernel reduces at once.
#[test]
fn many_blocks_have_the_bits_of_the_cpu_path() {
    let count = (8 << 20) + 5 * 1024 + 777;
    let all: Vec<f32> = (0..count).map(|i| (i % 8191) as f32 * 1.37e-3 - 5.0).collect();
    let sum = |device: &Device| device.upload(&all, [count]).unwrap().sum(0).eval().unwrap().item().unwrap();
    let expected = sum(&Device::cpu());
    on_every_device(|device| {
        assert_eq!(sum(device).to_bits(), expected.to_bits(), "{}", device.name());
    });
}
