//! Opens an adapter, or takes a program's device: a connection, the device state on it, its speed, and its differences
//! from IEEE 754. No limit states these, so kernels test for them.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::adapters::Found;
use super::budget::LEAST_RATE;
use super::connection::{Connection, FEATURES};
use super::device::Gpu;
use super::lock::lock;
use super::{drivers, execute, known, pipelines};
use crate::dtype::{DType, Element, Float, f16};
use crate::error::{Result, bail};
use crate::ir::{
    AxisOp, CHUNK, Contract, Destination, Input, Known, Node, Op, Program, Schedule, Source, Storage,
};
use crate::layout::Layout;
use crate::options::Options;
use crate::plan::{Faults, Target};

/// Operands of a test. Division by reciprocals is wrong for a third of all operands, so this many find it.
const COUNT: usize = 1024;

/// The environment variable that sets fields of [`Target`], as [`Target::set`] reads them. `roots=1` sets one for every
/// adapter, `SwiftShader:roots=1` for adapters with that word in their names.
const TARGET: &str = "ZEROSTRIDE_TARGET";

/// Opens an adapter.
pub(crate) async fn open(found: &Found, options: &Options) -> Result<Arc<Gpu>> {
    let pipelines = options.pipelines.unwrap_or(pipelines::MOST);
    let gpu = ready(Connection::open(found, options).await?, pipelines, options.rate).await?;
    known::remember(&gpu);
    if gpu.is_software() {
        log::info!("{gpu:?} runs on {}", drivers::SOFTWARE);
    }
    Ok(gpu)
}

/// The features that the crate uses and the adapter has, and its limits.
pub(crate) fn wants(adapter: &wgpu::Adapter) -> (wgpu::Features, wgpu::Limits) {
    (adapter.features() & FEATURES, adapter.limits())
}

