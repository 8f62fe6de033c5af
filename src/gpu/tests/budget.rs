//! Long work is cut as on a slow GPU. Adapters are opened with a rate so low that small work counts as long.

use std::sync::Arc;

use crate::gpu::budget::{LEAST, LEAST_RATE, RATE, of_dispatch};
use crate::gpu::connection::Connection;
use crate::gpu::device::Gpu;
use crate::gpu::recorder::PAGES;
use crate::gpu::tests::in_turn;
use crate::gpu::{adapters, drivers, execute, open, pipelines};
use crate::ir::{Backend, Destination, Schedule, Storage};
use crate::layout::Layout;
use crate::options::Options;
use crate::plan::Target;
use crate::{AnyExpr, AnyTensor, DType, Device, Expr, ReduceOptions, Result, Tensor};

const ROWS: usize = 48;
const COLUMNS: usize = 1031;

fn numbers(device: &Device, shape: &[usize]) -> Result<Tensor<f32>> {
    let count = shape.iter().product();
    let number = |i: usize| ((i * 7919) % 10_007) as f32 / 640.0 - 4.0;
    device.upload(&(0..count).map(number).collect::<Vec<_>>(), shape)
}

fn bytes(exprs: &[AnyExpr]) -> Result<Vec<Vec<u8>>> {
    AnyExpr::eval_all(exprs)?.iter().map(|result| result.to_bytes()).collect()
}

/// The result of a program on a device, as bytes.
type Run = fn(&Device) -> Result<Vec<Vec<u8>>>;

/// A program of each kind.
const KINDS: &[(&str, Run)] = &[
    ("elementwise", |device| {
        let (x, row) = (numbers(device, &[ROWS, COLUMNS])?, numbers(device, &[COLUMNS])?);
        bytes(&[(&x * &row + 0.5).into()])
    }),
    ("transposed, of bytes", |device| {
        let x = numbers(device, &[COLUMNS, ROWS])?;
        bytes(&[x.transpose(0, 1).gt(1.0).into()])
    }),
    ("a loop", |device| {
        let x = numbers(device, &[4100])?;
        bytes(&[Expr::repeat(500, x.expr(), |x| x * 0.999 + 0.01).into()])
    }),
    ("a loop of several values", |device| {
        let x = numbers(device, &[4100])?;
        let first = (x.expr(), &x * 0.5);
        let (a, b) = Expr::repeat(300, first, |(a, b)| (&b * 0.999, a + 0.01));
        bytes(&[a.into(), b.into()])
    }),
    ("a sum of a loop", |device| {
        let x = numbers(device, &[40, 200])?;
        bytes(&[Expr::repeat(200, x.expr(), |x| x * 0.999 + 0.01).sum(1).into()])
    }),
    ("sums of rows", |device| bytes(&[numbers(device, &[ROWS, COLUMNS])?.sum(1).into()])),
    ("sums of columns", |device| bytes(&[numbers(device, &[ROWS, COLUMNS])?.sum(0).into()])),
    ("a sum of all", |device| bytes(&[(numbers(device, &[ROWS, COLUMNS])? * 2.0).sum(..).into()])),
    ("the greatest of all", |device| bytes(&[numbers(device, &[ROWS * COLUMNS])?.argmax(..).into()])),
    ("sums of two kinds", |device| {
        let x = numbers(device, &[ROWS, COLUMNS])?;
        bytes(&[x.sum(1).into(), x.max(1).into()])
    }),
    ("rows to their end", |device| {
        let x = numbers(device, &[ROWS, COLUMNS])?;
        bytes(&[(&x - x.mean(1).unsqueeze(1)).into()])
    }),
    ("a row to its end", |device| {
        let x = numbers(device, &[1, 40_000])?;
        bytes(&[(&x - x.mean(1).unsqueeze(1)).into(), x.var(1, 0).into()])
    }),
    ("cumulative sums", |device| {
        let x = numbers(device, &[ROWS, COLUMNS])?;
        let exclusive = ReduceOptions::default().exclusive();
        bytes(&[x.cumsum(1).into()])?;
        let all = [x.cumsum(0), x.cumsum_with(1, exclusive), x.reshape([-1]).cumsum(0)];
        all.into_iter().map(|sum| sum.eval()?.untyped().to_bytes()).collect()
    }),
    ("a product of matrices", |device| {
        let (a, b) = (numbers(device, &[64, 300])?, numbers(device, &[300, 48])?);
        bytes(&[(a.unsqueeze(2) * b.unsqueeze(0)).sum(1).into()])
    }),
    ("a lookup", |device| {
        let x = numbers(device, &[COLUMNS, 64])?;
        let rows: Vec<i32> = (0..1500).map(|i| i * 37 % COLUMNS as i32).collect();
        bytes(&[x.take(device.upload(&rows, [1500])?, 0).into()])
    }),
    ("random numbers", |device| {
        let all = Expr::<f32>::uniform([ROWS, COLUMNS], 7).eval_on(device)?;
        Ok(vec![AnyTensor::from(all).to_bytes()?])
    }),
    ("an assignment", |device| {
        let x = numbers(device, &[ROWS, COLUMNS])?;
        x.assign(&x * 2.0)?;
        x.slice(0, 1..).assign(x.slice(0, ..-1))?;
        x.slice(1, ..500).assign(x.slice(1, 500..1000))?;
        x.transpose(0, 1).slice(0, 7..).assign(numbers(device, &[COLUMNS - 7, ROWS])?)?;
        let small = device.zeros::<u8>([COLUMNS, ROWS])?;
        small.slice(1, 1..).assign(x.transpose(0, 1).slice(1, 1..).cast::<u8>())?;
        Ok(vec![AnyTensor::from(x).to_bytes()?, AnyTensor::from(small).to_bytes()?])
    }),
    ("several", |device| {
        let x = numbers(device, &[ROWS, COLUMNS])?;
        let row = numbers(device, &[COLUMNS])?;
        bytes(&[(&x + 1.0).into(), (&x * row).into(), x.lt(0.0).into()])
    }),
    ("a join", |device| {
        let x = numbers(device, &[ROWS, COLUMNS])?;
        bytes(&[Expr::concat([x.expr(), x.sum(0).unsqueeze(0), &x * 2.0], 0).into()])
    }),
];

