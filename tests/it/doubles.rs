//! f64 on adapters without it: elements move, are compared and cast. Arithmetic is refused.

use zerostride::{AnyExpr, DType, Device, ErrorKind, ReduceOptions, bf16, f16};

use crate::common::{Random, cases_of, on_each_adapter, on_every_device};

/// Numbers of every kind: around the ends of f32 and of f64, halfway between floats of f32, and random bits.
fn numbers(random: &mut Random, count: usize) -> Vec<f64> {
    let tiny = f64::from(f32::MIN_POSITIVE);
    let half = 1.0 + f64::from(f32::EPSILON) / 2.0;
    let ends =
        [0.0, 1.0, half, half + f64::EPSILON, 3.0 * half, tiny, tiny / 3.0, tiny / 1e7, 1e-46, 7e-46, 1e-300];
    let large =
        [f64::from(f32::MAX), 3.4028235677973366e38, 3.5e38, f64::MAX, f64::INFINITY, f64::NAN, 5e-324];
    let known = ends.into_iter().chain(large).flat_map(|x| [x, -x]);
    let drawn = std::iter::repeat_with(|| match random.below(3) {
        0 => f64::from_bits(random.next()),
        1 => f64::from(f32::from_bits(random.next() as u32)),
        _ => random.below(9) as f64 / 4.0 - 1.0,
    });
    known.chain(drawn).take(count).collect()
}

/// Results as bits, where any NaN is one.
fn bits(expr: &AnyExpr, what: &str) -> Vec<u64> {
    let dtype = expr.dtype().unwrap();
    let bytes = expr.to_bytes().unwrap_or_else(|error| panic!("{what}: {error}"));
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |word, &byte| word << 8 | u64::from(byte));
    let is_nan = |bits: u64| match dtype {
        DType::F64 => f64::from_bits(bits).is_nan(),
        DType::F32 => f32::from_bits(bits as u32).is_nan(),
        DType::F16 => f16::from_bits(bits as u16).is_nan(),
        DType::BF16 => bf16::from_bits(bits as u16).is_nan(),
        _ => false,
    };
    let words = bytes.chunks_exact(dtype.size()).map(word);
    words.map(|bits| if is_nan(bits) { 1 } else { bits }).collect()
}

/// Everything that f64 does without arithmetic, of two matrices.
fn all(x: &AnyExpr, y: &AnyExpr, lookup: &AnyExpr) -> Vec<(String, AnyExpr)> {
    let mut all = Vec::new();
    for name in ["min", "max", "fmin", "fmax", "copysign", "eq", "ne", "lt", "le", "gt", "ge"] {
        all.push((name.to_string(), AnyExpr::call(name, &[x.clone(), y.clone()])));
    }
    for name in ["neg", "abs", "positive", "signbit", "is_nan", "is_inf", "is_finite"] {
        all.push((name.to_string(), AnyExpr::call(name, std::slice::from_ref(x))));
    }
    let low = AnyExpr::scalar(DType::F64, -0.5);
    all.push(("clamp".into(), AnyExpr::call("clamp", &[x.clone(), low, y.slice(0, ..1)])));
    for of in DType::ALL.into_iter().filter(|&of| of != DType::F64) {
        all.push((format!("to {of}"), x.cast(of)));
        all.push((format!("from {of}"), x.cast(of).cast(DType::F64)));
    }
    for name in ["min", "max", "argmin", "argmax"] {
        for axis in [0, 1] {
            all.push((format!("{name} of axis {axis}"), x.reduce(name, axis, ReduceOptions::default())));
        }
    }
    for name in ["min", "max", "argmin", "argmax"] {
        all.push((name.to_string(), x.reduce(name, [0, 1], ReduceOptions::default())));
    }
    let greatest = x.reduce("max", 1, ReduceOptions::default().keepdim());
    all.push(("rows".into(), AnyExpr::call("eq", &[x.clone(), greatest])));
    all.push(("select".into(), AnyExpr::call("lt", &[x.clone(), y.clone()]).select(y, x.slice(0, ..1))));
    for (name, view) in [
        ("transpose", x.transpose(0, 1)),
        ("flip", x.flip(1)),
        ("slice", x.slice(1, 1..)),
        ("stretched", x.slice(1, 3..4).broadcast_to([44, 3])),
        ("steps", x.slice_step(0, .., 3)),
    ] {
        all.push((name.into(), view.clone()));
        all.push((format!("computed {name}"), AnyExpr::call("neg", &[view])));
    }
    all.push(("concat".into(), AnyExpr::concat(&[x.clone(), y.clone()], 1)));
    all.push(("take".into(), x.take(lookup, 0)));
    all.push(("sort".into(), x.sort(0)));
    all.push(("argsort".into(), x.argsort(1)));
    all
}

