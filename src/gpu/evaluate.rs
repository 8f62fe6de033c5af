//! How programs are run: conflicts, several results, and what of it is told.

use std::borrow::Cow;
use std::sync::{Arc, Weak};

use smallvec::{SmallVec, smallvec};

use super::device::{Gpu, Parts};
use super::fold::Planned;
use super::tables::{self, How};
use super::{fold, parts, split};
use crate::dtype::DType;
use crate::error::{ErrorKind, Result, bail};
use crate::ir::{Input, Math, Program, Source, Storage, Told};
use crate::layout::Layout;
use crate::plan::{self, Destination, Plan};
use crate::schedule::Results;
use crate::wgsl;

/// What running a program takes, kept with it.
struct Ready {
    /// The handle that it is for: its parts, and how it computes functions.
    parts: Weak<Parts>,
    math: Math,
    kernels: SmallVec<[Planned; 1]>,
}

pub(super) fn eval(gpu: &Arc<Gpu>, program: &Program) -> Result<Storage> {
    let ready = program.ready.get::<Ready>();
    let is_own =
        |ready: &&Ready| ready.parts.as_ptr() == Arc::as_ptr(&gpu.parts) && ready.math == gpu.adapter.math;
    if let Some(ready) = ready.filter(is_own) {
        return only(gpu, fold::run(gpu, &ready.kernels)?);
    }
    gpu.supports(program)?;
    if Plan::is_empty(&program.shape) {
        let result = gpu.result(program)?;
        gpu.parts.connection.check()?;
        return Ok(result);
    }
    if let Some(places) = program.result_places()? {
        let result = gpu.result(program)?;
        places.into_iter().try_for_each(|(part, layout)| assign(gpu, part.clone(), &result, &layout))?;
        gpu.parts.connection.check()?;
        return Ok(result);
    }
    if !parts::is_whole(gpu, program) {
        let program = &*whole_tables(gpu, program)?;
        let result = match fold::is_one(program) {
            true => parts::eval(gpu, program)?,
            false => {
                let result = gpu.result(program)?;
                split::run(gpu, program, &result, &Layout::contiguous(&program.shape)?, true)?;
                result
            }
        };
        gpu.parts.connection.check()?;
        return Ok(result);
    }
    let kernels = match fold::is_one(program) {
        true => fold::kernels(gpu, program)?,
        false => {
            let plan = Plan::new(program, Destination::Fresh, gpu.adapter)?;
            smallvec![Planned::last(gpu, program, plan)?]
        }
    };
    let results = fold::run(gpu, &kernels)?;
    if program.ready.again() {
        let parts = Arc::downgrade(&gpu.parts);
        program.ready.put(Ready { parts, math: gpu.adapter.math, kernels });
    }
    only(gpu, results)
}

/// The one result of a program, unless the device failed.
fn only(gpu: &Arc<Gpu>, mut results: Results) -> Result<Storage> {
    gpu.parts.connection.check()?;
    match results.pop() {
        Some(result) => Ok(result),
        None => bail!(Kernel, "a program without a result"),
    }
}

pub(super) fn eval_all(gpu: &Arc<Gpu>, program: &Program) -> Result<Vec<Storage>> {
    let each = || program.each(|one| eval(gpu, one));
    gpu.supports(program)?;
    if Plan::is_empty(&program.shape)
        || program.results.len() == 1
        || program.is_scan()
        || !gpu.cuts().is_shown(program)
        || (program.folds() && !gpu.cuts().is_short(program))
    {
        return each();
    }
    if fold::is_one(program) {
        return match fold::eval(gpu, program) {
            // More than a kernel binds.
            Err(error) if error.kind() == ErrorKind::Limit => each(),
            results => results.and_then(|results| gpu.parts.connection.check().map(|()| results.into_vec())),
        };
    }
    let count = program.result_shape().count()?;
    let storage = |i: usize| {
        let dtype = program.result_type(i);
        gpu.storage(count * dtype.size(), dtype)
    };
    let results = (0..program.results.len()).map(storage).collect::<Result<Vec<_>>>()?;
    match split::run_all(gpu, program, &results) {
        Ok(true) => gpu.parts.connection.check().map(|()| results),
        Ok(false) => each(),
        // More tensors than a kernel binds.
        Err(error) if error.kind() == ErrorKind::Limit => each(),
        Err(error) => Err(error),
    }
}

