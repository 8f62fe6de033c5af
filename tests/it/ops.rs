//! Every operation on every type and device: verified answers, edges against edges, and random
//! values, within the bound that the op table states.

use crate::common::depth::one_of;
use crate::common::{Random, adapters, on_each_adapter};
use zerostride::{DType, Device, Element, ErrorKind, Expr, Operation, Tensor, bf16, f16, operations};

/// Values at which functions change their ways, and random ones of every magnitude.
trait Samples: Element {
    fn edges() -> Vec<Self>;
    fn random(random: &mut Random) -> Self;
    fn distance(a: Self, b: Self) -> u64;
    /// Every value, for types that have few.
    fn all() -> Vec<Self> {
        Vec::new()
    }
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Samples for $t {
            fn edges() -> Vec<$t> {
                let small = [0, 1, 2, 3, 7, 8, 15, 31, 32, 33, 100];
                let large = [$t::MIN, $t::MIN + 1, $t::MAX, $t::MAX - 1, $t::MAX / 2];
                // Half a unit of bf16 and a bit that f32 has no place for: rounded twice it is another number.
                let tie = 0x0101_0001_u64 as $t;
                let negative = small.iter().map(|&x: &$t| (0 as $t).wrapping_sub(x));
                small.iter().copied().chain(large).chain([tie]).chain(negative).collect()
            }
            fn random(random: &mut Random) -> $t {
                let shift = random.below($t::BITS as usize);
                (random.next() as $t) >> shift
            }
            fn distance(a: $t, b: $t) -> u64 { if a == b { 0 } else { u64::MAX } }
        }
    )*};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Samples for bool {
    fn edges() -> Vec<bool> {
        vec![false, true]
    }
    fn random(random: &mut Random) -> bool {
        random.chance(50)
    }
    fn distance(a: bool, b: bool) -> u64 {
        if a == b { 0 } else { u64::MAX }
    }
}

macro_rules! halves {
    ($($t:ident |$a:ident, $b:ident| $distance:expr;)*) => {$(
        impl Samples for $t {
            fn edges() -> Vec<$t> {
                f32::edges().into_iter().map($t::from_f32).collect()
            }
            fn random(random: &mut Random) -> $t {
                loop {
                    let x = $t::from_bits(random.next() as u16);
                    if kept(x.to_f32()) {
                        return x;
                    }
                }
            }
            fn distance($a: $t, $b: $t) -> u64 {
                if $a.is_nan() || $b.is_nan() { return if $a.is_nan() && $b.is_nan() { 0 } else { u64::MAX } }
                $distance
            }
            fn all() -> Vec<$t> {
                (0..=u16::MAX).map($t::from_bits).filter(|x| kept(x.to_f32())).collect()
            }
        }
    )*};
}

/// Whether adapters must not flush a value. No value of f16 may be flushed, because it is computed in f32.
fn kept(x: f32) -> bool {
    x == 0.0 || x.is_nan() || x.abs() >= f32::MIN_POSITIVE
}

/// Distance in values of 16 bits; zeros agree.
fn ranks(a: u16, b: u16) -> u64 {
    let rank = |x: u16| if x >> 15 == 1 { -i64::from(x & 0x7fff) } else { i64::from(x) };
    rank(a).abs_diff(rank(b))
}

/// bf16 has the subnormals of f32, which adapters may flush.
fn flushed(x: bf16) -> u16 {
    if x.to_f32().abs() < f32::MIN_POSITIVE { 0 } else { x.to_bits() }
}

halves! {
    f16 |a, b| ranks(a.to_bits(), b.to_bits());
    bf16 |a, b| ranks(flushed(a), flushed(b));
}

