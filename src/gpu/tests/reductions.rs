//! Reductions in every form of kernel, against the CPU path.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::super::device::Gpu;
use super::super::{adapters, open};
use crate::dtype::{DType, Element};
use crate::gpu::tests::Random;
use crate::gpu::tests::{depth, in_turn};
use crate::ir::{
    AxisOp, Backend, Destination, Program, ProgramKind, ReduceAxes, ReduceOp, ScanAxis, Schedule, Source,
};
use crate::options::Options;
use crate::plan::Target;
use crate::{Device, Expr, Tensor};

/// The result of a program, as bytes.
fn given(backend: Arc<dyn Backend>, program: &Program) -> Vec<u8> {
    let schedule = Schedule::only(program.clone());
    let storage = backend.clone().run(Cow::Owned(schedule), Destination::New, None).unwrap().swap_remove(0);
    let count = program.result_shape().count().unwrap();
    backend.read_now(&storage, program.dtype, 0, count).unwrap().to_vec()
}

/// A program that reads the same tensors on another device.
fn moved(program: &Program, gpu: &Arc<Gpu>) -> Program {
    let mut program = program.clone();
    for input in &mut program.inputs {
        if let Source::Tensor(storage) = &mut input.source {
            let own = storage.backend.clone();
            let bytes = own.read_now(storage, input.dtype, 0, storage.elements).unwrap();
            *storage = gpu.upload(&bytes, input.dtype).unwrap();
        }
    }
    program
}

/// Every adapter, as it is, and with little workgroup memory, in which invocations meet.
fn gpus() -> &'static [(String, Arc<Gpu>)] {
    static GPUS: OnceLock<Vec<(String, Arc<Gpu>)>> = OnceLock::new();
    GPUS.get_or_init(|| {
        let found = pollster::block_on(adapters::find());
        let own = found.iter().map(|found| pollster::block_on(open(found, &Options::default())).unwrap());
        let own: Vec<Arc<Gpu>> = own.collect();
        let expected = std::env::var("ZEROSTRIDE_EXPECT").unwrap_or_default();
        assert!(own.len() >= expected.split(',').filter(|name| !name.is_empty()).count(), "{own:?}");
        let each = own.into_iter().flat_map(|gpu| {
            let name = gpu.parts.connection.name().to_string();
            let less = Target { shared: 1024, ..gpu.adapter };
            let less = Arc::new(Gpu::of(gpu.parts.clone(), less));
            [(name.clone() + " with little memory", less), (name, gpu)]
        });
        each.collect()
    })
}

/// Bits, with one pattern for every NaN.
fn canonical(bytes: &[u8], dtype: DType) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    match dtype {
        DType::F32 => bytes.chunks_exact_mut(4).for_each(|chunk| {
            if f32::from_le_bytes(chunk.try_into().unwrap()).is_nan() {
                chunk.copy_from_slice(&f32::NAN.to_le_bytes());
            }
        }),
        DType::F64 => bytes.chunks_exact_mut(8).for_each(|chunk| {
            if f64::from_le_bytes(chunk.try_into().unwrap()).is_nan() {
                chunk.copy_from_slice(&f64::NAN.to_le_bytes());
            }
        }),
        _ => {}
    }
    bytes
}

/// A view of a tensor, the same on every device.
fn view<T: Element>(tensor: &Tensor<T>, kind: usize) -> Tensor<T> {
    let rank = tensor.shape().rank() as isize;
    let view = match kind {
        1 if rank > 1 => tensor.transpose(0, -1),
        2 if rank > 1 => tensor.transpose(-1, -2),
        3 if tensor.shape()[rank as usize - 1] > 1 => tensor.slice(rank - 1, 1..),
        4 => tensor.flip(-1),
        5 => tensor.slice_step(0, .., 2),
        6 => tensor.slice_step(rank - 1, .., 2),
        7 => tensor.slice(0, ..1).broadcast_to(tensor.shape().clone()),
        _ => tensor.expr(),
    };
    view.tensor().unwrap()
}

fn values<T: Element>(random: &mut Random, count: usize, make: &impl Fn(&mut Random) -> T) -> Vec<T> {
    (0..count).map(|_| make(random)).collect()
}

