//! Sorting, and functions that sort. Every device has the bits of the stable order with NaN last and equal zeros, for every
//! layout, type and limit.

use std::cmp::Ordering;

use crate::common::depth::depth;
use crate::common::{
    Random, cases_of, check_kernels, devices, found_in_turn, in_turn, lowered, on_every_device, takes,
};
use zerostride::{AnyExpr, Between, DType, Device, Element, ErrorKind, Expr, Side, bf16, f16};

/// An element type as it is sorted.
pub(crate) trait Sorted: Element + PartialOrd {
    fn drawn(random: &mut Random) -> Self;

    /// NaN after all, and zeros equal.
    fn order(&self, other: &Self) -> Ordering {
        let is_nan = |x: &Self| x.partial_cmp(x).is_none();
        self.partial_cmp(other).unwrap_or_else(|| is_nan(self).cmp(&is_nan(other)))
    }

    fn own_bits(self) -> u64 {
        // Adapters decide the bits of a NaN.
        if self.partial_cmp(&self).is_none() { u64::MAX } else { self.to_bits() }
    }
}

/// A random float. Many are equal, and some are special.
fn float(random: &mut Random) -> f64 {
    match random.below(12) {
        0 => [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY][random.below(6)],
        1..=5 => random.below(9) as f64 - 4.0,
        _ => (random.next() >> 44) as f64 / f64::from(1 << 18) - 2.0,
    }
}

macro_rules! sorted {
    ($($t:ty: |$random:ident| $drawn:expr;)*) => {$(
        impl Sorted for $t {
            fn drawn($random: &mut Random) -> $t {
                $drawn
            }
        }
    )*};
}
sorted! {
    f32: |random| float(random) as f32;
    f64: |random| float(random);
    f16: |random| f16::from_f64(float(random));
    bf16: |random| bf16::from_f64(float(random));
    i8: |random| random.next() as i8;
    u8: |random| random.next() as u8;
    i16: |random| random.next() as i16 >> random.below(12);
    u16: |random| random.next() as u16 >> random.below(12);
    i32: |random| random.next() as i32 >> random.below(31);
    u32: |random| random.next() as u32 >> random.below(31);
    i64: |random| random.next() as i64 >> random.below(63);
    u64: |random| random.next() >> random.below(63);
    bool: |random| random.chance(40);
}

/// The indices that sort each run of an axis, as a row of a matrix, by a stable sort of the standard library.
fn argsorted<T: Sorted>(
    values: &[T],
    (outer, n, inner): (usize, usize, usize),
    descending: bool,
) -> Vec<u32> {
    let mut all = vec![0; values.len()];
    for run in 0..outer * inner {
        let at = |i: usize| (run / inner * n + i) * inner + run % inner;
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by(|&a, &b| {
            let order = values[at(a as usize)].order(&values[at(b as usize)]);
            if descending { order.reverse() } else { order }
        });
        (0..n).for_each(|i| all[at(i)] = order[i]);
    }
    all
}

/// The elements at indices along an axis.
fn along<T: Copy>(values: &[T], indices: &[u32], (_, n, inner): (usize, usize, usize)) -> Vec<T> {
    let at = |(k, &i): (usize, &u32)| values[(k / (n * inner) * n + i as usize) * inner + k % inner];
    indices.iter().enumerate().map(at).collect()
}

pub(crate) fn agrees<T: Sorted>(got: &Expr<T>, device: &Device, expected: &[T], what: &str) {
    let got = got.eval_on(device).and_then(|got| got.to_vec());
    let got = got.unwrap_or_else(|error| panic!("{what} on {}: {error}", device.name()));
    assert_eq!(got.len(), expected.len(), "{what} on {}", device.name());
    for (i, (&got, &expected)) in got.iter().zip(expected).enumerate() {
        let name = device.name();
        assert_eq!(
            got.own_bits(),
            expected.own_bits(),
            "{what} on {name}: element {i} is {got:?}, not {expected:?}"
        );
    }
}

/// A tensor of some elements whose axes lie in another order, backwards or among others.
pub(crate) fn viewed<T: Element>(
    device: &Device,
    values: &[T],
    shape: &[usize],
    random: &mut Random,
) -> Expr<T> {
    let rank = shape.len();
    let mut order: Vec<isize> = (0..rank as isize).collect();
    (1..rank).for_each(|k| order.swap(k, random.below(k + 1)));
    let mut places = vec![0; rank];
    order.iter().enumerate().for_each(|(k, &axis)| places[axis as usize] = k as isize);
    let wide: Vec<usize> = order.iter().map(|&axis| shape[axis as usize] + random.below(2)).collect();
    let mut view = device.full(wide, values.first().copied().unwrap_or(T::ZERO)).unwrap().expr();
    for (k, &axis) in order.iter().enumerate() {
        view = view.slice(k as isize, 0..shape[axis as usize] as isize);
        view = if random.chance(20) { view.flip(k as isize) } else { view };
    }
    view.assign(device.upload(values, shape).unwrap().permute(&order)).unwrap();
    view.permute(&places)
}

