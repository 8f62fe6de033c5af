//! Series with gaps: reductions that skip NaN, fills, differences and moving windows, beside loops in f64. Every device has
//! the CPU path's bits.

use std::cell::Cell;

use crate::common::{Random, check_kernels, in_turn};
use zerostride::{Between, Device, Element, Expr, Tensor};

/// Rows of a series: some without a gap, some of gaps alone.
fn series(random: &mut Random, rows: usize, length: usize) -> Vec<f32> {
    let mut all = Vec::with_capacity(rows * length);
    for _ in 0..rows {
        let gaps = [0, 0, 30, 70, 100][random.below(5)];
        for _ in 0..length {
            let value = (random.next() >> 44) as f32 / (1 << 18) as f32 - 2.0;
            all.push(if random.chance(gaps) { f32::NAN } else { value });
        }
    }
    all
}

/// The result on the CPU path, which an adapter in turn has too.
fn everywhere<T: Element>(x: &[f32], shape: [usize; 2], expr: impl Fn(&Tensor<f32>) -> Expr<T>) -> Vec<T> {
    thread_local! {
        static CASES: Cell<usize> = const { Cell::new(0) };
    }
    CASES.set(CASES.get() + 1);
    let of = |device: &Device| expr(&device.upload(x, shape).unwrap()).to_vec().unwrap();
    let known = of(&Device::cpu());
    for device in in_turn(CASES.get()) {
        // As text zeros have signs, and NaN is NaN.
        assert_eq!(format!("{:?}", of(device)), format!("{known:?}"), "{}", device.name());
        check_kernels(device);
    }
    known
}

fn near(got: &[f32], expected: impl IntoIterator<Item = f64>, bound: f64, what: &str) {
    for (k, (got, expected)) in got.iter().copied().map(f64::from).zip(expected).enumerate() {
        let agrees =
            got.is_nan() && expected.is_nan() || (got - expected).abs() <= bound * expected.abs().max(1.0);
        assert!(agrees, "{what}, element {k}: {got} and not {expected}");
    }
}

fn valid(row: &[f32]) -> Vec<f64> {
    row.iter().copied().filter(|x| !x.is_nan()).map(f64::from).collect()
}

fn or_nan(values: &[f64], of: impl Fn(&[f64]) -> f64) -> f64 {
    if values.is_empty() { f64::NAN } else { of(values) }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64], correction: f64) -> f64 {
    let left = values.len() as f64 - correction;
    if left <= 0.0 { f64::NAN } else { values.iter().map(|x| (x - mean(values)).powi(2)).sum::<f64>() / left }
}

/// NumPy's quantile of f64, at an index that is rounded to 2^-32.
fn quantile(values: &[f64], q: f64, between: Between) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (q * (values.len() - 1) as f64 * 2_f64.powi(32)).round() / 2_f64.powi(32);
    let (low, high) = (at.floor(), at.ceil());
    let of = |at: f64| sorted[at as usize];
    match between {
        Between::Linear => of(low) + (of(high) - of(low)) * (at - low),
        Between::Lower => of(low),
        Between::Higher => of(high),
        Between::Midpoint => (of(low) + of(high)) / 2.0,
        Between::Nearest => of(at.round_ties_even()),
    }
}

#[test]
fn reductions_skip_gaps() {
    let mut random = Random(17);
    for length in [1, 2, 5, 64, 1000] {
        let x = series(&mut random, 9, length);
        let rows = || x.chunks(length).map(valid);
        let check = |expr: &dyn Fn(&Tensor<f32>) -> Expr<f32>, of: &dyn Fn(&[f64]) -> f64, what: &str| {
            near(&everywhere(&x, [9, length], expr), rows().map(|row| of(&row)), 1e-5, what);
        };
        check(&|x| x.nansum(1), &|row| row.iter().sum(), "nansum");
        check(&|x| x.nanprod(1), &|row| row.iter().product(), "nanprod");
        check(&|x| x.nanmean(1), &|row| mean(row), "nanmean");
        check(&|x| x.nanvar(1, 0), &|row| variance(row, 0.0), "nanvar");
        check(&|x| x.nanstd(1, 1), &|row| variance(row, 1.0).sqrt(), "nanstd");
        check(
            &|x| x.nanmin(1),
            &|row| or_nan(row, |row| row.iter().copied().fold(f64::INFINITY, f64::min)),
            "nanmin",
        );
        check(
            &|x| x.nanmax(1),
            &|row| or_nan(row, |row| row.iter().copied().fold(-f64::INFINITY, f64::max)),
            "nanmax",
        );
        check(
            &|x| x.nanmedian(1),
            &|row| or_nan(row, |row| quantile(row, 0.5, Between::Midpoint)),
            "nanmedian",
        );
        for q in [0.0, 0.1, 0.3, 0.7, 0.75, 1.0] {
            for between in
                [Between::Linear, Between::Lower, Between::Higher, Between::Midpoint, Between::Nearest]
            {
                let expected = |row: &[f64]| or_nan(row, |row| quantile(row, q, between));
                check(
                    &|x| x.nanquantile_with(q, 1, between),
                    &expected,
                    &format!("nanquantile {q} {between:?}"),
                );
            }
        }
        let counts = everywhere(&x, [9, length], |x| x.count_valid(1));
        assert!(counts.iter().copied().eq(rows().map(|row| row.len() as u32)), "{counts:?}");
        let columns = everywhere(&x, [9, length], |x| x.nanmean(0));
        let column = |k: usize| mean(&valid(&x.iter().copied().skip(k).step_by(length).collect::<Vec<_>>()));
        near(&columns, (0..length).map(column), 1e-5, "nanmean of columns");
    }
}

