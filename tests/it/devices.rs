//! Devices: choice, transfer in both directions, many evaluations, many threads, and the text of explanations.

use crate::common::depth::depth;
use crate::common::{adapters, found, on_every_device, open};
use zerostride::{AdapterKind, Device, Expr, Tensor};

#[test]
fn every_adapter_describes_itself() {
    for adapter in Device::all() {
        assert!(!adapter.name.is_empty() && !adapter.driver.is_empty());
        let limits = adapter.limits().map(|limits| limits.named());
        assert_eq!(limits.is_none(), adapter.backend == "cpu");
        assert!(limits.into_iter().flatten().all(|(_, limit)| limit > 0), "{adapter:?}");
    }
    let found: Vec<&str> = Device::all().iter().map(|adapter| adapter.backend).collect();
    for (backend, reason) in Device::missing() {
        assert!(!found.contains(&backend) && !reason.is_empty());
    }
}

#[test]
fn names_find_devices() {
    for device in adapters() {
        let name = device.name();
        let (adapter, backend) = name.rsplit_once(" (").unwrap();
        let backend = backend.trim_end_matches(')');
        assert_eq!(Device::named(&format!("{backend}:{}", adapter.to_uppercase())).unwrap().name(), name);
        assert!(Device::named(backend).unwrap().name().contains(backend));
    }
    let software_only = Device::all().iter().all(|adapter| adapter.kind == AdapterKind::Cpu);
    if software_only && std::env::var_os(zerostride::DEVICE_VARIABLE).is_none() {
        assert_eq!(Device::open().unwrap().name(), "cpu");
    }
}

#[test]
fn bytes_arrive_as_they_left() {
    on_every_device(|device| {
        for length in [0, 1, 2, 3, 4, 5, 63, 64, 65, 4095, 100_003] {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 31) as u8).collect();
            let x = device.upload(&bytes, [length]).unwrap();
            assert_eq!(x.to_vec().unwrap(), bytes);
            for start in [1, 2, 3, length / 2].into_iter().filter(|&start| start < length) {
                let tail = x.slice(0, start as isize..);
                assert_eq!(tail.to_vec().unwrap(), bytes[start..]);
            }
            let flags: Vec<bool> = bytes.iter().map(|b| b % 3 == 0).collect();
            assert_eq!(device.upload(&flags, [length]).unwrap().to_vec().unwrap(), flags);
        }
    });
}

#[test]
fn reading_without_blocking() {
    on_every_device(|device| {
        let tensors: Vec<Tensor<f32>> = (0..8).map(|i| device.full([1000], i as f32).unwrap()).collect();
        let readings: Vec<_> = tensors.iter().map(|x| (x * 2.0).to_vec_async()).collect();
        for (i, reading) in readings.into_iter().enumerate() {
            assert_eq!(pollster::block_on(reading).unwrap(), vec![2.0 * i as f32; 1000]);
        }
        drop(tensors[0].to_vec_async());
        assert_eq!(tensors[1].to_vec().unwrap(), vec![1.0; 1000]);
    });
}

#[test]
fn a_new_size_of_a_known_class_compiles_nothing() {
    // Devices of its own, as other tests compile kernels meanwhile.
    for adapter in found() {
        let device = open(&adapter);
        let run = |rows: usize, columns: usize, factor: f32| {
            let x = device.full([rows, columns], 2.0_f32).unwrap();
            let row = device.full([columns], 3.0_f32).unwrap();
            assert_eq!(((&x + &row) * factor).to_vec().unwrap(), vec![5.0 * factor; rows * columns]);
        };
        let x = device.full([40, 2048], 1.0_f32).unwrap();
        ((&x + device.full([2048], 1.0_f32).unwrap()) * 2.0).warm_up(&device).unwrap();
        let before = device.kernels().len();
        run(40, 2048, 1.0);
        run(41, 2048, 1.5);
        run(7, 4096, -2.0);
        run(300, 1028, 0.0);
        assert_eq!(device.kernels().len(), before, "on {}", device.name());
    }
}

