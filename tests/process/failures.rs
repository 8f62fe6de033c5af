//! A failing operation fails alone: other tensors keep their elements, and a missing result is an error that names the
//! call.

use crate::common::program::{Program, in_every_program};
use crate::common::{devices, found, open};
use zerostride::{AnyTensor, AssignAll, Device, Error, ErrorKind, Expr, Result, Tensor, wgpu};

const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC);

/// Four numbers in a buffer of the program's.
fn lent(program: &Program) -> (wgpu::Buffer, Tensor<f32>) {
    let buffer = program.buffer(bytemuck::cast_slice(&[1.0_f32, 2.0, 3.0, 4.0]), USAGE);
    let tensor = Tensor::from_buffer(&program.ours, &buffer, 0, [4], &[1]).unwrap();
    (buffer, tensor)
}

/// Recorded work, and its expected outcome.
struct Work {
    up: Tensor<f32>,
    full: Tensor<f32>,
    done: Tensor<f32>,
    assigned: Tensor<f32>,
    sums: Tensor<f32>,
}

impl Work {
    fn record(device: &Device) -> Work {
        let up = device.upload(&[1.0_f32, 2.0, 3.0, 4.0], [4]).unwrap();
        let full = device.full([4], 7.0_f32).unwrap();
        let done = (&up * 10.0).eval().unwrap();
        let assigned = device.zeros::<f32>([4]).unwrap();
        assigned.assign(5.0).unwrap();
        assigned.slice(0, 1..2).assign(6.0).unwrap();
        let sums = (device.full([3, 70], 2.0_f32).unwrap() * &up.slice(0, ..1)).sum(1).eval().unwrap();
        Work { up, full, done, assigned, sums }
    }

    fn is_right(&self) {
        let name = self.up.device().name();
        assert_eq!(self.up.to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0], "{name}");
        assert_eq!(self.full.to_vec().unwrap(), [7.0; 4], "{name}");
        assert_eq!(self.done.to_vec().unwrap(), [10.0, 20.0, 30.0, 40.0], "{name}");
        assert_eq!(self.assigned.to_vec().unwrap(), [5.0, 6.0, 5.0, 5.0], "{name}");
        assert_eq!(self.sums.to_vec().unwrap(), [140.0; 3], "{name}");
    }
}

/// The line of an error is in this file.
fn is_here(error: &Error) {
    let at = error.location().unwrap_or_else(|| panic!("{error} has no line"));
    assert!(at.file().ends_with("failures.rs"), "{error}");
}

#[test]
fn operations_that_fail_spoil_no_others() {
    for device in devices() {
        type Fails = fn(&Device, &Tensor<f32>) -> Result<()>;
        let fail: [Fails; 5] = [
            |device, _| device.zeros::<f32>([1 << 50]).map(drop),
            |device, x| device.upload(&[1.0_f32], [2]).and_then(|y| (x + y).eval()).map(drop),
            |_, x| x.broadcast_to([1 << 30, 1 << 20, 4]).eval().map(drop),
            |_, x| (&x.expr(), x.broadcast_to([1 << 46, 4])).1.eval_async_now().map(drop),
            |_, x| (x, x).assign_all((x + 1.0, x.broadcast_to([2, 4]))),
        ];
        for fails in fail {
            let before = Work::record(device);
            let error = fails(device, &before.up).unwrap_err();
            is_here(&error);
            let after = Work::record(device);
            assert!(!device.is_lost());
            before.is_right();
            after.is_right();
            device.synchronize().unwrap();
        }
    }
}

trait Now<T> {
    fn eval_async_now(&self) -> Result<T>;
}

impl Now<Tensor<f32>> for Expr<f32> {
    #[track_caller]
    fn eval_async_now(&self) -> Result<Tensor<f32>> {
        pollster::block_on(self.eval_async())
    }
}