/// A handle to a caller's device. If that device is still in use, it is the handle of the time before.
pub(crate) async fn adopt(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Arc<Gpu>> {
    if let Some(known) = known::find(device) {
        return Ok(known);
    }
    let gpu = ready(Connection::adopt(device.clone(), queue.clone(), None)?, pipelines::MOST, None).await?;
    // Another thread may have been first, as no lock is held while kernels compile.
    Ok(known::find(device).unwrap_or_else(|| {
        known::remember(&gpu);
        gpu
    }))
}

/// The first handle of a device, with a stated or measured rate.
pub(super) async fn ready(connection: Connection, pipelines: usize, stated: Option<u64>) -> Result<Arc<Gpu>> {
    let key = Key {
        name: connection.name().into(),
        info: connection.device.adapter_info(),
        features: connection.features,
    };
    let gpu = Gpu::new(connection, pipelines)?;
    let known =
        lock(&FOUND).iter().find(|(other, ..)| *other == key).map(|(_, faults, rate)| (*faults, *rate));
    let (faults, rate) = match known {
        Some(known) => known,
        None => match faults(&gpu).await {
            Ok(faults) => {
                let rate = gpu.adapter.rate.map(|unknown| rate(&gpu).unwrap_or(unknown));
                lock(&FOUND).push((key, faults, rate));
                (faults, rate)
            }
            Err(error) => {
                log::warn!("{gpu:?}: cannot tell how it rounds: {error}");
                (Faults::ALL, gpu.adapter.rate)
            }
        },
    };
    let mut gpu = gpu.with_target(Target { faults, rate: stated.or(rate), ..gpu.adapter });
    if let Ok(text) = std::env::var(TARGET) {
        let (name, fields) = text.rsplit_once(':').unwrap_or(("", &text));
        if gpu.parts.connection.name().contains(name) {
            gpu.adapter.set(fields)?;
        }
    }
    Ok(Arc::new(gpu))
}

/// The key of an adapter's faults. wgpu's info is empty in a browser, and the name may be too.
#[derive(PartialEq)]
struct Key {
    name: String,
    info: wgpu::AdapterInfo,
    /// The tests depend on these.
    features: wgpu::Features,
}

/// Faults and rates of adapters, since a program may open one again and again.
static FOUND: Mutex<Vec<(Key, Faults, Option<u64>)>> = Mutex::new(Vec::new());

/// Elements of the timed copy: 16 MiB move, in 0.3 ms on an integrated GPU.
const COPIED: usize = 2 << 20;

/// Bytes that an adapter moves in a second, if the host may wait for it. This counts the time of a submission, so a
/// fast adapter seems slower than it is, and its work is submitted earlier than necessary.
pub(super) fn rate(gpu: &Arc<Gpu>) -> Result<u64> {
    gpu.parts.connection.can_wait("this")?;
    let size = COPIED * size_of::<f32>();
    let from = Source::Tensor(gpu.storage(size, DType::F32)?);
    let copy = Schedule::only(Program::copy(Input::new(DType::F32, from, Layout::contiguous([COPIED])?)));
    let mut least = Duration::MAX;
    // The first compiles, clears memory and wakes the adapter.
    for _ in 0..3 {
        gpu.finish()?;
        let begun = Instant::now();
        execute::run(gpu, Cow::Borrowed(&copy), Destination::New, None)?;
        gpu.finish()?;
        least = least.min(begun.elapsed());
    }
    drop(copy);
    gpu.parts.pool.clear();
    let rate = (2 * size) as f64 / least.as_secs_f64();
    log::debug!("{gpu:?} moves {:.0} GB in a second", rate / 1e9);
    Ok((rate as u64).max(LEAST_RATE))
}

/// Tests every type that the adapter computes with. All tests start before the first answer is waited for.
async fn faults(gpu: &Arc<Gpu>) -> Result<Faults> {
    let operands = pairs([f32::MIN_POSITIVE, 1.0 - f32::EPSILON / 2.0], f32::MAX_EXP - 2);
    let single = faults_of(gpu, operands, |x, y| x / y, f32::sqrt)?;
    let halves = halves_of(gpu);
    let sums = sums_of(gpu)?;
    let chains = chains_of(gpu, f32::mul_add, !gpu.adapter.faults.fma)?;
    let double = match gpu.parts.connection.supports(DType::F64) {
        Ok(()) => {
            let operands = pairs([f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0], f64::MAX_EXP - 2);
            let double = faults_of(gpu, operands, |x, y| x / y, f64::sqrt)?;
            // For DX12 naga writes no `fma` of f64.
            let chains = chains_of(gpu, f64::mul_add, !gpu.adapter.faults.splits)?;
            Some((double, fractions_of(gpu)?, chains))
        }
        Err(_) => None,
    };
    // If the adapter cannot compile such a kernel, it has none of these instructions.
    let lacking = Faults { halves: true, half_rounding: true, ..Faults::default() };
    let halves = match halves {
        Ok(halves) => halves.await.unwrap_or(lacking),
        Err(_) => lacking,
    };
    let mut faults = gpu.adapter.faults.or(single.await?).or(halves).or(sums.await?);
    faults.chains |= faults.fma || chains.await?;
    faults.splits |= faults.chains;
    if let Some((double, fractions, wide_chains)) = double {
        faults = faults.or(Faults { flushes: false, ..double.await? }).or(fractions.await?);
        faults.wide_chains |= wide_chains.await?;
    }
    Ok(faults)
}

/// Numbers from 1 to 2 whose digits look random, by Knuth's multiplier (The Art of Computer Programming, volume 2,
/// 3.3.4).
fn draws<T: Float>() -> impl FnMut() -> T {
    let mut state = 1_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        T::from_f64(1.0 + (state >> 12) as f64 / 2_f64.powi(52))
    }
}

/// Operands as a node.
fn leaf<T: Element + bytemuck::Pod>(gpu: &Arc<Gpu>, values: &[T]) -> Result<Arc<Node>> {
    let storage = gpu.upload(bytemuck::cast_slice(values), T::DTYPE)?;
    Ok(Node::leaf(T::DTYPE, Source::Tensor(storage), Layout::contiguous([values.len()])?))
}

