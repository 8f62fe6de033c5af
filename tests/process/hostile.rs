//! Numbers near the ends of 32 and 64 bits in every public call that takes a length. Each ends within seconds, with a
//! result or an error. A call has a process of its own, as it might abort.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use zerostride::{
    AnyExpr, Between, Broadcast, DType, Device, Expr, Layout, Outside, Pad, Result, Shape, Side, Tensor,
    Update,
};

use crate::common::{alone, depth::depth, found};

/// Kilobytes that a process may map, so that a request for more is refused and does not fill the machine.
const MEMORY: usize = 8 << 20;

const NUMBERS: [usize; 16] = [
    (1 << 31) - 1,
    1 << 31,
    (1 << 31) + 1,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 1,
    (1 << 61) + 1,
    (1 << 62) - 1,
    1 << 62,
    (1 << 62) + 2,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + 1,
    usize::MAX - 7,
    usize::MAX - 1,
    usize::MAX,
];

type Call = (&'static str, fn(&Device, usize) -> Result<()>);

/// Calls on shapes and layouts alone, whose errors have no line.
const PURE: [&str; 4] = ["Shape::count", "Layout", "Layout::strided", "rules"];

fn used(x: &Expr<f32>, device: &Device) -> Result<()> {
    x.eval_on(device).map(drop)
}

fn ones(n: usize) -> Expr<f32> {
    Expr::full([n], 1.0)
}

fn small(device: &Device) -> Result<Tensor<f32>> {
    device.upload(&[3.0, 1.0, 2.0, 1.0, 5.0, 4.0], [2, 3])
}

/// A call that makes elements of a length, and reads nothing.
const CALLS: &[Call] = &[
    ("zeros f32", |d, n| d.zeros::<f32>([n]).map(drop)),
    ("zeros f64 of two axes", |d, n| d.zeros::<f64>([n, 2]).map(drop)),
    ("zeros of no elements", |d, n| d.zeros::<u8>([0, n]).map(drop)),
    ("full", |d, n| d.full([n], 1.0_f32).map(drop)),
    ("full of bytes", |d, n| d.full([n, n], 1_u8).map(drop)),
    ("full, read", |d, n| {
        let x = d.full([n], 1.0_f32)?;
        x.slice(0, 0..1).to_vec().map(drop)?;
        x.slice(0, 0..1).assign(2.0)
    }),
    ("zeros_any", |d, n| d.zeros_any(DType::I16, [3, n]).map(drop)),
    ("upload", |d, n| d.upload(&[1.0_f32; 4], [n]).map(drop)),
    ("upload_bytes", |d, n| d.upload_bytes(&[1; 4], DType::F64, [n, 4]).map(drop)),
    ("Shape::count", |_, n| Shape::from([n, n]).count().map(drop)),
    ("Layout", |_, n| {
        Layout::contiguous([n, 3])?.slice(0, n as isize / 2.., 3)?.flip(1)?.reshape(&[-1])?;
        Ok(())
    }),
    ("Layout::strided", |_, n| Layout::strided([n], &[n as isize], n, n).map(drop)),
    ("expand", |d, n| used(&small(d)?.unsqueeze(0).broadcast_to([n, 2, 3]), d)),
    ("rules", |_, n| {
        Broadcast::NumPy.shape(&[n, 1], &[n])?.count()?;
        Broadcast::Pdpd { axis: n as isize }.shape(&[n, 2], &[2]).map(drop)
    }),
    ("expression", |d, n| used(&ones(n), d)),
    ("expression of two axes", |d, n| used(&(ones(n).unsqueeze(1) + ones(n)), d)),
    ("coordinates", |d, n| Expr::iota([n], 0).eval_on(d).map(drop)),
    ("arange", |d, n| AnyExpr::arange(DType::I64, 0, n as i128, 1).eval_on(d).map(drop)),
    ("arange of floats", |d, n| Expr::<f32>::arange(0, n as i128, 1).eval_on(d).map(drop)),
    ("linspace", |d, n| Expr::<f32>::linspace(0, 1, n).eval_on(d).map(drop)),
    ("eye", |d, n| Expr::<f32>::eye(n, n).eval_on(d).map(drop)),
    ("eye of one row", |d, n| Expr::<f32>::eye(1, n).eval_on(d).map(drop)),
    ("random_bits", |d, n| Expr::random_bits([n], 1).eval_on(d).map(drop)),
    ("uniform", |d, n| AnyExpr::uniform(DType::F64, [n], 1).eval_on(d).map(drop)),
    ("normal", |d, n| Expr::normal([2, n], 1).eval_on(d).map(drop)),
    ("tile", |d, n| used(&small(d)?.tile([n]), d)),
    ("tile of all", |d, n| used(&small(d)?.tile([n, n, n]), d)),
    ("repeat_interleave", |d, n| used(&small(d)?.repeat_interleave(n, 1), d)),
    ("pad", |d, n| used(&small(d)?.pad([(n, 0), (0, n)], Pad::Edge), d)),
    ("pad with numbers", |d, n| used(&small(d)?.pad([(n, n), (0, 0)], Pad::constant(1)), d)),
    ("pad by reflections", |d, n| used(&small(d)?.pad([(0, 0), (1, n)], Pad::Reflect), d)),
    ("roll", |d, n| used(&small(d)?.roll([n as isize], [1]), d)),
    ("slice", |d, n| used(&small(d)?.slice(1, n as isize..), d)),
    ("slice_step", |d, n| used(&small(d)?.slice_step(1, .., n as isize), d)),
    ("slice of many", |d, n| used(&ones(n).slice_step(0, 1.., n as isize / 2), d)),
    ("windows", |d, n| used(&small(d)?.windows(n as isize, 1), d)),
    ("windows_with", |d, n| used(&small(d)?.windows_with(2, 1, n as isize, n as isize), d)),
    ("windows of many", |d, n| used(&ones(n).windows(3, 0).slice(0, ..1), d)),
    ("reshape", |d, n| used(&small(d)?.reshape([n as isize, -1]), d)),
    ("as_strided", |d, n| used(&small(d)?.as_strided([n], &[0], 0), d)),
    ("unbind", |_, n| ones(n).unbind(0).map(drop)),
    ("unbind of two axes", |_, n| ones(n).unsqueeze(0).unbind(1).map(drop)),
    ("get", |d, n| small(d)?.get([n as isize, 0]).map(drop)),
    ("topk", |d, n| used(&small(d)?.topk(n, 1).0, d)),
    ("kthvalue", |d, n| used(&small(d)?.kthvalue(n, 1).0, d)),
    ("segment_sum", |d, n| used(&small(d)?.segment_sum(Expr::iota([2], 0), n), d)),
    ("segment_max of sorted keys", |d, n| {
        used(&small(d)?.segment_max(Expr::iota([2], 0).assume_sorted(), n), d)
    }),
    ("bincount", |d, n| Expr::iota([2], 0).bincount(n).eval_on(d).map(drop)),
    ("histogram", |d, n| small(d)?.histogram(n, (0.0, 1.0)).map(drop)),
    ("nonzero_padded", |d, n| small(d)?.nonzero_padded(n, 0).eval().map(drop)),
    ("random key", |d, n| Expr::<f32>::uniform([2], n as u64).eval_on(d).map(drop)),
    ("item of many", |d, n| ones(n).eval_on(d)?.item().map(drop)),
    ("to_vec", |d, n| ones(n).to_vec_on(d).map(drop)),
    ("explain", |d, n| {
        let text = (ones(n) + 1.0).explain(d)?.to_string();
        assert!(!text.is_empty());
        Ok(())
    }),
    ("explain a sum", |d, n| {
        let text = ones(n).sum(0).explain(d)?.to_string();
        assert!(!text.is_empty());
        Ok(())
    }),
    ("explain a sort", |d, n| {
        let text = ones(n).sort(0).explain(d)?.to_string();
        assert!(!text.is_empty());
        Ok(())
    }),
    ("warm_up", |d, n| (ones(n) + 1.0).warm_up(d)),
    ("print", |d, n| {
        let text = format!("{:?} {:?}", ones(n), small(d)?.broadcast_to([n, 2, 3]));
        assert!(!text.is_empty());
        Ok(())
    }),
    ("take", |d, n| used(&ones(n).take(device_index(d, n)?, 0), d)),
    ("take at places", |d, n| used(&small(d)?.take(device_index(d, n)?, 1), d)),
    ("at", |d, n| used(&small(d)?.at_with([device_index(d, n)?, device_index(d, n)?], Outside::Wrapped), d)),
    ("scatter", |d, n| used(&small(d)?.scatter_add([device_index(d, n)?], 1.0), d)),
    ("scatter to many", |d, n| {
        used(&ones(n).scatter_with([device_index(d, 1)?], 1.0, Update::Max, Outside::Wrapped), d)
    }),
    ("concat", |d, n| used(&Expr::concat([ones(n), ones(n)], 0), d)),
    ("stack", |d, n| used(&Expr::stack([ones(n), ones(n)], 0), d)),
    ("matmul", |d, n| used(&ones(n).unsqueeze(1).matmul(ones(n).unsqueeze(0)), d)),
    ("outer", |d, n| used(&ones(n).outer(ones(n)), d)),
    ("einsum", |d, n| used(&Expr::einsum("i,j,k->ijk", [ones(n), ones(n), ones(n)]), d)),
    ("searchsorted in many", |d, n| ones(n).searchsorted(1.0, Side::Left).eval_on(d).map(drop)),
    ("copy_to a view", |d, n| small(d)?.broadcast_to([n, 2, 3]).assign(1.0)),
    ("assign many", |d, n| small(d)?.assign(ones(n))),
];

/// Calls that compute all elements, however few results they have. Numbers near 2^32 take an unoptimized build minutes.
const COMPUTING: &[Call] = &[
    ("sum", |d, n| used(&ones(n).sum(0), d)),
    ("sum of two axes", |d, n| used(&ones(n).unsqueeze(1).broadcast_to([n, 4]).sum([0, 1]), d)),
    ("max", |d, n| used(&ones(n).max(0), d)),
    ("argmax", |d, n| ones(n).argmax(0).eval_on(d).map(drop)),
    ("var", |d, n| used(&ones(n).var(0, 0), d)),
    ("count_nonzero", |d, n| ones(n).count_nonzero(0).eval_on(d).map(drop)),
    ("softmax", |d, n| used(&ones(n).softmax(0).slice(0, ..1), d)),
    ("cumsum", |d, n| used(&ones(n).cumsum(0).slice(0, ..1), d)),
    ("sort", |d, n| used(&ones(n).sort(0).slice(0, ..1), d)),
    ("argsort", |d, n| ones(n).argsort(0).slice(0, ..1).eval_on(d).map(drop)),
    ("median", |d, n| used(&ones(n).median(0), d)),
    ("quantile", |d, n| used(&ones(n).quantile_with(0.3, 0, Between::Linear), d)),
    ("topk of many", |d, n| used(&ones(n).topk(3, 0).0, d)),
    ("dot", |d, n| used(&ones(n).dot(ones(n)), d)),
    ("sum of products", |d, n| used(&Expr::einsum("i,j->", [ones(n), ones(n)]), d)),
    ("isin", |d, n| small(d)?.isin(ones(n)).eval().map(drop)),
    ("segments of many", |d, n| used(&ones(n).segment_sum(Expr::iota([n], 0), 3), d)),
    ("compress", |d, n| ones(n).eval_on(d)?.compress(ones(n).gt(0.0)).map(drop)),
    ("sum of windows", |d, n| used(&ones(n).windows(3, 0).sum([0, 1]), d)),
    ("sum_to", |d, n| used(&ones(n).unsqueeze(1).sum_to([1, 1]), d)),
];

/// Places far outside.
fn device_index(device: &Device, n: usize) -> Result<AnyExpr> {
    Ok(match device.supports(DType::I64) {
        Ok(()) => device.upload(&[n as i64, -(n as i64 / 2)], [2])?.into(),
        Err(_) => device.upload(&[n as i32, n as u64 as i32 / 2], [2])?.into(),
    })
}

fn all() -> impl Iterator<Item = Call> {
    CALLS.iter().chain(COMPUTING).copied()
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// One call with all numbers.
#[test]
#[ignore = "a process of `numbers`"]
fn child() {
    let device = Device::named(&variable("HOSTILE_DEVICE")).unwrap();
    let number: usize = variable("HOSTILE_CALL").parse().unwrap();
    let longest = Duration::from_secs(variable("HOSTILE_SECONDS").parse().unwrap());
    let (name, call) = all().nth(number).unwrap();
    // In a release build as much is computed in seconds.
    let least = if number >= CALLS.len() && cfg!(debug_assertions) { 1 << 40 } else { 0 };
    for n in NUMBERS.into_iter().filter(|&n| n >= least) {
        println!("begins with {n}");
        let begin = Instant::now();
        let outcome = call(&device, n);
        let took = begin.elapsed();
        assert!(took <= longest, "{name} of {n} took {took:?}: {outcome:?}");
        if let Err(error) = outcome.as_ref().map_err(|error| error.location()) {
            let is_here = error.is_some_and(|at| at.file() == file!());
            assert!(
                is_here || PURE.contains(&name),
                "{name} of {n} names no line of its caller: {outcome:?}"
            );
        }
    }
}

/// The child of a call, whose memory is limited where a shell does that.
fn process(device: &str, number: usize, seconds: u64) -> Command {
    let mut child = alone("hostile::child");
    if cfg!(unix) {
        let (program, args) = (child.get_program().to_owned(), child.get_args().map(ToOwned::to_owned));
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")]).arg(program).args(args);
        child = limited;
    }
    child.env("HOSTILE_DEVICE", device).env("HOSTILE_CALL", number.to_string());
    child.env("HOSTILE_SECONDS", seconds.to_string()).stdin(Stdio::null());
    child
}

/// Every call on the CPU path and one adapter; in a quick run on either in turn. A busy machine may take its time, but
/// `scripts/soak` may not.
#[test]
fn numbers() {
    let seconds = if std::env::var_os("ZEROSTRIDE_SOAK").is_some() { 3 } else { 30 };
    let adapter =
        found().find(|adapter| adapter.backend != "gl").map(|a| format!("{}:{}", a.backend, a.index));
    let devices: Vec<String> = ["cpu".to_string()].into_iter().chain(adapter).collect();
    let mut wrong = Vec::new();
    for (number, (name, _)) in all().enumerate() {
        for (i, device) in devices.iter().enumerate() {
            if depth((number + i).is_multiple_of(devices.len()), true) {
                let output = process(device, number, seconds).output().unwrap();
                if !output.status.success() {
                    let text = [output.stdout, output.stderr]
                        .map(|text| String::from_utf8_lossy(&text).into_owned());
                    wrong.push(format!("{name} on {device}: {}\n{}", output.status, text.concat()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
