//! The constants of a device: the rate of copies, and the times of a dispatch and of a wait.

use std::time::{Duration, Instant};

use serde_json::json;
use zerostride::Device;

use crate::cases;
use crate::common::hand::{self, Hand};
use crate::common::{Failure, median, timed};
use crate::meter::Meter;

/// Evaluations that are timed together.
type Chain<'a> = &'a dyn Fn() -> zerostride::Result<()>;

/// The rate at which the device reads and writes bytes, by a hand-written kernel and by the copy command.
fn copy_rates(device: &Device, bytes: usize) -> Result<[f64; 2], Failure> {
    const TEXT: &str = "
        @group(0) @binding(0) var<uniform> n: vec4<u32>;
        @group(0) @binding(1) var<storage, read_write> y: array<vec4<u32>>;
        @group(0) @binding(2) var<storage, read> x: array<vec4<u32>>;
        @compute @workgroup_size(256)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let i = id.y * n.y + id.x;
            if (i < n.x) { y[i] = x[i]; }
        }";
    let (device, queue) = device.wgpu().ok_or("no device of wgpu")?;
    let vectors = bytes / 32;
    let size = 16 * vectors as u64;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let create = || {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let [x, y] = [create(), create()];
    let groups = vectors.div_ceil(256);
    let (rows, line) = (groups.div_ceil(32768), groups.min(32768));
    let numbers = hand::buffer(&device, &[vectors as u32, 256 * line as u32, 0, 0]);
    let kernel = Hand::new(&(device.clone(), queue.clone()), TEXT, &[&numbers, &y, &x], [line, rows]);
    let wait = || device.poll(wgpu::PollType::wait_indefinitely()).map(drop);
    let command = |count: usize| {
        let mut encoder = device.create_command_encoder(&Default::default());
        for _ in 0..count {
            encoder.copy_buffer_to_buffer(&x, 0, &y, 0, size);
        }
        queue.submit([encoder.finish()]);
    };
    let work: [&dyn Fn(usize); 2] = [&|count| kernel.submit_many(count), &command];
    let mut rates = [0.0; 2];
    for (rate, work) in rates.iter_mut().zip(work) {
        let seconds = |count| -> Result<f64, Failure> {
            wait()?;
            let start = Instant::now();
            work(count);
            wait()?;
            Ok(start.elapsed().as_secs_f64())
        };
        seconds(2)?;
        let few = ((0.02 / seconds(2)? * 2.0) as usize).clamp(2, 400);
        let mut all = (0..5).map(|_| seconds(few)).collect::<Result<Vec<_>, _>>()?;
        all.sort_by(f64::total_cmp);
        *rate = 2.0 * size as f64 * few as f64 / all[2];
    }
    Ok(rates)
}

/// The rate of a copy by a kernel, for a number of f32 elements. Each case is compared with it.
pub(crate) fn measure(meter: &Meter, side: usize) -> Result<f64, Failure> {
    Ok(copy_rates(&meter.device, 8 * side * side)?[0])
}

/// The times of a copy, a dispatch, a submission and a small evaluation.
pub(crate) fn constants(meter: &mut Meter) -> Result<(), Failure> {
    let device = meter.device.clone();
    let largest = if meter.is_short() { 22 } else { 31 };
    for power in [18, 20, 22, 24, 26, 28, 30, 31].into_iter().filter(|&power| power <= largest) {
        // Up to 1 GiB read and 1 GiB written.
        let bytes = 1_usize << power;
        let [kernel, command] = copy_rates(&device, bytes)?;
        println!(
            "  copy of {:>9} KiB: {:>7.0} GB/s by a kernel, {:>7.0} by the command",
            bytes >> 11,
            kernel / 1e9,
            command / 1e9
        );
        meter.tell(
            "copy",
            json!({ "bytes": bytes, "kernel_gbps": kernel / 1e9, "command_gbps": command / 1e9 }),
        )?;
    }
    let (raw, queue) = device.wgpu().ok_or("no device of wgpu")?;
    // Dispatches that write one buffer wait for each other. Others may not.
    let dependent = "
        @group(0) @binding(0) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] += 1u; }";
    let independent = "
        @group(0) @binding(0) var<storage, read> y: array<u32>;
        var<workgroup> w: u32;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { if (y[id.x] == 77u) { w = 1u; } }";
    for (name, text) in [("dependent dispatch", dependent), ("independent dispatch", independent)] {
        let buffer = hand::buffer(&raw, &[0_u32; 64]);
        let kernel = Hand::new(&(raw.clone(), queue.clone()), text, &[&buffer], [1, 1]);
        let once = |count| -> Result<Duration, Failure> {
            let start = Instant::now();
            kernel.submit_many(count);
            raw.poll(wgpu::PollType::wait_indefinitely())?;
            Ok(start.elapsed())
        };
        let count = if meter.is_short() { 200 } else { 2000 };
        once(count)?;
        let many = median((0..meter.effort.turns).map(|_| once(count)).collect::<Result<_, _>>()?);
        let one = median((0..10 * meter.effort.turns).map(|_| once(1)).collect::<Result<_, _>>()?);
        let each = (many.saturating_sub(one)).as_nanos() as f64 / (count - 1) as f64;
        println!("  {name}: {each:.0} ns; submitted alone and waited for: {:.1} us", one.as_secs_f64() * 1e6);
        meter.tell(name, json!({ "ns": each, "alone_ns": one.as_nanos() as u64 }))?;
    }
    for count in [256_usize, 65536] {
        let x = cases::tensor(&device, &[count])?;
        let add = &x + 1.0;
        let long = if meter.is_short() { 100 } else { 1000 };
        let chain = || (0..long).try_fold(x.clone(), |y, _| (&y + 1.0).eval()).map(drop);
        let apart = || (0..long).try_for_each(|_| add.eval().map(drop));
        let alone = || add.eval().map(drop);
        let all: [(&str, Chain, usize); 3] = [
            ("a chain, each", &chain, long),
            ("independent, each", &apart, long),
            ("alone, waited for", &alone, 1),
        ];
        for (name, work, long) in all {
            timed(&device, work)?;
            let all = (0..meter.effort.turns).map(|_| timed(&device, work));
            let each = median(all.collect::<zerostride::Result<_>>()?).as_secs_f64() / long as f64;
            println!("  x + 1.0 of {count} elements, {name}: {:.2} us", each * 1e6);
            meter.tell(name, json!({ "elements": count, "ns": each * 1e9 }))?;
        }
    }
    Ok(())
}
