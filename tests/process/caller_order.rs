//! The order of recorded work and a program's own submissions: every combination that `Device::from_wgpu` documents.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::program::{Program, in_every_program};
use zerostride::{Tensor, wgpu};

const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC);

/// A buffer that holds a number once, and the tensor of it.
fn number(program: &Program, value: u32) -> (wgpu::Buffer, Tensor<u32>) {
    let buffer = program.buffer(&value.to_ne_bytes(), USAGE);
    let tensor = Tensor::from_buffer(&program.ours, &buffer, 0, [1], &[1]).unwrap();
    (buffer, tensor)
}

/// A step of a program: each changes a number in a way of its own, or keeps it, so that the results tell the order.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// `assign` of ten times the number and one more.
    Assign,
    /// `assign` of a sum with an upload.
    Upload,
    /// Ten times the number and two, into an encoder of the program's, submitted at once.
    Record,
    /// Ten times the number and three, into an encoder that is kept.
    Hold,
    /// Submits the kept encoder.
    Submit,
    /// A pass of the program's own that adds 1000000.
    Pass,
    /// `queue.write_buffer` of 5.
    WriteBuffer,
    /// `write` of 6.
    Write,
    /// A read-back.
    Read,
    /// A tensor that is made of it by `eval`.
    Eval,
    /// A texture that is filled at once, and read as a tensor.
    Copy,
    /// A texture that is filled by an encoder of the program's.
    Draw,
    Flush,
}

const STEPS: [Step; 13] = [
    Step::Assign,
    Step::Upload,
    Step::Record,
    Step::Hold,
    Step::Submit,
    Step::Pass,
    Step::WriteBuffer,
    Step::Write,
    Step::Read,
    Step::Eval,
    Step::Copy,
    Step::Draw,
    Step::Flush,
];

/// The history of a number: submitted, or only recorded.
struct Model {
    now: u32,
    recorded: Vec<Recorded>,
    /// Encoders that are not submitted.
    held: u32,
    /// Numbers in tensors.
    kept: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Recorded {
    Assign,
    Upload,
    Eval,
}

impl Model {
    fn submit(&mut self) {
        for recorded in self.recorded.drain(..) {
            match recorded {
                Recorded::Assign => self.now = self.now * 10 + 1,
                Recorded::Upload => self.now += 20,
                Recorded::Eval => self.kept.push(self.now + 7),
            }
        }
    }
}

/// The program's state for all sequences.
struct Tools<'a> {
    program: &'a Program,
    pipeline: wgpu::ComputePipeline,
    texture: wgpu::Texture,
}

impl Tools<'_> {
    fn new(program: &Program) -> Tools<'_> {
        let texture = program.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: 1, height: 1, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R32Uint,
            usage: wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        Tools { program, pipeline: program.adder(1_000_000), texture }
    }

    fn texel(&self) -> Tensor<u32> {
        Tensor::from_texture(&self.program.ours, self.texture.as_image_copy()).unwrap()
    }

    fn check(&self, steps: &[Step]) {
        let Tools { program, pipeline, texture } = self;
        let (buffer, x) = number(program, 3);
        let mut model = Model { now: 3, recorded: Vec::new(), held: 0, kept: Vec::new() };
        let (mut kept, mut held) = (Vec::new(), Vec::new());
        // An upload into memory that recorded work uses would submit that first.
        let mut uploaded = Vec::new();
        for step in steps {
            match step {
                Step::Assign => {
                    x.assign(&x * 10 + 1).unwrap();
                    model.recorded.push(Recorded::Assign);
                }
                Step::Upload => {
                    let more = program.ours.upload(&[20_u32], [1]).unwrap();
                    x.assign(&x + &more).unwrap();
                    uploaded.push(more);
                    model.recorded.push(Recorded::Upload);
                }
                Step::Eval => {
                    kept.push((&x + 7).eval().unwrap());
                    model.recorded.push(Recorded::Eval);
                }
                Step::Record => {
                    let mut encoder = program.encoder();
                    (&x * 10 + 2).record_into(&mut encoder, &x).unwrap();
                    program.submit(encoder);
                    model.submit();
                    model.now = model.now * 10 + 2;
                }
                Step::Hold => {
                    // The call submits earlier recorded work, and not its own.
                    let mut encoder = program.encoder();
                    (&x * 10 + 3).record_into(&mut encoder, &x).unwrap();
                    held.push(encoder);
                    model.submit();
                    model.held += 1;
                }
                Step::Submit => {
                    held.drain(..).for_each(|encoder| program.submit(encoder));
                    (0..std::mem::take(&mut model.held)).for_each(|_| model.now = model.now * 10 + 3);
                }
                Step::Pass => {
                    // Lending a tensor submits its recorded work.
                    let mut encoder = program.encoder();
                    let lent = x.buffer().unwrap();
                    program.pass(&mut encoder, pipeline, lent.binding(), 1);
                    program.submit(encoder);
                    model.submit();
                    model.now += 1_000_000;
                }
                Step::WriteBuffer => {
                    // It runs before work that is recorded and not submitted.
                    program.queue.write_buffer(&buffer, 0, &5_u32.to_ne_bytes());
                    model.now = 5;
                }
                Step::Write => {
                    // After it.
                    x.write(&[6]).unwrap();
                    model.submit();
                    model.now = 6;
                }
                Step::Read => {
                    model.submit();
                    assert_eq!(x.to_vec().unwrap(), [model.now], "{} {steps:?}", program.name);
                }
                Step::Copy => {
                    x.reshape([1, 1]).copy_to_texture(texture.as_image_copy()).unwrap();
                    kept.push(self.texel());
                    model.submit();
                    model.kept.push(model.now);
                }
                Step::Draw => {
                    let mut encoder = program.encoder();
                    (x.reshape([1, 1]) + 1).record_to_texture(&mut encoder, texture.as_image_copy()).unwrap();
                    program.submit(encoder);
                    kept.push(self.texel());
                    model.submit();
                    model.kept.push(model.now + 1);
                }
                Step::Flush => {
                    program.ours.flush().unwrap();
                    model.submit();
                }
            }
        }
        model.submit();
        assert_eq!(x.to_vec().unwrap(), [model.now], "{} {steps:?}", program.name);
        let seen: Vec<u32> = kept.iter().map(|y| y.to_vec().unwrap()[0]).collect();
        assert_eq!(seen, model.kept, "{} {steps:?}", program.name);
    }
}

