//! Reductions in parts: the values of blocks of all parts are joined to the bits of the whole.

use crate::common::depth::depth;
use crate::common::{Random, in_turn, of_test, place};
use zerostride::{AnyExpr, AnyTensor, DType, Device, ReduceOptions};

/// Reductions of floats that parts have.
const NAMES: [&str; 9] = ["sum", "prod", "mean", "l1", "l2", "sum_square", "min", "max", "count_nonzero"];

fn values(random: &mut Random, count: usize) -> Vec<f32> {
    // Near 1, for products, and of either sign.
    let value = |random: &mut Random| {
        let x = 1.0 + (random.below(2000) as f32 - 1000.0) / 3e6;
        if random.below(2) == 0 { x } else { -x }
    };
    (0..count).map(|_| value(random)).collect()
}

fn bits(expr: &AnyExpr, device: &Device) -> (Vec<usize>, Vec<u64>) {
    let tensor = expr.eval_on(device).unwrap();
    let bits = match tensor.dtype() {
        DType::U32 => tensor.to_vec::<u32>().unwrap().into_iter().map(u64::from).collect(),
        _ => tensor.cast(DType::F32).to_vec::<f32>().unwrap().iter().map(|x| x.to_bits().into()).collect(),
    };
    (tensor.shape().to_vec(), bits)
}

/// Parts of a range that end at multiples of a block, and its end.
fn ends(random: &mut Random, count: usize, block: usize) -> Vec<usize> {
    let mut ends: Vec<usize> =
        (0..random.below(4)).map(|_| block * random.below(count / block + 1)).collect();
    ends.retain(|&end| end > 0 && end < count);
    ends.sort_unstable();
    ends.dedup();
    ends.push(count);
    ends
}

#[test]
fn parts_join_to_the_bits_of_the_whole() {
    let mut random = Random(7);
    for case in 0..depth(12, 40) {
        // Up to three rounds of the order; the range is an axis, or two that are neighbours.
        let (count, others) = match case % 4 {
            0 => (1024 * (1 + random.below(5)), 3),
            1 => (1 + random.below(9000), 2),
            2 if case % 12 == 2 => (1024 * 1024 + random.below(3000), 1),
            2 => (3 * 1024 + random.below(2), 4),
            _ => (1 + random.below(1100), 5),
        };
        let is_last = random.below(2) == 0;
        let shape = if is_last { [others, count] } else { [count, others] };
        let axis = isize::from(is_last);
        let host = values(&mut random, count * others);
        let name = NAMES[random.below(NAMES.len())];
        let dtype = [DType::F32, DType::F16, DType::BF16][random.below(3)];
        let block = if count > 1 << 20 && random.below(2) == 0 { 1 << 20 } else { 1024 };
        let ends = ends(&mut random, count, block);
        for device in in_turn(case) {
            let x = AnyTensor::from(device.upload(&host, shape).unwrap());
            let x = if random.below(2) == 0 {
                x.cast(dtype)
            } else {
                AnyExpr::call("square", &[x.expr()]).cast(dtype)
            };
            let mut from = 0;
            let parts: Vec<AnyExpr> = ends
                .iter()
                .map(|&end| {
                    let part = x.slice(axis, from as isize..end as isize);
                    from = end;
                    part.reduce_partial(name, axis, block)
                })
                .collect();
            let joined = AnyExpr::concat(&parts, axis);
            let joined = joined.reduce_join(name, axis, count, ReduceOptions::default());
            let whole = x.reduce(name, axis, ReduceOptions::default());
            let joined = joined.cast(whole.dtype().unwrap());
            assert_eq!(
                bits(&joined, device),
                bits(&whole, device),
                "{name} of {dtype} {shape:?} over {axis} to {ends:?} in blocks of {block} on {}",
                device.name()
            );
        }
    }
}

/// A range of two axes, in parts along the first; and one whose layout has to be copied.
#[test]
fn ranges_of_several_axes() {
    let mut random = Random(8);
    let host = values(&mut random, 6 * 512 * 3);
    for device in of_test(place()) {
        let x = AnyTensor::from(device.upload(&host, [6, 512, 3]).unwrap());
        for x in [x.expr(), x.permute([2, 1, 0]).permute([2, 1, 0])] {
            let parts = [0..2, 2..6].map(|part| x.slice(0, part).reduce_partial("sum", [0, 1], 1024));
            assert_eq!(parts[1].shape().unwrap(), &[2, 1, 3]);
            let sum =
                AnyExpr::concat(&parts, 0).reduce_join("sum", [0, 1], 6 * 512, ReduceOptions::default());
            assert_eq!(bits(&sum, device), bits(&x.sum([0, 1]), device));
        }
        let turned = x.permute([2, 1, 0]);
        let sum = turned.reduce_partial("sum", [0, 1], 1024);
        let sum = sum.reduce_join("sum", [0, 1], 3 * 512, ReduceOptions::default().keepdim());
        assert_eq!(bits(&sum, device), bits(&turned.sum_keepdim([0, 1]), device));
    }
}

#[test]
fn mistakes_name_what_cannot_be_joined() {
    let x = AnyExpr::from(Device::cpu().upload(&[1.0_f32; 12], [2, 3, 2]).unwrap());
    let of = |expr: AnyExpr| expr.eval().unwrap_err().message().to_string();
    let partial = |name: &str| of(x.reduce_partial(name, 1, 1024));
    assert_eq!(
        partial("var"),
        "var has 3 reductions that depend on each other: reduce each of them in parts"
    );
    assert_eq!(
        partial("softmax"),
        "softmax cannot be joined from the values of blocks: reduce the whole tensor"
    );
    assert_eq!(
        partial("argmax"),
        "argmax cannot be joined from the values of blocks: reduce the whole tensor"
    );
    assert_eq!(partial("median"), "no reduction is called 'median'");
    assert_eq!(partial("any"), "any takes bool, not f32: cast first");
    assert_eq!(
        of(x.reduce_partial("sum", [0, 2], 1024)),
        "sum of [2, 3, 2] in blocks over axes [0, 2], which are no neighbours: reduce the last of them first"
    );
    let join = |name: &str| of(x.reduce_join(name, 1, 3, ReduceOptions::default()));
    assert_eq!(join("std"), "std has 3 reductions that depend on each other: reduce each of them in parts");
}

/// Nothing has no blocks, one value one.
#[test]
fn ranges_of_no_and_of_one_element() {
    let device = Device::cpu();
    let none = AnyExpr::from(device.upload::<f32>(&[], [2, 0]).unwrap()).reduce_partial("sum", 1, 1024);
    assert_eq!(none.shape().unwrap(), &[2, 0]);
    let sum = none.reduce_join("sum", 1, 0, ReduceOptions::default());
    assert_eq!(sum.to_vec::<f32>().unwrap(), [0.0, 0.0]);
    let one = AnyExpr::from(device.upload(&[-0.0_f32], [1, 1]).unwrap()).reduce_partial("sum", .., 1024);
    assert_eq!(one.to_vec::<f32>().unwrap()[0].to_bits(), 0);
}
