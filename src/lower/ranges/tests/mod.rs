//! Chunks of programs. Together they read and write the elements of the programs.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// The written and the read addresses of each element, in the whole storage.
type Elements = Vec<Vec<usize>>;

/// A new slot for a number of elements.
fn slot(elements: usize) -> Slot {
    static NUMBERS: AtomicUsize = AtomicUsize::new(0);
    Slot { number: NUMBERS.fetch_add(1, Ordering::Relaxed), elements, is_exact: false, range: None }
}

/// A program without steps, of inputs over storages of a number of elements.
fn program(dtype: DType, inputs: &[(usize, Layout)]) -> Program {
    let input =
        |(count, layout): &(usize, Layout)| Input::new(dtype, Source::Slot(slot(*count)), layout.clone());
    let mut program = Program::copy(input(&inputs[0]));
    program.inputs.extend(inputs[1..].iter().map(input));
    program
}

/// The slots that a program reads.
fn slots(program: &Program) -> impl Iterator<Item = Slot> {
    program.inputs.iter().filter_map(|input| match input.source {
        Source::Slot(slot) => Some(slot),
        _ => None,
    })
}

fn contiguous<const N: usize>(shape: [usize; N]) -> Layout {
    Layout::contiguous(shape).unwrap()
}

fn elements<'a>(layouts: impl Iterator<Item = (&'a Layout, usize)>) -> Elements {
    let mut all: Elements = Vec::new();
    for (layout, skipped) in layouts {
        all.resize(layout.count(), Vec::new());
        all.iter_mut().zip(layout.addresses()).for_each(|(all, at)| all.push(at + skipped));
    }
    all
}

/// The parts of a program, which are checked: every window is one, every layout lies in its window, and
/// together the parts write and read the program's elements, once.
fn parts(cuts: Cuts, program: &Program, to: (Slot, &Layout, bool)) -> Vec<Part> {
    let parts: Vec<Part> = cuts.parts(program, to).map(Result::unwrap).collect();
    let mut written = Vec::new();
    for part in &parts {
        assert!(part.layout.count() == 1 || cuts.is_short(&part.program), "{:?}", part.program.shape);
        let skipped = |slot: Slot, dtype: DType, layout: &Layout| {
            let window = slot.range.unwrap();
            assert!(window.start.is_multiple_of(cuts.align) && window.size <= cuts.window, "{window:?}");
            assert!(window.start + window.size <= cuts.buffer, "{window:?}");
            let (low, high) = layout.reach();
            let size = dtype.size() as u64;
            assert!(low >= 0 && (high as u64 + 1) * size <= window.size, "{layout:?} in {window:?}");
            ((window.buffer as u64 * cuts.buffer + window.start) / size) as usize
        };
        if part.fresh {
            let wide = part.layout.count().next_multiple_of(LANES) * part.program.dtype.size();
            assert!(part.layout.is_identity() && wide as u64 <= part.to.range.unwrap().size);
        }
        let result = (&part.layout, skipped(part.to, part.program.dtype, &part.layout));
        let inputs = part.program.inputs.iter().map(|input| match input.source {
            Source::Slot(slot) => (&input.layout, skipped(slot, input.dtype, &input.layout)),
            _ => (&input.layout, 0),
        });
        written.extend(elements(std::iter::once(result).chain(inputs)));
    }
    let layouts = std::iter::once(to.1).chain(program.inputs.iter().map(|input| &input.layout));
    let mut whole = elements(layouts.map(|layout| (layout, 0)));
    written.sort_unstable();
    whole.sort_unstable();
    assert!(written == whole, "{:?} and {:?}", written.len(), whole.len());
    parts
}

/// The same into a new storage.
fn fresh(cuts: Cuts, program: &Program) -> Vec<Part> {
    let layout = Layout::contiguous(&program.shape).unwrap();
    parts(cuts, program, (slot(layout.count()), &layout, true))
}

fn shapes(parts: &[Part]) -> Vec<Vec<usize>> {
    parts.iter().map(|part| part.program.shape.to_vec()).collect()
}

