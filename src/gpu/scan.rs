//! How scans are run: as one pass, or as the last values of groups, a scan of these, and all values.

use super::device::Gpu;
use super::runner::Runner;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{Program, Storage};
use crate::plan::{Pass, ScanWork};

/// What becomes of a pass: the storages of what it stores.
pub(super) type Run<'a> = dyn FnMut(&Pass) -> Result<Vec<Storage>> + 'a;

/// Goes through the passes of a scan: what the last one stores, and the type of its elements.
pub(super) fn all(gpu: &Gpu, program: &Program, run: &mut Run<'_>) -> Result<(Storage, DType)> {
    let work = ScanWork::new(program)?;
    let mut done = |work: &ScanWork| -> Result<(Storage, DType)> {
        let pass = Pass::scan(work, gpu.adapter)?;
        one(run(&pass)?).map(|storage| (storage, pass.stored[0]))
    };
    if work.is_one(gpu.adapter) {
        return done(&work);
    }
    let (lasts, _) = done(&work.lasts())?;
    let (carried, _) = all(gpu, &work.scan_of_lasts(&lasts)?, run)?;
    let pass = Pass::scan(&work.each(Some(&carried), false)?, gpu.adapter)?;
    one(run(&pass)?).map(|storage| (storage, pass.stored[0]))
}

fn one(mut storages: Vec<Storage>) -> Result<Storage> {
    match storages.pop() {
        Some(storage) => Ok(storage),
        None => bail!(Kernel, "a scan without a result"),
    }
}

/// Runs the pass that finds the last values of the groups of a program.
pub(super) fn lasts(runner: &mut Runner<'_>, program: &Program) -> Result<Storage> {
    let pass = Pass::scan(&ScanWork::new(program)?.lasts(), runner.gpu.adapter)?;
    one(runner.pass(&pass)?)
}

/// Runs the pass that computes all values, after what is carried: before each group, or before each but the first
/// where the run begins with it.
pub(super) fn each(
    runner: &mut Runner<'_>,
    program: &Program,
    carried: &Storage,
    is_continued: bool,
) -> Result<Storage> {
    let work = ScanWork::new(program)?.each(Some(carried), is_continued)?;
    one(runner.pass(&Pass::scan(&work, runner.gpu.adapter)?)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::gpu::adapters::find;
    use crate::gpu::device::Gpu;
    use crate::gpu::open::open;
    use crate::options::Options;
    use crate::plan::Target;
    use crate::{Device, ReduceOptions, Result, Tensor};

    /// Cumulative sums of every form, as bits.
    fn sums(x: &Tensor<f32>) -> Result<Vec<Vec<u32>>> {
        let exclusive = || ReduceOptions::default().exclusive();
        let mut all = Vec::new();
        for axis in 0..x.shape().rank() as isize {
            all.push(x.cumsum(axis));
            all.push(x.cumsum_with(axis, exclusive()));
            all.push(x.cumsum_with(axis, exclusive().reverse()));
            all.push((x * 0.5 - 0.25).cumsum(axis));
        }
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect();
        all.iter().map(|sum| sum.to_vec().map(bits)).collect()
    }

    /// A run by an invocation and a group by an invocation, whatever the driver's row says: of a single group, of
    /// as many as each level has and one more.
    #[test]
    fn both_forms_give_the_same_bits() {
        let numbers: Vec<f32> =
            (0..70_001_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 7e6 - 1.0).collect();
        let shapes: [&[usize]; 8] =
            [&[70_001], &[65_536], &[4_100], &[3, 260], &[260, 6], &[17, 35], &[2, 300, 5], &[16, 16]];
        for found in pollster::block_on(find()) {
            let gpu = pollster::block_on(open(found, &Options::default())).unwrap();
            for shape in shapes {
                let count = shape.iter().product();
                let expected = sums(&Device::cpu().upload(&numbers[..count], shape).unwrap()).unwrap();
                for runs in [1, u32::MAX] {
                    let own = Gpu::of(gpu.parts.clone(), Target { runs, ..gpu.adapter });
                    let device = Device::from_backend(Arc::new(own));
                    let got = sums(&device.upload(&numbers[..count], shape).unwrap()).unwrap();
                    let wrong = (0..got.len()).find(|&k| got[k] != expected[k]);
                    assert_eq!(wrong, None, "{shape:?}, {runs} runs, {}", device.name());
                }
            }
        }
    }
}
