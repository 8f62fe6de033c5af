//! Errors on purpose: random programs with a failing step, beside the same on the CPU path. Every read is right or an
//! error, whatever failed, and nothing later fails.

use std::io::Write;

use crate::cpu::MemoryFault;
use crate::gpu::{Gpu, Random, depth, each_late};
use crate::{AssignAll, Device, ErrorKind, Expr, Options, Result, Tensor};

/// A tensor on the device and its twin on the CPU path.
#[derive(Clone)]
struct Twins {
    own: Tensor<f32>,
    cpu: Tensor<f32>,
    /// Its memory, where it is the program's.
    lent: Option<wgpu::Buffer>,
}

/// A program. Numbers decide its steps, so it can be run again.
struct Program<'a> {
    device: &'a Device,
    /// Of a device that is none of the CPU.
    gpu: Option<&'a Gpu>,
    /// Whether anything may fail. If not, the program destroys none of its buffers.
    may_fail: bool,
    random: Random,
    all: Vec<Twins>,
}

const SIDE: usize = 6;

impl Program<'_> {
    fn numbers(&mut self) -> Vec<f32> {
        (0..SIDE * SIDE).map(|_| self.random.below(16) as f32).collect()
    }

    fn any(&mut self) -> Twins {
        let i = self.random.below(self.all.len());
        self.all[i].clone()
    }

    /// A random expression of two tensors, of their shape, on either device.
    fn expr(&mut self, a: &Twins, b: &Twins) -> [Expr<f32>; 2] {
        let form = self.random.below(7);
        let of = |a: &Tensor<f32>, b: &Tensor<f32>| match form {
            0 => a + b,
            1 => a - a.sum_keepdim(1),
            2 => a.cumsum(0) * 0.5,
            3 => a.flip(0).maximum(b),
            4 => a.permute([1, 0]) * 0.5,
            5 => Expr::concat(&[a.slice(0, ..2), b.slice(0, 2..)], 0),
            _ => (b.max_keepdim(0) + 1.0).shared() * 0.5 - a,
        };
        [of(&a.own, &b.own), of(&a.cpu, &b.cpu)]
    }

    /// The result of the device, unless it returned an error.
    fn done<T>(&self, outcome: Result<T>) -> Option<T> {
        match outcome {
            Ok(done) => Some(done),
            Err(error) => {
                let text = error.to_string();
                assert!(self.may_fail, "{text}");
                let kinds = [ErrorKind::Kernel, ErrorKind::Memory, ErrorKind::Resource];
                assert!(kinds.contains(&error.kind()), "{text}");
                assert!(!text.contains("is invalid"), "{text}");
                None
            }
        }
    }

    /// Reads a tensor. Its elements are those of its twin, or the read returns an error.
    fn read(&self, twins: &Twins) {
        let waits = self.device.as_backend().can_wait("read").is_ok();
        let read = if waits { twins.own.to_vec() } else { pollster::block_on(twins.own.to_vec_async()) };
        self.check(twins, read);
    }

    fn check(&self, twins: &Twins, read: Result<Vec<f32>>) {
        if let Some(elements) = self.done(read) {
            let right = MemoryFault::without(|| twins.cpu.to_vec().unwrap());
            assert_eq!(elements, right, "{:?}", twins.own.shape());
        }
    }

    /// Keeps the results of both devices. A refused result is dropped on both.
    fn keep(&mut self, own: Result<Tensor<f32>>, cpu: impl FnOnce() -> Result<Tensor<f32>>) {
        if let Some(own) = self.done(own) {
            let cpu = MemoryFault::without(|| cpu().unwrap());
            self.all.push(Twins { own, cpu, lent: None });
        }
    }

    /// Work that the twin repeats, if the device did it.
    fn both(&self, own: Result<()>, cpu: impl FnOnce() -> Result<()>) {
        if self.done(own).is_some() {
            MemoryFault::without(|| cpu().unwrap());
        }
    }

    fn step(&mut self) {
        let (a, b) = (self.any(), self.any());
        match self.random.below(16) {
            0 => {
                let numbers = self.numbers();
                self.keep(self.device.upload(&numbers, [SIDE, SIDE]), || upload(&numbers));
            }
            1 => {
                let numbers = self.numbers();
                if let Some(twins) = self.lent(&numbers) {
                    self.all.push(twins);
                }
            }
            2..5 => {
                let [own, cpu] = self.expr(&a, &b);
                self.keep(own.eval(), || cpu.eval());
            }
            5 => {
                let [own, cpu] = self.expr(&a, &b);
                self.keep(pollster::block_on(own.eval_async()), || cpu.eval());
            }
            6 => {
                let [[x, y], [z, u]] = [self.expr(&a, &b), self.expr(&b, &a)];
                for (own, cpu) in self.done(Expr::eval_all(&[x, z])).into_iter().flatten().zip([y, u]) {
                    self.keep(Ok(own), || cpu.eval());
                }
            }
            7 | 8 => {
                let c = self.any();
                let [own, cpu] = self.expr(&a, &b);
                self.both(c.own.assign(own), || c.cpu.assign(cpu));
            }
            9 => {
                let [own, cpu] = self.expr(&a, &a);
                let part = |x: &Tensor<f32>| x.slice(1, 1..4).tensor().unwrap();
                let value = |x: Expr<f32>| x.slice(1, 2..5);
                self.both(part(&b.own).assign(value(own)), || part(&b.cpu).assign(value(cpu)));
            }
            10 => {
                let [[x, y], [z, u]] = [self.expr(&a, &b), self.expr(&b, &a)];
                let c = self.any();
                self.both((&a.own, &c.own).assign_all((x, z)), || (&a.cpu, &c.cpu).assign_all((y, u)));
            }
            11 => {
                let numbers = self.numbers();
                self.both(a.own.write(&numbers), || a.cpu.write(&numbers));
            }
            12 => {
                let (first, numbers) = (self.random.below(SIDE), self.numbers());
                let row = |x: &Tensor<f32>| {
                    x.slice(0, first as isize..first as isize + 1).tensor()?.write(&numbers[..SIDE])
                };
                self.both(row(&a.own), || row(&a.cpu));
            }
            13 => {
                let [own, cpu] = self.expr(&a, &b);
                let Some((gpu, (wgpu, queue))) = self.gpu.zip(self.device.wgpu()) else { return };
                let entered = gpu.enter();
                let mut encoder = wgpu.create_command_encoder(&Default::default());
                drop(entered);
                let recorded = own.record_into(&mut encoder, &b.own);
                let _entered = gpu.enter();
                queue.submit([encoder.finish()]);
                self.both(recorded, || b.cpu.assign(cpu));
            }
            14 => {
                if let Some((buffer, gpu)) = a.lent.as_ref().zip(self.gpu)
                    && self.random.below(3) == 0
                    && self.may_fail
                {
                    let _entered = gpu.enter();
                    buffer.destroy();
                }
                let _ = self.device.flush();
            }
            _ => match self.random.below(2) {
                0 => self.read(&a),
                _ => self.check(&a, pollster::block_on((&a.own + 0.0).to_vec_async())),
            },
        }
        // Some of them go, so that their memory is used again.
        if self.all.len() > 6 {
            let gone = self.random.below(self.all.len());
            self.all.swap_remove(gone);
        }
    }

    /// A tensor in memory of the program's.
    fn lent(&mut self, numbers: &[f32]) -> Option<Twins> {
        let (gpu, (wgpu, _)) = self.gpu.zip(self.device.wgpu())?;
        let entered = gpu.enter();
        let buffer = wgpu.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: (4 * numbers.len()) as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        drop(entered);
        let strides = [SIDE as isize, 1];
        let own = self.done(Tensor::from_buffer(self.device, &buffer, 0, [SIDE, SIDE], &strides))?;
        self.done(own.write(numbers))?;
        let cpu = upload(numbers).unwrap();
        Some(Twins { own, cpu, lent: Some(buffer) })
    }
}

