//! Lists of commands, without a device: of work with one kernel, and of every kind of work with several.

use super::{Command, Commands, Cuts, lower};
use crate::dtype::DType;
use crate::ir::{Destination, Schedule, Storage};
use crate::layout::{Layout, Shape};
use crate::plan::{LANES, MOST_ELEMENTS, Origin};
use crate::wgsl::{BOUNDS, GPU};
use crate::{AnyExpr, AnyTensor, Device, ReduceOptions};

const GIB: usize = 1 << 30;

/// WebGPU's guarantees of bindings, with buffers of a number of bytes.
fn limits(binding: usize) -> Cuts {
    Cuts::new(2 * GIB as u64, binding as u64, 256, MOST_ELEMENTS)
}

/// A tensor that has no memory.
fn tensor(dtype: DType, shape: &[usize]) -> AnyTensor {
    let (device, layout) = (Device::cpu(), Layout::contiguous(shape).unwrap());
    let storage = Storage::new(device.backend().unwrap(), layout.count(), ());
    AnyTensor::new(device, storage, dtype, layout)
}

fn schedule(expr: &AnyExpr, shape: &Shape) -> Schedule {
    Schedule::new(&[expr.node().unwrap()], shape, BOUNDS).unwrap()
}

/// The commands of an expression into a new storage, with the invariants of every list checked.
fn new(expr: &AnyExpr, cuts: Cuts) -> Commands {
    let schedule = schedule(expr, expr.shape().unwrap());
    checked(lower(schedule, Destination::New, GPU, cuts).unwrap().0, cuts)
}

/// The same into a tensor.
fn into(to: &AnyTensor, expr: &AnyExpr, cuts: Cuts) -> Commands {
    let places = [(to.storage(), to.layout())];
    let schedule = schedule(expr, to.shape());
    checked(lower(schedule, Destination::Into(&places), GPU, cuts).unwrap().0, cuts)
}

/// Slots have memory while kernels use them, from one command to another; kernels bind what they may, and write to what
/// no other binding of theirs is.
fn checked(commands: Commands, cuts: Cuts) -> Commands {
    let mut has_memory: Vec<bool> = (0..commands.slots).map(|slot| slot < commands.operands).collect();
    for command in &commands.list {
        match *command {
            Command::Allocate { slot, .. } => assert!(!std::mem::replace(&mut has_memory[slot], true)),
            Command::Free(slot) => assert!(std::mem::replace(&mut has_memory[slot], false)),
            Command::Dispatch(number) => {
                let dispatch = &commands.dispatches[number];
                assert_eq!(dispatch.writes.len(), dispatch.plan.kernel.stored.len());
                for slot in dispatch.writes.iter().chain(&dispatch.plan.reads) {
                    assert!(has_memory[slot.number], "{command:?} of {:?}", commands.list);
                    let size = slot.range.map_or(slot.elements as u64, |range| range.size);
                    assert!(size <= cuts.whole(), "{slot:?}");
                }
                let is_read = |to: usize| dispatch.plan.reads.iter().any(|slot| slot.number == to);
                assert!(dispatch.writes.iter().all(|slot| !is_read(slot.number)));
            }
        }
    }
    let is_kept = |slot: usize| slot < commands.operands || commands.results.contains(&slot);
    // A list of one kernel has nothing to let go.
    assert!(
        commands.dispatches.len() < 2 || (0..commands.slots).all(|slot| has_memory[slot] == is_kept(slot))
    );
    commands
}

fn call(op: &str, args: &[&AnyExpr]) -> AnyExpr {
    AnyExpr::call(op, &args.iter().map(|&arg| arg.clone()).collect::<Vec<_>>())
}

fn counts(commands: &Commands) -> (usize, usize) {
    (commands.dispatches.len(), commands.slots - commands.operands)
}

/// What follows reductions of long rows is computed by their last pass, and reductions of the same elements share passes.
#[test]
fn reductions_of_the_same_rows_are_one_pass() {
    let (x, y) = (tensor(DType::F32, &[512, 100_000]), tensor(DType::F32, &[512, 100_000]));
    let of = |op: &str, x: &AnyExpr| x.reduce(op, [1], ReduceOptions { keepdim: true, ..Default::default() });
    let (x, y) = (x.expr(), y.expr());
    let (low, high) = (of("min", &x), of("max", &x));
    let span = call("sub", &[&high, &low]);
    for (expr, kernels) in [
        (of("mean", &x), 2),
        (call("sqrt", &[&of("sum", &call("mul", &[&x, &x]))]), 2),
        (span.clone(), 2),
        // One more kernel over all elements.
        (call("div", &[&call("sub", &[&x, &low]), &span]), 3),
        (call("sub", &[&call("mul", &[&x, &of("mean", &x)]), &high]), 3),
        // Passes over each of two tensors, and no third kernel for their sum.
        (call("add", &[&of("mean", &x), &of("max", &y)]), 4),
        // The mean is known before its deviations are.
        (of("var", &x), 4),
    ] {
        let commands = new(&expr, limits(1 << 30));
        assert_eq!(commands.dispatches.len(), kernels, "{expr:?}");
    }
}