/// Starts to compute nodes of one shape, and to read them. Returns the elements of each.
fn begun<T: bytemuck::Pod>(
    gpu: &Arc<Gpu>,
    nodes: &[&Arc<Node>],
) -> Result<impl Future<Output = Result<Vec<Vec<T>>>> + use<T>> {
    let shape = &nodes[0].shape;
    let program = Program::of(nodes, shape, &Known::default())?;
    let results = execute::run(gpu, Cow::Owned(Schedule::only(program)), Destination::New, None)?;
    let count: usize = shape.iter().product();
    let begun =
        |(storage, node): (&Storage, &&Arc<Node>)| gpu.begin_read(storage, 0, node.dtype.size() * count);
    let readings = results.iter().zip(nodes).map(begun).collect::<Result<Vec<_>>>()?;
    Ok(async {
        let mut read = Vec::new();
        for reading in readings {
            read.push(bytemuck::pod_collect_to_vec(&reading.await?));
        }
        Ok(read)
    })
}

/// Pairs of operands with normal quotients. Most operands are from 1 to 2. Six of 64 lie at the ends of the exponents,
/// up to 2^`most`, where a reciprocal is subnormal or nearly infinite.
fn pairs<T: Float>(first: [T; 2], most: i32) -> (Vec<T>, Vec<T>) {
    let ends = [(most, most), (-most, -most), (most, 1), (-most, -1), (2, most), (0, -most)];
    let mut draw = draws::<f64>();
    let mut scaled = |exponent: i32| T::from_f64(2_f64.powi(exponent) * draw());
    let drawn = (1..COUNT).map(|i| {
        let (x, y) = ends.get(i % 64).copied().unwrap_or_default();
        (scaled(x), scaled(y))
    });
    std::iter::once(first.into()).chain(drawn).unzip()
}

/// Runs a product, quotients and a root, and compares them with the host's. The product lies half a unit below the
/// least normal float. Two quotients have one divisor, since some compilers multiply both by its reciprocal.
fn faults_of<T: Float + bytemuck::Pod>(
    gpu: &Arc<Gpu>,
    (first, second): (Vec<T>, Vec<T>),
    divide: fn(T, T) -> T,
    root: fn(T) -> T,
) -> Result<impl Future<Output = Result<Faults>>> {
    let (x, y) = (leaf(gpu, &first)?, leaf(gpu, &second)?);
    let on = |op: Op, args: &[&Arc<Node>]| Node::op(op, T::DTYPE, args);
    let quotients = [on(Op::Div, &[&x, &y])?, on(Op::Reciprocal, &[&y])?];
    let read =
        begun::<T>(gpu, &[&on(Op::Mul, &[&x, &y])?, &quotients[0], &quotients[1], &on(Op::Sqrt, &[&x])?])?;
    Ok(async move {
        let read = read.await?;
        let [products, quotients, _, roots] = &read[..] else {
            bail!(Kernel, "four results came as {}", read.len())
        };
        let operands = || first.iter().copied().zip(second.iter().copied());
        let differs = |exact: Vec<T>, got: &[T]| exact[1..] != got[1..];
        Ok(Faults {
            flushes: products[0] == T::ZERO,
            quotients: differs(operands().map(|(x, y)| divide(x, y)).collect(), quotients),
            roots: differs(operands().map(|(x, _)| root(x)).collect(), roots),
            ..Faults::default()
        })
    })
}

