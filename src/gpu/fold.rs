//! How folds are run: pass after pass, each a kernel over what the one before stored.

use std::borrow::Cow;
use std::sync::{Arc, Weak};

use smallvec::{SmallVec, smallvec};

use super::device::Gpu;
use super::pipelines::Compiled;
use super::runner::Runner;
use super::scan::{self, Run};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{Input, Op, Program, Source, Step, Storage, Value};
use crate::layout::Layout;
use crate::plan::{Destination, Pass, Plan, Work};
use crate::schedule::Results;

/// Runs a program that folds: a storage for each result.
pub(super) fn eval(gpu: &Arc<Gpu>, program: &Program) -> Result<Results> {
    run(gpu, &kernels(gpu, program)?)
}

/// A kernel of several, of which later ones read what earlier ones stored.
#[derive(Debug)]
pub(super) struct Planned {
    pub plan: Plan,
    /// The pipeline, while it is kept.
    compiled: Weak<Compiled>,
    /// The type of each result, and how many elements it has.
    stored: SmallVec<[DType; 1]>,
    count: usize,
    /// What stands for the results in the plans of later kernels, where there are such.
    declared: Vec<Storage>,
    /// Whether these are results of the program.
    is_last: bool,
}

impl Planned {
    /// A kernel with the storages that stand for its results.
    fn new(gpu: &Arc<Gpu>, pass: &Pass) -> Result<Planned> {
        let compiled = Arc::downgrade(&gpu.pipeline(&pass.plan.kernel)?);
        let (plan, stored) = (pass.plan.clone(), pass.stored.iter().copied().collect());
        Ok(Planned {
            plan,
            compiled,
            stored,
            count: pass.count,
            declared: nowhere(gpu, pass),
            is_last: false,
        })
    }

    /// The last kernel of a program, which has one result.
    pub(super) fn last(gpu: &Arc<Gpu>, program: &Program, plan: Plan) -> Result<Planned> {
        let count = program.byte_size()? / program.dtype.size();
        let (compiled, stored) = (Arc::downgrade(&gpu.pipeline(&plan.kernel)?), smallvec![program.dtype]);
        Ok(Planned { plan, compiled, stored, count, declared: Vec::new(), is_last: true })
    }
}

/// All kernels of a program that folds, compiled.
pub(super) fn kernels(gpu: &Arc<Gpu>, program: &Program) -> Result<SmallVec<[Planned; 1]>> {
    let mut planned: SmallVec<[Planned; 1]> = SmallVec::new();
    let results = all(gpu, program, &mut |pass| {
        if !is_stored(gpu, pass) {
            bail!(Limit, "{}, of which a kernel does not bind {} results", pass.form, pass.count);
        }
        let kernel = Planned::new(gpu, pass)?;
        let declared = kernel.declared.clone();
        planned.push(kernel);
        Ok(declared)
    })?;
    for (_, cast) in &results {
        match cast {
            Some(cast) => {
                let plan = Plan::new(cast, Destination::Fresh, gpu.adapter)?;
                planned.push(Planned::last(gpu, cast, plan)?);
            }
            None => planned.last_mut().into_iter().for_each(|last| last.is_last = true),
        }
    }
    Ok(planned)
}

/// Runs kernels one after the other: what the last ones store.
pub(super) fn run(gpu: &Arc<Gpu>, planned: &[Planned]) -> Result<Results> {
    let mut made: Vec<(usize, Storage)> = Vec::new();
    let mut results = Results::new();
    for kernel in planned {
        let mut own = Results::new();
        for dtype in &kernel.stored {
            own.push(gpu.storage(kernel.count * dtype.size(), *dtype)?);
        }
        let read = |storage| {
            let known = made.iter().find(|(declared, _)| *declared == Storage::address(storage));
            known.map_or(storage, |(_, storage)| storage)
        };
        let compiled = match kernel.compiled.upgrade() {
            Some(compiled) => compiled,
            None => gpu.pipeline(&kernel.plan.kernel)?,
        };
        gpu.record_bound(&kernel.plan, &compiled, own.iter().chain(kernel.plan.storages.iter().map(read)))?;
        made.extend(kernel.declared.iter().map(Storage::address).zip(own.iter().cloned()));
        if kernel.is_last {
            results.append(&mut own);
        }
    }
    Ok(results)
}

/// Goes through the kernels of a program: a storage for each result.
pub(super) fn go(runner: &mut Runner<'_>, program: &Program) -> Result<Results> {
    let stored = all(runner.gpu, program, &mut |pass| runner.pass(pass))?;
    let given = |(storage, cast): (Storage, Option<Program>)| {
        let Some(cast) = cast else { return Ok(storage) };
        let (result, layout) = (runner.result(&cast)?, Layout::contiguous(&cast.shape)?);
        runner.write(&cast, &result, &layout, true)?;
        Ok(result)
    };
    stored.into_iter().map(given).collect()
}

