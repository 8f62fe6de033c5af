//! Every access and every store of kernels, at sizes around vectors, rows of an invocation and workgroups: the bits of
//! the CPU path.

use crate::common::depth::depth;
use crate::common::{Random, adapters, check_kernels, in_turn};
use zerostride::{Device, Element, Expr, Result, Tensor, f16};

const INNER: &[usize] = &[1, 3, 4, 15, 16, 17, 20, 62, 64, 67, 260];
const ROWS: &[usize] = &[1, 2, 3, 4, 5, 7, 8, 9, 17];
const OUTER: &[usize] = &[1, 2, 3];

/// A view of the given shape, made in one of many ways, whose elements say where they are from.
fn view<T: Element>(
    device: &Device,
    shape: [usize; 3],
    kind: usize,
    of: fn(usize) -> T,
) -> Result<Tensor<T>> {
    let [outer, rows, inner] = shape;
    let numbered = |shape: [usize; 3]| -> Result<Tensor<T>> {
        let count = shape.iter().product();
        device.upload(&(0..count).map(of).collect::<Vec<T>>(), shape)
    };
    match kind {
        0 => numbered(shape),
        // Stretched along each axis, and along two.
        1 => numbered([1, 1, inner])?.broadcast_to(shape).tensor(),
        2 => numbered([1, rows, 1])?.broadcast_to(shape).tensor(),
        3 => numbered([outer, 1, inner])?.broadcast_to(shape).tensor(),
        4 => numbered([1, 1, 1])?.broadcast_to(shape).tensor(),
        // Turned: transposed, and channels last.
        5 => numbered([outer, inner, rows])?.transpose(1, 2).tensor(),
        6 => numbered([inner, outer, rows])?.permute([1, 2, 0]).tensor(),
        // Going back, along each axis and all.
        7 => numbered(shape)?.flip(2).tensor(),
        8 => numbered(shape)?.flip(0).flip(1).flip(2).tensor(),
        9 => numbered(shape)?.flip(1).tensor(),
        // Off the vectors, and with gaps.
        10 => numbered([outer, rows, inner + 1])?.slice(2, 1..).tensor(),
        11 => numbered([outer, rows, inner + 4])?.slice(2, 4..).tensor(),
        12 => numbered([outer, rows, 2 * inner])?.slice_step(2, .., 2).tensor(),
        13 => numbered([outer, 3 * rows, inner])?.slice_step(1, .., 3).tensor(),
        14 => numbered([outer, rows, 2 * inner])?.slice_step(2, .., -2).tensor(),
        15 => numbered([outer, rows, 2 * inner])?.slice_step(2, 1.., 2).tensor(),
        16 => numbered([outer, rows, 3 * inner])?.slice_step(2, 2.., 3).tensor(),
        17 => numbered([outer, rows, 2 * inner + 6])?.slice_step(2, 6.., 2).tensor(),
        // All next to each other, from anywhere on.
        _ => numbered([outer + 1, rows, inner])?.slice(0, 1..).tensor(),
    }
}

const KINDS: usize = 19;

fn check<T: Element>(of: fn(usize) -> T, add: fn(&Expr<T>, &Expr<T>) -> Expr<T>, cases: usize, seed: u64) {
    let mut random = Random(seed);
    for case in 0..cases {
        let pick = |random: &mut Random, from: &[usize]| from[random.below(from.len())];
        let shape = [pick(&mut random, OUTER), pick(&mut random, ROWS), pick(&mut random, INNER)];
        // Every kind in turn, with another.
        let (first, second) = (case % KINDS, random.below(KINDS));
        let target = random.below(KINDS + 6);
        let run = |device: &Device| -> Result<Vec<T>> {
            let x = view(device, shape, first, of)?.expr();
            let y = view(device, shape, second, of)?.expr();
            let sum = add(&x, &y);
            // Into a view of a storage, or a new one.
            match target {
                0 | 5..KINDS => {
                    let to = view(device, shape, target, of)?;
                    to.assign(add(&sum, &to.expr()))?;
                    to.to_vec()
                }
                _ => sum.to_vec(),
            }
        };
        let expected = run(&Device::cpu()).unwrap();
        let has_type = |device: &&Device| device.supports(T::DTYPE).is_ok();
        for device in in_turn(case).skip(1).filter(has_type) {
            assert!(
                expected == run(device).unwrap(),
                "{} {shape:?}, views {first} and {second} into {target} on {}",
                T::DTYPE,
                device.name()
            );
        }
    }
}

/// So many rows that a workgroup of few columns is filled, and some of the last one's are not there.
#[test]
fn turned_rows_of_any_number() {
    for device in adapters() {
        for (outer, rows, inner) in [(1, 256, 64), (2, 259, 64), (1, 310, 192), (2, 301, 67)] {
            let run = |device: &Device| -> Result<Vec<f32>> {
                let x = view(device, [outer, rows, inner], 0, |i| i as f32)?;
                // Columns begin where cache lines do.
                let y = view(device, [outer, inner, 320], 0, |i| (i % 1021) as f32)?;
                (&x + y.slice(2, ..rows as isize).transpose(1, 2)).to_vec()
            };
            let same = run(&Device::cpu()).unwrap() == run(device).unwrap();
            assert!(same, "{outer} x {rows} x {inner} on {}", device.name());
        }
        check_kernels(device);
    }
}

#[test]
fn every_access_at_every_size() {
    check::<f32>(|i| i as f32, |x, y| x + y, depth(36, 160), 1);
    check::<u8>(|i| i as u8, |x, y| x + y, depth(18, 90), 2);
    check::<f16>(|i| f16::from_f32((i % 64) as f32), |x, y| x + y, depth(18, 90), 3);
    check::<bool>(|i| i % 3 == 0, |x, y| x ^ y, depth(9, 45), 4);
    check::<f64>(|i| i as f64, |x, y| x + y, depth(12, 60), 5);
    adapters().for_each(check_kernels);
}
