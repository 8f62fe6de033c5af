//! Tensors larger than a buffer and than a binding. Adapters are opened with limits so low that small tensors exceed them.

#![allow(clippy::reversed_empty_ranges)] // a negative bound counts from the end

use std::ops::Range;
use std::sync::OnceLock;

use crate::common::case::Case;
use crate::common::depth::depth;
use crate::common::draw::{Size, case};
use crate::common::shrink::shrink;
use crate::common::{check_kernels, found_in_turn, open};
use zerostride::{
    Adapter, AnyExpr, AnyTensor, DType, Device, ErrorKind, Expr, Options, ReduceOptions, Result, Tensor, f16,
};

/// Bytes of a buffer, of which a driver may take 4096 itself, and bytes of a binding.
const BUFFER: usize = 64 << 10;
const BINDING: usize = 32 << 10;

/// An adapter with these limits, and a number of bindings.
fn lowered(adapter: &Adapter, bindings: u64) -> Device {
    crate::common::lowered(adapter, (BUFFER as u64, BINDING as u64), bindings)
}

fn devices() -> &'static [Device] {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    DEVICES.get_or_init(|| found_in_turn().map(|adapter| lowered(&adapter, 8)).collect())
}

fn on_each(test: impl Fn(&Device)) {
    for device in devices() {
        test(device);
        check_kernels(device);
    }
}

/// Adapters as if each kernel of more than some thousand elements took too long.
fn slow() -> &'static [Device] {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let options = |adapter: &Adapter| {
            Options::default()
                .pipelines(1024)
                .adapter(format!("{}:{}", adapter.backend, adapter.index))
                .rate(1)
        };
        found_in_turn().map(|adapter| Device::open_with(&options(&adapter)).unwrap()).collect()
    })
}

#[test]
fn random_cases_over_many_buffers() {
    // Of a few elements in one window, and in many.
    random_cases(devices(), 0..depth(4, 16), |seed| if seed % 4 == 3 { 110_000 } else { 20_000 });
}

#[test]
fn random_cases_that_take_long() {
    random_cases(slow(), 100..depth(106, 124), |_| 60_000);
}

fn random_cases(devices: &[Device], seeds: Range<u64>, elements: impl Fn(u64) -> usize) {
    for seed in seeds {
        let whole = case(seed, Size { ops: 6, elements: elements(seed), steps: 2 });
        let expected = whole.expected();
        for device in devices {
            let Some(how) = whole.differs(device, &expected) else { continue };
            let fails = |case: &Case| case.differs(device, &case.expected()).is_some();
            let least = shrink(whole, 100, fails);
            let now = least.differs(device, &least.expected());
            panic!("seed {seed}: {how}; of less: {}\n{least}", now.unwrap_or_default());
        }
        devices.iter().for_each(check_kernels);
    }
}

/// Bytes that are no NaN of any type, and bools.
fn bytes(of: DType, count: usize) -> Vec<u8> {
    let byte = |i: usize| ((i * 31 + i / 251) % 2) as u8 + if of == DType::Bool { 0 } else { (i % 60) as u8 };
    (0..count * of.size()).map(byte).collect()
}

