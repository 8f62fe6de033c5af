//! Writes at computed indices and reductions by key. Every device has the bits of the contract's order, and the last update
//! of a place stays.

use crate::common::{Random, cases_of, found_in_turn, in_turn, lowered, on_every_device, takes};
use crate::sorting::{Sorted, agrees, viewed};
use zerostride::{AnyExpr, Device, ErrorKind, Expr, Keys, Numeric, Outside, Update, bf16, f16};

/// An element type as it is summed.
trait Summed: Sorted + Numeric {
    type Wide: Copy;
    fn random(random: &mut Random, has_specials: bool) -> Self;
    fn wide(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
    fn both(update: Update, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// A sum without a negative zero.
    fn sum(wide: Self::Wide) -> Self::Wide;
    fn empty(update: Update) -> Self::Wide;
}

macro_rules! summed {
    ($($t:ty as $wide:ty: $narrow:expr;)*) => {$(
        impl Summed for $t {
            type Wide = $wide;
            fn random(random: &mut Random, has_specials: bool) -> $t {
                let specials = [0.0, -0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, 1.0];
                if has_specials && random.chance(8) {
                    return <$t as Summed>::narrow(specials[random.below(specials.len())] as $wide);
                }
                <$t as Summed>::narrow(((random.next() >> 11) as f64 / (1_u64 << 51) as f64 - 2.0) as $wide)
            }
            fn wide(self) -> $wide {
                self.into()
            }
            fn narrow(wide: $wide) -> $t {
                $narrow(wide)
            }
            fn both(update: Update, a: $wide, b: $wide) -> $wide {
                let is_nan = a.is_nan() || b.is_nan();
                match update {
                    Update::Replace => b,
                    Update::Add => a + b,
                    Update::Mul => a * b,
                    _ if is_nan => <$wide>::NAN,
                    Update::Min if a == b => if a.is_sign_negative() { a } else { b },
                    Update::Max if a == b => if a.is_sign_negative() { b } else { a },
                    Update::Min => a.min(b),
                    Update::Max => a.max(b),
                }
            }
            fn sum(wide: $wide) -> $wide {
                wide + 0.0
            }
            fn empty(update: Update) -> $wide {
                match update {
                    Update::Mul => 1.0,
                    Update::Min => <$wide>::INFINITY,
                    Update::Max => <$wide>::NEG_INFINITY,
                    _ => 0.0,
                }
            }
        }
    )*};
}
summed! {
    f32 as f32: |x| x;
    f64 as f64: |x| x;
    f16 as f32: f16::from_f32;
    bf16 as f32: bf16::from_f32;
}
macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Summed for $t {
            type Wide = $t;
            fn random(random: &mut Random, _: bool) -> $t {
                random.next() as $t
            }
            fn wide(self) -> $t {
                self
            }
            fn narrow(wide: $t) -> $t {
                wide
            }
            fn both(update: Update, a: $t, b: $t) -> $t {
                match update {
                    Update::Replace => b,
                    Update::Add => a.wrapping_add(b),
                    Update::Mul => a.wrapping_mul(b),
                    Update::Min => a.min(b),
                    Update::Max => a.max(b),
                }
            }
            fn sum(wide: $t) -> $t {
                wide
            }
            fn empty(update: Update) -> $t {
                match update {
                    Update::Mul => 1,
                    Update::Min => <$t>::MAX,
                    Update::Max => <$t>::MIN,
                    _ => 0,
                }
            }
        }
    )*};
}
integers! { i8 u16 i32 u32 i64 }

/// The reduction of values in the contract's order.
fn folded<T: Summed>(update: Update, values: &[T]) -> T::Wide {
    let op = |a, b| T::both(update, a, b);
    let mut values: Vec<T::Wide> = values.iter().map(|&x| x.wide()).collect();
    if values.is_empty() {
        return T::empty(update);
    }
    while values.len() > 1 {
        let block = |block: &[T::Wide]| {
            let mut lanes = block[..block.len().min(64)].to_vec();
            for row in block.chunks(64).skip(1) {
                lanes.iter_mut().zip(row).for_each(|(lane, &x)| *lane = op(*lane, x));
            }
            for half in [32, 16, 8, 4, 2, 1] {
                for i in half..lanes.len().min(2 * half) {
                    lanes[i - half] = op(lanes[i - half], lanes[i]);
                }
            }
            lanes[0]
        };
        values = values.chunks(1024).map(block).collect();
    }
    if update == Update::Add { T::sum(values[0]) } else { values[0] }
}

