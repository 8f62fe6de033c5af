//! How folds are run: pass after pass, each a kernel over what the one before stored.

use std::borrow::Cow;
use std::sync::Arc;

use super::device::Gpu;
use crate::error::Result;
use crate::expr::{Input, Kept, Op, Program, Source, Step, Storage};
use crate::layout::Layout;
use crate::plan::{Destination, Pass, Plan, Work};
use crate::wgsl;

/// What becomes of a pass: the storages of what it stores.
type Run<'a> = dyn FnMut(&Pass) -> Result<Vec<Storage>> + 'a;

/// Runs a program that folds: a storage for each result.
pub(super) fn eval(gpu: &Arc<Gpu>, program: &Program) -> Result<Vec<Storage>> {
    let stored = all(gpu, program, &mut |pass| {
        let storages = pass.stored.iter().map(|&dtype| gpu.storage(pass.count * dtype.size(), dtype));
        let storages = storages.collect::<Result<Vec<_>>>()?;
        gpu.record(&pass.plan, &storages)?;
        Ok(storages)
    })?;
    let results = stored.iter().map(|(storage, cast)| match cast {
        Some(cast) => {
            let result = gpu.result(cast)?;
            gpu.record(&Plan::new(cast, Destination::Fresh, gpu.adapter)?, std::slice::from_ref(&result))?;
            Ok(result)
        }
        None => Ok(storage.clone()),
    });
    results.collect()
}

/// Compiles what it needs.
pub(super) fn prepare(gpu: &Arc<Gpu>, program: &Program) -> Result<()> {
    let stored = all(gpu, program, &mut |pass| {
        gpu.pipeline(&pass.plan.kernel)?;
        Ok(nowhere(gpu, pass))
    })?;
    stored.iter().filter_map(|(_, cast)| cast.as_ref()).try_for_each(|cast| {
        gpu.pipeline(&Plan::new(cast, Destination::Fresh, gpu.adapter)?.kernel).map(drop)
    })
}

/// What would run, and the text of the first kernel.
pub(super) fn explain(gpu: &Arc<Gpu>, program: &Program) -> Result<(String, Option<String>)> {
    let mut text = String::new();
    let mut kernel = None;
    let mut passes = 0;
    let stored = all(gpu, program, &mut |pass| {
        passes += 1;
        if kernel.is_none() {
            text = pass.plan.to_string();
            kernel = Some(wgsl::emit(&pass.plan.kernel)?);
        }
        let [x, y, z] = pass.plan.launch.groups;
        text.push_str(&format!("pass {passes}: {}; workgroups {x} x {y} x {z}\n", pass.form));
        Ok(nowhere(gpu, pass))
    })?;
    let casts = stored.iter().filter(|(_, cast)| cast.is_some()).count();
    if casts > 0 {
        text.push_str(&format!("then: a cast to {}\n", program.dtype));
    }
    text.push_str(&format!("runs: {} kernels, the first as above\n", passes + casts));
    Ok((text, kernel))
}

/// Storages of which only the sizes are known, in place of those of a pass.
fn nowhere(gpu: &Arc<Gpu>, pass: &Pass) -> Vec<Storage> {
    pass.stored.iter().map(|_| Storage::without_memory(gpu.clone(), pass.count)).collect()
}

/// Goes through the passes of a program: what the last one stores, and a program that casts it where its
/// type is not the result's.
fn all(gpu: &Arc<Gpu>, program: &Program, run: &mut Run<'_>) -> Result<Vec<(Storage, Option<Program>)>> {
    let work = if program.rows.is_some() { None } else { Some(Work::new(program)?) };
    let (storages, dtype) = match work {
        None => rows(gpu, program, run)?,
        Some(work) if work.scan().is_some() => scan(gpu, &work, run)?,
        Some(work) => halves(gpu, work, run)?,
    };
    let cast = |storage: &Storage| -> Result<Option<Program>> {
        if dtype == program.dtype {
            return Ok(None);
        }
        let layout = Layout::contiguous(program.result_shape())?;
        let args = smallvec::smallvec![0];
        Ok(Some(Program {
            shape: program.result_shape(),
            dtype: program.dtype,
            inputs: vec![Input { dtype, source: Source::Tensor(storage.clone()), layout }],
            steps: vec![Step { op: Op::Cast, dtype, result: program.dtype, args }],
            results: smallvec::smallvec![1],
            fold: None,
            rows: None,
            ready: Kept::default(),
        }))
    };
    storages.into_iter().map(|storage| Ok((storage.clone(), cast(&storage)?))).collect()
}