/// Whether rounding f64 to whole numbers differs from the host: for every exponent that has fractions, with each sign,
/// and halfway between two whole numbers.
fn fractions_of(gpu: &Arc<Gpu>) -> Result<impl Future<Output = Result<Faults>>> {
    let mut draw = draws::<f64>();
    let each = |i: usize| 2_f64.powi(i as i32 % 53 - 1) * draw() * [1.0, -1.0][i / 53 % 2];
    let halves = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5];
    let values: Vec<f64> = halves.into_iter().chain((0..COUNT - halves.len()).map(each)).collect();
    let x = leaf(gpu, &values)?;
    let ops = [Op::Floor, Op::Ceil, Op::Round, Op::Trunc];
    let nodes = ops.iter().map(|&op| Node::op(op, DType::F64, &[&x])).collect::<Result<Vec<_>>>()?;
    let read = begun::<f64>(gpu, &nodes.iter().collect::<Vec<_>>())?;
    let right = [f64::floor, f64::ceil, f64::round_ties_even, f64::trunc];
    Ok(async move {
        let read = read.await?;
        let mut all = read.iter().zip(right);
        let fractions = all.any(|(got, right)| values.iter().zip(got).any(|(x, got)| right(*x) != *got));
        Ok(Faults { fractions, ..Faults::default() })
    })
}

/// Whether f16 changes on its way to f32 and back, and whether other numbers are not rounded to the nearest. Tested are
/// numbers of every exponent, numbers halfway between two neighbours, and their neighbours.
fn halves_of(gpu: &Arc<Gpu>) -> Result<impl Future<Output = Result<Faults>>> {
    let each = |i: usize| f16::from_bits((i * (usize::from(u16::MAX) + 1) / COUNT + i % 7) as u16);
    let halves: Vec<f16> = (0..COUNT).map(each).collect();
    let around = |x: &f16| {
        let next = f16::from_bits(x.to_bits() + 1);
        let middle = (x.to_f32() + next.to_f32()) / 2.0;
        let bits = middle.to_bits();
        [middle, f32::from_bits(bits - 1), f32::from_bits(bits + 1), x.to_f32() * 1.01]
    };
    let finite = halves.iter().filter(|x| x.to_f32().abs() < f16::MAX.to_f32());
    let ends = [65519.996, 65520.0, -65520.0, 1e30, f32::INFINITY, -0.0, 2.98e-8, 2.99e-8];
    let singles: Vec<f32> = finite.flat_map(around).chain(ends).collect();
    let cast = |x: &Arc<Node>, to: DType| Node::op(Op::Cast, to, &[x]);
    let single = cast(&leaf(gpu, &halves)?, DType::F32)?;
    let singly = begun::<f32>(gpu, &[&single])?;
    let there = begun::<u16>(gpu, &[&cast(&single, DType::F16)?])?;
    let rounded = begun::<f32>(gpu, &[&cast(&cast(&leaf(gpu, &singles)?, DType::F16)?, DType::F32)?])?;
    Ok(async move {
        // Compares bits, except those of NaN.
        let same = |got: f32, right: f32| got.to_bits() == right.to_bits() || got.is_nan() && right.is_nan();
        let (singly, there, rounded) = (singly.await?, there.await?, rounded.await?);
        let halves = halves.iter().zip(singly[0].iter().zip(&there[0])).any(|(x, (single, there))| {
            !same(*single, x.to_f32()) || !same(f16::from_bits(*there).to_f32(), x.to_f32())
        });
        let half_rounding =
            singles.iter().zip(&rounded[0]).any(|(x, got)| !same(*got, f16::from_f32(*x).to_f32()));
        Ok(Faults { halves, half_rounding, ..Faults::default() })
    })
}

