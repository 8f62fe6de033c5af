//! Fast math: the adapter's builtins are as accurate as WGSL requires, and NaN and infinities are as in precise math.

use crate::common::devices;
use zerostride::{Device, Expr, Math};

/// What WGSL allows ("Accuracy of expressions"): in units in the last place, or absolute.
enum Allowed {
    /// 3 + 2 |x|, plus the roundings of the composed function.
    Exponential(f64),
    /// 3, or 2^-21 between 1/2 and 2.
    Logarithm,
    /// Between -pi and pi.
    Absolute(f64),
}

fn values() -> Vec<f32> {
    let ends = [f32::NAN, f32::INFINITY, 0.0, 1e-30, 1e-7, 1.0, 87.0, 88.7, 89.0, 200.0, 1e10, f32::MAX];
    let inside = (1..2000).map(|i| i as f32 * 0.0015);
    ends.into_iter().chain(inside).flat_map(|x| [x, -x]).collect()
}

fn check(device: &Device, name: &str, exact: fn(f64) -> f64, allowed: &Allowed) {
    let values = values();
    let x = device.upload(&values, [values.len()]).unwrap().expr();
    let got = Expr::<f32>::call(name, &[x]).to_vec().unwrap();
    for (&x, got) in values.iter().zip(got) {
        let exact = exact(f64::from(x)) as f32;
        let say = format!("{name} of {x} on {}: {got} and not {exact}", device.name());
        if !exact.is_finite() || !x.is_finite() {
            assert!(got == exact || (got.is_nan() && exact.is_nan()), "{say}");
            continue;
        }
        let off = (f64::from(got) - f64::from(exact)).abs();
        let ulp = f64::from(f32::from_bits(exact.abs().to_bits() + 1)) - f64::from(exact.abs());
        let bound = match allowed {
            Allowed::Exponential(more) => (3.5 + more + (2.0 + more) * f64::from(x.abs())) * ulp,
            Allowed::Logarithm => (4.0 * ulp).max(2.0_f64.powi(-20)),
            Allowed::Absolute(_) if x.abs() > std::f32::consts::PI => f64::INFINITY,
            Allowed::Absolute(bound) => *bound,
        };
        assert!(off <= bound || exact.abs() < f32::MIN_POSITIVE, "{say}");
    }
}

#[test]
fn builtins_with_the_edges_of_precise_math() {
    for precise in devices() {
        let device = &mut precise.clone();
        device.set_math(Math::Fast);
        assert_eq!(device.math() == Math::Fast, device.name() != "cpu");
        check(device, "exp", f64::exp, &Allowed::Exponential(0.0));
        check(device, "exp2", f64::exp2, &Allowed::Exponential(0.0));
        check(device, "exp10", |x| 10_f64.powf(x), &Allowed::Exponential(6.0));
        check(device, "sigmoid", |x| 1.0 / (1.0 + (-x).exp()), &Allowed::Exponential(2.0));
        check(device, "log", f64::ln, &Allowed::Logarithm);
        check(device, "log2", f64::log2, &Allowed::Logarithm);
        check(device, "log10", f64::log10, &Allowed::Logarithm);
        check(device, "sin", f64::sin, &Allowed::Absolute(2.0_f64.powi(-11)));
        check(device, "cos", f64::cos, &Allowed::Absolute(2.0_f64.powi(-11)));
        check(device, "tanh", f64::tanh, &Allowed::Absolute(1e-5));
        crate::common::check_kernels(device);

        let (bases, exponents) =
            ([0.0, 2.0, -2.0, 1.0, -1.0, f32::INFINITY, -0.5], [0.0, 3.0, -3.0, 0.5, f32::INFINITY]);
        let pairs: Vec<(f32, f32)> = bases.iter().flat_map(|&x| exponents.map(|y| (x, y))).collect();
        let upload = |list: Vec<f32>| device.upload(&list, [pairs.len()]).unwrap().expr();
        let x = upload(pairs.iter().map(|pair| pair.0).collect());
        let got = x.pow(upload(pairs.iter().map(|pair| pair.1).collect())).to_vec().unwrap();
        for ((x, y), got) in pairs.iter().zip(got) {
            let exact = x.powf(*y);
            let near = (got - exact).abs() <= 1e-4 * exact.abs();
            assert!(
                near || got == exact || (got.is_nan() && exact.is_nan()),
                "{x} to the {y}: {got}, not {exact}"
            );
        }
    }
}

/// `set_math` affects a handle and its later tensors. The device is the same.
#[test]
fn handles_choose_for_themselves() {
    for precise in devices() {
        let mut fast = precise.clone();
        fast.set_math(Math::Fast);
        assert!(fast.same(precise) && precise.math() == Math::Precise, "{precise:?}");
        let is_fast = |expr: &Expr<f32>, device: &Device| {
            let explained = expr.explain(device).unwrap();
            explained.wgsl().is_some_and(|text| text.contains("fast_"))
        };
        let has_both = precise.name() != "cpu";
        let (x, y) = (precise.full([1], 0.5_f32).unwrap(), fast.full([1], 0.5_f32).unwrap());
        assert_eq!(is_fast(&y.sin(), y.device()), has_both);
        assert_eq!(is_fast(&y.sin(), &fast), has_both);
        assert!(!is_fast(&x.sin(), precise) && !is_fast(&y.sin(), precise));
        // Of two tensors the first decides, and its choice goes on to the result.
        let modes = [&x + &y, &y + &x].map(|sum| sum.eval().unwrap().device().math() == Math::Fast);
        assert_eq!(modes, [false, has_both]);
        fast.set_math(Math::Precise);
        assert!(!is_fast(&y.sin(), &fast));
        assert_eq!(x.sin().eval().unwrap().item().unwrap(), 0.479_425_54);
    }
}

/// Products of matrices may be contracted and reordered: each addition rounds at most once more.
#[test]
fn products_are_the_adapters_own() {
    let (m, n, k) = (33, 20, 70);
    let number = |i: usize| ((i * 37 % 101) as f32 - 50.0) / 64.0 + 1e-3;
    let [a, b] = [m * k, k * n].map(|count| (0..count).map(number).collect::<Vec<f32>>());
    for precise in devices() {
        let mut device = precise.clone();
        device.set_math(Math::Fast);
        let (x, y) = (device.upload(&a, [m, k]).unwrap(), device.upload(&b, [k, n]).unwrap());
        let got = x.matmul(&y).to_vec().unwrap();
        for (at, got) in got.iter().enumerate() {
            let products = (0..k).map(|i| f64::from(a[at / n * k + i]) * f64::from(b[i * n + at % n]));
            let (exact, size) =
                products.fold((0.0, 0.0), |(sum, size), product| (sum + product, size + product.abs()));
            let off = (f64::from(*got) - exact).abs();
            assert!(off <= k as f64 * 2.0_f64.powi(-24) * size, "element {at} on {}: {got}", device.name());
        }
        crate::common::check_kernels(&device);
    }
}
