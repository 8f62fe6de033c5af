//! Values at the ends of their types: ranges between the largest numbers, infinities, NaN.

use crate::common::{Random, depth::depth, in_turn, on_every_device};
use zerostride::{Between, Device, ErrorKind, Expr, Float, Numeric, Tensor, bf16, f16};

/// A float type with its largest number, and the distance of neighbours at 1.
trait Ranged: Float + Numeric {
    const LARGEST: f64;
    const UNIT: f64;
    fn wide(self) -> f64;
}

macro_rules! ranged {
    ($($t:ident $unit:expr, |$x:ident| $wide:expr;)*) => {$(
        impl Ranged for $t {
            const LARGEST: f64 = { let $x = $t::MAX; $wide };
            const UNIT: f64 = $unit;
            fn wide(self) -> f64 {
                let $x = self;
                $wide
            }
        }
    )*};
}
ranged! {
    f16 1.0 / 1024.0, |x| x.to_f64_const();
    bf16 1.0 / 128.0, |x| x.to_f64_const();
    f32 f32::EPSILON as f64, |x| x as f64;
    f64 f64::EPSILON, |x| x;
}

/// Some ends of ranges, from tiny to the largest.
fn ends(random: &mut Random, largest: f64) -> [f64; 2] {
    let mut end = || {
        let size = match random.below(4) {
            0 => largest,
            1 => largest / 2.0,
            2 => 1.0,
            _ => random.below(1000) as f64 / 8.0,
        };
        if random.chance(2) { size } else { -size }
    };
    [end(), end()]
}

fn linspaces<T: Ranged>(device: &Device, random: &mut Random) {
    if device.supports(T::DTYPE).is_err() {
        return;
    }
    let [from, to] = ends(random, T::LARGEST);
    let count = [1, 2, 3, 4, 5, 100, 2049, 70_001][random.below(8)];
    let what = format!("{count} {} from {from} to {to} on {}", T::DTYPE, device.name());
    let x: Tensor<T> = Expr::linspace(from, to, count).eval_on(device).unwrap();
    let all: Vec<f64> = x.to_vec().unwrap().into_iter().map(T::wide).collect();
    assert_eq!(all[0], T::from_f64(from).wide(), "{what}");
    if count > 1 {
        assert_eq!(all[count - 1], T::from_f64(to).wide(), "{what}");
    }
    let largest = from.abs().max(to.abs());
    for (i, &x) in all.iter().enumerate().skip(1) {
        let share = i as f64 / (count - 1) as f64;
        let right = from * (1.0 - share) + to * share;
        // The step is rounded, then each product and each sum, and the result to 16 bits.
        assert!(
            (x - right).abs() / 4.0 <= largest / 4.0 * T::UNIT * 2.0,
            "{x} and not {right} at {i} of {what}"
        );
    }
}

fn aranges<T: Ranged>(device: &Device, random: &mut Random) {
    if device.supports(T::DTYPE).is_err() {
        return;
    }
    let [from, to] = ends(random, T::LARGEST);
    let parts = [1.0, 2.0, 3.0, 7.0, 66_000.0][random.below(5)];
    let by = to / parts - from / parts;
    if by == 0.0 {
        return;
    }
    let what = format!("{} from {from} to {to} by {by} on {}", T::DTYPE, device.name());
    let x: Tensor<T> = Expr::arange(from, to, by).eval_on(device).unwrap();
    let all: Vec<f64> = x.to_vec().unwrap().into_iter().map(T::wide).collect();
    assert!((parts..=parts + 1.0).contains(&(all.len() as f64)), "{} of {what}", all.len());
    assert_eq!(all[0], T::from_f64(from).wide(), "{what}");
    let largest = from.abs().max(to.abs());
    for (i, &x) in all.iter().enumerate() {
        // In quarters, which do not overflow.
        let right = (from / 4.0 + i as f64 * (by / 4.0)) * 4.0;
        assert!(
            (x - right).abs() / 4.0 <= largest / 4.0 * T::UNIT * 2.0,
            "{x} and not {right} at {i} of {what}"
        );
    }
}

#[test]
fn ranges_between_the_largest_numbers() {
    for case in 0..depth(60, 600) {
        for device in in_turn(case) {
            let mut random = Random(case as u64 + 1);
            match case % 4 {
                0 => (linspaces::<f32>(device, &mut random), aranges::<f32>(device, &mut random)),
                1 => (linspaces::<f16>(device, &mut random), aranges::<f16>(device, &mut random)),
                2 => (linspaces::<f64>(device, &mut random), aranges::<f64>(device, &mut random)),
                _ => (linspaces::<bf16>(device, &mut random), aranges::<bf16>(device, &mut random)),
            };
        }
    }
}