/// Runs a program of several results into storages that it does not read: by one kernel where each is all of its
/// storage.
pub(super) fn assign_all(gpu: &Arc<Gpu>, program: &Program, to: &[(&Storage, &Layout)]) -> Result<bool> {
    gpu.supports(program)?;
    let count = program.result_shape().count()?;
    let is_all = |(storage, layout): &(&Storage, &Layout)| {
        storage.elements == count && !storage.is_exact && layout.is_identity()
    };
    let is_once = |i: usize| to[..i].iter().all(|(storage, _)| !storage.same(to[i].0));
    let alone = program.folds() || program.joining.is_some() || Plan::is_empty(&program.shape);
    if alone || !gpu.cuts().is_whole(program) || !to.iter().all(is_all) || !(0..to.len()).all(is_once) {
        return Ok(false);
    }
    let plan = match Plan::new(program, Destination::Fresh, gpu.adapter) {
        Err(error) if error.kind() == ErrorKind::Limit => return Ok(false),
        plan => plan?,
    };
    let results: Vec<Storage> = to.iter().map(|&(storage, _)| storage.clone()).collect();
    gpu.record(&plan, &results)?;
    gpu.parts.connection.check()?;
    Ok(true)
}

/// A program with lookups in tables that no window shows computed.
fn whole_tables<'a>(gpu: &Arc<Gpu>, program: &'a Program) -> Result<Cow<'a, Program>> {
    let each = &mut |part, to: &Storage, layout: &Layout| assign(gpu, part, to, layout);
    tables::computed(gpu, program, How { result: &|own| gpu.result(own), each, turns: u32::MAX })
}

/// The same where nothing runs: its kernels are prepared, if they are to be.
fn declared_tables<'a>(gpu: &Arc<Gpu>, program: &'a Program, prepares: bool) -> Result<Cow<'a, Program>> {
    let declared = |own: &Program| Storage::declared(gpu.clone(), own);
    let each = &mut |part, to: &Storage, layout: &Layout| match prepares {
        true => prepare_assign(gpu, part, to, layout),
        false => Ok(()),
    };
    // The second turn begins with what the first gave.
    tables::computed(gpu, program, How { result: &declared, each, turns: 2 })
}

/// Whether the result of a program is computed before any of it is written to a layout.
fn goes_through_a_temporary(gpu: &Gpu, program: &Program, storage: &Storage, layout: &Layout) -> bool {
    // What is written is bound for that alone, so that of a storage that is cut nothing else may be read.
    let elsewhere = |(source, own): (&Storage, &Layout)| source.same(storage) && own != layout;
    let apart = || gpu.cuts().divides(storage, program.dtype) && program.tensors().any(elsewhere);
    program.folds() || program.conflicts(storage, layout) || apart()
}

/// A program that copies the result of another.
fn copy_of(result: Storage, program: &Program) -> Result<Program> {
    let layout = Layout::contiguous(program.result_shape())?;
    Ok(Program::copy(Input::new(program.dtype, Source::Tensor(result), layout)))
}

pub(super) fn assign(gpu: &Arc<Gpu>, program: Program, storage: &Storage, layout: &Layout) -> Result<()> {
    gpu.supports(&program)?;
    if Plan::is_empty(&program.shape) {
        return Ok(());
    }
    let program = match goes_through_a_temporary(gpu, &program, storage, layout) {
        false => program,
        true => copy_of(eval(gpu, &program)?, &program)?,
    };
    let program = whole_tables(gpu, &program)?;
    let is_read = program.tensors().any(|(source, _)| source.same(storage));
    in_steps(gpu, (storage, layout, program.dtype), is_read, |begun| {
        nested(&program, layout, &mut |program, layout| {
            split::each_plan(gpu, program, (storage, layout, false), &mut |plan, to| {
                gpu.record(&plan, std::slice::from_ref(to)).inspect(|()| *begun = true)
            })
        })
    })?;
    gpu.parts.connection.check()
}

/// Does `work`, which writes to elements of a storage in steps and says when the first is recorded. Where a later one
/// fails, elements of before and of now are mixed, and the storage is poisoned. Where all elements are written and none
/// is read, a storage that was poisoned is so no more.
fn in_steps(
    gpu: &Gpu,
    (storage, layout, dtype): (&Storage, &Layout, DType),
    is_read: bool,
    work: impl FnOnce(&mut bool) -> Result<()>,
) -> Result<()> {
    let mut begun = !is_read && gpu.heal(storage, (layout.count() * dtype.size()) as u64)?;
    work(&mut begun).inspect_err(|error| {
        if begun {
            gpu.poison(storage, error);
        }
    })
}

