//! Total mode: the bytes of every result are the same on every device, over all exponents, with NaN of any payload.

use std::collections::BTreeMap;
use std::num::FpCategory;
use std::rc::Rc;

use crate::common::case::Case;
use crate::common::depth::{depth, one_of};
use crate::common::draw::{Size, case};
use crate::common::shrink::shrink;
use crate::common::value::{Plain, Value, is_float, with_type};
use crate::common::{Random, devices, in_turn, on_each_adapter, on_every_device};
use zerostride::{
    AnyExpr, AnyTensor, DType, Device, Element, Math, Operation, ReduceOptions, bf16, f16, operations,
};

/// A handle of a device in total mode.
fn total(device: &Device) -> Device {
    let mut device = device.clone();
    device.set_math(Math::Total);
    device
}

/// An element of any exponent: of all, around the least normal one, around its square root, or around 1.
fn wild(of: DType, random: &mut Random) -> Value {
    let (least, most) = match of {
        DType::F64 => (-1022, 1023),
        DType::F16 => (-14, 15),
        _ => (-126, 127),
    };
    let power = match random.below(16) {
        0 => return Value::Float(f64::from_bits(random.next() | 0x7ff8_0000_0000_0000)),
        1 => return Value::Float([0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY][random.below(4)]),
        2..5 => least - 24 + random.below((most - least + 24) as usize) as i32,
        5..9 => least - 6 + random.below(12) as i32,
        9..12 => least / 2 - 4 + random.below(8) as i32,
        _ => random.below(9) as i32 - 4,
    };
    let x = (1.0 + random.next() as f64 / 2.0_f64.powi(64)) * 2.0_f64.powi(power);
    Value::Float(if random.chance(50) { x } else { -x })
}

/// A random program over such elements.
fn program(seed: u64, size: Size) -> Case {
    let (mut all, mut random) = (case(seed, size), Random(seed ^ 0x5eed));
    for storage in all.storages.iter_mut().filter(|storage| is_float(storage.dtype)) {
        storage.values = Rc::new(storage.values.iter().map(|_| wild(storage.dtype, &mut random)).collect());
    }
    all
}

/// The bits of a program's results, or `None` if the device lacks a type of it.
fn run(case: &Case, device: &Device) -> Option<Vec<Vec<u64>>> {
    let bits = |value: Value| match value {
        Value::Float(x) => x.to_bits(),
        Value::Int(x) => x as u64,
        Value::Bool(x) => x.into(),
    };
    match case.run(device) {
        Ok(read) => Some(read.into_iter().map(|all| all.into_iter().map(bits).collect()).collect()),
        Err(error) if error.message().contains("needs the feature") => None,
        Err(error) => panic!("{}: {error}", device.name()),
    }
}

/// The number of elements of a program's results that differ from the CPU path's on a device, with handles of both. A device
/// without a type of the program agrees.
fn differing(case: &Case, handles: [&Device; 2]) -> usize {
    let Some(got) = run(case, handles[1]) else { return 0 };
    let expected = run(case, handles[0]).unwrap();
    let lengths = [&got, &expected].map(|all| all.iter().map(Vec::len).collect::<Vec<_>>());
    assert_eq!(lengths[0], lengths[1], "{}", handles[1].name());
    got.iter().flatten().zip(expected.iter().flatten()).filter(|(got, expected)| got != expected).count()
}

/// Runs programs on devices. Fails with a shrunk program if bytes differ in total mode, and returns how many elements differ
/// without it.
fn check(seeds: std::ops::Range<u64>, of: impl Fn(u64) -> Vec<&'static Device>) -> usize {
    let cpu = &devices()[0];
    let mut otherwise = 0;
    for seed in seeds {
        let size = match seed % 8 {
            7 => Size { ops: 40, elements: 600, steps: 4 },
            _ => Size { ops: 12, elements: 3000, steps: 3 },
        };
        let case = program(seed, size);
        for device in of(seed).into_iter().filter(|device| device.name() != "cpu") {
            let handles = [&total(cpu), &total(device)];
            if differing(&case, handles) > 0 {
                let least = shrink(case, 1000, |case| differing(case, handles) > 0);
                let [expected, got] = handles.map(|device| run(&least, device).unwrap());
                panic!("seed {seed} on {}: {got:x?} and not {expected:x?}\n{least}", device.name());
            }
            otherwise += differing(&case, [cpu, device]);
        }
    }
    otherwise
}

#[test]
fn programs_have_the_same_bytes() {
    let otherwise = check(0..depth(48, 64), |seed| in_turn(seed as usize).collect());
    assert!(otherwise > 0, "without total mode nothing differs, so the programs show nothing");
}