/// Few results of many products: chunks are spread over workgroups, and their sums are one more pass.
#[test]
fn chunks_of_few_results_are_shared() {
    let groups = |rows: usize, products: usize| -> Vec<u32> {
        let (a, b) = (tensor(DType::F32, &[rows, products]), tensor(DType::F32, &[products, 16]));
        let commands = new(&a.expr().matmul(b.expr()), limits(128 << 20));
        commands.dispatches.iter().map(|own| own.plan.launch.groups.iter().product()).collect()
    };
    assert_eq!(groups(16, 4096), [64, 4]);
    // Not where there are enough, where chunks are few, or where one is no chunk.
    assert_eq!([groups(8192, 4096), groups(16, 448), groups(16, 4095)].map(|own| own.len()), [1, 1, 1]);
}

#[test]
fn one_kernel_is_an_allocation_and_a_dispatch() {
    let (x, y) = (tensor(DType::F32, &[64, 1]), tensor(DType::F32, &[100]));
    let sum = call("add", &[&x.expr(), &y.expr()]);
    let commands = new(&sum, limits(128 << 20));
    let result = commands.results[0];
    let memory = Command::Allocate { slot: result, dtype: DType::F32, elements: 6400 };
    assert_eq!(commands.list.to_vec(), [memory, Command::Dispatch(0)]);
    assert_eq!((commands.operands, result), (2, 2));
    // Into a tensor nothing is allocated, and one of the operands of an update in place is the result.
    let to = tensor(DType::F32, &[64, 100]);
    let commands = into(&to, &call("add", &[&to.expr(), &y.expr()]), limits(128 << 20));
    assert_eq!(commands.list.to_vec(), [Command::Dispatch(0)]);
    assert!(commands.writes[0].is_read && commands.dispatches[0].plan.reads.len() == 1);
    let commands = into(&to, &sum, limits(128 << 20));
    assert!(!commands.writes[0].is_read && commands.writes[0].bytes == 25_600);
}

#[test]
fn an_empty_result_is_memory_alone() {
    let commands = new(&call("neg", &[&tensor(DType::F32, &[3, 0]).expr()]), limits(128 << 20));
    assert_eq!(counts(&commands), (0, 1));
}

#[test]
fn a_long_sum_is_several_passes() {
    let x = tensor(DType::F32, &[1 << 24]);
    let sum = x.expr().reduce("sum", [0], ReduceOptions::default());
    let commands = new(&sum, limits(128 << 20));
    let (kernels, slots) = counts(&commands);
    assert_eq!((kernels, slots), (2, 2), "{commands:?}");
    assert_eq!((commands.notes[0].parts, commands.notes[0].passes), (1, kernels));
    // Each pass reads the result of the pass before, which is freed after it.
    for pair in commands.dispatches.windows(2) {
        assert_eq!(pair[0].writes[0].number, pair[1].plan.reads[0].number);
    }
}

#[test]
fn a_softmax_of_long_rows_frees_what_it_stores_between() {
    let x = tensor(DType::F32, &[16, 100_000]);
    let commands = new(&x.expr().reduce("softmax", [1], ReduceOptions::default()), limits(128 << 20));
    assert!(commands.dispatches.len() > 3 && commands.notes.len() > 1, "{commands:?}");
    let frees = commands.list.iter().filter(|command| matches!(command, Command::Free(_))).count();
    assert_eq!(frees, commands.slots - commands.operands - 1);
}

#[test]
fn five_gibibytes_are_windows_of_three_buffers() {
    let x = tensor(DType::U8, &[5, GIB]);
    let commands = new(&call("add", &[&x.expr(), &x.slice(0, ..1)]), limits(128 << 20));
    assert!(commands.dispatches.len() >= 40, "{} kernels", commands.dispatches.len());
    let written = commands.dispatches.iter().map(|dispatch| dispatch.writes[0].range.unwrap());
    let mut buffers: Vec<usize> = written.map(|range| range.buffer).collect();
    buffers.dedup();
    assert_eq!(buffers, [0, 1, 2]);
    // A sum of all of it is one of chunks, each of 1024 to some power.
    let sum = new(&x.expr().reduce("sum", [0, 1], ReduceOptions::default()), limits(128 << 20));
    assert!(sum.notes[0].parts > 40, "{:?}", sum.notes);
}

