//! The order of what is recorded here and what a program submits itself: every combination, as
//! `Device::from_wgpu` documents it.

mod common;

use common::program::{Program, in_every_program};
use zerostride::{Tensor, wgpu};

const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC);

/// A buffer that holds a number once, and the tensor of it.
fn number(program: &Program, value: u32) -> (wgpu::Buffer, Tensor<u32>) {
    let buffer = program.buffer(&value.to_ne_bytes(), USAGE);
    let tensor = Tensor::from_buffer(&program.ours, &buffer, 0, [1], &[1]).unwrap();
    (buffer, tensor)
}

/// A step of a program: each changes a number in a way of its own, so that the result tells the order.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// `assign` of ten times the number and one more.
    Assign,
    /// The same with two, into an encoder of the program's, submitted at once.
    Record,
    /// A pass of the program's own that adds 1000000.
    Pass,
    /// `queue.write_buffer` of 5.
    Write,
    /// A read-back.
    Read,
    /// A tensor that is made of it by `eval`.
    Eval,
    Flush,
}

const STEPS: [Step; 7] =
    [Step::Assign, Step::Record, Step::Pass, Step::Write, Step::Read, Step::Eval, Step::Flush];

/// What has happened to a number: submitted, and recorded only.
struct Model {
    now: u32,
    recorded: Vec<Recorded>,
    evaluated: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Recorded {
    Assign,
    Eval,
}

impl Model {
    fn submit(&mut self) {
        for recorded in self.recorded.drain(..) {
            match recorded {
                Recorded::Assign => self.now = self.now * 10 + 1,
                Recorded::Eval => self.evaluated.push(self.now + 7),
            }
        }
    }
}

fn check(program: &Program, pipeline: &wgpu::ComputePipeline, steps: &[Step]) {
    let (buffer, x) = number(program, 3);
    let mut model = Model { now: 3, recorded: Vec::new(), evaluated: Vec::new() };
    let mut evaluated = Vec::new();
    for step in steps {
        match step {
            Step::Assign => {
                x.assign(&x * 10 + 1).unwrap();
                model.recorded.push(Recorded::Assign);
            }
            Step::Eval => {
                evaluated.push((&x + 7).eval().unwrap());
                model.recorded.push(Recorded::Eval);
            }
            Step::Record => {
                let mut encoder = program.encoder();
                (&x * 10 + 2).record_into(&mut encoder, &x).unwrap();
                program.submit(encoder);
                model.submit();
                model.now = model.now * 10 + 2;
            }
            Step::Pass => {
                // Lending the tensor submits what was recorded of it.
                let mut encoder = program.encoder();
                let lent = x.buffer().unwrap();
                program.pass(&mut encoder, pipeline, lent.binding(), 1);
                program.submit(encoder);
                if !model.recorded.is_empty() {
                    model.submit();
                }
                model.now += 1_000_000;
            }
            Step::Write => {
                // Before what is recorded and not submitted.
                program.queue.write_buffer(&buffer, 0, &5_u32.to_ne_bytes());
                model.now = 5;
            }
            Step::Read => {
                model.submit();
                assert_eq!(x.to_vec().unwrap(), [model.now], "{} {steps:?}", program.name);
            }
            Step::Flush => {
                program.ours.flush().unwrap();
                model.submit();
            }
        }
    }
    model.submit();
    assert_eq!(x.to_vec().unwrap(), [model.now], "{} {steps:?}", program.name);
    let seen: Vec<u32> = evaluated.iter().map(|y| y.to_vec().unwrap()[0]).collect();
    assert_eq!(seen, model.evaluated, "{} {steps:?}", program.name);
}

/// All sequences of three steps, and of four that begin with work.
#[test]
fn every_sequence_of_steps() {
    in_every_program(|program| {
        if !program.name.ends_with("all") {
            return;
        }
        let pipeline = program.adder(1_000_000);
        for a in STEPS {
            for b in STEPS {
                for c in STEPS {
                    check(program, &pipeline, &[a, b, c]);
                    check(program, &pipeline, &[Step::Assign, a, b, c]);
                }
            }
        }
    });
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

/// What is recorded and submitted between `record_into` and the caller's submission runs before, and takes
/// nothing away from the encoder: neither its uniforms, nor its temporaries, nor what was dropped meanwhile.
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

/// An encoder that is never submitted gives back what it held.
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

/// What fails encodes nothing.
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

/// Frames of a program: adopt, make tensors of its buffers, record, submit, drop. Memory stays what it was.
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
