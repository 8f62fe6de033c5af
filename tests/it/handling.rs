//! Uses of tensors beside computing: views as destinations, writes from the host, futures, compiling ahead.

#![allow(clippy::reversed_empty_ranges)] // a negative bound counts from the end

use crate::common::depth::depth;
use crate::common::{Random, found_in_turn, on_every_device, open};
use zerostride::{AnyExpr, AssignAll, DType, Device, Element, ErrorKind, Expr, Result, Shape, bf16, f16};

/// Views chain without `?`, as operands, destinations and reads. The call that consumes a view returns the first mistake,
/// with its line.
#[test]
fn views_of_tensors_chain() {
    on_every_device(|device| {
        let x = device.upload(&[1_i32, 2, 3, 4, 5, 6], [2, 3]).unwrap();
        assert_eq!((x.slice(1, 1..) + 10).to_vec().unwrap(), [12, 13, 15, 16]);
        x.permute([1, 0]).slice(0, 2..).assign(x.slice(1, ..1).transpose(0, 1) * 7).unwrap();
        assert_eq!(x.to_vec().unwrap(), [1, 2, 7, 4, 5, 28]);
        let part = x.slice(0, 1..).tensor().unwrap();
        assert_eq!((part.layout().offset(), part.shape().to_vec()), (3, vec![1, 3]));
        assert!(part.device().same(device));

        let line = line!() + 1;
        let wrong = x.slice(1, 2..9).flip(0).reshape([7]);
        for error in [
            wrong.tensor().map(drop).unwrap_err(),
            wrong.assign(0).unwrap_err(),
            wrong.write(&[0]).unwrap_err(),
            wrong.to_vec().map(drop).unwrap_err(),
            (&wrong + 1).eval().map(drop).unwrap_err(),
            pollster::block_on(wrong.to_vec_async()).map(drop).unwrap_err(),
        ] {
            assert_eq!(error.message(), "slice bound 9 is outside of axis 1 of [2, 3], which has length 3");
            assert_eq!(error.location().map(|at| at.line()), Some(line));
        }
        for error in [
            (&x + 1).flip(0).assign(0).unwrap_err(),
            Expr::scalar(1).tensor().map(drop).unwrap_err(),
            x.coordinate(0).as_strided([1], &[1], 0).to_vec().map(drop).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Operation, "{error}");
            assert!(error.location().is_some_and(|at| at.file().ends_with("handling.rs")), "{error}");
        }
        assert_eq!(x.to_vec().unwrap(), [1, 2, 7, 4, 5, 28]);
    });
}

/// A write changes the elements of its layout and nothing beside them, for every type, layout and place.
#[test]
fn writes_go_to_any_layout() {
    fn check<T: Element>(device: &Device, of: impl Fn(u64) -> T) {
        let mut random = Random(T::DTYPE.size() as u64 + 7);
        for _ in 0..depth(8, 25) {
            let shape = [1 + random.below(4), 1 + random.below(7), 1 + random.below(33)];
            let count: usize = shape.iter().product();
            let old: Vec<T> = (0..count).map(|_| of(random.next())).collect();
            let kind = random.below(6);
            let from = random.below(shape[2]);
            let flat = random.below(count);
            let end = flat + 1 + random.below(count - flat);
            let new: Vec<T> = (0..count).map(|_| of(random.next())).collect();
            let run = |device: &Device| -> Result<Vec<T>> {
                let x = device.upload(&old, shape)?;
                let view = match kind {
                    0 => x.expr(),
                    1 => x.slice(2, from..),
                    2 => x.permute([2, 0, 1]),
                    3 => x.flip(1).slice_step(2, .., 2),
                    // A run that begins and ends within words.
                    _ => x.reshape([-1]).slice(0, flat..end),
                };
                let room = view.shape()?.iter().product();
                // Work that was recorded before reads the old elements, and later work reads the new ones.
                let before = view.shared().eval()?;
                view.write(&new[..room])?;
                assert!(view.to_vec()? == new[..room]);
                let mut all = before.to_vec()?;
                all.extend(x.to_vec()?);
                Ok(all)
            };
            assert!(run(device).unwrap() == run(&Device::cpu()).unwrap(), "{shape:?} {kind} {flat}..{end}");
        }
    }
    on_every_device(|device| {
        check(device, |bits| bits as u8);
        check(device, |bits| bits & 1 == 1);
        check(device, |bits| bits as i16);
        check(device, |bits| f16::from_f32(bits as u8 as f32));
        check(device, |bits| bf16::from_f32(bits as u8 as f32));
        check(device, |bits| bits as f32);
    });
}

