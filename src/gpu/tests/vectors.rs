//! Joined vectors, and f16, on each adapter as it is and as others are.

use std::sync::Arc;

use crate::dtype::{Element, bf16, f16};
use crate::gpu::adapters::find;
use crate::gpu::device::Gpu;
use crate::gpu::open::open;
use crate::gpu::tests::in_turn;
use crate::options::Options;
use crate::plan::{Faults, Target};
use crate::{Device, Expr, Tensor};

/// Each adapter as it is opened, and as one that has no instructions of its own for f16.
fn devices() -> Vec<Device> {
    let mut devices = Vec::new();
    for found in pollster::block_on(find()) {
        let gpu = pollster::block_on(open(found, &Options::default())).unwrap();
        let faults = Faults { halves: true, half_rounding: true, ..gpu.adapter.faults };
        for adapter in [gpu.adapter, Target { faults, ..gpu.adapter }] {
            let own = Gpu::of(gpu.parts.clone(), adapter);
            devices.push(Device::from_backend(Arc::new(own)));
        }
    }
    devices
}

/// Sums over layouts that lie in runs of any length, and comparisons and products in place, as bits.
fn sums<T: Element>(device: &Device, element: impl Fn(usize) -> T) -> Vec<u64> {
    let tensor = |shape: &[usize]| -> Tensor<T> {
        let count = shape.iter().product();
        device.upload(&(0..count).map(&element).collect::<Vec<_>>(), shape).unwrap()
    };
    let max = |a: Expr<T>, b: Expr<T>| Expr::<T>::call("maximum", &[a, b]);
    let mut all = Vec::new();
    let mut keep = |values: Vec<T>| all.extend(values.iter().map(|value| value.to_bits()));
    for count in [1, 40, 1003, 4096] {
        let (x, y) = (tensor(&[count]), tensor(&[count + 24]));
        let less = Expr::<bool>::call("lt", &[x.expr(), y.slice(0, ..count)]);
        all_bools(&mut keep, less.to_vec().unwrap(), &element);
        for first in [0, 4, 8, 3] {
            keep(max(x.expr(), y.slice(0, first..first + count)).to_vec().unwrap());
        }
        keep(max(x.expr(), tensor(&[1]).expr()).to_vec().unwrap());
        let whole = tensor(&[count]);
        whole.assign(max(whole.expr(), x.flip(0))).unwrap();
        keep(whole.to_vec().unwrap());
    }
    for [n, h, w] in [[3, 5, 64], [2, 3, 40], [2, 7, 36], [2, 2, 4096]] {
        let x = tensor(&[n, h, w]);
        for other in [vec![w], vec![h, 1], vec![n, 1, w], vec![n, 1, 1]] {
            keep(max(x.expr(), tensor(&other).expr()).to_vec().unwrap());
        }
        let into = tensor(&[n, h, 2 * w]);
        into.slice(2, w..).assign(max(into.slice(2, w..), x.expr())).unwrap();
        into.slice(2, 4..w).assign(x.slice(2, ..w - 4)).unwrap();
        keep(into.to_vec().unwrap());
    }
    all
}

fn all_bools<T: Element>(keep: &mut impl FnMut(Vec<T>), values: Vec<bool>, element: &impl Fn(usize) -> T) {
    keep(values.into_iter().map(|value| element(usize::from(value))).collect());
}

#[test]
fn joined_vectors_are_those_apart() {
    for (k, device) in devices().into_iter().enumerate() {
        let mut case = 0;
        macro_rules! on {
            ($($element:expr,)*) => {$(
                case += 1;
                if in_turn(case, k, 3) {
                    let expected = sums(&Device::cpu(), $element);
                    assert!(expected == sums(&device, $element), "{} {}", stringify!($element), device.name());
                }
            )*};
        }
        on!(
            |i| (i * 37 % 251) as u8,
            |i| (i * 37 % 251) as u8 as i8,
            |i| (i * 7919 % 65521) as u16,
            |i| f16::from_f32((i * 37 % 251) as f32 / 16.0 - 5.0),
            |i| bf16::from_f32((i * 37 % 251) as f32 / 16.0 - 5.0),
            |i| i as f32 * 0.5,
        );
    }
}

/// All numbers of f16, and for each two neighbours the number halfway and the numbers on either side of it.
#[test]
fn f16_is_converted_and_rounded_as_ieee_says() {
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let mut singles = vec![f32::INFINITY, f32::NAN, 1e30, f32::MAX, f32::MIN_POSITIVE, 0.0];
    singles.extend((0..128).map(|k| 1.7 * 2_f32.powi(k)));
    for bits in 0..0x7c00 {
        let (low, high) = (f16::from_bits(bits).to_f32(), f16::from_bits(bits + 1).to_f32());
        let middle = if high.is_finite() { (low + high) / 2.0 } else { 65520.0 };
        singles.extend([middle, f32::from_bits(middle.to_bits() - 1), f32::from_bits(middle.to_bits() + 1)]);
    }
    let negative: Vec<f32> = singles.iter().map(|x| -x).collect();
    singles.extend(negative);
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    for device in devices() {
        let x = device.upload(&halves, [halves.len()]).unwrap();
        let (there, back) = (x.cast::<f32>(), (&x * f16::ONE).to_vec().unwrap());
        for ((x, there), back) in halves.iter().zip(there.to_vec().unwrap()).zip(back) {
            assert!(same(x.to_f32(), there), "{x:?} as {there:?} on {}", device.name());
            assert!(same(x.to_f32(), back.to_f32()), "{x:?} to {back:?} on {}", device.name());
        }
        let x = device.upload(&singles, [singles.len()]).unwrap();
        let (kept, read) = (x.cast::<f16>().to_vec().unwrap(), x.cast::<f16>().cast::<f32>());
        for ((x, kept), read) in singles.iter().zip(kept).zip(read.to_vec().unwrap()) {
            let right = f16::from_f32(*x).to_f32();
            assert!(same(right, kept.to_f32()), "{x:e} to {kept:?} on {}", device.name());
            assert!(same(right, read), "{x:e} to {read:?} in a kernel on {}", device.name());
        }
    }
}
