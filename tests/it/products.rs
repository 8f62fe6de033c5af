//! Products of matrices and tensors: bit for bit the contract's order of additions, on every device, for any layout,
//! batch and computed operand.

use std::sync::Arc;

use crate::common::depth::depth;
use crate::common::{
    Random, cases_of, check_kernels, found_in_turn, in_turn, on_every_device, takes, test_limits,
};
use zerostride::{
    AnyExpr, AssignAll, DType, Device, ErrorKind, Expr, Limits, Numeric, Options, Tensor, bf16, f16,
};

/// An element type as the contract multiplies and adds it.
trait Number: Numeric {
    type Sum: Copy + Default;
    fn drawn(random: &mut Random) -> Self;
    /// The sum of a sum and a product, rounded once.
    fn fused(self, other: Self, sum: Self::Sum) -> Self::Sum;
    fn plus(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    fn done(sum: Option<Self::Sum>) -> Self;
    fn bits(self) -> u64;
}

/// A float of 20 bits around 0, now and then a special one.
fn float(random: &mut Random) -> f64 {
    (random.next() >> 44) as f64 / f64::from(1 << 18) - 2.0
}

macro_rules! numbers {
    ($($t:ty as $sum:ty: |$random:ident| $drawn:expr, |$x:ident| $wide:expr, $plus:ident |$a:ident, $b:ident, $c:ident| $fused:expr, |$s:ident| $done:expr;)*) => {$(
        impl Number for $t {
            type Sum = $sum;
            fn drawn($random: &mut Random) -> $t {
                $drawn
            }
            fn fused(self, other: $t, $c: $sum) -> $sum {
                let wide = |$x: $t| -> $sum { $wide };
                let ($a, $b) = (wide(self), wide(other));
                $fused
            }
            fn plus(a: $sum, b: $sum) -> $sum {
                <$sum>::$plus(a, b)
            }
            fn done(sum: Option<$sum>) -> $t {
                let $s = <$sum>::$plus(sum.unwrap_or_default(), <$sum>::default());
                $done
            }
            fn bits(self) -> u64 {
                let mut bytes = [0; 8];
                bytes[..size_of::<$t>()].copy_from_slice(&self.to_le_bytes());
                u64::from_le_bytes(bytes)
            }
        }
    )*};
}
use std::ops::{Add, Mul};
macro_rules! integers {
    ($($t:ident)*) => { numbers! { $($t as $t: |random| random.next() as $t, |x| x, wrapping_add |a, b, c| c.wrapping_add(a.wrapping_mul(b)), |s| s;)* } };
}
integers! { i8 u8 i16 u16 i32 u32 i64 u64 }
numbers! {
    f32 as f32: |random| float(random) as f32, |x| x, add |a, b, c| a.mul_add(b, c), |s| s;
    f64 as f64: |random| float(random), |x| x, add |a, b, c| a.mul_add(b, c), |s| s;
    f16 as f32: |random| f16::from_f64(float(random)), |x| x.to_f32(), add |a, b, c| a.mul_add(b, c), |s| f16::from_f32(s);
    bf16 as f32: |random| bf16::from_f64(float(random)), |x| x.to_f32(), add |a, b, c| a.mul_add(b, c), |s| bf16::from_f32(s);
}

/// `products` of the contract: chunks in sequence by `fma`, and the chain of their sums.
fn chain<T: Number>(factors: &[(T, T)]) -> T {
    let chunk = |factors: &[(T, T)]| factors.iter().fold(T::Sum::default(), |s, (a, b)| a.fused(*b, s));
    let mut p: Vec<T::Sum> = factors.chunks(64).map(chunk).collect();
    while p.len() > 1 {
        p = p.chunks(64).map(|chunk| chunk[1..].iter().fold(chunk[0], |s, &v| T::plus(s, v))).collect();
    }
    T::done(p.first().copied())
}

/// An operand: its elements in row-major order, and a letter and a length for each axis.
struct Operand<T> {
    values: Vec<T>,
    axes: Vec<(char, usize)>,
}

impl<T: Number> Operand<T> {
    fn drawn(axes: &[(char, usize)], random: &mut Random) -> Operand<T> {
        let count = axes.iter().map(|(_, n)| n).product();
        Operand { values: (0..count).map(|_| T::drawn(random)).collect(), axes: axes.to_vec() }
    }

    /// The addresses of all indices of some letters, in row-major order, where those of other letters are 0. An axis of
    /// length 1 has one element for all.
    fn addresses(&self, letters: &[(char, usize)]) -> Vec<usize> {
        let stride = |letter: char| match self.axes.iter().position(|(own, _)| *own == letter) {
            Some(axis) if self.axes[axis].1 > 1 => self.axes[axis + 1..].iter().map(|(_, n)| n).product(),
            _ => 0,
        };
        letters.iter().fold(vec![0], |all, &(letter, n)| {
            let stride: usize = stride(letter);
            all.into_iter().flat_map(|at| (0..n).map(move |i| at + i * stride)).collect()
        })
    }

