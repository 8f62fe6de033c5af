//! Reductions whose passes store more than a kernel binds, of random shapes and operands. Adapters are opened with such
//! low limits that small ones do.

use crate::gpu::tests::Random;
use crate::gpu::tests::depth;
use crate::gpu::{adapters, open};
use crate::limits::Limits;
use crate::options::Options;
use crate::{AnyExpr, DType, Device, Expr, ReduceOptions, Result, f16, reductions};

/// Lengths around those of vectors, groups and blocks.
const LENGTHS: [usize; 18] = [1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 64, 65, 100, 129, 300, 1024, 4097, 9000];

/// Reductions with exponentials have bounds, and no fixed bits.
const BOUNDED: [&str; 3] = ["softmax", "log_softmax", "logsumexp"];

/// A tensor of random numbers that broadcasts to a shape, under a view of some kind.
fn operand(device: &Device, random: &mut Random, of: DType, shape: &[usize]) -> Result<AnyExpr> {
    let mut own: Vec<usize> = shape.iter().map(|&n| if random.chance(30) { 1 } else { n }).collect();
    while own.iter().product::<usize>() > 40_000 {
        let axis = random.below(own.len());
        own[axis] = 1;
    }
    let (axis, kind) = (random.below(own.len()), random.below(8));
    let mut stored = own.clone();
    match kind {
        0 => stored.reverse(),
        1 => stored[axis] *= 2,
        _ => {}
    }
    let mut bytes = Vec::new();
    for _ in 0..stored.iter().product() {
        let number = random.below(2001) as i32 - 1000;
        match of {
            DType::F32 => bytes.extend((number as f32 / 250.0).to_le_bytes()),
            DType::F16 => bytes.extend(f16::from_f32(number as f32 / 250.0).to_le_bytes()),
            DType::I32 => bytes.extend((number << 16 | 7).to_le_bytes()),
            _ => bytes.push(number as u8),
        }
    }
    let x = device.upload_bytes(&bytes, of, stored)?;
    let axis = axis as isize;
    Ok(match kind {
        0 => x.permute((0..own.len() as isize).rev().collect::<Vec<_>>()),
        1 => x.slice_step(axis, .., 2),
        2 => x.flip(axis),
        _ => x.expr(),
    })
}

/// A reduction called `name`, or two along the same axes, of elements that are computed from operands that stretch.
fn drawn(device: &Device, name: &str, seed: u64) -> Result<Vec<AnyExpr>> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed + 1));
    (0..8).for_each(|_| _ = random.below(2));
    let shape: Vec<usize> = loop {
        let rank = 1 + random.below(4);
        let shape: Vec<usize> = (0..rank).map(|_| LENGTHS[random.below(LENGTHS.len())]).collect();
        if (8_000..200_000).contains(&shape.iter().product::<usize>()) {
            break shape;
        }
    };
    let takes = |of: DType| {
        let row = reductions().find(|row| row.name == name);
        row.is_some_and(|row| row.result(of).is_some())
    };
    let is_product = name.contains("prod");
    let mut types = vec![DType::F32, DType::F32, DType::I32, DType::U8, DType::U8];
    if !is_product && !BOUNDED.contains(&name) {
        types.push(DType::F16);
    }
    types.retain(|&of| takes(of) || !takes(DType::F32));
    let of = types[random.below(types.len())];
    let scalar = |value: f32| AnyExpr::from(Expr::scalar(value)).cast(of);
    let mut x = operand(device, &mut random, of, &shape)?;
    for _ in 0..random.below(3) {
        let op = ["add", "mul", "sub"][random.below(3)];
        x = AnyExpr::call(op, &[x, operand(device, &mut random, of, &shape)?]);
    }
    x = x.broadcast_to(shape.clone());
    if is_product && of == DType::F32 {
        // Their products stay above subnormals, which adapters flush.
        x = AnyExpr::call("add", &[AnyExpr::call("mul", &[x, scalar(1e-6)]), scalar(1.0)]);
    }
    if !takes(of) {
        x = AnyExpr::call("gt", &[x, scalar(3.0)]);
    }
    let is_chosen = |_: &isize| !name.starts_with("cum") && random.chance(50);
    let mut axes: Vec<isize> = (0..shape.len() as isize).filter(is_chosen).collect();
    if axes.is_empty() {
        axes.push(random.below(shape.len()) as isize);
    }
    let mut options = ReduceOptions::default().correction(random.below(2) as u8);
    (options.keepdim, options.exclusive) = (random.chance(30), random.chance(30));
    options.reverse = random.chance(30);
    let mut all = vec![x.reduce(name, &axes, options)];
    if options.keepdim && !BOUNDED.contains(&name) {
        // Elements of a row after its reduction.
        all.push(AnyExpr::call("eq", &[x.cast(DType::F32), all[0].cast(DType::F32)]));
    } else if takes(of) && random.chance(25) {
        let square = AnyExpr::call("mul", &[x.clone(), x]);
        all.push(square.reduce(name, &axes, options));
    }
    Ok(all)
}