/// Checks that all devices have the CPU path's results.
fn check<T: Element>(
    random: &mut Random,
    shape: &[usize],
    kind: usize,
    op: ReduceOp,
    scan: bool,
    make: &impl Fn(&mut Random) -> T,
    case: usize,
) {
    let host = values(random, shape.iter().product(), make);
    let more = values(random, *shape.last().unwrap_or(&1), make);
    let rank = shape.len();
    let from = random.below(rank);
    let to = if scan { from + 1 } else { from + 1 + random.below(rank - from) };
    let kind_of = match scan {
        true => ProgramKind::of(AxisOp::Scan(ScanAxis { op, axis: from, exclusive: random.below(2) == 0 })),
        false => ProgramKind::of(AxisOp::Reduce(ReduceAxes { op, axes: from..to })),
    };
    // Products of products leave the range.
    let with = if op == ReduceOp::Prod { 0 } else { random.below(3) };
    let device = Device::cpu();
    let tensor = view(&device.upload(&host, shape.to_vec()).unwrap(), kind);
    let row = device.upload(&more, [more.len()]).unwrap();
    let mut expr = tensor.expr();
    if with == 1 && tensor.shape().last() == Some(&more.len()) && T::DTYPE != DType::Bool {
        expr = Expr::<T>::call("mul", &[expr, row.expr()]);
    }
    if with == 2 && T::DTYPE != DType::Bool {
        expr = Expr::<T>::call("square", &[expr]);
    }
    let node = expr.untyped().node().unwrap();
    let program = Program::new(node, &node.shape).unwrap();
    let program = program.of_kind(kind_of.clone());
    let dtype = op.result(T::DTYPE).unwrap();
    let right = canonical(&given(device.backend().unwrap(), &program), dtype);
    for (k, (name, gpu)) in gpus().iter().enumerate() {
        if !in_turn(case, k, 3) || gpu.supports(&program).is_err() {
            continue;
        }
        let got = canonical(&given(gpu.clone(), &moved(&program, gpu)), dtype);
        let wrong = got.iter().zip(&right).position(|(a, b)| a != b);
        assert!(
            got == right,
            "{kind_of:?} of {} {}, view {kind}, {with}, on {name}: byte {wrong:?} of {} (have {})",
            T::DTYPE,
            node.shape,
            right.len(),
            got.len(),
        );
    }
}

/// Lengths that are interesting, at most `most`.
fn length(random: &mut Random, most: usize) -> usize {
    let around = [
        2, 3, 4, 7, 8, 15, 16, 17, 64, 65, 100, 255, 256, 257, 260, 1000, 4095, 4096, 4097, 5000, 8192, 70000,
    ];
    loop {
        let n = around[random.below(around.len())];
        if n <= most {
            return n;
        }
    }
}

fn sweep<T: Element>(seed: u64, cases: usize, reductions: &[ReduceOp], make: impl Fn(&mut Random) -> T) {
    let mut random = Random(seed);
    for case in 0..depth(cases.div_ceil(2), cases) {
        let rank = 1 + random.below(4);
        let mut room = 100_000;
        let mut shape = vec![0; rank];
        let mut order: Vec<usize> = (0..rank).collect();
        order.rotate_left(random.below(rank));
        for k in order {
            shape[k] = if room < 2 { 1 } else { length(&mut random, room) };
            room /= shape[k];
        }
        let kind = random.below(9);
        let op = reductions[random.below(reductions.len())];
        let scan = matches!(op, ReduceOp::Sum | ReduceOp::Prod) && random.below(3) == 0;
        check(&mut random, &shape, kind, op, scan, &make, case);
    }
}

const NUMBERS: [ReduceOp; 6] =
    [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max, ReduceOp::ArgMin, ReduceOp::ArgMax];

#[test]
fn folds_of_f32() {
    let near = |random: &mut Random| (random.below(1 << 24) as f32 - 8e6) / 7e6;
    sweep::<f32>(1, 50, &[ReduceOp::Sum], near);
    // Their products stay above subnormals, which adapters flush.
    let by_one = |random: &mut Random| {
        let factor = 1.0 + random.below(1000) as f32 / 1e6;
        if random.below(2) == 0 { factor } else { -1.0 / factor }
    };
    sweep::<f32>(12, 20, &[ReduceOp::Prod], by_one);
    let special = |random: &mut Random| match random.below(40) {
        0 => f32::INFINITY,
        1 => f32::NEG_INFINITY,
        2..=5 => 0.0,
        6..=9 => -0.0,
        11 if random.below(50) == 0 => f32::NAN,
        n => n as f32 - 25.0,
    };
    sweep::<f32>(2, 50, &NUMBERS, special);
}

#[test]
fn folds_of_other_types() {
    sweep::<i32>(3, 10, &NUMBERS, |random| random.below(1 << 30) as i32 - (1 << 29));
    sweep::<u8>(4, 10, &NUMBERS, |random| random.below(256) as u8);
    sweep::<i16>(5, 10, &NUMBERS, |random| random.below(1 << 16) as u16 as i16);
    sweep::<i8>(6, 10, &NUMBERS, |random| random.below(256) as u8 as i8);
    sweep::<u32>(7, 10, &NUMBERS, |random| random.below(1 << 31) as u32 * 2 + 1);
    sweep::<f64>(8, 10, &[ReduceOp::Sum, ReduceOp::Min, ReduceOp::ArgMax], |random| {
        (random.below(1 << 30) as f64 - 5e8) / 3e8
    });
    sweep::<i64>(9, 10, &NUMBERS, |random| (random.below(1 << 30) as i64 - (1 << 29)) << 20);
    sweep::<u64>(10, 10, &NUMBERS, |random| (random.below(1 << 31) as u64) << 33);
    sweep::<bool>(11, 10, &[ReduceOp::Any, ReduceOp::All], |random| random.below(1000) < 999);
}
