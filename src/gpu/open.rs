//! Opening an adapter: a connection, the parts on it, and what it computes otherwise than IEEE 754. No
//! limit tells that, so it is asked by a kernel.

use std::sync::Arc;

use super::adapters::Found;
use super::connection::Connection;
use super::device::Gpu;
use super::options::Options;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::{Node, Op, Program, Source, Storage};
use crate::layout::Layout;
use crate::plan::{Destination, Faults, Plan};

/// Operands that are asked for. A division by reciprocals is wrong in a third of all cases, and one of
/// them is not missed.
const COUNT: usize = 1024;

/// Opens an adapter.
pub(crate) async fn open(found: &Found, options: &Options) -> Result<Arc<Gpu>> {
    let gpu = Gpu::new(Connection::open(found, options).await?)?;
    let faults = faults(&gpu).unwrap_or_else(|error| {
        log::warn!("{gpu:?}: cannot tell how it rounds: {error}");
        UNKNOWN
    });
    Ok(Arc::new(gpu.with_faults(faults)))
}

/// What gives right answers on every adapter.
const UNKNOWN: Faults = Faults { flushes: true, quotients: true, roots: true };

/// Runs a product, a quotient and a root, and compares them with the host's.
fn faults(gpu: &Arc<Gpu>) -> Result<Faults> {
    if cfg!(target_arch = "wasm32") {
        // It could not wait for the answer.
        return Ok(UNKNOWN);
    }
    // 2^-126 (1 - 2^-24), which rounds to 2^-126, and then fractions of 23 bits that look random.
    let mut state = 1_u32;
    let mut draw = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from_bits(0x3f80_0000 | (state >> 9))
    };
    let first: Vec<f32> = std::iter::once(f32::MIN_POSITIVE).chain((1..COUNT).map(|_| draw())).collect();
    let least = 1.0 - f32::EPSILON / 2.0;
    let second: Vec<f32> = std::iter::once(least).chain((1..COUNT).map(|_| draw())).collect();
    let leaf = |values: &[f32]| -> Result<_> {
        let storage = gpu.upload(bytemuck::cast_slice(values), DType::F32)?;
        Ok(Node::leaf(DType::F32, Source::Tensor(storage), Layout::contiguous([COUNT])?))
    };
    let (x, y) = (leaf(&first)?, leaf(&second)?);
    let product = Node::op(Op::Mul, DType::F32, &[&x, &y])?;
    let quotient = Node::op(Op::Div, DType::F32, &[&x, &y])?;
    let root = Node::op(Op::Sqrt, DType::F32, &[&x])?;
    let program = Program::of(&[&product, &quotient, &root], &product.shape)?;
    let results = [gpu.result(&program)?, gpu.result(&program)?, gpu.result(&program)?];
    gpu.record(&Plan::new(&program, Destination::Fresh, gpu.adapter)?, &results)?;
    let read = |storage: &Storage| -> Result<Vec<f32>> {
        Ok(bytemuck::pod_collect_to_vec(&gpu.begin_read(storage, 0, 4 * COUNT)?.wait()?))
    };
    let [products, quotients, roots] = [read(&results[0])?, read(&results[1])?, read(&results[2])?];
    let pairs = || first.iter().zip(&second).skip(1);
    Ok(Faults {
        flushes: products[0] == 0.0,
        quotients: pairs().zip(&quotients[1..]).any(|((x, y), got)| *got != x / y),
        roots: first[1..].iter().zip(&roots[1..]).any(|(x, got)| *got != x.sqrt()),
    })
}