/// All sequences of three steps, and of four that begin with work.
#[test]
fn every_sequence_of_steps() {
    in_every_program(|program| {
        if !program.name.ends_with("all") {
            return;
        }
        let tools = Tools::new(program);
        for a in STEPS {
            for b in STEPS {
                for c in STEPS {
                    tools.check(&[a, b, c]);
                    tools.check(&[Step::Assign, a, b, c]);
                }
            }
        }
    });
}

/// While the device works, every call comes back: none of them waits for it.
#[test]
fn nothing_waits_for_the_device() {
    let checked = Cell::new(false);
    in_every_program(|program| {
        if !program.name.ends_with("all") {
            return;
        }
        let ours = &program.ours;
        let long = program.pipeline(
            "var sum = all[0] + id.x;
            for (var i = 0u; i < 50000u; i++) { sum = (sum ^ i) * 1664525u + 1013904223u; }
            if (sum == 77u) { all[0] = 0u; }",
        );
        let submit_long = |buffer: &wgpu::Buffer, groups: u32| {
            let mut encoder = program.encoder();
            program.pass(&mut encoder, &long, buffer.as_entire_binding(), groups);
            let done = Arc::new(AtomicBool::new(false));
            let flag = done.clone();
            encoder.on_submitted_work_done(move || flag.store(true, Ordering::SeqCst));
            program.submit(encoder);
            done
        };
        let is_done = |done: &Arc<AtomicBool>| {
            program.device.poll(wgpu::PollType::Poll).unwrap();
            done.load(Ordering::SeqCst)
        };
        let wait = || program.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let (spare, _) = number(program, 3);
        // As many workgroups as take half a second.
        let (mut groups, mut took) = (64, Duration::ZERO);
        while took < Duration::from_millis(50) {
            groups *= 2;
            let start = Instant::now();
            submit_long(&spare, groups);
            wait();
            took = start.elapsed();
        }
        let groups = ((groups as f64 * 0.5 / took.as_secs_f64()) as u32).min(65_535);

        let texture = Tools::new(program).texture;
        // Each way to record, and each way to submit. They first run alone, so that all is compiled.
        let record = |buffer: &wgpu::Buffer| {
            let again = zerostride::Device::from_wgpu(&program.device, &program.queue).unwrap();
            let x = Tensor::<u32>::from_buffer(&again, buffer, 0, [1], &[1]).unwrap();
            let mut encoder = program.encoder();
            (&x * 10).record_into(&mut encoder, &x).unwrap();
            x.reshape([1, 1]).record_to_texture(&mut encoder, texture.as_image_copy()).unwrap();
            let y = (&x + ours.upload(&[20_u32], [1]).unwrap()).eval().unwrap();
            x.assign(&x + 1).unwrap();
            (x, y, encoder)
        };
        let submit = |x: &Tensor<u32>, encoder: wgpu::CommandEncoder| {
            ours.flush().unwrap();
            x.write(&[6]).unwrap();
            program.submit(encoder);
            x.buffer().unwrap();
            x.reshape([1, 1]).copy_to_texture(texture.as_image_copy()).unwrap();
            Tensor::<u32>::from_texture(ours, texture.as_image_copy()).unwrap()
        };
        let results = |x: &Tensor<u32>, y: &Tensor<u32>, z: &Tensor<u32>| {
            let all = [x, y, z].map(|tensor| tensor.to_vec().unwrap()[0]);
            assert_eq!(all, [60, 23, 60], "{}", program.name);
        };
        let (buffer, _) = number(program, 3);
        let (x, y, encoder) = record(&buffer);
        results(&x, &y, &submit(&x, encoder));

        // Some drivers wait in a submission for any earlier one, or run it there.
        let done = submit_long(&spare, groups);
        let runs_at_once = is_done(&done);
        // Twice, as the end of a work may be seen a moment after the submission that waited for it came back.
        submit_long(&spare, 1);
        submit_long(&spare, 1);
        let waits = is_done(&done);
        wait();

        let (buffer, _) = number(program, 3);
        let done = submit_long(&buffer, groups);
        let (x, y, encoder) = record(&buffer);
        assert!(runs_at_once || !is_done(&done), "{}: a call that records waited", program.name);
        let z = submit(&x, encoder);
        assert!(waits || !is_done(&done), "{}: a call that submits waited", program.name);
        results(&x, &y, &z);
        assert!(done.load(Ordering::SeqCst));
        checked.set(checked.get() || !waits);
        println!("{}: runs at once {runs_at_once}, waits for the submission before {waits}", program.name);
    });
    if !checked.get() {
        crate::common::cannot_run("no driver takes a submission while it works on another");
    }
}