    /// A tensor of it, whose axes lie in any order, backwards, or among others.
    fn tensor(&self, device: &Device, random: &mut Random) -> Expr<T> {
        let rank = self.axes.len();
        let mut order: Vec<usize> = (0..rank).collect();
        (1..rank).for_each(|k| order.swap(k, random.below(k + 1)));
        let shape: Vec<usize> = order.iter().map(|&axis| self.axes[axis].1).collect();
        let mut places = vec![0; rank];
        order.iter().enumerate().for_each(|(k, &axis)| places[axis] = k as isize);
        let dense = device.upload(&self.values, self.shape()).unwrap();
        let axes: Vec<isize> = order.iter().map(|&axis| axis as isize).collect();
        let wide: Vec<usize> = shape.iter().map(|n| n + random.below(2)).collect();
        let storage = device.zeros::<T>(wide).unwrap();
        let mut view: Expr<T> = storage.expr();
        for (k, &n) in shape.iter().enumerate() {
            view = view.slice(k as isize, 0..n as isize);
            if random.chance(20) {
                view = view.flip(k as isize);
            }
        }
        view.assign(dense.permute(&axes)).unwrap();
        view.permute(&places)
    }

    fn shape(&self) -> Vec<usize> {
        self.axes.iter().map(|(_, n)| *n).collect()
    }
}

/// The product by the contract, with the kept axes and the summed axes.
fn expected<T: Number>(
    a: &Operand<T>,
    b: &Operand<T>,
    kept: &[(char, usize)],
    summed: &[(char, usize)],
) -> Vec<T> {
    let [outer, inner] = [kept, summed].map(|axes| a.addresses(axes).into_iter().zip(b.addresses(axes)));
    let result = |(x, y): (usize, usize)| {
        let factors = |(i, j): (usize, usize)| (a.values[x + i], b.values[y + j]);
        chain(&inner.clone().map(factors).collect::<Vec<_>>())
    };
    outer.map(result).collect()
}

fn agrees<T: Number>(device: &Device, got: &Expr<T>, expected: &[T], what: &str) {
    let got = got.eval_on(device).and_then(|got| got.to_vec());
    let got = got.unwrap_or_else(|error| panic!("{what} on {}: {error}", device.name()));
    assert_eq!(got.len(), expected.len(), "{what} on {}", device.name());
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let (own, other) = (got.bits(), expected.bits());
        assert_eq!(own, other, "{what} on {}: element {i} is {got:?}, not {expected:?}", device.name());
    }
}

fn text(axes: &[(char, usize)]) -> String {
    axes.iter().map(|(letter, _)| letter).collect()
}

/// A product of two operands with these letters, by an equation.
fn einsum<T: Number>(device: &Device, [a, b, kept, summed]: [&[(char, usize)]; 4], random: &mut Random) {
    let (left, right) = (Operand::<T>::drawn(a, random), Operand::<T>::drawn(b, random));
    let expected = expected(&left, &right, kept, summed);
    let equation = format!("{},{}->{}", text(a), text(b), text(kept));
    let what = format!("{equation} of {} {:?} {:?}", T::DTYPE, left.shape(), right.shape());
    let (x, y) = (left.tensor(device, random), right.tensor(device, random));
    agrees(device, &Expr::einsum(&equation, [&x, &y]), &expected, &what);
}

/// A matrix product of a type, of rows, columns, and how many products.
fn matmul<T: Number>(device: &Device, [m, n, k]: [usize; 3], random: &mut Random) {
    if device.supports(T::DTYPE).is_err() {
        return;
    }
    einsum::<T>(
        device,
        [&[('i', m), ('k', k)], &[('k', k), ('j', n)], &[('i', m), ('j', n)], &[('k', k)]],
        random,
    );
}

#[test]
fn lengths_around_chunks() {
    on_every_device(|device| {
        let mut random = Random(1);
        let lengths = [0, 1, 2, 3, 4, 5, 16, 63, 64, 65, 127, 128, 129, 1000, 4095, 4096, 4097, 10_000];
        for k in cases_of(device, lengths) {
            let shapes = [[1, 1], [1, 9], [9, 1], [7, 17]];
            for [m, n] in shapes.into_iter().filter(|[m, n]| m * n * k < 500_000) {
                matmul::<f32>(device, [m, n, k], &mut random);
            }
        }
        // Few rows or few columns of many, and more of both than a task has.
        for shape in [[3, 2100, 70], [1, 1100, 130], [2000, 4, 70], [530, 40, 20], [20, 1100, 20]] {
            matmul::<f32>(device, shape, &mut random);
        }
    });
}

#[test]
fn shapes() {
    let mut random = Random(2);
    for case in 0..depth(12, 140) {
        let side = |random: &mut Random| {
            let most = [8, 40, 130, 300][random.below(4)];
            1 + random.below(most)
        };
        let shape = [side(&mut random), side(&mut random), side(&mut random)];
        for device in in_turn(case) {
            matmul::<f32>(device, shape, &mut Random(case as u64));
            check_kernels(device);
        }
    }
}