/// The submissions of work on a handle of an adapter, and the bits.
fn recorded(gpu: &Arc<Gpu>, run: Run) -> (Vec<Vec<u64>>, Vec<Vec<u8>>) {
    gpu.parts.recorder.take_log();
    let bits = run(&Device::from_backend(gpu.clone())).unwrap();
    (gpu.parts.recorder.take_log(), bits)
}

#[test]
fn what_takes_long_is_cut_and_has_the_same_bits() {
    let expected: Vec<Vec<Vec<u8>>> = KINDS.iter().map(|(_, kind)| kind(&Device::cpu()).unwrap()).collect();
    for (k, found) in pollster::block_on(adapters::find()).iter().enumerate() {
        let options = Options::default().pipelines(usize::MAX).rate(1);
        let gpu = pollster::block_on(open(found, &options)).unwrap();
        let unbound = Arc::new(Gpu::of(gpu.parts.clone(), Target { rate: None, ..gpu.adapter }));
        // Each is a submission of its own, and with ten times of that several are.
        let more = Arc::new(Gpu::of(gpu.parts.clone(), Target { rate: Some(2000 * LEAST), ..gpu.adapter }));
        for (case, ((kind, run), expected)) in KINDS.iter().zip(&expected).enumerate() {
            if !in_turn(case, k, 3) {
                continue;
            }
            let (whole, bits) = recorded(&unbound, *run);
            assert!(bits == *expected, "{kind} on {gpu:?}");
            let (cut, bits) = recorded(&gpu, *run);
            assert!(bits == *expected, "{kind} in parts on {gpu:?}");
            let count = |all: &[Vec<u64>]| all.iter().map(Vec::len).sum::<usize>();
            assert!(count(&cut) > count(&whole), "{kind} on {gpu:?}: {cut:?} of {whole:?}");
            let most = cut.iter().flatten().max().unwrap();
            // But for a row, which is the least that there is of rows to their end.
            assert!(*most <= LEAST || *kind == "a row to its end", "{kind} on {gpu:?}: {cut:?}");
            // All values of a loop by the same kernels.
            assert!(*kind != "a loop of several values" || count(&cut) < 12, "{cut:?}");
            assert!(cut.iter().all(|submission| submission.len() == 1), "{kind} on {gpu:?}: {cut:?}");
            let (sent, _) = recorded(&more, *run);
            for submission in sent {
                let all = submission.iter().sum::<u64>();
                assert!(submission.len() == 1 || all <= 10 * LEAST, "{kind} on {gpu:?}: {submission:?}");
            }
        }
    }
}

/// A tensor that takes no memory.
fn declared(device: &Device, dtype: DType, shape: &[usize]) -> AnyExpr {
    let layout = Layout::contiguous(shape).unwrap();
    let storage = Storage::new(device.backend().unwrap(), layout.count(), ());
    AnyTensor::new(device.clone(), storage, dtype, layout).expr()
}

/// The work of each kernel that would run.
fn planned(gpu: &Arc<Gpu>, expr: &AnyExpr) -> Result<Vec<u64>> {
    let device = Device::from_backend(gpu.clone());
    let node = expr.node()?;
    let schedule = Schedule::of(node, device.bounds())?;
    let (commands, _) = execute::lowered(gpu, (*schedule).clone(), Destination::New)?;
    Ok(commands.dispatches.iter().map(|dispatch| dispatch.plan.work).collect())
}

/// An integrated GPU with the memory of a large one: nothing is run on it.
fn slow() -> Option<Arc<Gpu>> {
    let found = pollster::block_on(adapters::find()).first()?;
    let mut connection = pollster::block_on(Connection::open(found, &Options::default())).unwrap();
    connection.limits.max_buffer_size = 1 << 40;
    connection.limits.max_storage_buffer_binding_size = 1 << 40;
    let gpu = Gpu::new(connection, pipelines::MOST).unwrap();
    let target = Target { rate: Some(RATE), ..gpu.adapter };
    Some(Arc::new(Gpu::of(gpu.parts.clone(), target)))
}