/// One encoder with passes of the program's and works of ours, in the order of the calls.
#[test]
fn an_encoder_runs_as_it_was_written() {
    in_every_program(|program| {
        let pipeline = program.adder(1);
        let (buffer, x) = number(program, 1);
        x.assign(&x + 1).unwrap(); // 2
        let mut encoder = program.encoder();
        (&x * 3).record_into(&mut encoder, &x).unwrap(); // 6
        program.pass(&mut encoder, &pipeline, buffer.as_entire_binding(), 1); // 7
        (&x * &x).record_into(&mut encoder, &x).unwrap(); // 49
        program.pass(&mut encoder, &pipeline, buffer.as_entire_binding(), 1); // 50
        let y = program.ours.zeros::<u32>([1]).unwrap();
        (&x * 2).record_into(&mut encoder, &y).unwrap(); // 100
        // Nothing of it has run.
        assert_eq!(x.to_vec().unwrap(), [2]);
        assert_eq!(y.to_vec().unwrap(), [0]);
        program.submit(encoder);
        assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![50], vec![100]));
    });
}

/// Work that is recorded and submitted between `record_into` and the caller's submission runs first. It takes nothing away
/// from the encoder: neither uniforms, nor temporaries, nor tensors that were dropped meanwhile.
#[test]
fn an_encoder_waits_as_long_as_it_must() {
    in_every_program(|program| {
        let ours = &program.ours;
        let n = 3000;
        let host: Vec<f32> = (0..n).map(|i| (i % 97) as f32 - 48.0).collect();
        // Stages: a fold, a part that is read through two views, and the rest.
        let deep = |x: &Tensor<f32>, k: f32| {
            let e = ((x * k).tanh() - x.mean_keepdim(0)).shared();
            &e + e.flip(0) * 2.0
        };
        let right = |k: f32| {
            let x = ours.upload(&host, [n]).unwrap();
            deep(&x, k).to_vec().unwrap()
        };
        let expected: Vec<Vec<f32>> = (0..4).map(|k| right(k as f32 / 8.0)).collect();
        let results: Vec<Tensor<f32>> = (0..4).map(|_| ours.zeros([n]).unwrap()).collect();
        let encoders: Vec<_> = (0..4)
            .map(|k| {
                let mut encoder = program.encoder();
                let x = ours.upload(&host, [n]).unwrap();
                deep(&x, k as f32 / 8.0).record_into(&mut encoder, &results[k]).unwrap();
                encoder
            })
            .collect();
        // Work that would take memory and uniforms that are free, with other numbers.
        for k in 0..20 {
            let x = ours.full([n], k as f32).unwrap();
            deep(&x, 3.0).eval().unwrap();
            ours.flush().unwrap();
        }
        // Submitted the other way around; one is dropped.
        for (k, encoder) in encoders.into_iter().enumerate().rev() {
            if k == 2 {
                drop(encoder);
                continue;
            }
            program.submit(encoder);
        }
        for (k, result) in results.iter().enumerate() {
            let right = if k == 2 { vec![0.0; n] } else { expected[k].clone() };
            assert_eq!(result.to_vec().unwrap(), right, "{} {k}", program.name);
        }
    });
}