/// The places of the elements of each key.
fn places(keys: &[i64], count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); count];
    for (i, &key) in keys.iter().enumerate() {
        if let Some(own) = usize::try_from(key).ok().and_then(|key| all.get_mut(key)) {
            own.push(i);
        }
    }
    all
}

const ALL: [Update; 4] = [Update::Add, Update::Mul, Update::Min, Update::Max];

/// Rows of elements with a key each.
fn segments<T: Summed>(
    device: &Device,
    (n, inner): (usize, usize),
    count: usize,
    which: &[Update],
    random: &mut Random,
) {
    if device.supports(T::DTYPE).is_err() {
        return;
    }
    let has_specials = random.chance(50);
    let values: Vec<T> = (0..n * inner).map(|_| T::random(random, has_specials)).collect();
    // Some keys are frequent, some there are not, and some are none.
    let keys: Vec<i64> = (0..n)
        .map(|_| {
            let spread = if random.chance(50) { count + 2 } else { count.min(3) + 1 };
            random.below(spread) as i64 - i64::from(random.chance(5))
        })
        .collect();
    let places = places(&keys, count);
    let x = viewed(device, &values, &[n, inner], random);
    let signed: Vec<i32> = keys.iter().map(|&key| key as i32).collect();
    let keys = viewed(device, &signed, &[n], random);
    reduced(device, (&x, &values, inner), &Keys::from(&keys), &places, which);
}

/// Segments of rows beside those of the naive evaluator.
fn reduced<T: Summed>(
    device: &Device,
    (x, values, inner): (&Expr<T>, &[T], usize),
    keys: &Keys,
    places: &[Vec<usize>],
    which: &[Update],
) {
    let (keys, count) = (|| keys.clone(), places.len());
    for &update in which {
        let got = match update {
            Update::Add => x.segment_sum(keys(), count),
            Update::Mul => x.segment_prod(keys(), count),
            Update::Min => x.segment_min(keys(), count),
            _ => x.segment_max(keys(), count),
        };
        let of = |(own, k): (&Vec<usize>, usize)| {
            T::narrow(folded(update, &own.iter().map(|&i| values[i * inner + k]).collect::<Vec<T>>()))
        };
        let expected: Vec<T> =
            places.iter().flat_map(|own| (0..inner).map(move |k| (own, k))).map(of).collect();
        agrees(
            &got,
            device,
            &expected,
            &format!("segments of {} by {update:?}, {} by {inner} to {count}", T::DTYPE, values.len()),
        );
    }
}

/// Keys that are said to be sorted, and are or are not: segments lie between the places that a search finds.
#[test]
fn sorted_keys() {
    on_every_device(|device| {
        let mut random = Random(11);
        for (n, inner, count, are_sorted) in [
            (0_usize, 1, 2, true),
            (1, 1, 1, true),
            (700, 3, 40, true),
            (700, 1, 300, false),
            (5000, 1, 3, true),
            (5000, 2, 3, false),
            (5000, 1, 3000, true),
        ] {
            let mut keys: Vec<i32> = (0..n).map(|_| random.below(count + 4) as i32 - 2).collect();
            if are_sorted {
                keys.sort_unstable();
            }
            let start = |key: i32| {
                let mut before = 0;
                for bit in (0..n.checked_ilog2().map_or(0, |bit| bit + 1)).rev().map(|bit| 1 << bit) {
                    let is_more = before + bit <= n && keys[before + bit - 1] < key;
                    before += if is_more { bit } else { 0 };
                }
                before
            };
            let places: Vec<Vec<usize>> =
                (0..count as i32).map(|key| (start(key)..start(key + 1)).collect()).collect();
            let values: Vec<f32> = (0..n * inner).map(|_| f32::random(&mut random, false)).collect();
            let x = viewed(device, &values, &[n, inner], &mut random);
            let own = viewed(device, &keys, &[n], &mut random).assume_sorted();
            let which: &[Update] = if n == 5000 { &[Update::Add] } else { &[Update::Add, Update::Max] };
            reduced(device, (&x, &values, inner), &own, &places, which);
            let lengths: Vec<f32> = places.iter().map(|own| own.len() as f32).collect();
            let lengths = device.upload(&lengths, [count, 1]).unwrap();
            let (mean, sum) = (x.segment_mean(own.clone(), count), x.segment_sum(own, count));
            let is_same = (mean - sum / &lengths).eval_on(device).unwrap().to_vec().unwrap();
            assert!(is_same.iter().all(|x| *x == 0.0 || x.is_nan()));
        }
        // Unsigned keys above any count are last.
        let x = device.upload(&[1.0_f32, 2.0, 4.0], [3]).unwrap();
        let keys = device.upload(&[0_u32, 1, u32::MAX], [3]).unwrap().assume_sorted();
        assert_eq!(x.segment_sum(keys, 3).to_vec().unwrap(), [1.0, 2.0, 0.0]);
    });
}