/// The twin of an upload.
fn upload(numbers: &[f32]) -> Result<Tensor<f32>> {
    Device::cpu().upload(numbers, [SIDE, SIDE])
}

/// Runs a program of up to 40 steps. `is_sound` says whether writes at its end cannot fail.
fn run(device: &Device, gpu: Option<&Gpu>, seed: u64, may_fail: bool, is_sound: impl Fn() -> bool) {
    let mut random = Random(seed);
    let steps = 2 + random.below(39);
    let mut program = Program { device, gpu, may_fail, random, all: Vec::new() };
    let numbers = program.numbers();
    while program.all.is_empty() {
        program.keep(device.upload(&numbers, [SIDE, SIDE]), || upload(&numbers));
    }
    (0..steps).for_each(|_| program.step());
    for twins in &program.all {
        program.read(twins);
        // A tensor that is written again is valid.
        if twins.lent.is_none() && is_sound() {
            twins.own.assign(3.0).unwrap();
            assert_eq!(twins.own.to_vec().unwrap(), [3.0; SIDE * SIDE]);
        }
    }
}

/// Programs by a device. More, where the variable says so.
fn programs() -> u64 {
    let usual = || depth(12, 60);
    std::env::var("ZEROSTRIDE_FAULTS").ok().and_then(|count| count.parse().ok()).unwrap_or_else(usual)
}

