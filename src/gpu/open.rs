//! Opening an adapter, or taking a device that a program has opened: a connection, the parts on it, and what the
//! adapter computes otherwise than IEEE 754. No limit tells that, so it is asked by a kernel.

use std::sync::{Arc, Mutex};

use super::adapters::Found;
use super::connection::{Connection, FEATURES};
use super::device::Gpu;
use super::lock::lock;
use super::options::Options;
use super::{known, pipelines};
use crate::dtype::{DType, Float};
use crate::error::{Result, bail};
use crate::expr::{Known, Node, Op, Program, Source, Storage};
use crate::layout::Layout;
use crate::plan::{Destination, Faults, Plan};

/// Operands that are asked for. A division by reciprocals is wrong in a third of all cases, and one of
/// them is not missed.
const COUNT: usize = 1024;

/// Opens an adapter.
pub(crate) async fn open(found: &Found, options: &Options) -> Result<Arc<Gpu>> {
    let pipelines = options.pipelines.unwrap_or(pipelines::MOST);
    let gpu = ready(Connection::open(found, options).await?, pipelines).await?;
    known::remember(&gpu);
    Ok(gpu)
}

/// The features of an adapter that are used where it has them, and its limits.
pub(crate) fn wants(adapter: &wgpu::Adapter) -> (wgpu::Features, wgpu::Limits) {
    (adapter.features() & FEATURES, adapter.limits())
}

/// A handle to a device that is the caller's, the same as for the time before if that is still in use.
pub(crate) async fn adopt(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Arc<Gpu>> {
    if let Some(known) = known::find(device) {
        return Ok(known);
    }
    let gpu = ready(Connection::adopt(device.clone(), queue.clone(), None)?, pipelines::MOST).await?;
    // Another thread may have been first: no lock is held while kernels are compiled.
    Ok(known::find(device).unwrap_or_else(|| {
        known::remember(&gpu);
        gpu
    }))
}

/// The first handle of a device.
pub(super) async fn ready(connection: Connection, pipelines: usize) -> Result<Arc<Gpu>> {
    let key = Key {
        name: connection.name().into(),
        info: connection.device.adapter_info(),
        by_f64: connection.supports(DType::F64).is_ok(),
    };
    let gpu = Gpu::new(connection, pipelines)?;
    let known = lock(&FAULTS).iter().find(|(other, _)| *other == key).map(|(_, faults)| *faults);
    let faults = match known {
        Some(faults) => faults,
        None => match faults(&gpu).await {
            Ok(faults) => {
                lock(&FAULTS).push((key, faults));
                faults
            }
            Err(error) => {
                log::warn!("{gpu:?}: cannot tell how it rounds: {error}");
                UNKNOWN
            }
        },
    };
    Ok(Arc::new(gpu.with_faults(faults)))
}

/// What faults are known by: wgpu's info is empty in a browser, and the name may be too.
#[derive(PartialEq)]
struct Key {
    name: String,
    info: wgpu::AdapterInfo,
    by_f64: bool,
}

/// What was found out of adapters: a program may open one again and again.
static FAULTS: Mutex<Vec<(Key, Faults)>> = Mutex::new(Vec::new());

/// What gives right answers on every adapter.
const UNKNOWN: Faults = Faults { flushes: true, quotients: true, roots: true };

/// Asks for every type that the adapter computes with.
async fn faults(gpu: &Arc<Gpu>) -> Result<Faults> {
    let single = faults_of(gpu, [f32::MIN_POSITIVE, 1.0 - f32::EPSILON / 2.0], |x, y| x / y, f32::sqrt);
    let single = single.await?;
    if gpu.parts.connection.supports(DType::F64).is_err() {
        return Ok(single);
    }
    let double = faults_of(gpu, [f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0], |x, y| x / y, f64::sqrt);
    let double = double.await?;
    Ok(Faults {
        flushes: single.flushes,
        quotients: single.quotients || double.quotients,
        roots: single.roots || double.roots,
    })
}

/// Runs a product, a quotient and a root, and compares them with the host's. The product is of two
/// numbers that lie half a unit below the least normal float; the others are of numbers from 1 to 2.
async fn faults_of<T: Float + bytemuck::Pod>(
    gpu: &Arc<Gpu>,
    [least, before_one]: [T; 2],
    divide: fn(T, T) -> T,
    root: fn(T) -> T,
) -> Result<Faults> {
    // Digits that look random, by Knuth's multiplier (The Art of Computer Programming, volume 2, 3.3.4).
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        T::from_f64(1.0 + (state >> 12) as f64 / 2_f64.powi(52))
    };
    let mut operand =
        |first: T| -> Vec<T> { std::iter::once(first).chain((1..COUNT).map(|_| draw())).collect() };
    let (first, second) = (operand(least), operand(before_one));
    let leaf = |values: &[T]| -> Result<_> {
        let storage = gpu.upload(bytemuck::cast_slice(values), T::DTYPE)?;
        Ok(Node::leaf(T::DTYPE, Source::Tensor(storage), Layout::contiguous([COUNT])?))
    };
    let (x, y) = (leaf(&first)?, leaf(&second)?);
    let product = Node::op(Op::Mul, T::DTYPE, &[&x, &y])?;
    let nodes = [&product, &Node::op(Op::Div, T::DTYPE, &[&x, &y])?, &Node::op(Op::Sqrt, T::DTYPE, &[&x])?];
    let program = Program::of(&nodes, &product.shape, &Known::default())?;
    let run = |program: &Program| {
        let results = program.results.iter().map(|_| gpu.result(program)).collect::<Result<Vec<_>>>()?;
        gpu.record(&Plan::new(program, Destination::Fresh, gpu.adapter)?, &results)?;
        Ok(results)
    };
    // Two operands and three results are more than some adapters bind.
    let results = match gpu.adapter.bindings {
        5.. => run(&program)?,
        _ => program.each(|one| Ok(run(one)?.swap_remove(0)))?,
    };
    let begun = |storage: &Storage| gpu.begin_read(storage, 0, size_of::<T>() * COUNT);
    let mut read: Vec<Vec<T>> = Vec::new();
    for reading in results.iter().map(begun).collect::<Result<Vec<_>>>()? {
        read.push(bytemuck::pod_collect_to_vec(&reading.await?));
    }
    let [products, quotients, roots] = &read[..] else {
        bail!(Kernel, "three results came as {}", read.len())
    };
    let operands = || first.iter().copied().zip(second.iter().copied());
    let differs = |exact: Vec<T>, got: &[T]| exact[1..] != got[1..];
    Ok(Faults {
        flushes: products[0] == T::ZERO,
        quotients: differs(operands().map(|(x, y)| divide(x, y)).collect(), quotients),
        roots: differs(operands().map(|(x, _)| root(x)).collect(), roots),
    })
}
