//! Devices that report later and must not be waited for, as a browser's: the users of a failed result return the error.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::{ErrorKind, Result};
use crate::gpu::connection::Connection;
use crate::gpu::device::Gpu;
use crate::gpu::open::ready;
use crate::gpu::pipelines;
use crate::options::Options;
use crate::{AnyTensor, Device};

/// A device of each adapter that reports late. Another thread stands for the browser's event loop.
pub(crate) fn each(test: impl Fn(Device, &Gpu)) {
    for found in pollster::block_on(crate::gpu::find()) {
        let opened = pollster::block_on(Connection::open(found, &Options::default())).unwrap();
        let connection = opened.like_a_browser();
        let (device, done) = (connection.device.clone(), AtomicBool::new(false));
        let gate = connection.gate;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let entered = gate.enter();
                    let _ = device.poll(wgpu::PollType::Poll);
                    drop(entered);
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            let gpu = pollster::block_on(ready(connection, pipelines::MOST, None));
            let tested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let gpu: Arc<Gpu> = gpu.unwrap();
                test(Device::from_backend(gpu.clone()), &gpu);
            }));
            done.store(true, Ordering::Relaxed);
            tested.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
    }
}

/// Asks for a buffer that no device has.
fn fail(gpu: &Gpu) {
    let connection = &gpu.parts.connection;
    gpu.parts.recorder.set_apart(connection);
    connection.create(connection.limits.max_buffer_size + 4).unwrap();
}

/// Runs `work` while reports are held back.
fn before_it_is_told<T>(gpu: &Gpu, work: impl FnOnce() -> T) -> T {
    let is_late = &gpu.parts.connection.failures.is_late;
    is_late.store(true, Ordering::Relaxed);
    let made = work();
    is_late.store(false, Ordering::Relaxed);
    made
}

fn refused<T>(result: Result<T>) -> bool {
    result
        .is_err_and(|error| error.kind() == ErrorKind::Kernel && error.message().contains("refuses a buffer"))
}

#[test]
fn forms_that_wait_name_those_that_do_not() {
    each(|device, _| {
        let x = device.upload(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
        let errors = [
            x.to_vec().map(drop),
            (&x + 1.0).to_vec().map(drop),
            x.read_into(&mut [0.0; 3]),
            AnyTensor::from(x.clone()).to_bytes().map(drop),
            AnyTensor::from(x.clone()).read_bytes_into(&mut [0; 12]),
            x.item().map(drop),
            device.synchronize(),
            device.profile(|| Ok(())).map(drop),
        ];
        let forms = [
            "to_vec",
            "to_vec",
            "read_into",
            "to_bytes",
            "read_bytes_into",
            "to_vec",
            "synchronize",
            "profile",
        ];
        for (error, form) in errors.into_iter().zip(forms) {
            let error = error.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Blocking, "{error}");
            assert!(error.message().ends_with(&format!("await {form}_async")), "{error}");
        }
        pollster::block_on(async {
            let y = (&x * 2.0).eval_async().await.unwrap();
            y.assign(&y + 1.0).unwrap();
            assert_eq!(y.to_vec_async().await.unwrap(), [3.0, 5.0, 7.0]);
            (&x + &y).exp().warm_up_async(&device).await.unwrap();
            device.synchronize_async().await.unwrap();
            if let Ok((_, times)) = device.profile_async(|| (&x * 2.0 + 1.0).eval_async()).await {
                assert_eq!(times[0].steps, "mul, add");
            }
            let large: Vec<u32> = (0..3 << 20).collect();
            assert!(
                device.upload(&large, [large.len()]).unwrap().flip(0).to_vec_async().await.unwrap()[0]
                    == 3145727
            );
        });
    });
}

#[test]
fn a_failure_is_told_by_what_it_touches() {
    each(|device, gpu| {
        pollster::block_on(async {
            let good = device.upload(&[1.0_f32, 2.0], [2]).unwrap();
            let early = (&good + 1.0).eval().unwrap();
            assert_eq!(early.to_vec_async().await.unwrap(), [2.0, 3.0]);

            // Work that was recorded before, and writes between the failure and its report.
            let before = (&good * 2.0).eval().unwrap();
            let beside = device.full([2], 7.0_f32).unwrap();
            let (after, next, first, second) = before_it_is_told(gpu, || {
                fail(gpu);
                let after = (&before + 1.0).eval().unwrap();
                let next = (&after + 1.0).eval().unwrap();
                let (first, second) = (after.to_vec_async(), next.to_vec_async());
                (after, next, first, second)
            });
            assert!(refused(first.await) && refused(second.await));
            assert_eq!(before.to_vec_async().await.unwrap(), [2.0, 4.0]);
            assert_eq!(beside.to_vec_async().await.unwrap(), [7.0, 7.0]);
            // The error stays as long as the tensors live, and every reader of them gets it.
            assert!(refused((&after + 1.0).eval()) && refused(after.assign(&good)));
            assert!(refused(after.to_vec_async().await));
            // Earlier tensors are unchanged, and later work is right.
            assert_eq!(good.to_vec_async().await.unwrap(), [1.0, 2.0]);
            assert_eq!(early.to_vec_async().await.unwrap(), [2.0, 3.0]);
            let later = (&good * 3.0 + &early).eval_async().await.unwrap();
            drop((before, beside, after, next));
            let again = (&later + 1.0).eval().unwrap();
            assert_eq!(again.to_vec_async().await.unwrap(), [6.0, 10.0]);
            assert_eq!(later.to_vec_async().await.unwrap(), [5.0, 9.0]);
            device.synchronize_async().await.unwrap();

            // The result of the call itself, and where nothing reads it, the next that waits for all.
            let begun = before_it_is_told(gpu, || {
                fail(gpu);
                (&good - 1.0).eval_async()
            });
            assert!(refused(begun.await));
            fail(gpu);
            assert!(refused(device.synchronize_async().await));
            device.synchronize_async().await.unwrap();
            assert_eq!((&good - 1.0).eval_async().await.unwrap().to_vec_async().await.unwrap(), [0.0, 1.0]);
        });
    });
}

#[test]
fn who_waits_for_several_is_woken() {
    each(|device, _| {
        let all: Vec<_> = (0..20).map(|i| device.full([1000], i as f32).unwrap().to_vec_async()).collect();
        let threads = all.into_iter().enumerate().map(|(i, reading)| {
            std::thread::spawn(move || assert_eq!(pollster::block_on(reading).unwrap(), vec![i as f32; 1000]))
        });
        threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    });
}
