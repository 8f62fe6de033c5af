//! The host's times: until `eval` returns, for chains of small evaluations, for transfers and for the start. Plain wgpu
//! with everything prebuilt is timed beside them.

use std::time::{Duration, Instant};

use zerostride::{Device, Tensor};

use crate::common::hand::{self, raw_device};
use crate::common::{self, Failure, median, timed};

const SMALL: usize = 1024;

fn line(what: &str, ours: Duration, raw: Option<Duration>) {
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    match raw {
        None => println!("{what:<44} {:>12.3} us", us(ours)),
        Some(raw) => {
            println!("{what:<44} {:>12.3} us {:>12.3} us {:>8.2}", us(ours), us(raw), us(ours) / us(raw))
        }
    }
}

pub(crate) fn run(device: &Device) -> Result<(), Failure> {
    println!("{}\n{:<44} {:>15} {:>15} {:>8}", device.name(), "", "ours", "raw wgpu", "ratio");
    let x = device.full([SMALL], 1.0_f32)?;
    let known = &x * 2.0 + 1.0;
    let returns = |work: &dyn Fn(usize) -> zerostride::Result<()>| -> zerostride::Result<Duration> {
        let mut times = Vec::new();
        for i in 0..2000 {
            let start = Instant::now();
            work(i)?;
            times.push(start.elapsed());
        }
        device.synchronize()?;
        Ok(median(times.split_off(200)))
    };
    line("eval returns, known expression", returns(&|_| known.eval().map(drop))?, None);
    line(
        "eval returns, expression built anew",
        returns(&|i| (&x * (i as f32) + 1.0).eval().map(drop))?,
        None,
    );
    let wide = device.full([8 * SMALL], 1.0_f32)?;
    let sliced = |i: usize| -> zerostride::Result<()> {
        let part = wide.slice(0, ..(SMALL + i) as isize);
        (&part * 2.0 + 1.0).eval().map(drop)
    };
    line("eval returns, new shape of a known class", returns(&sliced)?, None);

    // Devices are opened again for each round. The processors that run the driver's threads decide more than half of the
    // time here, and do not change while a device lives.
    let adapter = common::adapter(device).ok_or("the adapter is not found again")?;
    let chain = |device: &Device, x: &Tensor<f32>| -> zerostride::Result<Duration> {
        timed(device, || {
            let mut y = x.clone();
            for _ in 0..1000 {
                y = (&y + 1.0).eval()?;
            }
            Ok(())
        })
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..24 {
        let turns = if round % 2 == 0 { [true, false] } else { [false, true] };
        for own in turns {
            if own {
                let device = adapter.open()?;
                let x = device.full([SMALL], 1.0_f32)?;
                chain(&device, &x)?;
                ours.push(median(vec![chain(&device, &x)?, chain(&device, &x)?, chain(&device, &x)?]));
            } else {
                let raw = Raw::new(device)?;
                raw.chain(1000)?;
                theirs.push(median(vec![raw.chain(1000)?, raw.chain(1000)?, raw.chain(1000)?]));
            }
        }
    }
    line("1000 dependent small evaluations", median(ours), Some(median(theirs)));

    let raw = Raw::new(device)?;
    let bytes = vec![1.0_f32; 64 << 20];
    let (mut up, mut raw_up, mut down, mut raw_down) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut kept: Option<Tensor<f32>> = None;
    for _ in 0..5 {
        drop(kept.take());
        device.synchronize()?;
        let start = Instant::now();
        let tensor = device.upload(&bytes, [bytes.len()])?;
        device.synchronize()?;
        up.push(start.elapsed());
        let start = Instant::now();
        let host = tensor.to_vec()?;
        down.push(start.elapsed());
        assert_eq!(host.len(), bytes.len());
        drop(host);
        kept = Some(tensor);
        let (u, d) = raw.transfer(bytemuck::cast_slice(&bytes))?;
        raw_up.push(u);
        raw_down.push(d);
    }
    line("upload of 256 MB", median(up), Some(median(raw_up)));
    line("read-back of 256 MB", median(down), Some(median(raw_down)));
    drop((kept, bytes));

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        let start = Instant::now();
        let fresh = adapter.open()?;
        let x = fresh.full([SMALL], 1.0_f32)?;
        assert_eq!((&x + 1.0).to_vec()?[0], 2.0);
        ours.push(start.elapsed());
        let start = Instant::now();
        Raw::new(device)?.chain(1)?;
        theirs.push(start.elapsed());
    }
    line("start: open to first result", median(ours), Some(median(theirs)));

    let steady = adapter.open()?;
    let mut most = 0;
    for i in 0..1000_usize {
        let n = 1 << 20 | (i * 7919 % 1000) << 8;
        let x = steady.full([n], 1.0_f32)?;
        let y = (&x + 1.0).eval()?;
        most = most.max(4 * 2 * n as u64);
        drop((x, y));
    }
    let memory = steady.memory();
    println!(
        "1000 evaluations of changing sizes: {} buffers created, peak {:.1} MB for {:.1} MB of inputs and outputs",
        memory.created,
        memory.peak as f64 / 1e6,
        most as f64 / 1e6
    );
    Ok(())
}

/// The same work in wgpu alone: a pipeline, two buffers, and a bind group for each direction.
struct Raw {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
    groups: [wgpu::BindGroup; 2],
    buffers: [wgpu::Buffer; 2],
}

impl Raw {
    fn new(device: &Device) -> Result<Raw, Failure> {
        let (device, queue) = raw_device(&device.name())?;
        let text = "@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
            @group(0) @binding(1) var<storage, read_write> b: array<vec4<f32>>;
            @compute @workgroup_size(256)
            fn main(@builtin(global_invocation_id) id: vec3<u32>) { b[id.x] = a[id.x] + 1.0; }";
        let pipeline = hand::pipeline(&device, text);
        let buffers = [(); 2].map(|()| hand::buffer(&device, &[1.0_f32; SMALL]));
        let group = |from: usize, to: usize| hand::group(&device, &pipeline, &[&buffers[from], &buffers[to]]);
        let groups = [group(0, 1), group(1, 0)];
        Ok(Raw { device, queue, pipeline, groups, buffers })
    }

    /// Kernels that depend on each other, in one submission, and the read-back of the last.
    fn chain(&self, length: usize) -> Result<Duration, Failure> {
        let start = Instant::now();
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        for i in 0..length {
            pass.set_bind_group(0, &self.groups[i % 2], &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
        drop(pass);
        self.queue.submit([encoder.finish()]);
        if length == 1 {
            self.read(&self.buffers[1])?;
        }
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(start.elapsed())
    }

    fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>, Failure> {
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let bytes = staging.get_mapped_range(..)?.to_vec();
        Ok(bytes)
    }

    fn transfer(&self, bytes: &[u8]) -> Result<(Duration, Duration), Failure> {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let start = Instant::now();
        self.queue.write_buffer(&buffer, 0, bytes);
        self.queue.submit([]);
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let up = start.elapsed();
        let start = Instant::now();
        self.read(&buffer)?;
        Ok((up, start.elapsed()))
    }
}