/// Both directions of both sorts of an axis. A device that is not in turn has a direction of each.
fn sorts<T: Sorted>(device: &Device, shape: &[usize], axis: usize, random: &mut Random) {
    if depth(false, true) {
        sorts_in::<T>([true; 2], device, shape, axis, random);
    } else {
        some_sorts::<T>(device, shape, axis, random);
    }
}

/// One direction of a sort, and the other one of an argsort.
fn some_sorts<T: Sorted>(device: &Device, shape: &[usize], axis: usize, random: &mut Random) {
    let first = random.chance(50);
    sorts_in::<T>([first, !first], device, shape, axis, random);
}

/// Sorts in some directions, upward and downward, and argsorts in the opposite ones.
fn sorts_in<T: Sorted>(
    directions: [bool; 2],
    device: &Device,
    shape: &[usize],
    axis: usize,
    random: &mut Random,
) {
    if device.supports(T::DTYPE).is_err() {
        return;
    }
    let count = shape.iter().product();
    let values: Vec<T> = (0..count).map(|_| T::drawn(random)).collect();
    let form = (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product());
    let x = viewed(device, &values, shape, random);
    let a = axis as isize;
    for (descending, sorted, order) in
        [(false, x.sort(a), x.argsort(a)), (true, x.sort_descending(a), x.argsort_descending(a))]
    {
        let indices = argsorted(&values, form, descending);
        let what = format!("{} {shape:?} over axis {axis}, descending: {descending}", T::DTYPE);
        if directions[usize::from(!descending)] {
            agrees(&order, device, &indices, &format!("argsort of {what}"));
        }
        if directions[usize::from(descending)] {
            agrees(&sorted, device, &along(&values, &indices, form), &format!("sort of {what}"));
        }
    }
}

#[test]
fn lengths() {
    on_every_device(|device| {
        let mut random = Random(1);
        let lengths =
            (0..=70).chain([127, 128, 129, 255, 256, 257, 511, 512, 513, 2047, 2048, 2049, 4095, 4096, 4097]);
        for (_, n) in lengths.chain([20_000]).enumerate().filter(|&(case, _)| takes(case, device)) {
            sorts::<f32>(device, &[n], 0, &mut random);
        }
        for shape in [[3, 20], [700, 3], [5, 4100], [70, 1100], [2, 0], [0, 5]] {
            sorts::<f32>(device, &shape, 1, &mut random);
            sorts::<i32>(device, &shape, 0, &mut random);
        }
    });
}

#[test]
fn types() {
    on_every_device(|device| {
        let mut random = Random(2);
        for (shape, axis) in [(&[300][..], 0), (&[9, 40], 1), (&[4500, 2], 0)] {
            sorts::<f64>(device, shape, axis, &mut random);
            sorts::<f16>(device, shape, axis, &mut random);
            sorts::<bf16>(device, shape, axis, &mut random);
            sorts::<i8>(device, shape, axis, &mut random);
            sorts::<u8>(device, shape, axis, &mut random);
            sorts::<i16>(device, shape, axis, &mut random);
            sorts::<u16>(device, shape, axis, &mut random);
            sorts::<i32>(device, shape, axis, &mut random);
            sorts::<u32>(device, shape, axis, &mut random);
            sorts::<i64>(device, shape, axis, &mut random);
            sorts::<u64>(device, shape, axis, &mut random);
            sorts::<bool>(device, shape, axis, &mut random);
        }
    });
}

#[test]
fn shapes() {
    for case in 0..depth(12, 200) {
        let mut random = Random(10 + case as u64);
        let rank = 1 + random.below(4);
        let mut length = || 1 + random.next() as usize % [3, 9, 40][rank % 3];
        let shape: Vec<usize> = (0..rank).map(|_| length()).collect();
        let axis = random.below(rank);
        for device in in_turn(case) {
            some_sorts::<f32>(device, &shape, axis, &mut random);
            some_sorts::<i16>(device, &shape, axis, &mut random);
            check_kernels(device);
        }
    }
}

