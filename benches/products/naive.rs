//! A simple hand-written product of matrices: an invocation for each element, and a loop.

use zerostride::Device;

use crate::common::hand::{self, Hand};
use crate::common::{Failure, Work};

const TEXT: &str = "
    @group(0) @binding(0) var<uniform> n: vec4<u32>;
    @group(0) @binding(1) var<storage, read_write> c: array<f32>;
    @group(0) @binding(2) var<storage, read> a: array<f32>;
    @group(0) @binding(3) var<storage, read> b: array<f32>;
    @compute @workgroup_size(16, 16)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if (id.x >= n.x || id.y >= n.x) { return; }
        var sum = 0.0;
        for (var k = 0u; k < n.x; k++) { sum += a[id.y * n.x + k] * b[k * n.x + id.x]; }
        c[id.y * n.x + id.x] = sum;
    }";

/// The work of one product of square matrices, on a device's own wgpu.
pub(crate) fn product(device: &Device, side: usize) -> Result<Work, Failure> {
    let wgpu = device.wgpu().ok_or("no device of wgpu")?;
    let values: Vec<f32> = (0..side * side).map(|i| (i % 1021 + 1) as f32 / 1024.0).collect();
    let numbers = hand::buffer(&wgpu.0, &[side as u32; 4]);
    let [c, a, b] = [(); 3].map(|()| hand::buffer(&wgpu.0, &values));
    let hand = Hand::new(&wgpu, TEXT, &[&numbers, &c, &a, &b], [side.div_ceil(16); 2]);
    Ok(Box::new(move || {
        hand.run();
        Ok(())
    }))
}