/// Bytes without their zero points: ONNX's node test, and numbers of every type beside sums in i32.
#[test]
fn bytes_without_zero_points() {
    fn check<T: Numeric + Into<i32>, U: Numeric + Into<i32>>(device: &Device, random: &mut Random) {
        let [m, n, k] = [3 + random.below(80), 1 + random.below(40), 1 + random.below(300)];
        let mut drawn = |count: usize| (0..count).map(|_| random.next() as i32).collect::<Vec<i32>>();
        let [a, rows] =
            [m * k, m].map(&mut drawn).map(|all| all.into_iter().map(T::from_i32).collect::<Vec<T>>());
        let [b, columns] =
            [k * n, n].map(&mut drawn).map(|all| all.into_iter().map(U::from_i32).collect::<Vec<U>>());
        let of = |zero: &dyn Fn(usize) -> i32, other: &dyn Fn(usize) -> i32| -> Vec<i32> {
            let factor = |i: usize, j: usize, l: usize| {
                (a[i * k + l].into() - zero(i)).wrapping_mul(b[l * n + j].into() - other(j))
            };
            let sum =
                |place: usize| (0..k).map(|l| factor(place / n, place % n, l)).fold(0_i32, i32::wrapping_add);
            (0..m * n).map(sum).collect()
        };
        let [x, zeros] = [device.upload(&a, [m, k]).unwrap(), device.upload(&rows, [m]).unwrap()];
        let [y, others] = [device.upload(&b, [k, n]).unwrap(), device.upload(&columns, [n]).unwrap()];
        let by_rows = x.matmul_integer(&y, &zeros, &others).to_vec().unwrap();
        assert!(by_rows == of(&|i| rows[i].into(), &|j| columns[j].into()), "by rows on {}", device.name());
        let by_one = x.matmul_integer(&y, rows[0], columns[0]).to_vec().unwrap();
        assert!(by_one == of(&|_| rows[0].into(), &|_| columns[0].into()), "by one on {}", device.name());
    }
    on_every_device(|device| {
        let mut random = Random(18);
        type Check = fn(&Device, &mut Random);
        let checks: [Check; 4] = [check::<u8, u8>, check::<i8, u8>, check::<u8, i8>, check::<i8, i8>];
        cases_of(device, checks).for_each(|check| check(device, &mut random));
        let a = device.upload(&[11_u8, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0], [4, 3]).unwrap();
        let b = device.upload(&[1_u8, 4, 2, 5, 3, 6], [3, 2]).unwrap();
        let product = a.matmul_integer(&b, 12, 0);
        assert_eq!(product.to_vec().unwrap(), [-38, -83, -44, -98, -50, -113, -56, -128]);
    });
    let x = AnyExpr::from(Device::cpu().upload(&[1_u8, 2, 3, 4], [2, 2]).unwrap());
    let says = |expr: AnyExpr, text: &str| {
        let error = expr.eval().unwrap_err();
        assert_eq!(error.message(), text);
        assert!(error.location().is_some_and(|at| at.file() == file!()), "{error}");
    };
    let wide = "matmul_integer takes i8 and u8, not i32: cast first";
    let zero = |dtype| AnyExpr::scalar(dtype, 0);
    says(x.matmul_integer(x.cast(DType::I32), zero(DType::U8), zero(DType::I32)), wide);
    let other = "matmul_integer of u8 with a zero point of i8: it has the matrix's type";
    says(x.matmul_integer(&x, zero(DType::I8), zero(DType::U8)), other);
    let three = Device::cpu().upload(&[1_u8; 3], [3]).unwrap();
    let error = x.matmul_integer(&x, &three, zero(DType::U8)).eval().unwrap_err();
    assert!(error.message().contains("[3, 1]"), "{error}");
}

/// Each shape on an adapter in turn, so that four shapes have each type on all.
#[test]
fn types() {
    let all: [fn(&Device, [usize; 3], &mut Random); 11] = [
        matmul::<f64>,
        matmul::<f16>,
        matmul::<bf16>,
        matmul::<i8>,
        matmul::<u8>,
        matmul::<i16>,
        matmul::<u16>,
        matmul::<i32>,
        matmul::<u32>,
        matmul::<i64>,
        matmul::<u64>,
    ];
    on_every_device(|device| {
        let mut random = Random(3);
        for (k, shape) in [[5, 18, 70], [33, 3, 8], [66, 70, 131], [3, 5, 576]].into_iter().enumerate() {
            let taken = all.iter().enumerate().filter(|(of, _)| takes(k + of, device));
            taken.for_each(|(_, product)| product(device, shape, &mut random));
        }
    });
}

/// Both factors lie along the products, so that adapters may load four at once, if they begin at a vector.
fn both_along<T: Number>(device: &Device, [m, n, k, first]: [usize; 4], random: &mut Random) {
    if device.supports(T::DTYPE).is_err() {
        return;
    }
    let mut drawn =
        |rows: usize| -> Operand<T> { Operand::drawn(&[('b', 2), ('i', rows), ('k', k)], random) };
    let (a, b) = (drawn(m), drawn(n));
    let within = |own: &Operand<T>| {
        let shape = own.shape();
        let view =
            device.zeros::<T>([2, shape[1], k + 8]).unwrap().slice(2, first as isize..(first + k) as isize);
        view.assign(device.upload(&own.values, shape).unwrap()).unwrap();
        view
    };
    let right = Operand { axes: vec![('b', 2), ('j', n), ('k', k)], values: b.values.clone() };
    let expected = expected(&a, &right, &[('b', 2), ('i', m), ('j', n)], &[('k', k)]);
    let what = format!("{} [{m}, {n}, {k}] from {first}", T::DTYPE);
    let product = within(&a).matmul(within(&b).transpose(-1, -2));
    agrees(device, &product, &expected, &what);
}

