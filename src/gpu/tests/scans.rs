//! Scans in every form of kernel.

use std::sync::Arc;

use crate::gpu::adapters::find;
use crate::gpu::device::Gpu;
use crate::gpu::open::open;
use crate::gpu::tests::in_turn;
use crate::options::Options;
use crate::plan::Target;
use crate::{Device, ReduceOptions, Result, Tensor};

/// Cumulative sums of every form, as bits.
fn sums(x: &Tensor<f32>) -> Result<Vec<Vec<u32>>> {
    let exclusive = || ReduceOptions::default().exclusive();
    let mut all = Vec::new();
    for axis in 0..x.shape().rank() as isize {
        all.push(x.cumsum(axis));
        all.push(x.cumsum_with(axis, exclusive()));
        all.push(x.cumsum_with(axis, exclusive().reverse()));
        all.push((x * 0.5 - 0.25).cumsum(axis));
    }
    let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect();
    all.iter().map(|sum| sum.to_vec().map(bits)).collect()
}

/// A tile by an invocation, and by many that meet in workgroup memory of which there is much or little, whatever the adapter
/// is: of a single group, of as many as each level has and one more.
#[test]
fn all_forms_give_the_same_bits() {
    let numbers: Vec<f32> =
        (0..70_001_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 7e6 - 1.0).collect();
    let whole: [&[usize]; 9] = [
        &[70_001],
        &[65_536],
        &[4_100],
        &[3, 260],
        &[260, 6],
        &[17, 35],
        &[2, 300, 5],
        &[16, 16],
        &[5, 8192],
    ];
    // Of rows of three every second value lies apart from others along each axis.
    let shapes = whole.map(|shape| (shape, 1)).into_iter().chain([(&[4_100, 3][..], 2)]);
    for (k, found) in pollster::block_on(find()).iter().enumerate() {
        let gpu = pollster::block_on(open(found, &Options::default())).unwrap();
        for (_, (shape, step)) in shapes.clone().enumerate().filter(|&(case, _)| in_turn(case, k, 3)) {
            let count = shape.iter().product();
            let of = |device: &Device| -> Result<_> {
                sums(&device.upload(&numbers[..count], shape)?.slice_step(-1, .., step).tensor()?)
            };
            let expected = of(&Device::cpu()).unwrap();
            for shared in [16 << 10, 1 << 10] {
                let own = Gpu::of(gpu.parts.clone(), Target { shared, ..gpu.adapter });
                let device = Device::from_backend(Arc::new(own));
                let got = of(&device).unwrap();
                let wrong = (0..got.len()).find(|&k| got[k] != expected[k]);
                assert_eq!(wrong, None, "{shape:?}, {shared} bytes, {}", device.name());
            }
        }
    }
}