/// A buffer that its owner destroys while work on it waits. Only reads of it are errors, and they name the call.
#[test]
fn a_buffer_that_is_destroyed_harms_only_what_reads_it() {
    in_every_program(|program| {
        let (buffer, x) = lent(program);
        let before = Work::record(&program.ours);
        let line = line!() + 1;
        let y = (&x * 2.0 + 1.0).eval().unwrap();
        let z = (&y - 1.0).eval().unwrap();
        let half = program.ours.full([8], 9.0_f32).unwrap();
        half.slice(0, ..4).assign(&z * 3.0).unwrap();
        let whole = program.ours.full([4], 9.0_f32).unwrap();
        whole.assign(&z + 0.5).unwrap();
        whole.assign(2.5).unwrap();
        let between = Work::record(&program.ours);
        buffer.destroy();
        let after = Work::record(&program.ours);
        before.is_right();
        between.is_right();
        after.is_right();

        let name = &program.name;
        for read in [y.to_vec(), z.to_vec(), half.to_vec(), (&z + 1.0).to_vec(), (&z + 2.0).sum(..).to_vec()]
        {
            let error = read.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Kernel, "{name}: {error}");
            assert!(error.message().starts_with("mul, add was not computed on "), "{name}: {error}");
            assert!(error.message().contains("destroyed"), "{name}: {error}");
            assert!(error.message().contains(": operand 1, a buffer of yours, was destroyed: "), "{error}");
            is_here(&error);
            assert_eq!(error.location().unwrap().line(), line, "{name}: {error}");
        }
        assert_eq!(whole.to_vec().unwrap(), [2.5; 4], "{name}: written anew");
        // No other call returns the error, now or later.
        program.ours.synchronize().unwrap();
        assert!(!program.ours.is_lost());
        // A read of the buffer is refused at once. An uncomputed tensor is valid again when it is written.
        is_here(&(&x + 1.0).eval().unwrap_err());
        is_here(&x.to_vec().unwrap_err());
        is_here(&y.slice(0, ..2).assign(1.0).unwrap_err());
        y.assign(1.5).unwrap();
        z.write(&[4.0; 4]).unwrap();
        half.assign(&y.slice(0, ..1) * 2.0).unwrap();
        assert_eq!((&y + &z).to_vec().unwrap(), [5.5; 4], "{name}");
        assert_eq!(half.to_vec().unwrap(), [3.0; 8], "{name}");
        program.ours.synchronize().unwrap();
    });
}

/// If no read returns an error, the next call that waits for all work returns it once.
#[test]
fn work_that_nobody_reads_is_told_by_synchronize() {
    in_every_program(|program| {
        let (buffer, x) = lent(program);
        x.assign(1.0).unwrap();
        buffer.destroy();
        let error = program.ours.synchronize().and_then(|()| program.ours.synchronize()).unwrap_err();
        assert!(error.message().contains("destroyed"), "{error}");
        is_here(&error);
        program.ours.synchronize().unwrap();
    });
}

/// The memory of a tensor that a program was shown may be destroyed too: no other tensor ever lies in it.
#[test]
fn a_tensor_s_own_buffer_that_is_destroyed_harms_no_other() {
    in_every_program(|program| {
        let x = program.ours.upload(&[1.0_f32, 2.0, 3.0, 4.0], [4]).unwrap();
        let shown = x.buffer().unwrap().buffer().clone();
        let y = (&x + 1.0).eval().unwrap();
        let work = Work::record(&program.ours);
        shown.destroy();
        assert!(y.to_vec().is_err() && x.to_vec().is_err() && (&x + 1.0).eval().is_err());
        work.is_right();
        drop(x);
        let all: Vec<Work> = (0..8).map(|_| Work::record(&program.ours)).collect();
        all.iter().for_each(Work::is_right);
        program.ours.synchronize().unwrap();
    });
}

/// What cannot be recorded into an encoder of the program's leaves it as it is.
#[test]
fn an_encoder_does_not_hear_of_what_is_refused() {
    in_every_program(|program| {
        let (buffer, x) = lent(program);
        let y = program.ours.full([4], 1.0_f32).unwrap();
        let mut encoder = program.encoder();
        (&y + 1.0).record_into(&mut encoder, &y).unwrap();
        (&x + 1.0).record_into(&mut program.encoder(), &y).unwrap();
        buffer.destroy();
        is_here(&(&x + &y).record_into(&mut encoder, &y).unwrap_err());
        is_here(&(&x + 1.0).record_into(&mut encoder, &y).unwrap_err());
        (&y * 3.0).record_into(&mut encoder, &y).unwrap();
        program.submit(encoder);
        assert_eq!(y.to_vec().unwrap(), [6.0; 4], "{}", program.name);
    });
}

#[test]
fn errors_name_the_line_of_the_call() {
    for device in devices() {
        let x = device.upload(&[1, 2, 3], [3]).unwrap();
        let any = AnyTensor::from(&x);
        for error in [
            device.upload(&[1, 2], [3]).unwrap_err(),
            device.upload_bytes(&[1, 2], any.dtype(), [3]).unwrap_err(),
            x.item().unwrap_err(),
            (&x + 1).item().unwrap_err(),
            device.zeros::<u8>([1 << 55]).unwrap_err(),
            x.broadcast_to([1 << 50, 3]).eval().unwrap_err(),
            pollster::block_on(x.broadcast_to([1 << 50, 3]).eval_async()).unwrap_err(),
            x.read_into(&mut [0; 2]).unwrap_err(),
            x.write(&[0; 2]).unwrap_err(),
        ] {
            is_here(&error);
        }
    }
}

#[test]
fn an_adapter_that_is_opened_twice_is_named_so() {
    for adapter in found() {
        let [a, b] = [open(&adapter), open(&adapter)].map(|device| device.full([2], 1.0_f32).unwrap());
        let error = (&a + &b).eval().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Device);
        let text = error.message();
        assert!(text.ends_with("the adapter was opened twice, so clone one Device"), "{text}");
        is_here(&error);
    }
}
