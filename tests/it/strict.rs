//! Fused arithmetic has the bits of one operation at a time, on every adapter: no compiler of a driver rewrites `(a +
//! b) - a` to `b` or `x - x` to 0.

mod drawn;
mod identities;

use std::rc::Rc;

use crate::common::case::{Case, Step, Storage};
use crate::common::depth::{depth, is_by_test};
use crate::common::recipe::Recipe;
use crate::common::value::{Value, least, nearest};
use crate::common::{Random, adapters, check_kernels, devices, takes};
use drawn::{ELEMENTS, OPERANDS, operands, random_recipes};
use identities::identities;
use zerostride::{DType, Device, Explain, Expr, Math, Tensor, bf16};

/// Floats of the type's whole range, of a range in which sums lose digits but little overflows, and
/// special ones.
fn draw(of: DType, random: &mut Random) -> f64 {
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.5, 3.0, 65504.0];
    let exponent = |range: usize, random: &mut Random| random.below(2 * range + 1) as i32 - range as i32;
    loop {
        let fraction = 1.0
            + random.below(1 << 24) as f64 / f64::from(1 << 24)
            + random.below(1 << 20) as f64 / 2_f64.powi(50);
        let power = match random.below(10) {
            0 => return nearest(special[random.below(special.len())], of),
            1 => exponent(140, random),
            2 => exponent(2, random),
            _ => exponent(30, random),
        };
        let x = nearest(if random.chance(50) { fraction } else { -fraction } * 2_f64.powi(power), of);
        // Subnormal operands may be flushed.
        if x == 0.0 || x.abs() >= least(of) {
            return x;
        }
    }
}

fn data(of: DType, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random(seed);
    (0..OPERANDS).map(|_| (0..ELEMENTS).map(|_| draw(of, &mut random)).collect()).collect()
}

/// Compares recipes on every device with their values by one operation at a time.
fn check(of: DType, recipes: &[Recipe], seed: u64) {
    let storage = |values: Vec<f64>| Storage {
        dtype: of,
        shape: vec![ELEMENTS],
        values: Rc::new(values.into_iter().map(Value::Float).collect()),
    };
    let storages: Vec<Storage> = data(of, seed).into_iter().map(storage).collect();
    // Other types are fenced as f32 is, so several of their recipes are a kernel.
    let results = if of == DType::F32 { 1 } else { 4 };
    let case = |own: &[Recipe]| Case { storages: storages.clone(), steps: vec![Step::Eval(own.to_vec())] };
    let cases: Vec<Case> = recipes.chunks(results).map(case).collect();
    let expected: Vec<_> = cases.iter().map(Case::expected).collect();
    let closed: usize = expected.iter().flatten().map(|own| own.closed()).sum();
    assert!(closed * 2 > recipes.len() * ELEMENTS, "most elements are open: {closed}");
    for device in devices() {
        // So does each of their kernels run on one adapter in turn.
        let is_run = |number: usize| of == DType::F32 && !is_by_test() || takes(number, device);
        let wrong: Vec<String> = (cases.iter().zip(&expected).enumerate())
            .filter_map(|(number, own)| is_run(number).then_some(own))
            .filter_map(|(case, expected)| Some(format!("{}\n{case}", case.differs(device, expected)?)))
            .collect();
        let (count, all) = (wrong.len(), recipes.len());
        assert!(wrong.is_empty(), "{count} of {all} recipes of {of}: {}", wrong.join("\n"));
        // Writing them takes longer than running them.
        if seed == 1 {
            check_kernels(device);
        }
    }
}

#[test]
fn identities_are_not_folded_f32() {
    check(DType::F32, &identities(&operands(DType::F32)), 1);
}

/// A quick run takes every eighth: other types are fenced as f32 is.
fn some_identities(of: DType) -> Vec<Recipe> {
    identities(&operands(of)).into_iter().step_by(depth(8, 1)).collect()
}

#[test]
fn identities_are_not_folded_f64() {
    check(DType::F64, &some_identities(DType::F64), 2);
}

#[test]
fn identities_are_not_folded_f16() {
    check(DType::F16, &some_identities(DType::F16), 3);
}

#[test]
fn identities_are_not_folded_bf16() {
    check(DType::BF16, &some_identities(DType::BF16), 4);
}

/// Recipes of a type, from a seed; `ZEROSTRIDE_STRICT=seed,count` draws others.
fn check_random(of: DType, seed: u64, count: usize) {
    let chosen = std::env::var("ZEROSTRIDE_STRICT").ok();
    let chosen = chosen.as_deref().and_then(|text| text.split_once(','));
    let (seed, count) =
        chosen.map_or((seed, count), |(seed, count)| (seed.parse().unwrap(), count.parse().unwrap()));
    println!("seed {seed}, {count} recipes");
    check(of, &random_recipes(of, seed, count), seed);
}

#[test]
fn random_recipes_f32() {
    check_random(DType::F32, 11, depth(25, 200));
}

#[test]
fn random_recipes_f64() {
    check_random(DType::F64, 12, depth(12, 100));
}

#[test]
fn random_recipes_f16() {
    check_random(DType::F16, 13, depth(12, 60));
}

#[test]
fn random_recipes_bf16() {
    check_random(DType::BF16, 14, depth(12, 60));
}