/// The plan that writes a program to a layout, if it is written by one kernel and as it is computed.
pub(super) fn direct(
    gpu: &Gpu,
    program: &Program,
    storage: &Storage,
    layout: &Layout,
) -> Result<Option<Plan>> {
    let is_cut = !gpu.cuts().is_whole(program) || gpu.cuts().divides(storage, program.dtype);
    if !is_found(program, layout) || is_cut || goes_through_a_temporary(gpu, program, storage, layout) {
        return Ok(None);
    }
    Plan::new(program, Destination::Into(storage, layout), gpu.adapter).map(Some)
}

/// Whether one kernel writes to a layout: it finds the index of a small element by its address, which the layout must
/// be nested for.
fn is_found(program: &Program, layout: &Layout) -> bool {
    program.dtype.size() >= 4 || layout.is_nested()
}

/// A layout that no one kernel writes to is written in slices along its shortest axis.
fn nested(
    program: &Program,
    layout: &Layout,
    each: &mut dyn FnMut(&Program, &Layout) -> Result<()>,
) -> Result<()> {
    if is_found(program, layout) {
        return each(program, layout);
    }
    let shape = layout.shape();
    let axis = (0..shape.rank()).filter(|&axis| shape[axis] > 1).min_by_key(|&axis| shape[axis]);
    let Some(axis) = axis else { return Ok(()) };
    (0..shape[axis] as isize).try_for_each(|i| {
        let part = layout.slice(axis as isize, i..i + 1, 1)?;
        nested(&program.slice(axis as isize, i..i + 1)?, &part, each)
    })
}

/// Writes elements to a layout. What lies in one run is written as it is, but for words that it has parts of:
/// those, and elements apart, are written by a kernel.
pub(super) fn write(
    gpu: &Arc<Gpu>,
    storage: &Storage,
    dtype: DType,
    layout: &Layout,
    bytes: &[u8],
) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    in_steps(gpu, (storage, layout, dtype), false, |begun| {
        write_in_steps(gpu, (storage, layout), dtype, bytes, begun)
    })?;
    gpu.parts.connection.check()
}

fn write_in_steps(
    gpu: &Arc<Gpu>,
    (storage, layout): (&Storage, &Layout),
    dtype: DType,
    bytes: &[u8],
    begun: &mut bool,
) -> Result<()> {
    let scattered = |layout: &Layout, bytes: &[u8]| {
        let source = Source::Tensor(gpu.upload(bytes, dtype)?);
        let dense = Layout::contiguous(layout.shape())?;
        assign(gpu, Program::copy(Input::new(dtype, source, dense)), storage, layout)
    };
    if !layout.is_contiguous() || !gpu.allows(storage, wgpu::BufferUsages::COPY_DST)? {
        return scattered(layout, bytes);
    }
    let size = dtype.size();
    let start = layout.offset() * size;
    let align = wgpu::COPY_BUFFER_ALIGNMENT as usize;
    let (first, last) = (start.next_multiple_of(align), (start + bytes.len()) / align * align);
    if first >= last {
        return scattered(layout, bytes);
    }
    gpu.fill(storage, first, &bytes[first - start..last - start], begun)?;
    for ends in [start..first, last..start + bytes.len()].into_iter().filter(|ends| !ends.is_empty()) {
        let layout = Layout::contiguous([ends.len() / size])?.from(ends.start / size);
        scattered(&layout, &bytes[ends.start - start..ends.end - start])?;
    }
    Ok(())
}

/// Calls `each` with the plans of a program until it fails.
pub(super) fn plans(
    gpu: &Arc<Gpu>,
    program: &Program,
    each: &mut dyn FnMut(&Plan) -> Result<()>,
) -> Result<()> {
    gpu.supports(program)?;
    if let Some(places) = program.result_places()? {
        let result = Storage::declared(gpu.clone(), program)?;
        return places.into_iter().try_for_each(|(part, layout)| match part.folds() {
            true => plans(gpu, part, each),
            false => {
                let tables = declared_tables(gpu, part, false)?;
                nested(&tables, &layout, &mut |part, layout| {
                    let plans = split::plans(gpu, part, Some((&result, layout)))?;
                    plans.iter().try_for_each(&mut *each)
                })
            }
        });
    }
    if fold::is_one(program) {
        return parts::plans(gpu, program, each);
    }
    if Plan::is_empty(&program.shape) {
        return Ok(());
    }
    let program = &*declared_tables(gpu, program, false)?;
    split::plans(gpu, program, None)?.iter().try_for_each(each)
}