/// Buffers of 4096 bytes, windows of 2048.
const SMALL: (u64, u64) = (4096, 2048);

fn small() -> Cuts {
    Cuts::new(SMALL.0, SMALL.1, 64, 1 << 20)
}

#[test]
fn buffers_are_whole_grains_and_the_last_what_is_left() {
    let cuts = Cuts::new(1_000_000_007, 1 << 20, 32, 1 << 20);
    let all: Vec<u64> = cuts.buffers(2_500_000_001).collect();
    assert_eq!(all, [1_000_000_000 / 512 * 512, 1_000_000_000 / 512 * 512, 500_000_032]);
    assert_eq!(cuts.buffers(0).collect::<Vec<_>>(), [32]);
    let (a, end) = (all[0], 2 * all[0] + 8);
    let stretch: Vec<_> = cuts.stretch(a - 4, end).collect();
    assert_eq!(stretch, [(0, a - 4, a), (1, 0, a), (2, 0, 8)]);
}

#[test]
fn what_fits_is_one_part() {
    let program = program(
        DType::F32,
        &[(512, contiguous([16, 32])), (32, contiguous([32]))]
            .map(|(n, layout)| (n, layout.broadcast_to(&[16, 32].into()).unwrap())),
    );
    assert!(small().is_whole(&program));
    assert_eq!(fresh(small(), &program).len(), 1);
}

#[test]
fn same_shapes_are_as_many_parts_as_windows() {
    // Three buffers, the last of a quarter, each of two windows.
    let program = program(DType::F32, &[(2300, contiguous([46, 50])), (2300, contiguous([46, 50]))]);
    let parts = fresh(small(), &program);
    assert!(parts.len() <= 7 && parts.iter().all(|part| part.fresh), "{:?}", shapes(&parts));
}

/// Rows end nowhere near to the ends of buffers: a row apart, and what is whole stays whole.
#[test]
fn rows_are_cut_at_the_end_of_a_buffer() {
    let shape = [400, 17];
    let row = contiguous([17]).broadcast_to(&shape.into()).unwrap();
    let cuts = Cuts::new(16 << 10, 16 << 10, 64, 1 << 20);
    let parts = fresh(cuts, &program(DType::F32, &[(6800, contiguous(shape)), (17, row)]));
    assert!(parts.len() <= 8, "{:?}", shapes(&parts));
    let most = parts.iter().filter(|part| part.fresh).map(|part| part.layout.count()).sum::<usize>();
    assert!(most * 10 >= 6800 * 7, "{most} of {:?}", shapes(&parts));
}

/// 1.2 MB each way, of which windows show 128 KiB: a tile takes as much of one as of the other.
#[test]
fn transposed_operands_are_parts_of_both() {
    let turned = contiguous([500, 600]).permute(&[1, 0]).unwrap();
    let cuts = Cuts::new(256 << 10, 128 << 10, 64, 1 << 20);
    let parts = fresh(cuts, &program(DType::F32, &[(300_000, turned)]));
    let counts = || parts.iter().map(|part| part.layout.count());
    let large: usize = counts().filter(|&count| count >= 1000).sum();
    assert!(parts.len() <= 400 && large >= 250_000, "{large} of {}: {:?}", parts.len(), shapes(&parts));
}

#[test]
fn channels_stay_together() {
    // 12 KiB onto three planes. A binding holds eleven KiB.
    let cuts = Cuts::new(1 << 20, 11 << 10, 64, 1 << 20);
    let planes = contiguous([32, 32, 3]).permute(&[2, 0, 1]).unwrap();
    let parts = fresh(cuts, &program(DType::F32, &[(3072, planes)]));
    assert_eq!(parts.len(), 2, "{:?}", shapes(&parts));
    assert!(parts.iter().all(|part| part.program.shape[0] == 3));
}