/// Without fences llvmpipe rewrites most of these, so the test above can fail.
#[test]
fn fast_math_is_rewritten() {
    let Some(device) = devices().iter().find(|device| device.name().contains("llvmpipe")) else { return };
    let mut fast = device.clone();
    fast.set_math(Math::Fast);
    let data: Vec<Vec<f32>> =
        data(DType::F32, 1).iter().map(|all| all.iter().map(|&x| x as f32).collect()).collect();
    let [a, b] = [0, 1].map(|i| fast.upload(&data[i], [ELEMENTS]).unwrap());
    let sum = |i: usize| data[0][i] + data[1][i];
    let got = ((&a + &b) - &a).to_vec().unwrap();
    let rewritten = (0..ELEMENTS).filter(|&i| got[i] == data[1][i] && sum(i) - data[0][i] != data[1][i]);
    assert!(rewritten.count() > ELEMENTS / 4);
    let text = ((&a + &b) - &a).explain(&fast).unwrap();
    assert!(text.wgsl().is_some_and(|text| !text.contains("p.zero")));
}

/// Where nothing can be rewritten there is no fence.
#[test]
fn lone_operations_have_no_fence() {
    adapters().for_each(check_fences_of);
}

#[allow(clippy::eq_op)] // what meets itself is fenced
fn check_fences_of(device: &Device) {
    let x = device.zeros::<f32>([64, 64]).unwrap();
    let row = device.zeros::<f32>([64]).unwrap();
    // Rounded by its bits on every adapter; f16 may be by a type, which a compiler may leave out.
    let half = device.zeros::<bf16>([64, 64]).unwrap();
    let bytes = device.zeros::<u8>([64, 64]).unwrap();
    // A step's fence has a name. Functions have their own fences, such as products where subnormals are flushed.
    let has_fence = |text: Explain| {
        text.wgsl()
            .unwrap()
            .lines()
            .any(|line| line.trim_start().starts_with("let zero") && line.contains("p.zero"))
    };
    let unfenced = [
        (&x + &row).explain(device),
        (&x * &x).explain(device),
        x.lt(&row).select(&x, &row).explain(device),
        x.cast::<i32>().cast::<f32>().explain(device),
        (bytes.cast::<f32>() / 255.0).permute([1, 0]).explain(device),
        ((&half + bf16::from_f32(1.0)) * &half - &half.transpose(0, 1)).explain(device),
        x.is_nan().select(0.0, &x).explain(device),
        x.is_inf().explain(device),
        x.cast::<bool>().explain(device),
    ];
    for text in unfenced {
        assert!(!has_fence(text.unwrap()), "{}", device.name());
    }
    let fenced = [
        (&x - &x).explain(device),
        (&x + &row + &row).explain(device),
        // What looks at the bits of a result reads it.
        (&x + &row).is_inf().explain(device),
        x.abs().is_finite().explain(device),
        (&x * &row).cast::<bool>().explain(device),
        (&x * &row).max(1).explain(device),
    ];
    for text in fenced {
        assert!(has_fence(text.unwrap()), "{}", device.name());
    }
}

/// The sum and what its rounding lost (Knuth).
fn two_sum(a: &Expr<f32>, b: &Expr<f32>) -> (Expr<f32>, Expr<f32>) {
    let sum = a + b;
    let part = &sum - a;
    let lost = (a - (&sum - &part)) + (b - part);
    (sum, lost)
}

fn both(a: &Expr<f32>, b: &Expr<f32>) -> (Tensor<f32>, Tensor<f32>) {
    let results = Expr::eval_all(&[a.clone(), b.clone()]).unwrap();
    (results[0].clone(), results[1].clone())
}

/// A dot product of a million terms by operators alone: products and sums with their error terms
/// (Ogita, Rump and Oishi, Accurate sum and dot product, 2005).
#[test]
fn compensated_dot_product() {
    const TERMS: usize = 1_000_000;
    let mut random = Random(3);
    let mut draw =
        || (random.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0) * 2_f32.powi(random.below(12) as i32);
    let x: Vec<f32> = (0..TERMS).map(|_| draw()).collect();
    let y: Vec<f32> = (0..TERMS).map(|_| draw()).collect();
    // Exact: every product is an integer times 2^-46.
    let scaled = |x: f32| (f64::from(x) * f64::from(1 << 23)) as i128;
    let exact: i128 = x.iter().zip(&y).map(|(&x, &y)| scaled(x) * scaled(y)).sum();
    let exact = exact as f64 / 2_f64.powi(46);
    for device in devices() {
        let (x, y) = (device.upload(&x, [TERMS]).unwrap().expr(), device.upload(&y, [TERMS]).unwrap().expr());
        let product = &x * &y;
        let lost = x.fma(&y, -&product);
        let (mut high, mut low) = both(&product, &lost);
        while high.shape()[0] > 1 {
            let length = high.shape()[0] as isize;
            let half = length / 2;
            let parts = |t: &Tensor<f32>| [0..half, half..2 * half].map(|range| t.slice(0, range));
            let ([a, b], [a_low, b_low]) = (parts(&high), parts(&low));
            let (sum, lost) = two_sum(&a, &b);
            let rest = lost + (a_low + b_low);
            let (next, next_low) = both(&sum, &rest);
            if length % 2 == 1 {
                // The remaining terms are added to the first.
                let last = |t: &Tensor<f32>| t.slice(0, length - 1..);
                let first = |t: &Tensor<f32>| t.slice(0, ..1);
                let (sum, lost) = two_sum(&first(&next), &last(&high));
                let rest = lost + (first(&next_low) + last(&low));
                let (a, b) = both(&sum, &rest);
                first(&next).assign(&a).unwrap();
                first(&next_low).assign(&b).unwrap();
            }
            (high, low) = (next, next_low);
        }
        let got = (&high + &low).to_vec().unwrap()[0];
        let ulp = f64::from(f32::from_bits(got.abs().to_bits() + 1)) - f64::from(got.abs());
        let off = (f64::from(got) - exact).abs() / ulp;
        assert!(off < 2.0, "{off} units off on {}: {got} and not {exact}", device.name());
    }
}