/// Work that takes seconds on a slow GPU is planned so that no kernel takes more than 250 ms.
#[test]
fn no_dispatch_takes_long_on_a_slow_gpu() {
    let Some(gpu) = slow() else { return };
    let device = Device::from_backend(gpu.clone());
    let of = |shape: &[usize]| declared(&device, DType::F32, shape);
    let call =
        |op: &str, args: &[&AnyExpr]| AnyExpr::call(op, &args.iter().map(|&x| x.clone()).collect::<Vec<_>>());
    let reduce = |x: &AnyExpr, name: &str, axes: &[isize]| x.reduce(name, axes, ReduceOptions::default());
    let turns = AnyExpr::repeat(60_000, &[of(&[4096, 4096])], |x| {
        vec![call("add", &[&call("mul", &[&x[0], &x[0]]), &x[0]])]
    });
    let (a, b) = (of(&[8192, 8192, 1]), of(&[1, 8192, 8192]));
    let large = of(&[2, 1 << 10, 1 << 20]);
    let costly = call("lgamma", &[&call("pow", &[&large, &large])]);
    let ends = call("sub", &[&large, &large.reduce("mean", [2], ReduceOptions::default().keepdim())]);
    // Each with the work of a second and more, in the least kernels that it takes.
    let programs = [
        ("60000 turns", turns[0].clone(), 20),
        ("a product of matrices", reduce(&call("mul", &[&a, &b]), "sum", &[1]), 20),
        ("costly", costly.clone(), 2),
        ("its sum", reduce(&costly, "sum", &[0, 1, 2]), 3),
        ("sums of its rows", reduce(&costly, "sum", &[2]), 2),
        ("cumulative sums", reduce(&large, "cumsum", &[2]), 4),
        ("rows without their means", ends, 3),
        ("the sum of a loop", reduce(&turns[0], "sum", &[0, 1]), 20),
    ];
    for (name, expr, least) in programs {
        let works = planned(&gpu, &expr).unwrap_or_else(|error| panic!("{name}: {error}"));
        let most = *works.iter().max().unwrap();
        assert!(most <= of_dispatch(Some(RATE)), "{name}: {most}, the most of {}", works.len());
        assert!((least..5000).contains(&works.len()), "{name}: {} kernels", works.len());
    }
}

/// A loop whose turns take long is several kernels, however few elements there are.
#[test]
fn turns_that_take_long_are_several_kernels() {
    let x = numbers(&Device::cpu(), &[4]).unwrap();
    let kernels = |n: u32| {
        let all = AnyExpr::repeat(n, &[x.expr().into()], |x| {
            vec![(0..200).fold(x[0].clone(), |y, _| AnyExpr::call("pow", &[x[0].clone(), y]))]
        });
        let bounds = Device::cpu().bounds();
        Schedule::of(all[0].node().unwrap(), bounds).unwrap().stages.len() + 1
    };
    assert_eq!(kernels(100), 1);
    assert!((3..50).contains(&kernels(60_000)), "{}", kernels(60_000));
}

/// A copy measures an adapter's rate, and leaves no memory behind. An adapter on the host's processor is not measured.
#[test]
fn an_adapter_tells_its_rate() {
    for found in pollster::block_on(adapters::find()) {
        let gpu = pollster::block_on(open(found, &Options::default())).unwrap();
        let is_software = drivers::is_software(&gpu.parts.connection.device.adapter_info());
        assert_eq!(gpu.adapter.rate.is_none(), is_software, "{gpu:?}");
        let used = gpu.parts.pool.memory().used;
        let rate = open::rate(&gpu).unwrap();
        assert!((LEAST_RATE..100_000_000_000_000).contains(&rate), "{rate} on {gpu:?}");
        let memory = gpu.parts.pool.memory();
        assert_eq!((memory.used, memory.idle), (used, 0), "{gpu:?}");
    }
}

/// Submissions take pages of uniform blocks in turn, so that none waits for the one before to have read its own.
#[test]
fn pages_are_taken_in_turn() {
    for found in pollster::block_on(adapters::find()) {
        let gpu = pollster::block_on(open(found, &Options::default())).unwrap();
        let x = numbers(&Device::from_backend(gpu.clone()), &[64]).unwrap();
        let mut pages = Vec::new();
        for i in 0..2 * PAGES {
            let sum = (&x + i as f32).eval().unwrap();
            pages.push(gpu.parts.recorder.page());
            gpu.flush().unwrap();
            assert_eq!(sum.to_vec().unwrap()[3], x.to_vec().unwrap()[3] + i as f32, "{gpu:?}");
        }
        let distinct = |pages: &[wgpu::Buffer]| (1..pages.len()).all(|i| !pages[..i].contains(&pages[i]));
        assert!(distinct(&pages[..PAGES]) && pages[..PAGES] == pages[PAGES..], "{gpu:?}");
    }
}