macro_rules! floats {
    ($($t:ident $int:ident |$random:ident| $any:expr;)*) => {$(
        impl Samples for $t {
            fn edges() -> Vec<$t> {
                let bends = [
                    0.0, 1e-30, 1e-7, 0.1, 0.25, 0.5, 0.624, 0.626, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 7.5, 10.0, 20.0,
                    88.7, 89.0, 100.0, 709.0, 6000.5, 65535.5, 8388607.5, 16777216.0, 2147483648.0, 4294967296.0,
                    1e15, 1e19, 1e30,
                ];
                let angles = [std::$t::consts::FRAC_PI_2, std::$t::consts::PI];
                let ends = [$t::MIN_POSITIVE, $t::MAX, $t::INFINITY];
                let positive = || bends.into_iter().chain(angles).chain(ends);
                positive().chain(positive().map(|x: $t| -x)).chain([$t::NAN, 1.0 - $t::EPSILON / 2.0]).collect()
            }
            fn random($random: &mut Random) -> $t {
                loop {
                    let x = match $random.below(3) {
                        0 => $any,
                        1 => ($random.next() as $int) as $t / (1u64 << ($int::BITS - 12)) as $t,
                        _ => ($random.next() as $int) as $t / (1u64 << ($int::BITS - 1)) as $t,
                    };
                    if !x.is_subnormal() {
                        return x;
                    }
                }
            }
            fn distance(a: $t, b: $t) -> u64 {
                // Subnormals may be flushed.
                let rank = |x: $t| {
                    let magnitude = if x.abs() < $t::MIN_POSITIVE { 0 } else { x.abs().to_bits() as i64 };
                    if x < 0.0 { -magnitude } else { magnitude }
                };
                match (a.is_nan(), b.is_nan()) {
                    (true, true) => 0,
                    (false, false) => rank(a).abs_diff(rank(b)),
                    _ => u64::MAX,
                }
            }
        }
    )*};
}
floats! {
    f32 i32 |random| f32::from_bits(random.next() as u32);
    f64 i64 |random| f64::from_bits(random.next());
}

/// Operands: every combination of edges, then random ones; of one operand, every value there is.
fn operands<T: Samples>(arity: usize) -> Vec<Vec<T>> {
    if arity == 1 && !T::all().is_empty() {
        return vec![T::all()];
    }
    let edges = T::edges();
    let combinations = edges.len().pow(arity.min(2) as u32);
    let mut lists = vec![Vec::new(); arity];
    for i in 0..combinations {
        for (k, list) in lists.iter_mut().enumerate() {
            let index = [i % edges.len(), i / edges.len() % edges.len(), (i * 7 + 3) % edges.len()][k];
            list.push(edges[index]);
        }
    }
    let mut random = Random(42);
    for _ in 0..20_000 {
        lists.iter_mut().for_each(|list| list.push(T::random(&mut random)));
    }
    lists
}

/// Whether the adapter cannot have the type, and says so.
fn lacks<T: Samples>(device: &Device) -> bool {
    match device.supports(T::DTYPE) {
        Ok(()) => false,
        Err(error) => {
            let text =
                format!("f64 needs the feature SHADER_F64 | SHADER_INT64, which {} lacks", device.name());
            assert!(T::DTYPE == DType::F64 && error.kind() == ErrorKind::Limit, "{error}");
            assert!(error.message().starts_with(&text), "{error}");
            true
        }
    }
}

/// Operations with operands and results of one type, several at a time, as one kernel has several results. Returns what is
/// beyond its bound: the worst element of an operation on a device.
fn sweep<T: Samples, R: Samples>(operations: &[Operation]) -> Vec<String> {
    const TOGETHER: usize = 4;
    let mut wrong = Vec::new();
    assert!(
        operations.iter().all(|op| (1..=3).contains(&op.arity)),
        "an operation of another arity is left out"
    );
    for arity in 1..=3 {
        let own: Vec<&Operation> = operations.iter().filter(|op| op.arity == arity).collect();
        let lists = operands::<T>(arity);
        for ops in own.chunks(TOGETHER) {
            let on = |device: &Device| -> Vec<Vec<R>> {
                let upload = |list: &Vec<T>| device.upload(list, [list.len()]).unwrap().expr();
                let operands: Vec<Expr<T>> = lists.iter().map(upload).collect();
                let exprs: Vec<_> = ops.iter().map(|op| Expr::<R>::call(op.name, &operands)).collect();
                Expr::eval_all(&exprs).unwrap().iter().map(|result| result.to_vec().unwrap()).collect()
            };
            let expected = on(&Device::cpu());
            for device in adapters().filter(|device| !lacks::<T>(device)) {
                let results = expected.iter().zip(on(device));
                wrong.extend(ops.iter().zip(results).filter_map(|(op, (expected, got))| {
                    let distances = expected.iter().zip(&got).map(|(&e, &g)| R::distance(e, g));
                    let (i, worst) = distances.enumerate().max_by_key(|&(_, distance)| distance)?;
                    // Of inexact functions tests/it/accuracy.rs holds the bound, against a better reference: two
                    // results within it may be twice as far apart, and of another unit near zeros.
                    let apart = if op.ulp_from() > 0.0 { u64::MAX } else { 2 * u64::from(op.ulp(T::DTYPE)) };
                    let operands: Vec<T> = lists.iter().map(|list| list[i]).collect();
                    let (name, on, got, right) = (op.name, device.name(), got[i], expected[i]);
                    (worst > apart).then(|| {
                        format!("{name} of {operands:?} on {on}: {got:?}, on the CPU {right:?}, {worst} ulp of {apart}")
                    })
                }));
            }
        }
    }
    wrong
}