/// Devices for long rows: the CPU path and an adapter of Vulkan, each with a number that divides rows. A quick run has an
/// eighth of them on an adapter, where sorts of software drivers take long.
fn for_long_rows() -> impl Iterator<Item = (&'static Device, usize)> {
    let is_vulkan = |device: &&Device| device.name() == "cpu" || device.name().contains("(vulkan)");
    let part = |device: &Device| if device.name() == "cpu" { 1 } else { depth(8, 1) };
    devices().iter().filter(is_vulkan).take(2).map(move |device| (device, part(device)))
}

/// Rows that no cache holds: few digits, one, and all of them.
#[test]
fn long_rows() {
    fn sorts<T: Sorted>(values: &[T], descending: bool) {
        for (device, part) in for_long_rows() {
            let values = &values[..values.len() / part];
            let form = (1, values.len(), 1);
            let indices = argsorted(values, form, descending);
            let expected = along(values, &indices, form);
            let x = device.upload(values, [values.len()]).unwrap();
            let (order, sorted) = match descending {
                true => (x.argsort_descending(0), x.sort_descending(0)),
                false => (x.argsort(0), x.sort(0)),
            };
            agrees(&order, device, &indices, "argsort of a long row");
            agrees(&sorted, device, &expected, "sort of a long row");
        }
    }
    let n = (1 << 20) + 1;
    let mut random = Random(3);
    let floats: Vec<f32> = (0..n).map(|_| f32::drawn(&mut random)).collect();
    sorts(&floats, false);
    sorts(&floats, true);
    let bits: Vec<u32> = (0..n).map(|_| random.next() as u32).collect();
    let same = vec![7_u32; n];
    let few: Vec<u32> = bits.iter().map(|x| x % 5).collect();
    let far = few.iter().enumerate().map(|(i, x)| if i == 1000 { u32::MAX } else { *x }).collect();
    for values in [bits, same, few, far] {
        sorts(&values, false);
    }
}

/// Bindings and buffers smaller than the operand: rows in halves, and one range after another.
#[test]
fn larger_than_a_binding() {
    for adapter in found_in_turn() {
        // Values and indices move by two kernels where an adapter has four bindings.
        for (sizes, bindings) in [((256 << 10, 64 << 10), 8), ((128 << 10, 128 << 10), 4)] {
            let device = lowered(&adapter, sizes, bindings);
            let mut random = Random(4);
            some_sorts::<f32>(&device, &[60_000], 0, &mut random);
            some_sorts::<i64>(&device, &[30_001], 0, &mut random);
            some_sorts::<u8>(&device, &[70, 700], 1, &mut random);
            some_sorts::<f32>(&device, &[3, 20_000], 1, &mut random);
            some_sorts::<f32>(&device, &[20_000, 4], 1, &mut random);
            let keys: Vec<u32> = (0..70_000).map(|i| i / 3 % 7).collect();
            let counts: Vec<u32> =
                (0..5).map(|bin| keys.iter().filter(|&&x| x == bin).count() as u32).collect();
            agrees(&device.upload(&keys, [70_000]).unwrap().bincount(5), &device, &counts, "many keys");
        }
    }
}

/// Sorts of computed operands, expressions of sorted elements, and sorts of sorts.
#[test]
fn computed() {
    on_every_device(|device| {
        let mut random = Random(5);
        let (n, m) = (300, 4);
        let values: Vec<i32> = (0..n * m).map(|_| random.below(20) as i32).collect();
        let x = device.upload(&values, [n, m]).unwrap();
        let form = (1, n, m);
        let negated: Vec<i32> = values.iter().map(|x| 3 - x).collect();
        let order = argsorted(&negated, form, false);
        let expected: Vec<i32> = along(&negated, &order, form).iter().map(|x| x * 2).collect();
        agrees(&((3 - &x).sort(0) * 2), device, &expected, "a computed operand, and what follows");
        agrees(
            &x.take_along(x.argsort(0), 0),
            device,
            &along(&values, &argsorted(&values, form, false), form),
            "taken",
        );
        // Both at once, and a reduction of one.
        let all = device.upload(&values[..n], [n]).unwrap();
        let both = all.sort(0) + all.argsort(0).cast::<i32>();
        let order = argsorted(&values[..n], (1, n, 1), false);
        let sums: Vec<i32> = order.iter().map(|&i| values[i as usize] + i as i32).collect();
        agrees(&both, device, &sums, "both");
        assert_eq!(both.sum(0).to_vec().unwrap(), [sums.iter().sum::<i32>()]);
        // By two keys: the last first.
        let (major, minor) = (x.slice(1, 0..1).squeeze(1), x.slice(1, 1..2).squeeze(1));
        let by_minor = minor.argsort(0);
        let order = by_minor.take(major.take(&by_minor, 0).argsort(0), 0).to_vec().unwrap();
        let mut expected: Vec<u32> = (0..n as u32).collect();
        expected.sort_by_key(|&i| (values[i as usize * m], values[i as usize * m + 1]));
        assert_eq!(order, expected, "{}", device.name());
        // Into a part of the tensor itself.
        x.slice(0, 1..n as isize).assign(x.slice(0, 1..n as isize).sort(0)).unwrap();
        let rest = &values[m..];
        let order = argsorted(rest, (1, n - 1, m), false);
        let expected = [&values[..m], &along(rest, &order, (1, n - 1, m))].concat();
        agrees(&x.expr(), device, &expected, "in place");
    });
}