#[test]
fn segmented() {
    on_every_device(|device| {
        let mut random = Random(1);
        for (n, inner, count) in [
            (0, 1, 2),
            (1, 1, 1),
            (5, 3, 4),
            (65, 1, 2),
            (700, 3, 40),
            (1025, 1, 1),
            (5000, 1, 3),
            (5000, 2, 900),
        ] {
            segments::<f32>(
                device,
                (n, inner),
                count,
                if n == 5000 { &[Update::Add] } else { &ALL },
                &mut random,
            );
        }
        segments::<f32>(device, (3, 2), 0, &[Update::Add], &mut random);
        segments::<f32>(device, (3, 0), 2, &[Update::Add], &mut random);
    });
}

#[test]
fn types() {
    on_every_device(|device| {
        let mut random = Random(2);
        segments::<f64>(device, (300, 1), 3, &ALL, &mut random);
        segments::<f16>(device, (300, 2), 3, &ALL, &mut random);
        segments::<bf16>(device, (300, 1), 3, &[Update::Add, Update::Max], &mut random);
        segments::<i8>(device, (300, 1), 3, &ALL, &mut random);
        segments::<u16>(device, (300, 1), 3, &[Update::Min], &mut random);
        segments::<u32>(device, (300, 1), 3, &[Update::Mul], &mut random);
        segments::<i64>(device, (300, 1), 3, &ALL, &mut random);
    });
}

/// Scans by key beside those of each key's rows alone.
fn cumulative<T: Summed>(device: &Device, (n, inner): (usize, usize), count: usize, random: &mut Random) {
    if device.supports(T::DTYPE).is_err() {
        return;
    }
    let are_sorted = random.chance(50);
    let has_specials = random.chance(50);
    let values: Vec<T> = (0..n * inner).map(|_| T::random(random, has_specials)).collect();
    let mut keys: Vec<i32> = (0..n).map(|_| random.below(count + 2) as i32 - 1).collect();
    if are_sorted {
        keys.sort_unstable();
    }
    let places = places(&keys.iter().map(|&key| i64::from(key)).collect::<Vec<_>>(), count);
    let x = viewed(device, &values, &[n, inner], random);
    let own = viewed(device, &keys, &[n], random);
    let own = if are_sorted { own.assume_sorted() } else { Keys::from(&own) };
    let host = Device::cpu();
    let both = [(true, x.segment_cumsum(own.clone(), count)), (false, x.segment_cumprod(own, count))];
    // Long products leave the normal numbers.
    for (is_sum, got) in both.into_iter().take(if n < 1000 { 2 } else { 1 }) {
        let identity = T::narrow(T::empty(if is_sum { Update::Add } else { Update::Mul }));
        let mut expected = vec![identity; n * inner];
        for own in places.iter().filter(|own| !own.is_empty()) {
            let rows: Vec<T> =
                own.iter().flat_map(|&i| values[i * inner..(i + 1) * inner].to_vec()).collect();
            let rows = host.upload(&rows, [own.len(), inner]).unwrap();
            let alone = if is_sum { rows.cumsum(0) } else { rows.cumprod(0) };
            let alone = alone.to_vec().unwrap();
            own.iter().enumerate().for_each(|(row, &i)| {
                expected[i * inner..(i + 1) * inner].copy_from_slice(&alone[row * inner..(row + 1) * inner]);
            });
        }
        let what = format!("scan by key of {}, {n} by {inner} to {count}, sum {is_sum}", T::DTYPE);
        agrees(&got, device, &expected, &what);
    }
}