/// Whether a kernel binds all that the passes of a program store. Where they cannot be planned, running them
/// says why.
pub(super) fn has_room(gpu: &Arc<Gpu>, program: &Program) -> bool {
    let mut has_room = true;
    let planned = all(gpu, program, &mut |pass| {
        has_room &= is_stored(gpu, pass);
        Ok(nowhere(gpu, pass))
    });
    has_room || planned.is_err()
}

/// Whether a kernel binds what a pass stores.
fn is_stored(gpu: &Gpu, pass: &Pass) -> bool {
    pass.stored.iter().all(|&dtype| gpu.cuts().shows(pass.count, dtype))
}

/// Storages of which only the sizes are known, in place of those of a pass.
fn nowhere(gpu: &Arc<Gpu>, pass: &Pass) -> Vec<Storage> {
    pass.stored.iter().map(|_| Storage::without_memory(gpu.clone(), pass.count)).collect()
}

/// Goes through the passes of a program: what the last one stores, and a program that casts it where its
/// type is not the result's.
fn all(gpu: &Arc<Gpu>, program: &Program, run: &mut Run<'_>) -> Result<Vec<(Storage, Option<Program>)>> {
    let (storages, dtype) = match program.is_scan() {
        true => {
            let (storage, dtype) = scan::all(gpu, program, run)?;
            (vec![storage], dtype)
        }
        false if program.rows.is_some() => rows(gpu, program, run)?,
        false => halves(gpu, Work::new(program)?, run)?,
    };
    let cast = |storage: &Storage| -> Result<Option<Program>> {
        if dtype == program.dtype {
            return Ok(None);
        }
        let layout = Layout::contiguous(program.result_shape())?;
        let args = smallvec![Value::Input(0)];
        let inputs = vec![Input::new(dtype, Source::Tensor(storage.clone()), layout)];
        let steps = vec![Step::new(Op::Cast, dtype, program.dtype, args)];
        let (shape, results) = (program.result_shape(), smallvec![Value::Step(0)]);
        Ok(Some(Program::of_steps(shape, program.dtype, inputs, steps, results)))
    };
    storages.into_iter().map(|storage| Ok((storage.clone(), cast(&storage)?))).collect()
}

/// Storages, and the type of their elements.
type Typed = (Vec<Storage>, DType);

fn halves(gpu: &Gpu, mut work: Work, run: &mut Run<'_>) -> Result<Typed> {
    loop {
        let pass = Pass::new(&work, gpu.adapter)?;
        let storages = run(&pass)?;
        if pass.is_last() {
            return Ok((storages, pass.stored[0]));
        }
        work = work.after(&pass, &storages)?;
    }
}

/// Rows, in one kernel: of what passes leave of them where they are long, which is where nothing but what
/// follows a fold is made of them.
fn rows(gpu: &Gpu, program: &Program, run: &mut Run<'_>) -> Result<Typed> {
    let mut work = program.plain_fold().map(|plain| Work::new(&plain)).transpose()?;
    let mut left = Cow::Borrowed(program);
    while let Some(known) = &work {
        let pass = Pass::new(known, gpu.adapter)?;
        if pass.is_last() {
            break;
        }
        let storages = run(&pass)?;
        let after = known.after(&pass, &storages)?;
        left = Cow::Owned(program.left_of_folds(&after.program)?);
        work = Some(after);
    }
    let pass = Pass::of_rows(&left, gpu.adapter)?;
    Ok((run(&pass)?, pass.stored[0]))
}