#[test]
fn chosen() {
    on_every_device(|device| {
        let mut random = Random(6);
        let (n, m) = (37, 5);
        let values: Vec<f32> = (0..n * m).map(|_| f32::drawn(&mut random)).collect();
        let x = viewed(device, &values, &[n, m], &mut random);
        let (form, k) = ((1, n, m), 6);
        let down = argsorted(&values, form, true);
        let (top, indices) = x.topk(k, 0);
        agrees(&indices, device, &down[..k * m], "indices of topk");
        agrees(&top, device, &along(&values, &down, form)[..k * m], "topk");
        let up = argsorted(&values, form, false);
        let sorted = along(&values, &up, form);
        let (value, index) = x.kthvalue(k, 0);
        agrees(&index, device, &up[(k - 1) * m..k * m], "index of kthvalue");
        agrees(&value, device, &sorted[(k - 1) * m..k * m], "kthvalue");
        let (all, indices) = x.topk(0, 0);
        assert_eq!((all.shape().unwrap().to_vec(), indices.to_vec().unwrap()), (vec![0, m], Vec::new()));
    });
}

/// The first places of long rows, some with many equal elements, some with few other than NaN.
#[test]
fn first_places() {
    fn of<T: Sorted>(device: &Device, (m, n): (usize, usize), k: usize, random: &mut Random) {
        if device.supports(T::DTYPE).is_err() {
            return;
        }
        let few: Vec<T> = (0..1 + random.below(9)).map(|_| T::drawn(random)).collect();
        let is_few = random.chance(50);
        let mut value = || if is_few { few[random.below(few.len())] } else { T::drawn(random) };
        let values: Vec<T> = (0..m * n).map(|_| value()).collect();
        let x = viewed(device, &values, &[m, n], random);
        let form = (m, n, 1);
        for descending in [true, false] {
            let order = argsorted(&values, form, descending);
            let expected: Vec<u32> = order.chunks(n).flat_map(|row| row[..k].to_vec()).collect();
            let what = format!("first {k} of {m} x {n} {}, descending {descending}", T::DTYPE);
            let indices = if descending { x.argsort_descending(1) } else { x.argsort(1) };
            if descending {
                agrees(&x.topk(k, 1).1, device, &expected, &what);
            } else {
                let kth: Vec<u32> = expected.chunks(k).map(|row| row[k - 1]).collect();
                agrees(&x.kthvalue(k, 1).1, device, &kth, &what);
            }
            if m * n < 5000 {
                agrees(&indices, device, &order, &what);
            }
        }
    }
    on_every_device(|device| {
        let mut random = Random(16);
        let rows = [(3, 3000, 1), (2, 4001, 7), (1, 20_000, 40), (1, 70_000, 2), (40, 700, 3)];
        for (m, n, k) in cases_of(device, rows) {
            of::<f32>(device, (m, n), k, &mut random);
        }
        type Of = fn(&Device, (usize, usize), usize, &mut Random);
        let others: [(Of, (usize, usize), usize); 6] = [
            (of::<f16>, (2, 3000), 5),
            (of::<f64>, (2, 3000), 5),
            (of::<i32>, (1, 5000), 11),
            (of::<u8>, (3, 2000), 4),
            (of::<i64>, (1, 3000), 9),
            (of::<bool>, (1, 3000), 9),
        ];
        for (of, form, k) in cases_of(device, others) {
            of(device, form, k, &mut random);
        }
    });
}

/// NumPy's quantile of one range, which has all of its elements.
fn quantile(values: &[f32], q: f64, between: Between) -> f32 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::order);
    let at = q * (values.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    let t = (at - at.floor()) as f32;
    if let Some(nan) = sorted.last().filter(|x| x.is_nan()) {
        return *nan;
    }
    let linear =
        |t: f32, rest: f32| if t < 0.5 { low + (high - low) * t } else { high - (high - low) * rest };
    match between {
        _ if t == 0.0 => low,
        Between::Lower => low,
        Between::Higher => high,
        Between::Nearest => sorted[at.round_ties_even() as usize],
        Between::Midpoint => linear(0.5, 0.5),
        Between::Linear => linear(t, (1.0 - (at - at.floor())) as f32),
    }
}