#[test]
fn scans_by_key() {
    on_every_device(|device| {
        let mut random = Random(21);
        type Check = fn(&Device, (usize, usize), usize, &mut Random);
        let cases: [(Check, (usize, usize), usize); 11] = [
            (cumulative::<f32>, (0, 2), 3),
            (cumulative::<f32>, (1, 1), 1),
            (cumulative::<f32>, (5, 3), 4),
            (cumulative::<f32>, (17, 1), 1),
            (cumulative::<f32>, (300, 2), 3),
            (cumulative::<f32>, (5000, 1), 2),
            (cumulative::<f32>, (600, 1), 0),
            (cumulative::<f64>, (300, 1), 3),
            (cumulative::<f32>, (600, 2), 400),
            (cumulative::<f16>, (300, 1), 2),
            (cumulative::<i8>, (300, 1), 3),
        ];
        for (check, form, count) in cases_of(device, cases) {
            check(device, form, count, &mut random);
        }
    });
}

/// Three rounds of blocks.
#[test]
fn long_runs() {
    let n = (1 << 20) + 3000;
    let mut random = Random(3);
    let values: Vec<f32> = (0..n).map(|_| f32::random(&mut random, false)).collect();
    let keys: Vec<u8> = (0..n).map(|i| u8::from(i % 500 == 7)).collect();
    let of = |wanted: u8| -> f32 {
        folded(Update::Add, &(0..n).filter(|&i| keys[i] == wanted).map(|i| values[i]).collect::<Vec<f32>>())
    };
    let expected = [of(0), of(1)];
    on_every_device(|device| {
        let (x, keys) = (device.upload(&values, [n]).unwrap(), device.upload(&keys, [n]).unwrap());
        agrees(&x.segment_sum(&keys, 2), device, &expected, "two long runs");
    });
}

#[test]
fn means() {
    on_every_device(|device| {
        let x = device.upload(&[1.0_f32, 2.0, 4.0, 5.0, 0.5, 7.0], [2, 3]).unwrap();
        let keys = device.upload(&[2_u8, 2], [2]).unwrap();
        let mean = x.segment_mean(&keys, 3).to_vec().unwrap();
        assert!(mean[..6].iter().all(|x| x.is_nan()));
        assert_eq!(mean[6..], [3.0, 1.25, 5.5]);
        // A key for each element.
        let keys = device.upload(&[0, 1, 0, 1, 0, -1], [2, 3]).unwrap();
        assert_eq!(x.segment_mean(&keys, 2).to_vec().unwrap(), [5.5 / 3.0, 3.5]);
    });
}

/// Where an index leads to, if anywhere.
fn inside(index: i64, n: usize, outside: Outside) -> Option<usize> {
    let n = n as i64;
    let up = if index < 0 { index + n } else { index };
    let place = match outside {
        Outside::Nearest => up.clamp(0, n - 1),
        Outside::Wrapped => index.rem_euclid(n),
        _ => up,
    };
    usize::try_from(place).ok().filter(|&place| place < n as usize)
}