/// Whether `fma` rounds its product, and whether NaN from sums and products has bits set in its lower half.
fn sums_of(gpu: &Arc<Gpu>) -> Result<impl Future<Output = Result<Faults>>> {
    let mut draw = draws::<f32>();
    let (infinite, nan) = (f32::INFINITY, f32::NAN);
    let odd = |bits: u32| f32::from_bits(bits);
    let ends =
        [(infinite, -infinite), (infinite, 0.0), (-0.0, infinite), (nan, 1.0), (1.0, -nan), (nan, infinite)];
    let quiet = [(odd(0x7f81_0000), 1.0), (3.0, odd(0xffff_0000)), (odd(0xff81_0000), nan)];
    let mut operands: Vec<(f32, f32)> = ends.into_iter().chain(quiet).collect();
    operands.resize_with(COUNT, || (draw(), -draw()));
    let (x, y): (Vec<f32>, Vec<f32>) = operands.into_iter().unzip();
    // Sums that nearly cancel a product, and others.
    let third =
        |(i, (x, y)): (usize, (&f32, &f32))| if i % 2 == 0 { -(x * y) } else { (x * y) * (i % 64) as f32 };
    let z: Vec<f32> = x.iter().zip(&y).enumerate().map(third).collect();
    let leaves = [leaf(gpu, &x)?, leaf(gpu, &y)?, leaf(gpu, &z)?];
    let [a, b, c] = leaves.each_ref();
    let on = |op: Op, args: &[&Arc<Node>]| Node::op(op, DType::F32, args);
    let nodes = [&on(Op::Fma, &[a, b, c])?, &on(Op::Add, &[a, b])?, &on(Op::Mul, &[a, b])?];
    let read = begun::<f32>(gpu, &nodes)?;
    Ok(async move {
        let read = read.await?;
        let once = x.iter().zip(&y).zip(&z).map(|((x, y), z)| x.mul_add(*y, *z));
        let fma = once.zip(&read[0]).any(|(once, got)| !once.is_nan() && once.to_bits() != got.to_bits());
        let has_bits = |x: &f32| x.is_nan() && x.to_bits() & 0xffff != 0;
        Ok(Faults { fma, nans: read[1..].iter().flatten().any(has_bits), ..Faults::default() })
    })
}

/// Whether `fma` rounds its products in a product of matrices, which an adapter that has none does. Every other product nearly
/// cancels the sum before it.
fn chains_of<T: Float + bytemuck::Pod>(
    gpu: &Arc<Gpu>,
    fma: fn(T, T, T) -> T,
    has_fma: bool,
) -> Result<impl Future<Output = Result<bool>>> {
    const SIDE: usize = 8;
    let mut draw = draws::<f64>();
    let mut drawn = |sign: f64| -> Vec<T> {
        let number = |i: usize| T::from_f64(if i.is_multiple_of(2) { draw() } else { sign * draw() });
        (0..SIDE * CHUNK).map(number).collect()
    };
    let (a, b) = (drawn(1.0), drawn(-1.0));
    let factor = |values: &[T], axis: isize| {
        leaf(gpu, values)?.view(&|layout| {
            let rows = layout.reshape(&[SIDE as isize, CHUNK as isize])?;
            rows.unsqueeze(axis)
        })
    };
    let product = Node::along(AxisOp::Contract(Contract { axis: 2 }), &[&factor(&a, 1)?, &factor(&b, 0)?])?;
    let read = has_fma.then(|| begun::<T>(gpu, &[&product])).transpose()?;
    Ok(async move {
        let Some(read) = read else { return Ok(true) };
        let read = read.await?;
        let sum = |i: usize| {
            let factors = a[i / SIDE * CHUNK..][..CHUNK].iter().zip(&b[i % SIDE * CHUNK..]);
            factors.fold(T::ZERO, |sum, (&a, &b)| fma(a, b, sum))
        };
        Ok((0..SIDE * SIDE).any(|i| read[0][i] != sum(i)))
    })
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn operands_reach_both_ends_and_quotients_are_normal() {
        let (x, y) = pairs([1.0_f32; 2], f32::MAX_EXP - 2);
        let (least, most) = (f32::MIN_POSITIVE, 2_f32.powi(126));
        for operand in [&x, &y] {
            assert!(operand.iter().filter(|&&x| x >= most).count() >= 16);
            assert!(operand.iter().filter(|&&x| x < 2.0 * least).count() >= 16);
        }
        assert!(x.iter().zip(&y).all(|(x, y)| x.is_normal() && y.is_normal() && (x / y).is_normal()));
        let subnormal = |y: &&f32| (1.0 / **y).is_subnormal();
        assert!(y.iter().filter(subnormal).count() >= 16);
    }
}