#[test]
fn quantiles() {
    let all = [Between::Linear, Between::Lower, Between::Higher, Between::Midpoint, Between::Nearest];
    on_every_device(|device| {
        let mut random = Random(7);
        for n in [1, 2, 3, 10, 41] {
            let values: Vec<f32> =
                (0..n * 3).map(|_| (random.next() >> 40) as f32 / 1000.0 - 7000.0).collect();
            let mut holed = values.clone();
            holed[n / 2] = f32::NAN;
            for values in [values, holed] {
                let x = device.upload(&values, [3, n]).unwrap();
                let of = |f: &dyn Fn(&[f32]) -> f32| values.chunks(n).map(f).collect::<Vec<f32>>();
                for between in all {
                    for q in [0.0, 0.1, 0.25, 0.5, 0.77, 1.0] {
                        let expected = of(&|row| quantile(row, q, between));
                        agrees(
                            &x.quantile_with(q, 1, between),
                            device,
                            &expected,
                            &format!("{between:?} {q} of {n}"),
                        );
                    }
                }
                let median = |row: &[f32]| {
                    let middle = |between| quantile(row, 0.5, between);
                    let (a, b) = (middle(Between::Lower), middle(Between::Higher));
                    if n % 2 == 0 { (a + b) / 2.0 } else { a }
                };
                agrees(&x.median(1), device, &of(&median), &format!("median of {n}"));
            }
        }
        let halves = device.upload(&[f16::from_f32(2049.0), f16::from_f32(2052.0)], [2]).unwrap();
        assert_eq!(halves.median(0).to_vec().unwrap(), [f16::from_f32(2050.0)]);
    });
}

#[test]
fn searched() {
    on_every_device(|device| {
        let mut random = Random(8);
        for n in [0, 1, 2, 3, 7, 8, 9, 100, 1000] {
            let mut sorted: Vec<f32> = (0..n).map(|_| f32::drawn(&mut random)).collect();
            sorted.sort_by(f32::order);
            let values: Vec<f32> = (0..77).map(|_| f32::drawn(&mut random)).collect();
            let (x, y) = (device.upload(&sorted, [n]).unwrap(), device.upload(&values, [7, 11]).unwrap());
            for side in [Side::Left, Side::Right] {
                let is_before = |element: &f32, value: &f32| match side {
                    Side::Left => element.order(value).is_lt(),
                    Side::Right => element.order(value).is_le(),
                };
                let place = |value: &f32| sorted.partition_point(|element| is_before(element, value)) as u32;
                let expected: Vec<u32> = values.iter().map(place).collect();
                agrees(&x.searchsorted(&y, side), device, &expected, &format!("{side:?} among {n}"));
            }
            let is_in: Vec<bool> = values.iter().map(|value| sorted.contains(value)).collect();
            agrees(&y.isin(&x), device, &is_in, &format!("among {n}"));
        }
        let bytes = device.upload(&[200_u8, 3, 3], [3]).unwrap();
        assert_eq!(bytes.sort(0).searchsorted(&bytes, Side::Right).to_vec().unwrap(), [3, 2, 2]);
        assert_eq!(bytes.isin(3_u8).to_vec().unwrap(), [false, true, true]);
    });
}

#[test]
fn taken_along() {
    on_every_device(|device| {
        let x = device.upload(&[10, 11, 12, 20, 21, 22], [2, 3]).unwrap();
        let i = device.upload(&[2, -1, 0, 5], [2, 2]).unwrap();
        assert_eq!(x.take_along(&i, 1).to_vec().unwrap(), [12, 12, 20, 22]);
        let row = device.upload(&[1_u8, 0, 1], [1, 3]).unwrap();
        assert_eq!(x.take_along(&row, 0).to_vec().unwrap(), [20, 11, 22]);
        // Both sides stretch.
        assert_eq!(x.slice(0, 0..1).take_along(&i, 1).to_vec().unwrap(), [12, 12, 10, 12]);
        assert_eq!(x.take_along(&row, -1).to_vec().unwrap(), [11, 10, 11, 21, 20, 21]);
    });
}