macro_rules! sweeps {
    ($($test:ident $t:ident;)*) => {$(
        #[test]
        fn $test() {
            let of = |is_bool: bool| -> Vec<Operation> {
                let result = |op: &Operation| op.result(<$t>::DTYPE).map(|result| result == DType::Bool);
                operations().filter(|op| result(op) == Some(is_bool)).collect()
            };
            let (truths, values) = (of(true), of(false));
            assert!(truths.len() + values.len() >= 6, "too few operations take {}", <$t>::DTYPE);
            let mut wrong = sweep::<$t, bool>(&truths);
            wrong.extend(sweep::<$t, $t>(&values));
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
            adapters().for_each(crate::common::check_kernels);
        }
    )*};
}
sweeps! {
    every_op_on_f32 f32;
    every_op_on_f64 f64;
    every_op_on_f16 f16;
    every_op_on_bf16 bf16;
    every_op_on_i8 i8;
    every_op_on_i16 i16;
    every_op_on_i32 i32;
    every_op_on_i64 i64;
    every_op_on_u8 u8;
    every_op_on_u16 u16;
    every_op_on_u32 u32;
    every_op_on_u64 u64;
    every_op_on_bool bool;
}

/// Instructions that convert f16 may make every NaN the same.
#[test]
fn signs_and_copies_of_every_16_bits() {
    fn check<T: Samples>(device: &Device, of_bits: fn(u16) -> T, one: T) {
        let all: Vec<T> = (0..=u16::MAX).map(of_bits).collect();
        let x = device.upload(&all, [all.len()]).unwrap();
        let words = |values: Vec<T>| values.into_iter().map(Element::to_bits).collect::<Vec<u64>>();
        let square = |x: Tensor<T>| x.reshape([256, 256]).permute([1, 0]).eval().unwrap();
        let copies = [x.flip(0).eval().unwrap().flip(0).eval().unwrap(), square(square(x.clone()))];
        for copy in copies {
            let copied = words(copy.to_vec().unwrap());
            assert!(copied.into_iter().eq(0..1 << 16), "{} on {}", T::DTYPE, device.name());
        }
        let signs = Expr::<bool>::call("signbit", &[x.expr()]).to_vec().unwrap();
        let ones = Expr::<T>::call("copysign", &[device.upload(&[one], [1]).unwrap().expr(), x.expr()])
            .to_vec()
            .unwrap();
        let negative = words(vec![one])[0] | 1 << 15;
        for (bits, (sign, one_of_sign)) in signs.into_iter().zip(words(ones)).enumerate() {
            let is_right = sign == (bits >> 15 == 1) && sign == (one_of_sign == negative);
            assert!(is_right, "{} {bits:#x} on {}", T::DTYPE, device.name());
        }
    }
    on_each_adapter(|device| {
        check(device, f16::from_bits, f16::ONE);
        check(device, bf16::from_bits, bf16::ONE);
    });
}

fn casts_from<T: Samples>(device: &Device) {
    if lacks::<T>(device) {
        return;
    }
    let values = operands::<T>(1).remove(0);
    let on = |device: &Device| device.upload(&values, [values.len()]).unwrap();
    let (a, b) = (on(&Device::cpu()), on(device));
    macro_rules! to {
        ($($r:ident)*) => {$(if !lacks::<$r>(device) {
            let (expected, got) = (a.cast::<$r>().to_vec().unwrap(), b.cast::<$r>().to_vec().unwrap());
            for (i, (&expected, &got)) in expected.iter().zip(&got).enumerate() {
                assert_eq!(
                    $r::distance(expected, got), 0,
                    "{:?} as {} on {}: {got:?} and not {expected:?}", values[i], stringify!($r), device.name()
                );
            }
        })*};
    }
    to!(f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool);
}

#[test]
fn every_cast() {
    on_each_adapter(|device| {
        casts_from::<f32>(device);
        casts_from::<f64>(device);
        casts_from::<f16>(device);
        casts_from::<bf16>(device);
        casts_from::<i8>(device);
        casts_from::<i16>(device);
        casts_from::<i32>(device);
        casts_from::<i64>(device);
        casts_from::<u8>(device);
        casts_from::<u16>(device);
        casts_from::<u32>(device);
        casts_from::<u64>(device);
        casts_from::<bool>(device);
    });
}