#[test]
fn ranges_that_leave_their_type_are_errors() {
    let cpu = Device::cpu();
    let says = |kind: ErrorKind, error: zerostride::Error| {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.location().is_some_and(|at| at.file() == file!()), "{error}");
    };
    says(ErrorKind::Type, Expr::<f16>::arange(0, 70_000, 1).eval_on(&cpu).unwrap_err());
    says(ErrorKind::Type, Expr::<f32>::linspace(0, 1e300, 2).eval_on(&cpu).unwrap_err());
    says(ErrorKind::Data, Expr::<f64>::linspace(0, f64::INFINITY, 2).eval_on(&cpu).unwrap_err());
    says(ErrorKind::Data, Expr::<f64>::arange(f64::NAN, 1, 1).eval_on(&cpu).unwrap_err());
    says(ErrorKind::Overflow, Expr::<f32>::eye(1 << 40, 1 << 40).eval_on(&cpu).unwrap_err());
    // A step that is never taken may be any number.
    assert_eq!(Expr::<f32>::arange(1, 2, 1e300).to_vec_on(&cpu).unwrap(), [1.0]);
    assert_eq!(
        Expr::<f64>::linspace(f64::MIN, f64::MAX, 3).to_vec_on(&cpu).unwrap(),
        [f64::MIN, 0.0, f64::MAX]
    );
}

#[test]
fn quantiles_between_infinities() {
    const ALL: [Between; 5] =
        [Between::Linear, Between::Lower, Between::Higher, Between::Midpoint, Between::Nearest];
    fn of<T: Ranged>(device: &Device) {
        if device.supports(T::DTYPE).is_err() {
            return;
        }
        let infinity = f64::INFINITY;
        let of = |values: [f64; 4], q: f64, between: Between| {
            let x = device.upload(&values.map(T::from_f64), [4]).unwrap();
            x.quantile_with(q, 0, between).item().unwrap().wide()
        };
        for between in ALL {
            for q in [0.0, 0.2, 0.5, 0.7, 1.0] {
                assert_eq!(of([infinity; 4], q, between), infinity, "{between:?} {q}");
                assert_eq!(of([-infinity; 4], q, between), -infinity, "{between:?} {q}");
                assert!(of([1.0, f64::NAN, infinity, 2.0], q, between).is_nan());
            }
            assert_eq!(of([infinity, 1.0, infinity, 2.0], 0.9, between), infinity);
            // Equal numbers, and zeros, whose distance is +0.
            assert_eq!(of([3.0; 4], 0.4, between), 3.0);
        }
        assert_eq!(of([-0.0; 4], 0.4, Between::Linear).to_bits(), 0.0_f64.to_bits());
        let x = device.upload(&[T::from_f64(infinity); 2], [2]).unwrap();
        assert_eq!(x.median(0).item().unwrap().wide(), infinity);
    }
    on_every_device(|device| {
        of::<f32>(device);
        of::<f16>(device);
        of::<f64>(device);
    });
}

#[test]
fn a_threshold_keeps_nan() {
    on_every_device(|device| {
        let x = device.upload(&[f32::NAN, 1.0, 1.5, f32::NEG_INFINITY, f32::INFINITY], [5]).unwrap();
        let y = x.threshold(1.0, 20.0).to_vec().unwrap();
        assert!(y[0].is_nan());
        assert_eq!(y[1..], [20.0, 1.5, 20.0, f32::INFINITY]);
    });
}

#[test]
fn histograms_at_the_ends() {
    let x = Device::cpu().upload(&[f64::MIN, 0.0, f64::MAX], [3]).unwrap();
    let error = x.histogram(4, (f64::MIN, f64::MAX)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    for bins in [0, (1 << 24) + 1] {
        let error = x.histogram(bins, (0.0, 1.0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    }
    assert_eq!(x.histogram(2, (f64::MIN / 2.0, f64::MAX / 2.0)).unwrap().0.to_vec().unwrap(), [0, 1]);
}

/// A panic of a user's function leaves old and new elements mixed, so every read of the destination is an error.
#[test]
fn a_destination_of_a_panic_is_poisoned() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let device = Device::cpu();
    let careful = zerostride::Function::new(
        "careful",
        "fn careful(x: vec4<f32>) -> vec4<f32> { return x; }",
        |x: f32| if x == 70_000.0 { panic!("on purpose") } else { x + 1.0 },
    )
    .unwrap();
    let x: Tensor<f32> = Expr::arange(0, 100_000, 1).eval_on(&device).unwrap();
    let other = device.zeros::<f32>([100_000]).unwrap();
    for to in [&x, &other] {
        let outcome = catch_unwind(AssertUnwindSafe(|| to.assign(careful.call(&x))));
        assert!(outcome.is_err(), "a panic is the caller's");
        let error = to.to_vec().unwrap_err();
        assert_eq!(
            error.message(),
            "a function panicked while its results were written: write all elements again"
        );
        assert!(error.location().is_some_and(|at| at.file() == file!()), "{error}");
        assert!((to + 1.0).eval().is_err());
        to.assign(Expr::arange(0, 100_000, 1)).unwrap();
        assert_eq!(to.get([99_999]).unwrap(), 99_999.0);
    }
    // What is computed anew leaves every tensor as it was.
    assert!(catch_unwind(AssertUnwindSafe(|| careful.call(&x).eval())).is_err());
    assert!(
        catch_unwind(AssertUnwindSafe(|| x.slice(0, 1..).assign(careful.call(x.slice(0, ..99_999)))))
            .is_err()
    );
    assert_eq!(x.get([0]).unwrap(), 0.0);
}