/// Two thousand programs, or as many as are left from the seed `ZEROSTRIDE_SEED` on.
#[test]
#[ignore = "takes long: two thousand programs on all devices"]
fn two_thousand_programs_have_the_same_bytes() {
    let first = std::env::var("ZEROSTRIDE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let otherwise = check(first..2000, |_| devices().iter().collect());
    eprintln!("{otherwise} elements differ without total mode");
}

/// Floats, as total mode takes and makes them.
trait Float: Element + Plain {
    fn total(self) -> Self;
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Float for $t {
            fn total(self) -> $t {
                match self.classify() {
                    FpCategory::Nan => $t::NAN,
                    FpCategory::Subnormal => $t::default().copysign(self),
                    _ => self,
                }
            }
        }
    )*};
}
floats! { f32 f64 f16 bf16 }

/// Results by their bits.
fn words(expr: &AnyExpr) -> Vec<u64> {
    let bits = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    with_type!(expr.dtype().unwrap(), T => {
        let all = expr.to_vec::<T>().unwrap();
        bytemuck::cast_slice::<T, u8>(&all).chunks(size_of::<T>()).map(bits).collect()
    })
}

fn list<T: Float>(random: &mut Random, count: usize) -> Vec<T> {
    (0..count).map(|_| T::of(wild(T::DTYPE, random))).collect()
}

/// An operation of total mode is that of precise math, on total operands, with a total result.
fn is_total<T: Float>(op: &Operation, device: &Device) {
    const COUNT: usize = 2048;
    let mut random = Random(7);
    let cpu = &devices()[0];
    let operands: Vec<Vec<T>> = (0..op.arity).map(|_| list(&mut random, COUNT)).collect();
    let on = |device: &Device, list: &[T]| AnyExpr::from(device.upload(list, [COUNT]).unwrap());
    // The sign of NaN tells nothing else.
    let tells = ["signbit", "is_nan", "is_inf", "is_finite"].contains(&op.name);
    let clean = |list: &Vec<T>| list.iter().map(|x| if tells { *x } else { x.total() }).collect::<Vec<T>>();
    let plain: Vec<AnyExpr> = operands.iter().map(|list| on(cpu, &clean(list))).collect();
    let of_mode: Vec<AnyExpr> = operands.iter().map(|list| on(&total(device), list)).collect();
    let got = AnyExpr::call(op.name, &of_mode);
    // A function of bf16 is that of f32 in total mode, rounded.
    let expected = if T::DTYPE == DType::BF16 && op.ulp(DType::BF16) > 0 {
        let wide: Vec<AnyExpr> = plain.iter().map(|x| x.cast(DType::F32)).collect();
        let wide: Vec<f32> = AnyExpr::call(op.name, &wide).to_vec::<f32>().unwrap();
        let wide: Vec<f32> = wide.into_iter().map(Float::total).collect();
        on(cpu, &wide.into_iter().map(|x| T::of(Value::Float(x.into()))).collect::<Vec<T>>()).eval().unwrap()
    } else {
        AnyExpr::call(op.name, &plain).eval().unwrap()
    };
    let expected: AnyTensor = match expected.dtype() == T::DTYPE {
        true => {
            let all: Vec<T> = expected.to_vec::<T>().unwrap().into_iter().map(Float::total).collect();
            cpu.upload(&all, [COUNT]).unwrap().into()
        }
        false => expected,
    };
    // What is moved keeps its bits.
    let expected = match op.name {
        "positive" => words(&on(cpu, &operands[0])),
        _ => words(&expected.into()),
    };
    let got = words(&got);
    assert_eq!(got.len(), expected.len(), "{}", op.name);
    for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let args: Vec<T> = operands.iter().map(|list| list[i]).collect();
        assert!(
            got == expected,
            "{} of {args:?} on {}: {got:x} and not {expected:x}",
            op.name,
            device.name()
        );
    }
}

#[test]
fn every_operation_is_total() {
    on_each_adapter(|device| {
        for op in operations() {
            let takes = |of: DType| op.result(of).is_some();
            if takes(DType::F32) {
                is_total::<f32>(&op, device);
            }
            if takes(DType::F64) && device.supports(DType::F64).is_ok() {
                is_total::<f64>(&op, device);
            }
            if takes(DType::F16) && one_of(4, op.name) {
                is_total::<f16>(&op, device);
                is_total::<bf16>(&op, device);
            }
        }
    });
}