/// Moves elements of every type. The destination and the elements beside it are checked.
#[test]
fn elements_of_every_type_move_as_on_the_cpu() {
    /// Rows and columns, more bytes than two buffers.
    fn moved(device: &Device, of: DType) -> Result<Vec<Vec<u8>>> {
        let (rows, columns) = (601, 255 / of.size().min(2));
        let x = device.upload_bytes(&bytes(of, rows * columns), of, [rows, columns])?;
        let y = device.upload_bytes(&bytes(of, columns * rows), of, [columns, rows])?.transpose(0, 1);
        let mut read = Vec::new();
        let mut see = |x: AnyExpr| x.to_bytes().map(|bytes| read.push(bytes));
        see(x.expr())?;
        see(y.clone())?;
        see(x.flip(0).flip(1))?;
        see(x.slice(0, 250..300))?;
        see(x.slice_step(1, 3.., 2).slice_step(0, .., -3))?;
        see(x.slice(0, 1..).as_strided([300, 40], &[5, 7], 11))?;
        // Into what there is: columns, a turned part, overlapping rows, and a part of itself.
        x.slice_step(1, 1..-2, 3).assign(y.slice_step(1, 1..-2, 3))?;
        see(x.expr())?;
        x.transpose(0, 1).slice(0, 5..50).assign(x.slice(1, ..45).transpose(0, 1))?;
        see(x.expr())?;
        x.slice(0, 1..).assign(x.slice(0, ..-1))?;
        see(x.expr())?;
        x.slice(0, ..200).assign(x.slice(0, 400..600).flip(1))?;
        see(x.expr())?;
        // And by way of other values.
        let sum = AnyExpr::call("maximum", &[x.expr(), y.slice(0, 7..8)]);
        x.assign(if of == DType::Bool { y } else { sum })?;
        see(x.expr())?;
        see(x.cast(DType::Bool).eval()?.into())?;
        see(x.cast(DType::F32).eval()?.into())?;
        Ok(read)
    }
    for of in DType::ALL {
        let expected = moved(&Device::cpu(), of).unwrap();
        on_each(|device| match moved(device, of) {
            Ok(got) => {
                let differs = (0..expected.len()).find(|&i| got[i] != expected[i]);
                assert_eq!(differs, None, "{of} on {}", device.name());
            }
            Err(error) => assert!(error.message().contains("needs the feature"), "{of}: {error}"),
        });
    }
}

fn counting(device: &Device, count: usize) -> Tensor<f32> {
    device.upload(&(0..count).map(|i| (i % 4093) as f32).collect::<Vec<_>>(), [count]).unwrap()
}

/// As many readings of one tensor as a kernel has bindings, and more, each in another buffer.
#[test]
fn windows_apart_are_bindings_of_their_own() {
    for adapter in found_in_turn() {
        for bindings in [4, 5, 8] {
            let device = lowered(&adapter, bindings);
            let x = counting(&device, 200_000);
            let at = |start: usize| x.slice(0, start as isize..start as isize + 20_000);
            let sum = (1..10).map(|i| at(i * 19_001)).fold(at(0), |sum, part| sum + part);
            let expected: Vec<f32> =
                (0..20_000).map(|i| (0..10).map(|k| ((i + k * 19_001) % 4093) as f32).sum()).collect();
            assert!(sum.to_vec().unwrap() == expected, "{bindings} bindings of {}", device.name());
            // Of three operands, and into one of them.
            let [a, b, c] = [0, 60_000, 120_000].map(|start| {
                let range = start..start + 60_000;
                x.slice(0, range)
            });
            c.assign(a.lt(&b).select(&a, &c)).unwrap();
            let value = |i: usize| (i % 4093) as f32;
            let of = |i: usize| if value(i) < value(i + 60_000) { value(i) } else { value(i + 120_000) };
            let expected: Vec<f32> = (0..60_000).map(of).collect();
            assert!(c.to_vec().unwrap() == expected, "{bindings} bindings of {}", device.name());
        }
    }
}

/// Stages and hoisted parts larger than a buffer.
#[test]
fn stages_over_many_buffers() {
    on_each(|device| {
        let run = |device: &Device| {
            let x = counting(device, 90_000).reshape([300, 300]) * 0.001;
            let shared = (x.sin() + 1.0).shared();
            let blur = (shared.slice(0, ..-1) + shared.slice(0, 1..)) * shared.transpose(0, 1).slice(0, 1..);
            blur.to_vec().unwrap()
        };
        let (got, expected) = (run(device), run(&Device::cpu()));
        let near = got.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-5);
        assert!(near && got.len() == expected.len(), "{}", device.name());
    });
}