/// The reference itself, against what Rust says.
#[test]
fn casts_are_those_of_rust() {
    let values = operands::<f32>(1).remove(0);
    let x = Device::cpu().upload(&values, [values.len()]).unwrap();
    assert_eq!(x.cast::<i32>().to_vec().unwrap(), values.iter().map(|&x| x as i32).collect::<Vec<_>>());
    assert_eq!(x.cast::<u8>().to_vec().unwrap(), values.iter().map(|&x| x as u8).collect::<Vec<_>>());
    assert_eq!(x.cast::<bool>().to_vec().unwrap(), values.iter().map(|&x| x != 0.0).collect::<Vec<_>>());
}

#[test]
fn select_and_coordinates() {
    on_each_adapter(|device| {
        let x = device.upload(&(0..12).map(|i| i as f32 - 5.5).collect::<Vec<_>>(), [3, 4]).unwrap();
        let kept = x.gt(0.0).select(&x, f32::NAN).to_vec().unwrap();
        assert!(kept[..6].iter().all(|v| v.is_nan()) && kept[6..] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
        let diagonal = x.coordinate(0).eq(x.coordinate(1)).select(1_u8, 0_u8);
        assert_eq!(diagonal.to_vec().unwrap(), [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]);
        let turned = x.coordinate(1).permute([1, 0]).flip(0);
        assert_eq!(turned.to_vec().unwrap(), [3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0]);
        assert_eq!(Expr::iota([2, 3], -1).to_vec_on(device).unwrap(), [0, 1, 2, 0, 1, 2]);
    });
}

#[test]
fn compositions_agree_and_stay_one_kernel() {
    let mut random = Random(3);
    let values: Vec<f32> = (0..4000).map(|_| (random.next() as i32) as f32 / (1u32 << 28) as f32).collect();
    let all = |device: &Device| -> Vec<(&str, Expr<f32>)> {
        let x = device.upload(&values, [values.len()]).unwrap();
        let y = x.flip(0);
        vec![
            ("mul_add", x.mul_add(&y, 0.5)),
            ("lerp", x.lerp(&y, 0.25)),
            ("leaky_relu", x.leaky_relu(0.01)),
            ("elu", x.elu(1.5)),
            ("celu", x.celu(1.5)),
            ("selu", x.selu()),
            ("gelu", x.gelu()),
            ("gelu_tanh", x.gelu_tanh()),
            ("silu", x.silu()),
            ("softplus", x.softplus()),
            ("mish", x.mish()),
            ("softsign", x.softsign()),
            ("hardswish", x.hardswish()),
            ("tanhshrink", x.tanhshrink()),
            ("threshold", x.threshold(1.0, -1.0)),
        ]
    };
    let expected = all(&Device::cpu());
    on_each_adapter(|device| {
        for ((name, expected), (_, got)) in expected.iter().zip(all(device)) {
            for (e, g) in expected.to_vec().unwrap().into_iter().zip(got.to_vec().unwrap()) {
                // A few roundings of numbers up to 64, which sums of parts may cancel.
                assert!((e - g).abs() <= 64.0 * f32::EPSILON, "{name} on {}: {g} and not {e}", device.name());
            }
            let explained = got.explain(device).unwrap();
            assert!(device.name() == "cpu" || explained.to_string().contains("runs: 1 kernel"));
        }
    });
}

/// An integer that is widened in the same kernel has the results of a widened integer that was stored first. A driver's
/// compiler may look through the cast.
#[test]
fn widened_integers_keep_their_sign() {
    fn widened<T: Element>(device: &Device, host: &[T]) {
        let narrow = device.upload(host, [host.len()]).unwrap();
        let wide = narrow.cast::<i64>().eval().unwrap();
        let six = device.full([1], 6_i64).unwrap();
        for op in operations().filter(|op| op.result(DType::I64) == Some(DType::I64) && op.arity <= 2) {
            if !one_of(4, &format!("{} {}", op.name, T::DTYPE)) {
                continue;
            }
            let call = |x: Expr<i64>, first: bool| {
                let mut operands = vec![six.expr(); op.arity];
                operands[if first { 0 } else { op.arity - 1 }] = x;
                Expr::<i64>::call(op.name, &operands).to_vec().unwrap()
            };
            for first in [true, false] {
                let fused = call(narrow.cast(), first);
                let name = device.name();
                assert_eq!(fused, call(wide.expr(), first), "{} of {} on {name}", op.name, T::DTYPE);
            }
        }
    }
    on_each_adapter(|device| {
        widened::<i8>(device, &[3, 127, -128, 85, -4, -1, 0]);
        widened::<i16>(device, &[3, 2025, -18690, 185, -4, i16::MIN, 0]);
        widened::<i32>(device, &[3, 2025, -18690, 185, -4, i32::MIN, i32::MAX]);
        widened::<u32>(device, &[3, 2025, u32::MAX, 185, 1 << 31, 6, 0]);
    });
}
