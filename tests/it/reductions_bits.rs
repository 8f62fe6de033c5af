//! Reductions on the CPU path: bit for bit the contract's order, for any layout, threads and computed operand, and
//! within the contract's bound of the exact sum.

use std::process::Command;
use std::rc::Rc;

use crate::common::case::{Case, Step, Storage};
use crate::common::depth::{depth, hash};
use crate::common::recipe::{Recipe, View};
use crate::common::reduce::Reduction;
use crate::common::value::Value;
use crate::common::{Random, without_adapters};
use zerostride::{DType, Device, Tensor};

/// Reductions whose bits are known, of floats.
const EXACT: [&str; 16] = [
    "sum",
    "mean",
    "prod",
    "min",
    "max",
    "argmin",
    "argmax",
    "l1",
    "l2",
    "sum_square",
    "var",
    "std",
    "cumsum",
    "cumprod",
    "cummax",
    "cummin",
];

fn floats(of: DType, count: usize, random: &mut Random) -> Rc<Vec<Value>> {
    let digits = if of == DType::F32 || of == DType::F64 { 20 } else { 7 };
    let value = |random: &mut Random| {
        let x = (random.next() >> (64 - digits)) as f64 / f64::from(1 << (digits - 2)) - 2.0;
        // Near 1, for products, with a few that are equal.
        Value::Float(if random.chance(5) { 1.0 } else { 0.5_f64.mul_add(x, 1.0) })
    };
    Rc::new((0..count).map(|_| value(random)).collect())
}

/// A case of one tensor under views, reduced.
fn reduced(
    of: DType,
    shape: &[usize],
    views: &[View],
    expr: impl Fn(&Recipe) -> Recipe,
    random: &mut Random,
) -> Case {
    let values = floats(of, shape.iter().product(), random);
    let storage = Storage { dtype: of, shape: shape.to_vec(), values };
    let leaf = Recipe::new(of, shape.to_vec(), crate::common::recipe::Kind::Leaf(0), Vec::new());
    let x = views.iter().fold(leaf, |x, view| x.view(view.clone()));
    Case { storages: vec![storage], steps: vec![Step::Eval(vec![expr(&x)])] }
}

/// Whether the CPU path has the oracle's results.
fn agrees(case: &Case) {
    if let Some(how) = case.differs(&Device::cpu(), &case.expected()) {
        panic!("{how}:\n{case}");
    }
}

#[test]
fn lengths_around_blocks_and_groups() {
    let mut random = Random(1);
    let short = [1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 257];
    let long = [1023, 1024, 1025, 1088, 2048, 4095, 4096, 4097, 8193, 70_001];
    for (i, length) in short.into_iter().chain(long).enumerate() {
        // Each reduction over every third length, in a quick run.
        for (_, name) in EXACT.into_iter().enumerate().filter(|(k, _)| (i + k).is_multiple_of(depth(3, 1))) {
            let shapes =
                [(vec![length], 0), (vec![3, length], 1), (vec![length, 3], 0), (vec![2, length, 5], 1)];
            for (shape, axis) in shapes.into_iter().filter(|(shape, _)| shape[0] * length < 80_000 * 3) {
                let reduction = Reduction::over(name, [axis]);
                agrees(&reduced(DType::F32, &shape, &[], |x| x.reduce(reduction.clone()), &mut random));
            }
        }
    }
}

/// Every form of the CPU path: rows and columns, short and long, few and many.
#[test]
fn shapes_of_every_form() {
    of_every_form(agrees);
}

/// Prints a hash of their bits, for [`pools_of_any_size`].
#[test]
#[ignore = "another test runs it with a number of threads"]
fn hash_of_every_form() {
    println!("hash of every form: {:x}", hash_of_bits());
}

fn hash_of_bits() -> u64 {
    let mut text = String::new();
    of_every_form(|case| text += &format!("{:?}", case.run(&Device::cpu()).unwrap()));
    hash(&text)
}

fn of_every_form(mut check: impl FnMut(&Case)) {
    let mut random = Random(2);
    let shapes: [(&[usize], &[isize]); 16] = [
        (&[3000, 8], &[1]),
        (&[8201, 20], &[1]),
        (&[33_001, 3], &[1]),
        (&[3000, 8], &[0]),
        (&[700, 3], &[1]),
        (&[5, 9000], &[1]),
        (&[9000, 5], &[0]),
        (&[130, 1500], &[0]),
        (&[2, 4100, 70], &[1]),
        (&[4100, 40], &[0]),
        (&[6, 40, 300], &[1]),
        (&[600, 4, 3], &[1]),
        (&[4, 5, 6, 7, 8, 9], &[1, 3, 5]),
        (&[20, 30, 40], &[0, 2]),
        (&[2, 3, 50_000], &[2]),
        (&[60, 5000], &[0, 1]),
    ];
    for (i, (shape, axes)) in shapes.into_iter().enumerate() {
        // Other types take turns.
        let others = [DType::F16, DType::F64, DType::BF16].into_iter().cycle().skip(i);
        for of in [DType::F32].into_iter().chain(others).take(depth(2, 3)) {
            let plain = Reduction::over(EXACT[random.below(12)], axes);
            check(&reduced(of, shape, &[], |x| x.reduce(plain.clone()), &mut random));
            let of_expression = Reduction::over(EXACT[random.below(12)], axes);
            let expr = |x: &Recipe| (x * 0.75 - x).reduce(of_expression.clone());
            check(&reduced(of, shape, &[], expr, &mut random));
        }
    }
}