/// Compiles what a program needs.
pub(super) fn prepare(gpu: &Arc<Gpu>, program: &Program) -> Result<()> {
    if !Plan::is_empty(&program.shape) && program.joining.is_none() {
        declared_tables(gpu, program, true)?;
    }
    plans(gpu, program, &mut |plan| gpu.pipeline(&plan.kernel).map(drop))?;
    gpu.parts.connection.check()
}

/// Compiles what writing a program's result to a layout needs.
pub(super) fn prepare_assign(
    gpu: &Arc<Gpu>,
    program: Program,
    storage: &Storage,
    layout: &Layout,
) -> Result<()> {
    gpu.supports(&program)?;
    if Plan::is_empty(&program.shape) {
        return Ok(());
    }
    let program = match goes_through_a_temporary(gpu, &program, storage, layout) {
        false => program,
        true => {
            prepare(gpu, &program)?;
            copy_of(Storage::declared(gpu.clone(), &program)?, &program)?
        }
    };
    let program = declared_tables(gpu, &program, true)?;
    nested(&program, layout, &mut |program, layout| {
        let plans = split::plans(gpu, program, Some((storage, layout)))?;
        plans.iter().try_for_each(|plan| gpu.pipeline(&plan.kernel).map(drop))
    })?;
    gpu.parts.connection.check()
}

/// Whether all kernels of a program are compiled. Which those of a fold in parts are shows as it runs.
pub(super) fn is_compiled(gpu: &Arc<Gpu>, program: &Program) -> Result<bool> {
    if fold::is_one(program) && !gpu.cuts().is_whole(program) {
        return Ok(false);
    }
    let mut all = true;
    plans(gpu, program, &mut |plan| {
        all &= gpu.parts.pipelines.has(&plan.kernel);
        Ok(())
    })?;
    Ok(all)
}