#[test]
fn writes_queue_up_with_work() {
    on_every_device(|device| {
        let x = device.zeros::<u32>([1000]).unwrap();
        let mut sum = device.zeros::<u32>([1000]).unwrap();
        for frame in 1..=50_u32 {
            x.write(&vec![frame; 1000]).unwrap();
            if frame % 2 == 0 {
                x.slice_step(0, 1.., 2).write(&vec![1000; 500]).unwrap();
            }
            sum = (&sum + &x).eval().unwrap();
        }
        let odd: u32 = (1..=50).map(|frame| if frame % 2 == 0 { 1000 } else { frame }).sum();
        assert_eq!(sum.slice(0, ..2).to_vec().unwrap(), [(1..=50).sum(), odd]);
    });
}

#[test]
fn writes_that_do_not_fit_are_refused() {
    on_every_device(|device| {
        let x = device.upload(&[1_u8, 2, 3], [3]).unwrap();
        let line = line!() + 1;
        let error = x.write(&[1, 2]).unwrap_err();
        assert_eq!(error.message(), "write of 2 elements to [3], which has 3: data and shape must agree");
        assert_eq!(error.location().map(|at| at.line()), Some(line));
        let error = x.expr().write_bytes_of(&[1, 2, 3, 4]).unwrap_err();
        assert_eq!(error.message(), "write of 4 bytes to u8 [3], which has 3: data and shape must agree");
        let error = x.broadcast_to([2, 3]).write(&[0; 6]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Alias);
        x.slice(0, 3..).write(&[]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [1, 2, 3]);
        let truths = device.zeros_any(DType::Bool, [3]).unwrap();
        truths.write_bytes(&[0, 7, 255]).unwrap();
        assert_eq!(truths.to_bytes().unwrap(), [0, 1, 1]);
    });
}

trait WriteBytes {
    fn write_bytes_of(&self, bytes: &[u8]) -> Result<()>;
}

impl<T: Element> WriteBytes for Expr<T> {
    fn write_bytes_of(&self, bytes: &[u8]) -> Result<()> {
        AnyExpr::from(self).write_bytes(bytes)
    }
}

/// A future reads the elements of the time of the call, whether its kernel was compiled before or not.
#[test]
fn later_results_are_of_what_was_there() {
    on_every_device(|device| {
        let x = device.upload(&(0..5000).map(|i| i as f32).collect::<Vec<_>>(), [50, 100]).unwrap();
        let y = device.full([100], 2.0_f32).unwrap();
        for round in 0..3 {
            let before = x.to_vec().unwrap();
            let chain = (x.transpose(0, 1).slice(1, 1..) + y.unsqueeze(1)).eval_async();
            let sums = x.sum(1).to_vec_async();
            let turned = x.transpose(0, 1).to_vec_async();
            let own = x.to_vec_async();
            let soft = x.softmax(1).to_vec_async();
            x.assign(&x * 3.0 + 1.0).unwrap();
            y.write(&[round as f32; 100]).unwrap();
            assert!(pollster::block_on(own).unwrap() == before);
            let turned = pollster::block_on(turned).unwrap();
            assert!((0..5000).all(|i| turned[i] == before[i % 50 * 100 + i / 50]), "{}", device.name());
            let last = if round == 0 { 2.0 } else { (round - 1) as f32 };
            let chain = pollster::block_on(chain).unwrap();
            assert_eq!(chain.shape(), &[100, 49]);
            assert_eq!(chain.to_vec().unwrap()[48], before[4900] + last, "{}", device.name());
            let exact: f32 = before[..100].iter().sum();
            let sum = pollster::block_on(sums).unwrap()[0];
            assert!((sum - exact).abs() <= exact * 1e-5, "{sum} {exact}");
            assert_eq!(pollster::block_on(soft).unwrap().len(), 5000);
        }
    });
}