#[test]
fn factors_along_the_products() {
    on_every_device(|device| {
        let mut random = Random(21);
        for shape in
            [[9, 21, 4, 0], [70, 130, 64, 4], [33, 40, 132, 8], [5, 66, 72, 2], [17, 34, 66, 0], [3, 2, 8, 4]]
        {
            both_along::<f32>(device, shape, &mut random);
        }
        for shape in [[9, 21, 68, 4], [4, 35, 8, 0]] {
            both_along::<f64>(device, shape, &mut random);
            both_along::<f16>(device, shape, &mut random);
            both_along::<u8>(device, shape, &mut random);
            both_along::<i64>(device, shape, &mut random);
        }
        // Weights of a byte by a number, and a mask after the sums.
        let weights: Vec<u8> = (0..24 * 64).map(|_| random.next() as u8).collect();
        let weights = device.upload(&weights, [24, 64]).unwrap();
        let x = Expr::<f32>::uniform([40, 64], 3).eval_on(device).unwrap();
        let later = Expr::iota([40, 24], 0).lt(Expr::iota([40, 24], 1));
        let masked = |weights: Expr<f32>| {
            let product = x.matmul(weights.transpose(0, 1)) / 8.0;
            let values =
                later.select(f32::NEG_INFINITY, product).eval().and_then(|own| own.to_vec()).unwrap();
            values.into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        let scaled = weights.cast::<f32>() * 0.1;
        let apart = scaled.transpose(0, 1).eval().unwrap().transpose(0, 1);
        assert_eq!(masked(scaled), masked(apart), "{}", device.name());
    });
}

/// Matrices that fill the largest tiles: of several chunks, which end within a load, and of one, in all orders of memory.
#[test]
fn large_tiles() {
    fn product<T: Number>(device: &Device, [m, n, k]: [usize; 3], turned: [bool; 2]) -> Expr<T> {
        let drawn = |shape: [usize; 2], turned: bool, seed: u64| {
            let own = (Expr::<f32>::uniform(shape, seed) * 100.0 - 50.0).cast::<T>();
            let own = if turned { own.transpose(0, 1) } else { own }.eval_on(device).unwrap();
            if turned { own.transpose(0, 1) } else { own.expr() }
        };
        drawn([m, k], turned[0], 31).matmul(drawn([k, n], turned[1], 32))
    }
    fn check<T: Number>(device: &Device, shape: [usize; 3], turned: [bool; 2]) {
        let bits = |device| {
            product::<T>(device, shape, turned).to_vec().unwrap().into_iter().map(T::bits).collect::<Vec<_>>()
        };
        assert!(bits(device) == bits(&Device::cpu()), "{} {shape:?} on {}", T::DTYPE, device.name());
    }
    on_every_device(|device| {
        for (case, shape) in [[250, 120, 100], [250, 250, 64], [500, 250, 40]].into_iter().enumerate() {
            let turned = [case % 2 == 1, case > 0];
            if case == 0 {
                check::<f32>(device, shape, turned);
            }
            check::<f16>(device, shape, turned.map(|own| !own));
            check::<i32>(device, shape, [turned[1], turned[0]]);
            // Other adapters have so large a tile for more results.
            let text = product::<i32>(device, shape, turned).explain(device).unwrap().to_string();
            let is_host = text.contains("the host's processor");
            assert!(!is_host || text.contains("a workgroup has 128 by"), "{text}");
        }
    });
}

/// Infinities, NaN, zeros and overflows, by every form. NaN has any bits.
#[test]
fn special_values() {
    on_every_device(|device| {
        let special = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, -f32::MAX];
        let mut random = Random(22);
        let mut drawn = |axes: [(char, usize); 2]| {
            let mut own = Operand::<f32>::drawn(&axes, &mut random);
            for value in &mut own.values {
                *value = match random.below(200) {
                    k if k < special.len() => special[k],
                    k if k < 20 => 0.0,
                    k if k < 40 => -0.0,
                    _ => *value,
                };
            }
            own
        };
        for [m, n, k] in [[21, 18, 64], [70, 130, 68], [1, 40, 130], [66, 5, 8]] {
            let (a, b) = (drawn([('i', m), ('k', k)]), drawn([('j', n), ('k', k)]));
            let expected = expected(&a, &b, &[('i', m), ('j', n)], &[('k', k)]);
            let [x, y] = [&a, &b].map(|own| device.upload(&own.values, own.shape()).unwrap());
            let stored = y.transpose(0, 1).eval().unwrap();
            for product in [x.matmul(y.transpose(0, 1)), x.matmul(stored)] {
                let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
                let got = product.to_vec().unwrap().into_iter().map(bits);
                assert!(got.eq(expected.iter().copied().map(bits)), "[{m}, {n}, {k}] on {}", device.name());
            }
        }
    });
}