/// Calls `test` with seeds, and says which failed.
fn each_seed(device: &Device, test: impl Fn(u64, &mut Random)) {
    for program in 0..programs() {
        let seed = (program + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let tested = || test(seed, &mut Random(seed ^ 0x5555));
        if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(tested)) {
            let _ = writeln!(std::io::stderr(), "{}: program {program}", device.name());
            std::panic::resume_unwind(panic);
        }
    }
}

#[test]
fn every_read_after_a_fault_is_right_or_an_error() {
    for found in pollster::block_on(crate::gpu::find()) {
        let gpu = pollster::block_on(crate::gpu::open(found, &Options::default())).unwrap();
        let (device, faults) = (Device::from_backend(gpu.clone()), gpu.faults());
        each_seed(&device, |seed, random| {
            let (before, own) = (faults.refused(), Some(&*gpu));
            let run = |seed: u64| run(&device, own, seed, true, || !faults.are_to_come());
            faults.refuse(1 + random.below(120) as u64, 1 + random.below(4) as u64);
            match random.below(4) {
                // One of two threads meets the fault.
                0 => std::thread::scope(|scope| {
                    scope.spawn(|| run(seed));
                    run(seed ^ 0x1234_5678);
                }),
                _ => run(seed),
            }
            faults.refuse(0, 0);
            let _ = device.flush();
            // The same without.
            if faults.refused() > before {
                self::run(&device, own, seed, false, || true);
            }
            assert!(!device.is_lost());
        });
        assert!(faults.refused() > programs() / 2, "{faults:?}");
    }
}

/// The same where a device reports later, as a browser does. There a tensor that was not computed stays an error.
#[test]
fn every_read_after_a_late_report_is_right_or_an_error() {
    each_late(|device, gpu| {
        let faults = gpu.faults();
        each_seed(&device, |seed, random| {
            faults.refuse(1 + random.below(120) as u64, 1 + random.below(4) as u64);
            run(&device, Some(gpu), seed, true, || false);
            faults.refuse(0, 0);
            let _ = pollster::block_on(device.synchronize_async());
            gpu.forget_refused();
            run(&device, Some(gpu), seed, false, || false);
        });
        assert!(faults.refused() > programs() / 2, "{faults:?}");
    });
}

#[test]
fn every_read_after_memory_ran_out_is_right_or_an_error() {
    let device = Device::cpu();
    let refused = std::cell::Cell::new(0);
    each_seed(&device, |seed, random| {
        let fault = MemoryFault::after(random.below(24));
        run(&device, None, seed, true, || !MemoryFault::is_to_come());
        refused.set(refused.get() + u64::from(fault.end()));
        run(&device, None, seed, false, || true);
    });
    assert!(refused.get() > programs() / 2, "{refused:?}");
}