/// The call returns long before the work is done.
#[test]
fn callers_do_not_wait() {
    let x = Device::cpu().full([1 << 22], 1.5_f32).unwrap();
    let dear = (0..8).fold(x.expr(), |y, _| y.sin() + y.cos());
    let start = std::time::Instant::now();
    let direct = dear.eval().unwrap();
    let whole = start.elapsed();
    let start = std::time::Instant::now();
    let later = dear.eval_async();
    let called = start.elapsed();
    let later = pollster::block_on(later).unwrap();
    assert!(called * 4 < whole, "asked for in {called:?}, done in {whole:?}");
    assert_eq!(later.slice(0, ..9).to_vec().unwrap(), direct.slice(0, ..9).to_vec().unwrap());
    // A future that is never awaited does no harm, and the memory that it reads stays unchanged.
    drop(dear.eval_async());
    x.write(&vec![0.0; 1 << 22]).unwrap();
    assert_eq!(x.slice(0, ..1).item().unwrap(), 0.0);
}

#[test]
fn assignments_are_compiled_ahead() {
    // Devices of its own, as other tests compile kernels meanwhile.
    for device in found_in_turn().map(|adapter| open(&adapter)) {
        let x = device.zeros::<f32>([37, 41]).unwrap();
        let bytes = device.zeros::<u8>([37, 41]).unwrap();
        let part = x.slice_step(1, .., 3).tensor().unwrap();
        let values = part.expr().exp() * 2.0;
        part.warm_up_assign(&values).unwrap();
        // An assignment that reads its destination elsewhere, one that writes parts of words, and a sum.
        x.warm_up_assign(x.flip(0) + 0.5).unwrap();
        let odd = bytes.slice(1, 1..).tensor().unwrap();
        odd.warm_up_assign(odd.expr() ^ 1).unwrap();
        x.warm_up_assign(x.sum_keepdim(0)).unwrap();
        let known = device.kernels().len();
        part.assign(&values).unwrap();
        x.assign(x.flip(0) + 0.5).unwrap();
        odd.assign(odd.expr() ^ 1).unwrap();
        x.assign(x.sum_keepdim(0)).unwrap();
        assert_eq!(device.kernels().len(), known, "{}", device.name());
        let error = x.warm_up_assign(device.zeros::<f32>([38, 41]).unwrap().expr()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape);
    }
}

/// Generic code has scalars on the left by `Expr::scalar`, as no crate may implement Rust's operators for all
/// element types at once.
#[test]
fn scalars_stand_on_the_left_in_generic_code() {
    fn complement<T: zerostride::Float>(x: &Expr<T>) -> Expr<T> {
        Expr::scalar(T::from_f64(1.0)) - x
    }
    on_every_device(|device| {
        let x = device.upload(&[0.25_f32, 1.0], [2]).unwrap();
        assert_eq!(complement(&x).to_vec().unwrap(), [0.75, 0.0]);
    });
}

/// A copy is nothing else's, `to` moves nothing that is there already, lists are of any integer, and views are destinations of
/// several results too.
#[test]
fn copies_lists_and_destinations() {
    on_every_device(|device| {
        let cpu = Device::cpu();
        let x = device.upload(&(0..12).collect::<Vec<i32>>(), [3, 4]).unwrap();
        let (alias, copy) = (x.clone(), x.copy().unwrap());
        let (inner, there) = (x.slices((1.., 1..-1)).copy().unwrap(), x.to(&cpu).unwrap());
        assert!(there.device().same(&cpu));
        x.slices((.., ..1)).assign(-1).unwrap();
        assert_eq!(alias.get([2, 0]).unwrap(), -1);
        assert_eq!([copy.get([2_u8, 0]).unwrap(), copy.get(vec![-1_i64, 0]).unwrap()], [8, 8]);
        assert_eq!(inner.to_vec().unwrap(), [5, 6, 9, 10]);
        assert_eq!(there.get([2, 0]).unwrap(), if device.same(&cpu) { -1 } else { 8 });
        let shape = Shape::from([2, 6]);
        let all = [copy.reshape([2, -1]), copy.reshape(vec![2_usize, 6]), copy.reshape(&[2_u8, 6][..])];
        for own in all.into_iter().chain([copy.reshape(&shape)]) {
            assert_eq!(own.shape().unwrap(), &shape);
        }
        let (first, last) = (x.slice(0, ..1), x.slice(0, 2..));
        (&first, &last).assign_all((&last, &first)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [-1, 9, 10, 11, -1, 5, 6, 7, -1, 1, 2, 3]);
    });
}
