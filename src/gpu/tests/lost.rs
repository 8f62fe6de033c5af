//! Devices that are lost on purpose: everything on them is an error from then on, and nothing hangs.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::gpu::device::Gpu;
use crate::options::Options;
use crate::{Device, Tensor};

/// Longer than any of this takes.
const HANGS: Duration = Duration::from_secs(120);

/// A device of each adapter, and a way to lose it.
fn each(test: impl Fn(Device, Arc<Gpu>)) {
    for found in pollster::block_on(crate::gpu::find()) {
        let gpu = pollster::block_on(crate::gpu::open(found, &Options::default())).unwrap();
        test(Device::from_backend(gpu.clone()), gpu);
    }
}

fn lose(gpu: &Gpu) {
    let _entered = gpu.parts.connection.gate.enter();
    gpu.parts.connection.device.destroy();
}

/// Runs `work` on another thread.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(work()));
    receive.recv_timeout(HANGS).expect("nothing hangs or panics")
}

fn is_lost<T>(result: Result<T>) -> bool {
    result.is_err_and(|error| error.kind() == ErrorKind::Lost)
}

/// Every call that needs the device, and calls that do not.
fn check(device: &Device, x: &Tensor<f32>) {
    assert!(is_lost(device.synchronize()), "{device:?}");
    assert!(device.is_lost());
    assert!(is_lost(device.upload(&[1.0_f32], [1])));
    assert!(is_lost(device.full([3], 1.0_f32)));
    assert!(is_lost((x + 1.0).eval()));
    assert!(is_lost(crate::Expr::eval_all(&[x + 1.0, x - 1.0])));
    assert!(is_lost(x.assign(x * 2.0)));
    assert!(is_lost(x.to_vec()));
    assert!(is_lost(x.slice_step(0, .., 2).to_vec()));
    assert!(is_lost(pollster::block_on(x.to_vec_async())));
    assert!(is_lost((x.tan() * 3.0).warm_up(device)));
    assert!(is_lost(device.profile(|| Ok(()))) || device.profile(|| Ok(())).is_err());
    assert!(is_lost(device.synchronize()));
    assert!(device.memory().used > 0 && !device.name().is_empty() && x.shape() == &[4]);
    let text = x.to_vec().unwrap_err();
    assert!(text.message().ends_with("open it again and upload anew"), "{text}");
}

#[test]
fn every_call_on_a_lost_device_says_so() {
    each(|device, gpu| {
        let x = device.upload(&[1.0_f32, 2.0, 3.0, 4.0], [4]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0]);
        assert!(!device.is_lost());
        lose(&gpu);
        in_time(move || check(&device, &x));
    });
}

#[test]
fn lost_with_work_recorded_and_bytes_on_their_way() {
    each(|device, gpu| {
        let other = Device::from_backend(pollster::block_on(async {
            let same = |found: &&crate::gpu::Found| {
                format!("{} ({})", found.adapter.get_info().name, found.backend) == device.name()
            };
            let found = crate::gpu::find().await.iter().find(same).unwrap();
            crate::gpu::open(found, &Options::default()).await.unwrap()
        }));
        let kept = other.full([4], 7.0_f32).unwrap();
        let x = device.upload(&[1.0_f32, 2.0, 3.0, 4.0], [4]).unwrap();
        let (name, original) = (device.name(), x.clone());
        let outcome = in_time(move || -> Vec<std::result::Result<Vec<f32>, Error>> {
            let mut y = x.clone();
            let mut readings = Vec::new();
            for i in 0..1000 {
                if i % 300 == 0 {
                    readings.push(y.to_vec_async());
                }
                if i == 500 {
                    lose(&gpu);
                }
                match (&y + 1.0).eval() {
                    Ok(next) => y = next,
                    Err(error) => assert!(i >= 500 && error.kind() == ErrorKind::Lost, "{i}: {error}"),
                }
            }
            check(&device, &original);
            readings.into_iter().map(pollster::block_on).collect()
        });
        // Reads that began before the loss may have arrived, with right elements. Later reads are errors.
        for (i, reading) in outcome.into_iter().enumerate() {
            let at = 300.0 * i as f32;
            match reading {
                Ok(elements) => {
                    assert!(i < 2 && elements == [1.0, 2.0, 3.0, 4.0].map(|x| x + at), "{name} {i}")
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Lost, "{name}: {error}"),
            }
        }
        // Another device of the same adapter, and the CPU path, go on.
        assert_eq!((&kept * 2.0).to_vec().unwrap(), [14.0; 4]);
        assert_eq!(Device::cpu().full([2], 1.5_f32).unwrap().to_vec().unwrap(), [1.5; 2]);
    });
}