fn scatters<T: Summed>(device: &Device, shape: &[usize], own: &[usize], update: Update, random: &mut Random) {
    if device.supports(T::DTYPE).is_err() {
        return;
    }
    let leading = 1 + random.below(shape.len());
    let outside = [Outside::Nearest, Outside::Wrapped, Outside::fill(0)][random.below(3)];
    let has_specials = random.chance(50);
    let mut drawn =
        |count: usize| -> Vec<T> { (0..count).map(|_| T::random(random, has_specials)).collect() };
    let (count, inner) = (own.iter().product::<usize>(), shape[leading..].iter().product::<usize>());
    let (values, updates) = (drawn(shape.iter().product()), drawn(count * inner));
    let indices: Vec<Vec<i32>> = (0..leading)
        .map(|axis| {
            (0..count)
                .map(|_| random.below(3 * shape[axis]) as i32 - (shape[axis] + shape[axis] / 3) as i32)
                .collect()
        })
        .collect();
    let mut of = vec![Vec::new(); shape[..leading].iter().product()];
    for i in 0..count {
        let place = indices
            .iter()
            .zip(shape)
            .try_fold(0, |so_far, (index, &n)| Some(so_far * n + inside(index[i].into(), n, outside)?));
        if let Some(place) = place {
            of[place].push(i);
        }
    }
    let mut expected = values.clone();
    for (place, own) in of.iter().enumerate().filter(|(_, own)| !own.is_empty()) {
        for k in 0..inner {
            let updates: Vec<T> = own.iter().map(|&i| updates[i * inner + k]).collect();
            let old = &mut expected[place * inner + k];
            *old = match update {
                Update::Replace => updates[updates.len() - 1],
                _ => T::narrow(T::both(update, old.wide(), folded(update, &updates))),
            };
        }
    }
    let x = viewed(device, &values, shape, random);
    let all: Vec<usize> = own.iter().chain(&shape[leading..]).copied().collect();
    let y = viewed(device, &updates, &all, random);
    let indices: Vec<Expr<i32>> = indices.iter().map(|index| viewed(device, index, own, random)).collect();
    let what = format!("{update:?} {} {own:?} to {leading} axes of {shape:?}, {outside:?}", T::DTYPE);
    agrees(&x.scatter_with(&indices, &y, update, outside), device, &expected, &what);
    let own = device.upload(&values, shape).unwrap();
    own.assign(own.scatter_with(&indices, &y, update, outside)).unwrap();
    agrees(&own.expr(), device, &expected, &format!("in place, {what}"));
    if let Outside::Fill(_) = outside {
        // The rule of methods that name none.
        let written = match update {
            Update::Replace => x.scatter(&indices, &y),
            Update::Add => x.scatter_add(&indices, &y),
            Update::Min => x.scatter_min(&indices, &y),
            Update::Max => x.scatter_max(&indices, &y),
            Update::Mul => return,
        };
        agrees(&written, device, &expected, &what);
    }
}