/// Neither takes memory on the device or runs there, stages and large tensors included.
#[test]
fn explaining_and_warming_up_take_no_memory() {
    for adapter in found_in_turn() {
        for device in [open(&adapter), lowered(&adapter, 8)] {
            let x = counting(&device, 200_000).reshape([400, 500]);
            let row = device.full([500], 2.0_f32).unwrap();
            let shared = (&x + &row).shared();
            let expr = shared.slice(0, 1..) * shared.slice(0, ..-1);
            device.synchronize().unwrap();
            let before = device.memory();
            let explained = expr.explain(&device).unwrap().to_string();
            expr.warm_up(&device).unwrap();
            let after = device.memory();
            assert!(explained.contains("first, as it is stored"), "{explained}");
            let bytes = |memory: zerostride::Memory| (memory.used, memory.idle, memory.created, memory.peak);
            assert_eq!(bytes(before), bytes(after), "{}", device.name());
            // The explanation lists the kernels that run.
            let result = expr.eval().unwrap();
            assert_eq!(device.memory().pipelines, after.pipelines, "{}", device.name());
            let element = |i: usize| (i % 4093) as f32 + 2.0;
            let expected: Vec<f32> = (0..399 * 500).map(|i| element(i) * element(i + 500)).collect();
            assert!(result.to_vec().unwrap() == expected, "{}", device.name());
        }
    }
}

/// A scalar may be stretched to any length, and a plan is made for each part.
#[test]
fn more_parts_than_are_planned_ahead() {
    for device in found_in_turn().map(|adapter| open(&adapter)) {
        let all = Expr::scalar(1.0_f32).broadcast_to([1 << 60]);
        for error in [all.explain(&device).unwrap_err(), all.warm_up(&device).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Limit);
            assert!(
                error.message().starts_with("[1152921504606846976] takes more than 16384 parts"),
                "{error}"
            );
        }
    }
}

#[test]
fn parts_are_read_where_they_lie() {
    // Devices of its own, as other tests allocate meanwhile.
    for device in found_in_turn().map(|adapter| lowered(&adapter, 8)) {
        let all: Vec<u8> = (0..300_001_usize).map(|i| (i * 7 % 251) as u8).collect();
        let x = device.upload(&all, [all.len()]).unwrap();
        let before = device.memory().used;
        let end = BUFFER - 4096;
        for (start, end) in
            [(0, 1), (end - 1, end + 1), (1, 300_001), (2 * end - 3, 2 * end), (70_001, 290_002)]
        {
            let part = x.slice(0, start as isize..end as isize).tensor().unwrap();
            assert!(part.to_vec().unwrap() == all[start..end]);
            let mut into = vec![0; end - start];
            part.read_into(&mut into).unwrap();
            assert!(into == all[start..end]);
            into.fill(0);
            pollster::block_on(part.read_into_async(&mut into)).unwrap();
            assert!(into == all[start..end]);
            into.fill(0);
            let any = AnyTensor::from(part);
            any.read_bytes_into(&mut into).unwrap();
            assert!(into == all[start..end]);
        }
        assert_eq!(device.memory().used, before);
        // A column of all buffers is copied together first, and no more than that.
        let column = x.slice(0, ..300_000).reshape([1000, 300]).slice(1, 7..8).tensor().unwrap();
        let mut into = vec![0; 1000];
        column.read_into(&mut into).unwrap();
        assert!(into.iter().enumerate().all(|(i, &byte)| byte == all[300 * i + 7]));
        let error = column.read_into(&mut into[..999]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.location().is_some_and(|at| at.file().ends_with("windows.rs")));
    }
}

/// A future reads the elements of the time of its creation, whatever is assigned later.
#[test]
fn futures_read_what_was_there() {
    on_each(|device| {
        let x = counting(device, 100_000);
        let reading = x.to_vec_async();
        x.assign(-1.0).unwrap();
        let got = pollster::block_on(reading).unwrap();
        assert!(got.iter().enumerate().all(|(i, &value)| value == (i % 4093) as f32), "{}", device.name());
        assert!(x.to_vec().unwrap().iter().all(|&value| value == -1.0));
    });
}

