//! Every loop as a processor runs it that is older than the vectors it is compiled for.

use crate::dtype::Kind;
use crate::vectors::AS_OLD;
use crate::{AnyExpr, DType, Device, ReduceOptions, operations, reductions};

/// Rows and columns: more than a loop computes at once, and no whole vectors.
const SHAPE: [usize; 2] = [5, 1003];

/// Operands of a type: numbers of both signs and zeros.
fn operands(dtype: DType) -> [AnyExpr; 3] {
    let device = Device::cpu();
    [7, 11, 13].map(|step| {
        let numbers: Vec<f32> =
            (0..SHAPE[0] * SHAPE[1]).map(|i| (i * step % 97) as f32 / 4.0 - 6.0).collect();
        AnyExpr::from(device.upload(&numbers, SHAPE).unwrap()).cast(dtype).shared()
    })
}

#[test]
fn old_processors_compute_the_same() {
    let mut all = Vec::new();
    for dtype in DType::ALL {
        let operands = operands(dtype);
        for op in operations().filter(|op| op.result(dtype).is_some()) {
            all.push((op.name, dtype, AnyExpr::call(op.name, &operands[..op.arity])));
        }
        for row in reductions().filter(|row| row.result(dtype).is_some()) {
            for axis in [0, 1] {
                all.push((row.name, dtype, operands[0].reduce(row.name, axis, ReduceOptions::default())));
            }
        }
        if dtype != DType::Bool {
            let mut factors = operands.clone();
            if dtype.kind() == Kind::Float {
                factors = factors.map(|x| AnyExpr::call("exp", &[x]));
            }
            let [a, b, c] = factors;
            let turned = b.transpose(0, 1).shared();
            all.push(("matmul", dtype, a.matmul(&turned)));
            all.push(("matmul", dtype, turned.matmul(&c)));
            all.push(("matmul", dtype, a.slice(0, ..1).matmul(&turned)));
            all.push(("matmul", dtype, a.slice(0, ..2).slice(1, ..5).matmul(&c)));
        }
        for other in DType::ALL {
            all.push(("cast", dtype, operands[0].cast(other)));
        }
    }
    for (name, dtype, expr) in all {
        let [wide, old] = [false, true].map(|old| {
            AS_OLD.store(old, std::sync::atomic::Ordering::Relaxed);
            expr.to_bytes().unwrap()
        });
        assert!(wide == old, "{name} of {dtype}");
    }
    AS_OLD.store(false, std::sync::atomic::Ordering::Relaxed);
}