/// Operands that lie otherwise than in the order of their axes.
#[test]
fn layouts() {
    let mut random = Random(3);
    let rank3 = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for shape in [[300, 6, 40], [8, 500, 3], [40, 33, 70]] {
        for order in rank3 {
            let axes = [&[0][..], &[1], &[2], &[0, 1], &[1, 2], &[0, 2]];
            for axes in axes.into_iter().skip(order[0] as usize % depth(2, 1)).step_by(depth(2, 1)) {
                let name = EXACT[random.below(12)];
                let permuted = View::Permute(order.to_vec());
                let stepped = View::Step(random.below(3) as isize, [-1, 2, -3][random.below(3)]);
                let reduction = Reduction::over(name, axes);
                let both = |x: &Recipe| x.reduce(reduction.clone());
                agrees(&reduced(DType::F32, &shape, std::slice::from_ref(&permuted), both, &mut random));
                agrees(&reduced(DType::F32, &shape, &[permuted, stepped], both, &mut random));
            }
        }
    }
    for axis in 0..3 {
        let stretched = View::Broadcast(vec![50, 30, 70]);
        for name in EXACT {
            let reduction = Reduction::over(name, [axis]);
            let both = |x: &Recipe| (x + x.view(View::Flip(1))).reduce(reduction.clone());
            agrees(&reduced(DType::F32, &[50, 1, 70], std::slice::from_ref(&stretched), both, &mut random));
        }
    }
}

/// Processes with other numbers of threads have the bits of this one, which the oracle checks.
#[test]
fn pools_of_any_size() {
    let own = format!("hash of every form: {:x}", hash_of_bits());
    for threads in ["1", "3"] {
        let mut run = Command::new(std::env::current_exe().unwrap());
        let tests = ["reductions_bits::hash_of_every_form", "reductions_bits::larger_than_tasks"];
        run.args(tests).args(["--exact", "--include-ignored", "--nocapture"]);
        let output = without_adapters(run.env("RAYON_NUM_THREADS", threads)).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("2 passed"), "with {threads} threads: {text}");
        assert!(text.contains(&own), "with {threads} threads not {own}: {text}");
    }
}

/// A sum of a plain slice, that nothing else here is made of.
fn sum(x: &[f32]) -> f32 {
    let mut x = x.to_vec();
    while x.len() > 1 {
        let block = |block: &[f32]| {
            let mut a = block[..block.len().min(64)].to_vec();
            (64..block.len()).for_each(|i| a[i % 64] += block[i]);
            for h in [32, 16, 8, 4, 2, 1] {
                (h..a.len()).for_each(|i| a[i - h] += a[i]);
                a.truncate(h);
            }
            a[0]
        };
        x = x.chunks(1024).map(block).collect();
    }
    x[0] + 0.0
}

fn uniform(count: usize) -> Vec<f32> {
    let mut random = Random(7);
    (0..count).map(|_| (random.next() >> 40) as f32 / (1 << 24) as f32).collect()
}

#[test]
fn larger_than_tasks() {
    let x = uniform(1 << 21);
    let tensor = Device::cpu().upload(&x, [1 << 21]).unwrap();
    let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(tensor.sum(..).to_vec().unwrap()), bits(vec![sum(&x)]));
    for columns in [3, 8, 100, 1000, 2048, 5000] {
        let rows = x.len() / columns;
        let matrix = tensor.slice(0, 0..(rows * columns) as isize);
        let matrix = matrix.reshape([rows as isize, columns as isize]);
        let row = |k: usize| sum(&x[k * columns..(k + 1) * columns]);
        let by_rows = (0..rows).map(row).collect();
        assert_eq!(bits(matrix.sum(1).to_vec().unwrap()), bits(by_rows), "rows of {columns}");
        let column = |k: usize| sum(&(0..rows).map(|r| x[r * columns + k]).collect::<Vec<_>>());
        let by_columns = (0..columns).map(column).collect();
        assert_eq!(bits(matrix.sum(0).to_vec().unwrap()), bits(by_columns), "{columns} columns");
    }
}