/// Whether bits are those of the CPU path, or numbers near them.
fn agree(name: &str, got: &[u8], expected: &[u8]) -> bool {
    if !BOUNDED.contains(&name) {
        return got == expected;
    }
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    let mut pairs = got.chunks(4).map(number).zip(expected.chunks(4).map(number));
    got.len() == expected.len() && pairs.all(|(a, b)| (a - b).abs() <= 2e-5 * b.abs().max(1e-6))
}

/// Adapters with bindings of 16 KiB, and with all their bindings, as if each kernel of more than some thousand elements
/// took too long.
fn devices() -> Vec<[Device; 2]> {
    let mut limits = Limits::webgpu();
    (limits.max_buffer_size, limits.max_storage_buffer_binding_size) = (64 << 10, 16 << 10);
    let options = Options::default().pipelines(usize::MAX).limits(limits);
    let each = |found: &adapters::Found| {
        let gpu = pollster::block_on(open(found, &options)).unwrap();
        let slow = Options::default().pipelines(usize::MAX).rate(1);
        let slow = pollster::block_on(open(found, &slow)).unwrap();
        [gpu, slow].map(|gpu| Device::from_backend(gpu))
    };
    pollster::block_on(adapters::find()).iter().map(each).collect()
}

#[test]
fn partial_results_larger_than_a_binding() {
    let names: Vec<&str> = reductions().map(|row| row.name).collect();
    let cases = || (0..names.len()).step_by(depth(3, 1)).map(|seed| (names[seed], seed as u64));
    let bytes = |exprs: &[AnyExpr]| -> Result<Vec<Vec<u8>>> {
        AnyExpr::eval_all(exprs)?.iter().map(|result| result.to_bytes()).collect()
    };
    let cpu = Device::cpu();
    let expected = cases().map(|(name, seed)| bytes(&drawn(&cpu, name, seed)?));
    let expected: Vec<Vec<Vec<u8>>> = expected.collect::<Result<_>>().unwrap();
    for devices in devices() {
        let mut parts = 0;
        for ((name, seed), expected) in cases().zip(&expected) {
            let device = &devices[seed as usize / 3 % 2];
            let exprs = drawn(device, name, seed).unwrap();
            let mut check = || -> Result<()> {
                let explained = exprs[0].explain(device)?.to_string();
                parts += usize::from(explained.contains(" parts, the first as above"));
                let got = match &exprs[..] {
                    [only] => {
                        // The explanation lists the kernels that run.
                        only.warm_up(device)?;
                        let warm = device.memory().pipelines;
                        let got = only.to_bytes()?;
                        assert_eq!(device.memory().pipelines, warm, "{name}, seed {seed}\n{explained}");
                        vec![got]
                    }
                    all => bytes(all)?,
                };
                let right = got.iter().zip(expected).all(|(got, expected)| agree(name, got, expected));
                assert!(right, "{name}, seed {seed} on {}\n{explained}", device.name());
                Ok(())
            };
            check().unwrap_or_else(|e| panic!("{name}, seed {seed} on {}: {e}", device.name()));
        }
        // Else nothing is tested.
        assert!(parts > cases().count() / 3, "{parts} on {}", devices[0].name());
    }
}
