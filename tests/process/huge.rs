//! Tensors larger than every buffer of an adapter: gigabytes.

use std::time::Instant;

use crate::common::{cannot_run, found, open};
use zerostride::{Device, Expr, Tensor};

const GIB: usize = 1 << 30;

/// Bytes that the system has for new processes, if it reports them.
fn available() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().trim_end_matches(" kB").parse::<usize>().ok().map(|kilobytes| kilobytes << 10)
}

/// Rows of a length, more bytes of f32 than any buffer of 2 GiB holds.
const ROWS: usize = 36_000;
const COLUMNS: usize = 16_668;

/// f32 of 2.4 GB plus a row, and reads of it.
fn floats_and_a_row(device: &Device) {
    let row: Vec<f32> = (0..COLUMNS).map(|i| (i % 1000) as f32 * 0.5).collect();
    let row = device.upload(&row, [COLUMNS]).unwrap();
    let column = Expr::iota([ROWS, 1], 0).cast::<f32>();
    let x: Tensor<f32> = (column * 2.0).broadcast_to([ROWS, COLUMNS]).eval_on(device).unwrap();
    assert!(x.layout().count() * 4 > 2_400_000_000 - 1_000_000);
    let sum = (&x + &row).eval().unwrap();
    drop(x);
    let element = |i: usize, k: usize| 2.0 * i as f32 + (k % 1000) as f32 * 0.5;
    // Whole rows here and there, the ends of buffers of 1 and 2 GiB among them, and columns.
    let ends = [GIB, 2 * GIB - 1].map(|byte| byte / 4 / COLUMNS);
    for i in [0, 1, 777, ROWS - 1].into_iter().chain(ends.into_iter().flat_map(|i| [i - 1, i, i + 1])) {
        let got = sum.slice(0, i as isize..i as isize + 1).to_vec().unwrap();
        assert!(got.iter().enumerate().all(|(k, &x)| x == element(i, k)), "row {i} on {}", device.name());
    }
    for k in [0, COLUMNS / 2, COLUMNS - 1] {
        let got = sum.slice(1, k as isize..k as isize + 1).to_vec().unwrap();
        assert!(got.iter().enumerate().all(|(i, &x)| x == element(i, k)), "column {k} on {}", device.name());
    }
    // More than is on its way at a time, across the end of a buffer.
    let (first, count) = (ends[0] - 3000, 6000);
    let mut part = vec![0.0; count * COLUMNS];
    sum.slice(0, first as isize..(first + count) as isize).read_into(&mut part).unwrap();
    let right = |(i, &x): (usize, &f32)| x == element(first + i / COLUMNS, i % COLUMNS);
    assert!(part.iter().enumerate().all(right), "{}", device.name());
}

/// u8 of a number of MiB plus 4 bytes, in place.
fn bytes_and_a_number(device: &Device, rows: usize) {
    let columns = 1 << 20;
    let x = device.zeros::<u8>([rows, columns]).unwrap();
    let row = |i: usize| x.slice(0, i as isize..i as isize + 1);
    let marked = [0, 1, 1022, 1023, 1024, 2046, 2047, 2048, rows - 1];
    marked.iter().for_each(|&i| row(i).assign((i % 200) as u8).unwrap());
    x.assign(&x + 4_u8).unwrap();
    let value = |i: usize| if marked.contains(&i) { (i % 200) as u8 + 4 } else { 4 };
    for i in marked.into_iter().chain([2, 1021, 1025, 2045, 2049]) {
        let got = row(i).to_vec().unwrap();
        assert!(got.iter().all(|&x| x == value(i)), "row {i} on {}", device.name());
    }
    let column = x.slice(1, -1..).to_vec().unwrap();
    assert!(column.iter().enumerate().all(|(i, &x)| x == value(i)), "{}", device.name());
}

fn on_each(gigabytes: usize, test: impl Fn(&Device)) {
    for adapter in found() {
        if available().is_some_and(|bytes| bytes < gigabytes * GIB) {
            cannot_run(&format!("{} GB on {}: the machine has fewer to spare", gigabytes, adapter.name));
            continue;
        }
        let start = Instant::now();
        // Of its own, so that all of its memory goes with it.
        test(&open(&adapter));
        println!("{}: {:?}", adapter.name, start.elapsed());
    }
}

/// One after the other, as there is not memory for all.
#[test]
#[ignore = "takes gigabytes: scripts/test --all runs it"]
fn tensors_larger_than_any_buffer() {
    on_each(6, floats_and_a_row);
    on_each(4, |device| bytes_and_a_number(device, 2100));
}

#[test]
#[ignore = "takes a minute for each adapter"]
fn five_gibibytes() {
    on_each(7, |device| bytes_and_a_number(device, 5 << 10));
}