/// More memory than there is, in buffers that are each available.
#[test]
fn more_memory_than_there_is() {
    for adapter in found_in_turn() {
        if adapter.kind != zerostride::AdapterKind::Cpu {
            continue;
        }
        let device = open(&adapter);
        let kept = counting(&device, 1000);
        let before = device.memory();
        let error = device.zeros::<u8>([1 << 42]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Memory, "{error}");
        let error =
            Expr::scalar(1_u8).broadcast_to([1 << 20, 1 << 22]).shared().eval_on(&device).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Memory, "{error}");
        assert_eq!(device.memory().used, before.used);
        assert_eq!(kept.slice(0, 7..9).to_vec().unwrap(), [7.0, 8.0]);
    }
}

/// Folds over more than a kernel binds: kept axes are cut in halves, a long run at multiples of blocks.
#[test]
fn folds_of_many_windows() {
    let cpu = Device::cpu();
    let numbers: Vec<f32> =
        (0..150_000_u32).map(|i| (i.wrapping_mul(2654435761) >> 8) as f32 * 1e-4 - 500.0).collect();
    let folds = |device: &Device| -> Result<Vec<Vec<u8>>> {
        let x = device.upload(&numbers, [300, 500])?;
        let turned = x.permute([1, 0]);
        let small = x.cast::<i8>();
        let long = x.reshape([150_000]).tensor()?;
        let all: Vec<AnyExpr> = vec![
            x.sum(..).into(),
            x.mean(1).into(),
            x.var(0, 1).into(),
            turned.sum(..).into(),
            turned.sum(1).into(),
            turned.sum(0).into(),
            (&x * 2.0 + 1.0).l2(..).into(),
            x.max(..).into(),
            x.argmax(..).into(),
            x.argmin(0).into(),
            turned.argmin(..).into(),
            (&turned + &turned).argmax(1).into(),
            small.sum(..).into(),
            small.argmax(..).into(),
            x.gt(0.0).count_nonzero(..).into(),
            x.gt(-1e6).all(..).into(),
            x.flip(0).cumsum(1).into(),
            x.cumsum(0).into(),
            long.cumsum(0).into(),
            long.cumsum_with(0, ReduceOptions::default().exclusive()).into(),
            long.cumsum_with(0, ReduceOptions::default().exclusive().reverse()).into(),
            (long.slice_step(0, 5.., 2) * 0.5 + 1.0).cumsum(0).into(),
            long.cast::<i8>().cumsum(0).into(),
            long.cast::<f16>().cumsum(0).into(),
            (&long * 0.0 + 1.00001).cumprod(0).into(),
            x.slice(0, 7..).sum([0, 1]).into(),
            x.softmax(1).gt(2.0).any(..).into(),
        ];
        all.iter().map(|expr| expr.to_bytes()).collect()
    };
    let expected = folds(&cpu).unwrap();
    on_each(|device| {
        let got = folds(device).unwrap();
        for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert!(got == expected, "fold {i} on {}", device.name());
        }
    });
}

/// Folds that store indexes, and scans, take a binding more than others for each result.
#[test]
fn indexes_and_scans_of_as_many_tensors_as_are_bound() {
    let sums = |device: &Device| -> Result<Vec<Vec<u8>>> {
        let tensors = (0..9).map(|k| {
            let numbers: Vec<f32> = (0..60).map(|i| ((i * (2 * k + 7)) % 61) as f32).collect();
            device.upload(&numbers, [3, 20])
        });
        let tensors = tensors.collect::<Result<Vec<_>>>()?;
        let mut all = Vec::new();
        for n in 2..=9 {
            let sum = tensors[..n].iter().map(|tensor| tensor.expr()).sum::<Expr<f32>>();
            all.extend([
                sum.argmax(1).into(),
                sum.argmin(0).into(),
                sum.cumsum(1).into(),
                sum.var(1, 0).into(),
            ]);
            all.push(AnyExpr::from(sum.sum(1)));
        }
        all.iter().map(|expr| expr.to_bytes()).collect()
    };
    let expected = sums(&Device::cpu()).unwrap();
    for adapter in found_in_turn() {
        for bindings in [4, 5, 8] {
            assert!(
                sums(&lowered(&adapter, bindings)).unwrap() == expected,
                "{adapter:?}, {bindings} bindings"
            );
        }
    }
}