#[test]
fn mistakes_are_errors() {
    let device = Device::cpu();
    let x = device.upload(&[1.0_f32, 2.0], [2]).unwrap();
    let says = |expr: AnyExpr, kind: ErrorKind, text: &str| {
        let error = expr.eval().unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, text));
        assert!(error.location().is_some_and(|at| at.file() == file!()), "{error}");
    };
    says(x.sort(1).into(), ErrorKind::Axis, "axis 1 of [2] is out of range: axes go from -1 to 0");
    says(
        x.kthvalue(3, 0).0.into(),
        ErrorKind::Shape,
        "kthvalue 3 over axis 0 of [2], which has length 2: k goes from 1 to 2",
    );
    says(
        x.topk(3, 0).0.into(),
        ErrorKind::Shape,
        "topk 3 over axis 0 of [2], which has length 2: k goes from 0 to 2",
    );
    says(
        x.quantile_with(1.5, 0, Between::Linear).into(),
        ErrorKind::Data,
        "a quantile of 1.5: it is from 0 to 1",
    );
    says(
        AnyExpr::from(x.cast::<i32>()).median(0),
        ErrorKind::Operation,
        "median takes floats, not i32: cast first",
    );
    let nothing = device.zeros::<f32>([0, 2]).unwrap();
    says(nothing.median(0).into(), ErrorKind::Shape, "median over axis 0 of [0, 2], which has length 0");
    assert!(nothing.median(1).to_vec().unwrap().is_empty());
    says(
        AnyExpr::from(&x).searchsorted(x.cast::<i32>(), Side::Left),
        ErrorKind::Operation,
        "searchsorted takes operands of one type and got f32 and i32: cast one of them",
    );
    says(
        nothing.searchsorted(&x, Side::Left).into(),
        ErrorKind::Shape,
        "searchsorted in [0, 2]: the sorted operand has one axis",
    );
    says(
        x.take_along(nothing.cast::<i32>(), 0).into(),
        ErrorKind::Shape,
        "take_along of [2] at indices of [0, 2]: the ranks must be equal",
    );
    assert_eq!(x.sort(0).explain(&device).unwrap().to_string().matches("sort").count(), 2);
    assert_eq!(DType::U32, AnyExpr::from(x.argsort(0)).dtype().unwrap());
}

#[test]
fn selected() {
    on_every_device(|device| {
        let mut random = Random(9);
        for shape in [vec![0], vec![1], vec![700], vec![9, 41], vec![3, 0], vec![5000, 2]] {
            let count: usize = shape.iter().product();
            let values: Vec<f32> = (0..count).map(|_| f32::drawn(&mut random)).collect();
            let x = viewed(device, &values, &shape, &mut random);
            let truth: Vec<bool> = values.iter().map(|&x| x > 0.5).collect();
            let kept: Vec<f32> = values.iter().copied().filter(|&x| x > 0.5).collect();
            let what = format!("of {shape:?}");
            agrees(&x.compress(x.gt(0.5)).unwrap(), device, &kept, &format!("compress {what}"));
            let places = |is_wanted: &dyn Fn(usize) -> bool| -> Vec<usize> {
                (0..count).filter(|&i| is_wanted(i)).collect()
            };
            let rows = |places: &[usize]| -> Vec<u32> {
                let inner = |axis: usize| shape[axis + 1..].iter().product::<usize>();
                let index = |axis: usize, i: usize| (i / inner(axis) % shape[axis]) as u32;
                let row = |axis: usize| places.iter().map(move |&i| (axis, i));
                (0..shape.len()).flat_map(row).map(|(axis, i)| index(axis, i)).collect()
            };
            let found = places(&|i| values[i] != 0.0);
            agrees(&x.nonzero().unwrap(), device, &rows(&found), &format!("nonzero {what}"));
            let true_ones = places(&|i| truth[i]);
            let size = true_ones.len() + 3;
            let mut padded = Vec::new();
            for row in rows(&true_ones).chunks(true_ones.len().max(1)) {
                padded.extend(row.iter().copied().chain([7; 3]));
            }
            let mask = x.gt(0.5);
            if true_ones.is_empty() {
                padded = vec![7; 3 * shape.len()];
            }
            agrees(&mask.nonzero_padded(size, 7), device, &padded, &format!("nonzero_padded {what}"));
            assert_eq!(mask.nonzero_padded(1, 7).shape().unwrap(), &[shape.len(), 1]);
        }
        // Rows where a mask is true.
        let x = device.upload(&[1, 2, 3, 4, 5, 6], [3, 2]).unwrap();
        let mask = device.upload(&[true, false, true], [3]).unwrap();
        let rows = x.transpose(0, 1).transpose(0, 1).compress(&mask).unwrap();
        assert_eq!((rows.shape().to_vec(), rows.to_vec().unwrap()), (vec![2, 2], vec![1, 2, 5, 6]));
    });
}