#[test]
fn elements_move_and_are_compared_and_cast() {
    on_every_device(|device| {
        let mut random = Random(3);
        let mut y = numbers(&mut random, 44 * 9);
        y.reverse();
        let (x, indices) = (numbers(&mut random, 44 * 9), [3, 0, 43, 7, 7]);
        let on = |device: &Device| {
            let [x, y] = [&x, &y].map(|own| AnyExpr::from(device.upload(own, [44, 9]).unwrap()));
            let lookup = AnyExpr::from(device.upload(&indices, [5]).unwrap());
            all(&x, &y, &lookup)
        };
        let all = on(&Device::cpu()).into_iter().zip(on(device));
        for ((what, known), (_, own)) in cases_of(device, all) {
            assert_eq!(bits(&own, &what), bits(&known, &what), "{what} on {}", device.name());
        }
        // Into parts of a tensor.
        let to = device.upload(&x, [44, 9]).unwrap();
        let part = to.slice_step(0, .., 2).tensor().unwrap();
        part.assign(-part.expr()).unwrap();
        let known = x.iter().enumerate().map(|(i, &x)| if i / 9 % 2 == 0 { -x } else { x });
        assert!(to.to_vec().unwrap().iter().zip(known).all(|(a, b)| a.total_cmp(&b).is_eq() || b.is_nan()));
        assert_eq!(device.full([3], 0.1_f64).unwrap().to_vec().unwrap(), [0.1; 3]);
    });
}

/// Numbers at and beside each power of two and halfway between integers, the ends of f64, and random bits.
fn near_integers(random: &mut Random) -> Vec<f64> {
    let ends = [0.0, 0.75, 1.5, 2.5, 5e-324, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, f64::NAN];
    let powers = (-2..70).map(|power| 2.0_f64.powi(power));
    let beside = powers.flat_map(|x| [x.next_down(), x, x.next_up(), x - 1.0, x + 1.0, x - 0.5, x + 0.5]);
    let drawn = (0..2000).map(|i| match i % 2 {
        0 => f64::from_bits(random.next()),
        _ => random.next() as f64 / 2.0_f64.powi(random.below(70) as i32),
    });
    ends.into_iter().chain(beside).chain(drawn).flat_map(|x| [x, -x]).collect()
}

/// Integers at and beside each power of two, halfway between floats of 53 bits, and random bits of every length.
fn integers(random: &mut Random) -> Vec<u64> {
    let mut all = vec![0, u64::MAX];
    for power in 0..64_u32 {
        let (first, step) = (1_u64 << power, 1 << power.saturating_sub(53));
        let halfway = [first + step, first.wrapping_add(3 * step), (first << 1).wrapping_sub(step)];
        all.extend(
            [first].into_iter().chain(halfway).flat_map(|x| [x.wrapping_sub(1), x, x.wrapping_add(1)]),
        );
    }
    all.extend((0..2000).map(|_| random.next() >> random.below(64)));
    all.iter().flat_map(|&x| [x, x.wrapping_neg()]).collect()
}

/// Rust's `as` is the rule: truncated and saturated to integers, NaN to 0, and rounded once to f64.
#[test]
fn casts_of_f64_and_integers_are_rusts() {
    on_each_adapter(|device| {
        let mut random = Random(72);
        let (x, wide) = (near_integers(&mut random), integers(&mut random));
        let doubles = device.upload(&x, [x.len()]).unwrap();
        macro_rules! check {
            ($($t:ident)*) => {$({
                let got = doubles.cast::<$t>().to_vec().unwrap();
                for (&x, got) in x.iter().zip(got) {
                    assert_eq!(got, x as $t, "{x:e} to {} on {}", stringify!($t), device.name());
                }
                let own: Vec<$t> = wide.iter().map(|&x| x as $t).collect();
                let got = device.upload(&own, [own.len()]).unwrap().cast::<f64>().to_vec().unwrap();
                for (&x, got) in own.iter().zip(got) {
                    assert_eq!(got.to_bits(), (x as f64).to_bits(), "{x}_{} on {}", stringify!($t), device.name());
                }
            })*};
        }
        check!(i8 u8 i16 u16 i32 u32 i64 u64);
        assert!(x.iter().map(|&x| x != 0.0).eq(doubles.cast::<bool>().to_vec().unwrap()));
        let flags: Vec<bool> = wide.iter().map(|x| x % 2 == 1).collect();
        let got = device.upload(&flags, [flags.len()]).unwrap().cast::<f64>().to_vec().unwrap();
        assert!(
            flags.iter().map(|&flag| f64::from(u8::from(flag)).to_bits()).eq(got.iter().map(|x| x.to_bits()))
        );
    });
}

#[test]
fn arithmetic_names_the_remedy() {
    on_each_adapter(|device| {
        if device.supports(DType::F64).is_ok() {
            return;
        }
        let x = device.upload(&[1.0, 2.0], [2]).unwrap();
        let column = x.reshape([2, 1]);
        for (what, expr) in [
            ("add", AnyExpr::from(&x + 1.0)),
            ("exp", AnyExpr::from(x.exp())),
            ("floor", AnyExpr::from(x.floor())),
            ("sum", AnyExpr::from(x.sum(0))),
            ("sum", AnyExpr::from(x.cumsum(0))),
            ("a product", AnyExpr::from(x.reshape([1, 2]).matmul(&column))),
        ] {
            let error = expr.eval().unwrap_err();
            let text = format!("{what} of f64 needs the feature SHADER_F64, which {} lacks", device.name());
            assert!(error.kind() == ErrorKind::Limit && error.message().contains(&text), "{error}");
            assert!(error.message().contains("cast to f32, or compute on Device::cpu()"), "{error}");
        }
    });
}