#[test]
fn profiles_tell_kernels_apart() {
    // Devices of its own, as other tests run kernels meanwhile.
    for adapter in found() {
        let device = open(&adapter);
        let x = device.full([1 << 20], 2.0_f32).unwrap();
        let work = || {
            let y = (&x * 3.0 + 1.0).eval()?;
            y.slice(0, ..4).assign(-&x.slice(0, ..4))?;
            y.slice(0, 3..5).to_vec()
        };
        if !adapter.features().contains(&"TIMESTAMP_QUERY") {
            assert!(device.profile(work).unwrap_err().message().contains("TIMESTAMP_QUERY"));
            continue;
        }
        let (result, times) = device.profile(work).unwrap();
        assert_eq!(result, [-2.0, 7.0]);
        let steps: Vec<&str> = times.iter().map(|time| time.steps.as_str()).collect();
        assert_eq!(steps, ["mul, add", "neg"], "on {}", device.name());
        assert!(!times[0].time.is_zero() && times[0].time.as_secs() < 10);
    }
}

#[test]
fn steady_evaluations_create_no_buffer() {
    // Devices of its own, as other tests allocate meanwhile.
    for adapter in found() {
        let device = open(&adapter);
        let x = device.full([40, 2048], 2.0_f32).unwrap();
        let run = |rounds: usize| {
            for i in 0..rounds {
                let y = (&x * 3.0 + 1.0).eval().unwrap();
                let part = y.slice(0, ..20 + i as isize % 10);
                drop((&part - &part).eval().unwrap());
            }
        };
        run(40);
        let before = device.memory();
        run(1000);
        assert_eq!(device.memory().created, before.created, "on {}", device.name());
        assert_eq!(device.memory().used, before.used);
    }
}

#[test]
fn long_chains_of_small_evaluations() {
    on_every_device(|device| {
        let mut x = device.upload(&[0_u32, 100], [2]).unwrap();
        for _ in 0..1000 {
            x = (&x + 1).eval().unwrap();
        }
        assert_eq!(x.to_vec().unwrap(), [1000, 1100]);
    });
}

#[test]
fn many_threads_on_one_device() {
    on_every_device(|device| {
        std::thread::scope(|scope| {
            for thread in 0..4_i32 {
                scope.spawn(move || {
                    for round in 0..40 {
                        let x = device.upload(&vec![thread; 500 + round], [500 + round]).unwrap();
                        x.assign(&x * 10).unwrap();
                        let y = (&x + round as i32).to_vec().unwrap();
                        assert_eq!(y, vec![thread * 10 + round as i32; 500 + round]);
                    }
                });
            }
        });
    });
}

/// GL has one thread in it at a time, and one submission may be work of many seconds: other threads wait.
#[test]
fn threads_wait_for_one_another() {
    // Nine seconds each.
    for device in adapters().take(depth(1, usize::MAX)) {
        let x = device.full([1 << 21], 3.7_f32).unwrap();
        // Small results, so that all of it is one submission.
        let work = || x.lgamma().digamma().lgamma().max(..).eval().unwrap();
        work().to_vec().unwrap();
        let begin = std::time::Instant::now();
        work().to_vec().unwrap();
        // wgpu gives up after six seconds.
        let rounds = (9.0 / begin.elapsed().as_secs_f64()) as usize + 1;
        (0..rounds).for_each(|_| drop(work()));
        std::thread::scope(|scope| {
            scope.spawn(|| device.synchronize().unwrap());
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(500));
                // Of a size that no buffer of the pool has.
                assert_eq!(device.full([5 << 20], 7).unwrap().to_vec().unwrap()[..2], [7, 7]);
            });
        });
    }
}

#[test]
fn rows_beyond_one_dimension_of_the_grid() {
    on_every_device(|device| {
        let rows = 3 << 20;
        let column = device.upload(&(0..rows).collect::<Vec<i32>>(), [rows as usize, 1]).unwrap();
        let row = device.upload(&[0, 1, 2, 3], [4]).unwrap();
        let sum = (&column + &row).eval().unwrap();
        let last = sum.slice(0, -2..).to_vec().unwrap();
        assert_eq!(last, [rows - 2, rows - 1, rows, rows + 1, rows - 1, rows, rows + 1, rows + 2]);
        let middle = sum.slice(0, 2_000_000..2_000_001).to_vec().unwrap();
        assert_eq!(middle, [2_000_000, 2_000_001, 2_000_002, 2_000_003]);
    });
}