/// Where no element is missing, the answer is that of the function which skips nothing.
#[test]
fn without_gaps_nothing_changes() {
    let mut random = Random(18);
    let x: Vec<f32> = (0..3000).map(|_| (random.next() >> 40) as f32 / 65536.0 - 100.0).collect();
    let x = Device::cpu().upload(&x, [3, 1000]).unwrap();
    let pairs = [
        (x.nansum(1), x.sum(1)),
        (x.nanmean(..), x.mean(..)),
        (x.nanvar(1, 1), x.var(1, 1)),
        (x.nanmin(0), x.min(0)),
        (x.nanmax(0), x.max(0)),
        (x.nanmedian(1), x.median(1)),
        (x.nanquantile(0.3, ..), x.quantile(0.3, ..)),
        (x.nancumsum(1), x.cumsum(1)),
    ];
    for (skips, plain) in pairs {
        let [skips, plain] =
            [skips, plain].map(|x| x.to_vec().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>());
        assert_eq!(skips, plain);
    }
}

#[test]
fn gaps_are_filled_from_either_side() {
    let mut random = Random(19);
    for length in [1, 2, 7, 300, 5000] {
        let x = series(&mut random, 6, length);
        for backward in [false, true] {
            let mut expected = x.clone();
            for row in expected.chunks_mut(length) {
                if backward {
                    row.reverse();
                }
                (1..length).for_each(|k| row[k] = if row[k].is_nan() { row[k - 1] } else { row[k] });
                if backward {
                    row.reverse();
                }
            }
            let filled = everywhere(&x, [6, length], |x| if backward { x.bfill(1) } else { x.ffill(-1) });
            assert_eq!(format!("{filled:?}"), format!("{expected:?}"));
        }
    }
}

#[test]
fn running_extremes() {
    let mut random = Random(20);
    for length in [1, 63, 64, 1025, 5000] {
        let x = series(&mut random, 5, length);
        let scanned = |better: fn(f32, f32) -> bool| {
            let mut all = x.clone();
            for row in all.chunks_mut(length) {
                (1..length).for_each(|k| {
                    let (before, own) = (row[k - 1], row[k]);
                    row[k] =
                        if before.is_nan() || (!own.is_nan() && better(before, own)) { before } else { own };
                });
            }
            all
        };
        let greatest = everywhere(&x, [5, length], |x| x.cummax(1));
        assert_eq!(format!("{greatest:?}"), format!("{:?}", scanned(|a, b| a > b)));
        let least = everywhere(&x, [5, length], |x| x.cummin(1));
        assert_eq!(format!("{least:?}"), format!("{:?}", scanned(|a, b| a < b)));
    }
}