/// Storages, and the type of their elements.
type Typed = (Vec<Storage>, crate::dtype::DType);

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

/// A scan: of the last values of its groups, which there are a sixteenth of, and then of the groups.
fn scan(gpu: &Gpu, work: &Work, run: &mut Run<'_>) -> Result<Typed> {
    let mut carried = Vec::new();
    if work.groups() > 1 {
        let totals = work.totals();
        let pass = Pass::new(&totals, gpu.adapter)?;
        let storages = run(&pass)?;
        carried = scan(gpu, &totals.scan_of(&pass, &storages)?, run)?.0;
    }
    let pass = Pass::new(&work.each(&carried)?, gpu.adapter)?;
    Ok((run(&pass)?, pass.stored[0]))
}

/// Whether a program is run here.
pub(super) fn is_one(program: &Program) -> bool {
    (program.fold.is_some() || program.rows.is_some()) && !Plan::is_empty(&program.shape)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use crate::dtype::{DType, Element};
    use crate::expr::{Fold, Folding, Program, Scan};
    use crate::{Device, Expr, Tensor};

    /// Random numbers, by xorshift.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 33) as usize % n
        }
    }

    /// What a fold of an expression gives on its device, as bytes.
    fn folded<T: Element>(
        device: &Device,
        expr: &Expr<T>,
        fold: Fold,
        axes: Range<usize>,
        scan: Option<Scan>,
    ) -> Vec<u8> {
        let node = expr.untyped().node().unwrap();
        let program = Program::new(node, &node.shape).unwrap();
        let program = program.folded(Some(Folding { fold, axes, scan }));
        let storage = device.backend().eval(&program).unwrap();
        let count = program.result_shape().count().unwrap();
        device.backend().read_now(&storage, program.dtype, 0, count).unwrap().to_vec()
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
        match kind {
            1 if rank > 1 => tensor.transpose(0, -1).unwrap(),
            2 if rank > 1 => tensor.transpose(-1, -2).unwrap(),
            3 if tensor.shape()[rank as usize - 1] > 1 => tensor.slice(rank - 1, 1..).unwrap(),
            4 => tensor.flip(-1).unwrap(),
            5 => tensor.slice_step(0, .., 2).unwrap(),
            6 => tensor.slice_step(rank - 1, .., 2).unwrap(),
            7 => tensor.slice(0, ..1).unwrap().broadcast_to(tensor.shape().clone()).unwrap(),
            _ => tensor.clone(),
        }
    }

    fn devices() -> Vec<Device> {
        let names = ["vulkan:llvmpipe", "vulkan:swiftshader", "gl:llvmpipe"];
        names.iter().filter_map(|name| Device::named(name).ok()).collect()
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
    ) {
        let host = values(random, shape.iter().product(), make);
        let more = values(random, *shape.last().unwrap_or(&1), make);
        let rank = shape.len();
        let from = random.below(rank);
        let to = if scan { from + 1 } else { from + 1 + random.below(rank - from) };
        let scan = scan.then(|| Scan { exclusive: random.below(2) == 0 });
        // Products of products leave the range.
        let with = if fold == Fold::Prod { 0 } else { random.below(3) };
        let run = |device: &Device| {
            let tensor = view(&device.upload(&host, shape.to_vec()).unwrap(), kind);
            let row = device.upload(&more, [more.len()]).unwrap();
            let mut expr = tensor.expr();
            if with == 1 && tensor.shape().last() == Some(&more.len()) && T::DTYPE != DType::Bool {
                expr = Expr::<T>::call("mul", &[expr, row.expr()]);
            }
            if with == 2 && T::DTYPE != DType::Bool {
                expr = Expr::<T>::call("square", &[expr]);
            }
            (expr.shape().unwrap().clone(), folded(device, &expr, fold, from..to, scan))
        };
        let (_, right) = run(&Device::cpu());
        let dtype = fold.result(T::DTYPE).unwrap();
        let right = canonical(&right, dtype);
        for device in devices() {
            if T::DTYPE.size() == 8 && device.upload(&host[..1], [1]).is_err() {
                continue;
            }
            let (shape, got) = run(&device);
            let got = canonical(&got, dtype);
            let wrong = got.iter().zip(&right).position(|(a, b)| a != b);
            assert!(
                got == right,
                "{fold:?} {scan:?} of {} {shape} over {from}..{to}, view {kind}, {with}, on {}: byte {wrong:?} of {} (have {})",
                T::DTYPE,
                device.name(),
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
        for _ in 0..cases {
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
            check(&mut random, &shape, kind, fold, scan, &make);
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
