//! Kernels by hand: an invocation an element.

use zerostride::{Device, LentBuffer, Result, Tensor, wgpu};

/// Of a square of `n.x` elements a side, into `out`.
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
pub(crate) struct Hand {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    groups: u32,
    out: Tensor<f32>,
    _buffers: Vec<LentBuffer>,
}

impl Hand {
    /// A text over `in0`, `in1` .. of which a third is written; none on the CPU path.
    pub(crate) fn new(on: &Device, text: &str, side: usize, inputs: &[&Tensor<f32>]) -> Result<Option<Hand>> {
        let Some((device, queue)) = on.wgpu() else { return Ok(None) };
        let out = on.zeros::<f32>([side, side])?;
        let mut head = "@group(0) @binding(0) var<uniform> n: vec4<u32>;
            @group(0) @binding(1) var<storage, read_write> out: array<f32>;"
            .to_string();
        for i in 0..inputs.len() {
            let access = if i < 2 { "read" } else { "read_write" };
            head += &format!("@group(0) @binding({}) var<storage, {access}> in{i}: array<f32>;", i + 2);
        }
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl((head + text).into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let numbers = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 16,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        queue.write_buffer(&numbers, 0, bytemuck::cast_slice(&[side as u32; 4]));
        let tensors = std::iter::once(&out).chain(inputs.iter().copied());
        let buffers = tensors.map(|tensor| tensor.buffer()).collect::<Result<Vec<LentBuffer>>>()?;
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: numbers.as_entire_binding() }];
        entries.extend((1..).zip(&buffers).map(|(binding, lent)| wgpu::BindGroupEntry {
            binding,
            resource: lent.buffer().as_entire_binding(),
        }));
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let groups = side.div_ceil(16) as u32;
        Ok(Some(Hand { device, queue, pipeline, group, groups, out, _buffers: buffers }))
    }

    fn submit(&self) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(self.groups, self.groups, 1);
        drop(pass);
        self.queue.submit([encoder.finish()]);
    }

    /// That it computes what an expression does.
    pub(crate) fn agrees(&self, with: &Tensor<f32>) -> Result<()> {
        self.submit();
        let (own, other) = (self.out.to_vec()?, with.to_vec()?);
        let differ = own.iter().zip(&other).filter(|(a, b)| (*a - *b).abs() > 1e-2).count();
        // Where an index falls just beside another the elements are others.
        assert!(differ * 1000 <= own.len(), "{differ} of {} elements differ", own.len());
        Ok(())
    }

    pub(crate) fn work(self) -> super::Work {
        Box::new(move || {
            self.submit();
            self.device.poll(wgpu::PollType::wait_indefinitely()).map(drop).unwrap_or_default();
            Ok(())
        })
    }
}