#[test]
fn a_table_larger_than_a_binding_is_looked_up_in_pieces() {
    let (table, index) = (tensor(DType::F32, &[GIB / 4]), tensor(DType::I32, &[1000]));
    let found = table.expr().take(index.expr(), 0);
    let commands = new(&found, limits(128 << 20));
    assert!(commands.notes.last().unwrap().tables);
    let pieces = commands.dispatches.iter().filter(|dispatch| !dispatch.plan.kernel.code.steps.is_empty());
    assert!((8..=10).contains(&pieces.count()), "{} kernels", commands.dispatches.len());
    assert_eq!(counts(&new(&found, limits(GIB))), (1, 1));
}

/// For each digit a count, the sums of the counts and a move; where bindings show parts, a count of each part and a
/// move from each to each.
#[test]
fn a_sort_goes_digit_by_digit() {
    let x = tensor(DType::F32, &[100_000]);
    let commands = new(&x.sort(0), limits(128 << 20));
    assert!(commands.dispatches.iter().all(|dispatch| dispatch.plan.description.is_some()), "{commands:?}");
    let moves = |commands: &Commands| {
        let is_move = |form: &&String| form.starts_with("elements moved");
        commands
            .dispatches
            .iter()
            .filter_map(|dispatch| dispatch.plan.description.as_ref())
            .filter(is_move)
            .count()
    };
    assert_eq!((moves(&commands), commands.dispatches.len()), (4, 12));
    assert_eq!(moves(&new(&tensor(DType::I8, &[5000]).argsort(0), limits(128 << 20))), 1);
    assert_eq!(moves(&new(&tensor(DType::F64, &[5000]).argsort(0), limits(128 << 20))), 8);
    // Rows no longer than a tile are sorted by one kernel.
    assert_eq!(new(&tensor(DType::U32, &[1000, 9]).sort(1), limits(128 << 20)).dispatches.len(), 1);
    // 100000 elements are 400 KB.
    let commands = new(&x.argsort(0), limits(128 << 10));
    assert_eq!(moves(&commands), 4 * 4 * 4);
    let halves = new(&tensor(DType::F32, &[4, 20_000]).sort(1), limits(128 << 10));
    assert_eq!(moves(&halves), 4 * 4);
    let error =
        Schedule::new(&[tensor(DType::F32, &[1 << 28]).sort(0).node().unwrap()], &[1 << 28].into(), BOUNDS)
            .and_then(|schedule| lower(schedule, Destination::New, GPU, limits(1 << 20)));
    assert_eq!(error.unwrap_err().kind(), crate::ErrorKind::Limit);
}

#[test]
fn what_overlaps_is_assigned_by_a_temporary() {
    let x = tensor(DType::F32, &[1000]);
    let (to, from) = (x.slice(0, 1..).tensor().unwrap(), x.slice(0, ..999));
    let commands = into(&to, &call("neg", &[&from]), limits(128 << 20));
    assert_eq!(counts(&commands), (2, 1));
    assert!(commands.writes[0].is_read);
    // Operands that lie apart in one storage too, and are read through the binding of the result.
    let (to, from) = (x.slice(0, 500..).tensor().unwrap(), x.slice(0, ..500));
    let commands = into(&to, &call("neg", &[&from]), limits(128 << 20));
    assert_eq!(counts(&commands), (1, 0));
    assert_eq!(commands.dispatches[0].plan.kernel.code.operands[0].origin, Origin::Output);
}

/// Tensors that a caller makes of one buffer may know elements up to other ends.
#[test]
fn an_overlap_is_found_whatever_each_knows_of_the_buffer() {
    let x = tensor(DType::U32, &[5]);
    let storage = Storage { elements: 4, ..x.storage().clone() };
    let same = AnyTensor::new(Device::cpu(), storage, DType::U32, Layout::contiguous([4]).unwrap());
    let commands = into(&same, &x.slice(0, 1..), limits(128 << 20));
    assert_eq!(counts(&commands), (2, 1));
}

/// A loop of several values in a budget of time is cut into slices of all of them.
#[test]
fn a_loop_is_cut_within_a_budget() {
    let x = tensor(DType::F32, &[4096, LANES * 64]);
    let results = AnyExpr::repeat(1000, &[x.expr(), x.expr()], |x| {
        vec![call("add", &[&x[0], &x[1]]), call("sub", &[&x[0], &x[1]])]
    });
    let nodes: Vec<_> = results.iter().map(|result| result.node().unwrap()).collect();
    let schedule = Schedule::new(&nodes, x.shape(), BOUNDS).unwrap();
    let cuts = limits(128 << 20).within(schedule.last.one().unwrap().work() / 10);
    let (commands, _) = lower(schedule, Destination::New, GPU, cuts).unwrap();
    let commands = checked(commands, cuts);
    assert!((10..40).contains(&commands.dispatches.len()), "{} kernels", commands.dispatches.len());
    assert!(commands.dispatches.iter().all(|dispatch| dispatch.writes.len() == 2));
    assert_eq!(commands.results.len(), 2);
}