/// What would run, and the text of the first kernel.
pub(super) fn explain(gpu: &Arc<Gpu>, program: &Program) -> Result<Told> {
    gpu.supports(program)?;
    if Plan::is_empty(&program.shape) {
        return Ok(Told { text: "runs: nothing, the result is empty\n".into(), ..Told::default() });
    }
    if fold::is_one(program) {
        return parts::explain(gpu, program);
    }
    if let Some(places) = program.result_places()? {
        let text = format!("runs: {} parts, each written to its place\n", places.len());
        return Ok(Told { text, ..Told::default() });
    }
    let program = &*declared_tables(gpu, program, false)?;
    let plans = split::plans(gpu, program, None)?;
    let text = plans.first().map(|plan| wgsl::emit_told(&plan.kernel)).transpose()?;
    Ok(plan::tell(&plans, text))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::dtype::{Element, bf16, f16};
    use crate::gpu::adapters::find;
    use crate::gpu::device::Gpu;
    use crate::gpu::open::open;
    use crate::gpu::tests::in_turn;
    use crate::options::Options;
    use crate::plan::{Faults, Target};
    use crate::{Device, Expr, Tensor};

    /// Each adapter as it is opened, as if it were a GPU, and as one that has no instructions of its own for f16.
    fn devices() -> Vec<Device> {
        let mut devices = Vec::new();
        for found in pollster::block_on(find()) {
            let gpu = pollster::block_on(open(found, &Options::default())).unwrap();
            let as_gpu =
                Target { vectors: 1, wide_words: false, wave: 64, tiles: false, narrow: true, ..gpu.adapter };
            let faults = Faults { halves: true, half_rounding: true, ..gpu.adapter.faults };
            for adapter in [gpu.adapter, as_gpu, Target { faults, ..as_gpu }] {
                let own = Gpu::of(gpu.parts.clone(), adapter);
                devices.push(Device::from_backend(Arc::new(own)));
            }
        }
        devices
    }

    /// Sums over layouts that lie in runs of any length, and comparisons and products in place, as bits.
    fn sums<T: Element>(device: &Device, element: impl Fn(usize) -> T) -> Vec<u64> {
        let tensor = |shape: &[usize]| -> Tensor<T> {
            let count = shape.iter().product();
            device.upload(&(0..count).map(&element).collect::<Vec<_>>(), shape).unwrap()
        };
        let max = |a: Expr<T>, b: Expr<T>| Expr::<T>::call("max", &[a, b]);
        let mut all = Vec::new();
        let mut keep = |values: Vec<T>| all.extend(values.iter().map(|value| value.to_bits()));
        for count in [1, 40, 1003, 4096] {
            let (x, y) = (tensor(&[count]), tensor(&[count + 24]));
            let less = Expr::<bool>::call("lt", &[x.expr(), y.slice(0, ..count)]);
            all_bools(&mut keep, less.to_vec().unwrap(), &element);
            for first in [0, 4, 8, 3] {
                keep(max(x.expr(), y.slice(0, first..first + count)).to_vec().unwrap());
            }
            keep(max(x.expr(), tensor(&[1]).expr()).to_vec().unwrap());
            let whole = tensor(&[count]);
            whole.assign(max(whole.expr(), x.flip(0))).unwrap();
            keep(whole.to_vec().unwrap());
        }
        for [n, h, w] in [[3, 5, 64], [2, 3, 40], [2, 7, 36], [2, 2, 4096]] {
            let x = tensor(&[n, h, w]);
            for other in [vec![w], vec![h, 1], vec![n, 1, w], vec![n, 1, 1]] {
                keep(max(x.expr(), tensor(&other).expr()).to_vec().unwrap());
            }
            let into = tensor(&[n, h, 2 * w]);
            into.slice(2, w..).assign(max(into.slice(2, w..), x.expr())).unwrap();
            into.slice(2, 4..w).assign(x.slice(2, ..w - 4)).unwrap();
            keep(into.to_vec().unwrap());
        }
        all
    }

    fn all_bools<T: Element>(
        keep: &mut impl FnMut(Vec<T>),
        values: Vec<bool>,
        element: &impl Fn(usize) -> T,
    ) {
        keep(values.into_iter().map(|value| element(usize::from(value))).collect());
    }

    #[test]
    fn joined_vectors_are_those_apart() {
        for (k, device) in devices().into_iter().enumerate() {
            let mut case = 0;
            macro_rules! on {
                ($($element:expr,)*) => {$(
                    case += 1;
                    if in_turn(case, k, 3) {
                        let expected = sums(&Device::cpu(), $element);
                        assert!(expected == sums(&device, $element), "{} {}", stringify!($element), device.name());
                    }
                )*};
            }
            on!(
                |i| (i * 37 % 251) as u8,
                |i| (i * 37 % 251) as u8 as i8,
                |i| (i * 7919 % 65521) as u16,
                |i| f16::from_f32((i * 37 % 251) as f32 / 16.0 - 5.0),
                |i| bf16::from_f32((i * 37 % 251) as f32 / 16.0 - 5.0),
                |i| i as f32 * 0.5,
            );
        }
    }

    /// All numbers of f16, and for each two neighbours what lies halfway and on either side of that.
    #[test]
    fn f16_is_converted_and_rounded_as_ieee_says() {
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        let mut singles = vec![f32::INFINITY, f32::NAN, 1e30, f32::MAX, f32::MIN_POSITIVE, 0.0];
        singles.extend((0..128).map(|k| 1.7 * 2_f32.powi(k)));
        for bits in 0..0x7c00 {
            let (low, high) = (f16::from_bits(bits).to_f32(), f16::from_bits(bits + 1).to_f32());
            let middle = if high.is_finite() { (low + high) / 2.0 } else { 65520.0 };
            singles.extend([
                middle,
                f32::from_bits(middle.to_bits() - 1),
                f32::from_bits(middle.to_bits() + 1),
            ]);
        }
        let negative: Vec<f32> = singles.iter().map(|x| -x).collect();
        singles.extend(negative);
        let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        for device in devices() {
            let x = device.upload(&halves, [halves.len()]).unwrap();
            let (there, back) = (x.cast::<f32>(), (&x * f16::ONE).to_vec().unwrap());
            for ((x, there), back) in halves.iter().zip(there.to_vec().unwrap()).zip(back) {
                assert!(same(x.to_f32(), there), "{x:?} as {there:?} on {}", device.name());
                assert!(same(x.to_f32(), back.to_f32()), "{x:?} to {back:?} on {}", device.name());
            }
            let x = device.upload(&singles, [singles.len()]).unwrap();
            let (kept, read) = (x.cast::<f16>().to_vec().unwrap(), x.cast::<f16>().cast::<f32>());
            for ((x, kept), read) in singles.iter().zip(kept).zip(read.to_vec().unwrap()) {
                let right = f16::from_f32(*x).to_f32();
                assert!(same(right, kept.to_f32()), "{x:e} to {kept:?} on {}", device.name());
                assert!(same(right, read), "{x:e} to {read:?} in a kernel on {}", device.name());
            }
        }
    }
}