/// Programs over matrices, each with the name of what it shows. Their elements are of all exponents.
fn over_matrices(x: &[AnyExpr; 2], keys: &AnyExpr) -> Vec<(&'static str, AnyExpr)> {
    let [a, b] = x;
    let reduced = |name, x: &AnyExpr, axis: isize| x.reduce(name, [axis], ReduceOptions::default());
    let mut all = Vec::new();
    for axis in [0, 1] {
        for name in [
            "sum",
            "prod",
            "mean",
            "var",
            "l2",
            "max",
            "min",
            "argmax",
            "logsumexp",
            "cumsum",
            "cumprod",
            "cummax",
        ] {
            all.push((name, reduced(name, a, axis)));
        }
        all.push(("softmax", reduced("softmax", a, axis)));
    }
    // Rows that a tile reduces twice, and a sum beside its elements.
    let difference = AnyExpr::call("sub", &[a.clone(), reduced("mean", a, 1).unsqueeze(1)]);
    all.push(("difference", AnyExpr::call("mul", &[difference.clone(), difference])));
    let add = |a: &AnyExpr, b: &AnyExpr| AnyExpr::call("add", &[a.clone(), b.clone()]);
    let product = AnyExpr::einsum("ik,jk->ij", &[a.clone(), b.clone()]);
    all.push(("product", product.clone()));
    all.push(("product, added", add(&product, &product)));
    all.push(("thin product", AnyExpr::einsum("ik,jk->ij", &[a.clone(), b.slice(0, 0..1)])));
    let few = b.slice(1, 0..b.shape().unwrap()[1].min(64) as isize);
    all.push(("product of columns", AnyExpr::einsum("ki,kj->ij", &[a.clone(), few])));
    all.push(("keys", a.segment("segment_sum", keys.clone(), 5)));
    all.push(("sums so far by key", a.segment("segment_cumsum", keys.clone(), 5)));
    all.push(("products by key", a.segment("segment_prod", keys.clone(), 5)));
    let few = a.shape().unwrap().iter().product::<usize>() / 32;
    let places = AnyExpr::call("mul", &[AnyExpr::iota([few], 0), AnyExpr::scalar(DType::I32, 32)]);
    let updates = b.reshape([-1]).slice(0, 0..few as isize);
    all.push(("few updates", a.reshape([-1]).scatter_add([&places], updates)));
    all.push(("windows", reduced("sum", &a.windows([3], [1]), -1)));
    all.push(("sort", a.sort(1)));
    all
}

/// Runs them on a device. Returns the names of those whose bytes are as without the mode.
fn over_shapes<T: Float>(device: &Device, shapes: &[[usize; 2]]) -> Vec<&'static str> {
    let mut effects = BTreeMap::new();
    for &[rows, columns] in shapes {
        let mut random = Random((rows * columns) as u64);
        let lists = [list::<T>(&mut random, rows * columns), list(&mut random, rows * columns)];
        let of = |device: &Device| {
            let own =
                lists.each_ref().map(|list| AnyExpr::from(device.upload(list, [rows, columns]).unwrap()));
            let keys: Vec<i32> = (0..rows as i32).map(|i| i * 7 % 5).collect();
            over_matrices(&own, &AnyExpr::from(device.upload(&keys, [rows]).unwrap()))
        };
        let handles = [total(&devices()[0]), total(device), devices()[0].clone()];
        let [expected, got, plain] = handles.each_ref().map(of);
        for (((name, expected), (_, got)), (_, plain)) in expected.iter().zip(&got).zip(&plain) {
            let (expected, got) = (words(expected), words(got));
            assert_eq!(expected.len(), got.len(), "{name}");
            let differ = expected.iter().zip(&got).filter(|(a, b)| a != b).count();
            assert_eq!(differ, 0, "{name} of {} [{rows}, {columns}] on {}", T::DTYPE, device.name());
            *effects.entry(*name).or_insert(0) += usize::from(words(plain) != expected);
        }
    }
    effects.into_iter().filter(|(_, count)| *count == 0).map(|(name, _)| name).collect()
}

/// In each of them the mode changes something, but in what only moves elements.
#[test]
fn reductions_and_products_have_the_same_bytes() {
    let shapes = [[7, 70], [2, 2500], [1500, 4], [1, 70_000]];
    on_every_device(|device| {
        assert_eq!(over_shapes::<f32>(device, &shapes[..depth(2, 4)]), ["sort"]);
        over_shapes::<f16>(device, &shapes[..depth(1, 2)]);
        if device.supports(DType::F64).is_ok() {
            over_shapes::<f64>(device, &shapes[..depth(1, 2)]);
        }
    });
}