#[test]
fn moving_windows_skip_gaps() {
    let mut random = Random(21);
    for (length, window, least) in [(1, 1, 1), (7, 3, 1), (40, 5, 3), (40, 64, 2), (300, 10, 10)] {
        let x = series(&mut random, 4, length);
        let check = |expr: &dyn Fn(&Tensor<f32>) -> Expr<f32>, of: &dyn Fn(&[f64]) -> f64, what: &str| {
            let expected = (0..4 * length).map(|k| {
                let (row, end) = (k / length * length, k + 1);
                let own = valid(&x[row.max(end.saturating_sub(window))..end]);
                if own.len() < least { f64::NAN } else { of(&own) }
            });
            near(&everywhere(&x, [4, length], expr), expected, 1e-5, what);
        };
        check(&|x| x.rolling_sum(window, least, 1), &|own| own.iter().sum(), "sum");
        check(&|x| x.rolling_mean(window, least, 1), &|own| mean(own), "mean");
        check(&|x| x.rolling_var(window, least, 1), &|own| variance(own, 1.0), "var");
        check(
            &|x| x.rolling_min(window, least, 1),
            &|own| own.iter().copied().fold(f64::INFINITY, f64::min),
            "min",
        );
        check(
            &|x| x.rolling_max(window, least, 1),
            &|own| own.iter().copied().fold(-f64::INFINITY, f64::max),
            "max",
        );
        check(
            &|x| x.rolling_median(window, least, 1),
            &|own| quantile(own, 0.5, Between::Midpoint),
            "median",
        );
    }
}

#[test]
fn mistakes_of_series_are_errors() {
    let x = Device::cpu().upload(&[1.0_f32, 2.0], [2]).unwrap();
    let says = |expr: Expr<f32>, text: &str| assert_eq!(expr.eval().unwrap_err().message(), text);
    says(
        x.rolling_mean(0, 0, 0),
        "rolling_mean of windows of 0 elements, of which 0 must be there: a window has at least 1, and as many as must be \
         there",
    );
    says(x.ffill(1), "axis 1 of [2] is out of range: axes go from -1 to 0");
    says(x.diff(2), "axis 2 of [2] is out of range: axes go from -1 to 0");
    says(x.nanquantile(2.0, 0), "a quantile of 2: it is from 0 to 1");
    // Sizes beyond memory are errors, and no panics.
    let huge = usize::MAX;
    for expr in [x.rolling_sum(huge, 1, 0), x.narrow(0, huge, 1), x.narrow(0, 0, huge), x.take([i64::MAX], 0)]
    {
        assert!(expr.eval().is_err());
    }
    assert_eq!(x.split(huge, 0).unwrap().len(), 1);
    assert!(x.cast::<i32>().one_hot(huge).eval().is_err());
    let none = Device::cpu().zeros::<f32>([0]).unwrap();
    for expr in [none.ffill(0), none.diff(0), none.rolling_sum(3, 1, 0)] {
        assert!(expr.to_vec().unwrap().is_empty());
    }
}

#[test]
fn names_of_other_libraries() {
    let device = Device::cpu();
    let x = device.upload(&[1, 2, 3, 4, 5, 6], [2, 3]).unwrap();
    let shape = |expr: &Expr<i32>| expr.shape().unwrap().to_vec();
    assert_eq!(shape(&x.moveaxis(0, 1)), [3, 2]);
    assert_eq!(x.index_axis(0, -2).to_vec().unwrap(), [1, 2, 3]);
    assert_eq!(x.chunk(2, 1).unwrap().iter().map(|part| shape(part)[1]).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(x.split(2, 0).unwrap().len(), 1);
    assert_eq!(x.slice(1, ..0).split(2, 1).unwrap().len(), 1);
    assert_eq!(x.diagonal(-1).to_vec().unwrap(), [4]);
    assert!(x.diagonal(9).to_vec().unwrap().is_empty());
    assert!(x.diagonal(isize::MIN).to_vec().unwrap().is_empty());
    assert_eq!(x.triu(1).to_vec().unwrap(), [0, 2, 3, 0, 0, 6]);
    assert_eq!(x.tril(-1).to_vec().unwrap(), [0, 0, 0, 4, 0, 0]);
    assert_eq!(x.tril(isize::MAX).to_vec().unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(x.index_axis(0, 0).diag().to_vec().unwrap(), [1, 0, 0, 0, 2, 0, 0, 0, 3]);
    assert_eq!(x.one_hot(3).to_vec().unwrap()[..6], [false, true, false, false, false, true]);
    assert_eq!(x.masked_fill(x.gt(2), 0).sum(..).item().unwrap(), 3);
    let message = |expr: Expr<i32>| expr.eval().unwrap_err().message().to_string();
    assert_eq!(message(x.index_axis(0, 2)), message(x.slice(0, 2..3)));
    assert!(message(x.index_axis(0, 0).triu(0)).starts_with("triu of [3]: it takes at least 2 axes"));
    assert!(message(x.expand_dims(0).t()).starts_with("t of [1, 2, 3], which has 3 axes"));
    assert!(x.split(0, 0).is_err() && x.chunk(0, 0).is_err());
}