/// Whether a program is run here.
pub(super) fn is_one(program: &Program) -> bool {
    program.folds() && !Plan::is_empty(&program.shape)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};

    use super::super::device::Gpu;
    use super::super::{adapters, open};
    use crate::dtype::{DType, Element};
    use crate::gpu::tests::Random;
    use crate::gpu::tests::{depth, in_turn};
    use crate::ir::{Backend, Fold, Folding, Program, Scan, Source};
    use crate::options::Options;
    use crate::plan::Target;
    use crate::{Device, Expr, Tensor};

    /// What a program gives, as bytes.
    fn given(backend: Arc<dyn Backend>, program: &Program) -> Vec<u8> {
        let storage = backend.clone().eval(program).unwrap();
        let count = program.result_shape().count().unwrap();
        backend.read_now(&storage, program.dtype, 0, count).unwrap().to_vec()
    }

    /// A program that reads the same tensors on another device.
    fn moved(program: &Program, gpu: &Arc<Gpu>) -> Program {
        let mut program = program.clone();
        for input in &mut program.inputs {
            if let Source::Tensor(storage) = &mut input.source {
                let own = storage.backend.clone();
                let bytes = own.read_now(storage, input.dtype, 0, storage.elements).unwrap();
                *storage = gpu.upload(&bytes, input.dtype).unwrap();
            }
        }
        program
    }

    /// Every adapter, as it is; as if it were a GPU: invocations share blocks and meet in workgroup memory; the same with little
    /// of that; and where neighbours share blocks of whatever size without meeting.
    fn gpus() -> &'static [(String, Arc<Gpu>)] {
        static GPUS: OnceLock<Vec<(String, Arc<Gpu>)>> = OnceLock::new();
        GPUS.get_or_init(|| {
            let found = pollster::block_on(adapters::find());
            let own = found.iter().map(|found| pollster::block_on(open(found, &Options::default())).unwrap());
            let own: Vec<Arc<Gpu>> = own.collect();
            let expected = std::env::var("ZEROSTRIDE_EXPECT").unwrap_or_default();
            assert!(own.len() >= expected.split(',').filter(|name| !name.is_empty()).count(), "{own:?}");
            let each = own.into_iter().flat_map(|gpu| {
                let adapter = Target { team: 64, places: 2, vectors: 1, wide_words: false, ..gpu.adapter };
                let other = Arc::new(Gpu::of(gpu.parts.clone(), adapter));
                let name = gpu.parts.connection.name().to_string();
                let less = Target { shared: 2048, ..other.adapter };
                let less = Arc::new(Gpu::of(gpu.parts.clone(), less));
                let by_eight = Target { neighbours: 8, cached: 0, ..gpu.adapter };
                let by_eight = Arc::new(Gpu::of(gpu.parts.clone(), by_eight));
                let forms = [" with little memory", " in teams", " by neighbours", ""];
                let names = forms.map(|form| name.clone() + form);
                names.into_iter().zip([less, other, by_eight, gpu]).collect::<Vec<_>>()
            });
            each.collect()
        })
    }

    /// Bits, of which those of a NaN are one.
    fn canonical(bytes: &[u8], dtype: DType) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        match dtype {
            DType::F32 => bytes.chunks_exact_mut(4).for_each(|chunk| {
                if f32::from_le_bytes(chunk.try_into().unwrap()).is_nan() {
                    chunk.copy_from_slice(&f32::NAN.to_le_bytes());
                }
            }),
            DType::F64 => bytes.chunks_exact_mut(8).for_each(|chunk| {
                if f64::from_le_bytes(chunk.try_into().unwrap()).is_nan() {
                    chunk.copy_from_slice(&f64::NAN.to_le_bytes());
                }
            }),
            _ => {}
        }
        bytes
    }

    /// A view of a tensor, the same on every device.
    fn view<T: Element>(tensor: &Tensor<T>, kind: usize) -> Tensor<T> {
        let rank = tensor.shape().rank() as isize;
        let view = match kind {
            1 if rank > 1 => tensor.transpose(0, -1),
            2 if rank > 1 => tensor.transpose(-1, -2),
            3 if tensor.shape()[rank as usize - 1] > 1 => tensor.slice(rank - 1, 1..),
            4 => tensor.flip(-1),
            5 => tensor.slice_step(0, .., 2),
            6 => tensor.slice_step(rank - 1, .., 2),
            7 => tensor.slice(0, ..1).broadcast_to(tensor.shape().clone()),
            _ => tensor.expr(),
        };
        view.tensor().unwrap()
    }

    fn values<T: Element>(random: &mut Random, count: usize, make: &impl Fn(&mut Random) -> T) -> Vec<T> {
        (0..count).map(|_| make(random)).collect()
    }

    /// Holds that all devices give what the CPU path gives.
    fn check<T: Element>(
        random: &mut Random,
        shape: &[usize],
        kind: usize,
        fold: Fold,
        scan: bool,
        make: &impl Fn(&mut Random) -> T,
        case: usize,
    ) {
        let host = values(random, shape.iter().product(), make);
        let more = values(random, *shape.last().unwrap_or(&1), make);
        let rank = shape.len();
        let from = random.below(rank);
        let to = if scan { from + 1 } else { from + 1 + random.below(rank - from) };
        let scan = scan.then(|| Scan { exclusive: random.below(2) == 0 });
        // Products of products leave the range.
        let with = if fold == Fold::Prod { 0 } else { random.below(3) };
        let device = Device::cpu();
        let tensor = view(&device.upload(&host, shape.to_vec()).unwrap(), kind);
        let row = device.upload(&more, [more.len()]).unwrap();
        let mut expr = tensor.expr();
        if with == 1 && tensor.shape().last() == Some(&more.len()) && T::DTYPE != DType::Bool {
            expr = Expr::<T>::call("mul", &[expr, row.expr()]);
        }
        if with == 2 && T::DTYPE != DType::Bool {
            expr = Expr::<T>::call("square", &[expr]);
        }
        let node = expr.untyped().node().unwrap();
        let program = Program::new(node, &node.shape).unwrap();
        let program = program.folded(Some(Folding { fold, axes: from..to, scan }));
        let dtype = fold.result(T::DTYPE).unwrap();
        let right = canonical(&given(device.backend(), &program), dtype);
        for (k, (name, gpu)) in gpus().iter().enumerate() {
            if !in_turn(case, k, 3) || gpu.supports(&program).is_err() {
                continue;
            }
            let got = canonical(&given(gpu.clone(), &moved(&program, gpu)), dtype);
            let wrong = got.iter().zip(&right).position(|(a, b)| a != b);
            assert!(
                got == right,
                "{fold:?} {scan:?} of {} {} over {from}..{to}, view {kind}, {with}, on {name}: byte {wrong:?} of {} (have {})",
                T::DTYPE,
                node.shape,
                right.len(),
                got.len(),
            );
        }
    }

    /// Lengths that are interesting, at most `most`.
    fn length(random: &mut Random, most: usize) -> usize {
        let around = [
            2, 3, 4, 7, 8, 15, 16, 17, 64, 65, 100, 255, 256, 257, 260, 1000, 4095, 4096, 4097, 5000, 8192,
            70000,
        ];
        loop {
            let n = around[random.below(around.len())];
            if n <= most {
                return n;
            }
        }
    }

    fn sweep<T: Element>(seed: u64, cases: usize, folds: &[Fold], make: impl Fn(&mut Random) -> T) {
        let mut random = Random(seed);
        for case in 0..depth(cases.div_ceil(2), cases) {
            let rank = 1 + random.below(4);
            let mut room = 100_000;
            let mut shape = vec![0; rank];
            let mut order: Vec<usize> = (0..rank).collect();
            order.rotate_left(random.below(rank));
            for k in order {
                shape[k] = if room < 2 { 1 } else { length(&mut random, room) };
                room /= shape[k];
            }
            let kind = random.below(9);
            let fold = folds[random.below(folds.len())];
            let scan = matches!(fold, Fold::Sum | Fold::Prod) && random.below(3) == 0;
            check(&mut random, &shape, kind, fold, scan, &make, case);
        }
    }

    const NUMBERS: [Fold; 6] = [Fold::Sum, Fold::Prod, Fold::Min, Fold::Max, Fold::ArgMin, Fold::ArgMax];

    #[test]
    fn folds_of_f32() {
        let near = |random: &mut Random| (random.below(1 << 24) as f32 - 8e6) / 7e6;
        sweep::<f32>(1, 50, &[Fold::Sum], near);
        // Whose products stay clear of what adapters flush.
        let by_one = |random: &mut Random| {
            let factor = 1.0 + random.below(1000) as f32 / 1e6;
            if random.below(2) == 0 { factor } else { -1.0 / factor }
        };
        sweep::<f32>(12, 20, &[Fold::Prod], by_one);
        let special = |random: &mut Random| match random.below(40) {
            0 => f32::INFINITY,
            1 => f32::NEG_INFINITY,
            2..=5 => 0.0,
            6..=9 => -0.0,
            11 if random.below(50) == 0 => f32::NAN,
            n => n as f32 - 25.0,
        };
        sweep::<f32>(2, 50, &NUMBERS, special);
    }

    #[test]
    fn folds_of_other_types() {
        sweep::<i32>(3, 10, &NUMBERS, |random| random.below(1 << 30) as i32 - (1 << 29));
        sweep::<u8>(4, 10, &NUMBERS, |random| random.below(256) as u8);
        sweep::<i16>(5, 10, &NUMBERS, |random| random.below(1 << 16) as u16 as i16);
        sweep::<i8>(6, 10, &NUMBERS, |random| random.below(256) as u8 as i8);
        sweep::<u32>(7, 10, &NUMBERS, |random| random.below(1 << 31) as u32 * 2 + 1);
        sweep::<f64>(8, 10, &[Fold::Sum, Fold::Min, Fold::ArgMax], |random| {
            (random.below(1 << 30) as f64 - 5e8) / 3e8
        });
        sweep::<i64>(9, 10, &NUMBERS, |random| (random.below(1 << 30) as i64 - (1 << 29)) << 20);
        sweep::<u64>(10, 10, &NUMBERS, |random| (random.below(1 << 31) as u64) << 33);
        sweep::<bool>(11, 10, &[Fold::Any, Fold::All], |random| random.below(1000) < 999);
    }
}
