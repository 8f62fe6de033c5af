//! Hand-written kernels with an invocation for each element.

use zerostride::{Device, LentBuffer, Result, Tensor};

use crate::common::Work;
use crate::common::hand::{self, Hand};

/// The head of a kernel over a square of `n.x` elements a side, into `out`.
pub(crate) const RESIZE: &str = "
    fn load(y: i32, x: i32) -> f32 {
        let last = 2 * i32(n.x) - 1;
        return in0[clamp(y, 0, last) * (last + 1) + clamp(x, 0, last)];
    }
    @compute @workgroup_size(16, 16)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if (id.x >= n.x || id.y >= n.x) { return; }
        let at = (vec2<f32>(id.xy) + 0.5) * 2.0 - 0.5;
        let whole = floor(at);
        let f = at - whole;
        let p = vec2<i32>(whole);
        let above = mix(load(p.y, p.x), load(p.y, p.x + 1), f.x);
        let below = mix(load(p.y + 1, p.x), load(p.y + 1, p.x + 1), f.x);
        out[id.y * n.x + id.x] = mix(above, below, f.y);
    }";

pub(crate) const WARP: &str = "
    fn load(y: i32, x: i32) -> f32 {
        let side = i32(n.x);
        let p = select(vec2<i32>(y, x), vec2<i32>(y, x) + side, vec2<i32>(y, x) < vec2<i32>(0));
        let q = clamp(p, vec2<i32>(0), vec2<i32>(side - 1));
        return in0[q.x * side + q.y];
    }
    @compute @workgroup_size(16, 16)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if (id.x >= n.x || id.y >= n.x) { return; }
        let centre = f32(n.x) / 2.0;
        let p = vec2<f32>(id.xy) - centre;
        let angle = exp(length(p) * (-4.0 / f32(n.x))) * 2.0;
        let s = sin(angle);
        let c = cos(angle);
        let at = vec2<f32>(p.x * c - p.y * s, p.x * s + p.y * c) + centre;
        let whole = floor(at);
        let f = at - whole;
        let q = vec2<i32>(whole);
        let above = mix(load(q.y, q.x), load(q.y, q.x + 1), f.x);
        let below = mix(load(q.y + 1, q.x), load(q.y + 1, q.x + 1), f.x);
        out[id.y * n.x + id.x] = mix(above, below, f.y);
    }";

pub(crate) const STEP: &str = "
    @compute @workgroup_size(16, 16)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if (id.x >= n.x || id.y >= n.x) { return; }
        let side = n.x;
        let up = select(id.y - 1u, side - 1u, id.y == 0u) * side + id.x;
        let down = select(id.y + 1u, 0u, id.y == side - 1u) * side + id.x;
        let left = id.y * side + select(id.x - 1u, side - 1u, id.x == 0u);
        let right = id.y * side + select(id.x + 1u, 0u, id.x == side - 1u);
        let i = id.y * side + id.x;
        let u = in0[i];
        let v = in1[i];
        let around_u = in0[up] + in0[down] + in0[left] + in0[right] - 4.0 * u;
        let around_v = in1[up] + in1[down] + in1[left] + in1[right] - 4.0 * v;
        let reaction = u * v * v;
        out[i] = u + (0.16 * around_u - reaction + 0.035 * (1.0 - u));
        in2[i] = v + (0.08 * around_v + reaction - 0.1 * v);
    }";

/// A kernel over tensors, whose result is a tensor too.
pub(crate) struct OfTensors {
    hand: Hand,
    out: Tensor<f32>,
    _buffers: Vec<LentBuffer>,
}

impl OfTensors {
    /// A WGSL text over `in0`, `in1` .., or `None` on the CPU path. Inputs from the third on are writable.
    pub(crate) fn new(
        on: &Device,
        text: &str,
        side: usize,
        inputs: &[&Tensor<f32>],
    ) -> Result<Option<OfTensors>> {
        let Some(wgpu) = on.wgpu() else { return Ok(None) };
        let out = on.zeros::<f32>([side, side])?;
        let mut head = "@group(0) @binding(0) var<uniform> n: vec4<u32>;
            @group(0) @binding(1) var<storage, read_write> out: array<f32>;"
            .to_string();
        for i in 0..inputs.len() {
            let access = if i < 2 { "read" } else { "read_write" };
            head += &format!("@group(0) @binding({}) var<storage, {access}> in{i}: array<f32>;", i + 2);
        }
        let numbers = hand::buffer(&wgpu.0, &[side as u32; 4]);
        let tensors = std::iter::once(&out).chain(inputs.iter().copied());
        let lent = tensors.map(|tensor| tensor.buffer()).collect::<Result<Vec<LentBuffer>>>()?;
        let buffers: Vec<_> =
            std::iter::once(&numbers).chain(lent.iter().map(|lent| lent.buffer())).collect();
        let hand = Hand::new(&wgpu, &(head + text), &buffers, [side.div_ceil(16); 2]);
        Ok(Some(OfTensors { hand, out, _buffers: lent }))
    }

    /// Checks that it computes the same as an expression.
    pub(crate) fn agrees(&self, with: &Tensor<f32>) -> Result<()> {
        self.hand.submit();
        let (own, other) = (self.out.to_vec()?, with.to_vec()?);
        let differ = own.iter().zip(&other).filter(|(a, b)| (*a - *b).abs() > 1e-2).count();
        // Rounding may move an index to a neighbour, which is another element.
        assert!(differ * 1000 <= own.len(), "{differ} of {} elements differ", own.len());
        Ok(())
    }

    pub(crate) fn work(self) -> Work {
        Box::new(move || {
            self.hand.run();
            Ok(())
        })
    }
}