#[test]
fn unique() {
    fn check<T: Sorted>(device: &Device, shape: &[usize], random: &mut Random) {
        let count = shape.iter().product();
        let values: Vec<T> = (0..count).map(|_| T::drawn(random)).collect();
        let order = argsorted(&values, (1, count, 1), false);
        let (mut different, mut counts, mut indices) = (Vec::new(), Vec::new(), Vec::new());
        let mut inverse = vec![0; count];
        for &i in &order {
            let value = values[i as usize];
            if different.last().is_none_or(|last: &T| last.order(&value).is_ne()) {
                different.push(value);
                counts.push(0);
                indices.push(i);
            }
            *counts.last_mut().unwrap() += 1;
            inverse[i as usize] = different.len() as u32 - 1;
        }
        let found = viewed(device, &values, shape, random).unique().unwrap();
        let what = format!("unique of {} {shape:?}", T::DTYPE);
        agrees(&found.values, device, &different, &what);
        agrees(&found.counts, device, &counts, &what);
        agrees(&found.inverse, device, &inverse, &what);
        agrees(&found.indices, device, &indices, &what);
        assert_eq!(found.inverse.shape().to_vec(), shape);
    }
    on_every_device(|device| {
        let mut random = Random(10);
        for shape in [&[0][..], &[1], &[2], &[500], &[7, 31], &[]] {
            check::<f32>(device, shape, &mut random);
            check::<u8>(device, shape, &mut random);
            check::<bool>(device, shape, &mut random);
        }
    });
}