#[test]
fn a_row_longer_than_a_buffer() {
    let shape = [3, 5000];
    let column = contiguous([3, 1]).broadcast_to(&shape.into()).unwrap();
    let parts = fresh(small(), &program(DType::F32, &[(15_000, contiguous(shape)), (3, column)]));
    // Thirty windows of 2 KiB, and the ends of rows and of buffers.
    assert!(parts.len() <= 60, "{}", parts.len());
}

#[test]
fn kernels_count_so_far() {
    let one = contiguous([]).broadcast_to(&[100, 100].into()).unwrap();
    let cuts = Cuts::new(1 << 20, 1 << 20, 64, 1000);
    let parts = fresh(cuts, &program(DType::U8, &[(1, one)]));
    assert!(parts.iter().all(|part| part.layout.count() <= 1000) && parts.len() <= 20);
}

/// Windows that meet are one binding.
#[test]
fn neighbours_share_a_window() {
    let table = slot(4000);
    let input = |i: isize| {
        let layout = contiguous([4000]).slice(0, i..i + 3000, 1).unwrap();
        Input::new(DType::F32, Source::Slot(table), layout)
    };
    let mut program = Program::copy(input(0));
    program.inputs.extend((1..5).map(input));
    let parts = fresh(Cuts::new(1 << 20, 2048, 64, 1 << 20), &program);
    for part in &parts {
        assert!(slots(&part.program).all(|slot| slot == slots(&part.program).next().unwrap()));
    }
    assert!(parts.len() <= 7, "{:?}", shapes(&parts));
}

#[test]
fn in_place_is_one_window() {
    let layout = contiguous([60, 60]).slice(1, 3..53, 1).unwrap().slice(0, 1..60, 2).unwrap();
    let program = program(DType::F32, &[(3600, layout.clone())]);
    let to = slots(&program).next().unwrap();
    for part in parts(small(), &program, (to, &layout, false)) {
        assert!(slots(&part.program).next() == Some(part.to) && !part.fresh);
    }
}

/// Random layouts of every kind over one shape, into new storages and into views.
#[test]
fn random_layouts() {
    let mut state = 1_u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let types = [DType::U8, DType::F16, DType::F32, DType::F64];
    for _ in 0..400 {
        let shape: Vec<usize> = (0..1 + below(4)).map(|_| 1 + below(14)).collect();
        let mut view = || {
            // Every second or third element of a larger storage in another order.
            let mut order: Vec<isize> = (0..shape.len() as isize).collect();
            (1..order.len()).for_each(|i| order.swap(i, below(i + 1)));
            let steps: Vec<usize> = shape.iter().map(|_| [1, 1, 2, 3][below(4)]).collect();
            let stretched = below(4);
            let lengths = order.iter().map(|&k| shape[k as usize] * steps[k as usize] + below(2));
            let lengths: Vec<usize> = lengths.collect();
            let mut back = vec![0; order.len()];
            order.iter().enumerate().for_each(|(i, &k)| back[k as usize] = i as isize);
            let mut layout = Layout::contiguous(lengths).unwrap().permute(&back).unwrap();
            let count = layout.count();
            for (axis, &step) in steps.iter().enumerate() {
                let (axis, n) = (axis as isize, (shape[axis] * step) as isize);
                layout = layout.slice(axis, 0..n, step as isize).unwrap();
                if below(3) == 0 {
                    layout = layout.flip(axis).unwrap();
                }
            }
            (count, layout, stretched)
        };
        let mut inputs = Vec::new();
        for _ in 0..1 + shape.len() % 3 {
            let (count, mut layout, stretched) = view();
            if stretched < shape.len() {
                layout = layout.slice(stretched as isize, 0..1, 1).unwrap();
                layout = layout.broadcast_to(&shape[..].into()).unwrap();
            }
            inputs.push((count, layout));
        }
        let (count, layout, _) = view();
        let program = program(types[below(4)], &inputs);
        let cuts = Cuts::new(512 << below(3), 256 << below(3), 64, 1 << below(12));
        let most = [u64::MAX, 1 << (5 + below(8))][below(2)];
        fresh(cuts.within(most), &program);
        parts(cuts.within(most), &program, (slot(count), &layout, false));
    }
}
