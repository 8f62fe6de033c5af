//! Random numbers: published vectors, the same bits everywhere, and statistics of draws. Keys are fixed, so every run
//! is the same.

use crate::common::{Random, in_turn, on_every_device};
use zerostride::{AnyExpr, DType, Device, Element, Expr, Key};

fn cpu<T: Element>(expr: &Expr<T>) -> Vec<T> {
    expr.to_vec_on(&Device::cpu()).unwrap()
}

/// The bits of floats, as `==` takes zeros for each other.
fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn published_words() {
    // Random123's `kat_vectors`: the counter 0 of the key 0.
    let words = [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];
    on_every_device(|device| {
        assert_eq!(Expr::random_bits([4], 0).to_vec_on(device).unwrap(), words, "{}", device.name());
    });
}

/// On every walk, fused or not, devices have the bits of the CPU path, which the oracle of `common::naive` knows.
#[test]
fn the_same_everywhere() {
    let mut random = Random(1);
    let shapes =
        [vec![], vec![0], vec![1], vec![7], vec![4096], vec![3, 5], vec![64, 64], vec![5, 3, 66], vec![2, 0]];
    for (case, shape) in shapes.into_iter().enumerate() {
        let key = Key::new(random.next());
        let words = Expr::random_bits(&shape[..], key);
        let single = Expr::<f32>::uniform(&shape[..], key);
        let normal = Expr::<f32>::normal(&shape[..], key);
        let sum = normal.sum(..);
        let (known, known_single, known_normal) = (cpu(&words), cpu(&single), cpu(&normal));
        let known_sum = cpu(&sum);
        let fractions: Vec<f32> = known.iter().map(|word| (word >> 8) as f32 / 16_777_216.0).collect();
        assert_eq!(known_single, fractions);
        in_turn(case).for_each(|device| {
            let name = device.name();
            assert_eq!(words.to_vec_on(device).unwrap(), known, "{name}, {shape:?}");
            assert_eq!(bits(&single.to_vec_on(device).unwrap()), bits(&known_single), "{name}, {shape:?}");
            assert_eq!(bits(&normal.to_vec_on(device).unwrap()), bits(&known_normal), "{name}, {shape:?}");
            assert_eq!(bits(&sum.to_vec_on(device).unwrap()), bits(&known_sum), "{name}, {shape:?}");
            for of in [DType::F16, DType::BF16, DType::F64] {
                let drawn = AnyExpr::uniform(of, &shape[..], key).cast(DType::F32);
                let known = drawn.eval_on(&Device::cpu()).unwrap().to_vec::<f32>().unwrap();
                match drawn.eval_on(device) {
                    Ok(drawn) => {
                        assert_eq!(bits(&drawn.to_vec::<f32>().unwrap()), bits(&known), "{name}, {of}")
                    }
                    Err(error) => assert!(error.message().contains("needs the feature"), "{error}"),
                }
            }
        });
    }
}

#[test]
fn views_show_what_stands_there() {
    let (rows, columns) = (37, 66);
    let drawn = Expr::<f32>::normal([rows, columns], 5);
    let known = cpu(&drawn);
    let at = |row: usize, column: usize| known[row * columns + column];
    let transposed: Vec<f32> = (0..columns).flat_map(|c| (0..rows).map(move |r| at(r, c))).collect();
    let cut: Vec<f32> = (3..20).flat_map(|r| (1..columns).rev().step_by(3).map(move |c| at(r, c))).collect();
    let column: Vec<f32> = (0..rows).flat_map(|r| std::iter::repeat_n(at(r, 7), 5)).collect();
    on_every_device(|device| {
        let of = |expr: Expr<f32>| bits(&expr.to_vec_on(device).unwrap());
        assert_eq!(of(drawn.permute([1, 0])), bits(&transposed));
        assert_eq!(of(drawn.slice(0, 3..20).slice(1, 1..).slice_step(1, .., -3)), bits(&cut));
        assert_eq!(of(drawn.slice(1, 7..8).broadcast_to([rows, 5])), bits(&column));
        let x = device.upload(&known, [rows, columns]).unwrap();
        assert_eq!((&x - &drawn).to_vec().unwrap(), vec![0.0; rows * columns]);
        x.slice(0, 1..).assign(drawn.slice(0, ..-1)).unwrap();
        assert_eq!(bits(&x.to_vec().unwrap()[columns..]), bits(&known[..(rows - 1) * columns]));
    });
}

/// Every element is there, and none twice, however large the result: it is computed in parts where a binding is
/// smaller.
#[test]
fn large_results() {
    let count = 5_000_001;
    let words = Expr::random_bits([count], 9);
    let known = cpu(&words);
    on_every_device(|device| assert!(words.to_vec_on(device).unwrap() == known, "{}", device.name()));
}