/// In a pool of the caller's nothing is split, and the bits are the same.
#[test]
fn pools_of_the_caller() {
    let x = uniform(1 << 20);
    let all = |x: &Tensor<f32>| -> Vec<u32> {
        let results = [x.sum(0), x.sum(1), x.var(.., 1), x.cumsum(0).max(0), x.min(1)];
        results.iter().flat_map(|x| x.to_vec().unwrap()).map(f32::to_bits).collect()
    };
    let tensor = Device::cpu().upload(&x, [1 << 10, 1 << 10]).unwrap();
    let expected = all(&tensor);
    for threads in 1..=3 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (a, b) = pool.install(|| rayon::join(|| all(&tensor), || all(&tensor)));
        assert!(a == expected && b == expected, "{threads} threads");
    }
}

/// The most additions that a value goes through in a sum of `n` values.
fn additions(n: usize) -> usize {
    match n {
        0..=1024 => n.div_ceil(64).max(1) - 1 + n.clamp(1, 64).next_power_of_two().ilog2() as usize,
        _ => 21 + additions(n.div_ceil(1024)),
    }
}

/// The error table of the contract, of our own results: the distance from the exact sum, in multiples of
/// 2^-24 of the sum of magnitudes, is at most the additions that a value goes through.
#[test]
fn sums_are_as_near_as_the_contract_says() {
    let mut random = Random(9);
    let mut unit = || (random.next() >> 40) as f64 / f64::from(1 << 24);
    let count = 1 << 20;
    let mut inputs: Vec<(&str, Vec<f32>)> = vec![
        ("uniform", (0..count).map(|_| unit() as f32).collect()),
        ("positive", (0..count).map(|_| (60.0 * unit() - 30.0).exp2() as f32).collect()),
        ("all 0.1", vec![0.1; count]),
        (
            "alternating",
            (0..count).map(|i| if i % 2 == 0 { unit() as f32 } else { -unit() as f32 }).collect(),
        ),
        ("normal", (0..count).map(|_| ((0..12).map(|_| unit()).sum::<f64>() - 6.0) as f32).collect()),
    ];
    let mut ascending = inputs[0].1.clone();
    ascending.sort_by(f32::total_cmp);
    inputs.push(("ascending", ascending));
    inputs.push(("uniform, 4096", inputs[0].1[..4096].to_vec()));
    for (name, x) in inputs {
        let n = x.len();
        let tensor = Device::cpu().upload(&x, [n]).unwrap();
        // Numbers between 2^-54 and 2^30 add up to few enough digits of f64 to be near exact in it.
        let (exact, magnitudes) =
            x.iter().fold((0.0, 0.0), |(s, m), &x| (s + f64::from(x), m + f64::from(x).abs()));
        let unit = magnitudes / f64::from(1 << 24);
        let levels = additions(n) as f64;
        let error = (f64::from(tensor.sum(..).to_vec().unwrap()[0]) - exact).abs() / unit;
        println!("{name}, {n}: {error:.3} of {levels}");
        assert!(error <= levels, "{name}: {error} of {levels}");
        let (mut sum, mut sums, mut worst) = (0.0, 0.0, 0.0_f64);
        for (got, &x) in tensor.cumsum(0).to_vec().unwrap().into_iter().zip(&x) {
            sum += f64::from(x);
            sums += f64::from(x).abs();
            worst =
                worst.max((f64::from(got) - sum).abs() * f64::from(1 << 24) / sums.max(f64::MIN_POSITIVE));
        }
        let groups = 16.0 * (n as f64).log(16.0).ceil() - 1.0;
        println!("{name}, {n}, cumulative: {worst:.3} of {groups}");
        assert!(worst <= groups, "{name}, cumulative: {worst} of {groups}");
    }
}

/// A long run takes memory for its blocks, and not for its elements.
#[test]
fn runs_of_many_rounds() {
    let n: usize = (1 << 24) + 1;
    let ones = Device::cpu().upload(&[1_u32], [1]).unwrap().broadcast_to([n]);
    assert_eq!(ones.sum(0).to_vec().unwrap(), [n as u32]);
    let x = Device::cpu().upload(&[1.0_f32], [1]).unwrap().broadcast_to([n]);
    // 2^24 + 1 is no float.
    assert_eq!(x.sum(0).to_vec().unwrap(), [16_777_216.0]);
    assert_eq!(x.sum_keepdim(0).to_vec().unwrap(), [16_777_216.0]);
    assert_eq!(x.argmax(0).to_vec().unwrap(), [0]);
    assert_eq!((&x * 2.0).max(..).to_vec().unwrap(), [2.0]);
}