/// Any axes of either operand kept, summed and side by side.
#[test]
fn tensors() {
    for case in 0..depth(40, 150) {
        let mut random = Random(100 + case as u64);
        let (mut a, mut b, mut kept, mut summed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for letter in "abcdefg".chars().take(1 + random.below(6)) {
            let axis = (letter, 1 + random.below(9));
            match random.below(4) {
                0 => [&mut a, &mut kept].into_iter().for_each(|own: &mut Vec<_>| own.push(axis)),
                1 => [&mut b, &mut kept].into_iter().for_each(|own: &mut Vec<_>| own.push(axis)),
                2 => [&mut a, &mut b, &mut kept].into_iter().for_each(|own| own.push(axis)),
                _ => [&mut a, &mut b, &mut summed].into_iter().for_each(|own| own.push(axis)),
            }
        }
        (1..b.len()).for_each(|k| b.swap(k, random.below(k + 1)));
        (1..kept.len()).for_each(|k| kept.swap(k, random.below(k + 1)));
        for device in in_turn(case) {
            einsum::<f32>(device, [&a, &b, &kept, &summed], &mut random);
            check_kernels(device);
        }
    }
}

/// Batches that are stretched, on either side: the rule of shapes alone says which elements meet (candle #3744).
#[test]
fn stretched_batches() {
    on_every_device(|device| {
        let mut random = Random(4);
        for [left, right] in [[[1, 1], [3, 2]], [[3, 2], [1, 1]], [[3, 1], [1, 2]], [[3, 2], [3, 2]]] {
            let (m, n, k) = (9, 5, 33);
            let batch = |[b, c]: [usize; 2]| [('b', b), ('c', c)];
            let a = Operand::<f32>::drawn(&[&batch(left)[..], &[('i', m), ('k', k)]].concat(), &mut random);
            let b = Operand::<f32>::drawn(&[&batch(right)[..], &[('k', k), ('j', n)]].concat(), &mut random);
            let all: Vec<usize> = left.iter().zip(right).map(|(&l, r)| l.max(r)).collect();
            let kept = [('b', all[0]), ('c', all[1]), ('i', m), ('j', n)];
            let expected = expected(&a, &b, &kept, &[('k', k)]);
            let (x, y) = (a.tensor(device, &mut random), b.tensor(device, &mut random));
            agrees(device, &x.matmul(&y), &expected, "stretched by the rule");
            let x = x.expand([all[0] as isize, all[1] as isize, -1, -1]);
            let y = y.expand([all[0] as isize, all[1] as isize, -1, -1]);
            agrees(device, &x.matmul(&y), &expected, "stretched before");
        }
        // candle's: [1, 8, 8, 64] and [8, 64, 8] of stride 0.
        let (x, y) = (device.full([1, 64, 8], 1.0_f32).unwrap(), device.full([1, 8, 64], 1.0_f32).unwrap());
        let product = x.broadcast_to([8, 64, 8]).matmul(y.broadcast_to([8, 8, 64]));
        assert!(product.to_vec().unwrap().iter().all(|&x| x == 8.0));
    });
}

/// Operands may be computed, and other expressions may read a product.
#[test]
fn computed_operands() {
    on_every_device(|device| {
        let mut random = Random(5);
        let a = Operand::<f32>::drawn(&[('i', 21), ('k', 70)], &mut random);
        let b = Operand::<f32>::drawn(&[('k', 70), ('j', 13)], &mut random);
        let kept = [('i', 21), ('j', 13)];
        let (x, y) = (a.tensor(device, &mut random), b.tensor(device, &mut random));
        let plain = expected(&a, &b, &kept, &[('k', 70)]);
        let doubled =
            Operand { values: a.values.iter().map(|x| x * 2.0 + 1.0).collect(), axes: a.axes.clone() };
        let other = expected(&doubled, &b, &kept, &[('k', 70)]);
        let product = x.matmul(&y);
        agrees(device, &(&x * 2.0 + 1.0).matmul(&y), &other, "a computed operand");
        agrees(
            device,
            &(product.clone() + 1.0),
            &plain.iter().map(|x| x + 1.0).collect::<Vec<_>>(),
            "what follows",
        );
        let both: Vec<f32> = plain.iter().zip(&other).map(|(x, y)| x - y).collect();
        agrees(device, &(&product - (&x * 2.0 + 1.0).matmul(&y)), &both, "two products");
        let square = product.matmul(product.transpose(0, 1));
        let own = Operand { values: plain, axes: vec![('i', 21), ('j', 13)] };
        let turned = Operand { values: own.values.clone(), axes: vec![('l', 21), ('j', 13)] };
        let expected = expected(&own, &turned, &[('i', 21), ('l', 21)], &[('j', 13)]);
        agrees(device, &square, &expected, "a product of a product");
        // Of one tensor, of a constant, of coordinates, and of small integers times floats.
        let v = device.upload(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
        assert_eq!(v.dot(&v).to_vec().unwrap(), [14.0]);
        assert_eq!(v.dot(Expr::scalar(2.0_f32).broadcast_to([3])).to_vec().unwrap(), [12.0]);
        assert_eq!(v.dot(v.coordinate(0).cast::<f32>()).to_vec().unwrap(), [8.0]);
        let w = device.upload(&[1_u8, 0, 2], [3]).unwrap();
        assert_eq!(v.dot(w.cast::<f32>()).to_vec().unwrap(), [7.0]);
        // Written to a part of a tensor, which it reads.
        let all = device.upload(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
        all.assign(all.matmul(&all)).unwrap();
        assert_eq!(all.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
    });
}

/// What is computed as factors are loaded, and after the sums, has the bits that it has by itself: of a type, with factors
/// of some rows, columns and products.
fn steps_around<T: Number>(device: &Device, [m, n, k]: [usize; 3], which: &[usize], random: &mut Random)
where
    for<'a> &'a Expr<T>: Mul<&'a Tensor<T>, Output = Expr<T>> + Add<&'a Tensor<T>, Output = Expr<T>>,
{
    if device.supports(T::DTYPE).is_err() {
        return;
    }
    let mut drawn = |shape: [usize; 2]| {
        let values: Vec<T> = (0..shape[0] * shape[1]).map(|_| T::drawn(random)).collect();
        device.upload(&values, shape).unwrap()
    };
    let (x, y, all) = (drawn([m, k]), drawn([n, k]), drawn([m, n]));
    let (row, column, scale) = (drawn([1, n]), drawn([m, 1]), drawn([n, 1]));
    let factors = [&x.expr() + &column, (&y.expr() * &scale).transpose(0, 1)];
    let stored = factors.each_ref().map(|own| own.eval_on(device).unwrap().expr());
    let (product, apart) = (factors[0].matmul(&factors[1]), stored[0].matmul(&stored[1]));
    let apart = apart.eval_on(device).unwrap().expr();
    type Steps<'a, T> = &'a dyn Fn(&Expr<T>) -> AnyExpr;
    let after: [Steps<'_, T>; 6] = [
        &|p| p.clone().into(),
        &|p| (&(p * &scale.transpose(0, 1).tensor().unwrap()) + &row).maximum(&column).into(),
        &|p| p.lt(&all).into(),
        &|p| p.cast::<u8>().into(),
        &|p| (&p.clone().reshape([m, 1, n]) + &all.unsqueeze(1).tensor().unwrap()).into(),
        &|p| (&p.transpose(0, 1) + &all.transpose(0, 1).tensor().unwrap()).into(),
    ];
    for &i in which {
        let after = after[i];
        let [got, expected] = [&product, &apart].map(|own| {
            let bytes = after(own).eval_on(device).and_then(|own| own.to_bytes());
            bytes.unwrap_or_else(|e| panic!("steps {i} of {} on {}: {e}", T::DTYPE, device.name()))
        });
        assert!(got == expected, "steps {i} of {} [{m}, {n}, {k}] on {}", T::DTYPE, device.name());
        // All but a transposed result are one stage, if a kernel binds what they read.
        let told = after(&product).explain(device).unwrap().to_string();
        let is_one = i < 5 && m * n * k < 100_000 && test_limits().is_none();
        assert!(!is_one || !told.contains("first, as it is stored"), "steps {i}: {told}");
    }
}

#[test]
fn steps_around_products() {
    on_every_device(|device| {
        let mut random = Random(9);
        steps_around::<f32>(device, [37, 70, 33], &[0, 1, 2, 3, 4, 5], &mut random);
        let (odd, even) = ([21, 18, 70], [21, 16, 640]);
        type Steps = fn(&Device, [usize; 3], &[usize], &mut Random);
        let others: [(Steps, [usize; 3], &[usize]); 10] = [
            (steps_around::<f32>, [3, 64, 640], &[1]),
            (steps_around::<f64>, odd, &[1]),
            (steps_around::<f16>, odd, &[1]),
            (steps_around::<bf16>, even, &[1, 2]),
            (steps_around::<f32>, [1, 130, 80], &[1]),
            (steps_around::<i8>, odd, &[1, 2]),
            (steps_around::<u16>, even, &[1]),
            (steps_around::<i64>, odd, &[3]),
            (steps_around::<f32>, [70, 1, 129], &[1]),
            (steps_around::<f32>, [12, 20, 4160], &[1]),
        ];
        for (steps, shape, which) in cases_of(device, others) {
            steps(device, shape, which, &mut random);
        }
    });
}

/// Results of functions, batches, chunks of many products, and what several readers share.
#[test]
fn readers_of_products() {
    on_every_device(|device| {
        let mut random = Random(10);
        let mut drawn = |shape: &[usize]| {
            let values: Vec<f32> = (0..shape.iter().product()).map(|_| f32::drawn(&mut random)).collect();
            device.upload(&values, shape).unwrap()
        };
        let (x, y, bias) = (drawn(&[2, 9, 1024]), drawn(&[1024, 8]), drawn(&[8]));
        let product = x.matmul(&y);
        let apart = product.eval_on(device).unwrap().expr();
        type Steps<'a> = &'a dyn Fn(&Expr<f32>) -> Expr<f32>;
        let after: [Steps<'_>; 6] = [
            &|p| (p + &bias).gelu(),
            &|p| p.permute([1, 0, 2]) - &bias,
            &|p| p + p.slice(0, 0..1) * 2.0,
            &|p| (p + &bias).softmax(-1),
            &|p| (p * 0.1).sum(-1) + bias.sum(0),
            &|p| p * Expr::iota([2, 9, 8], 1).cast::<f32>(),
        ];
        for (i, after) in after.iter().enumerate() {
            let [got, expected] = [&product, &apart].map(|own| after(own).eval_on(device).unwrap());
            assert_eq!(got.shape(), expected.shape(), "{i}");
            let bits =
                |own: Tensor<f32>| own.to_vec().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let [got, expected] = [got, expected].map(bits);
            assert!(got == expected, "reader {i} on {}", device.name());
        }
    });
}

/// Expressions of several kernels that need one product: it is computed once.
#[test]
fn products_of_several_results() {
    on_every_device(|device| {
        let mut random = Random(11);
        let mut drawn = |shape: &[usize]| {
            let values: Vec<f32> = (0..shape.iter().product()).map(|_| f32::drawn(&mut random)).collect();
            device.upload(&values, shape).unwrap()
        };
        let (x, y, z) = (drawn(&[9, 70]), drawn(&[70, 8]), drawn(&[8, 9]));
        let product = x.matmul(&y);
        let apart = product.eval_on(device).unwrap().expr();
        // A product itself, twice; steps; other shapes; a product of the steps.
        let of = |p: &Expr<f32>| -> Vec<Expr<f32>> {
            let layer = (p + 0.5).relu();
            vec![
                p.relu(),
                p.clone(),
                p.sum(..),
                layer.matmul(&z),
                p.clone(),
                layer.matmul(&z).sum(0),
                p * 2.0,
            ]
        };
        let expected = of(&apart);
        let results = Expr::eval_all(&of(&product)).unwrap();
        assert_eq!(results.len(), expected.len());
        for (i, (got, expected)) in results.iter().zip(&expected).enumerate() {
            let bits =
                |own: &Expr<f32>| own.to_vec().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>();
            assert!(bits(&got.expr()) == bits(expected), "result {i} on {}", device.name());
        }
        // Each result has its own memory.
        results[1].assign(0.0).unwrap();
        assert_eq!(results[4].to_vec().unwrap(), apart.to_vec().unwrap());
        // What is assigned is computed of the elements before.
        let (a, b) = (x.copy().unwrap(), drawn(&[9, 8]));
        let product = a.matmul(&y);
        (&a, &b).assign_all((product.sum(..), &product * 2.0)).unwrap();
        assert_eq!(b.to_vec().unwrap(), (&apart * 2.0).to_vec().unwrap());
    });
}

/// A product that several results need runs once.
#[test]
fn common_products_run_once() {
    for adapter in Device::all().iter().filter(|adapter| adapter.backend != "cpu") {
        let device = adapter.open().unwrap();
        let is_product = |text: &&Arc<str>| text.contains("fn factor0");
        let count = || device.kernels().iter().filter(is_product).count();
        let (before, x) = (count(), device.full([64, 64], 0.5_f32).unwrap());
        let product = x.matmul(&x);
        Expr::eval_all(&[product.relu(), product.sum(..), product.clone()]).unwrap();
        assert_eq!(count() - before, 1, "{}", device.name());
    }
}

#[test]
fn ranks() {
    on_every_device(|device| {
        let tensor = |shape: &[usize]| {
            let count: usize = shape.iter().product();
            device.upload(&(0..count).map(|i| i as i32).collect::<Vec<_>>(), shape).unwrap()
        };
        let shape = |a: &[usize], b: &[usize]| tensor(a).matmul(tensor(b)).shape().unwrap().to_vec();
        assert_eq!(shape(&[3], &[3]), [0_usize; 0]);
        assert_eq!(shape(&[3], &[3, 4]), [4]);
        assert_eq!(shape(&[2, 3], &[3]), [2]);
        assert_eq!(shape(&[5, 2, 3], &[3]), [5, 2]);
        assert_eq!(shape(&[3], &[5, 3, 4]), [5, 4]);
        assert_eq!(shape(&[7, 1, 2, 3], &[5, 3, 4]), [7, 5, 2, 4]);
        assert_eq!(tensor(&[2, 0]).matmul(tensor(&[0, 2])).to_vec().unwrap(), [0; 4]);
        assert_eq!(tensor(&[0, 3]).matmul(tensor(&[3, 2])).to_vec().unwrap(), [0; 0]);
        let (a, b) = (tensor(&[2, 3, 4]), tensor(&[4, 3, 5]));
        assert_eq!(a.tensordot(&b, vec![[1_u8, 1], [2, 0]]).shape().unwrap(), &[2, 5]);
        let [x, y] = [a.tensordot(&b, [[1, 1], [-1, 0]]), Expr::einsum("ijk,kjl->il", [&a, &b])];
        assert_eq!(x.to_vec().unwrap(), y.to_vec().unwrap());
        assert_eq!(a.vecdot(tensor(&[4]), -1).to_vec().unwrap(), [14, 38, 62, 86, 110, 134]);
        assert_eq!(a.vecdot(tensor(&[2, 1, 4]), 2).shape().unwrap(), &[2, 3]);
        assert_eq!(a.dot(tensor(&[6, 4, 5])).shape().unwrap(), &[2, 3, 6, 5]);
    });
}

#[test]
fn equations() {
    on_every_device(|device| {
        let x = device.upload(&[1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3]).unwrap();
        let v = device.upload(&[1, 10, 100], [3]).unwrap();
        let of = |equation: &str, operands: &[&Tensor<i32>]| {
            let operands: Vec<AnyExpr> = operands.iter().map(|&own| own.expr().into()).collect();
            AnyExpr::einsum(equation, &operands).to_vec::<i32>().unwrap()
        };
        assert_eq!(of("ii", &[&x]), [15]);
        assert_eq!(of("ii->i", &[&x]), [1, 5, 9]);
        assert_eq!(of("ij->", &[&x]), [45]);
        assert_eq!(of("ji", &[&x]), [1, 4, 7, 2, 5, 8, 3, 6, 9]);
        assert_eq!(of("ij,j", &[&x, &v]), [321, 654, 987]);
        assert_eq!(of("ij,k->k", &[&x, &v]), [45, 450, 4500]);
        assert_eq!(of("i,i,i->i", &[&v, &v, &v]), [1, 1000, 1_000_000]);
        assert_eq!(of("i,ij,j->", &[&v, &x, &v]), [321 + 6540 + 98_700]);
        assert_eq!(of("...j,j->...", &[&x, &v]), [321, 654, 987]);
        assert_eq!(of("...,...", &[&x, &v]), [1, 20, 300, 4, 50, 600, 7, 80, 900]);
        assert_eq!(of(" i j , j k -> k i ", &[&x, &x]), of("ij,jk->ki", &[&x, &x]));
        // Where nothing is summed the product is all there is, and its zero has a sign.
        let (none, negative) =
            (device.upload(&[0.0_f32], [1]).unwrap(), device.upload(&[-1.0_f32], [1]).unwrap());
        for product in [none.outer(&negative), none.tensordot(&negative, [[0; 2]; 0])] {
            assert_eq!(product.to_vec().unwrap()[0].to_bits(), (-0.0_f32).to_bits());
        }
        assert_eq!(none.dot(&negative).to_vec().unwrap()[0].to_bits(), 0);
    });
}

#[test]
fn long_products() {
    on_every_device(|device| {
        let mut random = Random(6);
        for k in depth(&[140_000][..], &[131_073, 140_000, 270_000]).iter().copied() {
            matmul::<f32>(device, [1, 2, k], &mut random);
        }
        // Axes that are no one axis.
        let axes = [('k', 70), ('l', 2000)];
        einsum::<f32>(device, [&axes, &[axes[1], axes[0], ('j', 2)], &[('j', 2)], &axes], &mut random);
    });
}

/// Factors and results that are larger than a binding, or lie in tensors that are.
#[test]
fn larger_than_a_binding() {
    for adapter in found_in_turn() {
        let name = format!("{}:{}", adapter.backend, adapter.index);
        let mut limits = Limits::downlevel();
        limits.max_storage_buffer_binding_size = 64 << 10;
        limits.max_buffer_size = 512 << 10;
        let device = Device::open_with(&Options::default().adapter(name).limits(limits)).unwrap();
        let products = |device: &Device| -> Vec<Vec<u32>> {
            let mut random = Random(8);
            let mut drawn = |shape: [usize; 2]| {
                let values: Vec<f32> = (0..shape[0] * shape[1])
                    .map(|_| (random.next() >> 44) as f32 / 262_144.0 - 2.0)
                    .collect();
                device.upload(&values, shape).unwrap()
            };
            let (a, b, v) = (drawn([300, 200]), drawn([200, 150]), drawn([200, 1]));
            let part = a.slice(0, 100..140).tensor().unwrap();
            let all = [
                a.matmul(&b),
                b.transpose(0, 1).matmul(a.transpose(0, 1)),
                a.matmul(&v),
                (&a + 1.0).matmul(&b) * 2.0,
                part.matmul(&b),
                a.matmul(b.slice(1, 3..8)),
            ];
            all.iter().map(|x| x.to_vec().unwrap().into_iter().map(f32::to_bits).collect()).collect()
        };
        assert!(products(&device) == products(&Device::cpu()), "{}", device.name());
    }
}

#[test]
fn mistakes() {
    let device = Device::cpu();
    let tensor = |shape: &[usize]| device.zeros::<f32>(shape).unwrap().expr();
    let said = |expr: Expr<f32>| {
        let error = expr.eval().unwrap_err();
        (error.kind(), error.message().to_string())
    };
    let (x, y) = (tensor(&[2, 3, 4]), tensor(&[2, 5, 6]));
    assert_eq!(
        said(x.matmul(&y)),
        (ErrorKind::Shape, "matmul of [2, 3, 4] and [2, 5, 6]: 4 columns meet 5 rows".into())
    );
    assert!(said(x.matmul(2.0)).1.starts_with("matmul of [2, 3, 4] and []: a number is no matrix"));
    assert_eq!(
        said(x.tensordot(&y, [[1, 1]])).1,
        "tensordot of [2, 3, 4] and [2, 5, 6]: axis 1 of length 3 meets axis 1 of length 5"
    );
    assert_eq!(said(x.tensordot(&y, [[3, 0]])).0, ErrorKind::Axis);
    assert_eq!(
        said(x.vecdot(&y, -1)).1,
        "vecdot of [2, 3, 4] and [2, 5, 6]: axis 2 of length 4 meets axis 2 of length 6"
    );
    assert_eq!(said(x.outer(&y)).1, "outer of [2, 3, 4] and [2, 5, 6]: it takes operands of one axis");
    let of = |equation: &str| said(Expr::einsum(equation, [&x, &y])).1;
    assert_eq!(of("abc,abd->abcd"), "einsum \"abc,abd->abcd\": label 'b' has lengths 3 and 5");
    assert_eq!(of("abc->abc"), "einsum \"abc->abc\" has 1 terms and got 2 operands");
    assert_eq!(of("ab,abd->"), "einsum \"ab,abd->\": \"ab\" has 2 labels for an operand of 3 axes");
    assert_eq!(of("abc,aef->z"), "einsum \"abc,aef->z\": the result has label 'z', which no operand has");
    assert_eq!(of("abc,aef->aa"), "einsum \"abc,aef->aa\": the result has label 'a' twice");
    assert_eq!(of("a1c,aef->a"), "einsum \"a1c,aef->a\": '1' is no label, which are letters");
    assert_eq!(of("a b c; aef"), "einsum \"a b c; aef\": ';' is no label, which are letters");
    let (bools, ints) = (AnyExpr::from(x.eq(&x)), AnyExpr::from(x.cast::<i32>()));
    let message = bools.matmul(&bools).eval().unwrap_err().message().to_string();
    assert_eq!(message, "matmul takes floats and integers, not bool: cast first");
    let message = ints.matmul(AnyExpr::from(&x)).eval().unwrap_err().message().to_string();
    assert_eq!(message, "matmul takes operands of one type and got i32 and f32: cast one of them");
    assert_eq!(ints.dtype().unwrap(), DType::I32);
}