/// 160 MB, more than llvmpipe binds at a time: the work is done in parts.
#[test]
fn tensors_larger_than_a_binding() {
    for adapter in found() {
        // Its own, as kernels are counted.
        let device = &open(&adapter);
        let (rows, columns) = (5000, 8000);
        let count = rows * columns;
        let x = Expr::iota([count], 0).eval_on(device).unwrap();
        let ends = |x: &Expr<i32>| {
            let n = x.shape().unwrap().iter().product::<usize>() as isize;
            let at = [0, 1, n / 2 - 1, n / 2, n - 2, n - 1];
            at.map(|i| x.slice(0, i..i + 1).to_vec().unwrap()[0])
        };
        let last = count as i32 - 1;
        let middle = last / 2;
        assert_eq!(ends(&x), [0, 1, middle, middle + 1, last - 1, last]);
        let sum = (x.flip(0) + &x).eval().unwrap();
        assert_eq!(ends(&sum), [last; 6]);
        drop(sum);
        let turned = x.reshape([rows as isize, columns as isize]).transpose(0, 1);
        let turned = (turned + 1).eval().unwrap().reshape([-1]);
        let element = |i: usize| (i % rows * columns + i / rows + 1) as i32;
        let at = [0, 1, count / 2 - 1, count / 2, count - 2, count - 1];
        assert_eq!(ends(&turned), at.map(element), "{}", device.name());
        drop(turned);
        // Channels come apart, but not their rows: the same kernel for all parts, which warming up compiles.
        let pixels = x.slice(0, ..39_996_000).reshape([3333, 4000, 3]);
        let channels = pixels.permute([2, 0, 1]) + 1;
        channels.warm_up(device).unwrap();
        let known = device.kernels().len();
        let explained = channels.explain(device).unwrap().to_string();
        let told = channels.eval().unwrap().reshape([-1]);
        assert_eq!(device.kernels().len(), known, "{}", device.name());
        let apart = explained.contains("each for a part of the result");
        assert!(apart || explained.contains("runs: 1 kernel of"), "{explained}");
        let count = 39_996_000;
        let element = |i: usize| (i % 13_332_000 * 3 + i / 13_332_000 + 1) as i32;
        assert_eq!(ends(&told), [0, 1, count / 2 - 1, count / 2, count - 2, count - 1].map(element));
        drop(told);
        // Windows that begin alike and end apart.
        let part = x.slice(0, 8..30_000_008);
        let sum = (part.slice(0, ..1) + &part).eval().unwrap();
        assert_eq!(ends(&sum), [16, 17, 15_000_015, 15_000_016, 30_000_014, 30_000_015]);
        x.assign(&x * 2).unwrap();
        assert_eq!(ends(&x), [0, 2, 2 * middle, 2 * middle + 2, 2 * last - 2, 2 * last]);
    }
}

#[test]
fn explain_says_what_runs() {
    for device in adapters() {
        let image = device.zeros::<u8>([512, 512, 3]).unwrap();
        let mean = device.zeros::<f32>([3]).unwrap();
        let chw = ((image.cast::<f32>() / 255.0 - &mean) / &mean).permute([2, 0, 1]);
        let explained = chw.explain(device).unwrap();
        let expected = format!(
            "f32 [3, 512, 512] = div(sub(div(f32(a), 255), c), c)
  a    u8      3  512  512    strides [1, 1536, 3] offset 0
  c    f32     3    1~   1~   strides [1, 0, 0] offset 0
  (1~: an axis that stretches; its stride is 0 and nothing is copied)
moves: 3932172 bytes at least
device: {}
axes: [3, 262144] after collapsing, innermost last
  a    interleaved: as many loads of four as rows, for all of them, strides [1, 3], binding 2
  c    splat: one load for all lanes, strides [1, 0], binding 3
  out  vector: one store of four, strides [262144, 1]
grid: rows, no division; workgroups 256 x 1 x 1 of 256 x 1 invocations, 3 x 4 elements each
runs: 1 kernel of 4 steps
",
            device.name()
        );
        // A software adapter says that there is something faster.
        let text = explained.to_string();
        let is_software = ["llvmpipe", "SwiftShader"].iter().any(|name| device.name().contains(name));
        let (told, software) = text.split_once("on: ").unwrap_or((&text, ""));
        assert_eq!(told, expected);
        assert_eq!(software.contains("the CPU path has the same bits"), is_software);
        assert!(explained.wgsl().unwrap().contains("@compute @workgroup_size(256, 1)"));
    }
}