/// An encoder that is never submitted returns its memory.
#[test]
fn encoders_that_are_dropped_leak_nothing() {
    in_every_program(|program| {
        let ours = &program.ours;
        let x = ours.full([5000], 1.5_f32).unwrap();
        let y = ours.zeros::<f32>([5000]).unwrap();
        let round = || {
            let mut encoder = program.encoder();
            let e = (x.tanh() - x.mean_keepdim(0)).shared();
            (&e + e.flip(0)).record_into(&mut encoder, &y).unwrap();
        };
        round();
        ours.synchronize().unwrap();
        let before = ours.memory();
        (0..100).for_each(|_| round());
        let after = ours.memory();
        assert_eq!((before.used, before.created), (after.used, after.created), "{}", program.name);
        assert_eq!(y.to_vec().unwrap(), vec![0.0; 5000]);
    });
}

/// A call that fails encodes nothing.
#[test]
fn an_error_leaves_the_encoder_as_it_was() {
    in_every_program(|program| {
        let (_, x) = number(program, 4);
        let wrong = program.ours.upload(&[1_u32, 2], [2]).unwrap();
        let mut encoder = program.encoder();
        let error = (&x + &wrong).record_into(&mut encoder, &x).unwrap_err();
        assert!(error.location().is_some(), "{error}");
        (&x + 1).record_into(&mut encoder, &x).unwrap();
        program.submit(encoder);
        assert_eq!(x.to_vec().unwrap(), [5]);
    });
    let cpu = zerostride::Device::cpu().full([1], 1_u32).unwrap();
    in_every_program(|program| {
        let error = (&cpu + 1).record_into(&mut program.encoder(), &cpu).unwrap_err();
        assert_eq!(error.kind(), zerostride::ErrorKind::Device);
    });
}

/// Frames of a program: adopt, make tensors of its buffers, record, submit, drop. Memory stays the same.
/// `ZEROSTRIDE_FRAMES` says how many; 100 000 were run once.
#[test]
fn frames_leave_nothing_behind() {
    let frames: usize = std::env::var("ZEROSTRIDE_FRAMES").map_or(300, |n| n.parse().unwrap());
    in_every_program(|program| {
        if !program.name.ends_with("all") {
            return;
        }
        let (width, height) = (64, 32);
        let bytes = vec![0; 4 * width * height];
        let field = program.buffer(&bytes, USAGE);
        let frame = |i: usize| {
            let ours = zerostride::Device::from_wgpu(&program.device, &program.queue).unwrap();
            let shape = [height, width];
            let strides = [width as isize, 1];
            let kept = Tensor::<f32>::from_buffer(&ours, &field, 0, shape, &strides).unwrap();
            // A buffer of this frame only.
            let own = program.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: bytes.len() as u64,
                usage: USAGE,
                mapped_at_creation: false,
            });
            let fresh = Tensor::<f32>::from_buffer(&ours, &own, 0, shape, &strides).unwrap();
            let time = ours.upload(&[i as f32], [1]).unwrap();
            let mut encoder = program.encoder();
            let row = (&kept + &time).mean_keepdim(1).shared();
            (&row + row.flip(0)).record_into(&mut encoder, &fresh).unwrap();
            (&fresh * 0.5).record_into(&mut encoder, &kept).unwrap();
            program.submit(encoder);
            if i.is_multiple_of(7) {
                kept.assign(&kept * 0.25).unwrap();
                ours.flush().unwrap();
            }
            // A frame is shown, now and then.
            if i % 8 == 7 {
                program.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            }
        };
        let resident = || {
            let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
            status.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
        };
        let run = |frames: usize| {
            (0..frames).for_each(frame);
            program.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            (resident(), program.ours.memory())
        };
        let (before, memory) = run(200);
        let (after, end) = run(frames);
        println!("{}: {frames} frames, {before} to {after} bytes, {memory:?} to {end:?}", program.name);
        // How many frames are on their way at a time is the device's.
        assert!(end.used <= memory.used && end.peak <= 2 * memory.peak, "{memory:?} {end:?}");
        assert!(end.created <= 2 * memory.created, "{memory:?} {end:?}");
        if frames >= 10_000 {
            assert!(after < before + before / 20 + (4 << 20), "{}: {before} to {after}", program.name);
        }
    });
}
