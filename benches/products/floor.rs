//! Loops by hand, on one thread for each half of the work: what mul and add take, each rounded, in the order of the
//! contract. Matrices are packed already, so that nothing but arithmetic is timed.

use std::hint::black_box;
use std::thread;

use crate::common::Work;

const ROWS: usize = 6;
const COLUMNS: usize = 16;
const CHUNK: usize = 64;

/// The sums of a tile over packed panels of as many products.
#[inline(always)]
fn tile(left: &[[f32; ROWS]], right: &[[f32; COLUMNS]]) -> [[f32; COLUMNS]; ROWS] {
    let mut totals = [[0.0; COLUMNS]; ROWS];
    for (left, right) in left.chunks(CHUNK).zip(right.chunks(CHUNK)) {
        let mut sums = [[0.0; COLUMNS]; ROWS];
        for (left, right) in left.iter().zip(right) {
            for (sums, a) in sums.iter_mut().zip(left) {
                for (sum, b) in sums.iter_mut().zip(right) {
                    *sum += a * b;
                }
            }
        }
        for (total, sum) in totals.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
            *total += sum;
        }
    }
    totals
}

/// All tiles of a matrix, by the widest vectors that the loops of the crate use.
#[inline(always)]
fn tiles(panels: [usize; 2], left: &[[f32; ROWS]], right: &[[f32; COLUMNS]]) {
    let depth = left.len() / panels[0];
    for right in right.chunks(depth) {
        for left in left.chunks(depth) {
            black_box(tile(left, right));
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn by_vectors(panels: [usize; 2], left: &[[f32; ROWS]], right: &[[f32; COLUMNS]]) {
    #[target_feature(enable = "avx2")]
    fn wide(panels: [usize; 2], left: &[[f32; ROWS]], right: &[[f32; COLUMNS]]) {
        tiles(panels, left, right);
    }
    match std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions.
        true => unsafe { wide(panels, left, right) },
        false => tiles(panels, left, right),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn by_vectors(panels: [usize; 2], left: &[[f32; ROWS]], right: &[[f32; COLUMNS]]) {
    tiles(panels, left, right);
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The tiles of one of as many parts as there are threads, of some products of square matrices. Its time is that of all
/// parts if each has a processor.
pub(crate) fn products(count: usize, n: usize) -> Work {
    let panels = [n.div_ceil(ROWS), n.div_ceil(COLUMNS)];
    let (left, right) = (vec![[0.5; ROWS]; panels[0] * n], vec![[0.25; COLUMNS]; panels[1] * n]);
    Box::new(move || {
        // A matrix in parts of rows, or whole matrices.
        let (matrices, rows) = if count == 1 {
            (1, panels[0].div_ceil(threads()))
        } else {
            (count.div_ceil(threads()), panels[0])
        };
        for _ in 0..matrices {
            by_vectors([rows, panels[1]], black_box(&left[..rows * n]), black_box(&right));
        }
        Ok(())
    })
}

pub(crate) fn product(n: usize) -> Work {
    products(1, n)
}

/// Reads as many numbers, on all threads.
pub(crate) fn read(count: usize) -> Work {
    let numbers = vec![1_u32; count];
    Box::new(move || {
        thread::scope(|scope| {
            for part in numbers.chunks(count.div_ceil(threads())) {
                scope.spawn(|| black_box(part.iter().fold(0_u32, |all, own| all.wrapping_add(*own))));
            }
        });
        Ok(())
    })
}