#[test]
fn mistakes_are_told() {
    let error = Expr::random_bits([1 << 20, 1 << 20], 0).eval_on(&Device::cpu()).unwrap_err();
    assert_eq!(
        error.message(),
        "random numbers of [1048576, 1048576], which has 1099511627776 elements: one key makes 2147483647, so draw parts with a key each"
    );
    for of in [DType::I32, DType::Bool] {
        let error = AnyExpr::uniform(of, [2], 0).eval_on(&Device::cpu()).unwrap_err();
        let text = format!("no uniform numbers of {of}: draw floats or random_bits, and cast them");
        assert_eq!(error.message(), text);
    }
}

/// Pearson's statistic of counts that should be equal, in standard deviations from its mean.
fn chi_square(counts: &[u32]) -> f64 {
    let expected = counts.iter().sum::<u32>() as f64 / counts.len() as f64;
    let sum: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
    let freedom = counts.len() as f64 - 1.0;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn words_are_uniform() {
    for key in [0, 1, 2, u64::MAX] {
        let words = cpu(&Expr::random_bits([1 << 20], key));
        for shift in [0, 8, 16, 24] {
            let mut counts = vec![0; 256];
            words.iter().for_each(|word| counts[(word >> shift) as usize & 255] += 1);
            assert!(chi_square(&counts).abs() < 4.0, "key {key}, bits from {shift}: {}", chi_square(&counts));
        }
        // Pairs of neighbours, and of the same place under the next key.
        let next = cpu(&Expr::random_bits([1 << 20], key.wrapping_add(1)));
        for (what, other) in [("neighbours", words[1..].to_vec()), ("keys", next)] {
            let mut counts = vec![0; 1 << 12];
            words.iter().zip(&other).for_each(|(a, b)| counts[((a >> 26) << 6 | b >> 26) as usize] += 1);
            assert!(chi_square(&counts).abs() < 4.0, "key {key}, pairs of {what}: {}", chi_square(&counts));
        }
    }
}

#[test]
fn numbers_are_uniform() {
    let x = cpu(&Expr::<f64>::uniform([1 << 20], 11));
    let count = x.len() as f64;
    let moment = |power: i32| x.iter().map(|x| x.powi(power)).sum::<f64>() / count;
    for power in 1..=4 {
        let exact = 1.0 / f64::from(power + 1);
        let deviation = ((1.0 / f64::from(2 * power + 1) - exact * exact) / count).sqrt();
        assert!((moment(power) - exact).abs() < 4.0 * deviation, "moment {power}: {}", moment(power));
    }
    assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
}

#[test]
fn normal_numbers_are_normal() {
    let x: Vec<f64> = cpu(&Expr::<f32>::normal([1 << 21], 12)).into_iter().map(f64::from).collect();
    let count = x.len() as f64;
    let moment = |power: i32| x.iter().map(|x| x.powi(power)).sum::<f64>() / count;
    // The variance of x^k is the moment 2k less the square of the moment k.
    for (power, exact, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
        let deviation = f64::sqrt(variance / count);
        assert!((moment(power) - exact).abs() < 4.0 * deviation, "moment {power}: {}", moment(power));
    }
    // By their distribution function they are uniform.
    let mut counts = vec![0; 1000];
    for x in x {
        let below = 0.5 * pxfm::f_erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
        counts[((below * 1000.0) as usize).min(999)] += 1;
    }
    assert!(chi_square(&counts).abs() < 4.0, "{}", chi_square(&counts));
}

/// A normal number is the quantile of its random word.
#[test]
fn normal_numbers_are_quantiles() {
    let shape = [1 << 20];
    let words = cpu(&Expr::random_bits(shape, 13));
    let mut worst = 0.0_f64;
    for (word, x) in words.into_iter().zip(cpu(&Expr::<f32>::normal(shape, 13))) {
        assert_eq!(x.is_sign_negative(), word >> 31 == 1);
        let size = f64::from(x.abs());
        let beyond = f64::from(word << 1 | 1) / 2.0_f64.powi(32);
        // One step of Newton's method leads to the exact number.
        let density = (-size * size / 2.0).exp() * (2.0 / std::f64::consts::PI).sqrt();
        let step = (pxfm::f_erfc(size * std::f64::consts::FRAC_1_SQRT_2) - beyond) / density;
        worst = worst.max(step.abs() / size.max(1.0));
    }
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn keys_differ() {
    let root = Key::new(4);
    let [a, b] = root.split();
    let drawn = |key: Key| cpu(&Expr::random_bits([64], key));
    let all = [root, a, b, root.fold_in(2), a.fold_in(0), Key::new(5), Key::new(4 << 32)];
    for (i, &key) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|&other| drawn(other) != drawn(key)), "{i}");
    }
    assert_eq!(drawn(4.into()), drawn(root));
}
