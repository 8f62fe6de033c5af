//! Two ops in one loop of the CPU path have the bits of two loops.

use crate::common::depth::depth;
use zerostride::{DType, Device, Expr, Tensor, operations};

fn same(got: &[f32], expected: &[f32]) -> bool {
    let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    got.len() == expected.len() && got.iter().zip(expected).all(same)
}

#[test]
fn two_ops_are_as_one_by_one() {
    let device = Device::cpu();
    let special = [0.0, -0.0, 1.5, -2.25, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, -3e38];
    let values =
        |n: usize| -> Vec<f32> { (0..n).map(|i| special[(i * i + 3 * i) % special.len()]).collect() };
    // A row is longer than a part of a block, and ends in the middle of one.
    let (rows, columns) = (3, 700);
    let matrix = device.upload(&values(rows * columns), [rows, columns]).unwrap();
    let row = device.upload(&values(columns), [columns]).unwrap();
    let column = device.upload(&values(rows), [rows, 1]).unwrap();
    let operands: [[Tensor<f32>; 3]; 2] =
        [[matrix.clone(), row.clone(), column.clone()], [column, matrix, row.flip(0).tensor().unwrap()]];
    let ops: Vec<_> =
        operations().filter(|op| op.arity <= 2 && op.result(DType::F32) == Some(DType::F32)).collect();
    let mut checked = 0;
    for (i, first) in ops.iter().enumerate() {
        for (k, second) in ops.iter().enumerate() {
            // Both layouts for half of the pairs each, in a quick run.
            for [a, b, c] in operands.iter().skip((i + k) % depth(2, 1)).step_by(depth(2, 1)) {
                let before = Expr::<f32>::call(first.name, &[a.expr(), b.expr()][..first.arity]);
                let value = before.eval().unwrap();
                for position in 0..second.arity {
                    let join = |value: Expr<f32>| {
                        let mut args = vec![c.expr(); second.arity];
                        args[position] = value;
                        Expr::<f32>::call(second.name, &args)
                    };
                    let got = join(before.clone()).to_vec().unwrap();
                    let expected = join(value.expr()).to_vec().unwrap();
                    assert!(same(&got, &expected), "{} of {}, operand {position}", second.name, first.name);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > depth(2500, 5000), "only {checked} pairs");
}

/// A value that is read twice, or is a result itself, is kept.
#[test]
fn values_that_others_read_are_kept() {
    let device = Device::cpu();
    let x = device.upload(&[1.0_f32, -2.0, 3.0, -4.0], [4]).unwrap();
    let sum = &x + 1.0;
    assert_eq!((&sum * &sum).to_vec().unwrap(), [4.0, 1.0, 16.0, 9.0]);
    assert_eq!((&sum * 2.0 - sum.relu()).to_vec().unwrap(), [2.0, -2.0, 4.0, -6.0]);
    let all = Expr::eval_all(&[sum.clone(), &sum * 2.0]).unwrap();
    assert_eq!(all[0].to_vec().unwrap(), [2.0, -1.0, 4.0, -3.0]);
    assert_eq!(all[1].to_vec().unwrap(), [4.0, -2.0, 8.0, -6.0]);
}