#[test]
fn scattered() {
    on_every_device(|device| {
        let mut random = Random(4);
        let updates = [Update::Replace, Update::Add, Update::Mul, Update::Min, Update::Max];
        for (_, update) in updates.into_iter().enumerate().filter(|&(case, _)| takes(case, device)) {
            scatters::<f32>(device, &[7, 5], &[40], update, &mut random);
            scatters::<i32>(device, &[3, 2, 4], &[6, 5], update, &mut random);
        }
        // Few updates of many places, of which those outside lead to the ends.
        for (case, update) in cases_of(device, updates.into_iter().enumerate()) {
            scatters::<f32>(device, &[600], &[1 + 4 * case], update, &mut random);
            scatters::<i32>(device, &[300, 3], &[3, 3], update, &mut random);
        }
        scatters::<f64>(device, &[30, 40], &[36], Update::Add, &mut random);
        scatters::<i64>(device, &[300, 2], &[9], Update::Replace, &mut random);
        scatters::<f16>(device, &[300], &[30], Update::Max, &mut random);
        scatters::<f16>(device, &[30], &[60], Update::Add, &mut random);
        scatters::<i64>(device, &[2], &[70], Update::Replace, &mut random);
        scatters::<f64>(device, &[5000], &[300], Update::Add, &mut random);
        scatters::<u16>(device, &[5, 3], &[0], Update::Add, &mut random);
        let mask = device.upload(&[false, true, false], [3]).unwrap();
        let index = device.upload(&[2_u8, 1], [2]).unwrap();
        let new = device.upload(&[true, false], [2]).unwrap();
        assert_eq!(mask.scatter([&index], &new).to_vec().unwrap(), [false, false, true]);
        // One update for many places, and an expression that reads the result.
        let x = device.upload(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
        assert_eq!((x.scatter_add([&index], 0.5) * 2.0).to_vec().unwrap(), [2.0, 5.0, 7.0]);
    });
    for case in 0..crate::common::depth::depth(6, 100) {
        let mut random = Random(50 + case as u64);
        let shape: Vec<usize> = (0..1 + random.below(3)).map(|_| 1 + random.below(6)).collect();
        let own: Vec<usize> = (0..random.below(3)).map(|_| 1 + random.below(9)).collect();
        let update = [Update::Replace, Update::Add, Update::Max][random.below(3)];
        in_turn(case).for_each(|device| scatters::<f32>(device, &shape, &own, update, &mut random));
    }
}

/// Few updates: of a computed operand, before other steps, under views, and again and again in place.
#[test]
fn few_updates() {
    on_every_device(|device| {
        let n = 2000;
        let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let (x, i) =
            (device.upload(&values, [n]).unwrap(), device.upload(&[5, 7, 5, -1, 9000], [5]).unwrap());
        let y = device.upload(&[1.0_f32, f32::NAN, 3.0, -0.0, 8.0], [5]).unwrap();
        let put = (&x * 2.0).scatter([&i], &y);
        let mut expected: Vec<f32> = values.iter().map(|x| x * 2.0).collect();
        (expected[5], expected[7], expected[n - 1]) = (3.0, f32::NAN, -0.0);
        agrees(&put, device, &expected, "of a computed operand");
        let after: Vec<f32> = expected.iter().map(|x| x + 1.0).collect();
        agrees(&(&put + 1.0), device, &after, "before a step");
        let (both, least) = (put.flip(0), put.slice(0, ..7).sum(0));
        agrees(&both, device, &expected.iter().rev().copied().collect::<Vec<_>>(), "under a view");
        assert_eq!(least.item().unwrap(), 35.0); // 0, 2, 4, 6, 8, 3, 12
        let (all, own) = (device.upload(&values, [n]).unwrap(), device.full([2], 0.5_f32).unwrap());
        let places = device.upload(&[3, 1999], [2]).unwrap();
        (0..4).for_each(|_| all.assign(all.scatter_add([&places], &own)).unwrap());
        let mut expected = values.clone();
        (expected[3], expected[1999]) = (5.0, 2001.0);
        agrees(&all.expr(), device, &expected, "four times in place");
    });
}

/// A write outside of its axis is dropped, whatever the index's type. A read takes the nearest element.
#[test]
fn places_outside() {
    on_every_device(|device| {
        let x = device.upload(&[10, 20, 30], [3]).unwrap();
        let y = device.upload(&[1, 2, 3, 4, 5, 6], [6]).unwrap();
        let places = [3, i32::MIN, -4, -3, i32::MAX, 2];
        let i = device.upload(&places, [6]).unwrap();
        assert_eq!(x.at([&i]).to_vec().unwrap(), [30, 10, 10, 10, 30, 30]);
        assert_eq!(x.scatter([&i], &y).to_vec().unwrap(), [4, 20, 6]);
        assert_eq!(x.scatter_add([&i], &y).to_vec().unwrap(), [14, 20, 36]);
        assert_eq!(x.scatter_min([&i], &y).to_vec().unwrap(), [4, 20, 6]);
        assert_eq!(x.scatter_max([&i], y.clone() * 10).to_vec().unwrap(), [40, 20, 60]);
        assert_eq!(x.put_along(&i, &y, 0).to_vec().unwrap(), [4, 20, 6]);
        // Keys are no places: a negative one is no key, as in JAX and TensorFlow.
        assert_eq!(y.segment_sum(&i, 3).to_vec().unwrap(), [0, 0, 6]);
        assert_eq!(i.bincount(4).to_vec().unwrap(), [0, 0, 1, 1]);
        let unsigned = device.upload(&[3_u32, u32::MAX, 0, 1 << 31], [4]).unwrap();
        assert_eq!(x.scatter_add([&unsigned], 1).to_vec().unwrap(), [11, 20, 30]);
        let bytes = device.upload(&[-128_i8, 127, -1, -4], [4]).unwrap();
        assert_eq!(x.scatter_add([&bytes], 1).to_vec().unwrap(), [10, 20, 31]);
        // One index outside of two, and axes of one element and of none.
        let pairs =
            x.broadcast_to([2, 3]).scatter_add([&device.upload(&[1, 2], [2]).unwrap(), &i.slice(0, 4..)], 1);
        assert_eq!(pairs.to_vec().unwrap(), [10, 20, 30, 10, 20, 30]);
        let one = device.upload(&[7], [1]).unwrap();
        assert_eq!(one.scatter([&i], &y).to_vec().unwrap(), [7]);
        assert_eq!(one.scatter([&device.upload(&[1, -1, -2], [3]).unwrap()], 9).to_vec().unwrap(), [9]);
        let none = device.zeros::<i32>([0]).unwrap();
        assert_eq!(none.scatter([&i], &y).to_vec().unwrap(), [0; 0]);
        let wide = device.upload(&[i64::MIN, (1 << 32) + 1, 1, -1, i64::MAX], [5]).unwrap();
        assert_eq!(x.scatter_add([&wide], 1).to_vec().unwrap(), [10, 21, 31]);
    });
}

/// Bindings smaller than the destination, and smaller than the updates.
#[test]
fn larger_than_a_binding() {
    for adapter in found_in_turn() {
        let device = lowered(&adapter, (256 << 10, 64 << 10), 8);
        let mut random = Random(5);
        segments::<f32>(&device, (30_000, 1), 7, &[Update::Add], &mut random);
        scatters::<f32>(&device, &[30_000], &[20_000], Update::Replace, &mut random);
        scatters::<f32>(&device, &[30_000], &[900], Update::Add, &mut random);
        // Elements that move by truth values, from several ranges to several.
        let values: Vec<f32> = (0..70_000).map(|_| f32::random(&mut random, false)).collect();
        let kept: Vec<f32> = values.iter().copied().filter(|x| *x > -0.5).collect();
        let x = device.upload(&values, [70_000]).unwrap();
        agrees(&x.compress(x.gt(-0.5)).unwrap(), &device, &kept, "compress");
    }
}

#[test]
fn put_along() {
    on_every_device(|device| {
        let x = device.upload(&[10, 11, 12, 20, 21, 22], [2, 3]).unwrap();
        let i = device.upload(&[2, -1, 0, 5], [2, 2]).unwrap();
        let y = device.upload(&[1, 2, 3, 4], [2, 2]).unwrap();
        assert_eq!(x.put_along(&i, &y, 1).to_vec().unwrap(), [10, 11, 2, 3, 21, 22]);
        let row = device.upload(&[1_u8, 0, 1], [1, 3]).unwrap();
        assert_eq!(x.put_along(&row, 7, 0).to_vec().unwrap(), [10, 7, 12, 7, 21, 7]);
        // It undoes a sort.
        let order = x.argsort_descending(1);
        let back = device.zeros::<i32>([2, 3]).unwrap().put_along(&order, x.take_along(&order, 1), 1);
        assert_eq!(back.to_vec().unwrap(), x.to_vec().unwrap());
    });
}

#[test]
fn histograms() {
    on_every_device(|device| {
        let mut random = Random(6);
        let values: Vec<f32> = (0..3000)
            .map(|i| match i % 50 {
                0 => [f32::NAN, f32::INFINITY, -0.0, 1.0, -1.0, 0.3, f32::NEG_INFINITY, -1e30][i / 50 % 8],
                _ => (random.below(2000) as f32 - 1000.0) / 900.0,
            })
            .collect();
        let x = viewed(device, &values, &[60, 50], &mut random);
        for (bins, low, high) in [
            (1, -1.0, 1.0),
            (10, -1.0, 1.0),
            (256, 0.0, 0.3),
            (7, 1.0, 1.0),
            (128, -1.0, 1.0),
            (9, 1000.0, 1000.001),
        ] {
            let (counts, edges) = x.histogram(bins, (low, high)).unwrap();
            let (low, high) = if low == high { (low - 0.5, high + 0.5) } else { (low, high) };
            let step = (high - low) / bins as f64;
            let edge = |i: usize| if i == bins { high as f32 } else { (i as f64 * step + low) as f32 };
            let all: Vec<f32> = (0..=bins).map(edge).collect();
            let is_in = |x: f32, bin: usize| {
                all[bin] <= x && (x < all[bin + 1] || (bin == bins - 1 && x == all[bins]))
            };
            let count = |bin: usize| values.iter().filter(|&&x| is_in(x, bin)).count() as u32;
            agrees(&edges, device, &all, &format!("edges of {bins} bins"));
            agrees(&counts, device, &(0..bins).map(count).collect::<Vec<u32>>(), &format!("{bins} bins"));
        }
        // Edges and the numbers beside them, where rounding is coarse.
        for (bins, low, high) in [(2000, -0.7, 0.9), (3000, 7.0, 7.1)] {
            let edges = x.histogram(bins, (low, high)).unwrap().1.to_vec().unwrap();
            let values: Vec<f32> = edges.iter().flat_map(|&x| [x.next_down(), x, x.next_up()]).collect();
            let mut all = vec![0_u32; bins];
            for &value in values.iter().filter(|&&x| edges[0] <= x && x <= edges[bins]) {
                all[edges.partition_point(|&edge| edge <= value).min(bins) - 1] += 1;
            }
            let x = device.upload(&values, [3 * (bins + 1)]).unwrap();
            agrees(&x.histogram(bins, (low, high)).unwrap().0, device, &all, &format!("{bins} edges"));
        }
        let (x, y) = (
            device.upload(&[0.0_f32, 0.6, 1.0, 2.0], [4]).unwrap(),
            device.upload(&[1.0_f32, 0.2, 0.0, 0.0], [4]).unwrap(),
        );
        let (counts, edges) = x.histogram2d(&y, [2, 3], [(0.0, 1.0), (0.0, 1.0)]).unwrap();
        assert_eq!((counts.shape().to_vec(), counts.to_vec().unwrap()), (vec![2, 3], vec![0, 0, 1, 2, 0, 0]));
        assert_eq!(edges[1].shape(), &[4]);
    });
}

#[test]
fn mistakes_are_errors() {
    let device = Device::cpu();
    let x = device.zeros::<f32>([2, 3]).unwrap();
    let i = device.zeros::<i32>([2]).unwrap();
    let says = |expr: AnyExpr, kind: ErrorKind, text: &str| {
        let error = expr.eval().unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, text));
        assert!(error.to_string().contains("scattering.rs"), "{error}");
    };
    says(
        x.scatter([&i, &i, &i], 1.0).into(),
        ErrorKind::Operation,
        "scatter to [2, 3] with indices of 3 axes: it takes indices of 1 to 2 leading axes",
    );
    says(
        AnyExpr::from(&x).scatter([&i], &i),
        ErrorKind::Operation,
        "scatter takes operands of one type and got f32 and i32: cast one of them",
    );
    says(
        x.cast::<bool>().scatter_with([&i], true, Update::Add, Outside::Nearest).into(),
        ErrorKind::Operation,
        "scatter that computes takes floats and integers, not bool: cast first",
    );
    says(
        device.zeros::<f32>([0]).unwrap().scatter_with([&i], 1.0, Update::Replace, Outside::Nearest).into(),
        ErrorKind::Shape,
        "cannot scatter [2] elements to [0]: axis 0 has length 0",
    );
    says(
        x.segment_sum(device.zeros::<i32>([3]).unwrap(), 2).into(),
        ErrorKind::Shape,
        "segment_sum of [2, 3] by keys of [3]: keys have the shape of the leading axes",
    );
    says(
        x.segment_sum(&x, 2).into(),
        ErrorKind::Operation,
        "segment_sum takes keys that are integers, not f32: cast them first",
    );
    says(
        AnyExpr::from(&x).segment("segment_median", &i, 2),
        ErrorKind::Operation,
        "no reduction by key is called 'segment_median'",
    );
    says(
        AnyExpr::from(&i).segment_mean(&i, 2),
        ErrorKind::Operation,
        "segment_mean takes floats, not i32: cast first",
    );
    says(
        x.put_along(&i, 1.0, 0).into(),
        ErrorKind::Shape,
        "put_along of [2, 3] at indices of [2]: the ranks must be equal",
    );
    let error = x.histogram(3, (1.0, f64::NAN)).unwrap_err();
    assert_eq!(error.message(), "a histogram from 1 to NaN: the bounds are finite and do not decrease");
}