/// Slices along an axis: their numbers in sorted order, by comparing elements one after another.
#[test]
fn unique_slices() {
    fn check<T: Sorted>(device: &Device, shape: &[usize], axis: usize, random: &mut Random) {
        // Few values, so that slices are equal from element to element.
        let some: Vec<T> = (0..3).map(|_| T::drawn(random)).collect();
        let values: Vec<T> = (0..shape.iter().product()).map(|_| some[random.below(3)]).collect();
        let (n, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        let of = |all: &[T], n: usize, i: usize| -> Vec<T> {
            all.chunks((n * inner).max(1)).flat_map(|run| run[i * inner..(i + 1) * inner].to_vec()).collect()
        };
        let slices: Vec<Vec<T>> = (0..n).map(|i| of(&values, n, i)).collect();
        let compare = |a: &[T], b: &[T]| {
            a.iter().zip(b).map(|(a, b)| a.order(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| compare(&slices[a], &slices[b]));
        let (mut indices, mut counts, mut inverse) = (Vec::<u32>::new(), Vec::new(), vec![0; n]);
        for i in order {
            if indices.last().is_none_or(|&last| compare(&slices[last as usize], &slices[i]).is_ne()) {
                indices.push(i as u32);
                counts.push(0);
            }
            *counts.last_mut().unwrap() += 1;
            inverse[i] = indices.len() as u32 - 1;
        }
        let x = viewed(device, &values, shape, random);
        let what = format!("unique of {} {shape:?} along {axis}", T::DTYPE);
        let ranks = x.dense_rank(axis as isize - shape.len() as isize);
        agrees(&ranks, device, &inverse, &what);
        let found = x.unique_along(axis).unwrap();
        agrees(&found.indices, device, &indices, &what);
        agrees(&found.counts, device, &counts, &what);
        agrees(&found.inverse, device, &inverse, &what);
        assert_eq!((found.values.shape()[axis], found.inverse.shape().rank()), (indices.len(), 1), "{what}");
        let got = found.values.to_vec().unwrap();
        for (k, &i) in indices.iter().enumerate() {
            let bits = |slice: &[T]| slice.iter().map(|x| x.own_bits()).collect::<Vec<u64>>();
            assert_eq!(bits(&of(&got, indices.len(), k)), bits(&slices[i as usize]), "{what}");
        }
    }
    on_every_device(|device| {
        let mut random = Random(14);
        for (case, (shape, axis)) in [
            (&[60, 3][..], 0),
            (&[4, 50, 2], 1),
            (&[3, 1, 2], 1),
            (&[40], 0),
            (&[3, 0], 0),
            (&[0, 3], 0),
            (&[1100, 5], 0),
        ]
        .into_iter()
        .enumerate()
        {
            check::<f32>(device, shape, axis, &mut random);
            if takes(case, device) {
                check::<i8>(device, shape, axis, &mut random);
            }
        }
        check::<bool>(device, &[5, 70], 1, &mut random);
        let x = device.zeros::<f32>([2, 3]).unwrap();
        let says = |error: zerostride::Error| {
            assert_eq!(error.kind(), ErrorKind::Axis);
            assert!(error.location().is_some_and(|at| at.file() == file!()), "{error}");
        };
        says(x.unique_along(2).unwrap_err());
        says(x.dense_rank(-3).eval().unwrap_err());
    });
}

/// How many of some numbers are equal to each one below `bins`.
fn counts(bins: usize, numbers: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut counts = vec![0; bins];
    numbers.for_each(|number| counts.get_mut(number).into_iter().for_each(|count| *count += 1));
    counts
}

#[test]
fn counted() {
    on_every_device(|device| {
        let mut random = Random(11);
        let values: Vec<i32> = (0..3000).map(|_| random.below(300) as i32 - 20).collect();
        let x = viewed(device, &values, &[60, 50], &mut random);
        for bins in [0, 1, 2, 64, 255, 256, 500, 5000] {
            let counts = counts(bins, values.iter().map(|&x| x as usize));
            agrees(&x.bincount(bins), device, &counts, &format!("{bins} bins"));
        }
        let many: Vec<u32> = (0..100_000).map(|_| random.below(2100) as u32).collect();
        let all = counts(2048, many.iter().map(|&x| x as usize));
        agrees(&device.upload(&many, [100_000]).unwrap().bincount(2048), device, &all, "many");
        let bytes: Vec<u8> = values.iter().map(|&x| x as u8).collect();
        let all = counts(256, bytes.iter().map(|&x| usize::from(x)));
        agrees(&device.upload(&bytes, [3000]).unwrap().bincount(256), device, &all, "bytes");
        assert_eq!(
            device.upload(&[-1_i8, 0, 127], [3]).unwrap().bincount(200).slice(0, 127..129).to_vec().unwrap(),
            [1, 0]
        );
        assert_eq!(device.zeros::<u8>([0, 3]).unwrap().bincount(2).to_vec().unwrap(), [0, 0]);
    });
    let wide = Device::cpu().upload(&[i64::MIN, -1, 1 << 32, 1, i64::MAX], [5]).unwrap();
    assert_eq!(wide.bincount(2).to_vec().unwrap(), [0, 1]);
    let wide = Device::cpu().upload(&[u64::MAX, 1 << 32, 1], [3]).unwrap();
    assert_eq!(wide.bincount(2).to_vec().unwrap(), [0, 1]);
}

/// Some places of rows that no cache holds: equal elements on either side of them, and in other rows.
#[test]
fn places() {
    for_long_rows().for_each(|(device, part)| places_of(device, 300_000 / part));
}

fn places_of(device: &Device, n: usize) {
    let mut random = Random(12);
    let spread: Vec<f32> = (0..2 * n).map(|_| f32::drawn(&mut random)).collect();
    let few: Vec<f32> = (0..2 * n).map(|i| if i % 7 == 0 { 1.0 } else { random.below(3) as f32 }).collect();
    let ones: Vec<bool> = few.iter().map(|&x| x == 1.0).collect();
    let kept: Vec<f32> = few.iter().copied().filter(|&x| x == 1.0).collect();
    let orders = [false, true].map(|descending| argsorted(&ones, (2, n, 1), descending));
    let x = device.upload(&ones, [2, n]).unwrap();
    agrees(&x.argsort(1), device, &orders[0], "argsort of bool");
    agrees(&x.argsort_descending(1), device, &orders[1], "argsort of bool, descending");
    let of = device.upload(&few, [2, n]).unwrap();
    agrees(&of.compress(&x).unwrap(), device, &kept, "compress");
    for values in [spread, few] {
        let order = argsorted(&values, (2, n, 1), true);
        let upward = argsorted(&values, (2, n, 1), false);
        let x = device.upload(&values, [2, n]).unwrap();
        for k in [1, 5, n / 3, n] {
            let rows = || order.chunks(n).map(|row| row[..k].to_vec());
            let (greatest, indices) = x.topk(k, 1);
            agrees(&indices, device, &rows().flatten().collect::<Vec<u32>>(), &format!("top {k}"));
            let of = |(row, places): (usize, Vec<u32>)| -> Vec<f32> {
                places.iter().map(|&i| values[row * n + i as usize]).collect()
            };
            let expected: Vec<f32> = rows().enumerate().flat_map(of).collect();
            agrees(&greatest, device, &expected, &format!("top {k}"));
            let expected: Vec<u32> = upward.chunks(n).map(|row| row[k - 1]).collect();
            agrees(&x.kthvalue(k, 1).1, device, &expected, &format!("{k}-th"));
        }
    }
}
